"""LaTeX for papers: tables with booktabs that fit a column of a two-column page, and charts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.report.cells import (
    BRACKETS,
    FEW,
    PLUS_MINUS,
    Mark,
    checked_style,
    shown_cell,
    shown_interval,
    told_apart,
)
from opencompass_gpassk.report.tables.table import Table, alignment, first_metric, shown_notes

HEAD = r"""% Metrics of G-Pass@k. The preamble needs
%   \usepackage{booktabs,graphicx}
%   \DeclareMathSizes{8}{8}{7}{5}  % indices of 7 points
%   \extrafloats{200}  % only to set all of this at once
% and for names in other scripts XeLaTeX or LuaLaTeX with a font that has them.
"""
COLUMNS = 6  # of a tabular; the others stand below it
WIDTH = 234.0  # points: 3.25 inches, a column of a two-column page
SIZE, SMALL = 8, 7  # points of values and of intervals
STACK = r' \\ '  # between the lines of a heading
BETWEEN_COLUMNS = 2  # points, on either side of a column
# Width of letters, as a share of their size, in Computer Modern.
NARROW, OTHER, WIDE, WIDEST = 0.33, 0.55, 0.76, 0.89
LETTERS = (
    dict.fromkeys(" .,:;[]()|'-Ifijlrt", NARROW)
    | dict.fromkeys('@%mwMW', WIDEST)
    | {'…': 1.2, '±': 1.1}
)
NAMES = 110.0  # points of all names of a row
MOST_LETTERS, LEAST_LETTERS = 40, 8  # of a name
LINES = 48  # of a float, which must fit on a page
AROUND = 7  # lines of a tabular beside its rows
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
    FEW: '$^\\dagger$',
    PLUS_MINUS: PM,
    '−': '$-$',
    '\ufffd': '{?}',
}
ESCAPES = str.maketrans(SPECIAL)


# In escaped text: G-Pass@8\_1.0 and G-Pass@k\_$\tau$, whose τ becomes an index.
INDEXED = re.compile(
    r'(G-Pass(?:@\w+| over \w+ versions))\\_(?:\$(?P<sign>\\tau)\$|(?P<number>\d(?:[\d.]*\d)?))'
)


def escape_latex(text: str) -> str:
    """Return a text as one line that LaTeX shows literally, without commands or open braces.

    Only the threshold of G-Pass@k becomes an index.
    """
    escaped = LIGATURES.sub(rf'\1{BETWEEN}', one_line(text)).translate(ESCAPES)
    return INDEXED.sub(lambda at: f'{at[1]}$_{{{at["sign"] or at["number"]}}}$', escaped)


def to_latex(table: Table, intervals: str | None = BRACKETS, label: str = 'tab:gpassk') -> str:
    """Return a table as ``table`` environments that fit a column 3.25 inches wide.

    Columns that do not fit stand below the others, each time with the names before them. What does
    not fit on a page continues in another environment. Texts are of 8 points, intervals of 7.

    Args:
        table: The table; the best values are bold, those that may be as good have ≈. Its notes
            stand in the caption.
        intervals: ``brackets``, below the values; ``±``, half the width; None for none.
        label: The first environment's label; others add their number.

    Raises:
        ValueError: If the style of intervals is unknown.
    """
    style = checked_style(intervals)
    title = escape_latex(table.title)
    about, same = _about(table)
    notes = [*same, *shown_notes(table, style, 'bold', table.columns)]
    told = '; '.join(escape_latex(note.rstrip('.')) for note in notes)
    below = f' {told}.' if told else ''
    captions = [f'\\caption[{title}]{{{title}.{below}}}\\label{{{label}}}']
    floats: list[list[str]] = []
    for block in _tabulars(table, style, about):
        if not floats or len(floats[-1]) + len(block) > LINES:
            floats.append([])
        floats[-1] += block
    captions += [
        f'\\caption[]{{{title} (continued)}}\\label{{{label}-{number}}}'
        for number in range(2, len(floats) + 1)
    ]
    size = f'\\fontsize{{{SIZE}}}{{{SIZE + 1.5}}}\\selectfont'
    begin = ['\\begin{table}', '\\centering']
    space = f'\\smallskip{size}\\setlength{{\\tabcolsep}}{{{BETWEEN_COLUMNS}pt}}'
    return ''.join(
        '\n'.join([*begin, caption, space, *lines, '\\end{table}', ''])
        for caption, lines in zip(captions, floats, strict=True)
    )


def latex_report(
    tables: Iterable[Table],
    intervals: str | None = BRACKETS,
    charts: Mapping[str, str] | None = None,
    *,
    wide: bool = False,
) -> str:
    """Return tables, and ``figure`` environments of charts.

    Args:
        tables: The tables.
        intervals: Style of the intervals.
        charts: Name of a chart's file → its caption.
        wide: Whether the charts span both columns of a page.
    """
    parts = [
        to_latex(table, intervals, _label('tab', number, table.title))
        for number, table in enumerate(tables, 1)
    ]
    figure = 'figure*' if wide else 'figure'
    parts += [
        f'\\begin{{{figure}}}\n\\centering\n\\includegraphics{{{name}}}\n'
        f'\\caption{{{escape_latex(caption)}}}\\label{{{_label("fig", number, name)}}}\n'
        f'\\end{{{figure}}}\n'
        for number, (name, caption) in enumerate((charts or {}).items(), 1)
    ]
    return '\n'.join([HEAD, *parts])


def _label(kind: str, number: int, name: str) -> str:
    words = re.sub('[^a-z0-9]+', '-', name.lower())[:40].strip('-')
    return f'{kind}:{number}-{words}'


def _width(text: str) -> float:
    """Return about how wide a text is, in units of its size."""
    return sum(LETTERS.get(sign, WIDE if sign.isupper() else OTHER) for sign in text)


def _about(table: Table) -> tuple[list[int], list[str]]:
    """Return the columns that tell what a row is of, and in words those that are all alike."""
    columns = list(zip(*table.rows, strict=True))
    about = range(first_metric(table))
    same = [i for i in about[1:] if len(table.rows) > 1 and len(set(columns[i])) == 1]
    told = [f'{table.columns[i]}: {columns[i][0]}' for i in same if columns[i][0] is not None]
    return [i for i in about if i not in same], told


def _tabulars(table: Table, style: str | None, about: Sequence[int]) -> Iterator[list[str]]:
    """Yield the lines of each tabular: parts of the rows, and of these parts of the columns."""
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    texts = [i for i in about if alignment(columns[i]) == 'left']
    for letters in range(MOST_LETTERS, LEAST_LETTERS, -1):
        names = {i: told_apart(list(map(str, columns[i])), letters) for i in texts}
        if sum(max(map(_width, of_column)) * SIZE for of_column in names.values()) <= NAMES:
            break
    rows = [
        [names[i][row] if i in names else cell for i, cell in enumerate(cells)]
        for row, cells in enumerate(table.rows)
    ]
    small = [[shown_interval(cell, table.decimals, style) for cell in row] for row in rows]
    shown = [[shown_cell(cell, table.decimals) for cell in row] for row in rows]
    widths = []
    for i, heading in enumerate(table.columns):
        values = max(map(_width, [*_stacked(heading), *(row[i] for row in shown)]))
        beside = max((_width(row[i]) for row in small), default=0)
        both = values * SIZE, beside * SMALL
        widths.append((sum if style == PLUS_MINUS else max)(both) + 2 * BETWEEN_COLUMNS)
    parts = [list(about)]
    for i in range(first_metric(table), len(columns)):
        most = WIDTH + 2 * BETWEEN_COLUMNS  # there is no space at the ends
        full = len(parts[-1]) == COLUMNS or sum(widths[j] for j in [*parts[-1], i]) > most
        if full and len(parts[-1]) > len(about):
            parts.append(list(about))
        parts[-1].append(i)
    each = (LINES - AROUND) // (2 if style == BRACKETS and any(map(any, small)) else 1)
    for first in range(0, max(len(rows), 1), each):
        for part in parts:
            sides = ''.join(alignment(columns[i])[0] if rows else 'l' for i in part)
            yield [
                f'\\begin{{tabular}}{{@{{}}{sides}@{{}}}}',
                '\\toprule',
                *_headings([table.columns[i] for i in part]),
                '\\midrule',
                *(
                    line
                    for row in range(first, min(first + each, len(rows)))
                    for line in _lines(
                        [escape_latex(shown[row][i]) for i in part],
                        [small[row][i] for i in part],
                        [table.marks.get((row, i)) for i in part],
                        style,
                    )
                ),
                '\\bottomrule',
                '\\end{tabular}\\par\\smallskip',
            ]


def _lines(
    values: Sequence[str], widths: Sequence[str], marks: Sequence[Mark | None], style: str | None
) -> Iterable[str]:
    marked = [
        MARKED[mark].format(value) if mark else value
        for value, mark in zip(values, marks, strict=True)
    ]
    small = [_small(width) if width else '' for width in widths]
    if style == PLUS_MINUS:
        yield _row(' '.join(filter(None, cell)) for cell in zip(marked, small, strict=True))
        return
    yield _row(marked)
    if any(small):
        yield _row(small)


def _headings(columns: Sequence[str]) -> Iterable[str]:
    """Yield the headings; a part before a line break stands once above all columns that have it."""
    above, rules, at = [], [], 1
    for name, same in groupby(name.rpartition('\n')[0] for name in columns):
        end = at + len(list(same)) - 1
        above.append(f'\\multicolumn{{{end - at + 1}}}{{c}}{{{escape_latex(name)}}}')
        if name:
            rules.append(f'\\cmidrule(lr){{{at}-{end}}}')
        at = end + 1
    if rules:
        yield _row(above)
        yield ''.join(rules)
    lines = ([escape_latex(line) for line in _stacked(name)] for name in columns)
    yield _row(of[0] if len(of) == 1 else f'\\shortstack[r]{{{STACK.join(of)}}}' for of in lines)


def _stacked(heading: str) -> list[str]:
    """Return the lines of a heading: a metric's name of two words takes two."""
    return re.split(r' (?=\S*@)', heading.rpartition('\n')[2])


def _small(interval: str) -> str:
    size = f'\\fontsize{{{SMALL}}}{{{SMALL + 1}}}\\selectfont'
    return f'{{{size} {interval.replace(PLUS_MINUS, PM)}}}'


def _row(cells: Iterable[str]) -> str:
    return f'{" & ".join(cells)} \\\\'
