"""Differences of ratios: against means, and in simulated runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from opencompass_gpassk.metrics.clusters import ClusterSums
from opencompass_gpassk.metrics.paired import sign_flip_test, swap_residuals
from opencompass_gpassk.metrics.version_figures import ratio


def sums_of(totals: np.ndarray, counts: np.ndarray) -> ClusterSums:
    """The difference of two models' ratios as a mean; both have shape (2, C, M)."""
    steps = np.subtract(*swap_residuals(ratio(totals, counts), counts)[::-1])
    sizes = counts.sum(axis=1)
    mean = 2 * sizes.prod(axis=0) / sizes.sum(axis=0)
    return ClusterSums(steps, counts.sum(axis=0) * mean / sizes.sum(axis=0))


def test_of_equal_counts_they_are_differences_of_means() -> None:
    """With their p-values and intervals."""
    values = np.random.default_rng(0).random((2, 60, 3))
    found = sign_flip_test(sums_of(4 * values, np.full((2, 60, 3), 4.0)))
    expected = sign_flip_test(ClusterSums.of(values[1] - values[0]))
    for name in ('estimate', 'p_value', 'low', 'high'):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9)


def test_intervals_hold_the_truth() -> None:
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
