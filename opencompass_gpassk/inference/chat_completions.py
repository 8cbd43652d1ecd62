"""The chat completion protocol: the fields of a request, and how its reply is read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.inference.http_faults import (
    LONGEST_DETAIL,
    LONGEST_READ,
    Fault,
    Remedy,
    error_words,
    status_fault,
)

__all__ = ['Redactor', 'Reply', 'read_completion', 'request_fields', 'well_formed']

SHORTEST_SECRET = 6  # shorter keys are placeholders such as 'EMPTY' and 'none'
OWN_FIELDS = {
    'model': 'set model instead',
    'messages': 'they hold the prompt',
    'stream': 'replies are read whole',
}


@dataclass(frozen=True)
class Reply:
    """A judge's reply to one prompt.

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


class Redactor:
    """Replaces a secret key wherever it occurs in a text.

    A key of fewer than six characters is a placeholder and is kept: it may be a word of a reply.
    """

    def __init__(self, key: str | None) -> None:
        secret = key if key and len(key) >= SHORTEST_SECRET else None
        # Servers may return the key in lower case, as part of a host name.
        self._key = re.compile(re.escape(secret), re.IGNORECASE) if secret else None

    def __call__(self, text: str) -> str:
        return self._key.sub('[key]', text) if self._key else text

    def excerpt(self, text: str) -> str:
        """Return the beginning of a text on one printable line, without the key."""
        # Replace the key before shortening: a key cut in two would not be found.
        return one_line(self(text)[:LONGEST_READ])[:LONGEST_DETAIL]

    def finds_key(self, fields: Mapping[str, Any]) -> bool:
        """Tell whether the key occurs anywhere in JSON fields."""
        return self._key is not None and any(map(self._key.search, _texts(fields)))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = [*map(str, value), *value.values()]
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _texts(one)
    else:
        yield str(value)


def request_fields(
    model: str, temperature: float, max_tokens: int, extra_body: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields of a request besides its messages; fields that are None are left out.

    Raises:
        ValueError: If ``extra_body`` sets a reserved field, or holds what JSON can't.
    """
    for name, reason in OWN_FIELDS.items():
        if name in extra_body:
            raise ValueError(f'extra_body of judge sets {name!r}, which it must not: {reason}')
    fields = {'model': model, 'temperature': temperature, 'max_tokens': max_tokens, **extra_body}
    try:
        json.dumps(fields, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f'extra_body of judge does not fit into JSON: {error}') from None
    return {name: value for name, value in fields.items() if value is not None}


def well_formed(text: str) -> str:
    """Return a text that UTF-8 can encode: lone surrogates become question marks."""
    return text.encode('utf-8', 'replace').decode()


def read_completion(
    status: int, headers: Mapping[str, str], raw: bytes
) -> tuple[Reply | Fault, int, int]:
    """Read a response.

    Returns:
        The reply or the fault; and the tokens of prompt and completion, paid for in either case.
    """
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        text = raw.decode('utf-8', 'replace') or 'an empty body'
        # A body that was cut off may be a good reply: don't search its words for an error.
        if status < 300:
            return Fault('bad reply', Remedy.RETRY, f'{status}: {text}'), 0, 0
        return status_fault(status, headers, None, text), 0, 0
    choice = _choice(body)
    usage = body.get('usage') if isinstance(body, Mapping) else None
    prompt, completion = _count(usage, 'prompt_tokens'), _count(usage, 'completion_tokens')
    if status != 200 or choice is None:
        status = _status_within(status, body)
        return status_fault(status, headers, body, 'no choices'), prompt, completion
    return _read_choice(choice, usage, prompt, completion), prompt, completion


def _read_choice(
    choice: Mapping[str, Any], usage: Any, prompt: int, completion: int
) -> Reply | Fault:
    message = choice['message']
    text = _text(message.get('content'))
    reason = choice.get('finish_reason')
    if text is None:
        return Fault('bad reply', Remedy.RETRY, 'the content is no text')
    if reason == 'content_filter' or (not text and message.get('refusal')):
        words = message.get('refusal') or 'the reply was held back by a content filter'
        return Fault('filtered', Remedy.SKIP, str(words))
    used = usage.get('completion_tokens') if isinstance(usage, Mapping) else None
    if not text and reason == 'length' and used == 0:
        # So LMDeploy reports that prompt and max_tokens together exceed the session's length.
        return Fault('too long', Remedy.SKIP, 'no room for a single token of a reply')
    return Reply(well_formed(text), reason == 'length', prompt, completion)


def _choice(body: Any) -> Mapping[str, Any] | None:
    """Return the first choice; None if there is none, or an error beside it."""
    if not isinstance(body, Mapping) or _is_error(body.get('error')):
        return None
    choices = body.get('choices')
    first = choices[0] if isinstance(choices, list) and choices else None
    fits = isinstance(first, Mapping) and isinstance(first.get('message'), Mapping)
    return first if fits else None


def _is_error(error: Any) -> bool:
    """Tell whether an error field is filled: some servers send an empty one with good replies."""
    return any(error.values()) if isinstance(error, Mapping) else bool(error)


def _status_within(status: int, body: Any) -> int:
    """Return the status within an error that came with status 200, as from gateways."""
    error = isinstance(body, Mapping) and (body.get('error') or (error_words(body) and body))
    code = error.get('code') if isinstance(error, Mapping) else None
    if status == 200 and isinstance(code, int) and 400 <= code < 600:
        return code
    return status


def _text(content: Any) -> str | None:
    if content is None or isinstance(content, str):
        return content or ''
    if not isinstance(content, list):
        return None
    parts = [part.get('text', '') for part in content if isinstance(part, Mapping)]
    return ''.join(part for part in parts if isinstance(part, str))


def _count(usage: Any, name: str) -> int:
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
