"""Metrics of questions asked with several numbers (RV-Bench, arXiv 2501.11790, Eq. 1-2).

There are G groups of m versions: the versions of a group are one question with other numbers. ``n``
and ``c``, shape (G, m), count the samples of each version and the correct ones. With one sample
each, the metrics are the paper's; with more, they estimate the paper's metrics without bias. Most
depend on the shares c/n alone: so c may be an expected number where some verdicts are missing.
:mod:`opencompass_gpassk.metrics.understanding` compares versions with their original.

Every function returns one metric per group; the caller takes means over groups. A version with
n = 0 is not judged, and a metric that needs it is NaN, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from opencompass_gpassk.metrics.gpassk import (
    Counts,
    Shares,
    expected_counts,
    g_pass_at_k,
    threshold,
)

__all__ = [
    'VarianceSplit',
    'accuracy',
    'g_pass_over_versions',
    'group_accuracy',
    'pooled_g_pass',
    'ratio',
    'upper_tails',
    'variance_split',
    'version_counts',
]


def accuracy(n: ArrayLike, c: ArrayLike) -> Shares:
    """Return Acc, the mean of c/n over a group's versions.

    Versions that are not judged are left out: the others still estimate the same accuracy.

    Args:
        n: Shape (G, m), samples of each version.
        c: Shape (G, m), correct ones among them.

    Returns:
        Shape (G,), in [0, 1]; NaN where no version is judged.

    Raises:
        ValueError: If the shapes aren't (G, m) with m ≥ 1, a count is negative or isn't an
            integer, or c > n.

    >>> accuracy([[1, 1, 1, 1]], [[1, 1, 0, 1]])
    array([0.75])
    """
    n, c = version_counts(n, c)
    judged = (n > 0).sum(axis=1)
    return ratio(np.where(n > 0, ratio(c, n), 0.0).sum(axis=1), judged)


def g_pass_over_versions(n: ArrayLike, c: ArrayLike, tau: float) -> Shares:
    """Return the chance that, of one sample from each version, at least max(⌈τm⌉, 1) are right.

    The number of right ones is Poisson-binomial with the rates c/n. The chance is linear in each
    rate, and samples of different versions are independent, so the estimate is unbiased for every
    n ≥ 1. With n = 1 it is 1 if enough versions are right and 0 otherwise.

    Args:
        n: Shape (G, m), samples of each version.
        c: Shape (G, m), correct ones among them.
        tau: Threshold τ in [0, 1]; see :func:`threshold`.

    Returns:
        Shape (G,), in [0, 1]; NaN where a version is not judged. What is certain is exactly 0 or 1.

    Raises:
        ValueError: As :func:`accuracy`, or if τ is outside [0, 1].

    >>> g_pass_over_versions([[2, 2, 2, 2]], [[2, 2, 1, 1]], 0.75)
    array([0.75])
    """
    n, c = version_counts(n, c)
    return upper_tails(n, c)[:, int(threshold(n.shape[1], tau))]


def group_accuracy(n: ArrayLike, c: ArrayLike) -> Shares:
    """Return GA@m, the chance that one sample from each of the m versions are all right.

    It is :func:`g_pass_over_versions` at τ = 1, that is the product of the c/n.

    Args:
        n: Shape (G, m), samples of each version.
        c: Shape (G, m), correct ones among them.

    Returns:
        Shape (G,), in [0, 1]; NaN where a version is not judged.

    Raises:
        ValueError: As :func:`accuracy`.

    >>> group_accuracy([[8, 8, 8, 8, 8]], [[8, 8, 8, 8, 0]])
    array([0.])
    """
    return g_pass_over_versions(n, c, 1.0)


def pooled_g_pass(n: ArrayLike, c: ArrayLike, k: int, tau: float) -> Shares:
    """Return G-Pass@k_τ of the pooled samples of all versions of a group.

    With k = m and τ = 1 it still differs from group accuracy: k samples from the pool may miss the
    version that the model can't solve. With 8, 8, 8, 8 and 0 of 8 samples correct it is 0.306,
    although one sample from each version is never all correct: group accuracy is 0.

    Args:
        n: Shape (G, m), samples of each version.
        c: Shape (G, m), correct ones among them.
        k: Samples drawn from the pool.
        tau: Threshold τ in [0, 1]; see :func:`threshold`.

    Returns:
        Shape (G,), in [0, 1]; NaN where a version is not judged or the pool holds less than k.

    Raises:
        ValueError: As :func:`accuracy`, or if k < 1 or τ is outside [0, 1].

    >>> pooled_g_pass([[8, 8, 8, 8, 8]], [[8, 8, 8, 8, 0]], 5, 1.0).round(3)
    array([0.306])
    """
    n, _ = version_counts(n, c)
    values = g_pass_at_k(n.sum(axis=1), np.sum(c, axis=1), k, tau)
    return np.where((n > 0).all(axis=1), values, np.nan)


@dataclass(frozen=True)
class VarianceSplit:
    """Two parts of the variance of one random sample of a random version (1 if right, else 0).

    Attributes:
        between: Shape (G,), the part between versions: how much the model's success depends on
            the numbers. Where the truth is 0, the unbiased estimate is at times slightly
            negative.
        within: Shape (G,), the part within versions: how much samples of one version differ.
    """

    between: Shares
    within: Shares


def variance_split(n: ArrayLike, c: ArrayLike) -> VarianceSplit:
    """Split each group's variance into parts between versions and within versions.

    Both parts are unbiased. (n/(n - 1)) p(1 - p), with p = c/n, estimates a version's own variance.
    ``between`` is the sample variance of the rates p less the part that the samples' noise adds. It
    divides by m - 1, since the versions are drawn from all possible versions of the question.

    Args:
        n: Shape (G, m), samples of each version.
        c: Shape (G, m), correct ones among them.

    Returns:
        Both parts; NaN where a version has fewer than two samples or the group has one version.

    Raises:
        ValueError: As :func:`accuracy`.

    >>> variance_split([[2, 2], [2, 2]], [[2, 0], [1, 1]])
    VarianceSplit(between=array([ 0.5 , -0.25]), within=array([0. , 0.5]))
    """
    n, c = version_counts(n, c)
    groups, m = n.shape
    if m < 2:
        return VarianceSplit(np.full(groups, np.nan), np.full(groups, np.nan))
    rate = ratio(c, n)
    own = rate * ratio(n - c, n - 1)  # NaN where n < 2
    noise = ratio(own, n)
    return VarianceSplit(
        between=rate.var(axis=1, ddof=1) - noise.mean(axis=1), within=own.mean(axis=1)
    )


def version_counts(n: ArrayLike, c: ArrayLike) -> tuple[Counts, Shares]:
    shape = np.shape(n)
    if len(shape) != 2 or not shape[1] or np.shape(c) != shape:
        raise ValueError(
            f'n has shape {shape} and c {np.shape(c)}; give both one row per group, with one '
            'count per version'
        )
    return expected_counts(n, c)


def ratio(above: ArrayLike, below: ArrayLike) -> Shares:
    """Return ``above / below``; NaN where ``below`` isn't positive."""
    above, below = np.asarray(above, float), np.asarray(below, float)
    return np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)


def upper_tails(n: Counts, c: Shares) -> Shares:
    """Return P[at least j versions right] in column j = 0 … m + 1.

    If a version isn't judged, all columns but 0 are NaN. Versions are added one by one. All terms
    are positive, so nothing cancels. Certain tails are exactly 0 or 1: rates of 0 and 1 copy
    columns, and (1 - p) + p is 1 in floating point. Rounding keeps the order, so tails never rise
    with j.
    """
    rates = ratio(c, n)
    groups, m = rates.shape
    tails = np.zeros((groups, m + 2))
    tails[:, 0] = 1
    for version in range(m):
        rate = rates[:, version, None]
        tails[:, 1:] = (1 - rate) * tails[:, 1:] + rate * tails[:, :-1]
    return tails
