"""Prediction files: whole, sharded, with gaps, damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opencompass_gpassk.runs.predictions import model_name, read_predictions, shard_numbers


def write(folder: Path, name: str, rows: list[dict]) -> None:
    """Write records as OpenCompass does."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps({str(i): row for i, row in enumerate(rows)}))


def row(problem: str, replica: int) -> dict:
    """Make a record as our inferencer does."""
    return {'prediction': f'{problem}{replica}', 'problem_id': problem, 'replica': replica}


def test_shards_with_a_gap(tmp_path: Path) -> None:
    """Records behind a missing shard are read too, where OpenCompass stops."""
    write(tmp_path, 'data_0.json', [row('a', 0), row('b', 0)])
    write(tmp_path, 'data_2.json', [row('a', 2)])
    write(tmp_path, 'data_x_0.json', [row('z', 0)])
    (tmp_path / 'tmp_data_1.jsonl').write_text('')
    files = read_predictions(tmp_path, 'data')
    assert [r.identity for r in files.responses] == [('a', 0), ('b', 0), ('a', 2)]
    assert files.missing == ['data_1.json']
    assert files.unfinished == ['tmp_data_1.jsonl']


def test_what_lies_beside_its_finished_file_is_not_unfinished(tmp_path: Path) -> None:
    """Responses kept for another try of those that were lost; of a whole file or of a shard."""
    for name in ('whole', 'data_0', 'data_1'):
        write(tmp_path, f'{name}.json', [row('a', 0)])
        (tmp_path / f'tmp_{name}.jsonl').write_text('')
    for name in ('whole', 'data'):
        files = read_predictions(tmp_path, name)
        assert (files.missing, files.unfinished) == ([], [])


def test_a_shard_that_was_begun_is_missing(tmp_path: Path) -> None:
    """Also the last one, after which no finished one comes."""
    write(tmp_path, 'data_0.json', [row('a', 0)])
    (tmp_path / 'tmp_data_2.jsonl').write_text('')
    files = read_predictions(tmp_path, 'data')
    assert files.missing == ['data_1.json', 'data_2.json']
    assert files.unfinished == ['tmp_data_2.jsonl']


@pytest.mark.parametrize(
    ('stems', 'others', 'numbers'),
    [
        (['d_0', 'd_1', 'd_10', 'd'], [], [0, 1]),
        (['d_0', 'd_8'], [], [0, 8]),
        (['d_1', 'd_2'], [], [1, 2]),
        (['d_2024', 'd_2025'], [], []),
        (['d_0', 'd_1', 'd_500'], [], [0, 1]),
        (['d_0', 'd_' + '9' * 5000], [], [0]),
        (['d_0', 'd_1', 'd_2'], ['d_1'], [0, 2]),
        (['d_00', 'd_0x', 'd_x_0', 'c_0'], [], []),
    ],
)
def test_shards_are_told_by_their_numbers(
    stems: list[str], others: list[str], numbers: list[int]
) -> None:
    """They count from 0; a number far off is part of a name."""
    assert shard_numbers('d', stems, others) == numbers


@pytest.mark.parametrize(
    ('folder', 'model'),
    [('/r/predictions/m', 'm'), ('/predictions/r/predictions/org/m', 'org/m'), ('/r/m', 'm')],
)
def test_a_model_is_the_path_below_predictions(folder: str, model: str) -> None:
    """Its name may hold slashes."""
    assert model_name(Path(folder)) == model


def test_files_of_other_inferencers_have_no_identity(tmp_path: Path) -> None:
    """OpenCompass's own records name no problem."""
    write(tmp_path, 'data.json', [{'prediction': 'x', 'gold': '1'}])
    assert read_predictions(tmp_path, 'data').responses[0].identity is None


def test_faults_are_named(tmp_path: Path) -> None:
    """Missing, torn and multi-valued predictions are errors with a remedy."""
    with pytest.raises(FileNotFoundError, match='run the inference first'):
        read_predictions(tmp_path, 'data')
    (tmp_path / 'data.json').write_text('{"0": {"pred')
    with pytest.raises(ValueError, match=r'data\.json: not readable.*again with -r'):
        read_predictions(tmp_path, 'data')
    write(tmp_path, 'data.json', [{'prediction': ['a', 'b']}])
    with pytest.raises(ValueError, match='num_return_sequences'):
        read_predictions(tmp_path, 'data')
