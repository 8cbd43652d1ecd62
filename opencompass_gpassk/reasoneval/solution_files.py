"""Files of solutions as JSON lines: read for scoring, and written with their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from opencompass_gpassk.formats.decode import Number, Text, Typed, decode
from opencompass_gpassk.formats.jsonlines import at_line, numbered_lines, parse_row
from opencompass_gpassk.metrics.reasoning import solution_redundancy, solution_validity
from opencompass_gpassk.reasoneval.solutions import Solution, StepScores
from opencompass_gpassk.reasoneval.steps import split_steps

RESULTS = ('scores', 'step_validity', 'step_redundancy', 'validity', 'redundancy')
ENDS = ('refusal', 'tokens')


class _Solved(Typed):
    question: Text
    steps: list[Text] | None = None
    solution: Text | None = None


class _Scored(Typed):
    validity: Number | None  # null for a refused solution
    redundancy: Number | None  # null from a process reward model


def read_solutions(
    path: str, *, skip_bad: bool = False, report: Callable[[str], None] | None = None
) -> list[dict[str, Any]]:
    """Read rows with ``question`` and either ``steps``, a list of texts, or ``solution``, a text.

    Args:
        path: JSON lines, gzipped or not; ``-`` is standard input.
        skip_bad: Leave malformed rows out and go on.
        report: Takes a message on each row left out.

    Raises:
        ValueError: If a row is malformed, with file, line, field and remedy; or if there is no row.
    """
    rows = []
    for number, line in numbered_lines(path):
        with at_line(path, number, skip_bad=skip_bad, report=report):
            row = parse_row(line)
            given = decode(_Solved, row)
            if given.steps is None and given.solution is None:
                raise ValueError('solution is missing; give a text, or a list of texts in steps')
            rows.append(row)
    if not rows:
        raise ValueError(f'{path}: there is no usable row; see gpassk reasoneval score --help')
    return rows


def solution_in(row: Mapping[str, Any], *, delimiter: str | None, thinking: str) -> Solution:
    """Return the solution in a row of :func:`read_solutions`.

    A ``solution`` is split by :func:`~opencompass_gpassk.reasoneval.steps.split_steps`, which takes
    ``delimiter`` and ``thinking``.
    """
    steps = row.get('steps')
    if steps is None:
        steps = split_steps(row['solution'], delimiter=delimiter, thinking=thinking)
    return Solution(row['question'], steps)


def scored_row(
    row: Mapping[str, Any],
    solution: Solution,
    scores: StepScores,
    *,
    validity_by: str,
    redundancy_by: str,
) -> dict[str, Any]:
    """Return a row with its steps, the scores of each step, and those of the whole solution.

    ``scores`` are the probabilities [negative, neutral, positive] of each step; or the one number
    of a process reward model, with redundancies of None. If the solution is refused, all are None
    and ``refusal`` gives the reason.

    Args:
        row: The row; an earlier scoring in it is left out.
        solution: Its solution.
        scores: The solution's scores.
        validity_by: How the solution's validity is made from its steps': ``min``, ``mean`` …
        redundancy_by: How its redundancy is made from its steps'.
    """
    given = {name: value for name, value in row.items() if name not in (*RESULTS, *ENDS)}
    found = {**given, 'steps': list(solution.steps), **dict.fromkeys(RESULTS)}
    if scores.refusal is not None:
        return {**found, 'refusal': scores.refusal.value}
    found['step_validity'] = scores.validity.tolist()
    found['validity'] = solution_validity(scores.validity, validity_by)
    if scores.probabilities.shape[1] == 1:
        found['scores'] = scores.probabilities[:, 0].tolist()
    else:
        found['scores'] = scores.probabilities.tolist()
        found['step_redundancy'] = scores.redundancy.tolist()
        found['redundancy'] = solution_redundancy(scores.redundancy, redundancy_by)
    return {**found, 'tokens': scores.tokens}


@dataclass(frozen=True)
class Selection:
    """The selected rows, and the numbers of rows left out by reason.

    Attributes:
        kept: The selected rows, unchanged.
        left_out: The numbers of the others: ``invalid`` below the least validity; ``redundant``
            above the greatest redundancy, but valid; ``refused`` without scores; ``other verdict``
            with a wrong answer, or any verdict but the required one.
        valid_alone: Rows kept or left out by validity alone, since a process reward model scored
            them.
        judged: Rows with a verdict.
    """

    kept: list[dict[str, Any]]
    left_out: Counter[str]
    valid_alone: int
    judged: int

    @property
    def total(self) -> int:
        """All rows."""
        return len(self.kept) + self.left_out.total()


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
    left_out: Counter[str] = Counter()
    valid_alone = judged = 0
    for number, line in numbered_lines(path):
        with at_line(path, number):
            row = parse_row(line)
            said = row.get('verdict')
            judged += said in ('correct', 'incorrect')
            if (verdict == 'correct' != said) or (verdict is None and said == 'incorrect'):
                left_out['other verdict'] += 1
                continue
            scored = decode(_Scored, row)
        if scored.validity is None:
            left_out['refused'] += 1
            continue
        valid_alone += scored.redundancy is None
        if scored.validity < min_validity:
            left_out['invalid'] += 1
        elif scored.redundancy is not None and scored.redundancy > max_redundancy:
            left_out['redundant'] += 1
        else:
            kept.append(row)
    if not kept and not left_out:
        raise ValueError(f'{path}: there is no row in it; see gpassk reasoneval filter --help')
    return Selection(kept, left_out, valid_alone, judged)
