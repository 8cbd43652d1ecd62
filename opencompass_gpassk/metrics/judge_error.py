"""What wrong verdicts do to metrics: true verdicts drawn from recorded verdicts and labels.

A verdict may call a right answer wrong, or a wrong one right. If each of k samples of a perfect
model is called wrong with a chance of 1 %, its G-Pass@k_1.0 is 0.99^k, so metrics of stability are
the most sensitive to such errors. People's labels on some verdicts tell how frequent they are. Then
the true verdicts are unknown values, which are drawn many times; metrics are computed from each
draw (multiple imputation: Rubin, Multiple Imputation for Nonresponse in Surveys (1987)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaln, psi

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

RATES = np.sin(np.linspace(0, np.pi / 2, 21)) ** 2  # of problems, more of them near 0 and 1
# Dirichlet prior of the rates' distribution. Many problems are never solved, or always.
PRIOR = np.array([0.25, *[0.5 / 19] * 19, 0.25])
RATE_DRAWS = 2000
SWEEPS = 20  # of Gibbs sampling for each draw
CONCENTRATIONS = (0.01, 1e4)
CONCENTRATED = (0.1, 0.9)  # rate of errors where they are concentrated
SPREAD = 0.1  # share of the errors that are elsewhere then
BLOCK = 1 << 21  # approximate number of elements in a temporary array
LEAST = -200.0  # log of a chance that counts as 0; much smaller numbers slow the processor down


# Of an audited run: outcome of judging, such as 'rule: correct' → number of trials, number of
# independent labels on some of them, and share of these that say that the answer is right.
Labelled = Mapping[str, Sequence[float]]
MOST_OUTCOMES = 100


def is_labelled(value: Any) -> bool:
    """Tell whether a value from a file is what labels say of outcomes."""
    return (
        isinstance(value, Mapping)
        and len(value) <= MOST_OUTCOMES
        and all(isinstance(row, (list, tuple)) and len(row) == 3 for row in value.values())
        and all(
            isinstance(one, (int, float)) and 0 <= one <= most
            for row in value.values()
            for one, most in zip(row, (1e9, 1e9, 1), strict=True)
        )
    )


def says_right(outcome: str) -> bool:
    """Tell the verdict of an outcome."""
    return outcome.endswith(': correct')


@dataclass(frozen=True)
class LabelledOutcomes:
    """How the judging of a run ended, and what labels say of it.

    An outcome is a verdict and its source, such as "called right by a rule".

    Attributes:
        trials: Shape (O,): number of trials with each outcome.
        labels: Shape (O,): number of independent labels on such trials; may be fractional.
        right: Shape (O,): share of these that say that the answer is right; any where none are.
    """

    trials: Numbers
    labels: Numbers
    right: Numbers

    @classmethod
    def of(cls, labelled: Labelled, outcomes: Sequence[str]) -> LabelledOutcomes:
        """Return the labels on these outcomes, then those on the audited run's others.

        An outcome that the audited run lacks is rare: it counts as one trial without a label.
        """
        names = [*outcomes, *sorted(labelled.keys() - set(outcomes))]
        rows = [labelled.get(name, (1.0, 0.0, 0.0)) for name in names]
        return cls(*np.array(rows, dtype=float).reshape(-1, 3).T)

    def chances(self, rng: np.random.Generator) -> Numbers:
        """Draw the chances of each outcome of a wrong answer, and of a right one.

        The share of right answers behind each outcome has Jeffreys' prior, Beta(½, ½).

        Returns:
            Shape (2, O); both rows sum to 1. They don't depend on how many answers are right, so
            they hold for another run of the same judge.
        """
        share = rng.beta(0.5 + self.labels * self.right, 0.5 + self.labels * (1 - self.right))
        both = np.stack([self.trials * (1 - share), self.trials * share])
        return both / both.sum(axis=1, keepdims=True)

    def error_rates(self, says_right: Mask, *, level: float = 0.95) -> Numbers:
        """Return how often right answers are called wrong, and wrong ones right.

        Args:
            says_right: Shape (O,): the verdict of each outcome.
            level: Coverage of the intervals.

        Returns:
            Shape (2, 3): each rate with its interval, in [0, 1]; NaN where no outcome is such an
            error, or no label says that there are such answers.
        """
        rng = np.random.default_rng(0)
        drawn = np.array([self.chances(rng) for _ in range(RATE_DRAWS)])
        answers = self.trials * (self.labels > 0) * np.stack([self.right, 1 - self.right])
        found = np.full((2, 3), np.nan)
        for row, error in enumerate((~says_right, says_right)):
            if error.any() and answers[row].sum() > 0:
                rates = drawn[:, 1 - row, error].sum(axis=1)
                low, high = np.quantile(rates, [(1 - level) / 2, (1 + level) / 2])
                rate = answers[row, error].sum() / answers[row].sum()
                # Draws are never exactly 0 or 1, as the rate of the labels may be.
                found[row] = rate, min(low, rate), max(high, rate)
        return found


@dataclass(frozen=True)
class JudgedAnswers:
    """The distinct answers to P problems, at most J to one, and how each was judged.

    Attributes:
        sizes: Shape (P, J): number of responses that give each answer; 0 where there are fewer. All
            responses with one answer are right, or none is.
        outcomes: Shape (P, J, O): how often it was judged with each outcome. Responses that share
            an error, since equal answers are judged once, count as one.
        right: Shape (P, J): whether most of its responses were judged right.
        unread: Shape (P, J): whether it is one response of which no answer is known, so that it may
            say what another one says.
        says_right: Shape (O,): the verdict of each outcome.
    """

    sizes: Integers
    outcomes: Numbers
    right: Mask
    unread: Mask
    says_right: Mask


def true_verdicts(
    answers: JudgedAnswers,
    chances: Callable[[np.random.Generator], Numbers],
    draws: int,
    *,
    seed: int = 0,
) -> Iterator[Mask]:
    """Yield draws of the true verdicts on answers.

    The model: each problem has a rate, the chance that a sample is right. The rates have a
    distribution over a grid, with a Dirichlet prior. Right samples fall into answers by a Chinese
    restaurant process, wrong ones by another: right ones are mostly one answer, wrong ones often
    several. So an answer that 15 of 16 samples give is hardly one of many wrong answers. The
    processes' concentrations are those most likely for the recorded verdicts. A response whose
    answer is unknown is right at the problem's rate, and in no such process. The verdicts, the
    rates and their distribution are drawn in turn (Gibbs sampling). A single rate for all problems
    would be biased: a wrong verdict among 15 right ones is more suspect than elsewhere.

    Args:
        answers: The judged answers.
        chances: Draws the chances of the outcomes, shape (2, O), of a wrong answer and of a right
            one.
        draws: Number of draws.
        seed: Random seed.

    Yields:
        Shape (P, J): whether the answer is right.
    """
    rng = np.random.default_rng([*b'true verdicts', seed])
    sizes = np.where(answers.unread, 0, answers.sizes)
    n = sizes.sum(axis=1)
    number = np.arange(n.max(initial=0) + 1)
    concentrations = [
        _concentration(np.where(of, sizes, 0)) for of in (~answers.right, answers.right)
    ]
    # The log chance that so many samples are all wrong, or all right, shape (n + 1, rates).
    all_wrong, all_right = (
        number[:, None] * _log(rate) - (gammaln(a + number) - gammaln(a))[:, None]
        for rate, a in zip((1 - RATES, RATES), concentrations, strict=True)
    )
    wrong = n[:, None] - number
    samples = np.where((wrong >= 0)[..., None], all_wrong[wrong.clip(0)] + all_right, LEAST)
    scale = samples.max(axis=-1)
    samples = np.exp(np.maximum(samples - scale[..., None], LEAST))  # shape (P, n + 1, rates)
    problem_of_unread = np.nonzero(answers.unread)[0]
    blocks = np.array_split(np.arange(len(n)), wrong.size * sizes.shape[1] // BLOCK + 1)
    distribution = PRIOR / PRIOR.sum()
    rows = np.arange(len(n))
    for draw in range(draws):
        kinds, shares = _kinds(chances(rng), answers.says_right, rng, concentrated=bool(draw % 2))
        of_answers, unread, of_rates = [], [], []
        for kind in kinds:
            of_outcomes = answers.outcomes @ _log(kind).T
            unread.append(np.exp(np.maximum(of_outcomes[answers.unread], LEAST)))  # shape (U, 2)
            at_rates = unread[-1][:, :1] * (1 - RATES) + unread[-1][:, 1:] * RATES
            of_unread = np.zeros((len(n), len(RATES)))
            np.add.at(of_unread, problem_of_unread, _log(at_rates))
            logs = of_outcomes + np.log(concentrations)
            peak = logs.max(axis=-1, keepdims=True)
            made = np.exp(np.maximum(logs - peak, LEAST))
            made[sizes == 0] = [1.0, 0.0]
            peak[sizes == 0] = 0.0
            of_answers.append(made)
            likelihood = np.empty((len(n), len(RATES)))
            for block in blocks:
                of_right, top = _of_right(sizes[block], made[block], scale[block])[1:]
                likelihood[block] = _log(np.einsum('prg,pr->pg', samples[block], of_right)) + top
            of_rates.append(likelihood + of_unread + peak.sum(axis=(1, 2))[:, None])
        logs = np.stack(of_rates, axis=1) + np.log(shares)[:, None]  # shape (P, kinds, rates)
        logs -= logs.max(axis=(1, 2), keepdims=True)
        weights = np.exp(np.maximum(logs, LEAST)).reshape(len(n), -1)
        for _ in range(SWEEPS):  # until the distribution is one for these chances
            drawn = _drawn(weights * np.tile(distribution, len(kinds)), rng)
            kind, rate = np.divmod(drawn, len(RATES))
            distribution = rng.dirichlet(PRIOR + np.bincount(rate, minlength=len(RATES)))
        mine = np.stack(of_answers)[kind, rows]
        found = np.zeros(sizes.shape, dtype=bool)
        for block in blocks:
            sums, of_right, _ = _of_right(sizes[block], mine[block], scale[block])
            right = _drawn(samples[block, :, rate[block]] * of_right, rng)
            found[block] = _split(sizes[block], mine[block], sums, right, rng)
        of_problem = RATES[rate[problem_of_unread]]
        of_unread = np.stack(unread)[kind[problem_of_unread], np.arange(len(problem_of_unread))]
        if_right, if_wrong = of_unread[:, 1] * of_problem, of_unread[:, 0] * (1 - of_problem)
        found[answers.unread] = rng.random(len(of_unread)) * (if_right + if_wrong) < if_right
        yield found


def _kinds(
    chances: Numbers, says_right: Mask, rng: np.random.Generator, *, concentrated: bool
) -> tuple[list[Numbers], Numbers]:
    """Return the chances of the outcomes in each kind of problem, and the kinds' shares.

    Nobody knows how errors are distributed. So in half of the draws each answer has the same chance
    of one. In the others an error befalls few problems, and there many answers: right ones that are
    called wrong, or wrong ones that are called right.
    """
    if not concentrated:
        return [chances], np.ones(1)
    kinds, shares = [chances.copy()], [1.0]
    for row, error in ((1, ~says_right), (0, says_right)):
        total = chances[row, error].sum()
        there = rng.uniform(*CONCENTRATED)
        if not 0 < total < there:
            continue
        kind = chances.copy()
        for of, rate in ((kind, there), (kinds[0], total * SPREAD)):
            of[row, error] *= rate / total
            of[row, ~error] *= (1 - rate) / (1 - total)
        kinds.append(kind)
        shares.append(total * (1 - SPREAD) / there)
    shares[0] = max(1.0 - sum(shares[1:]), 0.05)
    return kinds, np.array(shares) / sum(shares)


def _of_right(
    sizes: Integers, of_answers: Numbers, scale: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Return :func:`_sums`, the likelihood of each number of right responses, and its scale."""
    sums = _sums(sizes, of_answers, scale.shape[1])
    found = _log(sums[-1]) + scale
    top = found.max(axis=1, keepdims=True)
    return sums, np.exp(np.maximum(found - top, LEAST)), top


