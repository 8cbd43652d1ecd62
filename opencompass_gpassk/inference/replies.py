"""What chat servers answer, and what it means: a reply, or why there is none.

Servers disagree about statuses and words. What they say is sorted into a few kinds of failures: the
prompt's own fault, the endpoint's, the key's, or something that passes.
"""

from __future__ import annotations

import asyncio
import errno
import json
import math
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import aiohttp

__all__ = [
    *('FATAL', 'FILTERED', 'LONGEST_READ', 'MISPLACED', 'TOO_LONG'),
    *('Failure', 'Outcome', 'Reply', 'encodable', 'exception_failure', 'read_response'),
]


@dataclass(frozen=True)
class Reply:
    """A model's reply to one request.

    Attributes:
        text: The text, with thoughts if the server sends them in the same text.
        truncated: Whether it reached the length limit.
        prompt_tokens: Prompt tokens as the server counted them, 0 if it didn't.
        completion_tokens: Completion tokens, likewise.
    """

    text: str
    truncated: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True)
class Failure:
    """Why there is no reply.

    Attributes:
        kind: A short name for counts, such as ``overloaded`` or ``too long``.
        permanent: Whether asking again would not help.
        detail: The server's message, without the key.
        wait: Seconds that the server asks us to wait.
        reached: Whether a server worked on the request, so that the prompt may be at fault.
    """

    kind: str
    permanent: bool
    detail: str = ''
    wait: float = 0.0
    reached: bool = True


Outcome = Reply | Failure

LONGEST_READ = 4000  # characters of a server's message that are searched
PERMANENT = {'too long', 'filtered', 'refused'}  # the prompt's fault, or a setting's
MISPLACED = {'unknown model', 'redirect', 'forbidden'}  # the endpoint's fault, or its address's
FATAL = {'key refused', 'no quota'}

# The words of OpenAI, vLLM, SGLang, LMDeploy, TGI and llama.cpp for a prompt that does not fit.
TOO_LONG = re.compile(
    r'context_length_exceeded|reduce the length|maximum (model|context|input) length'
    r'|context[ _](length|size|window|limit)|longer than the max|max_model_len|session_len'
    r'|(prompt|input) is too long|input length|too many (input )?tokens'
    r'|must have less than \d+ tokens|max_new_tokens`? must be|max_seq_len',
    re.IGNORECASE,
)
# Words that come with an unusual status: llama.cpp's 500, and the 429 for one request above the
# tokens per minute.
EXCEEDS_CONTEXT = re.compile('exceed_context_size', re.IGNORECASE)
ABOVE_RATE = re.compile('request too large', re.IGNORECASE)
FILTERED = re.compile(
    r'content[_ ]?filter|content management|content policy|moderation|data_?inspection'
    r'|(input|prompt|content|request)\b.{0,40}\bflagged|safety (system|filter)'
    r'|inappropriate content',
    re.IGNORECASE,
)
UNKNOWN_MODEL = re.compile(
    r'model_not_found|(unknown|no such|invalid) model|model\b.{0,200}?\b(does not exist|not found)',
    re.IGNORECASE | re.DOTALL,
)
BAD_KEY = re.compile(
    r'invalid_api_key|api_key_invalid|(incorrect|invalid) api key|api key not valid', re.IGNORECASE
)
NO_QUOTA = re.compile(r'insufficient_quota|insufficient balance', re.IGNORECASE)


