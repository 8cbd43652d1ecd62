"""A client of OpenAI-compatible chat servers: requests in, replies out, over one or many endpoints.

Each endpoint has a limit of concurrent requests, which grows while replies come and shrinks when
the server is overloaded. An endpoint that fails repeatedly rests, twice as long each time. A wrong
key or an unknown model ends the run. All other failures are tried again.
"""

from __future__ import annotations

import asyncio
import heapq
import ipaddress
import itertools
import json
import logging
import os
import random
import re
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.inference.replies import (
    FATAL,
    LONGEST_READ,
    MISPLACED,
    Failure,
    Outcome,
    Reply,
    encodable,
    exception_failure,
    read_response,
)

__all__ = ['Client', 'ClientError', 'Counts', 'Receive', 'read_addresses']

logger = logging.getLogger(__name__)


# Takes a request's key and outcome; returns whether to send the same request once more.
Receive = Callable[[Any, Outcome], bool]


@dataclass
class Counts:
    """Requests sent and tokens used.

    Attributes:
        calls: Requests sent, including failed ones.
        retries: Calls that repeated an earlier one.
        failures: Failed calls by kind.
        prompt_tokens: Prompt tokens as the servers counted them.
        completion_tokens: Completion tokens, likewise.
    """

    calls: int = 0
    retries: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0


class ClientError(RuntimeError):
    """No request can succeed; the message names the remedy."""


CHAT = '/chat/completions'
PLAIN = re.compile(r'([a-z]{1,9}://[\w.-]+(:\d+)?)(/[^\s?#@]*)?', re.ASCII)


class Address(NamedTuple):
    """One endpoint.

    Attributes:
        url: The URL of requests.
        name: Scheme, host and port; messages show nothing else.
        proxy: URL of the proxy; None for none.
    """

    url: str
    name: str
    proxy: str | None


def read_addresses(bases: str | Iterable[str]) -> list[Address]:
    """Read ``api_base``: URLs with or without ``/chat/completions``, each kept once.

    Proxies come from the environment (``https_proxy``, ``no_proxy`` and so on); none is used for
    this machine itself.

    Raises:
        ValueError: If there is no URL, or one isn't http or https, or may hold a secret.
    """
    given = bases.split(',') if isinstance(bases, str) else list(bases)
    named = {base.strip(): place for place, base in enumerate(given, 1) if base.strip()}
    if not named:
        raise ValueError("api_base names no endpoint; give one as 'http://host:8000/v1'")
    addresses = [_read_address(base, place) for base, place in named.items()]
    return list({address.url: address for address in addresses}.values())


def _read_address(base: str, place: int) -> Address:
    plain = PLAIN.fullmatch(base)  # anything else may be a misplaced key and is not shown
    shown = f'entry {place} of api_base' + (f' ({plain[1]})' if plain else '')
    try:
        parts = urlsplit(base)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or parts.scheme not in ('http', 'https') or re.search(r'\s', base):
        raise ValueError(f"{shown} is no URL; give one such as 'http://host:8000/v1'")
    if re.search('[@?#]', base):
        raise ValueError(
            f'{shown} holds a user, a password, a query or a fragment; leave it out: '
            'configs are written to the work dir, and keys are read only from the environment'
        )
    path = parts.path.rstrip('/').removesuffix(CHAT).rstrip('/')
    bracketed = f'[{host}]' if ':' in host else host
    name = f'{parts.scheme}://{bracketed}' + (f':{port}' if port else '')
    return Address(name + path + CHAT, name, _proxy(parts.scheme, host, port))


def _proxy(scheme: str, host: str, port: int | None) -> str | None:
    if _is_this_machine(host) or proxy_bypass(f'{host}:{port}' if port else host):
        return None
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get('all') or ''
    if proxy and '://' not in proxy:
        proxy = f'http://{proxy}'
    if not proxy.startswith(('http://', 'https://')):
        return None  # aiohttp does not support SOCKS
    try:
        parts = urlsplit(proxy)
        usable = bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    if not usable or '@' in parts.path + parts.query + parts.fragment:
        raise ValueError(
            f'the proxy for {scheme} in the environment is no URL; give one such as '
            "'http://user:password@host:3128', and write / ? # @ in a password as %2F %3F %23 %40"
        )
    return proxy


