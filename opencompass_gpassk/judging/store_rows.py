"""The format of verdicts in the rows of a store: keys, texts as bytes, checksums.

Texts are stored as bytes: they may contain lone surrogates, which SQLite's texts can't.
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

HUMAN = b'human'  # stored as the judge's key if the judge is a person
COLUMNS = 'judge, triple, verdict, reason, prompt_tokens, completion_tokens, created, checksum'
MOST_TOKENS = 10**12


class DamagedRowError(Exception):
    """A row differs from what was written."""


@dataclass(frozen=True)
class StoredVerdict:
    """The verdict of a judge or a person on a triple.

    Attributes:
        verdict: Correct, incorrect, or unjudged for a permanent reason.
        reason: Why it is unjudged.
        reply: The judge's reply, or a person's note.
        prompt_tokens: Prompt tokens as the server counted them.
        completion_tokens: Completion tokens, likewise.
        created: Time of storing, in seconds since 1970; None before.
    """

    verdict: Verdict
    reason: str = ''
    reply: str = ''
    prompt_tokens: int = 0
    completion_tokens: int = 0
    created: float | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Record:
    """One verdict in a store, complete.

    Attributes:
        triple: The triple.
        judge: The judge; None for a person.
        said: The verdict.
        created: Time of storing, in seconds since 1970.
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
        DamagedRowError: If the judge doesn't match the key.
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
        DamagedRowError: If the triple doesn't match the key.
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

    The compressed reply has its own checksum. It is the last column, so that reading verdicts only
    doesn't read it.
    """
    tokens = [min(max(n, 0), MOST_TOKENS) for n in (said.prompt_tokens, said.completion_tokens)]
    row = [judge, triple, said.verdict.value, encode(said.reason), *tokens, float(created)]
    return [*row, _checksum(row), zlib.compress(encode(said.reply), 1)]


def read_verdict_row(row: Sequence[Any]) -> StoredVerdict:
    """Return the verdict in a row, without its reply.

    Raises:
        DamagedRowError: If the row doesn't match its checksum.
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
        DamagedRowError: If the reply differs from what was written.
    """
    try:
        return decode(zlib.decompress(data))
    except (TypeError, ValueError, zlib.error) as error:
        raise DamagedRowError("a judge's reply is not the one that was written") from error


def _plain(judge: JudgeIdentity) -> JudgeIdentity:
    """Return a judge whose settings survive a round trip through JSON: keys become texts."""
    settings = json.loads(json.dumps(dict(judge.settings), default=str))
    return JudgeIdentity(judge.model, judge.prompt, settings)


def _checksum(row: Sequence[Any]) -> bytes:
    return hashlib.blake2b(repr(tuple(row)).encode(), digest_size=8).digest()


Judges = dict[bytes, JudgeIdentity | None]  # by key; None stands for people

PAGE = 500  # rows read at once, so that others may write in between
# Don't use an index: a damaged one would hide rows.
SELECT = (
    f'SELECT id, question, gold, answer, reply, {COLUMNS} FROM verdicts NOT INDEXED '
    'LEFT JOIN triples ON digest = triple'
)
# The index on (judge, triple) holds the ids too: if one tree is damaged, the other may be intact.
IDS = (
    'SELECT id FROM verdicts INDEXED BY sqlite_autoindex_verdicts_1',
    'SELECT id FROM verdicts NOT INDEXED ORDER BY id',
    'SELECT id FROM verdicts NOT INDEXED ORDER BY id DESC',
)


def read_page(
    connection: sqlite3.Connection, judges: Judges, where: str, values: Sequence[Any], after: int
) -> list[tuple[int, Record]]:
    """Return the first records after an id that meet a condition, each with its id.

    Raises:
        DamagedRowError: If a row differs from what was written.
        sqlite3.DatabaseError: If the file can't be read.
    """
    rows = connection.execute(
        f'{SELECT} WHERE id > ? AND {where} ORDER BY id LIMIT {PAGE}', (after, *values)
    ).fetchall()
    return [(row[0], _record(connection, row, judges)) for row in rows]


def require_sound(connection: sqlite3.Connection) -> None:
    """Read all rows, and compare them with their checksums.

    Raises:
        DamagedRowError: If a row differs from what was written.
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
    """Return the ids of all verdicts that the table or its index still shows, in order."""
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
    """Yield the undamaged verdicts with given ids that meet a condition.

    Args:
        connection: Connection to the file.
        judges: The judges read so far; new ones are added.
        where: The SQL condition.
        values: Its parameters.
        ids: Ids of the verdicts.
        report: Takes a message on each damaged verdict.
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
    """Return the judges that have a row, with or without verdicts.

    Raises:
        DamagedRowError: If a row differs from what was written.
    """
    rows = connection.execute('SELECT digest, model, prompt, settings FROM judges')
    return [read_judge(key, row) for key, *row in rows.fetchall()]


def _require_unlocked(error: Exception) -> None:
    """Raise an error again if it shows no damage, but only that others write to the file."""
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
