"""Reasoning scored in the evaluation: what sound means in every metric, and what is kept."""

from __future__ import annotations

import gzip
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from eval_judges import judged_by
from eval_task import COUNTS, N, OurSums, Sums, data_set, evaluate, logged, predict, respond
from made_results import bounds, metrics
from scripted_steps import ScriptedSteps, validity_in
from test_command_rescore import result, write_config

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.commands.rescore import Changes
from opencompass_gpassk.evaluator import GPassKEvaluator, ReasonEvalEvaluator
from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.reasoneval.settings import ReasoningSettings
from opencompass_gpassk.reasoneval.solution_files import select
from opencompass_gpassk.results.protocol import DEFAULT_TAUS, Protocol
from opencompass_gpassk.results.result import Reasoning
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

SCRIPTED = {'type': 'scripted_steps.ScriptedSteps'}
KS = [1, 2, 4]


def reasoned(row: int, record: dict[str, Any]) -> dict[str, Any] | None:
    """A response of two steps; of every fifth the reasoning is refused, of others it is so-so."""
    if row == 7:
        return record | {'prediction': '', 'lost': 'the server was down'}
    mark = '[refuse]' if row % 5 == 4 else f'[{row * 7 % 11 / 10:.1f}]'
    if row % 13 == 3:
        mark = '[0.25]'  # on the threshold
    return record | {'prediction': f'First this [0.8].\n\nThen {mark}. {record["prediction"]}'}


def whole(row: int, record: dict[str, Any]) -> dict[str, Any] | None:
    """The same with a response and scores in every row."""
    made = reasoned(row + 80 if row == 7 else row, record) or {}
    return made | {'prediction': str(made['prediction']).replace('[refuse]', '[0.2]')}


def evaluated(
    folder: Path,
    kind: Any = OurSums,
    evaluator: Any = GPassKEvaluator,
    change: Any = reasoned,
    **settings: Any,
) -> dict[str, Any]:
    """The result of responses with reasoning, scored by the script."""
    config = {'type': evaluator, 'reasoning': {**SCRIPTED, **settings}}
    dataset = data_set(kind, k=KS, evaluator=config)
    predict(folder, dataset, change=change)
    return evaluate(folder, dataset)


def responses(change: Any = reasoned) -> list[tuple[int, bool, float | None]]:
    """Problem, right answer and validity (None: refused) of each response that is there."""
    rows = []
    for row in range(len(COUNTS) * N):
        replica, i = divmod(row, len(COUNTS))
        record = change(row, {'prediction': respond(i, replica)})
        if 'lost' in record:
            continue
        text = record['prediction']
        valid = None if '[refuse]' in text else min(map(validity_in, text.split('\n\n')))
        rows.append((i, f'{{{i}}}' in text, valid))
    return rows


def expected_sound(k: int, least: int) -> float:
    """Mean share of the k-subsets of a problem's trials with so many sound ones, in %."""
    return expected(k, least, 0.25)


def expected(k: int, least: int, threshold: float) -> float:
    """The same at any threshold; at 0 all reasoning is valid."""
    shares = []
    for i in range(len(COUNTS)):
        known = [
            right and valid is not None and valid >= threshold
            for problem, right, valid in responses(whole)
            if problem == i
        ]
        subsets = list(itertools.combinations(known, k))
        shares.append(np.mean([sum(one) >= least for one in subsets]) if subsets else math.nan)
    return float(100 * np.nanmean(shares))


@pytest.mark.parametrize('kind', [OurSums, Sums])
def test_sound_metrics_are_those_of_every_subset(tmp_path: Path, kind: Any) -> None:
    """Plain, sound, and the drop from one to the other."""
    found = evaluated(tmp_path, kind, change=whole)
    for k in KS:
        for tau in DEFAULT_TAUS:
            least = max(math.ceil(tau * k), 1)
            assert found[f'sound G-Pass@{k}_{tau}'] == pytest.approx(expected_sound(k, least))
        assert found[f'sound pass@{k}'] == pytest.approx(expected_sound(k, 1))
    assert found['sound accuracy'] == pytest.approx(expected_sound(1, 1))
    drop = expected(4, 2, 0) - expected(4, 2, 0.25)
    assert found['drop to sound G-Pass@4_0.5'] == pytest.approx(drop)
    assert 'sound majority vote' not in found


