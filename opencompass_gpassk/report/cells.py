"""Cells as they are shown: figures with so many decimals, their intervals, and what these mean."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from enum import Enum

from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.results.join_results import Estimate

__all__ = [
    'BRACKETS',
    'STYLES',
    'Cell',
    'Mark',
    'checked_style',
    'interval_notes',
    'marks_note',
    'shown_cell',
    'shown_interval',
]

Cell = str | int | float | None

BRACKETS, PLUS_MINUS = 'brackets', '±'
STYLES = (BRACKETS, PLUS_MINUS, None)

WILSON = 'wilson'
RARE = 5.0  # percent
# As benchmarks/coverage.py measured it.
RARE_NOTE = (
    f'intervals of figures below {RARE:g} or above {100 - RARE:g}: in simulations such hold the '
    'truth in 93.5 to 99.5 % of cases at 2 %, in 89 to 100 % at 0.3 %'
)
ALONE = "Wilson's, since too few problems differ from the rest for a bootstrap"


class Mark(Enum):
    """What a figure is among those that it is compared with."""

    BEST = 'none is better'
    NEAR = 'not distinguishable from the best'


METHODS = {
    'bca': 'BCa bootstrap over problems and their versions',
    'percentile': 'percentile bootstrap over problems and their versions',
}


def checked_style(style: str | None) -> str | None:
    """Return how intervals are shown.

    Raises:
        ValueError: If it is no such way.
    """
    if style not in STYLES:
        raise ValueError(
            f"intervals is {style!r}; show them in 'brackets', as '±' half their width, or None"
        )
    return style


def shown_cell(cell: Cell, decimals: int) -> str:
    """Return a cell as one line: a dash where nothing was measured, a longer one if undefined."""
    if cell is None:
        return '-'
    if isinstance(cell, float):
        if not math.isfinite(cell):
            return '–'
        # Nothing is -0.0.
        return f'{round(float(cell), decimals) + 0.0:.{decimals}f}'
    return one_line(str(cell))


def shown_interval(cell: Cell, decimals: int, style: str | None) -> str:
    """Return the interval of a cell, '' where it has none or none is to be shown."""
    if style is None or not isinstance(cell, Estimate):
        return ''
    low, high = cell.interval
    if style == PLUS_MINUS:
        return f'±{shown_cell((high - low) / 2, decimals)}'
    return f'[{shown_cell(low, decimals)}, {shown_cell(high, decimals)}]'


def interval_notes(cells: Mapping[str, Iterable[Cell]], style: str | None) -> list[str]:
    """Return what the intervals of some cells are, and where they came about in another way.

    Args:
        cells: Heading → the cells below it of which the interval is shown.
        style: How.
    """
    shown = {
        name: [cell for cell in column if isinstance(cell, Estimate)]
        for name, column in cells.items()
    }
    estimates = [cell for column in shown.values() for cell in column]
    if style is None or not estimates:
        return []
    rare = [RARE_NOTE] if any(not RARE < cell < 100 - RARE for cell in estimates) else []
    if all(cell.method == WILSON for cell in estimates):
        return [*dict.fromkeys(_meaning(one, style, ALONE) for one in estimates), *rare]
    return [
        *dict.fromkeys(_meaning(one, style) for one in estimates),
        *_replaced(shown, len(estimates)),
        *rare,
    ]


def marks_note(marks: Collection[Mark], best: str, near: str, among: str) -> str:
    """Return what the marks of the best figures mean.

    Args:
        marks: Those that occur.
        best: How the best are marked.
        near: How those are marked that are not distinguishable from the best.
        among: What figures are compared within.
    """
    told = f'; {near}: the data cannot tell it from the best' if Mark.NEAR in marks else ''
    return (
        f'{best}: the best of its {among}{told} (paired sign-flip test over the problems that all '
        'these models answered, 95 %, all pairs at once)'
    )


def _meaning(one: Estimate, style: str, made: str = '') -> str:
    settings = one.uncertainty
    level = settings.get('level')
    share = f'{100 * level:g} % ' if isinstance(level, float) else ''
    reading = f'[low, high]: {share}intervals'
    if style == PLUS_MINUS:
        reading = f'±: half the width of the {share}interval, which may reach farther to one side'
    of = f', for {settings["of"]}' if settings.get('of') else ''
    resamples = settings.get('resamples')
    times = f', {resamples:,} resamples' if isinstance(resamples, int) and not made else ''
    name = str(settings.get('method', ''))
    made = made or METHODS.get(name, name)
    return f'{reading}{of}' + (f' ({made}{times})' if made else '')


def _replaced(shown: Mapping[str, Iterable[Estimate]], total: int) -> Iterable[str]:
    """Yield where Wilson's interval, or another, stands in place of the one that was asked for."""
    others: dict[str, dict[str, int]] = {}
    for name, column in shown.items():
        for cell in column:
            if cell.method and cell.method != cell.uncertainty.get('method'):
                of_method = others.setdefault(cell.method, {})
                of_method[name] = of_method.get(name, 0) + 1
    for method, columns in others.items():
        title = method.capitalize() + ("'s" if method == WILSON else '')
        where = ', '.join(columns) if sum(columns.values()) < total else 'all of them'
        yield (
            f'{title} interval in place of the bootstrap, where too few problems differ from the '
            f'rest: {where}'
        )
