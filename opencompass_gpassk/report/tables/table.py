"""Tables of metrics, as text for the terminal and as Markdown."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tabulate import tabulate

from opencompass_gpassk.formats.display import escape_markdown, one_line
from opencompass_gpassk.report.cells import (
    BRACKETS,
    FEW,
    PLUS_MINUS,
    Cell,
    Mark,
    checked_style,
    interval_legend,
    shown_cell,
    shown_interval,
    signs_legend,
    told_apart,
)
from opencompass_gpassk.results.result import Few

STAR, NEAR = '*', '≈'  # before the best metrics, and before those that may be as good
WIDTH = 100  # characters; in wider tables headings take two lines
MOST_WIDTH = 120  # characters; that of a file
LEAST_NAME = 24  # characters that are left of a name; tables still too wide have several parts


def line_width() -> int:
    """Return the width of the terminal, or what the environment says (``COLUMNS``).

    It is at most :data:`MOST_WIDTH`, which is also that of files and pipes.
    """
    return min(shutil.get_terminal_size((MOST_WIDTH, 0)).columns, MOST_WIDTH)


@dataclass(frozen=True)
class Table:
    """A table that is ready to be shown.

    Attributes:
        title: The table's title.
        columns: The headings.
        rows: One cell per column. Metrics are floats in percent; NaN is undefined, None not
            measured. An :class:`~opencompass_gpassk.results.result.Estimate` also has an
            interval.
        legend: What columns mean, in lines of at most 110 characters. With the lines on intervals
            and signs there are at most three; the docs say the rest.
        notes: Facts on these metrics.
        warnings: Reasons to trust the metrics less, the most important first.
        decimals: Decimals shown of each metric.
        headline: Headings of the columns whose intervals are shown in the terminal.
        detail: Headings of the columns that are not shown in brief.
        marks: (row, column) → mark of a best metric, or one not distinguishable from the best, of
            its column.
        claims: What the metrics and their tests say in sentences, shown before the notes.
        main: Whether it is shown at the end of a job; other tables are only in files.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    legend: Sequence[str] = field(default=())
    notes: Sequence[str] = field(default=())
    decimals: int = 1
    headline: Collection[str] = field(default=())
    detail: Collection[str] = field(default=())
    marks: Mapping[tuple[int, int], Mark] = field(default_factory=dict)
    claims: Sequence[str] = field(default=())
    warnings: Sequence[str] = field(default=())
    main: bool = False

    def in_brief(self) -> Table:
        """Return the main columns alone, without notes."""
        kept = [i for i, name in enumerate(self.columns) if name not in self.detail]
        return Table(
            self.title,
            [self.columns[i] for i in kept],
            [[row[i] for i in kept] for row in self.rows],
            decimals=self.decimals,
            headline=self.headline,
            marks={(row, kept.index(i)): m for (row, i), m in self.marks.items() if i in kept},
        )


def to_text(
    table: Table, intervals: str | None = BRACKETS, notes: Sequence[str] | None = None
) -> str:
    """Return a table for the terminal, what it says in sentences first, its notes below.

    It fits the terminal: names are cut, and columns that do not fit stand below the others.

    Args:
        table: The table. Intervals are only shown in the headline columns.
        intervals: ``brackets``, below the metrics; ``±``, half the width; None for none.
        notes: What is told below; None for all of :func:`shown_notes` but the claims.

    Raises:
        ValueError: If the style of intervals is unknown.
    """
    style = checked_style(intervals)
    between = ' ' if style == PLUS_MINUS else '\n'
    shown = {name for name in table.columns if name in table.headline}
    rows = [
        [
            _marked(shown_cell(cell, table.decimals), table.marks.get((row, column)))
            + _after(between, cell, table.decimals, style if name in shown else None)
            for column, (name, cell) in enumerate(zip(table.columns, cells, strict=True))
        ]
        for row, cells in enumerate(table.rows)
    ]
    told = shown_notes(replace(table, claims=()), style) if notes is None else notes
    below = ''.join(f'{wrapped(note, "  * ")}\n' for note in told)
    above = ''.join(f'{wrapped(claim)}\n' for claim in table.claims)
    return f'{above}{wrapped(table.title)}\n{_fitting(table, rows)}\n{below}'


def to_markdown(table: Table, intervals: str | None = BRACKETS) -> str:
    """Return a table in GitHub's Markdown, with names and notes escaped.

    Args:
        table: The table.
        intervals: ``brackets`` or ``±``, after every metric with an interval; None for none.

    Raises:
        ValueError: If the style of intervals is unknown.
    """
    style = checked_style(intervals)
    rule = [
        '---:' if side == 'right' else '---'
        for side in map(alignment, zip(*table.rows, strict=True))
    ] or ['---'] * len(table.columns)
    rows = [
        [
            _marked(
                escape_markdown(shown_cell(cell, table.decimals)),
                table.marks.get((row, column)),
                '**{}**',
            )
            + _after(' ', cell, table.decimals, style)
            for column, cell in enumerate(cells)
        ]
        for row, cells in enumerate(table.rows)
    ]
    lines = [[escape_markdown(column) for column in table.columns], rule, *rows]
    body = '\n'.join(f'| {" | ".join(line)} |' for line in lines)
    told = shown_notes(table, style, 'bold', table.columns)
    notes = ''.join(f'- {escape_markdown(note)}\n' for note in told)
    return f'### {escape_markdown(table.title)}\n\n{body}\n' + (f'\n{notes}' if notes else '')


