"""Confidence intervals of shares and bounded means, and effective sizes of clustered trials.

If nearly all clusters have the same value, a bootstrap's interval is far too short. A weak model
solves one of 119 problems, or none, so all resamples repeat that one problem or nothing: at a true
value of 0.3 % the interval covers it in only 10 to 87 of 100 cases. The intervals here are wider,
and their width is above 0 even where the mean is at a bound.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaincinv, stdtrit

from opencompass_gpassk.metrics.clusters import ClusterSums, cluster_numbers
from opencompass_gpassk.metrics.version_metrics import ratio

FEW = 5  # clusters; up to this number a variance estimated from them is not trusted
Bound = float | NDArray[np.float64]


def normal_quantile(level: float) -> float:
    """Return z such that a standard normal variable is in [-z, z] with probability ``level``.

    Raises:
        ValueError: If level isn't between 0 and 1.
    """
    if not 0 < level < 1:
        raise ValueError(f'level is {level!r}; give a number between 0 and 1, such as 0.95')
    return NormalDist().inv_cdf((1 + level) / 2)


def wilson(successes: ArrayLike, total: ArrayLike, level: float = 0.95) -> tuple[Bound, Bound]:
    """Return the score interval of a share (Wilson, JASA 22 (1927), 209-212).

    It assumes independent trials. For correlated ones pass the share times
    :func:`effective_size` as the successes, and the effective size as the total.

    Args:
        successes: Successes, from 0 to total, of any shape; they need not be integers.
        total: Trials.
        level: The interval's coverage, between 0 and 1.

    Returns:
        Lower and upper bound in [0, 1], in the shape that the arguments broadcast to, floats if
        both are scalars. NaN where total is 0 or either is NaN.

    Raises:
        ValueError: If level isn't between 0 and 1.

    >>> low, high = wilson(9, 10)
    >>> round(low, 4), round(high, 4)
    (0.5958, 0.9821)
    """
    hits, size = np.broadcast_arrays(np.asarray(successes, float), np.asarray(total, float))
    z = normal_quantile(level)
    with np.errstate(divide='ignore', invalid='ignore'):
        share = np.minimum(hits / size, 1.0)
        centre = (share + z * z / (2 * size)) / (1 + z * z / size)
        spread = np.sqrt(share * (1 - share) / size + (z / (2 * size)) ** 2)
        half = z * spread / (1 + z * z / size)
    # At a share of 0 or 1 one bound is exact; rounding must not change it.
    low = np.where(share == 0, 0.0, np.clip(centre - half, 0, 1))
    high = np.where(share == 1, 1.0, np.clip(centre + half, 0, 1))
    return (low, high) if hits.ndim else (float(low), float(high))


def mean_variance(
    values: ArrayLike, weights: ArrayLike | None = None, clusters: ArrayLike | None = None
) -> float:
    """Return the variance of the weighted mean of T values.

    Values of one cluster may be correlated; clusters are independent. This is the linearised
    variance of a ratio mean of unequal clusters (Kish, Survey Sampling (1965), chapter 6).

    Args:
        values: Shape (T,).
        weights: Shape (T,), above 0; by default all are equal.
        clusters: Shape (T,), equal labels are one cluster; by default each value is one, and the
            variance is Σ (value - mean)² / T², that of a sample of independent draws.

    Returns:
        The variance; NaN if there is no value or only one cluster.
    """
    number, weight = np.asarray(values, float), _weights(values, weights)
    if not len(number):
        return float('nan')
    share = weight / weight.sum()
    residual = share * (number - share @ number)
    if clusters is None:
        return float(residual @ residual)
    sums = np.bincount(cluster_numbers(clusters, len(number)), weights=residual)
    if len(sums) < 2:
        return float('nan')
    return float(sums @ sums) * len(sums) / (len(sums) - 1)


def effective_size(
    hits: ArrayLike, weights: ArrayLike | None = None, clusters: ArrayLike | None = None
) -> float:
    """Return how many independent, equally weighted trials give a share as precisely as the T do.

    It is p(1 - p) / Var(p), at most T (Korn and Graubard, Survey Methodology 24 (1998), 193-201).
    Near shares of 0 and 1 the correlation within clusters is hard to estimate: if hits, or misses,
    occur in at most ``FEW`` clusters, the size is limited to the effective number of clusters by
    weight (Kish, Survey Sampling (1965), section 11.7). So a single miss does not narrow the
    interval of many hits. From ``FEW`` to twice as many clusters the limit blends into the
    estimate.

    Args:
        hits: Shape (T,), booleans.
        weights: Shape (T,), above 0; by default all are equal.
        clusters: Shape (T,), equal labels are one cluster; by default each trial is one.

    Returns:
        The size; 0 without trials, NaN if there are several trials but only one cluster.
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
    return np.ones(len(np.asarray(values))) if weights is None else np.asarray(weights, float)


