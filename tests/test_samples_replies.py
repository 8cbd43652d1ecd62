"""Outputs of engines and servers, with gold answers in a second file; accepted answers; names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from opencompass_gpassk import trial_rows
from opencompass_gpassk.commands.main import main
from opencompass_gpassk.report.page.problems import read_responses
from opencompass_gpassk.samples.sample_files import read_samples
from opencompass_gpassk.trials import read_trials

TEXTS = ['It is \\boxed{7}.', 'It is \\boxed{8}.', 'It is \\boxed{7}.']
GOLDS = [{'prompt': f'<user>{a} + 4?', 'question': f'{a} + 4?', 'answer': a + 4} for a in (3, 4)]


def write(path: Path, *rows: dict[str, Any], encoding: str = 'utf-8') -> str:
    """A file of JSON lines."""
    lines = [json.dumps(row, ensure_ascii=False) + '\n' for row in rows]
    path.write_bytes(''.join(lines).encode(encoding))
    return str(path)


def completion(*texts: str | None, **fields: Any) -> dict[str, Any]:
    """A chat completion."""
    choices = [
        {'index': i, 'message': {'role': 'assistant', 'content': text}, 'finish_reason': 'length'}
        for i, text in enumerate(texts)
    ]
    usage = {'prompt_tokens': 9, 'completion_tokens': 40}
    return {
        'object': 'chat.completion',
        'model': 'mine',
        'choices': choices,
        'usage': usage,
    } | fields


def vllm(texts: list[str]) -> list[dict[str, Any]]:
    outputs = [{'text': text, 'token_ids': [1, 2], 'finish_reason': 'stop'} for text in texts]
    return [{'request_id': '0', 'prompt': gold['prompt'], 'outputs': outputs} for gold in GOLDS]


def batch(texts: list[str]) -> list[dict[str, Any]]:
    return [
        {
            'custom_id': gold['prompt'],
            'error': None,
            'response': {'status_code': 200, 'body': completion(text)},
        }
        for gold in GOLDS
        for text in texts
    ]


def chat(texts: list[str]) -> list[dict[str, Any]]:
    return [{**completion(*texts), 'prompt': gold['prompt']} for gold in GOLDS]


@pytest.mark.parametrize(
    ('made', 'on'),
    [(vllm, 'prompt=prompt'), (batch, 'custom_id=prompt'), (chat, 'prompt=prompt')],
)
def test_gold_answers_stand_in_a_second_file(made: Any, on: str, tmp_path: Path) -> None:
    """Questions too; the responses are found again without it."""
    outputs = write(tmp_path / 'outputs.jsonl', *made(TEXTS))
    gold = write(tmp_path / 'gold.jsonl', *GOLDS)
    result = tmp_path / 'out/r.json'
    assert main(['score', outputs, '--gold', gold, '--on', on, '-k', '2', '-o', str(result)]) == 0
    table, _ = read_trials(result.with_name('r.trials.jsonl.gz'))
    assert [(one.question, one.gold) for one in table.problems] == [
        ('3 + 4?', '7'),
        ('4 + 4?', '8'),
    ]
    assert [row['c'] for row in json.loads(result.read_text())['details']] == [2, 1]
    faults: list[str] = []
    shown = read_responses(table.trials, None, result.parent, faults)
    assert (len(shown), faults) == (6, [])


def test_what_a_second_file_lacks_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The row, the value and the file; without one, how to name it."""
    templated = {'templated': '<|im_start|>user 3 + 4?'}
    outputs = write(tmp_path / 'outputs.jsonl', *(row | templated for row in vllm(TEXTS)))
    assert main(['score', outputs]) == 1
    assert '--gold FILE --on FIELD=FIELD' in capsys.readouterr().err
    gold = write(tmp_path / 'gold.jsonl', GOLDS[0])
    for given, told in (
        (['--gold', gold], 'go together'),
        (['--gold', gold, '--on', 'prompt=prompt'], "no row with prompt = '<user>4 + 4?'"),
        (['--gold', gold, '--on', 'templated=prompt'], 'join by an id instead'),
        (['--gold', gold, '--on', 'prompt=id'], 'field id, of --on, is missing'),
        (['--gold', gold, '--on', 'number=prompt'], 'field number, of --on, is missing'),
    ):
        assert main(['score', outputs, *given]) == 1
        assert told in capsys.readouterr().err


