"""Logs with any value or field changed are read, or refused with a ValueError."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tool_logs import LOGS

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.samples.sample_files import read_samples
from opencompass_gpassk.samples.sampled_problems import joined

ROWS = [
    {'id': f'p{i}', 'question': 'q', 'answer': '1', 'groups': {'a': 'b'}, 'samples': [sample, 'x']}
    for i, sample in enumerate(['1', {'text': '2', 'tokens': 4, 'verdict': 'C', 'key': 'k'}])
]
NEMO = [{'problem': 'q', 'expected_answer': 1, 'generation': 'a', 'is_correct': True}]
BODY = {'choices': [{'message': {'content': '1'}, 'finish_reason': 'stop'}], 'usage': {}}
BATCH = [{'custom_id': 'a', 'question': 'q', 'answer': '1', 'response': {'body': BODY}}]
VLLM = [{'prompt': 'q', 'outputs': [{'text': '1', 'token_ids': [1]}] * 2, 'answer': ['1', '2']}]
VALUES = [5, None, True, [], {}, 'x', [['a']], {'a': {'b': [1]}}, '\ud800', 10**400, -1.5]
RAW = ['NaN', '1e400', '9' * 5000, '"\\ud800"', '[' * 5000, '{"a": 1, "a": 2}']
MUTATIONS = 60  # of each log


def changed(text: str, rng: random.Random) -> str:
    """Return JSON with one of its values replaced or left out."""
    whole = [json.loads(text)]
    places: list[tuple[Any, Any]] = []
    todo: list[Any] = [whole]
    while todo:
        one = todo.pop()
        found = list(one) if isinstance(one, dict) else range(len(one))
        places += [(one, key) for key in found]
        todo += [one[key] for key in found if isinstance(one[key], (dict, list))]
    holder, key = rng.choice(places)
    raw = rng.choice([None, None, *RAW])
    holder[key] = rng.choice(VALUES) if raw is None else '@raw@'
    if holder is not whole and rng.random() < 0.2:
        del holder[key]
    return json.dumps(whole[0]).replace('"@raw@"', raw or '')


def one_line(data: bytes, rng: random.Random) -> bytes:
    lines = data.decode().splitlines()
    at = rng.randrange(len(lines))
    lines[at] = changed(lines[at], rng)
    return '\n'.join(lines).encode()


def document(data: bytes, rng: random.Random) -> bytes:
    return changed(data.decode(), rng).encode()


@pytest.mark.parametrize('text', ['5', 'null', 'true', '"x"', '1.5', 'NaN', '[5]', '[[]]', '{}'])
def test_json_without_rows(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that holds neither an object nor a list of them is an error that names it."""
    (tmp_path / 's.json').write_text(text)
    assert main(['score', str(tmp_path / 's.json')]) == 1
    assert 's.json' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('name', 'mutated'),
    [
        ('rows/rows.jsonl', one_line),
        ('rows/rows.json', document),
        ('rows/output-rs1.jsonl', one_line),
        ('rows/batch.jsonl', one_line),
        ('rows/vllm.jsonl', one_line),
        ('inspect/arithmetic.json', document),
        ('lm_eval/**/samples_*.jsonl', one_line),
        ('evalscope/reviews/**/*.jsonl', one_line),
        ('evalscope/predictions/**/*.jsonl', one_line),
    ],
)
def test_a_mutated_log(
    name: str, mutated: Callable[[bytes, random.Random], bytes], tmp_path: Path
) -> None:
    """What is read has problems and responses; anything else is a ValueError that says where."""
    shutil.copytree(LOGS, tmp_path, dirs_exist_ok=True)
    (tmp_path / 'rows').mkdir()
    (tmp_path / 'rows/rows.json').write_text(json.dumps(ROWS))
    made = {'rows': ROWS, 'output-rs1': NEMO, 'batch': BATCH, 'vllm': VLLM}
    for own, rows in made.items():
        (tmp_path / f'rows/{own}.jsonl').write_text('\n'.join(map(json.dumps, rows)))
    path = next(iter(tmp_path.glob(name)))
    data, rng = path.read_bytes(), random.Random(name)
    log = next(tmp_path.glob('evalscope/reviews/**/*.jsonl')) if 'evalscope' in name else path
    for _ in range(MUTATIONS):
        path.write_bytes(mutated(data, rng))
        try:
            read = joined([read_samples(str(log), skip_bad=rng.random() < 0.5)])
        except ValueError as error:
            assert str(tmp_path) in str(error)
        else:
            assert read.problems and read.responses
            assert read.stated.warnings or not any(one.lost for one in read.responses)
