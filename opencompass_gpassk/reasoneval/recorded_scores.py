"""Scores of steps that an evaluator was asked for before, one JSON line a solution.

A row is ``{"id": …, "scores": [score, …]}`` with a score a line of the solution, or a step: the
probabilities [negative, neutral, positive], or the one number in [0, 1] of a process reward model.
``"scores": null`` is a solution that the evaluator refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.jsonlines import parse_row, read_lines
from opencompass_gpassk.metrics.reasoning import redundancy, validity
from opencompass_gpassk.reasoneval.mr_math import ErrorKind, kind_named, read_id

__all__ = ['RecordedScores', 'find_scores', 'read_scores']

Scores = NDArray[np.float64]

SUFFIXES = re.compile(r'(\.jsonl?)?(\.gz)?$', re.I)
DECORATION = re.compile(r'_?eval_results$|[_.-]?(mr-math_)?(invalid|redundant)_errors', re.I)
REMEDY = 'give a list of one a line of the solution, or null for a refusal'


class OtherScoresError(ValueError):
    """A file holds other things than scores of steps."""


@dataclass(frozen=True)
class RecordedScores:
    """What an evaluator said of a set.

    Attributes:
        evaluator: Who.
        kind: Of which set.
        classes: Whether its scores are probabilities of three classes, or else one number.
        scores: Solution → shape (L, 3) or (L,), one score a line or a step; None for a refusal.
    """

    evaluator: str
    kind: ErrorKind
    classes: bool
    scores: dict[str, Scores | None]

    def values(self, solution_id: str) -> Scores | None:
        """Return the validity or redundancy, as the kind is, of each line or step of a solution.

        The one number of a reward model is the validity, and one minus it the redundancy.
        """
        scores = self.scores[solution_id]
        if scores is None:
            return None
        if self.classes:
            return validity(scores) if self.kind is ErrorKind.INVALID else redundancy(scores)
        return scores if self.kind is ErrorKind.INVALID else 1 - scores


def find_scores(
    paths: Iterable[Path], report: Callable[[str], None] | None = None
) -> list[RecordedScores]:
    """Read files of scores, and those in folders, whose or whose folder's name tells the set.

    A file ``invalid_errors/NAME_eval_results.json`` is of the evaluator NAME, and so is
    ``NAME_invalid_errors.jsonl``. In a folder, files of other content are left out.

    Args:
        paths: Files or folders.
        report: Is told what is left out.

    Raises:
        ValueError: If a file is malformed, an evaluator has two files for a set, or none is there.
    """
    found: dict[tuple[str, ErrorKind], tuple[Path, RecordedScores]] = {}
    for given in paths:
        for path in sorted(_files(given)) if given.is_dir() else [given]:
            try:
                scores = read_scores(path)
            except OtherScoresError as error:
                if path is given:
                    raise
                if report:
                    report(f'left out: {error}')
                continue
            key = scores.evaluator, scores.kind
            if key in found and not found[key][0].samefile(path):
                raise ValueError(
                    f'{found[key][0]} and {path} are both of {key[0]}; rename one, or leave it out'
                )
            found[key] = path, scores
    if not found:
        raise ValueError(
            'there are no scores; name files such as invalid_errors/NAME_eval_results.json, or '
            'their folder'
        )
    return [scores for _, scores in found.values()]


def read_scores(path: Path) -> RecordedScores:
    """Read the scores of an evaluator on a set.

    Raises:
        ValueError: If the names don't tell the set, or a row is malformed, naming file, line,
            field and remedy.
    """
    kind = kind_named(path.name) or kind_named(path.absolute().parent.name)
    if kind is None:
        raise OtherScoresError(
            f'{path}: neither its name nor its folder tells the set; put invalid_errors or '
            'redundant_errors into one'
        )
    scores: dict[str, Scores | None] = {}
    for number, line in enumerate(read_lines(str(path)), start=1):
        if line.strip():
            try:
                row = parse_row(line)
                solution = read_id(row)
                if solution in scores:
                    raise ValueError(f'field id: {solution} stands twice; leave one line out')
                scores[solution] = _scores(row)
            except ValueError as error:
                # A first row without such scores tells that the file is of another kind.
                other = isinstance(error, OtherScoresError) and not scores
                message = f'{path}, line {number}: {error}'
                raise (OtherScoresError if other else ValueError)(message) from error
    forms = {given.ndim for given in scores.values() if given is not None}
    if len(forms) != 1:
        problem = 'classes and single numbers are mixed' if forms else 'there is no score in it'
        raise ValueError(f'{path}: {problem}; give scores of one evaluator')
    return RecordedScores(_evaluator(path), kind, forms == {2}, scores)


def _files(folder: Path) -> Iterator[Path]:
    for path in folder.rglob('*'):
        if re.search(r'\.jsonl?(\.gz)?$', path.name, re.I) and path.is_file():
            yield path


def _evaluator(path: Path) -> str:
    name = DECORATION.sub('', DECORATION.sub('', SUFFIXES.sub('', path.name)))
    return name if name.strip('_.- ') else path.absolute().parent.name


def _scores(row: dict[str, Any]) -> Scores | None:
    given = row.get('scores', '')
    if given is None:
        return None
    if not isinstance(given, list):
        raise OtherScoresError(f'field scores is {repr(given)[:60]}; {REMEDY}')
    if not given:
        raise ValueError(f'field scores is []; {REMEDY}')
    for index, score in enumerate(given):
        triple = isinstance(score, list) and len(score) == 3 and all(map(_is_share, score))
        if not triple and not _is_share(score):
            raise ValueError(
                f'field scores[{index}] is {repr(score)[:60]}; give [negative, neutral, positive] '
                'or one number, all from 0 to 1'
            )
    if len({isinstance(score, list) for score in given}) > 1:
        raise ValueError('field scores: classes and single numbers are mixed; give one of them')
    scores = np.array(given, dtype=np.float64)
    if scores.ndim == 2:
        validity(scores)  # refuses what is no distribution
    return scores


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1