def test_what_nobody_scored_leaves_no_metric_outside_of_its_bounds(tmp_path: Path) -> None:
    """A response that is lost, or whose reasoning was refused."""
    found = evaluated(tmp_path)
    sound = {name: ends for name, ends in found['bounds'].items() if name.startswith('sound ')}
    assert len(sound) > 10
    assert all(low <= found[name] <= high for name, (low, high) in sound.items())
    low, high = sound['sound accuracy']
    assert low < found['sound accuracy'] < high


def test_means_and_rates_are_over_the_scored_responses(tmp_path: Path) -> None:
    """Of all, of right and of wrong ones; shares are of what there is."""
    found = evaluated(tmp_path)
    rows = responses()
    scored = [(right, valid) for _, right, valid in rows if valid is not None]
    of = {'': scored} | {
        f' ({name})': [row for row in scored if row[0] is wanted]
        for name, wanted in (('right', True), ('wrong', False))
    }
    for label, some in of.items():
        mean = 100 * np.mean([valid for _, valid in some])
        assert found[f'validity{label}'] == pytest.approx(mean)
    right = [valid for is_right, valid in scored if is_right]
    assert found['false-positive rate'] == pytest.approx(100 * np.mean(np.array(right) < 0.25))
    assert found['scored'] == pytest.approx(100 * len(scored) / len(rows))
    summary = found['reasoning']
    assert summary['refusals'] == {
        'it has more tokens than the model takes': len(rows) - len(scored)
    }
    assert summary['sound'] == {
        'right': sum(right for _, right, _ in rows),
        'sound': sum(valid >= 0.25 for valid in right),
        'unsound': sum(valid < 0.25 for valid in right),
        'unknown': sum(is_right and valid is None for _, is_right, valid in rows),
    }
    assert summary['lengths']['steps']['all'] == 2
    box = summary['boxes']['validity']['right']
    assert (box['n'], box['mean']) == (len(right), pytest.approx(np.mean(right)))
    assert [box['q1'], box['med'], box['q3']] == pytest.approx(
        np.quantile(right, [0.25, 0.5, 0.75])
    )
    told = ' '.join(found['warnings'])
    unknown, right_ones = (summary['sound'][name] for name in ('unknown', 'right'))
    assert f'{unknown} of {right_ones} right responses have no scores' in told


def test_steps_are_kept_for_selection(tmp_path: Path) -> None:
    """Beside the result, as `gpassk reasoneval filter` reads them."""
    found = evaluated(tmp_path)
    path = tmp_path / 'results/demo' / found['steps_file']
    with gzip.open(path, 'rt', encoding='utf-8') as file:
        rows = [json.loads(line) for line in file]
    assert [(row['problem_id'], row['replica']) for row in rows][:2] == [('sum/0', 0), ('sum/1', 0)]
    assert rows[0]['steps'][0] == 'First this [0.8].'
    assert {row['verdict'] for row in rows} == {'correct', 'incorrect'}
    valid = [
        (right, valid) for _, right, valid in responses() if valid is not None and valid >= 0.5
    ]
    for verdict, count in (('any', len(valid)), (None, sum(right for right, _ in valid))):
        chosen = select(str(path), min_validity=0.5, max_redundancy=1, verdict=verdict)
        assert (len(chosen.kept), chosen.total) == (count, len(rows))
    assert {row['verdict'] for row in chosen.kept} == {'correct'}


def test_aggregates_threshold_and_splitting_are_settings(tmp_path: Path) -> None:
    """They reach the metrics and the signature."""
    plain = evaluated(tmp_path / 'a')
    whole = evaluated(tmp_path / 'b', delimiter='no such text')
    assert whole['reasoning']['lengths']['steps']['all'] == 1
    loose = evaluated(tmp_path / 'c', threshold=0)
    assert loose['false-positive rate'] == 0
    mean = evaluated(tmp_path / 'd', validity_by='mean')
    assert mean['validity'] > plain['validity']
    assert len({one['signature']['reasoning'] for one in (plain, whole, loose, mean)}) == 4
    assert plain['signature']['reasoning'].startswith('ScriptedSteps:')


