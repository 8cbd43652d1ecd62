"""Differences of ratios: against means, simulated runs, and ratios that are alike."""

from __future__ import annotations

import math

import numpy as np
import pytest

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.clusters import ClusterSums
from opencompass_gpassk.metrics.paired import ratio_differences, swap_residuals


def test_of_equal_counts_they_are_differences_of_means() -> None:
    """Of equal bounds."""
    values = np.random.default_rng(0).random((2, 60, 3))
    ones = np.ones((60, 3))
    first, second = (ClusterSums(4 * one, 4 * ones) for one in values)
    found = ratio_differences(first, second)
    expected = bootstrap_means(values[1] - values[0], bounds=(-1, 1))
    for name in ('estimate', 'low', 'high'):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9)
    assert found.method == expected.method


def test_intervals_hold_the_truth() -> None:
    """Of 200 runs of 40 clusters with other counts, at least 92 of 100 do."""
    rng, share = np.random.default_rng(1), 0.3
    shape = (40, 200)
    sums = []
    for rate in (share, share / 2):
        counts = rng.binomial(16, rng.beta(1, 1, shape))
        rates = rng.beta(4 * rate, 4 * (1 - rate), shape)
        sums.append(ClusterSums(rng.binomial(counts, rates).astype(float), counts.astype(float)))
    found = ratio_differences(*sums)
    held = (found.low <= -share / 2) & (found.high >= -share / 2)
    assert held.mean() >= 0.92


def test_ratios_at_a_bound_have_a_width_and_empty_ones_none() -> None:
    """No false positive in either; one model without a right answer; one cluster."""
    none, counts = np.zeros((30, 2)), np.ones((30, 2))
    counts[:, 1] = 0
    found = ratio_differences(ClusterSums(none, np.ones((30, 2))), ClusterSums(none, counts))
    assert -0.3 < found.low[0] < 0 < found.high[0] < 0.3
    assert math.isnan(found.estimate[1])
    assert found.method == ('wilson', 'none')
    with pytest.raises(ValueError, match='same clusters'):
        ratio_differences(ClusterSums(none, counts), ClusterSums(none[:3], counts[:3]))


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
