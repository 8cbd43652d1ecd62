"""Majority vote: is the most frequent answer to a problem correct?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def majority_vote(
    problem: NDArray[np.int64],
    answer_class: NDArray[np.int64],
    correct: NDArray[np.bool_],
    judged: NDArray[np.bool_],
    chance: NDArray[np.float64],
) -> NDArray[np.float64]:
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
    keys = np.stack([problem[voting], answer_class[voting]])
    (voted, _), group, votes = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    right = np.bincount(group, weights=correct[voting])
    known = np.bincount(group, weights=judged[voting])
    share = np.divide(right, known, out=chance[voted], where=known > 0)
    most = np.zeros(problems, dtype=np.int64)
    np.maximum.at(most, voted, votes)
    leading = votes == most[voted]
    leaders = np.bincount(voted[leading], minlength=problems)
    total = np.bincount(voted[leading], weights=share[leading], minlength=problems)
    return np.divide(total, leaders, out=vote, where=leaders > 0)
