"""The group of problems that a model solves least, and whether chance alone explains it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t

FEWEST = 6  # clusters in the group, and in the rest


def weakest_group(
    values: NDArray[np.float64],
    clusters: NDArray[np.int64],
    groups: Sequence[NDArray[np.bool_]],
) -> tuple[int, float]:
    """Return the group with the lowest mean, and the p-value of its difference from the rest.

    A score test: the variance of the difference is that of sums over clusters around the common
    mean. It holds whether the problems of a cluster are in one group or in several. The p-value is
    one-sided, with as many degrees of freedom as the smaller side has clusters, less one. It is
    multiplied by the number of groups, since the lowest of them was picked.

    Args:
        values: Shape (P,): a value of each problem, NaN where undefined.
        clusters: Shape (P,): the number of each problem's cluster.
        groups: G masks of shape (P,).

    Returns:
        Index of the group, and p-value; NaN if nothing can be tested.
    """
    known = ~np.isnan(values)
    means = [
        values[known & group].mean() if (known & group).any() else math.inf for group in groups
    ]
    if len(groups) < 2 or not np.isfinite(means).any():
        return 0, math.nan
    place = int(np.argmin(means))
    every = np.logical_or.reduce(groups) & known
    inside = groups[place] & every
    rest = every & ~inside
    sizes = [len(np.unique(clusters[side])) for side in (inside, rest)]
    if min(sizes) < FEWEST:
        return place, math.nan
    weight = np.where(inside, 1 / inside.sum(), np.where(rest, -1 / rest.sum(), 0.0))
    centred = np.where(every, values - values[every].mean(), 0.0)
    sums = np.bincount(clusters, weight * centred)
    deviation = math.sqrt(float((sums**2).sum()))
    if not deviation:
        return place, math.nan
    score = float((weight * np.where(every, values, 0.0)).sum()) / deviation
    return place, min(1.0, len(groups) * float(t.cdf(score, min(sizes) - 1)))
