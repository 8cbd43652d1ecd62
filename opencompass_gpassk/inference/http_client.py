"""A client of OpenAI-compatible chat servers: requests in, replies out, over one or many endpoints.

Each endpoint has a limit of concurrent requests, which grows while replies come and shrinks when
the server is overloaded. An endpoint that fails repeatedly rests, twice as long each time. A wrong
key or an unknown model ends the run. All other failures are tried again.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import json
import logging
import os
import random
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Generator, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import cycle
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.formats.progress_bar import NO_REPLY
from opencompass_gpassk.inference.server_replies import (
    FATAL,
    LONGEST_READ,
    MISPLACED,
    NOT_TAKEN,
    REMEDIES,
    Failure,
    GivenUp,
    Outcome,
    Reply,
    encodable,
    read_response,
    refuses,
)

logger = logging.getLogger(__name__)


# Too many sockets of this process: fewer concurrent requests help, another endpoint doesn't.
OWN_LIMITS = {errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS}


def exception_failure(error: BaseException) -> Failure:
    """Return the failure of a request that raised an exception; all of them are temporary.

    aiohttp's messages may quote headers and bodies, which may contain a part of a key, and whole
    URLs, which may contain a password or a token. These are left out.
    """
    words = type(error).__name__
    if isinstance(error, aiohttp.ClientResponseError):
        words += f': {error.status}'
    elif not isinstance(error, (aiohttp.ClientPayloadError, aiohttp.InvalidURL)):
        without_urls = re.sub(r'(://)[^ ]+', r'\1…', str(error))
        words = f'{words}: {without_urls}'.rstrip(': ')
    if getattr(error, 'errno', None) in OWN_LIMITS:
        return Failure('overloaded', False, words, reached=False)
    # There is no limit for reading alone, so this timeout means that no connection was made.
    if isinstance(error, (aiohttp.ServerTimeoutError, aiohttp.ClientConnectorError)):
        return Failure('unreachable', False, words, reached=False)
    if isinstance(error, asyncio.TimeoutError):
        return Failure('timeout', False, words)
    read = isinstance(error, (aiohttp.ClientPayloadError, aiohttp.ClientResponseError))
    return Failure('bad reply' if read else 'unreachable', False, words)


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
        heard: When the last reply came, or asking began; by the monotonic clock.
        failing: The kind of the last failure since; '' without one.
    """

    calls: int = 0
    retries: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    heard: float = field(default_factory=time.monotonic)
    failing: str = ''

    def silence(self) -> dict[str, str]:
        """Return for how long no reply has come, and why, if that is worth telling."""
        seconds = time.monotonic() - self.heard
        why = f' ({self.failing})' if self.failing else ''
        return {NO_REPLY: f'{seconds:.0f} s{why}'} if seconds >= SILENCE else {}


class ClientError(RuntimeError):
    """No request can succeed; the message names the remedy."""


CHAT = '/chat/completions'
LENGTH, NEWER_LENGTH = 'max_tokens', 'max_completion_tokens'  # two names of one field
HOST = r'[\w-]{1,63}(?:\.[\w-]{1,63})*\.?|\[[\da-fA-F:.]+\]'
PLAIN_URL = re.compile(
    rf'(?P<name>(?P<scheme>https?)://(?P<host>{HOST})(?::(?P<port>\d+))?)(?P<path>/[^\s?#@]*)?',
    re.ASCII,
)


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
    found = {}
    for base, place in named.items():
        parts = PLAIN_URL.fullmatch(base)
        if not parts or int(parts['port'] or 0) > 65535:  # not shown: it may be a misplaced key
            raise ValueError(
                f"entry {place} of api_base is no URL; give one such as 'http://host:8000/v1', "
                'without user, password, query and fragment: configs are written to the work dir, '
                'and keys are read only from the environment'
            )
        path = (parts['path'] or '').rstrip('/').removesuffix(CHAT).rstrip('/')
        url = parts['name'] + path + CHAT
        found[url] = Address(url, parts['name'], _proxy(parts['scheme'], parts['host']))
    return list(found.values())


