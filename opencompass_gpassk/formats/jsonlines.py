"""Lines of JSON that users give us, gzipped or not, from a file or standard input; and get."""

from __future__ import annotations

import gzip
import json
import math
import re
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

__all__ = ['parse_row', 'read_lines', 'row_line', 'without_nan']

ESCAPED = re.compile('[\ud800-\udfff\x85\u2028\u2029]')
UNDECODED = re.compile('[\udc80-\udcff]')  # what surrogateescape makes of bytes that aren't UTF-8


def read_lines(path: str) -> Iterator[str]:
    """Yield the lines of a file, gzipped or not; ``-`` is standard input.

    Lines end at ``\\n`` alone: a response may hold U+2028 or U+0085. A byte order mark is left out.
    Bytes that aren't UTF-8 are for :func:`parse_row` to refuse, so that others' lines can be read.

    Raises:
        ValueError: If the file is gzipped and damaged.
    """
    with ExitStack() as stack:
        raw: Any = sys.stdin.buffer if path == '-' else stack.enter_context(Path(path).open('rb'))
        packed = raw.peek(2)[:2] == b'\x1f\x8b'
        try:
            for number, line in enumerate(gzip.GzipFile(fileobj=raw) if packed else raw):
                text = line.decode('utf-8', 'surrogateescape')
                yield text if number else text.removeprefix('\ufeff')
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f'{path}: damaged gzip file: {error}') from error


def parse_row(line: str) -> dict[str, Any]:
    """Return the object in a line.

    Raises:
        ValueError: If the line isn't UTF-8, JSON or an object.
    """
    if UNDECODED.search(line):
        raise ValueError('not UTF-8; save the file in that encoding')
    try:
        row = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f'not JSON: {error}; put one {{…}} on each line') from error
    if not isinstance(row, dict):
        raise ValueError(f'a row is an object {{…}}, not a {type(row).__name__}')
    return row


def row_line(row: Mapping[str, Any]) -> str:
    """Return a row as a line that people can read, in whatever script its texts are.

    Escaped is what UTF-8 has no bytes for, and what some readers take for the end of a line.
    """
    text = json.dumps(row, ensure_ascii=False)
    return ESCAPED.sub(lambda char: f'\\u{ord(char[0]):04x}', text) + '\n'


def _refuse(constant: str) -> None:
    raise ValueError(f'{constant} is no number of JSON')


def without_nan(value: Any) -> Any:
    """Return a value with None in place of every number that JSON has no word for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(item) for item in value]
    return value
