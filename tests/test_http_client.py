"""A client of real servers on this machine, which behave and misbehave."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import web
from judge_server import JudgeServer, reply_body

from opencompass_gpassk.inference import http_client as client
from opencompass_gpassk.inference.server_replies import Failure, Outcome, Reply
from opencompass_gpassk.judging.judge import JudgeError, Ledger, ServedJudge
from opencompass_gpassk.judging.settings import JudgeSettings

KEY = 'sk-0123456789abcdef'
NOWHERE = 'http://127.0.0.1:9/v1'  # nothing listens at the port of the discard protocol
MIXED = dict.fromkeys(('429', '503', '500', 'reset', 'empty', 'not json'), 0.04)
MIXED |= {'truncate': 0.02, 'cut': 0.02}
MIXED['hang'] = 0.02


@pytest.fixture(autouse=True)
def _impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait for milliseconds where one waits for seconds."""
    monkeypatch.setattr(client, 'FIRST_BACKOFF', 0.01)
    monkeypatch.setattr(client, 'LONGEST_BACKOFF', 0.1)
    monkeypatch.setattr(client, 'FIRST_REST', 0.01)
    monkeypatch.setattr(client, 'LONGEST_REST', 0.02)


def judge_at(base: str | list[str], *, key: str | None = None, **settings: Any) -> ServedJudge:
    """Return a judge whose key is in the environment variable MY_KEY."""
    with patch.dict(os.environ, {'MY_KEY': key or ''}):
        return ServedJudge(
            JudgeSettings(
                mode='llm', model='judge', api_base=base, api_key_env='MY_KEY', **settings
            )
        )


def asked(
    base: str | list[str], prompts: Iterable[str], **settings: Any
) -> tuple[dict[Any, Any], Ledger]:
    """Return the outcomes of prompts that are their own keys, each of which came once."""
    found: dict[Any, Any] = {}
    ledger = Ledger()

    def receive(key: Hashable, outcome: Outcome) -> bool:
        assert key not in found
        found[key] = outcome
        return False

    judge_at(base, **settings).ask(((prompt, prompt) for prompt in prompts), receive, ledger)
    return found, ledger


def echo(prompt: str) -> str:
    return f'said {prompt}'


def test_every_prompt_gets_its_reply_though_a_third_of_the_requests_fail() -> None:
    """Two endpoints fail at random in every way, and one of them is gone for good halfway."""
    options: dict[str, Any] = {'faults': MIXED, 'hang': 2.0, 'retry_after': '0.002'}
    with (
        JudgeServer(echo, seed=1, **options) as one,
        JudgeServer(echo, seed=2, dies_after=700, **options) as other,
    ):
        found, ledger = asked([one.url, other.url], map(str, range(2000)), timeout=1.0)
        judged = one.judged + other.judged
    assert set(found) == set(map(str, range(2000)))
    assert all(isinstance(reply, Reply) for reply in found.values())
    assert all(reply.text == echo(prompt) for prompt, reply in found.items())
    assert other.calls >= 700  # it did die
    assert set(judged) == set(found)
    # No reply is asked for again but one that was lost on its way: the server died, or the
    # client's time was over.
    lost = sum(ledger.failures[kind] for kind in ('unreachable', 'timeout', 'bad reply'))
    assert judged.total() <= 2000 + lost < ledger.calls
    assert ledger.calls == 2000 + ledger.retries == 2000 + ledger.failures.total()
    assert set(ledger.failures) >= {'overloaded', 'server error', 'unreachable', 'bad reply'}
    assert ledger.completion_tokens == 2 * 2000


def test_a_request_is_what_was_asked_for() -> None:
    """Model, prompt and settings, and fields that replace or drop others; lone surrogates go."""
    with JudgeServer(echo, key=KEY) as server:
        found, _ = asked(
            server.url,
            ['x\ud800y\u2028é'],
            key=KEY,
            extra_body={'seed': 3, 'max_tokens': None, 'max_completion_tokens': 5},
        )
    assert list(server.bodies) == [
        {
            'model': 'judge',
            'temperature': 0.0,
            'seed': 3,
            'max_completion_tokens': 5,
            'messages': [{'role': 'user', 'content': 'x?y\u2028é'}],
        }
    ]
    assert [reply.text for reply in found.values()] == ['said x?y\u2028é']