def _is_this_machine(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == 'localhost' or host.endswith('.localhost')
    return address.is_loopback or address.is_unspecified


START = 16  # concurrent requests at the beginning
GROWTH = 0.25  # per reply, after an overload: a fifth of overloads keeps the limit where it is
PATIENCE = 10  # failures in a row before a rest; fewer at a low limit, but never fewer than three
FIRST_REST = 1.0  # seconds
LONGEST_REST = 60.0


class Endpoint:
    """One endpoint, with its limit of concurrent requests and its rests. Times are in seconds.

    Attributes:
        address: Its address.
        most: Greatest number of concurrent requests.
        limit: Current limit of concurrent requests.
        in_flight: Number of requests that count towards the limit.
        opens_at: No request is sent before.
        rest: Length of the current or last rest; 0 after a reply.
        replied_at: Time of the last reply.
        answered: When the latest request that got a reply was sent.
        last: The last failure.
    """

    def __init__(self, address: Address, most: int) -> None:
        self.address = address
        self.most = most
        self.limit = float(min(START, most))
        self.in_flight = 0
        self.opens_at = 0.0
        self.rest = 0.0
        self.replied_at = self.answered = float('-inf')
        self.last: Failure | None = None
        self._overloaded = False
        self._failures = 0  # in a row
        self._full_at = self._rested_at = float('-inf')

    def has_room(self, now: float) -> bool:
        """Tell whether it may be sent a request."""
        return now >= self.opens_at and self.in_flight < int(self.limit)

    def start(self, now: float) -> None:
        """Count a request that is being sent."""
        self.in_flight += 1
        if self.in_flight >= int(self.limit):
            self._full_at = now

    def end(self, sent: float) -> None:
        """Stop counting a request; those sent before a rest are not counted any more."""
        self.in_flight -= sent > self._rested_at

    def replied(self, sent: float, now: float) -> None:
        """Note a reply: the limit grows if it held requests back."""
        if sent <= self._full_at:
            step = GROWTH if self._overloaded else 1.0
            self.limit = min(self.limit + step, float(self.most))
        self.replied_at = now
        self.answered = max(self.answered, sent)
        self._failures = 0
        self.rest = 0.0

    def failed(self, sent: float, now: float, failure: Failure) -> None:
        """Note a temporary failure: the limit may shrink, the endpoint may rest."""
        self.last = failure
        after_rest = sent >= self.opens_at
        if failure.wait:
            self.opens_at = max(self.opens_at, now + min(failure.wait, LONGEST_REST))
        # A burst above what a server takes is no outage: first the limit shrinks.
        if failure.kind != 'overloaded' or self.limit <= 1:
            self._failures += sent >= self.replied_at
        if failure.kind in ('overloaded', 'timeout'):
            self.limit = max(1.0, self.limit - 1)
            self._overloaded = True
        lost = failure.kind in ('unknown model', 'redirect')
        if after_rest and (lost or self._failures >= max(3, min(PATIENCE, self.limit))):
            self.rest = min(2 * self.rest or FIRST_REST, LONGEST_REST)
            self.opens_at = max(self.opens_at, now + self.rest)
            self.limit, self.in_flight = 1.0, 0
            self._overloaded = False
            self._rested_at = now


FIRST_BACKOFF = 0.5  # seconds
LONGEST_BACKOFF = 30.0
STRAGGLING = 30.0  # seconds after which a request may be asked again elsewhere
STRAGGLING_MEDIANS = 10
MOST_RACING = 4  # requests of one prompt at once; if one of so many times out, it is given up
FIRST_WORD = 8.0  # seconds without any reply until the user is told
GRACE = 10.0  # seconds for the requests in flight to end after an error that stops everything
TICK = 0.05  # seconds between two looks at the clock
CONNECT_TIMEOUT = 15.0  # seconds
LONGEST_RESPONSE = 16 * 2**20  # bytes

REMEDIES = {
    'no key': 'asks for a key; put it into the environment variable {key}',
    'key refused': 'refuses the key in the environment variable {key} ({says:.3}); set it to one '
    'that is valid there',
    'forbidden': 'forbids every request; see whether the key in the environment variable {key} may '
    'be used for the model {model!r}. It says: {says}',
    'unknown model': 'knows no model {model!r}, or not this path; set model and api_base (which '
    'often ends with /v1). It says: {says}',
    'no quota': 'says that the quota is used up: {says}',
    'redirect': 'redirects to {says}, where the key is not sent; set api_base to the URL that '
    'serves the model',
}


class Client:
    """Sends chat requests to one or many OpenAI-compatible endpoints, many at once.

    Args:
        api_base: URLs of endpoints that serve the model, with or without ``/chat/completions``. A
            request goes to the endpoint with the most room.
        key_env: Name of the environment variable that may hold the key, which is sent as bearer
            token to these endpoints alone. It is blanked out in all responses.
        max_concurrency: Greatest number of concurrent requests to one endpoint.
        timeout: Seconds for one request.
        deadline: Seconds for all requests of one :meth:`ask`, None for no limit.
        retries: How often a failed request is tried again. Only failures of an endpoint that has
            replied before count.
        give_up_after: Seconds without a reply from any endpoint, after which asking ends.
        race: Ask again about a request that takes far longer than others, and take the first
            reply. Right where any reply will do; responses that are drawn as samples must not
            race, since the shorter ones would win.

    Raises:
        ValueError: If a URL or the key can't be used.
    """

    def __init__(
        self,
        api_base: str | Iterable[str],
        *,
        key_env: str,
        max_concurrency: int = 256,
        timeout: float = 600.0,
        deadline: float | None = None,
        retries: int = 12,
        give_up_after: float = 300.0,
        race: bool,
    ) -> None:
        self.addresses = read_addresses(api_base)
        self.key_env = key_env
        self.max_concurrency = max_concurrency
        self.timeout = timeout
        self.deadline = deadline
        self.retries = retries
        self.give_up_after = give_up_after
        self.race = race
        self._key = os.environ.get(key_env, '').strip()
        if not (self._key.isascii() and self._key.isprintable() and ' ' not in self._key):
            raise ValueError(
                f'the key in {key_env} holds spaces or characters that no key has; set it again'
            )
        # A shorter key is a placeholder such as EMPTY, and may be a word of a reply. Servers may
        # return the key in lower case, as part of a host name.
        secret = re.escape(self._key) if len(self._key) >= 6 else r'(?!)'
        self._secret = re.compile(secret, re.IGNORECASE)
        self._running: tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None] | None = None

    def hide_key(self, text: str) -> str:
        """Return a text with the key replaced wherever it occurs."""
        return self._secret.sub('[key]', text)

    def ask(
        self,
        requests: Iterable[tuple[Hashable, Mapping[str, Any]]],
        receive: Receive,
        counts: Counts,
    ) -> None:
        """Send requests, and hand over each outcome when it arrives.

        Args:
            requests: Pairs of a key and the fields of a request, among them ``model`` and
                ``messages``; they are read lazily, when there is room for one.
            receive: Takes a key and its outcome, one call at a time.
            counts: Counts calls, failures and tokens.

        Raises:
            ClientError: If the key is refused or the quota used up; or if no endpoint ever replied
                and all of them fail, one because it doesn't know the model, redirects or forbids
                every request. Replies in flight are handed over before, if they arrive soon.
        """
        work = self._ask(requests, receive, counts)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(work)
            return
        # This thread already runs a loop, as in a notebook.
        with ThreadPoolExecutor(1, 'client') as pool:
            asked = pool.submit(asyncio.run, work)
            try:
                asked.result()
            finally:
                self.stop()

    def stop(self) -> None:
        """End :meth:`ask`, from any thread."""
        if self._running and self._running[1]:
            with suppress(RuntimeError):  # it has ended
                self._running[0].call_soon_threadsafe(self._running[1].cancel)

    async def _ask(
        self,
        requests: Iterable[tuple[Hashable, Mapping[str, Any]]],
        receive: Receive,
        counts: Counts,
    ) -> None:
        self._running = asyncio.get_running_loop(), asyncio.current_task()
        headers = {'Content-Type': 'application/json'}
        if self._key:
            headers['Authorization'] = f'Bearer {self._key}'
        connecting = min(CONNECT_TIMEOUT, self.timeout)
        async with aiohttp.ClientSession(
            headers=headers,
            connector=aiohttp.TCPConnector(limit=0),  # the endpoints have limits of their own
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=self.timeout, sock_connect=connecting),
        ) as session:
            await _Asking(self, session, requests, receive, counts).run()

    async def send(
        self, session: aiohttp.ClientSession, address: Address, fields: Mapping[str, Any]
    ) -> tuple[Outcome, tuple[int, int]]:
        """Send a request once; return its outcome and the tokens of prompt and completion."""
        try:
            async with session.post(
                address.url,
                data=encodable(json.dumps(fields, ensure_ascii=False)).encode(),
                proxy=address.proxy,
                allow_redirects=False,  # the key is for this host alone
            ) as response:
                raw = bytearray()
                async for part in response.content.iter_any():
                    raw += part
                    if len(raw) > LONGEST_RESPONSE:
                        response.close()
                        size = f'more than {LONGEST_RESPONSE} bytes'
                        return Failure('bad reply', False, size), (0, 0)
                outcome, tokens = read_response(response.status, response.headers, bytes(raw))
        except (aiohttp.ClientError, OSError, asyncio.TimeoutError) as error:
            outcome, tokens = exception_failure(error), (0, 0)
        if isinstance(outcome, Reply):
            return replace(outcome, text=self.hide_key(outcome.text)), tokens
        # Hide the key before shortening: a key cut in two would not be found.
        detail = one_line(self.hide_key(outcome.detail)[:LONGEST_READ])[:300]
        return replace(outcome, detail=detail), tokens

    def explain(self, address: Address, failure: Failure, model: Any) -> str:
        """Return the message and remedy for a failure that stops everything."""
        kind = 'no key' if failure.kind == 'key refused' and not self._key else failure.kind
        told = REMEDIES[kind].format(key=self.key_env, model=model, says=failure.detail)
        return f'the server at {address.name} {told}'


