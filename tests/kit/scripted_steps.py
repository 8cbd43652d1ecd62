"""A scorer that says of steps what they themselves ask for, and remembers what it was asked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np

from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores


class ScriptedSteps:
    """Scores ``[0.9]`` in a step as its validity, and half of that as its redundancy.

    A step with ``[refuse]`` makes it refuse the solution; without either, validity is 1.
    """

    asked: ClassVar[list[Solution]] = []

    def __init__(self, name: str = 'scripted') -> None:
        self.name = name

    @property
    def settings(self) -> dict[str, Any]:
        """Its name."""
        return {'name': self.name}

    def stream(
        self, solutions: Iterable[Solution], *, progress: bool = False
    ) -> Iterator[tuple[int, StepScores]]:
        """Score what comes."""
        for index, solution in enumerate(solutions):
            self.asked.append(solution)
            if any('[refuse]' in step for step in solution.steps):
                yield index, StepScores.refused(len(solution.steps), Refusal.TOO_LONG, 7)
                continue
            if not solution.steps:
                yield index, StepScores.refused(0, Refusal.EMPTY)
                continue
            valid = np.array([validity_in(step) for step in solution.steps])
            rows = np.stack([1 - valid, valid / 2, valid / 2], axis=1)
            yield index, StepScores(rows, tokens=10 * len(valid))


class Down(ScriptedSteps):
    """A judge that gives no answer."""

    def stream(
        self, solutions: Iterable[Solution], *, progress: bool = False
    ) -> Iterator[tuple[int, StepScores]]:
        """Refuse what comes, for now."""
        for index, solution in enumerate(solutions):
            yield index, StepScores.refused(len(solution.steps), Refusal.UNJUDGED)


class Delimited(ScriptedSteps):
    """Learned from steps between bars."""

    delimiter = '|'


def validity_in(step: str) -> float:
    """The number in brackets, 1 where there is none."""
    found = re.search(r'\[([\d.]+)\]', step)
    return float(found[1]) if found else 1.0