def _proxy(scheme: str, host: str) -> str | None:
    """Return the environment's proxy for a host; None for none, or one that isn't supported."""
    with suppress(ValueError):
        address = ipaddress.ip_address(host.strip('[]'))
        if address.is_loopback or address.is_unspecified:
            return None
    if host == 'localhost' or host.endswith('.localhost') or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(scheme) or proxies.get('all') or ''
    if proxy and '://' not in proxy:
        proxy = f'http://{proxy}'
    if not proxy.startswith(('http://', 'https://')):
        return None  # aiohttp does not support SOCKS
    try:
        URL(proxy)
    except ValueError:
        raise ValueError(
            f'the proxy for {scheme} in the environment is no URL; give one such as '
            "'http://user:password@host:3128', and write / ? # @ in a password as %2F %3F %23 %40"
        ) from None
    return proxy


START = 16  # concurrent requests at the beginning
GROWTH = 0.25  # per reply, after an overload: a fifth of overloads keeps the limit where it is
PATIENCE = 10  # failures in a row before a rest; fewer at a low limit, but never fewer than three
FIRST_REST = 1.0  # seconds
LONGEST_REST = 60.0


@dataclass(eq=False)
class Endpoint:
    """One endpoint, with its limit of concurrent requests and its rests. Times are in seconds.

    Attributes:
        address: Its address.
        most: The greatest limit.
        limit: Current limit of concurrent requests; at most ``most``.
        in_flight: Number of requests that count towards the limit.
        opens_at: No request is sent before.
        rest: Length of the current or last rest; 0 after a reply.
        timeout: Of one request; it grows while the endpoint replies to none in that time.
        answered: When the latest request that got a reply was sent; -inf if none ever did.
        slowest: How long the slowest reply of late took; 0 before the first.
        last: The last failure.
    """

    address: Address
    most: int
    limit: float
    timeout: float
    in_flight: int = 0
    opens_at: float = 0.0
    rest: float = 0.0
    answered: float = float('-inf')
    slowest: float = 0.0
    last: Failure | None = None
    _growth: float = 1.0
    _failures: int = 0  # in a row

    def room(self, now: float) -> int:
        """Return how many more requests it may be sent."""
        return max(0, int(self.limit) - self.in_flight) if now >= self.opens_at else 0

    def replied(self, sent: float, now: float) -> None:
        """Note a reply: the limit grows."""
        self.slowest = max(now - sent, 0.99 * self.slowest)
        self.limit = min(self.limit + self._growth, float(self.most))
        self.answered = max(self.answered, sent)
        self._failures = 0
        self.rest = 0.0

    def failed(self, sent: float, now: float, failure: Failure) -> None:
        """Note a temporary failure: the limit may shrink, the endpoint may rest."""
        before_rest = sent < self.opens_at
        self.last = failure
        if failure.wait:
            self.opens_at = max(self.opens_at, now + min(failure.wait, LONGEST_REST))
        # A burst above what a server takes is no outage: first the limit shrinks.
        if failure.kind != 'overloaded' or self.limit <= 1:
            self._failures += 1
        if failure.kind == 'timeout' and sent > self.answered:
            # It is busy with what was sent before: the next requests may take twice as long.
            self.timeout = max(self.timeout, 2 * (now - sent))
        if failure.kind in ('overloaded', 'timeout'):
            self.limit = max(1.0, self.limit - 1)
            self._growth = GROWTH
        misplaced = failure.kind in ('unknown model', 'redirect')
        tired = self._failures >= max(3, min(PATIENCE, self.limit))
        if (misplaced or tired) and not before_rest:
            self.rest = min(2 * self.rest or FIRST_REST, LONGEST_REST)
            self.opens_at = max(self.opens_at, now + self.rest)
            self.limit = self._growth = 1.0


FIRST_BACKOFF = 0.5  # seconds
LONGEST_BACKOFF = 30.0
SLOW = 30.0  # seconds; a request that takes less is never cut
SLOW_TIMES = 10  # as long as the slowest reply of late
MOST_OPEN = 4  # prompts that failed and wait, for each request that may be in flight
FIRST_WORD = 8.0  # seconds without any reply until the user is told
GRACE = 10.0  # seconds for the requests in flight to end after an error that stops everything
SILENCE = 20.0  # seconds without a reply, after which progress tells of it
TICK = 0.05  # seconds between two looks at the clock
CONNECT_TIMEOUT = 15.0  # seconds
LONGEST_RESPONSE = 16 * 2**20  # bytes


