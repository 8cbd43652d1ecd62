"""Meta-evaluation: how well an evaluator finds the errors that people found (arXiv 2404.05692).

What the authors' recorded figures follow, and this does:

* A line of a solution has a score. A step of several lines takes the worst of them, which is the
  minimum of their validities, and a solution the worst of its steps.
* At step level, the steps after the first wrong one are left out: people did not label them. At
  solution level all steps count, those after the first wrong one too.
* A solution is an error of the redundant set if at least one of its steps is.
* The one number of a process reward model is read as validity, and one minus it as redundancy.
* Thresholds: validity 0.5 and redundancy 0.15; both 0.5 for a process reward model. None of the
  recorded scores stands on one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.detection import (
    PROCESS_REWARD_THRESHOLD,
    REDUNDANCY_THRESHOLD,
    VALIDITY_THRESHOLD,
    Detection,
    detect_invalid,
    detect_redundant,
)
from opencompass_gpassk.metrics.reasoning import (
    solution_redundancy,
    solution_validity,
)
from opencompass_gpassk.reasoneval.mr_math import ErrorKind, LabelledSolution, find_sets, read_set
from opencompass_gpassk.reasoneval.recorded_scores import RecordedScores, find_scores

__all__ = ['MetaEvaluation', 'evaluate_files', 'evaluate_scores']

AGGREGATE = {ErrorKind.INVALID: 'min', ErrorKind.REDUNDANT: 'max'}

Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class MetaEvaluation:
    """How well an evaluator finds the errors of a set of N solutions.

    Attributes:
        evaluator: Who.
        kind: What is to be found.
        aggregate: How the scores of steps make that of a solution.
        solution: Figures at solution level.
        step: Figures at step level.
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
    """Compare the scores in files with people's labels in the sets that a folder holds.

    Args:
        data: The folder; see :func:`~opencompass_gpassk.reasoneval.mr_math.find_sets`.
        scores: Files and folders of scores, of any evaluators.
        thresholds: Of each kind of errors; as :func:`evaluate_scores` takes it.
        aggregates: Of each kind of errors; as :func:`evaluate_scores` takes it.
        report: Is told what is left out.

    Raises:
        ValueError: If a file is malformed, scores are of a set that isn't there or don't fit it,
            or a setting makes no sense.
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
        threshold: In [0, 1]; by default the authors' for such scores.
        aggregate: How scores of steps make that of a solution: 'min', 'max', 'mean' or 'geometric
            mean'. By default the worst step's.

    Raises:
        ValueError: If a solution has no scores or another number of them, scores are of no
            solution, or a setting makes no sense.
    """
    _require_same(solutions, recorded)
    invalid = recorded.kind is ErrorKind.INVALID
    if threshold is None:
        of_classes = VALIDITY_THRESHOLD if invalid else REDUNDANCY_THRESHOLD
        threshold = of_classes if recorded.classes else PROCESS_REWARD_THRESHOLD
    aggregate = AGGREGATE[recorded.kind] if aggregate is None else aggregate
    combine = solution_validity if invalid else solution_redundancy
    detect = detect_invalid if invalid else detect_redundant
    steps = [_step_values(one, recorded) for one in solutions]
    values = np.array([combine(one, aggregate) for one in steps])
    errors = np.array([any(one.errors) for one in solutions])
    labelled = [v[: len(one.errors)] for v, one in zip(steps, solutions, strict=True)]
    return MetaEvaluation(
        evaluator=recorded.evaluator,
        kind=recorded.kind,
        aggregate=aggregate,
        solution=detect(errors, values, threshold),
        step=detect(
            [error for one in solutions for error in one.errors],
            np.concatenate(labelled),
            threshold,
        ),
        values=values,
        errors=errors,
        answer_right=np.array([one.answer_right is True for one in solutions]),
    )


def _require_same(solutions: Sequence[LabelledSolution], recorded: RecordedScores) -> None:
    ids = {one.solution_id for one in solutions}
    whose = f'{recorded.evaluator}, {recorded.kind.value} errors'
    for problem, found in (
        ('no scores of solution', ids - recorded.scores.keys()),
        ('scores of an unknown solution', recorded.scores.keys() - ids),
    ):
        if found:
            raise ValueError(
                f'{whose}: {problem} {min(found)} ({len(found)} in all); score this set, with null '
                'for what is refused'
            )


def _step_values(solution: LabelledSolution, recorded: RecordedScores) -> Scores:
    """Return one value a step: shape (S,), of NaN if the evaluator refused the solution."""
    values = recorded.values(solution.solution_id)
    if values is None:
        return np.full(len(solution.steps), np.nan)
    if len(values) == len(solution.steps):
        return values
    if len(values) != solution.lines:
        raise ValueError(
            f'{recorded.evaluator}, {recorded.kind.value} errors, solution {solution.solution_id}: '
            f'{len(values)} scores where there are {solution.lines} lines in '
            f'{len(solution.steps)} steps; score each line, or each step'
        )
    starts = np.cumsum([0, *(len(step) for step in solution.steps[:-1])])
    worst = np.minimum if recorded.kind is ErrorKind.INVALID else np.maximum
    return np.asarray(worst.reduceat(values, starts))
