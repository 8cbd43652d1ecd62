"""A judge asked in a thread of its own, so that what it settles can be taken meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from opencompass_gpassk.judging.judge import Judge, JudgeError, Outcome, Receive
from opencompass_gpassk.judging.ledger import Ledger

__all__ = ['ask_aside']


def ask_aside(
    judge: Judge, jobs: Iterable[tuple[Hashable, str]], receive: Receive, ledger: Ledger
) -> Generator[Any, None, None]:
    """Ask a judge in a thread; yield each job's key as soon as it is settled.

    Who closes the generator, or lets go of it, stops the asking: requests on their way are called
    back, and a model in process ends the batch that it is at. Then the thread has ended.

    Args:
        judge: Who is asked, all jobs in one :meth:`~.judge.Judge.ask`.
        jobs: As of that; they are read in the thread, as ``receive`` is called in it.
        receive: A job is settled when it returns False.
        ledger: Counts.

    Raises:
        JudgeError: As the judge does, after all that was settled before is yielded. So do errors
            of ``jobs`` and ``receive``.
    """
    asking = _Aside(judge, jobs, receive, ledger)
    asking.thread.start()
    try:
        while not isinstance(one := asking.settled.get(), _End):
            yield one
        if one.error is not None:
            raise one.error
    finally:
        asking.abandon()


@dataclass(frozen=True)
class _End:
    """Nothing comes any more."""

    error: BaseException | None


class _AbandonedError(JudgeError):
    """Nobody takes what the judge says any longer."""


class _Aside:
    def __init__(
        self,
        judge: Judge,
        jobs: Iterable[tuple[Hashable, str]],
        receive: Receive,
        ledger: Ledger,
    ) -> None:
        self.settled: SimpleQueue[Any] = SimpleQueue()
        self.thread = threading.Thread(target=self._run, name='asking a judge', daemon=True)
        self._judge = judge
        self._jobs = jobs
        self._receiver = receive
        self._ledger = ledger
        self._abandoned = False
        self._cancel: Callable[[], Any] | None = None

    def abandon(self) -> None:
        """Stop asking, and wait until the thread has ended."""
        self._abandoned = True
        if self._cancel is not None:
            with suppress(RuntimeError):  # the loop is closed: nothing is on its way
                self._cancel()
        self.thread.join()

    def _run(self) -> None:
        error = None
        try:
            self._judge.ask(self._taken(), self._receive, self._ledger)
        except BaseException as raised:
            error = raised
        self.settled.put(_End(error))

    def _taken(self) -> Iterator[tuple[Hashable, str]]:
        # Jobs are read where requests are sent from. A judge over HTTP may wait there for minutes,
        # for a server that is down, without any call of ours; one in process has no event loop.
        with suppress(RuntimeError):
            loop, task = asyncio.get_running_loop(), asyncio.current_task()
            if task is not None:
                cancel = task.cancel
                self._cancel = lambda: loop.call_soon_threadsafe(cancel)
        self._require_awaited()
        for job in self._jobs:
            yield job
            self._require_awaited()

    def _receive(self, key: Any, outcome: Outcome) -> bool:
        self._require_awaited()
        again = self._receiver(key, outcome)
        if not again:
            self.settled.put(key)
        return again

    def _require_awaited(self) -> None:
        if self._abandoned:
            raise _AbandonedError('nobody waits for the answers any longer')
