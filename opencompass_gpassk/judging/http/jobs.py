"""Prompts that wait to be asked, and how often each was."""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

__all__ = ['Job', 'JobQueue']

FIRST_BACKOFF = 0.5  # seconds
LONGEST_BACKOFF = 30.0


@dataclass
class Job:
    """One prompt, and how often it was sent and failed.

    Attributes:
        harmless: It is asked to find out whether a judge answers at all, and nobody's job.
    """

    key: Hashable
    prompt: str
    calls: int = 0
    failures: int = 0
    harmless: bool = False


class JobQueue:
    """Jobs that are due, those that failed before new ones.

    Args:
        jobs: (key, prompt), of which one is taken when it is asked for.
        most_waiting: No new job is taken while so many that failed wait.
    """

    def __init__(self, jobs: Iterable[tuple[Hashable, str]], most_waiting: int) -> None:
        self._fresh = iter(jobs)
        self._waiting: list[tuple[float, int, Job]] = []  # a heap
        self._order = itertools.count()  # between jobs that are due at the same time
        self._most_waiting = most_waiting

    @property
    def due_at(self) -> float | None:
        """When the first of the waiting jobs is due, None where none waits."""
        return self._waiting[0][0] if self._waiting else None

    def take(self, now: float) -> Job | None:
        """Return a job that is due, None if there is none at the moment."""
        if self._waiting and self._waiting[0][0] <= now:
            return heapq.heappop(self._waiting)[2]
        if len(self._waiting) < self._most_waiting:
            for key, prompt in self._fresh:
                return Job(key, prompt)
        return None

    def put_back(self, job: Job, until: float) -> None:
        """Let a job wait until a moment."""
        heapq.heappush(self._waiting, (until, next(self._order), job))

    def put_off(self, job: Job, now: float) -> None:
        """Let a job wait after a failure: the longer, the more it had; evenly spread."""
        longest = min(FIRST_BACKOFF * 2.0 ** max(job.failures - 1, 0), LONGEST_BACKOFF)
        self.put_back(job, now + random.uniform(0, longest))

    def drain(self) -> Iterator[Job]:
        """Take everything that is left, due or not."""
        while self._waiting:
            yield heapq.heappop(self._waiting)[2]
        for key, prompt in self._fresh:
            yield Job(key, prompt)
