"""Seeds, batches, saved progress and identities of rows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mmengine.config import ConfigDict
from opencompass.datasets.base import BaseDataset
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.partitioners import NumWorkerPartitioner
from opencompass.tasks import OpenICLInferTask
from tiny import Problems

from opencompass_gpassk.inference.identity import shard_of
from opencompass_gpassk.inference.progress import Progress, write_predictions
from opencompass_gpassk.inference.rows import Row, batches, combined_seed, row_seed
from opencompass_gpassk.inference.sampling import Sampling
from opencompass_gpassk.inferencer import GPassKGenInferencer


def make_row(index: int, problem: str = 'p', replica: int = 0, key: str = 'k') -> Row:
    """Return a row."""
    return Row(index, problem, replica, 'entry', 'prompt', 'gold', 1, key)


def record(text: str) -> dict[str, Any]:
    """Return a record."""
    return {'prediction': text, 'origin_prompt': 'q'}


class TestSeeds:
    """Draws are seeded by what the row is."""

    def test_neighbouring_runs_problems_and_replicas_share_no_seed(self) -> None:
        """Seed + i would give run 1 all but one of the seeds of run 0."""
        seeds = [
            row_seed(run, f'p/{problem}', replica, 'q')
            for run in range(3)
            for problem in range(20)
            for replica in range(48)
        ]
        assert len(set(seeds)) == len(seeds)
        assert all(0 <= seed < 2**31 for seed in seeds)

    def test_data_sets_with_equal_ids_differ_by_their_prompts(self) -> None:
        """Two data sets may both call a problem '0'."""
        assert row_seed(0, '0', 0, 'one') != row_seed(0, '0', 0, 'another')

    def test_other_processes_get_the_same(self) -> None:
        """Python's own hash is salted in each process."""
        code = (
            'from opencompass_gpassk.inference.rows import row_seed, combined_seed;'
            "print(row_seed(0, 'AMC_en/7', 3, '\\u4e2d'), combined_seed([1, 2]))"
        )
        run = subprocess.run(
            [sys.executable, '-c', code], capture_output=True, text=True, check=True
        )
        assert run.stdout.split() == [
            str(row_seed(0, 'AMC_en/7', 3, '\u4e2d')),
            str(combined_seed([1, 2])),
        ]


class TestBatches:
    """Rows are cut into batches."""

    @given(
        problems=st.lists(st.sampled_from('abcd'), max_size=40),
        size=st.integers(1, 9),
        repeats=st.booleans(),
    )
    def test_every_row_is_in_one_batch(self, problems: list[str], size: int, repeats: bool) -> None:
        """None is lost, none drawn twice, no batch is too large or repeats a problem."""
        rows = [make_row(i, problem) for i, problem in enumerate(problems)]
        found = batches(rows, size, repeats=repeats)
        assert sorted(row.index for batch in found for row in batch) == list(range(len(rows)))
        for batch in found:
            assert 0 < len(batch) <= size
            assert repeats or len({row.problem_id for row in batch}) == len(batch)

    def test_batches_are_filled(self) -> None:
        """Without repeats 12 rows of 3 problems make 4 batches of 3, however large."""
        rows = [make_row(i, f'p{i % 3}') for i in range(12)]
        assert [len(batch) for batch in batches(rows, 8, repeats=False)] == [3] * 4


