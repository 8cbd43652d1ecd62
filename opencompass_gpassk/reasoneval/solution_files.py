"""Files of solutions, JSON lines: what is to be scored, and the same with its scores."""

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
        fields: All that the row holds.
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
        delimiter: What stands between steps of a ``solution``; by default they are found by
            :func:`~opencompass_gpassk.reasoneval.steps.split_steps`.
        thinking: ``drop`` or ``keep`` the thoughts of a ``solution``.
        skip_bad: Leave malformed rows out and go on.
        report: Is told of each row left out.

    Raises:
        ValueError: If a row is malformed, naming file, line, field and remedy; or if there is none.
    """
    rows = []
    for number, line in numbered_lines(path):
        with at_line(path, number, skip_bad=skip_bad, report=report):
            rows.append(_row(_parsed(line), delimiter, thinking))
    if not rows:
        raise ValueError(f'{path}: there is no usable row; see gpassk reasoneval score --help')
    return rows


def split_again(row: SolutionRow, delimiter: str, thinking: str = 'drop') -> SolutionRow:
    """Return a row whose ``solution`` is split at a delimiter; one given in steps as it is.

    Args:
        row: As it was read.
        delimiter: What stands between steps.
        thinking: As of :func:`read_solutions`.
    """
    text = row.fields.get('solution')
    if row.fields.get('steps') is not None or not isinstance(text, str):
        return row
    steps = split_steps(text, delimiter=delimiter, thinking=thinking)
    return SolutionRow(row.fields, Solution(row.solution.question, steps))


def scored_row(
    row: SolutionRow, scores: StepScores, *, validity_by: str = 'min', redundancy_by: str = 'max'
) -> dict[str, Any]:
    """Return a row with its steps, the scores of each, and those of the whole.

    ``scores`` are the probabilities [negative, neutral, positive] of each step, or the one number
    that a process reward model gives it, whose redundancies are None. All are None where the
    solution is refused; ``refusal`` says why.

    Args:
        row: What was scored.
        scores: Its scores.
        validity_by: Makes the solution's validity of its steps': ``min``, ``mean`` …
        redundancy_by: The same of redundancy: ``max``, ``mean`` …
    """
    # What an earlier scoring said of the row is not to stand beside what this one says.
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
    """Rows that are good enough, and why the others are not.

    Attributes:
        kept: The rows, as they stood in the file.
        invalid: Rows below the least validity.
        redundant: Rows that are valid, but above the greatest redundancy.
        refused: Rows without scores.
        valid_alone: Rows that were taken or left by their validity alone, since a process reward
            model scored them.
        other_verdict: Rows whose answers are wrong, or not known to be right where that was asked.
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
        path: What ``gpassk reasoneval score`` wrote.
        min_validity: Least validity, in [0, 1].
        max_redundancy: Greatest redundancy, in [0, 1].
        verdict: ``correct`` takes rows of that verdict alone, ``any`` all; by default those are
            left out whose verdict is ``incorrect``. Rows of a run have one.

    Raises:
        ValueError: If a limit is no share, or a row has no scores, naming file, line and field.
    """
    for name, limit in (('min_validity', min_validity), ('max_redundancy', max_redundancy)):
        if not 0 <= limit <= 1:
            raise ValueError(f'{name} is {limit}; it is a share from 0 to 1')
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
            # Null, not missing: a process reward model says nothing of redundancy.
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
    """Return the row in a line, which can be written as it was read."""
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
