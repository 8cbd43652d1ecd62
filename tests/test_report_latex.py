"""LaTeX for papers: tables fit a column of 3.25 inches, and no name can be a command."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from made_results import board_of, make_result, make_version_result

from opencompass_gpassk.report.cells import Mark
from opencompass_gpassk.report.files import write_for_paper
from opencompass_gpassk.report.tables.latex import escape_latex, latex_report, to_latex
from opencompass_gpassk.report.tables.pivot import pivots
from opencompass_gpassk.report.tables.table import Table
from opencompass_gpassk.report.tables.variables import variable_tables
from opencompass_gpassk.results.result import Estimate, Uncertainty

SETTINGS = Uncertainty(level=0.95, method='bca', resamples=10_000, of='problems like these')
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
    'G-Pass@1_0}{',
)
DOCUMENT = r"""\documentclass[twocolumn]{article}
\usepackage[textwidth=6.75in,textheight=9in,columnsep=0.25in]{geometry}
\usepackage{booktabs,graphicx}
\DeclareMathSizes{8}{8}{7}{5}
\extrafloats{200}
\begin{document}
\input{gpassk}
\end{document}
"""


def test_a_table_is_booktabs_and_its_notes_are_its_caption() -> None:
    """Each row has its metrics, then its intervals in 7 points; the best is bold, τ an index."""
    caption, label = (
        r'\caption[A\_b: 3 problems, k = 4]{A\_b: 3 problems, k = 4. {[}low, high{]}: 95 \% '
        'intervals for problems like these (BCa bootstrap: docs/method.md); '
        r'bold: best of its column (docs/method.md); 100 \% of it.}',
        r'\label{tab:gpassk}',
    )
    assert to_latex(TABLE).splitlines() == [
        r'\begin{table}',
        r'\centering',
        caption + label,
        r'\smallskip\fontsize{8}{9.5}\selectfont\setlength{\tabcolsep}{2pt}',
        r'\begin{tabular}{@{}lrr@{}}',
        r'\toprule',
        r'model & G-Pass@4$_{1.0}$ & mG-Pass@4 \\',
        r'\midrule',
        r'one & \textbf{12.3} & 5.0 \\',
        r' & {\fontsize{7}{8}\selectfont [3.0, 27.0]} &  \\',
        r'two & -- & - \\',
        r'\bottomrule',
        r'\end{tabular}\par\smallskip',
        r'\end{table}',
    ]
    assert r'one & \textbf{12.3} {\fontsize{7}{8}\selectfont $\pm$12.0} & 5.0 \\' in to_latex(
        TABLE, '±'
    )
    assert 'selectfont [' not in to_latex(TABLE, None)
    assert r'\begin{tabular}{@{}lll@{}}' in to_latex(Table('t', ['a', 'b', 'c'], []))


def test_wide_and_long_tables_continue() -> None:
    """At most six columns, each part with the names; at most a page, each float with a label."""
    columns = ['group', 'problems', 'model', *(f'G-Pass@4_0.{i}' for i in range(9))]
    rows = [[f'level {i}', 3, 'm', *[1.0] * 9] for i in range(60)]
    text = latex_report([TABLE, Table('by level', columns, rows)])
    sides = re.findall(r'\\begin\{tabular\}\{@\{\}(\w+)@\{\}\}', text)
    assert max(map(len, sides)) <= 6
    assert 'problems: 3; model: m.' in text  # what is the same in all rows is in the caption
    assert text.count('level 59 & ') == len([one for one in sides if one != 'lrr']) / 2
    assert len(set(re.findall(r'\\label\{(.*?)\}', text))) == text.count(r'\begin{table}') > 2
    assert max(map(str.count, text.split(r'\end{table}'), [r'\\'] * 99)) < 60
    assert r'\resizebox' not in text
    assert latex_report([]).count(r'\begin') == 0


@pytest.mark.parametrize('name', HOSTILE)
def test_no_name_is_a_command(name: str) -> None:
    """Braces are balanced, each sign that TeX acts on is escaped, and a row is one line."""
    escaped = escape_latex(name)
    assert len(escaped.splitlines()) <= 1
    # What remains, without the commands that show a sign, has none that does anything.
    known = (
        r'\\text(?:backslash|asciicircum|asciitilde|less|greater|bar)\{\}|\\ldots\{\}'
        r'|\\[{}$&#%_]|\$_\{[\d.]+\}\$'
    )
    rest = re.sub(r'\{[\[\]*`!?"]\}', '', re.sub(known, '', escaped))
    assert not set(rest) & set('\\{}$&#%_^~[]*`?!"')
    text = to_latex(Table(name, [name, 'x'], [[name, 1.0]], [name]))
    assert text.count('\\begin{') == text.count('\\end{') == 2
    assert sum(line.endswith('\\\\') for line in text.splitlines()) == 2 + ('\n' in name)
    text.encode()


def asked(*right: int, source: str = 'MATH') -> dict[str, object]:
    """Return a greedy result of one question, its original first."""
    return make_version_result({'a': right}, benchmark=f'RV-{source}', greedy=True)


def test_versions_have_a_table_like_the_papers() -> None:
    """One row a model, SP, Acc, GA, CR and OOR of each source and of both, by Acc."""
    results = {
        'low': {'m': asked(1, 0, 0, 1), 'l': asked(0, 0, 1, 1, source='LEETCODE')},
        'high': {'m': asked(1, 1, 1, 1), 'l': asked(0, 1, 1, 1, source='LEETCODE')},
    }
    (table,) = pivots(variable_tables(board_of(results))[0])
    metrics = ['SP', 'Acc', 'GA@3', 'CR', 'OOR']
    sources = ['RV-MATH', 'RV-LEETCODE', 'overall']
    assert table.columns == ['model', *(f'{s}\n{one}' for s in sources for one in metrics)]
    high, low = table.rows
    assert high == ['high', 100, 100, 100, 100, 0, 0, 100, 100, 0, 0, 50, 100, 100, 50, 0]
    assert low[0] == 'low'
    assert low[12] == pytest.approx(50.0)
    text = to_latex(table)
    assert text.count(r'\begin{tabular}{@{}lrrrrr@{}}') == 3
    heads = re.findall(r'& \\multicolumn\{5\}\{c\}\{(.*?)\} \\\\\n\\cmidrule\(lr\)\{2-6\}', text)
    assert heads == sources


@pytest.mark.slow
@pytest.mark.skipif(shutil.which('pdflatex') is None, reason='pdflatex is not installed')
def test_latex_sets_it_in_a_narrow_column(tmp_path: Path) -> None:
    """Tables and charts, of hostile names too: no error, and nothing wider than 3.25 inches."""
    pytest.importorskip('matplotlib')
    names = ['Qwen2.5-Math-7B-Instruct', 'DeepSeek-R1-Distill-Qwen-7B', 'm' * 80]
    counts = {'AMC_en': [8, 5, 1], 'AMC_cn': [8, 8, 0]}
    greedy = {'AMC_en': [1, 0, 1], 'AMC_cn': [1, 1, 0]}
    settings = {'intervals': {}, 'uncertainty': SETTINGS}
    sampled = make_result(counts, 8, (2, 4)) | settings
    sampled['intervals'] = {key: [10.0, 90.0] for key in sampled['metrics']}
    results = {
        name: {
            's': sampled,
            'g': make_result(greedy, 1, greedy=True),
            'm': asked(1, 0, 0, 1),
            'l': asked(0, 0, 1, 1, source='LEETCODE'),
        }
        for name in names
    }
    paths = write_for_paper(tmp_path, board_of(results), 3.25)
    assert {path.suffix for path in paths} == {'.pdf', '.svg', '.tex'}
    (tmp_path / 'page.tex').write_text(DOCUMENT, 'utf-8')
    command = ['pdflatex', '-halt-on-error', '-interaction=batchmode', 'page.tex']
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
    log = (tmp_path / 'page.log').read_text('latin-1')
    assert 'Overfull' not in log
    assert 'Float too large' not in log
    sizes = {int(size) for size in re.findall(r'/cm\D+(\d+)\.pfb', log)}
    assert sizes
    assert min(sizes) >= 7
    tables = [Table(name, [name, 'x'], [[name, 1.0]]) for name in HOSTILE]
    (tmp_path / 'gpassk.tex').write_text(latex_report(tables), 'utf-8')
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=120)
