"""What people say of each step of a solution, to train on: files of PRM800K and of MR-MATH.

PRM800K (arXiv 2305.20050) rates steps -1, 0 or 1: wrong, idle, good. It may rate alternatives to a
step, of which one was chosen to go on from. MR-MATH is as :mod:`~.mr_math` says.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opencompass_gpassk.jsonlines import parse_row, read_lines
from opencompass_gpassk.reasoneval.mr_math import FIRST_ERROR, STEPS, ErrorKind, read_set

__all__ = ['LABELS', 'LabelledSteps', 'read_step_labels']

LABELS = (-1, 0, 1)  # in the order of the classes: negative, neutral, positive
BAD_PROBLEM = 'bad_problem'
WANTED = {'dict': 'an object', 'list': 'a list', 'str': 'a text'}


@dataclass(frozen=True)
class LabelledSteps:
    """A solution of S steps and their labels.

    Attributes:
        question: What is solved.
        steps: S texts.
        labels: -1 for a wrong step, 0 for one that is right but idle, 1 for a good one, None for
            one that nobody labelled; S of them.
    """

    question: str
    steps: tuple[str, ...]
    labels: tuple[int | None, ...]

    def __post_init__(self) -> None:
        if len(self.labels) != len(self.steps):
            raise ValueError(
                f'labels of LabelledSteps: {len(self.labels)} for {len(self.steps)} steps; give '
                'one a step, None where there is no label'
            )
        for index, label in enumerate(self.labels):
            if label is not None and (isinstance(label, bool) or label not in LABELS):
                raise ValueError(
                    f'labels[{index}] of LabelledSteps: {label!r} is no label; {KNOWN}'
                )


KNOWN = 'give -1 for a wrong step, 0 for an idle one, 1 for a good one'


def read_step_labels(path: str | Path, *, alternatives: bool = False) -> list[LabelledSteps]:
    """Return the labelled solutions of a file of JSON lines, gzipped or not.

    The format is told by the first row. Of a row of PRM800K the solution is what was gone on from:
    at each step the chosen completion, else the one that the labeller wrote, which is good. Where
    neither is there, as at the end of a wrong solution, the first completion is the last step. No
    labels are taken from flagged completions, nor of problems that the labeller found broken. A
    solution that was given up at once has no steps.

    In the invalid set of MR-MATH the steps before the first wrong one are good, and those after it
    have no label. Lines of a step are joined: people labelled the step.

    Args:
        path: The file.
        alternatives: Give each completion of PRM800K that was rated but not gone on from as a
            solution of its own: the steps before it, without labels, and this one.

    Raises:
        ValueError: If a row is malformed, naming file, line, field and remedy; or if there is none.
        OSError: If the file can't be read.
    """
    rows = _rows(path)
    try:
        first = next(rows)[1]
    except StopIteration:
        raise ValueError(f'{path}: there is no solution in it; give one a line') from None
    if STEPS in first:
        kind = ErrorKind.INVALID if FIRST_ERROR in first else ErrorKind.REDUNDANT
        return [
            LabelledSteps(
                solution.question,
                tuple('\n'.join(lines) for lines in solution.steps),
                _mr_math_labels(solution.errors, len(solution.steps), kind),
            )
            for solution in read_set(Path(path), kind)
        ]
    if 'label' not in first:
        raise ValueError(
            f'{path}, line 1: the row has neither the field label, of PRM800K, nor the field '
            f'{STEPS}, of MR-MATH; give a file of either'
        )
    found: list[LabelledSteps] = []
    for number, row in _rows(path):
        try:
            found += _prm800k(row, alternatives)
        except ValueError as error:
            raise ValueError(f'{path}, line {number}: {error}') from error
    return found


def _rows(path: str | Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(read_lines(str(path)), start=1):
        if line.strip():
            try:
                row = parse_row(line)
            except ValueError as error:
                raise ValueError(f'{path}, line {number}: {error}') from error
            yield number, row


def _mr_math_labels(
    errors: tuple[bool, ...], steps: int, kind: ErrorKind
) -> tuple[int | None, ...]:
    bad = -1 if kind is ErrorKind.INVALID else 0
    return (*(bad if error else 1 for error in errors), *(None,) * (steps - len(errors)))


Choice = tuple[str, 'int | None']  # a step and its label


def _prm800k(row: dict[str, Any], alternatives: bool) -> Iterator[LabelledSteps]:
    """Yield the solution of a row, then its alternatives if they are wanted."""
    question = _typed(_typed(row, 'question', dict), 'problem', str, 'question.')
    label = _typed(row, 'label', dict)
    broken = label.get('finish_reason') == BAD_PROBLEM
    path: list[Choice] = []
    others: list[tuple[int, Choice]] = []
    for index, step in enumerate(_typed(label, 'steps', list, 'label.')):
        where = f'label.steps[{index}]'
        if not isinstance(step, dict):
            raise ValueError(f'field {where} is {_shown(step)}; give an object')
        completions = _completions(step, where)
        chosen, goes_on = _chosen(step, completions, where)
        others += [(index, each) for i, each in enumerate(completions) if i != chosen]
        if isinstance(chosen, int):
            path.append(completions[chosen])
        elif chosen is not None:
            path.append((chosen, 1))
        if not goes_on:
            break
    if broken:
        path = [(text, None) for text, _ in path]
    yield _solution(question, path)
    if alternatives and not broken:
        for index, (text, rating) in others:
            if rating is not None:
                before: list[Choice] = [(earlier, None) for earlier, _ in path[:index]]
                yield _solution(question, [*before, (text, rating)])


def _completions(step: dict[str, Any], where: str) -> list[Choice]:
    given = step.get('completions')
    if given is None:
        return []
    if not isinstance(given, list):
        raise ValueError(f'field {where}.completions is {_shown(given)}; give a list')
    found: list[Choice] = []
    for index, one in enumerate(given):
        name = f'{where}.completions[{index}]'
        if not isinstance(one, dict):
            raise ValueError(f'field {name} is {_shown(one)}; give an object')
        text = _typed(one, 'text', str, f'{name}.')
        rating = one.get('rating')
        if rating is not None and (isinstance(rating, bool) or rating not in LABELS):
            raise ValueError(f'field {name}.rating is {_shown(rating)}; {KNOWN}, null for no label')
        found.append((text, None if rating is None or one.get('flagged') else int(rating)))
    return found


def _chosen(
    step: dict[str, Any], completions: list[Choice], where: str
) -> tuple[int | str | None, bool]:
    """Return the completion gone on from, its index or the labeller's text; and if more follow."""
    index = step.get('chosen_completion')
    if index is not None:
        if type(index) is not int or not 0 <= index < len(completions):
            raise ValueError(
                f'field {where}.chosen_completion is {_shown(index)}; give the index of one of '
                f'{len(completions)} completions, or null'
            )
        return index, True
    human = step.get('human_completion')
    if human is None:
        return (0 if completions else None), False
    if isinstance(human, dict):
        return _typed(human, 'text', str, f'{where}.human_completion.'), True
    return _typed(step, 'human_completion', str, f'{where}.'), True


def _solution(question: str, path: list[Choice]) -> LabelledSteps:
    return LabelledSteps(question, tuple(text for text, _ in path), tuple(each for _, each in path))


def _typed(row: dict[str, Any], name: str, kind: type, before: str = '') -> Any:
    value = row.get(name)
    if not isinstance(value, kind):
        wanted = WANTED[kind.__name__]
        raise ValueError(f'field {before}{name} is {_shown(value)}; give {wanted}')
    return value


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f'{text[:60]}…'
