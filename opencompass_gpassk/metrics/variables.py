"""Metrics of questions asked with several numbers (RV-Bench, arXiv 2501.11790, Eq. 1-5).

G groups of m versions: the versions of a group are one question with other numbers. ``n`` and
``c``, shape (G, m), hold the judged and the correct samples of each version; ``original_n`` and
``original_c``, shape (G,), those of the question that the versions were made from. With one sample
each, the figures are the paper's; with more, they are what one sample of each would give on
average.

Every function returns a figure per group; means over groups are the caller's. A version with
n = 0 is not judged, and a figure that needs it is NaN, never 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from opencompass_gpassk.metrics.gpassk import (
    TAU_ROUNDING,
    Counts,
    Shares,
    _counts,
    g_pass_at_k,
    threshold,
)

__all__ = [
    'Understanding',
    'UnderstandingShares',
    'VarianceSplit',
    'accuracy',
    'complete_ratio',
    'g_pass_over_versions',
    'group_accuracy',
    'original_only_ratio',
    'pooled_g_pass',
    'understanding',
    'understanding_score',
    'variance_split',
]


def accuracy(n: ArrayLike, c: ArrayLike) -> Shares:
    """Return the mean over a group's versions of c/n: Acc.

    Versions that are not judged are left out, since the others still estimate the same accuracy.

    Args:
        n: Shape (G, m), judged samples of each version.
        c: Shape (G, m), correct ones among them.

    Returns:
        Shape (G,), in [0, 1]; NaN where no version is judged.

    Raises:
        ValueError: If the shapes aren't (G, m) with m ≥ 1, a count is negative or isn't an
            integer, or c > n.

    >>> accuracy([[1, 1, 1, 1]], [[1, 1, 0, 1]])
    array([0.75])
    """
    n, c = _versions(n, c)
    judged = (n > 0).sum(axis=1)
    return _ratio(np.where(n > 0, _ratio(c, n), 0.0).sum(axis=1), judged)


def g_pass_over_versions(n: ArrayLike, c: ArrayLike, tau: float) -> Shares:
    """Return the chance that, of one sample from each version, at least max(⌈τm⌉, 1) are right.

    The number of right ones is Poisson-binomial with the rates c/n. The chance is linear in each
    rate, and samples of different versions are independent, so the estimate is unbiased for every
    n ≥ 1. With n = 1 it is whether so many versions are right.

    Args:
        n: Shape (G, m), judged samples of each version.
        c: Shape (G, m), correct ones among them.
        tau: Threshold τ in [0, 1]; see :func:`threshold`.

    Returns:
        Shape (G,), in [0, 1]; NaN where a version is not judged. What is certain is exactly 0 or 1.

    Raises:
        ValueError: As :func:`accuracy`, or if τ is outside [0, 1].

    >>> g_pass_over_versions([[2, 2, 2, 2]], [[2, 2, 1, 1]], 0.75)
    array([0.75])
    """
    n, c = _versions(n, c)
    return _tails(n, c)[:, int(threshold(n.shape[1], tau))]


def group_accuracy(n: ArrayLike, c: ArrayLike) -> Shares:
    """Return the chance that one sample from each of the m versions is right: GA@m.

    It is :func:`g_pass_over_versions` at τ = 1, hence the product of the c/n.

    Args:
        n: Shape (G, m), judged samples of each version.
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
    """Return G-Pass@k_τ of a group's samples thrown together, whichever version they are of.

    It is no group accuracy, not even with k = m and τ = 1: k samples from the pool may pass over
    the version that a model cannot do. Counts of 8, 8, 8, 8, 0 right of 8 each give 0.306, where
    one sample from each version is never all right. Use :func:`g_pass_over_versions` for that.

    Args:
        n: Shape (G, m), judged samples of each version.
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
    n, c = _versions(n, c)
    values = g_pass_at_k(n.sum(axis=1), c.sum(axis=1), k, tau)
    return np.where((n > 0).all(axis=1), values, np.nan)


def complete_ratio(
    n: ArrayLike,
    c: ArrayLike,
    original_n: ArrayLike,
    original_c: ArrayLike,
    complete: float = 0.8,
) -> Shares:
    """Return the chance that the original and at least ⌈complete · m⌉ versions are right.

    Its mean over all groups is CR. One sample is drawn of the original and of each version; the
    estimate is unbiased, as in :func:`g_pass_over_versions`.

    Args:
        n: Shape (G, m), judged samples of each version.
        c: Shape (G, m), correct ones among them.
        original_n: Shape (G,), judged samples of each original.
        original_c: Shape (G,), correct ones among them.
        complete: Share of the versions, in [0, 1]; floating point does not move it, so that
            0.8 of 5 is 4.

    Returns:
        Shape (G,), in [0, 1]; NaN where a version or the original is not judged.

    Raises:
        ValueError: As :func:`accuracy`, or if originals and groups aren't as many, or complete
            asks for no version.

    >>> complete_ratio([[1] * 5], [[1, 1, 1, 1, 0]], [1], [1])
    array([1.])
    """
    n, c = _versions(n, c)
    original = _originals(len(n), original_n, original_c)
    return original * _tails(n, c)[:, _complete(complete, n.shape[1])]


def original_only_ratio(
    n: ArrayLike,
    c: ArrayLike,
    original_n: ArrayLike,
    original_c: ArrayLike,
    collapsed: float = 0.2,
) -> Shares:
    """Return the chance that the original is right and at most ⌈collapsed · m⌉ versions are.

    Its mean over all groups is OOR. One sample is drawn of the original and of each version; the
    estimate is unbiased, as in :func:`g_pass_over_versions`.

    Args:
        n: Shape (G, m), judged samples of each version.
        c: Shape (G, m), correct ones among them.
        original_n: Shape (G,), judged samples of each original.
        original_c: Shape (G,), correct ones among them.
        collapsed: Share of the versions, in [0, 1]; floating point does not move it.

    Returns:
        Shape (G,), in [0, 1]; NaN where a version or the original is not judged.

    Raises:
        ValueError: As :func:`accuracy`, or if originals and groups aren't as many, or collapsed
            allows all versions to be right, as 0.2 of a single version does.

    >>> original_only_ratio([[1] * 5], [[0, 0, 1, 0, 0]], [1], [1])
    array([1.])
    """
    n, c = _versions(n, c)
    original = _originals(len(n), original_n, original_c)
    return original - original * _tails(n, c)[:, _collapsed(collapsed, n.shape[1]) + 1]


def understanding_score(n: ArrayLike, c: ArrayLike) -> Shares:
    """Return how many of a group's m versions are right on average, the understanding score.

    The paper scores groups whose original is right; :func:`understanding` weighs by that.

    Args:
        n: Shape (G, m), judged samples of each version.
        c: Shape (G, m), correct ones among them.

    Returns:
        Shape (G,), in versions, from 0 to m; NaN where a version is not judged.

    Raises:
        ValueError: As :func:`accuracy`.

    >>> understanding_score([[2, 2, 2]], [[2, 1, 0]])
    array([1.5])
    """
    n, c = _versions(n, c)
    return _ratio(c, n).sum(axis=1)


@dataclass(frozen=True)
class UnderstandingShares:
    """How far questions are understood whose original is right.

    Attributes:
        groups: How many they are, on average where there are several samples.
        score: Mean number of right versions among them, from 0 to m.
        complete: Share of them with at least ⌈complete · m⌉ versions right, in [0, 1].
        partial: Share in between.
        collapsed: Share with at most ⌈collapsed · m⌉ versions right.
    """

    groups: float
    score: float
    complete: float
    partial: float
    collapsed: float


@dataclass(frozen=True)
class Understanding:
    """What one sample of each group's original and versions shows, on average.

    All arrays have shape (G,) and are joint with the original's being right; complete, partial and
    collapsed add up to ``original``. NaN where a version or the original is not judged; only
    ``original`` needs no versions.

    Attributes:
        original: Chance that the original is right.
        score: Right versions, counted where the original is right, from 0 to m.
        complete: Chance of a right original and at least ⌈complete · m⌉ right versions.
        partial: Chance of a right original and a number of right versions in between.
        collapsed: Chance of a right original and at most ⌈collapsed · m⌉ right versions.
    """

    original: Shares
    score: Shares
    complete: Shares
    partial: Shares
    collapsed: Shares

    def shares(self) -> UnderstandingShares:
        """Return the shares and the mean score over groups whose original is right.

        Sums over groups are divided by the sum of ``original``, which makes a ratio of unbiased
        estimates. Groups with a NaN are left out; without a right original, all but ``groups``
        is NaN.
        """
        known = ~np.isnan(self.complete)
        groups = float(self.original[known].sum())
        score, complete, partial, collapsed = (
            float(joint[known].sum()) / groups if groups else float('nan')
            for joint in (self.score, self.complete, self.partial, self.collapsed)
        )
        return UnderstandingShares(groups, score, complete, partial, collapsed)


def understanding(
    n: ArrayLike,
    c: ArrayLike,
    original_n: ArrayLike,
    original_c: ArrayLike,
    complete: float = 0.8,
    collapsed: float = 0.2,
) -> Understanding:
    """Tell complete, partial and collapsed understanding of each group's question.

    ``complete`` and ``collapsed`` of the result are :func:`complete_ratio` and
    :func:`original_only_ratio`.

    Args:
        n: Shape (G, m), judged samples of each version.
        c: Shape (G, m), correct ones among them.
        original_n: Shape (G,), judged samples of each original.
        original_c: Shape (G,), correct ones among them.
        complete: At least this share of the versions is right, rounded up to versions.
        collapsed: At most this share of the versions is right, rounded up to versions.

    Raises:
        ValueError: As :func:`accuracy`, or if originals and groups aren't as many, a share is
            outside [0, 1], or ⌈collapsed · m⌉ isn't below ⌈complete · m⌉.

    >>> one = [[1, 1, 1, 1, 1]]
    >>> understanding(one * 3, [[1] * 5, [1, 1, 0, 0, 0], [0] * 5], [1] * 3, [1, 1, 0]).shares()
    UnderstandingShares(groups=2.0, score=3.5, complete=0.5, partial=0.5, collapsed=0.0)
    """
    n, c = _versions(n, c)
    original = _originals(len(n), original_n, original_c)
    m = n.shape[1]
    least, most = _ceiling('complete', complete, m), _ceiling('collapsed', collapsed, m)
    if most >= least:
        raise ValueError(
            f'complete is {complete} and collapsed is {collapsed}, which of {m} versions are at '
            f'least {least} and at most {most} right; set them further apart or make more versions'
        )
    joint = original[:, None] * _tails(n, c)
    # Differences of tails, which never rise with their number: nothing comes out below 0.
    return Understanding(
        original=original,
        score=original * _ratio(c, n).sum(axis=1),
        complete=joint[:, least],
        partial=joint[:, most + 1] - joint[:, least],
        collapsed=original - joint[:, most + 1],
    )


@dataclass(frozen=True)
class VarianceSplit:
    """The variance of one random sample of a random version of each group, 1 if right, 0 if not.

    Attributes:
        between: Shape (G,), the part between versions: how much a model's chance depends on the
            numbers, hence how unsure it is of the question. An unbiased estimate must at times
            be slightly negative where the truth is 0.
        within: Shape (G,), the part between samples of a version: how unsure it is of itself.
    """

    between: Shares
    within: Shares


def variance_split(n: ArrayLike, c: ArrayLike) -> VarianceSplit:
    """Split each group's variance into between versions and between samples of a version.

    Both parts are unbiased. The versions count as drawn from all that the question could have had,
    hence the m - 1: ``between`` is their rates' sample variance, less what it has from the
    samples' own chance. (n/(n - 1)) p(1 - p) with p = c/n estimates a version's own variance.

    Args:
        n: Shape (G, m), judged samples of each version.
        c: Shape (G, m), correct ones among them.

    Returns:
        Both parts, NaN where a version has less than two samples or the group is of one version.

    Raises:
        ValueError: As :func:`accuracy`.

    >>> variance_split([[2, 2], [2, 2]], [[2, 0], [1, 1]])
    VarianceSplit(between=array([ 0.5 , -0.25]), within=array([0. , 0.5]))
    """
    n, c = _versions(n, c)
    groups, m = n.shape
    if m < 2:
        return VarianceSplit(np.full(groups, np.nan), np.full(groups, np.nan))
    rate = _ratio(c, n)
    own = rate * _ratio(n - c, n - 1)  # NaN where n < 2
    noise = _ratio(own, n)
    return VarianceSplit(
        between=rate.var(axis=1, ddof=1) - noise.mean(axis=1), within=own.mean(axis=1)
    )


def _versions(n: ArrayLike, c: ArrayLike) -> tuple[Counts, Counts]:
    shape = np.shape(n)
    if len(shape) != 2 or not shape[1] or np.shape(c) != shape:
        raise ValueError(
            f'n has shape {shape} and c {np.shape(c)}; give both as one row a group, with one '
            'count a version'
        )
    return _counts(n, c)


def _originals(groups: int, n: ArrayLike, c: ArrayLike) -> Shares:
    if np.shape(n) != (groups,) or np.shape(c) != (groups,):
        raise ValueError(
            f'original_n has shape {np.shape(n)} and original_c {np.shape(c)} for {groups} groups '
            'of versions; give one count a group, 0 where the original was not judged'
        )
    n, c = _counts(n, c, 'original_')
    return _ratio(c, n)


def _ratio(above: ArrayLike, below: ArrayLike) -> Shares:
    """Return the ratio, NaN where ``below`` isn't positive."""
    above, below = np.asarray(above, float), np.asarray(below, float)
    return np.divide(above, below, out=np.full(below.shape, np.nan), where=below > 0)


