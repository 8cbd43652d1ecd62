"""The problems that one of two models solves more often than the other."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

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
    """

    problem: Problem
    n: tuple[int, int]
    c: tuple[int, int]
    strictest: tuple[float, float]

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
    changes = [
        Change(
            shared.problems[i],
            (int(n[0, i]), int(n[1, i])),
            (int(c[0, i]), int(c[1, i])),
            (float(strictest[0, i]), float(strictest[1, i])),
        )
        for i in shared.shared(0, 1).tolist()
    ]
    return sorted(changes, key=_order)


def _order(change: Change) -> tuple[bool, float]:
    unknown = math.isnan(change.points)
    return unknown, 0.0 if unknown else -abs(change.points)
