"""How far two sources of verdicts agree: agreement rate, Cohen's kappa and the confusion table.

Rate and kappa cover the trials that both sources judged; the other trials are only counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.metrics.share_intervals import (
    effective_size,
    mean_variance,
    normal_quantile,
    wilson,
)
from opencompass_gpassk.trials import Verdict

VERDICTS = (Verdict.CORRECT, Verdict.INCORRECT, Verdict.UNJUDGED)
JUDGED = 2  # the first two of VERDICTS say that a trial was judged
ROUNDING = 1e-12  # a standard error this small is 0


@dataclass(frozen=True)
class Agreement:
    """The result of comparing two sources of verdicts.

    Attributes:
        confusion: Shape (3, 3), number of trials by the verdict of the first source (row) and of
            the second (column): correct, incorrect, unjudged.
        rate: Share of the trials judged by both on which the verdicts are equal, in [0, 1]; NaN
            if both judged no trial. arXiv 2412.13147, Table 5.
        interval: Wilson interval of the rate, for ``effective`` trials.
        effective: Number of independent trials that would give the rate as precisely.
        kappa: Cohen's kappa; NaN if all verdicts are the same, or no trial was judged by both.
        kappa_error: Standard error of kappa.
        kappa_interval: kappa ± z · error within [-1, 1]; NaN where the error is 0. An error of 0
            does not mean certainty: it occurs whenever all verdicts agree.
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
        """Trials that both sources judged."""
        return int(self.confusion[:JUDGED, :JUDGED].sum())

    @property
    def unjudged(self) -> tuple[int, int]:
        """Trials that the first source left unjudged, and the second; a trial can be in both."""
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
        weights: Shape (T,), how many trials of the run each stands for; by default all are equal.
        clusters: Shape (T,), labels such as the trials' problems. Trials of one cluster may be
            correlated; by default all trials are independent.
        level: Coverage of the intervals.

    Raises:
        ValueError: If level isn't between 0 and 1.
    """
    z = normal_quantile(level)
    row, column = (
        np.array([VERDICTS.index(Verdict(one)) for one in side], dtype=np.int64)
        for side in (first, second)
    )
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
    """Return kappa and its gradient: what a trial in each cell adds to it, up to a constant.

    kappa = (p_o - p_e) / (1 - p_e) (Cohen, Educational and Psychological Measurement 20 (1960),
    37-46). The gradient gives the large-sample error (Fleiss, Cohen and Everitt, Psychological
    Bulletin 72 (1969), 323-327). Both are NaN if the table is empty or all trials are in one class.
    """
    total = table.sum()
    # p_e is 1 if all trials are in one class. Compare counts: rounding may leave p_e just below 1.
    if not total or (np.diag(table) == total).any():
        return float('nan'), np.full(table.shape, np.nan)
    share = table / total
    first, second = share.sum(axis=1), share.sum(axis=0)
    same, chance = float(np.trace(share)), float(first @ second)
    # The derivative of p_e with respect to the share of cell (i, j) is second[i] + first[j].
    slope = second[:, None] + first[None, :]
    gradient = np.eye(len(table)) * (1 - chance) - (1 - same) * slope
    return (same - chance) / (1 - chance), gradient / (1 - chance) ** 2
