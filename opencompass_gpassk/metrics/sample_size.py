"""How much of a mean over problems varies by sampling, and how much by the choice of problems.

The variance of a mean over P problems has two parts, each divided by P. The part within problems
is the sampling noise of each estimate; more samples shrink it to 0. The part between problems
comes from the choice of problems; only more problems shrink it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.clusters import cluster_numbers
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.rate_distribution import Rates
from opencompass_gpassk.metrics.share_intervals import mean_variance

ADVISED = 3  # n ≥ 3k, by the authors of arXiv 2412.13147
ROUNDING = 1e-12


@dataclass(frozen=True)
class Variance:
    """The expected variance of one metric in a population of problems.

    Attributes:
        estimator: The metric.
        rates: The distribution of the problems' rates.
        design: Design effect: the factor by which clusters change the part between problems.

    >>> found = Variance(Estimator('accuracy'), Rates.of(1, 1))
    >>> round(found.between * 12, 3), round(found.within(4) * 24, 3)
    (1.0, 1.0)
    """

    estimator: Estimator
    rates: Rates
    design: float = 1.0

    @property
    def square(self) -> float:
        """The mean square of the problems' true values."""
        return float(self.rates.weights @ self.rates.squares(self.estimator))

    @property
    def between(self) -> float:
        """The variance between problems' true values, times ``design``."""
        mean = self.rates.mean_of(self.estimator)
        return max(self.square - mean**2, 0.0) * self.design

    def within(self, n: int) -> float:
        """Return the expected variance of a problem's estimate from n samples; NaN if n < k."""
        if n < self.estimator.k:
            return float('nan')
        squares = self.rates.weights @ self.rates.estimate_squares(self.estimator, n)
        return max(float(squares) - self.square, 0.0)

    def within_share(self, n: int) -> float:
        """Return the share of the variance within problems; NaN if the variance is 0."""
        within = self.within(n)
        total = within + self.between
        return within / total if total > ROUNDING else float('nan')


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
