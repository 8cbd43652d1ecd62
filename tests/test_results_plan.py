"""Plans: variances by enumeration and simulation, the n that is enough, pilots of any shape."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from stored_table import table_of

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.fixed_problems import within_problem_variance
from opencompass_gpassk.metrics.look_levels import look_levels
from opencompass_gpassk.metrics.rate_distribution import Rates
from opencompass_gpassk.metrics.sample_size import design_effect, pilot_rates, plan
from opencompass_gpassk.results.metric import G_PASS, parse_metric
from opencompass_gpassk.results.plan import sampling_shares


def test_parts_of_accuracy_are_known() -> None:
    """Between problems it is the variance of p, within them E[p(1 - p)]/n."""
    found = plan(Estimator('accuracy'), Rates.of(2.0, 3.0))
    between = 2 * 3 / (5 * 5 * 6)
    assert found.mean == pytest.approx(0.4)
    assert found.between == pytest.approx(between)
    for n in (1, 7, 48):
        within = (0.4 * 0.6 - between) / n
        assert found.within(n) == pytest.approx(within)
        assert found.within_share(n) == pytest.approx(within / (within + between))


@pytest.mark.parametrize('name', ['G-Pass@4_0.5', 'G-Pass@4_1.0', 'mG-Pass@4', 'pass@4'])
@pytest.mark.parametrize('n', [4, 12])
def test_variances_are_those_of_simulated_runs(name: str, n: int) -> None:
    """Mean, and variance in both parts, of 100,000 problems drawn from the rates."""
    estimator, rates = parse_metric(name).estimator(), Rates.of([0.5, 2.0], [0.8, 2.0], [0.7, 0.3])
    rng = np.random.default_rng(0)
    part = rng.choice(2, 100_000, p=rates.weights)
    strength = rng.beta(rates.alpha[part], rates.beta[part])
    values = estimator(n, rng.binomial(n, strength))
    found = plan(estimator, rates)
    assert found.mean == pytest.approx(values.mean(), abs=4e-3)
    assert found.between + found.within(n) == pytest.approx(values.var(), rel=0.02)
    within = within_problem_variance(estimator, 12, rng.binomial(12, strength)).mean()
    assert found.within(12) == pytest.approx(within, rel=0.02)


def test_the_n_that_is_enough_is_the_first() -> None:
    """One sample less is not enough; with problems that are alike nothing is."""
    found = plan(parse_metric('G-Pass@16_1.0').estimator(), Rates.with_spread(0.4, 0.35))
    assert found.enough_samples(0.5) == 16  # since no less can be had
    for share in (0.3, 0.1, 0.02):
        enough = found.enough_samples(share)
        assert enough is not None
        assert found.within_share(enough) <= share < found.within_share(enough - 1)
    assert plan(Estimator('accuracy'), Rates.with_spread(0.5, 1e-4)).enough_samples(0.1) is None
    assert plan(Estimator('accuracy'), Rates.of(1e-3, 1e-3)).enough_samples(0.9) == 1
    assert math.isnan(found.within(15))


@pytest.mark.parametrize(
    ('mean', 'spread', 'n'), [(0.001, 0.001, 16), (0.01, 0.05, 48), (0.3, 0.4, 16)]
)
def test_the_width_is_that_of_the_intervals_to_come(mean: float, spread: float, n: int) -> None:
    """Within a quarter of the mean width over 200 runs, near 0 as well."""
    estimator, rates = Estimator('accuracy'), Rates.with_spread(mean, spread)
    rng = np.random.default_rng(0)
    chance = rng.beta(rates.alpha[0], rates.beta[0], (45, 200))
    found = bootstrap_means(rng.binomial(n, chance) / n, resamples=400)
    low, high = plan(estimator, rates).interval(n, 45)
    assert high - low == pytest.approx((found.high - found.low).mean(), rel=0.25)


def test_clusters_widen_the_part_between_problems_alone() -> None:
    """Pairs of problems with one rate double it, and are found to do so by a pilot."""
    rng = np.random.default_rng(2)
    strength, estimator = (
        np.repeat(rng.beta(0.5, 0.6, 3000), 2),
        parse_metric('G-Pass@4_0.5').estimator(),
    )
    n, c = np.full(6000, 12), rng.binomial(12, strength)
    within = within_problem_variance(estimator, n, c).mean()
    design = design_effect(estimator, n, c, np.repeat(np.arange(3000), 2), within)
    assert design == pytest.approx(2, abs=0.08)
    rates = pilot_rates(n, c)
    plain, paired = plan(estimator, rates), plan(estimator, rates, design)
    assert paired.between == pytest.approx(design * plain.between)
    assert paired.within(12) == plain.within(12)
    assert design_effect(estimator, n, c, None, within) == 1
    assert design_effect(estimator, n, c, np.zeros(6000), within) == 1


def test_a_pilot_tells_of_a_population_that_is_no_beta_distribution() -> None:
    """Two kinds of problems: the metric and both parts at another n are near the truth."""
    true = Rates.of([0.2, 6.0], [0.2, 6.0], [0.6, 0.4])
    rng = np.random.default_rng(1)
    part = rng.choice(2, 4000, p=true.weights)
    strength = rng.beta(true.alpha[part], true.beta[part])
    estimator = parse_metric('G-Pass@4_1.0').estimator()
    truth = plan(estimator, true)
    counts = np.full(4000, 32), rng.binomial(32, strength)
    found = plan(estimator, pilot_rates(*counts))
    assert found.mean == pytest.approx(truth.mean, abs=0.015)
    assert found.between == pytest.approx(truth.between, rel=0.05)
    assert found.within(8) == pytest.approx(truth.within(8), rel=0.2)
    alone = plan(estimator, Rates.fitted(*counts))
    assert abs(alone.within(8) - truth.within(8)) > abs(found.within(8) - truth.within(8))


@given(st.sets(st.integers(50, 1024), min_size=1, max_size=20).map(sorted), st.floats(0.5, 0.999))
def test_looks_spend_the_error_rate_and_no_more(looks: list[int], level: float) -> None:
    """Whatever the plan; what is spent up to a look doesn't depend on the looks between."""
    levels = look_levels(looks, level)
    assert list(levels) == looks
    assert min(levels.values()) > 0
    assert sum(levels.values()) == pytest.approx(1 - level)
    for place, n in enumerate(looks[:-1]):
        spent = sum(list(levels.values())[: place + 1])
        assert spent == pytest.approx(look_levels([n, looks[-1]], level)[n])


