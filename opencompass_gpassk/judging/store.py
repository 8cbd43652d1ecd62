"""The verdict store: verdicts of judges and people on (question, gold, answer) triples."""

from __future__ import annotations

import hashlib
import itertools
import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from opencompass_gpassk.judging.judge import JudgeIdentity, Triple
from opencompass_gpassk.judging.salvage import Rows
from opencompass_gpassk.judging.sqlite import ENCODING, Entry, Store, StoreError, unpacked
from opencompass_gpassk.trials import Verdict

__all__ = ['LATEST', 'Record', 'StoreError', 'StoredVerdict', 'VerdictStore', 'store_path']

HUMAN = b'human'  # the source of people's verdicts
JUDGE = b'judge'  # the source of judges' descriptions
LATEST = 2.5e11  # seconds since 1970, in the year 9892
AT_ONCE = 5000  # records written in a transaction, so that others need not wait long


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
    """Verdicts in a file; see :class:`~opencompass_gpassk.judging.sqlite.Store`.

    A verdict is found by its judge (model, prompt template and settings) and triple.
    """

    noun = 'verdict store'
    application = b'GPVS'
    variable = 'GPASSK_VERDICT_STORE'
    name = 'verdicts.sqlite'
    loss = "Lost verdicts of judges are asked for again; import people's again."
    replaced = (HUMAN,)

    @cached_property
    def _described(self) -> set[bytes]:
        """The judges whose description can't be among what a damaged file lost."""
        return set()

    def get(
        self, judge: JudgeIdentity, triples: Iterable[Triple], *, replies: bool = False
    ) -> dict[Triple, StoredVerdict]:
        """Return a judge's verdicts on those triples that it judged, in this process or another.

        About a few triples this takes some hundredths of a millisecond.

        Args:
            judge: The judge.
            triples: The triples.
            replies: Whether to return its replies too, which may be long.
        """
        key = judge_key(judge)
        if self.lost and not self.read_only and key not in self._described:
            self.keep([_description(judge)])
            self._described.add(key)
        return self._verdicts(key, triples, replies)

    def human(
        self, triples: Iterable[Triple], *, replies: bool = False
    ) -> dict[Triple, StoredVerdict]:
        """Return people's verdicts on those triples that they judged; they outrank any judge's.

        Args:
            triples: The triples.
            replies: Whether to return their notes too.
        """
        return self._verdicts(HUMAN, triples, replies)

    def judges(self) -> list[JudgeIdentity]:
        """Return the judges in the store."""
        found = []
        for entry in self.entries(JUDGE):
            match entry.value:
                case {'model': str(model), 'prompt': str(prompt), 'settings': dict(settings)}:
                    found.append(JudgeIdentity(model, prompt, settings))
        return found

    def put(self, judge: JudgeIdentity, triple: Triple, verdict: StoredVerdict) -> StoredVerdict:
        """Store a judge's verdict as :meth:`put_all` does; return the one in the store."""
        return self.put_all(judge, {triple: verdict})[triple]

    def put_all(
        self, judge: JudgeIdentity, verdicts: Mapping[Triple, StoredVerdict]
    ) -> dict[Triple, StoredVerdict]:
        """Store a judge's verdicts durably, all in one transaction.

        Returns:
            The verdicts in the store: if two processes judged the same triple, the first one's.
        """
        now = time.time()
        given = [_entry(Record(triple, judge, said, now)) for triple, said in verdicts.items()]
        new = self.keep([_description(judge), *given])[1:]
        others = [triple for triple, is_new in zip(verdicts, new, strict=True) if not is_new]
        return {**verdicts, **self.get(judge, others)}

    def restore(self, records: Iterable[Record], *, replace: bool = False) -> tuple[int, int]:
        """Store records; a person's verdict replaces an earlier one.

        They are written some thousands at a time, so that other processes can write in between.
        After an interruption, call it again for the rest.

        Args:
            records: The records.
            replace: Whether a judge's verdict replaces an earlier one too.

        Returns:
            The number of records written, and of those left out because the store has a verdict.
        """
        written = total = 0
        pending = iter(records)
        while chunk := list(itertools.islice(pending, AT_ONCE)):
            judges = {record.judge.digest: record.judge for record in chunk if record.judge}
            entries = [*map(_description, judges.values()), *map(_entry, chunk)]
            written += sum(self.keep(entries, replace=replace)[len(judges) :])
            total += len(chunk)
        return written, total - written

    def records(self) -> Iterator[Record]:
        """Yield all verdicts in the order in which they were stored.

        Those whose judge was lost in a damaged file are left out, and counted as lost.
        """
        judges = {judge_key(judge): judge for judge in self.judges()}
        for entry in self.entries():
            if entry.source == HUMAN or entry.source in judges:
                yield self._record(entry, judges.get(entry.source))
            elif entry.source != JUDGE:
                self.lost += 1

    def prune(self, records: Iterable[Record]) -> None:
        """Delete verdicts, and the descriptions of judges that have none left."""
        self.remove((entry.source, entry.subject) for entry in map(_entry, records))
        unused = 'source = ? AND subject NOT IN (SELECT source FROM entries)'
        self._write(lambda one: one.execute(f'DELETE FROM entries WHERE {unused}', (JUDGE,)))

    def _verdicts(
        self, source: bytes, triples: Iterable[Triple], replies: bool
    ) -> dict[Triple, StoredVerdict]:
        keys = {triple_key(triple): triple for triple in triples}
        found = {}
        for entry in self.look_up(source, keys):
            said = self._record(entry, None).said
            found[keys[entry.subject]] = said if replies else replace(said, reply='')
        return found

    def _record(self, entry: Entry, judge: JudgeIdentity | None) -> Record:
        try:
            rest = dict(entry.value)
            triple = Triple(*(rest.pop(name) for name in Triple._fields))
            said = StoredVerdict(Verdict(rest.pop('verdict')), **rest)
            created = float(rest['created'])
            texts = (*triple, said.reason, said.reply)
            counts = (said.prompt_tokens, said.completion_tokens)
            fits = all(isinstance(one, str) for one in texts) and 0 <= created < LATEST
            if fits and all(isinstance(one, int) for one in counts):
                return Record(triple, judge, said, created)
        except (KeyError, TypeError, ValueError):
            pass
        # Its checksum is right: somebody made it, in a folder that may not be the user's own.
        raise StoreError(f'{self.path}: an entry is no verdict of this package')

    def entries_of_version_1(self, rows: Rows) -> Iterator[tuple[int | None, Entry | None]]:
        """Yield the entries of a file that had a table each of verdicts, triples and judges."""
        triples = {row[0]: row[1:] for _, row in rows() if len(row) == 4 and _is_bytes(row)}
        for number, row in rows():
            if len(row) == 10:
                yield number, _verdict_of_version_1(row, triples)
        for _, row in rows():  # after the verdicts, which keep their ids
            if len(row) == 4 and not _is_bytes(row):
                yield None, _judge_of_version_1(row)


