"""The score store: killed processes, scorers of one's own, and what is not kept.

What it shares with the verdict store is tested in test_verdict_store.py.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import score_writer
from score_writer import Scorer, scores, solution

from opencompass_gpassk.reasoneval.score_store import (
    ScoreStore,
    score_solutions,
)
from opencompass_gpassk.reasoneval.scorers import identity_of
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution, StepScores

SETTINGS = identity_of(Scorer())


def score(
    scorer: Any, given: list[Solution], path: Path, report: Callable[[str], None] = print
) -> dict[Solution, StepScores]:
    """Return scores, kept in a store."""
    return score_solutions(scorer, given, path, progress=False, report=report)


def kept(path: Path, last: int) -> list[int]:
    """The numbers whose scores are there, after comparing them."""
    with ScoreStore(path, SETTINGS) as store:
        found = store.restore([solution(number) for number in range(last)])
    numbers = [int(one.question.split()[0]) for one in found]
    for number, one in zip(numbers, found.values(), strict=True):
        np.testing.assert_array_equal(one.probabilities, scores(number))
        assert (one.tokens, one.refusal) == (number, None)
    return sorted(numbers)


@pytest.mark.slow
def test_a_killed_run_goes_on_and_scores_nothing_twice(tmp_path: Path) -> None:
    """What was scored when the next was begun is there; the next run scores the rest alone."""
    path = tmp_path / 'scores.sqlite'
    argv = [sys.executable, score_writer.__file__, str(path), '0', '60', '0.01']
    job = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert job.stdin and job.stdout
    job.stdin.write('\n')
    job.stdin.flush()
    assert job.stdout.readline() == 'ready\n'
    told = [int(job.stdout.readline()) for _ in range(20)]
    os.kill(job.pid, signal.SIGKILL)
    job.wait()
    there = kept(path, 60)
    assert set(told[:-1]) <= set(there) and len(there) < 60
    scorer, reports = Scorer(), list[str]()
    solutions = [solution(number) for number in range(60)]
    found = score(scorer, [*solutions, *solutions], path, reports.append)
    assert scorer.scored == [number for number in range(60) if number not in there]
    assert list(found) != [] and set(found) == set(solutions)
    assert reports == [f'{len(there)} of 60 distinct solutions are in {path}']
    assert kept(path, 60) == list(range(60))


def test_scores_come_back_as_they_were(tmp_path: Path) -> None:
    """Of classes, of one number a step, refused; not what may pass, nor other settings' scores."""
    given = {
        Solution('q \ud800', ['a\u2028', 'b']): StepScores(np.array([[0.1, 0.2, 0.7], [0, 0, 1]])),
        Solution('q', ['a', 'b', 'c']): StepScores(np.array([[0.25], [1 / 3], [1.0]]), tokens=7),
        Solution('q', []): StepScores.refused(0, Refusal.EMPTY),
        Solution('q', ['long']): StepScores.refused(1, Refusal.TOO_LONG, 5000),
        Solution('q', ['memory']): StepScores.refused(1, Refusal.OUT_OF_MEMORY),
        Solution('q', ['judge']): StepScores.refused(1, Refusal.UNJUDGED),
    }
    path = tmp_path / 'new' / 'scores.sqlite'
    with ScoreStore(path, {'b': 1, 'a': None}) as store:
        for one, said in given.items():
            store.add(one, said)
    with ScoreStore(path, {'a': None, 'b': 1}) as store:
        found = store.restore([*given, Solution('qa', ['b', 'c'])])
    assert list(map(given.get, found)) != [] and len(found) == 4
    for one, said in found.items():
        assert (said.refusal, said.tokens) == (given[one].refusal, given[one].tokens)
        np.testing.assert_array_equal(said.validity, given[one].validity)
        np.testing.assert_array_equal(said.redundancy, given[one].redundancy)
    with ScoreStore(path, {'a': None, 'b': 2}) as store:
        assert store.restore(list(given)) == {}


GOOD = np.array([[0.1, 0.2, 0.7]] * 2)
loose: Any = StepScores  # what no type checker lets through


@pytest.mark.parametrize(
    ('given', 'message'),
    [
        ([(0, loose([[0.5] * 3]))], r'Scorer: probabilities hold \[0.5, 0.5, 0.5\]'),
        ([(0, loose([[1.0]] * 3))], 'gave 3 rows of scores to a solution of 2 steps'),
        ([(0, loose([[2.0], [1.0]]))], r'probabilities hold \[2.0\]; give a share'),
        ([], 'Scorer scored 0 of 1 solutions'),
        ([(-1, StepScores(GOOD))], '-1 is no index of a solution'),
        ([(0, loose(np.float64(0.5)))], 'shape'),
    ],
)
def test_a_stream_that_gives_something_else(
    given: list[Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scorer of the user's own is told what is wrong with its scores."""
    monkeypatch.setattr(Scorer, 'stream', lambda self, solutions, progress: iter(given))
    with pytest.raises(ValueError, match=f'^(?=Scorer).*{message}'):
        score(Scorer(), [solution(1)], tmp_path / 'scores.sqlite')


@pytest.mark.parametrize('number', [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_a_refusal(
    number: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So are those of no steps, and lists are taken; all come back from the store."""
    given = {
        Solution('q', ['a', 'b']): StepScores(np.array([[number, 0.5, 0.5], [0.1, 0.2, 0.7]])),
        Solution('q', []): StepScores(np.zeros((0, 3))),
        Solution('r', []): StepScores(np.zeros(0)),
        Solution('q', ['a']): loose([[0.25, 0.25, 0.5]], tokens=np.int64(3)),
    }
    monkeypatch.setattr(
        Scorer, 'stream', lambda self, solutions, progress: enumerate(given[s] for s in solutions)
    )
    refusals = [Refusal.NOT_FINITE, Refusal.EMPTY, Refusal.EMPTY, None]
    reports: list[str] = []
    for _ in range(2):
        found = score(Scorer(), list(given), tmp_path / 'scores.sqlite', reports.append)
        assert [found[one].refusal for one in given] == refusals
        assert [found[one].probabilities.shape for one in given] == [(2, 3), (0, 3), (0, 3), (1, 3)]
        assert np.isnan(found[Solution('q', ['a', 'b'])].probabilities).all()
        assert found[Solution('q', ['a'])].tokens == 3
    assert reports == [f'4 of 4 distinct solutions are in {tmp_path / "scores.sqlite"}']


def test_where_the_store_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the run, or where the environment says."""
    monkeypatch.delenv('GPASSK_SCORE_STORE', raising=False)
    assert ScoreStore.default_path(None) is None
    assert ScoreStore.default_path(tmp_path) == tmp_path / 'step_scores.sqlite'
    monkeypatch.setenv('GPASSK_SCORE_STORE', str(tmp_path / 'all.sqlite'))
    assert ScoreStore.default_path(tmp_path / 'run') == tmp_path / 'all.sqlite'
