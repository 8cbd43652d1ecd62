"""The entries of a log, one at a time: lines, records, rows of a table, or members of a zip file.

Somebody else may have made the log. It is of bounded size, packed or not; nothing is extracted, and
names inside of it are no paths.
"""

from __future__ import annotations

import itertools
import json
import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from backports.zstd import ZstdError, zipfile  # Python's zipfile lacks zstd until 3.14

from opencompass_gpassk.datasets.data_files import csv_rows, parquet_rows, text_of
from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.jsonlines import (
    as_list,
    as_row,
    at_place,
    fields_of,
    input_name,
    numbered_lines,
    parse_row,
)
from opencompass_gpassk.formats.stored_files import (
    GZIP,
    MIB,
    RESULT_BYTES,
    SAMPLES,
    open_regular,
    read_json,
)

Fields = dict[str, Any]

ZIP_BYTES = 2048 * MIB
PIECE = 4096  # packed bytes at once: they may hold 30,000 times as many
TRIES = 100  # entries in which the first good one is looked for
ZSTD = 93  # number of the compression
COMPRESSIONS = {0, 8, ZSTD}
# The end of a zip file names the size of its list of members, which is read whole.
END_OF_ZIP = re.compile(rb'(?=PK\x05\x06.{8}(.{4}))', re.DOTALL)
LARGE_ZIP = b'PK\x06\x07'
MEMBER = re.compile(r'samples/.+\.json')  # an id may have slashes; nothing is extracted


class Entry(NamedTuple):
    """An entry of a log.

    Attributes:
        number: Its number in the log, from 1.
        place: Where it stands, such as ``line 3``.
        read: Returns its fields, or raises a ValueError.
    """

    number: int
    place: str
    read: Callable[[], Fields]


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
        entries: The entries.
    """

    path: str
    head: Fields
    entries: Iterator[Entry]


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
    if path == '-' or not Path(path).is_file():
        entries = _lines(path)
    else:
        file = Path(path)
        with open_regular(file) as raw:
            start = raw.read(PIECE)
        text = start.removeprefix(b'\xef\xbb\xbf').lstrip()
        if start.startswith(b'PK\x03\x04'):
            return _zipped(file)
        if start.startswith(b'PAR1'):
            entries = _table(path, parquet_rows(file))
        elif file.suffix.lower() == '.csv':
            entries = _table(path, csv_rows(file))
        elif not start.startswith(GZIP) and (
            text[:1] == b'[' or text.split(b'\n')[0].rstrip() == b'{' or file.suffix == '.json'
        ):
            return _json(file)
        else:
            entries = _lines(path)
    return _begun(path, entries)


def _begun(path: str, entries: Iterator[Entry]) -> Log:
    """Return a log with the first of its entries that can be read."""
    first: list[Entry] = []
    head: Fields = {}
    for entry in itertools.islice(entries, TRIES):
        first.append(entry)
        try:
            head = entry.read()
            break
        except ValueError:
            continue
    return Log(path, head, itertools.chain(first, entries))


def _lines(path: str) -> Iterator[Entry]:
    for number, line in numbered_lines(path):
        yield Entry(number, f'{input_name(path)}, line {number}', partial(parse_row, line))


def _json(path: Path) -> Log:
    try:
        found = read_json(path)
    except ValueError as error:
        cause = error.__cause__
        if isinstance(cause, json.JSONDecodeError) and cause.msg == 'Extra data':
            return _begun(str(path), _lines(str(path)))
        if path.stat().st_size > RESULT_BYTES:
            raise ValueError(
                f'{path}: larger than {RESULT_BYTES // MIB} MiB; save rows as JSON lines, or a log '
                'of inspect as .eval: inspect log convert --to eval'
            ) from error
        raise
    if not isinstance(found, dict):
        return _begun(str(path), _records(path, enumerate(as_list(path, found))))
    if isinstance(found.get('samples'), list) and 'eval' in found:
        samples = _records(path, enumerate(found.pop('samples')))
        return Log(str(path), found, samples)
    numbered = all(key.isdecimal() for key in found)  # as in a prediction file of OpenCompass
    return _begun(str(path), _records(path, found.items() if numbered else [(0, found)]))


def _records(path: Path, records: Any) -> Iterator[Entry]:
    for number, (key, record) in enumerate(records, start=1):
        place = f'{path}, record {short_line(str(key), 40)}'
        yield Entry(number, place, partial(as_row, record))


def _table(path: str, rows: Iterator[tuple[str, Any]]) -> Iterator[Entry]:
    try:
        for number, (place, fields) in enumerate(rows, start=1):
            yield Entry(number, f'{path}, {place}', partial(as_row, fields))
    except UnicodeDecodeError as error:
        raise ValueError(f'{path}: not UTF-8 ({error}); save it in that encoding') from error


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
    if not header and not members:
        raise ValueError(f'{path}: a zip file, but no log of inspect: it has no samples/…json')
    if not header:
        raise ValueError(f'{path}: it has no header.json: the evaluation has not ended')
    with at_place(f'{path}, header.json'):
        head = read(header[0])
    entries = (
        Entry(number, f'{path}, {short_line(one.filename, 80)}', partial(read, one))
        for number, one in enumerate(members, start=1)
    )
    return Log(str(path), head, entries)


def _member(file: Any, member: Any) -> Fields:
    """Return the object in a member, unpacking no more of it than may be in memory."""
    if member.compress_type not in COMPRESSIONS:
        raise ValueError(f'compression {member.compress_type} is unknown')
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
