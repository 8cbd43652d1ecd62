"""Paired comparisons: by enumerating all permutations, by identities, by simulated luck."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.paired import (
    holm,
    least_p_value,
    median_p_value,
    rank_intervals,
    settled_test,
    sign_flip_test,
)


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
    found = sign_flip_test(values, labels if paired else None)
    assert found[0] == pytest.approx(float(enumerated(list(sums.values()))))


def test_random_flips_are_near_the_exact_share() -> None:
    """12 differences, enumerated and drawn; scipy's permutation test says the same."""
    differences = np.random.default_rng(3).normal(0.2, 0.5, (12, 4)).round(1)
    exact = sign_flip_test(differences)
    drawn = sign_flip_test(differences, flips=4095, seed=1)
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
        share = (sign_flip_test(a - b, flips=2000) <= alpha).mean()
        assert alpha - 4 * error < share < alpha + 4 * error
        assert (sign_flip_test(counts[0] - counts[1], flips=2000) <= alpha).mean() < (
            alpha + 4 * error
        )


def test_clusters_are_flipped_together() -> None:
    """Each problem asked four times is no stronger evidence; taken as independent it would be."""
    rng = np.random.default_rng(8)
    once = rng.normal(0.1, 0.3, (30, 1)).clip(-1, 1)
    again, clusters = np.repeat(once, 4, axis=0), np.repeat(np.arange(30), 4)
    assert sign_flip_test(again, clusters)[0] == sign_flip_test(once)[0]
    assert sign_flip_test(again)[0] < sign_flip_test(once)[0] / 2


def test_two_models_are_compared_on_what_both_have() -> None:
    """Differences and p-values are those of the problems without NaN in either."""
    rng = np.random.default_rng(9)
    a, b = rng.beta(2, 1, (40, 3)), rng.beta(1, 1, (40, 3))
    a[:5, 0], b[3:9, 0] = math.nan, math.nan
    found = bootstrap_means(a - b, bounds=(-1, 1))
    assert found.estimate[0] == pytest.approx((a[9:, 0] - b[9:, 0]).mean())
    assert found.low[0] == pytest.approx(bootstrap_means((a - b)[9:, :1], bounds=(-1, 1)).low[0])
    assert sign_flip_test(a - b, seed=2)[0] == pytest.approx(
        sign_flip_test((a - b)[9:, :1], np.arange(31))[0], abs=0.01
    )


def test_a_model_and_itself() -> None:
    """No difference, p = 1, and an interval that says that a small one may be there."""
    same = np.zeros((30, 1))
    found = bootstrap_means(same, bounds=(-1, 1))
    assert (found.estimate[0], sign_flip_test(same)[0], found.method) == (0, 1, ('wilson',))
    assert found.low[0] == -found.high[0] < 0
    undefined = np.full((3, 1), math.nan)
    assert math.isnan(bootstrap_means(undefined, bounds=(-1, 1)).low[0])
    assert math.isnan(sign_flip_test(undefined)[0])


def test_units_are_the_callers() -> None:
    """In percent all is a hundred times as large, but for p."""
    rng = np.random.default_rng(1)
    steps = rng.beta(1, 2, (50, 2)) - rng.beta(2, 2, (50, 2))
    shares, percent = (bootstrap_means(u * steps, bounds=(-u, u)) for u in (1, 100))
    np.testing.assert_allclose(percent.low, 100 * shares.low)
    np.testing.assert_allclose(sign_flip_test(100 * steps), sign_flip_test(steps))


def test_holm_by_hand() -> None:
    """The smallest of four counts four times, the next three times; none falls or exceeds 1."""
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    np.testing.assert_allclose(holm([[0.6, math.nan], [0.5, 0.2]]), [[1, math.nan], [1, 0.6]])
    assert holm([]).shape == (0,)
    with pytest.raises(ValueError, match=r'p_values holds 1\.5'):
        holm([0.2, 1.5])


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
    assert rank_intervals(values[:1]).tolist() == [[1, 1]]
    assert rank_intervals(values[:0]).shape == (0, 2)
    assert rank_intervals(values[:, :3]).tolist() == [[1, 4]] * 4  # three problems tell nothing


