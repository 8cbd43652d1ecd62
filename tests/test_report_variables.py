"""Tables and metric of questions in versions, and the signs of contamination."""

from __future__ import annotations

import math
from typing import Any

import pytest
from made_results import board_of, make_result, make_version_result

from opencompass_gpassk.report.charts.contents import report_charts
from opencompass_gpassk.report.charts.scatter import plot_drop
from opencompass_gpassk.report.charts.style import draw_chart
from opencompass_gpassk.report.charts.understanding import plot_understanding
from opencompass_gpassk.report.tables.contamination import contamination_table
from opencompass_gpassk.report.tables.contents import report_tables
from opencompass_gpassk.report.tables.table import Table, to_markdown, to_text
from opencompass_gpassk.report.tables.variables import variable_tables

STEADY = {'a': [1, 1, 1, 1, 1, 1], 'b': [1, 1, 1, 1, 1, 0]}
RECITING = {'a': [1, 0, 0, 0, 0, 1], 'b': [1, 0, 0, 0, 0, 0]}
LEETCODE = {'c': [0, 1, 1, 1, 1, 1]}


def greedy(counts: Any, benchmark: str = 'RV-MATH') -> dict[str, Any]:
    """The greedy result of questions."""
    return make_version_result(counts, benchmark=benchmark, greedy=True)


RESULTS = {
    'reciting': {'m': greedy(RECITING), 'l': greedy(LEETCODE, 'RV-LEETCODE')},
    'steady': {
        'm': greedy(STEADY),
        'l': greedy(LEETCODE, 'RV-LEETCODE'),
        'm8': make_version_result({'a': [8] * 6, 'b': [8, 8, 8, 8, 8, 0]}, 8, (4,)),
    },
}


def drawn() -> dict[str, Any]:
    """Name → axis of the charts."""
    pytest.importorskip('matplotlib')
    return {one.name: draw_chart(one, 5.0).axes[0] for one in report_charts(board_of(RESULTS))}


def cells(table: Table, *names: str) -> list[Any]:
    """The row that begins with these names."""
    return next(list(row) for row in table.rows if list(row[: len(names)]) == list(names))


def test_the_leaderboard_is_like_the_papers() -> None:
    """Understanding leads, then SP, RV, GA, CR and OOR; of each benchmark and of all questions."""
    table = variable_tables(board_of(RESULTS))[0]
    assert list(table.columns) == [
        *('benchmark', 'model', 'responses', 'asked'),
        *('understanding', 'SP', 'RV', 'GA@5', 'CR', 'OOR', 'chance'),
    ]
    assert [row[:3] for row in table.rows if row[0] != 'RV-LEETCODE'] == [
        ['RV-MATH', 'steady', 'greedy'],
        ['RV-MATH', 'steady', 'n = 8'],
        ['RV-MATH', 'reciting', 'greedy'],
        # Where a benchmark wasn't asked there is no overall metric.
        ['overall', 'steady', 'greedy'],
        ['overall', 'reciting', 'greedy'],
    ]
    steady = [100, 100, 90, 50, 100, 0, 0]
    assert cells(table, 'RV-MATH', 'steady', 'greedy')[4:] == pytest.approx(steady)
    # Without a right original there is no understanding to measure, and it counts nothing overall.
    other = [math.nan, 0, 100, 100, 0, 0, 0]
    assert cells(table, 'RV-LEETCODE', 'steady')[4:] == pytest.approx(other, nan_ok=True)
    overall = [100, 200 / 3, 280 / 3, 200 / 3, 200 / 3, 0, 0]
    assert cells(table, 'overall', 'steady')[4:] == pytest.approx(overall)
    # Of six problems two are right, or one: the original might be among them by chance.
    reciting = [0, 100, 10, 0, 0, 100, 25]
    assert cells(table, 'RV-MATH', 'reciting')[4:] == pytest.approx(reciting)


def test_samples_tell_more_than_greedy_answers() -> None:
    """G-Pass over versions has its own columns; pooled metric and variances stay in JSON."""
    table = variable_tables(board_of(RESULTS))[1]
    row = dict(zip(table.columns, cells(table, 'steady', 'n = 8'), strict=True))
    assert row['G-Pass over 5 versions_1.0'] == 50.0
    assert row['complete understanding'] == 100.0
    assert not any(one.startswith(('pooled', 'variance', 'CR by')) for one in table.columns)
    (found,) = (one for one in RESULTS['steady'].values() if one['signature']['n'] == 8)
    assert found['metrics']['pooled G-Pass@5_1.0'] > 50.0
    assert found['metrics']['variance between samples'] == 0.0
    assert found['metrics']['variance between versions'] == pytest.approx(100 * 0.2 / 2)


