"""Addresses of endpoints, and how many requests each is sent at once and when none."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import pytest
from aiohttp import web
from judge_server import JudgeServer

from opencompass_gpassk.inference import http_client as client
from opencompass_gpassk.inference.http_client import Client, Counts, read_addresses
from opencompass_gpassk.inference.server_replies import Outcome, Reply


def ask(bases: str | list[str], number: int, **settings: Any) -> Counts:
    """Ask so many prompts, all of which must get replies."""
    found: dict[int, Outcome] = {}
    counts = Counts()

    def receive(key: int, outcome: Outcome) -> bool:
        found[key] = outcome
        return False

    def requests() -> Iterable[tuple[int, dict[str, Any]]]:
        for n in range(number):
            yield n, {'model': 'm', 'messages': [{'role': 'user', 'content': str(n)}]}

    Client(bases, key_env='NO_KEY', cut_slow=True, **settings).ask(requests(), receive, counts)
    assert len(found) == number
    assert all(isinstance(outcome, Reply) for outcome in found.values())
    return counts


@pytest.fixture(autouse=True)
def _impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, 'FIRST_BACKOFF', 0.01)
    monkeypatch.setattr(client, 'LONGEST_BACKOFF', 0.1)


def echo(prompt: str) -> str:
    return f'said {prompt}'


def test_the_number_of_requests_grows_while_replies_come() -> None:
    """From sixteen at once to the most that is allowed, and never above."""
    with JudgeServer(echo, latency=0.05) as server:
        ask(server.url, 16)
        assert server.most_at_once == 16
        ask(server.url, 1000, max_concurrency=100)
        assert 64 < server.most_at_once <= 100
    with JudgeServer(echo, latency=0.01) as server:
        ask(server.url, 100, max_concurrency=3)
        assert server.most_at_once == 3


def test_a_server_is_sent_about_as_many_requests_as_it_takes() -> None:
    """It answers 429 above forty at once; few requests are wasted on that."""
    with JudgeServer(echo, latency=0.02, most=40) as server:
        counts = ask(server.url, 2000)
    assert counts.failures['overloaded'] < 800
    assert set(counts.failures) == {'overloaded'}


def test_a_server_is_left_alone_as_long_as_it_asks() -> None:
    """Whatever it answers to other requests meanwhile."""
    arrived: list[float] = []

    def respond(body: dict[str, Any]) -> web.Response | None:
        arrived.append(time.monotonic())
        if len(arrived) > 4:
            return None
        return web.Response(status=429, headers={'Retry-After': '0.4'})

    with JudgeServer(echo, respond=respond) as server:
        ask(server.url, 20, max_concurrency=4)
    assert arrived[4] - arrived[3] >= 0.35


def test_a_server_that_fails_again_and_again_rests_twice_as_long_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After each it gets one request, of which there are few in one and a half seconds."""
    monkeypatch.setattr(client, 'FIRST_REST', 0.05)
    with JudgeServer(echo, always='500') as server:
        requests = [(n, {'model': 'm', 'messages': []}) for n in range(16)]
        asking = Client(server.url, key_env='NO_KEY', cut_slow=True, give_up_after=1.5)
        asking.ask(requests, lambda key, outcome: False, Counts())
        assert 16 + 2 <= server.calls <= 16 + 10 + 6


def test_work_goes_to_the_endpoint_with_the_most_room() -> None:
    """One that takes long is sent less."""
    with JudgeServer(echo, latency=0.01) as fast, JudgeServer(echo, latency=0.2) as slow:
        ask([slow.url, fast.url], 1000, max_concurrency=16)
    assert fast.calls > 4 * slow.calls


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
    'base',
    [
        'host:8000/v1',
        'ftp://host:21/v1/t0ken',
        'http://',
        'http://h:port',
        'http://h:99999',
        'http://a b/v1',
        'http://a..b/v1',
        f'http://{"a" * 64}.example/v1',
        'http://[::1',
        'sk-s3cret',
        'user:s3cret@host:8000/v1',
        'https:/user:s3cret@host/v1',
        'http://host:s3cret/v1',
        'http://user:s3cret@host/v1',
        'http://host/v1?key=s3cret',
        'http://host/v1#s3cret',
        'http://us/er:s3cret@host/v1',
        'ftp://u:s3cret@h',
    ],
)
def test_an_address_that_cannot_be_used_is_named_by_its_place(base: str) -> None:
    """What may be a key that was put into the wrong place isn't shown."""
    with pytest.raises(ValueError, match='entry 2 of api_base is no URL') as error:
        read_addresses(f'http://host/v1, {base}')
    assert 's3cret' not in str(error.value)


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
        'http://proxy:s3c',
        'http://h:99999',
    ],
)
def test_a_proxy_that_is_no_url_is_an_error(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One half of its password may look like a host or a port; nothing of it is shown."""
    monkeypatch.setenv('http_proxy', proxy)
    monkeypatch.setenv('no_proxy', '')
    with pytest.raises(ValueError, match='the proxy for http in the environment') as error:
        read_addresses('http://outside.example')
    assert 's3c' not in str(error.value)


@pytest.mark.parametrize(('seconds', 'timeout', 'most'), [(0.2, 60.0, 12), (0.3, 0.25, 40)])
def test_a_slow_server_is_not_loaded_with_repeats(
    seconds: float, timeout: float, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It works at one request at a time: a repeat waits for the others, a time-out grows."""
    monkeypatch.setattr(client, 'SLOW', 0.15)
    monkeypatch.setattr(client, 'FIRST_REST', 0.01)
    with JudgeServer(echo, latency=seconds, at_once=1) as server:
        counts = ask(server.url, 12, timeout=timeout, give_up_after=4.0)
    assert counts.calls <= most
