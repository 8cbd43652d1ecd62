"""The files that save responses while inference runs, and the final prediction file.

Each line is one JSON object in ASCII: text with U+2028 or lone surrogates can't break a line or a
write. A process killed during a write loses only the incomplete last line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from opencompass_gpassk.formats.stored_files import written_whole
from opencompass_gpassk.inference.trial_requests import Request

Record = dict[str, Any]


class Restored(NamedTuple):
    """The responses that earlier runs saved.

    Attributes:
        records: Records by index, including lost requests.
        unused: Lines with responses to other requests: another prompt, protocol, seed, length
            limit or inferencer; or of another model.
        moved: How many of ``unused`` were not in the file of unused responses before.
        models: The identities of the other models among the moved ones, whose requests were the
            same; '' if an earlier version saved no model, and the configs don't tell.
    """

    records: dict[int, Record]
    unused: list[bytes]
    moved: int
    models: list[str]


class Progress:
    """The saved responses of an unfinished inference.

    A run reuses responses that match its requests. The others are kept in a second file, since they
    may have been paid for: a later start may use the settings that they were drawn with.

    Args:
        path: ``tmp_<data set>.jsonl`` beside the prediction file. Unused responses are kept in
            ``unused_<data set>.jsonl``, a name that no other program uses.
        model: The identity of the model that is asked.
    """

    def __init__(self, path: Path, model: str) -> None:
        self.path = path
        self.model = model
        self.unused_path = path.with_name('unused_' + path.name.removeprefix('tmp_'))

    def restore(
        self, requests: Sequence[Request], was_same: Callable[[], bool] = lambda: False
    ) -> Restored:
        """Read the responses that earlier runs saved, without incomplete lines; change nothing.

        Args:
            requests: The requests of this run.
            was_same: Tells whether responses that an earlier version saved, without a model, are of
                this model.
        """
        keys = {request.index: request.key for request in requests}
        records: dict[int, Record] = {}
        unused: list[bytes] = []
        models: dict[str, None] = {}
        moved = 0
        aside = _lines(self.unused_path)
        for number, line in enumerate([*aside, *_lines(self.path)]):
            index, key, model, record = _read(line)
            asked = keys.get(index) == key
            if asked and (model == self.model or (not model and was_same())):
                records[index] = record
            elif record and 'lost' not in record:
                unused.append(line)
                if number >= len(aside):
                    moved += 1
                    if asked:
                        models[model] = None
        return Restored(records, unused, moved, [*models])

    def start(self, requests: Sequence[Request], restored: Restored) -> None:
        """Rewrite both files, with each complete line in the file where it belongs."""
        # At any moment each line is in at least one of the files, in case the process is killed.
        if restored.moved:
            _write(self.unused_path, [*_lines(self.unused_path), *restored.unused])
        lines = (
            self._line(request, restored.records[request.index])
            for request in requests
            if request.index in restored.records
        )
        _write(self.path, lines)
        if restored.unused:
            _write(self.unused_path, restored.unused)
        else:
            self.unused_path.unlink(missing_ok=True)

    def append(self, finished: Sequence[tuple[Request, Record]]) -> None:
        """Append finished requests; they are on disk when this returns, within milliseconds."""
        with self.path.open('ab') as file:
            file.write(_joined(self._line(request, record) for request, record in finished))
            file.flush()
            os.fsync(file.fileno())

    def remove(self) -> None:
        """Delete the progress file, once the prediction file holds all responses."""
        self.path.unlink(missing_ok=True)

    def _line(self, request: Request, record: Record) -> bytes:
        item = {'index': request.index, 'key': request.key, 'model': self.model, 'record': record}
        return json.dumps(item).encode('ascii')


def write_predictions(
    path: Path, requests: Sequence[Request], records: Mapping[int, Record], model: str
) -> None:
    """Write the prediction file, whole or not at all: to OpenCompass its presence means finished.

    Args:
        path: ``predictions/<model>/<data set>.json``.
        requests: The requests by index; each record gets the key of its request.
        records: Records by index.
        model: The model's identity, which each record gets too.
    """
    ordered = {
        str(request.index): {**records[request.index], 'key': request.key, 'model': model}
        for request in requests
    }
    with written_whole(path) as part:
        part.write_text(json.dumps(ordered, indent=4), encoding='ascii', newline='\n')


def _lines(path: Path) -> list[bytes]:
    content = path.read_bytes() if path.exists() else b''
    return [line for line in content.split(b'\n') if line.strip()]


def _write(path: Path, lines: Iterable[bytes]) -> None:
    with written_whole(path) as part:
        part.write_bytes(_joined(lines))


def _joined(lines: Iterable[bytes]) -> bytes:
    # Drop repeated lines, which a process killed while moving lines leaves behind.
    return b''.join(line + b'\n' for line in dict.fromkeys(lines))


def _read(line: bytes) -> tuple[int, str, str, Record]:
    """Return index, key, model and record; -1 and an empty record if the line holds none.

    OpenCompass's own inferencer writes records without index and key; earlier versions of this
    package wrote no model.
    """
    try:
        item = json.loads(line)
        ours = 'record' in item
        record = item['record'] if ours else item
        if not isinstance(record, dict) or 'prediction' not in record:
            return -1, '', '', {}
        if not ours:
            return -1, '', '', record
        return int(item['index']), str(item['key']), str(item.get('model') or ''), record
    except (ValueError, KeyError, TypeError):
        return -1, '', '', {}