def test_every_data_set_has_its_row() -> None:
    """Two seeds, greedy both: no result hides another, and both sources of a seed are averaged."""
    seeds = {
        f'RV-{source}{seed}-greedy-n1': make_version_result(
            {'a': [1, right, right]}, benchmark=f'RV-{source}', greedy=True
        )
        for seed, right in (('', 1), ('-seed7', 0))
        for source in ('MATH', 'LEETCODE')
    }
    leaderboard = variable_tables(board_of({'m': seeds}))[0]
    assert [[*row[:3], *row[4:7]] for row in leaderboard.rows] == [
        [benchmark, f'm (RV-…{seed}-greedy-n1)', 'greedy', right, 100.0, right]
        for benchmark in ('RV-MATH', 'RV-LEETCODE', 'overall')
        for seed, right in (('', 100.0), ('-seed7', 0.0))
    ]


def test_benchmarks_that_overlap_have_no_overall_metric() -> None:
    """A part of the questions stands beside the whole under its full name; so do other m."""
    made = {
        'a': greedy(STEADY),
        'b': greedy(STEADY, 'RV-MATH, 2 of 115 questions'),
        'c': make_version_result({'a': [1, 1, 1]}, benchmark='RV-LEETCODE', greedy=True),
    }
    table = variable_tables(board_of({'m': made}))[0]
    assert [row[0] for row in table.rows] == [
        'RV-MATH, 5 versions',
        'RV-MATH, 2 of 115 questions, 5 versions',
        'RV-LEETCODE, 2 versions',
    ]
    assert 'GA@m' in table.columns
    own = {'a': greedy(STEADY), 'b': greedy(STEADY, 'LEETCODE')}  # the user's LEETCODE.jsonl
    rows = variable_tables(board_of({'m': own}))[0].rows
    assert [row[0] for row in rows] == ['RV-MATH', 'LEETCODE']


def test_overall_metrics_weigh_questions_that_are_known() -> None:
    """Where half of a source's originals is missing, its SP counts half."""
    made = {
        'a': greedy({'a': [1, 1, 1], 'b': [None, 1, 1]}),
        'b': greedy({'c': [0, 1, 1]}, 'RV-LEETCODE'),
    }
    table = variable_tables(board_of({'m': made}))[0]
    row = dict(zip(table.columns, cells(table, 'overall'), strict=True))
    assert (row['SP'], row['GA@2']) == (50.0, 100.0)
    assert any('1 of 2 questions lack their original' in note for note in table.warnings)


@pytest.mark.parametrize(('version', 'ours'), [('1:seed42:5:0a1b', True), ('file:0a1b', False)])
def test_only_this_packages_questions_are_called_so(version: str, ours: bool) -> None:
    """The authors' own file may bear any name."""
    made = greedy(STEADY, 'RV-Bench')
    made['signature']['data'] = f'RV-Bench:{version}'
    notes = [
        note for table in report_tables(board_of({'m': {'x': made}})) for note in table.warnings
    ]
    assert any('questions of this package' in note for note in notes) == ours


def by_subject(results: dict[str, dict[str, Any]]) -> Table:
    """The table of subjects."""
    tables = variable_tables(board_of(results))
    return next(table for table in tables if table.title.endswith('by subject'))


def test_metrics_are_broken_down_by_subject() -> None:
    """With the drop, and as in Table 7 of the paper the distribution of unsolved questions."""
    table = by_subject(RESULTS)
    # Of five versions of algebra one is right, of five of geometry none.
    wanted = [0, 100, 20, 0, 0, 100, 100 / 3, 80, 0]
    assert cells(table, 'algebra', 'reciting')[4:] == pytest.approx(wanted)
    assert cells(table, 'geometry', 'reciting')[-1] == 100
    assert math.isnan(cells(table, 'algebra', 'steady')[-1])  # all questions are solved
    for shown in (to_text(table), to_markdown(table)):
        assert 'geometry' in shown


