"""Prediction files: whole, sharded, with gaps, damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opencompass_gpassk.predictions import read_predictions


def write(folder: Path, name: str, rows: list[dict]) -> None:
    """Write records as OpenCompass does."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({str(i): row for i, row in enumerate(rows)}))


def row(problem: str, replica: int) -> dict:
    """Make a record as our inferencer does."""
    return {'prediction': f'{problem}{replica}', 'problem_id': problem, 'replica': replica}


def test_whole_file(tmp_path: Path) -> None:
    """Records come in the order of their keys, with identity and place."""
    folder = tmp_path / 'predictions' / 'model'
    write(folder, 'data.json', [row('a', i) for i in range(12)])
    files = read_predictions(folder, 'data')
    assert [r.identity for r in files.responses] == [('a', i) for i in range(12)]
    assert files.responses[11].location == 'predictions/model/data.json#11'
    assert (files.contiguous, files.missing, files.unfinished) == (12, [], [])


def test_shards_with_a_gap(tmp_path: Path) -> None:
    """Records behind a missing shard are read, and told from those OpenCompass reads."""
    write(tmp_path, 'data_0.json', [row('a', 0), row('b', 0)])
    write(tmp_path, 'data_2.json', [row('a', 2)])
    write(tmp_path, 'data_x_0.json', [row('z', 0)])
    (tmp_path / 'tmp_data_1.jsonl').write_text('')
    files = read_predictions(tmp_path, 'data')
    assert [r.identity for r in files.responses] == [('a', 0), ('b', 0), ('a', 2)]
    assert files.contiguous == 2
    assert files.missing == ['data_1.json']
    assert files.unfinished == ['tmp_data_1.jsonl']


def test_ten_shards_are_in_numeric_order(tmp_path: Path) -> None:
    """Shard 10 follows shard 9, not shard 1."""
    for i in range(11):
        write(tmp_path, f'data_{i}.json', [row('a', i)])
    responses = read_predictions(tmp_path, 'data').responses
    assert [r.identity[1] for r in responses if r.identity] == list(range(11))


def test_files_of_other_inferencers_have_no_identity(tmp_path: Path) -> None:
    """OpenCompass's own records name no problem."""
    write(tmp_path, 'data.json', [{'prediction': 'x', 'gold': '1'}])
    assert read_predictions(tmp_path, 'data').responses[0].identity is None


def test_faults_are_named(tmp_path: Path) -> None:
    """Missing, torn and multi-valued predictions are errors with a remedy."""
    with pytest.raises(FileNotFoundError, match='run the inference first'):
        read_predictions(tmp_path, 'data')
    (tmp_path / 'data.json').write_text('{"0": {"pred')
    with pytest.raises(ValueError, match=r'data\.json: not a prediction file'):
        read_predictions(tmp_path, 'data')
    write(tmp_path, 'data.json', [{'prediction': ['a', 'b']}])
    with pytest.raises(ValueError, match='num_return_sequences'):
        read_predictions(tmp_path, 'data')
