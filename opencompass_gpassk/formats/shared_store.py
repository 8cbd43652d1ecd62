"""Stores: files that keep what was paid for, so that no judge or scorer is asked twice.

A store is an SQLite file with one table, which any number of processes may have open at once. An
entry is found by its source (a judge, people, a scorer) and its subject (an answer, a solution),
whatever run it came from. The file has a rollback journal, which also works on network file
systems. What is in a store can be asked for again: a damaged file is kept, and a new one begun.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import sqlite3
import stat
import sys
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote

VERSION = 3
TABLE = """CREATE TABLE entries (
    id INTEGER PRIMARY KEY, source BLOB NOT NULL, subject BLOB NOT NULL, value BLOB NOT NULL,
    UNIQUE (source, subject)
)"""
SELECT = 'SELECT id, source, subject, value FROM entries'
INSERT = 'INSERT INTO entries (source, subject, value) VALUES (?, ?, ?) ON CONFLICT'
# A replaced entry keeps its id, so that a reader of all entries sees it once.
REPLACE = '(source, subject) DO UPDATE SET value = excluded.value'
DATABASE_NAMES = ('.sqlite', '.sqlite3', '.db')
BESIDE = ('-journal', '-wal', '-shm', '.lock')  # endings of files beside a store, others' too
BUSY_SECONDS = 60.0
AT_ONCE = 900  # entries in a statement; every build of SQLite takes 999 parameters
MOST_BYTES = 1 << 26  # of an unpacked value; a hostile file may hold a bomb

StoreEntry = tuple[bytes, bytes, Mapping[str, Any]]  # source, subject and value, in JSON values
T = TypeVar('T')


class StoreError(RuntimeError):
    """A store can't be used; entries stored before are kept."""


