"""Levels of tests that are made several times, with growing numbers of samples."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from opencompass_gpassk.metrics.share_intervals import normal_quantile


def look_levels(looks: Sequence[int], level: float = 0.95) -> dict[int, float]:
    """Return the level to test at, at each of several planned looks at growing numbers of samples.

    The error rate 1 - ``level`` is spent by the function of O'Brien-Fleming type of Lan and DeMets
    (Biometrika 70 (1983), 659-663): little at early looks, so that the last one loses little power.
    A look's level is what is spent since the look before, so all levels add up to 1 - ``level``. By
    Bonferroni's inequality the chance of any false claim is at most that, however the looks depend
    on one another. The boundaries of the paper are less strict, but need independent increments;
    looks at the same problems share more than their samples.

    Args:
        looks: The planned numbers of samples of each problem, ascending.
        level: The chance that no look makes a false claim.

    Returns:
        Number of samples → level.

    Raises:
        ValueError: If looks or level are wrong, or a look is so early that nothing is spent on it.

    >>> {n: round(level, 4) for n, level in look_levels([16, 32, 48]).items()}
    {16: 0.0007, 32: 0.0157, 48: 0.0336}
    """
    told = ' '.join(map(str, looks))
    if not looks or looks[0] < 1 or list(looks) != sorted({*looks}):
        raise ValueError(f'looks are {told}; give ascending numbers of samples, from 1')
    quantile = normal_quantile(level)
    # 2 - 2Φ(z/√t) at the share t of all samples.
    spent = [0.0, *(math.erfc(quantile / math.sqrt(2 * n / looks[-1])) for n in looks)]
    levels = dict(zip(looks, np.diff(spent).tolist(), strict=True))
    if not all(levels.values()):
        raise ValueError(f'looks are {told}; the first is too early to show anything, so drop it')
    return levels
