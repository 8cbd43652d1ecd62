"""How far two sources of verdicts agree: agreement rate, Cohen's kappa, who says what how often.

Rate and kappa are over the trials that both judged; the others are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.intervals import (
    effective_size,
    mean_variance,
    normal_quantile,
    wilson,
)
from opencompass_gpassk.trials import Verdict

__all__ = ['VERDICTS', 'Agreement', 'compare_verdicts']

VERDICTS = (Verdict.CORRECT, Verdict.INCORRECT, Verdict.UNJUDGED)
JUDGED = 2  # the first so many of them
ROUNDING = 1e-12  # a standard error this small is 0


@dataclass(frozen=True)
class Agreement:
    """What a comparison of two sources of verdicts found.

    Attributes:
        confusion: Shape (3, 3), trials by what the first (row) and the second (column) say:
            correct, incorrect, unjudged.
        rate: Share of the trials that both judged on which they say the same, in [0, 1]; NaN
            where there is no such trial. arXiv 2412.13147, Table 5.
        interval: Its Wilson interval at ``effective`` trials.
        effective: How many independent trials say as much as those do.
        kappa: Cohen's kappa; NaN where both say the same one thing of all, or no trial is judged.
        kappa_error: Its standard error.
        kappa_interval: kappa ± z · error within [-1, 1]; NaN where the error is 0, which is no
            certainty: it is so whenever all agree.
    """

    confusion: NDArray[np.int64]
    rate: float
    interval: tuple[float, float]
    effective: float
    kappa: float
    kappa_error: float
    kappa_interval: tuple[float, float]

    @property
    def trials(self) -> int:
        """All trials."""
        return int(self.confusion.sum())

    @property
    def judged(self) -> int:
        """Those that both judged."""
        return int(self.confusion[:JUDGED, :JUDGED].sum())

    @property
    def unjudged(self) -> tuple[int, int]:
        """Those that the first, and that the second, did not judge; some are in both counts."""
        return int(self.confusion[JUDGED].sum()), int(self.confusion[:, JUDGED].sum())


def compare_verdicts(
    first: Sequence[Verdict],
    second: Sequence[Verdict],
    *,
    weights: ArrayLike | None = None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> Agreement:
    """Compare two sources' verdicts of the same T trials.

    Args:
        first: T verdicts.
        second: T verdicts.
        weights: Shape (T,), how many trials of the run each stands for; by default all the same.
        clusters: Shape (T,), such as the trials' problems: trials of one cluster may be alike.
            By default all trials are independent.
        level: Coverage of the intervals.

    Raises:
        ValueError: If the lengths differ, or level isn't between 0 and 1.
    """
    z = normal_quantile(level)
    row, column = _codes(first), _codes(second)
    if len(row) != len(column):
        raise ValueError(f'first holds {len(row)} verdicts, second {len(column)}; give as many')
    confusion = np.zeros((len(VERDICTS), len(VERDICTS)), dtype=np.int64)
    np.add.at(confusion, (row, column), 1)
    both = (row < JUDGED) & (column < JUDGED)
    weight = np.ones(len(row)) if weights is None else np.asarray(weights, float)
    row, column, weight = row[both], column[both], weight[both]
    cluster = None if clusters is None else np.asarray(clusters)[both]

    agree = row == column
    rate = float(weight @ agree / weight.sum()) if len(agree) else float('nan')
    size = effective_size(agree, weight, cluster)
    low, high = wilson(rate * size, size, level)

    table = np.zeros((JUDGED, JUDGED))
    np.add.at(table, (row, column), weight)
    kappa, influence = _kappa(table)
    error = float(np.sqrt(mean_variance(influence[row, column], weight, cluster)))
    error = 0.0 if error < ROUNDING else error
    spread = z * error if error else float('nan')
    bounds = float(np.maximum(kappa - spread, -1)), float(np.minimum(kappa + spread, 1))
    return Agreement(confusion, rate, (float(low), float(high)), float(size), kappa, error, bounds)


def _kappa(table: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return kappa, and what a trial in each cell adds to it, up to a constant: its gradient.

    kappa = (p_o - p_e) / (1 - p_e) (Cohen, Educational and Psychological Measurement 20 (1960),
    37-46), with the gradient for the error of large samples (Fleiss, Cohen and Everitt,
    Psychological Bulletin 72 (1969), 323-327). Both are NaN where the table is empty or all of it
    in one class.
    """
    total = table.sum()
    nothing = float('nan'), np.full(table.shape, np.nan)
    # One class alone: p_e is 1. Told by counts, since rounding may leave it just below.
    if not total or (np.diag(table) == total).any():
        return nothing
    share = table / total
    first, second = share.sum(axis=1), share.sum(axis=0)
    same, chance = float(np.trace(share)), float(first @ second)
    # p_e's derivative by the share of cell (i, j) is second[i] + first[j].
    slope = second[:, None] + first[None, :]
    gradient = np.eye(len(table)) * (1 - chance) - (1 - same) * slope
    return (same - chance) / (1 - chance), gradient / (1 - chance) ** 2


def _codes(verdicts: Sequence[Verdict]) -> NDArray[np.int64]:
    code = {verdict: index for index, verdict in enumerate(VERDICTS)}
    return np.array([code[Verdict(verdict)] for verdict in verdicts], dtype=np.int64)