def test_jobs_are_taken_when_there_is_room() -> None:
    """Of a million prompts only those are made that can be sent."""
    made: list[int] = []

    def prompts() -> Iterator[tuple[int, str]]:
        for number in range(1_000_000):
            made.append(number)
            yield number, str(number)

    class EnoughError(Exception):
        pass

    def receive(key: int, outcome: Outcome) -> bool:
        if key >= 20:
            raise EnoughError
        return False

    with JudgeServer(echo) as server, pytest.raises(EnoughError):
        judge_at(server.url, max_concurrency=4).ask(prompts(), receive, Ledger())
    assert len(made) <= 40


def test_a_callback_may_ask_once_more() -> None:
    """As for a reply that can't be read."""
    seen: list[str] = []

    def receive(key: str, outcome: Outcome) -> bool:
        seen.append(key)
        return key == 'b' and seen.count('b') == 1

    ledger = Ledger()
    with JudgeServer(echo) as server:
        judge = judge_at(server.url)
        judge.ask([('a', 'x'), ('b', 'y')], receive, ledger)
    assert Counter(seen) == {'a': 1, 'b': 2}
    assert (ledger.calls, ledger.retries) == (3, 1)


def test_a_callback_that_fails_ends_the_asking() -> None:
    """Its error is what is raised, and it is called no more."""
    calls: list[int] = []

    def receive(key: int, outcome: Outcome) -> bool:
        calls.append(key)
        raise OSError('no space left')

    with JudgeServer(echo, latency=0.01) as server, pytest.raises(OSError, match='no space left'):
        judge_at(server.url).ask(((n, str(n)) for n in range(100)), receive, Ledger())
    assert len(calls) == 1


def test_jobs_that_fail_end_the_asking() -> None:
    """What their making raises comes out."""

    def broken() -> Iterator[tuple[int, str]]:
        yield 1, 'x'
        raise KeyError('y')

    with JudgeServer(echo) as server, pytest.raises(KeyError, match='y'):
        judge_at(server.url).ask(broken(), lambda *_: False, Ledger())


def test_nothing_to_ask_needs_no_server() -> None:
    """Not even one that is there."""
    found, ledger = asked(NOWHERE, [])
    assert (found, ledger.calls) == ({}, 0)


@pytest.mark.parametrize(
    ('kind', 'key', 'words'),
    [
        ('key', KEY, r'at http://127.0.0.1:\d+ refuses the key in .* MY_KEY \(401\)'),
        ('key', None, r'at http://127.0.0.1:\d+ asks for a key; .* MY_KEY'),
        ('model', KEY, r"knows no model 'judge'.* The model `judge` does not exist"),
        ('quota', KEY, r'the quota is used up: 429: You have no credit left'),
    ],
)
def test_what_nothing_can_succeed_after_stops_at_once(
    kind: str, key: str | None, words: str
) -> None:
    """The error names endpoint and remedy, never the key that the server repeats."""
    with JudgeServer(always=kind) as server, pytest.raises(JudgeError, match=words) as error:
        asked(server.url, map(str, range(1000)), key=key)
    assert KEY not in str(error.value)
    assert server.calls <= 64


def test_a_redirect_is_not_followed() -> None:
    """The key is for one host alone."""
    with JudgeServer() as other:
        there = web.Response(status=307, headers={'Location': f'{other.url}/chat/completions'})
        with (
            JudgeServer(respond=lambda body: there) as server,
            pytest.raises(JudgeError, match=rf'redirects to {other.url[:-3]}, where'),
        ):
            asked(server.url, ['x'], key=KEY)
        assert other.calls == 0


@pytest.mark.parametrize(
    ('fault', 'kind'), [('context', 'too long'), ('filter', 'filtered'), ('refuse', 'refused')]
)
def test_a_prompt_that_is_refused_is_not_asked_again(fault: str, kind: str) -> None:
    """The others get their replies."""

    def respond(body: dict[str, Any]) -> web.Response | None:
        refused = body['messages'][0]['content'].startswith('bad')
        server.always = fault if refused else None
        return None

    with JudgeServer(echo, respond=respond) as server:
        prompts = [f'bad {n}' for n in range(3)] + [f'good {n}' for n in range(30)]
        found, ledger = asked(server.url, prompts)
    assert {found[prompt].kind for prompt in prompts[:3]} == {kind}
    assert all(found[prompt].permanent for prompt in prompts[:3])
    assert all(isinstance(found[prompt], Reply) for prompt in prompts[3:])
    assert (ledger.retries, ledger.failures) == (0, {kind: 3})