@pytest.mark.parametrize('looks', [[], [0, 16], [-1], [16, 16], [32, 16], [1, 1024]])
def test_plans_without_sense_are_errors(looks: list[int]) -> None:
    """Looks in no order, at no samples, or so early that no level is left."""
    with pytest.raises(ValueError, match='looks are'):
        look_levels(looks)


def test_a_result_says_what_more_samples_would_remove() -> None:
    """On average the share of the variance that is true of the population; nothing if none is."""
    rng, n, k = np.random.default_rng(0), 16, 8
    rates = np.linspace(0.35, 0.95, 60)
    metric = G_PASS(k=k, tau=1.0)
    values = np.array([metric.estimator()([n], [c])[0] for c in range(n + 1)])
    chance = binom.pmf(np.arange(n + 1), n, rates[:, None])
    mean = chance @ values
    within = (chance @ values**2 - mean**2).mean()
    found = []
    for _ in range(30):
        marks = [''.join('-+'[int(one)] for one in rng.random(n) < rate) for rate in rates]
        found.append(sampling_shares(table_of(marks), [k])[metric.key])
    assert np.mean(found) == pytest.approx(100 * within / (within + mean.var()), abs=8)
    assert sampling_shares(table_of(['+', '-']), []) == {}
    assert sampling_shares(table_of(['+' * 8] * 12), [4]) == {}
