"""GPassKEvaluator as OpenCompass runs it: through its tasks, on prediction files in a work dir."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from eval_task import (
    COUNTS,
    SAMPLING,
    Answerer,
    OurSums,
    Sums,
    data_set,
    evaluate,
    infer_in_shards,
    logged,
    predict,
    question,
    respond,
)
from opencompass.datasets import CustomDataset
from opencompass.datasets.livemathbench import livemathbench as upstream
from opencompass.evaluator import CascadeEvaluator, GenericLLMEvaluator, MATHVerifyEvaluator
from opencompass.models.base import BaseModel
from opencompass.openicl.icl_evaluator import AccEvaluator, BaseEvaluator
from opencompass.openicl.icl_prompt_template import PromptTemplate

from opencompass_gpassk import __version__
from opencompass_gpassk.alignment import IncompletePredictionsError
from opencompass_gpassk.evaluator import GPassKEvaluator
from opencompass_gpassk.judging.evaluators import JudgeError
from opencompass_gpassk.trials_file import read_trials


def last_number(text: str) -> str:
    """Postprocess a response as OpenCompass's data sets do: to its answer alone."""
    return re.findall(r'\d+', text)[-1]


class EqualityEvaluator(BaseEvaluator):
    """Compares postprocessed responses with gold answers and reports in one of several ways."""

    def __init__(self, report: str = 'details') -> None:
        super().__init__()
        self.report = report

    def score(self, predictions: list[str], references: list[str]) -> dict[str, Any]:
        """Score as every evaluator of OpenCompass does."""
        rows = [
            {'pred': p, 'answer': r, 'correct': last_number(p) == r}
            for p, r in zip(predictions, references, strict=True)
        ]
        accuracy = 100 * sum(row['correct'] for row in rows) / len(rows)
        if self.report == 'no details':
            return {'accuracy': accuracy}
        if self.report == 'sorted':
            rows.sort(key=lambda row: row['pred'], reverse=True)
        if self.report == 'drops':
            rows = [row for row in rows if row['answer'] != '3']
        if self.report == 'raises' or (self.report == 'raises on 5' and '5' in references):
            raise ConnectionError('the judge is down')
        if self.report == 'bleu':
            return {'bleu': 12.5}
        return {'accuracy': accuracy, 'details': rows}


class Judge(BaseModel):
    """A judge model that answers A or B, except on problem 7, where it writes prose."""

    def __init__(self, path: str = '', **settings: Any) -> None:
        super().__init__(path, tokenizer_only=True)

    def generate(self, inputs: list[str], max_out_len: int, **settings: Any) -> list[str]:
        """Judge prompts that end in the gold answer."""
        return [self._reply(*prompt.split(' against ')) for prompt in inputs]

    def _reply(self, response: str, gold: str) -> str:
        if gold == '7':
            return 'The Answer is wrong'
        return 'A' if last_number(response) == gold else 'B'


LLM_JUDGE = {
    'type': GenericLLMEvaluator,
    'prompt_template': {'type': PromptTemplate, 'template': '{prediction} against {obj_gold}'},
    'judge_cfg': {'type': Judge, 'path': '', 'batch_size': 8, 'max_out_len': 8},
    'dict_postprocessor': {'type': 'opencompass.datasets.generic.generic_llmjudge_postprocess'},
    'dataset_cfg': {
        'type': Sums,
        'reader_cfg': {'input_columns': ['question'], 'output_column': 'answer'},
    },
}


class YesNo:
    """The judge model that OpenCompass's evaluator asks: wrong answers here are 100 and more."""

    calls = 0

    def __init__(self, **settings: Any) -> None:
        pass

    def generate(self, inputs: list[str], *settings: Any) -> list[str]:
        """Answer each prompt in the form that was asked for."""
        YesNo.calls += len(inputs)
        wrong = [re.search(r'(?<!\d)10\d(?!\d)', prompt) for prompt in inputs]
        return [r'\boxed{no}' if found else r'\boxed{yes}' for found in wrong]


def judged_by(report: str, **settings: Any) -> dict[str, Any]:
    """An evaluator config whose judge reports in this way."""
    judge = {'type': EqualityEvaluator, 'report': report}
    return {'type': GPassKEvaluator, 'judge': judge, **settings}


def counts(result: dict[str, Any]) -> list[int]:
    """Right answers to each problem."""
    return [row['c'] for row in result['details']]


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
    assert result['accuracy (8 runs average)'] == pytest.approx(100 * sum(COUNTS) / 80)
    # Two of eight, of which c are right: both with c (c - 1) / 56.
    both = sum(c * (c - 1) / 56 for c in COUNTS) / len(COUNTS)
    assert result['G-Pass@2_1.0'] == pytest.approx(100 * both)
    assert result['no answer'] == 0


