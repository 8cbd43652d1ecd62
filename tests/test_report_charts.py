"""Charts show the metrics and intervals of a report, under names that are told apart."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from made_reasoning import make_reasoned
from made_results import as_result, board_of, make_result

from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.gpassk import g_pass_at_k
from opencompass_gpassk.report.board import Benchmark
from opencompass_gpassk.report.cells import told_apart
from opencompass_gpassk.report.charts.contents import report_charts
from opencompass_gpassk.report.charts.growth import growth
from opencompass_gpassk.report.charts.style import Chart, draw_chart
from opencompass_gpassk.report.charts.sweep import sweeps
from opencompass_gpassk.report.files import write_charts
from opencompass_gpassk.report.tables.contents import report_tables
from opencompass_gpassk.report.tables.difficulty import decline_tables
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

pytest.importorskip('matplotlib')

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
    """Return a result in which each metric's interval reaches so far to both sides."""
    ends = {k: [v - reach, v + reach] for k, v in result['metrics'].items()}
    settings = {'level': 0.95, 'of': 'problems like these', 'method': 'bca'}
    return result | {'intervals': ends, 'uncertainty': settings}


def joined(results: Results) -> Benchmark:
    """Return the one benchmark of results."""
    (benchmark,) = board_of(results).benchmarks
    return benchmark


COUNTS = {'AMC_en': [8, 5, 1]}
SAMPLED, GREEDY = make_result(COUNTS, 8, (2, 4)), make_result({'AMC_en': [1, 1, 0]}, 1, greedy=True)


def charts(results: Results, trials: Any = None) -> dict[str, Chart]:
    """Return name → chart of a report."""
    return {one.name: one for one in report_charts(board_of(results, trials))}


def drawn(results: Results, name: str, trials: Any = None, width: float = 5.0) -> Any:
    """Return the axis of a chart."""
    return draw_chart(charts(results, trials)[name], width).axes[0]


def spans(axis: Any, colour: str | None = None) -> list[list[tuple[float, float]]]:
    """Return the ends of the lines without markers: intervals."""
    lines = [one for one in axis.lines if len(one.get_xdata()) == 2 and one.get_marker() == 'None']
    lines = [one for one in lines if colour in (None, one.get_color())]
    return [sorted(zip(one.get_xdata(), one.get_ydata(), strict=True)) for one in lines]


BENCHMARK = 'LiveMathBench-202412'
TAUS = [0.0, 0.25, 0.5, 0.75, 1.0]


def test_curves_show_metrics_and_intervals() -> None:
    """For each k, at the measured τ: a line a model, upright lines from end to end."""
    results = {'m': {'x': with_ends(SAMPLED)}, '_o $x^2$': {'x': make_result(COUNTS, 8, (4,))}}
    axis = drawn(results, f'{BENCHMARK}_k4')
    one, other = (line for line in axis.lines if line.get_marker() != 'None')
    values = [SAMPLED['metrics'][f'G-Pass@4_{tau}'] for tau in TAUS]
    assert [*one.get_xdata()] == [*axis.get_xticks()] == TAUS
    assert [*one.get_ydata()] == values
    assert one.get_linestyle() == '-' != other.get_linestyle()
    assert [[y for _, y in ends] for ends in spans(axis)] == [[v - 5, v + 5] for v in values]
    assert (axis.get_ylim(), axis.get_title()) == ((0, 100), '')
    assert not axis.get_figure().legends
    assert sorted(text.get_text() for text in axis.texts) == [' _o $x^2$', 'm']
    told = charts(results)[f'{BENCHMARK}_k4'].caption
    assert told.endswith('Upright lines: 95 % intervals, for problems like these.')


