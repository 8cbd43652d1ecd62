"""Verdicts that were paid for or given by people, kept in a store."""

from __future__ import annotations

import hashlib
import itertools
import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.formats.shared_store import Store, StoreEntry, StoreError
from opencompass_gpassk.judging.judge import JudgeIdentity
from opencompass_gpassk.judging.prompt import Triple
from opencompass_gpassk.metrics.judge_error import is_labelled
from opencompass_gpassk.trials import Verdict

HUMAN = b'human'  # the source of people's verdicts
JUDGE = b'judge'  # the source of judges' descriptions
AUDIT = b'audit'  # the source of what labels say of a judging's outcomes
LATEST = 2.5e11  # seconds since 1970, in the year 9892
WRITTEN_AT_ONCE = 5000  # records in a transaction, so that others need not wait long


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


class VerdictStore(Store):
    """Verdicts of judges and people on (question, gold, answer) triples, in a :class:`Store`.

    A verdict is found by its judge (model, prompt template and settings) and triple.
    """

    noun = 'verdict store'
    application = b'GPVS'
    variable = 'GPASSK_VERDICT_STORE'
    name = 'verdicts.sqlite'
    loss = "Lost verdicts of judges are asked for again; import people's again."
    replaced = (HUMAN, AUDIT)

    def get(
        self, judge: JudgeIdentity | None, triples: Iterable[Triple], *, replies: bool = False
    ) -> dict[Triple, StoredVerdict]:
        """Return the verdicts on those triples that were judged, in this process or another.

        About a few triples this takes some hundredths of a millisecond.

        Args:
            judge: The judge; None for people, whose verdicts outrank any judge's.
            triples: The triples.
            replies: Whether to return replies and notes too, which may be long.
        """
        source = judge_key(judge) if judge else HUMAN
        keys = {triple_key(triple): triple for triple in triples}
        found = {}
        for _, subject, value in self.look_up(source, keys):
            said = self._record(value, judge).said
            found[keys[subject]] = said if replies else replace(said, reply='')
        return found

    def judges(self) -> list[JudgeIdentity]:
        """Return the judges in the store."""
        found = []
        for _, _, value in self.entries(JUDGE):
            match value:
                case {'model': str(model), 'prompt': str(prompt), 'settings': dict(settings)}:
                    found.append(JudgeIdentity(model, prompt, settings))
        return found

    def put(self, judge: JudgeIdentity, triple: Triple, verdict: StoredVerdict) -> StoredVerdict:
        """Store a judge's verdict durably; return the one in the store.

        If two processes judged the same triple, that is the first one's.
        """
        written = self.restore([Record(triple, judge, verdict, time.time())])
        return verdict if written else self.get(judge, [triple]).get(triple, verdict)

    def restore(self, records: Iterable[Record]) -> int:
        """Store records durably, some thousands at a time, so that others can write in between.

        A person's verdict replaces an earlier one, a judge's doesn't. After an interruption, call
        it again for the rest.

        Returns:
            The number of records written. Of the others the store has a verdict.
        """
        written = 0
        pending = iter(records)
        while chunk := list(itertools.islice(pending, WRITTEN_AT_ONCE)):
            judges = {record.judge.digest: record.judge for record in chunk if record.judge}
            entries = [*map(_description, judges.values()), *map(_entry, chunk)]
            written += sum(self.keep(entries)[len(judges) :])
        return written

    def records(self) -> Iterator[Record]:
        """Yield all verdicts in the order in which they were stored."""
        judges = {judge_key(judge): judge for judge in self.judges()}
        for source, _, value in self.entries():
            if source == HUMAN or source in judges:
                yield self._record(value, judges.get(source))

    def audit(self, judge: str) -> dict[str, Any]:
        """Return the last audit of a judge by its name in signatures; {} if there is none."""
        for *_, value in self.look_up(AUDIT, [bytes.fromhex(stable_hash(judge))]):
            match value:
                case {'outcomes': outcomes, 'known': {**known}} if is_labelled(outcomes):
                    if all(isinstance(one, bool) for one in known.values()):
                        return {'outcomes': outcomes, 'known': known}
            raise StoreError(f'{self.path}: an entry is no audit of this package')
        return {}

    def keep_audit(self, judge: str, audit: Mapping[str, Any]) -> None:
        """Store an audit of a judge in place of an earlier one."""
        self.keep([(AUDIT, bytes.fromhex(stable_hash(judge)), audit)])

    def prune(self, records: Iterable[Record]) -> None:
        """Delete verdicts, and the judges that have none left, and shrink the file."""
        keys = [_entry(record)[:2] for record in records]

        def delete(connection: sqlite3.Connection) -> None:
            one = 'DELETE FROM entries WHERE source = ? AND subject'
            connection.executemany(f'{one} = ?', keys)
            connection.execute(f'{one} NOT IN (SELECT source FROM entries)', (JUDGE,))

        self._write(delete)
        with (
            self._turn,
            suppress(sqlite3.OperationalError),
        ):  # others write to it, or the disk is full
            self._connection.execute('VACUUM')

    def _record(self, value: Mapping[str, Any], judge: JudgeIdentity | None) -> Record:
        match value:
            case {
                'question': str(question),
                'gold': str(gold),
                'answer': str(answer),
                'verdict': 'correct' | 'incorrect' | 'unjudged' as verdict,
                'reason': str(reason),
                'reply': str(reply),
                'prompt_tokens': int(prompt),
                'completion_tokens': int(completion),
                'created': int() | float() as created,
            } if 0 <= created < LATEST:
                said = StoredVerdict(Verdict(verdict), reason, reply, prompt, completion, created)
                return Record(Triple(question, gold, answer), judge, said, created)
        # Somebody made it, in a folder that may not be the user's own.
        raise StoreError(f'{self.path}: an entry is no verdict of this package')


def triple_key(triple: Triple) -> bytes:
    """Return 32 bytes that name a triple."""
    parts = [text.encode('utf-8', 'surrogatepass') for text in triple]
    return hashlib.sha256(b''.join(b'%d:%b' % (len(part), part) for part in parts)).digest()


def judge_key(judge: JudgeIdentity) -> bytes:
    """Return 32 bytes that name a judge."""
    return _description(judge)[1]


def _description(judge: JudgeIdentity) -> StoreEntry:
    """Return a judge's own entry; its settings survive JSON, in which keys are texts."""
    settings = json.loads(json.dumps(dict(judge.settings), default=str))
    digest = JudgeIdentity(judge.model, judge.prompt, settings).digest
    value = {'model': judge.model, 'prompt': judge.prompt, 'settings': settings}
    return JUDGE, bytes.fromhex(digest), value


def _entry(record: Record) -> StoreEntry:
    value = record.triple._asdict() | vars(record.said)
    value |= {'verdict': record.said.verdict.value, 'created': record.created}
    source = HUMAN if record.judge is None else judge_key(record.judge)
    return source, triple_key(record.triple), value


def stored_audit(store: Path | None, judge: str) -> dict[str, Any]:
    """Return the last audit of a judge in a store, as :meth:`VerdictStore.audit` does."""
    if store is None or not store.is_file():
        return {}
    with VerdictStore(store, read_only=True) as kept:
        return kept.audit(judge)
