"""The input and output of scoring: solutions in steps, and the scores of each step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.reasoning import redundancy, validity

CLASSES = ('negative', 'neutral', 'positive')


class Refusal(str, Enum):
    """Why a solution has no scores."""

    EMPTY = 'it has no steps, or only blank ones'
    BLANK_STEP = 'one of its steps is blank'
    SPECIAL_TOKENS = "it holds a special token's text that the tokenizer can't be kept from reading"
    TAG = "the tokenizer doesn't keep the tag behind a step apart from the text around it"
    TOO_LONG = 'it has more tokens than the model takes'
    NOT_FINITE = 'the model gave numbers that are not finite'
    OUT_OF_MEMORY = 'it alone runs out of memory'
    UNJUDGED = 'the judge gave no answer, or none that can be read'
    DECLINED = 'the judge will not answer: it is too long for it, or filtered'

    @property
    def may_pass(self) -> bool:
        """Whether scoring it again, later or on another machine, may help."""
        return self in (Refusal.OUT_OF_MEMORY, Refusal.UNJUDGED)


@dataclass(frozen=True)
class Solution:
    """A question and the steps of one answer to it. Equal ones are scored once.

    Args:
        question: The problem's text; it may be empty.
        steps: S texts, in order; stored as a tuple.
    """

    question: str
    steps: Sequence[str]

    def __post_init__(self) -> None:
        object.__setattr__(self, 'steps', tuple(self.steps))  # a tuple is hashable

    @property
    def unfit(self) -> Refusal | None:
        """Why no scorer can score it; None if one can."""
        blank = [not step.strip() for step in self.steps]
        if all(blank):
            return Refusal.EMPTY
        return Refusal.BLANK_STEP if any(blank) else None


@dataclass(frozen=True, eq=False)
class StepScores:
    """Scores of one solution of S steps.

    Attributes:
        probabilities: Probabilities of the classes [negative, neutral, positive], shape (S, 3),
            float64; or of a good step by a process reward model, shape (S, 1). All are NaN if the
            solution is refused.
        refusal: Why there are no scores; None if there are.
        tokens: Number of the steps' tokens, without the prompt; 0 if unknown.
    """

    probabilities: NDArray[np.float64]
    refusal: Refusal | None = None
    tokens: int = 0

    @classmethod
    def refused(cls, steps: int, refusal: Refusal, tokens: int = 0) -> StepScores:
        """Return the scores of a refused solution: NaN for each step."""
        return cls(np.full((steps, len(CLASSES)), np.nan), refusal, tokens)

    @property
    def validity(self) -> NDArray[np.float64]:
        """Validity of each step, shape (S,); NaN if the solution is refused."""
        return validity(self.probabilities)

    @property
    def redundancy(self) -> NDArray[np.float64]:
        """Redundancy of each step, shape (S,); NaN also if the model gives no redundancy."""
        return redundancy(self.probabilities)


def indexes(solutions: Iterable[Solution]) -> dict[Solution, list[int]]:
    """Return the indexes of each distinct solution."""
    places: dict[Solution, list[int]] = {}
    for index, solution in enumerate(solutions):
        places.setdefault(solution, []).append(index)
    return places
