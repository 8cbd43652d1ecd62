"""One round of asking a judge: which job is sent to which endpoint and when, and its outcome.

A refusal may be the fault of the prompt, or of a setting, the key or the server. It is held back
until the same endpoint gives a reply, which shows that the prompt was at fault. If no job gets a
reply, a harmless test prompt is sent.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import logging
import random
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from opencompass_gpassk.inference.chat_completions import Reply
from opencompass_gpassk.inference.endpoints import Endpoint, Ticket, freest
from opencompass_gpassk.inference.http_faults import MISPLACED, Fault, Remedy
from opencompass_gpassk.judging.judge import Failure, JudgeError, Ledger, Outcome, Receive

__all__ = ['PROBE', 'Asking', 'Job', 'JobQueue', 'Limits', 'Send', 'Suspicion', 'Underway']

FIRST_BACKOFF = 0.5  # seconds
LONGEST_BACKOFF = 30.0


@dataclass
class Job:
    """One prompt, and how often it was sent and failed.

    Attributes:
        harmless: It is a test prompt that shows whether the judge replies at all.
    """

    key: Hashable
    prompt: str
    calls: int = 0
    failures: int = 0
    harmless: bool = False


class JobQueue:
    """A queue of jobs: failed jobs that are due come before new ones.

    Args:
        jobs: (key, prompt) pairs, read lazily.
        most_waiting: No new job is taken while this many failed jobs wait.
    """

    def __init__(self, jobs: Iterable[tuple[Hashable, str]], most_waiting: int) -> None:
        self._fresh = iter(jobs)
        self._waiting: list[tuple[float, int, Job]] = []  # a heap
        self._order = itertools.count()  # breaks ties between jobs due at the same time
        self._most_waiting = most_waiting

    @property
    def due_at(self) -> float | None:
        """The time when the first waiting job is due; None if no job waits."""
        return self._waiting[0][0] if self._waiting else None

    def take(self, now: float) -> Job | None:
        """Return a job that is due now; None if there is none."""
        if self._waiting and self._waiting[0][0] <= now:
            return heapq.heappop(self._waiting)[2]
        if len(self._waiting) < self._most_waiting:
            for key, prompt in self._fresh:
                return Job(key, prompt)
        return None

    def put_back(self, job: Job, until: float) -> None:
        """Let a job wait until a given time."""
        heapq.heappush(self._waiting, (until, next(self._order), job))

    def put_off(self, job: Job, now: float) -> None:
        """Let a failed job wait, for a random time whose maximum grows with its failures."""
        longest = min(FIRST_BACKOFF * 2.0 ** max(job.failures - 1, 0), LONGEST_BACKOFF)
        self.put_back(job, now + random.uniform(0, longest))

    def drain(self) -> Iterator[Job]:
        """Yield all remaining jobs, due or not."""
        while self._waiting:
            yield heapq.heappop(self._waiting)[2]
        for key, prompt in self._fresh:
            yield Job(key, prompt)


MOST = 8  # after this many refusals without a reply, a test prompt is sent
PROBE = 'What is 1 + 1?'


class Suspicion:
    """Refusals of one endpoint, held back while they may not be the prompts' fault.

    Args:
        roomy: A prompt with fewer characters should fit. If the server calls it too long, the
            cause may be ``max_tokens``, which can exceed the server's context on its own.

    Attributes:
        looking: A harmless test prompt is being sent.
    """

    def __init__(self, roomy: int) -> None:
        self.looking = False
        self._held: list[tuple[float, Job, Fault]] = []
        self._roomy = roomy
        self._lifted = False

    def holds(self, job: Job, fault: Fault, now: float) -> bool:
        """Tell whether a new refusal is held back.

        After a reply, settings are no longer suspected. A forbidden key always is, since keys can
        be blocked at any time.
        """
        too_long = fault.kind == 'too long' and len(job.prompt) < self._roomy
        suspicious = not self._lifted and (too_long or fault.kind == 'refused')
        if not (suspicious or fault.forbids):
            return False
        self._held.append((now, job, fault))
        return True

    @property
    def holding(self) -> bool:
        """Whether any refusal is held back."""
        return bool(self._held)

    def due(self, idle: bool) -> bool:
        """Tell whether to send a test prompt: after some refusals, or any if all else is done."""
        return not self.looking and len(self._held) >= (1 if idle else MOST)

    def lift(self, sent: float) -> list[tuple[Job, Fault]]:
        """Return the refusals that a reply to a request sent at a time proves to be the prompts'.

        A refusal that forbids the key is only resolved by a request that was sent after it.
        """
        self._lifted = True
        open_ones = [one for one in self._held if one[2].forbids and one[0] > sent]
        believed = [
            (job, fault) for at, job, fault in self._held if not fault.forbids or at <= sent
        ]
        self._held = open_ones
        return believed

    def drop(self) -> list[Job]:
        """Release all held refusals as unproven; return their jobs."""
        held, self._held = self._held, []
        return [job for _, job, _ in held]


class Underway:
    """Requests in flight, in the running event loop.

    Attributes:
        changed: Set when a request has ended.
        error: An error that ends everything at once, of a request or set from outside.
    """

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.error: BaseException | None = None
        self._jobs: dict[asyncio.Task[None], Job] = {}

    def start(self, job: Job, work: Coroutine[Any, Any, None]) -> None:
        """Start the request of a job."""
        task = asyncio.get_running_loop().create_task(work)
        self._jobs[task] = job
        task.add_done_callback(self._ended)

    def jobs(self) -> Iterator[Job]:
        """Return an iterator over the jobs in flight."""
        return iter(self._jobs.values())

    async def let_end(self, seconds: float) -> None:
        """Wait until all requests have ended or one has failed."""
        if self._jobs:
            tasks = list(self._jobs)
            await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)

    async def call_back(self) -> list[Job]:
        """Cancel all requests; return the jobs without an outcome."""
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


GRACE = 10.0  # seconds for the requests in flight to end after an error that stops everything
WAITING_PER_SLOT = 4  # per concurrent request: failed jobs that may wait before new ones wait too

logger = logging.getLogger(__name__)
Send = Callable[[Endpoint, str], Awaitable[tuple[Reply | Fault, int, int]]]


@dataclass(frozen=True)
class Limits:
    """When to stop trying; times are in seconds.

    Attributes:
        retries: How often a failed request is tried again. Failures of an endpoint that is down
            don't count.
        give_up_after: Time without any reply from any endpoint, after which asking ends.
        deadline: Time limit for all jobs; None for no limit.
        roomy: Prompts with fewer characters should fit: see :class:`Suspicion`.
    """

    retries: int
    give_up_after: float
    deadline: float | None
    roomy: int


class Asking:
    """Asks all jobs once, in one event loop; its state is changed only there.

    Args:
        endpoints: The endpoints.
        send: Sends a prompt to an endpoint; returns the reply or the fault, and the tokens of
            prompt and completion.
        limits: When to stop trying.
        explain: Returns the message for the user about a fault that stops everything.
        jobs: As in :meth:`Judge.ask`; so are the next two.
        receive: Takes the outcomes.
        ledger: Counts calls, failures and tokens.
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
        self._told: set[Endpoint] = set()  # failing endpoints that the user was warned about
        self._suspicions = {endpoint: Suspicion(limits.roomy) for endpoint in endpoints}
        self._stop: JudgeError | None = None  # ends the asking after the requests in flight
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
        """Return why the remaining jobs can't be asked; None if all jobs have their outcomes."""
        while True:
            if error := self._underway.error or self._stop:
                if not self._underway.error:  # the callback raised no error
                    # The requests in flight are paid for, so keep their replies.
                    await self._underway.let_end(GRACE)
                raise self._underway.error or error
            now = self._loop.time()
            if failure := self._lost(now):
                return failure
            if self._is_idle(now) and not any(one.holding for one in self._suspicions.values()):
                return None
            if self._start_one(now):
                await asyncio.sleep(0)  # let the request start before looking up the next job
            else:
                await self._wait(now)

    def _lost(self, now: float) -> Failure | None:
        """Return why no further reply can be expected; None if one can."""
        if self._ends_at is not None and now >= self._ends_at:
            return Failure('deadline', False, f'{self.limits.deadline:g} s are over')
        for endpoint in self.endpoints:
            endpoint.lose_hope(now, self.limits.give_up_after)
            if endpoint.hopeless:
                self._withdraw(endpoint)
        return self._hopeless() if all(one.hopeless for one in self.endpoints) else None

    def _start_one(self, now: float) -> bool:
        """Start a request if a job is due and an endpoint has room; tell whether it did."""
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
        """Tell whether no job is in flight, waiting or left."""
        jobs = any(not job.harmless for job in self._underway.jobs())
        if jobs or self._queue.due_at is not None:
            return False
        # Look up the next job even if no endpoint has room: noticing the end must not wait for one.
        job = self._queue.take(now)
        if job:
            self._queue.put_back(job, now)
        return job is None

    async def _wait(self, now: float) -> None:
        """Wait until a request ends, a job is due or a limit is reached."""
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
        """Return a fault with its consequence, given the state of all endpoints.

        A fault of the endpoint itself stops everything only if no endpoint ever replied and all are
        bad. Otherwise it counts as a failure, and the endpoint's jobs go to the others.
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
        """Queue the jobs again whose refusals by an endpoint are held back as unproven."""
        for job in self._suspicions[endpoint].drop():
            self._queue.put_back(job, self._loop.time())

    def _try_again(self, job: Job, endpoint: Endpoint, fault: Fault) -> None:
        # Failures of an endpoint that is down don't use up the job's retries.
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
        """Call the callback unless an error was raised before; return its answer."""
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
        """Hand over the same failure for every remaining job; none is asked again."""
        for endpoint in self.endpoints:
            self._withdraw(endpoint)
        for job in self._queue.drain():
            self._tell(job, failure)

    async def _call_back(self) -> int:
        """Cancel the requests in flight and queue their jobs again; return their number."""
        called_back = await self._underway.call_back()
        for job in called_back:
            if not job.harmless:
                self._queue.put_back(job, 0.0)
        return len(called_back)
