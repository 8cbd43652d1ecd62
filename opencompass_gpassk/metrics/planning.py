"""How many problems, and how many samples of each, a figure needs to be known so well.

The variance of a mean over P problems has two parts, each divided by P. Within a problem, n
samples leave open what k of them do; more samples shrink that part to nothing. Between problems,
others might have been asked; only more problems shrink that part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.bootstrap_intervals import FEWEST
from opencompass_gpassk.metrics.clusters import cluster_numbers
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.intervals import mean_variance, small_count_wilson, trusted_sizes
from opencompass_gpassk.metrics.rates import Rates

__all__ = ['ADVISED', 'MOST_SAMPLES', 'Plan', 'design_effect', 'pilot_rates', 'plan']

ADVISED = 3  # n ≥ 3k, by the authors of arXiv 2412.13147
MOST_SAMPLES = 1 << 14  # beyond which no n is looked for
ROUNDING = 1e-12


@dataclass(frozen=True)
class Plan:
    """What is to be expected of one metric in a population of problems.

    Attributes:
        estimator: The metric.
        figure: Its true mean, in [0, 1].
        square: The mean square of the problems' true values.
        rates: The distribution of the problems' rates.
        design: What clusters multiply the part between problems by.
    """

    estimator: Estimator
    figure: float
    square: float
    rates: Rates
    design: float = 1.0

    @property
    def between(self) -> float:
        """The variance between problems' true values, times ``design``."""
        return max(self.square - self.figure**2, 0.0) * self.design

    def within(self, n: int) -> float:
        """Return the expected variance of a problem's estimate from n samples; NaN if n < k."""
        if n < self.estimator.k:
            return float('nan')
        squares = self.rates.weights @ self.rates.estimate_squares(self.estimator, n)
        return max(float(squares) - self.square, 0.0)

    def within_share(self, n: int) -> float:
        """Return the share of the variance that more samples would shrink; NaN if there is none."""
        within = self.within(n)
        total = within + self.between
        return within / total if total > ROUNDING else float('nan')

    def interval(self, n: int | None, problems: int, level: float = 0.95) -> tuple[float, float]:
        """Return the interval to expect where the estimate is the true mean.

        It is Wilson's, at as many independent draws of 0 or 1 as have this variance. Where fewer
        clusters than a bootstrap needs are expected to deviate from the nearer end, these are
        what :func:`~opencompass_gpassk.metrics.intervals.trusted_sizes` makes of it: with one or
        two of them as many as there are clusters. So it has a width wherever there is an interval.

        Args:
            n: Samples of each problem; None for as many as one likes.
            problems: How many of these.
            level: The interval's coverage.
        """
        within = 0.0 if n is None else self.within(n)
        if math.isnan(within):
            return float('nan'), float('nan')
        variance = (within + self.between) / problems
        clusters = np.array([problems / max(self.design, 1.0)])
        size = clusters
        if variance > ROUNDING**2:
            size = np.array([self.figure * (1 - self.figure) / variance])
            square = within + max(self.square - self.figure**2, 0.0)
            deviating = clusters * min(
                end**2 / (end**2 + square) for end in (self.figure, 1 - self.figure)
            )
            if deviating[0] < FEWEST:
                size = trusted_sizes(size, clusters, deviating, level)
        size = np.maximum(size, 1.0)
        low, high = small_count_wilson(np.array([self.figure]), size, level)
        return float(low[0]), float(high[0])

    def enough_samples(self, share: float) -> int | None:
        """Return the least n at which the part within problems is no more than a share of all.

        Returns:
            None where not even ``MOST_SAMPLES`` are enough, as where all problems are alike.

        Raises:
            ValueError: If share isn't between 0 and 1.
        """
        if not 0 < share < 1:
            raise ValueError(f'share is {share}; it is between 0 and 1, such as 0.1')
        low, high = self.estimator.k - 1, self.estimator.k
        while not self.within_share(high) <= share:
            if high >= MOST_SAMPLES:
                return None
            low, high = high, min(2 * high, MOST_SAMPLES)
        while high - low > 1:  # the part within falls with n
            middle = (low + high) // 2
            low, high = (low, middle) if self.within_share(middle) <= share else (middle, high)
        return high


def plan(estimator: Estimator, rates: Rates, design: float = 1.0) -> Plan:
    """Return what to expect of a metric.

    Args:
        estimator: The metric.
        rates: The distribution of the problems' rates.
        design: What clusters multiply the part between problems by, see :func:`design_effect`.

    Raises:
        ValueError: If design is negative.

    >>> found = plan(Estimator('accuracy'), Rates.of(1, 1))
    >>> round(found.figure, 3), round(found.between * 12, 3), round(found.within(4) * 24, 3)
    (0.5, 1.0, 1.0)
    """
    if not design >= 0:
        raise ValueError(f'design is {design}; it is the factor of a variance, at least 0')
    square = float(rates.weights @ rates.squares(estimator))
    return Plan(estimator, rates.mean_of(estimator), square, rates, design)


def pilot_rates(n: ArrayLike, c: ArrayLike) -> Rates:
    """Return the distribution of rates that a pilot run suggests.

    The likeliest Beta distribution is what is known of each problem before its own counts; with
    these each has a distribution of its own, and the population is their mixture. So it may have
    other shapes than a Beta distribution's, though smoothed: rates that lie together at a few
    values seem to be spread about these, and the part within problems somewhat too large.

    Args:
        n: Shape (P,), judged samples of each problem.
        c: Shape (P,), right ones.
    """
    some = np.asarray(n) > 0
    samples, right = np.asarray(n)[some], np.asarray(c)[some]
    pairs, number = np.unique(np.stack([samples, right]), axis=1, return_counts=True)
    after = Rates.fitted(samples, right).after(*pairs)
    return Rates.of(after.alpha, after.beta, number)


def design_effect(
    estimator: Estimator, n: ArrayLike, c: ArrayLike, clusters: ArrayLike | None, within: float
) -> float:
    """Return what a pilot's clusters multiply the variance between problems by.

    Samples of different problems are independent, so what clusters change is between problems.

    Args:
        estimator: The metric.
        n: Shape (P,), judged samples of each problem.
        c: Shape (P,), right ones.
        clusters: Shape (P,), what is equal is one cluster; None if each problem is one.
        within: The mean variance within the pilot's problems.

    Returns:
        1 where each problem is a cluster, or where the pilot is too small to tell.
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
