"""Logs of other tools: how they are told, and their rows, of a table or of a zip file.

Somebody else may have made the log. It is of bounded size, packed or not; nothing is extracted, and
names inside of it are no paths.
"""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from backports.zstd import ZstdError, zipfile  # Python's zipfile lacks zstd until 3.14

from opencompass_gpassk.datasets.data_files import text_of
from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.jsonlines import at_place, fields_of, parse_row
from opencompass_gpassk.formats.stored_files import MIB, RESULT_BYTES, SAMPLES, open_regular
from opencompass_gpassk.formats.tables import (
    ZIP,
    Fields,
    UnreadRow,
    beginning,
    numbered,
    records,
    unread_rows,
)

ZIP_BYTES = 2048 * MIB
PIECE = 4096  # packed bytes at once: they may hold 30,000 times as many
TRIES = 100  # rows in which the first good one is looked for
# The end of a zip file names the size of its list of members, which is read whole.
END_OF_ZIP = re.compile(rb'(?=PK\x05\x06.{8}(.{4}))', re.DOTALL)
LARGE_ZIP = b'PK\x06\x07'
MEMBER = re.compile(r'samples/.+\.json')  # an id may have slashes; nothing is extracted


@dataclass(frozen=True)
class Tool:
    """How a tool's logs are read.

    Attributes:
        name: Its name, for ``--format`` and before the names of its verdicts.
        files: How the files of its logs are named, for a folder of them; ', ' between patterns.
        fields: What the first entry of a log holds, or the log says of itself.
        named: Takes a log and returns the names of model and data set, '' where unknown.
        row: Takes a log, the number of an entry and its fields; returns a row as in our own files,
            or None if the entry is to be passed over.
        older: The fields of an older layout; None if there is one layout.
    """

    name: str
    files: str
    fields: frozenset[str]
    named: Callable[[Log], tuple[str, str]]
    row: Callable[[Log, int, Fields], Fields | None]
    older: frozenset[str] | None = None


@dataclass(frozen=True)
class Log:
    """A log.

    Attributes:
        path: The file, or ``-``.
        head: What the log says of itself, or the fields of its first entry; {} if none can be read.
        rows: The rows.
    """

    path: str
    head: Fields
    rows: Iterator[UnreadRow]


def part(value: Any, *path: str | int, of: type | tuple[type, ...] = str) -> Any:
    """Return what stands at a path of fields and places in an entry.

    Raises:
        ValueError: If nothing of the type stands there; it names the field.
    """
    told, found = '', value
    for step in path:
        told += f'[{step}]' if isinstance(step, int) else f'.{step}' if told else step
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            there = fields_of(found) if isinstance(found, dict) else f'{type(found).__name__} there'
            raise ValueError(f'field {told} is missing; {there}') from None
    if not isinstance(found, of) or (isinstance(found, bool) and of is int):
        kind = type(found).__name__
        raise ValueError(f'field {told} is {kind} {short_line(repr(found)[:200], 60)}') from None
    return found


def gold_answer(fields: Fields, name: str) -> str:
    """Return the gold answer in a field: a text, a number, or a list of one of them.

    Raises:
        ValueError: If it is none of these; it names the field.
    """
    value = part(fields, name, of=(str, int, float, list))
    if isinstance(value, list) and len(value) != 1:
        raise ValueError(
            f'field {name}: {len(value)} answers, but only one can be compared; leave the row out'
        )
    if not (text := text_of(value)):
        raise ValueError(
            f'field {name}: the gold answer is empty, or neither a text nor a finite number; give '
            'one'
        )
    return text


def verdict(value: Any) -> bool | None:
    """Return a tool's verdict: True for 1, true, ``C``, False for 0, false, ``I`` …, else None."""
    if isinstance(value, str):
        words = {'c': True, 'correct': True, 'true': True, '1': True, 'i': False, 'n': False}
        words |= {'incorrect': False, 'wrong': False, 'false': False, '0': False}
        return words.get(value.strip().lower())
    return bool(value) if isinstance(value, bool | int | float) and value in (0, 1) else None


def open_log(path: str) -> Log:
    """Open a log, by its content.

    Args:
        path: A file, or ``-`` for JSON lines on standard input.

    Raises:
        ValueError: If it can't be read, or is too large.
    """
    if beginning(path).startswith(ZIP):
        return _zipped(Path(path))
    rows = unread_rows(path)
    tried: list[UnreadRow] = []
    head: Fields = {}
    for row in itertools.islice(rows, TRIES):
        tried.append(row)
        try:
            head = row.read()
            break
        except ValueError:
            continue
    if 'eval' in head and isinstance(head.get('samples'), list):
        return Log(path, head, numbered(path, records(enumerate(head.pop('samples')))))
    return Log(path, head, itertools.chain(tried, rows))


def _zipped(path: Path) -> Log:
    """Open a zip file whose members are JSON: ``header.json`` and ``samples/*.json``."""
    with open_regular(path) as raw:
        size = raw.seek(0, 2)
        raw.seek(max(0, size - (1 << 16) - 100))
        end = raw.read()
    lists = [int.from_bytes(one[1], 'little') for one in END_OF_ZIP.finditer(end)]
    if size > ZIP_BYTES or LARGE_ZIP in end or max(lists, default=0) > RESULT_BYTES:
        raise ValueError(f'{path}: it holds too much; split it')
    try:
        file = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ValueError(f'{path}: not a zip file: {short_line(str(error))}') from error
    members = [one for one in file.infolist() if MEMBER.fullmatch(one.filename)]
    if sum(one.file_size for one in members) > SAMPLES.size:
        raise ValueError(f'{path}: it holds too much; split it')
    read = partial(_member, file)
    header = [one for one in file.infolist() if one.filename == 'header.json']
    if not header:
        raise ValueError(
            f'{path}: it has no header.json, so it is no log of inspect, or its evaluation has not '
            'ended; name another file'
        )
    with at_place(f'{path}, header.json'):
        head = read(header[0])
    located = ((short_line(one.filename, 80), partial(read, one)) for one in members)
    return Log(str(path), head, numbered(str(path), located))


def _member(file: Any, member: Any) -> Fields:
    """Return the object in a member, unpacking no more of it than may be in memory."""
    if member.file_size > RESULT_BYTES:
        raise ValueError(f'it is larger than {RESULT_BYTES // MIB} MiB')
    found = bytearray()
    try:
        with file.open(member) as packed:  # it gives no more than file_size
            while piece := packed.read(PIECE):
                found += piece
    except (zipfile.BadZipFile, zlib.error, ZstdError, OSError, EOFError, RuntimeError) as error:
        raise ValueError(f'damaged: {short_line(str(error))}') from error
    return parse_row(found.decode('utf-8', 'surrogateescape'))