class Store:
    """Entries in a file. A context manager; its methods may be called from any thread.

    Args:
        path: The file; it is created if it doesn't exist. If it is damaged, an empty one takes its
            place; it is kept beside it, and standard error says so.
        read_only: Change nothing: no file is created, replaced or written to. Read access to the
            file is enough.

    Attributes:
        damage: What was found damaged, and where it is kept; '' if nothing was.

    Raises:
        ValueError: If the file belongs to another program or another version of this one; or if
            ``read_only`` is set and the file doesn't exist.
        StoreError: If it can't be opened. Every method raises it if the file can't be read or
            written.
    """

    noun: ClassVar[str]  # its name in messages
    application: ClassVar[bytes]  # four bytes that distinguish its files from other programs'
    variable: ClassVar[str]  # the environment variable that names the file
    name: ClassVar[str]  # the file's default name
    loss: ClassVar[str]  # what becomes of lost entries
    replaced: ClassVar[tuple[bytes, ...]] = ()  # sources whose last entry counts, not the first

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path.resolve() if path.is_symlink() else path  # SQLite's files are beside it
        self.read_only = read_only
        self.damage = ''
        self._turn = threading.RLock()
        self._connection = self._opened()

    def __enter__(self: StoreT) -> StoreT:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._connection.close()

    @classmethod
    def default_path(cls, run: Path | None) -> Path | None:
        """Return the file that the environment names, else the one in a run, if any.

        Raises:
            ValueError: If a link in the run leads out of the run.
        """
        if given := os.environ.get(cls.variable, '').strip():
            return Path(given).expanduser().absolute()
        if run is None:
            return None
        path = run / cls.name
        for file in files_of(path):
            if not file.resolve().is_relative_to(run.resolve()):
                raise ValueError(f'{file} leads out of the run; set {cls.variable} to the file')
        return path

    def look_up(self, source: bytes, subjects: Iterable[bytes]) -> Iterator[StoreEntry]:
        """Yield a source's entries about those subjects that have one.

        Entries that other processes stored meanwhile are among them.
        """
        pending = iter(subjects)
        while chunk := list(itertools.islice(pending, AT_ONCE)):
            marks = ', '.join('?' * len(chunk))
            for row in self._read(f'source = ? AND subject IN ({marks})', source, *chunk):
                yield self._entry(row)

    def entries(self, source: bytes | None = None) -> Iterator[StoreEntry]:
        """Yield all entries, or those of a source, in the order in which they were stored."""
        last = -(1 << 63)
        where = 'id > ? AND source IS ifnull(?, source) ORDER BY id LIMIT ?'
        while rows := self._read(where, last, source, AT_ONCE):
            yield from map(self._entry, rows)
            last = rows[-1][0]

    def keep(self, entries: Iterable[StoreEntry], *, replace: bool = False) -> list[bool]:
        """Store entries durably, all in one transaction; return which were written.

        Args:
            entries: The entries.
            replace: Whether one replaces the same source's entry about the same subject.
        """
        rows = [
            (source, subject, zlib.compress(json.dumps(value, default=str).encode(), 1))
            for source, subject, value in entries
        ]

        def write(connection: sqlite3.Connection) -> list[bool]:
            found = []
            for row in rows:
                then = REPLACE if replace or row[0] in self.replaced else 'DO NOTHING'
                found.append(connection.execute(f'{INSERT} {then}', row).rowcount > 0)
            return found

        return self._write(write)

    def _read(self, where: str, *values: Any) -> list[Any]:
        """Return the rows that meet a condition."""
        return self._transact(
            'BEGIN', lambda found: found.execute(f'{SELECT} WHERE {where}', values).fetchall()
        )

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self.read_only:
            raise ValueError(f'{self.path}: the {self.noun} was opened to be read only')
        return self._transact('BEGIN IMMEDIATE', work)

    def _transact(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return what ``work`` gives in a transaction, which is undone on an error.

        If the file is found damaged, or was replaced, it is opened again, and work done once more.
        """
        with self._turn:
            try:
                if self.path.stat().st_ino != self._inode:  # another process found it damaged
                    self._connection.close()
                    self._connection = self._opened()
                try:
                    return self._done(begin, work)
                except sqlite3.DatabaseError as error:
                    if self.read_only or not _is_damage(error):
                        raise
                    self._connection.close()
                    with _locked(self.path):
                        if self.path.stat().st_ino == self._inode:
                            self._set_aside(error)
                            _create_file(self.path)
                    self._connection = self._opened()
                return self._done(begin, work)
            except (OSError, sqlite3.Error) as error:
                raise self._failed(error) from error

    def _done(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._connection as connection:
            connection.execute(begin)
            return work(connection)

    def _failed(self, error: Exception) -> StoreError:
        remedy = f'may you write to it and its folder? Else set {self.variable} to another file'
        if isinstance(error, FileNotFoundError):
            error, remedy = FileNotFoundError('it was removed while it was in use'), 'start again'
        elif 'locked' in str(error):
            remedy = 'another process has been writing to it for a minute; does it hang?'
        elif 'full' in str(error) or 'No space' in str(error):
            remedy = f'make room, or name a file on another disk in {self.variable}'
        elif _is_damage(error):
            remedy = f'{_recovery(self.path)}, or move it away. {self.loss}'
        return StoreError(f'{self.path}: the {self.noun} can not be used: {error}; {remedy}')

    def _opened(self) -> sqlite3.Connection:
        """Open the file; a damaged one is set aside first."""
        if self.path.is_dir():
            raise ValueError(f'{self.path}: a folder; name a file in it, such as {self.name}')
        for file in files_of(self.path):  # opening a pipe could wait forever
            with suppress(FileNotFoundError):
                if not stat.S_ISREG(file.lstat().st_mode):
                    raise ValueError(
                        f'{file}: no regular file, as those of a {self.noun} are; move it away'
                    )
        try:
            if self.read_only:
                if not self.path.is_file() or not self.path.stat().st_size:
                    raise ValueError(f'{self.path}: there is no {self.noun}; name the file of one')
                return self._checked()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self.path):
                _create_file(self.path)
                try:
                    return self._checked()
                except sqlite3.DatabaseError as error:
                    if not _is_damage(error):
                        raise
                    self._set_aside(error)
                _create_file(self.path)
                return self._checked()
        except (OSError, sqlite3.Error) as error:
            raise self._failed(error) from error

    def _checked(self) -> sqlite3.Connection:
        """Return a connection to the store; begin one in an empty file."""
        _, journal, *_ = files_of(self.path)
        # What a killed writer left must be undone before anything can be read.
        mode = 'ro' if self.read_only and not journal.exists() else 'rw'
        uri = f'file:{quote(str(self.path.absolute()))}?mode={mode}'
        connection = sqlite3.connect(
            uri, BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            self._inode = self.path.stat().st_ino
            self._check(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _check(self, connection: sqlite3.Connection) -> None:
        ours = int.from_bytes(self.application, 'big')
        connection.execute('PRAGMA trusted_schema = off')
        ((application,),) = connection.execute('PRAGMA application_id')
        ((version,),) = connection.execute('PRAGMA user_version')
        tables = connection.execute("SELECT sql FROM sqlite_master WHERE sql != ''").fetchall()
        if not application and not tables and not self.read_only:
            connection.executescript(
                f'BEGIN IMMEDIATE; {TABLE}; PRAGMA application_id = {ours};'
                f'PRAGMA user_version = {VERSION}; COMMIT'
            )
        elif (application, version, tables) != (ours, VERSION, [(TABLE,)]):
            raise ValueError(
                f'{self.path}: this database is no {self.noun} of this version; name another file'
            )

    def _set_aside(self, error: Exception) -> None:
        """Give a damaged file another name, and tell.

        Raises:
            ValueError: If it may be no store at all.
        """
        if self.path.suffix not in DATABASE_NAMES:
            raise ValueError(
                f'{self.path}: this is no SQLite database; name another file for the {self.noun}'
            ) from error
        names = (f'{self.path.stem}.damaged-{n}{self.path.suffix}' for n in itertools.count(1))
        aside = next(path for path in map(self.path.with_name, names) if not path.exists())
        self.path.rename(aside)
        for old, new in zip(files_of(self.path)[1:-1], files_of(aside)[1:-1], strict=True):
            if old.exists():  # SQLite would apply a journal to the new file
                old.rename(new)
        self.damage = (
            f'{self.path}: this {self.noun} is damaged ({error}); a new one is begun. '
            f'It is kept as {aside}: {_recovery(aside)}. {self.loss}'
        )
        print(self.damage, file=sys.stderr)

    def _entry(self, row: tuple[int, bytes, bytes, bytes]) -> StoreEntry:
        _, source, subject, value = row
        try:
            unpacking = zlib.decompressobj()
            text = unpacking.decompress(value, MOST_BYTES)
            if not unpacking.eof:
                raise ValueError('it is too long')
            found = source, subject, json.loads(text)
            if [type(one) for one in found] != [bytes, bytes, dict]:
                raise ValueError('its parts have other types')
            return found
        except (RecursionError, TypeError, ValueError, zlib.error) as error:
            # Somebody made it, in a folder that may not be the user's own.
            raise StoreError(f'{self.path}: an entry is not one of this package: {error}') from None


StoreT = TypeVar('StoreT', bound=Store)


def files_of(store: Path) -> list[Path]:
    """Return the files of a store: its own, SQLite's journal, the lock."""
    return [store.with_name(f'{store.name}{ending}') for ending in ('', *BESIDE)]


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Make processes open a store one after the other: only one of them sets it aside."""
    # Never lock the store itself: closing a file drops this process's own SQLite locks on it.
    beside = files_of(path)[-1]
    _create_file(beside)
    with beside.open('r+b') as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _create_file(path: Path) -> None:
    """Create a file if there is none; a group that may write to its folder may write to it."""
    if path.exists():
        return
    path.touch()
    folder, file = path.parent.stat(), path.stat()
    if folder.st_mode & 0o020 and folder.st_gid == file.st_gid and file.st_uid == os.geteuid():
        path.chmod(file.st_mode | 0o060)


def _is_damage(error: Exception) -> bool:
    """Tell whether SQLite found a file to be malformed, or no database."""
    return (
        type(error) is sqlite3.DatabaseError
    )  # locks, full disks and misuse have classes of their own


def _recovery(path: Path) -> str:
    return f'sqlite3 {path} .recover prints what can be read of it'
