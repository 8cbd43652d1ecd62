"""Faults of HTTP requests, each with its remedy: ask again, skip the prompt, or stop."""

from __future__ import annotations

import asyncio
import errno
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import Enum
from typing import Any
from urllib.parse import urlsplit

__all__ = [
    *('MISPLACED', 'Fault', 'Remedy'),
    *('error_words', 'exception_fault', 'status_fault', 'wait_asked_for'),
]

MISPLACED = {'unknown model', 'redirect'}  # kinds of faults that concern one endpoint only

LONGEST_DETAIL = 300  # characters of a server's message that are kept
LONGEST_READ = 4000  # characters that are searched

# Messages for a prompt that doesn't fit: OpenAI, vLLM, SGLang, LMDeploy, TGI and llama.cpp, in this
# order. Only OpenAI has a code for it.
TOO_LONG = re.compile(
    r'context_length_exceeded|reduce the length|maximum (model|context|input) length'
    r'|context[ _](length|size|window|limit)|longer than the max|max_model_len|session_len'
    r'|(prompt|input) is too long|input length|too many (input )?tokens'
    r'|must have less than \d+ tokens|max_new_tokens`? must be',
    re.IGNORECASE,
)
# Messages with an unusual status: llama.cpp's 500, and the 429 for a single request above the
# allowed tokens per minute.
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

URL = re.compile(r'(\w+://)\S+')

# Too many sockets of this process: fewer concurrent requests help, another endpoint doesn't.
OWN_LIMITS = {errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS}


class Remedy(Enum):
    """What helps after a fault."""

    RETRY = 'retry'
    SKIP = 'skip'
    STOP = 'stop'


@dataclass(frozen=True)
class Fault:
    """Why a request got no reply.

    Attributes:
        kind: A short name for counts. The kinds that stop everything are ``key refused``,
            ``unknown model``, ``no quota`` and ``redirect``.
        remedy: Ask again, go on without this reply, or stop.
        detail: The server's message.
        wait: Seconds that the server asks us to wait.
        forbids: Whether the refusal may concern the key and not the prompt.
        reached: Whether the server got the request, so that the request may be at fault.
    """

    kind: str
    remedy: Remedy
    detail: str = ''
    wait: float = 0.0
    forbids: bool = False
    reached: bool = True


def exception_fault(error: BaseException) -> Fault:
    """Return the fault of a request that raised an exception; all of them are temporary."""
    import aiohttp

    words = _own_words(error)
    number = getattr(error, 'errno', None)
    if number in OWN_LIMITS:
        return Fault('overloaded', Remedy.RETRY, words, reached=False)
    # There is no limit for reading alone, so this timeout means that no connection was made.
    if isinstance(error, (aiohttp.ServerTimeoutError, aiohttp.ClientConnectorError)):
        return Fault('unreachable', Remedy.RETRY, words, reached=False)
    if isinstance(error, asyncio.TimeoutError):
        return Fault('timeout', Remedy.RETRY, words)
    if isinstance(error, (aiohttp.ClientPayloadError, aiohttp.ClientResponseError)):
        return Fault('bad reply', Remedy.RETRY, words)
    return Fault('unreachable', Remedy.RETRY, words)


def _own_words(error: BaseException) -> str:
    """Return an exception's name, and its message unless that quotes the server.

    aiohttp quotes headers and bodies, which may contain a part of a key, and whole URLs, which may
    contain a password or a token.
    """
    import aiohttp

    name = type(error).__name__
    if isinstance(error, aiohttp.ClientResponseError):
        return f'{name}: {error.status}'
    if isinstance(error, (aiohttp.ClientPayloadError, aiohttp.InvalidURL)):
        return name
    words = URL.sub(r'\1…', str(error))
    return f'{name}: {words}'.rstrip(': ')


def status_fault(status: int, headers: Mapping[str, str], body: Any, text: str = '') -> Fault:
    """Return the fault of a response that is not a completion.

    Args:
        status: The HTTP status; if that is 200, the status within the body.
        headers: The headers; names in any case.
        body: The parsed JSON body; None if it isn't JSON.
        text: Text to quote from a body that isn't JSON.
    """
    words = error_words(body) or text.strip()
    kind, remedy = _meaning(status, words[:LONGEST_READ])
    if kind == 'redirect':
        words = _host(headers.get('Location', ''))
    elif words:
        words = f'{status}: {words}'
    wait = wait_asked_for(headers) if remedy is Remedy.RETRY else 0.0
    forbids = status == 403 and kind == 'refused'
    return Fault(kind, remedy, words or str(status), wait, forbids)


def error_words(body: Any) -> str:
    """Return the message, type and code of an error in JSON; '' if there is none."""
    if isinstance(body, list) and body:
        return error_words(body[0])
    if not isinstance(body, Mapping):
        return ''
    error = body.get('error') or body
    if not isinstance(error, Mapping):
        return str(error)
    message = error.get('message') or error.get('detail') or ''
    tags = [error.get(name) for name in ('type', 'code') if isinstance(error.get(name), str)]
    inner = error.get('innererror')  # the only place of Azure's reason
    if isinstance(inner, Mapping) and isinstance(inner.get('code'), str):
        tags.append(inner['code'])
    return ' '.join(filter(None, [str(message), f'({", ".join(filter(None, tags))})' * bool(tags)]))


def wait_asked_for(headers: Mapping[str, str]) -> float:
    """Return the seconds that a server asks us to wait; 0 if it doesn't say."""
    seconds = _number(headers.get('retry-after-ms', '')) / 1000
    if not seconds and (value := headers.get('Retry-After', '')):
        seconds = _number(value) or _until(value)
    return max(0.0, seconds)


def _meaning(status: int, words: str) -> tuple[str, Remedy]:
    # The message has priority, since servers disagree about the status.
    if (
        EXCEEDS_CONTEXT.search(words)
        or (status < 500 and ABOVE_RATE.search(words))
        or (status in (200, 400, 413, 422) and TOO_LONG.search(words))
    ):
        return 'too long', Remedy.SKIP
    if status < 500 and status not in (401, 429) and FILTERED.search(words):
        return 'filtered', Remedy.SKIP
    if status == 401 or (status in (400, 403) and BAD_KEY.search(words)):
        return 'key refused', Remedy.STOP
    if status == 402 or (status == 429 and NO_QUOTA.search(words)):
        return 'no quota', Remedy.STOP
    if status in (404, 405) or (status in (400, 422) and UNKNOWN_MODEL.search(words)):
        return 'unknown model', Remedy.STOP
    if 300 <= status < 400:
        return 'redirect', Remedy.STOP
    if status == 413:
        return 'too long', Remedy.SKIP
    if status in (425, 429, 503, 529):
        return 'overloaded', Remedy.RETRY
    if status in (408, 504):
        return 'timeout', Remedy.RETRY
    if status == 409 or status >= 500:
        return 'server error', Remedy.RETRY
    if status >= 400:
        return 'refused', Remedy.SKIP
    return 'bad reply', Remedy.RETRY


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return 0.0
    return number if math.isfinite(number) else 0.0


def _until(date: str) -> float:
    try:
        moment = parsedate_to_datetime(date)
        return moment.timestamp() - time.time()
    except (TypeError, ValueError, OverflowError, OSError):
        return 0.0


def _host(location: str) -> str:
    try:
        parts = urlsplit(location)
        port = f':{parts.port}' if parts.port else ''
    except ValueError:
        return ''
    return f'{parts.scheme}://{parts.hostname}{port}' if parts.hostname else 'another path'
