"""GPassKEvaluator as OpenCompass runs it: its settings and its result, through the tasks."""

from __future__ import annotations

import copy
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from eval_judges import judged_by, last_number
from eval_task import (
    COUNTS,
    SAMPLING,
    OurSums,
    Sums,
    counts,
    data_set,
    evaluate,
    predict,
    respond,
)
from opencompass.registry import TEXT_POSTPROCESSORS

from opencompass_gpassk import __version__
from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.trials import read_trials


def strict(text: str) -> Any:
    """Read JSON that holds no NaN."""

    def refuse(constant: str) -> None:
        raise AssertionError(f'{constant} is not JSON')

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize('ours', [True, False], ids=['our inferencer', "OpenCompass's"])
@pytest.mark.parametrize('kind', [OurSums, Sums])
@pytest.mark.parametrize('report', ['rule', 'details', 'no details', 'sorted'])
def test_counts_come_out_as_themselves(tmp_path: Path, kind: Any, ours: bool, report: str) -> None:
    """On our data sets and OpenCompass's, by rule and by evaluators whose details mislead."""
    evaluator = {'type': GPassKEvaluator} if report == 'rule' else judged_by(report)
    dataset = data_set(kind, evaluator=evaluator)
    predict(tmp_path, dataset, ours=ours)
    result = evaluate(tmp_path, dataset)
    assert counts(result) == COUNTS
    assert result['accuracy'] == pytest.approx(100 * sum(COUNTS) / 80)
    # Two of eight, of which c are right: both with c (c - 1) / 56.
    both = sum(c * (c - 1) / 56 for c in COUNTS) / len(COUNTS)
    assert result['G-Pass@2_1.0'] == pytest.approx(100 * both)
    assert result['no answer'] == 0


def test_responses_are_compared_before_opencompass_cuts_them_to_their_answers(
    tmp_path: Path,
) -> None:
    """Equal answers are no copies. What is left of a response is its answer."""
    dataset = data_set(Sums, eval_cfg={'pred_postprocessor': {'type': last_number}})
    predict(tmp_path, dataset, change=lambda i, r: r | {'prediction': f'Draw {i}: {r["gold"]}'})
    result = evaluate(tmp_path, dataset)
    assert counts(result) == [8] * 10
    assert (result['identical'], result['warnings']) == (0.0, [])


def without_thoughts(text: str) -> str:
    """Postprocess a response as configs of reasoning models do."""
    return text.rpartition('</think>')[2]


@pytest.mark.parametrize('postprocessor', ['model', 'data set', 'both', 'evaluator'])
def test_what_a_postprocessor_of_a_model_leaves_is_no_answer(
    tmp_path: Path, postprocessor: str
) -> None:
    """A sentence that states none is no answer; what one of the data set cut out is."""
    responses = {0: '<think>x</think>I could not finish.', 1: 'I could not finish.', 2: '2'}
    evaluator: dict[str, Any] = {'type': GPassKEvaluator}
    if postprocessor == 'evaluator':
        evaluator['pred_postprocessor'] = {'type': 'take_number'}
    eval_cfg = {'pred_postprocessor': {'type': take_number}}
    of_dataset = postprocessor in ('data set', 'both')
    dataset = data_set(Sums, evaluator=evaluator, eval_cfg=eval_cfg if of_dataset else {})
    predict(
        tmp_path,
        dataset,
        change=lambda i, r: r | {'prediction': responses.get(i % 10, f'So it is {i % 10}')},
    )
    thinking = {'pred_postprocessor': {'type': without_thoughts}}
    result = evaluate(tmp_path, dataset, **(thinking if postprocessor in ('model', 'both') else {}))
    answers = [row['answers'][0]['answer'] for row in result['details'][:4]]
    assert answers == [None, None, '2', 'it is 3' if postprocessor == 'model' else '3']


