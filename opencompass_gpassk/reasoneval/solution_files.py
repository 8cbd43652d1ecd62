"""Files of solutions as JSON lines: read for scoring, and written with their scores."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from opencompass_gpassk.formats.jsonlines import at_line, numbered_lines, parse_row
from opencompass_gpassk.metrics.reasoning import solution_redundancy, solution_validity
from opencompass_gpassk.reasoneval.solutions import Solution, StepScores
from opencompass_gpassk.reasoneval.steps import split_steps

__all__ = ['Selection', 'SolutionRow', 'read_solutions', 'scored_row', 'select', 'split_again']


RESULTS = ('scores', 'step_validity', 'step_redundancy', 'validity', 'redundancy')
ENDS = ('refusal', 'tokens')


@dataclass(frozen=True)
class SolutionRow:
    """A row of a file and the solution in it.

    Attributes:
        fields: All fields of the row.
        solution: Its question and steps.
    """

    fields: Mapping[str, Any]
    solution: Solution


def read_solutions(
    path: str,
    *,
    delimiter: str | None = None,
    thinking: str = 'drop',
    skip_bad: bool = False,
    report: Callable[[str], None] | None = None,
) -> list[SolutionRow]:
    """Read rows with ``question`` and either ``steps``, a list of texts, or ``solution``, a text.

    Args:
        path: JSON lines, gzipped or not; ``-`` is standard input.
        delimiter: The text between steps of a ``solution``; by default steps are found by
            :func:`~opencompass_gpassk.reasoneval.steps.split_steps`.
        thinking: ``drop`` or ``keep`` the thoughts of a ``solution``.
        skip_bad: Leave malformed rows out and go on.
        report: Takes a message on each row left out.

    Raises:
        ValueError: If a row is malformed, with file, line, field and remedy; or if there is no row.
    """
    rows = []
    for number, line in numbered_lines(path):
        with at_line(path, number, skip_bad=skip_bad, report=report):
            rows.append(_row(_parsed(line), delimiter, thinking))
    if not rows:
        raise ValueError(f'{path}: there is no usable row; see gpassk reasoneval score --help')
    return rows


def split_again(row: SolutionRow, delimiter: str, thinking: str = 'drop') -> SolutionRow:
    """Return a row with its ``solution`` split at a delimiter; a row with ``steps`` stays as it is.

    Args:
        row: The row.
        delimiter: The text between steps.
        thinking: As in :func:`read_solutions`.
    """
    text = row.fields.get('solution')
    if row.fields.get('steps') is not None or not isinstance(text, str):
        return row
    steps = split_steps(text, delimiter=delimiter, thinking=thinking)
    return SolutionRow(row.fields, Solution(row.solution.question, steps))


def scored_row(
    row: SolutionRow, scores: StepScores, *, validity_by: str = 'min', redundancy_by: str = 'max'
) -> dict[str, Any]:
    """Return a row with its steps, the scores of each step, and those of the whole solution.

    ``scores`` are the probabilities [negative, neutral, positive] of each step; or the one number
    of a process reward model, with redundancies of None. If the solution is refused, all are None
    and ``refusal`` gives the reason.

    Args:
        row: The scored row.
        scores: Its scores.
        validity_by: How the solution's validity is made from its steps': ``min``, ``mean`` …
        redundancy_by: How its redundancy is made from its steps': ``max``, ``mean`` …
    """
    # Remove the fields of an earlier scoring, so that they don't mix with the new ones.
    given = {name: value for name, value in row.fields.items() if name not in (*RESULTS, *ENDS)}
    found = {**given, 'steps': list(row.solution.steps)}
    if scores.refusal is not None:
        return {**found, **dict.fromkeys(RESULTS), 'refusal': scores.refusal.value}
    probabilities, valid = scores.probabilities, scores.validity
    values: dict[str, Any] = dict.fromkeys(RESULTS)
    values['step_validity'] = valid.tolist()
    values['validity'] = solution_validity(valid, validity_by)
    if probabilities.shape[1] == 1:
        values['scores'] = probabilities[:, 0].tolist()
    else:
        idle = scores.redundancy
        values['scores'] = probabilities.tolist()
        values['step_redundancy'] = idle.tolist()
        values['redundancy'] = solution_redundancy(idle, redundancy_by)
    return {**found, **values, 'tokens': scores.tokens}


@dataclass(frozen=True)
class Selection:
    """The selected rows, and the numbers of rows left out by reason.

    Attributes:
        kept: The selected rows, unchanged.
        invalid: Rows below the least validity.
        redundant: Rows that are valid, but above the greatest redundancy.
        refused: Rows without scores.
        valid_alone: Rows kept or left out by validity alone, since a process reward model scored
            them.
        other_verdict: Rows with a wrong answer, or with any verdict but the required one.
    """

    kept: list[dict[str, Any]]
    invalid: int = 0
    redundant: int = 0
    refused: int = 0
    valid_alone: int = 0
    other_verdict: int = 0

    @property
    def total(self) -> int:
        """All rows."""
        counts = self.invalid, self.redundant, self.refused, self.other_verdict
        return len(self.kept) + sum(counts)


def select(
    path: str, *, min_validity: float, max_redundancy: float, verdict: str | None = None
) -> Selection:
    """Select scored rows by quality, as for training data (arXiv 2404.05692, section 5.2).

    Args:
        path: A file from ``gpassk reasoneval score``.
        min_validity: Least validity, in [0, 1].
        max_redundancy: Greatest redundancy, in [0, 1].
        verdict: ``correct`` selects only rows with that verdict, ``any`` all; by default rows with
            the verdict ``incorrect`` are left out. Rows from a run have a verdict.

    Raises:
        ValueError: If a limit isn't in [0, 1], or a row has no scores; with file, line and field.
    """
    for name, limit in (('min_validity', min_validity), ('max_redundancy', max_redundancy)):
        if not 0 <= limit <= 1:
            raise ValueError(f'{name} is {limit}; give a share from 0 to 1')
    kept: list[dict[str, Any]] = []
    count: Counter[str] = Counter()
    for number, line in numbered_lines(path):
        with at_line(path, number):
            row = _parsed(line)
            said = row.get('verdict')
            if (verdict == 'correct' != said) or (verdict is None and said == 'incorrect'):
                count['other_verdict'] += 1
                continue
            if 'refusal' in row and row.get('validity') is None:
                count['refused'] += 1
                continue
            validity = _share(row, 'validity')
            # Null, not missing: a process reward model gives no redundancy.
            unknown = row.get('redundancy', 0) is None
            redundancy = 0.0 if unknown else _share(row, 'redundancy')
        count['valid_alone'] += unknown
        if validity < min_validity:
            count['invalid'] += 1
        elif redundancy > max_redundancy:
            count['redundant'] += 1
        else:
            kept.append(row)
    found = Selection(kept, **count)
    if not found.total:
        raise ValueError(f'{path}: there is no row in it; see gpassk reasoneval filter --help')
    return found


def _parsed(line: str) -> dict[str, Any]:
    """Return the row in a line; refuse numbers that can't be written again."""
    row = parse_row(line)
    for name, value in row.items():
        try:
            json.dumps(value, allow_nan=False)
        except ValueError as error:
            raise ValueError(
                f'field {name}: it holds a number beyond 1.8e308, which would be written as '
                'Infinity; write it as a text'
            ) from error
    return row


def _row(fields: dict[str, Any], delimiter: str | None, thinking: str) -> SolutionRow:
    question = fields.get('question')
    if not isinstance(question, str):
        found = f'{type(question).__name__} is not a text' if 'question' in fields else 'missing'
        raise ValueError(f'field question: {found}; give the question as a text')
    steps: Sequence[Any] | None = fields.get('steps')
    if steps is None:
        text = fields.get('solution')
        if not isinstance(text, str):
            raise ValueError('field solution: a text is needed, or a list of texts in steps')
        steps = split_steps(text, delimiter=delimiter, thinking=thinking)
    elif not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise ValueError('field steps: a list of texts is needed')
    return SolutionRow(fields, Solution(question, steps))


def _share(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError(
            f'field {name}: {value!r} is not a number; score the file with gpassk reasoneval score'
        )
    return float(value)
