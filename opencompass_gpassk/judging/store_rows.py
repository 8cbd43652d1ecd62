"""How verdicts are written into the rows of a store: keys, texts as bytes, checksums.

A text may hold lone surrogates, which SQLite's own texts can't, so that texts are kept as bytes.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from opencompass_gpassk.judging.judge import JudgeIdentity, Triple
from opencompass_gpassk.trials import Verdict

__all__ = [
    'COLUMNS',
    'HUMAN',
    'PAGE',
    'DamagedRowError',
    'Judges',
    'Record',
    'StoredVerdict',
    'decode',
    'encode',
    'judge_key',
    'judge_row',
    'known_judges',
    'read_judge',
    'read_page',
    'read_reply',
    'read_sound',
    'read_triple',
    'read_verdict_row',
    'readable_ids',
    'require_sound',
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


Judges = dict[bytes, JudgeIdentity | None]  # by their keys; None are people

PAGE = 500  # rows read at once, so that others may write in between
# Not by an index: a damaged one would hide rows.
SELECT = (
    f'SELECT id, question, gold, answer, reply, {COLUMNS} FROM verdicts NOT INDEXED '
    'LEFT JOIN triples ON digest = triple'
)
# The index of (judge, triple) holds the ids too: where one tree is damaged the other may be whole.
IDS = (
    'SELECT id FROM verdicts INDEXED BY sqlite_autoindex_verdicts_1',
    'SELECT id FROM verdicts NOT INDEXED ORDER BY id',
    'SELECT id FROM verdicts NOT INDEXED ORDER BY id DESC',
)


def read_page(
    connection: sqlite3.Connection, judges: Judges, where: str, values: Sequence[Any], after: int
) -> list[tuple[int, Record]]:
    """Return the first records behind an id that fit a condition, each with its id.

    Raises:
        DamagedRowError: If one isn't what was written.
        sqlite3.DatabaseError: If the file can't be read.
    """
    rows = connection.execute(
        f'{SELECT} WHERE id > ? AND {where} ORDER BY id LIMIT {PAGE}', (after, *values)
    ).fetchall()
    return [(row[0], _record(connection, row, judges)) for row in rows]


def require_sound(connection: sqlite3.Connection) -> None:
    """Read everything, and compare it with its checksums.

    Raises:
        DamagedRowError: If something isn't what was written.
        sqlite3.DatabaseError: If the file can't be read.
    """
    (found,) = connection.execute('PRAGMA integrity_check(1)').fetchone()
    if found != 'ok':
        raise DamagedRowError(found)
    judges: Judges = {HUMAN: None}
    last = -1
    while page := read_page(connection, judges, '1', (), last):
        last = page[-1][0]


def readable_ids(connection: sqlite3.Connection) -> list[int]:
    """Return the ids of all verdicts of which there is a trace, in their order."""
    found: set[int] = set()
    for statement in IDS:
        number = len(found)
        try:
            for (one,) in connection.execute(statement):
                found.add(one)
        except sqlite3.DatabaseError as error:
            _require_unlocked(error)
        else:
            if number and number == len(found):  # index and table agree
                break
    return sorted(found)


def read_sound(
    connection: sqlite3.Connection,
    judges: Judges,
    where: str,
    values: Sequence[Any],
    ids: Sequence[int],
    report: Callable[[str], None],
) -> Iterator[Record]:
    """Yield those of some verdicts that are sound and fit a condition.

    Args:
        connection: To the file.
        judges: Those that are known; it grows.
        where: The condition.
        values: Its parameters.
        ids: Of the verdicts.
        report: Is told of each one that isn't sound.
    """
    try:
        yield from _read(connection, judges, where, values, ids)
    except (DamagedRowError, UnicodeDecodeError, sqlite3.DatabaseError) as error:
        _require_unlocked(error)
        if len(ids) == 1:
            report(f'verdict {ids[0]}: {error}')
            return
        middle = len(ids) // 2
        for half in (ids[:middle], ids[middle:]):
            yield from read_sound(connection, judges, where, values, half, report)


def known_judges(connection: sqlite3.Connection) -> list[JudgeIdentity]:
    """Return the judges that have a row, whether or not there is a verdict of theirs.

    Raises:
        DamagedRowError: If one isn't what was written.
    """
    rows = connection.execute('SELECT digest, model, prompt, settings FROM judges')
    return [read_judge(key, row) for key, *row in rows.fetchall()]


def _require_unlocked(error: Exception) -> None:
    """Raise an error again that says nothing about the file: others write to it."""
    if isinstance(error, sqlite3.OperationalError) and 'locked' in str(error):
        raise error


def _read(
    connection: sqlite3.Connection,
    judges: Judges,
    where: str,
    values: Sequence[Any],
    ids: Sequence[int],
) -> list[Record]:
    marks = ', '.join('?' * len(ids))
    rows = connection.execute(
        f'{SELECT} WHERE id IN ({marks}) AND {where} ORDER BY id', (*ids, *values)
    ).fetchall()
    return [_record(connection, row, judges) for row in rows]


def _record(connection: sqlite3.Connection, row: Sequence[Any], judges: Judges) -> Record:
    texts, reply, columns = row[1:4], row[4], row[5:]
    said = replace(read_verdict_row(columns), reply=read_reply(reply))
    judge, triple, created = columns[0], columns[1], columns[6]
    return Record(read_triple(triple, texts), _judge(connection, judge, judges), said, created)


def _judge(connection: sqlite3.Connection, key: bytes, known: Judges) -> JudgeIdentity | None:
    if key not in known:
        row = connection.execute(
            'SELECT model, prompt, settings FROM judges WHERE digest = ?', (key,)
        ).fetchone()
        known[key] = read_judge(key, row)
    return known[key]
