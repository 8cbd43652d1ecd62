"""Requests that are on their way: started, waited for, called back."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

from opencompass_gpassk.judging.http.jobs import Job

__all__ = ['Underway']


class Underway:
    """Requests on their way, in the event loop that runs.

    Attributes:
        changed: Is set when one has ended.
        error: What ends everything at once: of a request, or whatever is put here.
    """

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.error: BaseException | None = None
        self._jobs: dict[asyncio.Task[None], Job] = {}

    def start(self, job: Job, work: Coroutine[Any, Any, None]) -> None:
        """Send a job on its way."""
        task = asyncio.get_running_loop().create_task(work)
        self._jobs[task] = job
        task.add_done_callback(self._ended)

    def jobs(self) -> Iterator[Job]:
        """Yield the jobs on their way."""
        return iter(self._jobs.values())

    async def let_end(self, seconds: float) -> None:
        """Wait for them, but not after one that fails."""
        if self._jobs:
            tasks = list(self._jobs)
            await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)

    async def call_back(self) -> list[Job]:
        """Call all of them back; return the jobs that nothing came of."""
        tasks = dict(self._jobs)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return [job for task, job in tasks.items() if task.cancelled()]

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._jobs.pop(task, None)
        if not task.cancelled() and task.exception():
            self.error = self.error or task.exception()
        self.changed.set()
