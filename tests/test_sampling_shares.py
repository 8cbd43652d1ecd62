"""Variance within and between problems: by enumeration and simulation, for pilots of any shape."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from stored_table import table_of

from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.fixed_problems import within_problem_variance
from opencompass_gpassk.metrics.rate_distribution import Rates
from opencompass_gpassk.metrics.sample_size import Variance, design_effect, pilot_rates
from opencompass_gpassk.results.metric import G_PASS, parse_metric
from opencompass_gpassk.results.sampling_shares import sampling_shares


def test_parts_of_accuracy_are_known() -> None:
    """Between problems it is the variance of p, within them E[p(1 - p)]/n."""
    found = Variance(Estimator('accuracy'), Rates.of(2.0, 3.0))
    between = 2 * 3 / (5 * 5 * 6)
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
    found = Variance(estimator, rates)
    assert rates.mean_of(estimator) == pytest.approx(values.mean(), abs=4e-3)
    assert found.between + found.within(n) == pytest.approx(values.var(), rel=0.02)
    within = within_problem_variance(estimator, 12, rng.binomial(12, strength)).mean()
    assert found.within(12) == pytest.approx(within, rel=0.02)


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
    plain, paired = Variance(estimator, rates), Variance(estimator, rates, design)
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
    truth = Variance(estimator, true)
    counts = np.full(4000, 32), rng.binomial(32, strength)
    found = Variance(estimator, pilot_rates(*counts))
    mean, true_mean = (of.rates.mean_of(estimator) for of in (found, truth))
    assert mean == pytest.approx(true_mean, abs=0.015)
    assert found.between == pytest.approx(truth.between, rel=0.05)
    assert found.within(8) == pytest.approx(truth.within(8), rel=0.2)
    alone = Variance(estimator, Rates.fitted(*counts))
    assert abs(alone.within(8) - truth.within(8)) > abs(found.within(8) - truth.within(8))


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