def test_replicas_are_judged_each_for_itself_where_opencompass_reuses_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its evaluator finds the first replica's verdicts in its folder: every threshold is the same.

    The same evaluator as our judge gets a folder for each replica.
    """
    monkeypatch.setattr(upstream, 'OpenAISDK', YesNo)
    monkeypatch.setattr(upstream.LiveMathBenchOutputHandler, 'output_dict', {})
    monkeypatch.setattr(YesNo, 'calls', 0)
    theirs = {'type': upstream.LiveMathBenchEvaluator, 'model_name': 'judge', 'url': 'http://x'}
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
    assert '2 of 6 responses are unjudged' in ' '.join(result['warnings'])


@pytest.mark.parametrize('kind', [OurSums, Sums])
@pytest.mark.parametrize('test_range', ['', '[3:]', '[7:33]', '[2:4]'])
def test_shards_and_test_ranges_shift_nothing(tmp_path: Path, kind: Any, test_range: str) -> None:
    """Two workers, and a range that cuts through replicas: every trial is its problem's own."""
    dataset = data_set(kind, k=1, test_range=test_range)
    files = infer_in_shards(tmp_path, dataset)
    rows = list(range(80))[slice(*[int(x) if x else None for x in test_range[1:-1].split(':')])]
    split = len(rows) > 16  # OpenCompass gives a worker sixteen rows at least
    assert [f.name for f in files] == (
        [f'sums_en_{i}.json' for i in (0, 1)] if split else ['sums_en.json']
    )
    result = evaluate(tmp_path, dataset)
    expected = dict.fromkeys((row % 10 for row in rows), (0, 0))
    for row in rows:
        n, c = expected[row % 10]
        # The model's answers to a problem are right by their number, whichever replica they are.
        expected[row % 10] = (n + 1, c + respond(row % 10, n).endswith(f'{{{row % 10}}}'))
    found = {int(row['problem_id'].split('/')[-1]): row for row in result['details']}
    assert {i: (row['n'], row['c']) for i, row in found.items()} == expected
    assert result['signature']['sampling'] != {'unknown': True}


