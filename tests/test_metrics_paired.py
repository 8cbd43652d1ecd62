"""Paired comparisons, of means and of ratios: by enumeration, by identities, by simulated luck."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.clusters import ClusterSums
from opencompass_gpassk.metrics.gpassk import g_pass_at_k
from opencompass_gpassk.metrics.paired import (
    FlipTest,
    holm,
    least_p_value,
    ranks_of,
    sign_flip_test,
    step_down,
    swap_residuals,
)
from opencompass_gpassk.metrics.version_metrics import ratio


def flipped(values: Any, clusters: Any = None, **settings: Any) -> FlipTest:
    """Test differences of shape (P, M)."""
    return sign_flip_test(ClusterSums.of(values, clusters), **settings)


def rank_intervals(values: Any, clusters: Any = None, **settings: Any) -> np.ndarray:
    """Return the ranks of models, shape (models, P), at a level of 95 %."""
    given = np.asarray(values, float)
    pairs = list(combinations(range(len(given)), 2))
    steps = np.array([given[b] - given[a] for a, b in pairs]).reshape(len(pairs), -1).T
    totals = ClusterSums.of(steps, clusters).totals
    certain = step_down(totals, **settings) <= 0.05 + 1e-9
    return ranks_of(len(given), pairs, np.where(certain, totals.sum(axis=0), 0.0))


def p_values(values: Any, clusters: Any = None, **settings: Any) -> np.ndarray:
    """Return their p-values."""
    return flipped(values, clusters, **settings).p_value


def enumerated(steps: list[Fraction]) -> Fraction:
    """Return the share of sign choices whose sum is as far from 0, counted in exact fractions."""
    sums = [
        abs(sum((sign * step for sign, step in zip(signs, steps, strict=True)), Fraction(0)))
        for signs in product((1, -1), repeat=len(steps))
    ]
    return Fraction(sum(one >= sums[0] for one in sums), len(sums))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-16, 16), st.integers(0, 4)), min_size=1, max_size=9),
    st.booleans(),
)
def test_few_clusters_are_enumerated(rows: list[tuple[int, int]], paired: bool) -> None:
    """The p-value is the exact share of sign choices, ties included, with and without clusters."""
    steps = [Fraction(step, 16) for step, _ in rows]
    labels = [label if paired else index for index, (_, label) in enumerate(rows)]
    sums: dict[int, Fraction] = {}
    for step, label in zip(steps, labels, strict=True):
        sums[label] = sums.get(label, Fraction(0)) + step
    values = np.array([[float(step)] for step in steps])
    found = p_values(values, labels if paired else None)
    assert found[0] == pytest.approx(float(enumerated(list(sums.values()))))


def test_random_flips_are_near_the_exact_share() -> None:
    """12 differences, enumerated and drawn; scipy's permutation test says the same."""
    differences = np.random.default_rng(3).normal(0.2, 0.5, (12, 4)).round(1)
    exact = p_values(differences)
    drawn = p_values(differences, flips=4095, seed=1)
    np.testing.assert_allclose(drawn, exact, atol=0.03)
    assert (drawn != exact).any()
    theirs = stats.permutation_test(
        (differences[:, 0], np.zeros(12)),
        lambda a, b, axis: (a - b).mean(axis=axis),
        permutation_type='samples',
        vectorized=True,
        n_resamples=10_000,
    )
    assert exact[0] == pytest.approx(theirs.pvalue, abs=1e-9)


def test_p_values_are_uniform_where_nothing_differs() -> None:
    """Of 2000 comparisons of a model with itself about α are below α, never many more."""
    rng, problems = np.random.default_rng(6), 60
    strength = rng.beta(0.6, 0.8, (problems, 2000))
    a, b = (rng.beta(9 * strength + 0.01, 9.01 - 9 * strength) for _ in range(2))
    counts = rng.binomial(16, strength, (2, problems, 2000)) / 16  # of which many are equal
    for alpha in (0.01, 0.05, 0.2):
        error = math.sqrt(alpha * (1 - alpha) / 2000)
        share = (p_values(a - b, flips=2000) <= alpha).mean()
        assert alpha - 4 * error < share < alpha + 4 * error
        assert (p_values(counts[0] - counts[1], flips=2000) <= alpha).mean() < (alpha + 4 * error)