class Client:
    """Sends chat requests to one or many OpenAI-compatible endpoints, many at once.

    Args:
        api_base: URLs of endpoints that serve the model, with or without ``/chat/completions``. A
            request goes to the endpoint with the most room.
        key_env: Name of the environment variable that may hold the key, which is sent as bearer
            token to these endpoints alone. It is blanked out in all responses.
        max_concurrency: Greatest number of concurrent requests to one endpoint.
        timeout: Seconds for one request; twice as many at an endpoint that replied to none in them.
        deadline: Seconds for all requests of one :meth:`ask`, None for no limit.
        retries: How often a failed request is tried again. Only failures of an endpoint that has
            replied before count.
        give_up_after: Seconds without a reply from any endpoint, after which asking ends.
        cut_slow: Cut a request that takes far longer than the slowest reply of late, and send it
            again; each time it may take twice as long. Right where any reply will do; of responses
            that are drawn as samples it would cut the long ones.

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
        cut_slow: bool,
    ) -> None:
        self.addresses = read_addresses(api_base)
        self.key_env = key_env
        self.max_concurrency = max_concurrency
        self.timeout = timeout
        self.deadline = deadline
        self.retries = retries
        self.give_up_after = give_up_after
        self.cut_slow = cut_slow
        self.newer_length: set[Address] = set()  # endpoints that take only NEWER_LENGTH
        self.limits: dict[
            Address, float
        ] = {}  # an asking begins with those that the last ended with
        self.use_keys([os.environ.get(key_env, '')])
        self.running: tuple[asyncio.AbstractEventLoop, asyncio.Task[None] | None] | None = None

    def use_keys(self, keys: Iterable[str]) -> None:
        """Send these keys in turn, not the one in the environment.

        Raises:
            ValueError: If one can't be a key.
        """
        self.keys = [key.strip() for key in keys if key.strip()]
        for key in self.keys:
            if not (key.isascii() and key.isprintable() and ' ' not in key):
                raise ValueError(
                    f'the key in {self.key_env} holds spaces or characters that no key has; set it '
                    'again'
                )
        self._turns = cycle(self.keys)
        # A shorter key is a placeholder such as EMPTY, and may be a word of a reply. Servers may
        # return the key in lower case, as part of a host name.
        secrets = [re.escape(key) for key in self.keys if len(key) >= 6]
        self._secret = re.compile('|'.join(secrets) or r'(?!)', re.IGNORECASE)

    def plain_fields(self, fields: Mapping[str, Any], where: str) -> dict[str, Any]:
        """Return the fields of every request, without those that are None.

        Raises:
            ValueError: If they don't fit into JSON, or hold the key; it names ``where`` they stand.
        """
        try:
            shown = json.dumps(fields, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f'{where} does not fit into JSON: {error}') from None
        if self.hide_key(shown) != shown:
            raise ValueError(
                f'{where} holds the key in {self.key_env}, but settings are stored; leave the key '
                'out: it is sent as bearer token'
            )
        return {name: value for name, value in fields.items() if value is not None}

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
        asyncio.run(_Asking(self, requests, receive, counts).run())

    def stop(self) -> None:
        """End :meth:`ask`, from any thread."""
        if self.running and self.running[1]:
            with suppress(RuntimeError):  # it has ended
                self.running[0].call_soon_threadsafe(self.running[1].cancel)

    async def send(
        self,
        session: aiohttp.ClientSession,
        address: Address,
        fields: Mapping[str, Any],
        timeout: float,
    ) -> tuple[Outcome, tuple[int, int]]:
        """Send a request once; return its outcome and the tokens of prompt and completion.

        Where the endpoint refuses ``max_tokens``, the length goes by its newer name.
        """
        if address in self.newer_length and LENGTH in fields:
            fields = {NEWER_LENGTH if name == LENGTH else name: fields[name] for name in fields}
        key = next(self._turns, '')
        headers = {'Authorization': f'Bearer {key}'} if key else {}
        try:
            async with session.post(
                address.url,
                headers=headers,
                data=encodable(json.dumps(fields, ensure_ascii=False)).encode(),
                proxy=address.proxy,
                allow_redirects=False,  # the key is for this host alone
                timeout=aiohttp.ClientTimeout(
                    total=timeout, sock_connect=min(CONNECT_TIMEOUT, timeout)
                ),
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
            text, thoughts = self.hide_key(outcome.text), self.hide_key(outcome.thoughts)
            return replace(outcome, text=text, thoughts=thoughts), tokens
        others = [one for one in self.keys if one != key]
        if outcome.kind == 'no quota' and others:
            self.keys, self._turns = others, cycle(others)
            outcome = replace(outcome, kind='overloaded')  # ask again with another key
        # Hide the key before shortening: a key cut in two would not be found.
        detail = one_line(self.hide_key(outcome.detail)[:LONGEST_READ])[:300]
        named = NEWER_LENGTH in detail or refuses(detail, LENGTH, NOT_TAKEN)
        if outcome.kind == 'refused' and LENGTH in fields and named:
            self.newer_length.add(address)
            return await self.send(session, address, fields, timeout)
        return replace(outcome, detail=detail), tokens


class _Asking:
    """One :meth:`Client.ask`, in one event loop: a task for each open prompt."""

    def __init__(
        self,
        client: Client,
        requests: Iterable[tuple[Hashable, Mapping[str, Any]]],
        receive: Receive,
        counts: Counts,
    ) -> None:
        self.client = client
        self.receive = receive
        self.counts = counts
        counts.heard, counts.failing = time.monotonic(), ''
        most = client.max_concurrency
        self.endpoints = [
            Endpoint(one, most, client.limits.get(one, min(START, most)), client.timeout)
            for one in client.addresses
        ]
        self.fresh = iter(requests)
        self.next: list[Hashable] = []  # the key of the prompt that waits to be opened
        self.open: dict[asyncio.Task[None], Hashable] = {}  # keys of prompts without an outcome
        self.waiting: deque[asyncio.Future[None]] = deque()  # for room at an endpoint
        self.in_air = 0  # requests
        self.silent_since: float | None = None  # time of the first failure after the last reply
        self.lost: GivenUp | None = None  # why no further reply can be expected
        self.broken = False  # whether the receiver failed
        self.told: set[Endpoint] = set()  # failing endpoints that the user was warned about

    async def run(self) -> None:
        """Ask until every request has its outcome.

        Raises:
            ClientError: If nothing can succeed.
        """
        self.loop = asyncio.get_running_loop()
        self.now = self.loop.time
        self.began = self.now()
        self.ended = self.loop.create_future()  # from then on no request is sent
        self.client.running = self.loop, asyncio.current_task()
        async with aiohttp.ClientSession(
            headers={'Content-Type': 'application/json'},
            connector=aiohttp.TCPConnector(limit=0),  # the endpoints have limits of their own
            cookie_jar=aiohttp.DummyCookieJar(),
        ) as self.session:
            self.feeder = self._start(self._feed())
            watch = self._start(self._watch())
            try:
                await self.ended
            except ClientError:
                last = self.now() + GRACE
                while self.in_air and self.now() < last:  # they are paid for, so keep their replies
                    await asyncio.sleep(TICK)
                await asyncio.sleep(TICK)
                raise
            finally:
                tasks = [watch, self.feeder, *self.open]
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                self.client.limits |= {one.address: one.limit for one in self.endpoints}
        if self.lost:
            for key in (*self.open.values(), *self.next, *(key for key, _ in self.fresh)):
                self._hand_over(key, self.lost)

    def _end(self, error: BaseException | None = None) -> None:
        """End the asking: all is done, given up, or goes wrong."""
        if self.ended.done():
            return
        if error:
            self.ended.set_exception(error)
        else:
            self.ended.set_result(None)

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = self.loop.create_task(work)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():  # by run(), which hands over what is still open
            return
        self.open.pop(task, None)
        error = task.exception()
        if error or (self.feeder.done() and not self.open):
            self._end(error)
        self._wake()

    async def _feed(self) -> None:
        """Open a prompt whenever an endpoint has room for it."""
        most = MOST_OPEN * self.client.max_concurrency * len(self.endpoints)
        for key, fields in self.fresh:
            self.next = [key]
            while len(self.open) >= most or (endpoint := self._place(Counter())) is None:
                await self._turn(first=False)
            self.next = []
            self.open[self._start(self._ask(key, fields, endpoint))] = key

    async def _ask(
        self, key: Hashable, fields: Mapping[str, Any], endpoint: Endpoint | None
    ) -> None:
        """Hand over the outcome of one prompt, and ask again if that is wished."""
        while self._hand_over(key, await self._outcome(fields, endpoint)):
            endpoint = None

    def _hand_over(self, key: Hashable, outcome: Outcome) -> bool:
        if self.broken:
            return False
        try:
            return self.receive(key, outcome)
        except BaseException:
            self.broken = True
            raise

    async def _outcome(self, fields: Mapping[str, Any], endpoint: Endpoint | None) -> Outcome:
        """Send a prompt until it gets a reply, or fails for good."""
        first_failed, failures, waited = 0.0, 0, 0.0
        failed_at: Counter[Endpoint] = Counter()
        while True:
            if endpoint is None:
                while (endpoint := self._place(failed_at)) is None:
                    await self._turn(first=True)
                self.counts.retries += 1
            sent = self.now()
            outcome = await self._send(fields, endpoint, failed_at)
            waited += self.now() - sent
            if isinstance(outcome, Reply) or outcome.permanent:
                return outcome
            first_failed = first_failed or self.now()
            if outcome.kind == 'forbidden' and endpoint.answered > first_failed:
                # The key is still good for others, so it is the prompt.
                return Failure('refused', True, outcome.detail)
            # A failure is the prompt's own only if the server works for others.
            failures += outcome.reached and endpoint.answered >= 0
            # A prompt that takes too long so often would take too long again.
            longest = (8 if self.client.cut_slow else 2) * self.client.timeout
            hangs = outcome.kind == 'timeout' and waited >= longest
            if failures > self.client.retries or hangs:
                # What can't be read so often, while the server works, is the prompt's.
                return replace(outcome, permanent=outcome.kind == 'bad reply')
            pause = FIRST_BACKOFF * 2.0 ** max(failures - 1, 0)
            await asyncio.sleep(random.uniform(0, min(pause, LONGEST_BACKOFF)))
            endpoint = None

    async def _send(
        self, fields: Mapping[str, Any], endpoint: Endpoint, failed_at: Counter[Endpoint]
    ) -> Outcome:
        """Send a request to an endpoint with a place for it; count a failure in ``failed_at``."""
        sent = self.now()
        self.counts.calls += 1
        self.in_air += 1
        try:
            outcome, tokens = await self._sent(fields, endpoint, failed_at.total())
            self.counts.prompt_tokens += tokens[0]
            self.counts.completion_tokens += tokens[1]
            if isinstance(outcome, Reply):
                endpoint.replied(sent, self.now())
                self._heard()
                return outcome
            self.counts.failures[outcome.kind] += 1
            self.counts.failing = outcome.kind
            failed_at[endpoint] += 1
            # Where an endpoint never replied, its settings may be at fault: ask the others first.
            proven = endpoint.answered >= 0 or len(failed_at) == len(self.endpoints)
            if outcome.permanent and (proven or outcome.kind == 'filtered'):
                self._heard()  # the server works
                return outcome
            if outcome.works or (outcome.kind == 'bad reply' and endpoint.answered >= 0):
                endpoint.replied(sent, self.now())
                self._heard()
            else:
                self._note(endpoint, sent, outcome, fields['model'])
            return replace(outcome, permanent=False)
        except asyncio.CancelledError:
            if self.lost:
                self.counts.failures[self.lost.kind] += 1
            raise
        finally:
            self.in_air -= 1
            endpoint.in_flight -= 1
            self._wake()

    async def _sent(
        self, fields: Mapping[str, Any], endpoint: Endpoint, failed: int
    ) -> tuple[Outcome, tuple[int, int]]:
        """Send a request; cut it if it takes far longer than the replies of late."""
        sent = self.now()
        send = self.client.send(self.session, endpoint.address, fields, endpoint.timeout)
        request = self.loop.create_task(send)
        try:
            while self.client.cut_slow:
                await asyncio.wait([request], timeout=SLOW)
                if request.done():
                    break
                slowest = endpoint.slowest or max(one.slowest for one in self.endpoints)
                waited = self.now() - sent
                if slowest and waited >= max(SLOW, SLOW_TIMES * slowest) * 2**failed:
                    return Failure('timeout', False, f'no reply for {waited:.0f} s'), (0, 0)
            return await request
        finally:
            request.cancel()

    def _place(self, failed_at: Counter[Endpoint]) -> Endpoint | None:
        """Take a place at an endpoint: where the prompt failed least, then where most is free."""
        now = self.now()
        free = [one for one in self.endpoints if one.room(now)]
        if not free or self.ended.done() or self._is_silent(now):
            return None
        endpoint = min(free, key=lambda one: (failed_at[one], one.in_flight / one.limit))
        endpoint.in_flight += 1
        return endpoint

    async def _turn(self, *, first: bool) -> None:
        """Wait until there may be room; prompts that failed come before new ones."""
        turn = self.loop.create_future()
        (self.waiting.appendleft if first else self.waiting.append)(turn)
        await turn

    def _wake(self) -> None:
        now = self.now()
        free = sum(one.room(now) for one in self.endpoints)
        while self.waiting and free > 0:
            turn = self.waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1

    async def _watch(self) -> None:
        """Look at the clock: rests end, users want to know, and patience is limited."""
        while self.lost is None:
            await asyncio.sleep(TICK)
            now = self.now()
            if now >= self.began + FIRST_WORD and not self.told and self._never_replied():
                for endpoint in self.endpoints:
                    self._tell(endpoint, 'has not replied yet')
            self.lost = self._loss(now)
            self._wake()
        self._end()

    def _loss(self, now: float) -> GivenUp | None:
        """Return why no further reply can be expected; None if one can."""
        deadline, patience = self.client.deadline, self.client.give_up_after
        if deadline is not None and now >= self.began + deadline:
            return GivenUp('deadline', False, f'{deadline:g} s are over')
        if not self._is_silent(now) or self.in_air:
            return None
        failed = {one.address.name: one.last for one in self.endpoints if one.last}
        words = '; '.join(f'{name}: {failure.detail}' for name, failure in failed.items())
        kind = next(failure.kind for failure in failed.values())
        return GivenUp(kind, False, f'no reply for {patience:g} s; {words}')

    def _is_silent(self, now: float) -> bool:
        """Tell whether nothing but failures came for so long that no more requests are sent."""
        since = self.silent_since
        return since is not None and now >= since + self.client.give_up_after

    def _heard(self) -> None:
        self.silent_since = None
        self.counts.heard, self.counts.failing = time.monotonic(), ''

    def _never_replied(self) -> bool:
        return all(one.answered < 0 for one in self.endpoints)

    def _note(self, endpoint: Endpoint, sent: float, failure: Failure, model: Any) -> None:
        """Note a temporary failure at its endpoint; end the asking if nothing can succeed."""
        endpoint.failed(sent, self.now(), failure)
        self.silent_since = self.silent_since or self.now()
        if endpoint.rest:
            self._tell(endpoint, f'fails ({failure.kind}: {failure.detail})')
        blamed = {endpoint: failure} if failure.kind in FATAL else {}
        if self._never_replied() and all(one.rest for one in self.endpoints):
            last = {one: one.last for one in self.endpoints if one.last}
            blamed |= {one: why for one, why in last.items() if why.kind in MISPLACED}
        for one, why in blamed.items():
            kind = 'no key' if why.kind == 'key refused' and not self.client.keys else why.kind
            told = REMEDIES[kind].format(key=self.client.key_env, model=model, says=why.detail)
            self._end(ClientError(f'the server at {one.address.name} {told}'))

    def _tell(self, endpoint: Endpoint, what: str) -> None:
        """Warn the user of an endpoint, once."""
        if endpoint not in self.told:
            self.told.add(endpoint)
            logger.warning(
                'the server at %s %s; asking goes on until no reply has come for %g s, since '
                'servers may take minutes to load a model',
                *(endpoint.address.name, what, self.client.give_up_after),
            )


ItemT = TypeVar('ItemT')


def in_thread(
    work: Callable[[Callable[[ItemT], None]], None], stop: Callable[[], None]
) -> Generator[list[ItemT], None, None]:
    """Run work in a thread; yield what it has handed over since, as soon as there is anything.

    Closing or dropping the generator ends the work and the thread.

    Args:
        work: Takes a function to hand over with, which raises an error if nothing is wanted.
        stop: Makes the work end soon.

    Raises:
        Exception: As ``work`` does, after all that it handed over is yielded.
    """
    handed: SimpleQueue[Any] = SimpleQueue()
    end = object()
    failures: list[BaseException] = []
    abandoned = threading.Event()

    def hand_over(item: ItemT) -> None:
        if abandoned.is_set():
            raise ClientError('the replies are no longer wanted')
        handed.put(item)

    def run() -> None:
        try:
            work(hand_over)
        except BaseException as error:
            failures.append(error)
        handed.put(end)

    # A daemon, so that a second Ctrl-C need not wait for a batch.
    thread = threading.Thread(target=run, name='asking', daemon=True)
    thread.start()
    try:
        ended = False
        while not ended:
            items = [handed.get()]
            with suppress(Empty):
                while True:
                    items.append(handed.get_nowait())
            if ended := items[-1] is end:
                items.pop()
            yield items
        for error in failures:
            raise error
    finally:
        abandoned.set()
        while thread.is_alive():  # it may only just begin to ask
            stop()
            thread.join(0.1)
