"""Scores of a judge as they come: in one go, kept when the judge breaks down, stopped early."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

import pytest
from judge_server import JudgeServer
from test_reasoneval_step_judge import ADDING, ScriptedJudge, kind_of

from opencompass_gpassk.inference.http_client import Receive
from opencompass_gpassk.inference.server_replies import Failure, Reply
from opencompass_gpassk.judging.judge import JudgeError, Ledger
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.score_store import score_solutions
from opencompass_gpassk.reasoneval.scorers import make_scorer
from opencompass_gpassk.reasoneval.settings import ReasoningSettings
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution
from opencompass_gpassk.reasoneval.step_judge import PromptedStepJudge

NONE = '\\boxed{none}'


def numbered(count: int) -> list[Solution]:
    """So many solutions."""
    return [Solution(f'What is {n} + 0?', [f'It is {n}.']) for n in range(count)]


class CountingJudge(ScriptedJudge):
    """Counts how often it is asked, and stops where its quota ends."""

    def __init__(self, say: Callable[..., Reply | Failure | str], quota: int = 10**9) -> None:
        super().__init__(self._say)
        self.answer = say
        self.quota = quota
        self.asked = 0

    def _say(self, prompt: str, kind: ErrorKind, times: int) -> Reply | Failure | str:
        if len(self.prompts) >= self.quota:
            raise JudgeError('the quota is used up')
        return self.answer(prompt, kind, times)

    def ask(self, jobs: Iterable[tuple[Hashable, str]], receive: Receive, ledger: Ledger) -> None:
        """Count, and ask."""
        self.asked += 1
        super().ask(jobs, receive, ledger)


def kept(judge: CountingJudge, count: int, path: Path, report: Any = print) -> Any:
    """Return the scores of so many solutions, kept in a store."""
    judged = PromptedStepJudge(judge)
    return score_solutions(judged, numbered(count), path, progress=False, report=report)


def threads() -> list[str]:
    """The names of the threads in which judges are asked."""
    return [one.name for one in threading.enumerate() if one.name == 'asking a judge']


def test_all_solutions_are_asked_about_in_one_go() -> None:
    """A judge that is down is waited for once, however many solutions there are."""
    judge = CountingJudge(lambda *_: Failure('unreachable', permanent=False))
    solutions = numbered(600)
    found = list(PromptedStepJudge(judge).stream(solutions))
    assert judge.asked == 1
    assert sorted(index for index, _ in found) == list(range(600))
    assert {scores.refusal for _, scores in found} == {Refusal.UNJUDGED}
    assert threads() == []


def test_what_was_answered_before_the_end_of_a_quota_is_kept(tmp_path: Path) -> None:
    """The next run asks, and pays, for the rest alone."""
    path = tmp_path / 'scores.sqlite'
    first = CountingJudge(lambda *_: NONE, quota=301)
    with pytest.raises(JudgeError, match='quota'):
        kept(first, 200, path)
    second = CountingJudge(lambda *_: NONE)
    told: list[str] = []
    found = kept(second, 200, path, told.append)
    assert told == [f'150 of 200 distinct solutions are in {path}']
    assert len(second.prompts) == 100
    assert len(found) == 200 and not any(scores.refusal for scores in found.values())


def test_what_a_judge_declines_is_kept_and_not_asked_again(tmp_path: Path) -> None:
    """What is filtered stays so; what may pass is asked for by the next run."""

    def say(prompt: str, kind: ErrorKind, times: int) -> Reply | Failure:
        if '0 + 0' in prompt and kind_of(prompt) is ErrorKind.INVALID:
            return Failure('filtered', permanent=True)
        if '1 + 0' in prompt:
            return Failure('overloaded', permanent=False)
        return Reply(NONE)

    path = tmp_path / 'scores.sqlite'
    for asked in (6, 2):
        judge = CountingJudge(say)
        found = kept(judge, 3, path)
        assert len(judge.prompts) == asked
        assert [found[one].refusal for one in numbered(3)] == [
            *(Refusal.DECLINED, Refusal.UNJUDGED, None)
        ]


@pytest.mark.parametrize('taken', [0, 1])
def test_a_stream_that_is_closed_stops_the_asking(taken: int) -> None:
    """Nothing is asked any more, and no thread is left."""
    going_on = threading.Event()

    def say(prompt: str, kind: ErrorKind, times: int) -> str:
        assert len(judge.prompts) < 4 or going_on.wait(10)
        return NONE

    judge = CountingJudge(say)
    stream = PromptedStepJudge(judge).stream(numbered(1000))
    for _ in range(taken):
        next(stream)
    threading.Timer(0.1, going_on.set).start()
    stream.close()  # type: ignore[attr-defined]
    assert threads() == []
    assert len(judge.prompts) <= 5 * taken


@pytest.mark.parametrize('fault', ['hang', '503'])
def test_an_interrupt_does_not_wait_for_a_server(fault: str) -> None:
    """Requests on their way are called back, and one that is down is not tried any more."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    with JudgeServer(lambda prompt: NONE, faults={fault: 1.0}) as server:
        settings = ReasoningSettings(judge={'model': 'judge', 'api_base': server.url})
        stream = make_scorer(settings).stream([Solution('q', []), ADDING])
        assert next(stream)[1].refusal is Refusal.EMPTY
        main = threading.main_thread().ident or 0
        threading.Timer(0.5, signal.pthread_kill, [main, signal.SIGINT]).start()
        with pytest.raises(KeyboardInterrupt):
            next(stream)
        assert threads() == []
        assert server.calls > 0
        assert not server.judged  # as it would be after a minute