@TEXT_POSTPROCESSORS.register_module()
def take_number(text: str) -> str:
    """Postprocess a response to its number; leave one without any as it is."""
    return next(iter(re.findall(r'\d+', text)), text)


@pytest.mark.parametrize('ours', [True, False])
def test_the_hash_of_the_prompts_is_that_of_the_data_set(tmp_path: Path, ours: bool) -> None:
    """Another template of a model, or a gap, changes it as little; another question does."""
    accepting = {'type': GPassKEvaluator, 'min_coverage': 0}
    dataset = data_set(OurSums if ours else Sums, evaluator=accepting)

    def with_roles(row: int, record: dict[str, Any]) -> dict[str, Any] | None:
        prompt = [{'role': 'HUMAN', 'prompt': f'<|user|>{record["origin_prompt"]}'}]
        return record | {'origin_prompt': prompt} if row % 10 else None

    predict(tmp_path / 'plain', dataset)
    predict(tmp_path / 'roles', dataset, change=with_roles)
    other = copy.deepcopy(dataset)
    if ours:
        other['problems'] = 9
    else:
        other['infer_cfg']['prompt_template']['template'] = 'Think. {question}'
    predict(tmp_path / 'other', other)
    plain, roles, changed = (
        evaluate(tmp_path / name, used)['signature']['prompt']
        for name, used in (('plain', dataset), ('roles', dataset), ('other', other))
    )
    assert plain == roles != changed


@pytest.mark.parametrize(('n', 'k'), [(8, 9), (8, [4, 16]), (0, 1), (8, 0)])
def test_k_and_n_that_do_not_fit_are_refused(tmp_path: Path, n: int, k: Any) -> None:
    """By the data set before the inference, and by the evaluator."""
    with pytest.raises(ValueError, match=r'\b[kn] is'):
        predict(tmp_path, data_set(OurSums, n=n, k=k))
    rows = OurSums.load()
    with pytest.raises(ValueError, match=r'\b[kn] is'):
        GPassKEvaluator().evaluate(
            k,
            n,
            rows.add_column('replica', [0] * 10),
            predictions=['1'] * 10,
            references=['1'] * 10,
        )


@pytest.mark.parametrize('setting', [{'judge': 'llm'}, {'min_coverage': 2}, {'taus': [2]}])
def test_bad_settings_are_named(tmp_path: Path, setting: dict[str, Any]) -> None:
    """With field and value."""
    dataset = data_set(OurSums, evaluator={'type': GPassKEvaluator, **setting})
    predict(tmp_path, dataset)
    with pytest.raises(ValueError, match=next(iter(setting))):
        evaluate(tmp_path, dataset)


@pytest.mark.parametrize('groups', [['language'], [['language']]])
def test_groups_are_columns(tmp_path: Path, groups: Any) -> None:
    """One is enough; a name that isn't a column is an error naming it."""
    dataset = data_set(OurSums, evaluator={'type': GPassKEvaluator, 'groups': groups})
    predict(tmp_path, dataset)
    assert list(evaluate(tmp_path, dataset)['groups']) == ['cn', 'en']
    wrong = data_set(OurSums, evaluator={'type': GPassKEvaluator, 'groups': ['split', 'tongue']})
    predict(tmp_path / 'wrong', wrong)
    with pytest.raises(ValueError, match='groups names tongue'):
        evaluate(tmp_path / 'wrong', wrong)


