"""How often a model solves the problems of a population: Beta distributions of their rates.

A problem's rate p is the chance that one sample of it is correct. The distribution of the rates
decides both the value of a metric and how precisely n samples of some problems estimate it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import betaln, expit, logit
from scipy.stats import betabinom, hypergeom

from opencompass_gpassk.metrics.estimators import Estimator, problem_counts
from opencompass_gpassk.metrics.gpassk import correct_counts

Numbers = NDArray[np.float64]
STRENGTHS = (1e-3, 1e4)  # the range of α + β in a fit


@dataclass(frozen=True)
class Rates:
    """A mixture of D Beta distributions of p.

    Attributes:
        alpha: Shape (D,), above 0.
        beta: Shape (D,), above 0.
        weights: Shape (D,), with sum 1.
    """

    alpha: Numbers
    beta: Numbers
    weights: Numbers

    @classmethod
    def of(cls, alpha: ArrayLike, beta: ArrayLike, weights: ArrayLike | None = None) -> Rates:
        """Return a mixture, by default with equal weights."""
        a, b = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x, float)) for x in (alpha, beta)))
        parts = np.ones(len(a)) if weights is None else np.asarray(weights, float)
        return cls(a, b, parts / parts.sum())

    @classmethod
    def fitted(cls, n: ArrayLike, c: ArrayLike) -> Rates:
        """Return the Beta distribution with the highest likelihood for the counts of P problems.

        Args:
            n: Shape (P,), samples of each problem, some above 0; problems with 0 are left out.
            c: Shape (P,), correct ones among them.

        Raises:
            ValueError: If the counts are wrong.
        """
        pairs, number = np.unique(np.stack(problem_counts(n, c)), axis=1, return_counts=True)
        sampled = pairs[0] > 0
        counts = np.vstack([pairs, number])[:, sampled]
        return cls.of(*_likeliest(tuple(map(tuple, counts.tolist()))))

    def after(self, n: ArrayLike, c: ArrayLike) -> Rates:
        """Return the mixture of P problems' posteriors; the prior is a single Beta distribution."""
        n, c = correct_counts(n, c)
        return Rates.of(self.alpha[0] + c, self.beta[0] + n - c)

    def counts(self, n: ArrayLike) -> Numbers:
        """Return the chance of each number of correct ones among n samples.

        Args:
            n: Samples, one number or shape (D,).

        Returns:
            Shape (D, N + 1), where N is the greatest n.
        """
        samples = np.atleast_1d(np.asarray(n, dtype=np.int64))[:, None]
        number = np.arange(samples.max(initial=0) + 1)
        chances: Numbers = betabinom.pmf(number, samples, self.alpha[:, None], self.beta[:, None])
        return chances

    def estimate_squares(self, estimator: Estimator, n: int) -> Numbers:
        """Return the expected square of an estimate from n samples, shape (D,).

        It is :meth:`squares` plus the variance within a problem.
        """
        return self.counts(n) @ estimator(n, np.arange(n + 1)) ** 2

    def squares(self, estimator: Estimator) -> Numbers:
        """Return the expected square of a problem's true value, shape (D,)."""
        return self.counts(2 * estimator.k) @ pair_products(
            estimator, 2 * estimator.k, np.arange(2 * estimator.k + 1)
        )


def pair_products(estimator: Estimator, n: ArrayLike, c: ArrayLike) -> Numbers:
    """Return the unbiased estimate of the square of a problem's true value.

    Two disjoint sets of k samples give independent, unbiased values. The estimate is the mean of
    the product of both values over all choices of two such sets from the n samples.

    Args:
        estimator: The metric.
        n: Shape (P,), samples of each problem.
        c: Shape (P,), correct ones among them.

    Returns:
        Shape (P,); NaN where n < 2k.
    """
    samples, right = problem_counts(n, c)
    k = estimator.k
    enough = samples >= 2 * k
    n, c = np.where(enough, samples, 2 * k)[:, None], np.where(enough, right, 0)[:, None]
    first = np.arange(k + 1)  # correct ones in the first set
    rest = np.clip(c - first, 0, n - k)  # where that is impossible, the chance is 0
    values = estimator(k, first) * estimator(n - k, rest)
    return np.where(enough, (hypergeom.pmf(first, n, c, k) * values).sum(axis=1), np.nan)


@lru_cache(maxsize=1024)  # several metrics and pairs of models ask for the same counts
def _likeliest(counts: tuple[tuple[int, ...], ...]) -> tuple[float, float]:
    """Return α and β of the likeliest Beta distribution.

    Args:
        counts: Samples, right ones among them, and the number of problems with these.
    """
    samples, right, number = map(np.array, counts)
    low, high = np.log(STRENGTHS)
    # Add half a trial of each kind: no Beta distribution has a mean of exactly 0 or 1.
    start = logit((number @ right + 0.5) / (number @ samples + 1))

    def unlikeliness(place: Numbers) -> float:
        mean, strength = expit(place[0]), np.exp(np.clip(place[1], low, high))
        a, b = mean * strength, (1 - mean) * strength
        # A weak prior keeps the fit finite if all samples are correct or all incorrect.
        faint = 0.5 * (np.log(mean) + np.log1p(-mean)) - 0.005 * place[1] ** 2
        likely = betaln(right + a, samples - right + b) - betaln(a, b)
        return -float(number @ likely + faint)

    found = minimize(unlikeliness, [start, 0.0], method='Nelder-Mead', options={'xatol': 1e-6})
    mean, strength = expit(found.x[0]), float(np.exp(np.clip(found.x[1], low, high)))
    return float(mean) * strength, (1 - float(mean)) * strength
