"""Validity and redundancy of steps and of solutions (ReasonEval, arXiv 2404.05692).

A step is negative (wrong), neutral (right, but of no use) or positive. Its validity is the
probability that it isn't negative, its redundancy that it is neutral. A solution is as valid as its
worst step and as redundant as its most redundant one. A process reward model gives each step one
number, which is its validity; it says nothing of redundancy.

A step or solution is *invalid* if its validity is below the threshold, and *redundant* if its
redundancy is above the threshold: a score equal to the threshold is good. No score is NaN.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.error_detection import paired, require_share

__all__ = [
    'AGGREGATES',
    'SOUND_THRESHOLD',
    'false_positive_rate',
    'redundancy',
    'solution_redundancy',
    'solution_validity',
    'validity',
]

SOUND_THRESHOLD = 0.25  # of the validity of solutions with right answers, for the paper's Table 4
AGGREGATES = ('min', 'max', 'mean', 'geometric mean')

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
        threshold: In [0, 1].

    Returns:
        A share; NaN if no solution with a right answer has a score.

    Raises:
        ValueError: If the lengths differ, correct aren't booleans or the threshold isn't a share.
    """
    require_share('threshold', threshold)
    right, scores = paired('correct', correct, 'validities', validities)
    scores = scores[right & ~np.isnan(scores)]
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
    if how == 'geometric mean':
        with np.errstate(divide='ignore'):  # log 0 is -inf, and its exponential 0 again
            return float(np.exp(np.mean(np.log(values))))
    plain: dict[str, Callable[[], np.float64]] = {
        'min': values.min,
        'max': values.max,
        'mean': values.mean,
    }
    return float(plain[how]())


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
