"""Samples from elsewhere: JSON lines, gzip, faults by line; and old runs of OpenCompass."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from opencompass_gpassk.samples import read_data_set, read_samples, recorded_data_sets

ROWS = [
    {'id': 7, 'question': 'q', 'answer': '1', 'samples': ['a\u2028b', None], 'level': 'easy'},
    {'question': 'r', 'answer': 2, 'samples': ['c'], 'groups': {'split': 'AMC'}},
]


def text(rows: list[dict]) -> str:
    """Write rows as JSON lines, without escaping."""
    return ''.join(json.dumps(row, ensure_ascii=False) + '\n' for row in rows)


@pytest.mark.parametrize('kind', ['plain', 'gzip', 'standard input'])
def test_rows_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """Plain, gzipped and piped rows are the same; null samples are lost, line marks are text."""
    data = text(ROWS).encode()
    path = tmp_path / 'x.jsonl'
    path.write_bytes(gzip.compress(data) if kind == 'gzip' else data)
    if kind == 'standard input':
        stream = SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(data)))
        monkeypatch.setattr(sys, 'stdin', stream)
    found = read_samples('-' if kind == 'standard input' else str(path))
    assert [p.problem_id for p in found.problems] == ['7', '2']
    assert [p.groups for p in found.problems] == [{'level': 'easy'}, {'split': 'AMC'}]
    assert [(r.identity, r.text, bool(r.lost)) for r in found.responses] == [
        (('7', 0), 'a\u2028b', False),
        (('7', 1), '', True),
        (('2', 0), 'c', False),
    ]
    assert (found.n, found.uneven) == (2, 1)


@pytest.mark.parametrize(
    ('line', 'message'),
    [
        ('{"id"', 'not JSON'),
        ('[1]', 'a row is an object'),
        ('{"samples": ["a"]}', 'field answer'),
        ('{"answer": true, "samples": ["a"]}', 'field answer'),
        ('{"answer": "1", "samples": []}', 'field samples'),
        ('{"answer": "1", "samples": ["a", 3]}', r'field samples\[1\]'),
        ('{"answer": "1", "samples": ["a"], "id": 7}', 'field id'),
        ('{"answer": "1", "samples": ["a"], "id": "7"}', 'stands in line 1'),
        ('{"answer": "1", "samples": ["a"], "id": [7]}', 'field id'),
        ('{"answer": NaN, "samples": ["a"]}', 'NaN is no number'),
        ('{"answer": "1", "samples": [["a"]]}', r'field samples\[0\]'),
        ('[' * 100_000, 'not JSON'),
        ('{"answer": "1", "samples": ["a"], "groups": "AMC"}', 'field groups'),
    ],
)
def test_a_bad_row_names_its_line(tmp_path: Path, line: str, message: str) -> None:
    """A malformed row is an error with its line, or is left out and told."""
    path = tmp_path / 'x.jsonl'
    path.write_text(text(ROWS) + '\n' + line + '\n', encoding='utf-8')
    with pytest.raises(ValueError, match=rf'x\.jsonl, line 4: .*{message}'):
        read_samples(str(path))
    told: list[str] = []
    assert len(read_samples(str(path), skip_bad=True, report=told.append).problems) == 2
    assert len(told) == 1


def test_files_of_other_systems_are_read(tmp_path: Path) -> None:
    """A byte order mark, CRLF, blank lines and an end without a line break."""
    path = tmp_path / 'x.jsonl'
    lines = [json.dumps({'id': None, **row}) for row in ROWS]
    path.write_bytes(('\ufeff' + '\r\n\r\n \r\n'.join(lines)).encode())
    found = read_samples(str(path))
    assert [p.problem_id for p in found.problems] == ['7', '4']
    assert found.responses[0].text == 'a\u2028b'


@pytest.mark.parametrize('damage', ['cut', 'changed'])
def test_a_damaged_gzip_file_is_named(tmp_path: Path, damage: str) -> None:
    """A download that broke off is no traceback."""
    data = bytearray(gzip.compress(text(ROWS * 1).encode() + b' ' * 100_000))
    path = tmp_path / 'x.jsonl.gz'
    if damage == 'changed':
        data[20] ^= 255
    path.write_bytes(data[:-20] if damage == 'cut' else data)
    with pytest.raises(ValueError, match=r'x\.jsonl\.gz.*(damaged gzip|line)'):
        read_samples(str(path))


def test_nothing_usable(tmp_path: Path) -> None:
    """A file without rows is an error."""
    path = tmp_path / 'x.jsonl'
    path.write_text('\n')
    with pytest.raises(ValueError, match='no usable row'):
        read_samples(str(path))


def record(question: str, text: str) -> dict:
    """Make a record as OpenCompass's own inferencer does."""
    prompt = [{'role': 'HUMAN', 'prompt': question}]
    return {'origin_prompt': prompt, 'prediction': text, 'gold': '1'}


