"""What two models' counts say of a difference: on these problems, and for problems like these.

Model a has :math:`c` right ones among :math:`n` samples of a problem, model b likewise. A metric
of a problem is f(n, c), and its step is d = f(n_b, c_b) - f(n_a, c_a). The difference D is the
weighted mean of the steps. Two questions are asked of it, and each gets a test and an interval:

- **On these problems**: would D keep its sign if both models were sampled again on the very same
  problems? Only the luck of sampling counts (:func:`step_variance`).
- **For problems like these**: would it keep its sign on other problems of this kind? The choice of
  the questions counts too, so their signs are flipped.

What is asked together is one *family* and is corrected together. P-value and interval come from the
same quantile, so within a family an interval leaves out 0 exactly if p is at most 1 - level. What
holds for problems like these holds on these problems too.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import hypergeom, norm, t

from opencompass_gpassk.metrics.clusters import cluster_numbers
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.gpassk import correct_counts
from opencompass_gpassk.metrics.rate_distribution import Rates
from opencompass_gpassk.metrics.version_metrics import ratio

FLIPS = 9_999  # with the observed signs 10,000, so that 5 % of them is a whole number
BLOCK = 1 << 22  # approximate number of elements in a temporary array
ROUNDING = 1e-5  # sums of flips that differ by less, in units of their root of squares, are equal
TAIL = 0.025  # at which the normal quantile is enlarged to Student's

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


class Steps(NamedTuple):
    """M differences of two models on P problems.

    Attributes:
        values: Shape (P, M), the second model's metric less the first's, from -1 to 1; NaN where
            it is undefined for one of them.
        variances: Shape (P, M), how much a step would vary if both were sampled again; NaN where
            that is unknown, since the metric is no function of counts: then the column has no line
            on these problems.
    """

    values: Numbers
    variances: Numbers


class Line(NamedTuple):
    """The p-values of M differences, and their intervals in [-1, 1]; NaN if undefined.

    Attributes:
        p_value: Shape (M,), two-sided, corrected for the family.
        low: Shape (M,), lower end of the interval that leaves out 0 exactly if p ≤ 1 - level.
        high: Shape (M,), upper end.
    """

    p_value: Numbers
    low: Numbers
    high: Numbers

    @property
    def signs(self) -> Integers:
        """Shape (M,): 1 if the second model has the higher value, -1 the first, 0 no claim."""
        return (self.low > 0).astype(np.int64) - (self.high < 0)

    def where(self, known: NDArray[np.bool_]) -> Line:
        """Return the line with NaN in the columns that are not known."""
        return Line(*(np.where(known, of, np.nan) for of in self))


@dataclass(frozen=True)
class Family:
    """M differences that were asked for together.

    Attributes:
        estimate: Shape (M,), the differences D in [-1, 1]; NaN if undefined.
        these: On these problems.
        like_these: For problems like these.
        questions: Shape (M,), questions with a defined step; versions of a question are one.
    """

    estimate: Numbers
    these: Line
    like_these: Line
    questions: Integers


def judged_estimates(estimator: Estimator, n: ArrayLike, c: ArrayLike) -> tuple[Numbers, Numbers]:
    """Return each problem's estimate from its judged samples, and its variance.

    The rate p of a problem is given c of n right ones; its prior is the Beta distribution with the
    highest likelihood for all counts (empirical Bayes; Robbins, Proceedings of the Third Berkeley
    Symposium 1 (1956), 157-163). With φ(p) the metric's true value:

    - n ≥ k: the estimate is f(n, c). Its variance is E[f(n, C)² - φ(p)²], where C is binomial
      (n, p): how much it would vary if the samples were drawn again.
    - n < k, since verdicts are missing: the estimate is E φ(p), and its variance that of φ(p).

    Args:
        estimator: The metric.
        n: Samples with a verdict, of any shape.
        c: Right ones among them.

    Returns:
        Estimates and variances in the shape of n.
    """
    n, c = correct_counts(n, c)
    (samples, right), place = np.unique(
        np.stack([n.ravel(), c.ravel()]), axis=1, return_inverse=True
    )
    posterior = Rates.fitted(samples[place], right[place]).after(samples, right)
    chances = posterior.counts(samples)  # of C right ones; 0 where C is above n
    new = np.minimum(np.arange(chances.shape[1]), samples[:, None])
    again = (chances * estimator(samples[:, None], new) ** 2).sum(axis=1)
    attempts = np.arange(estimator.k + 1)
    means = posterior.counts(estimator.k) @ estimator(estimator.k, attempts)
    squares = posterior.squares(estimator)
    enough = samples >= estimator.k
    values = np.where(enough, estimator(samples, right), means)
    variances = np.maximum(np.where(enough, again - squares, squares - means**2), 0.0)
    return values[place.reshape(n.shape)], variances[place.reshape(n.shape)]


def redealt_variance(estimator: Estimator, n: Integers, c: Integers) -> Numbers:
    """Return the variance of each problem's step if the pooled samples are dealt again.

    Of the c_a + c_b right ones among n_a + n_b samples, H fall to model a, which is hypergeometric.
    The variance is that of f(n_b, c_a + c_b - H) - f(n_a, H), summed exactly.

    Args:
        estimator: The metric.
        n: Shape (2, P), samples of both models.
        c: Shape (2, P), right ones among them.

    Returns:
        Shape (P,); NaN where a model has fewer than k samples.
    """
    cases, place = np.unique(np.vstack([n, c.sum(axis=0)]), axis=1, return_inverse=True)
    first, second, right = cases[:, :, None]
    dealt = np.arange(n[0].max(initial=0) + 1)
    chances = hypergeom.pmf(dealt, first + second, right, first)
    rest = np.clip(right - dealt, 0, second)  # where that is impossible, the chance is 0
    steps = estimator(second, rest) - estimator(first, np.minimum(dealt, first))
    means = (chances * steps).sum(axis=1)
    variances: Numbers = (chances * steps**2).sum(axis=1) - means**2
    return np.maximum(variances, 0.0)[place.reshape(-1)]


def paired_steps(
    estimator: Estimator,
    n: ArrayLike,
    c: ArrayLike,
    pairs: Sequence[tuple[int, int]] = ((0, 1),),
    planned: ArrayLike | None = None,
) -> Steps:
    """Return the steps of one metric for pairs of models.

    The variance of a step is the sum of both models' variances (:func:`judged_estimates`, with one
    Beta distribution for both), or the :func:`redealt_variance`, whichever is higher in sum over
    the problems. The first is right where models differ, the second where both have equal rates.

    Args:
        estimator: The metric.
        n: Shape (models, P), samples with a verdict; 0 where a model did not answer the problem.
        c: Shape (models, P), right ones among them.
        pairs: Of each pair the first and the second model.
        planned: Shape (models, P), samples with and without a verdict; by default n.

    Returns:
        Steps of M = len(pairs) columns; undefined where fewer than k samples were planned, or a
        model has no verdict at all.

    Raises:
        ValueError: If a count is negative or no integer, or c > n.
    """
    of_pairs = np.transpose(pairs)  # all shapes below begin with (2, pairs)
    samples, right = (of[of_pairs] for of in correct_counts(n, c))
    asked = samples if planned is None else np.asarray(planned)[of_pairs]
    judged = samples.any(axis=2, keepdims=True)
    known = ((asked >= estimator.k) & judged).all(axis=0)
    values, posterior = np.full((2, *known.shape), np.nan)
    for row, some in enumerate(known):
        if some.any():
            estimates, variances = judged_estimates(
                estimator, samples[:, row, some], right[:, row, some]
            )
            values[row, some] = estimates[1] - estimates[0]
            posterior[row, some] = variances.sum(axis=0)
    redealt = posterior.copy()
    enough = known & (samples >= estimator.k).all(axis=0)
    redealt[enough] = redealt_variance(estimator, samples[:, enough], right[:, enough])
    sums = (np.nansum(of, axis=1, keepdims=True) for of in (redealt, posterior))
    return Steps(values.T, np.where(np.greater(*sums), redealt, posterior).T)


def joined(parts: Sequence[Steps]) -> Steps:
    """Return the columns of several steps on the same problems, such as those of more metrics."""
    values, variances = (np.concatenate(of, axis=1) for of in zip(*parts, strict=True))
    return Steps(values, variances)


def averaged(
    parts: Sequence[Steps], weights: Sequence[Numbers] | None = None
) -> tuple[Steps, Numbers]:
    """Return the steps and weights of the unweighted mean difference over J data sets.

    The problems of all data sets become one list, in which each data set weighs the same: a problem
    of one with P_j defined steps weighs 1/P_j.

    Args:
        parts: One column of each data set.
        weights: Shape (P_j,) each, weights of the problems in their data set's difference; by
            default all are equal.

    Returns:
        One column over all problems, and their weights, to give to :func:`two_lines`. Give it
        clusters that differ between data sets.
    """
    values, variances = (np.concatenate(of) for of in zip(*parts, strict=True))
    given = [None] * len(parts) if weights is None else weights
    shares = [mean_coefficients(*of)[:, 0] for of in zip(parts, given, strict=True)]
    return Steps(values, variances), np.concatenate(shares)


def mean_coefficients(steps: Steps, weights: ArrayLike | None = None) -> Numbers:
    """Return what each step counts in the mean of its column, shape (P, M); a column's sum is 1.

    Args:
        steps: The steps; those that are undefined count 0.
        weights: Shape (P,) or (P, M), weights of the problems; by default all are equal.
    """
    count: Numbers = np.where(np.isnan(steps.values), 0.0, 1.0)
    if weights is not None:
        count *= np.reshape(np.asarray(weights, float), (len(count), -1))
    return np.asarray(count * np.nan_to_num(ratio(1.0, count.sum(axis=0))), float)


def on_these_problems(
    steps: Steps, coefficients: Numbers, *, level: float = 0.95, tests: int = 1
) -> Line:
    """Return p-values and intervals of contrasts D = Σ q·d, if the same problems are asked again.

    With the steps' variances v, the standard error is s·√Σ q²v. Few problems that vary tell little
    of a variance: ν = (Σ q²v)² / Σ (q²v)² is their effective number, and s is their
    :func:`student_factor`. Several tests are corrected by Šidák (JASA 62 (1967), 626-633): a
    p-value p becomes 1 - (1 - p)^tests, and the interval has the level level^(1/tests).

    Args:
        steps: M columns; a model's own values and variances serve as well.
        coefficients: Shape (P, M), q; a mean has 1/P, a group less the rest has both signs.
        level: The level of the family.
        tests: Number of tests in the family.
    """
    used = coefficients != 0
    parts = coefficients**2 * np.where(used, steps.variances, 0.0)
    estimate = (coefficients * np.where(used, steps.values, 0.0)).sum(axis=0)
    total = parts.sum(axis=0)
    error = np.sqrt(total) * student_factor(effective_number(parts))
    distance = np.where(total == 0, 0.0, ratio(np.abs(estimate), error))
    with np.errstate(divide='ignore'):  # a distance of 0 has p = 1, whose log is that of 0
        p_value = -np.expm1(tests * np.log1p(-2 * norm.sf(distance)))
    half = norm.isf((1 - level ** (1 / tests)) / 2) * error
    return Line(p_value, np.maximum(estimate - half, -1.0), np.minimum(estimate + half, 1.0))


def effective_number(variances: Numbers) -> Numbers:
    """Return (Σ v)² / Σ v² of each column of shape (P, M): how many problems vary; at least 1."""
    total = variances.sum(axis=0)
    return np.maximum(np.nan_to_num(ratio(total**2, (variances**2).sum(axis=0))), 1.0)


def student_factor(effective: ArrayLike) -> Numbers:
    """Return Student's 97.5 % quantile over the normal one, with 2ν degrees of freedom.

    It is one factor for all levels, so that a board of many models can still tell some apart;
    ``benchmarks/claims.py`` shows that false claims stay rare.

    Args:
        effective: ν, at least 1, see :func:`effective_number`.
    """
    factor: Numbers = t.isf(TAIL, 2 * np.asarray(effective, float)) / norm.isf(TAIL)
    return factor


def two_lines(
    steps: Steps,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    *,
    level: float = 0.95,
    corrected: bool = True,
    flips: int | None = None,
    seed: int = 0,
) -> Family:
    """Test the M columns of one family, on these problems and for problems like these.

    On these problems: see :func:`on_these_problems`. For problems like these: if both models are
    equally good, each question's step could as well have the other sign (Fisher, The Design of
    Experiments (1935), section 21). With x the sum of a question's shares of D, the statistic is
    T = |Σ x| / √Σ x²; p is the share of flips of all questions' signs whose greatest T in the
    family is at least the observed one (Westfall and Young, Resampling-Based Multiple Testing
    (1993), chapter 2). With w the sum of a question's weights, the interval holds all D₀ for which
    |Σ (x - w D₀)| ≤ Q √Σ (x - w D₀)², where Q is the flips' quantile. The greater p-value and the
    wider interval of both lines count.

    Args:
        steps: The steps.
        clusters: Shape (P,), equal labels are versions of one question; None if there are none.
        weights: Shape (P,) or (P, M), weights of the problems in D; by default all are equal.
        level: The chance that no claim of the family is false, if all differences are 0.
        corrected: Whether columns are corrected for one another; False gives each column its plain
            interval, which a reader may see beside the tested ones.
        flips: Number of flips, at least level / (1 - level); all columns share them. By default
            9,999, or what a higher level needs.
        seed: Seed of the flips.

    >>> steps = Steps(np.array([[0.5], [0.25], [0.5], [0.25]] * 20), np.full((80, 1), 0.01))
    >>> found = two_lines(steps)
    >>> found.estimate, found.like_these.low.round(2), found.like_these.high.round(2)
    (array([0.375]), array([0.35]), array([0.4]))
    """
    flips = flips or max(FLIPS, math.ceil(10 / (1 - level)))
    defined = ~np.isnan(steps.values)
    known = defined.any(axis=0)
    share = mean_coefficients(steps, weights)
    tests = max(int(known.sum()), 1) if corrected else 1
    these = on_these_problems(steps, share, level=level, tests=tests)

    member = cluster_numbers(clusters, len(defined))
    questions = np.zeros((member.max(initial=-1) + 1, defined.shape[1]))
    weight, seen = questions.copy(), questions.copy()
    np.add.at(questions, member, share * np.where(defined, steps.values, 0.0))
    np.add.at(weight, member, share)
    np.add.at(seen, member, defined)
    estimate, squares = questions.sum(axis=0), (questions**2).sum(axis=0)
    scaled = np.divide(questions, np.sqrt(squares), out=np.zeros_like(questions), where=squares > 0)
    flipped = _greatest_flips(scaled, flips, seed, corrected)
    observed = np.abs(scaled.sum(axis=0)) - ROUNDING
    beyond = np.array(
        [len(of) - of.searchsorted(bar) for of, bar in zip(flipped, observed, strict=True)]
    )
    quantile = flipped[:, int(np.ceil(level * (flips + 1) - 1e-9)) - 1] + ROUNDING

    # The ends are the roots of a D₀² - 2 b D₀ + c = 0.
    a = 1 - quantile**2 * (weight**2).sum(axis=0)
    b = estimate - quantile**2 * (weight * questions).sum(axis=0)
    c = estimate**2 - quantile**2 * squares
    root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
    bounded = a > 0
    low, high = (np.where(bounded, ratio(b + s * root, a), s) for s in (-1.0, 1.0))
    like_these = Line(
        np.fmax((beyond + 1) / (flips + 1), these.p_value),  # of a NaN and a number, the number
        np.maximum(np.fmin(low, these.low), -1.0),
        np.minimum(np.fmax(high, these.high), 1.0),
    )
    return Family(
        np.where(known, estimate, np.nan),
        these.where(known),
        like_these.where(known),
        (seen > 0).sum(axis=0),
    )


def _greatest_flips(scaled: Numbers, flips: int, seed: int, together: bool) -> Numbers:
    """Return the sorted |Σ ±x| of each flip, shape (M, flips); the greatest column's if together.

    Args:
        scaled: Shape (C, M), each column with a sum of squares of 1 or 0.
    """
    rng = np.random.default_rng([*b'sign flips', seed])
    count, columns = scaled.shape
    found = np.empty((1 if together else columns, flips))
    rows = max(BLOCK // max(count, columns, 1), 1)
    for start in range(0, flips, rows):
        size = min(rows, flips - start)
        signs = rng.integers(0, 2, (size, count), dtype=np.int8) * np.float32(2) - 1
        sums = np.abs(signs @ scaled.astype(np.float32))
        found[:, start : start + size] = sums.max(axis=1, initial=0) if together else sums.T
    found.sort(axis=1)
    return np.broadcast_to(found, (columns, flips))


def low_with_rare_kind(
    low: ArrayLike, first: ArrayLike, questions: ArrayLike, level: float = 0.95
) -> Numbers:
    """Return the lower end of a difference if the second model fails a kind that was not asked.

    A kind that makes up the share h of all problems is absent from q questions with the chance
    (1 - h)^q, so h can be up to 1 - (1 - level)^(1/q). On such a kind the second model loses all
    of the first one's value: the end is (1 - h)·low - h·first.

    Args:
        low: The lower end for problems like these, in [-1, 1].
        first: The first model's metric, in [0, 1]: what there is to lose.
        questions: Number of questions asked.
        level: The chance that a kind of this share would have been seen.

    >>> low_with_rare_kind(0.0, 0.9, 300).round(4)
    -0.0089
    """
    unseen = 1 - (1 - level) ** (1 / np.asarray(questions, float))
    end: Numbers = (1 - unseen) * np.asarray(low, float) - unseen * np.asarray(first, float)
    return end


def against_claim(planned: Integers, known: Integers, winner: int) -> Integers:
    """Return the samples that a claim must survive: the winner's missing verdicts are all wrong.

    The loser's are like its judged ones, so that they are left out.

    Args:
        planned: Shape (2, P), planned samples of both models.
        known: Shape (2, P), samples with a verdict.
        winner: 0 or 1.

    Returns:
        Shape (2, P), the n to give to :func:`paired_steps`; c and the planned samples stay.
    """
    return np.where(np.arange(2)[:, None] == winner, planned, known)


def least_against(
    estimator: Estimator,
    planned: Integers,
    known: Integers,
    right: Integers,
    *,
    level: float = 0.95,
    tests: int = 1,
) -> int | None:
    """Return how many missing verdicts must go against a claim on these problems to take it away.

    First the winner's are taken to be wrong, then the loser's to be right; among those of a model,
    problem by problem, the ones that cost the most first. All others are like the judged ones.

    Args:
        estimator: The metric; more right samples never lower it.
        planned: Shape (2, P), planned samples of both models.
        known: Shape (2, P), samples with a verdict.
        right: Shape (2, P), right ones among them.
        level: The family's level.
        tests: Number of tests in the family.

    Returns:
        The number, 0 if there is no claim; None if the claim holds whatever the missing ones are.
    """

    def sign(n: Integers, c: Integers) -> int:
        steps = paired_steps(estimator, n, c, planned=planned)
        line = on_these_problems(steps, mean_coefficients(steps), level=level, tests=tests)
        return int(line.signs[0])

    claimed = sign(known, right)
    if not claimed:
        return 0
    winner, missing = (claimed + 1) // 2, planned - known
    values, _ = judged_estimates(estimator, known, right)
    ends = estimator(planned, right + np.where(np.arange(2)[:, None] == winner, 0, missing))
    losses = np.abs(np.nan_to_num(ends) - values)
    order = [  # (model, problem) of every missing verdict
        (model, problem)
        for model in (winner, 1 - winner)
        for problem in np.argsort(-ratio(losses[model], missing[model]))
        for _ in range(missing[model, problem])
    ]

    def overturned(number: int) -> bool:
        taken = np.zeros_like(missing)
        for place in order[:number]:
            taken[place] += 1
        gained = np.where(np.arange(2)[:, None] == winner, 0, taken)
        return sign(known + taken, right + gained) != claimed

    found = bisect_left(range(len(order) + 1), True, key=overturned)
    return found if found <= len(order) else None
