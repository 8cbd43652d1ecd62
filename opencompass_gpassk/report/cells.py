"""Texts of table cells: metrics, their intervals and marks, and notes that explain these."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from enum import Enum

from opencompass_gpassk.formats.display import decimal_text, one_line
from opencompass_gpassk.metrics.clusters import LEAST_CLUSTERS
from opencompass_gpassk.results.result import Estimate, Few

Cell = str | int | float | None

BRACKETS, PLUS_MINUS = 'brackets', '±'
STYLES = (BRACKETS, PLUS_MINUS, None)

FEW = '†'  # before metrics that rest on too few questions


class Mark(Enum):
    """The rank of a metric among those that it is compared with."""

    BEST = 'none is better'
    NEAR = 'not distinguishable from the best'


# Of intervals; docs/method.md explains them.
METHODS = {
    'bca': 'BCa bootstrap',
    'percentile': 'percentile bootstrap',
    'wilson': "Wilson's",
    'gain-loss': 'gains and losses',
}


def checked_style(style: str | None) -> str | None:
    """Return the style in which intervals are shown.

    Raises:
        ValueError: If the style is unknown.
    """
    if style not in STYLES:
        raise ValueError(
            f"intervals is {style!r}; use 'brackets', '±' (half the width), or None for none"
        )
    return style


def number(value: float | None) -> float:
    """Return a metric, NaN if it wasn't measured."""
    return math.nan if value is None else value


def shown_cell(cell: Cell, decimals: int) -> str:
    """Return a cell as one line: ``-`` if it was not measured, ``–`` if it is undefined.

    Metrics that rest on too few questions are marked.
    """
    if cell is None:
        return '-'
    if isinstance(cell, float):
        if not math.isfinite(cell):
            return '–'
        return FEW * isinstance(cell, Few) + decimal_text(cell, decimals)
    return one_line(str(cell))


def shown_interval(cell: Cell, decimals: int, style: str | None) -> str:
    """Return the interval of a cell as text, '' if it has none or the style is None."""
    if style is None or not isinstance(cell, Estimate):
        return ''
    low, high = cell.interval
    if style == PLUS_MINUS:
        return f'±{shown_cell((high - low) / 2, decimals)}'
    return f'[{shown_cell(low, decimals)}, {shown_cell(high, decimals)}]'


def interval_legend(cells: Iterable[Cell], style: str | None) -> list[str]:
    """Return the line on the intervals of some cells: their meaning; none without intervals.

    Args:
        cells: The cells whose intervals are shown.
        style: The style in which they are shown.
    """
    shown = [cell for cell in cells if isinstance(cell, Estimate)]
    if style is None or not shown:
        return []
    levels = {one.uncertainty.level for one in shown}
    known = sorted(one for one in levels if isinstance(one, float))
    told = ' or '.join(f'{100 * one:g}' for one in known)
    share = f'{told} % ' if told else ''
    if style == PLUS_MINUS:
        reading = f'half the width of the {share}interval, which may be longer on one side'
        return [f'{PLUS_MINUS}: {reading} (docs/method.md)']
    methods = [name for key, name in METHODS.items() if any(one.method == key for one in shown)]
    made = f'{", ".join(methods)}: ' if methods else ''
    return [f'[low, high]: {share}intervals for problems like these ({made}docs/method.md)']


def signs_legend(marks: Collection[Mark], best: str, near: str, few: str) -> list[str]:
    """Return the line on the signs of metrics: best ones, and those of too few questions.

    Args:
        marks: The marks that occur.
        best: The sign of the best metrics.
        near: The sign of metrics that are not distinguishable from the best.
        few: The sign of metrics that rest on too few questions; '' if there are none.
    """
    told = []
    if marks:
        told.append(f'{best}: best of its column')
    if Mark.NEAR in marks:
        told.append(f'{near}: may be as good')
    if marks:
        told[-1] += ' (docs/method.md)'
    if few:
        told.append(few_legend(few))
    return ['; '.join(told)] if told else []


def few_legend(sign: str) -> str:
    """Return what the sign of metrics that rest on too few questions means."""
    return f'{sign}: fewer than {LEAST_CLUSTERS} questions, so no interval'


def told_apart(names: Sequence[str], most: int) -> list[str]:
    """Return names of at most ``most`` characters; different ones stay different.

    A long name loses what it shares with the others: one part near its middle, else two. It stays
    whole if no such short form tells it from all of them.
    """
    return [
        name if len(name) <= most else _shortened(name, {*names} - {name}, most) for name in names
    ]


def _shortened(name: str, others: Collection[str], most: int) -> str:
    for tail in sorted(range(1, most - 1), key=lambda tail: abs(tail - most // 2)):
        head, end = name[: most - 1 - tail], name[-tail:]
        if not any(one.startswith(head) and one.endswith(end) for one in others):
            return f'{head}…{end}'
    third = (most - 2) // 3
    head, end = name[:third], name[-third:]
    alike = [one for one in others if one.startswith(head) and one.endswith(end)]
    for start in range(third, len(name) - third, max(third // 2, 1)):
        middle = name[start : start + third]
        if not any(middle in one[third:] for one in alike):
            return f'{head}…{middle}…{end}'
    return name
