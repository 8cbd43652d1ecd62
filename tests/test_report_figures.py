"""What the figures of a report hold: the numbers of its tables, and their intervals."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from made_results import as_result, make_result

from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.gpassk import g_pass_at_k
from opencompass_gpassk.report.board import Benchmark, Board
from opencompass_gpassk.report.charts.bars import draw_bars, plot_bars
from opencompass_gpassk.report.charts.contents import report_charts
from opencompass_gpassk.report.charts.difficulty import (
    declines,
    draw_decline,
)
from opencompass_gpassk.report.charts.growth import draw_growth, growing, growth
from opencompass_gpassk.report.charts.style import save_chart
from opencompass_gpassk.report.charts.sweep import draw_slopes, draw_sweep, entry_slopes, sweeps
from opencompass_gpassk.report.charts.tau_curves import draw_benchmark, plot_thresholds
from opencompass_gpassk.report.files import write_charts
from opencompass_gpassk.report.tables.contamination import slope
from opencompass_gpassk.report.tables.contents import report_tables
from opencompass_gpassk.report.tables.difficulty import decline_tables, difficulties
from opencompass_gpassk.report.tables.table import told_apart
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.stored_result import Estimate
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

figures = pytest.importorskip('matplotlib.figure')

Results = dict[str, dict[str, dict[str, Any]]]
SVG = '{http://www.w3.org/2000/svg}'
HOSTILE = ('_o', '$\\frac$', '<script>alert(1)</script>', '&amp;]]>', 'a\u2028b\x1b\ud800')


def table_of(verdicts: Mapping[str, str]) -> TrialTable:
    """Return trials: problem → its verdicts in order, 1 right, 0 wrong, ? unjudged."""
    known = {'1': Verdict.CORRECT, '0': Verdict.INCORRECT, '?': Verdict.UNJUDGED}
    return TrialTable(
        [Problem(name, groups={'level': name[0]}) for name in verdicts],
        [
            Trial(name, replica, known[sign])
            for name, signs in verdicts.items()
            for replica, sign in enumerate(signs)
        ],
    )


def result_of(table: TrialTable, n: int, k: Sequence[int] = (), **signature: Any) -> dict[str, Any]:
    """Return the result of a table."""
    protocol = Protocol(n=n, k=tuple(k))
    return as_result(table, protocol, benchmark='b', greedy=n == 1, **signature)


def with_ends(result: dict[str, Any], reach: float = 5.0) -> dict[str, Any]:
    """Return a result in which each figure's interval reaches so far to both sides."""
    ends = {k: [v - reach, v + reach] for k, v in result.items() if isinstance(v, float)}
    settings = {'level': 0.95, 'of': 'problems like these', 'method': 'bca'}
    return result | {'intervals': ends, 'uncertainty': settings}


def joined(results: Results) -> Benchmark:
    """Return the one benchmark of results."""
    (benchmark,) = Board(results).benchmarks
    return benchmark


COUNTS = {'AMC_en': [8, 5, 1]}
SAMPLED, GREEDY = make_result(COUNTS, 8, (2, 4)), make_result({'AMC_en': [1, 1, 0]}, 1, greedy=True)


def test_curves_have_the_intervals_as_bands() -> None:
    """The band's corners are the intervals' ends; a figure without one has none."""
    axis = figures.Figure().subplots()
    values = [Estimate(90.0, (80.0, 95.0)), Estimate(50.0, (40.0, 65.0)), 10.0]
    plot_thresholds(axis, [0.0, 0.5, 1.0], {'a': values}, '')
    (band,) = axis.collections
    corners = {tuple(point) for path in band.get_paths() for point in path.vertices.tolist()}
    assert {(0.0, 80.0), (0.0, 95.0), (0.5, 40.0), (0.5, 65.0)} <= corners
    assert all(x < 1 for x, _ in corners)


