"""Scores that are there while others are missing, so that a killed run goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from opencompass_gpassk.hashing import stable_hash
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ['KeptScores']

ROUNDING = 0.01  # that a softmax in half precision may lack of 1


class KeptScores:
    """A file of JSON lines to which each solution's scores are added the moment they are there.

    They are found again by the model's settings and the solution's texts, whatever row they stood
    in. A context manager.

    Args:
        path: The file, which is begun where there is none.
        settings: What scores depend on beside the solution.
    """

    def __init__(self, path: Path, settings: Mapping[str, Any]) -> None:
        self.path = path
        self.settings = stable_hash(dict(settings))
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        torn = self.path.exists() and not self.path.read_bytes().endswith(b'\n')
        self._file = self.path.open('a', encoding='ascii', newline='\n')
        if torn and self.path.stat().st_size:  # a kill in the middle of a line costs that line
            self._file.write('\n')
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file:
            self._file.close()

    def restore(self, solutions: Sequence[Solution]) -> dict[Solution, StepScores]:
        """Return the scores that are there of these solutions."""
        if not self.path.exists():
            return {}
        wanted = {_key(solution): solution for solution in solutions}
        found = {}
        for line in self.path.read_text('ascii', errors='replace').split('\n'):
            row = _parsed(line)
            solution = wanted.get(str(row.get('solution')))
            if row.get('settings') == self.settings and solution is not None:
                scores = _scores(row, len(solution.steps))
                if scores is not None:
                    found[solution] = scores
        return found

    def keep(self, solution: Solution, scores: StepScores) -> None:
        """Add the scores of a solution; what may pass, as a lack of memory, is left out."""
        if self._file is None:
            raise ValueError(f'{self.path}: open it first: with KeptScores(…) as kept')
        if scores.refusal in (Refusal.OUT_OF_MEMORY, Refusal.UNJUDGED):
            return
        row = {
            'settings': self.settings,
            'solution': _key(solution),
            'scores': None if scores.refusal else scores.probabilities.tolist(),
            'refusal': scores.refusal and scores.refusal.name,
            'tokens': scores.tokens,
        }
        self._file.write(json.dumps(row) + '\n')
        self._file.flush()


def _key(solution: Solution) -> str:
    return stable_hash([solution.question, *solution.steps])


def _parsed(line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):  # torn, or another program's
        return {}
    return row if isinstance(row, dict) else {}


def _scores(row: Mapping[str, Any], steps: int) -> StepScores | None:
    """Return the scores in a row, None if they aren't those of so many steps."""
    tokens, refusal = row.get('tokens'), row.get('refusal')
    if not isinstance(tokens, int):
        return None
    if isinstance(refusal, str) and refusal in Refusal.__members__:
        return StepScores.refused(steps, Refusal[refusal], tokens)
    try:
        probabilities = np.array(row.get('scores'), dtype=np.float64)
    except (TypeError, ValueError):
        return None
    sound = probabilities.shape == (steps, 3) and bool(
        (probabilities >= 0).all() and (abs(probabilities.sum(axis=1) - 1) < ROUNDING).all()
    )
    return StepScores(probabilities, tokens=tokens) if sound else None