def by_prompt(server: JudgeServer, faults: dict[str, str]) -> None:
    """Let a server fail in the way that stands under the first word of a prompt."""

    def respond(body: dict[str, Any]) -> None:
        server.always = faults.get(body['messages'][0]['content'].split()[0])

    server.respond = respond


def test_a_prompt_that_is_forbidden_is_refused_where_others_are_answered() -> None:
    """It is tried once more, since a key may be blocked at any time."""
    with JudgeServer(echo, latency=0.01) as server:
        by_prompt(server, {'bad': 'forbidden'})
        prompts = ['bad 1', *map(str, range(1000))]
        found, ledger = asked(server.url, prompts, max_concurrency=8)
    assert (found['bad 1'].kind, found['bad 1'].permanent) == ('refused', True)
    assert ledger.failures['forbidden'] >= 2
    assert sum(isinstance(outcome, Reply) for outcome in found.values()) == 1000


@pytest.mark.parametrize('kind', ['model', 'forbidden', 'refuse', 'redirect'])
def test_an_endpoint_that_is_not_what_it_was_is_rested(kind: str) -> None:
    """Its work moves to the other, and none of its prompts is blamed."""
    sent = iter(range(20))

    def dying(body: dict[str, Any]) -> web.Response | None:
        if next(sent, None) is not None:
            return None
        dies.always = kind
        login = {'Location': 'http://login.example'}
        return web.Response(status=302, headers=login) if kind == 'redirect' else None

    with JudgeServer(echo) as lives, JudgeServer(echo, respond=dying) as dies:
        if kind == 'refuse':  # after a reply that would be the prompts' own fault
            sent = iter(range(0))
        found, ledger = asked([dies.url, lives.url], map(str, range(200)))
    lost = {key: one for key, one in found.items() if isinstance(one, Failure)}
    assert lost == {}
    assert ledger.failures.total() > 0


@pytest.mark.parametrize('kind', ['model', 'forbidden'])
def test_the_only_endpoint_may_come_back(kind: str) -> None:
    """Once it has replied, it is waited for as if it were down, and in the end given up."""
    sent = iter(range(60))

    def respond(body: dict[str, Any]) -> None:
        server.always = kind if 20 <= next(sent, 0) < 60 else None

    with JudgeServer(echo, respond=respond) as server:
        found, _ = asked(server.url, map(str, range(50)))
        assert all(isinstance(outcome, Reply) for outcome in found.values())
        sent = iter([0, *[30] * 10_000])
        found, _ = asked(server.url, map(str, range(50)), give_up_after=0.2, max_concurrency=1)
    failures = [outcome for outcome in found.values() if isinstance(outcome, Failure)]
    assert len(failures) == 49
    assert not any(failure.permanent for failure in failures)


