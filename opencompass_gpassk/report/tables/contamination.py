"""The table of contamination: signs that a model has seen a benchmark. None of them is a proof.

arXiv 2412.13147 (4.4.5) relates contamination to a steeper fall of G-Pass@k_τ over τ; arXiv
2501.11790 to a drop in accuracy from original problems to versions with other numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from opencompass_gpassk.report.board import AVERAGE, Board
from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.metric import DROP, G_PASS
from opencompass_gpassk.results.result import Entry, resting_on

LEGEND = (
    'slope: of G-Pass@k over τ; steep slopes and wide gaps hint at answers learnt by heart '
    '(docs/rvbench.md)',
)


def contamination_table(board: Board) -> Table | None:
    """Return the signs of contamination, a row for each model and benchmark; None without any.

    The slope of one model alone says nothing, since its scale depends on the benchmark.
    """
    rows: list[list[Cell]] = []
    for benchmark in board.benchmarks:
        for entry in benchmark.entries:
            _, steepness, *others = signs = _signs(entry)
            alone = len(benchmark.entries) == 1
            if any(sign is not None for sign in (others if alone else [steepness, *others])):
                rows.append([benchmark.name, entry.label, entry.questions(AVERAGE), *signs])
    if not rows:
        return None
    columns = ['benchmark', 'model', 'questions', 'k', 'slope', 'greedy - G-Pass', 'SP - RV']
    return Table('Signs of contamination', columns, rows, LEGEND)


def slope(taus: Sequence[float], values: Sequence[float]) -> float:
    """Return the slope of the line through T points by least squares.

    Args:
        taus: T thresholds.
        values: T metrics; undefined ones are left out.

    Returns:
        Change of the metric as τ grows by 1; NaN with fewer than two points.
    """
    x, y = np.asarray(taus, dtype=float), np.asarray(values, dtype=float)
    x, y = x[~np.isnan(y)], y[~np.isnan(y)]
    return float(np.polyfit(x, y, deg=1)[0]) if len(np.unique(x)) > 1 else math.nan


def _signs(entry: Entry) -> list[Cell]:
    """Return k, slope, gap and drop; None if not measured."""
    k = max(entry.ks, default=None)
    steepness = gap = None
    if k is not None:
        metrics = [entry.metric(G_PASS(k=k, tau=tau)) for tau in entry.taus]
        asked = entry.questions(G_PASS(k=k, tau=1.0))
        steepness = resting_on(slope(entry.taus, list(map(number, metrics))), asked)
        strictest, greedy = entry.metric(G_PASS(k=k, tau=1.0)), entry.greedy_accuracy()
        both = strictest is not None and greedy is not None
        if both and entry.greedy and entry.greedy.same_data(entry.result):
            gap = resting_on(number(greedy) - number(strictest), asked)
    drops = (result.metric(DROP()) for result in entry.results)
    return [k, steepness, gap, next((one for one in drops if one is not None), None)]
