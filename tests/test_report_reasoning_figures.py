"""Box plots of reasoning, and accuracy against false positives: they show what they are given."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from made_reasoning import Sample, make_reasoned, make_unjudged
from made_results import make_result

from opencompass_gpassk.report.board import Board
from opencompass_gpassk.report.charts.boxes import boxed_results, draw_boxes, plot_boxes
from opencompass_gpassk.report.charts.scatter import (
    draw_false_positives,
    plot_false_positives,
    rated_results,
)
from opencompass_gpassk.report.files import write_charts

pytest.importorskip('matplotlib')


def solutions(right: Sequence[float], wrong: Sequence[float] = ()) -> dict[str, Any]:
    """Return the greedy result of right and wrong answers with these validities."""
    samples: list[list[Sample]] = [[(True, v, v / 2)] for v in right]
    samples += [[(False, v, v / 2)] for v in wrong]
    return make_reasoned({'AMC_en': samples}, greedy=True)


STEADY = solutions([0.9, 0.8, 0.7, 0.1], [0.2, 0.4])
SHAKY = solutions([0.6, 0.2], [0.05, 0.15, 0.3])
RESULTS = {'steady': {'x': STEADY}, 'shaky': {'x': SHAKY}}


def medians(axis: Any) -> list[tuple[float, float]]:
    """Return place and value of each median that an axis shows, from above."""
    found = [line for line in axis.lines if line.get_linewidth() == 2.2]
    return sorted((sum(line.get_ydata()) / 2, line.get_xdata()[0]) for line in found)


def test_every_model_has_three_boxes() -> None:
    """All, right and wrong responses below each other, with the medians of their values."""
    figure = draw_boxes(Board(RESULTS).scored)
    validity, redundancy = figure.axes
    expected = [0.55, 0.75, 0.3, 0.2, 0.4, 0.15]
    assert [value for _, value in medians(validity)] == pytest.approx(expected)
    assert [value for _, value in medians(redundancy)] == pytest.approx([x / 2 for x in expected])
    assert [round(place) for place, _ in medians(validity)] == [0, 0, 0, 1, 1, 1]
    means = [line.get_xdata()[0] for line in validity.lines if line.get_marker() == 'D']
    assert sorted(means) == pytest.approx(sorted([3.1 / 6, 2.5 / 4, 0.3, 1.3 / 5, 0.4, 0.5 / 3]))
    assert len(validity.patches) == 6
    assert len({patch.get_facecolor() for patch in validity.patches}) == 3
    assert len({patch.get_hatch() for patch in validity.patches}) == 3
    names = [label.get_text() for label in validity.get_yticklabels()]
    assert names == ['steady', 'shaky']
    assert (validity.get_xlabel(), redundancy.get_xlabel()) == ('validity', 'redundancy')
    assert validity.get_title(loc='left') == 'LiveMathBench-202412, greedy'
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend[:3] == ['all answers', 'right answers', 'wrong answers']


def test_boxes_reach_from_quartile_to_quartile() -> None:
    """And whiskers to the ends they are given."""
    from matplotlib.figure import Figure

    axis = Figure().subplots()
    box = {'whislo': 0.1, 'q1': 0.2, 'med': 0.4, 'q3': 0.5, 'whishi': 0.9, 'mean': 0.45, 'n': 9}
    assert plot_boxes(axis, {'m': {'all': box}}, 'validity', 0.25) is axis
    extent = axis.patches[0].get_path().get_extents()
    assert (extent.x0, extent.x1) == (0.2, 0.5)
    ends = {x for line in axis.lines for x in line.get_xdata()}
    assert {0.1, 0.9, 0.25} <= ends
    assert axis.get_xlim()[0] < 0 < 1 < axis.get_xlim()[1]


def test_nothing_is_drawn_where_nothing_is_defined(tmp_path: Path) -> None:
    """No solution of a kind, none at all, or a scorer that says nothing of redundancy."""
    always_right = {'m': {'x': solutions([0.5, 0.7])}}
    (axis, _) = draw_boxes(Board(always_right).scored).axes
    assert len(axis.patches) == 2
    reward: list[list[Sample]] = [[(True, 0.4, None)], [(False, 0.2, None)]]
    figure = draw_boxes(Board({'m': {'x': make_reasoned({'AMC_en': reward})}}).scored)
    assert [axis.get_visible() for axis in figure.axes] == [True, False]
    refused: list[list[Sample]] = [[(True, None, None)]]
    results = {'m': {'x': make_reasoned({'AMC_en': refused}, greedy=True)}}
    assert boxed_results(Board(results).scored) == []
    assert rated_results(Board(results).scored) == []
    assert write_charts(tmp_path / 'x', Board(results)) == []
    plain = {'m': {'x': make_result({'AMC_en': [1]}, 1, greedy=True)}}
    assert write_charts(tmp_path / 'x', Board(plain)) == []


def test_a_box_that_is_not_a_number_is_left_out() -> None:
    """Neither is one that lacks a quartile."""
    made = solutions([0.9, 0.8], [0.2, 0.4])
    boxes = made['reasoning']['boxes']['validity']
    boxes['right']['q1'] = math.nan
    del boxes['wrong']['med']
    axis = draw_boxes(Board({'m': {'x': made}}).scored).axes[0]
    assert len(axis.patches) == 1


def test_the_threshold_is_drawn_where_there_is_one() -> None:
    """Of validity, of answers that are judged, where all have the same."""

    def lines(results: dict[str, dict[str, Any]]) -> list[float]:
        axis = draw_boxes(Board(results).scored).axes[0]
        return [line.get_xdata()[0] for line in axis.lines if line.get_linestyle() == '--']

    assert lines(RESULTS) == [0.25]
    assert lines({'m': {'x': make_unjudged([(0.3, 0.1)])}}) == []
    other = make_reasoned({'AMC_en': [[(True, 0.9, 0.1)]]}, threshold=0.5, greedy=True)
    assert lines({**RESULTS, 'o': {'x': other}}) == []


def test_a_point_a_model_of_accuracy_and_false_positives() -> None:
    """A panel a benchmark, colours kept from one to the next."""
    other = make_reasoned({'AMC_en': [[(True, 0.1, 0.1)]]}, greedy=True, benchmark='RV-MATH')
    results = {'steady': {'x': STEADY}, 'shaky': {'x': SHAKY, 'y': other}}
    figure = draw_false_positives(rated_results(Board(results).scored))
    first, second = (axis for axis in figure.axes if axis.get_visible())
    points = [(line.get_xdata()[0], line.get_ydata()[0]) for line in first.lines]
    assert points == [pytest.approx((400 / 6, 25.0)), pytest.approx((40.0, 50.0))]
    assert first.get_title() == 'LiveMathBench-202412, greedy'
    assert second.get_title() == 'RV-MATH, greedy'
    assert math.isnan(second.lines[0].get_xdata()[0])
    assert (second.lines[1].get_xdata()[0], second.lines[1].get_ydata()[0]) == (100.0, 100.0)
    assert first.lines[1].get_color() == second.lines[1].get_color()
    looks = {(line.get_color(), line.get_marker()) for line in first.lines}
    assert len({colour for colour, _ in looks}) == len({marker for _, marker in looks}) == 2
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ['steady', 'shaky']


def test_points_stand_inside_their_axes() -> None:
    """Also where there is one, or all are alike."""
    from matplotlib.figure import Figure

    for points in ({'m': (100.0, 0.0)}, {'a': (3.0, 100.0), 'b': (90.0, 0.0)}):
        axis = Figure().subplots()
        plot_false_positives(axis, points, 'x')
        for x, y in points.values():
            assert axis.get_xlim()[0] < x < axis.get_xlim()[1]
            assert axis.get_ylim()[0] < y < axis.get_ylim()[1]


def test_hostile_names_are_drawn(tmp_path: Path) -> None:
    """No formula, no hidden label, no page of a megabyte's width."""
    names = ['_hidden', '$\\frac$', '$', '<b>|', 'x' * 1_000_000, 'a\u2028b\x1b[2J']
    results = {name: {'x': STEADY} for name in names}
    with warnings.catch_warnings():
        warnings.filterwarnings('ignore', message='Glyph')  # what the font has no picture of
        paths = write_charts(tmp_path / 'g', Board(results))
    pictures = [path for path in paths if path.suffix == '.png']
    assert [path.name for path in pictures] == ['reasoning.png', 'accuracy_and_fpr.png']
    for path in pictures:
        assert path.read_bytes().startswith(b'\x89PNG')
    axis = draw_boxes(Board(results).scored).axes[0]
    assert max(len(label.get_text()) for label in axis.get_yticklabels()) < 40
