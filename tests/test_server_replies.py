"""What servers answer, and what it means."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey, RequestInfo
from hypothesis import given, settings
from hypothesis import strategies as st
from judge_server import reply_body
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from opencompass_gpassk.inference.http_client import FATAL, MISPLACED, exception_failure
from opencompass_gpassk.inference.server_replies import Failure, Reply, read_response

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
        ({'Retry-After': '-3'}, 0),
        ({'Retry-After': 'soon'}, 0),
        ({'Retry-After': 'inf'}, 0),
        ({'Retry-After': 'Wed, 21 Oct 2015 07:28:00 GMT'}, 0),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float) -> None:
    """Seconds are; a date or nonsense is no wait."""
    outcome, _ = read_response(429, CIMultiDict(headers), b'')
    assert isinstance(outcome, Failure)
    assert outcome.wait == seconds


@pytest.mark.parametrize(
    ('message', 'expected'),
    [
        ({'content': 'yes'}, Reply('yes', prompt_tokens=1, completion_tokens=1)),
        (
            {'content': None, 'reasoning_content': 'yes'},
            Reply('', prompt_tokens=1, completion_tokens=1, thoughts='yes'),
        ),
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
    thinking['choices'][0]['message']['content'] = None
    assert read(thinking) == Reply('', True, 2, 8192)
    thinking['usage']['completion_tokens'] = 0
    assert read(thinking).kind == 'too long'


def test_tokens_of_a_reply_with_an_error_are_counted() -> None:
    """They are paid for."""
    body = {**reply_body('yes', 'one two'), 'error': 'gone'}
    outcome, tokens = read_response(200, CIMultiDict(), json.dumps(body).encode())
    assert isinstance(outcome, Failure)
    assert tokens == (2, 1)


@pytest.mark.parametrize(
    'raw',
    [
        *(b'', b'{"choi', b'\xff\xfe', b'[' * 100_000, b'nil', reply_body('one', content=7)),
        *(reply_body(None), reply_body('one', content=[]), reply_body(None, finish='tool_calls')),
        reply_body('', tool_calls=[{'function': {'name': 'f'}}]),
    ],
    ids=[
        *('empty', 'cut', 'no UTF-8', 'nested', 'no JSON', 'a number'),
        *('null', 'no part', 'null for a tool', 'a tool'),
    ],
)
def test_a_body_that_holds_no_text_is_a_bad_reply(raw: Any) -> None:
    """Cut off, empty, no UTF-8, nested without end, without a content, or with a tool's call."""
    assert read(raw).kind == 'bad reply'


def test_no_number_is_too_long_to_read() -> None:
    """Python refuses to read 4,301 digits; sums of 4,300 can't be written."""
    raw = json.dumps(reply_body('yes')).replace(
        '"total_tokens": 1', f'"total_tokens": {"9" * 5000}'
    )
    assert '999' in raw
    assert read(raw.encode()) == Reply('yes', completion_tokens=1)


NUMBERS = st.one_of(st.integers(), st.floats(), st.just(10**4299), st.booleans())
KEYS = st.sampled_from(
    [
        *('choices', 'message', 'content', 'text', 'type', 'usage', 'completion_tokens', 'error'),
        *('code', 'detail', 'innererror', 'refusal', 'tool_calls', 'reasoning_content', 'object'),
    ]
)
JSON = st.recursive(
    st.one_of(st.none(), NUMBERS, st.text(st.characters(exclude_categories=()), max_size=9)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=3)),
    max_leaves=6,
)
DEEP = 900  # so deep that Python reads it, but can't write it in every place


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = enumerate(value) if isinstance(value, list) else ()
    for key, part in value.items() if isinstance(value, dict) else inner:
        yield from places(part, (*path, key))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    changed = value.copy()
    changed[path[0]] = replaced(value[path[0]], path[1:], new)
    return changed


@settings(max_examples=500)
@given(st.data())
def test_no_body_raises(data: st.DataObject) -> None:
    """Whatever stands in the place of any part of a reply or an error, and wherever it is cut."""
    good = {**reply_body('yes', tool_calls=[]), 'error': {'message': 'm', 'code': 1}}
    body = replaced(good, data.draw(st.sampled_from(list(places(good)))), data.draw(JSON))
    raw = json.dumps(body).encode()
    nested = b'[' * DEEP + b']' * DEEP
    for change in data.draw(st.lists(st.sampled_from((b'"yes"', b'"m"', b'null')), max_size=2)):
        raw = raw.replace(change, nested)
    raw = raw[: data.draw(st.integers(0, len(raw)))] if data.draw(st.booleans()) else raw
    retry = data.draw(st.one_of(st.text(max_size=9), st.sampled_from(('9' * 4301, ' ', 'Mon,'))))
    status = data.draw(st.sampled_from((200, 204, 302, 400, 429, 500)))
    outcome, tokens = read_response(status, CIMultiDict({'Retry-After': retry}), raw)
    assert isinstance(outcome, (Failure, Reply))
    assert all(0 <= count <= 10**9 for count in tokens)
