"""Comparisons of models that were asked the same problems.

Two models find the same problems hard, so the difference of their metrics is known far better
than either metric: compare problem by problem, not interval with interval. Some metrics are ratios
of sums over problems, since the number of responses differs between problems; an example is the
share of valid responses among the scored ones. :func:`swap_residuals` makes them means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.clusters import ClusterSums
from opencompass_gpassk.metrics.version_metrics import ratio

BLOCK = 1 << 21  # approximate number of elements in a temporary array
ROUNDING = 1e-9  # sums that differ by less than this share of their maximum count as equal

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class FlipTest:
    """Mean differences of M metrics, each with the p-value and the interval of one sign-flip test.

    Attributes:
        estimate: Shape (M,), the mean difference; NaN if it is undefined.
        p_value: Shape (M,), two-sided.
        low: Shape (M,), lower end. The interval leaves out 0 if and only if p is at most 1 - level.
        high: Shape (M,), upper end.
        differing: Shape (M,), clusters whose total is not 0.
    """

    estimate: Numbers
    p_value: Numbers
    low: Numbers
    high: Numbers
    differing: NDArray[np.int64]


def sign_flip_test(
    sums: ClusterSums,
    *,
    level: float = 0.95,
    flips: int = 10_000,
    seed: int = 0,
    drawn: Numbers | None = None,
) -> FlipTest:
    """Test mean paired differences by flipping signs of clusters, and return their intervals.

    If two models are alike, swapping them in a cluster changes its sign only (Fisher, The Design of
    Experiments (1935), section 21). The p-value is the share of the flips whose mean is at least as
    far from 0 as the observed one. A flip also chooses a random half of the clusters, those whose
    sign stays; the interval's ends are quantiles of the means over these halves (Hartigan, Annals
    of Mathematical Statistics 40 (1969), 1303-1317: typical values). As each flip is drawn with its
    mirror image, the interval leaves out 0 just where the test rejects.

    All flips are made if at most ``flips`` are possible; clusters with a total of 0 then count half
    in every mean. Otherwise flips are random, the observed signs count as one, and p is at least
    1/(flips + 1).

    A model with more samples has other values than one with fewer, even if both are alike: with 48
    samples G-Pass@16 is just above 0 where with 16 it is 0. If such differences are rare, their
    signs say little. So with ``drawn`` a second test flips differences of equally many samples,
    about the same estimate. It may have twice the level, since these differences are noisier; the
    greater p-value and the wider interval count. ``benchmarks/claims.py`` shows what that is for.

    Args:
        sums: Totals and counts of the differences in C clusters, M columns.
        drawn: Shape (J, C, M), totals of J draws with equally many samples; None if all have.
        level: The intervals' coverage.
        flips: Number of flips; all columns share them.
        seed: Seed of random flips.

    >>> steps = [[0.5], [0.25], [0.0], [0.25], [0.5], [0.25], [0.25]]
    >>> found = sign_flip_test(ClusterSums.of(steps))
    >>> found.p_value, found.low.round(3), found.high.round(3)
    (array([0.03125]), array([0.167]), array([0.357]))
    """
    found = _flip_test(sums, level, flips, seed)
    if drawn is None:
        return found
    wider = _random_test(sums, drawn, max(2 * level - 1, 0.0), flips, seed)
    return FlipTest(
        found.estimate,
        np.maximum(found.p_value, wider[0] / 2),
        np.minimum(found.low, wider[1]),
        np.maximum(found.high, wider[2]),
        np.minimum(found.differing, (drawn != 0).sum(axis=1).mean(axis=0)).astype(np.int64),
    )


def _flip_test(sums: ClusterSums, level: float, flips: int, seed: int) -> FlipTest:
    totals, counts = sums.totals, sums.counts
    moving = totals != 0
    p_value, low, high = (np.full(totals.shape[1], np.nan) for _ in range(3))
    exact = 2.0 ** np.minimum(moving.sum(axis=0), 64) <= flips
    for column in np.flatnonzero(exact & (sums.defined > 0)):
        there = moving[:, column]
        signs = _half_of_all_signs(int(there.sum()))
        x, y = (signs @ of[there, column] for of in (totals, counts))
        found = _tested(totals[:, column], counts[:, column], x, y, 0, level)
        p_value[column], low[column], high[column] = found
    random = np.flatnonzero(~exact)
    width = max(BLOCK // max(flips // 2, 1), 1)
    for start in range(0, len(random), width):
        block = random[start : start + width]
        part = ClusterSums(totals[:, block], counts[:, block])
        p_value[block], low[block], high[block] = _random_test(
            part, part.totals[None], level, flips, seed
        )
    return FlipTest(sums.means, p_value, low, high, moving.sum(axis=0))


def _random_test(sums: ClusterSums, drawn: Numbers, level: float, flips: int, seed: int) -> Numbers:
    """Return p-values, lower and upper ends, shape (3, M), by flipping each draw equally often."""
    x, y = [], []
    for totals, signs in _shared_out(drawn, _random_signs(len(sums.totals), flips // 2, seed)):
        x.append(signs @ totals)
        y.append(signs @ sums.counts)
    flipped = np.concatenate(x), np.concatenate(y)
    found = np.empty((3, sums.totals.shape[1]))
    for column in range(found.shape[1]):
        totals, counts = sums.totals[:, column], sums.counts[:, column]
        x_of, y_of = (of[:, column] for of in flipped)
        found[:, column] = _tested(totals, counts, x_of, y_of, 1, level)
    return found


def _shared_out(drawn: Numbers, blocks: Iterator[Numbers]) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield each draw's totals, shape (C, M), with its part of each block of signs."""
    for block in blocks:
        yield from zip(drawn, np.array_split(block, len(drawn)), strict=True)