def test_reasoning_alone(tmp_path: Path) -> None:
    """Without verdicts nothing is told of right and wrong answers."""
    found = evaluated(tmp_path, Sums, ReasonEvalEvaluator)
    valid = [valid for *_, valid in responses() if valid is not None]
    assert found['validity'] == pytest.approx(100 * np.mean(valid))
    assert found['signature']['judge'] == 'none'
    assert not [name for name in found if 'accuracy' in name or 'Pass' in name or 'right' in name]
    assert 'sound' not in found['reasoning']
    assert found['counts'] == {'problems': 10, 'trials': 80, 'lost': 1, 'truncated': 0}
    assert any('1 of 80 responses are lost' in one for one in found['warnings'])


def test_greedy_responses(tmp_path: Path) -> None:
    """With one response to each problem there is sound accuracy, and no G-Pass@k."""
    evaluator = {'type': GPassKEvaluator, 'reasoning': SCRIPTED}
    dataset = data_set(n=1, k=1, evaluator=evaluator)
    predict(tmp_path, dataset, change=lambda i, r: r | {'prediction': f'[0.{i}] {r["prediction"]}'})
    found = evaluate(tmp_path, dataset)
    assert found['sound accuracy'] + found['drop to sound accuracy'] == found['accuracy']
    assert found['sound accuracy'] == pytest.approx(
        100 * np.mean([f'{{{i}}}' in respond(i, 0) and i >= 3 for i in range(10)])
    )


@pytest.mark.parametrize(
    ('given', 'told'),
    [
        (3, 'reasoning is 3'),
        ({}, 'names nobody'),
        ({'model': 'a', 'reward_model': 'b'}, 'names model and reward_model'),
        ({'model': 'a', 'thresold': 0.5}, "no setting 'thresold'; did you mean 'threshold'"),
        ({'model': 'a', 'threshold': 25}, 'threshold of reasoning is 25'),
        ({'model': 'a', 'validity_by': 'median'}, 'validity_by of reasoning'),
        ({'model': 'a', 'delimiter': ''}, 'delimiter of reasoning'),
        ({'model': 'a', 'thinking': 'hide'}, 'thinking of reasoning'),
        ({'judge': 'rule'}, 'judge of reasoning'),
        ({'judge': 'cascade'}, 'judge of reasoning'),
        ({'judge': {'model': 'm', 'api_key': 'sk-1'}}, 'api_key'),
        ({'judge': 'llm', 'model_kwargs': {'dtype': 'auto'}}, 'but loads none'),
        ({'model': 'a', 'model_kwargs': {'token': 'hf_1'}}, 'HF_TOKEN'),
    ],
)
def test_wrong_settings_are_named(given: Any, told: str) -> None:
    """Before anything is read."""
    with pytest.raises(ValueError, match=told):
        GPassKEvaluator(reasoning=given)


