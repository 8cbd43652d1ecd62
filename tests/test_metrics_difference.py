"""Two lines of a difference, on these problems and for problems like these: by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from opencompass_gpassk.metrics.difference import (
    Family,
    Steps,
    against_claim,
    averaged,
    joined,
    judged_estimates,
    least_against,
    low_with_rare_kind,
    on_these_problems,
    paired_steps,
    redealt_variance,
    two_lines,
)
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.rate_distribution import Rates

ACCURACY, ALL_OF_2 = Estimator('accuracy'), Estimator('G-Pass', 2, 1.0)
METRICS = [ACCURACY, ALL_OF_2, Estimator('G-Pass', 2, 0.0), Estimator('mG-Pass', 4)]
FLIPS = 999


@st.composite
def counts(draw: Any, models: int = 2, most: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Draw n and c of a few problems, shape (models, P)."""
    problems = draw(st.integers(2, 15))
    cell = st.integers(4, most).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))
    drawn = draw(st.lists(cell, min_size=models * problems, max_size=models * problems))
    n, c = np.array(drawn).T.reshape(2, models, problems)
    return n, c


def exact_value(estimator: Estimator, n: int, c: int) -> Fraction:
    """Return a metric by choosing k of n samples in all ways."""
    right = [1] * c + [0] * (n - c)
    if estimator.kind == 'accuracy':
        return Fraction(c, n)
    sums = [sum(chosen) for chosen in combinations(right, estimator.k)]
    wanted = max(math.ceil(estimator.tau * estimator.k), 1)
    return Fraction(sum(total >= wanted for total in sums), len(sums))


@pytest.mark.parametrize('estimator', [ACCURACY, ALL_OF_2])
def test_dealing_again_is_enumerated(estimator: Estimator) -> None:
    """The variance is that over all ways to share out the pooled samples, in exact fractions."""
    for n_a, n_b in [(2, 2), (3, 3), (2, 4)]:
        for pooled in range(n_a + n_b + 1):
            right = [1] * pooled + [0] * (n_a + n_b - pooled)
            steps = []
            for chosen in combinations(range(n_a + n_b), n_a):
                to_a = sum(right[i] for i in chosen)
                of_b = exact_value(estimator, n_b, pooled - to_a)
                steps.append(of_b - exact_value(estimator, n_a, to_a))
            mean = sum(steps, Fraction(0)) / len(steps)
            variance = sum(((one - mean) ** 2 for one in steps), Fraction(0)) / len(steps)
            c_a = min(pooled, n_a)
            found = redealt_variance(
                estimator, np.array([[n_a], [n_b]]), np.array([[c_a], [pooled - c_a]])
            )
            assert found == pytest.approx([float(variance)], abs=1e-12)