def test_bars_are_as_long_as_the_metrics() -> None:
    """pass@k, greedy and the strictest G-Pass at the greatest k, with their intervals."""
    results = {'m': {'s': with_ends(SAMPLED), 'g': with_ends(GREEDY)}, 'n': {'s': SAMPLED}}
    axis = drawn(results, f'{BENCHMARK}_bars')
    assert [text.get_text() for text in axis.get_yticklabels()] == ['m', 'n']
    widths = {bars.get_label(): [bar.get_width() for bar in bars] for bars in axis.containers}
    some, every = SAMPLED['pass@4'], SAMPLED['G-Pass@4_1.0']
    assert widths == {
        'pass@4': [some] * 2,
        'greedy': [pytest.approx(200 / 3)],
        'G-Pass@4_1.0': [every] * 2,
    }
    reach = [tuple(x for x, _ in ends) for ends in spans(axis, 'black')]
    assert reach == [(v - 5, v + 5) for v in (some, GREEDY['accuracy'], every)]


def test_strips_show_each_problem() -> None:
    """Problems by their share of right judged samples, and how many of each kind there are."""
    weak = table_of({'1': '1010', '2': '1111', '3': '0000', '4': '1000'})
    steady = table_of({'1': '1111', '2': '11?1', '3': '0?01', '4': '????'})
    tables = {'weak': weak, 'steady': steady}
    results = {name: {'x': result_of(table, 4, (2,))} for name, table in tables.items()}
    axis = drawn(results, 'b_strip', {(name, 'x'): table for name, table in tables.items()})
    assert [text.get_text() for text in axis.get_yticklabels()] == ['steady', 'weak']
    assert [text.get_text() for text in axis.texts] == ['1 · 1 · 1 · 0', '1 · 0 · 2 · 1']
    legend = [text.get_text() for text in axis.get_figure().legends[0].get_texts()]
    assert legend == ['always', 'always, if judged', 'sometimes', 'never']
    drawn_of = [patch.get_data() for patch in axis.patches]
    heights = [(2 * (of.baseline - of.values)).round(2).tolist() for of in drawn_of]
    assert heights == [[1], [1], [0.33], [], [1], [], [0.5, 0.25], [0.08]]
    assert drawn_of[6].edges.tolist() == [25, 50, 75]
    assert 'b_strip' not in charts(results)
    tables['weak'] = table_of({'1': '10'})
    results['weak'] = {'x': result_of(tables['weak'], 2, (2,))}
    axis = drawn(results, 'b_strip', {(name, 'x'): table for name, table in tables.items()})
    names = [text.get_text() for text in axis.get_yticklabels()]
    assert names == ['steady, n = 4', 'weak, n = 2']


def test_lines_show_the_five_most_stable() -> None:
    """Strip and bars have all models in rank order, curves the first five; no two labels meet."""
    results = {f'm{i}': {'x': make_result({'AMC_en': [8, i, 1]}, 8, (4,))} for i in range(7)}
    axis = drawn(results, f'{BENCHMARK}_bars')
    ranked = [f'm{i}' for i in (6, 5, 4, 0, 1, 2, 3)]  # up to 3 of 8 have the same
    assert [text.get_text() for text in axis.get_yticklabels()] == ranked
    axis = drawn(results, f'{BENCHMARK}_k4', width=3.25)
    labels = sorted((text.get_position()[1], text.get_text()) for text in axis.texts)
    assert [name for _, name in reversed(labels)] == ranked[:5]
    gaps = [above - below for (below, _), (above, _) in pairwise(labels)]
    assert min(gaps) > 0.08
    assert labels[0][0] >= 0
    assert charts(results)[f'{BENCHMARK}_k4'].caption.endswith('The 5 most stable of 7 models.')
    results['other k'] = {'x': make_result({'AMC_en': [2, 1, 1]}, 4, (2,))}
    lines = drawn(results, f'{BENCHMARK}_k2').get_legend_handles_labels()[1]
    assert lines == ['other k']


def test_growth_is_what_the_first_samples_show() -> None:
    """Each point is the estimate from that many judged samples, in their order."""
    table = table_of({'1': '1?1010', '2': '000001', '3': '11'})
    found = growth(table, Estimator('G-Pass', 2, 1.0))
    assert [*found] == [2, 3, 4, 5, 6]
    by_hand = [
        [(2, 2), (2, 0), (2, 2)],
        [(3, 2), (3, 0), (2, 2)],
        [(4, 3), (4, 0), (2, 2)],
        [(5, 3), (5, 0), (2, 2)],
        [(5, 3), (6, 1), (2, 2)],
    ]
    expected = [100 * np.mean([g_pass_at_k(n, c, 2, 1.0) for n, c in counts]) for counts in by_hand]
    assert [*found.values()] == pytest.approx(expected)
    assert growth(table_of({'1': '10', '2': '1?'}), Estimator('G-Pass', 2, 1.0)) == {}


