"""Figures show the numbers they are given; the files of a report hold all of it."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest
from made_results import make_result

from opencompass_gpassk.report.board import Board
from opencompass_gpassk.report.charts.tau_curves import draw_benchmark, plot_thresholds
from opencompass_gpassk.report.files import MissingMatplotlibError, write_charts, write_report
from opencompass_gpassk.runs.task_states import State, TaskState

COUNTS = {'AMC_en': [8, 5, 1]}
RESULTS = {
    'm': {'x': make_result(COUNTS, 8, (2, 4))},
    '_o $x^2$': {'x': make_result({'AMC_en': [8, 8, 2]}, 8, (4,))},
}


def test_a_plot_draws_its_numbers_and_returns_its_axis() -> None:
    """One line a model with the values given, on a scale of 0 to 100."""
    figure = pytest.importorskip('matplotlib.figure').Figure()
    axis = figure.subplots()
    taus, series = [0.0, 0.5, 1.0], {'a': [90.0, 50.0, 10.0], 'b': [80.0, math.nan, 0.0]}
    assert plot_thresholds(axis, taus, series, 'k = 4') is axis
    assert [list(line.get_xdata()) for line in axis.lines] == [taus, taus]
    assert list(axis.lines[0].get_ydata()) == series['a']
    assert math.isnan(axis.lines[1].get_ydata()[1])
    assert axis.get_ylim() == (0, 100)
    assert len({line.get_color() for line in axis.lines}) == 2
    assert len({line.get_marker() for line in axis.lines}) == 2


def test_thirty_models_are_told_apart() -> None:
    """Colour, marker and line together differ for each model."""
    axis = pytest.importorskip('matplotlib.figure').Figure().subplots()
    plot_thresholds(axis, [0.0, 1.0], {str(i): [1.0, 0.0] for i in range(28)}, '')
    looks = {(x.get_color(), x.get_marker(), x.get_linestyle()) for x in axis.lines}
    assert len(looks) == 28


def test_a_benchmark_has_a_panel_for_each_k() -> None:
    """The panels hold the results' figures, and every model is in the legend by its own name."""
    pytest.importorskip('matplotlib')
    figure = draw_benchmark(Board(RESULTS).benchmarks[0])
    two, four = figure.axes
    assert (two.get_title(), four.get_title()) == ('k = 2', 'k = 4')
    result = RESULTS['m']['x']
    expected = [result['figures'][f'G-Pass@4_{tau}'] for tau in result['taus']]
    assert list(four.lines[0].get_ydata()) == expected
    assert all(math.isnan(y) for y in two.lines[1].get_ydata())
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ['m', r' _o \$x^2\$']


def test_nothing_sampled_is_nothing_to_draw() -> None:
    """A greedy run alone gives no figure."""
    (benchmark,) = Board({'m': {'x': make_result(COUNTS, 1, greedy=True)}}).benchmarks
    with pytest.raises(ValueError, match='nothing was sampled'):
        draw_benchmark(benchmark)
    assert write_charts(Path('x'), Board({'m': {'x': make_result(COUNTS, 1, greedy=True)}})) == []


def test_the_report_is_written(tmp_path: Path) -> None:
    """Markdown, LaTeX, CSV, JSON and pictures are there, with tables, failures and signatures."""
    pytest.importorskip('matplotlib')
    states = [
        TaskState('m', 'x', State.FINISHED),
        TaskState('m', 'y', State.FAILED, 'inference', 'ValueError: <b>', 'logs/x.out'),
    ]
    write_report(tmp_path, Board(RESULTS), states)
    paths = write_charts(tmp_path / 'figures', Board(RESULTS))
    assert {path.name for path in tmp_path.iterdir()} == {
        *(f'gpassk.{kind}' for kind in ('md', 'tex', 'csv', 'json')),
        'figures',
    }
    assert [path.name for path in paths] == [
        f'LiveMathBench-202412{name}.{kind}'
        for name in ('', '_bars', '_slopes')
        for kind in ('png', 'svg')
    ]
    markdown = (tmp_path / 'gpassk.md').read_text('utf-8')
    assert '- m/y: failed in inference: ValueError: &lt;b&gt; (logs/x.out)' in markdown
    assert 'm/x: ' not in markdown
    assert '- m, x: package:0.1.0\\|data:LiveMathBench-202412:1\\|n:8' in markdown
    tasks = json.loads((tmp_path / 'gpassk.json').read_text())['tasks']
    assert [t['state'] for t in tasks] == ['finished', 'failed']
    assert paths[0].read_bytes().startswith(b'\x89PNG')


@pytest.mark.filterwarnings('ignore:Glyph')  # the font of the tests may have no Chinese
def test_benchmarks_have_figures_of_their_own(tmp_path: Path) -> None:
    """Names that are alike but for characters no file name has don't share one."""
    pytest.importorskip('matplotlib')
    names = ['高考', '竞赛', 'a/b', 'a b']
    results = {'m': {n: make_result(COUNTS, 8, (2,), benchmark=n) for n in names}}
    paths = write_charts(tmp_path / 'g', Board(results))
    curves = [path.stem for path in paths if '_bars' not in path.stem and path.suffix == '.svg']
    curves = [stem for stem in curves if '_slopes' not in stem]
    assert curves == ['高考', '竞赛', 'a_b', 'a_b_9']
    assert len(set(paths)) == len(paths) == 2 * 3 * len(names)
    assert all(path.exists() for path in paths)


def test_without_matplotlib_the_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who lacks the library learns what to type."""
    for name in ('matplotlib', 'matplotlib.figure'):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingMatplotlibError, match='pip install "matplotlib'):
        write_charts(tmp_path / 'x', Board(RESULTS))
