"""The responses of an inference on disk: saved one by one, looked up by key, written at the end.

Each line of a progress file is one JSON object in ASCII: text with U+2028 or lone surrogates can't
break a line or a write. A process killed during a write loses only the incomplete last line. The
key of a request depends neither on n nor on shards nor on the name of the data set, so a response
is found wherever it was saved. Texts stay on disk: memory holds only where each line begins.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.stored_files import (
    appended,
    open_regular,
    read_members,
    written_whole,
)
from opencompass_gpassk.inference.sample_requests import Request

Record = dict[str, Any]

# What is not the same in the names of one data set's files: the hash of a user's file, the number
# of problems, n, and the number of a shard.
VARYING = re.compile(r'(-[0-9a-f]{6})?(-first\d+)?(-greedy)?([-_]n\d+)?(_\d+)?$')
ASIDE = re.compile('^(tmp|unused)_')  # beginnings of the names of files with saved responses
AT_ONCE = 100  # records that are copied with one write


@dataclass(frozen=True)
class Line:
    """What a line of a progress file, or a record of a prediction file, says.

    Attributes:
        key: The key of its request; '' if it can't be read.
        model: The identity of the model that responded.
        reused: Whether it was taken from another file.
        record: The record; {} if there is none.
    """

    key: str = ''
    model: str = ''
    reused: bool = False
    record: Record = field(default_factory=dict)

    @property
    def identity(self) -> tuple[Any, Any]:
        """Problem and replica."""
        return self.record.get('problem_id'), self.record.get('replica')

    @property
    def is_response(self) -> bool:
        """Whether it holds a response, and not one that is lost."""
        return bool(self.record) and 'lost' not in self.record


class Progress:
    """The responses to the requests of a data set, or of a shard of it.

    Args:
        path: The prediction file, ``predictions/<model>/<data set>.json``. Until it is written,
            responses are saved in ``tmp_<data set>.jsonl`` beside it.
        requests: All requests.
        model: The identity of the model that is asked.

    Attributes:
        places: Index of each saved request → where its line begins.
        reused: Indices of those that another file held.
        failed_before: Indices of requests that an earlier run lost.
        other_models: Identity of a model → number of saved responses to these samples that are not
            used, since it is another model.
        other_settings: How many are not used because they were made for another prompt or under
            another protocol.
    """

    def __init__(self, path: Path, requests: Sequence[Request], model: str) -> None:
        self.predictions = path
        self.path = path.with_name(f'tmp_{path.stem}.jsonl')
        self.requests = requests
        self.model = model
        self.places: dict[int, int] = {}
        self.reused: set[int] = set()
        self.failed_before: set[int] = set()
        self.other_models: Counter[str] = Counter()
        self.other_settings = 0
        self._needless = False  # whether the progress file holds lines that aren't used
        self.held = ExitStack()  # the lock on the progress file, while responses are drawn

    def hold(self) -> None:
        """Let no other process save to the same file; one that outlived its job may do so.

        Raises:
            ValueError: If one does.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        file = self.held.enter_context(appended(self.path))
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f'{self.path}: another process is saving responses in this file. Perhaps it '
                'outlived a job that was killed: wait until it ends, or end it, then resume with '
                'opencompass CONFIG -r'
            ) from None
        except OSError:  # a file system without locks
            return

    def restore(self) -> None:
        """Find the responses that are saved: under this name, and in the data set's other files."""
        self._restore()
        missing = {one.key: one for one in self.requests if one.index not in self.places}
        for path in self._other_files():
            found = self._found_in(path, missing)
            while missing and (part := list(islice(found, AT_ONCE))):
                self.save(part, reused=True)
                self.reused.update(request.index for request, _ in part)
        self.failed_before.difference_update(self.places)

    def _restore(self) -> None:
        wanted = {request.key: request.index for request in self.requests}
        samples = {(request.problem_id, request.replica) for request in self.requests}
        for place, _, line in _lines(self.path):
            index = wanted.get(line.key)
            if index is not None and line.model == self.model:
                if 'lost' in line.record:
                    self.failed_before.add(index)
                    continue
                self.places[index] = place
                if line.reused:
                    self.reused.add(index)
            elif line.is_response:
                self._needless = True
                if index is not None:
                    self.other_models[line.model] += 1
                elif line.identity in samples:
                    self.other_settings += 1
        with appended(self.path) as file:  # the next line must not stick to a torn one
            if file.tell() and file.seek(-1, os.SEEK_END) and file.read() != b'\n':
                file.write(b'\n')

    def _found_in(
        self, path: Path, missing: dict[str, Request]
    ) -> Iterator[tuple[Request, Record]]:
        """Yield the responses in a file to missing requests, which then are missing no more."""
        try:
            for line in _records(path):
                request = missing.get(line.key)
                if request and line.is_response and line.model == self.model:
                    yield missing.pop(line.key), line.record
        except (OSError, ValueError):
            return  # its owner replaces it; at worst some responses are drawn again

    def _other_files(self) -> list[Path]:
        """Return the data set's other files of the model: of another n, shards, unfinished."""
        own = VARYING.sub(r'\3', self.predictions.stem)
        return [
            path
            for path in sorted(self.predictions.parent.iterdir())
            if path.suffix in ('.json', '.jsonl')
            and path != self.path
            and VARYING.sub(r'\3', ASIDE.sub('', path.stem)) == own
        ]

    def save(self, finished: Sequence[tuple[Request, Record]], *, reused: bool = False) -> None:
        """Save finished requests; they are on disk when this returns, within milliseconds.

        Args:
            finished: The requests with their records.
            reused: Whether they were taken from another file.
        """
        with appended(self.path) as file:
            for request, record in finished:
                if 'lost' not in record:
                    self.places[request.index] = file.tell()
                line: Record = {'index': request.index, 'key': request.key, 'model': self.model}
                line |= {'reused': True} if reused else {}
                file.write(json.dumps({**line, 'record': record}).encode('ascii') + b'\n')
            file.flush()
            os.fsync(file.fileno())

    def finish(self, lost: Mapping[int, Record], parts: Sequence[str]) -> None:
        """Write the prediction file, whole or not at all: to OpenCompass its presence means done.

        Then delete what is saved besides. While responses are lost, the progress file stays.

        Args:
            lost: Index → record of each request that has no response.
            parts: Names of the prediction files that the data set has in all; [] if unknown.
        """
        with (
            written_whole(self.predictions) as part,
            part.open('w', encoding='ascii', newline='\n') as out,
            open_regular(self.path) as saved,
        ):
            for number, request in enumerate(self.requests):
                if record := lost.get(request.index):
                    shown = json.dumps(record)
                else:
                    saved.seek(self.places[request.index])
                    shown = _record_text(saved.readline(), request.gold)
                told = json.dumps({'key': request.key, 'model': self.model})
                begin = ',' if number else '{'
                out.write(f'{begin}\n"{request.index}": {shown[:-1]}, {told[1:]}')
            out.write('\n}' if self.requests else '{}')
        if not lost and not self._needless:
            self.path.unlink()
        self._clear([self.predictions.with_name(name) for name in parts])

    def _clear(self, parts: Sequence[Path]) -> None:
        """Delete the saved responses of a data set, if all parts of it are finished.

        Those that no part uses, of other settings or another model, were paid for too: they are
        kept in ``unused_<data set>.jsonl``, where a later start finds them. Those of a part with
        lost responses stay.
        """
        if not parts or not all(part.exists() for part in parts):
            return
        name = parts[0].stem if len(parts) == 1 else parts[0].stem.removesuffix('_0')
        saved = re.compile(rf'(tmp|unused)_{re.escape(name)}(_\d+)?\.jsonl')
        left = {one for one in self.path.parent.iterdir() if saved.fullmatch(one.name)}
        used: dict[str, str] = {}
        for part in parts if left else ():
            for line in _records(part):
                used[line.key] = line.model
                if 'lost' in line.record:
                    left.discard(part.with_name(f'tmp_{part.stem}.jsonl'))
        if not left:
            return
        unused = self.path.with_name(f'unused_{name}.jsonl')
        kept: set[int] = set()
        with written_whole(unused) as part, part.open('wb') as out:
            for path in sorted(left):
                for _, data, line in _lines(path):
                    in_use = used.get(line.key) == line.model
                    if line.is_response and not in_use and hash(data) not in kept:
                        kept.add(hash(data))
                        out.write(data)
        for path in left - {unused} if kept else left | {unused}:
            path.unlink(missing_ok=True)


