"""The files that save responses while inference runs, and the final prediction file.

One JSON object a line, ASCII only: text with U+2028 or lone surrogates can't break a line or a
write, and a kill in the middle of a write costs the torn last line alone.
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
    """What earlier runs saved.

    Attributes:
        records: By index, lost ones among them.
        unused: Lines with responses to other requests: another prompt, protocol, seed, length
            limit or inferencer.
        moved: How many of ``unused`` haven't been set aside before.
        torn: Lines that hold nothing, such as the last one of a killed run.
    """

    records: dict[int, Record]
    unused: list[bytes]
    moved: int
    torn: int


class Progress:
    """The responses that are there, while some are missing.

    A run finds those again that fit its requests. Others are set aside, since they may have been
    paid for: a later start may have the settings that they were drawn with.

    Args:
        path: ``tmp_<data set>.jsonl`` beside the prediction file. ``unused_<data set>.jsonl``
            is what is set aside: nothing else reads or writes files of such a name.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.unused_path = path.with_name('unused_' + path.name.removeprefix('tmp_'))

    def restore(self, requests: Sequence[Request]) -> Restored:
        """Read what earlier runs saved; change nothing."""
        keys = {request.index: request.key for request in requests}
        records: dict[int, Record] = {}
        unused: list[bytes] = []
        moved = torn = 0
        aside = _lines(self.unused_path)
        for number, line in enumerate([*aside, *_lines(self.path)]):
            index, key, record = _read(line)
            if not record:
                torn += 1
            elif index is not None and keys.get(index) == key:
                records[index] = record
            elif 'lost' not in record:
                unused.append(line)
                moved += number >= len(aside)
        return Restored(records, unused, moved, torn)

    def start(self, requests: Sequence[Request], restored: Restored) -> None:
        """Write both files anew: each line where it belongs, and whole."""
        # Each line stands in one of the files, whenever a kill comes.
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
        """Add finished requests, on disk when this returns, which takes milliseconds."""
        with self.path.open('ab') as file:
            file.write(_joined(_line(request, record) for request, record in finished))
            file.flush()
            os.fsync(file.fileno())

    def remove(self) -> None:
        """Delete the progress once the prediction file holds it all."""
        self.path.unlink(missing_ok=True)


def write_predictions(path: Path, records: Mapping[int, Record]) -> None:
    """Write the prediction file: whole or not at all, since OpenCompass takes its presence as done.

    Args:
        path: ``predictions/<model>/<data set>.json``.
        records: By index.
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
    # Without repetitions, which a kill while lines are moved leaves behind.
    return b''.join(line + b'\n' for line in dict.fromkeys(lines))


def _read(line: bytes) -> tuple[int | None, str, Record]:
    """Return index, key and record, which is empty where the line holds none.

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