class TestProgress:
    """The file of saved rows."""

    TEXTS = ('a\u2028b', 'c\u0085d\x1ce\x0bf', '\ud800 alone', '\u4e2d\u6587', 'g\nh\r\ni', '')

    def saved(self, path: Path) -> tuple[Progress, list[Row]]:
        """Save a row a text."""
        rows = [make_row(i, f'p{i}') for i in range(len(self.TEXTS))]
        progress = Progress(path / 'tmp_x.jsonl')
        progress.start({row.index: row for row in rows}, {})
        progress.append([(r, record(t)) for r, t in zip(rows, self.TEXTS, strict=True)])
        return progress, rows

    def test_any_text_survives(self, tmp_path: Path) -> None:
        """One line a row, whatever the response holds."""
        progress, rows = self.saved(tmp_path)
        assert progress.path.read_bytes().isascii()
        assert progress.path.read_bytes().count(b'\n') == len(rows)
        found, dropped = progress.restore(rows)
        assert [found[i]['prediction'] for i in range(len(rows))] == list(self.TEXTS)
        assert dropped == 0

    def test_torn_last_line_is_dropped_alone(self, tmp_path: Path) -> None:
        """Wherever a kill cuts the last line, the others are kept."""
        progress, rows = self.saved(tmp_path)
        whole = progress.path.read_bytes()
        last = whole.rstrip(b'\n').rfind(b'\n') + 1
        for end in range(last + 1, len(whole) - 1):
            progress.path.write_bytes(whole[:end])
            found, dropped = progress.restore(rows)
            assert (sorted(found), dropped) == ([0, 1, 2, 3, 4], 1)

    def test_rewritten_file_can_be_appended_to(self, tmp_path: Path) -> None:
        """After a torn line the next row must not stick to it."""
        progress, rows = self.saved(tmp_path)
        progress.path.write_bytes(progress.path.read_bytes()[:-9])
        found, _ = progress.restore(rows)
        progress.start({row.index: row for row in rows}, found)
        progress.append([(rows[5], record('new'))])
        found, dropped = progress.restore(rows)
        assert (len(found), dropped, found[5]['prediction']) == (6, 0, 'new')

    @pytest.mark.parametrize(
        'line', ['[]', '3', '{"index": 0}', '{"index": 0, "key": "k", "record": 1}', '\x00\xff']
    )
    def test_foreign_lines_are_dropped(self, line: str, tmp_path: Path) -> None:
        """Nothing that stands in the file can stop a run."""
        progress, rows = self.saved(tmp_path)
        with progress.path.open('ab') as file:
            file.write(line.encode('latin-1') + b'\n')
        found, dropped = progress.restore(rows)
        assert (len(found), dropped) == (6, 1)

    def test_prediction_file_is_whole_or_not_there(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """OpenCompass takes its presence as done, so a kill while writing must not leave it."""

        def dying(fd: int) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr('os.fsync', dying)
            with pytest.raises(KeyboardInterrupt):
                write_predictions(tmp_path / 'x.json', {0: record('a')})
        assert not (tmp_path / 'x.json').exists()
        write_predictions(tmp_path / 'x.json', {i: record(str(i)) for i in (10, 2, 0)})
        assert list(json.loads((tmp_path / 'x.json').read_text())) == ['0', '2', '10']


def test_sampling_fills_in_neutral_values() -> None:
    """What a protocol leaves out isn't left to a backend's default."""
    assert Sampling.parse({'temperature': 1}).record == {
        'temperature': 1.0,
        'top_p': 1.0,
        'top_k': 0,
        'repetition_penalty': 1.0,
    }


class Upstream(BaseDataset):
    """A data set without this package's columns, as upstream's are."""

    @staticmethod
    def load(problems: int = 20) -> Any:
        return Problems.load(problems, 1).remove_columns(['problem_id', 'replica'])


class Echo:
    """A wrapper that answers with the prompt."""

    is_api = False

    def __init__(self, **settings: Any) -> None:
        pass

    def parse_template(self, entry: Any, mode: str) -> str:
        return str(entry)

    def get_token_len_from_template(self, entries: Any, mode: str) -> int:
        return 1

    def generate(self, inputs: list[str], max_out_len: int) -> list[str]:
        return list(inputs)

    def generate_from_template(self, entries: list[Any], max_out_len: int) -> list[str]:
        return [str(entry) for entry in entries]


@pytest.mark.parametrize('test_range', [None, '[3:]', '[:50]'])
def test_replicas_in_shards_of_upstreams_data_sets(
    test_range: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenCompass's own partitioner and task: shards together say what the whole set says."""
    monkeypatch.chdir(tmp_path)
    data: dict[str, Any] = {
        'abbr': 'up-n4',
        'type': Upstream,
        'n': 4,
        'k': 2,
        'reader_cfg': {'input_columns': ['prompt'], 'output_column': 'answer'},
        'infer_cfg': {
            'prompt_template': {'type': PromptTemplate, 'template': '{prompt}'},
            'retriever': {'type': ZeroRetriever},
            'inferencer': {
                'type': GPassKGenInferencer,
                'sampling': 'model',
                'max_out_len': 9,
                'batch_size': 7,
            },
        },
    }
    if test_range:
        data['reader_cfg']['test_range'] = test_range

    def infer(config: ConfigDict) -> list[tuple[str, int]]:
        task = OpenICLInferTask(
            ConfigDict(
                models=[{'type': Echo, 'abbr': 'echo'}],
                datasets=[[config]],
                work_dir=str(tmp_path),
            )
        )
        task.run(Echo(), 'echo')
        path = tmp_path / 'predictions' / 'echo' / f'{config["abbr"]}.json'
        return [(r['problem_id'], r['replica']) for r in json.loads(path.read_text()).values()]

    partitioner = NumWorkerPartitioner(
        out_dir=str(tmp_path), num_worker=3, dataset_size_path=str(tmp_path / 'size.json')
    )
    whole = infer(ConfigDict(data))
    shards = [infer(shard) for shard in partitioner.split_dataset(ConfigDict(data))]
    assert len(shards) == 3
    drawn = [identity for shard in shards for identity in shard]
    assert drawn == whole[: len(drawn)]
    assert len(set(drawn)) == len(drawn)
    # OpenCompass counts the rows that a range leaves and then applies the range to the count:
    # '[3:]' costs the last shard some rows, which an evaluation reports as missing.
    assert len(drawn) >= len(whole) - 3


@pytest.mark.parametrize(
    ('abbr', 'test_range', 'whole', 'shard'),
    [
        ('a-n4_1', '[10:20]', 'a-n4', '[10:20]'),
        ('a-n4_1', '[:50][10:20]', 'a-n4', '[10:20]'),
        ('a-n4', '[10:20]', 'a-n4', ''),
        ('a_7', '[:20]', 'a_7', ''),
        ('a_7', None, 'a_7', ''),
    ],
)
def test_shards_are_told_from_ranges(
    abbr: str, test_range: str | None, whole: str, shard: str
) -> None:
    """A user's own range is the whole test set of an evaluation; a shard's slice is not."""
    config = {'abbr': abbr, 'reader_cfg': {'test_range': test_range}, 'infer_cfg': object()}
    found, piece = shard_of(config)
    assert (found['abbr'], piece) == (whole, shard)
