"""How many problems, and how many samples of each, a difference of two models needs.

A step of a problem (see :mod:`opencompass_gpassk.metrics.difference`) varies for two reasons. With
n samples its variance *within* the problem is w(n), which falls about as 1/n. The true steps of
problems vary by b *between* them, which more samples don't change. So the margin of error of a mean
over P problems is z·√(w(n)/P) on these problems, and z·√((w(n) + b)/P) for problems like these.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import norm

from opencompass_gpassk.metrics.clusters import cluster_numbers
from opencompass_gpassk.metrics.difference import (
    effective_number,
    judged_estimates,
    paired_steps,
    student_factor,
)
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.gpassk import correct_counts
from opencompass_gpassk.metrics.rate_distribution import Rates

Numbers = NDArray[np.float64]

MOST_PROBLEMS = 1_000_000
GAIN = 0.10  # doubling n is worth it if the margin falls by this share of it,
GAIN_POINTS = 0.005  # and by this much
CORRELATION = 0.9  # assumed of two models' true values where one pilot is known
RESAMPLES = 40  # of a pilot's questions
TAIL = 0.05  # of the resampled margins, on each side of a range


class Margins(NamedTuple):
    """Margins of error, which are half of an interval's width, in [0, 1].

    Attributes:
        these: On these problems.
        like_these: For problems like these.
    """

    these: float
    like_these: float


@dataclass(frozen=True)
class DifferencePlan:
    """What pilots say of the margin of error of a difference.

    Attributes:
        estimator: The metric.
        rates: Distributions of the problems' rates; that in which samples vary more counts. They
            are the mixture of both models' rates, and of two pilots also the rates of their pooled
            samples, as :func:`~opencompass_gpassk.metrics.difference.paired_steps` has both.
        between: The variance b of a problem's true step, times the design effect of clusters.
        varying: Share of the problems that vary, ν/P, see
            :func:`~opencompass_gpassk.metrics.difference.student_factor`.
    """

    estimator: Estimator
    rates: Sequence[Rates]
    between: float
    varying: float
    _within: dict[int, float] = field(default_factory=dict, init=False, repr=False, compare=False)

    def within(self, n: int) -> float:
        """Return w(n), the variance of a step if both models have n samples; n is at least k."""
        if n not in self._within:
            variances = (sampling_variance(self.estimator, of, n) for of in self.rates)
            self._within[n] = 2 * max(variances)
        return self._within[n]

    def margins(self, problems: int, n: int, level: float = 0.95) -> Margins:
        """Return the margins of error to expect of so many problems, with n samples of each."""
        z = float(norm.isf((1 - level) / 2))
        factor = float(student_factor(max(self.varying * problems, 1.0)))
        within = self.within(n)
        these = z * factor * math.sqrt(within / problems)
        return Margins(these, max(these, z * math.sqrt((within + self.between) / problems)))

    def samples_for(
        self, margin: Callable[[Margins], float], target: float, problems: int
    ) -> int | None:
        """Return the least n with a margin of error of at most a target; None if none has it.

        Args:
            margin: Chooses one of the margins, as ``lambda of: of.these``.
            target: The margin of error, above 0; see :func:`margin_for_power`.
            problems: Number of problems.
        """
        numbers = range(self.estimator.k, sample_numbers(self.estimator.k)[-1] + 1)
        if margin(self.margins(problems, numbers[-1])) > target:
            return None
        return numbers[
            bisect_left(numbers, True, key=lambda n: margin(self.margins(problems, n)) <= target)
        ]

    def cheapest(
        self, margin: Callable[[Margins], float], target: float, fewest: int = 2
    ) -> tuple[int, int] | None:
        """Return the problems and the n with the fewest samples in all that reach a target.

        Args:
            margin: As in :meth:`samples_for`.
            target: As in :meth:`samples_for`.
            fewest: Problems that there must be.

        Returns:
            Number of problems, and of samples of each; None if none is in reach.
        """
        problems = range(fewest, MOST_PROBLEMS + 1)
        found = []
        for n in sample_numbers(self.estimator.k):

            def enough(number: int, n: int = n) -> bool:
                return margin(self.margins(number, n)) <= target

            place = bisect_left(problems, True, key=enough)
            if place < len(problems):
                found.append((problems[place] * n, problems[place], n))
        return min(found)[1:] if found else None


def plan_difference(
    estimator: Estimator,
    n: ArrayLike,
    c: ArrayLike,
    clusters: ArrayLike | None = None,
    correlation: float = CORRELATION,
) -> DifferencePlan:
    """Return the plan of a difference that one or two pilots suggest.

    Of two pilots on the same problems, b is the variance of the steps by questions, less the part
    within problems. Of one pilot it is 2 (1 - r) times the variance between its problems, which
    assumes that the other model's rates have the same distribution, and that the true values of
    both models correlate by r over the problems.

    Args:
        estimator: The metric.
        n: Shape (1, P) or (2, P), samples with a verdict.
        c: The same shape, right ones among them.
        clusters: Shape (P,), equal labels are versions of one question; None if there are none.
        correlation: The assumed r, from 0 to 1; two pilots don't need it.

    Raises:
        ValueError: If fewer than two questions have k samples in each pilot.
    """
    samples, right = correct_counts(n, c)
    enough = (samples >= estimator.k).all(axis=0)
    member = cluster_numbers(clusters, len(enough))[enough]
    if len(np.unique(member)) < 2:
        raise ValueError(
            f'fewer than two questions of the pilot have {estimator.k} samples with a verdict; '
            f'sample at least {estimator.k} responses to each problem, or plan for a smaller k'
        )
    samples, right = samples[:, enough], right[:, enough]
    rates = [pilot_rates(samples.ravel(), right.ravel())]
    if len(samples) == 2:
        rates.append(pilot_rates(samples.sum(axis=0), right.sum(axis=0)))
        values, noise = (of[:, 0] for of in paired_steps(estimator, samples, right))
        factor = 1.0
    else:
        values, noise = judged_estimates(estimator, samples[0], right[0])
        factor = 2 * (1 - correlation)
    sums = np.bincount(member, values - values.mean())
    asked = np.unique(member)
    variance = float(sums[asked] @ sums[asked]) * len(asked) / (len(asked) - 1) / len(values)
    between = factor * max(variance - float(noise.mean()), 0.0)
    varying = float(effective_number(noise[:, None])[0]) / len(noise)
    return DifferencePlan(estimator, rates, between, varying)


def margin_ranges(
    estimator: Estimator,
    n: ArrayLike,
    c: ArrayLike,
    sizes: Sequence[tuple[int, int]],
    clusters: ArrayLike | None = None,
    seed: int = 0,
) -> list[tuple[Margins, Margins]]:
    """Return ranges of the margins of error, from plans of the pilots' questions drawn again.

    Args:
        estimator: The metric.
        n: As in :func:`plan_difference`.
        c: As in :func:`plan_difference`.
        sizes: The (problems, n) to plan for.
        clusters: As in :func:`plan_difference`.
        seed: Seed of the draws.

    Returns:
        Of each of the sizes the 5 % and the 95 % quantile of the margins.

    Raises:
        ValueError: As :func:`plan_difference`.
    """
    plan_difference(estimator, n, c, clusters)  # what it refuses is no matter of luck
    samples, right = correct_counts(n, c)
    enough = (samples >= estimator.k).all(axis=0)
    samples, right = samples[:, enough], right[:, enough]
    rng = np.random.default_rng([*b'pilots', seed])
    member = np.unique(cluster_numbers(clusters, len(enough))[enough], return_inverse=True)[1]
    questions = [np.flatnonzero(member == one) for one in range(member.max() + 1)]
    drawn = []
    for _ in range(RESAMPLES):
        chosen = [questions[one] for one in rng.integers(0, len(questions), len(questions))]
        numbers = np.repeat(np.arange(len(chosen)), [len(one) for one in chosen])
        places = np.concatenate(chosen)
        plan = plan_difference(estimator, samples[:, places], right[:, places], numbers)
        drawn.append([plan.margins(*size) for size in sizes])
    ends = np.quantile(np.array(drawn), [TAIL, 1 - TAIL], axis=0)
    return [(Margins(*low), Margins(*high)) for low, high in zip(*ends.tolist(), strict=True)]


def margin_for_power(difference: float, power: float, level: float = 0.95) -> float:
    """Return the margin of error at which a difference is found with a given chance.

    A claim is made if the estimate is beyond z·σ, and the estimate is normal about the difference
    δ: the chance is Φ(δ/σ - z), so the margin z·σ may be δ·z / (z + Φ⁻¹(power)).

    Args:
        difference: The true difference δ, above 0.
        power: The chance to find it, between 0.5 and 1.
        level: The level of the interval.

    >>> round(margin_for_power(0.05, 0.8), 4)
    0.035
    """
    z = norm.isf((1 - level) / 2)
    return float(difference * z / (z + norm.ppf(power)))


def worthwhile_samples(margin: Callable[[int], float], k: int) -> int:
    """Return the n where doubling it gains less than 10 % of the margin or under 0.5 points.

    Args:
        margin: The margin of error with n samples.
        k: Number of attempts of the metric, with which the search begins.
    """
    for n in sample_numbers(k):
        gain = margin(n) - margin(2 * n)
        if not (gain >= GAIN * margin(n) and gain >= GAIN_POINTS):
            return n
    return sample_numbers(k)[-1]


def sample_numbers(k: int) -> list[int]:
    """Return the numbers of samples that a search tries: k and 1.5 k, doubled up to 96 k."""
    return [n for power in range(7) for n in (k << power, (3 * k << power) // 2)]


def sampling_variance(estimator: Estimator, rates: Rates, n: int) -> float:
    """Return the mean variance of a problem's estimate from n samples; n is at least k."""
    parts = rates.estimate_squares(estimator, n) - rates.squares(estimator)
    return float(rates.weights @ np.maximum(parts, 0.0))


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
