"""GPassKEvaluator with evaluators of OpenCompass as judge, through its tasks."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from eval_judges import (
    LLM_JUDGE,
    EqualityEvaluator,
    Judge,
    NoRule,
    YesNo,
    judged_by,
    last_number,
    livemath_judge,
)
from eval_task import (
    COUNTS,
    OurSums,
    Sums,
    config,
    counts,
    data_set,
    evaluate,
    predict,
    question,
    respond,
)
from opencompass.datasets import CustomDataset
from opencompass.datasets.livemathbench import livemathbench as upstream
from opencompass.evaluator import CascadeEvaluator, MATHVerifyEvaluator
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.tasks import OpenICLEvalTask

from opencompass_gpassk.answers import worker_pool as pool
from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.judging.judge import JudgeError


def test_replicas_are_judged_each_for_itself_where_opencompass_reuses_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its evaluator finds the first replica's verdicts in its folder: every threshold is the same.

    The same evaluator as our judge gets a folder for each replica.
    """
    theirs = livemath_judge(monkeypatch)
    monkeypatch.setattr(YesNo, 'calls', 0)
    for name, evaluator in (
        ('theirs', theirs),
        ('ours', {'type': GPassKEvaluator, 'judge': theirs}),
    ):
        dataset = data_set(Sums, evaluator=evaluator)
        predict(tmp_path / name, dataset)
        before = YesNo.calls
        result = evaluate(tmp_path / name, dataset)
        if name == 'theirs':
            first = sum(respond(i, 0).endswith(f'{{{i}}}') for i in range(10))
            assert YesNo.calls == 10
            assert {result[f'G-Pass@2_{tau}'] for tau in (0.0, 0.5, 1.0)} == {10.0 * first}
        else:
            assert YesNo.calls - before == 80
            assert counts(result) == COUNTS


@pytest.mark.parametrize('kind', ['judge', 'cascade'])
def test_llm_judges_of_opencompass(tmp_path: Path, kind: str) -> None:
    """What the judge does not say is unjudged; OpenCompass takes its prose for an A or a no."""
    judge = LLM_JUDGE
    if kind == 'cascade':
        rule = {'type': EqualityEvaluator}
        judge = {'type': CascadeEvaluator, 'rule_evaluator': rule, 'llm_evaluator': LLM_JUDGE}
    dataset = data_set(Sums, evaluator={'type': GPassKEvaluator, 'judge': judge})
    lost = {'prediction': '', 'lost': 'HTTP 500'}  # of problem 2 a wrong one
    predict(tmp_path, dataset, change=lambda row, r: r | lost if row == 12 else r)
    rows = evaluate(tmp_path, dataset)['details']
    expected = [(8, c) for c in COUNTS]
    expected[2] = (7, COUNTS[2])
    expected[7] = (COUNTS[7], COUNTS[7]) if kind == 'cascade' else (0, 0)
    assert [(row['n'], row['c']) for row in rows] == expected


def test_a_custom_data_set_of_opencompass_is_scored_by_its_own_evaluator(tmp_path: Path) -> None:
    """A local file, postprocessed responses, an evaluator without details."""
    path = tmp_path / 'sums.jsonl'
    rows = [{'question': question(i), 'answer': str(i)} for i in range(4)]
    path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    dataset = data_set(
        CustomDataset,
        path=str(path),
        local_mode=True,
        evaluator={'type': GPassKEvaluator, 'judge': {'type': AccEvaluator}},
        eval_cfg={'pred_postprocessor': {'type': last_number}},
    )
    predict(tmp_path, dataset)
    result = evaluate(tmp_path, dataset)
    assert counts(result) == COUNTS[:4]
    assert re.fullmatch('AccEvaluator:[0-9a-f]{8}', result['signature']['judge'])
    assert result['details'][0]['answers'][0] == {
        'answer': '0',
        'count': 4,
        'verdict': 'correct',
        'source': 'AccEvaluator',
    }


def test_math_verify_evaluator_drops_no_row(tmp_path: Path) -> None:
    """OpenCompass's evaluator leaves out what it can't parse the gold answer of."""
    dataset = data_set(
        Sums,
        n=2,
        golds=['0', '', '2'],
        evaluator={'type': GPassKEvaluator, 'judge': {'type': MATHVerifyEvaluator}},
    )

    def answer(row: int, record: dict[str, Any]) -> dict[str, Any]:
        return record | {'prediction': f'\\boxed{{{record["gold"]}}}'}

    dataset['problems'] = 3
    predict(tmp_path, dataset, change=answer)
    result = evaluate(tmp_path, dataset)
    assert [(row['n'], row['c']) for row in result['details']] == [(2, 2), (0, 0), (2, 2)]
    assert '2 of 6 verdicts are missing: 2 unjudged' in ' '.join(result['warnings'])