def _concentration(sizes: Integers) -> float:
    """Return the concentration of a Chinese restaurant process that makes these answers likely.

    With it as many different answers are expected as there are (Ewens, Theoretical Population
    Biology 3 (1972), 87-112).
    """
    n, answers = sizes.sum(axis=1), int((sizes > 0).sum())
    least, most = np.log(CONCENTRATIONS)

    def excess(log: float) -> float:
        a = np.exp(log)
        return float((a * (psi(a + n) - psi(a))).sum()) - answers

    if excess(least) >= 0:
        return CONCENTRATIONS[0]
    return CONCENTRATIONS[1] if excess(most) <= 0 else float(np.exp(brentq(excess, least, most)))


def _sums(sizes: Integers, of_answers: Numbers, width: int) -> Numbers:
    """Return the chance of each number of right responses among the first j answers.

    Args:
        sizes: Shape (P, J).
        of_answers: Shape (P, J, 2): the chance of an answer's outcome if wrong, and if right.
        width: The greatest number, plus 1.

    Returns:
        Shape (J + 1, P, width), in proportion.
    """
    found = np.zeros((sizes.shape[1] + 1, len(sizes), width))
    found[0, :, 0] = 1.0
    for j, size in enumerate(sizes.T):
        before = np.arange(width) - size[:, None]
        shifted = np.where(before >= 0, np.take_along_axis(found[j], before.clip(0), axis=1), 0.0)
        found[j + 1] = found[j] * of_answers[:, j, :1] + shifted * of_answers[:, j, 1:]
    return found


def _split(
    sizes: Integers,
    of_answers: Numbers,
    sums: Numbers,
    right: Integers,
    rng: np.random.Generator,
) -> Mask:
    """Draw which answers are right, given the number of right responses to each problem."""
    found = np.zeros(sizes.shape, dtype=bool)
    problem, left = np.arange(len(sizes)), right
    for j in reversed(range(sizes.shape[1])):
        before = left - sizes[:, j]
        if_right = sums[j, problem, before.clip(0)] * of_answers[:, j, 1] * (before >= 0)
        if_wrong = sums[j, problem, left] * of_answers[:, j, 0]
        found[:, j] = rng.random(len(sizes)) * (if_right + if_wrong) < if_right
        left = np.where(found[:, j], before, left)
    return found


def _log(chances: Numbers) -> Numbers:
    return np.log(np.maximum(chances, np.exp(LEAST)))


def _drawn(weights: Numbers, rng: np.random.Generator) -> Integers:
    """Draw a column of each row, with chances in proportion to the weights."""
    bars = np.cumsum(weights, axis=1)
    return (bars <= rng.random(len(bars))[:, None] * bars[:, -1:]).sum(axis=1)
