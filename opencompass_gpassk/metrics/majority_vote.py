"""Majority votes: is the most frequent answer right, of all samples or of k of them (cons@k)?

And how often do two samples agree? A problem has n samples. Equivalent answers are one class. A
response without an answer is drawn like the others, but votes for nothing and agrees with nothing.
Lost responses are no samples.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from opencompass_gpassk.metrics.version_metrics import ratio

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
FAR = 60  # samples
MOST = 512  # samples of a problem
BLOCK = 256  # cases at once


def majority_vote(
    problem: Integers,
    answer_class: Integers,
    correct: Mask,
    judged: Mask,
    chance: Numbers,
) -> Numbers:
    """Return the majority answer's correctness for each of P problems, shape (P,), in [0, 1].

    Equivalent answers vote together. Ties are split: if one of two leading answers is correct, the
    vote is 0.5. An answer that was judged both correct and incorrect counts as the share of its
    judged trials that are correct, and one without a judged trial as the problem's ``chance``.
    Responses without an answer don't vote; a problem without votes counts as incorrect if it was
    judged. NaN where the chance of a leading answer is, and everywhere if some responses are
    correct but none has an answer, as with programs.

    Args:
        problem: Shape (T,), the index of each trial's problem, from 0.
        answer_class: Shape (T,), equivalent answers to a problem share a number; -1: no answer.
        correct: Shape (T,), the trial's verdict is correct.
        judged: Shape (T,), the trial's verdict is correct or incorrect.
        chance: Shape (P,), the chance that a response to the problem without a verdict is correct.
    """
    problems = len(chance)
    vote = np.where(np.bincount(problem[judged], minlength=problems) > 0, 0.0, np.nan)
    voting = answer_class >= 0
    if not voting.any():
        return np.full_like(vote, np.nan) if correct.any() else vote
    voted, votes, share = answer_votes(problem, answer_class, correct, judged, chance)
    most = np.zeros(problems, dtype=np.int64)
    np.maximum.at(most, voted, votes)
    leading = votes == most[voted]
    leaders = np.bincount(voted[leading], minlength=problems)
    total = np.bincount(voted[leading], weights=share[leading], minlength=problems)
    return np.divide(total, leaders, out=vote, where=leaders > 0)


def answer_votes(
    problem: Integers,
    answer_class: Integers,
    correct: Mask,
    judged: Mask,
    chance: Numbers,
) -> tuple[Integers, Integers, Numbers]:
    """Return the A answers to all problems, problem by problem; arguments as above.

    Returns:
        Each of shape (A,): the answer's problem, its votes, and the chance that it is right.
    """
    voting = answer_class >= 0
    keys = np.stack([problem[voting], answer_class[voting]])
    (voted, _), group, votes = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    right = np.bincount(group, weights=correct[voting])
    known = np.bincount(group, weights=judged[voting])
    return voted, votes, np.divide(right, known, out=chance[voted], where=known > 0)


def consensus_at_k(
    problem: Integers,
    answer_class: Integers,
    correct: Mask,
    judged: Mask,
    chance: Numbers,
    present: Mask,
    k: int,
) -> Numbers:
    """Return cons@k: the expected correctness of the majority of k samples, shape (P,), in [0, 1].

    The k are drawn from the samples without replacement. The expectation over all draws is exact,
    so it is unbiased for any n ≥ k. Ties are split, and answers are right, as in
    :func:`majority_vote`, which is cons@n. cons@1 is the accuracy, if all responses have an answer.

    Args:
        problem: Shape (T,), as in that function, like the next four.
        answer_class: Shape (T,).
        correct: Shape (T,).
        judged: Shape (T,).
        chance: Shape (P,).
        present: Shape (T,), the trial's response is not lost.
        k: Samples drawn.

    Returns:
        NaN where fewer than k samples are present, or more than 512, or none is judged, where the
        chance of an answer without a verdict is NaN, and everywhere if some responses are correct
        but none has an answer, as with programs.
    """
    problems = len(chance)
    n = np.bincount(problem[present], minlength=problems)
    known = np.bincount(problem[judged], minlength=problems) > 0
    if correct.any() and not (answer_class >= 0).any():
        known[:] = False
    found = np.where(known & (n >= k) & (n <= MOST), 0.0, np.nan)
    voted, votes, right = answer_votes(problem, answer_class, correct, judged, chance)
    place = np.arange(len(voted)) - np.searchsorted(voted, voted)
    table = np.zeros((problems, max(place, default=0) + 1), np.int64)
    table[voted, place] = votes
    # Answers with equally many votes lead equally often.
    may = (right != 0) & ~np.isnan(found[voted])  # NaN is not 0
    (of, own), item = np.unique(np.stack([voted[may], votes[may]]), axis=1, return_inverse=True)
    share = np.bincount(item.reshape(-1), weights=right[may])
    others = table[of]
    others[np.arange(len(of)), (others == own[:, None]).argmax(axis=1)] = 0
    others = -np.sort(-others, axis=1)
    for samples in np.unique(n[of]):
        chosen = np.flatnonzero(n[of] == samples)
        for block in np.split(chosen, range(BLOCK, len(chosen), BLOCK)):
            leads = _leading(own[block], others[block], int(samples), k)
            np.add.at(found, of[block], share[block] * leads)
    return np.clip(found, 0.0, 1.0)


def _leading(own: Integers, others: Integers, n: int, k: int) -> Numbers:
    """Return the chance that an answer leads among k samples, with ties broken at random.

    The numbers drawn of each answer are independent binomial ones, given that they sum to k. If
    the answer is drawn a times, it leads if every other is drawn less often, or as often with a
    lower lot; lots are uniform. So for an answer with a lot of u the others' generating function
    is a product, a polynomial in z (samples) and in u. A discrete Fourier transform takes its
    coefficient of the k-th power of z, and Gauss's quadrature the integral over u; both are exact.

    Args:
        own: Shape (I,), votes for the answer in each of I cases, at least 1.
        others: Shape (I, J), votes for the other answers, descending.
        n: Samples of each case; those that are no vote have no answer.
        k: Samples drawn.
    """
    p = k / n
    # Other sums than k that the transform takes for k are not possible, or 12 deviations away.
    period = min(n, FAR + 12 * math.isqrt(k)) + 1
    points = np.arange(period // 2 + 1)  # the others are their conjugates
    z = np.exp(2j * np.pi * points / period)
    weights = np.where((points > 0) & (2 * points != period), 2.0, 1.0) * z ** (-k) / period
    pmf = binom.pmf(np.arange(k + 1), np.arange(n + 1)[:, None], p)
    any_number = (1 - p + p * z) ** np.arange(n + 1)[:, None]
    below = np.zeros((n + 1, len(z)), complex)
    found = np.zeros(len(own))
    for a in range(1, min(k, own.max()) + 1):
        below += pmf[:, a - 1, None] * z ** (a - 1)
        equal = pmf[:, a, None] * z**a
        may = own >= a
        rivals = int((others[may] >= a).any(axis=0).sum())
        lots, share = _quadrature(min(rivals, k // a - 1) // 2 + 1)
        factors = below[:, None] + lots[:, None] * equal[:, None]
        product = np.ones((int(may.sum()), len(lots), len(z)), complex)
        for votes in others[may, :rivals].T:
            product *= factors[votes]
        rest = any_number[n - own[may] - others[may, :rivals].sum(axis=1)]
        found[may] += ((share @ product) * equal[own[may]] * rest @ weights).real
    return np.asarray(found / binom.pmf(k, n, p))


@cache
def _quadrature(nodes: int) -> tuple[Numbers, Numbers]:
    """Return points and weights on [0, 1] that are exact for polynomials below 2 · nodes."""
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return (points + 1) / 2, weights / 2


def consistency(
    problem: Integers, answer_class: Integers, correct: Mask, present: Mask, problems: int
) -> Numbers:
    """Return the chance that two different samples of a problem agree, shape (problems,).

    No gold answer is needed: a model may agree with itself and be wrong.

    Args:
        problem: Shape (T,), the index of each trial's problem, from 0.
        answer_class: Shape (T,), equivalent answers to a problem share a number; -1: no answer.
        correct: Shape (T,), the trial's verdict is correct.
        present: Shape (T,), the trial's response is not lost.
        problems: Number of problems.

    Returns:
        In [0, 1]; NaN where fewer than two samples are present, and everywhere if some responses
        are correct but none has an answer, as with programs.

    >>> four = np.zeros(4, int)
    >>> consistency(four, np.array([0, 0, 0, 1]), four > 0, four == 0, 1)
    array([0.5])
    """
    voting = answer_class >= 0
    n = np.bincount(problem[present], minlength=problems)
    if correct.any() and not voting.any():
        n[:] = 0
    keys = np.stack([problem[voting], answer_class[voting]])
    (voted, _), votes = np.unique(keys, axis=1, return_counts=True)
    agreeing = np.bincount(voted, weights=votes * (votes - 1), minlength=problems)
    return ratio(agreeing, n * (n - 1))
