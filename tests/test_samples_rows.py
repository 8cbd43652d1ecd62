"""Rows of any tool: one a problem or one a sample, in four formats, under any names."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.samples.sample_files import LogReader, read_samples
from opencompass_gpassk.samples.sampled_problems import SampledProblems
from opencompass_gpassk.trials import Verdict, read_trials

Row = dict[str, Any]
BY_PROBLEM: list[Row] = [
    {
        'question': f'What is {i}?',
        'answer': str(i),
        'level': 'easy',
        'samples': [rf'\boxed{{{i}}}', rf'\boxed{{{i + s}}}', 'no', 'Ünknown'],
    }
    for i, s in enumerate((0, 1, 2))
]
BY_SAMPLE = [
    {**row, 'sample': sample, 'tokens': 7 + number, 'truncated': False, 'verdict': number == 0}
    for row in BY_PROBLEM
    for number, sample in enumerate(row['samples'])
]
for one in BY_SAMPLE:
    del one['samples']


def lines(path: Path, rows: list[Row]) -> None:
    path.write_text(''.join(json.dumps(row, ensure_ascii=False) + '\n' for row in rows), 'utf-8')


def packed(path: Path, rows: list[Row]) -> None:
    path.write_bytes(gzip.compress(''.join(json.dumps(row) + '\n' for row in rows).encode()))


def array(path: Path, rows: list[Row]) -> None:
    path.write_text(json.dumps(rows, indent=1), 'utf-8')


def table(path: Path, rows: list[Row]) -> None:
    with path.open('w', encoding='utf-8-sig', newline='') as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def parquet(path: Path, rows: list[Row]) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)


WRITERS = {
    'a.jsonl': lines,
    'a.txt': lines,
    'a.jsonl.gz': packed,
    'a.json': array,
    'b.json': lines,
    'a.csv': table,
    'a.parquet': parquet,
    'parquet': parquet,
}


def plain(found: SampledProblems) -> list[Any]:
    """What was read, without places and numbers of lines."""
    problems = [(p.question, p.gold, p.groups) for p in found.problems]
    ids = {p.problem_id: i for i, p in enumerate(found.problems)}
    texts = [(ids[r.identity[0]], r.identity[1], r.text) for r in found.responses if r.identity]
    return [problems, texts]


@pytest.mark.parametrize('name', list(WRITERS))
@pytest.mark.parametrize('form', ['problem', 'sample'])
def test_all_formats_give_the_same(form: str, name: str, tmp_path: Path) -> None:
    """Told by content, not by name, but for CSV."""
    if form == 'problem' and name.endswith('.csv'):
        pytest.skip('a cell holds one sample')
    lines(tmp_path / 'expected.jsonl', BY_PROBLEM)
    WRITERS[name](tmp_path / name, BY_PROBLEM if form == 'problem' else BY_SAMPLE)
    found = read_samples(str(tmp_path / name))
    assert plain(found) == plain(read_samples(str(tmp_path / 'expected.jsonl')))
    if form == 'sample':
        assert [r.num_tokens for r in found.responses] == [7, 8, 9, 10] * 3
        assert {r.truncated for r in found.responses} == {False}
        expected = [Verdict.CORRECT, *[Verdict.INCORRECT] * 3] * 3
        assert [r.other_verdict for r in found.responses] == expected
        assert {r.other_source for r in found.responses} == {'rows: verdict'}


@pytest.mark.parametrize('write', [lines, array, parquet])
def test_columns_have_any_names(
    write: Callable[[Path, list[Row]], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `gpassk run` names them; a name that is no field is refused."""
    names = {'question': 'prompt', 'answer': 'gold_answer', 'samples': 'completions'}
    rows = [{names.get(key, key): value for key, value in row.items()} for row in BY_PROBLEM]
    write(tmp_path / 'a', rows)
    assert main(['score', str(tmp_path / 'a'), '-k', '2']) == 1
    capsys.readouterr()
    columns = [f'{field}={column}' for field, column in names.items()]
    output = tmp_path / 'r.json'
    command = ['score', str(tmp_path / 'a'), '-k', '2', '-o', str(output), '--columns']
    assert main([*command, *columns]) == 0
    assert [row['c'] for row in json.loads(output.read_text())['details']] == [2, 1, 1]
    assert main([*command, 'solution=x']) == 1
    assert '--columns solution: give FIELD=COLUMN' in capsys.readouterr().err


