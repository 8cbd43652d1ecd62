"""Differences of ratios of sums, such as of valid responses to scored ones, of two models.

A problem has as many responses in the figure as happen to be scored, or right; each response
counts once, so that the figure is a ratio of sums over problems and no mean of problems' means.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.bootstrap import (
    FEWEST,
    METHODS,
    ROUNDING,
    Intervals,
    bootstrap_interval,
    resampled_weights,
)
from opencompass_gpassk.metrics.bounded import bounded_mean_interval, deviating_clusters
from opencompass_gpassk.metrics.clusters import ClusterSums
from opencompass_gpassk.metrics.intervals import normal_quantile
from opencompass_gpassk.metrics.variables import ratio

__all__ = ['ratio_differences', 'swap_residuals']

Numbers = NDArray[np.float64]


def ratio_differences(
    first: ClusterSums,
    second: ClusterSums,
    *,
    resamples: int = 10_000,
    seed: int = 0,
    method: str = 'bca',
    level: float = 0.95,
    fewest: float = FEWEST,
) -> Intervals:
    """Return the differences of two models' ratios, with intervals by a paired bootstrap.

    Clusters are resampled, the same of both models, and both ratios are made anew.

    Args:
        first: Sums over each of C clusters, M columns: ``totals`` of shares in [0, 1] and
            ``counts`` of what has one.
        second: Those of the other model, over the same clusters; it is this one less the first.
        resamples: How many.
        seed: Of the resamples.
        method: ``bca`` or ``percentile``.
        level: The intervals' coverage.
        fewest: Where fewer clusters' influences deviate, the interval is that of the mean of
            these, by :func:`~opencompass_gpassk.metrics.bounded.bounded_mean_interval`.

    Raises:
        ValueError: If a setting is wrong, or the clusters aren't as many.
    """
    normal_quantile(level)
    if method not in METHODS:
        raise ValueError(f'method is {method!r}; choose one of {", ".join(METHODS)}')
    if first.totals.shape != second.totals.shape:
        raise ValueError(
            f'first has shape {first.totals.shape} and second {second.totals.shape}; give both the '
            'same clusters and figures'
        )
    estimate = second.means - first.means
    values = _influences(first, second) + estimate
    sums = ClusterSums.of(values)
    deviating = deviating_clusters(sums)
    several = (sums.defined > 1) & ~np.isnan(estimate)
    few = several & ((deviating < fewest) | (deviating == 0))
    result = np.full((2, len(estimate)), np.nan)
    if few.any():
        reach = np.nanmax(np.abs(values[:, few]), axis=0, initial=1.0)
        found = bounded_mean_interval(values[:, few], None, -reach, reach, level)
        result[:, few] = np.clip(found, -1.0, 1.0)
    many = several & ~few
    if many.any():
        a, b = first.columns(many), second.columns(many)
        means = np.empty((int(many.sum()), resamples))
        for block, weights in resampled_weights(len(a.totals), resamples, seed):
            means[:, block] = _ratios(b, weights) - _ratios(a, weights)
        jackknife = _without_each(b) - _without_each(a)
        tie = np.full(len(means), 2 * ROUNDING)
        result[:, many] = bootstrap_interval(
            means, estimate[many], jackknife, method=method, level=level, tie=tie
        )
    names = np.select([few, many], ['wilson', method], 'none')
    ends = np.minimum(result[0], estimate), np.maximum(result[1], estimate)
    return Intervals(estimate, *ends, tuple(map(str, names)))


def swap_residuals(values: Numbers, weights: Numbers) -> Numbers:
    """Return what a sign-flip test of ratios may flip: Σ of it is 0 where ratios are alike.

    With R the ratio of all models together, a problem's residual is its sum less R times its
    count. R stays what it is if a problem's responses change models, so that differences of
    residuals just change their sign then: a test that flips them is a permutation test. Of two
    models, their sum is the ratios' difference times the harmonic mean of the counts.

    Args:
        values: Shape (models, U, M), means of each of U problems; NaN where there is no count.
        weights: Shape (models, U, M), the counts.

    Returns:
        Shape (models, U, M); 0 where a model has no count, NaN in a column in which one has none
        at all.
    """
    totals = np.where(weights > 0, np.nan_to_num(values) * weights, 0.0)
    pooled = ratio(totals.sum(axis=(0, 1)), weights.sum(axis=(0, 1)))
    nothing = (weights.sum(axis=1) == 0).any(axis=0)
    return totals - weights * np.where(nothing, np.nan, pooled)


def _ratios(sums: ClusterSums, weights: Numbers) -> Numbers:
    return ratio(sums.totals.T @ weights.T, sums.counts.T @ weights.T)


def _without_each(sums: ClusterSums) -> Numbers:
    """Return the ratio without each cluster, shape (C, M)."""
    return ratio(sums.totals.sum(axis=0) - sums.totals, sums.counts.sum(axis=0) - sums.counts)


def _influences(first: ClusterSums, second: ClusterSums) -> Numbers:
    """Return what each cluster adds to the difference, times their number; NaN of empty ones."""
    there = (first.counts > 0) | (second.counts > 0)
    number = there.sum(axis=0)
    a, b = (
        one.deviations(one.means) * np.nan_to_num(ratio(number, one.counts.sum(axis=0)))
        for one in (first, second)
    )
    return np.where(there, b - a, np.nan)
