"""The file of a store: opened, begun, checked, and set aside where it is damaged."""

from __future__ import annotations

import fcntl
import os
import shlex
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.judging.storage.filesystems import is_network
from opencompass_gpassk.judging.storage.rows import DamagedRowError
from opencompass_gpassk.judging.storage.schema import (
    DATABASE_NAMES,
    VERDICTS,
    DamageError,
    Schema,
    is_new,
)

__all__ = [
    'BUSY_SECONDS',
    'ChangedStoreError',
    'StoreError',
    'note_damage',
    'open_file',
    'take_any_bytes',
]

BUSY_SECONDS = 60.0
SIDECARS = ('-wal', '-shm', '-journal')
CHECKED_WHOLE = 1 << 27  # bytes of a file that is read from end to end when it is opened: 0.5 s


class StoreError(JudgeError):
    """A store can't be used; what it took before is kept."""


class ChangedStoreError(StoreError):
    """A store that is only read was written to meanwhile: what was read may not fit together."""


def open_file(
    path: Path, report: Callable[[str], None], schema: Schema = VERDICTS
) -> sqlite3.Connection:
    """Open a store's database, beginning it where there is none.

    Processes that open it at once do so one after the other, under a lock on ``<path>.lock``. A
    damaged one is renamed to ``<name>.damaged-<number>`` and a new one begun. Files up to 128 MiB
    are checked from end to end; in larger ones damage is met where a row is read. Who meets it
    leaves a note, and the next one who opens the file reads every row of it.

    Args:
        path: The file; its folder is made if need be.
        report: Is told of a file that was set aside.
        schema: What is kept in it.

    Raises:
        ValueError: If the file is another program's, or of a later version of this one, or a
            folder.
        StoreError: If it can't be read or written.
    """
    if path.is_dir():
        raise ValueError(f'{path}: a folder; name a file in it, such as {path / schema.name}')
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path) as lock:
            try:
                connection = _connect(path, schema)
                _look_into(connection, path, lock, schema)
                return connection
            except DamageError as error:
                damage = str(error)
            moved = _set_aside(path)
            os.ftruncate(lock, 0)
            told = schema.loss.format(moved=shlex.quote(str(moved)), path=shlex.quote(str(path)))
            report(
                f'{path}: this {schema.noun} is damaged ({damage}). It is set aside as {moved}, '
                f'and a new one begun: {told}'
            )
            return _connect(path, schema)
    except DamageError as error:
        raise StoreError(f'{path}: a new store is damaged at once: {error}') from error
    except OSError as error:
        raise StoreError(
            f'{path}: the {schema.noun} can not be opened: {error}; set {schema.variable} to a '
            'file that you may write'
        ) from error
    except sqlite3.OperationalError as error:
        raise StoreError(
            f'{path}: the {schema.noun} can not be opened: {error}; is its folder writable, and '
            'the disk not full?'
        ) from error


def note_damage(path: Path, inode: int, damage: str) -> None:
    """Leave a note for the next one who opens a store that it is damaged.

    Args:
        path: The store.
        inode: Of the damaged file: by then another may stand in its place.
        damage: What was found.
    """
    with _locked(path) as lock:
        os.ftruncate(lock, 0)
        os.pwrite(lock, f'{inode} {damage}'.encode(), 0)


def _look_into(connection: sqlite3.Connection, path: Path, lock: int, schema: Schema) -> None:
    """Read all of a store that somebody has noted as damaged; take the note away if it is sound.

    A sound one may have been put in its place since, as from a backup, under the same inode.
    """
    inode, _, noted = os.pread(lock, 4096, 0).decode('utf-8', 'replace').partition(' ')
    if noted and inode == str(path.stat().st_ino):
        try:
            schema.require_sound(connection)
        except (DamagedRowError, UnicodeDecodeError, sqlite3.DatabaseError) as error:
            connection.close()
            if isinstance(error, sqlite3.OperationalError):
                raise
            raise DamageError(str(error)) from error
    os.ftruncate(lock, 0)


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Hold the lock beside a store; yield its file descriptor."""
    # Never the store itself: to close a file drops this process's own locks of SQLite on it.
    beside = path.with_name(f'{path.name}.lock')
    if not beside.exists():
        _begin(beside)
    lock = os.open(beside, os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
    finally:
        os.close(lock)


def _begin(path: Path) -> None:
    """Make an empty file; a group that may write to its folder may write to it."""
    path.touch()
    folder, file = path.parent.stat(), path.stat()
    if folder.st_mode & 0o020 and folder.st_gid == file.st_gid and file.st_uid == os.geteuid():
        path.chmod(file.st_mode | 0o060)


def take_any_bytes(connection: sqlite3.Connection) -> None:
    """Leave bytes that are no UTF-8 for a row's checksum to find."""
    connection.text_factory = lambda data: data.decode('utf-8', 'replace')


def _connect(path: Path, schema: Schema) -> sqlite3.Connection:
    wal = path.with_name(f'{path.name}-wal')
    if not _size(path) and _size(wal):
        raise DamageError('its main file is gone, its log is not')
    if not path.exists():
        _begin(path)
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    take_any_bytes(connection)
    try:
        _prepare(connection, path, schema)
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        connection.close()
        told = str(error)
        if isinstance(error, sqlite3.OperationalError) and 'unsupported file format' not in told:
            raise
        if 'not a database' in told and path.suffix not in DATABASE_NAMES:
            raise ValueError(
                f'{path}: this is no SQLite database; name another file for the {schema.noun}, or '
                'delete this one if it was a store'
            ) from error
        raise DamageError(told) from error
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path, schema: Schema) -> None:
    """Make sure that a connection is to a sound store of this version."""
    new = is_new(connection, path, schema)
    if not new and _size(path) <= CHECKED_WHOLE:
        (found,) = connection.execute('PRAGMA integrity_check(1)').fetchone()
        if found != 'ok':
            raise DamageError(found)
    mode = _journal_mode(connection, 'delete' if is_network(path) else 'wal')
    # In WAL mode a power cut can lose the last rows but not damage what stands before them.
    connection.execute(f'PRAGMA synchronous = {"NORMAL" if mode == "wal" else "FULL"}')
    connection.execute('PRAGMA wal_autocheckpoint = 4000')
    if new:
        connection.execute('BEGIN IMMEDIATE')
        for sql in schema.tables.values():
            connection.execute(sql)
        connection.execute(f'PRAGMA application_id = {schema.application}')
        connection.execute(f'PRAGMA user_version = {schema.version}')
        connection.execute('COMMIT')


def _journal_mode(connection: sqlite3.Connection, wanted: str) -> str:
    (mode,) = connection.execute('PRAGMA journal_mode').fetchone()
    if mode == wanted:
        return str(mode)
    with suppress(sqlite3.OperationalError):  # others have it open in the mode it has
        (mode,) = connection.execute(f'PRAGMA journal_mode = {wanted}').fetchone()
    return str(mode)


def _set_aside(path: Path) -> Path:
    """Rename a store with what belongs to it to a name that isn't taken; return its name."""
    number = 1
    while True:
        target = path.with_name(f'{path.stem}.damaged-{number}{path.suffix}')
        if not any(target.with_name(target.name + end).exists() for end in ('', *SIDECARS)):
            break
        number += 1
    for end in ('', *SIDECARS):
        part = path.with_name(path.name + end)
        if part.exists():
            part.rename(target.with_name(target.name + end))
    return target


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
