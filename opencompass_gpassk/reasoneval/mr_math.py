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
from typing import Any

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.jsonlines import at_line, numbered_lines, parse_row

STEPS = 'model_output_step_format'
FIRST_ERROR = 'model_output_solution_first_error_step'
SOLUTION = 'model_output_solution_correctness'
ANSWER = 'model_output_answer_correctness'
NO_ERROR = 'N/A'
WANTED: dict[type, str] = {dict: 'an object', list: 'a list', str: 'a text'}
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
        answer_right: Whether the final answer is right; None if unknown.
    """

    solution_id: str
    question: str
    steps: tuple[tuple[str, ...], ...]
    errors: tuple[bool, ...]
    answer_right: bool | None = None


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
            one = _solution(parse_row(line), kind)
            if one.solution_id in solutions:
                raise ValueError(f'field id: {one.solution_id} stands twice; give each its own')
            solutions[one.solution_id] = one
    if not solutions:
        raise ValueError(f'{path}: there is no solution in it; give one a line')
    return list(solutions.values())


def read_id(row: dict[str, Any]) -> str:
    """Return the id of a row.

    Raises:
        ValueError: If the row has no id.
    """
    value = row.get('id')
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise field_error('id', value, 'a text or an integer')
    return str(value)


def field_error(name: str, value: Any, wanted: str) -> ValueError:
    """Return the error of a field that holds something else than is wanted there."""
    return ValueError(f'field {name} is {short_line(repr(value), 60)}; give {wanted}')


def typed(row: dict[str, Any], name: str, kind: type, before: str = '') -> Any:
    """Return a field of a row, or of the object ``before`` in it; ValueError if of another type."""
    value = row.get(name)
    if not isinstance(value, kind):
        raise field_error(f'{before}{name}', value, WANTED[kind])
    return value


def _solution(row: dict[str, Any], kind: ErrorKind) -> LabelledSolution:
    steps = typed(row, STEPS, list)
    for index, step in enumerate(steps):
        if not (isinstance(step, list) and step and all(isinstance(line, str) for line in step)):
            raise field_error(f'{STEPS}[{index}]', step, 'a list of at least one line')
    if not steps:
        raise field_error(STEPS, steps, 'at least one step')
    errors = _until_first_error if kind is ErrorKind.INVALID else _ratings
    return LabelledSolution(
        solution_id=read_id(row),
        question=typed(row, 'question', str),
        steps=tuple(map(tuple, steps)),
        errors=errors(row, len(steps)),
        answer_right=_choice(row, ANSWER) if ANSWER in row else None,
    )


def _until_first_error(row: dict[str, Any], count: int) -> tuple[bool, ...]:
    first = row.get(FIRST_ERROR)
    if SOLUTION in row and _choice(row, SOLUTION) != (first == NO_ERROR):
        wanted = f'the number of the first wrong step, or "{NO_ERROR}" for a correct solution'
        raise field_error(FIRST_ERROR, first, f'as {SOLUTION} is {row[SOLUTION]!r}, {wanted}')
    if first == NO_ERROR:
        return (False,) * count
    if isinstance(first, str) and first.isascii() and first.isdigit() and len(first) < 10:
        first = int(first)
    if isinstance(first, bool) or not isinstance(first, int) or not 1 <= first <= count:
        raise field_error(
            FIRST_ERROR, first, f'the number of a step, 1 to {count}, or "{NO_ERROR}"'
        )
    return (False,) * (first - 1) + (True,)


def _ratings(row: dict[str, Any], count: int) -> tuple[bool, ...]:
    ratings = row.get('rating')
    if not isinstance(ratings, list) or len(ratings) != count:
        raise field_error('rating', ratings, f'a list of {count}, one a step')
    for index, rating in enumerate(ratings):
        if isinstance(rating, bool) or rating not in (0, 1):
            raise field_error(f'rating[{index}]', rating, '0 for a redundant step, else 1')
    return tuple(rating == 0 for rating in ratings)


def _choice(row: dict[str, Any], name: str) -> bool:
    if row[name] not in ('correct', 'wrong'):
        raise field_error(name, row[name], '"correct" or "wrong"')
    return bool(row[name] == 'correct')