def shown_notes(
    table: Table,
    style: str | None,
    best: str = STAR,
    with_intervals: Collection[str] | None = None,
) -> list[str]:
    """Return a table's claims, legend, warnings and notes.

    Args:
        table: The table.
        style: The style of the intervals, None if they are not shown.
        best: The sign of the best metrics.
        with_intervals: Headings of the columns that show their intervals; None for the headline's.
    """
    headings = table.headline if with_intervals is None else with_intervals
    shown = [
        row[index]
        for index, name in enumerate(table.columns)
        if name in headings
        for row in table.rows
    ]
    few = any(isinstance(cell, Few) for row in table.rows for cell in row)
    return [
        *table.claims,
        *interval_legend(shown, style),
        *signs_legend(table.marks.values(), best, NEAR, FEW * few),
        *table.legend,
        *table.warnings,
        *table.notes,
    ]


def alignment(column: Sequence[Cell]) -> str:
    """Return the alignment of a column: ``left`` for texts, ``right`` for metrics."""
    return 'left' if any(isinstance(cell, str) for cell in column) else 'right'


def first_metric(table: Table) -> int:
    """Return the index of the first column with a metric; those before it tell what a row is of."""
    columns = list(zip(*table.rows, strict=True))
    metrics = [any(isinstance(cell, float) for cell in column) for column in columns]
    return metrics.index(True) if True in metrics else len(table.columns)


def _tabulated(rows: Sequence[Sequence[str]], headings: Sequence[str], sides: Sequence[str]) -> str:
    return tabulate(rows, headers=headings, colalign=sides or None, disable_numparse=True)


def _fitting(table: Table, rows: list[list[str]]) -> str:
    """Return the table's body.

    If it is too wide, headings take several lines and names are cut; if that is not enough, the
    columns are spread over several bodies, each with the columns that tell rows apart.
    """
    width = line_width()
    sides = list(map(alignment, zip(*table.rows, strict=True)))
    body = _tabulated(rows, list(table.columns), sides)
    if _width(body) <= min(width, WIDTH):
        return body
    headings = [re.sub(r' (?=\S*@)|(?=@)', '\n', name) for name in table.columns]
    body = _tabulated(rows, headings, sides)
    texts = [i for i, side in enumerate(sides) if side == 'left']
    widths = {i: max(len(row[i]) for row in rows) for i in texts}
    while _width(body) > width and (longest := max(widths.values(), default=0)) > LEAST_NAME:
        column = next(i for i in texts if widths[i] == longest)
        widths[column] = max(longest - (_width(body) - width), LEAST_NAME)
        short = told_apart([row[column] for row in rows], widths[column])
        rows = [[*r[:column], name, *r[column + 1 :]] for r, name in zip(rows, short, strict=True)]
        body = _tabulated(rows, headings, sides)
    if _width(body) <= width:
        return body
    names = [i for i in range(first_metric(table)) if sides[i] == 'left' or table.columns[i] == 'k']
    bodies, columns = [], names
    for column in (i for i in range(len(headings)) if i not in names):
        wider = sorted([*columns, column])
        if _width(_part(rows, headings, sides, wider)) > width and len(columns) > len(names):
            bodies.append(_part(rows, headings, sides, columns))
            wider = sorted([*names, column])
        columns = wider
    return '\n\n'.join([*bodies, _part(rows, headings, sides, columns)])


def _part(
    rows: Sequence[Sequence[str]],
    headings: Sequence[str],
    sides: Sequence[str],
    columns: Sequence[int],
) -> str:
    """Return some columns of a table's body."""
    of_rows = [[row[i] for i in columns] for row in rows]
    return _tabulated(of_rows, [headings[i] for i in columns], [sides[i] for i in columns])


def _width(body: str) -> int:
    return max(map(len, body.splitlines()), default=0)


def wrapped(text: str, before: str = '') -> str:
    """Return a text as lines that fit on a terminal; the first begins with ``before``."""
    return textwrap.fill(
        one_line(text), line_width(), initial_indent=before, subsequent_indent=' ' * len(before)
    )


def _after(between: str, cell: Cell, decimals: int, style: str | None) -> str:
    interval = shown_interval(cell, decimals, style)
    return between + interval if interval else ''


def _marked(text: str, mark: Mark | None, best: str = f'{STAR}{{}}') -> str:
    if mark is None:
        return text
    return best.format(text) if mark is Mark.BEST else f'{NEAR}{text}'
