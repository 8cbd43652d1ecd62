"""A process that scores: it begins on a signal, and tells what it scores before it is kept."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from opencompass_gpassk.reasoneval.score_store import score_solutions
from opencompass_gpassk.reasoneval.solutions import Solution, StepScores


def solution(number: int) -> Solution:
    """The solution of a number: one step to three."""
    return Solution(f'{number} + 0 = ?', [f'It is {number}.'] * (number % 3 + 1))


def scores(number: int) -> np.ndarray:
    """What every scorer says of it."""
    return np.tile([[0.25, number / 4096, 0.75 - number / 4096]], (number % 3 + 1, 1))


class Scorer:
    """Says what it scores, and takes its time."""

    def __init__(self, pause: float = 0.0, settings: Any = None) -> None:
        self.pause = pause
        self.settings: dict[str, Any] = settings or {'model': 'made'}
        self.scored: list[int] = []

    def stream(
        self, solutions: Iterable[Solution], *, progress: bool = False
    ) -> Iterator[tuple[int, StepScores]]:
        """Yield scores one by one."""
        for index, one in enumerate(solutions):
            number = int(one.question.split()[0])
            self.scored.append(number)
            print(number, flush=True)
            time.sleep(self.pause)
            yield index, StepScores(scores(number), tokens=number)


def main(path: str, start: str, stop: str, pause: str) -> None:
    """Score the solutions from start to stop."""
    print('ready', flush=True)
    sys.stdin.readline()
    solutions = [solution(number) for number in range(int(start), int(stop))]
    score_solutions(
        Scorer(float(pause)), solutions, Path(path), progress=False, report=lambda told: None
    )


if __name__ == '__main__':
    import score_writer  # whose classes are those that others import

    score_writer.main(*sys.argv[1:])