Numbers = NDArray[np.float64]
POISSON = 3  # up to this number of successes Wilson's lower bound is too high
UNSEEN = 0.75  # of the greatest share of problems of a kind that was not asked
LEAST_FREEDOM = 0.2  # with fewer degrees of freedom Student's quantile is taken as infinite


def deviating_clusters(sums: ClusterSums) -> Numbers:
    """Return the effective number of clusters whose mean differs from the median mean.

    It is (Σ|d|)² / Σd², with d each cluster's total less its total if all its values were the
    median. If most values are 0 and the rest 1, it is the number of ones; if all values are equal,
    it is 0; for a normal distribution it is 0.64 of the clusters.

    Returns:
        Shape (M,), from 0 to the number of clusters.
    """
    means = ratio(sums.totals, sums.counts)
    centre = np.full(means.shape[1], np.nan)
    some = sums.defined > 0
    # Take the lower of two middle values: it occurs in the data, so clusters equal to it deviate 0.
    order = np.sort(means[:, some], axis=0)
    centre[some] = order[(sums.defined[some] - 1) // 2, np.arange(some.sum())]
    deviations = np.abs(sums.deviations(centre))
    deviations[deviations < 1e-12 * np.abs(sums.totals).max(axis=0, initial=0)] = 0.0
    with np.errstate(under='ignore'):
        squares = (deviations**2).sum(axis=0)
    return np.where(squares > 0, np.nan_to_num(ratio(deviations.sum(axis=0) ** 2, squares)), 0.0)


def effective_sizes(sums: ClusterSums, level: float) -> Numbers:
    """Return how many independent draws of 0 or 1 give each mean as precisely as the data do.

    It is m(1 - m)/Var(m), with m the mean and Var(m) its variance between clusters (Kish, Survey
    Sampling (1965), chapter 6). A size above the effective number of clusters by weight (section
    11.7 there) rests on a variance that few deviating clusters estimate badly. It is therefore
    multiplied by (z/t)², down to that number at the least: z and t are the quantiles of the normal
    and of Student's distribution, with 2 degrees of freedom less than deviating clusters (after
    Korn and Graubard, Survey Methodology 24 (1998), 193-201). So with one or two deviating clusters
    the size is the number of clusters, and with many it is the estimate.

    Args:
        sums: Sums of values in [0, 1].
        level: The coverage of the interval that uses the size.

    Returns:
        Shape (M,), at least 1; NaN where no value is defined.
    """
    mean, total = sums.means, sums.counts.sum(axis=0)
    limit = ratio(total**2, (sums.counts**2).sum(axis=0))
    # Without the factor C/(C - 1), so that C draws of 0 or 1 have size C.
    variance = ratio((sums.deviations(mean) ** 2).sum(axis=0), total**2)
    estimate = np.where(variance > 0, ratio(mean * (1 - mean), variance), limit)
    return trusted_sizes(estimate, limit, deviating_clusters(sums), level)


def trusted_sizes(estimate: Numbers, limit: Numbers, deviating: Numbers, level: float) -> Numbers:
    """Return estimated sizes, reduced if few clusters deviate; see :func:`effective_sizes`.

    Args:
        estimate: Shape (M,), m(1 - m)/Var(m).
        limit: Shape (M,), number of clusters.
        deviating: Shape (M,), number of deviating clusters.
        level: The coverage of the interval.
    """
    freedom = deviating - 2  # of a variance that is estimated from deviating clusters
    some = freedom > LEAST_FREEDOM
    student = np.where(some, stdtrit(np.where(some, freedom, 1.0), (1 + level) / 2), np.inf)
    with np.errstate(invalid='ignore'):
        trusted = estimate * (normal_quantile(level) / student) ** 2
    return np.maximum(np.where(estimate > limit, np.fmax(trusted, limit), estimate), 1.0)


def small_count_wilson(mean: Numbers, size: Numbers, level: float) -> tuple[Numbers, Numbers]:
    """Return Wilson's interval of means in [0, 1], with Poisson bounds for small counts.

    Up to three successes Wilson's lower bound is too high. It is then limited to the lower bound
    of a Poisson count at twice the error (Brown, Cai and DasGupta, Statistical Science 16 (2001),
    101-133, section 4.1.1); up to three failures, the upper bound likewise. Counts need not be
    integers.

    Args:
        mean: Shape (M,).
        size: Shape (M,), effective number of independent draws.
        level: The interval's coverage.

    >>> low, high = small_count_wilson(np.array([0.0, 0.02]), np.array([50.0, 50.0]), 0.95)
    >>> low.round(4), high.round(4)
    (array([0.   , 0.001]), array([0.0713, 0.105 ]))
    """
    hits, misses = mean * size, (1 - mean) * size
    low, high = (np.asarray(bound) for bound in wilson(np.minimum(hits, size), size, level))
    few_hits, few_misses = hits <= POISSON, misses <= POISSON
    floor = ratio(gammaincinv(np.where(few_hits, hits, 1), 1 - level), size)
    ceiling = 1 - ratio(gammaincinv(np.where(few_misses, misses, 1), 1 - level), size)
    low = np.where(few_hits & (hits > 0), np.minimum(low, floor), low)
    high = np.where(few_misses & (misses > 0), np.maximum(high, ceiling), high)
    return low, high


def with_unseen(
    low: Numbers, high: Numbers, mean: Numbers, clusters: ArrayLike, level: float
) -> tuple[Numbers, Numbers]:
    """Return intervals of means in [0, 1] that allow for a kind of problems that nobody asked.

    A strong model solves nearly all problems nearly always. The few kinds that it never solves may
    not be among those asked, and then neither the problems nor their resamples tell of them. The
    share of such problems may be as high as Wilson's bound for none of C clusters; three quarters
    of it are enough in simulations (``benchmarks/coverage.py``). The same holds for rare easy
    problems of a weak model.

    Args:
        low: Shape (M,), lower ends.
        high: Shape (M,), upper ends.
        mean: Shape (M,).
        clusters: Shape (M,), number of clusters.
        level: The intervals' coverage.

    >>> both = [np.array([one]) for one in (0.97, 0.99, 0.98)]
    >>> [end.round(3).tolist() for end in with_unseen(*both, [24], 0.95)]
    [[0.879], [0.99]]
    """
    kept = 1 - UNSEEN * np.asarray(wilson(0, clusters, level)[1])
    return np.minimum(low, kept * mean), np.maximum(high, 1 - kept * (1 - mean))


def bounded_mean_interval(
    sums: ClusterSums, low: Numbers, high: Numbers, level: float
) -> tuple[Numbers, Numbers]:
    """Return an interval of each mean of bounded values; its width is above 0.

    It is Wilson's, with the values as shares of what is possible. If 0 is between the bounds, the
    values are differences. A cluster's difference is a centre plus its gain, less its loss, one of
    which is 0. The mean gain and the mean loss have Wilson's intervals. Their distances from the
    bounds are combined like standard errors of a difference (Zou and Donner, Statistics in Medicine
    27 (2008), 1693-1702), with the correlation of gains and losses (Zou, Psychological Methods 12
    (2007), 399-413). So the interval allows for great losses that are rare and didn't occur here; a
    bootstrap and Student's interval do not.

    The centre is 0, unless half of the clusters have a gain that such losses can't make up for.
    Then it is the median, since a model that is better everywhere hardly has great losses.

    Args:
        sums: Sums of the values; each column has one.
        low: Shape (M,), the least possible value.
        high: Shape (M,), the greatest possible value.
        level: The interval's coverage.

    Returns:
        Lower and upper bounds, each of shape (M,).
    """
    median = np.nanmedian(ratio(sums.totals, sums.counts), axis=0)
    _, unseen = wilson(0, sums.defined, level)  # share of clusters, if none of those asked is such
    certain = np.abs(median) > unseen * np.where(median > 0, -low, high)
    centre = np.where((low < 0) & (high > 0), np.where(certain, median, 0.0), low)
    excess = sums.deviations(centre)
    gain = _Side.of(excess, sums.counts, high - centre, level)
    loss = _Side.of(-excess, sums.counts, centre - low, level)
    products = (gain.deviations * loss.deviations).sum(axis=0)
    squares = (gain.deviations**2).sum(axis=0) * (loss.deviations**2).sum(axis=0)
    correlation = np.where(squares > 0, ratio(products, np.sqrt(squares)), 0.0)
    below, above = (
        np.sqrt(one**2 + other**2 - 2 * correlation * one * other)
        for one, other in ((gain.below, loss.above), (gain.above, loss.below))
    )
    mean = centre + gain.mean - loss.mean
    return np.clip(mean - below, low, high), np.clip(mean + above, low, high)


class _Side(NamedTuple):
    """Mean gains or losses, how far their bounds are, and their deviations, shape (C, M)."""

    mean: Numbers
    below: Numbers
    above: Numbers
    deviations: Numbers

    @classmethod
    def of(cls, excess: Numbers, counts: Numbers, reach: Numbers, level: float) -> _Side:
        """Return the part of the excess that is above 0; ``reach`` is the most that is possible."""
        shares = excess / np.where(reach > 0, reach, np.inf)
        sums = ClusterSums(np.clip(shares, 0.0, counts).round(12), counts)
        mean = sums.means
        low, high = small_count_wilson(mean, effective_sizes(sums, level), level)
        return cls(reach * mean, reach * (mean - low), reach * (high - mean), sums.deviations(mean))
