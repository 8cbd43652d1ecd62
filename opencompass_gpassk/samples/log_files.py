"""Logs of other tools: how they are told, and their rows, of a table or of a zip file.

Somebody else may have made the log. It is of bounded size, packed or not; nothing is extracted, and
names inside of it are no paths.
"""

from __future__ import annotations

import itertools
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from backports.zstd import ZstdError, zipfile  # Python's zipfile lacks zstd until 3.14

from opencompass_gpassk.datasets.data_files import text_of
from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.jsonlines import at_place, fields_of, parse_row
from opencompass_gpassk.formats.stored_files import (
    MIB,
    RESULT_BYTES,
    SAMPLES,
    open_regular,
)
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
VERDICTS = {
    **dict.fromkeys(('c', 'correct', 'true', '1'), True),
    **dict.fromkeys(('i', 'n', 'incorrect', 'wrong', 'false', '0'), False),
}
MOST_GOLDS = 1000  # accepted answers to a problem
TRIES = 100  # rows in which the first good one is looked for
# The end of a zip file names the size of its list of members, which is read whole.
END_OF_ZIP = re.compile(rb'(?=PK\x05\x06.{8}(.{4}))', re.DOTALL)
LARGE_ZIP = b'PK\x06\x07'
HEADERS = ('header.json', '_journal/start.json')  # an evaluation that broke off has no header
MEMBER = re.compile(r'samples/.+\.json')  # an id may have slashes; nothing is extracted


class UnscorableError(ValueError):
    """A row without a gold answer, or without a text: those of its log may all be so."""


@dataclass(frozen=True)
class Stated:
    """What a log says of itself.

    Attributes:
        model: The model, '' if unknown.
        name: The data set, '' if unknown.
        protocol: How the responses were drawn: field → value, such as the temperature. Logs that
            differ in it are not joined.
        warnings: What a reader of the result must know, such as that the evaluation broke off.
        ids: The ids of the planned problems; those of ``problems`` alone are unknown.
        problems: Number of the planned problems; 0 if unknown.
        samples: Number of the planned samples of each problem; 0 if unknown.
    """

    model: str = ''
    name: str = ''
    protocol: Fields = field(default_factory=dict)
    warnings: Sequence[str] = ()
    ids: Sequence[str] = ()
    problems: int = 0
    samples: int = 0


@dataclass(frozen=True)
class Tool:
    """How a tool's logs are read.

    Attributes:
        name: Its name, for ``--format`` and before the names of its verdicts.
        files: How the files of its logs are named, for a folder of them.
        layouts: What the first entry of a log holds, or the log says of itself, in each version.
        stated: Takes a log and returns what it says of itself.
        row: Takes a log and the fields of an entry. It returns a row as in our own
            files, with ``prompt`` if that is more than the question, and ``theirs``, the verdict's
            name; or in words why the entry is passed over.
        several: Whether several rows of one problem hold its samples.
    """

    name: str
    files: Sequence[str]
    layouts: Sequence[Set[str]]
    stated: Callable[[Log], Stated]
    row: Callable[[Log, Fields], Fields | str]
    several: bool = False


@dataclass(frozen=True)
class Log:
    """A log.

    Attributes:
        path: The file, or ``-``.
        head: What the log says of itself, or the fields of its first entry; {} if none can be read.
        rows: The rows.
        kept: What a tool keeps between rows.
    """

    path: str
    head: Fields
    rows: Iterator[UnreadRow]
    kept: dict[Any, Any] = field(default_factory=dict)


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


def gold_answers(fields: Fields, name: str) -> list[str]:
    """Return the gold answers in a field, any of which is right: a text, a number, or a list.

    Raises:
        UnscorableError: If there is none.
        ValueError: If one is neither a text nor a finite number; it names the field.
    """
    value = fields.get(name)
    given = value if isinstance(value, list) else [value]
    given = [one for one in given if one is not None and str(one).strip()]
    golds = [text_of(one) for one in given]
    if not golds:
        raise UnscorableError(f'field {name}: the gold answer is missing; {fields_of(fields)}')
    if not all(golds) or len(golds) > MOST_GOLDS:
        told = short_line(repr(value)[:200], 60)
        raise UnscorableError(
            f'field {name} is {told}, not a text, a finite number, or a list of at most '
            f'{MOST_GOLDS} accepted ones; give the gold answer so'
        )
    return golds


def stated_verdict(values: Any, names: Iterable[str]) -> Fields:
    """Return ``verdict`` and its name in ``theirs``, of the first of some fields that is there."""
    known = values if isinstance(values, dict) else {}
    name = next((one for one in names if isinstance(one, str) and one in known), '')
    return {'theirs': name, 'verdict': verdict(known.get(name))}


def renamed(fields: Fields, columns: Mapping[str, str]) -> Fields:
    """Return fields under other names, given the new name of each; those that are there."""
    return {own: fields[one] for own, one in columns.items() if one in fields}


def object_in(fields: Any, name: str) -> Fields:
    """Return the object in a field of an object; {} if there is none."""
    found = fields.get(name) if isinstance(fields, dict) else None
    return found if isinstance(found, dict) else {}


def number_in(fields: Fields, name: str) -> int:
    """Return the positive integer in a field; 0 if there is none."""
    found = fields.get(name)
    return found if type(found) is int and 0 < found < 10**9 else 0


def counted_tokens(tokens: Any) -> int | None:
    """Return the length of a list of tokens; None if there is none."""
    return len(tokens) if isinstance(tokens, list) and tokens else None


def verdict(value: Any) -> bool | None:
    """Return a tool's verdict: True for 1, true, ``C``, False for 0, false, ``I`` …, else None."""
    if isinstance(value, str):
        value = VERDICTS.get(value.strip().lower())
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
    found = {one.filename: one for one in file.infolist() if one.filename in HEADERS}
    if not found:
        raise ValueError(f'{path}: it has no header.json, so it is no log of inspect; name another')
    name = min(found, key=HEADERS.index)
    with at_place(f'{path}, {name}'):
        head = {'status': 'started'} | read(found[name])
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
