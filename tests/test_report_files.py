"""Metrics show the numbers they are given; the files of a report hold all of it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from made_results import board_of, make_result
from made_sweep import make_sweep

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.report.files import MissingMatplotlibError, write_charts, write_report
from opencompass_gpassk.runs.task_states import State, TaskState

COUNTS = {'AMC_en': [8, 5, 1]}
RESULTS = {
    'm': {'x': make_result(COUNTS, 8, (2, 4))},
    '_o $x^2$': {'x': make_result({'AMC_en': [8, 8, 2]}, 8, (4,))},
}


def test_the_report_is_written(tmp_path: Path) -> None:
    """Markdown, LaTeX, CSV, JSON and pictures are there, with tables, failures and signatures."""
    pytest.importorskip('matplotlib')
    states = [
        TaskState('m', 'x', State.FINISHED),
        TaskState('m', 'y', State.FAILED, 'inference', 'ValueError: <b>', 'logs/x.out'),
    ]
    write_report(tmp_path, board_of(RESULTS), states)
    paths = write_charts(tmp_path / 'metrics', board_of(RESULTS))
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f'gpassk.{kind}' for kind in ('md', 'tex', 'csv', 'json')),
        'metrics',
    }
    assert [path.name for path in paths] == [
        f'LiveMathBench-202412{name}.{kind}'
        for name in ('_bars', '_k2', '_k4')
        for kind in ('png', 'svg')
    ]
    markdown = (tmp_path / 'gpassk.md').read_text('utf-8')
    assert '- m/y: failed in inference: ValueError: &lt;b&gt; (logs/x.out)' in markdown
    assert 'm/x: ' not in markdown
    assert '- m, x: package:0.1.0\\|data:LiveMathBench-202412:1\\|n:8' in markdown
    tasks = json.loads((tmp_path / 'gpassk.json').read_text())['tasks']
    assert [t['state'] for t in tasks] == ['finished', 'failed']
    assert next(iter(paths)).read_bytes().startswith(b'\x89PNG')


@pytest.mark.filterwarnings('ignore:Glyph')  # the font of the tests may have no Chinese
def test_benchmarks_have_metrics_of_their_own(tmp_path: Path) -> None:
    """Names that are alike but for characters no file name has don't share one."""
    pytest.importorskip('matplotlib')
    names = ['高考', '竞赛', 'a/b', 'a b']
    results = {'m': {n: make_result(COUNTS, 8, (2,), benchmark=n) for n in names}}
    paths = write_charts(tmp_path / 'g', board_of(results))
    curves = [path.stem for path in paths if '_bars' not in path.stem and path.suffix == '.svg']
    assert curves == ['高考_k2', '竞赛_k2', 'a_b_k2', 'a_b_k2_7']
    assert len(paths) == 2 * 2 * len(names)
    assert all(path.exists() for path in paths)


def test_without_matplotlib_the_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who lacks the library learns what to type."""
    for name in ('matplotlib', 'matplotlib.figure'):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingMatplotlibError, match='pip install "matplotlib'):
        write_charts(tmp_path / 'x', board_of(RESULTS))


def test_charts_and_tables_of_a_paper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """gpassk report --charts writes vector files of the width asked for, and LaTeX with both."""
    pytest.importorskip('matplotlib')
    make_sweep(tmp_path / 'run' / '20260101_000000', {'good': 4.0, 'bad': -4.0})
    page, folder = tmp_path / 'page.html', tmp_path / 'paper'
    arguments = ['report', str(tmp_path / 'run'), '-o', str(page), '--charts', str(folder)]
    assert main([*arguments, '--width', '3']) == 0
    names = {path.name for path in folder.iterdir()}
    charts = [f'LiveMathBench-202412_{name}' for name in ('strip', 'k4', 'bars', 'samples_k4')]
    assert {
        *(f'{name}.{kind}' for name in charts for kind in ('pdf', 'svg')),
        'gpassk.tex',
    } <= names
    assert capsys.readouterr().out.count('paper/') == len(names)
    (box,) = re.findall(rb'MediaBox \[ 0 0 (\d+)', (folder / f'{charts[0]}.pdf').read_bytes())
    assert int(box) == 3 * 72
    text = (folder / 'gpassk.tex').read_text('utf-8')
    assert f'\\includegraphics{{{charts[0]}.pdf}}' in text
    assert 'the most stable' in text
    assert main([*arguments, '--width', '6.75']) == 0
    assert r'\begin{figure*}' in (folder / 'gpassk.tex').read_text('utf-8')  # over both columns
    for width in ('0', 'nan', '1000'):
        assert main([*arguments, '--width', width]) == 1
    assert 'name 2 to 20 inches' in capsys.readouterr().err
