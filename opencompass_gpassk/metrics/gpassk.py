"""pass@k, G-Pass@k and mG-Pass@k (arXiv 2412.13147) from counts of correct samples.

A problem was sampled ``n`` times and ``c`` of the samples are correct. If ``k`` of the n are drawn
without replacement, the number of correct ones among them is hypergeometric, and every metric here
is read from its upper tail.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ['correct_counts', 'g_pass_at_k', 'mg_pass_at_k', 'pass_at_k', 'threshold']

Counts = NDArray[np.int64]
Shares = NDArray[np.float64]

# τ this close to i/k is i/k: 0.28 × 25 is 7, and so is np.linspace(0, 1, 26)[7] × 25.
TAU_ROUNDING = 1e-12
# Temporary arrays hold about this many numbers, however many distinct problems there are.
BLOCK = 1 << 18


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
    tails, row = _tails(*_checked(n, c, k))
    return _result(tails[row, 1])


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
    n, c, k = _checked(n, c, k)
    wanted = threshold(k, tau)
    tails, row = _tails(n, c, k)
    return _result(tails[row, wanted])


def mg_pass_at_k(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> float | Shares:
    """Return (2/k) Σ G-Pass@k_{i/k} over i from ⌈k/2⌉ + 1 to k (the paper's Eq. 7).

    It is the published definition: a perfect model scores (k - 1)/k where k is odd, and 0 where
    k is 1.

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
    n, c, k = _checked(n, c, k)
    tails, row = _tails(n, c, k)
    # Sums from the right: sums[:, i] is the sum of all tails from i on.
    sums = np.cumsum(tails[:, ::-1], axis=1)[:, ::-1]
    sums = np.concatenate([sums, np.zeros((len(sums), 1))], axis=1)
    return _result(np.where(np.isnan(tails[row, 0]), np.nan, 2 / k * sums[row, (k + 1) // 2 + 1]))


def threshold(k: ArrayLike, tau: ArrayLike) -> int | Counts:
    """Return max(⌈τk⌉, 1), the number of the k samples that must be correct.

    Floating point does not move it: τ within 1e-12 of i/k counts as i/k, so that 0.28 × 25 is 7.

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


def _checked(n: ArrayLike, c: ArrayLike, k: ArrayLike) -> tuple[Counts, Counts, Counts]:
    n, c = correct_counts(n, c)
    k = _integers('k', k, 1)
    # A k above every n is undefined whatever it is, and tails of its size would fill the memory.
    return n, c, np.minimum(k, n.max(initial=0) + 1)


def correct_counts(n: ArrayLike, c: ArrayLike, prefix: str = '') -> tuple[Counts, Counts]:
    """Return n and c as integers, of which c correct ones are among n; ValueError if not."""
    n, c = _integers(f'{prefix}n', n, 0), _integers(f'{prefix}c', c, 0)
    above = c > n
    if above.any():
        first = np.broadcast_to(c, above.shape)[above][0], np.broadcast_to(n, above.shape)[above][0]
        raise ValueError(
            f'{prefix}c is {first[0]} where {prefix}n is {first[1]}; of n samples at most n are '
            'correct'
        )
    return n, c


def _integers(name: str, values: ArrayLike, lowest: int) -> Counts:
    array = np.asarray(values)
    if array.size and array.dtype.kind not in 'iu':
        raise ValueError(f'{name} is of type {array.dtype}; counts are integers, convert them')
    array = array.astype(np.int64, copy=False)
    if array.size and (least := array.min()) < lowest:
        raise ValueError(f'{name} holds {least}; the least possible is {lowest}')
    return array


def _result(values: Shares) -> float | Shares:
    return values if np.ndim(values) else float(values)


def _tails(n: Counts, c: Counts, k: Counts) -> tuple[Shares, Counts]:
    """Return the upper tails of each distinct (n, c, k), and which of them belongs to each problem.

    Column m of the first array, shape (distinct, max k + 1), is P[at least m correct]; a row is
    NaN where n < k. The second has the shape that n, c and k broadcast to.
    """
    code, span = _ranks(n)
    for counts in (c, k):
        ranks, width = _ranks(counts)
        code, span = _ranks(code * width + ranks)
    shape, code = code.shape, code.reshape(-1)
    example = np.full(span, -1)
    example[code] = np.arange(len(code))
    distinct = np.flatnonzero(example >= 0)
    row = np.zeros(span, dtype=np.int64)
    row[distinct] = np.arange(len(distinct))
    width = int(k.max(initial=1)) + 1
    example = example[distinct]
    n, c, k = (np.broadcast_to(x, shape).reshape(-1)[example, None] for x in (n, c, k))
    size = max(BLOCK // width, 1)
    blocks = [
        _hypergeometric_tails(n[i : i + size], c[i : i + size], k[i : i + size], width)
        for i in range(0, len(distinct), size)
    ]
    tails = np.concatenate(blocks) if blocks else np.empty((0, width))
    return tails, row[code].reshape(shape)


def _ranks(values: Counts) -> tuple[Counts, int]:
    """Return small codes, equal where the values are, and a bound above them."""
    if not values.size:
        return values, 1
    low = int(values.min())
    width = int(values.max()) - low + 1
    if width <= 4 * values.size + 1024:
        return values - low, width
    distinct, ranks = np.unique(values, return_inverse=True)
    return ranks.reshape(values.shape), len(distinct)


def _hypergeometric_tails(n: Counts, c: Counts, k: Counts, width: int) -> Shares:
    """Return P[X ≥ j] for j = 0 … width - 1, of X correct among k of n with c correct.

    The arguments have shape (D, 1). Weights are built by ratios of neighbours, outwards from the
    mode, where the largest stands, and divided by their sum: all terms are positive and all
    ratios at most 1, so nothing cancels or overflows, however large n is.
    """
    undefined = n < k
    n = np.where(undefined, k, n)
    c = np.minimum(c, n)
    j = np.arange(width - 1)
    mode = (k + 1) * (c + 1) // (n + 2)
    more = (c - j) * (k - j)  # weight j + 1 : weight j = more : fewer
    fewer = (j + 1) * (n - c - k + j + 1)
    rising = j < mode
    ratio = np.where(rising, fewer, more) / np.where(rising, more, fewer)
    weights = np.ones((len(n), width))
    np.cumprod(np.where(rising, 1.0, ratio), axis=1, out=weights[:, 1:])
    weights[:, -2::-1] *= np.cumprod(np.where(rising, ratio, 1.0)[:, ::-1], axis=1)
    tails = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]
    tails = tails / tails[:, :1]
    tails[undefined[:, 0]] = np.nan
    return tails