def _tested(
    totals: Numbers, counts: Numbers, x: Numbers, y: Numbers, observed: int, level: float
) -> tuple[float, float, float]:
    """Return p-value and interval of one column from one of each flip and its mirror image.

    Args:
        totals: Shape (C,).
        counts: Shape (C,).
        x: Shape (B,), the flipped sums of totals.
        y: Shape (B,), the flipped sums of counts.
        observed: 1 if the observed signs are counted besides.
        level: The interval's coverage.
    """
    total, count = totals.sum(), counts.sum()
    slack = ROUNDING * np.abs(totals).sum()
    number = 2 * len(x) + observed
    beyond = 2 * (np.abs(x) >= abs(total) - slack).sum() + observed
    above = np.concatenate([total + x, total - x])
    above[np.abs(above) <= slack] = 0.0  # rounding must not put a mean of 0 on one side
    means = ratio(above, np.concatenate([count + y, count - y]))
    means[np.isnan(means)] = 0.0  # the half without any cluster
    # So many means may lie on the other side of 0 that the test still rejects.
    most = int(np.floor(((1 - level) * number - observed) / 2 + ROUNDING))
    if most < 0:
        return float(beyond / number), float(means.min()), float(means.max())
    means.partition([most, len(means) - 1 - most])
    return float(beyond / number), float(means[most]), float(means[len(means) - 1 - most])


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

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    given = np.asarray(p_values, float)
    adjusted = np.full(given.shape, np.nan)
    tests = ~np.isnan(given)
    order = np.argsort(given[tests], kind='stable')
    factors = np.arange(len(order), 0, -1)
    steps = np.maximum.accumulate(given[tests][order] * factors)
    found = np.empty(len(order))
    found[order] = np.minimum(steps, 1.0)
    adjusted[tests] = found
    return adjusted


def ranks_of(models: int, pairs: Sequence[tuple[int, int]], gains: ArrayLike) -> NDArray[np.int64]:
    """Return the ranks that certain differences leave possible.

    A model's best rank is just behind all models that are certainly better, its worst rank just
    before all that are certainly worse (Mogstad, Romano, Shaikh and Wilhelm, Review of Economic
    Studies 91 (2024), 476-518). If all pairs are one family of :func:`step_down`, the ranks of all
    models hold at once with a chance of at least the level.

    Args:
        models: Number of models.
        pairs: Every two models.
        gains: For each pair, above 0 if the second is certainly better, below if it is certainly
            worse, and 0 if neither is certain.

    Returns:
        Shape (models, 2), best and worst rank, from 1.
    """
    ranks = np.tile([1, max(models, 1)], (models, 1))
    for (first, second), gain in zip(pairs, np.asarray(gains, float), strict=True):
        if gain:
            better, worse = (second, first) if gain > 0 else (first, second)
            ranks[worse, 0] += 1
            ranks[better, 1] -= 1
    return ranks


