"""Stores: files that keep what was paid for, so that no judge or scorer is asked twice.

A store is an SQLite file with one table, which any number of processes may have open at once. An
entry is found by its source (a judge, people, a scorer) and its subject (an answer, a solution),
whatever run it came from. Each has a checksum, since most flipped bits escape SQLite's own check.
What can still be read of a damaged file is put into a new one; the old one is kept beside it.

The file is in WAL mode. On a network file system, where WAL does not work between machines, it has
a rollback journal, which is slower.
"""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import json
import os
import re
import sqlite3
import sys
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar
from urllib.parse import quote

from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.judging.salvage import PAGE, Rows, opened_rows

__all__ = ['DATABASE_NAMES', 'ENCODING', 'Entry', 'Store', 'StoreError', 'is_network', 'unpacked']

VERSION = 2
TABLE = """CREATE TABLE entries (
    id INTEGER PRIMARY KEY, source BLOB NOT NULL, subject BLOB NOT NULL, value BLOB NOT NULL,
    checksum BLOB NOT NULL, UNIQUE (source, subject)
)"""
COLUMNS = 'source, subject, value, checksum'
INSERT = f'INSERT INTO entries (id, {COLUMNS}) VALUES (?, ?, ?, ?, ?) ON CONFLICT'
# A replaced entry keeps its id, so that a reader of all entries sees it once.
REPLACE = '(source, subject) DO UPDATE SET value = excluded.value, checksum = excluded.checksum'
DATABASE_NAMES = ('.sqlite', '.sqlite3', '.db')
SIDECARS = ('-wal', '-shm', '-journal')
BUSY_SECONDS = 60.0
CHECKED_WHOLE = 1 << 27  # bytes; smaller files are read from end to end when opened: 1 s
AT_ONCE = 900  # entries in a statement; every build of SQLite takes 999 parameters
MOST_BYTES = 1 << 26  # of an unpacked value; a hostile file may hold a bomb
ENCODING = ('utf-8', 'surrogatepass')  # texts may hold lone surrogates
TRIES = 20  # at a file that changes
EARLIER = 'it was written by an earlier version'
T = TypeVar('T')


class StoreError(JudgeError):
    """A store can't be used; entries stored before are kept."""


class DamageError(Exception):
    """A store's file is damaged, or of an earlier version."""


class ReplacedError(Exception):
    """Another process put a new file in the place of the open one."""


class Entry(NamedTuple):
    """One entry of a store.

    Attributes:
        source: Who gave it: a name, or the key of a judge or scorer.
        subject: The key of what it is about.
        value: What was given, in JSON values.
    """

    source: bytes
    subject: bytes
    value: Mapping[str, Any]


