"""Validity and redundancy of steps and of solutions, and how well they find people's errors.

The measures are ReasonEval's (arXiv 2404.05692).

A step is negative (wrong), neutral (right, but of no use) or positive. Its validity is the
probability that it isn't negative, its redundancy that it is neutral. A solution is as valid as its
worst step and as redundant as its most redundant one. A process reward model gives each step one
number, which is its validity; it says nothing of redundancy.

A step or solution is *invalid* if its validity is below the threshold, and *redundant* if its
redundancy is above the threshold: a score equal to the threshold is good. No score is NaN: such a
step or solution is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

__all__ = [
    'AGGREGATES',
    'PROCESS_REWARD_THRESHOLD',
    'REDUNDANCY_THRESHOLD',
    'SOUND_THRESHOLD',
    'VALIDITY_THRESHOLD',
    'Detection',
    'auc',
    'detect',
    'false_positive_rate',
    'macro_f1',
    'redundancy',
    'solution_redundancy',
    'solution_validity',
    'validity',
]

VALIDITY_THRESHOLD = 0.5  # this and the next are the authors' thresholds for ReasonEval
REDUNDANCY_THRESHOLD = 0.15
PROCESS_REWARD_THRESHOLD = 0.5  # for reward models with one number per step; both kinds of error
SOUND_THRESHOLD = 0.25  # of solutions with right answers: the paper's Table 4, by ReasonEval-34B
AGGREGATES: dict[str, Callable[[NDArray[np.float64]], np.float64]] = {
    'min': np.min,
    'max': np.max,
    'mean': np.mean,
    'geometric mean': lambda values: np.exp(np.mean(np.log(values))),
}

CLASSES = 3
ROUNDING = 0.02  # how far a softmax in bfloat16 may sum to other than 1

Scores = NDArray[np.float64]


def validity(probabilities: ArrayLike) -> Scores:
    """Return the validity of each step: p(positive) + p(neutral), or a reward model's number.

    Args:
        probabilities: Shape (S, 3) in the order negative, neutral, positive, or (S, 1) of a process
            reward model; a row of NaN for a step without a score.

    Returns:
        Shape (S,), in [0, 1] up to rounding.

    Raises:
        ValueError: If the shape is another, or a row isn't a distribution or a share.

    >>> validity([[0.25, 0.25, 0.5]])
    array([0.75])
    >>> validity([[0.9], [0.2]])
    array([0.9, 0.2])
    """
    rows = _rows(probabilities)
    return rows[:, 0].copy() if rows.shape[1] == 1 else rows[:, 1] + rows[:, 2]


def redundancy(probabilities: ArrayLike) -> Scores:
    """Return the redundancy of each step: p(neutral); NaN with one number per step.

    Args:
        probabilities: Shape (S, 3) in the order negative, neutral, positive, or (S, 1) of a process
            reward model; a row of NaN for a step without a score.

    Returns:
        Shape (S,), in [0, 1] or NaN.

    Raises:
        ValueError: If the shape is another, or a row isn't a distribution or a share.

    >>> redundancy([[0.25, 0.25, 0.5]])
    array([0.25])
    >>> redundancy([[0.9], [0.2]])
    array([nan, nan])
    """
    rows = _rows(probabilities)
    return np.full(len(rows), np.nan) if rows.shape[1] == 1 else rows[:, 1].copy()


def solution_validity(steps: ArrayLike, how: str = 'min') -> float:
    """Return a solution's validity, by default that of its worst step.

    Args:
        steps: Shape (S,), the validity of each step.
        how: 'min', 'max', 'mean' or 'geometric mean' (the paper's Table 7).

    Returns:
        A number in [0, 1]; NaN if there is no step, or one of them has no score.

    Raises:
        ValueError: If how is another word, or a step is outside [0, 1].
    """
    return _aggregate('validity', steps, how)


def solution_redundancy(steps: ArrayLike, how: str = 'max') -> float:
    """Return a solution's redundancy, by default that of its most redundant step.

    Args:
        steps: Shape (S,), the redundancy of each step.
        how: 'min', 'max', 'mean' or 'geometric mean' (the paper's Table 7).

    Returns:
        A number in [0, 1]; NaN if there is no step, or one of them has no score.

    Raises:
        ValueError: If how is another word, or a step is outside [0, 1].
    """
    return _aggregate('redundancy', steps, how)


def false_positive_rate(
    correct: ArrayLike, validities: ArrayLike, threshold: float = SOUND_THRESHOLD
) -> float:
    """Return the share of the solutions with a right answer whose validity is below the threshold.

    It is the false-positive rate of checking answers alone (the paper's Table 4).

    Args:
        correct: Shape (N,) of booleans: is the final answer right?
        validities: Shape (N,), of the solutions; those that are NaN are left out.
        threshold: In [0, 1]; by default the paper's, which was chosen for ReasonEval-34B.

    Returns:
        A share; NaN if no solution with a right answer has a score.

    Raises:
        ValueError: If the lengths differ, correct aren't booleans or the threshold isn't a share.
    """
    _require_share('threshold', threshold)
    right, scores = np.asarray(correct), np.asarray(validities, dtype=np.float64)
    if right.shape != scores.shape or (right.size and right.dtype != np.bool_):
        raise ValueError(
            f'correct are of type {right.dtype} and shape {right.shape}, validities of shape '
            f'{scores.shape}; give booleans and numbers, one of each for a solution'
        )
    scores = scores[right.astype(bool) & ~np.isnan(scores)]
    return float(np.mean(scores < threshold)) if scores.size else np.nan


def _aggregate(name: str, steps: ArrayLike, how: str) -> float:
    if how not in AGGREGATES:
        raise ValueError(f'how is {how!r}; choose one of {", ".join(AGGREGATES)}')
    values = np.asarray(steps, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f'steps have shape {values.shape}; give one {name} per step, shape (S,)')
    outside = (values < 0) | (values > 1 + ROUNDING)
    if outside.any():
        raise ValueError(f'steps hold {values[outside][0]}; a {name} is a share from 0 to 1')
    if not values.size or np.isnan(values).any():
        return np.nan
    with np.errstate(divide='ignore'):  # log 0 is -inf, and its exponential 0 again
        return float(AGGREGATES[how](values))


def _rows(probabilities: ArrayLike) -> Scores:
    """Return rows of three classes, or of one number, after checking them."""
    rows = np.asarray(probabilities, dtype=np.float64)
    if not rows.size and rows.ndim < 2:
        rows = rows.reshape(0, CLASSES)
    if rows.ndim != 2 or rows.shape[1] not in (1, CLASSES):
        raise ValueError(
            f'probabilities have shape {rows.shape}; give each step its negative, neutral and '
            'positive probability, shape (S, 3), or one number, shape (S, 1)'
        )
    if rows.shape[1] == 1:
        good, remedy = (rows >= 0) & (rows <= 1), 'give a share from 0 to 1'
    else:
        near = (np.abs(rows.sum(axis=1) - 1) <= ROUNDING) & (rows >= 0).all(axis=1)
        good, remedy = near[:, None], 'take the softmax, so that a row sums to 1'
    known = good.all(axis=1) | np.isnan(rows).all(axis=1)
    if not known.all():
        raise ValueError(f'probabilities hold {rows[~known][0].tolist()}; {remedy}')
    return rows


@dataclass(frozen=True)
class Detection:
    """How well scores find the errors that people found, among steps or among solutions.

    Attributes:
        units: Steps or solutions that have a score.
        errors: How many of these units people labelled as errors.
        unscored: Steps or solutions without a score; all other fields leave them out.
        threshold: A score beyond it predicts an error.
        macro_f1: Mean of the F1 of errors and of the F1 of the others, in [0, 1].
        auc: Chance that a random error scores worse than a random non-error; ties count half.
    """

    units: int
    errors: int
    unscored: int
    threshold: float
    macro_f1: float
    auc: float


def detect(errors: ArrayLike, values: ArrayLike, threshold: float, *, below: bool) -> Detection:
    """Return how well a value beyond the threshold detects people's errors.

    Args:
        errors: Shape (N,) of booleans, people's labels: is it wrong, or redundant?
        values: Shape (N,), validities or redundancies; NaN where there is no score.
        threshold: In [0, 1].
        below: Whether a value below the threshold predicts an error, as a validity does, or one
            above it, as a redundancy does.

    Raises:
        ValueError: If the threshold isn't a share.
    """
    _require_share('threshold', threshold)
    worse = -1 if below else 1
    wrong, found = np.asarray(errors, dtype=bool), np.asarray(values, dtype=np.float64)
    scored = ~np.isnan(found)
    wrong, badness = wrong[scored], worse * found[scored]
    return Detection(
        units=len(wrong),
        errors=int(wrong.sum()),
        unscored=int(np.sum(~scored)),
        threshold=float(threshold),
        macro_f1=macro_f1(wrong, badness > worse * threshold),
        auc=auc(wrong, badness),
    )


def macro_f1(errors: ArrayLike, flagged: ArrayLike) -> float:
    """Return the mean of the F1 of errors and of the F1 of non-errors.

    Args:
        errors: Shape (N,) of booleans, people's labels.
        flagged: Shape (N,) of booleans, the predictions.

    Returns:
        A number in [0, 1]; NaN if both arrays hold errors only, or both hold non-errors only.

    >>> macro_f1([True, True, False, False], [True, False, False, False])
    0.7333333333333334
    """
    wrong, found = np.asarray(errors, dtype=bool), np.asarray(flagged, dtype=bool)
    differ = int(np.sum(wrong != found))
    both = int(np.sum(wrong & found)), int(np.sum(~wrong & ~found))
    # F1 is 2 TP / (2 TP + FP + FN); FP + FN is the same number for both classes.
    shares = [2 * hits / (2 * hits + differ) if hits + differ else np.nan for hits in both]
    return float(np.mean(shares))


def auc(errors: ArrayLike, scores: ArrayLike) -> float:
    """Return the area under the ROC curve: the chance that an error has the higher score.

    Args:
        errors: Shape (N,) of booleans, people's labels.
        scores: Shape (N,), higher where an error is likelier. Ties count half.

    Returns:
        A number in [0, 1]; NaN if all or none are errors, or a score is NaN.

    >>> auc([True, True, False, False], [0.9, 0.4, 0.4, 0.1])
    0.875
    """
    wrong, values = np.asarray(errors, dtype=bool), np.asarray(scores, dtype=np.float64)
    positives = int(wrong.sum())
    pairs = positives * (len(wrong) - positives)
    if not pairs or np.isnan(values).any():
        return np.nan
    wins = rankdata(values)[wrong].sum() - positives * (positives + 1) / 2  # half of a tie
    return float(wins / pairs)


def _require_share(name: str, value: float) -> None:
    """Raise a ValueError if a setting isn't a share from 0 to 1."""
    if not 0 <= value <= 1:
        raise ValueError(f'{name} is {value}; give a share from 0 to 1')
