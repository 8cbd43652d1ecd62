"""Reliable problems of a result: which are surely solved at a given rate, and which surely not."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.reliability import surely_at_least, surely_below
from opencompass_gpassk.results.groups import headline_problems
from opencompass_gpassk.results.judged_trials import JudgedTrials

RATE = 0.9  # whose three counts a result has


class Attempts(NamedTuple):
    """Samples of each of the P problems of the headline.

    A response without a verdict, or that nobody decided, may be right or wrong.

    Attributes:
        problem_ids: The P problems.
        n: Shape (P,), samples, lost ones included.
        least: Shape (P,), right ones if all open responses are wrong.
        most: Shape (P,), right ones if all open responses are right.
    """

    problem_ids: list[str]
    n: NDArray[np.int64]
    least: NDArray[np.int64]
    most: NDArray[np.int64]


def attempts(trials: JudgedTrials) -> Attempts:
    """Return the attempts at each problem."""
    problems, decided = trials.table.problems, trials.decided()
    members = headline_problems(problems)
    least, most = (decided.settled(correct=right).c[members] for right in (False, True))
    return Attempts([problems[i].problem_id for i in members], trials.n[members], least, most)


def reliable_counts(of: Attempts, rate: float = RATE) -> dict[str, int]:
    """Return how many problems are surely at least at a rate, surely below it, and unclear."""
    surely = int(surely_at_least(rate, of.n, of.least).sum())
    below = int(surely_below(rate, of.n, of.most).sum())
    return {'at_least': surely, 'below': below, 'unclear': len(of.n) - surely - below}
