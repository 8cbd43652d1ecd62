"""Validity, redundancy, aggregates, macro F1 and AUC against sklearn, brute force and hand."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score, roc_auc_score

from opencompass_gpassk.metrics import reasoning

CASES = json.loads((Path(__file__).parent / 'cases' / 'metrics_reasoning.json').read_text())
NAN = float('nan')
# Few distinct scores, so that ties are common; quarters are exact.
LABELLED = st.lists(st.tuples(st.booleans(), st.integers(0, 8)), min_size=1, max_size=40)


def close(found: float, wanted: float | None) -> bool:
    """Tell whether a metric is the wanted one, None being NaN."""
    return math.isnan(found) if wanted is None else math.isclose(found, wanted, abs_tol=1e-12)


@pytest.mark.parametrize('case', CASES, ids=[case['id'] for case in CASES])
@pytest.mark.parametrize('how', reasoning.AGGREGATES)
def test_aggregates(case: dict[str, Any], how: str) -> None:
    """Solutions are scored by hand-computed aggregates of their steps."""
    steps = [NAN if step is None else step for step in case['steps']]
    assert close(reasoning.solution_validity(steps, how), case[how])
    assert close(reasoning.solution_redundancy(steps, how), case[how])


def test_classes() -> None:
    """Validity is all but negative, redundancy is neutral, and no score stays none."""
    rows = [[0.5, 0.25, 0.25], [0.0, 0.0, 1.0], [NAN, NAN, NAN]]
    np.testing.assert_array_equal(reasoning.validity(rows), [0.5, 1, NAN])
    np.testing.assert_array_equal(reasoning.redundancy(rows), [0.25, 0, NAN])
    assert reasoning.validity([]).shape == reasoning.redundancy([]).shape == (0,)
    # By default a solution is as its worst step.
    assert reasoning.solution_validity([0.9, 0.2, 0.7]) == 0.2
    assert reasoning.solution_redundancy([0.9, 0.2, 0.7]) == 0.9


@pytest.mark.parametrize(
    ('call', 'words'),
    [
        (lambda: reasoning.validity([0.1, 0.2, 0.7]), r'shape \(3,\)'),
        (lambda: reasoning.validity([[0.5, 0.5]]), r'shape \(1, 2\)'),
        (lambda: reasoning.validity([[0.5], [1.5]]), r'hold \[1.5\]; give a share'),
        (lambda: reasoning.redundancy([[2.0, -3.0, 2.0]]), 'softmax'),
        (lambda: reasoning.validity([[4.0, 1.0, 2.0]]), 'softmax'),
        (lambda: reasoning.validity([[0.5, NAN, 0.5]]), 'softmax'),
        (lambda: reasoning.validity([[float('inf'), 0.0, 0.0]]), 'softmax'),
        (lambda: reasoning.solution_validity([0.5], 'median'), "how is 'median'"),
        (lambda: reasoning.solution_redundancy([1.5]), 'redundancy is a share'),
        (lambda: reasoning.solution_validity([[0.5]]), 'one validity per step'),
        (lambda: reasoning.false_positive_rate([1, 0], [0.1, 0.2]), 'give booleans'),
        (lambda: reasoning.false_positive_rate([True], [0.1, 0.2]), r'validities of shape \(2,\)'),
        (lambda: reasoning.false_positive_rate([True], [0.1], NAN), 'threshold is nan'),
        (lambda: reasoning.detect([True], [0.1], 1.5, below=True), 'threshold is 1.5'),
    ],
)
def test_refusals(call: Any, words: str) -> None:
    """What makes no sense is refused with its name."""
    with pytest.raises(ValueError, match=words):
        call()


@given(LABELLED)
def test_auc_against_pairs_and_sklearn(rows: list[tuple[bool, int]]) -> None:
    """AUC is the share of pairs in the right order, ties counting half, as sklearn has it."""
    errors, scores = [error for error, _ in rows], [score / 4 - 1 for _, score in rows]
    wins = [
        (one > other) + (one == other) / 2
        for error, one in zip(errors, scores, strict=True)
        for good, other in zip(errors, scores, strict=True)
        if error and not good
    ]
    found = reasoning.auc(errors, scores)
    assert close(found, np.mean(wins) if wins else None)
    if wins:
        assert close(found, roc_auc_score(errors, scores))


@given(LABELLED)
def test_detection_against_sklearn(rows: list[tuple[bool, int]]) -> None:
    """Macro F1 and AUC are sklearn's at any threshold, for both kinds of errors."""
    errors = np.array([error for error, _ in rows])
    scores = np.array([score / 8 for _, score in rows])
    for below, flagged, badness in ((True, scores < 0.5, -scores), (False, scores > 0.5, scores)):
        found = reasoning.detect(errors, scores, 0.5, below=below)
        classes = {*errors.tolist(), *flagged.tolist()}
        wanted = f1_score(errors, flagged, average='macro', zero_division=0)
        # sklearn leaves out a class that nobody names; there we have no metric.
        assert close(found.macro_f1, wanted if len(classes) == 2 else None)
        mixed = 0 < errors.sum() < len(errors)
        assert close(found.auc, roc_auc_score(errors, badness) if mixed else None)
        assert (found.units, found.errors, found.unscored) == (len(rows), errors.sum(), 0)


def test_default_thresholds() -> None:
    """ReasonEval's thresholds are 0.5 and 0.15, a process reward model's 0.5; equal is good."""
    assert reasoning.VALIDITY_THRESHOLD == reasoning.PROCESS_REWARD_THRESHOLD == 0.5
    assert reasoning.REDUNDANCY_THRESHOLD == 0.15
    assert reasoning.detect([True, False], [0.49, 0.5], 0.5, below=True).macro_f1 == 1
    assert reasoning.detect([True, False], [0.16, 0.15], 0.15, below=False).macro_f1 == 1


def test_unscored_units_are_left_out() -> None:
    """What has no score is counted, and no metric knows it otherwise."""
    errors, scores = [True, False, True, False, True], [0.1, 0.9, 0.8, 0.2, NAN]
    found = reasoning.detect(errors, scores, 0.5, below=True)
    assert found == reasoning.Detection(4, 2, 1, 0.5, found.macro_f1, found.auc)
    assert (found.macro_f1, found.auc) == (0.5, 0.75)


def test_nothing_is_undefined_quietly() -> None:
    """Without units, or with one class of them, metrics are NaN, without a warning of numpy."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        nothing = reasoning.detect([], [], 0.5, below=True)
        alike = reasoning.detect([False, False], [0.1, 0.1], 0.5, below=False)
        missing = reasoning.detect([True], [NAN], 0.5, below=True)
        assert math.isnan(reasoning.false_positive_rate([False, True], [0.1, NAN]))
        assert math.isnan(reasoning.false_positive_rate([], []))
    assert all(math.isnan(x) for one in (nothing, alike, missing) for x in (one.macro_f1, one.auc))
    assert math.isnan(reasoning.auc([True, False], [NAN, 0.5]))


def test_false_positive_rate() -> None:
    """It is over the solutions with right answers that have a score; on the threshold is sound."""
    correct = [True, True, True, True, False, True]
    values = [0.1, 0.25, 0.9, 0.2, 0.0, NAN]
    assert reasoning.false_positive_rate(correct, values) == 0.5
    assert reasoning.false_positive_rate(correct, values, 0.15) == 0.25