def test_a_warning_counts_answers_that_the_budget_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are unjudged, also where undecided answers count as wrong."""
    monkeypatch.setattr(pool, 'A_RUN', 0)
    monkeypatch.setattr(pool, 'A_TASK', 0)
    judge = {'mode': 'rule', 'undecided': 'incorrect'}
    evaluator = {'type': GPassKEvaluator, 'judge': judge}
    dataset = data_set(Sums, n=2, golds=['2\\sqrt{2}', '2'], evaluator=evaluator)

    def answer(row: int, record: dict[str, Any]) -> dict[str, Any]:
        hard = record['gold'] != '2'
        return record | {'prediction': '\\boxed{\\sqrt{8}}' if hard else '\\boxed{2}'}

    dataset['problems'] = 2
    predict(tmp_path, dataset, change=answer)
    result = evaluate(tmp_path, dataset)
    assert [(row['n'], row['c']) for row in result['details']] == [(0, 0), (2, 2)]
    assert result['judging']['reasons']['unknown: budget'] == 2
    assert '2 answers were not compared' in ' '.join(result['warnings'])


@pytest.mark.parametrize(
    ('report', 'error', 'message'),
    [
        ('raises', JudgeError, 'EqualityEvaluator fails on every response'),
        ('bleu', ValueError, 'EqualityEvaluator does not say whether a single response is right'),
    ],
)
def test_a_judge_without_verdicts_is_named(
    tmp_path: Path, report: str, error: type[Exception], message: str
) -> None:
    """And leaves no result that -r would keep."""
    dataset = data_set(OurSums, evaluator=judged_by(report))
    predict(tmp_path, dataset)
    with pytest.raises(error, match=message):
        evaluate(tmp_path, dataset)
    assert not (tmp_path / 'results/demo/sums_en.json').exists()


def test_verdicts_on_other_responses_are_not_taken_for_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge keeps its replies in its folder; new responses need a new folder."""
    evaluator = {'type': GPassKEvaluator, 'judge': livemath_judge(monkeypatch)}
    dataset = data_set(Sums, evaluator=evaluator)
    predict(tmp_path, dataset)
    assert counts(evaluate(tmp_path, dataset)) == COUNTS
    (tmp_path / 'results/demo/sums_en.json').unlink()
    predict(tmp_path, dataset, change=lambda _, r: r | {'prediction': '\\boxed{100}'})
    assert counts(evaluate(tmp_path, dataset)) == [0] * 10


class Lenient(Judge):
    """A judge that calls everything right."""

    def _reply(self, response: str, gold: str) -> str:
        return 'A'


class Strict(Judge):
    """A judge that calls everything wrong."""

    def _reply(self, response: str, gold: str) -> str:
        return 'B'


class Yes:
    """A model that OpenCompass's LiveMathBenchEvaluator asks, which says what its name says."""

    def __init__(self, path: str, **settings: Any) -> None:
        self.reply = path

    def generate(self, inputs: list[str], *settings: Any) -> list[str]:
        """Say it in a box."""
        return [f'\\boxed{{{self.reply}}}'] * len(inputs)


@pytest.mark.parametrize('kind', ['generic', 'cascade', 'livemathbench'])
def test_verdicts_of_another_judge_are_not_taken_for_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Another config is another judge: it is asked, and the signature tells the two apart."""
    monkeypatch.setattr(upstream, 'OpenAISDK', Yes)
    signatures = []
    for model, reply, right in ((Lenient, 'yes', 8), (Strict, 'no', 0)):
        judge: dict[str, Any] = copy.deepcopy(LLM_JUDGE)
        judge['judge_cfg']['type'] = model
        if kind == 'cascade':
            judge = {
                'type': CascadeEvaluator,
                'parallel': False,
                'rule_evaluator': {'type': NoRule},
                'llm_evaluator': judge,
            }
        if kind == 'livemathbench':
            judge = {'type': upstream.LiveMathBenchEvaluator, 'model_name': reply, 'url': 'x'}
        dataset = data_set(Sums, evaluator={'type': GPassKEvaluator, 'judge': judge})
        predict(tmp_path, dataset)
        result = evaluate(tmp_path, dataset)
        assert counts(result) == [right] * 10
        signatures.append(result['signature']['judge'])
        (tmp_path / 'results/demo/sums_en.json').unlink()
    assert signatures[0] != signatures[1]
    assert len({name.partition(':')[0] for name in signatures}) == 1


@pytest.mark.parametrize(('visible', 'refused'), [('', True), ('0', False), (None, False)])
def test_a_judge_that_asks_for_gpus_and_gets_none_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, visible: str | None, refused: bool
) -> None:
    """OpenCompass looks for the GPUs of an evaluation one level higher; the error says where."""
    if visible is None:
        monkeypatch.delenv('CUDA_VISIBLE_DEVICES', raising=False)
    else:
        monkeypatch.setenv('CUDA_VISIBLE_DEVICES', visible)
    monkeypatch.setattr('torch.cuda.is_available', lambda: True)
    judge: dict[str, Any] = copy.deepcopy(LLM_JUDGE)
    judge['judge_cfg']['run_cfg'] = {'num_gpus': 2}
    evaluator = {'type': GPassKEvaluator, 'judge': judge}
    dataset = data_set(Sums, evaluator=evaluator)
    assert OpenICLEvalTask(config(tmp_path, dataset)).num_gpus == 0
    remedied = data_set(Sums, evaluator=evaluator, eval_cfg={'num_gpus': 2})
    assert OpenICLEvalTask(config(tmp_path, remedied)).num_gpus == 2
    predict(tmp_path, dataset)
    if refused:
        with pytest.raises(ValueError, match=r'is 2, but .* eval_cfg=dict\(num_gpus=2, evaluator='):
            evaluate(tmp_path, dataset)
    else:
        assert len(evaluate(tmp_path, dataset)['details']) == 10