def read_response(
    status: int, headers: Mapping[str, str], raw: bytes
) -> tuple[Outcome, tuple[int, int]]:
    """Read a server's response.

    Returns:
        The reply or the failure; and the tokens of prompt and completion, paid for in either case.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        text = raw.decode('utf-8', 'replace').strip() or 'an empty body'
        # A body that was cut off may be a good reply: don't search its words for an error.
        cut = status < 300
        return _failed('bad reply' if cut else _kind(status, text), status, headers, text), (0, 0)
    choices = body.get('choices') if isinstance(body, Mapping) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    choice = choice if isinstance(choice, Mapping) else {}
    message = choice.get('message')
    usage = body.get('usage') if isinstance(body, Mapping) else None
    tokens = _count(usage, 'prompt_tokens'), _count(usage, 'completion_tokens')
    error = body.get('error') if isinstance(body, Mapping) else None
    # Some servers send an empty error with good replies.
    wrong = any(error.values()) if isinstance(error, Mapping) else bool(error)
    if status != 200 or wrong or not isinstance(message, Mapping):
        words = _words(body)
        told = error or (body if words else None)
        code = told.get('code') if isinstance(told, Mapping) else None
        if status == 200 and isinstance(code, int) and 400 <= code < 600:
            status = code  # gateways send errors with status 200
        return _failed(_kind(status, words), status, headers, words or 'no choices'), tokens
    content, reason = _text(message.get('content')), choice.get('finish_reason')
    if content is None:
        return Failure('bad reply', False, 'the content is no text'), tokens
    if reason == 'content_filter' or (not content and message.get('refusal')):
        words = str(message.get('refusal') or 'the reply was held back by a content filter')
        return Failure('filtered', True, words), tokens
    if not content and reason == 'length' and usage and usage.get('completion_tokens') == 0:
        # So LMDeploy reports that prompt and max_tokens together exceed the session's length.
        return Failure('too long', True, 'no room for a single token of a reply'), tokens
    return Reply(encodable(content), reason == 'length', *tokens), tokens


def _kind(status: int, words: str) -> str:
    """Return the kind of a failure; words have priority, since servers disagree on the status."""
    words = words[:LONGEST_READ]
    if (
        EXCEEDS_CONTEXT.search(words)
        or (status < 500 and ABOVE_RATE.search(words))
        or (status in (200, 400, 413, 422) and TOO_LONG.search(words))
    ):
        return 'too long'
    if status < 500 and status not in (401, 429) and FILTERED.search(words):
        return 'filtered'
    if status == 401 or (status in (400, 403) and BAD_KEY.search(words)):
        return 'key refused'
    if status == 402 or (status == 429 and NO_QUOTA.search(words)):
        return 'no quota'
    if status in (404, 405) or (status in (400, 422) and UNKNOWN_MODEL.search(words)):
        return 'unknown model'
    if 300 <= status < 400:
        return 'redirect'
    if status >= 500:
        known = {503: 'overloaded', 529: 'overloaded', 504: 'timeout'}
        return known.get(status, 'server error')
    known = {403: 'forbidden', 408: 'timeout', 409: 'server error', 413: 'too long'}
    known |= {425: 'overloaded', 429: 'overloaded'}
    return known.get(status, 'refused' if status >= 400 else 'bad reply')


def _failed(kind: str, status: int, headers: Mapping[str, str], words: str) -> Failure:
    detail = f'{status}: {words}' if words else str(status)
    if kind == 'redirect':
        detail = _host(headers.get('Location', ''))
    wait = _wait_asked_for(headers)
    return Failure(kind, kind in PERMANENT, detail, wait, kind not in ('unknown model', 'redirect'))


def _words(body: Any) -> str:
    """Return the message, type and code of an error in JSON; '' if there is none."""
    if isinstance(body, list) and body:
        return _words(body[0])
    error = (body.get('error') or body) if isinstance(body, Mapping) else ''
    if not isinstance(error, Mapping):
        return str(error)
    message = error.get('message') or error.get('detail') or ''
    inner = error.get('innererror')  # the only place of Azure's reason
    given = [error.get('type'), error.get('code')]
    given.append(inner.get('code') if isinstance(inner, Mapping) else None)
    tags = ', '.join(tag for tag in given if tag and isinstance(tag, str))
    return ' '.join(filter(None, [str(message), f'({tags})' * bool(tags)]))


def _text(content: Any) -> str | None:
    if content is None or isinstance(content, str):
        return content or ''
    if not isinstance(content, list):
        return None
    parts = [part.get('text', '') for part in content if isinstance(part, Mapping)]
    return ''.join(part for part in parts if isinstance(part, str))


def encodable(text: str) -> str:
    """Return a text that UTF-8 can encode: lone surrogates become question marks."""
    return text.encode('utf-8', 'replace').decode()


def _count(usage: Any, name: str) -> int:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _wait_asked_for(headers: Mapping[str, str]) -> float:
    """Return the seconds that a server asks us to wait; 0 if it doesn't say."""
    value = headers.get('Retry-After', '')
    milliseconds = _number(headers.get('retry-after-ms', ''))
    seconds = milliseconds / 1000 or _number(value)
    if value and not seconds:
        with suppress(TypeError, ValueError, OverflowError, OSError):
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
    return max(0.0, seconds)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0


def _host(location: str) -> str:
    try:
        parts = urlsplit(location)
        port = f':{parts.port}' if parts.port else ''
    except ValueError:
        return 'no URL'
    return f'{parts.scheme}://{parts.hostname}{port}' if parts.hostname else 'another path'


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
    if isinstance(error, (aiohttp.ClientPayloadError, aiohttp.ClientResponseError)):
        return Failure('bad reply', False, words)
    return Failure('unreachable', False, words)