def store_path(run: Path | None) -> Path | None:
    """Return the verdict store's path: ``GPASSK_VERDICT_STORE``, else a run's ``verdicts.sqlite``.

    Raises:
        ValueError: If ``GPASSK_VERDICT_STORE`` is a folder.
    """
    return VerdictStore.default_path(run)


def triple_key(triple: Triple) -> bytes:
    """Return 32 bytes that name a triple."""
    parts = [text.encode(*ENCODING) for text in triple]
    return hashlib.sha256(b''.join(b'%d:%b' % (len(part), part) for part in parts)).digest()


def judge_key(judge: JudgeIdentity) -> bytes:
    """Return 32 bytes that name a judge."""
    return bytes.fromhex(_plain(judge).digest)


def _plain(judge: JudgeIdentity) -> JudgeIdentity:
    """Return a judge whose settings survive a round trip through JSON: keys become texts."""
    settings = json.loads(json.dumps(dict(judge.settings), default=str))
    return JudgeIdentity(judge.model, judge.prompt, settings)


def _description(judge: JudgeIdentity) -> Entry:
    plain = _plain(judge)
    value = {'model': plain.model, 'prompt': plain.prompt, 'settings': dict(plain.settings)}
    return Entry(JUDGE, bytes.fromhex(plain.digest), value)


def _entry(record: Record) -> Entry:
    value = record.triple._asdict() | vars(record.said)
    value |= {'verdict': record.said.verdict.value, 'created': record.created}
    source = HUMAN if record.judge is None else judge_key(record.judge)
    return Entry(source, triple_key(record.triple), value)


def _is_bytes(row: Sequence[Any]) -> bool:
    return all(isinstance(column, bytes) for column in row)


def _verdict_of_version_1(
    row: Sequence[Any], triples: Mapping[bytes, Sequence[bytes]]
) -> Entry | None:
    """Return the verdict in a row; None if the row or that of its triple is damaged."""
    _, source, subject, verdict, reason, *tokens, created, checksum, packed = row
    try:
        signed = repr((source, subject, verdict, reason, *tokens, float(created))).encode()
        texts = [text.decode(*ENCODING) for text in (*triples[subject], reason)]
        said = StoredVerdict(Verdict(verdict), texts.pop(), unpacked(packed), *tokens)
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    entry = _entry(Record(Triple(*texts), None, said, float(created)))
    sound = hashlib.blake2b(signed, digest_size=8).digest() == checksum
    return entry._replace(source=source) if sound and entry.subject == subject else None


def _judge_of_version_1(row: Sequence[Any]) -> Entry | None:
    try:
        key, *texts, settings = row
        model, prompt = (text.decode(*ENCODING) for text in texts)
        entry = _description(JudgeIdentity(model, prompt, json.loads(settings)))
    except (AttributeError, TypeError, ValueError):
        return None
    return entry if entry.subject == key else None
