"""Tables in LaTeX hold the figures, and no name can be a command."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from opencompass_gpassk.report.cells import Mark
from opencompass_gpassk.report.tables.latex import escape_latex, latex_report, to_latex
from opencompass_gpassk.report.tables.table import Table
from opencompass_gpassk.results.stored_result import Estimate

SETTINGS = {'level': 0.95, 'method': 'bca', 'resamples': 10_000, 'of': 'problems like these'}
TABLE = Table(
    'A_b: 3 problems, k = 4',
    ['model', 'G-Pass@4_1.0', 'mG-Pass@4'],
    [
        ['one', Estimate(12.34, (3.04, 26.96), 'bca', SETTINGS), 5.0],
        ['two', float('nan'), None],
    ],
    ['100 % of it'],
    marks={(0, 1): Mark.BEST},
)
HOSTILE = (
    '\\input{/etc/passwd}',
    '\\\\[9cm]',
    '[1cm] x',
    '*',
    '$x$ & y \\\\ \\hline',
    '}}\\end{document}',
    '%',
    '^^M^^5cinput',
    'a~b#1_c',
    '?`!`"`',
    'x\u2028\\par\n\n\\bye',
    '\ud800\x00\x1b',
    '|<a>|',
)


def test_a_table_is_booktabs() -> None:
    """Each row has its figures, then its intervals in small print; the best is bold."""
    assert to_latex(TABLE).splitlines() == [
        '\\begin{table}',
        '\\centering',
        '\\caption{A\\_b: 3 problems, k = 4}',
        '\\small\\setlength{\\tabcolsep}{3pt}%',
        '\\begin{tabular}{lrr}',
        '\\toprule',
        ' & G-Pass & mG-Pass \\\\',
        'model & @4\\_1.0 & @4 \\\\',
        '\\midrule',
        'one & \\textbf{12.3} & 5.0 \\\\',
        ' & {\\scriptsize [3.0, 27.0]} &  \\\\',
        'two & -- & - \\\\',
        '\\bottomrule',
        '\\end{tabular}',
        '\\par{\\footnotesize {[}low, high{]}: 95 \\% intervals, for problems like these (BCa '
        'bootstrap over problems and their versions, 10,000 resamples)\\par}',
        '\\par{\\footnotesize bold: the best of its column (paired sign-flip tests of every '
        'two models over the problems that both answered, 95 \\%, all pairs at once)\\par}',
        '\\par{\\footnotesize 100 \\% of it\\par}',
        '\\end{table}',
    ]


def test_plus_minus_stands_behind_the_figure() -> None:
    """Half the width, in the same row."""
    assert 'one & \\textbf{12.3} {\\scriptsize $\\pm$12.0} & 5.0 \\\\' in to_latex(TABLE, '±')
    assert 'scriptsize' not in to_latex(TABLE, None)


def test_tables_of_groups_are_left_out() -> None:
    """They are longer than a page."""
    groups = Table('by level', ['group', 'x'], [['1', 1.0]], breakdown='level')
    report = latex_report([TABLE, groups])
    assert report.count('\\begin{table}') == 1
    assert report.startswith('% ')
    assert latex_report([]).count('\\begin') == 0
    assert '\\begin{tabular}{lll}' in to_latex(Table('t', ['a', 'b', 'c'], []))


@pytest.mark.parametrize('name', HOSTILE)
def test_no_name_is_a_command(name: str) -> None:
    """Braces are balanced, each sign that TeX acts on is escaped, and a row is one line."""
    escaped = escape_latex(name)
    assert len(escaped.splitlines()) <= 1
    # What remains, without the commands that show a sign, has none that does anything.
    known = (
        r'\\text(?:backslash|asciicircum|asciitilde|less|greater|bar)\{\}|\\ldots\{\}|\\[{}$&#%_]'
    )
    rest = re.sub(r'\{[\[\]*`!?"]\}', '', re.sub(known, '', escaped))
    assert not set(rest) & set('\\{}$&#%_^~[]*`?!"')
    text = to_latex(Table(name, [name, 'x'], [[name, 1.0]], [name]))
    assert text.count('\\begin{') == text.count('\\end{') == 2
    assert sum(line.endswith('\\\\') for line in text.splitlines()) == 2
    text.encode()


def test_no_two_signs_become_one() -> None:
    """Dashes, commas and quotes of a name stay as many as they are."""
    assert escape_latex("a--b---c ,, ''") == "a-{}-b-{}-{}-c ,{}, '{}'"
    assert escape_latex('a-b, c – d') == 'a-b, c -- d'


def test_wide_tables_shrink_to_the_text() -> None:
    """Nine columns are wider than a page of text; the box is closed, its rows are as they were."""
    wide = Table('t', ['model', *(f'G-Pass@4_{i}' for i in range(8))], [['m', *[1.0] * 8]])
    lines = to_latex(wide).splitlines()
    (box,) = (i for i, line in enumerate(lines) if line.startswith('\\resizebox'))
    assert lines[box + 1].startswith('\\begin{tabular}')
    assert lines[-2] == '\\end{tabular}}'
    assert to_latex(wide).count('{') == to_latex(wide).count('}')
    assert 'graphicx' in latex_report([wide]).splitlines()[0]


def test_signs_of_the_notes_are_mathematics() -> None:
    """What pdfLaTeX has no letter for is written as it wants it."""
    assert escape_latex('τ ≥ 3 ± 1 − 2 → …') == (
        '$\\tau$ $\\geq$ 3 $\\pm$ 1 $-$ 2 $\\to$ \\ldots{}'
    )


@pytest.mark.skipif(shutil.which('pdflatex') is None, reason='pdflatex is not installed')
def test_latex_sets_it(tmp_path: Path) -> None:
    """pdfLaTeX sets the tables of hostile names without an error."""
    tables = [TABLE, *(Table(name, [name, 'x'], [[name, 1.0]]) for name in HOSTILE)]
    source = (
        '\\documentclass{article}\\usepackage{booktabs,graphicx}\\begin{document}\n'
        f'{latex_report(tables)}\\end{{document}}\n'
    )
    (tmp_path / 'x.tex').write_text(source, 'utf-8')
    command = ['pdflatex', '-halt-on-error', '-interaction=batchmode', 'x.tex']
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=60)
