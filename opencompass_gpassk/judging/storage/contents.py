"""What is in a verdict store as a whole: read, restored, counted, thrown away."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from opencompass_gpassk.judging.judge import JudgeIdentity
from opencompass_gpassk.judging.storage.reading import (
    PAGE,
    Judges,
    read_page,
    read_sound,
    readable_ids,
)
from opencompass_gpassk.judging.storage.rows import HUMAN, Record, encode
from opencompass_gpassk.judging.store import VerdictStore
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

AT_ONCE = 5000  # records written in a transaction, so that others need not wait long


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


def records(
    store: VerdictStore,
    selection: Selection | None = None,
    *,
    report: Callable[[str], None] | None = None,
) -> Iterator[Record]:
    """Yield what is in a store in the order in which it came, replies included.

    Args:
        store: Where it is.
        selection: Which verdicts; by default all.
        report: Is told of each damaged verdict, which is left out. Without it, one is an error.

    Raises:
        StoreError: If the file is damaged, or can't be read.
    """
    where, values = (selection or Selection()).where()
    judges: Judges = {HUMAN: None}
    if report is None:
        last = -1
        while True:
            with store.reading() as connection:
                page = read_page(connection, judges, where, values, last)
            if not page:
                return
            yield from (record for _, record in page)
            last = page[-1][0]
    with store.reading() as connection:
        ids = iter(readable_ids(connection))
    while chunk := list(itertools.islice(ids, PAGE)):
        with store.reading() as connection:
            found = list(read_sound(connection, judges, where, values, chunk, report))
        yield from found


def restore(
    store: VerdictStore, given: Iterable[Record], *, replace: bool = False
) -> tuple[int, int]:
    """Put records into a store.

    A person's verdict takes the place of an earlier one. Others may write in between: should it
    break off, some thousands are in, and to do it again puts in the rest.

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
    pending = iter(given)
    while chunk := list(itertools.islice(pending, AT_ONCE)):
        with store.writing() as connection:
            for record in chunk:
                human = record.judge is None
                written += store.write(connection, record, replace=replace or human)
        total += len(chunk)
    return written, total - written


def count_verdicts(
    store: VerdictStore, *, report: Callable[[str], None] | None = None
) -> list[JudgeCount]:
    """Return what each judge said, and people.

    Args:
        store: Where it is.
        report: Is told of each damaged verdict, as in :func:`records`.

    Raises:
        StoreError: If the file is damaged, or can't be read.
    """
    found: dict[str, JudgeCount] = {}
    for record in records(store, report=report):
        key = record.judge.digest if record.judge else ''
        count = found.setdefault(key, JudgeCount(record.judge))
        verdict = record.said.verdict
        count.verdicts[verdict] = count.verdicts.get(verdict, 0) + 1
        count.prompt_tokens += record.said.prompt_tokens
        count.completion_tokens += record.said.completion_tokens
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
