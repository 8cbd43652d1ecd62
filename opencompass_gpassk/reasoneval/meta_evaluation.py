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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
from opencompass_gpassk.reasoneval.batching import BatchedScorer
from opencompass_gpassk.reasoneval.mr_math import (
    ErrorKind,
    LabelledSolution,
    field_error,
    find_sets,
    kind_named,
    read_id,
    read_set,
)
from opencompass_gpassk.reasoneval.solutions import Solution
from opencompass_gpassk.reasoneval.training_data import LabelledSteps

SUFFIX = re.compile(r'\.jsonl?(\.gz)?$', re.I)
DECORATION = re.compile(r'_?eval_results$|[_.-]?(mr-math_)?(invalid|redundant)_errors', re.I)
WANTED = 'a list of one a line of the solution, or null for a refusal'


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
            given = row.get('scores', '')
            if scores or given is None or isinstance(given, list):
                solution = read_id(row)
                if solution in scores:
                    raise ValueError(f'field id: {solution} stands twice; leave one line out')
                scores[solution] = None if given is None else _scores(given)
        if not scores:  # a file of another kind, such as verdicts on whole solutions
            raise OtherScoresError(f'{path}, line {number}: {field_error("scores", given, WANTED)}')
    widths = {given.shape[1] for given in scores.values() if given is not None}
    if len(widths) != 1:
        problem = 'classes and single numbers are mixed' if widths else 'there is no score in it'
        raise ValueError(f'{path}: {problem}; give scores of one evaluator')
    return RecordedScores(path, _evaluator(path), kind, scores)


def _evaluator(path: Path) -> str:
    name = DECORATION.sub('', DECORATION.sub('', SUFFIX.sub('', path.name)))
    return name if name.strip('_.- ') else path.absolute().parent.name


def _scores(given: Any) -> Scores:
    if not isinstance(given, list) or not given:
        raise field_error('scores', given, WANTED)
    for index, score in enumerate(given):
        triple = isinstance(score, list) and len(score) == 3 and all(map(_is_share, score))
        if not triple and not _is_share(score):
            wanted = '[negative, neutral, positive] or one number, all from 0 to 1'
            raise field_error(f'scores[{index}]', score, wanted)
    if len({isinstance(score, list) for score in given}) > 1:
        raise ValueError('field scores: classes and single numbers are mixed; give one of them')
    scores = np.array(given, dtype=np.float64).reshape(len(given), -1)
    validity(scores)  # raises an error unless each row is a distribution
    return scores


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


AGGREGATE = {ErrorKind.INVALID: 'min', ErrorKind.REDUNDANT: 'max'}

Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class MetaEvaluation:
    """How well an evaluator finds the errors of a set of N solutions.

    Attributes:
        evaluator: The evaluator's name.
        kind: The kind of errors to find.
        aggregate: How a solution's score is made from those of its steps.
        solution: Metrics at solution level.
        step: Metrics at step level.
        values: Shape (N,), the solutions' validity or redundancy, NaN where refused.
        errors: Shape (N,), whether people found an error.
        answer_right: Shape (N,), whether the final answer is known to be right.
    """

    evaluator: str
    kind: ErrorKind
    aggregate: str
    solution: Detection
    step: Detection
    values: Scores
    errors: Flags
    answer_right: Flags


def evaluate_files(
    data: Path,
    scores: Iterable[Path],
    *,
    thresholds: Mapping[ErrorKind, float | None] | None = None,
    aggregates: Mapping[ErrorKind, str | None] | None = None,
    report: Callable[[str], None] | None = None,
) -> list[MetaEvaluation]:
    """Compare the scores in files with people's labels in a folder's sets.

    Args:
        data: The folder; see :func:`~opencompass_gpassk.reasoneval.mr_math.find_sets`.
        scores: Files and folders of scores, of any evaluators.
        thresholds: For each kind of errors, as in :func:`evaluate_scores`.
        aggregates: For each kind of errors, as in :func:`evaluate_scores`.
        report: Takes a message on each file left out.

    Raises:
        ValueError: If a file is malformed, the set of some scores is missing or doesn't match
            them, or a setting is invalid.
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
        found.append(
            evaluate_scores(
                sets[kind],
                recorded,
                threshold=(thresholds or {}).get(kind),
                aggregate=(aggregates or {}).get(kind),
            )
        )
    return found


def evaluate_scores(
    solutions: Sequence[LabelledSolution],
    recorded: RecordedScores,
    *,
    threshold: float | None = None,
    aggregate: str | None = None,
) -> MetaEvaluation:
    """Compare an evaluator's scores with people's labels.

    Args:
        solutions: The set that was scored, with its labels.
        recorded: A score for each line of each solution, or for each step.
        threshold: In [0, 1]; by default the authors' for scores of this form.
        aggregate: How a solution's score is made from those of its steps: 'min', 'max', 'mean' or
            'geometric mean'. By default it is that of the worst step.

    Raises:
        ValueError: If a solution has no scores or a wrong number of them, scores belong to no
            solution, or a setting is invalid.
    """
    _require_same(solutions, recorded)
    invalid = recorded.kind is ErrorKind.INVALID
    if threshold is None:
        of_classes = VALIDITY_THRESHOLD if invalid else REDUNDANCY_THRESHOLD
        threshold = of_classes if recorded.classes else PROCESS_REWARD_THRESHOLD
    aggregate = AGGREGATE[recorded.kind] if aggregate is None else aggregate
    combine = solution_validity if invalid else solution_redundancy
    steps = [_step_values(one, recorded) for one in solutions]
    values = np.array([combine(one, aggregate) for one in steps])
    errors = np.array([any(one.errors) for one in solutions])
    labelled = [v[: len(one.errors)] for v, one in zip(steps, solutions, strict=True)]
    return MetaEvaluation(
        evaluator=recorded.evaluator,
        kind=recorded.kind,
        aggregate=aggregate,
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
    ids = {one.solution_id for one in solutions}
    for problem, found, remedy in (
        (
            'scores of solution {}, which is not in the set of {} errors',
            recorded.scores.keys() - ids,
            'leave out its line, or give the set that was scored to --data',
        ),
        (
            'no scores of solution {} of the set of {} errors',
            ids - recorded.scores.keys(),
            'score it, or write null if it was refused',
        ),
    ):
        if found:
            told = problem.format(short_line(repr(min(found)), 60), recorded.kind.value)
            raise ValueError(f'{recorded.path}: {told} ({len(found)} in all); {remedy}')


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


def detect_errors(
    scorer: BatchedScorer, solutions: Sequence[LabelledSteps]
) -> dict[ErrorKind, Detection]:
    """Score solutions; return how well wrong and idle steps are detected among the labelled ones.

    Args:
        scorer: The scorer. Thresholds are ReasonEval's: validity 0.5, redundancy 0.15.
        solutions: Held-out solutions. Steps without label are read but don't count; steps of
            refused solutions count as unscored.
    """
    scores = scorer.score([Solution(each.question, each.steps) for each in solutions])
    labels, validities, redundancies = [], [], []
    for solution, score in zip(solutions, scores, strict=True):
        kept = np.array([label is not None for label in solution.labels], bool)
        labels += [label for label in solution.labels if label is not None]
        validities += score.validity[kept].tolist()
        redundancies += score.redundancy[kept].tolist()
    said = np.array(labels, np.int64)
    return {
        ErrorKind.INVALID: detect(said == -1, validities, VALIDITY_THRESHOLD, below=True),
        ErrorKind.REDUNDANT: detect(said == 0, redundancies, REDUNDANCY_THRESHOLD, below=False),
    }
