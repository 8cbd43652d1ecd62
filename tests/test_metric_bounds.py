"""Bounds: between all unjudged responses wrong and all of them right."""

from __future__ import annotations

import itertools
import math

import pytest
from made_results import bounds, metrics

from opencompass_gpassk.results.metric import Side
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.warnings import bounds_line
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

PROTOCOL = Protocol(n=4, k=(2, 4), taus=(0.0, 0.5, 1.0))
VERDICTS = {'+': Verdict.CORRECT, '-': Verdict.INCORRECT, '?': Verdict.UNJUDGED}


def table(*problems: str) -> TrialTable:
    """Problems with their trials as ``+-?``, each answer a class of its own but the right one."""
    return TrialTable(
        [Problem(str(i)) for i in range(len(problems))],
        [
            Trial(str(i), r, VERDICTS[mark], answer=mark, answer_class=0 if mark == '+' else r + 1)
            for i, marks in enumerate(problems)
            for r, mark in enumerate(marks)
        ],
    )


def test_nothing_unjudged_has_no_bounds() -> None:
    """There is nothing to be uncertain of."""
    assert bounds(table('++--', '----'), PROTOCOL) == {}


def test_bounds_are_those_of_all_ways_to_judge() -> None:
    """Of each metric the least and the most that any verdicts of the unjudged ones can make."""
    found = bounds(table('+?--', '++??', '?---'), PROTOCOL)
    settled = []
    for verdicts in itertools.product('+-', repeat=4):
        a, b, c, d = verdicts
        settled.append(metrics(table(f'+{a}--', f'++{b}{c}', f'{d}---'), PROTOCOL))
    assert {'accuracy', 'mG-Pass@4', 'G-Pass@2_1.0'} <= found.keys()
    assert 'majority vote' not in found
    for name, (low, high) in found.items():
        assert low == pytest.approx(min(one[name] for one in settled))
        assert high == pytest.approx(max(one[name] for one in settled))


def test_the_headline_metrics_are_told() -> None:
    """Those of the largest k and the strictest threshold."""
    line = bounds_line(bounds(table('+?--', '++++'), PROTOCOL), PROTOCOL, Side.PLAIN)
    assert line == (
        'average@4 62.5 to 75.0, pass@4 100.0 to 100.0, G-Pass@4_1.0 50.0 to 50.0, '
        'mG-Pass@4 50.0 to 50.0'
    )


def test_what_is_undefined_is_not_told() -> None:
    """A problem with too few samples has no metric, whatever is judged of them."""
    found = bounds(table('+?'), PROTOCOL)
    assert math.isnan(found['pass@4'][0])
    assert bounds_line(found, PROTOCOL, Side.PLAIN) == 'average@4 50.0 to 100.0'