def test_many_bands_hide_one_another() -> None:
    """Up to six models have bands, and the legend says what they are; more have none."""
    for count, told in ((6, 'bands: 95 % intervals, for problems like these'), (7, '')):
        results = {f'm{i}': {'x': with_ends(SAMPLED)} for i in range(count)}
        figure = draw_benchmark(joined(results))
        assert figure.legends[0].get_title().get_text() == told
        drawn = [c for c in figure.axes[0].collections if len(c.get_paths())]
        assert len(drawn) == (6 if told else 0)


def test_bars_are_as_long_as_the_figures() -> None:
    """pass@k, greedy and the strictest G-Pass at the greatest k, with their intervals."""
    results = {'m': {'s': with_ends(SAMPLED), 'g': with_ends(GREEDY)}, 'n': {'s': SAMPLED}}
    (axis,) = draw_bars(joined(results)).axes
    assert [text.get_text() for text in axis.get_yticklabels()] == ['m', 'n']
    labels = ['pass@4', 'greedy', 'G-Pass@4_1.0']
    assert [bars.get_label() for bars in axis.containers] == labels
    widths = [[bar.get_width() for bar in bars] for bars in axis.containers]
    plain = [SAMPLED['pass@4'], SAMPLED['G-Pass@4_1.0']]
    assert widths == [
        [plain[0]] * 2,
        [pytest.approx(200 / 3)],
        [plain[1]] * 2,
    ]
    # Each interval is two lines, a white one for the ground below a black one.
    spans = {tuple(line.get_xdata()) for line in axis.lines}
    assert spans == {(v - 5, v + 5) for v in (plain[0], GREEDY['accuracy'], plain[1])}
    assert len(axis.lines) == 6


def test_bars_leave_out_what_is_undefined() -> None:
    """NaN and None have no bar of length 0."""
    axis = figures.Figure().subplots()
    plot_bars(axis, ['a', 'b', 'c'], {'x': [1.0, math.nan, None]})
    assert [bar.get_width() for bar in axis.containers[0]] == [1.0]
    assert len(axis.get_yticks()) == 3


def test_growth_is_what_the_first_samples_show() -> None:
    """Each point is the estimate from that many judged samples, in their order."""
    table = table_of({'1': '1?1010', '2': '000001', '3': '11'})
    found = growth(table, Estimator('G-Pass', 2, 1.0))
    assert found is not None
    assert found.samples.tolist() == [2, 3, 4, 5, 6]
    by_hand = [
        [(2, 2), (2, 0), (2, 2)],
        [(3, 2), (3, 0), (2, 2)],
        [(4, 3), (4, 0), (2, 2)],
        [(5, 3), (5, 0), (2, 2)],
        [(5, 3), (6, 1), (2, 2)],
    ]
    expected = [100 * np.mean([g_pass_at_k(n, c, 2, 1.0) for n, c in counts]) for counts in by_hand]
    assert found.estimate.tolist() == pytest.approx(expected)
    assert growth(table_of({'1': '10', '2': '1?'}), Estimator('G-Pass', 2, 1.0)) is None


def test_bands_are_as_wide_as_new_samples_scatter() -> None:
    """Against a simulation: 400 new runs of problems whose rates are known."""
    rng = random.Random(0)
    rates = [0.2, 0.5, 0.8, 0.9] * 15
    estimator = Estimator('G-Pass', 4, 0.5)

    def drawn(n: int) -> list[int]:
        return [sum(rng.random() < rate for _ in range(n)) for rate in rates]

    rows = {
        f'{i}': ''.join('1' if rng.random() < rate else '0' for _ in range(24))
        for i, rate in enumerate(rates)
    }
    found = growth(table_of(rows), estimator)
    assert found is not None
    widths = dict(zip(found.samples.tolist(), (found.high - found.low).tolist(), strict=True))
    for n in (4, 24):
        estimates = [100 * estimator([n] * 60, drawn(n)).mean() for _ in range(400)]
        assert widths[n] == pytest.approx(2 * 1.96 * np.std(estimates), rel=0.2)
    assert widths[4] > 1.3 * widths[24]