def test_a_question_is_unsolved_if_no_sample_of_a_version_is_right() -> None:
    """A wrong answer more or less is the same; so is the original. Older results don't tell."""
    counts = {'a': [2, 0, 0], 'aa': [0, 0, 0], 'ab': [0, 1, 0], 'g': [2, 0, 0], 'h': [2, 2, 2]}
    made = make_version_result(counts, 2, (2,))
    assert made['versions']['unsolved'] == {'': 3, 'algebra': 2, 'geometry': 1}
    table = by_subject({'m': {'RV': made}})
    assert cells(table, 'algebra')[-1] == pytest.approx(200 / 3)
    assert cells(table, 'geometry')[-1] == pytest.approx(100 / 3)
    del made['versions']['unsolved']
    assert math.isnan(cells(by_subject({'m': {'RV': made}}), 'algebra')[-1])


def test_signs_of_contamination_stand_side_by_side() -> None:
    """Slope, gap and drop of each model and benchmark, as far as they were measured."""
    sampled = make_result({'AMC_en': [4, 2, 0]}, 4, (2, 4))
    results = {
        'm': {'n4': sampled, 'n1': make_result({'AMC_en': [1, 1, 0]}, 1, greedy=True)},
        'steady': RESULTS['steady'],
    }
    table = contamination_table(board_of(results))
    assert table is not None
    metrics = [sampled['metrics'][f'G-Pass@4_{tau}'] for tau in (0.0, 0.25, 0.5, 0.75, 1.0)]
    steepness = sum((t - 2) * f for t, f in enumerate(metrics)) / 10 * 4
    assert cells(table, 'LiveMathBench-202412', 'm')[3:] == [
        4,
        pytest.approx(steepness),
        pytest.approx(200 / 3 - sampled['G-Pass@4_1.0']),
        None,
    ]
    assert cells(table, 'RV-MATH', 'steady')[3] == 4
    assert cells(table, 'RV-MATH', 'steady')[6] == pytest.approx(10.0)
    assert cells(table, 'RV-LEETCODE', 'steady')[3:] == [None, None, None, pytest.approx(-100.0)]
    assert table.title in [one.title for one in report_tables(board_of(results))]
    assert contamination_table(board_of({'m': {'x': make_result({'AMC_en': [1]}, 1)}})) is None


def test_the_metric_has_the_regression_line_and_pearsons_r() -> None:
    """Of the points that are defined; two points are no line."""
    axis = pytest.importorskip('matplotlib.figure').Figure().subplots()
    points = {'a': (10.0, 9.0), 'b': (20.0, 7.0), 'c': (30.0, 2.0), 'd': (40.0, math.nan)}
    looks = {'a': 0, 'b': 1, 'c': 2, 'd': 3}
    plot_drop(axis, points, looks)
    assert [line.get_label() for line in axis.lines[:4]] == ['a', 'b', 'c', 'r = -0.97']
    line = next(line for line in axis.lines if line.get_linestyle() == '--')
    x, y = line.get_xdata(), line.get_ydata()
    assert (x[0], x[-1]) == (10.0, 30.0)
    assert (y[-1] - y[0]) / (x[-1] - x[0]) == pytest.approx(-0.35)
    few = pytest.importorskip('matplotlib.figure').Figure().subplots()
    plot_drop(few, {'a': (1.0, 2.0), 'b': (3.0, 4.0)}, looks)
    assert [line.get_label() for line in few.lines[:2]] == ['a', 'b']


def test_understanding_is_drawn_as_in_the_paper() -> None:
    """Of the questions whose original is right: the three shares, the score, the mark at 60."""
    axis = pytest.importorskip('matplotlib.figure').Figure().subplots()
    shares = {'a': [50.0, 30.0, 20.0, 65.0], 'b': [0.0, 0.0, 100.0, 0.0], 'c': [math.nan] * 4}
    plot_understanding(axis, shares)
    bars_of = {bars.get_label(): [bar.get_width() for bar in bars] for bars in axis.containers}
    assert bars_of == {
        'complete': [50.0, 0.0, 0.0],
        'partial': [30.0, 0.0, 0.0],
        'collapsed': [20.0, 100.0, 0.0],
    }
    score, mark = axis.lines
    assert [*score.get_xdata()][:2] == [65.0, 0.0]
    assert mark.get_xdata()[0] == 60
    assert [text.get_text() for text in axis.texts] == ['–']  # no right original
    panel = drawn()['RV-MATH_greedy_understanding']
    assert [text.get_text() for text in panel.get_yticklabels()] == ['steady', 'reciting']
    widths = {bars.get_label(): [bar.get_width() for bar in bars] for bars in panel.containers}
    assert widths['collapsed'] == [0.0, 100.0]
    assert widths['complete'] == [100.0, 0.0]