def test_rows_of_one_problem_have_equal_ids_or_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In any order; one id with two gold answers is an error with both places."""
    rows = [{'id': i % 2, 'answer': str(i % 2), 'sample': f'\\boxed{{{i}}}'} for i in range(6)]
    lines(tmp_path / 'a.jsonl', rows)
    found = read_samples(str(tmp_path / 'a.jsonl'))
    assert [p.problem_id for p in found.problems] == ['0', '1']
    assert [r.identity for r in found.responses if r.identity] == [
        (str(i % 2), i // 2) for i in range(6)
    ]
    lines(tmp_path / 'b.jsonl', [*rows, {'id': 0, 'answer': '77', 'sample': 'x'}])
    assert main(['score', str(tmp_path / 'b.jsonl')]) == 1
    assert "line 7: field id: '0' is already used in line 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ('reason', 'truncated', 'lost'),
    [
        ('length', True, False),
        ('max_tokens', True, False),
        ('stop', False, False),
        ('', None, False),
        (['length'], False, False),
        ('content_filter', None, True),
    ],
)
def test_the_servers_finish_reason_counts(
    tmp_path: Path, reason: object, truncated: bool | None, lost: bool
) -> None:
    """Unless the sample says itself that it was cut off; what a filter held back is lost."""
    sample = {'text': 'So', 'finish_reason': reason}
    path = tmp_path / 'a.jsonl'
    lines(path, [{'answer': '1', 'samples': [sample, {**sample, 'truncated': True}]}])
    first, second = read_samples(str(path)).responses
    assert (first.truncated if not lost else None, bool(first.lost)) == (truncated, lost)
    assert second.truncated is True


def test_a_sample_may_be_an_object(tmp_path: Path) -> None:
    """With its tokens, whether it was cut off, a verdict and a key; they reach the trials."""
    samples = [
        {'text': '\\boxed{1}', 'tokens': 9, 'prompt_tokens': 30, 'truncated': True, 'verdict': 'C'},
        {'text': '\\boxed{1}', 'verdict': 0, 'key': 'seed 7'},
        {'text': None},
        {'text': '\\boxed{2}', 'verdict': 'P'},
    ]
    lines(tmp_path / 'a.jsonl', [{'answer': '#### 1', 'samples': samples}])
    output = tmp_path / 'r.json'
    assert main(['score', str(tmp_path / 'a.jsonl'), '-k', '2', '-o', str(output)]) == 0
    trials = read_trials(output.with_name('r.trials.jsonl.gz'))[0].trials
    first = trials[0]
    assert (first.num_tokens, first.prompt_tokens, first.truncated) == (9, 30, True)
    assert [t.verdict.value for t in trials] == ['correct', 'correct', 'unjudged', 'incorrect']
    assert [t.other_verdict for t in trials] == [Verdict.CORRECT, Verdict.INCORRECT, None, None]
    assert [t.lost for t in trials] == [False, False, True, False]
    assert first.other_source == 'rows: verdict'


@pytest.mark.parametrize(
    ('rows', 'message'),
    [
        ('{"answer": "1", "samples": [{"text": 7}]}', r'field samples\[0\]: int is not a text'),
        ('{"answer": "1", "samples": [{"role": "user"}]}', r'samples\[0\]: .* no text.* are role;'),
        ('{"answer": "1", "samples": ["a"], "sample": "a"}', 'fields sample and samples'),
        ('{"answer": 1e400, "samples": ["a"]}', 'line 1: .*1e400 is too large'),
        ('{"answer": ["1", {}], "samples": ["a"]}', 'line 1: field answer is .*not a text'),
        ('{"answer": [], "samples": ["a"]}', 'field answer: the gold answer is missing'),
        ('{"answer": "1", "samples": [{"text": "a", "tokens": -1}]}', r'samples\[0\].tokens is -1'),
        ('{"answer": "1", "samples": [{"text": "a", "truncated": 2}]}', 'truncated is 2'),
        (f'{{"answer": "1", "sample": "a", "tokens": 1{"0" * 400}}}', 'tokens'),
        ('{"answer": "1", "sample": ["a"]}', r'samples\[0\]'),
        ('{"origin_prompt": "a", "prediction": "b"}', 'gold answer is missing.*--gold FILE --on'),
        ('{"kind": "meta", "schema": 3}', 'the trials of a result'),
        ('{"metrics": {}, "signature": {}}', 'a result of gpassk'),
    ],
)
def test_what_is_wrong_is_named(rows: str, message: str, tmp_path: Path) -> None:
    """Field, value and remedy; or what the file looks like."""
    (tmp_path / 'a.jsonl').write_text(rows + '\n')
    with pytest.raises(ValueError, match=message):
        read_samples(str(tmp_path / 'a.jsonl'))


def test_other_programs_rows_are_read(tmp_path: Path) -> None:
    """A sample's text has several usual names; a list of one gold answer is that answer."""
    samples = [{'role': 'assistant', 'content': 'a'}, {'generation': 'b'}, {'content': None}]
    lines(tmp_path / 'a.jsonl', [{'answer': ['42'], 'samples': samples}])
    read = read_samples(str(tmp_path / 'a.jsonl'))
    assert [one.gold for one in read.problems] == ['42']
    assert [(one.text, bool(one.lost)) for one in read.responses] == [
        ('a', False),
        ('b', False),
        ('', True),
    ]


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    """Which of them holds the answer is not guessed."""
    (tmp_path / 'a.csv').write_text('answer,sample,answer\n1,1,2\n')
    with pytest.raises(ValueError, match=r"a\.csv, line 1: several columns are named 'answer'"):
        read_samples(str(tmp_path / 'a.csv'))


