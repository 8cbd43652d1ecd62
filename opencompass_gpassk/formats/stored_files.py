"""Files of a run folder, perhaps made by someone else: only regular files of bounded size are read.

A pipe never ends, a gzip file of megabytes may hold gigabytes, and JSON may take twenty times its
size in memory. All results, trials, predictions and configs are read here. Files are written here:
whole or not at all, or at their end, and never through a link that may lie in such a folder.
"""

from __future__ import annotations

import codecs
import errno
import gzip
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

MIB = 1 << 20


class LineBounds(NamedTuple):
    """Bounds of a file of JSON lines.

    Attributes:
        size: Bytes of all lines, unpacked.
        lines: Number of lines.
        longest: Bytes of one line.
    """

    size: int
    lines: int
    longest: int


# A gigabyte of memory is enough to read any file of these sizes.
CONFIG_BYTES = 16 * MIB  # a config contains each data set two or three times
RESULT_BYTES = 32 * MIB  # JSON such as "[[],[],…" takes 21 times its size
# Python stores a text with an emoji at 4 bytes per character. Half a million trials have 160 MiB.
TRIALS = LineBounds(160 * MIB, 1_000_000, 4 * MIB)
MOST_PROBLEMS = 200_000  # of a result and its trials; a page of this many takes a minute
# Of the following files only one record or line at a time is in memory, besides what callers keep.
PREDICTIONS_BYTES = 4096 * MIB  # 100,000 responses of 40,000 characters
PREDICTIONS = 1_000_000
RECORD_CHARACTERS = 16 * MIB
SAMPLES = LineBounds(PREDICTIONS_BYTES, 1_000_000, RESULT_BYTES)

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
GZIP = b'\x1f\x8b'
TRIALS_ENDING = '.trials.jsonl.gz'  # of the file of trials beside a result
PIECE = MIB  # bytes read at once
BLANK = re.compile(r'[ \t\n\r]*')
DECODER = json.JSONDecoder()


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file, or a link to one, to read its bytes.

    Raises:
        FileNotFoundError: If the file doesn't exist.
        ValueError: If it isn't regular, such as a pipe or a device, or can't be opened.
    """
    try:
        # Opening a pipe without a writer would block.
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:  # a name may be too long, or hold a NUL
        reason = error.strerror if isinstance(error, OSError) else error
        raise _unreadable(path, reason) from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _unreadable(path, 'it is no regular file')
    return os.fdopen(file, 'rb')


def read_bytes(path: Path, most: int, remedy: str = 'delete it and make it again') -> bytes:
    """Return the bytes of a file.

    Raises:
        FileNotFoundError: If the file doesn't exist.
        ValueError: If it isn't a regular file, or has more than ``most`` bytes.
    """
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise _unreadable(path, f'it is larger than {_size(most)}', remedy)
    return data


def read_json(path: Path, most: int = RESULT_BYTES) -> Any:
    """Return the value of a JSON file.

    Raises:
        FileNotFoundError: If the file doesn't exist.
        ValueError: If it can't be read, has more than ``most`` bytes, or isn't JSON.
    """
    data = read_bytes(path, most)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, error) from error


def read_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file, such as a result; errors are those of :func:`read_json`."""
    found = read_json(path)
    if not isinstance(found, dict):
        raise _unreadable(path, f'it holds no object {{…}}, but a {type(found).__name__}')
    return found


