"""How well scores find the errors that people found: macro F1 and AUC, as in arXiv 2404.05692.

Scores and human labels are compared for steps or for solutions, by validity or by redundancy. A
step or solution without a score is NaN: it is left out and counted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    'PROCESS_REWARD_THRESHOLD',
    'REDUNDANCY_THRESHOLD',
    'VALIDITY_THRESHOLD',
    'Detection',
    'auc',
    'detect_invalid',
    'detect_redundant',
    'macro_f1',
    'paired',
    'require_share',
]

VALIDITY_THRESHOLD = 0.5  # this and the next are the authors' thresholds for ReasonEval
REDUNDANCY_THRESHOLD = 0.15
PROCESS_REWARD_THRESHOLD = 0.5  # for reward models with one number per step; both kinds of error

Scores = NDArray[np.float64]
Flags = NDArray[np.bool_]


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


def detect_invalid(
    errors: ArrayLike, validities: ArrayLike, threshold: float = VALIDITY_THRESHOLD
) -> Detection:
    """Return how well a validity below the threshold detects wrong steps or solutions.

    Args:
        errors: Shape (N,) of booleans, people's labels: is it wrong?
        validities: Shape (N,), NaN where there is no score.
        threshold: In [0, 1].

    Raises:
        ValueError: If the lengths differ, errors aren't booleans or the threshold isn't a share.
    """
    require_share('threshold', threshold)
    wrong, scores = paired('errors', errors, 'validities', validities)
    return _detect(wrong, -scores, scores < threshold, threshold)


def detect_redundant(
    errors: ArrayLike, redundancies: ArrayLike, threshold: float = REDUNDANCY_THRESHOLD
) -> Detection:
    """Return how well a redundancy above the threshold detects redundant steps or solutions.

    Args:
        errors: Shape (N,) of booleans, people's labels: is it, or a step of it, redundant?
        redundancies: Shape (N,), NaN where there is no score.
        threshold: In [0, 1].

    Raises:
        ValueError: If the lengths differ, errors aren't booleans or the threshold isn't a share.
    """
    require_share('threshold', threshold)
    idle, scores = paired('errors', errors, 'redundancies', redundancies)
    return _detect(idle, scores, scores > threshold, threshold)


def macro_f1(errors: ArrayLike, flagged: ArrayLike) -> float:
    """Return the mean of the F1 of errors and of the F1 of non-errors.

    Args:
        errors: Shape (N,) of booleans, people's labels.
        flagged: Shape (N,) of booleans, the predictions.

    Returns:
        A number in [0, 1]; NaN if both arrays hold errors only, or both hold non-errors only.

    Raises:
        ValueError: If the lengths differ or the values aren't booleans.

    >>> macro_f1([True, True, False, False], [True, False, False, False])
    0.7333333333333334
    """
    wrong, found = _flags('errors', errors), _flags('flagged', flagged)
    _require_length('flagged', len(found), len(wrong))
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

    Raises:
        ValueError: If the lengths differ or errors aren't booleans.

    >>> auc([True, True, False, False], [0.9, 0.4, 0.4, 0.1])
    0.875
    """
    wrong, values = paired('errors', errors, 'scores', scores)
    positives = int(wrong.sum())
    pairs = positives * (len(wrong) - positives)
    if not pairs or np.isnan(values).any():
        return np.nan
    # Twice the mean rank of equal scores is an integer, so that sums are exact.
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (2 * np.cumsum(counts) - counts + 1)[place.reshape(-1)]
    wins = int(ranks[wrong].sum()) - positives * (positives + 1)
    return wins / (2 * pairs)


def paired(flags_name: str, flags: ArrayLike, name: str, scores: ArrayLike) -> tuple[Flags, Scores]:
    """Return flags and scores as arrays of one length; ValueError if they aren't."""
    yes, values = _flags(flags_name, flags), np.asarray(scores, dtype=np.float64)
    if values.ndim != 1:
        raise ValueError(f'{name} have shape {values.shape}; give one each, shape (N,)')
    _require_length(name, len(values), len(yes))
    return yes, values


def require_share(name: str, value: float) -> None:
    """Raise a ValueError if a setting isn't a share from 0 to 1."""
    if not 0 <= value <= 1:
        raise ValueError(f'{name} is {value}; give a share from 0 to 1')


def _detect(wrong: Flags, badness: Scores, flagged: Flags, threshold: float) -> Detection:
    scored = ~np.isnan(badness)
    wrong = wrong[scored]
    return Detection(
        units=len(wrong),
        errors=int(wrong.sum()),
        unscored=int(np.sum(~scored)),
        threshold=float(threshold),
        macro_f1=macro_f1(wrong, flagged[scored]),
        auc=auc(wrong, badness[scored]),
    )


def _flags(name: str, values: ArrayLike) -> Flags:
    array = np.asarray(values)
    if not array.size:
        array = array.astype(np.bool_)
    if array.dtype != np.bool_ or array.ndim != 1:
        raise ValueError(
            f'{name} are of type {array.dtype} and shape {array.shape}; give booleans, shape (N,)'
        )
    return array


def _require_length(name: str, count: int, wanted: int) -> None:
    if count != wanted:
        raise ValueError(f'{name} holds {count} values; give {wanted}, one each')