def _tails(n: Counts, c: Counts) -> Shares:
    """Return P[at least j versions right] in column j = 0 … m + 1.

    Where one isn't judged, all but column 0 are NaN. Versions are added one by one. All terms are
    positive, so nothing cancels; rates of 0 and 1 move columns unchanged, and (1 - p) + p is 1 in
    floating point, so that what is certain is exact. Rounding keeps the order, so that tails never
    rise with j.
    """
    rates = _ratio(c, n)
    groups, m = rates.shape
    tails = np.zeros((groups, m + 2))
    tails[:, 0] = 1
    for version in range(m):
        rate = rates[:, version, None]
        tails[:, 1:] = (1 - rate) * tails[:, 1:] + rate * tails[:, :-1]
    return tails


def _complete(share: float, m: int) -> int:
    least = _ceiling('complete', share, m)
    if not least:
        raise ValueError(f'complete is {share}, which asks for no version; set it above 0')
    return least


def _collapsed(share: float, m: int) -> int:
    most = _ceiling('collapsed', share, m)
    if most == m:
        raise ValueError(
            f'collapsed is {share}, which of {m} versions are all {m}; set it lower or make more '
            'versions'
        )
    return most


def _ceiling(name: str, share: float, m: int) -> int:
    """Return ⌈share · m⌉, protected from floating point as :func:`threshold` is."""
    if not 0 <= share <= 1:
        raise ValueError(f'{name} is {share}; it is a share of the versions, from 0 to 1')
    return int(threshold(m, share)) if share > TAU_ROUNDING else 0
