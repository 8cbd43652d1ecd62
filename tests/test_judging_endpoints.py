"""How many requests an endpoint is sent at once, and when none; on a clock of its own."""

from __future__ import annotations

import random

import pytest

from opencompass_gpassk.inference import endpoints
from opencompass_gpassk.inference.endpoints import Address, Endpoint, freest, read_addresses
from opencompass_gpassk.inference.http_faults import Fault, Remedy

ADDRESS = Address('http://host/v1/chat/completions', 'http://host', None)
BUSY = Fault('overloaded', Remedy.RETRY)
DOWN = Fault('unreachable', Remedy.RETRY, reached=False)


def endpoint(most: int = 256) -> Endpoint:
    return Endpoint(ADDRESS, most)


def round_trip(
    one: Endpoint, now: float, *, capacity: float = 1e9, busy: float = 0.0, rng: random.Random
) -> float:
    """Send as many requests as it takes; they come back after a second, or later if they queue."""
    tickets = []
    while one.has_room(now):
        tickets.append(one.start(now))
    now += max(1.0, len(tickets) / capacity)
    for ticket in tickets:
        if rng.random() < busy:
            one.drop(ticket)
            one.failed(ticket, now, BUSY)
        else:
            one.replied(ticket, now)
            one.drop(ticket)
    return now


def limits(trips: int, most: int = 256, **world: float) -> list[float]:
    """Return the limit after each round trip."""
    one, now, found, rng = endpoint(most), 0.0, [], random.Random('limits')
    for _ in range(trips):
        now = max(round_trip(one, now, rng=rng, **world), one.opens_at)
        found.append(one.limit)
    return found


def test_the_limit_doubles_each_round_trip_up_to_the_most() -> None:
    """From 16 at once to 256 in four round trips."""
    assert limits(5) == [32, 64, 128, 256, 256]
    assert limits(3, most=50) == [32, 50, 50]
    assert limits(2, most=3) == [3, 3]


def test_the_limit_stops_rising_where_requests_only_queue() -> None:
    """A server that takes 64 at once is sent between 64 and four times as many."""
    found = limits(40, most=10_000, capacity=64)
    assert 64 <= min(found[3:]) <= max(found) <= 256


def test_the_limit_rises_only_if_it_is_what_holds_requests_back() -> None:
    """One request at a time says nothing about two hundred."""
    one = endpoint()
    for now in range(100):
        ticket = one.start(now)
        one.replied(ticket, now + 1)
        one.drop(ticket)
    assert one.limit == 16


def test_an_overload_shrinks_the_limit_once_a_round_trip() -> None:
    """Requests that were on their way already say nothing about the new limit."""
    one = endpoint()
    tickets = [one.start(0.0) for _ in range(16)]
    for ticket in tickets:
        one.drop(ticket)
        one.failed(ticket, 1.0, BUSY)
    assert one.limit == pytest.approx(16 * 0.7)


def test_the_limit_stays_near_what_a_server_takes() -> None:
    """A server that answers 429 above forty at once is sent about forty."""
    one, now, sent = endpoint(), 0.0, []
    for _ in range(200):
        tickets = []
        while one.has_room(now):
            tickets.append(one.start(now))
        now += 1.0
        for number, ticket in enumerate(tickets):
            if number >= 40:
                one.drop(ticket)
                one.failed(ticket, now, BUSY)
            else:
                one.replied(ticket, now)
                one.drop(ticket)
        now = max(now, one.opens_at)
        sent.append(len(tickets))
    assert 25 <= min(sent[20:]) <= max(sent[20:]) <= 55


def test_a_server_that_fails_at_random_is_not_starved() -> None:
    """With five overloads in a hundred the limit doesn't come down to a handful."""
    assert min(limits(200, busy=0.05)[20:]) >= 16


def test_a_rested_endpoint_gets_nothing_then_one_request() -> None:
    """After ten failures in a row it is left alone, twice as long each time, up to a minute."""
    one = endpoint()
    tickets = [one.start(0.0) for _ in range(16)]
    for ticket in tickets:
        one.drop(ticket)
        one.failed(ticket, 0.0, DOWN)
    rests, now = [], 0.0
    for _ in range(8):
        assert one.suspect
        assert not one.has_room(one.opens_at - 0.01)
        rests.append(one.opens_at - now)
        now = one.opens_at
        probe = one.start(now)
        assert not one.has_room(now)
        one.drop(probe)
        one.failed(probe, now, DOWN)
    assert rests == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_reply_ends_the_rest() -> None:
    """An endpoint that is back starts anew, with sixteen requests at once."""
    one = endpoint()
    for _ in range(6):
        round_trip(one, 0.0, rng=random.Random(0))
    for ticket in [one.start(9.0) for _ in range(10)]:
        one.drop(ticket)
        one.failed(ticket, 9.0, DOWN)
    probe = one.start(10.0)
    one.replied(probe, 11.0)
    one.drop(probe)
    assert not one.suspect
    assert one.has_room(11.0)
    assert one.limit == 16


