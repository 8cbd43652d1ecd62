"""Intervals of a result's metrics: which clusters they are made of, and what has none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from eval_task import Sums, data_set, evaluate, predict
from made_results import metrics

from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.results.metric_intervals import IntervalSettings, metric_intervals
from opencompass_gpassk.results.metric_values import MetricValues
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

PROTOCOL = Protocol(n=4, k=(2,), taus=(0.5, 1.0))


def translated(problems: int, seed: int = 0) -> TrialTable:
    """Questions in two languages, both solved alike."""
    rng = np.random.default_rng(seed)
    table, trials = [], []
    for i in range(problems):
        chance = rng.beta(0.5, 0.5)
        for language in ('en', 'cn'):
            name = f'{i}/{language}'
            table.append(Problem(name, groups={'language': language}, cluster=str(i)))
            trials += [
                Trial(name, r, Verdict.CORRECT if rng.random() < chance else Verdict.INCORRECT)
                for r in range(4)
            ]
    return TrialTable(table, trials)


def test_every_metric_is_within_its_interval() -> None:
    """Overall and in each group; shares of responses that describe the run have none."""
    table = translated(60)
    found = metrics(table, PROTOCOL)
    made = metric_intervals(MetricValues(table, PROTOCOL), IntervalSettings(resamples=500))
    names = {'accuracy', 'pass@2', 'G-Pass@2_1.0', 'mG-Pass@2', 'en/G-Pass@2_0.5'}
    assert names <= made['intervals'].keys()
    for name, (low, high) in made['intervals'].items():
        assert 0 <= low < found[name] < high <= 100, name  # type: ignore[operator]
    assert 'coverage' not in made['intervals']
    assert made['uncertainty']['level'] == 0.95


def test_intervals_for_these_very_problems() -> None:
    """Of every metric of right samples, in groups too; by the closed form of the accuracy."""
    table = translated(60)
    found = metrics(table, PROTOCOL)
    made = metric_intervals(MetricValues(table, PROTOCOL), IntervalSettings(resamples=500))
    fixed = made['intervals_fixed']
    names = ['accuracy', 'mG-Pass@2', 'stability gap@2']
    names += ['pass@2', 'G-Pass@2_0.5', 'G-Pass@2_1.0']
    assert fixed.keys() == {f'{group}{name}' for group in ('', 'en/', 'cn/') for name in names}
    for key, (low, high) in fixed.items():
        assert low < found[key] < high, key  # type: ignore[operator]
        start, end = made['intervals'][key]
        assert high - low < end - start, key
    n, c = table.counts()
    variance = (c / n * (1 - c / n) / (n - 1)).sum() / len(n) ** 2
    low, high = fixed['accuracy']
    assert high - low == pytest.approx(200 * 1.96 * variance**0.5, rel=1e-3)
    assert made['uncertainty']['of_fixed'] == 'these very problems, each sampled anew'
    for trial in table.trials:
        trial.values['validity'] = 0.9
    sound = metric_intervals(
        MetricValues(table, replace(PROTOCOL, sound=0.5)), IntervalSettings(resamples=100)
    )
    assert sound['intervals_fixed']['sound mG-Pass@2'] == fixed['mG-Pass@2']
    unjudged = TrialTable(
        table.problems, [replace(t, verdict=Verdict.UNJUDGED) for t in table.trials]
    )
    assert (
        metric_intervals(MetricValues(unjudged, PROTOCOL), IntervalSettings())['intervals_fixed']
        == {}
    )


def test_translations_are_drawn_together() -> None:
    """As by the bootstrap over clusters, which is wider than that over problems."""
    table = translated(60)
    made = metric_intervals(MetricValues(table, PROTOCOL), IntervalSettings())['intervals']
    n, c = table.counts()
    accuracy = (c / n)[:, None]
    clusters = [problem.cluster for problem in table.problems]
    expected = bootstrap_means(accuracy, clusters)
    assert made['accuracy'] == pytest.approx([100 * expected.low[0], 100 * expected.high[0]])
    apart = bootstrap_means(accuracy)
    wider = (expected.high - expected.low) / (apart.high - apart.low)
    assert wider[0] > 1.2


def test_groups_of_versions_have_intervals() -> None:
    """Differences may lie below 0, and so may unbiased variances."""
    rng = np.random.default_rng(1)
    problems, trials = [], []
    for i in range(30):
        for version in ('original', '1', '2', '3'):
            name = f'{i}/{version}'
            problems.append(Problem(name, cluster=str(i), version=version))
            trials += [
                Trial(name, r, Verdict.CORRECT if rng.random() < 0.5 else Verdict.INCORRECT)
                for r in range(4)
            ]
    made = metric_intervals(
        MetricValues(TrialTable(problems, trials), PROTOCOL), IntervalSettings()
    )
    low, high = made['intervals']['SP-RV drop']
    assert low < 0 < high
    assert {'GA@3', 'CR', 'OOR', 'original/pass@2'} <= made['intervals'].keys()
    found = metrics(TrialTable(problems, trials), PROTOCOL)
    low, high = made['intervals']['variance between versions']
    assert low < 0 < high  # all chances are a half
    low, high = made['intervals']['variance between samples']
    assert low < found['variance between samples'] < high  # type: ignore[operator]
    assert low < 25 < high


def test_the_cluster_is_a_setting_of_the_data_set(tmp_path: Path) -> None:
    """Any column may name it; one that isn't there is an error."""
    widths = {}
    for column in ('question', 'question_type'):
        evaluator = {'type': GPassKEvaluator, 'cluster': column}
        dataset = data_set(Sums, evaluator=evaluator)
        predict(tmp_path / column, dataset)
        widths[column] = len(evaluate(tmp_path / column, dataset)['intervals'])
    assert widths['question'] > 0 == widths['question_type']  # all are of one type: one cluster
    evaluator = {'type': GPassKEvaluator, 'cluster': 'family'}
    dataset = data_set(Sums, evaluator=evaluator)
    predict(tmp_path / 'family', dataset)
    with pytest.raises(ValueError, match="cluster is 'family'"):
        evaluate(tmp_path / 'family', dataset)