def test_growth_is_drawn_for_each_k() -> None:
    """pass@k above, the strictest G-Pass below; a k that is n has nothing to show."""
    table = table_of({f'{i}': '10110' * 2 for i in range(5)})
    results = {'m': {'x': result_of(table, 10, (2, 10))}}
    tables = growing(joined(results), {('m', 'x'): table})
    figure = draw_growth(joined(results), tables)
    above, below = figure.axes
    assert above.get_title() == 'pass@2 (%)'
    assert below.lines[0].get_ydata()[-1] == pytest.approx(results['m']['x']['G-Pass@2_1.0'])
    assert any(text.get_text() == 'n = 3k' for text in above.texts)
    assert growing(joined(results), {}) == {}


def sweep_results(*temperatures: float, **other: Any) -> dict[str, dict[str, Any]]:
    """Return data set → result of a model at some temperatures."""
    return {
        f't{value}': make_result(
            {'AMC_en': [8, round(8 - 4 * value)]}, 8, (4,), sampling={'temperature': value, **other}
        )
        for value in temperatures
    }


def test_data_sets_of_a_model_are_a_sweep() -> None:
    """They differ in one parameter; what differs in another stands apart."""
    results = {'m': {**sweep_results(0.5, 1.5, 1.0, top_p=0.8), 'other': SAMPLED}}
    results['m']['alone'] = sweep_results(0.7, top_p=0.9)['t0.7']
    (found,) = sweeps(joined(results))
    assert (found.parameter, found.model, found.fixed) == ('temperature', 'm', {'top_p': 0.8})
    assert [(value, entry.dataset) for value, entry in found.entries] == [
        (0.5, 't0.5'),
        (1.0, 't1.0'),
        (1.5, 't1.5'),
    ]
    (axis,) = draw_sweep(joined(results), [found]).axes
    lines = {line.get_label(): line for line in axis.lines}
    assert list(lines) == ['average@n', 'pass@4', 'G-Pass@4_0.5', 'G-Pass@4_1.0']
    assert list(lines['G-Pass@4_1.0'].get_xdata()) == [0.5, 1.0, 1.5]
    assert list(lines['G-Pass@4_1.0'].get_ydata()) == [
        entry.result['G-Pass@4_1.0'] for _, entry in found.entries
    ]


def test_models_that_tell_the_value_in_their_name_are_a_sweep() -> None:
    """``m2-t0.5`` and ``m2-t1.0`` are one model; ``m2`` and ``m3`` at one temperature are two."""
    one, two = sweep_results(0.5)['t0.5'], sweep_results(1.0)['t1.0']
    (found,) = sweeps(joined({'m2-t0.5': {'x': one}, 'm2-t1.0': {'x': two}}))
    assert found.model == 'm2-t…'
    assert sweeps(joined({'m2': {'x': one}, 'm3': {'x': two}})) == []


@pytest.mark.parametrize(
    'sampling',
    [{'temperature': '1'}, {'temperature': True}, {'temperature': math.nan}, [], None, 'x'],
)
def test_what_is_no_number_is_no_sweep(sampling: object) -> None:
    """A sampling that nobody knows is left out."""
    results = sweep_results(1.0) | {'y': make_result(COUNTS, 8, (4,), sampling=sampling)}
    assert sweeps(joined({'m': results})) == []


def test_slopes_are_those_of_the_figures() -> None:
    """As the table of signs has them, with an interval from the problems where trials are there."""
    rng = random.Random(1)
    table = table_of({f'{i}': ''.join(rng.choice('011') for _ in range(8)) for i in range(40)})
    results = {'m': {'x': result_of(table, 8, (2, 4))}}
    (entry,) = joined(results).entries
    plain = entry_slopes(entry, {})
    expected = {
        k: slope(
            entry.taus, [results['m']['x']['figures'][f'G-Pass@{k}_{tau}'] for tau in entry.taus]
        )
        for k in (2, 4)
    }
    assert plain == pytest.approx(expected)
    known = entry_slopes(entry, {('m', 'x'): table})
    assert known == plain
    for value in known.values():
        assert isinstance(value, Estimate)
        assert -200 < value.interval[0] < value < value.interval[1] < 0
    others = entry_slopes(entry, {('m', 'x'): table_of({'1': '10101010', '2': '11111111'})})
    assert not any(isinstance(value, Estimate) for value in others.values())
    (axis,) = draw_slopes(joined(results), {('m', 'x'): table}).axes
    assert [bars[0].get_width() for bars in axis.containers] == pytest.approx(list(known.values()))


