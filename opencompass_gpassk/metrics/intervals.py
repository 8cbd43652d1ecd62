"""Confidence intervals, and how much trials that are weighted and alike say."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.clusters import cluster_numbers

__all__ = ['effective_size', 'mean_variance', 'normal_quantile', 'wilson']

FEW = 5  # clusters
Bound = float | NDArray[np.float64]


def normal_quantile(level: float) -> float:
    """Return the z for which a standard normal variable is from -z to z with chance ``level``.

    Raises:
        ValueError: If level isn't between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f'level is {level!r}; it is a chance between 0 and 1, such as 0.95')
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(successes: ArrayLike, total: ArrayLike, level: float = 0.95) -> tuple[Bound, Bound]:
    """Return the score interval of a share (Wilson, JASA 22 (1927), 209-212).

    It assumes independent trials. For others hand over the successes that as many independent
    trials as :func:`effective_size` says would have.

    Args:
        successes: Successes, of any shape; they need not be integers.
        total: Trials.
        level: The interval's coverage, between 0 and 1.

    Returns:
        Lower and upper bound in [0, 1], in the shape that the arguments broadcast to, floats if
        both are scalars. NaN where total is 0 or either is NaN.

    Raises:
        ValueError: If successes are negative or above total, or level isn't between 0 and 1.

    >>> low, high = wilson(9, 10)
    >>> round(low, 4), round(high, 4)
    (0.5958, 0.9821)
    """
    hits, size = np.broadcast_arrays(np.asarray(successes, float), np.asarray(total, float))
    bad = (hits < 0) | (hits > size * (1 + 1e-12))
    if bad.any():
        raise ValueError(
            f'successes holds {hits[bad][0]:g} where total is {size[bad][0]:g}; successes are '
            'from 0 to total'
        )
    z = normal_quantile(level)
    with np.errstate(divide='ignore', invalid='ignore'):
        share = np.minimum(hits / size, 1.0)
        centre = (share + z * z / (2 * size)) / (1 + z * z / size)
        spread = np.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2)
        half = z * spread / (1 + z * z / size)
    # At the ends the bounds are exact, which rounding must not spoil.
    low = np.where(share == 0, 0.0, np.clip(centre - half, 0, 1))
    high = np.where(share == 1, 1.0, np.clip(centre + half, 0, 1))
    return (low, high) if hits.ndim else (float(low), float(high))


def mean_variance(
    values: ArrayLike, weights: ArrayLike | None = None, clusters: ArrayLike | None = None
) -> float:
    """Return the variance of the weighted mean of T values.

    Values of one cluster may be alike to any degree; clusters are independent. This is the
    linearised variance of a ratio mean of unequal clusters (Kish, Survey Sampling (1965),
    chapter 6).

    Args:
        values: Shape (T,).
        weights: Shape (T,), above 0; by default all are equal.
        clusters: Shape (T,), what is equal is one cluster; by default each value is one, and the
            variance is Σ (value - mean)² / T², that of a sample of independent draws.

    Returns:
        The variance, NaN where there is no value or but one cluster.
    """
    number, weight = np.asarray(values, float), _weights(values, weights)
    if not len(number):
        return float('nan')
    share = weight / weight.sum()
    residual = share * (number - share @ number)
    if clusters is None:
        return float(residual @ residual)
    sums = _cluster_sums(residual, clusters)
    if len(sums) < 2:
        return float('nan')
    return float(sums @ sums) * len(sums) / (len(sums) - 1)


def effective_size(
    hits: ArrayLike, weights: ArrayLike | None = None, clusters: ArrayLike | None = None
) -> float:
    """Return how many independent trials of equal weight would tell a share as exactly as T do.

    It is p(1 - p) / Var(p), at most T (Korn and Graubard, Survey Methodology 24 (1998), 193-201).
    Near the ends there is little to tell by how alike the trials of a cluster are: where hits, or
    misses, are in less than ``FEW`` clusters, the size is no more than that of clusters which
    count once each, by their weight (Kish, Survey Sampling (1965), section 11.7). So one miss does
    not make the interval of many hits narrower. From ``FEW`` to twice as many clusters the limit
    goes over into the estimate.

    Args:
        hits: Shape (T,), booleans.
        weights: Shape (T,), above 0; by default all are equal.
        clusters: Shape (T,), what is equal is one cluster; by default each trial is one.

    Returns:
        The size; 0 without trials, NaN with several of one cluster.
    """
    hit, weight = np.asarray(hits, bool), _weights(hits, weights)
    if not len(hit):
        return 0.0
    member = cluster_numbers(clusters, len(hit))
    sums = np.bincount(member, weights=weight)
    if len(sums) == 1 < len(hit):
        return float('nan')
    limit = float(sums.sum() ** 2 / (sums @ sums))
    rarer = min(len(np.unique(member[hit])), len(np.unique(member[~hit])))
    if not rarer:
        return limit
    share = float(weight @ hit / weight.sum())
    variance = mean_variance(hit, weight, clusters)
    estimate = min(share * (1 - share) / variance, len(hit)) if variance else float(len(hit))
    trust = min(max(rarer / FEW - 1, 0), 1)
    return min(estimate, 1 / (trust / estimate + (1 - trust) / limit))


def _weights(values: ArrayLike, weights: ArrayLike | None) -> NDArray[np.float64]:
    size = len(np.asarray(values))
    weight = np.ones(size) if weights is None else np.asarray(weights, float)
    if weight.shape != (size,) or not (weight > 0).all():
        raise ValueError(f'weights are {weights!r}; give {size}, each above 0')
    return weight


def _cluster_sums(values: NDArray[np.float64], clusters: ArrayLike) -> NDArray[np.float64]:
    return np.bincount(cluster_numbers(clusters, len(values)), weights=values).astype(np.float64)
