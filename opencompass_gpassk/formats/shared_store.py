"""Stores: files that keep what was paid for, so that no judge or scorer is asked twice.

A store is an SQLite file with one table, which any number of processes may have open at once. An
entry is found by its source (a judge, people, a scorer) and its subject (an answer, a solution),
whatever run it came from. Each has a checksum, since most flipped bits escape SQLite's own check.
What can still be read of a damaged file is put into a new one; the old one is kept beside it.

The file is in WAL mode. On a network file system, where WAL does not work between machines, it has
a rollback journal, which is slower.

Checking the whole file takes half a minute for a million entries. So it is only done if nobody has
the store open, and the file is not as its last user left it: a file beside it notes that state,
and is locked as long as a process has the store open. Whatever is read is checked in any case.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import itertools
import json
import os
import shutil
import sqlite3
import stat
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, ClassVar, TypeVar
from urllib.parse import quote

from opencompass_gpassk.formats.stored_files import written_whole

VERSION = 2
TABLE = """CREATE TABLE entries (
    id INTEGER PRIMARY KEY, source BLOB NOT NULL, subject BLOB NOT NULL, value BLOB NOT NULL,
    checksum BLOB NOT NULL, UNIQUE (source, subject)
)"""
SELECT = 'SELECT id, source, subject, value, checksum FROM entries'
INSERT = 'INSERT INTO entries VALUES (?, ?, ?, ?, ?) ON CONFLICT'
# A replaced entry keeps its id, so that a reader of all entries sees it once.
REPLACE = '(source, subject) DO UPDATE SET value = excluded.value, checksum = excluded.checksum'
DATABASE_NAMES = ('.sqlite', '.sqlite3', '.db')
SIDECARS = ('-wal', '-shm', '-journal')  # endings of SQLite's files beside a database
CONTENT = ('', '-wal', '-journal')  # endings of those that hold entries
BESIDE = ('.lock', '.state', *SIDECARS)  # endings of all files beside a store
PAGE = 4096  # bytes
BUSY_SECONDS = 60.0
AT_ONCE = 900  # entries in a statement; every build of SQLite takes 999 parameters
MOST_BYTES = 1 << 26  # of an unpacked value; a hostile file may hold a bomb
ENCODING = ('utf-8', 'surrogatepass')  # texts may hold lone surrogates
TRIES = 5  # at a file that others replace
MOST_SALVAGED = 1 << 34  # bytes; a hostile file may consist of holes
SALVAGED = 1 << 20  # bytes a second, at least; the rows of a hostile file may share its pages
COPIED = 1 << 20  # bytes at once
SETTLED = 0.02  # seconds; times of files differ if this lies between two changes
LEAF = b'\x0d'  # the first byte of a page with rows; see https://www.sqlite.org/fileformat2.html
MOUNTS = Path('/proc/self/mountinfo')
NETWORK = {
    '9p', 'afs', 'beegfs', 'ceph', 'cifs', 'gfs2', 'glusterfs', 'gpfs', 'lustre', 'ncpfs', 'nfs',
    'nfs4', 'ocfs2', 'orangefs', 'panfs', 'pvfs2', 'quobyte', 'smb3', 'smbfs', 'virtiofs', 'wekafs',
}  # fmt: skip
NOT_WRITTEN = 'an entry is not the one that was written'
NOT_OURS = 'an entry is not one of this package'
EARLIER = 'in the form of an earlier version'
# SQLite's messages about a damaged file may not be UTF-8.
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)

Entry = tuple[bytes, bytes, Mapping[str, Any]]  # source, subject and value, in JSON values
Row = tuple[int | None, bytes, bytes, bytes, bytes]  # as it is in the table
T = TypeVar('T')


class StoreError(RuntimeError):
    """A store can't be used; entries stored before are kept."""


class DamageError(StoreError):
    """A store's file is damaged, or is no longer the one that was opened."""


