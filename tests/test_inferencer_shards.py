"""Problems and replicas of the rows of a shard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mmengine.config import ConfigDict
from opencompass.datasets.base import BaseDataset
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.partitioners import NumWorkerPartitioner
from opencompass.tasks import OpenICLInferTask
from opencompass.utils import build_dataset_from_cfg
from tiny import Problems

from opencompass_gpassk.inference.inferencer import GPassKGenInferencer
from opencompass_gpassk.inference.sample_requests import identify, shard_of


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


def config(abbr: str, test_range: Any = None) -> ConfigDict:
    """Return a data set config: 20 problems, 4 replicas of each."""
    return ConfigDict(
        abbr=abbr,
        type=Upstream,
        n=4,
        k=2,
        reader_cfg={
            'input_columns': ['prompt'],
            'output_column': 'answer',
            **({'test_range': test_range} if test_range else {}),
        },
        infer_cfg={
            'prompt_template': {'type': PromptTemplate, 'template': '{prompt}'},
            'retriever': {'type': ZeroRetriever},
            'inferencer': {
                'type': GPassKGenInferencer,
                'sampling': 'model',
                'max_out_len': 9,
                'batch_size': 7,
            },
        },
    )


def infer(
    dataset: ConfigDict, task: type = OpenICLInferTask, model: type[Echo] = Echo
) -> list[tuple[str, int]]:
    """Run OpenCompass's task here; return the identities in the prediction file."""
    one = task(
        ConfigDict(
            models=[{'type': Echo, 'abbr': 'echo'}], datasets=[[dataset]], work_dir=str(Path.cwd())
        )
    )
    one.run(model(), 'echo')
    path = Path('predictions', 'echo', f'{dataset["abbr"]}.json')
    return [(r['problem_id'], r['replica']) for r in json.loads(path.read_text()).values()]


def test_replicas_in_shards_of_upstreams_data_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenCompass's own partitioner and task: shards together say what the whole set says."""
    monkeypatch.chdir(tmp_path)
    partitioner = NumWorkerPartitioner(
        out_dir=str(tmp_path), num_worker=3, dataset_size_path=str(tmp_path / 'size.json')
    )
    data = config('up-n4')
    whole = infer(data)
    assert whole == identify(build_dataset_from_cfg(data).test)
    shards = [infer(shard) for shard in partitioner.split_dataset(data)]
    assert len(shards) == 3
    assert [identity for shard in shards for identity in shard] == whole


@pytest.mark.parametrize(
    ('abbr', 'test_range'),
    [
        *(('up-n4', given) for given in ('[0:4]', '[3:]', '[::7]', '[0:4][0:2]', 4, 0.5)),
        *((abbr, '[5:45]') for abbr in ('up_500', 'up_1')),
    ],
)
def test_a_range_of_the_users_own_is_refused(
    abbr: str, test_range: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would keep the first sample alone, or a few of each; once sampled, a range is welcome."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=f'{abbr}: reader_cfg.test_range is .* set limit'):
        infer(config(abbr, test_range))
    once = config('up', '[0:4]')
    once.update(n=1, k=1)
    assert infer(once) == [(str(i), 0) for i in range(4)]


@pytest.mark.parametrize(
    ('abbr', 'test_range', 'whole', 'shard'),
    [
        ('a-n4_1', '[10:20]', ('a-n4', ''), slice(10, 20)),
        ('a-n4_2', '[:50][20: 30]', ('a-n4', '[:50]'), slice(20, 30)),
        ('a-n4', '[10:20]', ('a-n4', '[10:20]'), None),
        ('a_500', '[5:45]', ('a_500', '[5:45]'), None),
        ('a_1', '[0:10]', ('a_1', '[0:10]'), None),
        ('a_7', '[:20]', ('a_7', '[:20]'), None),
        ('a_7', None, ('a_7', None), None),
    ],
)
def test_shards_are_told_from_ranges(
    abbr: str, test_range: str | None, whole: tuple[str, str | None], shard: slice | None
) -> None:
    """A user's own range is the whole test set of an evaluation; a shard's slice is not."""
    given = {'abbr': abbr, 'reader_cfg': {'test_range': test_range}, 'infer_cfg': object()}
    found, piece = shard_of(given)
    assert (found['abbr'], found['reader_cfg']['test_range']) == whole
    assert piece == shard
