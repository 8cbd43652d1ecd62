"""One round of asking a judge: which job goes where and when, and what becomes of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

from opencompass_gpassk.judging.http.endpoints import Endpoint, Ticket, freest
from opencompass_gpassk.judging.http.faults import MISPLACED, Fault, Remedy
from opencompass_gpassk.judging.http.jobs import Job, JobQueue
from opencompass_gpassk.judging.http.suspicion import PROBE, Suspicion
from opencompass_gpassk.judging.http.underway import Underway
from opencompass_gpassk.judging.judge import Failure, JudgeError, Outcome, Receive, Reply
from opencompass_gpassk.judging.ledger import Ledger

__all__ = ['Asking', 'Limits', 'Send']

GRACE = 10.0  # seconds in which requests on their way may end after one that stops everything
WAITING_PER_SLOT = 4  # failed jobs that wait, for each request at once, before new ones do too

logger = logging.getLogger(__name__)
Send = Callable[[Endpoint, str], Awaitable[tuple[Reply | Fault, int, int]]]


@dataclass(frozen=True)
class Limits:
    """When to stop trying; times are in seconds.

    Attributes:
        retries: How often a failed request is tried again. Failures of an endpoint that is down
            don't count.
        give_up_after: Without any reply from any endpoint.
        deadline: For everything, None for no limit.
        roomy: Prompts of fewer characters should fit: see :class:`Suspicion`.
    """

    retries: int
    give_up_after: float
    deadline: float | None
    roomy: int


class Asking:
    """Asks all jobs once, in one event loop, in which all of its state is changed.

    Args:
        endpoints: Where to ask.
        send: Sends a prompt to an endpoint; returns the reply or what went wrong, and the tokens
            of prompt and completion.
        limits: When to stop trying.
        explain: Returns what a user is told of a fault that stops everything.
        jobs: As of :meth:`Judge.ask`, like those that follow.
        receive: Is handed the outcomes.
        ledger: Counts.
    """

    def __init__(
        self,
        endpoints: Sequence[Endpoint],
        send: Send,
        limits: Limits,
        explain: Callable[[Endpoint, Fault], str],
        jobs: Iterable[tuple[Hashable, str]],
        receive: Receive,
        ledger: Ledger,
    ) -> None:
        self.endpoints = endpoints
        self.send = send
        self.limits = limits
        self.explain = explain
        self.receive = receive
        self.ledger = ledger
        slots = sum(endpoint.max_concurrency for endpoint in endpoints)
        self._queue = JobQueue(jobs, WAITING_PER_SLOT * slots)
        self._underway = Underway()
        self._told: set[Endpoint] = set()  # of whose failing the user knows
        self._suspicions = {endpoint: Suspicion(limits.roomy) for endpoint in endpoints}
        self._stop: JudgeError | None = None  # lets what is on its way end
        self._loop = asyncio.get_running_loop()
        self._ends_at = None if limits.deadline is None else self._loop.time() + limits.deadline

    async def run(self) -> None:
        """Ask until every job has its outcome.

        Raises:
            JudgeError: If nothing can succeed.
        """
        try:
            if failure := await self._ask_until_failure():
                if called_back := await self._call_back():
                    self.ledger.failures[failure.kind] += called_back
                self._hand_over_rest(failure)
        finally:
            await self._call_back()

    async def _ask_until_failure(self) -> Failure | None:
        """Return why the rest of the jobs won't be asked, None when all have their outcomes."""
        while True:
            if error := self._underway.error or self._stop:
                if not self._underway.error:  # which the callback may have raised
                    # They are paid for, and what they bring is kept.
                    await self._underway.let_end(GRACE)
                raise self._underway.error or error
            now = self._loop.time()
            if failure := self._lost(now):
                return failure
            if self._is_idle(now) and not any(one.holding for one in self._suspicions.values()):
                return None
            if self._start_one(now):
                await asyncio.sleep(0)  # on its way before the next job is looked up
            else:
                await self._wait(now)

    def _lost(self, now: float) -> Failure | None:
        """Return why nothing can be hoped for any longer, None where something can."""
        if self._ends_at is not None and now >= self._ends_at:
            return Failure('deadline', False, f'{self.limits.deadline:g} s are over')
        for endpoint in self.endpoints:
            endpoint.lose_hope(now, self.limits.give_up_after)
            if endpoint.hopeless:
                self._withdraw(endpoint)
        return self._hopeless() if all(one.hopeless for one in self.endpoints) else None

    def _start_one(self, now: float) -> bool:
        """Start a request if there is one to start and room for it."""
        if self._start_harmless(now, idle=False):
            return True
        endpoint = freest(self.endpoints, now)
        job = self._queue.take(now) if endpoint else None
        if endpoint and job:
            self._start(job, endpoint, now)
            return True
        return self._is_idle(now) and self._start_harmless(now, idle=True)

    def _start_harmless(self, now: float, *, idle: bool) -> bool:
        for endpoint, suspicion in self._suspicions.items():
            wanted = suspicion.due(idle) or (endpoint.blamed and not suspicion.looking)
            if wanted and endpoint.has_room(now):
                suspicion.looking = True
                self._start(Job(None, PROBE, harmless=True), endpoint, now)
                return True
        return False

    def _is_idle(self, now: float) -> bool:
        """Tell whether no job is on its way, waits or is left."""
        jobs = any(not job.harmless for job in self._underway.jobs())
        if jobs or self._queue.due_at is not None:
            return False
        # Looked up even if all endpoints rest: the end of the jobs must not wait for them.
        job = self._queue.take(now)
        if job:
            self._queue.put_back(job, now)
        return job is None

    async def _wait(self, now: float) -> None:
        """Wait until something changes or is due."""
        moments = [self._ends_at, self._queue.due_at]
        for one in self.endpoints:
            moments.append(one.opens_at)
            if one.failing_since is not None:
                moments.append(one.failing_since + self.limits.give_up_after)
        ahead = [moment for moment in moments if moment is not None and moment > now]
        changed = self._underway.changed
        changed.clear()
        alarm = self._loop.call_at(min(ahead), changed.set) if ahead else None
        try:
            await changed.wait()
        finally:
            if alarm:
                alarm.cancel()

    def _start(self, job: Job, endpoint: Endpoint, now: float) -> None:
        self._underway.start(job, self._ask(job, endpoint, endpoint.start(now)))

    async def _ask(self, job: Job, endpoint: Endpoint, ticket: Ticket) -> None:
        self.ledger.calls += 1
        self.ledger.retries += job.calls > 0
        job.calls += 1
        try:
            outcome, prompt_tokens, completion_tokens = await self.send(endpoint, job.prompt)
            if isinstance(outcome, Reply):
                endpoint.replied(ticket, self._loop.time())
        finally:
            endpoint.drop(ticket)
            if job.harmless:
                self._suspicions[endpoint].looking = False
        self.ledger.prompt_tokens += prompt_tokens
        self.ledger.completion_tokens += completion_tokens
        if isinstance(outcome, Reply):
            for refused, fault in self._suspicions[endpoint].lift(ticket.sent):
                self._hand_over(refused, Failure(fault.kind, True, fault.detail))
            if not job.harmless:
                self._hand_over(job, outcome)
        else:
            self._note(job, endpoint, ticket, self._weigh(job, endpoint, outcome))

    def _note(self, job: Job, endpoint: Endpoint, ticket: Ticket, fault: Fault) -> None:
        now = self._loop.time()
        self.ledger.failures[fault.kind] += 1
        if fault.remedy is Remedy.STOP:
            self._stop = self._stop or JudgeError(self.explain(endpoint, fault))
        elif fault.remedy is Remedy.RETRY:
            endpoint.failed(ticket, now, fault)
            if endpoint.suspect and endpoint not in self._told:
                self._told.add(endpoint)
                logger.warning(
                    'the judge at %s fails again and again (%s: %s); it is tried for %g s more',
                    endpoint.address.name,
                    fault.kind,
                    fault.detail,
                    self.limits.give_up_after,
                )
            if not job.harmless:
                self._try_again(job, endpoint, fault)
        else:
            if not self._suspicions[endpoint].holds(job, fault, now):
                self._hand_over(job, Failure(fault.kind, True, fault.detail))
            if endpoint.blamed:
                self._withdraw(endpoint)
            else:
                endpoint.works(now)

    def _weigh(self, job: Job, endpoint: Endpoint, fault: Fault) -> Fault:
        """Return what a fault comes to, after what is known of this endpoint and the others.

        What speaks against an endpoint stops everything only if none ever replied and all are bad;
        else the endpoint is one that failed, and its work moves.
        """
        refused = job.harmless and fault.remedy is Remedy.SKIP
        if not (refused or fault.kind in MISPLACED):
            return fault
        if job.harmless or not endpoint.has_replied:
            endpoint.blamed = True
        replied = any(one.has_replied for one in self.endpoints)
        if not replied and all(one.blamed or one.suspect for one in self.endpoints):
            return replace(fault, remedy=Remedy.STOP)
        self._withdraw(endpoint)
        reached = endpoint.has_replied
        return replace(fault, kind='unreachable', remedy=Remedy.RETRY, reached=reached)

    def _withdraw(self, endpoint: Endpoint) -> None:
        """Let jobs wait again that an endpoint refused, since nothing shows their own fault."""
        for job in self._suspicions[endpoint].drop():
            self._queue.put_back(job, self._loop.time())

    def _try_again(self, job: Job, endpoint: Endpoint, fault: Fault) -> None:
        # That an endpoint is down is no job's fault, and doesn't use up its retries.
        if fault.reached and not endpoint.suspect:
            job.failures += 1
        if job.failures > self.limits.retries:
            self._hand_over(job, Failure(fault.kind, False, fault.detail))
        else:
            self._queue.put_off(job, self._loop.time())

    def _hand_over(self, job: Job, outcome: Outcome) -> None:
        if self._tell(job, outcome):
            job.failures = 0
            self._queue.put_back(job, self._loop.time())

    def _tell(self, job: Job, outcome: Outcome) -> bool:
        """Call the callback, unless it failed before."""
        try:
            return not self._underway.error and self.receive(job.key, outcome)
        except BaseException as error:
            self._underway.error = error
            raise

    def _hopeless(self) -> Failure:
        faults = {one.address.name: one.last_fault for one in self.endpoints if one.last_fault}
        words = '; '.join(f'{name}: {fault.detail}' for name, fault in faults.items())
        kind = next((fault.kind for fault in faults.values()), 'unreachable')
        return Failure(kind, False, f'no reply for {self.limits.give_up_after:g} s; {words}')

    def _hand_over_rest(self, failure: Failure) -> None:
        """Hand every job that is left the same failure; none is asked again."""
        for endpoint in self.endpoints:
            self._withdraw(endpoint)
        for job in self._queue.drain():
            self._tell(job, failure)

    async def _call_back(self) -> int:
        """Call back what is on its way and let its jobs wait again; return how many there were."""
        called_back = await self._underway.call_back()
        for job in called_back:
            if not job.harmless:
                self._queue.put_back(job, 0.0)
        return len(called_back)