def test_ranks_do_not_depend_on_the_order_of_the_models() -> None:
    """Rows that change places take their ranks along."""
    values = np.random.default_rng(4).beta(0.5, 0.5, (6, 80)) * np.linspace(0.6, 1, 6)[:, None]
    order = np.array([3, 1, 5, 0, 2, 4])
    found = rank_intervals(values)
    assert (rank_intervals(values[order]) == found[order]).all()
    assert (found[:, 0] <= found[:, 1]).all()


def test_pairs_of_problems_are_clusters_in_ranks() -> None:
    """What 12 problems leave open, the same 12 asked ten times each leave open, too."""
    values = np.random.default_rng(3).beta(0.6, 0.6, (5, 12)) * np.linspace(0.4, 1, 5)[:, None]
    clusters = np.repeat(np.arange(12), 10)
    repeated = np.repeat(values, 10, axis=1)
    assert (rank_intervals(repeated, clusters) == rank_intervals(values)).all()
    assert (rank_intervals(repeated) != rank_intervals(values)).any()


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
        (p_value,) = sign_flip_test(steps, flips=100)
    assert p_value == least_p_value(3000, 100) == 1 / 101


def test_a_model_without_a_result_has_every_rank() -> None:
    """NaN compare with nothing."""
    values = np.vstack([np.full((1, 40), math.nan), np.full((1, 40), 0.9), np.full((1, 40), 0.1)])
    assert rank_intervals(values).tolist() == [[1, 3], [1, 2], [2, 3]]


def test_bad_arguments_are_named() -> None:
    """Which, its value, and what is right."""
    for function in (sign_flip_test, rank_intervals):
        with pytest.raises(ValueError, match='flips is 0'):
            function([[0.5]], flips=0)
        with pytest.raises(ValueError, match='values have shape'):
            function([0.5])
    with pytest.raises(ValueError, match='level is 2'):
        rank_intervals([[0.5]], level=2)


def settlements(verdicts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Two models' values of ten problems, shape (1, 2, 10, 1); ? is a missing verdict."""
    ends = ({'+': 1.0, '-': 0.0, '?': missing} for missing in (0.0, 1.0))
    low, high = (np.array([[[end[v]] for v in model] for model in verdicts])[None] for end in ends)
    return low, high


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text('+-?', min_size=10, max_size=10), min_size=2, max_size=2),
    st.lists(st.booleans(), min_size=20, max_size=20),
)
def test_a_claim_holds_however_missing_verdicts_turn_out(
    verdicts: list[str], right: list[bool]
) -> None:
    """No assignment of them has a greater p-value in the claim's direction."""
    low, high = settlements(verdicts)
    (first, second), _ = settled_test(low, high)
    truth = iter(right)
    a, b = (
        np.array([[{'+': 1.0, '-': 0.0}.get(v, float(next(truth)))] for v in model])
        for model in verdicts
    )
    p_value, total = sign_flip_test(a - b)[0], (a - b).sum()
    assert first[0] >= (p_value if total > 0 else 1.0) - 1e-12
    assert second[0] >= (p_value if total < 0 else 1.0) - 1e-12


def test_without_missing_verdicts_the_claim_is_the_two_sided_test() -> None:
    """And where they decide, the more favourable settlement says so."""
    low, high = settlements(['+++++++++-', '----------'])
    tested, favourable = settled_test(low, high)
    assert tested.tolist() == favourable.tolist()
    assert tested.min() == sign_flip_test(low[0, 0] - low[0, 1])[0]
    tested, favourable = settled_test(*settlements(['+++++?????', '----------']))
    assert tested.min() > 0.05 > favourable.min()


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_several_draws_make_one_p_value(p_values: list[float]) -> None:
    """Twice the median, at most 1; of one draw it is the p-value."""
    found = float(median_p_value(p_values))
    if len(p_values) == 1:
        assert found == p_values[0]
    else:
        assert found == min(1.0, 2 * sorted(p_values)[math.ceil(len(p_values) / 2) - 1])


def test_ranks_use_the_less_favourable_settlement_of_each_pair() -> None:
    """A model ahead by its missing verdicts alone isn't ahead."""
    sure = np.tile([[1.0], [0.0]], (1, 30))
    assert rank_intervals(sure, high=sure).tolist() == [[1, 1], [2, 2]]
    doubtful = sure.copy()
    doubtful[0, :25] = 0.0  # right only if the missing ones are
    assert rank_intervals(doubtful, high=sure).tolist() == [[1, 2], [1, 2]]
