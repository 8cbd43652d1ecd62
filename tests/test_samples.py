"""Samples from elsewhere: JSON lines, gzip, faults by line."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from opencompass_gpassk.samples.sample_files import read_samples

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
        ('{"answer": "1", "samples": ["a"], "id": "7"}', 'already used in line 1'),
        ('{"answer": "1", "samples": ["a"], "id": [7]}', 'field id'),
        ('{"answer": NaN, "samples": ["a"]}', 'field answer: the gold answer is missing'),
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
