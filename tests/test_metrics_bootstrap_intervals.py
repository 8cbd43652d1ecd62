"""Bootstrap intervals of means over problems: scipy, identities, the bounds, coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.rate_distribution import Rates
from opencompass_gpassk.metrics.share_intervals import (
    small_count_wilson,
    wilson,
)
from opencompass_gpassk.results.metric import parse_metric

Values = NDArray[np.float64]


def made_values(problems: int = 60, columns: int = 5, seed: int = 0) -> Values:
    """Return values in [0, 1] of which many are at or near the ends, as models' are."""
    return np.random.default_rng(seed).beta(0.5, 0.7, (problems, columns)).round(2)


@pytest.mark.parametrize(('method', 'theirs'), [('bca', 'BCa'), ('percentile', 'percentile')])
def test_intervals_are_those_of_scipy(method: str, theirs: str) -> None:
    """Up to the chance of 20,000 resamples, for a skewed sample."""
    values = np.random.default_rng(4).beta(0.3, 1.5, (80, 1))
    ours = bootstrap_means(values, resamples=20_000, method=method)
    found = stats.bootstrap(
        (values[:, 0],), np.mean, n_resamples=20_000, method=theirs, random_state=1
    ).confidence_interval
    assert ours.method == (method,)
    assert ours.estimate[0] == pytest.approx(values.mean())
    assert (ours.low[0], ours.high[0]) == pytest.approx(tuple(found), abs=1.5e-3)


def test_clusters_of_any_size_are_those_of_scipy() -> None:
    """Their bootstrap of a ratio of sums over clusters, with BCa's acceleration of the ratio."""
    rng = np.random.default_rng(5)
    clusters = np.repeat(np.arange(40), rng.integers(1, 5, 40))
    level = rng.beta(0.4, 0.8, 40)
    values = np.clip(level[clusters] + rng.normal(0, 0.1, len(clusters)), 0, 1)
    totals, sizes = np.bincount(clusters, weights=values), np.bincount(clusters)
    theirs = stats.bootstrap(
        (totals, sizes),
        lambda total, size, axis: total.sum(axis=axis) / size.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=20_000,
        random_state=2,
    ).confidence_interval
    shuffled = rng.permutation(len(values))
    names = np.array([f'c{number}' for number in clusters])[shuffled]
    ours = bootstrap_means(values[shuffled, None], names, resamples=20_000)
    assert ours.method == ('bca',)
    assert (ours.low[0], ours.high[0]) == pytest.approx(tuple(theirs), abs=2.5e-3)


@settings(max_examples=15, deadline=None)
@given(st.floats(-40, 40), st.floats(0.01, 100), st.integers(0, 99), st.sampled_from(['a', 'b']))
@example(shift=0.0, scale=11.0, seed=59, kind='a')
def test_intervals_move_with_the_unit(shift: float, scale: float, seed: int, kind: str) -> None:
    """Values a + b·v with bounds a and a + b have the interval a + b·(low, high)."""
    values = made_values(30, 3, seed)
    if kind == 'b':
        values[values < 0.9] = 0.0
        shift = abs(shift)  # 0 within the bounds would make differences of them
    else:
        values = values.round(1)
    start = shift if kind == 'b' else 0.0
    before = bootstrap_means(values, resamples=300)
    after = bootstrap_means(start + scale * values, bounds=(start, start + scale), resamples=300)
    assert after.method == before.method
    for name in ('estimate', 'low', 'high'):
        np.testing.assert_allclose(
            getattr(after, name), start + scale * getattr(before, name), atol=1e-9 * (scale + start)
        )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 999), st.integers(2, 40), st.integers(2, 4))
def test_copies_of_a_problem_in_its_cluster_add_nothing(
    seed: int, problems: int, times: int
) -> None:
    """Problems that are asked twice are no more problems, by any method."""
    values = made_values(problems, 3, seed)
    values[values < 0.3] = 0.0
    clusters = np.arange(problems)
    once = bootstrap_means(values, clusters, resamples=300)
    again = bootstrap_means(
        np.repeat(values, times, axis=0), np.repeat(clusters, times), resamples=300
    )
    assert once.method == again.method
    np.testing.assert_allclose(again.low, once.low, atol=1e-9)
    np.testing.assert_allclose(again.high, once.high, atol=1e-9)


def test_order_columns_and_seeds() -> None:
    """Neither other problems' place nor other columns move an interval; a seed repeats it."""
    values, labels = made_values(), np.array([f'p{i:02}' for i in range(60)])
    found = bootstrap_means(values, labels, seed=3)
    order = np.random.default_rng(0).permutation(60)
    moved = bootstrap_means(values[order], labels[order], seed=3)
    alone = bootstrap_means(values[:, 2:3], labels, seed=3)
    np.testing.assert_allclose(moved.low, found.low)
    np.testing.assert_allclose(alone.high[0], found.high[2])
    again, other = (bootstrap_means(values, labels, seed=seed) for seed in (3, 4))
    assert (again.low == found.low).all()
    assert (other.low != found.low).all()
    np.testing.assert_allclose(other.low, found.low, atol=0.01)


