"""How often a model solves the problems of a population: Beta distributions of their rates.

A problem's rate p is the chance that one sample of it is right. Which rates there are decides both
what a metric is and how far n samples of some problems tell it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from scipy.special import betaln, expit, gammaln, logit

from opencompass_gpassk.metrics.estimators import Estimator, problem_counts
from opencompass_gpassk.metrics.gpassk import correct_counts

__all__ = ['Rates', 'pair_products']

Numbers = NDArray[np.float64]
STRENGTHS = (1e-3, 1e4)  # α + β that a fit may give


@dataclass(frozen=True)
class Rates:
    """A mixture of D Beta distributions of p.

    Attributes:
        alpha: Shape (D,), above 0.
        beta: Shape (D,), above 0.
        weights: Shape (D,), summing to 1.
    """

    alpha: Numbers
    beta: Numbers
    weights: Numbers

    @classmethod
    def of(cls, alpha: ArrayLike, beta: ArrayLike, weights: ArrayLike | None = None) -> Rates:
        """Return a mixture, by default of equal parts.

        Raises:
            ValueError: If alpha or beta isn't above 0.
        """
        a, b = np.broadcast_arrays(*(np.atleast_1d(np.asarray(x, float)) for x in (alpha, beta)))
        for name, numbers in (('alpha', a), ('beta', b)):
            if not (np.isfinite(numbers) & (numbers > 0)).all():
                raise ValueError(
                    f'{name} is {numbers.min():g}; of a Beta distribution it is above 0'
                )
        parts = np.ones(len(a)) if weights is None else np.asarray(weights, float)
        return cls(a, b, parts / parts.sum())

    @classmethod
    def with_spread(cls, mean: float, spread: float) -> Rates:
        """Return the Beta distribution of a mean and a standard deviation.

        Raises:
            ValueError: If there is none.
        """
        if not 0 < mean < 1:
            raise ValueError(f'mean is {mean:g}; the mean rate is between 0 and 1')
        most = (mean * (1 - mean)) ** 0.5
        if not 0 < spread < most:
            raise ValueError(
                f'spread is {spread:g}; the standard deviation of rates whose mean is {mean:g} is '
                f'between 0 and {most:.4g}'
            )
        strength = mean * (1 - mean) / spread**2 - 1
        return cls.of(mean * strength, (1 - mean) * strength)

    @classmethod
    def fitted(cls, n: ArrayLike, c: ArrayLike) -> Rates:
        """Return the Beta distribution under which P problems' counts are the likeliest.

        Args:
            n: Shape (P,), samples of each problem; those of 0 say nothing.
            c: Shape (P,), right ones.

        Raises:
            ValueError: If no problem has a sample, or the counts are wrong.
        """
        n, c = correct_counts(n, c)
        n, c = n[n > 0], c[n > 0]
        if not len(n):
            raise ValueError('n holds no problem with a sample; a fit needs some')
        low, high = np.log(STRENGTHS)
        # Half a trial more of each kind: where all are right the likeliest rate is no Beta's.
        start = logit((c.sum() + 0.5) / (n.sum() + 1))

        def unlikeliness(place: Numbers) -> float:
            mean, strength = expit(place[0]), np.exp(np.clip(place[1], low, high))
            a, b = mean * strength, (1 - mean) * strength
            # A faint prior keeps what is all right or all wrong from running away.
            faint = 0.5 * (np.log(mean) + np.log1p(-mean)) - 0.005 * place[1] ** 2
            return -float((betaln(c + a, n - c + b) - betaln(a, b)).sum() + faint)

        found = minimize(unlikeliness, [start, 0.0], method='Nelder-Mead', options={'xatol': 1e-6})
        mean, strength = expit(found.x[0]), np.exp(np.clip(found.x[1], low, high))
        return cls.of(mean * strength, (1 - mean) * strength)

    def after(self, n: ArrayLike, c: ArrayLike) -> Rates:
        """Return, for one Beta distribution, what P problems' counts make of it: a mixture of P."""
        n, c = correct_counts(n, c)
        return Rates.of(self.alpha[0] + c, self.beta[0] + n - c)

    def counts(self, n: int) -> Numbers:
        """Return the chance of each number of right ones among n samples, shape (D, n + 1)."""
        c = np.arange(n + 1)
        a, b = self.alpha[:, None], self.beta[:, None]
        choices = gammaln(n + 1) - gammaln(c + 1) - gammaln(n - c + 1)
        return np.exp(choices + betaln(c + a, n - c + b) - betaln(a, b))

    def mean_of(self, estimator: Estimator) -> float:
        """Return the true mean of a metric over the population."""
        k = estimator.k
        return float(self.weights @ (self.counts(k) @ estimator(k, np.arange(k + 1))))

    def estimate_squares(self, estimator: Estimator, n: int) -> Numbers:
        """Return the expected square of an estimate from n samples, shape (D,).

        It is :meth:`squares` and the variance within a problem.
        """
        return self.counts(n) @ estimator(n, np.arange(n + 1)) ** 2

    def squares(self, estimator: Estimator) -> Numbers:
        """Return the expected square of a problem's true value, shape (D,)."""
        return self.counts(2 * estimator.k) @ pair_products(
            estimator, 2 * estimator.k, np.arange(2 * estimator.k + 1)
        )


def pair_products(estimator: Estimator, n: ArrayLike, c: ArrayLike) -> Numbers:
    """Return the unbiased estimate of the square of a problem's true value.

    Of two disjoint sets of k samples each has that value on average, and they are independent: the
    estimate is the mean product over all choices of two such sets from the n.

    Args:
        estimator: Which value.
        n: Shape (P,), samples.
        c: Shape (P,), right ones.

    Returns:
        Shape (P,); NaN where n < 2k.
    """
    samples, right = problem_counts(n, c)
    k = estimator.k
    enough = samples >= 2 * k
    n, c = np.where(enough, samples, 2 * k)[:, None], np.where(enough, right, 0)[:, None]
    first = np.arange(k + 1)  # right ones in the first set
    possible = (first <= c) & (k - first <= n - c)
    hits, misses = np.where(possible, first, 0), np.where(possible, k - first, 0)
    rest = np.where(possible, c - hits, 0)
    chance = np.exp(_log_choices(c, hits) + _log_choices(n - c, misses) - _log_choices(n, k))
    there = np.broadcast_to(n - k, rest.shape)
    values = estimator(k, first) * estimator(there, rest)
    return np.where(enough, np.where(possible, chance * values, 0.0).sum(axis=1), np.nan)


def _log_choices(n: ArrayLike, k: ArrayLike) -> Numbers:
    return gammaln(np.add(n, 1)) - gammaln(np.add(k, 1)) - gammaln(np.subtract(n, k) + 1)
