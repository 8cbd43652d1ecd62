"""The noise of sampling on fixed problems: by exact enumeration of all outcomes, by simulation."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.fixed_problems import (
    fixed_problems_intervals,
    within_problem_variance,
)
from opencompass_gpassk.metrics.rate_distribution import Rates, pair_products
from opencompass_gpassk.results.metric import parse_metric

NAMES = ('accuracy', 'pass@2', 'G-Pass@3_0.5', 'G-Pass@3_1.0', 'mG-Pass@3', 'G-Pass@2_1.0')


def kernel(estimator: Estimator, right: int) -> Fraction:
    """Return the metric of exactly k samples of which some are right, from its definition."""
    k = estimator.k
    if estimator.kind == 'accuracy':
        return Fraction(right)
    if estimator.kind == 'G-Pass':
        return Fraction(right >= max(math.ceil(Fraction(estimator.tau) * k), 1))
    return Fraction(2 * sum(right >= i for i in range(math.ceil(k / 2) + 1, k + 1)), k)


def estimate(estimator: Estimator, n: int, c: int) -> Fraction:
    """Return the mean over all choices of k of n samples, enumerated."""
    sets = list(combinations([1] * c + [0] * (n - c), estimator.k))
    return sum((kernel(estimator, sum(one)) for one in sets), Fraction(0)) / len(sets)


def chances(n: int, p: Fraction) -> list[Fraction]:
    """Return the binomial distribution."""
    return [math.comb(n, c) * p**c * (1 - p) ** (n - c) for c in range(n + 1)]


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('n', [6, 7])
def test_variance_is_unbiased_for_each_problem(name: str, n: int) -> None:
    """Averaged over all outcomes it is the exact variance over all outcomes, at any rate."""
    estimator = parse_metric(name).estimator()
    found = within_problem_variance(estimator, np.full(n + 1, n), np.arange(n + 1))
    values = [estimate(estimator, n, c) for c in range(n + 1)]
    for p in (Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(7, 8), Fraction(1)):
        weights = chances(n, p)
        mean = sum(w * v for w, v in zip(weights, values, strict=True))
        variance = sum(w * (v - mean) ** 2 for w, v in zip(weights, values, strict=True))
        assert float(np.dot(list(map(float, weights)), found)) == pytest.approx(
            float(variance), abs=1e-12
        )


def test_pairs_of_disjoint_sets_are_enumerated() -> None:
    """The product's estimate is the mean over all ordered pairs of disjoint sets."""
    estimator, n = parse_metric('G-Pass@2_1.0').estimator(), 5
    for c in range(n + 1):
        samples = [1] * c + [0] * (n - c)
        products = [
            math.prod(samples[i] for i in first + second)
            for first in combinations(range(n), 2)
            for second in combinations(sorted(set(range(n)) - set(first)), 2)
        ]
        assert pair_products(estimator, n, c)[0] == pytest.approx(sum(products) / len(products))
    assert math.isnan(pair_products(estimator, 3, 1)[0])


@pytest.mark.parametrize('name', ['G-Pass@4_0.5', 'G-Pass@4_1.0', 'mG-Pass@4'])
@pytest.mark.parametrize('n', [4, 6])
def test_too_few_samples_borrow_from_the_other_problems(name: str, n: int) -> None:
    """Where n < 2k it is right on average over a population whose rates are known."""
    estimator, rates = parse_metric(name).estimator(), Rates.of(0.6, 0.9)
    found = within_problem_variance(estimator, np.full(n + 1, n), np.arange(n + 1), rates)
    strength = (np.arange(20_000) + 0.5) / 20_000
    density = strength ** (0.6 - 1) * (1 - strength) ** (0.9 - 1)
    density /= density.sum()
    outcomes = np.array(
        [math.comb(n, c) * strength**c * (1 - strength) ** (n - c) for c in range(n + 1)]
    )
    values = np.array([float(estimate(estimator, n, c)) for c in range(n + 1)])
    truth = (values**2) @ outcomes - (values @ outcomes) ** 2
    assert found @ outcomes @ density == pytest.approx(truth @ density, rel=5e-3)
    assert (found > 0).all()


def test_undefined_and_mixed_numbers_of_samples() -> None:
    """NaN below k; each problem by its own n."""
    estimator = parse_metric('G-Pass@3_1.0').estimator()
    found = within_problem_variance(estimator, [2, 3, 6], [1, 3, 3])
    assert math.isnan(found[0])
    assert found[1] > 0
    assert found[2] == within_problem_variance(estimator, 6, 3)[0]


def test_interval_covers_what_these_problems_have() -> None:
    """100 problems of known rates, sampled 150 times: the interval holds their true mean."""
    rng, n = np.random.default_rng(7), 16
    estimator, strength = parse_metric('mG-Pass@4').estimator(), rng.beta(0.7, 0.7, 100)
    k = estimator.k
    outcomes = [math.comb(k, j) * strength**j * (1 - strength) ** (k - j) for j in range(k + 1)]
    truth = (np.array([float(kernel(estimator, j)) for j in range(k + 1)]) @ outcomes).mean()
    runs = [
        fixed_problems_intervals(
            estimator, np.full(100, n), rng.binomial(n, strength), [range(100)]
        )[0]
        for _ in range(150)
    ]
    covered = np.mean([run.low <= truth <= run.high for run in runs])
    assert 0.91 < covered < 0.99


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(NAMES), st.integers(1, 12), st.data())
def test_interval_holds_its_estimate_and_has_a_width(
    name: str, n: int, data: st.DataObject
) -> None:
    """Whatever the counts, in [0, 1]; NaN where no problem has k samples."""
    estimator = parse_metric(name).estimator()
    c = data.draw(st.lists(st.integers(0, n), min_size=1, max_size=8))
    (found,) = fixed_problems_intervals(estimator, np.full(len(c), n), c, [range(len(c))])
    if n < estimator.k:
        assert math.isnan(found.estimate)
        assert math.isnan(found.low)
    else:
        assert 0 <= found.low <= found.estimate <= found.high <= 1
        assert found.high - found.low > 0.001
