"""The problems that one of two models solves more often than the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.compare.shared_problems import Aligned
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.results.judged_trials import JudgedTrials
from opencompass_gpassk.trials import Problem


@dataclass(frozen=True)
class Change:
    """How often two models solve a problem.

    Attributes:
        problem: The problem in the first model's table.
        n: Judged responses of the first and of the second model.
        c: Right responses of the first and of the second model.
        strictest: G-Pass@k at τ = 1 of both, in percent; NaN where undefined.
        p_value: p-value of :func:`fisher_exact`; NaN if a model has no judged response.
        adjusted: The p-value after Holm's correction over all problems.
    """

    problem: Problem
    n: tuple[int, int]
    c: tuple[int, int]
    strictest: tuple[float, float]
    p_value: float
    adjusted: float

    @property
    def points(self) -> float:
        """The second model's share of right responses minus the first's, in points."""
        if not all(self.n):
            return math.nan
        return 100 * (self.c[1] / self.n[1] - self.c[0] / self.n[0])


def problem_changes(shared: Aligned, k: int | None = None) -> list[Change]:
    """Return how often two models solve each problem of both, the greatest changes first.

    Args:
        shared: Two models.
        k: The k of G-Pass@k at τ = 1; None to leave it out.
    """
    _, n, c = shared.counts
    strictest = np.full(n.shape, np.nan)
    if k is not None:
        for row, (table, places) in enumerate(zip(shared.tables, shared.places, strict=True)):
            values = JudgedTrials.recorded(table).expected(Estimator('G-Pass', k, 1.0))
            strictest[row, places >= 0] = 100 * values[places[places >= 0]]
    chosen = shared.shared(0, 1).tolist()
    p_values = [fisher_exact(*map(int, (c[0, i], n[0, i], c[1, i], n[1, i]))) for i in chosen]
    changes = [
        Change(
            shared.problems[i],
            (int(n[0, i]), int(n[1, i])),
            (int(c[0, i]), int(c[1, i])),
            (float(strictest[0, i]), float(strictest[1, i])),
            p_value,
            float(corrected),
        )
        for i, p_value, corrected in zip(chosen, p_values, holm(p_values), strict=True)
    ]
    return sorted(changes, key=_order)


@lru_cache(maxsize=100_000)
def fisher_exact(c: int, n: int, other_c: int, other_n: int) -> float:
    """Return the p-value of Fisher's exact test that two success rates are the same.

    Args:
        c: Successes of the first.
        n: Trials of the first.
        other_c: Successes of the second.
        other_n: Trials of the second.

    Returns:
        The two-sided p-value; NaN if either has no trials.

    >>> fisher_exact(8, 8, 0, 8)
    0.0001554001554001554
    """
    from scipy import stats

    if not n or not other_n:
        return math.nan
    table = [[c, n - c], [other_c, other_n - other_c]]
    return min(float(stats.fisher_exact(table).pvalue), 1.0)


def holm(p_values: Sequence[float]) -> NDArray[np.float64]:
    """Return p-values adjusted for their number (Holm, Scand. J. Statistics 6 (1979), 65-70).

    NaN does not count as a test and stays NaN.

    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    given = np.array(p_values, float)
    order = [place for place in np.argsort(given, kind='stable') if not math.isnan(given[place])]
    factors = np.arange(len(order), 0, -1)
    given[order] = np.minimum(np.maximum.accumulate(given[order] * factors), 1.0)
    return given


def _order(change: Change) -> tuple[bool, float, float]:
    if math.isnan(change.points):
        return True, 0.0, 0.0
    return False, -abs(change.points), change.p_value
