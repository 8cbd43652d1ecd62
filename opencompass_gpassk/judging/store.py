"""The verdict store: keeps the verdicts of judges and people on (question, gold, answer) triples.

It is an SQLite file that any number of processes may have open at once. A verdict is found by judge
(model, prompt template, settings) and triple, independently of the run that it came from. Users
can share a store in a folder that their group may write to.

The file is in WAL mode. On a network file system, where WAL does not work between machines, it has
a rollback journal, which is slower.
"""

from __future__ import annotations

import itertools
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from opencompass_gpassk.judging.judge import JudgeIdentity, Triple
from opencompass_gpassk.judging.sqlite import (
    DATABASE_NAMES,
    VERDICTS,
    ChangedStoreError,
    Schema,
    StoreError,
    StoreFile,
)
from opencompass_gpassk.judging.store_rows import (
    COLUMNS,
    HUMAN,
    PAGE,
    DamagedRowError,
    Judges,
    Record,
    StoredVerdict,
    encode,
    judge_key,
    judge_row,
    known_judges,
    read_page,
    read_reply,
    read_sound,
    read_verdict_row,
    readable_ids,
    triple_key,
    verdict_row,
)
from opencompass_gpassk.runs.config import find_run
from opencompass_gpassk.trials import Verdict

__all__ = [
    'NAME',
    'JudgeCount',
    'Selection',
    'StoreError',
    'StoredVerdict',
    'VerdictStore',
    'count_selected',
    'count_verdicts',
    'find_store',
    'give_room_back',
    'named_path',
    'prune',
    'records',
    'require_beginnable',
    'restore',
    'store_path',
]

NAME = VERDICTS.name


def store_path(run: Path | None) -> Path | None:
    """Return the verdict store's path: ``GPASSK_VERDICT_STORE``, else a run's ``verdicts.sqlite``.

    Raises:
        ValueError: If ``GPASSK_VERDICT_STORE`` is a folder.
    """
    return named_path(VERDICTS, run)


def named_path(schema: Schema, run: Path | None) -> Path | None:
    """Return the store that the schema's environment variable names, else the one in a run, if any.

    Raises:
        ValueError: If the variable names a folder, or a link in the run leads out of the run.
    """
    given = os.environ.get(schema.variable, '').strip()
    if not given:
        return None if run is None else _inside(run, schema)
    try:
        path = Path(given).expanduser().absolute()
    except RuntimeError as error:  # ~ of an unknown user
        raise ValueError(f'{schema.variable} is {given}: {error}') from error
    if path.is_dir():
        raise ValueError(
            f'{schema.variable} is {given}, a folder; name a file in it, such as '
            f'{path / schema.name}'
        )
    return path


def _inside(run: Path, schema: Schema) -> Path:
    """Return the store in a run; raise a ValueError if a link leads out of the run."""
    path = run / schema.name
    for file in (path, path.with_name(f'{path.name}.lock')):
        if not file.resolve().is_relative_to(run.resolve()):
            raise ValueError(f'{file} leads out of the run; set {schema.variable} to the file')
    return path


def find_store(given: Path | None) -> Path:
    """Return the store that a command line names.

    Args:
        given: A store's file; or a run, which means the store of its evaluation
            (:func:`store_path`): a timestamp folder, or a work dir, whose newest run is taken; or
            None, which means the file in ``GPASSK_VERDICT_STORE``.

    Raises:
        ValueError: If no store is named, or there is no run in a folder.
    """
    path = store_path(None) if given is None else given
    if path is None:
        raise ValueError('name a verdict store or a run, or set GPASSK_VERDICT_STORE')
    if given is None or not path.is_dir():
        return path
    try:
        run = find_run(path)
    except ValueError:
        if not (path / NAME).is_file():  # else the store of scored samples
            raise
        run = path
    return store_path(run) or run / NAME


def require_beginnable(path: Path) -> None:
    """Refuse to create a store at a path that looks mistyped.

    OpenCompass takes every entry beside timestamp folders for a run.

    Raises:
        ValueError: If there is no store and its name isn't a database's, or runs lie beside it.
    """
    if path.exists() and (path.stat().st_size or path.suffix in DATABASE_NAMES):
        return
    if path.suffix not in DATABASE_NAMES:
        raise ValueError(
            f'{path}: there is no verdict store; a new one is begun in a run, or in a file whose '
            f'name ends in {", ".join(DATABASE_NAMES)}'
        )
    beside = path.parent if path.parent.is_dir() else path.parent.parent
    if any(beside.glob('[0-9]*_[0-9]*/configs')):
        raise ValueError(
            f'{path}: {beside} holds runs, and only runs may lie in it; name one of them, or a '
            'file elsewhere'
        )


