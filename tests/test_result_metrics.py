"""What is declared of metrics holds for them: keys, ranges, bounds, thresholds, counts."""

from __future__ import annotations

import math
from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opencompass_gpassk.results.metric import (
    ACCURACY,
    Over,
    Side,
    parse_metric,
)
from opencompass_gpassk.results.metric_values import MetricValues, bounds
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import UNRECOGNISED, Problem, Trial, TrialTable, Verdict

TAUS = (0.0, 0.28, 0.5, 1.0)
SCORED = Protocol(n=3, k=(1, 2), taus=TAUS, sound=0.5)


def test_accuracy_has_one_name_for_people() -> None:
    """average@n, whatever the key in the result is; of one sample it is the accuracy."""
    assert parse_metric('average@16').key == 'accuracy'
    assert parse_metric('average@n').n is None
    assert parse_metric('sound average@4').key == 'sound accuracy'
    assert ACCURACY(n=1).heading == 'accuracy'


@pytest.mark.parametrize(
    'text',
    ['G-Pass@16', 'mG-Pass@16_0.5', 'pass@0', 'Pass@2', 'pass@' + '9' * 50, '', 'sound validity'],
)
def test_what_is_no_metric_is_refused(text: str) -> None:
    """The message says what a metric is called."""
    with pytest.raises(ValueError, match='write accuracy, pass@16'):
        parse_metric(text)
    with pytest.raises(ValueError, match=r'tau is 1\.5'):
        parse_metric('G-Pass@4_1.5')


def table_of(
    verdicts: list[Verdict], validity: list[float], answers: list[int] | None = None
) -> TrialTable:
    """Two questions with an original and three versions each, three samples of all."""
    names = ['original', '1', '2', '3']
    problems = [Problem(f'{q}/{name}', cluster=q, version=name) for q in 'ab' for name in names]
    trials = [
        Trial(
            problem.problem_id,
            replica,
            verdicts[3 * index + replica],
            answer_class=(answers or [0] * 24)[3 * index + replica],
            values={'validity': validity[3 * index + replica], 'redundancy': 0.3},
        )
        for index, problem in enumerate(problems)
        for replica in range(3)
    ]
    return TrialTable(problems, trials)


judgements = st.lists(st.sampled_from(list(Verdict)), min_size=24, max_size=24)
shares = st.lists(st.one_of(st.floats(0, 1), st.just(float('nan'))), min_size=24, max_size=24)


known = st.sampled_from([Verdict.CORRECT, Verdict.INCORRECT])


@settings(max_examples=40, deadline=None)
@given(st.lists(known, min_size=24, max_size=24), st.integers(0, 23))
def test_a_bounded_metric_never_falls_when_a_wrong_response_turns_right(
    verdicts: list[Verdict], place: int
) -> None:
    """That is what makes the two settlements of unjudged responses its bounds."""
    verdicts[place] = Verdict.INCORRECT
    before = MetricValues(table_of(verdicts, [0.9] * 24), SCORED)
    verdicts[place] = Verdict.CORRECT
    after = MetricValues(table_of(verdicts, [0.9] * 24), SCORED)
    for over, columns in before.columns.items():
        for index, metric in enumerate(columns.metrics):
            if metric.family.bounded and metric.side is not Side.DROP:
                change = after.columns[over].values[:, index] - columns.values[:, index]
                assert not (change < -1e-12).any(), metric.key


@settings(max_examples=100, deadline=None)
@given(judgements, shares, st.sets(st.integers(0, 23)))
def test_no_metric_is_outside_of_its_bounds(
    verdicts: list[Verdict], validity: list[float], open_ones: set[int]
) -> None:
    """Whatever is missing or open: a verdict, the scores of the reasoning, an answer."""
    table = table_of(verdicts, validity)
    for place in open_ones:
        if table.trials[place].verdict is Verdict.INCORRECT:
            table.trials[place].source = UNRECOGNISED
    values = MetricValues(table, SCORED)
    means = values.means(values.parts[''])
    for key, (low, high) in bounds(values).items():
        if not math.isnan(means[key]):
            assert low - 1e-9 <= means[key] <= high + 1e-9, key


@settings(max_examples=40, deadline=None)
@given(judgements)
def test_a_problem_is_left_out_only_if_nobody_judged_it(verdicts: list[Verdict]) -> None:
    """With a single verdict it has every metric of at most the planned number of samples."""
    values = MetricValues(table_of(verdicts, [0.9] * 24), SCORED)
    columns = values.columns[Over.PROBLEMS]
    for index, metric in enumerate(columns.metrics):
        if metric.family.bounded and metric.side is Side.PLAIN:
            undefined = np.isnan(columns.values[:, index])
            assert undefined.tolist() == (values.trials.known == 0).tolist(), metric.key


@settings(deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=6, max_size=6), min_size=1, max_size=8))
def test_understanding_is_equation_five(groups: list[list[bool]]) -> None:
    """1 for at least ⌈0.8m⌉ of m versions, 0 for at most ⌈0.2m⌉, else 0.5; originals right."""
    problems, trials = [], []
    for number, (original, *right) in enumerate(groups):
        for version, is_right in zip(('original', *'12345'), (original, *right), strict=True):
            name = f'{number}/{version}'
            problems.append(Problem(name, cluster=str(number), version=version))
            verdict = Verdict.CORRECT if is_right else Verdict.INCORRECT
            trials.append(Trial(name, 0, verdict))
    values = MetricValues(TrialTable(problems, trials), Protocol(n=1))
    found = values.means(values.parts[''])
    scores = [
        Fraction(1)
        if sum(right) >= ceil(0.8 * 5)
        else Fraction(0)
        if sum(right) <= ceil(0.2 * 5)
        else Fraction(1, 2)
        for original, *right in groups
        if original
    ]
    shares_right = [Fraction(sum(right), 5) for original, *right in groups if original]
    for key, of_groups in (
        ('understanding', scores),
        ('RV accuracy (original right)', shares_right),
    ):
        if of_groups:
            mean = float(100 * sum(of_groups) / len(of_groups))
            assert found[key] == pytest.approx(mean, abs=1e-9)
        else:
            assert np.isnan(found[key])
