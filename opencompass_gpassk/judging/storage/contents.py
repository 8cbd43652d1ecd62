"""What is in a verdict store as a whole: read, restored, counted, thrown away."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from opencompass_gpassk.judging.judge import JudgeIdentity
from opencompass_gpassk.judging.storage.rows import (
    COLUMNS,
    HUMAN,
    DamagedRowError,
    Record,
    encode,
    read_judge,
    read_reply,
    read_triple,
    read_verdict_row,
)
from opencompass_gpassk.judging.store import StoredVerdict, VerdictStore
from opencompass_gpassk.trials import Verdict

__all__ = [
    'JudgeCount',
    'Selection',
    'count_selected',
    'count_verdicts',
    'give_room_back',
    'prune',
    'records',
    'restore',
]

PAGE = 500  # rows read at once, so that others may write in between


@dataclass(frozen=True)
class Selection:
    """Which verdicts are meant; each criterion given must fit.

    Attributes:
        model: The judge's name.
        verdict: What was said.
        older_than: Given more than so many days ago.
        human: Given by people (True), by judges (False).
    """

    model: str | None = None
    verdict: Verdict | None = None
    older_than: float | None = None
    human: bool | None = None

    def where(self) -> tuple[str, list[Any]]:
        """Return the condition on a row of verdicts, with its parameters."""
        conditions, values = ['1'], list[Any]()
        if self.model is not None:
            conditions.append('judge IN (SELECT digest FROM judges WHERE model = ?)')
            values.append(encode(self.model))
        if self.verdict is not None:
            conditions.append('verdict = ?')
            values.append(self.verdict.value)
        if self.older_than is not None:
            conditions.append('created < ?')
            values.append(time.time() - 86400 * self.older_than)
        if self.human is not None:
            conditions.append('judge = ?' if self.human else 'judge != ?')
            values.append(HUMAN)
        return ' AND '.join(conditions), values


@dataclass
class JudgeCount:
    """How many verdicts a judge gave, and what they cost.

    Attributes:
        judge: None stands for people.
        verdicts: How many of each.
        prompt_tokens: Of all its verdicts.
        completion_tokens: The same.
    """

    judge: JudgeIdentity | None
    verdicts: dict[Verdict, int] = field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0


def records(store: VerdictStore, selection: Selection | None = None) -> Iterator[Record]:
    """Yield what is in a store in the order in which it came, replies included.

    Raises:
        StoreError: If the file is damaged, or can't be read.
    """
    where, values = (selection or Selection()).where()
    judges: dict[bytes, JudgeIdentity | None] = {HUMAN: None}
    last = -1
    while True:
        with store.reading() as connection:
            rows = connection.execute(
                f'SELECT id, question, gold, answer, reply, {COLUMNS} FROM verdicts '
                f'LEFT JOIN triples ON digest = triple WHERE id > ? AND {where} '
                f'ORDER BY id LIMIT {PAGE}',
                (last, *values),
            ).fetchall()
            found = [_record(connection, row, judges) for row in rows]
        if not rows:
            return
        yield from found
        last = rows[-1][0]


def restore(
    store: VerdictStore, given: Iterable[Record], *, replace: bool = False
) -> tuple[int, int]:
    """Put records into a store, all of them or none.

    A person's verdict takes the place of an earlier one.

    Args:
        store: Where to.
        given: What.
        replace: Let a judge's verdict take the place of an earlier one too.

    Returns:
        How many were written, and how many were not since there is one already.

    Raises:
        StoreError: If they can't be written.
    """
    written = total = 0
    with store.writing() as connection:
        for record in given:
            human = record.judge is None
            written += store.write(connection, record, replace=replace or human)
            total += 1
    return written, total - written


def count_verdicts(store: VerdictStore) -> list[JudgeCount]:
    """Return what each judge said, and people.

    Raises:
        StoreError: If the file is damaged, or can't be read.
    """
    judges: dict[bytes, JudgeIdentity | None] = {HUMAN: None}
    found: dict[bytes, JudgeCount] = {}
    with store.reading() as connection:
        rows = connection.execute(
            'SELECT judge, verdict, count(*), sum(prompt_tokens), sum(completion_tokens) '
            'FROM verdicts GROUP BY judge, verdict'
        ).fetchall()
        for key, verdict, number, prompt_tokens, completion_tokens in rows:
            count = found.setdefault(key, JudgeCount(_judge(connection, key, judges)))
            try:
                count.verdicts[Verdict(verdict)] = number
            except ValueError as error:
                raise DamagedRowError(f'a verdict is {verdict!r}') from error
            count.prompt_tokens += prompt_tokens
            count.completion_tokens += completion_tokens
    return list(found.values())


def count_selected(store: VerdictStore, selection: Selection) -> int:
    """Return how many verdicts are meant.

    Raises:
        StoreError: If the file is damaged, or can't be read.
    """
    where, values = selection.where()
    with store.reading() as connection:
        rows = connection.execute(f'SELECT count(*) FROM verdicts WHERE {where}', values)
        return int(rows.fetchone()[0])


def prune(store: VerdictStore, selection: Selection) -> int:
    """Throw verdicts away, with texts that nothing refers to any more; return how many.

    Raises:
        StoreError: If the file is damaged, or can't be written.
    """
    where, values = selection.where()
    with store.writing() as connection:
        gone = connection.execute(f'DELETE FROM verdicts WHERE {where}', values).rowcount
        for table in ('triple', 'judge'):
            connection.execute(
                f'DELETE FROM {table}s WHERE digest NOT IN (SELECT {table} FROM verdicts)'
            )
    return gone


def give_room_back(store: VerdictStore) -> None:
    """Make the file as small as what is in it.

    Raises:
        StoreError: If others write to it all the time, or the disk has no room for a copy.
    """
    with store.reading() as connection:
        connection.execute('VACUUM')


def _record(
    connection: sqlite3.Connection, row: tuple[Any, ...], judges: dict[bytes, JudgeIdentity | None]
) -> Record:
    texts, reply, columns = row[1:4], row[4], row[5:]
    said = read_verdict_row(columns)
    judge, triple, created = columns[0], columns[1], columns[6]
    whole = StoredVerdict(
        said.verdict, said.reason, read_reply(reply), said.prompt_tokens, said.completion_tokens
    )
    return Record(read_triple(triple, texts), _judge(connection, judge, judges), whole, created)


def _judge(
    connection: sqlite3.Connection, key: bytes, known: dict[bytes, JudgeIdentity | None]
) -> JudgeIdentity | None:
    if key not in known:
        row = connection.execute(
            'SELECT model, prompt, settings FROM judges WHERE digest = ?', (key,)
        ).fetchone()
        known[key] = read_judge(key, row)
    return known[key]
