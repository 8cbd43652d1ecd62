"""Box plots of reasoning, and accuracy against false positives: they show what they are given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from made_reasoning import Sample, make_reasoned, make_unjudged
from made_results import board_of, make_result

from opencompass_gpassk.report.charts.contents import report_charts
from opencompass_gpassk.report.charts.style import draw_chart
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


def drawn(results: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return name → axis of the charts of reasoning."""
    return {
        one.name: draw_chart(one, 5.0).axes[0]
        for one in report_charts(board_of(results))
        if one.name.split('_')[-1] in ('validity', 'redundancy', 'fpr')
    }


GREEDY = 'LiveMathBench-202412_greedy'


def medians(axis: Any) -> list[tuple[float, float]]:
    """Return place and value of each median that an axis shows, from above."""
    found = [line for line in axis.lines if line.get_linewidth() == 1.8]
    return sorted((sum(line.get_ydata()) / 2, line.get_xdata()[0]) for line in found)


def test_every_model_has_three_boxes() -> None:
    """All, right and wrong responses below each other, with the medians of their values."""
    found = drawn(RESULTS)
    assert list(found) == [f'{GREEDY}_{name}' for name in ('validity', 'redundancy', 'fpr')]
    validity, redundancy, _ = found.values()
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
    legend = {text.get_text() for text in validity.get_figure().legends[0].get_texts()}
    answers = {f'{part} answers' for part in ('all', 'right', 'wrong')}
    assert legend == {*answers, 'threshold of soundness'}


def test_nothing_is_drawn_where_nothing_is_defined(tmp_path: Path) -> None:
    """No solution of a kind, none at all, or a scorer that says nothing of redundancy."""
    made = solutions([0.9, 0.8], [0.2, 0.4])
    made['reasoning']['boxes']['validity'] |= {'right': None, 'wrong': None}
    assert len(drawn({'m': {'x': made}})[f'{GREEDY}_validity'].patches) == 1
    always_right = {'m': {'x': solutions([0.5, 0.7])}}
    assert len(drawn(always_right)[f'{GREEDY}_validity'].patches) == 2
    reward: list[list[Sample]] = [[(True, 0.4, None)], [(False, 0.2, None)]]
    found = drawn({'m': {'x': make_reasoned({'AMC_en': reward})}})
    assert [name.rpartition('_')[2] for name in found] == ['validity', 'fpr']
    refused: list[list[Sample]] = [[(True, None, None)]]
    results = {'m': {'x': make_reasoned({'AMC_en': refused}, greedy=True)}}
    assert not write_charts(tmp_path / 'x', board_of(results))
    plain = {'m': {'x': make_result({'AMC_en': [1]}, 1, greedy=True)}}
    assert not write_charts(tmp_path / 'x', board_of(plain))


def test_the_threshold_is_drawn_where_there_is_one() -> None:
    """Of validity, of answers that are judged, where all have the same."""

    def lines(results: dict[str, dict[str, Any]]) -> list[float]:
        axis = next(iter(drawn(results).values()))
        return [line.get_xdata()[0] for line in axis.lines if line.get_linestyle() == '--']

    assert lines(RESULTS) == [0.25]
    assert lines({'m': {'x': make_unjudged([(0.3, 0.1)])}}) == []
    other = make_reasoned({'AMC_en': [[(True, 0.9, 0.1)]]}, threshold=0.5, greedy=True)
    assert lines({**RESULTS, 'o': {'x': other}}) == []


def test_a_point_a_model_of_accuracy_and_false_positives() -> None:
    """A panel a benchmark, colours kept from one to the next."""
    other = make_reasoned({'AMC_en': [[(True, 0.1, 0.1)]]}, greedy=True, benchmark='RV-MATH')
    results = {'steady': {'x': STEADY}, 'shaky': {'x': SHAKY, 'y': other}}
    found = drawn(results)
    first, second = found[f'{GREEDY}_fpr'], found['RV-MATH_greedy_fpr']
    points = [(line.get_xdata()[0], line.get_ydata()[0]) for line in first.lines]
    assert points == [pytest.approx((400 / 6, 25.0)), pytest.approx((40.0, 50.0))]
    (line,) = second.lines
    assert (line.get_xdata()[0], line.get_ydata()[0]) == (100.0, 100.0)
    assert line.get_color() == first.lines[1].get_color() != first.lines[0].get_color()
    assert line.get_marker() == first.lines[1].get_marker() != first.lines[0].get_marker()
    legend = [text.get_text() for text in first.get_figure().legends[0].get_texts()]
    assert legend == ['steady', 'shaky']
