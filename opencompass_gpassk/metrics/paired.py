"""Comparisons of models that were asked the same problems.

Two models find the same problems hard, so the difference of their figures is known far better
than either figure: compare problem by problem, not interval with interval. Some figures are ratios
of sums over problems, since the number of responses differs between problems; an example is the
share of valid responses among the scored ones. :func:`ratio_differences` compares such ratios.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.bootstrap_intervals import Intervals, bootstrap_means
from opencompass_gpassk.metrics.clusters import ClusterSums
from opencompass_gpassk.metrics.share_intervals import normal_quantile
from opencompass_gpassk.metrics.version_figures import ratio

__all__ = [
    'claimed_p_value',
    'holm',
    'least_p_value',
    'median_p_value',
    'rank_intervals',
    'ratio_differences',
    'settled_test',
    'sign_flip_test',
    'swap_residuals',
]

BLOCK = 1 << 21  # approximate number of elements in a temporary array
ROUNDING = 1e-9  # sums that differ by less than this share of their maximum count as equal

Numbers = NDArray[np.float64]


def sign_flip_test(
    differences: ArrayLike, clusters: ArrayLike | None = None, *, flips: int = 10_000, seed: int = 0
) -> Numbers:
    """Return p-values of mean differences by the paired permutation test.

    If the models are equally good, all differences of a cluster could as well have the opposite
    sign. The p-value is the share of sign flips whose mean is at least as far from 0 as the
    observed mean. It is exact if at most ``flips`` flips are possible: then all are made. Otherwise
    flips are random, the observed signs count as one, and it is at least 1/(flips + 1).

    Args:
        differences: Shape (P, M), NaN where undefined.
        clusters: Shape (P,), equal labels are one cluster; by default each problem is one.
        flips: Number of flips; all columns share them.
        seed: Seed of random flips.

    Returns:
        Shape (M,), two-sided; NaN where no difference is defined.

    Raises:
        ValueError: If a shape is wrong or flips isn't positive.

    >>> sign_flip_test([[0.5], [0.25], [0.0], [0.25]])
    array([0.25])
    """
    if flips < 1:
        raise ValueError(f'flips is {flips}; the test needs at least 1')
    sums = ClusterSums.of(differences, clusters)
    totals = sums.totals
    observed = np.abs(totals.sum(axis=0)) - ROUNDING * np.abs(totals).sum(axis=0)
    p_value = np.full(totals.shape[1], np.nan)
    moving = (totals != 0).sum(axis=0)
    exact = 2.0 ** np.minimum(moving, 64) <= flips
    for column in np.flatnonzero(exact & (sums.defined > 0)):
        steps = totals[totals[:, column] != 0, column]
        p_value[column] = (np.abs(_all_flips(steps)) >= observed[column]).mean()
    random = ~exact
    if random.any():
        beyond = np.zeros(random.sum())
        for signs in _random_signs(len(totals), flips, seed):
            beyond += (np.abs(signs @ totals[:, random]) >= observed[random]).sum(axis=0)
        p_value[random] = (beyond + 1) / (flips + 1)
    return p_value


def settled_test(
    low: ArrayLike,
    high: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    flips: int = 10_000,
    seed: int = 0,
) -> tuple[Numbers, Numbers]:
    """Return p-values of "the first model is better" and of "the second is", whatever is missing.

    A claim holds only if :func:`sign_flip_test` supports it with the winner's missing verdicts all
    wrong and the other's all right, and with the reverse. So its p-value is the greater of these
    two, or 1 if a mean has the other sign. Where no verdict is missing, the lesser of the two
    claims' p-values is that of the two-sided test. Several draws are combined by
    :func:`median_p_value`.

    Args:
        low: Shape (D, 2, P, M): D draws of two models' values of M figures on P problems, with
            missing verdicts wrong; NaN where undefined.
        high: The same with missing verdicts right.
        clusters: Shape (P,), equal labels are one cluster; by default each problem is one.
        flips: Number of sign flips of each test.
        seed: Seed of the flips.

    Returns:
        P-values of both claims, shape (2, M); and those of the more favourable of the two
        settlements, which are lower where missing verdicts decide. NaN where no difference is
        defined.

    >>> values = [[[[1.0]] * 6, [[0.0]] * 6]]
    >>> settled_test(values, values)[0].tolist()
    [[0.03125], [1.0]]
    """
    least, most = np.asarray(low, float), np.asarray(high, float)
    arrangements = _arrangements(least, most)
    found = []
    for a, b in arrangements:
        for draw in a[:, 0] - b[:, 1]:
            p_value = sign_flip_test(draw, clusters, flips=flips, seed=seed)
            found.append(_claimed(p_value, np.nansum(draw, axis=0)))
    each = np.array(found).reshape(len(arrangements), len(least), 2, -1)
    return median_p_value(each.max(axis=0)), median_p_value(each.min(axis=0))


def claimed_p_value(difference: Numbers, p_values: Numbers) -> Numbers:
    """Return the p-value of the claim that a difference makes by its sign.

    Where verdicts are missing, a figure without them may favour the model that is worse whatever
    they are. The test then supports the other claim, and not the one that people read.

    Args:
        difference: Shape (M,), the first model's figure minus the second's; NaN where undefined.
        p_values: Shape (2, M), of both claims, from :func:`settled_test`.

    Returns:
        Shape (M,); 1 where the difference is 0.
    """
    signs = [difference > 0, difference < 0, difference == 0]
    return np.select(signs, [*p_values, np.ones_like(difference)], np.nan)


def _arrangements(low: Numbers, high: Numbers) -> list[tuple[Numbers, Numbers]]:
    """Return each model's values under both settlements; one pair if nothing is missing."""
    both = [(low, high), (high, low)]
    return both[:1] if low is high or np.array_equal(low, high, equal_nan=True) else both


