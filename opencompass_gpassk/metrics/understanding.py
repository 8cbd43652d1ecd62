"""Is a question understood, or was its original remembered? (RV-Bench, arXiv 2501.11790, Eq. 3-5)

Counts are those of :mod:`opencompass_gpassk.metrics.variables`: ``n`` and ``c``, shape (G, m), of
G groups of m versions; ``original_n`` and ``original_c``, shape (G,), of the originals, from which
the versions were made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from opencompass_gpassk.metrics.gpassk import TAU_ROUNDING, Shares, correct_counts, threshold
from opencompass_gpassk.metrics.variables import ratio, upper_tails, version_counts

__all__ = [
    'Understanding',
    'UnderstandingShares',
    'complete_ratio',
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
        complete: Share of the versions, in [0, 1]; floating point does not move it, so that
            0.8 of 5 is 4.

    Returns:
        Shape (G,), in [0, 1]; NaN where a version or the original is not judged.

    Raises:
        ValueError: As :func:`accuracy`, or if originals and groups aren't as many, or complete
            asks for no version.

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
        collapsed: Share of the versions, in [0, 1]; floating point does not move it.

    Returns:
        Shape (G,), in [0, 1]; NaN where a version or the original is not judged.

    Raises:
        ValueError: As :func:`accuracy`, or if originals and groups aren't as many, or collapsed
            allows all versions to be right, as 0.2 of a single version does.

    >>> original_only_ratio([[1] * 5], [[0, 0, 1, 0, 0]], [1], [1])
    array([1.])
    """
    n, c = version_counts(n, c)
    original = _originals(len(n), original_n, original_c)
    return original - original * upper_tails(n, c)[:, _collapsed(collapsed, n.shape[1]) + 1]


@dataclass(frozen=True)
class UnderstandingShares:
    """How far questions are understood whose original is right.

    Attributes:
        groups: How many they are, on average where there are several samples.
        right_versions: Mean share of right versions among them, in [0, 1].
        complete: Share of them with at least ⌈complete · m⌉ versions right, in [0, 1].
        partial: Share in between.
        collapsed: Share with at most ⌈collapsed · m⌉ versions right.
    """

    groups: float
    right_versions: float
    complete: float
    partial: float
    collapsed: float

    @property
    def score(self) -> float:
        """Eq. 5, in [0, 1]: complete counts 1, partial 0.5; below 0.6 it is inconsistent."""
        return self.complete + 0.5 * self.partial


@dataclass(frozen=True)
class Understanding:
    """What one sample of each group's original and versions shows, on average.

    All arrays have shape (G,) and are joint with the original's being right; complete, partial and
    collapsed add up to ``original``. NaN where a version or the original is not judged; only
    ``original`` needs no versions.

    Attributes:
        original: Chance that the original is right.
        right_versions: Share of right versions, counted where the original is right.
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
        """Eq. 5 of each group, joint with the original's being right: complete + 0.5 · partial."""
        return self.complete + 0.5 * self.partial

    def shares(self) -> UnderstandingShares:
        """Return the shares among the groups whose original is right.

        Sums over groups are divided by the sum of ``original``, which makes a ratio of unbiased
        estimates. Groups with a NaN are left out; without a right original, all but ``groups``
        is NaN.
        """
        known = ~np.isnan(self.complete)
        groups = float(self.original[known].sum())
        shares = (
            float(joint[known].sum()) / groups if groups else float('nan')
            for joint in (self.right_versions, self.complete, self.partial, self.collapsed)
        )
        return UnderstandingShares(groups, *shares)


def understanding(
    n: ArrayLike,
    c: ArrayLike,
    original_n: ArrayLike,
    original_c: ArrayLike,
    complete: float = 0.8,
    collapsed: float = 0.2,
) -> Understanding:
    """Tell complete, partial and collapsed understanding of each group's question.

    ``complete`` and ``collapsed`` of the result are :func:`complete_ratio` and
    :func:`original_only_ratio`.

    Args:
        n: Shape (G, m), judged samples of each version.
        c: Shape (G, m), correct ones among them.
        original_n: Shape (G,), judged samples of each original.
        original_c: Shape (G,), correct ones among them.
        complete: At least this share of the versions is right, rounded up to versions.
        collapsed: At most this share of the versions is right, rounded up to versions.

    Raises:
        ValueError: As :func:`accuracy`, or if originals and groups aren't as many, a share is
            outside [0, 1], or ⌈collapsed · m⌉ isn't below ⌈complete · m⌉.

    >>> one = [[1, 1, 1, 1, 1]]
    >>> understanding(one * 3, [[1] * 5, [1, 1, 0, 0, 0], [0] * 5], [1] * 3, [1, 1, 0]).shares()
    UnderstandingShares(groups=2.0, right_versions=0.7, complete=0.5, partial=0.5, collapsed=0.0)
    """
    n, c = version_counts(n, c)
    original = _originals(len(n), original_n, original_c)
    least, most = understanding_limits(n.shape[1], complete, collapsed)
    joint = original[:, None] * upper_tails(n, c)
    # Differences of tails, which never rise with their number: nothing comes out below 0.
    return Understanding(
        original=original,
        right_versions=original * ratio(c, n).mean(axis=1),
        complete=joint[:, least],
        partial=joint[:, most + 1] - joint[:, least],
        collapsed=original - joint[:, most + 1],
    )


def understanding_limits(m: int, complete: float, collapsed: float) -> tuple[int, int]:
    """Return ⌈complete · m⌉ and ⌈collapsed · m⌉: least right versions of one, most of the other.

    Raises:
        ValueError: If a share is outside [0, 1], or the second isn't below the first.
    """
    least, most = _ceiling('complete', complete, m), _ceiling('collapsed', collapsed, m)
    if most >= least:
        raise ValueError(
            f'complete is {complete} and collapsed is {collapsed}, which of {m} versions are at '
            f'least {least} and at most {most} right; set them further apart or make more versions'
        )
    return least, most


def _originals(groups: int, n: ArrayLike, c: ArrayLike) -> Shares:
    if np.shape(n) != (groups,) or np.shape(c) != (groups,):
        raise ValueError(
            f'original_n has shape {np.shape(n)} and original_c {np.shape(c)} for {groups} groups '
            'of versions; give one count a group, 0 where the original was not judged'
        )
    n, c = correct_counts(n, c, 'original_')
    return ratio(c, n)


def _complete(share: float, m: int) -> int:
    least = _ceiling('complete', share, m)
    if not least:
        raise ValueError(f'complete is {share}, which asks for no version; set it above 0')
    return least


def _collapsed(share: float, m: int) -> int:
    most = _ceiling('collapsed', share, m)
    if most == m:
        raise ValueError(
            f'collapsed is {share}, which of {m} versions are all {m}; set it lower or make more '
            'versions'
        )
    return most


def _ceiling(name: str, share: float, m: int) -> int:
    """Return ⌈share · m⌉, protected from floating point as :func:`threshold` is."""
    if not 0 <= share <= 1:
        raise ValueError(f'{name} is {share}; it is a share of the versions, from 0 to 1')
    return int(threshold(m, share)) if share > TAU_ROUNDING else 0
