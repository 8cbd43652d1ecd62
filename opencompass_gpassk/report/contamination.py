"""Signs that a model has seen a benchmark, side by side: none of them is a proof.

arXiv 2412.13147 (4.4.5) relates contamination to a steeper fall of G-Pass@k_τ over τ, arXiv
2501.11790 to a drop in accuracy from the original problems to the same with other numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from opencompass_gpassk.report.benchmarks import Entry, Results, join_benchmarks, same_data
from opencompass_gpassk.report.tables import Cell, Table
from opencompass_gpassk.version_groups import DROP

__all__ = ['contamination_table', 'slope']

NOTES = (
    'slope: change of G-Pass@k_τ, in points, as τ goes from 0 to 1 (least squares through the τ '
    'that were measured); it is negative',
    'greedy − G-Pass: accuracy of the greedy answer less G-Pass@k_1.0, in points',
    'SP − RV: accuracy on original problems less that on the same with other numbers, in points',
    'a model that memorised answers tends to a steep slope and wide gaps; an unsteady one does too',
)


def contamination_table(results: Results) -> Table | None:
    """Return a row for each model and benchmark that was sampled or has versions, None if none.

    Args:
        results: Model → data set → result, as stored in the result JSON.
    """
    rows: list[list[Cell]] = []
    for benchmark in join_benchmarks(results):
        for entry in benchmark.entries:
            signs = _signs(entry)
            if any(sign is not None for sign in signs):
                rows.append([benchmark.name, benchmark.label(entry), *signs])
    if not rows:
        return None
    columns = ['benchmark', 'model', 'k', 'slope', 'greedy − G-Pass', 'SP − RV']
    return Table('Signs of contamination', columns, rows, NOTES)


def slope(taus: Sequence[float], values: Sequence[float]) -> float:
    """Return the slope of the line through T points by least squares.

    Args:
        taus: T thresholds.
        values: T figures; undefined ones are left out.

    Returns:
        Change of the figure as τ grows by 1; NaN with fewer than two points.
    """
    x, y = np.asarray(taus, dtype=float), np.asarray(values, dtype=float)
    x, y = x[~np.isnan(y)], y[~np.isnan(y)]
    return float(np.polyfit(x, y, deg=1)[0]) if len(np.unique(x)) > 1 else math.nan


def _comparable(entry: Entry) -> bool:
    return entry.greedy is not None and same_data(entry.greedy, entry.result)


def _signs(entry: Entry) -> list[Cell]:
    """Return k, slope, gap and drop; None for what wasn't measured."""
    k = max(entry.ks, default=None)
    steepness = gap = None
    if k is not None:
        figures = [entry.figure(f'G-Pass@{k}_{tau}') for tau in entry.taus]
        steepness = slope(entry.taus, [math.nan if v is None else v for v in figures])
        strictest, greedy = entry.figure(f'G-Pass@{k}_1.0'), entry.greedy_accuracy()
        if strictest is not None and greedy is not None and _comparable(entry):
            gap = greedy - strictest
    drops = [result.get(DROP) for result in entry.results if DROP in result]
    return [k, steepness, gap, next((math.nan if d is None else d for d in drops), None)]