HOSTILE: dict[str, bytes] = {
    'a parquet file in name': b'PAR1' + b'\xff' * 200,
    'a torn array': b'[{"answer": "1", "samples": ["a"]}, {"ans',
    'an array of numbers': b'[1, 2, 3]',
    'deep': b'[' * 100_000,
    'a text': b'"samples"',
    'not UTF-8': b'{"answer": "1", "samples": ["\xff"]}\n',
    'nothing': b'',
    'a damaged gzip file': gzip.compress(b'{"answer": "1"}' * 1000)[:-30],
    'a zip file': b'PK\x03\x04' + b'\0' * 100,
    'NaN': b'[{"answer": NaN, "samples": ["a"]}]',
}


@pytest.mark.parametrize('name', list(HOSTILE))
def test_a_hostile_file_costs_itself_alone(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line names the file; with --skip-bad the others are scored."""
    bad, good = tmp_path / 'bad.log', tmp_path / 'good.jsonl'
    bad.write_bytes(HOSTILE[name])
    lines(good, BY_PROBLEM)
    assert main(['score', str(bad)]) == 1
    told = capsys.readouterr().err
    assert 'bad.log' in told and 'Traceback' not in told
    output = tmp_path / 'r.json'
    command = ['score', str(good), str(bad), '--skip-bad', '-k', '2', '--model', 'm']
    assert main([*command, '-o', str(output)]) == 0
    assert len(json.loads(output.read_text())['details']) == 3
    assert 'left out' in capsys.readouterr().err


def test_bounded_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table or a text that is too large is refused before it fills the memory."""
    table(tmp_path / 'a.csv', BY_SAMPLE)
    monkeypatch.setattr('opencompass_gpassk.formats.tables.TABLE_BYTES', 10)
    with pytest.raises(ValueError, match=r'a\.csv: larger than'):
        read_samples(str(tmp_path / 'a.csv'))


def test_the_format_may_be_forced(tmp_path: Path) -> None:
    """For rows that look like another tool's."""
    rows = [{**row, 'doc_id': 1, 'doc': {}, 'target': 'x', 'resps': []} for row in BY_PROBLEM]
    for row in rows:
        row['responses'] = row.pop('samples')
    lines(tmp_path / 'a.jsonl', rows)
    path, columns = str(tmp_path / 'a.jsonl'), {'samples': 'responses'}
    assert len(LogReader(path, 'rows', columns).read().responses) == 12
    with pytest.raises(ValueError, match='line 1'):
        LogReader(path).read()
