"""OpenAI-compatible endpoints: their addresses, and how many requests each takes at once.

An endpoint also knows when it must not be sent requests. Nothing here waits: times are passed in as
seconds of one monotonic clock.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from opencompass_gpassk.inference.http_faults import Fault

__all__ = ['Address', 'Endpoint', 'Ticket', 'freest', 'read_addresses']

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
        raise ValueError("api_base of judge names no endpoint; give one as 'http://host:8000/v1'")
    addresses = [_read(base, place) for base, place in named.items()]
    return list({address.url: address for address in addresses}.values())


def _read(base: str, place: int) -> Address:
    try:
        parts = urlsplit(base)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or parts.scheme not in ('http', 'https') or re.search(r'\s', base):
        raise ValueError(f"{_shown(base, place)} is no URL; give one such as 'http://host:8000/v1'")
    if re.search('[@?#]', base):
        raise ValueError(
            f'{_shown(base, place)} holds a user, a password, a query or a fragment; leave it out: '
            'configs are written to the work dir, and keys are read only from the environment'
        )
    path = parts.path.rstrip('/').removesuffix(CHAT).rstrip('/')
    bracketed = f'[{host}]' if ':' in host else host
    name = f'{parts.scheme}://{bracketed}' + (f':{port}' if port else '')
    return Address(name + path + CHAT, name, _proxy(parts.scheme, host, port))


def _shown(base: str, place: int) -> str:
    """Name an entry, quoting it only if it is plainly an address: it may be a misplaced key."""
    plain = PLAIN.fullmatch(base)
    return f'entry {place} of api_base of judge' + (f' ({plain[1]})' if plain else '')


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
SMALLEST_WINDOW = 16  # least number of latencies for a median
SLOWDOWN = 2.0  # a server that queues takes twice as long for twice as many requests
FORGETTING = 1.01  # the best median rises by this factor per window, as replies may get longer
SHRINKING = 0.7
# Shares of recent requests that the server rejected as too busy. Some servers do so at random: a
# limit that shrank each time would fall to a handful of requests.
TOLERATED = 0.1
EXCESSIVE = 0.2
OVERLOADS = {'overloaded', 'timeout'}
PATIENCE = 10  # consecutive failures; with 30 % random failures, 1 of 170,000 runs of ten
FIRST_REST = 1.0  # seconds
LONGEST_REST = 60.0
SHORTEST_PAUSE = 0.05
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 30.0
RECOVERING = 0.8


@dataclass(frozen=True)
class Ticket:
    """One request in flight: when it was sent, and whether it tests an endpoint after a rest."""

    sent: float
    probe: bool


class Endpoint:
    """One endpoint, with its limit of concurrent requests and its pauses.

    The limit starts at 16. It rises by one per reply while it is reached and latency is good: the
    median of the last window of replies, and this reply's latency, are at most twice the best
    window's median. If the server is too busy for a fifth of the requests, the limit shrinks to
    70 %, once per round trip; from then on it rises by one per round trip, while that share is at
    most a tenth. After ten consecutive failures the endpoint rests, for one second up to a minute,
    and is then tested with single requests until one succeeds. An endpoint too busy for one request
    gets a pause of a quarter of a second, doubled each time. Each reply makes the pause a fifth
    shorter until there is none.

    Attributes:
        address: Its address.
        max_concurrency: Greatest number of concurrent requests.
        limit: Current limit of concurrent requests.
        in_flight: Number of requests in flight.
        failures: Number of consecutive failures.
        failing_since: Time of the first of these failures.
        last_fault: The last fault.
        has_replied: Whether it ever replied.
        blamed: The endpoint itself is at fault, not the prompts: it gets only harmless test prompts
            until it replies.
        hopeless: See :meth:`lose_hope`.
    """

    def __init__(self, address: Address, max_concurrency: int) -> None:
        self.address = address
        self.max_concurrency = max_concurrency
        self.limit = float(min(START, max_concurrency))
        self.in_flight = 0
        self.failures = 0
        self.failing_since: float | None = None
        self.last_fault: Fault | None = None
        self.has_replied = False
        self.blamed = False
        self.hopeless = False
        self._rest = 0.0
        self._rests_until = 0.0
        self._closed_until = 0.0
        self._pause = 0.0
        self._probes = 0
        self._shrunk_at = self._full_at = float('-inf')
        self._busy_share = 0.0
        self._slow_start_ends = float('inf')
        self._limit_before = self.limit
        self._worked_at = float('-inf')
        self._latencies: list[float] = []
        self._window = SMALLEST_WINDOW
        self._best = float('inf')
        self._latency_holds = True

    @property
    def suspect(self) -> bool:
        """Whether it failed so often that it rests, or is tested with one request."""
        return self._rest > 0

    @property
    def opens_at(self) -> float:
        """The time from which it may be sent requests; in the past if it may now."""
        return max(self._rests_until, self._closed_until)

    def has_room(self, now: float) -> bool:
        """Tell whether it may be sent a request."""
        if now < self.opens_at:
            return False
        return self._probes == 0 if self.suspect else self.in_flight < int(self.limit)

    def start(self, now: float) -> Ticket:
        """Count a request that is being sent."""
        ticket = Ticket(now, self.suspect)
        self.in_flight += 1
        self._probes += ticket.probe
        if self.in_flight >= int(self.limit):
            self._full_at = now
        return ticket

    def drop(self, ticket: Ticket) -> None:
        """Stop counting a request that has ended, with any outcome."""
        self.in_flight -= 1
        self._probes -= ticket.probe

    def replied(self, ticket: Ticket, now: float) -> None:
        """Note a reply: the limit may rise."""
        self.works(now)
        self.has_replied = True
        self.blamed = False
        self._space_out(now, RECOVERING * self._pause)
        self._note_busy(False)
        latency = now - ticket.sent
        holds = self._latency_holds and latency <= SLOWDOWN * self._best
        calm = self._busy_share <= TOLERATED and not self._pause
        if holds and calm and ticket.sent <= self._full_at:
            step = 1.0 if self.limit < self._slow_start_ends else 1.0 / self.limit
            self.limit = min(self.limit + step, float(self.max_concurrency))
        self._note_latency(latency)

    def works(self, now: float) -> None:
        """Note that the server works, even if it gave no reply to this prompt."""
        if self.suspect:
            # Start over, soon with as many requests as before the failures, unless these overloaded
            # the server.
            busy = self.last_fault is not None and self.last_fault.kind == 'overloaded'
            self.limit = 1.0 if busy else min(self._limit_before, START)
            self._slow_start_ends = max(self._limit_before * SHRINKING * (not busy), self.limit)
        self.failures = 0
        # During a pause nothing shows that the server goes on working.
        self.failing_since = now if now < self._closed_until else None
        self.hopeless = False
        self._rest = self._rests_until = 0.0
        self._worked_at = now

    def failed(self, ticket: Ticket, now: float, fault: Fault) -> None:
        """Note a temporary failure: the limit may shrink, the endpoint may rest."""
        self.last_fault = fault
        if self.failing_since is None:
            self.failing_since = now
        if fault.wait:
            self._closed_until = max(self._closed_until, now + fault.wait)
        if ticket.sent >= self._worked_at:  # after the last sign that the server works
            self._limit_before = self._limit_before if self.failures else self.limit
            self.failures += 1
        # Requests sent before the limit shrank say nothing about the new limit.
        if fault.kind in OVERLOADS and ticket.sent > self._shrunk_at:
            self._note_busy(True)
            if fault.kind == 'overloaded' and self.limit < 2 and not fault.wait:
                self._space_out(now, max(FIRST_PAUSE, 2 * self._pause))
            if self._busy_share > EXCESSIVE:
                self.limit = self._slow_start_ends = max(1.0, self.limit * SHRINKING)
                self._shrunk_at = now
                self._busy_share = 0.0
        worn_out = self.blamed or self.failures >= PATIENCE
        if ticket.probe or (worn_out and not self.suspect):
            self._rest = min(2 * self._rest or FIRST_REST, LONGEST_REST)
            self._rests_until = now + self._rest

    def lose_hope(self, now: float, give_up_after: float) -> None:
        """Set ``hopeless`` if it only failed for ``give_up_after`` seconds, with none in flight.

        It stays hopeless until it replies, even if requests are in flight when other endpoints are
        checked.
        """
        failing = self.failing_since is not None and now >= self.failing_since + give_up_after
        self.hopeless = self.hopeless or (failing and self.in_flight == 0)

    def _space_out(self, now: float, pause: float) -> None:
        self._pause = min(pause, LONGEST_PAUSE) if pause >= SHORTEST_PAUSE else 0.0
        self._closed_until = max(self._closed_until, now + self._pause)

    def _note_busy(self, busy: bool) -> None:
        self._busy_share += (busy - self._busy_share) / max(SMALLEST_WINDOW, self.limit)

    def _note_latency(self, seconds: float) -> None:
        self._latencies.append(seconds)
        if len(self._latencies) >= self._window:
            middle = median(self._latencies)
            self._latency_holds = middle <= SLOWDOWN * self._best
            self._best = min(middle, FORGETTING * self._best)
            self._latencies.clear()
            self._window = max(SMALLEST_WINDOW, int(self.limit))


def freest(endpoints: Iterable[Endpoint], now: float) -> Endpoint | None:
    """Return the endpoint with room whose limit is used least; None if none has room.

    Blamed endpoints are never chosen.
    """
    open_ones = [one for one in endpoints if one.has_room(now) and not one.blamed]
    return min(open_ones, key=lambda one: one.in_flight / one.limit, default=None)