def test_settings_are_json() -> None:
    """As a result holds them: classes by name, and no default."""
    settings = ReasoningSettings.of({'type': ScriptedSteps, 'options': {'name': 'x'}})
    assert settings.as_dict() == {
        'type': 'scripted_steps.ScriptedSteps',
        'options': {'name': 'x'},
    }
    assert ReasoningSettings.of('GAIR/ReasonEval-7B').as_dict() == {'model': 'GAIR/ReasonEval-7B'}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_metrics: None) -> Path:
    """A finished run whose reasoning nobody scored."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / 'outputs' / '20260101_000000'
    dataset = data_set(k=KS)
    predict(folder, dataset, change=reasoned)
    evaluate(folder, dataset)
    write_config(folder / 'configs' / 'run.py', folder, dataset)
    return folder


def score_run(run: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    """`gpassk reasoneval run` with the script in place of a model; how many it was asked about."""
    monkeypatch.setattr(
        'opencompass_gpassk.commands.reasoneval.scorer_settings',
        lambda args, **further: ReasoningSettings.of({**SCRIPTED, **further}),
    )
    # A result may not name a class.
    monkeypatch.setattr('opencompass_gpassk.commands.rescore.recorded_reasoning', dict)
    ScriptedSteps.asked.clear()
    code = main(['reasoneval', 'run', str(run), '--model', 'scripted', *options])
    assert code == 0
    return len(ScriptedSteps.asked)


def test_a_finished_run_gains_the_metrics(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without inference; scores are kept, and stay when the run is scored again."""
    before = result(run)
    assert score_run(run, monkeypatch) == 79
    after = result(run)
    low, high = after['bounds']['sound G-Pass@2_1.0']
    assert low < after['sound G-Pass@2_1.0'] < high
    assert after['details'] == [
        {**row, 'sound': after['details'][i]['sound']} for i, row in enumerate(before['details'])
    ]
    assert 'validity' in capsys.readouterr().out
    assert score_run(run, monkeypatch, '--threshold', '0.5') == 0
    stricter = result(run)
    assert stricter['sound G-Pass@2_1.0'] < after['sound G-Pass@2_1.0']
    assert main(['rescore', str(run), '--tau', '0.5']) == 0
    again = result(run)
    assert again['metrics']['sound G-Pass@2_0.5'] == stricter['metrics']['sound G-Pass@2_0.5']
    assert again['reasoning']['threshold'] == 0.5


