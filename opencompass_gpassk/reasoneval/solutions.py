"""What is scored, and what comes back: solutions in steps, and the scores of each step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.reasoning import redundancy, validity

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ['CLASSES', 'Refusal', 'Solution', 'StepScores', 'count_refusals']

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
        """Whether scoring it once more, later or on another machine, may help."""
        return self in (Refusal.OUT_OF_MEMORY, Refusal.UNJUDGED)


@dataclass(frozen=True)
class Solution:
    """A question and the steps of one answer to it. Equal ones are scored once.

    Args:
        question: The text asked; it may be empty.
        steps: S texts, in their order. Kept as a tuple.

    Raises:
        ValueError: If something else than a text stands in its place.
    """

    question: str
    steps: Sequence[str]

    def __post_init__(self) -> None:
        if not isinstance(self.question, str):
            raise ValueError(f'question of Solution: {self.question!r} is not a text')
        if isinstance(self.steps, str):
            raise ValueError(
                'steps of Solution: a text was given; split it into a list of steps first'
            )
        for index, step in enumerate(self.steps):
            if not isinstance(step, str):
                raise ValueError(f'steps[{index}] of Solution: {step!r} is not a text')
        object.__setattr__(self, 'steps', tuple(self.steps))  # hashable, whatever was given


@dataclass(frozen=True, eq=False)
class StepScores:
    """Scores of one solution of S steps.

    Attributes:
        probabilities: Of the classes [negative, neutral, positive], shape (S, 3), float64; of a
            process reward model that a step is good, shape (S, 1). All are NaN where the solution
            is refused.
        refusal: Why there are none; None where there are.
        tokens: How many tokens the steps have, without the prompt; 0 where nobody counted.
    """

    probabilities: NDArray[np.float64]
    refusal: Refusal | None = None
    tokens: int = 0

    @classmethod
    def refused(cls, steps: int, refusal: Refusal, tokens: int = 0) -> Self:
        """Return the scores of a solution that can't be scored: NaN for each step."""
        return cls(np.full((steps, len(CLASSES)), np.nan), refusal, tokens)

    @property
    def validity(self) -> NDArray[np.float64]:
        """Validity of each step, shape (S,); NaN where the solution is refused."""
        return validity(self.probabilities)

    @property
    def redundancy(self) -> NDArray[np.float64]:
        """Redundancy of each step, shape (S,); NaN also of a model that says nothing of it."""
        return redundancy(self.probabilities)


def count_refusals(scores: Iterable[StepScores]) -> dict[Refusal, int]:
    """Return how many solutions were refused for which reason, the most frequent first."""
    reasons = Counter(score.refusal for score in scores if score.refusal is not None)
    return dict(reasons.most_common())
