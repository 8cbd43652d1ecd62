"""Is a question understood, or was its original remembered? (RV-Bench, arXiv 2501.11790, Eq. 3-5)

Counts are as in :mod:`opencompass_gpassk.metrics.version_metrics`: ``n`` and ``c``, shape (G, m),
count samples of G groups of m versions; ``original_n`` and ``original_c``, shape (G,), count
samples of the original questions from which the versions were made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from opencompass_gpassk.metrics.gpassk import TAU_ROUNDING, Shares, expected_counts, threshold
from opencompass_gpassk.metrics.version_metrics import ratio, upper_tails, version_counts

__all__ = [
    'Understanding',
    'complete_by_chance',
    'complete_ratio',
    'original_only_by_chance',
    'original_only_ratio',
    'understanding',
    'understanding_limits',
]


def complete_ratio(
    n: ArrayLike,
    c: ArrayLike,
    original_n: ArrayLike,
    original_c: ArrayLike,
    complete: float = 0.8,
) -> Shares:
    """Return the chance that the original and at least ⌈complete · m⌉ versions are right.

    Its mean over all groups is CR. One sample is drawn of the original and of each version; the
    estimate is unbiased, as in :func:`g_pass_over_versions`.

    Args:
        n: Shape (G, m), judged samples of each version.
        c: Shape (G, m), correct ones among them.
        original_n: Shape (G,), judged samples of each original.
        original_c: Shape (G,), correct ones among them.
        complete: Share of the versions, in [0, 1]; rounding does not change ⌈complete · m⌉, so
            that 0.8 of 5 is 4.

    Returns:
        Shape (G,), in [0, 1]; NaN where a version or the original is not judged.

    Raises:
        ValueError: As :func:`accuracy`, or if the numbers of originals and groups differ, or
            complete is 0.

    >>> complete_ratio([[1] * 5], [[1, 1, 1, 1, 0]], [1], [1])
    array([1.])
    """
    n, c = version_counts(n, c)
    original = _originals(len(n), original_n, original_c)
    return original * upper_tails(n, c)[:, _complete(complete, n.shape[1])]


def original_only_ratio(
    n: ArrayLike,
    c: ArrayLike,
    original_n: ArrayLike,
    original_c: ArrayLike,
    collapsed: float = 0.2,
) -> Shares:
    """Return the chance that the original is right and at most ⌈collapsed · m⌉ versions are.

    Its mean over all groups is OOR. One sample is drawn of the original and of each version; the
    estimate is unbiased, as in :func:`g_pass_over_versions`.

    Args:
        n: Shape (G, m), judged samples of each version.
        c: Shape (G, m), correct ones among them.
        original_n: Shape (G,), judged samples of each original.
        original_c: Shape (G,), correct ones among them.
        collapsed: Share of the versions, in [0, 1]; rounding does not change ⌈collapsed · m⌉.

    Returns:
        Shape (G,), in [0, 1]; NaN where a version or the original is not judged.

    Raises:
        ValueError: As :func:`accuracy`, or if the numbers of originals and groups differ, or
            collapsed allows all versions to be right, as 0.2 of a single version does.

    >>> original_only_ratio([[1] * 5], [[0, 0, 1, 0, 0]], [1], [1])
    array([1.])
    """
    n, c = version_counts(n, c)
    original = _originals(len(n), original_n, original_c)
    return original - original * upper_tails(n, c)[:, _collapsed(collapsed, n.shape[1]) + 1]


def complete_by_chance(
    n: ArrayLike,
    c: ArrayLike,
    original_n: ArrayLike,
    original_c: ArrayLike,
    complete: float = 0.8,
) -> Shares:
    """Return what :func:`complete_ratio` is on average if the original is like a version.

    If any of the m + 1 problems of a group could as well have been the original, and T of them are
    right, then the original is right with probability T/(m + 1), and CR counts the group if
    T ≥ ⌈complete · m⌉ + 1. T is that of one sample of each problem. Arguments, shapes and errors
    are those of :func:`complete_ratio`.

    >>> complete_by_chance([[1] * 5], [[1, 1, 1, 1, 0]], [1], [1]).round(4)  # T = 5
    array([0.8333])
    """
    chances = _one_of_all(n, c, original_n, original_c)
    return chances[:, _complete(complete, np.shape(n)[1]) + 1 :].sum(axis=1)


def original_only_by_chance(
    n: ArrayLike,
    c: ArrayLike,
    original_n: ArrayLike,
    original_c: ArrayLike,
    collapsed: float = 0.2,
) -> Shares:
    """Return what :func:`original_only_ratio` is on average if the original is like a version.

    As :func:`complete_by_chance`; OOR counts the group if 1 ≤ T ≤ ⌈collapsed · m⌉ + 1. So a model
    without any memory has an OOR above 0.

    >>> original_only_by_chance([[1] * 5], [[0, 0, 1, 0, 0]], [1], [1]).round(4)  # T = 2
    array([0.3333])
    """
    chances = _one_of_all(n, c, original_n, original_c)
    return chances[:, : _collapsed(collapsed, np.shape(n)[1]) + 2].sum(axis=1)


def _one_of_all(n: ArrayLike, c: ArrayLike, original_n: ArrayLike, original_c: ArrayLike) -> Shares:
    """Return P[t of the m + 1 problems right, and a random one among the right], t = 0 … m + 1."""
    n, c = version_counts(n, c)
    original = _originals(len(n), original_n, original_c)
    all_n = np.column_stack([n, np.asarray(original_n)])
    all_c = np.column_stack([c, np.asarray(original_c)])
    tails = upper_tails(all_n, all_c)
    right = np.arange(tails.shape[1] - 1)
    chances: Shares = (tails[:, :-1] - tails[:, 1:]) * right / right[-1]
    chances[np.isnan(original) | np.isnan(tails[:, 1])] = np.nan
    return chances


@dataclass(frozen=True)
class Understanding:
    """Each group's understanding: the averages over one sample of the original and each version.

    All arrays have shape (G,). Each chance is joint with a right original, so that complete,
    partial and collapsed add up to ``original``. NaN where the original or (except for
    ``original``) a version is not judged.

    Attributes:
        original: Chance that the original is right.
        right_versions: Share of right versions, 0 if the original is wrong.
        complete: Chance of a right original and at least ⌈complete · m⌉ right versions.
        partial: Chance of a right original and a number of right versions in between.
        collapsed: Chance of a right original and at most ⌈collapsed · m⌉ right versions.
    """

    original: Shares
    right_versions: Shares
    complete: Shares
    partial: Shares
    collapsed: Shares

    @property
    def score(self) -> Shares:
        """Eq. 5 of each group, complete + 0.5 · partial, joint with a right original."""
        return self.complete + 0.5 * self.partial


def understanding(
    n: ArrayLike,
    c: ArrayLike,
    original_n: ArrayLike,
    original_c: ArrayLike,
    complete: float = 0.8,
    collapsed: float = 0.2,
) -> Understanding:
    """Return the chances of complete, partial and collapsed understanding of each group.

    ``complete`` and ``collapsed`` of the result equal :func:`complete_ratio` and
    :func:`original_only_ratio`.

    Args:
        n: Shape (G, m), judged samples of each version.
        c: Shape (G, m), correct ones among them.
        original_n: Shape (G,), judged samples of each original.
        original_c: Shape (G,), correct ones among them.
        complete: Least share of right versions, rounded up to a number of versions.
        collapsed: Greatest share of right versions, rounded up to a number of versions.

    Raises:
        ValueError: As :func:`accuracy`, or if the numbers of originals and groups differ, a share
            is outside [0, 1], or ⌈collapsed · m⌉ isn't below ⌈complete · m⌉.

    >>> one = [[1, 1, 1, 1, 1]]
    >>> understanding(one * 3, [[1] * 5, [1, 1, 0, 0, 0], [0] * 5], [1] * 3, [1, 1, 0]).score
    array([1. , 0.5, 0. ])
    """
    n, c = version_counts(n, c)
    original = _originals(len(n), original_n, original_c)
    least, most = understanding_limits(n.shape[1], complete, collapsed)
    joint = original[:, None] * upper_tails(n, c)
    # Tails never rise with the number of versions, so no difference of tails is below 0.
    return Understanding(
        original=original,
        right_versions=original * ratio(c, n).mean(axis=1),
        complete=joint[:, least],
        partial=joint[:, most + 1] - joint[:, least],
        collapsed=original - joint[:, most + 1],
    )


def understanding_limits(m: int, complete: float, collapsed: float) -> tuple[int, int]:
    """Return ⌈complete · m⌉ and ⌈collapsed · m⌉, the least and the greatest numbers of versions.

    Raises:
        ValueError: If a share is outside [0, 1], or the second isn't below the first.
    """
    least, most = _ceiling('complete', complete, m), _ceiling('collapsed', collapsed, m)
    if most >= least:
        raise ValueError(
            f'complete is {complete} and collapsed is {collapsed}: at least {least} and at most '
            f'{most} of {m} versions right; set them further apart or make more versions'
        )
    return least, most


def _originals(groups: int, n: ArrayLike, c: ArrayLike) -> Shares:
    if np.shape(n) != (groups,) or np.shape(c) != (groups,):
        raise ValueError(
            f'original_n has shape {np.shape(n)} and original_c {np.shape(c)} for {groups} groups '
            'of versions; give one count a group, 0 where the original was not judged'
        )
    return ratio(*reversed(expected_counts(n, c, 'original_')))


def _complete(share: float, m: int) -> int:
    least = _ceiling('complete', share, m)
    if not least:
        raise ValueError(f'complete is {share}, so 0 versions would do; set it above 0')
    return least


def _collapsed(share: float, m: int) -> int:
    most = _ceiling('collapsed', share, m)
    if most == m:
        raise ValueError(
            f'collapsed is {share}, which allows all {m} versions to be right; set it lower or '
            'make more versions'
        )
    return most


def _ceiling(name: str, share: float, m: int) -> int:
    """Return ⌈share · m⌉, safe from rounding as :func:`threshold` is."""
    if not 0 <= share <= 1:
        raise ValueError(f'{name} is {share}; give a share of the versions, from 0 to 1')
    return int(threshold(m, share)) if share > TAU_ROUNDING else 0