def test_growth_is_drawn_for_each_k() -> None:
    """The strictest G-Pass; a k that is n has nothing to show."""
    table = table_of({f'{i}': '10110' * 2 for i in range(5)})
    results = {'m': {'x': result_of(table, 10, (2, 10))}}
    trials = {('m', 'x'): table}
    assert [name for name in charts(results, trials) if 'samples' in name] == ['b_samples_k2']
    axis = drawn(results, 'b_samples_k2', trials)
    assert axis.lines[0].get_ydata()[-1] == pytest.approx(results['m']['x']['G-Pass@2_1.0'])
    assert axis.lines[1].get_xdata()[0] == 6  # 3k
    assert 'b_samples_k2' not in charts(results)


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
    axis = drawn(results, f'{BENCHMARK}_sweep_temperature_m')
    lines = {one.get_label(): one for one in axis.lines if not one.get_label().startswith('_')}
    assert list(lines) == ['average@n', 'pass@4', 'G-Pass@4_0.5', 'G-Pass@4_1.0']
    assert list(lines['G-Pass@4_1.0'].get_xdata()) == [0.5, 1.0, 1.5]
    assert list(lines['G-Pass@4_1.0'].get_ydata()) == [
        entry.result.metrics['G-Pass@4_1.0'] for _, entry in found.entries
    ]


@pytest.mark.parametrize(
    'sampling',
    [{'temperature': '1'}, {'temperature': True}, {'temperature': math.nan}],
)
def test_what_is_no_number_is_no_sweep(sampling: object) -> None:
    """A sampling that nobody knows is left out."""
    results = sweep_results(1.0) | {'y': make_result(COUNTS, 8, (4,), sampling=sampling)}
    assert sweeps(joined({'m': results})) == []


def levels() -> Results:
    """Return a model's results on problems of three levels, greedy and sampled."""
    sampled = table_of({'1a': '1111', '1b': '1110', '2a': '1100', '3a': '0000'})
    greedy = table_of({'1a': '1', '1b': '1', '2a': '1', '3a': '0'})
    return {'m': {'s': result_of(sampled, 4, (2,)), 'g': result_of(greedy, 1)}}


def test_the_drop_is_told_by_difficulty() -> None:
    """Greedy accuracy less G-Pass@2_1.0 of 1, 1/2, 1/6 and 0, in points and relative."""
    (table,) = decline_tables(board_of(levels()))
    assert table.columns[-5:-3] == ['pass@k', 'Greedy']
    assert table.columns[-3:] == ['G-Pass@2_1.0', 'drop (points)', 'drop (%)']
    rows = {str(row[0]): row[1:] for row in table.rows}
    assert list(rows) == ['level 1', 'level 2', 'level 3', 'all']
    assert rows['level 1'] == [2, 'm', 2, 100.0, 100.0, 75.0, 25.0, 25.0]
    assert rows['level 2'][3:] == pytest.approx([500 / 6, 100.0, 100 / 6, 500 / 6, 500 / 6])
    assert rows['level 3'][3:7] == [0.0, 0.0, 0.0, 0.0]
    assert math.isnan(float(str(rows['level 3'][7])))
    assert rows['all'][:3] == [4, 'm', 2]
    assert rows['all'][4:] == pytest.approx([75.0, 500 / 12, 400 / 12, 400 / 9])
    assert table.title in [one.title for one in report_tables(board_of(levels()))]