def test_old_runs_are_grouped_by_prompt(tmp_path: Path) -> None:
    """Shards and a test range that cuts a replica don't shift a response to another problem."""
    folder = tmp_path / '20250101_000000' / 'predictions' / 'model'
    folder.mkdir(parents=True)
    rows = [record(q, f'{q}{i}') for i in range(3) for q in 'abc'][1:-1]
    for shard, part in enumerate([rows[:4], rows[4:]]):
        path = folder / f'data_{shard}.json'
        path.write_text(json.dumps({str(i): row for i, row in enumerate(part)}))
    ((model, name),) = recorded_data_sets(tmp_path)
    found = read_data_set(model, name)
    assert (found.model, found.name, found.n) == ('model', 'data', 3)
    assert {p.question for p in found.problems} == {'a', 'b', 'c'}
    asked = {p.problem_id: p.question for p in found.problems}
    assert all(r.identity and r.text.startswith(asked[r.identity[0]]) for r in found.responses)


def write_run(folder: Path, name: str, rows: list[dict]) -> Path:
    """Write a data set's prediction file, return its model's folder."""
    model = folder / 'predictions' / 'model'
    model.mkdir(parents=True, exist_ok=True)
    (model / f'{name}.json').write_text(json.dumps({str(i): row for i, row in enumerate(rows)}))
    return model


def test_the_newest_run_with_predictions_is_taken(tmp_path: Path) -> None:
    """A work dir is as good as its newest run; one that inferred nothing yet is passed over."""
    for stamp in ('20250101_000000', '20250301_000000'):
        newest = write_run(tmp_path / stamp, 'd', [record('a', stamp)] * 2)
    (tmp_path / '20250401_000000/predictions/model').mkdir(parents=True)
    (tmp_path / '20250501_000000/logs').mkdir(parents=True)
    (tmp_path / 'notes.txt').write_text('')
    (newest / 'tmp_e.json').write_text('{}')
    assert recorded_data_sets(tmp_path) == [(newest, 'd')]
    assert recorded_data_sets(newest.parents[1]) == [(newest, 'd')]


def test_data_sets_that_end_in_a_number_are_no_shards(tmp_path: Path) -> None:
    """Shards start at 0."""
    for name in ('aime_2024', 'aime_2025', 'split_0', 'split_1', 'whole', 'whole_3'):
        model = write_run(tmp_path, name, [record('a', 'b')])
    names = [name for _, name in recorded_data_sets(tmp_path)]
    assert names == ['aime_2024', 'aime_2025', 'split', 'whole', 'whole_3']
    assert read_data_set(model, 'aime_2025').n == 1


@pytest.mark.parametrize('n', [1, 3])
def test_problems_that_read_the_same_stay_apart(tmp_path: Path, n: int) -> None:
    """Twins get n responses each, in the order in which the data set was repeated."""
    rows = [
        record(question, f'{place} {replica}')
        for replica in range(n)
        for place, question in enumerate('abcad')
    ]
    found = read_data_set(write_run(tmp_path, 'd', rows), 'd')
    assert (found.n, found.uneven, len(found.problems)) == (n, 0, 5)
    places: dict[str, set[str]] = {}
    for response in found.responses:
        assert response.identity is not None
        place, replica = response.text.split()
        assert response.identity[1] == int(replica)
        places.setdefault(response.identity[0], set()).add(place)
    assert sorted(places.values(), key=min) == [{str(place)} for place in range(5)]


def test_equal_prompts_with_other_gold_answers_are_other_problems(tmp_path: Path) -> None:
    """A prompt alone does not name a problem."""
    rows = [{**record('a', 'x'), 'gold': gold} for _ in range(2) for gold in ('1', '2', 3, None)]
    found = read_data_set(write_run(tmp_path, 'd', rows), 'd')
    assert [problem.gold for problem in found.problems] == ['1', '2', '3', '']
    assert found.n == 2


def test_the_gold_answer_of_a_worked_solution_is_its_end(tmp_path: Path) -> None:
    """OpenCompass records GSM8K's as it stands in the data."""
    gold = 'Five and two are 5 + 2 = <<5+2=7>>7 eggs.\n#### 7'
    found = read_data_set(write_run(tmp_path, 'd', [{**record('a', 'x'), 'gold': gold}]), 'd')
    assert found.problems[0].gold == '7'


def test_records_without_a_prompt_are_refused(tmp_path: Path) -> None:
    """As of data sets that are scored by likelihood."""
    model = write_run(tmp_path, 'd', [{'prediction': 'A', 'label: A': {'PPL': 1.0}}] * 2)
    with pytest.raises(ValueError, match=r'd\.json#0: the record holds no origin_prompt'):
        read_data_set(model, 'd')


def test_a_folder_without_predictions(tmp_path: Path) -> None:
    """A folder that is no run is an error."""
    with pytest.raises(ValueError, match='no predictions'):
        recorded_data_sets(tmp_path)
