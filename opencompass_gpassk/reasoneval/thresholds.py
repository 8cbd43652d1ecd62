"""Which threshold of validity tells sound solutions from others? (arXiv 2404.05692, Appendix E)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.detection import macro_f1
from opencompass_gpassk.metrics.reasoning import false_positive_rate
from opencompass_gpassk.reasoneval.meta import MetaEvaluation
from opencompass_gpassk.reasoneval.mr_math import ErrorKind

__all__ = ['THRESHOLDS', 'ThresholdRow', 'labelled_rate', 'threshold_rows']

THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)


@dataclass(frozen=True)
class ThresholdRow:
    """What a threshold of validity does to solutions with right answers. Undefined is NaN.

    Attributes:
        threshold: Solutions of a lower validity are taken for wrong.
        false_positive_rate: The share of them, which estimates the rate at which right answers
            come of wrong reasoning.
        precision: Share of them that people found wrong too.
        recall: Share of those that people found wrong that are among them.
        macro_f1: Of the two classes.
    """

    threshold: float
    false_positive_rate: float
    precision: float
    recall: float
    macro_f1: float


def threshold_rows(
    evaluation: MetaEvaluation, thresholds: Iterable[float] = THRESHOLDS
) -> list[ThresholdRow]:
    """Return what each threshold does, to choose one.

    A threshold's false-positive rate is the right one where it equals :func:`labelled_rate`.

    Raises:
        ValueError: If the evaluation is of redundant steps, or a threshold isn't a share.
    """
    if evaluation.kind is not ErrorKind.INVALID:
        raise ValueError('kind is redundant; a false-positive rate is of the invalid errors')
    wrong, values = _right_answers(evaluation)
    rows = []
    for threshold in thresholds:
        rate = false_positive_rate(np.full(len(values), True), values, threshold)
        flagged = values < threshold
        hits = int(np.sum(flagged & wrong))
        rows.append(
            ThresholdRow(
                threshold=threshold,
                false_positive_rate=rate,
                precision=hits / flagged.sum() if flagged.any() else np.nan,
                recall=hits / wrong.sum() if wrong.any() else np.nan,
                macro_f1=macro_f1(wrong, flagged),
            )
        )
    return rows


def labelled_rate(evaluation: MetaEvaluation) -> float:
    """Return the false-positive rate as people see it; NaN where no right answer has a score."""
    wrong, _ = _right_answers(evaluation)
    return float(wrong.mean()) if wrong.size else np.nan


def _right_answers(evaluation: MetaEvaluation) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    used = evaluation.answer_right & ~np.isnan(evaluation.values)
    return evaluation.errors[used], evaluation.values[used]