def step_down(
    totals: ArrayLike, *, flips: int = 10_000, seed: int = 0, drawn: Numbers | None = None
) -> Numbers:
    """Return p-values of a family of paired differences, adjusted for their number.

    The signs of all differences are flipped together, cluster by cluster, and a difference is
    compared with the maximum over those that are at most as extreme (Westfall and Young,
    Resampling-Based Multiple Testing (1993), chapter 2). The chance of any false positive in the
    family is at most α, and metrics that depend on one another cost little. Each difference is
    divided by the root of its sum of squares, which flips don't change, so that none outweighs the
    others.

    Args:
        totals: Shape (C, M): each cluster's total of M differences; 0 where there is none.
        drawn: Shape (J, C, M), as in :func:`sign_flip_test`; None if all have equally many samples.
        flips: Number of flips; if at most that many are possible, all are made.
        seed: Seed of random flips.

    Returns:
        Shape (M,), two-sided; 1 for a difference that is 0 in every cluster.

    >>> step_down([[0.5, 0.5], [0.25, 0.25], [0.25, 0.25], [0.5, -0.5]])
    array([0.25, 0.75])
    """
    given = np.asarray(totals, float)
    found = _step_down(given, given[None], flips, seed)
    return found if drawn is None else np.maximum(found, _step_down(given, drawn, flips, seed) / 2)


def _step_down(given: Numbers, drawn: Numbers, flips: int, seed: int) -> Numbers:
    """Return p-values of totals of shape (C, M), by flipping each of J draws equally often."""
    moving = (given != 0).any(axis=1)
    exact = len(drawn) == 1 and 2.0 ** min(moving.sum(), 64) <= flips
    if exact:  # all clusters have the signs of other tests
        given, drawn = given[moving], drawn[:, moving]
    scale = np.sqrt((drawn**2).sum(axis=1).mean(axis=0))
    known = scale > 0
    scaled = np.divide(drawn, scale, out=np.zeros_like(drawn), where=known)
    observed = np.abs(np.divide(given.sum(axis=0), scale, out=np.zeros_like(scale), where=known))
    order = np.argsort(observed, kind='stable')
    bar = observed[order] - ROUNDING
    blocks = _random_signs(len(given), flips // 2, seed, len(order))
    if exact:
        blocks = iter([_half_of_all_signs(len(given))])
    beyond, number = np.zeros(len(order)), 0
    for of_draw, block in _shared_out(scaled[:, :, order], blocks):
        greatest = np.maximum.accumulate(np.abs(block @ of_draw), axis=1)
        beyond += (greatest >= bar).sum(axis=0)
        number += len(block)
    # Each flip stands for its mirror image too; with random ones, the observed signs count as one.
    share = beyond / number if exact else (2 * beyond + 1) / (2 * number + 1)
    adjusted = np.empty(len(order))
    # A less extreme difference never gets a smaller p-value.
    adjusted[order] = np.maximum.accumulate(share[::-1])[::-1]
    return adjusted


def _half_of_all_signs(clusters: int) -> Numbers:
    """Return one of each choice of signs 1 and -1 and its mirror image, shape (2^(C - 1), C)."""
    choices = np.arange(1 << max(clusters - 1, 0))  # the last sign is always 1
    return 1.0 - 2.0 * ((choices[:, None] >> np.arange(clusters)) & 1)


def _random_signs(clusters: int, flips: int, seed: int, columns: int = 1) -> Iterator[Numbers]:
    """Yield blocks of signs 1 and -1, shape (block, C); the block size doesn't change the signs."""
    rng = np.random.default_rng([*b'sign flips', seed])
    rows = max(BLOCK // max(clusters, columns, 1), 1)
    for start in range(0, flips, rows):
        size = min(rows, flips - start)
        yield rng.choice([-1.0, 1.0], (size, clusters))


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
