"""The files that save responses while inference runs, and the final prediction file.

Each line is one JSON object in ASCII: text with U+2028 or lone surrogates can't break a line or a
write. A process killed during a write loses only the incomplete last line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from opencompass_gpassk.formats.stored_files import written_whole
from opencompass_gpassk.inference.requests import Request

__all__ = ['Progress', 'Restored', 'write_predictions']

Record = dict[str, Any]


class Restored(NamedTuple):
    """The responses that earlier runs saved.

    Attributes:
        records: Records by index, including lost requests.
        unused: Lines with responses to other requests: another prompt, protocol, seed, length
            limit or inferencer.
        moved: How many of ``unused`` were not in the file of unused responses before.
    """

    records: dict[int, Record]
    unused: list[bytes]
    moved: int


class Progress:
    """The saved responses of an unfinished inference.

    A run reuses responses that match its requests. The others are kept in a second file, since they
    may have been paid for: a later start may use the settings that they were drawn with.

    Args:
        path: ``tmp_<data set>.jsonl`` beside the prediction file. Unused responses are kept in
            ``unused_<data set>.jsonl``, a name that no other program uses.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unused_path = path.with_name('unused_' + path.name.removeprefix('tmp_'))

    def restore(self, requests: Sequence[Request]) -> Restored:
        """Read the responses that earlier runs saved, without incomplete lines; change nothing."""
        keys = {request.index: request.key for request in requests}
        records: dict[int, Record] = {}
        unused: list[bytes] = []
        moved = 0
        aside = _lines(self.unused_path)
        for number, line in enumerate([*aside, *_lines(self.path)]):
            index, key, record = _read(line)
            if index is not None and keys.get(index) == key:
                records[index] = record
            elif record and 'lost' not in record:
                unused.append(line)
                moved += number >= len(aside)
        return Restored(records, unused, moved)

    def start(self, requests: Sequence[Request], restored: Restored) -> None:
        """Rewrite both files, with each complete line in the file where it belongs."""
        # At any moment each line is in at least one of the files, in case the process is killed.
        if restored.moved:
            _write(self.unused_path, [*_lines(self.unused_path), *restored.unused])
        lines = (
            _line(request, restored.records[request.index])
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
            file.write(_joined(_line(request, record) for request, record in finished))
            file.flush()
            os.fsync(file.fileno())

    def remove(self) -> None:
        """Delete the progress file, once the prediction file holds all responses."""
        self.path.unlink(missing_ok=True)


def write_predictions(path: Path, records: Mapping[int, Record]) -> None:
    """Write the prediction file, whole or not at all: to OpenCompass its presence means finished.

    Args:
        path: ``predictions/<model>/<data set>.json``.
        records: Records by index.
    """
    ordered = {str(index): records[index] for index in sorted(records)}
    with written_whole(path) as part:
        part.write_text(json.dumps(ordered, indent=4), encoding='ascii', newline='\n')


def _line(request: Request, record: Record) -> bytes:
    item = {'index': request.index, 'key': request.key, 'record': record}
    return json.dumps(item).encode('ascii')


def _lines(path: Path) -> list[bytes]:
    content = path.read_bytes() if path.exists() else b''
    return [line for line in content.split(b'\n') if line.strip()]


def _write(path: Path, lines: Iterable[bytes]) -> None:
    with written_whole(path) as part:
        part.write_bytes(_joined(lines))


def _joined(lines: Iterable[bytes]) -> bytes:
    # Drop repeated lines, which a process killed while moving lines leaves behind.
    return b''.join(line + b'\n' for line in dict.fromkeys(lines))


def _read(line: bytes) -> tuple[int | None, str, Record]:
    """Return index, key and record; the record is empty if the line holds none.

    OpenCompass's own inferencer writes records without index and key.
    """
    try:
        item = json.loads(line)
        ours = 'record' in item
        record = item['record'] if ours else item
        if not isinstance(record, dict) or 'prediction' not in record:
            return None, '', {}
        return (int(item['index']), str(item['key']), record) if ours else (None, '', record)
    except (ValueError, KeyError, TypeError):
        return None, '', {}
