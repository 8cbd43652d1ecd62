"""Seeds and batches of requests, and the protocol they are drawn under."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from opencompass_gpassk.inference.sample_requests import (
    Request,
    batches,
    combined_seed,
    request_seed,
)
from opencompass_gpassk.inference.sampling import Sampling


def make_request(index: int, problem: str = 'p', replica: int = 0, key: str = 'k') -> Request:
    """Return a row."""
    return Request(index, problem, replica, 'entry', 'prompt', 'gold', 1, key)


class TestSeeds:
    """Draws are seeded by what the row is."""

    def test_neighbouring_runs_problems_and_replicas_share_no_seed(self) -> None:
        """Seed + i would give run 1 all but one of the seeds of run 0."""
        seeds = [
            request_seed(run, f'p/{problem}', replica, 'q')
            for run in range(3)
            for problem in range(20)
            for replica in range(48)
        ]
        assert len(set(seeds)) == len(seeds)
        assert all(0 <= seed < 2**31 for seed in seeds)

    def test_data_sets_with_equal_ids_differ_by_their_prompts(self) -> None:
        """Two data sets may both call a problem '0'."""
        assert request_seed(0, '0', 0, 'one') != request_seed(0, '0', 0, 'another')

    def test_other_processes_get_the_same(self) -> None:
        """Python's own hash is salted in each process."""
        code = (
            'from opencompass_gpassk.inference.sample_requests import request_seed, combined_seed;'
            "print(request_seed(0, 'AMC_en/7', 3, '\\u4e2d'), combined_seed([1, 2]))"
        )
        run = subprocess.run(
            [sys.executable, '-c', code], capture_output=True, text=True, check=True
        )
        assert run.stdout.split() == [
            str(request_seed(0, 'AMC_en/7', 3, '\u4e2d')),
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
        rows = [make_request(i, problem) for i, problem in enumerate(problems)]
        found = batches(rows, size, repeats=repeats)
        assert sorted(row.index for batch in found for row in batch) == list(range(len(rows)))
        for batch in found:
            assert 0 < len(batch) <= size
            assert repeats or len({row.problem_id for row in batch}) == len(batch)

    def test_batches_are_filled(self) -> None:
        """Without repeats 12 rows of 3 problems make 4 batches of 3, however large."""
        rows = [make_request(i, f'p{i % 3}') for i in range(12)]
        assert [len(batch) for batch in batches(rows, 8, repeats=False)] == [3] * 4


def test_sampling_fills_in_neutral_values() -> None:
    """What a protocol leaves out isn't left to a backend's default."""
    assert Sampling.of({'temperature': 1}).record == {
        'temperature': 1.0,
        'top_p': 1.0,
        'top_k': 0,
        'repetition_penalty': 1.0,
    }