@pytest.mark.parametrize('problems', [5, 45, 119])
@pytest.mark.parametrize('method', ['bca', 'percentile'])
def test_a_metric_at_a_bound_has_a_width(problems: int, method: str) -> None:
    """All wrong, all right and no difference: Wilson's interval of so many draws, never a point."""
    ends = np.zeros((problems, 1)), np.ones((problems, 1))
    for values, hits in zip(ends, (0, problems), strict=True):
        found = bootstrap_means(values, method=method)
        assert found.method == ('wilson',)
        assert (found.low[0], found.high[0]) == pytest.approx(wilson(hits, problems))
    same = bootstrap_means(ends[0], bounds=(-1, 1), method=method)
    width = wilson(0, problems)[1]
    assert (same.low[0], same.high[0]) == pytest.approx((-width, width))
    odd = bootstrap_means(np.full((problems, 1), 0.8), method=method)
    assert odd.low[0] < 0.75 < 0.85 < odd.high[0]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 999),
    st.integers(5, 60),
    st.floats(-1, 1),
    st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    st.integers(1, 3),
)
def test_intervals_of_differences(
    seed: int, problems: int, shift: float, share: float, versions: int
) -> None:
    """They hold the estimate, are in the bounds, are no points, and turn with the sign."""
    rng = np.random.default_rng(seed)
    steps = np.where(rng.random((problems, 3)) < share, rng.normal(shift, 0.3, (problems, 3)), 0)
    values = np.repeat(np.clip(steps, -1, 1), versions, axis=0)
    clusters = np.repeat(np.arange(problems), versions)
    found = bootstrap_means(values, clusters, bounds=(-1, 1))
    back = bootstrap_means(-values, clusters, bounds=(-1, 1))
    assert ((found.low >= -1) & (found.low <= found.estimate)).all()
    assert ((found.high <= 1) & (found.high >= found.estimate)).all()
    assert (found.high - found.low > 1e-6).all()
    np.testing.assert_allclose(found.low, -back.high, atol=1e-9)
    once = bootstrap_means(values[::versions], bounds=(-1, 1))  # copies add nothing
    np.testing.assert_allclose(found.low, once.low, atol=1e-9)


# α + β of rates → their mean, at which G-Pass@16_1.0 is 2 %.
MEANS = {0.3: 0.04847301668902811, 20.0: 0.7115451091916655}


@pytest.mark.parametrize(('metric', 'problems'), [('G-Pass@16_1.0', 45), ('accuracy', 119)])
def test_rare_differences_are_covered(metric: str, problems: int) -> None:
    """One model solves 2 % always, one all problems rarely: 93 of 100 intervals hold 0."""
    estimator, rng = parse_metric(metric).estimator(), np.random.default_rng(1)
    values = []
    for strength in (0.3, 20.0):
        mean = 0.02 if metric == 'accuracy' else MEANS[strength]
        rates = Rates.of(mean * strength, (1 - mean) * strength)
        chance = rng.beta(rates.alpha[0], rates.beta[0], (problems, 400))
        values.append(estimator(48, np.arange(49))[rng.binomial(48, chance)])
    found = bootstrap_means(values[1] - values[0], bounds=(-1, 1))
    assert ((found.low <= 0) & (found.high >= 0)).mean() >= 0.93


def test_small_counts_have_lower_bounds_of_a_poisson_count() -> None:
    """One success: P[X ≥ 1] is 5 % at a mean of -ln 0.95; three: the gamma quantile of scipy."""
    size = np.full(3, 200.0)
    low, high = small_count_wilson(np.array([1, 3, 199]) / 200, size, 0.95)
    assert low[0] == pytest.approx(-math.log(0.95) / 200)
    assert low[1] == pytest.approx(stats.gamma.ppf(0.05, 3) / 200)
    assert high[2] == pytest.approx(1 + math.log(0.95) / 200)
    assert (high[0], low[2]) == pytest.approx((wilson(1, 200)[1], wilson(199, 200)[0]))


def test_what_has_no_interval() -> None:
    """Nothing defined, no problem, one cluster: NaN, with the mean where there is one."""
    one = bootstrap_means([[0.5, math.nan], [0.7, math.nan], [0.9, math.nan]], ['a', 'a', 'a'])
    assert one.method == ('none', 'none')
    assert one.estimate[0] == pytest.approx(0.7)
    assert np.isnan([one.low, one.high]).all()
    assert math.isnan(one.estimate[1])
    for clusters in (None, []):
        nothing = bootstrap_means(np.empty((0, 2)), clusters)
        assert nothing.method == ('none', 'none')
    assert bootstrap_means(np.empty((4, 0))).method == ()


def test_intervals_cover_the_truth() -> None:
    """500 simulated runs of 119 problems with U-shaped chances, 16 samples each: G-Pass@16_0.5's
    interval holds the true value about as often as it says."""
    rng = np.random.default_rng(11)
    strengths = rng.beta(0.3 * 0.3, 0.3 * 0.7, 200_000)
    truth = stats.binom.sf(7, 16, strengths).mean()
    correct = rng.binomial(16, rng.choice(strengths, (119, 500)))
    found = bootstrap_means((correct >= 8).astype(float), resamples=500)
    covered = ((found.low <= truth) & (truth <= found.high)).mean()
    assert 0.93 <= covered <= 0.975
