"""Metrics of problems of which some samples have no verdict.

A problem was planned with n samples; c are right, and some are missing: nobody knows whether they
are right. Leaving them out would leave out problems with fewer than k samples, and counting them as
wrong would make any model look unstable. Here the metric is its expected value over the missing
verdicts. ``docs/metrics.md`` says why, and ``benchmarks/missing.py`` measures the bias.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from opencompass_gpassk.metrics.estimators import Estimator, problem_counts
from opencompass_gpassk.metrics.rate_distribution import Rates

Numbers = NDArray[np.float64]


def right_among_missing(missing: ArrayLike, known: ArrayLike, right: ArrayLike) -> Numbers:
    """Return the chance of each number of right samples among those that are missing.

    The rates of the model's problems have a Beta distribution, the likeliest for the known samples.
    The known samples of a problem tell its own rate further. So the number is Beta-binomial.

    Args:
        missing: Shape (P,), samples of each problem without a verdict.
        known: Shape (P,), samples with a verdict.
        right: Shape (P,), right ones among the known.

    Returns:
        Shape (P, M + 1), where M is the greatest number missing. If no problem has a known sample,
        rows with missing ones are NaN.

    Raises:
        ValueError: If a count is negative or no integer, or a problem has more right than known.

    >>> right_among_missing([1, 0, 1], [3, 4, 3], [3, 1, 0]).round(2)
    array([[0.11, 0.89],
           [1.  , 0.  ],
           [0.91, 0.09]])
    """
    missing, _ = problem_counts(missing, 0)
    known, right = problem_counts(known, right)
    if not missing.any():
        return np.ones((len(missing), 1))
    if not known.any():
        chances = np.where(missing[:, None] > 0, np.nan, 0.0) + np.zeros(missing.max() + 1)
        chances[missing == 0, 0] = 1.0
        return chances
    return Rates.fitted(known, right).after(known, right).counts(missing)


def both(first: Numbers, second: Numbers) -> Numbers:
    """Return the chances of the sum of two independent numbers, each as chances of 0, 1, 2, …

    Args:
        first: Shape (P, A).
        second: Shape (P, B).

    Returns:
        Shape (P, A + B - 1).
    """
    found = np.zeros((len(first), first.shape[1] + second.shape[1] - 1))
    for number, chance in enumerate(second.T):
        found[:, number : number + first.shape[1]] += chance[:, None] * first
    return found


def expected(estimator: Estimator, n: ArrayLike, c: ArrayLike, chances: Numbers) -> Numbers:
    """Return the expected estimates of problems over their missing verdicts.

    It lies between the estimates with all missing samples wrong, and with all right, if more right
    samples never lower the estimate.

    Args:
        estimator: Makes estimates from n and c.
        n: Shape (P,), planned samples of each problem, the missing ones included.
        c: Shape (P,), samples known to be right.
        chances: Shape (P, M + 1): see :func:`right_among_missing`.

    Returns:
        Shape (P,), in [0, 1]; NaN where n < k or the chances are NaN. Where nothing is missing it
        is exactly the estimate.
    """
    values = _by_right_among_missing(estimator, n, c, chances)
    return _mean(values, chances)


def _by_right_among_missing(
    estimator: Estimator, n: ArrayLike, c: ArrayLike, chances: Numbers
) -> Numbers:
    """Return the estimates for each number of right ones among the missing samples: (P, M + 1)."""
    n, c = problem_counts(n, c)
    right = c[:, None] + np.arange(chances.shape[1])
    return estimator(n[:, None], np.minimum(right, n[:, None]))


def _mean(values: Numbers, chances: Numbers) -> Numbers:
    # From the least one on, so that what is certain stays exactly so.
    gained: Numbers = (chances * (values - values[:, :1])).sum(axis=1)
    return values[:, 0] + gained


def fill_variance(estimator: Estimator, n: ArrayLike, c: ArrayLike, chances: Numbers) -> Numbers:
    """Return the variance of each problem's estimate over its missing verdicts.

    Args:
        estimator: Makes estimates from n and c.
        n: Shape (P,), planned samples of each problem, the missing ones included.
        c: Shape (P,), samples known to be right.
        chances: Shape (P, M + 1): see :func:`right_among_missing`.

    Returns:
        Shape (P,), 0 where nothing is missing; NaN as in :func:`expected`.
    """
    values = _by_right_among_missing(estimator, n, c, chances)
    apart = values - _mean(values, chances)[:, None]
    variance: Numbers = (chances * apart**2).sum(axis=1)
    return variance


def widened(low: float, mean: float, high: float, variances: Numbers) -> tuple[float, float]:
    """Return a 95 % interval of a mean of P filled values, widened by what the fill doesn't know.

    By Rubin's rule (Multiple Imputation (1987), chapter 3) the variance of the mean is that with
    complete verdicts plus that between fills. Filled values vary less than judged ones would: their
    mean by V = Σ v / P², where v is the :func:`fill_variance`. The fills differ by V too. So an
    interval that takes filled values as judged lacks 2V, which is added in squares on each side.

    Args:
        low: Lower end, from filled values.
        mean: The mean, in [0, 1].
        high: Upper end.
        variances: Shape (P,), P > 0, of the problems in the mean.

    >>> low, high = widened(0.4, 0.5, 0.6, np.full(100, 0.02))
    >>> round(low, 3), round(high, 3)
    (0.393, 0.607)
    """
    more = 2 * norm.isf(0.025) ** 2 * float(variances.sum()) / len(variances) ** 2
    below, above = (float(np.sqrt(apart**2 + more)) for apart in (mean - low, high - mean))
    return max(mean - below, 0.0), min(mean + above, 1.0)


def expected_by_right(estimator: Estimator, known: int, missing: int, rates: Rates) -> Numbers:
    """Return the expected estimate of a problem for each number of right ones that it may have.

    Args:
        estimator: Makes estimates from n and c.
        known: Samples with a verdict.
        missing: Samples without a verdict.
        rates: A single Beta distribution of the model's rates.

    Returns:
        Shape (known + 1,); NaN if fewer than k are planned, or none has a verdict.
    """
    if not known:
        return np.array([np.nan])
    right = np.arange(known + 1)
    chances = rates.after(known, right).counts(missing)
    return expected(estimator, known + missing, right, chances)