class Store:
    """Entries in a file. A context manager; its methods may be called from any thread.

    Args:
        path: The file; it is created if it doesn't exist. If it is damaged, a new file with what
            can be read of it takes its place, and standard error says so. So it is with a store of
            an earlier version.
        read_only: Change nothing: no file is created, replaced, kept locked or written to. Read
            access to the file is enough.
        whole: Check the whole file, even if it is as its last user left it.

    Attributes:
        damage: What was found damaged, and what was saved; '' if nothing was.
        lost: Number of entries that were found damaged; whole pages of others may be lost too.

    Raises:
        ValueError: If the file belongs to another program or a later version of this one; or if
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

    def __init__(self, path: Path, *, read_only: bool = False, whole: bool = False) -> None:
        self.path = path.resolve() if path.is_symlink() else path  # SQLite's files are beside it
        self.read_only = read_only
        self.damage = ''
        self.lost = 0
        self._turn = threading.RLock()
        self._still = False  # whether it is read as if nobody wrote to it
        self._noted: IO[bytes] | None = None  # locked as long as this process has the store open
        self._connection = self._opened(whole)

    def __enter__(self: StoreT) -> StoreT:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._connection.close()
            if self._noted and not self._noted.closed:
                with self._noted, suppress(OSError), _locked(self.path):
                    self._note_state(self._noted)

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
        for file in (_beside(path, ending) for ending in ('', *BESIDE)):
            if not file.resolve().is_relative_to(run.resolve()):
                raise ValueError(f'{file} leads out of the run; set {cls.variable} to the file')
        return path

    def look_up(self, source: bytes, subjects: Iterable[bytes]) -> Iterator[Entry]:
        """Yield a source's entries about those subjects that have one.

        Entries that other processes stored meanwhile are among them.
        """
        pending = iter(subjects)
        while chunk := list(itertools.islice(pending, AT_ONCE)):
            marks = ', '.join('?' * len(chunk))
            for row in self._read(f'source = ? AND subject IN ({marks})', source, *chunk):
                yield self._entry(row)

    def entries(self, source: bytes | None = None) -> Iterator[Entry]:
        """Yield all entries, or those of a source, in the order in which they were stored."""
        last = -(1 << 63)
        where = 'id > ? AND source IS ifnull(?, source) ORDER BY id LIMIT ?'
        while rows := self._read(where, last, source, AT_ONCE):
            yield from map(self._entry, rows)
            last = rows[-1][0]

    def keep(self, entries: Iterable[Entry], *, replace: bool = False) -> list[bool]:
        """Store entries durably, all in one transaction; return which were written.

        Args:
            entries: The entries.
            replace: Whether one replaces the same source's entry about the same subject.
        """
        rows = [self._row(entry) for entry in entries]

        def write(connection: sqlite3.Connection) -> list[bool]:
            found = []
            for row in rows:
                then = REPLACE if replace or row[1] in self.replaced else 'DO NOTHING'
                found.append(connection.execute(f'{INSERT} {then}', row).rowcount > 0)
            return found

        return self._write(write)

    def _read(self, where: str, *values: Any) -> list[Any]:
        """Return the rows that meet a condition."""

        def read(connection: sqlite3.Connection) -> list[Any]:
            rows = connection.execute(f'{SELECT} WHERE {where}', values).fetchall()
            if not all(map(self._is_sound, rows)):
                raise DamageError(NOT_WRITTEN)
            return rows

        return self._transact('BEGIN', read)

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self.read_only:
            raise ValueError(f'{self.path}: the {self.noun} was opened to be read only')
        return self._transact('BEGIN IMMEDIATE', work)

    def _transact(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return what ``work`` gives in a transaction, which is undone on an error.

        A file that was replaced or is found damaged is opened again, which salvages it. Then
        ``work`` is called again.
        """
        with self._turn:
            for _ in range(TRIES):
                try:
                    with self._connection as connection:
                        self._require_current()
                        connection.execute(begin)
                        found = work(connection)
                        self._require_current()
                    return found
                except (OSError, sqlite3.OperationalError) as error:
                    raise self._failed(error) from error
                except (DamageError, *DAMAGE):
                    self._connection.close()
                    self._connection = self._opened(whole=True)
        raise StoreError(f'{self.path}: the {self.noun} changes again and again; start again')

    def _file_state(self) -> tuple[int, ...]:
        """Return what changes if the file is replaced; while it is read as still, or changed."""
        found = self.path.stat()
        return (found.st_ino, found.st_size, found.st_mtime_ns) if self._still else (found.st_ino,)

    def _require_current(self) -> None:
        if not self.path.exists():
            raise StoreError(
                f'{self.path}: the {self.noun} was removed while it was in use; start again'
            )
        if self._file_state() != self._opened_state:
            raise DamageError('it was replaced')

    def _failed(self, error: Exception) -> StoreError:
        remedy = f'may you write to it and its folder? Else set {self.variable} to another file'
        if 'locked' in str(error):
            remedy = 'another process has been writing to it for a minute; does it hang?'
        elif 'full' in str(error) or 'No space' in str(error):
            remedy = f'make room, or name a file on another disk in {self.variable}'
        return StoreError(f'{self.path}: the {self.noun} can not be used: {error}; {remedy}')

    def _opened(self, whole: bool) -> sqlite3.Connection:
        """Open the file; if it is damaged, salvage it first."""
        if self.path.is_dir():
            raise ValueError(f'{self.path}: a folder; name a file in it, such as {self.name}')
        try:
            self._require_regular()
            if self.read_only:
                return self._opened_to_read(whole)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with _locked(self.path):
                return self._opened_to_write(whole)
        except BaseException as error:
            if self._noted:  # a file that can't be used is neither in use nor clean
                self._noted.close()
            if isinstance(error, OSError | sqlite3.OperationalError):
                raise self._failed(error) from error
            raise

    def _require_regular(self) -> None:
        """Raise a ValueError if opening a file could wait forever, or lead elsewhere."""
        for file in (self.path, *(_beside(self.path, ending) for ending in BESIDE)):
            with suppress(FileNotFoundError):
                if not stat.S_ISREG(file.lstat().st_mode):
                    raise ValueError(
                        f'{file}: no regular file, as those of a {self.noun} are; move it away'
                    )

    def _clean_state(self) -> bytes:
        """Return what any change of the file changes; b'' while its log or journal is there."""
        if any(_beside(self.path, ending).exists() for ending in CONTENT[1:]):
            return b''
        found = self.path.stat()
        # No program can set the time of the last change (ctime) as it likes.
        return b'%d %d %d' % (found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    def _is_clean(self, noted: IO[bytes]) -> bool:
        """Tell whether others have the file open, and checked it, or it is as they left it."""
        state = self._clean_state()
        noted.seek(0)
        return _has_others(noted) or (bool(state) and noted.read(len(state) + 1) == state)

    def _note_state(self, noted: IO[bytes]) -> None:
        """Note the state of a file that was closed, and end the lock; the last user does it."""
        if not self._is_clean(noted):
            time.sleep(SETTLED)
            noted.truncate(0)
            noted.write(self._clean_state())
            noted.flush()
        fcntl.flock(noted, fcntl.LOCK_UN)  # a forked process may have the file open

    def _opened_to_read(self, whole: bool) -> sqlite3.Connection:
        if not self.path.is_file() or not _size(self.path):
            raise ValueError(f'{self.path}: there is no {self.noun}; name the file of one')
        # To read a file in WAL mode SQLite creates files beside it, unless told that nobody writes
        # to it. If somebody does, its state changes, and it is opened again.
        self._still = not any(_beside(self.path, one).exists() for one in ('-wal', '-journal'))
        self._opened_state = self._file_state()
        uri = f'file:{quote(str(self.path.absolute()))}?mode=ro{"&immutable=1" * self._still}'
        clean = False
        with suppress(OSError), _beside(self.path, '.state').open('rb') as noted:
            clean = self._is_clean(noted)
        try:
            return self._checked(uri, whole or not clean)
        except DamageError as error:
            copy = _connect('')  # in memory, and in a temporary file if it is large
            self._tell(f'{self._salvage(copy, str(error))} The file stays as it is.')
            return copy

    def _opened_to_write(self, whole: bool) -> sqlite3.Connection:
        orphan = _size(_beside(self.path, '-wal')) and not _size(self.path)
        _create_file(self.path)
        if not self._noted or self._noted.closed:
            _create_file(_beside(self.path, '.state'))
            self._noted = _beside(self.path, '.state').open('a+b')
        whole = not self._is_clean(self._noted) or whole
        try:
            if orphan:
                raise DamageError('its main file is gone, its log is not')
            connection = self._checked(self.path, whole)
        except DamageError as error:
            self._renew(str(error))
            connection = self._checked(self.path, whole=True)
        self._opened_state = self._file_state()
        wal = not is_network(self.path)
        connection.execute(f'PRAGMA journal_mode = {"wal" if wal else "delete"}')
        # In WAL mode a power cut can lose the last entries but does not damage earlier ones.
        connection.execute(f'PRAGMA synchronous = {"normal" if wal else "full"}')
        # What was deleted is not found again when a damaged file is salvaged.
        connection.execute('PRAGMA secure_delete = on')
        return connection

    def _checked(self, place: Path | str, whole: bool) -> sqlite3.Connection:
        """Return a connection to a sound store; begin one in an empty file.

        Raises:
            ValueError: If it belongs to another program or a later version of this one.
            DamageError: If it must be salvaged.
        """
        connection = _connect(place)
        try:
            self._check(connection, whole)
        except BaseException as error:
            connection.close()
            damaged = isinstance(error, DAMAGE) and not isinstance(error, sqlite3.OperationalError)
            if damaged or 'unsupported file format' in str(error):
                raise DamageError(str(error)) from error
            raise
        return connection

    def _check(self, connection: sqlite3.Connection, whole: bool) -> None:
        ((application,),) = connection.execute('PRAGMA application_id')
        ((version,),) = connection.execute('PRAGMA user_version')
        tables = connection.execute("SELECT sql FROM sqlite_master WHERE sql != ''").fetchall()
        if not application and not tables:
            if self.read_only:
                raise ValueError(f'{self.path}: an empty database, no {self.noun}')
            self._create_table(connection)
            return
        if application != int.from_bytes(self.application, 'big') or version > VERSION:
            raise ValueError(
                f'{self.path}: this database belongs to another program, or is another store, or '
                f'one of a later version ({version}; this package reads {VERSION}); name another '
                f'file for the {self.noun}, or upgrade opencompass-gpassk'
            )
        if version < VERSION:
            raise DamageError(EARLIER)
        if tables != [(TABLE.encode(),)]:
            raise DamageError(f'its tables are not those of a {self.noun}')
        if not whole:
            return
        ((found,),) = connection.execute('PRAGMA integrity_check(1)')
        if found != b'ok':
            raise DamageError(found.decode('utf-8', 'replace'))
        if not all(map(self._is_sound, connection.execute(f'{SELECT} NOT INDEXED'))):
            raise DamageError(NOT_WRITTEN)

    def _create_table(self, connection: sqlite3.Connection) -> None:
        with connection:
            connection.execute('BEGIN IMMEDIATE')
            connection.execute(TABLE)
            connection.execute(f'PRAGMA application_id = {int.from_bytes(self.application, "big")}')
            connection.execute(f'PRAGMA user_version = {VERSION}')

    def _renew(self, damage: str) -> None:
        """Put what can be read of the file into a new one; keep the old one beside it."""
        names = (f'{self.path.stem}.damaged-{n}{self.path.suffix}' for n in itertools.count(1))
        aside = next(path for path in map(self.path.with_name, names) if not path.exists())
        # Others may not write to it meanwhile. SQLite would delete the log of an empty file.
        with closing(_connect(self.path if _size(self.path) else '')) as old:
            with suppress(*DAMAGE):
                old.execute('BEGIN IMMEDIATE')
            with written_whole(self.path) as part:
                _create_file(part)
                with closing(_connect(part)) as new:
                    told = self._salvage(new, damage)
                for ending in CONTENT:
                    if _beside(self.path, ending).exists():
                        with written_whole(_beside(aside, ending)) as copy:
                            _copy(_beside(self.path, ending), copy)
                for ending in SIDECARS:
                    _beside(self.path, ending).unlink(missing_ok=True)
        self._tell(f'{told} It is kept as {aside}; a new file has the rest. {self.loss}')

    def _salvage(self, new: sqlite3.Connection, damage: str) -> str:
        """Write what can be read of the file into a new store; return a message.

        Raises:
            ValueError: If the file is no database and has never been a store.
        """
        self._create_table(new)
        kept = self.lost = 0
        with new:
            new.execute('BEGIN')
            for row in self._converted() if damage == EARLIER else _rows_left(self.path):
                if row is None or not self._is_sound(row):
                    self.lost += 1
                    continue
                added = new.execute(f'{INSERT} DO NOTHING', row).rowcount
                # A damaged id may be that of another row.
                kept += added or new.execute(f'{INSERT} DO NOTHING', (None, *row[1:])).rowcount
        owned = self.path.suffix in DATABASE_NAMES and not self.read_only
        if 'not a database' in damage and not kept and not owned:
            raise ValueError(
                f'{self.path}: this is no SQLite database; name another file for the {self.noun}, '
                'or delete this one if it was a store'
            )
        what = damage if damage == EARLIER else f'damaged ({" ".join(damage.split())})'
        return (
            f'{self.path}: this {self.noun} is {what}: {kept} of its entries can be read, '
            f'{self.lost} were found damaged.'
        )

    def _converted(self) -> Iterator[Row]:
        """Yield the rows of a store of version 1, as far as SQLite can read it."""
        uri = f'file:{quote(str(self.path.absolute()))}?mode=ro'
        with closing(_connect(uri)) as connection, suppress(sqlite3.DatabaseError):
            try:
                yield from map(self._row, self.entries_of_version_1(connection))
            except (AttributeError, RecursionError, TypeError, ValueError, zlib.error) as error:
                raise StoreError(f'{self.path}: {NOT_OURS}: {error}') from None

    def entries_of_version_1(self, connection: sqlite3.Connection) -> Iterator[Entry]:
        """Yield the entries of a store that had tables of other columns."""
        raise NotImplementedError

    def _tell(self, damage: str) -> None:
        self.damage = damage
        print(damage, file=sys.stderr)

    def _row(self, entry: Entry) -> Row:
        source, subject, value = entry
        text = json.dumps(value, ensure_ascii=False, default=str)
        parts = (source, subject, zlib.compress(text.encode(*ENCODING), 1))
        return (None, *parts, self._checksum(*parts))

    def _entry(self, row: Row) -> Entry:
        _, source, subject, value, _ = row
        try:
            return source, subject, json.loads(_unpacked(value))
        except (RecursionError, ValueError, zlib.error) as error:
            # Its checksum is right: somebody made it, in a folder that may not be the user's own.
            raise StoreError(f'{self.path}: {NOT_OURS}: {error}') from None

    def _is_sound(self, row: Row) -> bool:
        _, *parts, checksum = row
        return all(isinstance(one, bytes) for one in parts) and self._checksum(*parts) == checksum

    def _checksum(self, source: bytes, subject: bytes, value: bytes) -> bytes:
        data = b'%d:%b%b%b' % (len(source), source, subject, value)
        return hashlib.blake2b(data, digest_size=8, person=self.application).digest()


StoreT = TypeVar('StoreT', bound=Store)


def _unpacked(value: bytes) -> str:
    unpacking = zlib.decompressobj()
    text = unpacking.decompress(value, MOST_BYTES)
    if not unpacking.eof:
        raise ValueError('it is too long')
    return text.decode(*ENCODING)


def _rows_left(path: Path) -> Iterator[Row | None]:
    """Yield the rows that can be read of a damaged file, which must be checked; None for others.

    SQLite gives up all rows below a damaged page. So a copy is made in which one page with rows
    after another is the whole table. Its first page, which describes the table, is made anew.
    """
    with TemporaryDirectory() as folder:
        copy = Path(folder) / 'copy.sqlite'
        with closing(_connect(copy)) as connection:
            connection.execute(TABLE)
        first = copy.read_bytes()[:PAGE]
        first = first[:28] + bytes(4) + first[32:]  # the number of pages is that of the file
        size = sum(_size(_beside(path, ending)) for ending in CONTENT)
        endless = ValueError(f'{path}: damaged, and no end of what is in it; move it away')
        if size > MOST_SALVAGED:
            raise endless
        for ending in CONTENT:
            if _beside(path, ending).exists():
                _copy(_beside(path, ending), _beside(copy, ending))
        with copy.open('r+b') as file:
            file.write(first)
        with suppress(*DAMAGE), closing(_connect(copy)) as connection:
            connection.execute('SELECT 1 FROM sqlite_master')  # puts the log into the file
        parts = itertools.chain(*(_data(_beside(path, ending)) for ending in CONTENT))
        stored = sum(end - start for start, end in parts)
        latest = time.monotonic() + 10 + stored / SALVAGED
        with copy.open('r+b') as file:
            # A hostile log may have made the copy far longer than what it was made of.
            for start in _pages(copy, size):
                if time.monotonic() > latest:
                    raise endless
                file.seek(start)
                page = file.read(PAGE)
                if page[:1] == LEAF:
                    file.seek(0)
                    file.write(first + page.ljust(PAGE, b'\0'))
                    file.flush()
                    for row in _rows_of_table(copy):
                        yield row
                        if time.monotonic() > latest:
                            raise endless


def _data(path: Path) -> Iterator[tuple[int, int]]:
    """Yield the parts of a file, from start to end, that are no holes."""
    if not path.exists():
        return
    with path.open('rb') as file:
        end, size = 0, _size(path)
        while end < size:
            try:
                start = os.lseek(file.fileno(), end, os.SEEK_DATA)
                end = os.lseek(file.fileno(), start, os.SEEK_HOLE)
            except OSError as error:
                if error.errno == errno.ENXIO:  # a hole up to the end
                    return
                start, end = end, size  # its file system does not tell
            yield start, end


def _pages(path: Path, size: int) -> Iterator[int]:
    """Yield where the pages behind the first begin that are no holes, up to a size."""
    for start, end in _data(path):
        yield from range(max(start // PAGE * PAGE, PAGE), min(end, size), PAGE)


def _copy(source: Path, target: Path) -> None:
    """Copy a file, with its times, and holes as holes."""
    with source.open('rb') as old, target.open('wb') as new:
        for start, end in _data(source):
            old.seek(start)
            new.seek(start)
            while start < end and (part := old.read(min(end - start, COPIED))):
                start += new.write(part)
        new.truncate(_size(source))
    shutil.copystat(source, target)


def _rows_of_table(path: Path) -> Iterator[Row | None]:
    """Yield the rows of a table of one page; None for those that can't be read."""
    with closing(_connect(f'file:{quote(str(path))}?mode=ro&immutable=1')) as connection:
        rows = 0
        with suppress(*DAMAGE):
            ((rows,),) = connection.execute('SELECT count(*) FROM entries NOT INDEXED')
        for number in range(rows):
            row = None
            with suppress(*DAMAGE):
                (row,) = connection.execute(f'{SELECT} NOT INDEXED LIMIT 1 OFFSET {number}')
            yield row


def _connect(path: Path | str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=isinstance(path, str)
    )
    connection.text_factory = bytes  # a damaged text may not be UTF-8
    connection.execute(f'PRAGMA page_size = {PAGE}')
    return connection


def _has_others(file: IO[bytes]) -> bool:
    """Tell whether others have a lock on a file; take a shared one in any case."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        fcntl.flock(file, fcntl.LOCK_SH)
    return False


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Make processes open or salvage a store one after the other."""
    # Never lock the store itself: closing a file drops this process's own SQLite locks on it.
    beside = _beside(path, '.lock')
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


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(f'{path.name}{ending}')


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def is_network(path: Path) -> bool:
    """Tell whether other machines may have an existing file open."""
    # Files may have another device than their folder, as on an overlay.
    device = path.resolve().parent.stat().st_dev
    number = f'{os.major(device)}:{os.minor(device)}'
    try:
        lines = MOUNTS.read_text('utf-8', errors='surrogateescape').splitlines()
    except OSError:  # such as on macOS
        return False
    kinds = [line.partition(' - ')[2] for line in lines if line.split(' ')[2] == number]
    # Files served by FUSE are mostly on another machine, and may not support memory maps.
    return any(kind.split(' ')[0] in NETWORK or kind.startswith('fuse.') for kind in kinds)
