"""The file that saves finished rows while inference runs, and the final prediction file.

One JSON object a line, ASCII only: text with U+2028 or lone surrogates can't break a line or a
write, and a kill in the middle of a write costs the torn last line alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opencompass_gpassk.inference.rows import Row

__all__ = ['Progress', 'write_predictions']

Record = dict[str, Any]


class Progress:
    """Finished rows of an unfinished inference.

    Args:
        path: ``tmp_<data set>.jsonl`` beside the prediction file to come.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def restore(self, rows: Sequence[Row]) -> tuple[dict[int, Record], int]:
        """Read what an earlier run saved.

        Returns:
            The records of ``rows`` by index, those of lost rows among them, and how many lines
            were dropped since they are torn or belong to another prompt, protocol or seed.
        """
        if not self.path.exists():
            return {}, 0
        keys = {row.index: row.key for row in rows}
        saved: dict[int, Record] = {}
        dropped = 0
        for line in self.path.read_bytes().split(b'\n'):
            if not line.strip():
                continue
            try:
                item = json.loads(line)
                index, key, record = item['index'], item['key'], item['record']
                fits = keys.get(index) == key and isinstance(record['prediction'], str)
            except (ValueError, KeyError, TypeError):
                fits = False
            if fits:
                saved[index] = record
            else:
                dropped += 1
        return saved, dropped

    def start(self, rows: Mapping[int, Row], saved: Mapping[int, Record]) -> None:
        """Write the file anew with the saved records alone, so that it ends with a whole line."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _write_atomically(
            self.path, ''.join(_line(rows[index], saved[index]) for index in sorted(saved))
        )

    def append(self, finished: Sequence[tuple[Row, Record]]) -> None:
        """Add finished rows, on disk when this returns."""
        with self.path.open('a', encoding='ascii', newline='\n') as file:
            file.write(''.join(_line(row, record) for row, record in finished))

    def remove(self) -> None:
        """Delete the file once the prediction file is written."""
        self.path.unlink(missing_ok=True)


def write_predictions(path: Path, records: Mapping[int, Record]) -> None:
    """Write the prediction file: whole or not at all, since OpenCompass takes its presence as done.

    Args:
        path: ``predictions/<model>/<data set>.json``.
        records: By index.
    """
    ordered = {str(index): records[index] for index in sorted(records)}
    path.parent.mkdir(parents=True, exist_ok=True)
    _write_atomically(path, json.dumps(ordered, indent=4))


def _line(row: Row, record: Record) -> str:
    return json.dumps({'index': row.index, 'key': row.key, 'record': record}) + '\n'


def _write_atomically(path: Path, text: str) -> None:
    unfinished = path.with_name(f'.{path.name}.writing')
    with unfinished.open('w', encoding='ascii', newline='\n') as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
