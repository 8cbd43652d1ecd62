"""Confidence intervals of means over problems, for these fixed problems.

They answer the question: where would the metric lie if the model were sampled anew on the very
same problems? Differences between problems play no part, so the width goes to 0 as n grows. Use
them to compare two runs of one model, or where only these problems matter. For how a model does on
such problems in general, use the wider intervals of
:mod:`opencompass_gpassk.metrics.bootstrap_intervals`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.estimators import Estimator, problem_counts
from opencompass_gpassk.metrics.missing import expected_by_right
from opencompass_gpassk.metrics.rate_distribution import Rates, pair_products
from opencompass_gpassk.metrics.share_intervals import FEW, normal_quantile, wilson

Numbers = NDArray[np.float64]
ROUNDING = 1e-12  # a value this near to a bound counts as equal to it


def within_problem_variance(
    estimator: Estimator,
    n: ArrayLike,
    c: ArrayLike,
    rates: Rates | None = None,
    missing: ArrayLike = 0,
) -> Numbers:
    """Return how much each problem's estimate would vary if its n samples were drawn again.

    For n ≥ 2k the variance is the square of the estimate less the unbiased estimate of the square
    of the true value. It is unbiased for each problem at any rate, so it is at times negative.

    For k ≤ n < 2k no unbiased estimate exists: n = k samples give one estimate, which doesn't show
    how a second would differ. The variance is then an expectation over the posterior of the
    problem's rate, with ``rates`` as the prior. If the prior is right, the variance is right on
    average over problems, but biased for a problem unlike the others. (A jackknife over trials
    needs n > k as well, and is too large on average.) The same holds where verdicts are missing.

    Args:
        estimator: The metric.
        n: Shape (P,), judged samples of each problem.
        c: Shape (P,), correct ones among them.
        rates: A single Beta distribution of the problems' rates, used where n < 2k; by default
            the likeliest one, see
            :meth:`~opencompass_gpassk.metrics.rate_distribution.Rates.fitted`.
        missing: Shape (P,), further samples, without a verdict.

    Returns:
        Shape (P,); NaN where n = 0, or k samples were not planned.

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
    missing, _ = np.broadcast_arrays(missing, n)
    enough = (n > 0) & (n + missing >= estimator.k)
    short = enough & ((n < 2 * estimator.k) | (missing > 0))
    if short.any():
        population = Rates.fitted(n, c) if rates is None else rates
        alike = np.stack([n[short], missing[short], c[short]])
        (*sizes, right), place = np.unique(alike, axis=1, return_inverse=True)
        variances = np.empty(len(right))
        for judged, gone in np.unique(sizes, axis=1).T:
            same = (sizes[0] == judged) & (sizes[1] == gone)
            estimates = expected_by_right(estimator, judged, gone, population)
            posterior = population.after(judged, right[same])
            squares = posterior.counts(judged) @ estimates**2
            variances[same] = squares - posterior.squares(estimator)
        result[short] = variances[place.reshape(-1)]
    return result


@dataclass(frozen=True)
class FixedProblems:
    """A metric of these problems with its interval, in [0, 1].

    Attributes:
        estimate: The mean over the problems with an estimate; NaN if there is none.
        low: Lower bound.
        high: Upper bound.
    """

    estimate: float
    low: float
    high: float


def fixed_problems_intervals(
    estimator: Estimator,
    n: ArrayLike,
    c: ArrayLike,
    parts: Sequence[ArrayLike],
    *,
    missing: ArrayLike = 0,
    values: ArrayLike | None = None,
    rates: Rates | None = None,
    level: float = 0.95,
) -> list[FixedProblems]:
    """Return a metric with its interval under new samples, for each part of the problems.

    The interval is normal if enough problems have both correct and incorrect samples, which shows
    the noise. With fewer of these, a second term is added for the problems at 0 or 1: if r sets of
    k samples failed over all problems at 0, Wilson's interval of 0 of r bounds the share that might
    succeed (likewise at 1). The second term fades out as the number of noisy problems goes from
    ``FEW`` to twice ``FEW``. The two distances add in squares, so the width is never 0.

    Args:
        estimator: The metric.
        n: Shape (P,), judged samples of each problem.
        c: Shape (P,), correct ones among them.
        parts: For each part, the indices of its problems.
        missing: Shape (P,), further samples, without a verdict.
        values: Shape (P,), the estimates if some are; NaN where undefined.
        rates: See :func:`within_problem_variance`; by default those of all P problems.
        level: The interval's coverage.

    Raises:
        ValueError: As :func:`within_problem_variance`, or if level isn't between 0 and 1.
    """
    z = normal_quantile(level)
    n, c = problem_counts(n, c)
    variances = within_problem_variance(estimator, n, c, rates, missing)
    values = estimator(n, c) if values is None else np.asarray(values)
    best = estimator(estimator.k, estimator.k)  # below 1 for mG-Pass of an odd k
    found = []
    for part in parts:
        members = np.asarray(part, dtype=np.int64)
        members = members[~np.isnan(values[members])]
        if not len(members):
            found.append(FixedProblems(*[float('nan')] * 3))
            continue
        reached, noises, judged = values[members], variances[members], n[members]
        sets = np.where(judged < estimator.k, judged / estimator.k, judged // estimator.k)
        mean, variance = float(reached.mean()), float(noises.sum()) / len(members) ** 2
        noise = z * max(variance, 0.0) ** 0.5
        mixed = (c[members] > 0) & (c[members] < n[members])
        doubt = 1 - _trust(noises[mixed])
        above, below = (
            float(np.hypot(noise, doubt * _unseen(end, sets, level)))
            for end in (reached <= ROUNDING, reached >= best - ROUNDING)
        )
        found.append(FixedProblems(mean, max(mean - below, 0.0), min(mean + above, 1.0)))
    return found


def _trust(variances: Numbers) -> float:
    """Return the trust in a sum of variances, from 0 to 1, by the number of problems behind it."""
    seen = np.maximum(variances, 0.0)
    number = float(seen.sum() ** 2 / (seen @ seen)) if seen.any() else 0.0
    return min(max(number / FEW - 1, 0.0), 1.0)


def _unseen(end: NDArray[np.bool_], sets: Numbers, level: float) -> float:
    """Return how far problems at one end may in truth be from it, as a share of all problems."""
    return float(end.mean() * wilson(0, sets[end].sum(), level)[1]) if end.any() else 0.0