def test_a_probe_does_not_wait_for_requests_that_hang() -> None:
    """Requests that were sent before the rest don't keep the endpoint from being tried."""
    one = endpoint()
    tickets = [one.start(0.0) for _ in range(16)]
    for ticket in tickets[:10]:
        one.drop(ticket)
        one.failed(ticket, 0.0, DOWN)
    assert one.in_flight == 6
    assert one.has_room(1.0)


def test_nine_failures_and_a_reply_are_no_outage() -> None:
    """Only failures in a row tell of an outage; a refused prompt shows that the server works."""
    one = endpoint()
    for now in range(5):
        for _ in range(endpoints.PATIENCE - 1):
            ticket = one.start(now)
            one.drop(ticket)
            one.failed(ticket, now, DOWN)
        one.works(now + 0.5)
    assert not one.suspect


def test_a_burst_above_what_a_server_takes_is_no_outage() -> None:
    """Requests turned away beside others that got their replies don't rest the endpoint."""
    one = endpoint()
    tickets = [one.start(0.0) for _ in range(16)]
    one.replied(tickets[0], 1.0)
    one.drop(tickets[0])
    for ticket in tickets[1:]:
        one.drop(ticket)
        one.failed(ticket, 1.0, BUSY)
    assert not one.suspect
    assert one.limit < 16


def test_retry_after_is_obeyed() -> None:
    """A reply to another request doesn't shorten it."""
    one = endpoint()
    ticket, other = one.start(0.0), one.start(0.0)
    one.drop(ticket)
    one.failed(ticket, 1.0, Fault('overloaded', Remedy.RETRY, wait=5.0))
    one.replied(other, 2.0)
    one.drop(other)
    assert not one.has_room(5.9)
    assert one.has_room(6.0)


def is_hopeless(one: Endpoint, now: float) -> bool:
    one.lose_hope(now, 300)
    return one.hopeless


def test_an_endpoint_is_hopeless_after_failing_long_enough() -> None:
    """Requests on their way are waited for, and a reply gives hope again."""
    one = endpoint()
    ticket, slow = one.start(0.0), one.start(0.0)
    assert not is_hopeless(one, 1e9)
    one.drop(ticket)
    one.failed(ticket, 10.0, BUSY)
    assert not is_hopeless(one, 309.0)
    assert not is_hopeless(one, 400.0)
    one.drop(slow)
    one.failed(slow, 600.0, BUSY)
    assert is_hopeless(one, 600.0)
    probe = one.start(601.0)
    assert is_hopeless(one, 602.0)
    one.replied(probe, 603.0)
    assert not is_hopeless(one, 1e9)


def test_an_endpoint_that_wants_to_be_left_alone_for_long_is_hopeless() -> None:
    """Even if a reply to another request came after it had said so."""
    one = endpoint()
    ticket, other = one.start(0.0), one.start(0.0)
    one.drop(ticket)
    one.failed(ticket, 1.0, Fault('overloaded', Remedy.RETRY, wait=86_400.0))
    one.replied(other, 2.0)
    one.drop(other)
    assert not is_hopeless(one, 301.0)
    assert is_hopeless(one, 302.0)


def test_requests_go_to_the_freest_endpoint() -> None:
    """What counts is the share of the limit that is used."""
    small, large, resting = endpoint(4), endpoint(), endpoint()
    for _ in range(2):
        small.start(0.0)
    for _ in range(5):
        large.start(0.0)
    resting.failed(resting.start(0.0), 0.0, Fault('overloaded', Remedy.RETRY, wait=9.0))
    assert freest([small, large, resting], 1.0) is large
    assert freest([small, large, resting], 99.0) is resting
    assert freest([], 0.0) is None


@pytest.mark.parametrize(
    ('base', 'url', 'name'),
    [
        ('http://host:8000/v1', 'http://host:8000/v1/chat/completions', 'http://host:8000'),
        (' https://host/v1/ ', 'https://host/v1/chat/completions', 'https://host'),
        (
            'http://host/v1/chat/completions/',
            'http://host/v1/chat/completions',
            'http://host',
        ),
        ('http://host', 'http://host/chat/completions', 'http://host'),
        ('http://[::1]:80/v1', 'http://[::1]:80/v1/chat/completions', 'http://[::1]:80'),
    ],
)
def test_an_address_is_read(base: str, url: str, name: str) -> None:
    """With or without a slash and the path of chat completions."""
    assert read_addresses([base, base])[0][:2] == (url, name)