class Store:
    """Entries in a file. A context manager; its methods may be called from any thread.

    Args:
        path: The file; it is created if it doesn't exist. If it is damaged, or of an earlier
            version, it is renamed, and a new one has what can be read of it. Standard error says
            so.
        read_only: Change nothing: no file is created, locked, renamed or written to. Read access
            to the file is enough.

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

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = read_only
        self.damage = ''
        self.lost = 0
        self._turn = threading.RLock()
        self._stamp: tuple[int, ...] = ()
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
            ValueError: If the variable names a folder, or a link in the run leads out of the run.
        """
        if given := os.environ.get(cls.variable, '').strip():
            try:
                path = Path(given).expanduser().absolute()
            except RuntimeError as error:  # ~ of an unknown user
                raise ValueError(f'{cls.variable} is {given}: {error}') from error
            if path.is_dir():
                raise ValueError(
                    f'{cls.variable} is {given}, a folder; name a file in it, such as '
                    f'{path / cls.name}'
                )
            return path
        if run is None:
            return None
        path = run / cls.name
        for file in (path, _beside(path, '.lock')):
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
            for _, *row in self._read(f'source = ? AND subject IN ({marks})', source, *chunk):
                yield self._entry(*row)

    def entries(self, source: bytes | None = None) -> Iterator[Entry]:
        """Yield all entries, or those of a source, in the order in which they were stored."""
        last = -(1 << 63)
        where = 'id > ? AND source IS ifnull(?, source) ORDER BY id LIMIT ?'
        while page := self._read(where, last, source, AT_ONCE):
            yield from (self._entry(*row) for _, *row in page)
            last = page[-1][0]

    def keep(self, entries: Iterable[Entry], *, replace: bool = False) -> list[bool]:
        """Store entries durably, all in one transaction; return which were written.

        Args:
            entries: The entries.
            replace: Whether one replaces the same source's entry about the same subject.
        """
        rows = [(None, *self._row(entry)) for entry in entries]

        def write(connection: sqlite3.Connection) -> list[bool]:
            found = []
            for row in rows:
                then = REPLACE if replace or row[1] in self.replaced else 'DO NOTHING'
                found.append(connection.execute(f'{INSERT} {then}', row).rowcount > 0)
            return found

        return self._write(write)

    def remove(self, keys: Iterable[tuple[bytes, bytes]]) -> None:
        """Delete the entries of these sources about these subjects, and shrink the file."""
        gone = list(keys)
        statement = 'DELETE FROM entries WHERE source = ? AND subject = ?'
        self._write(lambda connection: connection.executemany(statement, gone))
        with suppress(StoreError):  # others write to it, or the disk has no room for a copy
            self._use(lambda connection: connection.execute('VACUUM'))

    def entries_of_version_1(self, rows: Rows) -> Iterator[tuple[int | None, Entry | None]]:
        """Yield id and entry from the rows of a file of version 1; None for damaged entries."""
        raise NotImplementedError

    def _read(self, where: str, *values: Any) -> list[Any]:
        """Return the rows that meet a condition, with their ids."""

        def read(connection: sqlite3.Connection) -> list[Any]:
            statement = f'SELECT id, {COLUMNS} FROM entries WHERE {where}'
            rows = connection.execute(statement, values).fetchall()
            for _, *row in rows:
                self._require_sound(*row)
            return rows

        return self._use(read)

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return what ``work`` gives in a transaction, which is undone on an error."""
        if self.read_only:
            raise ValueError(f'{self.path}: the {self.noun} was opened to be read only')

        def transaction(connection: sqlite3.Connection) -> T:
            connection.execute('BEGIN IMMEDIATE')
            try:
                if self._is_replaced():
                    raise ReplacedError
                found = work(connection)
                connection.execute('COMMIT')
                return found
            finally:
                if connection.in_transaction:
                    connection.execute('ROLLBACK')

        return self._use(transaction)

    def _use(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Return what ``work`` gives with the connection; it is called again after a repair."""
        with self._turn:
            for _ in range(TRIES):
                damage = ''
                try:
                    if not self._is_replaced():
                        found = work(self._connection)
                        if not self._is_replaced():
                            return found
                except ReplacedError:
                    pass
                except FileNotFoundError as error:
                    raise StoreError(
                        f'{self.path}: the {self.noun} was removed while it was in use; start again'
                    ) from error
                except sqlite3.OperationalError as error:
                    raise self._failed(error) from error
                except (sqlite3.InterfaceError, sqlite3.ProgrammingError):  # such as a closed file
                    raise
                # SQLite's messages about a damaged file may not be UTF-8.
                except (DamageError, UnicodeDecodeError, sqlite3.DatabaseError) as error:
                    damage = str(error)
                self._connection.close()
                self._connection = self._opened(damage)
        raise StoreError(f'{self.path}: the {self.noun} changes again and again; start again')

    def _is_replaced(self) -> bool:
        return self._stamp != _stamp(self.path, whole=len(self._stamp) > 1)

    def _failed(self, error: Exception) -> StoreError:
        remedy = f'may you write to it and its folder? Else set {self.variable} to another file'
        if 'locked' in str(error):
            remedy = 'another process has been writing to it for a minute; does it hang?'
        elif 'full' in str(error) or 'No space' in str(error):
            remedy = f'make room, or name a file on another disk in {self.variable}'
        return StoreError(f'{self.path}: the {self.noun} can not be used: {error}; {remedy}')

    def _opened(self, damage: str = '') -> sqlite3.Connection:
        """Open the file; salvage it first if damage is given or found."""
        try:
            return self._opened_to_read(damage) if self.read_only else self._opened_to_write(damage)
        except (OSError, sqlite3.OperationalError) as error:
            raise self._failed(error) from error
        except DamageError as error:
            raise StoreError(f'{self.path}: a new store is damaged at once: {error}') from error

    def _opened_to_read(self, damage: str) -> sqlite3.Connection:
        if not self.path.is_file() or not _size(self.path):
            told = ' (a folder)' if self.path.is_dir() else ''
            raise ValueError(f'{self.path}: there is no {self.noun}{told}; name the file of one')
        # To read a file in WAL mode SQLite creates files beside it, unless told that nobody writes
        # to it. If somebody does, its stamp changes, and it is read again.
        quiet = not any(_beside(self.path, ending).exists() for ending in ('-wal', '-journal'))
        self._stamp = _stamp(self.path, whole=quiet)
        if not damage:
            uri = f'file:{quote(str(self.path.absolute()))}?mode=ro{"&immutable=1" * quiet}'
            try:
                return self._checked(uri)
            except DamageError as error:
                damage = str(error)
        copy = _connect('')  # in memory, and in a temporary file if it is large
        with opened_rows(self.path) as rows:
            self._require_store(rows, damage)
            kept, lost = self._fill(copy, rows)
        if lost or damage != EARLIER:
            self._tell_damage(damage, kept, lost, 'The file stays as it is.')
        return copy

    def _opened_to_write(self, damage: str) -> sqlite3.Connection:
        if self.path.is_dir():
            raise ValueError(f'{self.path}: a folder; name a file in it, such as {self.name}')
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(self.path):
            self._put_in_place()  # what a process prepared before it was killed
            if damage and (not self.path.exists() or self._is_replaced()):
                damage = ''  # another process was faster
            if not _size(self.path) and _size(_beside(self.path, '-wal')):
                damage = 'its main file is gone, its log is not'
            if not damage:
                _begin(self.path)
                try:
                    connection = self._checked(self.path)
                except DamageError as error:
                    damage = str(error)
            if damage:
                self._renew(damage)
                connection = self._checked(self.path)
            self._stamp = _stamp(self.path)
            mode = 'delete' if is_network(self.path) else 'wal'
            if connection.execute('PRAGMA journal_mode').fetchone() != (mode,):
                with suppress(sqlite3.OperationalError):  # others have it open in its current mode
                    connection.execute(f'PRAGMA journal_mode = {mode}')
            # In WAL mode a power cut can lose the last entries but does not damage earlier ones.
            wal = connection.execute('PRAGMA journal_mode').fetchone() == ('wal',)
            connection.execute(f'PRAGMA synchronous = {"NORMAL" if wal else "FULL"}')
            return connection

    def _checked(self, place: Path | str) -> sqlite3.Connection:
        """Return a connection to a sound store; see :meth:`_require_sound_file` for errors."""
        connection = _connect(place)
        try:
            self._require_sound_file(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _create(self, connection: sqlite3.Connection) -> None:
        connection.execute('BEGIN IMMEDIATE')
        connection.execute(TABLE)
        connection.execute(f'PRAGMA application_id = {int.from_bytes(self.application, "big")}')
        connection.execute(f'PRAGMA user_version = {VERSION}')
        connection.execute('COMMIT')

    def _require_sound_file(self, connection: sqlite3.Connection) -> None:
        """Check that a database is a sound store; begin one in an empty database.

        Raises:
            ValueError: If it belongs to another program or a later version of this one.
            DamageError: If it must be salvaged.
        """
        try:
            (application,) = connection.execute('PRAGMA application_id').fetchone()
            (version,) = connection.execute('PRAGMA user_version').fetchone()
            tables = connection.execute("SELECT sql FROM sqlite_master WHERE sql != ''").fetchall()
            if not application and not tables:
                if self.read_only:
                    raise ValueError(f'{self.path}: an empty database, no {self.noun}')
                self._create(connection)
                return
            if application != int.from_bytes(self.application, 'big'):
                raise ValueError(
                    f'{self.path}: this database belongs to another program, or is another store; '
                    f'name another file for the {self.noun}, such as {self.name} in a folder of '
                    'its own'
                )
            if version > VERSION:
                raise ValueError(
                    f'{self.path}: this {self.noun} has version {version}, this package knows '
                    f'{VERSION}; upgrade opencompass-gpassk, or name another file'
                )
            whole = _size(self.path) <= CHECKED_WHOLE
            if whole or version < VERSION:
                (found,) = connection.execute('PRAGMA integrity_check(1)').fetchone()
                if found != 'ok':
                    raise DamageError(found)
            if version < VERSION:
                raise DamageError(EARLIER)
            if tables != [(TABLE,)]:
                raise DamageError(f'its tables are not those of a {self.noun}')
            if whole:
                for row in connection.execute(f'SELECT {COLUMNS} FROM entries NOT INDEXED'):
                    self._require_sound(*row)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            told = str(error)
            if isinstance(error, sqlite3.OperationalError) and 'file format' not in told:
                raise
            raise DamageError(told) from error

    def _renew(self, damage: str) -> None:
        """Put what can be read of the file into a new one, and the new one in its place."""
        part = _beside(self.path, '.part')
        with _unwritten(self.path), opened_rows(self.path) as rows:
            self._require_store(rows, damage)
            for ending in ('', *SIDECARS):
                _beside(part, ending).unlink(missing_ok=True)
            _begin(part)
            with closing(_connect(part)) as new:
                kept, lost = self._fill(new, rows)
            part.rename(_beside(self.path, '.new'))
            converted = damage == EARLIER and not lost
            aside = self._put_in_place('old' if converted else 'damaged')
        if converted:
            print(
                f'{self.path}: this {self.noun} was converted to the present format with all its '
                f'{kept} entries; the old file is kept as {aside}',
                file=sys.stderr,
            )
        else:
            told = f'It is kept as {aside}, and a new file has what could be read. {self.loss}'
            self._tell_damage(damage, kept, lost, told)

    def _put_in_place(self, word: str = 'damaged') -> Path | None:
        """Replace the file by the prepared one, if any; return the old one's new name.

        If a process is killed meanwhile, the next one does the rest.
        """
        new = _beside(self.path, '.new')
        if not new.exists():
            return None
        for number in itertools.count(1):
            aside = self.path.with_name(f'{self.path.stem}.{word}-{number}{self.path.suffix}')
            if not any(_beside(aside, ending).exists() for ending in ('', *SIDECARS)):
                break
        for ending in SIDECARS:
            if ending != '-shm' and _size(_beside(self.path, ending)):
                _beside(self.path, ending).rename(_beside(aside, ending))
            _beside(self.path, ending).unlink(missing_ok=True)
        if self.path.exists():
            try:
                os.link(self.path, aside)  # so that there is a file at any time
            except OSError:  # the file system has no links
                self.path.rename(aside)
        new.replace(self.path)
        return aside

    def _fill(self, connection: sqlite3.Connection, rows: Rows) -> tuple[int, int]:
        """Write sound rows into a new store; return the numbers of entries written and lost."""
        self._create(connection)
        kept = lost = 0
        statement = f'{INSERT} DO NOTHING'
        connection.execute('BEGIN')
        for number, row in self._sound(rows):
            if row is None:
                lost += 1
                continue
            new = connection.execute(statement, (number, *row)).rowcount
            # A damaged id may be that of another row.
            kept += new or connection.execute(statement, (None, *row)).rowcount
        connection.execute('COMMIT')
        return kept, lost

    def _require_store(self, rows: Rows, damage: str) -> None:
        """Raise a ValueError if a file that is no database has never been a store."""
        if 'not a database' not in damage or any(row for _, row in self._sound(rows)):
            return
        if self.read_only or self.path.suffix not in DATABASE_NAMES:
            raise ValueError(
                f'{self.path}: this is no SQLite database; name another file for the {self.noun}, '
                'or delete this one if it was a store'
            )

    def _sound(self, rows: Rows) -> Iterator[tuple[int | None, tuple[bytes, ...] | None]]:
        present = False
        for number, row in rows():
            if len(row) == 5 and row[0] is None:  # else of the schema, or of version 1
                present = True
                try:
                    self._require_sound(*row[1:])
                    yield number, tuple(row[1:])
                except DamageError:
                    yield None, None
        if not present:
            for key, entry in self.entries_of_version_1(rows):
                yield key, entry and self._row(entry)

    def _row(self, entry: Entry) -> tuple[bytes, ...]:
        text = json.dumps(entry.value, ensure_ascii=False, default=str)
        parts = (entry.source, entry.subject, zlib.compress(text.encode(*ENCODING), 1))
        return (*parts, self._checksum(*parts))

    def _entry(self, source: bytes, subject: bytes, value: bytes, _: bytes) -> Entry:
        try:
            return Entry(source, subject, json.loads(unpacked(value)))
        except (RecursionError, ValueError) as error:  # its checksum is right: somebody made it
            raise StoreError(f'{self.path}: an entry is not one of this package: {error}') from None

    def _require_sound(self, *row: Any) -> None:
        *parts, checksum = row
        if not all(isinstance(part, bytes) for part in parts) or self._checksum(*parts) != checksum:
            raise DamageError('an entry is not the one that was written')

    def _checksum(self, source: bytes, subject: bytes, value: bytes) -> bytes:
        data = b'%d:%b%b%b' % (len(source), source, subject, value)
        return hashlib.blake2b(data, digest_size=8, person=self.application).digest()

    def _tell_damage(self, damage: str, kept: int, lost: int, end: str) -> None:
        self.lost = lost
        self.damage = (
            f'{self.path}: this {self.noun} is damaged ({" ".join(damage.split())}): {kept} of its '
            f'entries can be read, {lost} were found damaged. {end}'
        )
        print(self.damage, file=sys.stderr)


StoreT = TypeVar('StoreT', bound=Store)


def unpacked(data: bytes) -> str:
    """Return the text that was packed.

    Raises:
        ValueError: If it is damaged, or larger than any that this package packs.
    """
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(data, MOST_BYTES)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not unpacking.eof:
        raise ValueError('it has no end')
    return text.decode(*ENCODING)


def _connect(path: Path | str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=isinstance(path, str)
    )
    # A text that is not UTF-8 is told by its row's checksum, not by an error.
    connection.text_factory = lambda data: data.decode('utf-8', 'replace')
    connection.execute(f'PRAGMA page_size = {PAGE}')
    return connection


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Make processes open or repair a store one after the other."""
    # Never lock the store itself: closing a file drops this process's own SQLite locks on it.
    beside = _beside(path, '.lock')
    _begin(beside)
    lock = os.open(beside, os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


@contextmanager
def _unwritten(path: Path) -> Iterator[None]:
    """Keep other processes from writing to a file, if SQLite can open it at all."""
    if not _size(path):  # SQLite would delete the log of an empty file
        yield
        return
    with closing(_connect(path)) as connection:
        try:
            connection.execute('BEGIN IMMEDIATE')
        except sqlite3.DatabaseError as error:
            if 'locked' in str(error):
                raise
        yield


def _begin(path: Path) -> None:
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


def _stamp(path: Path, whole: bool = False) -> tuple[int, ...]:
    """Return a value that changes if a file is replaced; if ``whole``, also if it is changed."""
    found = path.stat()
    return (found.st_ino, found.st_size, found.st_mtime_ns) if whole else (found.st_ino,)


MOUNTS = Path('/proc/self/mounts')
NETWORK = {
    '9p', 'afs', 'beegfs', 'ceph', 'cifs', 'gfs2', 'glusterfs', 'gpfs', 'lustre', 'ncpfs', 'nfs',
    'nfs4', 'ocfs2', 'orangefs', 'panfs', 'pvfs2', 'quobyte', 'smb3', 'smbfs', 'virtiofs', 'wekafs',
}  # fmt: skip


def is_network(path: Path) -> bool:
    """Tell whether other machines may have the same file open; it need not exist yet."""
    try:
        lines = MOUNTS.read_text('utf-8', errors='surrogateescape').splitlines()
    except OSError:  # such as on macOS
        return False
    best, kind = -1, ''
    for _, point, found, *_ in (line.split(' ') for line in lines):
        mounted = Path(re.sub(r'\\([0-7]{3})', lambda code: chr(int(code[1], 8)), point))
        # A later mount at the same place hides the earlier one.
        if mounted in path.resolve().parents and len(mounted.parts) >= best:
            best, kind = len(mounted.parts), found
    # Files served by FUSE are mostly on another machine, and may not support memory maps.
    return kind in NETWORK or kind.startswith('fuse.')