def read_members(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield name and value of each member of a JSON object, which may be larger than memory.

    Raises:
        FileNotFoundError: If the file doesn't exist.
        ValueError: If it can't be read, isn't a JSON object, or is too large.
    """
    number = 0
    with open_regular(path) as file:
        try:
            if os.fstat(file.fileno()).st_size > PREDICTIONS_BYTES:
                raise ValueError(f'it is larger than {_size(PREDICTIONS_BYTES)}')
            for number, member in enumerate(_members(file), start=1):
                if number > PREDICTIONS:
                    raise ValueError('there are too many')
                yield member
        except (ValueError, RecursionError) as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else error
            remedy = 'delete it and run the inference again with -r'
            raise _unreadable(path, f'after {number} records, {reason}', remedy) from error


def stored_lines(path: Path, bounds: LineBounds) -> Iterator[bytes]:
    """Yield the lines of a file, gzipped or not, without their ends.

    Raises:
        ValueError: If there is no file, it can't be read, is damaged, or is too large.
    """
    try:
        file = open_regular(path)
    except FileNotFoundError as error:
        raise _unreadable(path, 'there is no such file') from error
    with file:
        yield from bounded_lines(file, path, bounds)


def bounded_lines(file: BufferedReader, path: Path | str, bounds: LineBounds) -> Iterator[bytes]:
    """Yield the lines of an open file as :func:`stored_lines` does."""
    packed = file.peek(2)[:2] == GZIP
    stream: Any = gzip.GzipFile(fileobj=file) if packed else file
    size = lines = 0
    rest = b''
    try:
        while piece := stream.read1(PIECE):  # what a pipe has written is handed out at once
            *whole, rest = (rest + piece).split(b'\n')
            size += len(piece)
            lines += len(whole)
            longest = max(map(len, (*whole[:1], rest)))  # the others are no longer than a piece
            for number, most, name in (
                (size, bounds.size, _size(bounds.size)),
                (lines, bounds.lines, f'{bounds.lines} lines'),
                (longest, bounds.longest, f'{_size(bounds.longest)} in a line'),
            ):
                if number > most:
                    remedy = 'split it, or make it again'
                    raise _unreadable(path, f'it holds more than {name}', remedy)
            yield from whole
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise _unreadable(path, f'damaged gzip file: {error}') from error
    if rest:
        yield rest


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file, which replaces ``path`` when the block ends.

    If the block fails or the process is killed, ``path`` stays as it was. If it is a link, the link
    is replaced, and what it points to stays.
    """
    part = path.with_name(f'.{path.name}.{os.getpid()}.part')
    with full_disk_named(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)  # it may be a planted link
        try:
            yield part
            with part.open('rb') as file:
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def appended(path: Path) -> Iterator[BinaryIO]:
    """Open a file to read it and to add to it; it is made if there is none.

    Raises:
        ValueError: If it is a link, a pipe or a device, which may have been planted.
    """
    with full_disk_named(path), open(path, 'a+b', opener=_open_no_link) as file:
        yield file


def _open_no_link(path: str, flags: int) -> int:
    try:
        # Opening a pipe without a reader would block.
        file = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        raise _planted(path) if error.errno == errno.ELOOP else error from None
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _planted(path)
    return file


def _planted(path: Path | str) -> ValueError:
    return ValueError(
        f'{path} is a link or no regular file. Nothing is written through it, since it may lead '
        'to any file of yours; delete it, or put what it points to in its place'
    )


def require_no_links(folder: Path) -> None:
    """Raise a ValueError if a folder in which other programs will write is a link, or has one."""
    for place, folders, files in os.walk(folder):
        for path in (Path(place), *(Path(place, name) for name in (*folders, *files))):
            if path.is_symlink():
                raise _planted(path)


@contextmanager
def full_disk_named(place: Path | str) -> Iterator[None]:
    """Add what was written to errors of a full disk, which name no file."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL and error.filename is None:
            raise OSError(error.errno, error.strerror, str(place)) from error
        raise


def _members(file: BinaryIO) -> Iterator[tuple[str, Any]]:
    decoder = codecs.getincrementaldecoder('utf-8')('surrogatepass')
    text = decoder.decode(file.read(PIECE))
    at = _skip(text, 0)  # position of the brace or comma before a member
    if text[at : at + 1] != '{':
        raise ValueError('it is no JSON object')
    while text[at] != '}':
        try:
            member, at = _member(text, at)
        except (ValueError, RecursionError):
            # Parse an incomplete member again with more text, twice as much each time.
            data = file.read(max(PIECE, len(text) - at))
            if not data or len(text) - at > RECORD_CHARACTERS:
                raise
            text, at = text[at:] + decoder.decode(data), 0
        else:
            yield from member
    if _skip(text, at + 1) < len(text) or file.read(PIECE).strip():
        raise ValueError('something follows the JSON object')


def _member(text: str, at: int) -> tuple[list[tuple[str, Any]], int]:
    """Return the member after a brace or comma (none at the end), and the position after it."""
    at = _skip(text, at + 1)
    if text[at : at + 1] == '}':
        return [], at
    name, at = DECODER.raw_decode(text, at)
    at = _skip(text, at)
    if not isinstance(name, str) or text[at : at + 1] != ':':
        raise ValueError('a record has no name')
    value, at = DECODER.raw_decode(text, _skip(text, at + 1))
    at = _skip(text, at)
    if text[at : at + 1] not in {',', '}'}:
        raise ValueError('a record does not end')
    return [(name, value)], at


def _skip(text: str, at: int) -> int:
    """Return the position of the next character that is not blank."""
    match = BLANK.match(text, at)
    return match.end() if match else at


def _unreadable(
    path: Path | str, why: object, remedy: str = 'delete it and make it again'
) -> ValueError:
    return ValueError(f'{path}: not readable: {why}; {remedy}')


def _size(size: int) -> str:
    return f'{size / MIB:g} MiB'