def test_rows_that_opencompass_leaves_out_of_all_shards_are_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes a test range out of the size twice; to resume then brings nothing."""
    monkeypatch.chdir(tmp_path)  # it makes a folder .cache
    dataset = data_set(OurSums, test_range='[3:]')
    infer_in_shards(tmp_path, dataset, size_known=False)
    with pytest.raises(IncompletePredictionsError, match=r'3 of 77 .* --max-num-workers 1'):
        evaluate(tmp_path, dataset)


def test_a_missing_shard_is_an_error_or_an_accepted_gap(tmp_path: Path) -> None:
    """No result that would be kept for ever; with a lower minimum the gap is lost, not wrong."""
    dataset = data_set(OurSums)
    infer_in_shards(tmp_path, dataset, workers=4)[1].unlink()
    with pytest.raises(IncompletePredictionsError, match=r'20 of 80 .* sums_en_1\.json'):
        evaluate(tmp_path, dataset)
    assert not (tmp_path / 'results/demo/sums_en.json').exists()
    accepting = {'type': GPassKEvaluator, 'min_coverage': 0.75}
    result = evaluate(tmp_path, data_set(OurSums, evaluator=accepting))
    assert [row['n'] for row in result['details']] == [6] * 10
    assert (result['coverage'], result['counts']['lost']) == (75.0, 20)
    assert result['counts']['incorrect'] + result['counts']['correct'] == 60
    assert not any('sampling settings' in warning for warning in result['warnings'])


@pytest.mark.parametrize('report', ['rule', 'details'])
def test_lost_predictions_are_unjudged_and_told(tmp_path: Path, report: str) -> None:
    """A request that failed for good is no wrong answer."""

    def lose(row: int, record: dict[str, Any]) -> dict[str, Any]:
        return record | {'prediction': '', 'lost': 'HTTP 500'} if row < 12 else record

    evaluator = {'type': GPassKEvaluator} if report == 'rule' else judged_by(report)
    dataset = data_set(OurSums, evaluator=evaluator)
    predict(tmp_path, dataset, change=lose)
    with logged() as messages:
        result = evaluate(tmp_path, dataset)
    assert [row['n'] for row in result['details']] == [6, 6, *[7] * 8]
    assert (result['counts']['lost'], result['counts']['unjudged']) == (12, 12)
    assert '12 of 80 responses are lost (inference failed)' in ' '.join(result['warnings'])
    assert '12 of 80 responses are lost' in ' '.join(messages)


def test_a_gold_answer_that_changed_since_the_inference_is_an_error(tmp_path: Path) -> None:
    """The responses were made to other data."""
    predict(tmp_path, data_set(OurSums))
    changed = data_set(OurSums, golds=[str(i + (i == 4)) for i in range(10)])
    with pytest.raises(ValueError, match=r"'sum/4' has the gold answer '5'.*the data have changed"):
        evaluate(tmp_path, changed)


def test_rows_of_opencompass_that_moved_since_the_inference_are_an_error(tmp_path: Path) -> None:
    """Its problems are numbered by their place, which another row before them shifts."""
    predict(tmp_path, data_set(Sums))
    with pytest.raises(ValueError, match='the data have changed'):
        evaluate(tmp_path, data_set(Sums, golds=[str((i + 1) % 10) for i in range(10)]))


def worked(gold: str) -> str:
    """Postprocess a gold answer as OpenCompass does that of GSM8K."""
    return gold.rsplit('#### ', maxsplit=1)[-1]


def test_gold_answers_that_opencompass_postprocesses_are_no_other_data(tmp_path: Path) -> None:
    """The inference records them as they were before; the log tells."""
    eval_cfg = {'dataset_postprocessor': {'type': worked}}
    dataset = data_set(Sums, golds=[f'Steps.\n#### {i}' for i in range(10)], eval_cfg=eval_cfg)
    predict(tmp_path, dataset)
    with logged() as messages:
        assert counts(evaluate(tmp_path, dataset)) == COUNTS
    assert 'unless a dataset_postprocessor made them' in ' '.join(messages)


def test_one_response_that_a_judge_fails_on_is_unjudged(tmp_path: Path) -> None:
    """The others are judged, and the log says why they were asked for one by one."""
    dataset = data_set(OurSums, evaluator=judged_by('raises on 5'))
    predict(tmp_path, dataset)
    with logged() as messages:
        result = evaluate(tmp_path, dataset)
    assert counts(result) == [c if i != 5 else 0 for i, c in enumerate(COUNTS)]
    assert [row['n'] for row in result['details']] == [8 if i != 5 else 0 for i in range(10)]
    assert result['counts']['incorrect'] == sum(8 - c for i, c in enumerate(COUNTS) if i != 5)
    assert 'EqualityEvaluator is asked one response at a time, since it failed' in ' '.join(
        messages
    )
    assert '8 of 80 responses are unjudged' in ' '.join(result['warnings'])


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


def test_an_llm_judge_that_is_never_understood_is_an_error(tmp_path: Path) -> None:
    """Its prompt asks for something else than A or B, or nobody answers."""
    evaluator = {'type': GPassKEvaluator, 'judge': LLM_JUDGE}
    dataset = data_set(Sums, golds=['7'] * 10, evaluator=evaluator)
    predict(tmp_path, dataset)
    with pytest.raises(JudgeError, match=r'none of 80 responses.* replied neither A nor B'):
        evaluate(tmp_path, dataset)
    assert not (tmp_path / 'results/demo/sums_en.json').exists()


def test_verdicts_on_other_responses_are_not_taken_for_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge keeps its replies in its folder; new responses need a new folder."""
    monkeypatch.setattr(upstream, 'OpenAISDK', YesNo)
    monkeypatch.setattr(upstream.LiveMathBenchOutputHandler, 'output_dict', {})
    judge = {'type': upstream.LiveMathBenchEvaluator, 'model_name': 'judge', 'url': 'http://x'}
    dataset = data_set(Sums, evaluator={'type': GPassKEvaluator, 'judge': judge})
    predict(tmp_path, dataset)
    assert counts(evaluate(tmp_path, dataset)) == COUNTS
    (tmp_path / 'results/demo/sums_en.json').unlink()
    predict(tmp_path, dataset, change=lambda _, r: r | {'prediction': '\\boxed{100}'})
    assert counts(evaluate(tmp_path, dataset)) == [0] * 10


def test_identical_responses_are_told(tmp_path: Path) -> None:
    """Copies say nothing about stability: in the log and in the result."""
    dataset = data_set(OurSums)
    predict(tmp_path, dataset, change=lambda _, r: r | {'prediction': f'\\boxed{{{r["gold"]}}}'})
    with logged() as messages:
        result = evaluate(tmp_path, dataset)
    assert result['identical'] == 100.0
    for told in (' '.join(messages), ' '.join(result['warnings'])):
        assert '100% of the problems got 8 identical responses' in told


def test_responses_are_compared_before_opencompass_cuts_them_to_their_answers(
    tmp_path: Path,
) -> None:
    """Equal answers are no copies. What is left of a response is its answer."""
    dataset = data_set(Sums, eval_cfg={'pred_postprocessor': {'type': last_number}})
    predict(tmp_path, dataset, change=lambda i, r: r | {'prediction': f'Draw {i}: {r["gold"]}'})
    result = evaluate(tmp_path, dataset)
    assert counts(result) == [8] * 10
    assert (result['identical'], result['warnings']) == (0.0, [])