def test_what_is_wrong_with_a_scorer_leaves_the_result(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The old metrics are there still; it is told once, before any data set."""
    before = result(run)
    missing = str(run / 'no-model')
    assert main(['reasoneval', 'run', str(run), '--model', missing]) == 1
    told = capsys.readouterr().err
    assert missing in told
    assert 'rescored' not in told
    assert result(run) == before


def test_bounds_use_what_is_known() -> None:
    """What is wrong, or invalid, is not sound, whatever is unknown of it besides."""
    kinds = [(Verdict.CORRECT, 0.9)] * 2 + [(Verdict.UNJUDGED, 0.1)] * 2
    table = TrialTable(
        [Problem('a')],
        [Trial('a', i, verdict, values={'validity': v}) for i, (verdict, v) in enumerate(kinds)],
    )
    protocol = Protocol(4, (2,), sound=0.25)
    found = bounds(table, protocol)
    assert found['accuracy'] == pytest.approx([50, 100])
    assert 'sound accuracy' not in found
    assert metrics(table, protocol)['sound accuracy'] == 50


def test_rescoring_keeps_what_it_is_not_asked_to_change(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """k, τ and threshold of the result, which an earlier command may have changed."""
    assert main(['rescore', str(run), '-k', '2', '--tau', '0.3']) == 0
    score_run(run, monkeypatch, '--threshold', '0.9')
    score_run(run, monkeypatch)
    found = result(run)
    assert (found['k'], found['taus'], found['reasoning']['threshold']) == ([2], [0.3], 0.9)


def test_a_judge_of_steps_is_kept_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one in the environment does not score a rescored run, nor pays for it."""
    monkeypatch.setenv('OC_JUDGE_MODEL', 'a')
    monkeypatch.setenv('OC_JUDGE_API_BASE', 'http://here/v1')
    found = ReasoningSettings.of({'judge': 'llm'}).as_dict()['judge']
    assert (found['model'], found['mode']) == ('a', 'llm')
    monkeypatch.setenv('OC_JUDGE_MODEL', 'b')
    before = Reasoning(scorer='a', settings={'judge': found})
    settings = Changes().reasoning_of(before)
    assert settings is not None
    assert (settings.scorer, settings.judge_settings.recorded) == ('a', 'unknown')
    monkeypatch.setenv('OC_JUDGE_MODEL', 'a')
    monkeypatch.setenv('OC_JUDGE_API_BASE', 'http://moved/v1')
    settings = Changes().reasoning_of(before)
    assert settings is not None
    assert settings.judge_settings.endpoints == ['http://moved/v1']


def test_a_judge_that_is_down_makes_no_result(tmp_path: Path) -> None:
    """A later try may find it there; a result would never be replaced."""
    down = {'type': 'scripted_steps.Down'}
    for least, there in ((1.0, False), (0.0, True)):
        evaluator = {'type': GPassKEvaluator, 'reasoning': down, 'min_coverage': least}
        dataset = data_set(evaluator=evaluator, abbr=f'least_{least}')
        predict(tmp_path, dataset)
        if there:
            assert evaluate(tmp_path, dataset)['scored'] == 0
        else:
            with pytest.raises(JudgeError, match='80 of 80 responses; resume with opencompass'):
                evaluate(tmp_path, dataset)


def test_a_scorer_that_fails_costs_no_verdict(tmp_path: Path) -> None:
    """Of an evaluator as judge nothing is kept: it is not asked before the scores are there."""
    evaluator = {
        **judged_by('details'),
        'reasoning': {'model': str(tmp_path / 'no-model')},
    }
    dataset = data_set(Sums, evaluator=evaluator)
    predict(tmp_path, dataset)
    with logged() as messages, pytest.raises((ValueError, OSError)):
        evaluate(tmp_path, dataset)
    assert not [message for message in messages if message.startswith('Judging')]


def test_responses_are_split_where_the_model_learned_to(tmp_path: Path) -> None:
    """Unless the settings name another place."""
    kept = {'type': 'scripted_steps.Delimited', 'threshold': 0.25}
    lengths = {}
    for name, more in (('own', {}), ('named', {'delimiter': 'no such text'})):
        evaluator = {'type': GPassKEvaluator, 'reasoning': {**kept, **more}}
        dataset = data_set(evaluator=evaluator)
        predict(tmp_path / name, dataset, change=lambda _, r: r | {'prediction': 'a|b|\\boxed{1}'})
        found = evaluate(tmp_path / name, dataset)['reasoning']
        lengths[name] = (found['lengths']['steps']['all'], found['delimiter'])
    assert lengths == {'own': (3, '|'), 'named': (1, 'no such text')}


@pytest.mark.parametrize(
    ('settings', 'threshold'),
    [
        ({'model': 'GAIR/ReasonEval-34B'}, 0.25),
        ({'model': 'GAIR/ReasonEval-7B'}, 0.5),
        ({'model': '/models/ReasonEval-7B'}, 0.5),
        ({'reward_model': 'peiyi9979/math-shepherd-mistral-7b-prm'}, 0.5),
        ({'model': 'demo'}, 0.5),
        ({'judge': {'model': 'm', 'api_base': 'http://127.0.0.1:1/v1'}}, 0.5),
        ({'model': 'GAIR/ReasonEval-7B', 'threshold': 0.25}, 0.25),
    ],
)
def test_each_scorer_has_its_threshold(settings: dict[str, Any], threshold: float) -> None:
    """Which a setting replaces."""
    made = ReasoningSettings.of(settings)
    assert made.sound_threshold == threshold
    assert not made.borrows_threshold


def test_what_a_borrowed_threshold_means_is_told(tmp_path: Path) -> None:
    """A scorer that is not known is told of, until the user sets its threshold."""
    for name, more, told in (('a', {}, True), ('b', {'threshold': 0.25}, False)):
        found = evaluated(tmp_path / name, **more)
        assert found['reasoning']['threshold'] == 0.25
        assert any('chose for ReasonEval-34B' in note for note in found['warnings']) == told


def test_the_threshold_of_another_scorer_is_not_kept() -> None:
    """That of a result is, if the scorer is the same."""
    before = Reasoning(scorer='GAIR/ReasonEval-7B', threshold=0.25)
    for model, threshold in (('GAIR/ReasonEval-7B', 0.25), ('demo', 0.5)):
        settings = Changes(reasoning={'model': model}).reasoning_of(before)
        assert settings is not None
        assert settings.sound_threshold == threshold