def test_no_intervals_where_none_are_wanted(tmp_path: Path) -> None:
    """By setting."""
    dataset = data_set(evaluator={'type': GPassKEvaluator, 'intervals': None})
    predict(tmp_path, dataset)
    assert 'intervals' not in evaluate(tmp_path, dataset)


@pytest.mark.parametrize(
    ('given', 'told'),
    [
        ('student', "method of intervals is 'student'"),
        ({'resamples': 10}, 'resamples of intervals is 10'),
        ({'level': 95}, 'level of intervals is 95'),
        ({'sed': 1}, "intervals has no setting 'sed'; did you mean 'seed'"),
        (5, 'intervals is 5'),
    ],
)
def test_wrong_settings_are_named(given: object, told: str) -> None:
    """Before anything is read."""
    with pytest.raises(ValueError, match=told):
        GPassKEvaluator(intervals=given)  # type: ignore[arg-type]


def test_shares_of_understanding_have_intervals() -> None:
    """Of one sample each, they are means over the questions whose original is right."""
    rng = np.random.default_rng(2)
    problems, trials, shares = [], [], []
    for i in range(80):
        right = {name: bool(rng.random() < 0.6) for name in ('original', '1', '2', '3', '4', '5')}
        for version, verdict in right.items():
            name = f'{i}/{version}'
            problems.append(Problem(name, cluster=str(i), version=version))
            trials.append(Trial(name, 0, Verdict.CORRECT if verdict else Verdict.INCORRECT))
        if right['original']:
            shares.append(sum(list(right.values())[1:]) / 5)
    protocol = Protocol(n=1)
    table = TrialTable(problems, trials)
    found = metrics(table, protocol)
    made = metric_intervals(MetricValues(table, protocol), IntervalSettings())['intervals']
    expected = bootstrap_means(np.array(shares)[:, None])
    assert found['RV accuracy (original right)'] == pytest.approx(100 * expected.estimate[0])
    low, high = made['RV accuracy (original right)']
    assert (low, high) == pytest.approx((100 * expected.low[0], 100 * expected.high[0]), abs=1.5)
    assert {f'{kind} understanding' for kind in ('complete', 'partial', 'collapsed')} <= made.keys()