def levels() -> Results:
    """Return a model's results on problems of three levels, greedy and sampled."""
    sampled = table_of({'1a': '1111', '1b': '1110', '2a': '1100', '3a': '0000'})
    greedy = table_of({'1a': '1', '1b': '1', '2a': '1', '3a': '0'})
    return {'m': {'s': result_of(sampled, 4, (2,)), 'g': result_of(greedy, 1)}}


def test_the_drop_is_told_by_difficulty() -> None:
    """Greedy accuracy less G-Pass@2_1.0 of 1, 1/2, 1/6 and 0, in points and relative."""
    (table,) = decline_tables(Board(levels()))
    assert table.columns[-4:] == ['Greedy', 'G-Pass@2_1.0', 'drop (points)', 'drop (%)']
    rows = {str(row[0]): row[1:] for row in table.rows}
    assert list(rows) == ['level 1', 'level 2', 'level 3', 'all']
    assert rows['level 1'] == [2, 'm', 2, 100.0, 75.0, 25.0, 25.0]
    assert rows['level 2'][3:] == pytest.approx([100.0, 100 / 6, 500 / 6, 500 / 6])
    assert rows['level 3'][3:6] == [0.0, 0.0, 0.0]
    assert math.isnan(float(str(rows['level 3'][6])))
    assert rows['all'][:3] == [4, 'm', 2]
    assert rows['all'][3:] == pytest.approx([75.0, 500 / 12, 400 / 12, 400 / 9])
    assert table.title in [one.title for one in report_tables(Board(levels()))]
    points, shares = draw_decline(joined(levels())).axes
    assert list(points.lines[0].get_ydata()) == pytest.approx([25.0, 500 / 6, 0.0])
    assert math.isnan(shares.lines[0].get_ydata()[2])
    assert [text.get_text() for text in points.get_xticklabels()] == list(rows)[:3]


def test_no_drop_without_greedy_answers_to_the_same_problems() -> None:
    """Nor where nobody tells the difficulty."""
    made = levels()
    made['m']['g']['signature']['data'] = 'b:2'
    assert decline_tables(Board(made)) == []
    del made['m']['g']
    assert difficulties(joined(made)) == []
    assert decline_tables(Board({'m': {'s': SAMPLED, 'g': GREEDY}})) == []
    (entry,) = joined({'m': {'s': SAMPLED, 'g': GREEDY}}).entries
    assert declines(entry)[0] == GREEDY['accuracy']


def names_of(results: Results, trials: Any = None) -> list[str]:
    """Return the names of a report's figures."""
    return [name for name, _ in report_charts(Board(results, trials))]


def test_figures_are_drawn_where_their_data_are() -> None:
    """A greedy run has none; trials add the figure against n, a sweep its own."""
    assert names_of({'m': {'g': GREEDY}}) == []
    assert names_of(levels()) == ['b', 'b_bars', 'b_slopes', 'b_difficulty']
    table = table_of({'1a': '1111', '1b': '1110', '2a': '1100', '3a': '0000'})
    assert 'b_samples' in names_of(levels(), {('m', 's'): table})
    assert 'LiveMathBench-202412_sweep' in names_of({'m': sweep_results(0.5, 1.0)})


def test_undefined_figures_are_drawn(tmp_path: Path) -> None:
    """NaN everywhere, in a result of which no sample could be judged, stops nothing."""
    nothing = make_result(COUNTS, 8, (4,), sampled=0)
    table = table_of({'1': '????'})
    paths = write_charts(tmp_path / 'x', Board({'m': {'x': nothing}}, {('m', 'x'): table}))
    assert len(paths) == 6
    assert all(path.exists() for path in paths)


