"""Verdicts read from a store's tables with all that belongs to them, and what is sound of them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from opencompass_gpassk.judging.judge import JudgeIdentity
from opencompass_gpassk.judging.storage.rows import (
    COLUMNS,
    HUMAN,
    DamagedRowError,
    Record,
    read_judge,
    read_reply,
    read_triple,
    read_verdict_row,
)

__all__ = [
    'PAGE',
    'Judges',
    'known_judges',
    'read_page',
    'read_sound',
    'readable_ids',
    'require_sound',
]

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
