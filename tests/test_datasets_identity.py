"""Which problem and sample a row is: in this package's data sets, in OpenCompass's, in shards."""

from __future__ import annotations

from typing import Any

import pytest
from datasets import Dataset
from opencompass.datasets.base import BaseDataset

from opencompass_gpassk.datasets import LiveMathBench
from opencompass_gpassk.inference.sample_requests import identify

READER = {'input_columns': ['question'], 'output_column': 'answer'}


class Upstream(BaseDataset):
    """Three problems, loaded as OpenCompass's own data sets are."""

    @staticmethod
    def load() -> Dataset:
        return Dataset.from_dict({'question': ['a', 'b', 'c'], 'answer': ['1', '2', '3']})


def rows(kind: Any, n: int, test_range: str | None = None, abbr: str = 'data') -> Dataset:
    reader = {**READER, 'test_range': test_range}
    return kind(reader_cfg=reader, abbr=abbr, k=1, n=n).test


def test_rows_of_other_data_sets_are_counted() -> None:
    """A problem is its idx; its replica is how often it came before."""
    expected = [(problem, replica) for replica in range(4) for problem in '012']
    assert identify(rows(Upstream, 4)) == expected


def test_our_rows_know_their_replica_in_any_slice() -> None:
    """A slice that begins in the middle of a replica holds the whole's identities."""
    whole = identify(rows(LiveMathBench, 3))
    assert len(set(whole)) == len(whole) == 144
    assert [replica for _, replica in whole] == [0] * 48 + [1] * 48 + [2] * 48
    assert identify(rows(LiveMathBench, 3, '[40:80]', 'data_1')) == whole[40:80]


def test_rows_without_any_number_are_an_error() -> None:
    """Nothing is guessed where rows can't be told apart."""
    with pytest.raises(ValueError, match="neither the columns 'problem_id'"):
        identify(Dataset.from_dict({'question': ['a', 'a']}))