def test_without_levels_the_drop_is_told_by_split() -> None:
    """As in the paper's table of LiveMathBench; languages are no difficulty."""
    of = [f'{split}_{language}' for split in 'ab' for language in ('cn', 'en')]
    sampled = make_result(dict.fromkeys(of, (2,)), 3, (2,))
    greedy = make_result(dict.fromkeys(of, (1,)), 1, greedy=True)
    results = {'m': {'s': sampled, 'g': greedy}}
    (table,) = decline_tables(board_of(results))
    assert [row[0] for row in table.rows] == ['a', 'b', 'all']
    assert table.rows[0][-5:] == pytest.approx([100.0, 100.0, 100 / 3, 200 / 3, 200 / 3])


def test_undefined_metrics_are_dashes(tmp_path: Path) -> None:
    """NaN everywhere, in a result of which no sample could be judged, is no bar of length 0."""
    results = {'m': {'x': make_result(COUNTS, 8, (4,), sampled=0)}}
    trials = {('m', 'x'): table_of({'1': '????'})}
    for name, dashes in ((f'{BENCHMARK}_k4', 5), (f'{BENCHMARK}_bars', 2)):
        texts = [text.get_text() for text in drawn(results, name).texts]
        assert texts.count('–') == dashes
    strip = drawn(results, f'{BENCHMARK}_strip', trials)
    assert '–' in [text.get_text() for text in strip.texts]
    assert len(write_charts(tmp_path / 'x', board_of(results, trials))) == 6


def test_hostile_names_are_text(tmp_path: Path) -> None:
    """An SVG is well-formed, its texts are texts, and nothing in it can run or be fetched."""
    table = table_of({f'{i}': '10110110' for i in range(3)})
    sampled = result_of(table, 8, (2, 4)) | {'benchmark': HOSTILE[2]}
    scored = make_reasoned({'AMC_en': [[(True, 0.4, 0.1)]]}, greedy=True)
    results = {name: {'x': sampled, 'r': scored} for name in HOSTILE}
    trials = {(name, 'x'): table for name in HOSTILE}
    with warnings.catch_warnings():
        warnings.filterwarnings('ignore', message='Glyph')  # what the font has no picture of
        paths = write_charts(tmp_path, board_of(results, trials), 3.25, ('.svg',))
    for path in paths:
        tree = ElementTree.parse(path)
        texts = {(node.text or '').strip() for node in tree.iter(f'{SVG}text')}
        assert {'_o', '$\\frac$', '&amp;]]>'} <= texts
        tags = {node.tag.removeprefix(SVG) for node in tree.iter()}
        assert not tags & {'script', 'foreignObject', 'image', 'a'}
    assert len(paths) == 9


@pytest.mark.parametrize('name', ['../../x/y', 'x' * 1000])
def test_a_name_is_no_path_and_fits(tmp_path: Path, name: str) -> None:
    """The files lie in their folder, with names that a disk takes, and no name widens a chart."""
    made = {name: {'x': {**SAMPLED, 'benchmark': name}}}
    paths = write_charts(tmp_path / 'in', board_of(made), 3.25)
    assert {path.parent for path in paths} == {tmp_path / 'in'}
    assert max(len(path.name) for path in paths) < 100
    assert len(paths) == 6
    for path in paths:
        if path.suffix == '.png':
            assert int.from_bytes(path.read_bytes()[16:20], 'big') == 650  # pixels


def test_names_lose_only_what_they_share() -> None:
    """Names that differ at their ends, in their middle or in one letter are told apart."""
    names = ['model-' + 'x' * 40 + end for end in ('-vllm', '-hf')]
    names += ['m' * 40 + sign + 'n' * 40 for sign in '123']
    labels = told_apart(names, 34)
    assert len(set(labels)) == len(names)
    assert all(len(label) <= 34 for label in labels)
    assert [sign in label for sign, label in zip('123', labels[2:], strict=True)] == [True] * 3
    sizes = [f'model-a-{size}-instruct' for size in ('72b', '7b')]
    assert told_apart(sizes, 16) == ['model-a-72…truct', 'model-a-7b…truct']
    steps = [f'sft-lr-1e-5/checkpoint-{step}000' for step in '12']
    assert [one[-4:] for one in told_apart(steps, 16)] == ['1000', '2000']
    assert told_apart(['short', 'short'], 5) == ['short', 'short']
