"""What a judge found in the steps of a solution, and the same as scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.solutions import CLASSES, Refusal, StepScores

__all__ = ['JudgedSteps', 'StepFinding', 'count_failures', 'recorded_row']


@dataclass(frozen=True)
class StepFinding:
    """The answer to one question about a solution, or why there is none.

    Attributes:
        steps: Indexes, from 0, of the steps that were named: the first wrong one, or all redundant
            ones; empty if there is none. None where the judge gave no answer that can be read.
        failure: Why not, beginning with words to count by; '' where there is an answer.
        passing: The failure may pass; asking again later may help.
    """

    steps: tuple[int, ...] | None
    failure: str = ''
    passing: bool = False


@dataclass(frozen=True)
class JudgedSteps:
    """What a judge found in one solution of S steps. No answer is neither right nor wrong.

    Attributes:
        count: S.
        invalid: The first wrong step; None where it wasn't asked for.
        redundant: The redundant steps; None where they weren't asked for.
        refusal: Why nothing was asked about the solution; None where it was.
    """

    count: int
    invalid: StepFinding | None = None
    redundant: StepFinding | None = None
    refusal: Refusal | None = None

    def finding(self, kind: ErrorKind) -> StepFinding | None:
        """Return the finding of one kind."""
        return self.invalid if kind is ErrorKind.INVALID else self.redundant

    def named(self, kind: ErrorKind) -> NDArray[np.float64]:
        """Return 1 for each step that was named as an error of a kind, else 0, shape (S,).

        All are NaN where there is no answer. Of the steps behind the first wrong one nothing was
        asked; they stand as 0.
        """
        finding = self.finding(kind)
        if finding is None or finding.steps is None:
            return np.full(self.count, np.nan)
        named = np.zeros(self.count)
        named[list(finding.steps)] = 1.0
        return named

    def scores(self) -> StepScores:
        """Return hard probabilities: of each step one class is 1 and the others are 0.

        The first wrong step is negative, a redundant one else neutral, all others positive. A
        solution without both answers is refused: it has NaN, and the refusal says whether asking
        again may help.
        """
        if self.refusal is not None:
            return StepScores.refused(self.count, self.refusal)
        wrong, idle = (self.named(kind) for kind in (ErrorKind.INVALID, ErrorKind.REDUNDANT))
        if np.isnan(wrong).any() or np.isnan(idle).any():
            missing = [one for one in (self.invalid, self.redundant) if one and one.steps is None]
            final = any(not one.passing for one in missing)
            return StepScores.refused(self.count, Refusal.DECLINED if final else Refusal.UNJUDGED)
        classes = np.where(wrong == 1, 0, np.where(idle == 1, 1, 2))
        return StepScores(np.eye(len(CLASSES))[classes])


def recorded_row(solution_id: str, judged: JudgedSteps, kind: ErrorKind) -> dict[str, Any]:
    """Return a row of scores as ``gpassk reasoneval meta`` reads them: one number a step.

    It is 0 for a step that was named, which is its validity, or one minus its redundancy, and null
    stands for a solution without an answer. On macro F1 the threshold makes no difference, since
    there is nothing between 0 and 1.

    Args:
        solution_id: In the labelled set.
        judged: What was found.
        kind: Of the set: ``invalid_errors`` or ``redundant_errors``.
    """
    named = judged.named(kind)
    answered = named.size and not np.isnan(named).any()
    return {'id': solution_id, 'scores': (1 - named).tolist() if answered else None}


def count_failures(judged: Iterable[JudgedSteps]) -> dict[str, int]:
    """Return how many answers are missing for which reason, the most frequent first.

    A solution that nothing was asked about counts once.
    """
    reasons: Counter[str] = Counter()
    for one in judged:
        if one.refusal is not None:
            reasons[one.refusal.value] += 1
        for finding in (one.invalid, one.redundant):
            if finding is not None and finding.steps is None:
                reasons[finding.failure.partition(':')[0]] += 1
    return dict(reasons.most_common())