def test_failed_requests_are_lost(tmp_path: Path) -> None:
    """An error of a batch, or of the server, or a reply without a text."""
    rows: list[dict[str, Any]] = [
        {'custom_id': 'a', 'response': None, 'error': {'code': 'expired', 'message': 'too late'}},
        {'custom_id': 'a', 'response': {'body': {'error': {'message': 'busy'}}}, 'error': None},
        {'custom_id': 'a', 'response': {'body': completion(None)}, 'error': None},
        {'custom_id': 'a', 'response': {'body': completion('4')}, 'error': None},
    ]
    path = write(tmp_path / 'a.jsonl', *[{**row, 'answer': '4', 'question': 'q'} for row in rows])
    found = read_samples(path)
    lost = [one.lost for one in found.responses]
    assert [why.partition(': ')[2] for why in lost] == ['too late', 'busy', '', '']
    assert [bool(why) for why in lost] == [True, True, True, False]
    assert (found.responses[3].num_tokens, found.responses[3].truncated) == (40, True)


def test_replies_may_be_samples_of_rows(tmp_path: Path) -> None:
    """Objects of a server in place of texts; their ids are kept, and don't join."""
    samples = [completion('\\boxed{4}', id='gen-1'), {'text': 'x', 'id': 'gen-2'}]
    path = write(tmp_path / 'a.jsonl', {'question': 'q', 'answer': '4', 'samples': samples})
    assert main(['score', path, '-k', '2', '-o', str(tmp_path / 'r.json')]) == 0
    rows = trial_rows(tmp_path / 'r.json', responses=True)
    assert [(row['sample_id'], row['question'], row['text']) for row in rows] == [
        ('gen-1', 'q', '\\boxed{4}'),
        ('gen-2', 'q', 'x'),
    ]


def test_any_accepted_answer_is_right(tmp_path: Path) -> None:
    """Of a list in a row; what is none of them is wrong."""
    samples = ['\\boxed{7}', '\\boxed{14/2}', '\\boxed{\\text{seven}}', '\\boxed{8}', '\\boxed{9}']
    path = write(tmp_path / 'a.jsonl', {'question': 'q', 'answer': ['7', 8.0], 'samples': samples})
    assert main(['score', path, '-k', '2', '-o', str(tmp_path / 'r.json')]) == 0
    rows = trial_rows(tmp_path / 'r.json')
    assert [row['verdict'] for row in rows] == [*['correct'] * 4, 'incorrect']
    assert {row['gold'] for row in rows} == {'any of ["7", "8.0"]'}


@pytest.mark.parametrize(
    ('gold', 'final'),
    [
        ('正确答案:D。', 'D'),
        ('The answer is 72.', '72'),
        ('1 + 1\n#### 2', '2'),
        ('an answer', 'an answer'),
    ],
)
def test_a_gold_answer_is_read_like_an_answer(gold: str, final: str, tmp_path: Path) -> None:
    """Predictions of OpenCompass are rows, also those of 2023."""
    record = {'origin_prompt': [{'role': 'HUMAN', 'prompt': 'q'}], 'gold': gold}
    texts = ['[正确答案]D<eoa>', '[正确答案]A<eoa>']
    records = {str(i): {**record, 'prediction': text} for i, text in enumerate(texts)}
    (tmp_path / 'exam.json').write_text(json.dumps(records))
    found = read_samples(str(tmp_path / 'exam.json'))
    assert [(one.question, one.gold) for one in found.problems] == [('q', final)]
    assert [one.text for one in found.responses] == texts


def test_rows_of_lighteval_before_its_docs(tmp_path: Path) -> None:
    """Columns of 0.3 to 0.10; a share of the samples is no verdict on one."""
    row = {
        'example': 'What is 2 + 3?',
        'full_prompt': 'What is 2 + 3?\nBox it.',
        'predictions': TEXTS,
        'gold': ['7', 'seven'],
        'cont_tokens': [[[1], [1, 2], [3]]],
        'metrics': {'math_pass@1:3_samples': 1.0},
    }
    path = tmp_path / 'details_gsm8k_2025-01-01T00-00-00.000000.parquet'
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row]), path)
    found = read_samples(str(path))
    assert [(p.question, p.gold) for p in found.problems] == [
        (row['example'], 'any of ["7", "seven"]')
    ]
    assert [(one.text, one.num_tokens) for one in found.responses] == list(
        zip(TEXTS, [1, 2, 1], strict=True)
    )
    assert {one.other_verdict.value for one in found.responses if one.other_verdict} == {'correct'}


