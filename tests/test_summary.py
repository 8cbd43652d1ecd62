"""``summarize``: metrics with intervals from counts, as a researcher has them in a notebook."""

from __future__ import annotations

import doctest
import json
import math
import subprocess
import sys
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_results import metrics

import opencompass_gpassk
from opencompass_gpassk import summarize
from opencompass_gpassk.results import summary
from opencompass_gpassk.results.metric_intervals import IntervalSettings, metric_intervals
from opencompass_gpassk.results.metric_values import MetricValues
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

COUNTS = st.lists(
    st.integers(0, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(COUNTS, st.integers(1, 5), st.sampled_from([0.25, 0.5, 0.75, 1.0]))
def test_metrics_are_exact(counts: list[tuple[int, int]], k: int, tau: float) -> None:
    """G-Pass@k is the hypergeometric tail, a mean over the problems that have k samples."""
    n, c = zip(*counts, strict=True)
    found = summarize(n, c, k=k, taus=tau)[f'G-Pass@{k}_{tau}']
    least = max(math.ceil(Fraction(tau) * k), 1)
    shares = [
        Fraction(sum(comb(b, i) * comb(a - b, k - i) for i in range(least, k + 1)), comb(a, k))
        for a, b in counts
        if a >= k
    ]
    assert found.problems == len(shares)
    if shares:
        assert found.value == pytest.approx(float(sum(shares) / len(shares)), abs=1e-12)
        assert math.isnan(found.low) or found.low <= found.value + 1e-12 <= found.high + 2e-12
    else:
        assert math.isnan(found.value)


def test_it_is_what_a_result_says_of_the_same_counts() -> None:
    """Figures and intervals, translations drawn together."""
    rng = np.random.default_rng(0)
    c = rng.integers(0, 9, 40)
    problems = [Problem(str(i), cluster=f'question {i // 2}') for i in range(40)]
    trials = [
        Trial(str(i), j, Verdict.CORRECT if j < right else Verdict.INCORRECT)
        for i, right in enumerate(c)
        for j in range(8)
    ]
    table, protocol = TrialTable(problems, trials), Protocol(8, (4, 8))
    result = metrics(table, protocol)
    intervals = metric_intervals(MetricValues(table, protocol), IntervalSettings())['intervals']
    found = summarize(8, c, k=(4, 8), clusters=[i // 2 for i in range(40)])
    assert (found.problems, found.clusters) == (40, 20)
    for name, one in found.items():
        key = name.replace('average@8', 'accuracy')
        assert 100 * one.value == pytest.approx(result[key])
        assert (100 * one.low, 100 * one.high) == pytest.approx(intervals[key])


def test_a_perfect_model_reaches_the_greatest_value_and_no_more() -> None:
    """Which is (k - 1)/k of mG-Pass@k where k is odd."""
    found = summarize(6, [6] * 30, k=(3, 4))
    assert found['mG-Pass@3'].high == pytest.approx(2 / 3)
    assert found['mG-Pass@4'].high == pytest.approx(1)


def test_it_is_a_mapping_that_prints_and_is_kept_as_json() -> None:
    """Undefined numbers are null; printed, a line says how many metrics are undefined."""
    found = summarize([8, 4], [3, 4])
    assert 'average@n' in found and len(found) == len(list(found)) == 25
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))['metrics']['pass@16'] == {
        'value': None,
        'low': None,
        'high': None,
        'problems': 0,
    }
    told = repr(found)
    assert 'pass@8' in told and 'pass@16' not in told and '8 more metrics are undefined' in told


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'n': 4, 'c': [[1, 0], [1, 1]]}, 'labels.sum'),
        ({'n': [4, 4, 4], 'c': [1, 2]}, r'n has shape \(3,\) and c \(2,\)'),
        ({'n': [], 'c': []}, 'give one count'),
        ({'n': 4, 'c': [0.25]}, 'c is of type float64'),
        ({'n': 4, 'c': [5]}, 'c is 5 where n is 4'),
        ({'n': 4, 'c': [1], 'k': 0}, 'k is'),
        ({'n': 4, 'c': [1], 'k': 2.5}, 'k is'),
        ({'n': 4, 'c': [1], 'taus': 1.5}, 'taus holds 1.5'),
        ({'n': 4, 'c': [1], 'confidence': 95}, 'confidence is 95'),
        ({'n': 4, 'c': [1, 2], 'clusters': ['a']}, 'clusters has shape'),
        ({'n': 4, 'c': [1, 2], 'clusters': ['a', None]}, 'clusters is None for problem 1'),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    """By the name that the caller knows."""
    with pytest.raises(ValueError, match=message):
        summarize(**arguments)


def test_the_package_loads_nothing_until_a_function_is_used() -> None:
    """``import opencompass_gpassk`` takes milliseconds, and lists what there is."""
    code = (
        'import sys, opencompass_gpassk as package\n'
        "assert not {'numpy', 'scipy', 'torch', 'opencompass'} & set(sys.modules)\n"
        'print(package.pass_at_k(4, 2, 2))\n'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert float(done.stdout) == pytest.approx(5 / 6), done.stderr
    assert {'g_pass_at_k', 'mg_pass_at_k', 'pass_at_k', 'summarize'} <= {*dir(opencompass_gpassk)}


@pytest.mark.parametrize('module', [opencompass_gpassk, summary], ids=lambda one: one.__name__)
def test_the_examples_hold(module: Any) -> None:
    """Those of the docstrings."""
    assert doctest.testmod(module).failed == 0