INSERT = f'INSERT INTO verdicts ({COLUMNS}, reply) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'
# A replaced verdict keeps its id, so that a reader of all verdicts sees it once.
CHANGES = ', '.join(f'{name} = excluded.{name}' for name in (*COLUMNS.split(', ')[2:], 'reply'))
TRIES = 20  # attempts to read a store that others write to
AT_ONCE = 900  # every build of SQLite takes 999 parameters


class VerdictStore(StoreFile):
    """Verdicts in a file. A context manager; its methods may be called from any thread.

    Args:
        path: The file; it is created if it doesn't exist. A damaged one is renamed.
        report: Takes a message on a damaged file's new name; by default standard error does.
        read_only: Change nothing: no file is created, locked, renamed or written to. Read access
            to the file is enough.

    Raises:
        ValueError: If the file belongs to another program or a later version of this one; or if
            ``read_only`` is set and the file doesn't exist.
        StoreError: If it can't be opened.
    """

    @cached_property
    def _judges(self) -> dict[str, tuple[bytes, tuple[bytes, bytes, str]]]:
        """Keys and rows of judges, by their digests."""
        return {}

    def get(
        self, judge: JudgeIdentity, triples: Iterable[Triple], *, replies: bool = False
    ) -> dict[Triple, StoredVerdict]:
        """Return a judge's verdicts on those triples that it judged.

        Args:
            judge: The judge.
            triples: The triples.
            replies: Whether to read its replies too.

        Raises:
            StoreError: If the file is damaged, or can't be read.
        """
        return self._find(self._key(judge), triples, replies)

    def human(
        self, triples: Iterable[Triple], *, replies: bool = False
    ) -> dict[Triple, StoredVerdict]:
        """Return people's verdicts on those triples that they judged; they outrank any judge's.

        Args:
            triples: The triples.
            replies: Whether to read their notes too.

        Raises:
            StoreError: If the file is damaged, or can't be read.
        """
        return self._find(HUMAN, triples, replies)

    def judges(self) -> list[JudgeIdentity]:
        """Return the judges in the store, each with a prompt and settings.

        Raises:
            StoreError: If the file is damaged, or can't be read.
        """
        with self.reading() as connection:
            return known_judges(connection)

    def put(self, judge: JudgeIdentity, triple: Triple, verdict: StoredVerdict) -> StoredVerdict:
        """Store a verdict durably.

        Returns:
            The verdict in the store: if two processes judged the same triple, the first one's.

        Raises:
            StoreError: If it can't be written.
        """
        with self.writing() as connection:
            if self.write(connection, Record(triple, judge, verdict, time.time()), replace=False):
                return verdict
            return self.get(judge, [triple])[triple]

    def write(self, connection: sqlite3.Connection, record: Record, *, replace: bool) -> bool:
        """Write a record in a transaction of :meth:`writing`; return whether it was written.

        Args:
            connection: The connection from :meth:`writing`.
            record: The record.
            replace: Whether it replaces the same judge's verdict on the same triple.
        """
        judge = HUMAN if record.judge is None else self._key(record.judge)
        triple = triple_key(record.triple)
        row = verdict_row(judge, triple, record.said, record.created)
        then = f'UPDATE SET {CHANGES}' if replace else 'NOTHING'
        if not connection.execute(f'{INSERT} ON CONFLICT (judge, triple) DO {then}', row).rowcount:
            return False
        texts = map(encode, record.triple)
        connection.execute('INSERT OR IGNORE INTO triples VALUES (?, ?, ?, ?)', (triple, *texts))
        if record.judge is not None:
            row = [judge, *self._judges[record.judge.digest][1]]
            connection.execute('INSERT OR IGNORE INTO judges VALUES (?, ?, ?, ?)', row)
        return True

    def _find(
        self, judge: bytes, triples: Iterable[Triple], replies: bool
    ) -> dict[Triple, StoredVerdict]:
        keys = {triple_key(triple): triple for triple in triples}
        found: dict[Triple, StoredVerdict] = {}
        pending = iter(keys)
        while chunk := list(itertools.islice(pending, AT_ONCE)):
            for left in reversed(range(TRIES)):
                try:
                    verdicts = self._look_up(judge, chunk, replies)
                    break
                except ChangedStoreError:
                    if not left:
                        raise
            found |= {keys[key]: said for key, said in verdicts.items()}
        return found

    def _look_up(
        self, judge: bytes, keys: Sequence[bytes], replies: bool
    ) -> dict[bytes, StoredVerdict]:
        columns = f'{COLUMNS}, reply' if replies else COLUMNS
        marks = ', '.join('?' * len(keys))
        wanted, found = set(keys), {}
        with self.reading() as connection:
            rows = connection.execute(
                f'SELECT {columns} FROM verdicts WHERE judge = ? AND triple IN ({marks})',
                (judge, *keys),
            )
            for row in rows:
                verdict = read_verdict_row(row[:-1] if replies else row)
                if replies:
                    verdict = replace(verdict, reply=read_reply(row[-1]))
                if row[0] != judge or row[1] not in wanted:
                    raise DamagedRowError('a verdict stands where another is looked for')
                found[row[1]] = verdict
        return found

    def _key(self, judge: JudgeIdentity) -> bytes:
        if judge.digest not in self._judges:
            self._judges[judge.digest] = judge_key(judge), judge_row(judge)
        return self._judges[judge.digest][0]