@pytest.mark.parametrize(('truncated', 'told'), [(0, False), (2, True)])
def test_truncated_responses_are_told_above_one_percent(
    tmp_path: Path, truncated: int, told: bool
) -> None:
    """They tell more of max_out_len than of the model."""
    dataset = data_set(OurSums)
    predict(tmp_path, dataset, change=lambda i, r: r | {'truncated': i < truncated})
    result = evaluate(tmp_path, dataset)
    assert result['truncated'] == 100 * truncated / 80
    assert any('max_out_len' in warning for warning in result['warnings']) == told


@pytest.mark.parametrize(('n', 'k', 'told'), [(8, 2, False), (8, [2, 4], True)])
def test_few_samples_for_k_are_told(tmp_path: Path, n: int, k: Any, told: bool) -> None:
    """The authors advise n of at least 3k."""
    dataset = data_set(OurSums, n=n, k=k)
    predict(tmp_path, dataset)
    assert any('less than 3k' in w for w in evaluate(tmp_path, dataset)['warnings']) == told


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
    with pytest.raises(ValueError, match='groups of GPassKEvaluator names tongue'):
        evaluate(tmp_path / 'wrong', wrong)


def test_the_result_says_everything(tmp_path: Path) -> None:
    """All figures, groups, problems with their answers, the signature; strict JSON; the trials."""
    dataset = data_set(OurSums, k=[4, 2])
    predict(
        tmp_path,
        dataset,
        change=lambda i, r: r | {'prediction': f'{i} steps of reasoning. ' * 20 + r['prediction']},
    )
    evaluate(tmp_path, dataset)
    path = tmp_path / 'results/demo/sums_en.json'
    result = strict(path.read_text('utf-8'))
    metrics = ['accuracy (8 runs average)', 'majority vote']
    for k in (2, 4):
        metrics += [f'pass@{k}', *(f'G-Pass@{k}_{t}' for t in (0.0, 0.25, 0.5, 0.75, 1.0))]
        metrics += [f'mG-Pass@{k}']
    groups = [f'{group}/{metric}' for group in ('AMC-cn', 'AMC-en') for metric in metrics]
    shares = ['coverage', 'no answer', 'truncated', 'identical', 'duplicates']
    scalars = [key for key, value in result.items() if isinstance(value, float)]
    assert sorted(scalars) == sorted([*metrics, *groups, *shares])
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
        'lost': 0,
        'no_answer': 0,
        'truncated': 0,
        'excluded': {'2': 0, '4': 0},
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


def test_a_surrogate_in_an_answer_breaks_no_result(tmp_path: Path) -> None:
    """OpenCompass writes results unescaped: half a file would be kept by -r for ever."""
    dataset = data_set(OurSums)
    predict(tmp_path, dataset, change=lambda _, r: r | {'prediction': 'So \\boxed{\ud83d}\u2028'})
    assert counts(evaluate(tmp_path, dataset)) == [0] * 10


def test_an_undefined_figure_keeps_its_key(tmp_path: Path) -> None:
    """OpenCompass's summarizer asks one set of keys of all models, so NaN it is, as Python says."""
    dataset = data_set(OurSums)
    predict(tmp_path, dataset)
    defined = evaluate(tmp_path, dataset)
    lost = {'prediction': '', 'lost': 'HTTP 500'}
    predict(tmp_path / 'lost', dataset, change=lambda _, r: r | lost)
    undefined = evaluate(tmp_path / 'lost', dataset)
    scalars = [key for key, value in defined.items() if isinstance(value, (int, float))]
    assert [key for key, value in undefined.items() if isinstance(value, (int, float))] == scalars
    assert undefined['pass@2'] != undefined['pass@2']
    assert undefined['coverage'] == 0.0


def test_a_single_greedy_response_gives_a_plain_accuracy(tmp_path: Path) -> None:
    """OpenCompass's own key, and no figure of stability."""
    dataset = data_set(OurSums, n=1, k=1)
    predict(tmp_path, dataset)
    result = evaluate(tmp_path, dataset)
    right = sum(respond(i, 0).endswith(f'{{{i}}}') for i in range(10))
    assert result['accuracy'] == pytest.approx(10 * right)
    assert not [key for key in result if '@' in key or 'average' in key]


def test_the_model_of_these_tests_is_asked_all_there_is() -> None:
    """Counts are drawn from, not repeated: the eighth answer closes the round."""
    model = Answerer()
    Answerer.asked.clear()
    answers = [model.generate([question(5)], 9)[0] for _ in range(8)]
    assert sum(answer.endswith('{5}') for answer in answers) == COUNTS[5]
