"""How well a scorer tells wrong and idle steps from others, on labelled solutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from opencompass_gpassk.metrics.detection import Detection, detect_invalid, detect_redundant
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.solutions import Solution
from opencompass_gpassk.reasoneval.step_labels import LabelledSteps

if TYPE_CHECKING:
    from opencompass_gpassk.reasoneval.scorer import StepScorer

__all__ = ['detect_errors']


def detect_errors(
    scorer: StepScorer, solutions: Sequence[LabelledSteps]
) -> dict[ErrorKind, Detection]:
    """Score solutions and return how well wrong and idle steps are told among the labelled ones.

    Args:
        scorer: Its thresholds are ReasonEval's: validity 0.5, redundancy 0.15.
        solutions: Held-out ones. Steps without label are read but don't count; those of solutions
            that the scorer refuses are counted as unscored.
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
        ErrorKind.INVALID: detect_invalid(said == -1, np.array(validities)),
        ErrorKind.REDUNDANT: detect_redundant(said == 0, np.array(redundancies)),
    }
