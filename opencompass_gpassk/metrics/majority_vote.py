"""Is the answer right that most samples of a problem give?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ['majority_vote']


def majority_vote(
    problem: NDArray[np.int64],
    answer_class: NDArray[np.int64],
    correct: NDArray[np.bool_],
    judged: NDArray[np.bool_],
    problems: int,
) -> NDArray[np.float64]:
    """Return the majority answer's correctness for each of P problems, shape (P,), in [0, 1].

    Equivalent answers vote together and ties are split: of two leading answers of which one is
    right, the vote is 0.5. An answer that a wavering judge called right and wrong counts as the
    share of its judged trials that are right. Responses without an answer don't vote; a problem
    with no votes is wrong if it was judged. NaN where a leading answer has no judged trial, and
    everywhere if responses are right but none has an answer, as with programs.

    Args:
        problem: Which problem each of T trials is of, from 0; shape (T,).
        answer_class: Equivalent answers to a problem share one; -1 is no answer. Shape (T,).
        correct: The trial is right; shape (T,).
        judged: The trial is right or wrong; shape (T,).
        problems: P.
    """
    vote = np.where(np.bincount(problem[judged], minlength=problems) > 0, 0.0, np.nan)
    voting = answer_class >= 0
    if not voting.any():
        return np.full_like(vote, np.nan) if correct.any() else vote
    keys = np.stack([problem[voting], answer_class[voting]])
    (voted, _), group, votes = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    right = np.bincount(group, weights=correct[voting])
    known = np.bincount(group, weights=judged[voting])
    share = np.divide(right, known, out=np.full(len(right), np.nan), where=known > 0)
    most = np.zeros(problems, dtype=np.int64)
    np.maximum.at(most, voted, votes)
    leading = votes == most[voted]
    leaders = np.bincount(voted[leading], minlength=problems)
    total = np.bincount(voted[leading], weights=share[leading], minlength=problems)
    return np.divide(total, leaders, out=vote, where=leaders > 0)