def test_clusters_are_flipped_together() -> None:
    """Each problem asked four times is no stronger evidence; taken as independent it would be."""
    rng = np.random.default_rng(8)
    once = rng.normal(0.1, 0.3, (30, 1)).clip(-1, 1)
    again, clusters = np.repeat(once, 4, axis=0), np.repeat(np.arange(30), 4)
    assert p_values(again, clusters)[0] == p_values(once)[0]
    assert p_values(again)[0] < p_values(once)[0] / 2


def test_two_models_are_compared_on_what_both_have() -> None:
    """Differences and p-values are those of the problems without NaN in either."""
    rng = np.random.default_rng(9)
    a, b = rng.beta(2, 1, (40, 3)), rng.beta(1, 1, (40, 3))
    a[:5, 0], b[3:9, 0] = math.nan, math.nan
    found = bootstrap_means(a - b, bounds=(-1, 1))
    assert found.estimate[0] == pytest.approx((a[9:, 0] - b[9:, 0]).mean())
    assert found.low[0] == pytest.approx(bootstrap_means((a - b)[9:, :1], bounds=(-1, 1)).low[0])
    assert p_values(a - b, seed=2)[0] == pytest.approx(
        p_values((a - b)[9:, :1], np.arange(31))[0], abs=0.01
    )


def test_a_model_and_itself() -> None:
    """No difference, p = 1, and an interval that says that a small one may be there."""
    same = np.zeros((30, 1))
    found = bootstrap_means(same, bounds=(-1, 1))
    assert (found.estimate[0], p_values(same)[0], found.method) == (0, 1, ('wilson',))
    assert found.low[0] == -found.high[0] < 0
    undefined = np.full((3, 1), math.nan)
    assert math.isnan(bootstrap_means(undefined, bounds=(-1, 1)).low[0])
    assert math.isnan(p_values(undefined)[0])


def test_holm_by_hand() -> None:
    """The smallest of four counts four times, the next three times; none falls or exceeds 1."""
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([[0.6, math.nan], [0.5, 0.2]]), [[1, math.nan], [1, 0.6]])
    assert holm([]).shape == (0,)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_against_its_definition(p_values: list[float]) -> None:
    """Rejected at α are, from the smallest on, p-values at most α / how many are left."""
    adjusted = holm(p_values)
    for alpha in (0.01, 0.05, 0.3):
        left, rejected = len(p_values), set()
        for index in sorted(range(len(p_values)), key=p_values.__getitem__):
            if p_values[index] * left > alpha:
                break
            rejected.add(index)
            left -= 1
        assert set(np.flatnonzero(adjusted <= alpha)) == rejected


def test_ranks_of_models_that_are_far_apart_and_of_twins() -> None:
    """The order where it is certain; twins share two ranks; one model has one."""
    rng = np.random.default_rng(2)
    levels = np.array([0.2, 0.9, 0.5, 0.5])
    values = np.clip(levels[:, None] + rng.normal(0, 0.15, (4, 150)), 0, 1)
    assert rank_intervals(values).tolist() == [[4, 4], [1, 1], [2, 3], [2, 3]]
    assert ranks_of(1, [], []).tolist() == [[1, 1]]
    assert rank_intervals(values[:, :3]).tolist() == [[1, 4]] * 4  # three problems tell nothing


def test_ranks_do_not_depend_on_the_order_of_the_models() -> None:
    """Rows that change places take their ranks along."""
    values = np.random.default_rng(4).beta(0.5, 0.5, (6, 80)) * np.linspace(0.6, 1, 6)[:, None]
    order = np.array([3, 1, 5, 0, 2, 4])
    found = rank_intervals(values)
    assert (rank_intervals(values[order]) == found[order]).all()
    assert (found[:, 0] <= found[:, 1]).all()


def test_ranks_hold_all_at_once() -> None:
    """Of 100 leaderboards of 6 equal models at most about 5 % exclude a model from any rank."""
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(100):
        strength = rng.beta(0.4, 0.5, 60)
        values = rng.binomial(16, strength, (6, 60)) / 16
        wrong += (rank_intervals(values, flips=400) != [1, 6]).any()
    assert wrong <= 5 + 3 * math.sqrt(100 * 0.05 * 0.95)
    assert wrong >= 1