def _records(path: Path) -> Iterator[Line]:
    """Yield the records of a progress file or of a prediction file.

    Raises:
        OSError: If it isn't there.
        ValueError: If it can't be read.
    """
    if path.suffix == '.jsonl':
        yield from (line for _, _, line in _lines(path))
        return
    for _, record in read_members(path):
        if isinstance(record, dict) and 'prediction' in record:
            key, model = (str(record.pop(name, '') or '') for name in ('key', 'model'))
            yield Line(key, model, record=record)


def _lines(path: Path) -> Iterator[tuple[int, bytes, Line]]:
    """Yield the place of each whole line of a progress file, the line, and what it says."""
    place = 0
    with suppress(FileNotFoundError), open_regular(path) as file:
        for data in file:
            if data.endswith(b'\n'):
                yield place, data, _read(data)
            place += len(data)


def _record_text(line: bytes, gold: Any) -> str:
    """Return the record in a saved line as JSON, with the gold answer that the data set has now.

    The text is copied, since parsing it and writing it again takes ten times as long. A quote
    inside a response is escaped, so the names of fields are found in the text.
    """
    _, _, text = line.decode('ascii').partition(' "record": ')
    if gold is None or f' "gold": {json.dumps(gold)}, ' in text:
        return text.removesuffix('}\n')
    return json.dumps({**json.loads(line)['record'], 'gold': gold})


def _read(data: bytes) -> Line:
    """Return what a line says; nothing, if it is none of this package."""
    try:
        item = json.loads(data)
        return Line(str(item['key']), str(item['model']), 'reused' in item, dict(item['record']))
    except (ValueError, KeyError, TypeError, RecursionError):
        return Line()
