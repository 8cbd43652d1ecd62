"""A planned margin of error is that which runs of this size deliver."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit, logit

from opencompass_gpassk.metrics.difference import paired_steps, two_lines
from opencompass_gpassk.metrics.difference_plan import (
    DifferencePlan,
    Margins,
    margin_for_power,
    margin_ranges,
    plan_difference,
    sample_numbers,
    worthwhile_samples,
)
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.rate_distribution import Rates

ACCURACY, STRICT = Estimator('accuracy'), Estimator('G-Pass', 8, 1.0)


def these(margins: Margins) -> float:
    """Choose the margin on these problems."""
    return margins.these


def like_these(margins: Margins) -> float:
    """Choose the margin for problems like these."""
    return margins.like_these


def counts(n: int, problems: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw n and c of two models, of which the second is somewhat better, shape (2, P)."""
    rng = np.random.default_rng(seed)
    rates = rng.beta(2, 1.5, problems)
    other = expit(logit(rates) + 0.3 + 0.5 * rng.normal(size=problems))
    return np.full((2, problems), n), rng.binomial(n, np.stack([rates, other]))


def test_within_is_the_variance_of_sampling_over_the_rates() -> None:
    """For uniform rates, accuracy from n samples varies by 1/6n for each model."""
    plan = DifferencePlan(ACCURACY, [Rates.of(1, 1)], between=0.02, varying=1.0)
    assert plan.within(5) == pytest.approx(2 / 30)
    found = plan.margins(1000, 5)
    assert found.these == pytest.approx(1.96 * math.sqrt(2 / 30 / 1000), rel=2e-3)
    assert found.like_these == pytest.approx(1.96 * math.sqrt((2 / 30 + 0.02) / 1000), rel=1e-4)


@pytest.mark.parametrize('estimator', [ACCURACY, STRICT])
@pytest.mark.parametrize(('problems', 'n'), [(60, 64), (240, 16)])
def test_planned_margins_are_delivered(estimator: Estimator, problems: int, n: int) -> None:
    """The mean of plans from ten pilots is near the mean half width of ten comparisons."""
    planned, delivered = np.zeros(2), np.zeros(2)
    for seed in range(10):
        planned += plan_difference(estimator, *counts(16, 60, seed)).margins(problems, n)
        found = two_lines(paired_steps(estimator, *counts(n, problems, 100 + seed)), flips=999)
        delivered += [(line.high - line.low)[0] / 2 for line in (found.these, found.like_these)]
    assert planned == pytest.approx(delivered, rel=0.15)


def test_a_range_of_margins_holds_its_plan() -> None:
    """The pilot's own plan lies within the range from its resampled questions; seeds repeat."""
    n, c = counts(16, 60, 1)
    plan = plan_difference(STRICT, n, c).margins(134, 32)
    ((low, high),) = margin_ranges(STRICT, n, c, [(134, 32)])
    assert low.these < plan.these < high.these
    assert low.like_these < plan.like_these < high.like_these
    assert margin_ranges(STRICT, n, c, [(134, 32)]) == [(low, high)]
    few, none = np.full((2, 5), 7), np.zeros((2, 5), int)  # problems with too few verdicts
    more = [np.concatenate(of, axis=1) for of in ((n, few), (c, none))]
    assert margin_ranges(STRICT, more[0], more[1], [(134, 32)]) == [(low, high)]


def test_versions_of_a_question_widen_the_plan_for_others_only() -> None:
    """With each question in four versions of one rate, questions differ more than problems."""
    n, c = (np.tile(of, 4) for of in counts(16, 50, 2))
    alone, versions = (
        plan_difference(ACCURACY, n, c, clusters).margins(200, 16)
        for clusters in (None, np.tile(np.arange(50), 4))
    )
    assert versions.these == alone.these
    assert versions.like_these > 1.5 * alone.like_these


def test_one_pilot_plans_by_an_assumed_correlation() -> None:
    """The second model is taken to vary likewise; the higher r, the less problems differ."""
    n, c = counts(16, 100, 3)
    assert plan_difference(ACCURACY, n[:1], c[:1], correlation=1.0).between == 0.0
    half, none = (
        plan_difference(ACCURACY, n[:1], c[:1], correlation=r).between for r in (0.5, 0.0)
    )
    assert none == pytest.approx(2 * half)
    rates = stats.beta(2, 1.5)
    assert none == pytest.approx(2 * rates.var(), rel=0.3)


@pytest.mark.parametrize('margin', [these, like_these])
def test_the_fewest_samples_reach_the_target(margin: object) -> None:
    """One sample less of each problem, or one problem less, misses it."""
    assert callable(margin)
    plan = plan_difference(STRICT, *counts(16, 60, 4))
    found = plan.cheapest(margin, 0.05)
    assert found is not None
    problems, n = found
    assert margin(plan.margins(problems, n)) <= 0.05 < margin(plan.margins(problems - 1, n))
    for other in sample_numbers(8):
        assert margin(plan.margins((problems * n - 1) // other, other)) > 0.05
    fixed = plan.samples_for(margin, 0.05, 2 * problems)
    assert fixed is not None
    assert margin(plan.margins(2 * problems, fixed)) <= 0.05
    assert fixed == 8 or margin(plan.margins(2 * problems, fixed - 1)) > 0.05
    assert plan.samples_for(margin, 1e-4, 10) is None
    assert plan.cheapest(margin, 1e-6) is None


def test_the_margin_for_a_power_finds_the_difference_so_often() -> None:
    """An estimate about a difference of 5 points is beyond its margin in 80 %."""
    margin = margin_for_power(0.05, 0.8)
    error = margin / stats.norm.ppf(0.975)
    assert stats.norm.sf(margin, 0.05, error) == pytest.approx(0.8)


def test_doubling_ends_where_it_gains_little() -> None:
    """Below 10 % of the margin, or below half a point."""
    assert worthwhile_samples(lambda n: math.sqrt(0.01 + 0.04 / n), 4) == 8
    assert worthwhile_samples(lambda n: 0.1 / math.sqrt(n), 4) == 48
    assert worthwhile_samples(lambda n: 0.0, 16) == 16


def test_a_pilot_with_fewer_than_k_samples_is_refused() -> None:
    """The message says how many are needed."""
    n, c = counts(7, 30, 5)
    for pilots in (1, 2):
        with pytest.raises(ValueError, match='at least 8 responses to each problem'):
            plan_difference(STRICT, n[:pilots], c[:pilots])
        with pytest.raises(ValueError, match='at least 8 responses'):
            margin_ranges(STRICT, n[:pilots], c[:pilots], [(30, 16)])