def test_thousands_of_clusters_do_not_overflow() -> None:
    """2 to the number of clusters is beyond a float from 1024 on."""
    steps = np.random.default_rng(0).normal(1.0, 1.0, (3000, 1))
    with np.errstate(all='raise'):
        (p_value,) = p_values(steps, flips=100)
    assert p_value == least_p_value(3000, 100) == 1 / 101


def test_a_model_without_a_result_has_every_rank() -> None:
    """NaN compare with nothing."""
    values = np.vstack([np.full((1, 40), math.nan), np.full((1, 40), 0.9), np.full((1, 40), 0.1)])
    assert rank_intervals(values).tolist() == [[1, 3], [1, 2], [2, 3]]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(1, 40),
    st.integers(1, 3),
    st.sampled_from([0.8, 0.95, 0.99]),
    st.booleans(),
)
def test_the_interval_leaves_out_0_just_where_the_test_rejects(
    seed: int, problems: int, size: int, level: float, rounded: bool
) -> None:
    """With all flips and with random ones, with ties, and with clusters of other sizes."""
    rng = np.random.default_rng(seed)
    values = rng.normal(rng.normal(0, 0.3), 0.5, (problems, 3))
    clusters = rng.integers(0, max(problems // size, 1), problems)
    found = flipped(values.round(1) if rounded else values, clusters, level=level, flips=1000)
    outside = (found.low > 0) | (found.high < 0)
    assert (outside == (found.p_value <= 1 - level + 1e-9)).all()


def test_intervals_of_half_subsets_are_enumerated() -> None:
    """Their ends are quantiles of the means over all halves; the empty one is 0."""
    steps = [Fraction(n, 16) for n in (3, -1, 5, 2, 7, 4, 1, 6)]
    means = sorted(
        sum(chosen, Fraction(0)) / max(len(chosen), 1)
        for kept in product((False, True), repeat=len(steps))
        for chosen in [[step for step, keep in zip(steps, kept, strict=True) if keep]]
    )
    found = flipped([[float(step)] for step in steps])
    beyond = int(0.025 * len(means))
    assert found.low[0] == pytest.approx(float(means[beyond]))
    assert found.high[0] == pytest.approx(float(means[-1 - beyond]))


@given(st.lists(st.integers(-8, 8), min_size=1, max_size=30), st.integers(0, 5))
def test_models_may_change_places(steps: list[int], seed: int) -> None:
    """Then the ends change sides and signs, and p stays."""
    values = np.array([[step / 8] for step in steps])
    one, other = (flipped(sign * values, seed=seed, flips=500) for sign in (1, -1))
    assert one.p_value[0] == other.p_value[0]
    assert one.low[0] == pytest.approx(-other.high[0])
    assert one.high[0] == pytest.approx(-other.low[0])


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=1, max_size=8),
)
def test_a_family_is_stepped_down_by_enumeration(rows: list[tuple[int, int]]) -> None:
    """The most extreme is compared with the greater of both, the other with itself alone."""
    totals = np.array(rows, float)
    scale = np.sqrt((totals**2).sum(axis=0))
    scaled = totals / np.where(scale > 0, scale, 1)
    signs = np.array(list(product((1, -1), repeat=len(rows))))
    sums = np.abs(signs @ scaled)
    observed = np.abs(scaled.sum(axis=0))
    first, second = (0, 1) if observed[0] >= observed[1] else (1, 0)
    of_second = (sums[:, second] >= observed[second] - 1e-9).mean()
    of_first = (sums.max(axis=1) >= observed[first] - 1e-9).mean()
    found = step_down(totals)
    assert found[first] == pytest.approx(of_first)
    assert found[second] == pytest.approx(max(of_first, of_second))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.integers(2, 60))
def test_a_family_of_one_is_the_test_itself(seed: int, problems: int) -> None:
    """And of several, none has a smaller p-value than alone; a copy costs nothing."""
    values = np.random.default_rng(seed).normal(0.1, 0.4, (problems, 3)).round(1)
    alone = p_values(values, flips=1000)
    for column in range(3):
        assert step_down(values[:, [column]], flips=1000)[0] == pytest.approx(alone[column])
    together = step_down(values, flips=1000)
    chance = 4 * np.sqrt(alone * (1 - alone) / 1000)  # alone, all flips may have been made
    assert (together >= alone - chance - 1e-9).all()
    again = step_down(np.column_stack([values, values[:, 0]]), flips=1000)
    np.testing.assert_allclose(again, [*together, together[0]])


