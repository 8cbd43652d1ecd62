"""How many problems, and how many samples of each, a metric of a given precision needs.

The variance of a mean over P problems has two parts, each divided by P. The part within problems
is the sampling noise of each estimate; more samples shrink it to 0. The part between problems
comes from the choice of problems; only more problems shrink it.

Who looks at the metrics, and then takes more samples, tests more than once: see
:func:`look_levels`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.bootstrap_intervals import FEWEST
from opencompass_gpassk.metrics.clusters import cluster_numbers
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.rate_distribution import Rates
from opencompass_gpassk.metrics.share_intervals import (
    mean_variance,
    small_count_wilson,
    trusted_sizes,
    with_unseen,
)

ADVISED = 3  # n ≥ 3k, by the authors of arXiv 2412.13147
MOST_SAMPLES = 1 << 14  # the greatest n that a search tries
MOST_PROBLEMS = 1_000_000
ROUNDING = 1e-12


@dataclass(frozen=True)
class Plan:
    """The expected mean and variance of one metric in a population of problems.

    Attributes:
        estimator: The metric.
        mean: Its true mean, in [0, 1].
        square: The mean square of the problems' true values.
        rates: The distribution of the problems' rates.
        design: Design effect: the factor by which clusters change the part between problems.
    """

    estimator: Estimator
    mean: float
    square: float
    rates: Rates
    design: float = 1.0
    _within: dict[int, float] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def between(self) -> float:
        """The variance between problems' true values, times ``design``."""
        return max(self.square - self.mean**2, 0.0) * self.design

    def within(self, n: int) -> float:
        """Return the expected variance of a problem's estimate from n samples; NaN if n < k."""
        if n < self.estimator.k:
            return float('nan')
        if n not in self._within:
            squares = self.rates.weights @ self.rates.estimate_squares(self.estimator, n)
            self._within[n] = max(float(squares) - self.square, 0.0)
        return self._within[n]

    def within_share(self, n: int) -> float:
        """Return the share of the variance within problems; NaN if the variance is 0."""
        within = self.within(n)
        total = within + self.between
        return within / total if total > ROUNDING else float('nan')

    def interval(self, n: int | None, problems: int, level: float = 0.95) -> tuple[float, float]:
        """Return the interval to expect if the estimate equals the true mean.

        It is Wilson's interval for the number of independent draws of 0 or 1 with this variance. If
        fewer clusters than a bootstrap needs are expected to deviate from the nearer end,
        :func:`~opencompass_gpassk.metrics.share_intervals.trusted_sizes` limits that number: with
        one or two such clusters, to the number of clusters. So the width is always above 0.

        Args:
            n: Samples of each problem; None for infinitely many.
            problems: Number of problems.
            level: The interval's coverage.
        """
        within = 0.0 if n is None else self.within(n)
        if math.isnan(within):
            return float('nan'), float('nan')
        variance = (within + self.between) / problems
        clusters = np.array([problems / max(self.design, 1.0)])
        size = clusters
        if variance > ROUNDING**2:
            size = np.array([self.mean * (1 - self.mean) / variance])
            square = within + max(self.square - self.mean**2, 0.0)
            deviating = clusters * min(
                end**2 / (end**2 + square) for end in (self.mean, 1 - self.mean)
            )
            if deviating[0] < FEWEST:
                size = trusted_sizes(size, clusters, deviating, level)
        mean = np.array([self.mean])
        low, high = small_count_wilson(mean, np.maximum(size, 1.0), level)
        low, high = with_unseen(low, high, mean, clusters, level)
        return float(low[0]), float(high[0])

    def problems_for(self, n: int, half: float, level: float = 0.95) -> int | None:
        """Return the least number of problems with an interval of at most twice ``half``.

        Args:
            n: Samples of each problem.
            half: Half the width, above 0; metrics are in [0, 1].
            level: The interval's coverage.

        Returns:
            The number; None if ``MOST_PROBLEMS`` are too few, or n is less than k.
        """
        numbers = range(2, MOST_PROBLEMS + 1)

        def wide(problems: int) -> bool:
            low, high = self.interval(n, problems, level)
            return not high - low <= 2 * half

        found = bisect_left(numbers, True, key=lambda number: not wide(number))
        return numbers[found] if found < len(numbers) else None

    def enough_samples(self, share: float) -> int | None:
        """Return the least n at which the part within problems is at most a share of the variance.

        Returns:
            The number n; None if ``MOST_SAMPLES`` are too few, as when all problems are alike.
        """
        low, high = self.estimator.k - 1, self.estimator.k
        while not self.within_share(high) <= share:
            if high >= MOST_SAMPLES:
                return None
            low, high = high, min(2 * high, MOST_SAMPLES)
        between = range(low + 1, high)  # the part within problems falls with n
        return low + 1 + bisect_left(between, True, key=lambda n: self.within_share(n) <= share)


def plan(estimator: Estimator, rates: Rates, design: float = 1.0) -> Plan:
    """Return the expected mean and variance of a metric.

    Args:
        estimator: The metric.
        rates: The distribution of the problems' rates.
        design: Factor of the variance between problems, at least 0; see :func:`design_effect`.

    >>> found = plan(Estimator('accuracy'), Rates.of(1, 1))
    >>> round(found.mean, 3), round(found.between * 12, 3), round(found.within(4) * 24, 3)
    (0.5, 1.0, 1.0)
    """
    square = float(rates.weights @ rates.squares(estimator))
    return Plan(estimator, rates.mean_of(estimator), square, rates, design)


def pilot_rates(n: ArrayLike, c: ArrayLike) -> Rates:
    """Return the distribution of rates that a pilot run suggests.

    The likeliest Beta distribution is the prior of each problem's rate. The population is the
    mixture of the problems' posteriors. The mixture need not have a Beta distribution's shape, but
    it is smoothed: rates that lie at a few values come out spread around these, and the part within
    problems somewhat too large.

    Args:
        n: Shape (P,), judged samples of each problem.
        c: Shape (P,), correct ones among them.
    """
    some = np.asarray(n) > 0
    samples, right = np.asarray(n)[some], np.asarray(c)[some]
    pairs, number = np.unique(np.stack([samples, right]), axis=1, return_counts=True)
    after = Rates.fitted(samples, right).after(*pairs)
    return Rates.of(after.alpha, after.beta, number)


def design_effect(
    estimator: Estimator, n: ArrayLike, c: ArrayLike, clusters: ArrayLike | None, within: float
) -> float:
    """Return the factor by which a pilot's clusters change the variance between problems.

    Samples of different problems are independent, so clusters leave the part within unchanged.

    Args:
        estimator: The metric.
        n: Shape (P,), judged samples of each problem.
        c: Shape (P,), correct ones among them.
        clusters: Shape (P,), equal labels are one cluster; None if each problem is one.
        within: The mean variance within the pilot's problems.

    Returns:
        The factor; 1 if each problem is a cluster, or the pilot is too small to estimate it.
    """
    values = estimator(n, c)
    some = ~np.isnan(values)
    member = cluster_numbers(clusters, len(values))[some]
    if len(np.unique(member)) in (0, 1, len(member)):
        return 1.0
    numbers: NDArray[np.float64] = values[some]
    apart = mean_variance(numbers) * len(numbers) - within
    together = mean_variance(numbers, clusters=member) * len(numbers) - within
    return max(together / apart, 0.0) if apart > ROUNDING else 1.0
