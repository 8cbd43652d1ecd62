"""Tables in LaTeX with booktabs: figures, and their intervals in small print below them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.report.cells import (
    BRACKETS,
    PLUS_MINUS,
    Mark,
    checked_style,
    shown_cell,
    shown_interval,
)
from opencompass_gpassk.report.tables.table import DIFFICULTY, Table, alignment, shown_notes

HEAD = (
    '% Tables of G-Pass@k. The preamble needs \\usepackage{booktabs} and \\usepackage{graphicx},\n'
    '% and for names in other scripts XeLaTeX or LuaLaTeX with a font that has them.\n'
)
NARROW = 5  # columns that fit on any page
# Shrinks only a table that is wider than the text.
FIT = '\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%'
FITTING = ('', DIFFICULTY)  # breakdowns whose tables fit on a page
PM = '$\\pm$'
MARKED = {Mark.BEST: '\\textbf{{{}}}', Mark.NEAR: '$^\\approx${}'}
LIGATURES = re.compile(r"([-–,'’])(?=[-–,'’])")  # pairs to be kept apart by BETWEEN
BETWEEN = '\0'  # never part of a text
# After \\, brackets and stars would be its arguments; quotes and some others make ligatures.
SPECIAL = {
    **{sign: f'\\{sign}' for sign in '{}$&#%_'},
    **{sign: f'{{{sign}}}' for sign in '[]*`!?"'},
    '\\': '\\textbackslash{}',
    '^': '\\textasciicircum{}',
    '~': '\\textasciitilde{}',
    '<': '\\textless{}',
    '>': '\\textgreater{}',
    '|': '\\textbar{}',
    '–': '--',
    '…': '\\ldots{}',
    '’': "'",
    BETWEEN: '{}',
    **{
        sign: f'$\\{name}$'
        for sign, name in {'τ': 'tau', '≥': 'geq', '→': 'to', '≈': 'approx'}.items()
    },
    PLUS_MINUS: PM,
    '−': '$-$',
    '\ufffd': '{?}',
}
ESCAPES = str.maketrans(SPECIAL)


def escape_latex(text: str) -> str:
    """Return a text as one line that LaTeX shows literally, without commands or open braces."""
    return LIGATURES.sub(rf'\1{BETWEEN}', one_line(text)).translate(ESCAPES)


def to_latex(table: Table, intervals: str | None = BRACKETS) -> str:
    """Return a table as a ``table`` environment, its notes below.

    Args:
        table: The table; the best figures are bold, those that may be as good have ≈.
        intervals: ``brackets``, below the figures; ``±``, half the width; None for none.

    Raises:
        ValueError: If the style of intervals is unknown.
    """
    style = checked_style(intervals)
    sides = [alignment(column)[0] for column in zip(*table.rows, strict=True)]
    lines = [
        '\\begin{table}',
        '\\centering',
        f'\\caption{{{escape_latex(table.title)}}}',
        '\\small\\setlength{\\tabcolsep}{3pt}%',
        *([FIT] if len(table.columns) > NARROW else []),
        f'\\begin{{tabular}}{{{"".join(sides) or "l" * len(table.columns)}}}',
        '\\toprule',
        *_headings(table.columns),
        '\\midrule',
        *(line for index in range(len(table.rows)) for line in _lines(table, index, style)),
        '\\bottomrule',
        '\\end{tabular}' + ('}' if len(table.columns) > NARROW else ''),
    ]
    for note in shown_notes(table, style, 'bold', table.columns):
        lines.append(f'\\par{{\\footnotesize {escape_latex(note)}\\par}}')
    return '\n'.join([*lines, '\\end{table}']) + '\n'


def latex_report(tables: Iterable[Table], intervals: str | None = BRACKETS) -> str:
    """Return the tables that fit on a page: tables without groups, and those of difficulty."""
    shown = [to_latex(table, intervals) for table in tables if table.breakdown in FITTING]
    return '\n'.join([HEAD, *shown])


def _lines(table: Table, index: int, style: str | None) -> Iterable[str]:
    cells = table.rows[index]
    figures = [escape_latex(shown_cell(cell, table.decimals)) for cell in cells]
    marked = [
        MARKED[table.marks[index, column]].format(figure)
        if (index, column) in table.marks
        else figure
        for column, figure in enumerate(figures)
    ]
    widths = [shown_interval(cell, table.decimals, style) for cell in cells]
    if style == PLUS_MINUS:
        yield _row(
            f'{figure} {_small(width)}' if width else figure
            for figure, width in zip(marked, widths, strict=True)
        )
        return
    yield _row(marked)
    if any(widths):
        yield _row(_small(width) if width else '' for width in widths)


def _headings(columns: Sequence[str]) -> Iterable[str]:
    """Yield the headings; those of metrics take two lines: G-Pass above, @16 and τ below."""
    parts = [name.partition('@') for name in columns]
    if any(at for _, at, _ in parts):
        yield _row(escape_latex(before) if at else '' for before, at, _ in parts)
    yield _row(escape_latex(at + after if at else before) for before, at, after in parts)


def _small(interval: str) -> str:
    return f'{{\\scriptsize {interval.replace(PLUS_MINUS, PM)}}}'


def _row(cells: Iterable[str]) -> str:
    return f'{" & ".join(cells)} \\\\'