def test_the_result_says_everything(tmp_path: Path) -> None:
    """All metrics, groups, problems with their answers, the signature; strict JSON; the trials."""
    dataset = data_set(OurSums, k=[4, 2])
    predict(
        tmp_path,
        dataset,
        change=lambda i, r: r | {'prediction': f'{i} steps of reasoning. ' * 20 + r['prediction']},
    )
    evaluate(tmp_path, dataset)
    path = tmp_path / 'results/demo/sums_en.json'
    result = strict(path.read_text('utf-8'))
    metrics = ['accuracy', 'majority vote', 'consistency']
    for k in (2, 4):
        metrics += [f'pass@{k}', *(f'G-Pass@{k}_{t}' for t in (0.0, 0.25, 0.5, 0.75, 1.0))]
        metrics += [f'mG-Pass@{k}', f'stability gap@{k}', f'cons@{k}']
    groups = [f'{group}/{metric}' for group in ('AMC-cn', 'AMC-en') for metric in metrics]
    shares = ['coverage', 'no answer', 'unrecognised', 'truncated', 'identical', 'duplicates']
    scalars = [key for key, value in result.items() if isinstance(value, float)]
    unlisted = ('majority vote', 'consistency', 'G-Pass@2_0.0', 'G-Pass@4_0.0')
    unlisted += ('stability gap@2', 'stability gap@4', 'cons@2', 'cons@4')
    assert scalars[0] == 'accuracy'
    assert sorted(scalars) == sorted(set(metrics) - set(unlisted))
    assert sorted(result['metrics']) == sorted([*metrics, *groups])
    assert sorted(result['shares']) == sorted(shares)
    signature = result['signature']
    assert signature.pop('data').startswith('sums:1:')
    assert re.fullmatch('[0-9a-f]{8}', signature.pop('prompt'))
    assert signature == {
        'package': __version__,
        'n': 8,
        'k': [2, 4],
        'sampling': SAMPLING,
        'judge': 'rule',
    }
    assert result['counts'] == {
        'problems': 10,
        'trials': 80,
        'correct': sum(COUNTS),
        'incorrect': 80 - sum(COUNTS),
        'unjudged': 0,
        'undecided': 0,
        'lost': 0,
        'no_answer': 0,
        'unrecognised': 0,
        'truncated': 0,
        'excluded': {'2': 0, '4': 0},
        **dict.fromkeys(('empty', 'thoughts_only', 'refused', 'filtered'), 0),
    }
    row = result['details'][9]
    assert (row['problem_id'], row['gold'], row['n'], row['c']) == ('sum/9', '9', 8, 1)
    assert sorted((a['answer'], a['count'], a['verdict']) for a in row['answers']) == sorted(
        [('9', 1, 'correct'), *((str(100 + r), 1, 'incorrect') for r in range(8) if r != 5)]
    )
    table, meta = read_trials(path.with_name(result['trials_file']))
    assert table.counts()[1].tolist() == COUNTS
    assert table.trials[0].response == 'predictions/demo/sums_en.json#0'
    assert meta['signature'] == result['signature'] | {
        'data': meta['signature']['data'],  # type: ignore[index]
        'prompt': meta['signature']['prompt'],  # type: ignore[index]
    }


def test_an_undefined_metric_keeps_its_key(tmp_path: Path) -> None:
    """OpenCompass's summarizer asks one set of keys of all models, so NaN it is, as Python says."""
    dataset = data_set(OurSums)
    predict(tmp_path, dataset)
    defined = evaluate(tmp_path, dataset)
    lost = {'prediction': '', 'lost': 'HTTP 500'}
    predict(tmp_path / 'lost', dataset, change=lambda _, r: r | lost)
    undefined = evaluate(tmp_path / 'lost', dataset)
    scalars = [key for key, value in defined.items() if isinstance(value, (int, float))]
    assert [key for key, value in undefined.items() if isinstance(value, (int, float))] == scalars
    assert math.isnan(undefined['pass@2'])
    assert undefined['coverage'] == 0.0


def test_a_single_greedy_response_gives_a_plain_accuracy(tmp_path: Path) -> None:
    """OpenCompass's own key, and no metric of stability."""
    dataset = data_set(OurSums, n=1, k=1)
    predict(tmp_path, dataset)
    result = evaluate(tmp_path, dataset)
    right = sum(respond(i, 0).endswith(f'{{{i}}}') for i in range(10))
    assert result['accuracy'] == pytest.approx(10 * right)
    assert not [key for key in result if '@' in key or 'average' in key]