def test_hostile_names_are_text(tmp_path: Path) -> None:
    """An SVG is well-formed, its texts are texts, and nothing in it can run or be fetched."""
    table = table_of({f'{i}': '10110110' for i in range(3)})
    sampled = result_of(table, 8, (2, 4)) | {'benchmark': HOSTILE[2]}
    results = {name: {'x': sampled} for name in HOSTILE}
    trials = {(name, 'x'): table for name in HOSTILE}
    for number, (_, draw) in enumerate(report_charts(Board(results, trials))):
        path = tmp_path / f'{number}.svg'
        with warnings.catch_warnings():
            warnings.filterwarnings('ignore', message='Glyph')  # what the font has no picture of
            save_chart(draw(), path)
        tree = ElementTree.parse(path)
        texts = {(node.text or '').strip() for node in tree.iter(f'{SVG}text')}
        assert {'_o', '$\\frac$', '&amp;]]>'} <= texts
        tags = {node.tag.removeprefix(SVG) for node in tree.iter()}
        assert not tags & {'script', 'foreignObject', 'image', 'a'}
    assert number == 3


def test_a_name_is_no_path(tmp_path: Path) -> None:
    """The files lie in their folder, whatever the benchmark is called."""
    made = {'m': {'x': {**SAMPLED, 'benchmark': '../../x/y', 'taus': [1.0]}}}
    paths = write_charts(tmp_path / 'in', Board(made))
    assert {path.parent for path in paths} == {tmp_path / 'in'}
    assert len(paths) == 4  # of one threshold there is no slope


def test_long_names_fit(tmp_path: Path) -> None:
    """A name of a megabyte widens no picture, and its file has a name that a disk takes."""
    long = 'x' * 1_000_000
    paths = write_charts(tmp_path / 'x', Board({long: {'x': {**SAMPLED, 'benchmark': long}}}))
    assert max(len(path.name) for path in paths) < 100
    assert len(set(paths)) == 6
    for path in paths:
        if path.suffix == '.png':
            assert int.from_bytes(path.read_bytes()[16:20], 'big') < 2500  # pixels


def test_the_same_figure_is_the_same_file(tmp_path: Path) -> None:
    """No date, no random id: a report that is written again differs in nothing."""
    benchmark = joined({'m': {'x': with_ends(SAMPLED)}, 'n': {'x': SAMPLED}})
    for kind in ('png', 'svg'):
        for name in ('a', 'b'):
            save_chart(draw_bars(benchmark), tmp_path / f'{name}.{kind}')
        one, other = (tmp_path / f'{name}.{kind}' for name in ('a', 'b'))
        assert one.read_bytes() == other.read_bytes()


def test_no_two_names_become_one() -> None:
    """Names that differ in their ends, or in their middle alone, are told apart when shortened."""
    names = ['model-' + 'x' * 40 + end for end in ('-vllm', '-hf')]
    names += ['m' * 40 + sign + 'n' * 40 for sign in '123']
    labels = told_apart(names, 34)
    assert len(set(labels)) == len(names)
    assert all(len(label) <= 34 for label in labels)
    assert labels[0].startswith('model-')
    assert labels[0].endswith('-vllm')
    assert told_apart(['short', 'short'], 34) == ['short', 'short']
    axis = plot_bars(figures.Figure().subplots(), names, {'a': [1.0] * len(names)})
    assert [text.get_text() for text in axis.get_yticklabels()] == labels


def test_legends_leave_the_panels_their_height() -> None:
    """With the twenty rows of long names the figure grows; the panel stays as high."""
    heights = []
    for count in (1, 20):
        names = [f'a-name-as-long-as-those-of-models-often-are-{i}' for i in range(count)]
        figure = draw_benchmark(joined({name: {'x': SAMPLED} for name in names}))
        figure.draw_without_rendering()
        heights.append(figure.axes[0].get_position().height * figure.get_figheight())
    assert heights[1] > 0.85 * heights[0]
