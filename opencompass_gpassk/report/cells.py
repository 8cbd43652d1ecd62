"""Texts of table cells: figures, their intervals and marks, and notes that explain these."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from enum import Enum

from opencompass_gpassk.formats.display import decimal_text, one_line
from opencompass_gpassk.results.stored_result import Estimate

Cell = str | int | float | None

BRACKETS, PLUS_MINUS = 'brackets', '±'
STYLES = (BRACKETS, PLUS_MINUS, None)

WILSON = 'wilson'
RARE = 5.0  # percent
# Measured by benchmarks/coverage.py.
RARE_NOTE = (
    f'for figures below {RARE:g} or above {100 - RARE:g}: in simulations the intervals contained '
    'the true value in 94.7 to 99.6 % of cases at 2 %, in 92.2 to 100 % at 0.3 %'
)
ALONE = "Wilson's, since too few problems differ from the rest for a bootstrap"
INSTEAD = {
    WILSON: (
        "Wilson's interval instead of the bootstrap, where too few problems differ from the rest"
    ),
    'gain-loss': 'Interval from gains and losses instead of the bootstrap, for differences',
}


class Mark(Enum):
    """The rank of a figure among those that it is compared with."""

    BEST = 'none is better'
    NEAR = 'not distinguishable from the best'


METHODS = {
    'bca': 'BCa bootstrap over problems and their versions',
    'percentile': 'percentile bootstrap over problems and their versions',
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
    """Return a figure, NaN if it wasn't measured."""
    return math.nan if value is None else value


def shown_cell(cell: Cell, decimals: int) -> str:
    """Return a cell as one line: ``-`` if it was not measured, ``–`` if it is undefined."""
    if cell is None:
        return '-'
    if isinstance(cell, float):
        if not math.isfinite(cell):
            return '–'
        return decimal_text(cell, decimals)
    return one_line(str(cell))


def shown_interval(cell: Cell, decimals: int, style: str | None) -> str:
    """Return the interval of a cell as text, '' if it has none or the style is None."""
    if style is None or not isinstance(cell, Estimate):
        return ''
    low, high = cell.interval
    if style == PLUS_MINUS:
        return f'±{shown_cell((high - low) / 2, decimals)}'
    return f'[{shown_cell(low, decimals)}, {shown_cell(high, decimals)}]'


def interval_notes(cells: Mapping[str, Iterable[Cell]], style: str | None) -> list[str]:
    """Return notes on the intervals of some cells: their meaning, and columns with another method.

    Args:
        cells: Heading → the cells of its column whose intervals are shown.
        style: The style in which they are shown.
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
    """Return a note on the marks of the best figures.

    Args:
        marks: The marks that occur.
        best: The sign of the best figures.
        near: The sign of figures that are not distinguishable from the best.
        among: The cells among which figures are compared.
    """
    told = f'; {near}: not distinguishable from the best' if Mark.NEAR in marks else ''
    return (
        f'{best}: the best of its {among}{told} (paired sign-flip tests of every two models '
        'over the problems that both answered, 95 %, all pairs at once)'
    )


def _meaning(one: Estimate, style: str, made: str = '') -> str:
    settings = one.uncertainty
    level = settings.get('level')
    share = f'{100 * level:g} % ' if isinstance(level, float) else ''
    reading = f'[low, high]: {share}intervals'
    if style == PLUS_MINUS:
        reading = f'±: half the width of the {share}interval, which may be longer on one side'
    of = f', for {settings["of"]}' if settings.get('of') else ''
    resamples = settings.get('resamples')
    times = f', {resamples:,} resamples' if isinstance(resamples, int) and not made else ''
    name = str(settings.get('method', ''))
    made = made or METHODS.get(name, name)
    return f'{reading}{of}' + (f' ({made}{times})' if made else '')


def _replaced(shown: Mapping[str, Iterable[Estimate]], total: int) -> Iterable[str]:
    """Yield notes on columns with Wilson's or another interval instead of the requested one."""
    others: dict[str, dict[str, int]] = {}
    for name, column in shown.items():
        for cell in column:
            if cell.method and cell.method != cell.uncertainty.get('method'):
                of_method = others.setdefault(cell.method, {})
                of_method[name] = of_method.get(name, 0) + 1
    for method, columns in others.items():
        where = ', '.join(columns) if sum(columns.values()) < total else 'all of them'
        yield f'{INSTEAD.get(method, method)}: {where}'
