"""Reliable problems: is a problem surely solved at a given rate, or surely not?

Each problem stands alone: n samples, of which some are right. The answers are exact: they are those
of the one-sided bounds of Clopper and Pearson, Biometrika 26 (1934), 404-413. A share of right
samples is no answer: 15 of 16 is above 0.9, and a model that is right in 8 of 10 cases has it too
in one of seven problems.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

ERROR = 0.05


def surely_at_least(
    rate: float, n: ArrayLike, right: ArrayLike, error: float = ERROR
) -> NDArray[np.bool_]:
    """Tell for each problem whether the lower bound of its rate is at least ``rate``.

    Args:
        rate: Between 0 and 1.
        n: Samples of each problem.
        right: Right ones among them.
        error: The chance that the bound is above the true rate, at most.

    >>> surely_at_least(0.9, [16, 28, 29, 46], [16, 28, 29, 45])
    array([False, False,  True,  True])
    """
    return np.asarray(binom.sf(np.asarray(right) - 1, n, rate) <= error)


def surely_below(
    rate: float, n: ArrayLike, right: ArrayLike, error: float = ERROR
) -> NDArray[np.bool_]:
    """Tell for each problem whether the upper bound of its rate is below ``rate``.

    >>> surely_below(0.9, [16, 16], [11, 12])
    array([ True, False])
    """
    return np.asarray(binom.cdf(right, n, rate) < error)


def samples_needed(rate: float, wrong: int = 0) -> int:
    """Return the least n with which a problem is surely at least ``rate``, given wrong samples.

    >>> samples_needed(0.9), samples_needed(0.9, wrong=1)
    (29, 46)
    """
    n = np.arange(wrong + 1, math.ceil(8 * (wrong + 1) / (1 - rate)) + 1)
    return int(n[surely_at_least(rate, n, n - wrong)][0])
