"""One round of asking a judge: which job goes where and when, and what becomes of it."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import random
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from opencompass_gpassk.judging.endpoints import Endpoint, Ticket, freest
from opencompass_gpassk.judging.faults import Fault, Remedy
from opencompass_gpassk.judging.judge import Failure, JudgeError, Reply
from opencompass_gpassk.judging.ledger import Ledger

__all__ = ['Asking', 'Limits', 'Send']

FIRST_BACKOFF = 0.5  # seconds
LONGEST_BACKOFF = 30.0
SUSPICIOUS_OUTCOMES = 8  # so many and not one reply: a setting is wrong, not the prompts
WAITING_PER_SLOT = 4  # failed jobs that wait, for each request at once, before new ones do too

Outcome = Reply | Failure
Send = Callable[[Endpoint, str], Awaitable[tuple[Reply | Fault, int, int]]]


@dataclass(frozen=True)
class Limits:
    """When to stop trying; times are in seconds.

    Attributes:
        retries: How often a failed request is tried again. Failures of an endpoint that nobody
            gets a reply from don't count.
        give_up_after: Without any reply from any endpoint.
        deadline: For everything, None for no limit.
        roomy: Prompts of fewer characters should fit: one that is too long is suspicious.
    """

    retries: int
    give_up_after: float
    deadline: float | None
    roomy: int


@dataclass
class Job:
    """One prompt, and how often it was sent and failed."""

    key: Hashable
    prompt: str
    calls: int = 0
    failures: int = 0


class Asking:
    """Asks all jobs once; one event loop, in which all state is changed.

    Args:
        endpoints: Where to ask.
        send: Sends a prompt to an endpoint; returns the reply or what went wrong, and the tokens
            of prompt and completion.
        limits: When to stop trying.
        explain: Returns what a user is told of a fault that stops everything.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        send: Send,
        limits: Limits,
        explain: Callable[[Endpoint, Fault], str],
        jobs: Iterable[tuple[Hashable, str]],
        receive: Callable[[Any, Outcome], bool],
        ledger: Ledger,
    ) -> None:
        self.endpoints = endpoints
        self.send = send
        self.limits = limits
        self.explain = explain
        self.receive = receive
        self.ledger = ledger
        self._fresh = iter(jobs)
        self._more = True
        self._waiting: list[tuple[float, int, Job]] = []  # a heap by the time they are due
        self._order = itertools.count()
        self._most_waiting = WAITING_PER_SLOT * sum(one.max_concurrency for one in endpoints)
        self._on_their_way: dict[asyncio.Task[None], Job] = {}
        self._held: list[tuple[Job, Failure]] | None = []  # None once a reply came
        self._changed = asyncio.Event()
        self._error: BaseException | None = None
        self._clock = asyncio.get_running_loop().time
        self._ends_at = None if limits.deadline is None else self._clock() + limits.deadline

    async def run(self) -> None:
        """Ask until every job has its outcome.

        Raises:
            JudgeError: If nothing can succeed.
        """
        try:
            if failure := await self._ask_until_failure():
                self.ledger.failures[failure.kind] += await self._cancel()
                self._hand_over_rest(failure)
        finally:
            await self._cancel()

    async def _ask_until_failure(self) -> Failure | None:
        """Return why the rest of the jobs won't be asked, None where there is no rest."""
        while True:
            if self._error:
                raise self._error
            now = self._clock()
            if self._ends_at is not None and now >= self._ends_at:
                return Failure('deadline', False, f'{self.limits.deadline:g} s are over')
            if all(one.hopeless(now, self.limits.give_up_after) for one in self.endpoints):
                return self._hopeless()
            endpoint = freest(self.endpoints, now)
            job = self._next_job(now) if endpoint else None
            if endpoint and job:
                self._start(job, endpoint, now)
                await asyncio.sleep(0)  # on its way before the next job is looked up
            elif not await self._idle(endpoint, now):
                return None

    async def _idle(self, endpoint: Endpoint | None, now: float) -> bool:
        """Wait until there is something to do; return False if there is nothing left."""
        if not self._on_their_way and not self._waiting:
            if job := self._next_job(now):  # looked up before an endpoint opens, to see the end
                self._wait(job, now)
            elif self._held:  # a few that are suspicious; the callback may ask for more
                self._release()
                return True
            else:
                return False
        moments = [
            one.failing_since + self.limits.give_up_after
            for one in self.endpoints
            if one.failing_since is not None
        ]
        if endpoint is None:
            moments += [one.opens_at for one in self.endpoints]
        elif self._waiting:
            moments.append(self._waiting[0][0])
        if self._ends_at is not None:
            moments.append(self._ends_at)
        ahead = min((moment - now for moment in moments if moment > now), default=None)
        self._changed.clear()
        alarm = ahead is not None and asyncio.get_running_loop().call_later(
            ahead, self._changed.set
        )
        try:
            await self._changed.wait()
        finally:
            if alarm:
                alarm.cancel()
        return True

    def _next_job(self, now: float) -> Job | None:
        if self._waiting and self._waiting[0][0] <= now:
            return heapq.heappop(self._waiting)[2]
        if not self._more or len(self._waiting) >= self._most_waiting:
            return None
        for key, prompt in self._fresh:
            return Job(key, prompt)
        self._more = False
        return None

    def _start(self, job: Job, endpoint: Endpoint, now: float) -> None:
        ticket = endpoint.start(now)
        task = asyncio.get_running_loop().create_task(self._ask(job, endpoint, ticket))
        self._on_their_way[task] = job
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._on_their_way.pop(task, None)
        if not task.cancelled() and task.exception():
            self._error = self._error or task.exception()
        self._changed.set()

    async def _ask(self, job: Job, endpoint: Endpoint, ticket: Ticket) -> None:
        self.ledger.calls += 1
        self.ledger.retries += job.calls > 0
        job.calls += 1
        try:
            outcome, prompt_tokens, completion_tokens = await self.send(endpoint, job.prompt)
        except BaseException:
            endpoint.drop(ticket)
            raise
        now = self._clock()
        self.ledger.prompt_tokens += prompt_tokens
        self.ledger.completion_tokens += completion_tokens
        if isinstance(outcome, Reply):
            endpoint.replied(ticket, now)
            endpoint.drop(ticket)
            self._hand_over(job, outcome)
            return
        endpoint.drop(ticket)
        self.ledger.failures[outcome.kind] += 1
        if outcome.remedy is Remedy.STOP:
            raise JudgeError(self.explain(endpoint, outcome))
        if outcome.remedy is Remedy.SKIP:
            endpoint.refused()
            self._hand_over(job, Failure(outcome.kind, True, outcome.detail))
        else:
            endpoint.failed(ticket, now, outcome)
            self._try_again(job, endpoint, outcome, now)

    def _try_again(self, job: Job, endpoint: Endpoint, fault: Fault, now: float) -> None:
        # That an endpoint is down is no job's fault, and doesn't use up its retries.
        if fault.reached and not endpoint.suspect:
            job.failures += 1
        if job.failures > self.limits.retries:
            self._hand_over(job, Failure(fault.kind, False, fault.detail))
            return
        longest = min(FIRST_BACKOFF * 2.0 ** max(job.failures - 1, 0), LONGEST_BACKOFF)
        self._wait(job, now + random.uniform(0, longest))

    def _wait(self, job: Job, until: float) -> None:
        heapq.heappush(self._waiting, (until, next(self._order), job))

    def _hand_over(self, job: Job, outcome: Outcome) -> None:
        if isinstance(outcome, Reply):
            self._release()
            self._held = None
        elif outcome.permanent and self._held is not None and self._suspicious(job, outcome):
            self._held.append((job, outcome))
            if len(self._held) >= SUSPICIOUS_OUTCOMES:
                raise JudgeError(self._wrong_setting(outcome))
            return
        if self.receive(job.key, outcome):
            job.failures = 0
            self._wait(job, self._clock())

    def _suspicious(self, job: Job, failure: Failure) -> bool:
        return failure.kind == 'refused' or (
            failure.kind == 'too long' and len(job.prompt) < self.limits.roomy
        )

    def _release(self) -> None:
        """Hand over what was held back until a reply showed that the settings are right."""
        held, self._held = self._held or [], None
        for job, failure in held:
            self._hand_over(job, failure)

    def _wrong_setting(self, failure: Failure) -> str:
        remedy = (
            "lower max_tokens of judge, or serve the model with a longer context: the prompts' "
            f'characters are fewer than max_tokens, {self.limits.roomy}'
            if failure.kind == 'too long'
            else 'check max_tokens, temperature and extra_body of judge'
        )
        return (
            f'the judge refused its first {SUSPICIOUS_OUTCOMES} prompts and answered none; '
            f'{remedy}. It says: {failure.detail}'
        )

    def _hopeless(self) -> Failure:
        faults = {one.address.name: one.last_fault for one in self.endpoints if one.last_fault}
        words = '; '.join(f'{name}: {fault.detail}' for name, fault in faults.items())
        kind = next((fault.kind for fault in faults.values()), 'unreachable')
        return Failure(kind, False, f'no reply for {self.limits.give_up_after:g} s; {words}')

    def _hand_over_rest(self, failure: Failure) -> None:
        """Hand every job that is left the same failure; what a callback asks again is left."""
        self._release()
        for job in [job for _, _, job in self._waiting]:
            self.receive(job.key, failure)
        self._waiting.clear()
        for key, _ in self._fresh:
            self.receive(key, failure)
        self._more = False

    async def _cancel(self) -> int:
        """Call back what is on its way; its jobs wait again. Returns how many there were."""
        tasks = dict(self._on_their_way)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)
        called_back = [job for task, job in tasks.items() if task.cancelled()]
        for job in called_back:
            self._wait(job, 0.0)
        return len(called_back)