@dataclass(eq=False)
class _Job:
    """One request, and what became of it so far.

    Attributes:
        calls: How often it was sent.
        failures: How often it failed by what may be its own fault.
        failed_at: How often it failed, or was late, at each endpoint.
        forbidden: When a server first forbade it; 0 if none did.
        flights: Its requests in flight.
        waits: Whether it waits to be sent again.
        done: Whether its outcome was handed over.
    """

    key: Hashable
    fields: Mapping[str, Any]
    calls: int = 0
    failures: float = 0.0
    failed_at: Counter[Endpoint] = field(default_factory=Counter)
    forbidden: float = 0.0
    flights: set[_Flight] = field(default_factory=set)
    waits: bool = False
    done: bool = False


@dataclass(eq=False)
class _Flight:
    """A request in flight; one that is late no longer counts towards its endpoint's limit."""

    job: _Job
    endpoint: Endpoint
    sent: float
    late: bool = False
    task: asyncio.Task[None] | None = None


class _Asking:
    """One :meth:`Client.ask`, in one event loop."""

    def __init__(
        self,
        client: Client,
        session: aiohttp.ClientSession,
        requests: Iterable[tuple[Hashable, Mapping[str, Any]]],
        receive: Receive,
        counts: Counts,
    ) -> None:
        self.client = client
        self.session = session
        self.receive = receive
        self.counts = counts
        self.endpoints = [Endpoint(one, client.max_concurrency) for one in client.addresses]
        self.fresh = iter(requests)
        self.waiting: list[tuple[float, int, _Job]] = []  # a heap
        self.order = itertools.count()  # breaks ties between jobs due at the same time
        self.flights: dict[asyncio.Task[None], _Flight] = {}  # the oldest first
        self.latencies: deque[float] = deque(maxlen=1000)
        self.error: BaseException | None = None
        self.changed = asyncio.Event()
        self.now = asyncio.get_running_loop().time
        self.began = self.checked = self.now()
        self.first_sent: float | None = None
        self.silent_since: float | None = None  # time of the first failure after the last reply
        self.told: set[Endpoint] = set()  # failing endpoints that the user was warned about

    async def run(self) -> None:
        """Ask until every request has its outcome.

        Raises:
            ClientError: If nothing can succeed.
        """
        try:
            while not self.error:
                now = self.now()
                if lost := self._lost(now):
                    await self._hand_over_rest(lost)
                    return
                self._look_after(now)
                if self._start_one(now):
                    await asyncio.sleep(0)  # let the request start before taking the next job
                elif self._is_done():
                    return
                else:
                    await self._wait()
            if isinstance(self.error, ClientError) and self.flights:
                # The requests in flight are paid for, so keep their replies.
                await asyncio.wait(self.flights, timeout=GRACE, return_when=asyncio.FIRST_EXCEPTION)
            raise self.error
        finally:
            await self._cancel()

    def _lost(self, now: float) -> Failure | None:
        """Return why no further reply can be expected; None if one can."""
        deadline, patience = self.client.deadline, self.client.give_up_after
        if deadline is not None and now >= self.began + deadline:
            return Failure('deadline', False, f'{deadline:g} s are over')
        if not self._is_silent(now) or self.flights:
            return None
        failed = {one.address.name: one.last for one in self.endpoints if one.last}
        words = '; '.join(f'{name}: {failure.detail}' for name, failure in failed.items())
        kind = next(failure.kind for failure in failed.values())
        return Failure(kind, False, f'no reply for {patience:g} s; {words}')

    def _is_silent(self, now: float) -> bool:
        """Tell whether nothing but failures came for so long that no more requests are sent."""
        since = self.silent_since
        return since is not None and now >= since + self.client.give_up_after

    def _look_after(self, now: float) -> None:
        """Tell the user if nothing ever replied; ask again where a request is late."""
        if now < self.checked + TICK:
            return
        self.checked = now
        waited = now - (self.first_sent or now)
        if waited >= FIRST_WORD and not self.told and self._never_replied():
            for endpoint in self.endpoints:
                self._tell(endpoint, 'has not replied yet')
        oldest = next(iter(self.flights.values()), None)
        if not self.client.race or oldest is None or now < oldest.sent + STRAGGLING:
            return
        usual = median(self.latencies) if self.latencies else 0.0
        patience = max(STRAGGLING, STRAGGLING_MEDIANS * usual)
        for flight in self.flights.values():
            if now < flight.sent + patience:
                break
            if not flight.late:
                flight.endpoint.end(flight.sent)
                self._note(flight, now, Failure('timeout', False, f'no reply for {patience:g} s'))
                flight.late = True
                flight.job.failed_at[flight.endpoint] += 1
                if len(flight.job.flights) < MOST_RACING:
                    self._put_back(flight.job, now)

    def _start_one(self, now: float) -> bool:
        """Send a request if one is due and an endpoint has room; tell whether it did."""
        free = [one for one in self.endpoints if one.has_room(now)]
        if not free or self._is_silent(now):
            return False
        job = self._next(now)
        if job is None:
            return False
        # Elsewhere than where it failed or is late, if there is room.
        endpoint = min(free, key=lambda one: (job.failed_at[one], one.in_flight / one.limit))
        endpoint.start(now)
        self.first_sent = self.first_sent or now
        self.counts.calls += 1
        self.counts.retries += job.calls > 0
        job.calls += 1
        flight = _Flight(job, endpoint, now)
        task = flight.task = asyncio.get_running_loop().create_task(self._ask(flight))
        self.flights[task] = flight
        job.flights.add(flight)
        task.add_done_callback(self._ended)
        return True

    def _next(self, now: float) -> _Job | None:
        """Return a job to send: one that is due again, else a new one."""
        while self.waiting and (self.waiting[0][0] <= now or self.waiting[0][2].done):
            job = heapq.heappop(self.waiting)[2]
            job.waits = False
            if not job.done:
                return job
        # In an outage jobs must not be taken that can't be sent.
        if len(self.waiting) < 4 * self.client.max_concurrency * len(self.endpoints):
            return next((_Job(*one) for one in self.fresh), None)
        return None

    def _put_back(self, job: _Job, until: float) -> None:
        if not (job.done or job.waits):
            job.waits = True
            heapq.heappush(self.waiting, (until, next(self.order), job))

    def _is_done(self) -> bool:
        """Tell whether no job is left; a rest of all endpoints must not delay noticing it."""
        if self.flights or self.waiting:
            return False
        job = next((_Job(*one) for one in self.fresh), None)
        if job:
            self._put_back(job, 0.0)
        return job is None

    async def _wait(self) -> None:
        """Wait until a request ends, at most for a tick."""
        self.changed.clear()
        alarm = asyncio.get_running_loop().call_later(TICK, self.changed.set)
        await self.changed.wait()
        alarm.cancel()

    async def _ask(self, flight: _Flight) -> None:
        job, endpoint = flight.job, flight.endpoint
        outcome, tokens = await self.client.send(self.session, endpoint.address, job.fields)
        now = self.now()
        self.counts.prompt_tokens += tokens[0]
        self.counts.completion_tokens += tokens[1]
        if isinstance(outcome, Reply):
            endpoint.replied(flight.sent, now)
            self.latencies.append(now - flight.sent)
            self.silent_since = None
            self._hand_over(job, outcome)
            return
        self.counts.failures[outcome.kind] += 1
        job.failed_at[endpoint] += 1
        # Where an endpoint never replied, its settings may be at fault: ask the others first.
        proven = endpoint.replied_at >= self.began or len(job.failed_at) == len(self.endpoints)
        if outcome.permanent and (proven or outcome.kind == 'filtered'):
            self.silent_since = None  # the server works
            self._hand_over(job, outcome)
        else:
            self._failed(flight, now, outcome)

    def _failed(self, flight: _Flight, now: float, failure: Failure) -> None:
        """Let a job that failed be sent again, or end it, or all."""
        job, endpoint = flight.job, flight.endpoint
        self._note(flight, now, failure)
        if failure.kind == 'forbidden':
            job.forbidden = job.forbidden or now
            if endpoint.answered > job.forbidden:  # the key is still good, so it is the prompt
                self._hand_over(job, Failure('refused', True, failure.detail))
                return
        blamed = (endpoint, failure) if failure.kind in FATAL else self._misplaced()
        if blamed:
            address, model = blamed[0].address, job.fields.get('model')
            self.error = ClientError(self.client.explain(address, blamed[1], model))
            return
        # A failure is the prompt's own only if the server works for others; an overload rarely is.
        if failure.reached and endpoint.replied_at >= self.began:
            job.failures += 0.5 if failure.kind == 'overloaded' else 1.0
        hangs = failure.kind == 'timeout' and len(job.flights) >= MOST_RACING
        if job.failures > self.client.retries or hangs:
            self._hand_over(job, Failure(failure.kind, False, failure.detail))
        elif all(one.late for one in job.flights - {flight}):
            longest = min(FIRST_BACKOFF * 2.0 ** max(job.failures - 1, 0), LONGEST_BACKOFF)
            self._put_back(job, now + random.uniform(0, longest))

    def _misplaced(self) -> tuple[Endpoint, Failure] | None:
        """Return an endpoint to blame if none ever replied and all rest; else None."""
        if not (self._never_replied() and all(one.rest for one in self.endpoints)):
            return None
        failed = ((one, one.last) for one in self.endpoints if one.last)
        return next((pair for pair in failed if pair[1].kind in MISPLACED), None)

    def _never_replied(self) -> bool:
        return all(one.replied_at < self.began for one in self.endpoints)

    def _note(self, flight: _Flight, now: float, failure: Failure) -> None:
        """Note a temporary failure at its endpoint, once for each request."""
        if not flight.late:
            flight.endpoint.failed(flight.sent, now, failure)
        if self.silent_since is None:
            self.silent_since = now
        if flight.endpoint.rest:
            self._tell(flight.endpoint, f'fails ({failure.kind}: {failure.detail})')

    def _tell(self, endpoint: Endpoint, what: str) -> None:
        """Warn the user of an endpoint, once."""
        if endpoint not in self.told:
            self.told.add(endpoint)
            logger.warning(
                'the server at %s %s; asking goes on until no reply has come for %g s, since '
                'servers may take minutes to load a model',
                *(endpoint.address.name, what, self.client.give_up_after),
            )

    def _hand_over(self, job: _Job, outcome: Outcome) -> None:
        """Hand over the outcome of a job; its other requests are overtaken."""
        if self.error and not isinstance(self.error, ClientError):
            return
        job.done = True
        for flight in job.flights:
            if flight.task and flight.task is not asyncio.current_task():
                self.counts.failures['overtaken'] += flight.task.cancel()
        try:
            again = self.receive(job.key, outcome)
        except BaseException as error:
            self.error = error
            raise
        if again:
            job.done = False
            job.failures = 0.0
            self._put_back(job, 0.0)

    async def _hand_over_rest(self, failure: Failure) -> None:
        """Hand over the same failure for every remaining job; none is asked again."""
        jobs = [flight.job for flight in self.flights.values()]
        self.counts.failures[failure.kind] += await self._cancel()
        jobs += [job for _, _, job in self.waiting]
        for job in itertools.chain(jobs, (_Job(*one) for one in self.fresh)):
            if not job.done:
                self._hand_over(job, failure)

    async def _cancel(self) -> int:
        """Cancel the requests in flight; return how many ended without an outcome."""
        tasks = list(self.flights)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return sum(task.cancelled() for task in tasks)

    def _ended(self, task: asyncio.Task[None]) -> None:
        flight = self.flights.pop(task)
        flight.job.flights.discard(flight)
        if not flight.late:
            flight.endpoint.end(flight.sent)
        if not task.cancelled() and task.exception():
            self.error = self.error or task.exception()
        self.changed.set()