RECORDS_AT_ONCE = 5000  # records written in a transaction, so that others need not wait long


@dataclass(frozen=True)
class Selection:
    """A selection of verdicts that meet all given criteria.

    Attributes:
        model: The judge's name.
        verdict: The verdict.
        older_than: Least age of the verdict, in days.
        human: True for people's verdicts, False for judges'.
    """

    model: str | None = None
    verdict: Verdict | None = None
    older_than: float | None = None
    human: bool | None = None

    def where(self) -> tuple[str, list[Any]]:
        """Return the SQL condition on a row of verdicts, with its parameters."""
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
    """The number and cost of a judge's verdicts.

    Attributes:
        judge: The judge; None stands for people.
        verdicts: Number of verdicts of each kind.
        prompt_tokens: Prompt tokens of all its verdicts.
        completion_tokens: Completion tokens of all its verdicts.
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
    """Yield the records of a store in the order in which they were stored, with replies.

    Args:
        store: The store.
        selection: Which verdicts; by default all.
        report: Takes a message on each damaged verdict, which is left out. Without it, an error.

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

    A person's verdict replaces an earlier one. Records are written some thousands at a time, so
    that other processes can write in between. After an interruption, call it again for the rest.

    Args:
        store: The store.
        given: The records.
        replace: Whether a judge's verdict replaces an earlier one too.

    Returns:
        The number of records written, and of those left out because the store has a verdict.

    Raises:
        StoreError: If they can't be written.
    """
    written = total = 0
    pending = iter(given)
    while chunk := list(itertools.islice(pending, RECORDS_AT_ONCE)):
        with store.writing() as connection:
            for record in chunk:
                human = record.judge is None
                written += store.write(connection, record, replace=replace or human)
        total += len(chunk)
    return written, total - written


def count_verdicts(
    store: VerdictStore, *, report: Callable[[str], None] | None = None
) -> list[JudgeCount]:
    """Return the number of verdicts of each judge and of people.

    Args:
        store: The store.
        report: Takes a message on each damaged verdict, as in :func:`records`.

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
    """Return the number of selected verdicts.

    Raises:
        StoreError: If the file is damaged, or can't be read.
    """
    where, values = selection.where()
    with store.reading() as connection:
        rows = connection.execute(f'SELECT count(*) FROM verdicts WHERE {where}', values)
        return int(rows.fetchone()[0])


def prune(store: VerdictStore, selection: Selection) -> int:
    """Delete the selected verdicts and unused texts; return the number of verdicts.

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
    """Shrink the file to the size of its contents.

    Raises:
        StoreError: If others write to it all the time, or the disk has no room for a copy.
    """
    with store.reading() as connection:
        connection.execute('VACUUM')