@pytest.mark.parametrize('patience', [5.0, 0.05])
def test_what_is_on_its_way_is_kept_when_nothing_more_can_be_asked(
    patience: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is paid for; but it is waited for only so long."""
    monkeypatch.setattr(client, 'GRACE', patience)
    sent = iter(range(100))

    def respond(body: dict[str, Any]) -> None:
        server.always = 'quota' if next(sent) == 9 else None

    handed: list[Any] = []
    with (
        JudgeServer(echo, latency=0.15, respond=respond) as server,
        pytest.raises(JudgeError, match='quota'),
    ):
        judge_at(server.url).ask(
            ((n, str(n)) for n in range(100)), lambda *one: handed.append(one) or False, Ledger()
        )
    assert len(handed) == (server.calls - 1 if patience > 1 else 0)
    assert all(isinstance(outcome, Reply) for _, outcome in handed)


def test_retries_are_bounded() -> None:
    """One prompt that always breaks the server fails, with the server's words; others don't."""

    def respond(body: dict[str, Any]) -> web.Response | None:
        poison = body['messages'][0]['content'] == 'poison'
        return web.Response(status=500, text='oops') if poison else None

    with JudgeServer(echo, respond=respond, latency=0.002) as server:
        prompts = ['poison', *map(str, range(200))]
        found, ledger = asked(server.url, prompts, retries=3)
    assert (found['poison'].kind, found['poison'].permanent) == ('server error', False)
    assert 'oops' in found['poison'].detail
    assert sum(isinstance(outcome, Reply) for outcome in found.values()) == 200
    assert set(ledger.failures) == {'server error'}
    assert 4 <= ledger.failures['server error'] <= 8  # before the first reply none counts


def test_an_outage_uses_up_no_retries() -> None:
    """A server that is down for a while is waited for, however few retries a prompt has."""
    down = iter(range(60))

    def respond(body: dict[str, Any]) -> web.Response | None:
        return web.Response(status=500) if next(down, None) is not None else None

    with JudgeServer(echo, respond=respond) as server:
        # Until it is clear that the server is down, each prompt fails a few times.
        found, _ = asked(server.url, map(str, range(100)), retries=3, max_concurrency=4)
    assert all(isinstance(outcome, Reply) for outcome in found.values())


def test_work_moves_away_from_an_endpoint_that_is_not_there() -> None:
    """Whoever it is, its prompts get their replies elsewhere, without a single retry to spare."""
    with JudgeServer(echo) as server:
        found, ledger = asked([NOWHERE, server.url], map(str, range(100)), retries=0)
    assert all(isinstance(outcome, Reply) for outcome in found.values())
    assert ledger.failures['unreachable'] > 0


def test_a_server_that_wants_a_day_is_asked_again_after_a_minute() -> None:
    """Here the minute is 20 ms."""
    first = iter([True])

    def respond(body: dict[str, Any]) -> web.Response | None:
        if next(first, False):
            return web.Response(status=429, headers={'Retry-After': '86400'})
        return None

    with JudgeServer(echo, respond=respond, latency=0.05) as server:
        found, _ = asked(server.url, ['a', 'b', 'c'])
    assert all(isinstance(outcome, Reply) for outcome in found.values())


@pytest.mark.parametrize('base', [NOWHERE, None])
def test_the_rest_is_given_up_where_nobody_replies(base: str | None) -> None:
    """Every prompt is handed over with what is wrong, as something that may pass."""
    with JudgeServer(always='503', retry_after='60') as server:
        found, ledger = asked(base or server.url, map(str, range(500)), give_up_after=0.2)
    kind = 'unreachable' if base else 'overloaded'
    assert len(found) == 500
    assert {(outcome.kind, outcome.permanent) for outcome in found.values()} == {(kind, False)}
    assert 'http://127.0.0.1:' in found['0'].detail
    assert 0 < ledger.calls < 250  # and most of them unasked


def test_a_slow_server_is_not_given_up() -> None:
    """As long as it has not failed, replies may take longer than the patience with failures."""
    with JudgeServer(echo, latency=0.3) as server:
        found, _ = asked(server.url, ['a', 'b'], give_up_after=0.1)
    assert all(isinstance(outcome, Reply) for outcome in found.values())


def test_a_deadline_ends_everything() -> None:
    """What is on its way is called back, and what is left is handed over."""
    with JudgeServer(echo, latency=lambda: 0.01 if server.calls <= 16 else 60) as server:
        found, ledger = asked(server.url, map(str, range(100)), deadline=0.3)
    replies = [outcome for outcome in found.values() if isinstance(outcome, Reply)]
    late = [outcome for outcome in found.values() if isinstance(outcome, Failure)]
    assert len(replies) + len(late) == 100
    assert len(late) >= 84 - 16
    assert {outcome.kind for outcome in late} == {'deadline'}
    assert ledger.failures['deadline'] == ledger.calls - len(replies)
    assert server.judged.total() <= 16  # those that take a minute were not waited for


def test_a_deadline_loses_no_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also none that is just about to be sent."""
    monkeypatch.setattr(client, 'TICK', 0.002)
    with JudgeServer(echo) as server:
        for trial in range(15):
            found, _ = asked(
                server.url, map(str, range(1000)), deadline=0.03 + 0.002 * trial, max_concurrency=64
            )
            assert len(found) == 1000


def test_a_reply_without_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A body above the limit is a bad reply."""
    monkeypatch.setattr('opencompass_gpassk.inference.http_client.LONGEST_RESPONSE', 1000)
    with JudgeServer(lambda prompt: 'x' * 2000) as server:
        found, ledger = asked(server.url, ['a'], give_up_after=0.1)
    assert (found['a'].kind, found['a'].permanent) == ('bad reply', False)
    assert ledger.calls > 1


def test_the_key_is_replaced_wherever_it_comes_back() -> None:
    """In a reply, in an error's words and in a page that is no JSON."""

    def respond(body: dict[str, Any]) -> web.Response | None:
        words = f'you sent {server.headers["Authorization"]}'
        return {
            'reply': web.json_response(reply_body(words)),
            'error': web.json_response({'error': {'message': words}}, status=422),
            'page': web.Response(text=words, status=500),
            'host': web.Response(text=words),
        }[body['messages'][0]['content']]

    with JudgeServer(respond=respond) as server:
        found, _ = asked(server.url, ['reply', 'error', 'page', 'host'], key=KEY, retries=1)
    assert found['reply'].text == 'you sent Bearer [key]'
    assert 'Bearer [key]' in found['error'].detail
    assert 'Bearer [key]' in found['page'].detail
    assert KEY not in repr(found)


@pytest.mark.parametrize(
    'settings',
    [
        {'base': 'ftp://a/v1'},
        {'base': 'http://a/v1', 'key': f'{KEY}\r\nX-Other: 1'},
        {'base': 'http://a/v1', 'max_concurrency': 0},
        {'base': 'http://a/v1', 'key': KEY, 'extra_body': {'a': [f'Bearer {KEY}']}},
        {'base': 'http://a/v1', 'key': KEY, 'extra_body': {KEY.upper(): 1}},
        {'base': 'http://a/v1', 'extra_body': {'stream': True}},
        {'base': 'http://a/v1', 'extra_body': {'messages': []}},
        {'base': 'http://a/v1', 'extra_body': {'model': 'x'}},
        {'base': 'http://a/v1', 'extra_body': {'seed': {1}}},
        {'base': 'http://a/v1', 'extra_body': {'x': float('nan')}},
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any]) -> None:
    """Before anything is sent, and without the key."""
    with pytest.raises(ValueError) as error:
        judge_at(**settings)
    assert KEY not in str(error.value)


INTERRUPTED = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
from opencompass_gpassk.inference.http_client import Client, Counts
print('asking', flush=True)
judge = Client(sys.argv[1], key_env='NO_KEY', cut_slow=True)
fields = {'model': 'm', 'messages': [{'role': 'user', 'content': 'x'}]}
judge.ask(((n, fields) for n in range(100)), lambda *_: False, Counts())
"""


@pytest.mark.skipif(os.name != 'posix', reason='sends a signal')
def test_an_interrupt_ends_it_promptly() -> None:
    """Ctrl-C leaves a KeyboardInterrupt and no complaints of tasks that were destroyed."""
    with JudgeServer(always='hang') as server:
        process = subprocess.Popen(
            [sys.executable, '-c', INTERRUPTED, server.url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        until = time.monotonic() + 30
        while server.calls < 16 and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=10)
    assert complaints.rstrip().endswith('KeyboardInterrupt')
    assert 'never retrieved' not in complaints
    assert 'destroyed' not in complaints


def test_nothing_is_left_open(recwarn: pytest.WarningsRecorder) -> None:
    """Not even where asking ended with an error."""
    with JudgeServer(echo, key=KEY) as server:
        asked(server.url, ['a'], key=KEY)
        with pytest.raises(JudgeError):
            asked(server.url, map(str, range(100)), key='wrong-key')
    gc.collect()
    warnings = [str(warning.message) for warning in recwarn]
    to_server = f"raddr=('127.0.0.1', {server.port})"
    assert [words for words in warnings if 'client' in words or to_server in words] == []


def fields_of(prompts: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield requests whose keys are their prompts."""
    for prompt in prompts:
        yield prompt, {'model': 'm', 'messages': [{'role': 'user', 'content': prompt}]}


@pytest.mark.parametrize('number', [1, 2])
def test_what_takes_far_longer_than_others_is_asked_again(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Elsewhere, or at the only endpoint; no timeout is waited for."""
    monkeypatch.setattr(client, 'SLOW', 0.2)
    faults = {'hang': 0.05}
    with (
        JudgeServer(echo, faults=faults, seed=1, hang=60) as one,
        JudgeServer(echo, faults=faults, seed=2, hang=60) as other,
    ):
        bases = [one.url, other.url][:number]
        found, ledger = asked(bases, map(str, range(300)))
        judged = one.judged + other.judged
    assert all(reply.text == echo(prompt) for prompt, reply in found.items())
    assert ledger.failures['timeout'] > 5
    assert set(ledger.failures) == {'timeout'}
    assert judged.total() == 300


def test_a_server_that_takes_its_time_to_come_up_is_waited_for(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First nothing listens, then it is loading; the user is told at once that it is tried on."""
    with JudgeServer(echo) as server:
        port = server.port
    servers: list[JudgeServer] = []

    def come_up() -> None:
        loading = iter(range(30))

        def respond(body: dict[str, Any]) -> web.Response | None:
            return web.Response(status=503) if next(loading, None) is not None else None

        servers.append(JudgeServer(echo, port=port, respond=respond))

    threading.Timer(0.5, come_up).start()
    found, _ = asked(f'http://127.0.0.1:{port}/v1', map(str, range(50)), retries=1)
    servers[0].close()
    assert all(isinstance(outcome, Reply) for outcome in found.values())
    (record,) = caplog.records
    assert f'http://127.0.0.1:{port}' in record.getMessage()
    assert '300 s' in record.getMessage()


def test_a_server_that_never_replied_is_told_of_though_it_does_not_fail(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be loading its model, or the address may be wrong."""
    monkeypatch.setattr(client, 'FIRST_WORD', 0.1)
    with JudgeServer(echo, latency=0.5) as server:
        asked(server.url, ['a', 'b'])
    (record,) = caplog.records
    assert 'has not replied yet' in record.getMessage()
    assert '300 s' in record.getMessage()


def test_the_key_goes_to_the_named_host_alone() -> None:
    """Whatever a server says of other places, and whatever other keys there are."""
    hosts: list[tuple[int, str | None]] = []

    def log(server: JudgeServer) -> Any:
        return lambda body: hosts.append((server.port, server.headers.get('Authorization')))

    with JudgeServer(echo) as one, JudgeServer(echo) as other, JudgeServer() as elsewhere:
        for server in (one, other, elsewhere):
            server.respond = log(server)
        moved = {'Location': f'{elsewhere.url}/chat/completions'}
        first = iter(range(10))

        def respond(body: dict[str, Any]) -> web.Response | None:
            log(other)(body)
            if next(first, None) is not None:
                return None
            return web.Response(status=307, headers=moved)

        other.respond = respond
        with patch.dict(os.environ, {'OPENAI_API_KEY': 'sk-of-another-place'}):
            found, _ = asked([one.url, other.url], map(str, range(100)), key=KEY)
    assert all(isinstance(outcome, Reply) for outcome in found.values())
    assert {host for host, _ in hosts} == {one.port, other.port}
    assert {key for _, key in hosts} == {f'Bearer {KEY}'}


def test_what_a_server_says_is_one_short_printable_line_without_the_key() -> None:
    """Half a key at the end of an excerpt would be found by nobody; no terminal obeys it."""
    words = f'\x1b[2J\x07 a\r\nb{"x" * 280}Bearer {KEY.upper()} {"y" * 5000}'
    page = web.Response(status=422, text=words)
    with JudgeServer(echo, respond=lambda body: page if 'bad' in str(body) else None) as server:
        found, _ = asked(server.url, ['good', 'bad'], key=KEY)
    detail = found['bad'].detail
    assert detail.startswith('422: \ufffd[2J\ufffd a b')
    assert len(detail) <= 300
    assert detail.isprintable()
    assert KEY[:4].upper() not in detail


def test_the_key_comes_from_the_named_variable_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """By default from OC_JUDGE_API_KEY; without one none is sent."""
    monkeypatch.setenv('OC_JUDGE_API_KEY', 'sk-default')
    monkeypatch.delenv('MY_KEY', raising=False)
    sent = []
    with JudgeServer(echo) as server:
        place: dict[str, Any] = {'mode': 'llm', 'model': 'judge', 'api_base': server.url}
        for own in ({}, {'api_key_env': 'MY_KEY'}):
            judge = ServedJudge(JudgeSettings(**place, **own))
            judge.ask([('a', 'a')], lambda *_: False, Ledger())
            sent.append(server.headers.get('Authorization'))
    assert sent == ['Bearer sk-default', None]


def test_a_placeholder_is_no_key() -> None:
    """The key of a server without keys may be a word of a reply."""
    with JudgeServer(lambda prompt: 'The set is EMPTY.') as server:
        found, _ = asked(server.url, ['x'], key='EMPTY')
    assert found['x'].text == 'The set is EMPTY.'
