"""Wilson intervals, the variance of weighted means, effective sizes: by hand and by simulation."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opencompass_gpassk.metrics.share_intervals import (
    effective_size,
    mean_variance,
    normal_quantile,
    wilson,
)


@pytest.mark.parametrize(('hits', 'total'), [(0, 1), (1, 1), (0, 10), (3, 10), (9, 10), (291, 300)])
def test_bounds_solve_the_equation_of_the_score_test(hits: int, total: int) -> None:
    """A bound b other than 0 and 1 is z of its own standard errors away from the share."""
    low, high = wilson(hits, total)
    for bound in (low, high):
        if 0 < bound < 1:
            error = math.sqrt(bound * (1 - bound) / total)
            assert abs(hits / total - bound) == pytest.approx(1.959964 * error, rel=1e-6)
    assert (low == 0) == (hits == 0)
    assert (high == 1) == (hits == total)


def test_bounds_are_the_published_ones() -> None:
    """Newcombe, Statistics in Medicine 17 (1998), Table I, score method."""
    for hits, total, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)):
        assert wilson(hits, total) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize('share', [0.2, 0.5, 0.77])
def test_coverage_is_near_its_level(share: float) -> None:
    """Summed over the binomial distribution itself."""
    size = 60
    low, high = wilson(np.arange(size + 1), size, 0.9)
    chance = [math.comb(size, c) * share**c * (1 - share) ** (size - c) for c in range(size + 1)]
    covered = np.dot(chances := np.array(chance), (low <= share) & (share <= high))
    assert chances.sum() == pytest.approx(1)
    assert 0.86 < covered < 0.94


def test_shapes_broadcast_and_nothing_is_undefined() -> None:
    """Arrays come back as arrays, nothing of nothing as NaN."""
    low, high = wilson([[0], [1]], [1, 2, 4])
    assert np.shape(low) == np.shape(high) == (2, 3)
    assert (low[1, 2], high[1, 2]) == wilson(1, 4)
    for successes, total in ((0, 0), (math.nan, math.nan), (math.nan, 3)):
        assert all(map(math.isnan, wilson(successes, total)))


def test_bad_arguments_are_named() -> None:
    """Which, its value, and what is right."""
    for level in (0, 1, 95, math.nan):
        with pytest.raises(ValueError, match='level is'):
            normal_quantile(level)


def test_variance_of_a_weighted_mean_by_hand() -> None:
    """Values 0, 1, 1 of weights 2, 1, 1: mean 1/2, residuals 2·(-1/2)/4 and 1·(1/2)/4 twice."""
    values, weights = [0, 1, 1], [2, 1, 1]
    apart = Fraction(1, 16) + 2 * Fraction(1, 64)
    assert mean_variance(values, weights) == pytest.approx(float(apart))
    # Clusters {0, 1} and {2}: sums -1/4 + 1/8 and 1/8, times 2 / (2 - 1).
    together = 2 * (Fraction(1, 64) + Fraction(1, 64))
    assert mean_variance(values, weights, ['a', 'a', 'b']) == pytest.approx(float(together))
    assert math.isnan(mean_variance(values, weights, [7, 7, 7]))
    assert math.isnan(mean_variance([], []))


@given(st.integers(1, 60), st.data())
@settings(max_examples=40, deadline=None)
def test_independent_trials_count_each(size: int, data: st.DataObject) -> None:
    """Without weights and clusters the effective size is the size."""
    hits = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    assert effective_size(hits) == pytest.approx(size)


def test_a_worse_outcome_is_no_better_bound() -> None:
    """300 trials of 10 problems: from none to four misses the lower bound only falls."""
    clusters = np.repeat(np.arange(10), 30)
    hits, bounds = np.ones(300, bool), []
    for cluster in range(5):
        size = effective_size(hits, clusters=clusters)
        assert size <= 10 + 1e-9
        bounds.append(wilson(hits.mean() * size, size)[0])
        hits[30 * cluster] = False  # one miss in each of the first problems
    assert bounds == sorted(bounds, reverse=True)
    for cluster in range(5, 10):
        hits[30 * cluster] = False
    assert effective_size(hits, clusters=clusters) == pytest.approx(300)  # not alike: each counts
    weights = np.r_[np.full(150, 0.05), np.full(150, 1.95)]
    one = np.arange(300) > 0
    assert effective_size(one, weights) <= effective_size(np.ones(300), weights) + 1e-9


def test_intervals_of_clustered_trials_cover() -> None:
    """Trials of a problem that are all alike: plain Wilson misses the truth, ours seldom does."""
    rng = np.random.default_rng(7)
    seeds, truth, plain, ours = 100, 0.85, 0, 0
    clusters = np.repeat(np.arange(40), 8)
    for _ in range(seeds):
        hits = np.repeat(rng.random(40) < truth, 8)
        size = effective_size(hits, clusters=clusters)
        share = hits.mean()
        low, high = wilson(share * np.array([len(hits), size]), [len(hits), size])
        covered = (low <= truth) & (truth <= high)
        plain, ours = plain + int(covered[0]), ours + int(covered[1])
    assert plain < 0.7 * seeds
    assert ours > 0.91 * seeds