def older_review(index: int, gold: Any) -> dict[str, Any]:
    """A review of EvalScope before 1.0."""
    body = completion('\\boxed{42}', index=index, reviewed=True)
    body['choices'][0]['review'] = {'gold': gold, 'pred': '42', 'result': True}
    asked = {'question': f'What is {index}?', 'answer': 'x'}
    return body | {
        'raw_input': asked,
        'origin_prompt': {'data': [f'Few. What is {index}?\nSay it:']},
    }


def test_a_data_set_without_gold_answers_is_left_out_of_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is named, and the others are scored; named itself it is an error."""
    folder = tmp_path / 'reviews/m'
    folder.mkdir(parents=True)
    write(folder / 'gsm8k_main.jsonl', older_review(0, '42'), older_review(1, '#### 41'))
    bare = write(folder / 'ifeval_default.jsonl', older_review(0, {'key': 1}), older_review(1, ''))
    empty = write(folder / 'iquiz_EQ.jsonl', older_review(0, ''))
    output = tmp_path / 'r.json'
    assert main(['score', str(tmp_path), '--format', 'evalscope', '-o', str(output)]) == 0
    told = capsys.readouterr().err
    assert f'left out: {bare}, line 1: field gold is' in told
    assert f'left out: {empty}, line 1: field gold: the gold answer is missing' in told
    (found,) = output.with_suffix('').glob('m/*.json')
    assert [row['c'] for row in json.loads(found.read_text())['details']] == [1, 0]
    assert (
        read_samples(str(folder / 'gsm8k_main.jsonl')).problems[0].question == 'What is 0?\nSay it:'
    )
    assert main(['score', empty]) == 1


def test_columns_are_proposed_by_what_they_hold(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The list of the longest texts is the samples, whatever it is called; it works."""
    row = {
        'idx': 3,
        'question': 'What is 3 + 4?',
        'gt_cot': 'Add. ' * 60,
        'gt': '7',
        'type': 'Algebra',
        'response': 'summary',
        'code': [f'Let us think. {text} ' * 4 for text in TEXTS],
        'pred': ['7', '8', '7'],
        'score': [True, False, True],
    }
    path = write(tmp_path / 'a.jsonl', row)
    assert main(['score', path]) == 1
    told = capsys.readouterr().err
    assert '--columns answer=gt samples=code. ' in told
    assert main(['score', path, '--columns', 'answer=gt', 'samples=code', '-k', '2']) == 0


@pytest.mark.parametrize('encoding', ['gbk', 'utf-16'])
@pytest.mark.parametrize('kind', ['jsonl', 'json', 'csv'])
def test_other_encodings_are_refused_alike(encoding: str, kind: str, tmp_path: Path) -> None:
    """The message says how to save the file."""
    text = {
        'jsonl': '{"question": "三加四？", "answer": "7", "sample": "七"}\n',
        'json': '[\n{"question": "三加四？", "answer": "7", "sample": "七"}]',
        'csv': 'question,answer,sample\n三加四？,7,七\n',
    }[kind]
    path = tmp_path / f'a.{kind}'
    path.write_bytes(text.encode(encoding))
    with pytest.raises(ValueError, match=rf'a\.{kind}.*not UTF-8; save it so: iconv -f GBK'):
        read_samples(str(path))


def test_a_result_is_shown_from_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The places of responses are relative to it, and stay so when it is made again elsewhere."""
    (tmp_path / 'runs').mkdir()
    monkeypatch.chdir(tmp_path / 'runs')
    write(Path('a.jsonl'), {'question': 'q', 'answer': '7', 'samples': TEXTS})
    assert main(['score', 'a.jsonl', '-k', '2', '-o', '../scored/r.json']) == 0
    trials = '../scored/r.trials.jsonl.gz'
    assert main(['score', trials, '-k', '3', '-o', '../scored/more/again.json']) == 0
    (tmp_path / 'moved').mkdir()
    (tmp_path / 'runs').rename(tmp_path / 'moved/runs')
    (tmp_path / 'scored').rename(tmp_path / 'moved/scored')
    monkeypatch.chdir('/')
    for name in ('r.json', 'more/again.json'):
        rows = trial_rows(tmp_path / 'moved/scored' / name, responses=True)
        assert [row['text'] for row in rows] == TEXTS
