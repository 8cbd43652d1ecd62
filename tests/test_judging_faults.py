"""What servers answer, and what it means."""

from __future__ import annotations

import asyncio
import errno
import json
from email.utils import formatdate
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey, RequestInfo
from judge_server import reply_body
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from opencompass_gpassk.inference.client import (
    FATAL,
    MISPLACED,
    Failure,
    Reply,
    exception_failure,
    read_response,
)

RESPONSES = json.loads((Path(__file__).parent / 'cases/judge_responses.json').read_text('utf-8'))
HOST = ConnectionKey('host.example', 80, False, True, None, None, None)


def read(body: Any, status: int = 200) -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return read_response(status, CIMultiDict(), raw)[0]


@pytest.mark.parametrize('case', RESPONSES, ids=lambda case: case['id'])
def test_a_response_means_one_thing(case: dict[str, Any]) -> None:
    """Each server's way to refuse is told apart from what may pass."""
    raw = case.get('text', '') if case['body'] is None else json.dumps(case['body'])
    headers = CIMultiDict(case.get('headers', {}))
    outcome, tokens = read_response(case['status'], headers, raw.encode())
    assert isinstance(outcome, Failure)
    assert outcome.kind == case['kind']
    stops = outcome.kind in FATAL | MISPLACED
    assert ('stop' if stops else 'skip' if outcome.permanent else 'retry') == case['remedy']
    assert outcome.detail
    assert case.get('quoted', '') in outcome.detail
    assert 's3cret' not in outcome.detail
    assert tokens == (0, 0)


@pytest.mark.parametrize(
    ('error', 'kind', 'reached'),
    [
        (aiohttp.ClientConnectorError(HOST, OSError(111, 'refused')), 'unreachable', False),
        (aiohttp.ServerTimeoutError('Connection timeout'), 'unreachable', False),
        (aiohttp.ClientConnectorError(HOST, OSError(errno.EMFILE, 'x')), 'overloaded', False),
        (aiohttp.ServerDisconnectedError(), 'unreachable', True),
        (ConnectionResetError(104, 'reset'), 'unreachable', True),
        (asyncio.TimeoutError(), 'timeout', True),
        (aiohttp.ClientPayloadError('not enough data'), 'bad reply', True),
    ],
)
def test_every_exception_may_pass(error: Exception, kind: str, reached: bool) -> None:
    """A job isn't blamed for a request that no server got."""
    failure = exception_failure(error)
    assert (failure.kind, failure.reached, failure.permanent) == (kind, reached, False)
    assert type(error).__name__ in failure.detail


REQUEST = RequestInfo(URL('http://h/t0ken-s3cret'), 'POST', CIMultiDictProxy(CIMultiDict()))


@pytest.mark.parametrize(
    ('error', 'told'),
    [
        (
            aiohttp.ClientOSError(1, 'no way to http://user:s3c/ret@proxy.example:3128 today'),
            '[Errno 1]',
        ),
        (aiohttp.ConnectionTimeoutError('Timeout: host https://h/t0ken-s3cret'), 'Timeout: host'),
        (
            aiohttp.ClientResponseError(REQUEST, (), status=400, message='X-Echo: Bearer sk-s3cr'),
            '400',
        ),
        (aiohttp.ClientHttpProxyError(REQUEST, (), status=407, message='s3cret'), '407'),
        (aiohttp.ClientPayloadError('not enough data: s3cret'), ''),
        (aiohttp.InvalidURL('http://user:s3c/ret@h'), ''),
    ],
)
def test_exceptions_are_not_quoted_where_they_quote(error: Exception, told: str) -> None:
    """They may hold half a key that a server repeats, a proxy's password, or a token in a path."""
    detail = exception_failure(error).detail
    assert type(error).__name__ in detail
    assert told in detail
    assert 's3c' not in detail and 'ret@' not in detail