@pytest.mark.parametrize(('estimator', 'n'), [(ACCURACY, 3), (ALL_OF_2, 2), (ALL_OF_2, 5)])
def test_variance_of_sampling_is_an_integral_over_the_rate(estimator: Estimator, n: int) -> None:
    """It is the posterior mean of Var f(n, C), for the Beta distribution that fits all counts."""
    c = np.array([0, 1, n, n, n // 2])
    rates = Rates.fitted(np.full(5, n), c)
    a, b = rates.alpha[0], rates.beta[0]
    values = np.array([float(exact_value(estimator, n, right)) for right in range(n + 1)])

    def variance(p: float) -> float:
        chances = stats.binom.pmf(np.arange(n + 1), n, p)
        return float(chances @ values**2 - (chances @ values) ** 2)

    expected = [
        integrate.quad(
            lambda p, right=right: variance(p) * stats.beta.pdf(p, a + right, b + n - right), 0, 1
        )[0]
        for right in c
    ]
    found, variances = judged_estimates(estimator, np.full(5, n), c)
    assert found == pytest.approx(values[c])
    assert variances == pytest.approx(expected, abs=1e-6)


def test_a_problem_with_too_few_verdicts_has_its_expected_value() -> None:
    """With one verdict of two, G-Pass@2 is E p² given it, and varies as p² does."""
    n, c = np.array([1, 1, 8, 8, 8, 0]), np.array([0, 1, 1, 5, 8, 0])
    rates = Rates.fitted(n, c)
    found, variances = judged_estimates(ALL_OF_2, n, c)
    for place in (0, 1, 5):
        p = stats.beta(rates.alpha[0] + c[place], rates.beta[0] + n[place] - c[place])
        assert found[place] == pytest.approx(p.moment(2), abs=1e-9)
        assert variances[place] == pytest.approx(p.moment(4) - p.moment(2) ** 2, abs=1e-9)


def test_error_of_few_problems_is_enlarged() -> None:
    """One problem that varies counts as 2 degrees of freedom, many as the normal distribution."""
    for varying, freedom in [(1, 2), (5, 10), (1000, 2000)]:
        variances = np.zeros((2000, 1))
        variances[:varying] = 0.04
        found = on_these_problems(Steps(np.zeros((2000, 1)), variances), np.full((2000, 1), 0.01))
        half = stats.t.ppf(0.975, freedom) * 0.01 * math.sqrt(varying * 0.04)
        assert found.high == pytest.approx([half])


def test_several_tests_share_one_quantile() -> None:
    """Šidák's correction: p becomes 1 - (1 - p)^M, and the interval has the level 0.95^(1/M)."""
    steps = Steps(np.full((400, 1), 0.02), np.full((400, 1), 0.04))
    one, many = (
        on_these_problems(steps, np.full((400, 1), 1 / 400), tests=tests) for tests in (1, 66)
    )
    assert many.p_value == pytest.approx(1 - (1 - one.p_value) ** 66)
    quantile = stats.norm.ppf((1 + 0.95 ** (1 / 66)) / 2) / stats.norm.ppf(0.975)
    assert 0.02 - many.low == pytest.approx((0.02 - one.low) * quantile)


def test_flips_agree_with_all_choices_of_signs() -> None:
    """p for problems like these is the share of 2^C sign choices that are at least as far from 0.

    In a family, it is the share whose farthest column is, each in units of its root of squares.
    """
    rng = np.random.default_rng(1)
    values = rng.normal(0.03, 0.08, (12, 2)).round(2)
    found = two_lines(Steps(values, np.full(values.shape, 1e-9)))
    unit = values / np.sqrt((values**2).sum(axis=0))
    signs = np.array(list(product((1, -1), repeat=12)))
    farthest = np.abs(signs @ unit).max(axis=1)
    exact = (farthest[:, None] >= np.abs(unit.sum(axis=0)) - 1e-9).mean(axis=0)
    assert found.like_these.p_value == pytest.approx(exact, abs=0.02)


def test_an_interval_holds_what_its_statistic_does_not_reject() -> None:
    """Just inside an end the statistic is below the flips' quantile, just outside above it."""
    rng = np.random.default_rng(2)
    values = rng.normal(0.05, 0.1, (80, 1))
    clusters = np.arange(80) // 2
    found = two_lines(Steps(values, np.full((80, 1), 1e-9)), clusters)
    x, w = values.reshape(40, 2).sum(axis=1) / 80, np.full(40, 1 / 40)

    def statistic(centre: float) -> float:
        return abs((x - w * centre).sum()) / math.sqrt(((x - w * centre) ** 2).sum())

    (low,), (high,) = found.like_these.low, found.like_these.high
    assert statistic(low) == pytest.approx(statistic(high))
    assert statistic(low + 1e-4) < statistic(low) < statistic(low - 1e-4)
    signs = np.random.default_rng(5).choice([-1, 1], (100_000, 40))
    far = np.abs(signs @ (x / np.sqrt(x @ x))) >= statistic(low)
    assert far.mean() == pytest.approx(0.05, abs=0.005)


def family_of(n: Any, c: Any, models: int = 2, **settings: Any) -> Family:
    """Test all pairs of models in two metrics."""
    pairs = list(combinations(range(models), 2))
    steps = joined([paired_steps(one, n, c, pairs) for one in (ACCURACY, ALL_OF_2)])
    return two_lines(steps, flips=FLIPS, **settings)


@settings(max_examples=60, deadline=None)
@given(counts(models=3), st.sampled_from([0.8, 0.95, 0.99]), st.booleans())
def test_p_values_and_intervals_agree(of: Any, level: float, corrected: bool) -> None:
    """An interval leaves out 0 exactly if p is at most 1 - level; others imply these problems."""
    found = family_of(of[0], of[1], 3, level=level, corrected=corrected)
    for line in (found.these, found.like_these):
        assert ((line.signs != 0) == (line.p_value <= 1 - level + 1e-12)).all()
        assert (line.low <= found.estimate + 1e-12).all()
        assert (found.estimate <= line.high + 1e-12).all()
    assert (found.like_these.low <= found.these.low).all()
    assert (found.like_these.high >= found.these.high).all()
    assert np.isin(found.like_these.signs, [0, *found.these.signs]).all()
    assert (found.like_these.p_value >= found.these.p_value).all()


@settings(max_examples=40, deadline=None)
@given(counts())
def test_swapping_the_models_negates_everything(of: Any) -> None:
    """B against A is A against B with the other sign."""
    there = family_of(of[0], of[1])
    back = family_of(of[0][::-1], of[1][::-1])
    assert back.estimate == pytest.approx(-there.estimate)
    for one, other in [(there.these, back.these), (there.like_these, back.like_these)]:
        assert other.p_value == pytest.approx(one.p_value, abs=1e-6)
        assert other.low == pytest.approx(-one.high, abs=1e-6)


@given(counts(models=1), st.sampled_from(METRICS))
def test_equal_models_differ_in_nothing(of: Any, estimator: Estimator) -> None:
    """Equal counts give p = 1 and an interval about 0."""
    n, c = (np.vstack([one, one]) for one in of)
    found = two_lines(paired_steps(estimator, n, c), flips=FLIPS)
    assert found.estimate == 0
    assert found.these.p_value == found.like_these.p_value == 1
    assert found.these.low == -found.these.high < 0


def test_equal_metrics_on_other_problems_are_no_claim() -> None:
    """Each model solves the other's problems: D is 0, however certain each problem is."""
    n = np.full((2, 40), 64)
    c = np.where(np.arange(40) % 2 == np.arange(2)[:, None], 64, 0)
    found = two_lines(paired_steps(ALL_OF_2, n, c))
    assert found.these.p_value > 0.99
    assert found.like_these.signs == 0


def test_one_column_alone_is_a_family_of_one() -> None:
    """A plain interval is that of the column tested alone, and a family's is wider."""
    rng = np.random.default_rng(4)
    n = np.full((4, 60), 16)
    c = rng.binomial(16, rng.beta(0.5, 0.5, 60), (4, 60))
    pairs = list(combinations(range(4), 2))
    steps = paired_steps(ACCURACY, n, c, pairs)
    alone = two_lines(paired_steps(ACCURACY, n, c, pairs[2:3]), flips=FLIPS)
    plain = two_lines(steps, flips=FLIPS, corrected=False)
    family = two_lines(steps, flips=FLIPS)
    for line in ('these', 'like_these'):
        assert getattr(plain, line).low[2] == pytest.approx(getattr(alone, line).low[0])
        assert (getattr(family, line).low < getattr(plain, line).low).all()


def test_undefined_steps_are_left_out() -> None:
    """A problem with fewer than k planned samples counts nowhere; without any, a column is NaN."""
    n, c = np.array([[4, 4, 1], [4, 4, 4]]), np.array([[1, 2, 1], [3, 4, 0]])
    some = two_lines(paired_steps(ALL_OF_2, n, c), flips=FLIPS)
    less = two_lines(paired_steps(ALL_OF_2, n[:, :2], c[:, :2]), flips=FLIPS)
    assert some.estimate == less.estimate
    assert some.these == less.these
    assert some.questions == 2
    all_planned = paired_steps(ALL_OF_2, n, c, planned=np.maximum(n, 2))
    assert two_lines(all_planned, flips=FLIPS).questions == 3
    none = two_lines(paired_steps(Estimator('G-Pass', 5, 1.0), n, c), flips=FLIPS)
    assert np.isnan([none.estimate, *none.these, *none.like_these]).all()
    assert none.these.signs == none.questions == 0


def test_versions_of_a_question_are_one_question() -> None:
    """A set whose problems all occur four times knows no more about problems like these."""
    rng = np.random.default_rng(3)
    values = rng.normal(0.05, 0.2, (60, 1))
    once = two_lines(Steps(values, np.full((60, 1), 1e-6)))
    four = two_lines(
        Steps(np.tile(values, (4, 1)), np.full((240, 1), 1e-6)), np.tile(np.arange(60), 4)
    )
    assert four.questions == once.questions == 60
    assert four.like_these.p_value == pytest.approx(once.like_these.p_value, abs=1e-3)
    assert four.like_these.low == pytest.approx(once.like_these.low, abs=1e-4)


def test_a_metric_that_is_no_function_of_counts_has_one_line() -> None:
    """Without variances nothing is said on these problems; the other line needs none."""
    values = np.random.default_rng(6).normal(0.1, 0.2, (60, 1))
    found = two_lines(Steps(values, np.full((60, 1), np.nan)), flips=FLIPS)
    sure = two_lines(Steps(values, np.full((60, 1), 1e-9)), flips=FLIPS)
    assert np.isnan(found.these).all()
    assert found.like_these == sure.like_these
    assert found.like_these.signs == 1


def test_a_group_is_told_from_the_rest_by_the_same_line() -> None:
    """Coefficients of both signs compare a group of a model's problems with the others."""
    n, c = np.full(40, 16), np.repeat([6, 12], 20)
    values, variances = judged_estimates(ACCURACY, n, c)
    group = np.repeat([1 / 20, -1 / 20], 20)[:, None]
    found = on_these_problems(Steps(values[:, None], variances[:, None]), group)
    assert found.signs == -1
    assert (found.low + found.high) / 2 == pytest.approx(-6 / 16)
    half = stats.t.ppf(0.975, 80) * math.sqrt(variances.sum()) / 20
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.01)


def test_data_sets_count_equally() -> None:
    """The difference over data sets is the mean of theirs, and its variance that of the mean."""
    small, large = (
        Steps(np.full((size, 1), mean), np.full((size, 1), 0.01))
        for size, mean in [(20, 0.1), (500, 0.0)]
    )
    steps, weights = averaged([small, large])
    found = two_lines(steps, weights=weights, flips=FLIPS)
    assert found.estimate == pytest.approx([0.05])
    error = (found.these.high - found.these.low) / 2 / 1.96
    assert error == pytest.approx([math.sqrt(0.01 / 20 + 0.01 / 500) / 2], rel=0.05)


def test_a_kind_that_was_not_asked_may_be_lost() -> None:
    """Twenty questions may miss a kind of 14 % of the problems; with it all of its value goes."""
    share = 1 - 0.05 ** (1 / 20)
    assert (1 - share) ** 20 == pytest.approx(0.05)
    assert low_with_rare_kind(0.02, 0.9, 20) == pytest.approx(0.02 * (1 - share) - 0.9 * share)


def test_a_winner_s_missing_verdicts_are_taken_as_wrong() -> None:
    """What a claim must survive has the winner's planned samples, and the loser's judged ones."""
    planned, known = np.full((2, 3), 8), np.array([[8, 7, 6], [5, 8, 8]])
    assert against_claim(planned, known, 1).tolist() == [[8, 7, 6], [8, 8, 8]]
    assert against_claim(planned, known, 0).tolist() == [[8, 8, 8], [5, 8, 8]]


def claim(n: Any, c: Any, planned: Any = None) -> int:
    """Return the sign of the claim on these problems."""
    found = two_lines(paired_steps(ALL_OF_2, n, c, planned=planned), flips=99)
    return int(found.these.signs[0])


@pytest.mark.parametrize('winner', [0, 1])
def test_the_number_against_a_claim_is_the_first_that_overturns_it(winner: int) -> None:
    """Where all problems are alike, wrong verdicts are added one by one until no claim is left."""
    planned = np.full((2, 30), 12)
    known, right = planned - 1, np.full((2, 30), 8)
    right[winner] = 9
    for number in range(61):
        n, c = known.copy(), right.copy()
        n[winner, :number] += 1  # first the winner's are wrong, then the loser's right
        n[1 - winner, : max(number - 30, 0)] += 1
        c[1 - winner, : max(number - 30, 0)] += 1
        if claim(n, c) != 2 * winner - 1:
            break
    assert 0 < number < 60
    assert least_against(ALL_OF_2, planned, known, right) == number


def test_a_claim_may_hold_whatever_is_missing_or_not_be_there() -> None:
    """Models far apart with little missing give None, equal ones 0."""
    planned, known = np.full((2, 30), 12), np.full((2, 30), 11)
    apart = np.repeat([[1], [10]], 30, axis=1)
    assert least_against(ALL_OF_2, planned, known, apart) is None
    assert least_against(ALL_OF_2, planned, known, apart[[0, 0]]) == 0