def _claimed(p_value: Numbers, total: Numbers) -> Numbers:
    """Return the p-values of the claims that totals are above 0, and below; shape (2, …)."""
    claims = np.stack([np.where(total > 0, p_value, 1.0), np.where(total < 0, p_value, 1.0)])
    return np.where(np.isnan(p_value), np.nan, claims)


def median_p_value(p_values: ArrayLike) -> Numbers:
    """Return one p-value for D tests of the same hypothesis, however they depend on one another.

    It is twice the ⌈D/2⌉-th smallest, at most 1. By Markov's inequality, at least half of D
    p-values are at most x with a chance of at most 2x. It serves tests on several random draws
    of the samples, where one draw would make the p-value a lottery.

    Args:
        p_values: Shape (D, …); NaN in all draws stays NaN.

    >>> median_p_value([0.01, 0.2, 0.03]), median_p_value([0.2])
    (array(0.06), array(0.2))
    """
    given = np.asarray(p_values, float)
    if len(given) == 1:
        return np.asarray(given[0])
    middle = np.sort(given, axis=0)[(len(given) + 1) // 2 - 1]
    return np.asarray(np.minimum(2 * middle, 1.0))


def least_p_value(clusters: int, flips: int = 10_000) -> float:
    """Return the least p-value that :func:`sign_flip_test` can give for any data.

    Args:
        clusters: Number of clusters with a defined difference.
        flips: Number of flips in the test.

    >>> least_p_value(5), least_p_value(2000, 9_999)
    (0.0625, 0.0001)
    """
    signs = 2.0 ** min(clusters, 64)
    return min(1.0, 2 / signs) if signs <= flips else 1 / (flips + 1)


def holm(p_values: ArrayLike) -> Numbers:
    """Return p-values adjusted for their number (Holm, Scand. J. Statistics 6 (1979), 65-70).

    If all adjusted p-values of at most α count as significant, the chance of any false positive is
    at most α, however the tests depend on one another.

    Args:
        p_values: P-values of any shape; NaN does not count as a test and stays NaN.

    Returns:
        Adjusted p-values of the same shape, each from its p-value to 1.

    Raises:
        ValueError: If a p-value is outside [0, 1].

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    given = np.asarray(p_values, float)
    if ((given < 0) | (given > 1)).any():
        wrong = given[(given < 0) | (given > 1)][0]
        raise ValueError(f'p_values holds {wrong:g}; give p-values from 0 to 1')
    adjusted = np.full(given.shape, np.nan)
    tests = ~np.isnan(given)
    order = np.argsort(given[tests], kind='stable')
    factors = np.arange(len(order), 0, -1)
    steps = np.maximum.accumulate(given[tests][order] * factors)
    found = np.empty(len(order))
    found[order] = np.minimum(steps, 1.0)
    adjusted[tests] = found
    return adjusted


def rank_intervals(
    values: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    high: ArrayLike | None = None,
    flips: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> NDArray[np.int64]:
    """Return the ranks in a leaderboard that are compatible with the data.

    A model's best rank is just behind all models that are significantly better, its worst rank just
    before all that are significantly worse (Mogstad, Romano, Shaikh and Wilhelm, Review of Economic
    Studies 91 (2024), 476-518). All pairs are tested together with shared sign flips of clusters,
    by the step-down of Westfall and Young (1993): the intervals of all models hold at once with a
    chance of at least ``level``. A model whose best rank is 1 is not distinguishable from the best.
    Missing verdicts and draws count as in :func:`settled_test`, pair by pair.

    Args:
        values: Shape (models, P), or (D, models, P) for several draws: a figure where higher is
            better; NaN where undefined. A pair is compared on the problems for which both models
            have a value.
        clusters: Shape (P,), equal labels are one cluster; by default each problem is one.
        high: The values with missing verdicts right, if ``values`` are those with them wrong.
        flips: Number of random sign flips.
        seed: Seed of the sign flips.
        level: The chance that all intervals hold.

    Returns:
        Shape (models, 2), best and worst rank, from 1.

    Raises:
        ValueError: If a shape or a setting is wrong.

    >>> rank_intervals([[0.9] * 20, [0.1] * 20, [0.1] * 20]).tolist()
    [[1, 1], [2, 3], [2, 3]]
    """
    normal_quantile(level)
    if flips < 1:
        raise ValueError(f'flips is {flips}; the test needs at least 1')
    least = np.asarray(values, float)
    if least.ndim not in (2, 3):
        raise ValueError(f'values have shape {least.shape}; give one row per model')
    least = least if least.ndim == 3 else least[None]
    most = least if high is None else np.asarray(high, float).reshape(least.shape)
    models = least.shape[1]
    ranks = np.tile([1, max(models, 1)], (models, 1))
    first, second = np.triu_indices(models, 1)
    if not len(first):
        return ranks[:models]
    arrangements = _arrangements(least, most)
    found = []
    for a, b in arrangements:
        for of_first, of_second in zip(a[:, first], b[:, second], strict=True):
            totals = ClusterSums.of((of_first - of_second).T, clusters).totals
            found.append(_claimed(_step_down(totals, flips, seed), totals.sum(axis=0)))
    each = np.array(found).reshape(len(arrangements), len(least), 2, -1)
    of_first, of_second = median_p_value(each.max(axis=0)) <= 1 - level + 1e-12
    for certain, better, worse in ((of_first, first, second), (of_second, second, first)):
        np.add.at(ranks[:, 0], worse[certain], 1)
        np.add.at(ranks[:, 1], better[certain], -1)
    return ranks


def _step_down(totals: Numbers, flips: int, seed: int) -> Numbers:
    """Return p-values of M sums of C totals, shape (C, M), adjusted for their number.

    Each sum is divided by the root of its sum of squares, so that no pair of models outweighs the
    others; flips don't change the divisor. A pair is compared with the maximum over the pairs that
    are at most as extreme.
    """
    scale = np.sqrt((totals**2).sum(axis=0))
    scaled = np.divide(totals, scale, out=np.zeros_like(totals), where=scale > 0)
    observed = np.abs(scaled.sum(axis=0))
    order = np.argsort(observed, kind='stable')
    bar = observed[order] - ROUNDING
    beyond = np.zeros(len(order))
    for signs in _random_signs(len(totals), flips, seed, len(order)):
        greatest = np.maximum.accumulate(np.abs(signs @ scaled[:, order]), axis=1)
        beyond += (greatest >= bar).sum(axis=0)
    share = (beyond + 1) / (flips + 1)
    adjusted = np.empty(len(order))
    # A less extreme pair never gets a smaller p-value.
    adjusted[order] = np.maximum.accumulate(share[::-1])[::-1]
    return adjusted


def _all_flips(steps: Numbers) -> Numbers:
    """Return the sums of steps under every choice of their signs."""
    sums = np.zeros(1)
    for step in steps:
        sums = np.concatenate([sums + step, sums - step])
    return sums


def _random_signs(clusters: int, flips: int, seed: int, columns: int = 1) -> Iterator[Numbers]:
    """Yield blocks of signs 1 and -1, shape (block, C); the block size doesn't change the signs."""
    rng = np.random.default_rng([*b'sign flips', seed])
    rows = max(BLOCK // max(clusters, columns, 1), 1)
    for start in range(0, flips, rows):
        size = min(rows, flips - start)
        yield rng.choice([-1.0, 1.0], (size, clusters))


def ratio_differences(first: ClusterSums, second: ClusterSums, *, level: float = 0.95) -> Intervals:
    """Return the differences of two models' ratios, with intervals for a population of problems.

    An interval is that of the mean of the clusters' influences, as
    :func:`~opencompass_gpassk.metrics.bootstrap_intervals.bootstrap_means` has it for differences.

    Args:
        first: Sums over each of C clusters, M columns: ``totals`` of shares in [0, 1], and
            ``counts`` of the responses with a share.
        second: The same of the other model, over the same clusters. Differences are second - first.
        level: The intervals' coverage.

    Raises:
        ValueError: If the level is wrong, or the numbers of clusters differ.
    """
    if first.totals.shape != second.totals.shape:
        raise ValueError(
            f'first has shape {first.totals.shape} and second {second.totals.shape}; give both the '
            'same clusters and figures'
        )
    estimate = second.means - first.means
    values = _influences(first, second) + estimate
    # A cluster with many responses has an influence beyond that of one ratio.
    reach = np.abs(np.where(np.isnan(values), 0.0, values)).max(axis=0, initial=1.0)
    found = bootstrap_means(values, bounds=(-reach, reach), level=level)
    return replace(found, low=np.maximum(found.low, -1.0), high=np.minimum(found.high, 1.0))


def swap_residuals(values: Numbers, weights: Numbers) -> Numbers:
    """Return residuals for a sign-flip test of ratios: their sums are 0 where ratios are equal.

    With R the ratio of all models together, a problem's residual is its sum less R times its
    count. Swapping a problem's responses between two models keeps R and only changes the sign of
    the difference of residuals, so a test that flips these signs is a permutation test. For two
    models, these differences add up to the ratios' difference times the counts' harmonic mean.

    Args:
        values: Shape (models, U, M), means of each of U problems; NaN where the count is 0.
        weights: Shape (models, U, M), the counts.

    Returns:
        Shape (models, U, M); 0 where a count is 0, NaN in a column in which all of a model's
        counts are 0.
    """
    totals = np.where(weights > 0, np.nan_to_num(values) * weights, 0.0)
    pooled = ratio(totals.sum(axis=(0, 1)), weights.sum(axis=(0, 1)))
    nothing = (weights.sum(axis=1) == 0).any(axis=0)
    return totals - weights * np.where(nothing, np.nan, pooled)


def _influences(first: ClusterSums, second: ClusterSums) -> Numbers:
    """Return each cluster's influence on the difference times their number; NaN if it is empty."""
    there = (first.counts > 0) | (second.counts > 0)
    number = there.sum(axis=0)
    a, b = (
        one.deviations(one.means) * np.nan_to_num(ratio(number, one.counts.sum(axis=0)))
        for one in (first, second)
    )
    return np.where(there, b - a, np.nan)
