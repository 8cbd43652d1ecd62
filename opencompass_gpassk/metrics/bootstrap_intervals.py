"""Confidence intervals of means over problems, for a population of problems.

They answer the question: where would the metric lie if other problems of the same kind were asked
and the model were sampled anew on each? Clusters of problems are resampled, trials never are: the
values already contain the noise of the n samples. Resampling 16 trials out of 16 would also bias
G-Pass@16_1.0 by some points, since 16 redrawn trials are all right less often than 16 new ones.
For intervals about *these* problems see :mod:`opencompass_gpassk.metrics.fixed_problems`.

If only few clusters differ from the rest, the bootstrap's interval is far too short, and of
differences it is too short more often. There
:mod:`opencompass_gpassk.metrics.share_intervals` computes the interval instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from opencompass_gpassk.metrics.clusters import LEAST_CLUSTERS, ClusterSums
from opencompass_gpassk.metrics.share_intervals import (
    bounded_mean_interval,
    deviating_clusters,
    with_unseen,
)
from opencompass_gpassk.metrics.version_metrics import ratio

FEWEST = 20.0  # with fewer deviating clusters, a bootstrap's interval is too short
BLOCK = 1 << 21  # approximate number of elements in a temporary array
ROUNDING = 1e-9  # means that differ by less than this share of the bounds' width are equal

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Intervals:
    """Means with their intervals, in the unit of the values.

    Attributes:
        estimate: Shape (M,), the means; NaN where no value is defined.
        low: Shape (M,), lower bounds; NaN where fewer than five clusters have a value
            (:data:`~opencompass_gpassk.metrics.clusters.LEAST_CLUSTERS`).
        high: Shape (M,), upper bounds.
        method: M names of methods: ``bca``; ``percentile``; ``wilson`` where too few clusters
            deviate for a bootstrap; ``gain-loss`` for other differences, see
            :func:`~opencompass_gpassk.metrics.share_intervals.bounded_mean_interval`; ``none``
            where there is no interval.
    """

    estimate: Numbers
    low: Numbers
    high: Numbers
    method: tuple[str, ...]


def bootstrap_means(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    weights: ArrayLike | None = None,
    bounds: tuple[ArrayLike, ArrayLike] = (0.0, 1.0),
    resamples: int = 10_000,
    seed: int = 0,
    method: str = 'bca',
    level: float = 0.95,
    fewest: float = FEWEST,
) -> Intervals:
    """Return means over problems, with confidence intervals for a population of such problems.

    BCa is the bias-corrected and accelerated bootstrap (Efron, JASA 82 (1987), 171-185), with the
    jackknife over clusters for its acceleration.

    Args:
        values: Shape (P, M), M metrics of P problems in any unit. NaN where a metric is undefined:
            that mean leaves the problem out.
        clusters: Shape (P,), equal labels are one cluster; by default each problem is one.
        weights: Shape (P,), at least 0: means are Σ weight · value / Σ weight; by default all are
            equal.
        bounds: The least and the greatest possible value, each a number or one per column. A
            metric that can be negative and positive counts as a difference; its interval is not
            a bootstrap's.
        resamples: Number of resamples; all columns share them.
        seed: Seed of the resamples.
        method: ``bca`` or ``percentile``.
        level: The intervals' coverage.
        fewest: Least number of deviating clusters for a bootstrap; with fewer the interval is
            Wilson's.

    >>> found = bootstrap_means([[1.0, 0.0], [0.5, 0.0], [0.0, 0.0], [1.0, 0.0]])
    >>> found.estimate, found.low.round(3), found.high.round(3), found.method
    (array([0.625, 0.   ]), array([0.143, 0.   ]), array([0.956, 0.49 ]), ('wilson', 'wilson'))
    """
    numbers = np.asarray(values, float)
    sums = ClusterSums.of(numbers, clusters, weights)
    low, high = (np.broadcast_to(np.asarray(end, float), numbers.shape[1:]) for end in bounds)
    estimate, deviating = sums.means, deviating_clusters(sums)
    result = np.full((2, len(estimate)), np.nan)
    several = sums.defined >= LEAST_CLUSTERS
    # Rounding must not decide between two methods where there are exactly as many.
    few = several & ((deviating < (1 - ROUNDING) * fewest) | (deviating == 0))
    differences = (low < 0) & (high > 0)
    direct = several & (few | differences)
    if direct.any():
        result[:, direct] = bounded_mean_interval(
            sums.columns(direct), low[direct], high[direct], level
        )
    many = several & ~direct
    if many.any():
        tie = ROUNDING * (high - low)[many]
        result[:, many] = _bootstrap(sums.columns(many), resamples, seed, method, level, tie)
    names = np.select([few, direct, many], ['wilson', 'gain-loss', method], 'none')
    # Rounding must not put a mean outside its interval. NaN stay.
    below, above = np.minimum(result[0], estimate), np.maximum(result[1], estimate)
    width = high - low
    wider = with_unseen(
        (below - low) / width,
        (above - low) / width,
        (estimate - low) / width,
        sums.defined,
        level,
    )
    below, above = (
        np.where(differences, end, low + width * share)
        for end, share in zip((below, above), wider, strict=True)
    )
    return Intervals(estimate, below, above, tuple(map(str, names)))


def _bootstrap(
    sums: ClusterSums, resamples: int, seed: int, method: str, level: float, tie: Numbers
) -> Numbers:
    """Return lower and upper bounds, shape (2, M)."""
    columns = sums.totals.shape[1]
    result = np.empty((2, columns))
    width = max(BLOCK // resamples, 1)
    for start in range(0, columns, width):
        block = slice(start, start + width)
        part = sums.columns(block)
        means = _resampled_means(part, resamples, seed)
        means.sort(axis=1)  # NaN come last: resamples without a defined value
        tails = np.repeat([[(1 - level) / 2], [(1 + level) / 2]], len(means), axis=1)
        if method == 'bca':
            tails = _bca_tails(tails, means, part.means, _acceleration(part), tie[block])
        result[:, block] = [_quantiles(means, tail) for tail in tails]
    return result


def _resampled_means(sums: ClusterSums, resamples: int, seed: int) -> Numbers:
    """Return each column's mean in each resample, shape (M, R), in blocks of bounded size.

    The resamples depend on their number, on that of the clusters and on the seed alone.
    """
    rng = np.random.default_rng([*b'bootstrap', seed])
    clusters = len(sums.totals)
    means = np.empty((sums.totals.shape[1], resamples))
    counts, kind = np.unique(sums.counts, axis=1, return_inverse=True)
    rows = max(BLOCK // max(clusters, 1), 1)
    for start in range(0, resamples, rows):
        size = min(rows, resamples - start)
        drawn = rng.integers(0, clusters, (size, clusters))
        drawn += np.arange(size)[:, None] * clusters
        times = np.bincount(drawn.reshape(-1), minlength=size * clusters)
        weights = times.reshape(size, clusters).astype(float)  # of each cluster in each resample
        total = (counts.T @ weights.T)[kind.reshape(-1)]
        means[:, start : start + size] = ratio(sums.totals.T @ weights.T, total)
    return means


def _bca_tails(
    tails: Numbers, means: Numbers, estimate: Numbers, acceleration: Numbers, tie: Numbers
) -> Numbers:
    """Return the shares of the resamples that are beyond the BCa bounds, shape (2, M)."""
    valid = (~np.isnan(means)).sum(axis=1)
    # A resample that equals the estimate counts as half below it; one more half is added.
    below, up_to = (
        np.array([row.searchsorted(end) for row, end in zip(means, ends, strict=True)])
        for ends in (estimate - tie, estimate + tie)
    )
    share = ((below + up_to) / 2 + 0.5) / (valid + 1)
    bias = ndtri(share)
    shifted = bias + ndtri(tails)
    return ndtr(bias + shifted / (1 - acceleration * shifted))


def _acceleration(sums: ClusterSums) -> Numbers:
    """Return Σd³ / (6 (Σd²)^1.5), with d the deviations of the jackknife means; shape (M,)."""
    without = ratio(sums.totals.sum(axis=0) - sums.totals, sums.counts.sum(axis=0) - sums.counts)
    jackknife = np.where(sums.counts > 0, without, np.nan)  # the mean without each cluster
    there = ~np.isnan(jackknife)
    centre = np.where(there, jackknife, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
    influence = np.where(there, centre - jackknife, 0.0)
    cubes, squares = (influence**3).sum(axis=0), (influence**2).sum(axis=0)
    return np.where(squares > 0, ratio(cubes, 6 * squares**1.5), 0.0)


def _quantiles(means: Numbers, share: Numbers) -> Numbers:
    """Return a quantile of each sorted row, interpolated between neighbours."""
    last = (~np.isnan(means)).sum(axis=1) - 1
    place = share * last
    lower = np.floor(place).astype(np.int64)
    upper = np.minimum(lower + 1, last)
    row = np.arange(len(means))
    start = means[row, lower]
    return start + (place - lower) * (means[row, upper] - start)
