"""MR-MATH: solutions with steps that people labelled as wrong or redundant (arXiv 2404.05692).

There are two sets of JSON lines. Each row has ``id``, ``question`` and
``model_output_step_format``, a list of steps, each a list of lines:

* ``…invalid_errors.json`` gives the first wrong step, counted from 1, or "N/A"
  (``model_output_solution_first_error_step``), and whether the answer is right
  (``model_output_answer_correctness``).
* ``…redundant_errors.json`` has one ``rating`` per step, 0 for a redundant step, else 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from opencompass_gpassk.formats.decode import Text, Typed, decode
from opencompass_gpassk.formats.jsonlines import at_line, numbered_lines, parse_row

STEPS = 'model_output_step_format'
FIRST_ERROR = 'model_output_solution_first_error_step'
ANSWER = 'model_output_answer_correctness'
NO_ERROR = 'N/A'
ENDINGS = ('.json', '.jsonl', '.json.gz', '.jsonl.gz')


class ErrorKind(Enum):
    """The kind of errors that people labelled in a set of solutions."""

    INVALID = 'invalid'
    REDUNDANT = 'redundant'


@dataclass(frozen=True)
class LabelledSolution:
    """A solution with people's labels of its steps.

    Attributes:
        solution_id: Unique in its set.
        question: The problem's text.
        steps: S steps of at least one line each.
        errors: Whether each step is an error. In the invalid set only the steps up to the first
            wrong one have a label, at most S.
        answer_right: Whether the final answer is known to be right.
    """

    solution_id: str
    question: str
    steps: tuple[tuple[str, ...], ...]
    errors: tuple[bool, ...]
    answer_right: bool


def kind_named(name: str) -> ErrorKind | None:
    """Return the kind of errors in the name of a file or folder; None if it names none."""
    return next((kind for kind in ErrorKind if f'{kind.value}_errors' in name.lower()), None)


def find_sets(folder: Path) -> dict[ErrorKind, Path]:
    """Return the sets in a folder, found by the names of the files.

    Raises:
        ValueError: If there is no set, or two of one kind.
    """
    found: dict[ErrorKind, Path] = {}
    for path in sorted(folder.iterdir()):
        kind = kind_named(path.name)
        if kind and path.name.lower().endswith(ENDINGS) and path.is_file():
            if kind in found:
                raise ValueError(f'{found[kind]} and {path}: two sets of one kind; remove one')
            found[kind] = path
    if not found:
        raise ValueError(
            f'{folder} holds neither set; put mr-math_invalid_errors.json or '
            'mr-math_redundant_errors.json there'
        )
    return found


def read_set(path: Path, kind: ErrorKind) -> list[LabelledSolution]:
    """Return the solutions of a set, in order.

    Raises:
        ValueError: If a row is malformed, with file, line, field and remedy; or if there is no row.
    """
    solutions: dict[str, LabelledSolution] = {}
    for number, line in numbered_lines(path):
        with at_line(path, number):
            one = _solution(line, kind)
            if one.solution_id in solutions:
                raise ValueError(f'id is {one.solution_id}, which stands twice; give each its own')
            solutions[one.solution_id] = one
    if not solutions:
        raise ValueError(f'{path}: there is no solution in it; give one a line')
    return list(solutions.values())


NonEmpty = Field(min_length=1)


class _Row(Typed):
    id: Text | int
    question: Text
    steps: Annotated[list[Annotated[list[Text], NonEmpty]], NonEmpty, Field(alias=STEPS)]
    answer: Annotated[Literal['correct', 'wrong'] | None, Field(alias=ANSWER)] = None


class _InvalidRow(_Row):
    first_error: Annotated[
        Annotated[int, Field(ge=1)] | None,
        BeforeValidator(lambda given: None if given == NO_ERROR else given),
        Field(alias=FIRST_ERROR),
    ]

    def errors(self) -> tuple[bool, ...]:
        count = len(self.steps)
        if self.first_error is None:
            return (False,) * count
        if self.first_error > count:
            raise ValueError(f'{FIRST_ERROR} is {self.first_error}: there are {count} steps')
        return (False,) * (self.first_error - 1) + (True,)


class _RedundantRow(_Row):
    rating: list[Annotated[int, Field(ge=0, le=1)]]

    def errors(self) -> tuple[bool, ...]:
        if len(self.rating) != len(self.steps):
            raise ValueError(f'rating has {len(self.rating)} numbers for {len(self.steps)} steps')
        return tuple(rating == 0 for rating in self.rating)


def _solution(line: str, kind: ErrorKind) -> LabelledSolution:
    given, invalid = parse_row(line), kind is ErrorKind.INVALID
    row = decode(_InvalidRow, given) if invalid else decode(_RedundantRow, given)
    return LabelledSolution(
        solution_id=str(row.id),
        question=row.question,
        steps=tuple(map(tuple, row.steps)),
        errors=row.errors(),
        answer_right=row.answer == 'correct',
    )
