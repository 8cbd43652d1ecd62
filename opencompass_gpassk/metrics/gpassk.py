"""pass@k, G-Pass@k and mG-Pass@k (arXiv 2412.13147) from counts of correct samples.

A problem was sampled ``n`` times and ``c`` of the samples are correct. If ``k`` of the n are drawn
without replacement, the number of correct ones among them is hypergeometric, and every metric here
is read from its upper tail. Problems with the same counts are computed once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import hypergeom

__all__ = [
    'correct_counts',
    'expected_counts',
    'g_pass_at_k',
    'mg_pass_at_k',
    'pass_at_k',
    'threshold',
]

Counts = NDArray[np.int64]
Shares = NDArray[np.float64]

# A τ this close to i/k counts as i/k: ⌈0.28 × 25⌉ is 7, and so is ⌈np.linspace(0, 1, 26)[7] × 25⌉.
TAU_ROUNDING = 1e-12


def pass_at_k(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> float | Shares:
    """Return the chance that at least one of k samples is correct.

    Args:
        n: Samples of each problem; integers of any shape.
        c: Correct ones among them.
        k: Samples drawn.

    Returns:
        Unbiased estimates in [0, 1] in the shape that the arguments broadcast to, a float if all
        are scalars. NaN where n < k.

    Raises:
        ValueError: If n or c is negative, c > n, k < 1, or one of them isn't an integer.

    >>> pass_at_k(4, 2, 2)
    0.8333333333333334
    """
    return g_pass_at_k(n, c, k, 0.0)


def g_pass_at_k(n: ArrayLike, c: ArrayLike, k: ArrayLike, tau: ArrayLike) -> float | Shares:
    """Return the chance that at least max(⌈τk⌉, 1) of k samples are correct.

    τ = 0 is pass@k; τ = 1 asks that all k be correct.

    Args:
        n: Samples of each problem; integers of any shape.
        c: Correct ones among them.
        k: Samples drawn.
        tau: Threshold τ in [0, 1]; see :func:`threshold`.

    Returns:
        Unbiased estimates in [0, 1] in the shape that the arguments broadcast to, a float if all
        are scalars. NaN where n < k.

    Raises:
        ValueError: If n or c is negative, c > n, k < 1, τ is outside [0, 1], or a count isn't an
            integer.

    >>> g_pass_at_k(4, 2, 2, 1.0)
    0.16666666666666666
    """
    n, c = correct_counts(n, c)
    wanted = np.asarray(threshold(k, tau))
    return _of_distinct(_tails, n, c, _integers('k', k, 1), wanted)


def mg_pass_at_k(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> float | Shares:
    """Return (2/k) Σ G-Pass@k_{i/k} over i from ⌈k/2⌉ + 1 to k (the paper's Eq. 7).

    By this published definition a perfect model scores (k - 1)/k for odd k, and 0 for k = 1.

    Args:
        n: Samples of each problem; integers of any shape.
        c: Correct ones among them.
        k: Samples drawn.

    Returns:
        Unbiased estimates in [0, 1] in the shape that the arguments broadcast to, a float if all
        are scalars. NaN where n < k.

    Raises:
        ValueError: If n or c is negative, c > n, k < 1, or one of them isn't an integer.

    >>> mg_pass_at_k(4, 3, 4)
    0.5
    """
    n, c = correct_counts(n, c)
    return _of_distinct(_means_of_tails, n, c, _integers('k', k, 1))


def threshold(k: ArrayLike, tau: ArrayLike) -> int | Counts:
    """Return max(⌈τk⌉, 1), the number of the k samples that must be correct.

    Rounding does not change it: τ within 1e-12 of i/k counts as i/k, so that ⌈0.28 × 25⌉ is 7.

    Args:
        k: Samples drawn; integers of any shape.
        tau: Threshold τ in [0, 1].

    Returns:
        Integers from 1 to k in the shape that the arguments broadcast to, an int if both are
        scalars.

    Raises:
        ValueError: If k isn't an integer of at least 1 or τ is outside [0, 1].

    >>> threshold(25, 0.28)
    7
    """
    k, tau = _integers('k', k, 1), np.asarray(tau, dtype=np.float64)
    outside = ~((tau >= 0) & (tau <= 1))
    if outside.any():
        raise ValueError(f'tau holds {tau[outside].flat[0]}; a threshold τ is a share from 0 to 1')
    wanted = np.maximum(np.ceil(k * (tau - TAU_ROUNDING)).astype(np.int64), 1)
    return wanted if wanted.ndim else int(wanted)


def correct_counts(n: ArrayLike, c: ArrayLike, prefix: str = '') -> tuple[Counts, Counts]:
    """Return n and c as integers; raise a ValueError unless 0 ≤ c ≤ n."""
    n, c = _integers(f'{prefix}n', n, 0), _integers(f'{prefix}c', c, 0)
    _check_order(n, c, prefix)
    return n, c


def expected_counts(n: ArrayLike, c: ArrayLike, prefix: str = '') -> tuple[Counts, Shares]:
    """Return n as integers and c as expected numbers; raise a ValueError unless 0 ≤ c ≤ n."""
    n, expected = _integers(f'{prefix}n', n, 0), np.asarray(c, dtype=np.float64)
    _check_least(f'{prefix}c', expected, 0)
    _check_order(n, expected, prefix)
    return n, expected


def _check_order(n: Counts, c: NDArray[Any], prefix: str) -> None:
    above = c > n
    if above.any():
        first = np.broadcast_to(c, above.shape)[above][0], np.broadcast_to(n, above.shape)[above][0]
        raise ValueError(
            f'{prefix}c is {first[0]:g} where {prefix}n is {first[1]}; at most n of n samples are '
            'correct'
        )


def _check_least(name: str, array: NDArray[Any], lowest: int) -> None:
    if array.size and not (least := array.min()) >= lowest:
        raise ValueError(f'{name} holds {least:g}; the least possible is {lowest}')


def _integers(name: str, values: ArrayLike, lowest: int) -> Counts:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in 'iu':
        raise ValueError(f'{name} is of type {array.dtype}; counts are integers, convert them')
    array = array.astype(np.int64, copy=False)
    _check_least(name, array, lowest)
    return array


def _of_distinct(function: Callable[..., Shares], *counts: Counts) -> float | Shares:
    """Apply a function to broadcast counts, computing each distinct combination once."""
    code, span = np.zeros((), dtype=np.int64), 1
    for values in counts:
        ranks, width = _ranks(values)
        code, span = _ranks(code * width + ranks)
    example = np.full(span, -1)
    example[code.reshape(-1)] = np.arange(code.size)
    distinct = np.flatnonzero(example >= 0)
    found = np.full(span, np.nan)
    found[distinct] = function(
        *(np.broadcast_to(one, code.shape).reshape(-1)[example[distinct]] for one in counts)
    )
    shares: Shares = found[code]
    return shares if shares.ndim else float(shares)


def _ranks(values: Counts) -> tuple[Counts, int]:
    """Return small integer codes, equal where values are equal, and an upper bound of the codes."""
    if not values.size:
        return values, 1
    low = int(values.min())
    width = int(values.max()) - low + 1
    if width <= 4 * values.size + 1024:
        return values - low, width
    distinct, ranks = np.unique(values, return_inverse=True)
    return ranks.reshape(values.shape), len(distinct)


def _tails(n: Counts, c: Counts, k: Counts, wanted: Counts) -> Shares:
    """Return P[at least ``wanted`` correct among k of n]; exactly 0 or 1 where it is certain."""
    tails = hypergeom.sf(wanted - 1, n, c, k)
    tails = np.where(wanted > np.minimum(c, k), 0.0, np.where(wanted <= k - (n - c), 1.0, tails))
    return np.where(n < k, np.nan, tails)


def _means_of_tails(n: Counts, c: Counts, k: Counts) -> Shares:
    """Return the sum of Eq. 7 for counts of shape (D,)."""
    found = np.where(n < k, np.nan, 0.0)
    for one in np.unique(k[n >= k]):
        rows = np.flatnonzero((k == one) & (n >= k))
        wanted = np.arange((one + 1) // 2 + 1, one + 1)
        tails = _tails(n[rows, None], c[rows, None], one, wanted)
        found[rows] = 2 / one * tails.sum(axis=1)
    return found
