"""Meta-evaluation: how well an evaluator finds the errors that people found (arXiv 2404.05692).

The rules are those of the authors' recorded metrics:

* Each line of a solution has a score. A step takes the worst score of its lines, for validity the
  minimum, and a solution the worst score of its steps.
* At step level, the steps after the first wrong one are left out, since people did not label them.
  At solution level all steps count.
* In the redundant set, a solution is an error if at least one of its steps is.
* The one number of a process reward model is read as validity, and one minus it as redundancy.
* Thresholds: validity 0.5 and redundancy 0.15; both 0.5 for a process reward model. No recorded
  score equals a threshold.

Recorded scores are JSON lines, one per solution: ``{"id": …, "scores": [score, …]}``, one score per
line of the solution, or per step: the probabilities [negative, neutral, positive], or the one
number in [0, 1] of a process reward model. ``"scores": null`` is a solution that was refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from opencompass_gpassk.formats.decode import Text, Typed, decode
from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.jsonlines import at_line, numbered_lines, parse_row
from opencompass_gpassk.metrics.reasoning import (
    PROCESS_REWARD_THRESHOLD,
    REDUNDANCY_THRESHOLD,
    VALIDITY_THRESHOLD,
    Detection,
    detect,
    false_positive_rate,
    macro_f1,
    redundancy,
    solution_redundancy,
    solution_validity,
    validity,
)
from opencompass_gpassk.metrics.version_metrics import ratio
from opencompass_gpassk.reasoneval.mr_math import (
    ErrorKind,
    LabelledSolution,
    find_sets,
    kind_named,
    read_set,
)

SUFFIX = re.compile(r'\.jsonl?(\.gz)?$', re.I)
DECORATION = re.compile(r'_?eval_results$|[_.-]?(mr-math_)?(invalid|redundant)_errors', re.I)


class OtherScoresError(ValueError):
    """A file does not hold scores of steps."""


@dataclass(frozen=True)
class RecordedScores:
    """An evaluator's scores of a set.

    Attributes:
        path: Their file.
        evaluator: The evaluator's name.
        kind: The kind of errors in the set.
        scores: Solution → shape (L, 3), the probabilities of the classes, or (L, 1), one number,
            for each line or step; None for a refusal.
    """

    path: Path
    evaluator: str
    kind: ErrorKind
    scores: dict[str, Scores | None]

    @property
    def classes(self) -> bool:
        """Whether a score is the probabilities of three classes, or one number."""
        return any(scores.shape[1] > 1 for scores in self.scores.values() if scores is not None)

    def values(self, solution_id: str) -> Scores | None:
        """Return the validity or redundancy (by the kind) of each line or step of a solution.

        The one number of a reward model is the validity, and one minus it the redundancy.
        """
        scores = self.scores[solution_id]
        if scores is None:
            return None
        if self.kind is ErrorKind.INVALID:
            return validity(scores)
        return redundancy(scores) if scores.shape[1] > 1 else 1 - validity(scores)


def find_scores(
    paths: Iterable[Path], report: Callable[[str], None] | None = None
) -> list[RecordedScores]:
    """Read files of scores. A file's name or its folder's name must tell the set.

    The files ``invalid_errors/NAME_eval_results.json`` and ``NAME_invalid_errors.jsonl`` hold the
    scores of the evaluator NAME. In a folder, files with other content are left out.

    Args:
        paths: Files or folders.
        report: Takes a message on each file left out.

    Raises:
        ValueError: If a file is malformed, an evaluator has two files for a set, or there is none.
    """
    found: dict[tuple[str, ErrorKind], tuple[Path, RecordedScores]] = {}
    for given in paths:
        inside = (path for path in sorted(given.rglob('*')) if path.is_file())
        files = [path for path in inside if SUFFIX.search(path.name)]
        for path in files if given.is_dir() else [given]:
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
    """Read an evaluator's scores of a set.

    Raises:
        ValueError: If the names don't tell the set, or a row is malformed; with file, line, field
            and remedy.
    """
    kind = kind_named(path.name) or kind_named(path.absolute().parent.name)
    if kind is None:
        raise OtherScoresError(
            f'{path}: neither its name nor its folder tells the set; put invalid_errors or '
            'redundant_errors into one'
        )
    scores: dict[str, Scores | None] = {}
    for number, line in numbered_lines(path):
        with at_line(path, number):
            row = parse_row(line)
        if not scores and 'scores' not in row:  # such as verdicts on whole solutions
            raise OtherScoresError(f'{path}: there are no scores of steps in it')
        with at_line(path, number):
            read = decode(_Row, row)
            solution = str(read.id)
            if solution in scores:
                raise ValueError(f'id is {solution}, which stands twice; leave one line out')
            scores[solution] = None if read.scores is None else _scores(read.scores)
    widths = {given.shape[1] for given in scores.values() if given is not None}
    if len(widths) != 1:
        problem = 'classes and single numbers are mixed' if widths else 'there is no score in it'
        raise ValueError(f'{path}: {problem}; give scores of one evaluator')
    return RecordedScores(path, _evaluator(path), kind, scores)


def _evaluator(path: Path) -> str:
    name = DECORATION.sub('', DECORATION.sub('', SUFFIX.sub('', path.name)))
    return name if name.strip('_.- ') else path.absolute().parent.name


def _listed(score: Any) -> Any:
    return score if isinstance(score, list) else [score]


Share = Annotated[float, Field(ge=0, le=1)]
Score = Annotated[list[Share], BeforeValidator(_listed)]


class _Row(Typed):
    id: Text | int
    scores: Annotated[list[Score], Field(min_length=1)] | None


def _scores(given: list[list[float]]) -> Scores:
    if len({len(score) for score in given}) > 1:
        raise ValueError('scores: classes and single numbers are mixed; give one of them')
    scores = np.array(given, dtype=np.float64)
    validity(scores)  # raises an error unless each row is a distribution
    return scores


Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class MetaEvaluation:
    """How well an evaluator finds the errors of a set of N solutions.

    Attributes:
        evaluator: The evaluator's name.
        kind: The kind of errors to find.
        solution: Metrics at solution level.
        step: Metrics at step level.
        values: Shape (N,), the solutions' validity or redundancy, NaN where refused.
        errors: Shape (N,), whether people found an error.
        answer_right: Shape (N,), whether the final answer is known to be right.
    """

    evaluator: str
    kind: ErrorKind
    solution: Detection
    step: Detection
    values: Scores
    errors: Flags
    answer_right: Flags


def evaluate_files(
    data: Path, scores: Iterable[Path], report: Callable[[str], None] | None = None
) -> list[MetaEvaluation]:
    """Compare the scores in files with people's labels in a folder's sets.

    Args:
        data: The folder; see :func:`~opencompass_gpassk.reasoneval.mr_math.find_sets`.
        scores: Files and folders of scores, of any evaluators.
        report: Takes a message on each file left out.

    Raises:
        ValueError: If a file is malformed, the set of some scores is missing or doesn't match
            them.
    """
    sets = {kind: read_set(path, kind) for kind, path in find_sets(data).items()}
    found = []
    for recorded in find_scores(scores, report):
        kind = recorded.kind
        if kind not in sets:
            raise ValueError(
                f'{data} has no set of {kind.value} errors, which {recorded.evaluator} scored; '
                'add it, or leave those scores out'
            )
        found.append(_evaluate(sets[kind], recorded))
    return found


def _evaluate(solutions: Sequence[LabelledSolution], recorded: RecordedScores) -> MetaEvaluation:
    _require_same(solutions, recorded)
    invalid = recorded.kind is ErrorKind.INVALID
    of_classes = VALIDITY_THRESHOLD if invalid else REDUNDANCY_THRESHOLD
    threshold = of_classes if recorded.classes else PROCESS_REWARD_THRESHOLD
    combine = solution_validity if invalid else solution_redundancy
    steps = [_step_values(one, recorded) for one in solutions]
    values = np.array([combine(one) for one in steps])
    errors = np.array([any(one.errors) for one in solutions])
    labelled = [v[: len(one.errors)] for v, one in zip(steps, solutions, strict=True)]
    return MetaEvaluation(
        evaluator=recorded.evaluator,
        kind=recorded.kind,
        solution=detect(errors, values, threshold, below=invalid),
        step=detect(
            [error for one in solutions for error in one.errors],
            np.concatenate(labelled),
            threshold,
            below=invalid,
        ),
        values=values,
        errors=errors,
        answer_right=np.array([one.answer_right is True for one in solutions]),
    )


def _require_same(solutions: Sequence[LabelledSolution], recorded: RecordedScores) -> None:
    if differing := recorded.scores.keys() ^ {one.solution_id for one in solutions}:
        raise ValueError(
            f'{recorded.path}: solution {short_line(repr(min(differing)), 60)} is only in it, or '
            f'only in the set of {recorded.kind.value} errors ({len(differing)} such in all); give '
            'the set that was scored to --data, and null as the scores of a refused solution'
        )


def _step_values(solution: LabelledSolution, recorded: RecordedScores) -> Scores:
    """Return one value per step, shape (S,); all NaN if the evaluator refused the solution."""
    values = recorded.values(solution.solution_id)
    if values is None:
        return np.full(len(solution.steps), np.nan)
    if len(values) == len(solution.steps):
        return values
    lines = sum(map(len, solution.steps))
    if len(values) != lines:
        raise ValueError(
            f'{recorded.path}: solution {solution.solution_id}: '
            f'{len(values)} scores where there are {lines} lines in '
            f'{len(solution.steps)} steps; score each line, or each step'
        )
    starts = np.cumsum([0, *(len(step) for step in solution.steps[:-1])])
    worst = np.minimum if recorded.kind is ErrorKind.INVALID else np.maximum
    return np.asarray(worst.reduceat(values, starts))


THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)


@dataclass(frozen=True)
class ThresholdRow:
    """The effect of a validity threshold on solutions with right answers; NaN where undefined.

    Attributes:
        threshold: Solutions with a lower validity are flagged as wrong.
        false_positive_rate: Share of flagged solutions; it estimates how often right answers come
            from wrong reasoning.
        precision: Share of the flagged solutions that people found wrong.
        recall: Share of the solutions that people found wrong that are flagged.
        macro_f1: Macro F1 of the two classes.
    """

    threshold: float
    false_positive_rate: float
    precision: float
    recall: float
    macro_f1: float


def threshold_rows(
    evaluation: MetaEvaluation, thresholds: Iterable[float] = THRESHOLDS
) -> list[ThresholdRow]:
    """Return the effect of each threshold of validity, for choosing one.

    A threshold's false-positive rate is right if it equals :func:`labelled_rate`.

    Raises:
        ValueError: If a threshold isn't a share.
    """
    wrong, values = _right_answers(evaluation)
    flagged = {threshold: values < threshold for threshold in thresholds}
    return [
        ThresholdRow(
            threshold=threshold,
            false_positive_rate=false_positive_rate(np.ones(len(values), bool), values, threshold),
            precision=float(ratio((found & wrong).sum(), found.sum())),
            recall=float(ratio((found & wrong).sum(), wrong.sum())),
            macro_f1=macro_f1(wrong, found),
        )
        for threshold, found in flagged.items()
    ]


def labelled_rate(evaluation: MetaEvaluation) -> float:
    """Return the false-positive rate by people's labels; NaN if no right answer has a score."""
    wrong, _ = _right_answers(evaluation)
    return float(wrong.mean()) if wrong.size else np.nan


def _right_answers(evaluation: MetaEvaluation) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    used = evaluation.answer_right & ~np.isnan(evaluation.values)
    return evaluation.errors[used], evaluation.values[used]
