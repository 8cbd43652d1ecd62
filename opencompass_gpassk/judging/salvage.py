"""Reads the rows of a damaged SQLite file from its pages, without SQLite.

SQLite refuses a whole table, or the whole file, for a few damaged bytes. Here these cost the rows
that they are in. The file format is that of https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

__all__ = ['PAGE', 'Rows', 'opened_rows']

PAGE = 4096  # bytes; stores are created with pages of this size
LEAF = 13  # the type of a page that holds rows of a table
MOST_CELLS = PAGE // 40  # the shortest row of a store is longer
FRAME = 24  # bytes before each page in a log

Bytes = bytes | mmap.mmap
Row = tuple[int, list[Any]]  # id and columns
Rows = Callable[[], Iterator[Row]]


@contextmanager
def opened_rows(path: Path) -> Iterator[Rows]:
    """Open a database; yield a function that iterates over the rows of all its tables.

    The rows may be damaged: whoever takes them must check them. The files stay open meanwhile,
    since closing them drops this process's SQLite locks.

    Args:
        path: The database. Pages in the log beside it replace its own.
    """
    with ExitStack() as stack:
        data, log = (
            _mapped(path.with_name(f'{path.name}{ending}'), stack) for ending in ('', '-wal')
        )
        newer, size = _committed(log)

        def page(number: int) -> bytes:
            if (at := newer.get(number)) is not None:
                return log[at : at + PAGE]
            return data[max(number - 1, 0) * PAGE : number * PAGE]

        numbers = {*range(1, -(-len(data) // PAGE) + 1), *newer}
        present = sorted(number for number in numbers if number <= (size or number))
        yield lambda: _rows(page, present)


def _mapped(path: Path, stack: ExitStack) -> Bytes:
    if not path.is_file():
        return b''
    file = stack.enter_context(path.open('rb'))
    if not path.stat().st_size:
        return b''
    return stack.enter_context(closing(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))


def _committed(log: Bytes) -> tuple[dict[int, int], int]:
    """Return page → place of what a log's transactions left, and the file's pages, 0 if unknown."""
    found: dict[int, int] = {}
    pending: dict[int, int] = {}
    size = 0
    for at in range(32, len(log) - FRAME - PAGE + 1, FRAME + PAGE):
        page, pages = struct.unpack('>II', log[at : at + 8])
        if log[at + 8 : at + 16] != log[16:24]:  # left from before the log was begun again
            break
        pending[page] = at + FRAME
        if pages:  # the last frame of a transaction
            found |= pending
            pending, size = {}, pages
    return found, size


def _rows(page: Callable[[int], bytes], numbers: Sequence[int]) -> Iterator[Row]:
    free = _free_pages(page)
    # A sound file has each page in one chain; a loop of chains must not be followed for ever.
    links = iter(range(2 * len(numbers)))
    for number in numbers:
        content = page(number)
        head = 100 if number == 1 else 0  # after the file's header
        if number in free or content[head : head + 1] != bytes([LEAF]):
            continue
        cells = min(int.from_bytes(content[head + 3 : head + 5], 'big'), MOST_CELLS)
        for place in range(head + 8, head + 8 + 2 * cells, 2):
            try:
                yield _row(content, int.from_bytes(content[place : place + 2], 'big'), page, links)
            except (IndexError, ValueError, struct.error):
                continue


def _free_pages(page: Callable[[int], bytes]) -> set[int]:
    """Return the pages that are no longer used but may hold deleted rows."""
    free: set[int] = set()
    trunk, number = struct.unpack('>II', page(1)[32:40].ljust(8, b'\0'))
    while trunk and trunk not in free:
        following, count, *leaves = struct.unpack(f'>{PAGE // 4}I', page(trunk).ljust(PAGE, b'\0'))
        free |= {trunk, *leaves[:count]}
        trunk = following
    return free if len(free) == number else set()  # the list is damaged


def _row(content: bytes, at: int, page: Callable[[int], bytes], links: Iterator[int]) -> Row:
    size, at = _varint(content, at)
    key, at = _varint(content, at)
    most, least = PAGE - 35, (PAGE - 12) * 32 // 255 - 23  # bytes of a row that are on its page
    here = size
    if size > most:
        here = least + (size - least) % (PAGE - 4)
        here = here if here <= most else least
    parts, found = [content[at : at + here]], here
    following = content[at + here : at + here + 4]
    while found < size:
        if next(links, None) is None or not (
            more := page(int.from_bytes(following, 'big'))[: 4 + size - found]
        ):
            raise ValueError('a row is cut off')
        parts.append(more[4:])
        found += len(more) - 4
        following = more[:4]
    return key if key < 1 << 63 else key - (1 << 64), list(_columns(b''.join(parts)))


def _columns(row: bytes) -> Iterator[Any]:
    end, at = _varint(row, 0)
    place = end
    while at < end:
        kind, at = _varint(row, at)
        size = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind] if kind < 12 else (kind - 12) // 2
        value = row[place : place + size]
        if len(value) < size:
            raise ValueError('a row is cut off')
        place += size
        if kind == 0:
            yield None
        elif kind == 7:
            yield struct.unpack('>d', value)[0]
        elif kind in (8, 9):
            yield kind - 8
        elif kind < 8:
            yield int.from_bytes(value, 'big', signed=True)
        else:
            yield value.decode('utf-8', 'replace') if kind % 2 else value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the integer of one to nine bytes at a place, and the place after it."""
    value = 0
    for place in range(at, at + 8):
        value = value << 7 | data[place] & 127
        if data[place] < 128:
            return value, place + 1
    return value << 8 | data[at + 8], at + 9
