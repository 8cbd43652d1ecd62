"""A store that is only read: nothing is locked, made, changed or set aside."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from opencompass_gpassk.judging.storage.files import BUSY_SECONDS, StoreError, take_any_bytes
from opencompass_gpassk.judging.storage.schema import VERDICTS, DamageError, Schema, is_new

__all__ = ['Stamp', 'open_read_only', 'stamp_of']

WAL = b'\x02\x02'  # bytes 18 and 19 of a file in WAL mode


class Stamp(NamedTuple):
    """What changes when a file is written to or replaced."""

    inode: int
    size: int
    modified: int


def stamp_of(path: Path) -> Stamp | None:
    """Return a file's stamp, None if it is gone."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns)


def open_read_only(
    path: Path, schema: Schema = VERDICTS
) -> tuple[sqlite3.Connection, Stamp | None]:
    """Open a store's database to read it, also where one may not write to it or its folder.

    A store in WAL mode that nobody has open is read without locks, since SQLite would have to
    make files beside it: then the stamp is given that the file must keep while it is read.

    Raises:
        ValueError: If there is no store.
        StoreError: If it can't be read, or is damaged so that nothing in it can be.
    """
    if not path.is_file():
        what = 'this is a folder' if path.is_dir() else f'there is no {schema.noun}'
        raise ValueError(f'{path}: {what}; name the file of a {schema.noun}')
    stamp = None
    try:
        with path.open('rb') as file:
            head = file.read(20)
        if not head:
            raise ValueError(f'{path}: an empty file, no {schema.noun}')
        if head[18:] == WAL and not _in_use(path):
            stamp = stamp_of(path)
        uri = f'file:{quote(str(path.absolute()))}?mode=ro{"&immutable=1" if stamp else ""}'
        connection = sqlite3.connect(
            uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        take_any_bytes(connection)
    except (OSError, sqlite3.OperationalError) as error:
        raise StoreError(f'{path}: the {schema.noun} can not be read: {error}') from error
    try:
        # So that SQLite reads what is left of a file that was cut off. Nothing is written.
        connection.execute('PRAGMA writable_schema = ON')
        if is_new(connection, path, schema):
            raise ValueError(f'{path}: an empty database, no {schema.noun}')
    except (DamageError, UnicodeDecodeError, sqlite3.DatabaseError) as error:
        connection.close()
        raise _told(path, error, schema) from error
    except BaseException:
        connection.close()
        raise
    return connection, stamp


def _in_use(path: Path) -> bool:
    """Tell whether others have it open, or one was killed and left its last verdicts in the log."""
    log, index = (path.with_name(f'{path.name}{end}') for end in ('-wal', '-shm'))
    return log.exists() and (index.exists() or log.stat().st_size > 0)


def _told(path: Path, error: Exception, schema: Schema) -> ValueError | StoreError:
    if 'not a database' in str(error):
        return ValueError(
            f'{path}: this is no SQLite database, or its beginning is damaged; name the file of a '
            f'{schema.noun}'
        )
    if isinstance(error, sqlite3.OperationalError):
        return StoreError(
            f'{path}: the {schema.noun} can not be read: {error}. If a process that wrote to it '
            'was killed, somebody who may write to its folder has to open it once, or copy it to '
            'a folder of yours, with the files beside it whose names begin alike'
        )
    return StoreError(f'{path}: the {schema.noun} is damaged, nothing in it can be read: {error}')
