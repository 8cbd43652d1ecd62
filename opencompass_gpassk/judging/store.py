"""The verdict store: what judges and people said of (question, gold, answer) triples, for good.

An SQLite file that any number of processes may have open at once, content-addressed: a verdict is
found by judge (model, prompt template, settings) and triple, whatever run it was given in. Users
share one in a folder that their group may write to.

It is in WAL mode; on a network file system, where WAL does not work between machines, it has a
rollback journal, which is slower.
"""

from __future__ import annotations

import itertools
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property

from opencompass_gpassk.judging.judge import JudgeIdentity, Triple
from opencompass_gpassk.judging.storage.connection import StoreFile
from opencompass_gpassk.judging.storage.files import ChangedStoreError, StoreError
from opencompass_gpassk.judging.storage.paths import store_path
from opencompass_gpassk.judging.storage.reading import known_judges
from opencompass_gpassk.judging.storage.rows import (
    COLUMNS,
    HUMAN,
    DamagedRowError,
    Record,
    StoredVerdict,
    encode,
    judge_key,
    judge_row,
    read_reply,
    read_verdict_row,
    triple_key,
    verdict_row,
)
from opencompass_gpassk.trials import Verdict

__all__ = ['StoreError', 'StoredVerdict', 'VerdictStore', 'store_path']

INSERT = f'INSERT INTO verdicts ({COLUMNS}, reply) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)'
# A replaced verdict keeps its place, so that who reads all of them meets it once.
CHANGES = ', '.join(f'{name} = excluded.{name}' for name in (*COLUMNS.split(', ')[2:], 'reply'))
TRIES = 20  # of reading a store that others write to
AT_ONCE = 900  # SQLite takes 999 parameters wherever it was built


class VerdictStore(StoreFile):
    """Verdicts in a file. A context manager; its methods may be called from any thread.

    Args:
        path: The file, which is begun where there is none. A damaged one is set aside.
        report: Is told where a damaged one was put; by default standard error is.
        read_only: Change nothing: no file is begun, locked, set aside or written to, nor made
            beside it. It may be one that the user may only read.

    Raises:
        ValueError: If the file is another program's, or of a later version of this one; or if it
            is to be read only and there is none.
        StoreError: If it can't be opened.
    """

    @cached_property
    def _judges(self) -> dict[str, tuple[bytes, tuple[bytes, bytes, str]]]:
        """Keys and rows of judges, by their digests."""
        return {}

    def get(
        self, judge: JudgeIdentity, triples: Iterable[Triple], *, replies: bool = False
    ) -> dict[Triple, StoredVerdict]:
        """Return what a judge said of those triples that it judged.

        Args:
            judge: Who.
            triples: Of what.
            replies: Read its replies too.

        Raises:
            StoreError: If the file is damaged, or can't be read.
        """
        return self._find(self._key(judge), triples, replies)

    def human(
        self, triples: Iterable[Triple], *, replies: bool = False
    ) -> dict[Triple, StoredVerdict]:
        """Return what people said of those triples that they judged: it outranks any judge.

        Args:
            triples: Of what.
            replies: Read their notes too.

        Raises:
            StoreError: If the file is damaged, or can't be read.
        """
        return self._find(HUMAN, triples, replies)

    def judges(self) -> list[JudgeIdentity]:
        """Return the judges that are known here, each with a prompt and settings.

        Raises:
            StoreError: If the file is damaged, or can't be read.
        """
        with self.reading() as connection:
            return known_judges(connection)

    def put(self, judge: JudgeIdentity, triple: Triple, verdict: StoredVerdict) -> StoredVerdict:
        """Keep a verdict, for good when this returns.

        Returns:
            The verdict that stands: of two processes that judged the same the first one's.

        Raises:
            StoreError: If it can't be written.
        """
        with self.writing() as connection:
            if self.write(connection, Record(triple, judge, verdict, time.time()), replace=False):
                return verdict
            return self.get(judge, [triple])[triple]

    def put_human(self, triple: Triple, verdict: Verdict, note: str = '') -> None:
        """Keep a person's verdict, in place of an earlier one.

        Raises:
            ValueError: If it is none.
            StoreError: If it can't be written.
        """
        if verdict is Verdict.UNJUDGED:
            raise ValueError("a person's verdict is correct or incorrect; leave the triple out")
        said = StoredVerdict(verdict, reply=note)
        with self.writing() as connection:
            self.write(connection, Record(triple, None, said, time.time()), replace=True)

    def write(self, connection: sqlite3.Connection, record: Record, *, replace: bool) -> bool:
        """Write a record in a transaction of :meth:`writing`; tell whether it was written.

        Args:
            connection: What :meth:`writing` gave.
            record: What to keep.
            replace: Write it also where the same judge has a verdict on the same triple.
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
