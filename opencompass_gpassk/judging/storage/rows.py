"""How verdicts are written into the rows of a store: keys, texts as bytes, checksums.

A text may hold lone surrogates, which SQLite's own texts can't, so that texts are kept as bytes.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from opencompass_gpassk.judging.judge import JudgeIdentity, Triple
from opencompass_gpassk.trials import Verdict

__all__ = [
    'COLUMNS',
    'HUMAN',
    'DamagedRowError',
    'Record',
    'StoredVerdict',
    'decode',
    'encode',
    'judge_key',
    'judge_row',
    'read_judge',
    'read_reply',
    'read_triple',
    'read_verdict_row',
    'triple_key',
    'verdict_row',
]

HUMAN = b'human'  # what stands for the key of a judge where a person is the judge
COLUMNS = 'judge, triple, verdict, reason, prompt_tokens, completion_tokens, created, checksum'
MOST_TOKENS = 10**12


class DamagedRowError(Exception):
    """A row is not what was once written."""


@dataclass(frozen=True)
class StoredVerdict:
    """What a judge, or a person, said of a triple.

    Attributes:
        verdict: Right, wrong, or that there is none for good.
        reason: Why there is none.
        reply: The judge's own words; a person's note.
        prompt_tokens: What the verdict cost, as the server counted.
        completion_tokens: The same.
        created: When it was stored, in seconds since 1970; None before.
    """

    verdict: Verdict
    reason: str = ''
    reply: str = ''
    prompt_tokens: int = 0
    completion_tokens: int = 0
    created: float | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Record:
    """Everything that a store holds of one verdict.

    Attributes:
        triple: What it is about.
        judge: Who gave it; None is a person.
        said: The verdict.
        created: When, in seconds since 1970.
    """

    triple: Triple
    judge: JudgeIdentity | None
    said: StoredVerdict
    created: float


def encode(text: str) -> bytes:
    """Return any text as bytes."""
    return text.encode('utf-8', 'surrogatepass')


def decode(data: bytes) -> str:
    """Return the text that was encoded."""
    return data.decode('utf-8', 'surrogatepass')


def triple_key(triple: Triple) -> bytes:
    """Return 32 bytes that name a triple."""
    parts = [encode(text) for text in triple]
    return hashlib.sha256(b''.join(b'%d:%b' % (len(part), part) for part in parts)).digest()


def judge_key(judge: JudgeIdentity) -> bytes:
    """Return 32 bytes that name a judge."""
    return bytes.fromhex(_plain(judge).digest)


def judge_row(judge: JudgeIdentity) -> tuple[bytes, bytes, str]:
    """Return a judge's name, prompt and settings as they are written."""
    return encode(judge.model), encode(judge.prompt), json.dumps(dict(_plain(judge).settings))


def read_judge(key: bytes, row: Sequence[Any]) -> JudgeIdentity:
    """Return the judge in a row of name, prompt and settings.

    Raises:
        DamagedRowError: If it isn't the one whose key this is.
    """
    try:
        model, prompt, settings = row
        judge = JudgeIdentity(decode(model), decode(prompt), json.loads(settings))
        sound = bytes.fromhex(judge.digest) == key
    except (AttributeError, TypeError, ValueError) as error:
        raise DamagedRowError('a judge is unreadable') from error
    if not sound:
        raise DamagedRowError('a judge is not the one that was written')
    return judge


def read_triple(key: bytes, row: Sequence[Any]) -> Triple:
    """Return the triple in a row of three texts.

    Raises:
        DamagedRowError: If it isn't the one whose key this is.
    """
    try:
        triple = Triple(*map(decode, row))
        sound = triple_key(triple) == key
    except (AttributeError, TypeError, ValueError) as error:
        raise DamagedRowError('a question, gold answer or answer is unreadable') from error
    if not sound:
        raise DamagedRowError('a question, gold answer or answer is not the one that was written')
    return triple


def verdict_row(judge: bytes, triple: bytes, said: StoredVerdict, created: float) -> list[Any]:
    """Return a verdict as it is written: its columns without the reply, a checksum, the reply.

    The reply has a checksum of its own in its compressed form, and stands last, so that who asks
    for verdicts alone doesn't read it.
    """
    tokens = [min(max(n, 0), MOST_TOKENS) for n in (said.prompt_tokens, said.completion_tokens)]
    row = [judge, triple, said.verdict.value, encode(said.reason), *tokens, float(created)]
    return [*row, _checksum(row), zlib.compress(encode(said.reply), 1)]


def read_verdict_row(row: Sequence[Any]) -> StoredVerdict:
    """Return the verdict in a row, without its reply.

    Raises:
        DamagedRowError: If it doesn't fit its checksum.
    """
    *columns, checksum = row
    if _checksum(columns) != checksum:
        raise DamagedRowError('a verdict is not the one that was written')
    _, _, verdict, reason, prompt_tokens, completion_tokens, created = columns
    return StoredVerdict(
        Verdict(verdict), decode(reason), '', prompt_tokens, completion_tokens, created
    )


def read_reply(data: Any) -> str:
    """Return the reply in a row.

    Raises:
        DamagedRowError: If it isn't the one that was written.
    """
    try:
        return decode(zlib.decompress(data))
    except (TypeError, ValueError, zlib.error) as error:
        raise DamagedRowError("a judge's reply is not the one that was written") from error


def _plain(judge: JudgeIdentity) -> JudgeIdentity:
    """Return a judge with settings that come back from JSON as they are: no number as a key."""
    settings = json.loads(json.dumps(dict(judge.settings), default=str))
    return JudgeIdentity(judge.model, judge.prompt, settings)


def _checksum(row: Sequence[Any]) -> bytes:
    return hashlib.blake2b(repr(tuple(row)).encode(), digest_size=8).digest()
