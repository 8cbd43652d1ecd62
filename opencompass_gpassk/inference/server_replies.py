"""What OpenAI-compatible servers say: a reply, or a failure and its kind.

Servers disagree on statuses, fields and words. Whatever they send becomes a reply or one of few
kinds of failures.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from opencompass_gpassk.inference.backend import truncated_by


@dataclass(frozen=True)
class Reply:
    """A model's reply to one request.

    Attributes:
        text: The text, with thoughts if the server sends them in the same text.
        truncated: Whether it reached the length limit; None if the server doesn't say.
        prompt_tokens: Prompt tokens as the server counted them, 0 if it didn't.
        completion_tokens: Completion tokens, likewise.
        thoughts: The thoughts, if the server sends them apart.
    """

    text: str
    truncated: bool | None = False
    prompt_tokens: int = 0
    completion_tokens: int = 0
    thoughts: str = ''


@dataclass(frozen=True)
class Failure:
    """Why there is no reply.

    Attributes:
        kind: A short name for counts, such as ``overloaded`` or ``too long``.
        permanent: Whether asking again would not help.
        detail: The server's message, without the key.
        wait: Seconds that the server asks us to wait.
        reached: Whether a server worked on the request, so that the prompt may be at fault.
        works: Whether a model did reply, but with nothing that can be used: the server works.
    """

    kind: str
    permanent: bool
    detail: str = ''
    wait: float = 0.0
    reached: bool = True
    works: bool = False


class GivenUp(Failure):
    """Why asking ended; all requests without an outcome get it, also those never sent."""


Outcome = Reply | Failure

LONGEST_READ = 4000  # characters of a server's message that are searched
COMPLETION = 'completion_tokens'
MOST_TOKENS = 10**9  # of one request; no larger number is a count
MOST_DIGITS = 20  # of a number that is read; Python refuses to read 4,301
PERMANENT = {'too long', 'filtered', 'refused'}  # the prompt's fault, or a setting's
MISPLACED = {'unknown model', 'redirect', 'forbidden'}  # the endpoint's fault, or its address's
FATAL = {'key refused', 'no quota'}
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
NOT_TAKEN = (
    r'(?:un(?:recogni[sz]ed|supported|known|expected)|extra|'
    r'(?:does|is|are) not (?:support|permit|allow|valid)|not (?:support|permitt|allow)ed)'
)
REFUSAL = rf'(?:{NOT_TAKEN}|invalid|cannot be)'  # of a field, or of its value
NO_QUOTA = re.compile(r'insufficient_quota|insufficient balance', re.IGNORECASE)


def refuses(message: str, name: str, words: str = REFUSAL) -> bool:
    """Tell whether an error message refuses a parameter, close to the parameter's name."""
    word = rf'(?<![A-Za-z_]){name}(?![A-Za-z_])'
    near = rf'{words}[^.]{{0,80}}{word}|{word}[^.]{{0,80}}{words}'
    return re.search(near, message, re.IGNORECASE) is not None


def read_response(
    status: int, headers: Mapping[str, str], raw: bytes
) -> tuple[Outcome, tuple[int, int]]:
    """Read a server's response.

    Returns:
        The reply or the failure; and the tokens of prompt and completion, paid for in either case.
    """
    try:
        return _read(status, headers, raw)
    except (ValueError, RecursionError):  # no JSON, or nested too deep
        text = raw[:LONGEST_READ].decode('utf-8', 'replace').strip() or 'an empty body'
        # A body that was cut off may be a good reply: don't search its words for an error.
        cut = status < 300
        return _failed('bad reply' if cut else _kind(status, text), status, headers, text), (0, 0)


def _read(status: int, headers: Mapping[str, str], raw: bytes) -> tuple[Outcome, tuple[int, int]]:
    body = json.loads(raw, parse_int=lambda digits: int(digits[:MOST_DIGITS]))
    found = body if isinstance(body, Mapping) else {}
    choices, usage, error = (found.get(name) for name in ('choices', 'usage', 'error'))
    choice = choices[0] if isinstance(choices, list) and choices else None
    choice = choice if isinstance(choice, Mapping) else {}
    message = choice.get('message')
    if 'text' in choice and found.get('object') == 'text_completion':  # of an endpoint without chat
        message = {'content': choice['text']}
    tokens = _count(usage, 'prompt_tokens'), _count(usage, COMPLETION)
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
    thoughts = _text(message.get('reasoning_content') or message.get('reasoning')) or ''
    if reason == 'content_filter' or (not content and message.get('refusal')):
        words = str(message.get('refusal') or 'the reply was held back by a content filter')
        return Failure('filtered', True, words), tokens
    cut_off = truncated_by(reason)
    if not content and cut_off and isinstance(usage, Mapping) and usage.get(COMPLETION) == 0:
        # So LMDeploy reports that prompt and max_tokens together exceed the session's length.
        return Failure('too long', True, 'no room for a single token of a reply'), tokens
    if reason in ('abort', 'error'):  # so vLLM and SGLang end what they were writing
        return Failure('server error', False, f'the reply was broken off ({reason})'), tokens
    if not content and (message.get('tool_calls') or message.get('function_call')):
        return Failure('bad reply', False, 'it calls a tool and says nothing', works=True), tokens
    # A model may think until it is cut off, or end with its thoughts: that is a response.
    empty = isinstance(message.get('content'), (list, type(None))) and (cut_off or thoughts)
    if content is None and not empty:
        return Failure('bad reply', False, 'the content is no text', works=True), tokens
    reply = Reply(encodable(content or ''), cut_off, *tokens, encodable(thoughts))
    return reply, tokens


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
    """Return the text of a content; None if it has none."""
    if content is None or isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get('text') for part in parts if isinstance(part, Mapping)]
    found = [text for text in texts if isinstance(text, str)]
    return ''.join(found) if found else None


def encodable(text: str) -> str:
    """Return a text that UTF-8 can encode: lone surrogates become question marks."""
    return text.encode('utf-8', 'replace').decode()


def _count(usage: Any, name: str) -> int:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    if not isinstance(value, int) or isinstance(value, bool):
        return 0
    return value if 0 < value <= MOST_TOKENS else 0


def _wait_asked_for(headers: Mapping[str, str]) -> float:
    """Return the seconds that a server asks us to wait; 0 if it doesn't say."""
    try:
        seconds = float(headers.get('Retry-After', ''))
    except ValueError:  # it says when, not how long
        return 0.0
    return seconds if 0 < seconds < math.inf else 0.0


def _host(location: str) -> str:
    try:
        parts = urlsplit(location)
        port = f':{parts.port}' if parts.port else ''
    except ValueError:
        return 'no URL'
    return f'{parts.scheme}://{parts.hostname}{port}' if parts.hostname else 'another path'
