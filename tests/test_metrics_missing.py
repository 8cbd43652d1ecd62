"""Intervals of filled values say what the fill doesn't know."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.missing import (
    expected,
    fill_variance,
    right_among_missing,
    widened,
)

ALL_OF_2 = Estimator('G-Pass', 2, 1.0)


def test_variance_of_a_fill_is_enumerated() -> None:
    """Two missing verdicts of four: 0, 1 or 2 are right with given chances."""
    chances = np.array([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]])
    values = np.array([0, 1 / 6, 1 / 2])  # of 1, 2, 3 right ones
    mean = chances[0] @ values
    variance = chances[0] @ (values - mean) ** 2
    assert fill_variance(ALL_OF_2, [4, 4], [1, 3], chances) == pytest.approx([variance, 0])


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.lists(st.floats(0, 0.25), min_size=1))
def test_widening_never_narrows(one: float, two: float, three: float, of: list[float]) -> None:
    """Both ends move outward and stay in [0, 1]; without missing verdicts they stay."""
    low, mean, high = sorted([one, two, three])
    below, above = widened(low, mean, high, np.array(of))
    assert 0 <= below <= low + 1e-12
    assert high - 1e-12 <= above <= 1
    assert widened(low, mean, high, np.zeros(3)) == pytest.approx((low, high))


def test_intervals_hold_the_truth_where_a_third_is_missing() -> None:
    """A third of the problems lost 9 of 10 verdicts: 79 % of plain intervals hold the mean rate."""
    held = np.zeros((80, 2))
    estimator = Estimator('accuracy')
    for seed, row in enumerate(held):
        rng = np.random.default_rng([1, seed])
        planned = np.full(60, 8)
        rates = rng.beta(7, 3, 60)
        missing = rng.binomial(planned, np.where(rng.random(60) < 0.35, 0.9, 0.0))
        known = planned - missing
        right = rng.binomial(known, rates)
        chances = right_among_missing(missing, known, right)
        values = expected(estimator, planned, right, chances)
        plain = bootstrap_means(values[:, None], resamples=500, level=0.95)
        ends = plain.low[0], values.mean(), plain.high[0]
        wider = widened(*ends, fill_variance(estimator, planned, right, chances))
        row[:] = [low <= 0.7 <= high for low, high in ((ends[0], ends[2]), wider)]
    assert held[:, 0].mean() < 0.85
    assert held[:, 1].mean() > 0.89
