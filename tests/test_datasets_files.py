"""Data files of MATH-500 and AIME, formats, malformed rows, and AIME2024-45."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from real_data import DATA, needs_data

from opencompass_gpassk.datasets import AIME, MATH500L5, LiveMathBench


def aime_rows(count: int = 30) -> list[dict[str, Any]]:
    return [
        {'question': f'Find, {i}\u2028please,\n"{i}".', 'answer': str(i), 'part': 'I' * (1 + i % 2)}
        for i in range(count)
    ]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows in the format of the file's ending."""
    if path.suffix == '.jsonl':
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        path.write_text('\ufeff' + '\n'.join(lines) + '\n\n', 'utf-8')
    elif path.suffix == '.json':
        path.write_text(json.dumps(rows), 'utf-8')
    elif path.suffix == '.parquet':
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    else:
        with path.open('w', encoding='utf-8', newline='') as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    return path


def test_a_folder_is_searched(tmp_path: Path) -> None:
    """Both parts of 2025 are read, in order."""
    (tmp_path / 'aime').mkdir()
    write(tmp_path / 'aime/aime2025_I.jsonl', [{**r, 'part': 'I'} for r in aime_rows(15)])
    write(tmp_path / 'aime/aime2025_II.csv', [{**r, 'part': 'II'} for r in aime_rows(15)])
    rows = AIME.load(edition='2025', path=str(tmp_path))
    assert rows['split'] == ['I'] * 15 + ['II'] * 15
    (tmp_path / 'aime/aime2025_II.csv').unlink()
    with pytest.raises(ValueError, match=r'aime2025_II\.jsonl'):
        AIME.load(edition='2025', path=str(tmp_path))


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'answer': None}, r'line 4: field answer.*missing, empty'),
        ({'answer': ' '}, r'line 4: field answer.*missing, empty'),
        ({'question': ''}, r'line 4: field question.*missing, empty'),
        ({'question': ['a', 'b']}, r'line 4: field question.*not a text'),
        ({'answer': '1000'}, r"line 4: field answer is '1000'.*0 to 999"),
        ({'answer': '1/2'}, r"line 4: field answer is '1/2'"),
    ],
)
def test_malformed_rows_are_named(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    """File, line and field are in the message."""
    rows = aime_rows()
    rows[3].update(change)
    file = write(tmp_path / 'aime2024.jsonl', rows)
    with pytest.raises(ValueError, match=rf'aime2024\.jsonl, {message}'):
        AIME.load(edition='2024', path=str(file))


@pytest.mark.parametrize(
    ('name', 'content', 'message'),
    [
        ('a.jsonl', b'{"question": "x"\n', r'a\.jsonl, line 1: not JSON'),
        ('a.json', b'[1]\n', r'record 0: a row is an object'),
        ('a.json', b'[{"a": 1},\n{]', r'a\.json, line 2: not JSON'),
        ('a.json', b'7', r'a\.json: .*list'),
        ('a.csv', b'question,answer\n1,2,3\n', r'a\.csv, line 2: .*columns'),
        ('a.csv', b'question,answer\n1\n', r'a\.csv, line 2: .*columns'),
        ('a.parquet', b'PAR1', r'a\.parquet: not a Parquet file'),
        ('a.jsonl', b'{"question": "\xff"}', r'a\.jsonl, line 1: not UTF-8'),
        ('a.xlsx', b'PK\x03\x04', r'a\.xlsx: unknown format'),
    ],
)
def test_unreadable_files_are_named(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    """What is wrong, and where."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        AIME.load(edition='2024', path=str(tmp_path / name))


def test_aime_of_45_is_the_users_file_or_honestly_the_30(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a file it keeps its name; without one the 30 are loaded and called what they are."""
    file = write(tmp_path / 'aime2024-45.jsonl', aime_rows(45))
    rows = AIME.load(edition='2024-45', path=str(file))
    assert (len(rows), rows['benchmark'][0]) == (45, 'AIME2024-45')
    assert rows['data_version'][0].startswith('user:')
    assert len(AIME.load(edition='2024-45', path=str(tmp_path))) == 45
    file.unlink()
    write(tmp_path / 'aime2024.jsonl', aime_rows())
    rows = AIME.load(edition='2024-45', path=str(tmp_path))
    assert (len(rows), rows['benchmark'][0]) == (30, 'AIME2024-30')
    (tmp_path / 'data').mkdir()
    rows_of_30 = [{'origin_prompt': r['question'], 'gold_answer': r['answer']} for r in aime_rows()]
    write(tmp_path / 'data/aime.jsonl', rows_of_30)
    monkeypatch.setenv('COMPASS_DATA_CACHE', str(tmp_path))
    rows = AIME.load(edition='2024-45', hub=None, download=False)
    assert (len(rows), rows['benchmark'][0]) == (30, 'AIME2024-30')


def math_rows() -> list[dict[str, Any]]:
    """As many problems of each level as MATH-500 has."""
    counts = {1: 43, 2: 90, 3: 105, 4: 128, 5: 134}
    levels = [level for level, count in counts.items() for _ in range(count)]
    return [
        {'problem': f'p{i}', 'solution': f'so \\boxed{{{i}}}', 'level': level, 'subject': 'Algebra'}
        for i, level in enumerate(levels)
    ]


def test_math500_of_opencompass_has_answers_in_solutions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is one JSON object of records, with levels in words."""
    (tmp_path / 'data/math').mkdir(parents=True)
    records = {str(i): {**r, 'level': f'Level {r["level"]}'} for i, r in enumerate(math_rows())}
    (tmp_path / 'data/math/test_prm800k_500.json').write_text(json.dumps(records))
    monkeypatch.setenv('COMPASS_DATA_CACHE', str(tmp_path))
    rows = MATH500L5.load(hub=None, download=False)
    assert rows['answer'] == [str(i) for i in range(366, 500)]
    assert set(rows['level']) == {'5'}
    assert set(rows['subject']) == {'Algebra'}
    assert rows['benchmark'][0] == 'MATH500-L5'


def test_math500_checks_levels(tmp_path: Path) -> None:
    """Those of level 5 are kept."""
    rows = math_rows()
    file = write(tmp_path / 'test.jsonl', rows)
    loaded = MATH500L5.load(path=str(file))
    assert (len(loaded), loaded['benchmark'][0]) == (134, 'MATH500-L5')
    rows[-1]['level'] = 'hard'
    write(file, rows)
    with pytest.raises(ValueError, match='test has 133 problems instead of 134'):
        MATH500L5.load(path=str(file))


def test_one_file_is_one_part(tmp_path: Path) -> None:
    """Where several are selected, a folder is asked for."""
    rows = [{'question': f'{i}', 'answer': '1'} for i in range(46)]
    settings = {'version': '202412', 'path': str(write(tmp_path / 'AMC_en.csv', rows))}
    assert len(LiveMathBench.load(**settings, languages=['en'], splits=['AMC'])) == 46
    with pytest.raises(ValueError, match=r'one file, but 8 parts .*AMC_en\.jsonl'):
        LiveMathBench.load(**settings)


@needs_data
def test_real_files_have_the_known_counts() -> None:
    """AIME has 30 problems a year, MATH-500 134 of level 5."""
    for edition in ('2024', '2025'):
        rows = AIME.load(edition=edition, path=DATA)
        assert (len(rows), rows['split'].count('I'), rows['split'].count('II')) == (30, 15, 15)
    rows = MATH500L5.load(path=DATA)
    assert len(set(rows['problem_id'])) == 134
