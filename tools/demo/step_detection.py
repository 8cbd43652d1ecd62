"""How well a scorer finds the wrong and the idle steps among labelled ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opencompass_gpassk.metrics.reasoning import (
    REDUNDANCY_THRESHOLD,
    VALIDITY_THRESHOLD,
    Detection,
    detect,
)
from opencompass_gpassk.reasoneval.batching import BatchedScorer
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.solutions import Solution
from opencompass_gpassk.reasoneval.training_data import LabelledSteps


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