def test_ranks_follow_from_what_is_certain() -> None:
    """A model is behind all that are surely better, and before all that are surely worse."""
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert ranks_of(3, pairs, [0, 0, 0]).tolist() == [[1, 3]] * 3
    assert ranks_of(3, pairs, [-1, -1, 0]).tolist() == [[1, 1], [2, 3], [2, 3]]
    assert ranks_of(3, pairs, [1, 1, 1]).tolist() == [[3, 3], [2, 2], [1, 1]]


def test_intervals_contain_the_truth_as_often_as_they_say() -> None:
    """Of 400 comparisons on 60 problems; models with other numbers of samples too."""
    rng, held = np.random.default_rng(11), []
    for n in ((16, 16), (16, 48)):
        rate = rng.beta(0.5, 0.5, (60, 400))
        other = np.clip(rate + rng.normal(0, 0.05, rate.shape), 0, 1)
        truth = (other**4 - rate**4).mean()
        a, b = (
            np.asarray(g_pass_at_k(np.full(rate.shape, m), rng.binomial(m, of), 4, 1.0))
            for m, of in zip(n, (rate, other), strict=True)
        )
        found = flipped(b - a, flips=1000)
        held.append(((found.low <= truth) & (truth <= found.high)).mean())
    assert min(held) > 0.9


def sums_of(totals: np.ndarray, counts: np.ndarray) -> ClusterSums:
    """The difference of two models' ratios as a mean; both have shape (2, C, M)."""
    steps = np.subtract(*swap_residuals(ratio(totals, counts), counts)[::-1])
    sizes = counts.sum(axis=1)
    mean = 2 * sizes.prod(axis=0) / sizes.sum(axis=0)
    return ClusterSums(steps, counts.sum(axis=0) * mean / sizes.sum(axis=0))


def test_ratios_of_equal_counts_are_means() -> None:
    """With their p-values and intervals."""
    values = np.random.default_rng(0).random((2, 60, 3))
    found = sign_flip_test(sums_of(4 * values, np.full((2, 60, 3), 4.0)))
    expected = sign_flip_test(ClusterSums.of(values[1] - values[0]))
    for name in ('estimate', 'p_value', 'low', 'high'):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9)


def test_intervals_of_differences_of_ratios_hold_the_truth() -> None:
    """Of 200 runs of 40 clusters with other counts, at least 92 of 100 do."""
    rng, share = np.random.default_rng(1), 0.3
    shape = (40, 200)
    hits, counts = [], []
    for rate in (share, share / 2):
        counts.append(rng.binomial(16, rng.beta(1, 1, shape)))
        rates = rng.beta(4 * rate, 4 * (1 - rate), shape)
        hits.append(rng.binomial(counts[-1], rates))
    found = sign_flip_test(sums_of(np.array(hits, float), np.array(counts, float)), flips=2000)
    held = (found.low <= -share / 2) & (found.high >= -share / 2)
    assert held.mean() >= 0.92


def test_residuals_add_up_to_the_difference() -> None:
    """Times the harmonic mean of the counts; swapping a problem changes a sign and no size."""
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 5, (2, 20, 1)).astype(float)
    values = np.where(weights > 0, rng.random((2, 20, 1)), math.nan)
    residuals = swap_residuals(values, weights)
    totals, counts = np.nansum(values * weights, axis=1)[:, 0], weights.sum(axis=1)[:, 0]
    ratios = totals / counts
    expected = (ratios[1] - ratios[0]) * 2 * counts.prod() / counts.sum()
    assert (residuals[1] - residuals[0]).sum() == pytest.approx(expected)
    turned = [array.copy() for array in (values, weights)]
    for array in turned:
        array[:, 4] = array[::-1, 4]
    swapped = swap_residuals(*turned)
    steps, other = residuals[1] - residuals[0], swapped[1] - swapped[0]
    steps[4] *= -1
    np.testing.assert_allclose(steps, other)