def test_addresses_may_be_separated_by_commas() -> None:
    """Each is kept once, in its order."""
    found = read_addresses('http://b/v1, http://a/v1,http://b/v1/,')
    assert [one.name for one in found] == ['http://b', 'http://a']


@pytest.mark.parametrize(
    ('base', 'shown'),
    [
        ('host:8000/v1', ''),
        ('ftp://host:21/v1/t0ken', ' (ftp://host:21)'),
        ('http://', ''),
        ('http://h:port', ''),
        ('http://h:99999', ' (http://h:99999)'),
        ('http://a b/v1', ''),
        ('http://[::1', ''),
        ('sk-s3cret', ''),
        ('user:s3cret@host:8000/v1', ''),
        ('https:/user:s3cret@host/v1', ''),
        ('http://host:s3cret/v1', ''),
        ('http://user:s3cret@host/v1', ''),
        ('http://host/v1?key=s3cret', ''),
        ('http://host/v1#s3cret', ''),
        ('http://us/er:s3cret@host/v1', ''),
        ('ftp://u:s3cret@h', ''),
    ],
)
def test_an_address_that_cannot_be_used_is_named_by_its_place(base: str, shown: str) -> None:
    """What may be a key that was put into the wrong place isn't shown."""
    with pytest.raises(ValueError) as error:
        read_addresses(f'http://host/v1, {base}')
    assert str(error.value).startswith(f'entry 2 of api_base of judge{shown} ')


def test_no_address_at_all_is_an_error() -> None:
    """Nor are blanks between commas addresses."""
    with pytest.raises(ValueError, match="give one as 'http://host:8000/v1'"):
        read_addresses(' ,')


def test_a_proxy_comes_from_the_environment_but_never_for_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever no_proxy says."""
    for name in ('http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'all_proxy'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv('http_proxy', 'proxy.example:3128')
    monkeypatch.setenv('https_proxy', 'socks5://proxy.example:1080')
    monkeypatch.setenv('no_proxy', 'inside.example')
    found = {
        one.name: one.proxy
        for one in read_addresses(
            'http://outside.example,http://inside.example,https://outside.example,'
            'http://localhost:1,http://127.0.0.2,http://[::1],http://0.0.0.0:1'
        )
    }
    assert found.pop('http://outside.example') == 'http://proxy.example:3128'
    assert set(found.values()) == {None}


@pytest.mark.parametrize('proxy', ['httpx://x', 'socks5://127.0.0.1:1', 'httpsproxy://x'])
def test_a_proxy_of_another_kind_is_left_out(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only http and https are spoken with one."""
    monkeypatch.setenv('http_proxy', proxy)
    monkeypatch.setenv('no_proxy', '')
    assert read_addresses('http://outside.example')[0].proxy is None


@pytest.mark.parametrize(
    'proxy',
    [
        'http://user:s3c/ret@h:1',
        'http://u:1/ret@h:1',
        'http://proxy:s3c',
        'http://h:99999',
        'http://',
    ],
)
def test_a_proxy_that_is_no_url_is_an_error(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One half of its password may look like a host or a port; nothing of it is shown."""
    monkeypatch.setenv('http_proxy', proxy)
    monkeypatch.setenv('no_proxy', '')
    with pytest.raises(ValueError, match='the proxy for http in the environment') as error:
        read_addresses('http://outside.example')
    assert 's3c' not in str(error.value)


@pytest.mark.parametrize(
    ('rate', 'most_calls', 'most_seconds'), [(2.0, 110, 35.0), (0.5, 110, 160.0)]
)
def test_a_rate_limit_is_kept_to(rate: float, most_calls: int, most_seconds: float) -> None:
    """A server that takes two requests a second, and says nothing of a wait, isn't flooded."""
    one, now, calls, replies, tokens, counted_at = endpoint(), 0.0, 0, 0, 2.0, 0.0
    while replies < 50:
        tickets = []
        while one.has_room(now):
            tickets.append(one.start(now))
        tokens, counted_at = min(2.0, tokens + rate * (now - counted_at)), now
        now += 0.05
        for ticket in tickets:
            calls += 1
            one.drop(ticket)
            if tokens >= 1:
                tokens -= 1
                replies += 1
                one.replied(ticket, now)
            else:
                one.failed(ticket, now, BUSY)
        now = max(now, one.opens_at)
    assert calls <= most_calls
    assert now <= most_seconds


def test_a_blamed_endpoint_gets_no_jobs_and_rests_at_once() -> None:
    """Until it replies to something harmless."""
    one = endpoint()
    one.blamed = True
    ticket = one.start(0.0)
    one.drop(ticket)
    one.failed(ticket, 0.0, DOWN)
    assert one.suspect
    assert freest([one], 99.0) is None
    harmless = one.start(99.0)
    one.replied(harmless, 100.0)
    one.drop(harmless)
    assert freest([one], 100.0) is one
