"""Confidence intervals of means over problems, for these fixed problems.

The question that they answer: had the model been sampled anew on the very same problems, where
would the figure lie? That problems differ from one another plays no part, so the interval shrinks
to nothing as n grows. It is what tells two runs of one model apart, or a benchmark that is its own
purpose. For how a model does on such problems in general, see
:mod:`opencompass_gpassk.metrics.bootstrap_intervals`, whose interval is wider.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.estimators import Estimator, problem_counts
from opencompass_gpassk.metrics.intervals import FEW, normal_quantile, wilson
from opencompass_gpassk.metrics.rates import Rates, pair_products

__all__ = [
    'FixedProblems',
    'fixed_problems_intervals',
    'within_problem_variance',
]

Numbers = NDArray[np.float64]
ROUNDING = 1e-12  # values this near to a bound are at it


def within_problem_variance(
    estimator: Estimator, n: ArrayLike, c: ArrayLike, rates: Rates | None = None
) -> Numbers:
    """Return how much each problem's estimate would vary if its n samples were drawn again.

    Where n ≥ 2k it is the estimate's square less the unbiased estimate of its true value's square:
    unbiased for each problem, whatever its rate, and so at times slightly negative.

    With less samples nothing is unbiased: of n = k samples there is one estimate, and how another
    would differ can't be seen. The variance is then the expectation over what the counts leave
    open of the problem's rate if it is one of a population's, ``rates``. If these are right it is
    right on average over problems; it is biased for a problem that is unlike the others. (A
    jackknife over trials needs n > k as well, and is too large on average.)

    Args:
        estimator: The metric.
        n: Shape (P,), judged samples of each problem.
        c: Shape (P,), right ones.
        rates: The one Beta distribution of the problems' rates, for those of n < 2k; by default
            the likeliest one, see :meth:`~opencompass_gpassk.metrics.rates.Rates.fitted`.

    Returns:
        Shape (P,); NaN where n < k.

    Raises:
        ValueError: If a count is negative or no integer, or c > n.

    >>> within_problem_variance(Estimator('accuracy'), [4, 4], [2, 4])
    array([0.08333333, 0.        ])
    """
    n, c = problem_counts(n, c)
    (some, right), place = np.unique(np.stack([n, c]), axis=1, return_inverse=True)
    result = (estimator(some, right) ** 2 - pair_products(estimator, some, right))[
        place.reshape(-1)
    ]
    short = (n >= estimator.k) & (n < 2 * estimator.k)
    if short.any():
        population = Rates.fitted(n, c) if rates is None else rates
        pairs, place = np.unique(np.stack([n[short], c[short]]), axis=1, return_inverse=True)
        variances = np.empty(pairs.shape[1])
        for size in np.unique(pairs[0]):
            same = pairs[0] == size
            posterior = population.after(pairs[0][same], pairs[1][same])
            squares = posterior.estimate_squares(estimator, int(size))
            variances[same] = squares - posterior.squares(estimator)
        result[short] = variances[place.reshape(-1)]
    return result


@dataclass(frozen=True)
class FixedProblems:
    """A figure of these problems with its interval, in [0, 1].

    Attributes:
        estimate: The mean over the problems of n ≥ k; NaN where there is none.
        low: Lower bound.
        high: Upper bound.
        variance: Of the mean, from the noise of sampling alone.
    """

    estimate: float
    low: float
    high: float
    variance: float


def fixed_problems_intervals(
    estimator: Estimator,
    n: ArrayLike,
    c: ArrayLike,
    parts: Sequence[ArrayLike],
    *,
    rates: Rates | None = None,
    level: float = 0.95,
) -> list[FixedProblems]:
    """Return a figure with its interval, samples drawn anew, for parts of the problems.

    It is normal where the noise is seen: where the samples of enough problems differ. The fewer
    these are, the more is added for what problems at 0 or 1 leave open: if r sets of k samples
    all fail, over all such problems, Wilson's interval of 0 of r says how many might not have.
    From ``FEW`` to twice as many problems with noise this goes away. The distances add as squares
    do, so that the width is never 0.

    Args:
        estimator: The metric.
        n: Shape (P,), judged samples of each problem.
        c: Shape (P,), right ones.
        parts: Of each part, the indices of its problems.
        rates: See :func:`within_problem_variance`; by default those of all P problems.
        level: The interval's coverage.

    Raises:
        ValueError: As :func:`within_problem_variance`, or if level isn't between 0 and 1.
    """
    z = normal_quantile(level)
    n, c = problem_counts(n, c)
    values, variances = estimator(n, c), within_problem_variance(estimator, n, c, rates)
    best = estimator(estimator.k, estimator.k)  # below 1 for mG-Pass of an odd k
    found = []
    for part in parts:
        members = np.asarray(part, dtype=np.int64)
        members = members[n[members] >= estimator.k]
        if not len(members):
            found.append(FixedProblems(*[float('nan')] * 4))
            continue
        reached, noises, sets = values[members], variances[members], n[members] // estimator.k
        mean, variance = float(reached.mean()), float(noises.sum()) / len(members) ** 2
        noise = z * max(variance, 0.0) ** 0.5
        mixed = (c[members] > 0) & (c[members] < n[members])
        doubt = 1 - _trust(noises[mixed])
        above, below = (
            float(np.hypot(noise, doubt * _unseen(end, sets, level)))
            for end in (reached <= ROUNDING, reached >= best - ROUNDING)
        )
        found.append(FixedProblems(mean, max(mean - below, 0.0), min(mean + above, 1.0), variance))
    return found


def _trust(variances: Numbers) -> float:
    """Return how far the sum of variances is to be trusted, by how many problems it comes from."""
    seen = np.maximum(variances, 0.0)
    number = float(seen.sum() ** 2 / (seen @ seen)) if seen.any() else 0.0
    return min(max(number / FEW - 1, 0.0), 1.0)


def _unseen(end: NDArray[np.bool_], sets: NDArray[np.int64], level: float) -> float:
    """Return how much problems at one end may be away from it, as a share of all."""
    return float(end.mean() * wilson(0, sets[end].sum(), level)[1]) if end.any() else 0.0
