"""Details of lighteval: both layouts, verdicts, damaged and hostile files."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from tool_logs import LOGS, check_counts, scored

from opencompass_gpassk.formats import tables
from opencompass_gpassk.samples.sample_files import read_samples

(PATH,) = (LOGS / 'lighteval').rglob('*.parquet')
ROWS = pyarrow.parquet.read_table(PATH).to_pylist()
NAME = 'details_sums_2026-01-01T10-00-00.123456.parquet'


def written(folder: Path, rows: list[dict[str, Any]], old: bool = False) -> Path:
    """A file of details, with the column names of an older version."""
    if old:
        rows = [{f'__{name}__': value for name, value in row.items()} for row in rows]
    path = folder / NAME
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def changed(column: str, **fields: Any) -> dict[str, Any]:
    """The first row with some fields of a column changed."""
    row = copy.deepcopy(ROWS[0])
    row[column] = {**row[column], **fields}
    return row


@pytest.mark.parametrize('old', [False, True])
@pytest.mark.parametrize('folder', [False, True])
def test_a_real_log_is_scored(old: bool, folder: bool, tmp_path: Path) -> None:
    """A file, or a folder of details, gives the counts that its own texts give."""
    place = tmp_path / 'details/org/mock/2026-01-01T10-00-00.123456'
    place.mkdir(parents=True)
    path = written(place, ROWS, old) if old else PATH
    result, trials = scored(tmp_path, path.parent if folder else path)
    counted = [
        (row['doc']['id'], text, row['doc']['choices'][row['doc']['gold_index']])
        for row in ROWS
        for text in row['model_response']['text']
    ]
    check_counts(result, trials, counted)
    assert result['model'] == ('org/mock' if old else 'mock')
    lengths = [len(one) for row in ROWS for one in row['model_response']['output_tokens']]
    assert [t.num_tokens for t in trials] == lengths
    assert {t.truncated for t in trials} == {None}
    # avg@n says what each response is only where all are right, or none is.
    shares = [share for row in ROWS for share in [row['metric']['avg@n:n=4']] * 4]
    known = {1.0: 'correct', 0.0: 'incorrect'}
    assert [t.other_verdict and t.other_verdict.value for t in trials] == [
        known.get(share) for share in shares
    ]
    assert {t.other_source for t in trials} == {'', 'lighteval: avg@n:n=4'}


@pytest.mark.parametrize(
    ('texts', 'metric', 'verdict'),
    [
        (['a'], {'extractive_match': 1.0}, 'correct'),
        (['a'], {'f1': 0.5, 'em': 0.0}, 'incorrect'),
        (['a', 'b'], {'pass@k:k=1': 1.0}, None),
        (['a', 'b'], {'avg@n:n=4': 1.0}, None),
        (['a', 'b'], {'avg@n:n=2': 1.0}, 'correct'),
        (['a', 'b'], None, None),
    ],
)
def test_a_metric_of_a_problem_is_no_verdict(
    texts: list[str], metric: Any, verdict: str | None, tmp_path: Path
) -> None:
    """It is one if there is one response, or if all are equally right."""
    row = {**changed('model_response', text=texts, output_tokens=[]), 'metric': metric}
    found = read_samples(str(written(tmp_path, [row]))).responses
    said = [r.other_verdict and r.other_verdict.value for r in found]
    assert said == [verdict] * len(texts)
    assert {r.num_tokens for r in found} == {None}


def test_a_list_of_one_gold_answer(tmp_path: Path) -> None:
    """The index may be a list; a worked solution ends in its answer."""
    row = changed('doc', gold_index=[1], choices=['no', ' 40 + 2 = 42\n#### 42'])
    (problem,) = read_samples(str(written(tmp_path, [row]))).problems
    assert problem.gold == '42'


@pytest.mark.parametrize(
    ('row', 'message'),
    [
        (changed('doc', gold_index=[0, 1]), r'field doc.choices\[1\] is missing'),
        (changed('doc', gold_index=-1), 'field doc.gold_index is -1; it counts from 0'),
        (changed('doc', gold_index=7), r'field doc.choices\[7\] is missing'),
        (changed('doc', gold_index=None), 'field doc.gold_index is NoneType'),
        (changed('doc', choices=[None]), r'field doc.choices\[0\] is NoneType'),
        (changed('doc', query=3), 'field doc.query is int'),
        (changed('model_response', text='a'), 'field model_response.text is str'),
        (changed('model_response', text=None), 'field model_response.text is NoneType'),
        (changed('model_response', text=[]), 'field samples: a list of at least one'),
        (changed('model_response', text=[1]), r'field model_response.text\[0\] is int'),
        ({**ROWS[0], 'doc': None}, 'field doc.* NoneType'),
        ({**ROWS[0], 'doc': 'a'}, 'field doc.* str'),
        ({**ROWS[0], 'model_response': [1]}, 'field model_response.text is missing'),
    ],
)
def test_faults_of_rows(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    """A malformed row is an error that names file, row and field."""
    with pytest.raises(ValueError, match=rf'{NAME}, row 1: {message}'):
        read_samples(str(written(tmp_path, [row])))


def test_lost_responses(tmp_path: Path) -> None:
    """A null among the texts is a lost response."""
    row = changed('model_response', text=['a', None])
    found = read_samples(str(written(tmp_path, [row]))).responses
    assert [bool(r.lost) for r in found] == [False, True]


class Trap:
    """What must never be unpickled."""

    def __reduce__(self) -> Any:
        """Leave a trace if it is."""
        return exec, ('raise SystemExit',)


@pytest.mark.parametrize(
    'data',
    [
        PATH.read_bytes()[:-100],
        PATH.read_bytes()[:1000],
        b'PAR1',
        b'PAR1' + b'\xff' * 100 + b'PAR1',
        b'PAR1' + pickle.dumps(Trap()),
    ],
)
def test_damaged_files(data: bytes, tmp_path: Path) -> None:
    """A file that is cut off, or only begins like one, is told."""
    path = tmp_path / NAME
    path.write_bytes(data)
    with pytest.raises(ValueError, match=rf'{NAME}: not a Parquet file'):
        read_samples(str(path))


def test_empty_and_huge_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No rows, and more than may be read, are errors that name the file."""
    path = tmp_path / NAME
    pyarrow.parquet.write_table(pyarrow.table({'doc': [], 'model_response': []}), path)
    with pytest.raises(ValueError, match=f'{NAME}: there is no usable row'):
        read_samples(str(path))
    monkeypatch.setattr(tables, 'SAMPLES', tables.SAMPLES._replace(size=1000))
    with pytest.raises(ValueError, match=f'{NAME}: it holds too much; split it'):
        read_samples(str(written(tmp_path, ROWS)))


def test_a_dictionary_of_texts_is_counted_row_by_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A small file may repeat a large text as often as it likes."""
    path = tmp_path / 'a.parquet'
    texts = pyarrow.array(['x' * 10_000] * 1000).dictionary_encode()
    table = pyarrow.table({'id': list(range(1000)), 'answer': ['1'] * 1000, 'sample': texts})
    pyarrow.parquet.write_table(table, path)
    assert path.stat().st_size < 20_000
    monkeypatch.setattr(tables, 'SAMPLES', tables.SAMPLES._replace(size=5_000_000))
    with pytest.raises(ValueError, match=r'a\.parquet: it holds too much; split it'):
        read_samples(str(path))