@pytest.mark.parametrize(
    ('headers', 'seconds'),
    [
        ({}, 0),
        ({'Retry-After': '7'}, 7),
        ({'retry-after': '0.25'}, 0.25),
        ({'Retry-After': '9', 'retry-after-ms': '1500'}, 1.5),
        ({'Retry-After': '-3'}, 0),
        ({'Retry-After': 'soon'}, 0),
        ({'Retry-After': 'inf'}, 0),
        ({'Retry-After': 'Wed, 21 Oct 2015 07:28:00 GMT'}, 0),
        ({'Retry-After': 'Wed, 99 Oct 99999 07:28:00 GMT'}, 0),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float) -> None:
    """Seconds, milliseconds and dates that are over; nonsense is no wait."""
    outcome, _ = read_response(429, CIMultiDict(headers), b'')
    assert isinstance(outcome, Failure)
    assert outcome.wait == seconds


def test_retry_after_may_be_a_date(monkeypatch: pytest.MonkeyPatch) -> None:
    """A date ahead is as many seconds as it lies ahead."""
    monkeypatch.setattr('time.time', lambda: 1_800_000_000.0)
    date = formatdate(1_800_000_090, usegmt=True)
    outcome, _ = read_response(503, CIMultiDict({'Retry-After': date}), b'')
    assert isinstance(outcome, Failure)
    assert outcome.wait == 90


@pytest.mark.parametrize(
    ('message', 'expected'),
    [
        ({'content': 'yes'}, Reply('yes', prompt_tokens=1, completion_tokens=1)),
        ({'content': None}, Reply('', prompt_tokens=1, completion_tokens=1)),
        (
            {'content': [{'type': 'text', 'text': 'a'}, {'type': 'x'}, {'text': 'b'}]},
            Reply('ab', prompt_tokens=1, completion_tokens=1),
        ),
        (
            {'content': '', 'reasoning_content': 'yes'},
            Reply('', prompt_tokens=1, completion_tokens=1, thoughts='yes'),
        ),
        (
            {'content': 'no', 'reasoning': 'yes'},
            Reply('no', prompt_tokens=1, completion_tokens=1, thoughts='yes'),
        ),
        ({'content': 'y\ud800s'}, Reply('y?s', prompt_tokens=1, completion_tokens=1)),
        ({'content': '', 'refusal': 'no'}, Failure('filtered', True, 'no')),
    ],
)
def test_a_message_is_read(message: dict[str, Any], expected: Reply | Failure) -> None:
    """Only the content is the reply, never the thoughts beside it."""
    assert read(reply_body('one', 'one', **message)) == expected


def test_a_finish_reason_is_heeded() -> None:
    """A length limit truncates, even to nothing; a filter leaves no reply."""
    assert read(reply_body('ye', finish='length')).truncated
    assert not read(reply_body('yes')).truncated
    assert read(reply_body('ye', finish='content_filter')).kind == 'filtered'
    thinking = reply_body('', 'a b', 'length')
    thinking['usage']['completion_tokens'] = 8192
    assert read(thinking) == Reply('', True, 2, 8192)
    thinking['usage']['completion_tokens'] = 0
    assert read(thinking).kind == 'too long'


@pytest.mark.parametrize('error', [None, '', {}, [], False, {'code': None, 'message': ''}])
def test_an_error_that_says_nothing_is_none(error: Any) -> None:
    """Some servers have the field in every reply."""
    assert read({**reply_body('yes'), 'error': error}) == Reply('yes', False, 0, 1)


def test_tokens_of_a_reply_with_an_error_are_counted() -> None:
    """They are paid for."""
    body = {**reply_body('yes', 'one two'), 'error': 'gone'}
    outcome, tokens = read_response(200, CIMultiDict(), json.dumps(body).encode())
    assert isinstance(outcome, Failure)
    assert tokens == (2, 1)


@pytest.mark.parametrize('usage', [None, [], {'prompt_tokens': '3'}, {'prompt_tokens': True}, {}])
def test_a_missing_usage_counts_nothing(usage: Any) -> None:
    """Servers need not count tokens."""
    assert read({**reply_body('yes'), 'usage': usage}) == Reply('yes')


@pytest.mark.parametrize(
    'raw',
    [b'', b'{"choi', b'\xff\xfe', b'[' * 100_000, b'nil', reply_body('one', content=7)],
    ids=['empty', 'cut', 'no UTF-8', 'nested', 'no JSON', 'a number'],
)
def test_a_body_that_holds_no_text_is_a_bad_reply(raw: Any) -> None:
    """Cut off, empty, no UTF-8, nested without end, or with a number as the message."""
    assert read(raw).kind == 'bad reply'


def test_an_error_may_come_in_any_shape() -> None:
    """Nothing in an error's JSON breaks its reading."""
    for body in (None, 3, [], {}, [[]], {'error': None}, {'error': []}, {'message': {'a': 1}}):
        for status in (200, 400, 500):
            assert isinstance(read(body, status), Failure)
