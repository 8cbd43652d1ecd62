"""The problems that one of two models solves more often than the other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from opencompass_gpassk.compare.shared_problems import Aligned
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.paired import holm
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
        p_value: p-value of :func:`fisher_exact`, times the factor of a look; NaN if a model has no
            judged response.
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


def problem_changes(shared: Aligned, k: int | None = None, factor: float = 1.0) -> list[Change]:
    """Return how often two models solve each problem, the greatest changes first.

    Args:
        shared: Two models.
        k: The k of G-Pass@k at τ = 1; None to leave it out.
        factor: Factor of p-values, as in :func:`~opencompass_gpassk.compare.differences.compare`.

    Raises:
        ValueError: If there aren't two models.
    """
    if len(shared.tables) != 2:
        raise ValueError(f'{len(shared.tables)} models are aligned; compare two')
    (n_a, c_a), (n_b, c_b) = (table.counts() for table in shared.tables)
    strictest = np.full((2, len(n_a)), np.nan)
    if k is not None:
        trials = [JudgedTrials.recorded(table) for table in shared.tables]
        strictest = 100 * np.stack([one.expected(Estimator('G-Pass', k, 1.0)) for one in trials])
    counts = list(zip(n_a.tolist(), n_b.tolist(), c_a.tolist(), c_b.tolist(), strict=True))
    uncorrected = np.array([fisher_exact(c, n, d, m) for n, m, c, d in counts])
    p_values = np.minimum(factor * uncorrected, 1.0).tolist()
    changes = [
        Change(
            problem,
            (n, m),
            (c, d),
            (float(strictest[0][i]), float(strictest[1][i])),
            p_values[i],
            float(adjusted),
        )
        for i, (problem, (n, m, c, d), adjusted) in enumerate(
            zip(shared.problems, counts, holm(p_values), strict=True)
        )
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


def _order(change: Change) -> tuple[bool, float, float]:
    if math.isnan(change.points):
        return True, 0.0, 0.0
    return False, -abs(change.points), change.p_value
