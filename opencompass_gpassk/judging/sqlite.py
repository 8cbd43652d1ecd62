"""The SQLite files of stores: opens them to read or write on any file system, detects damage.

One thread at a time uses an open file.
"""

from __future__ import annotations

import fcntl
import os
import re
import shlex
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import ClassVar, NamedTuple, TypeVar
from urllib.parse import quote

from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.judging.store_rows import DamagedRowError, require_sound

__all__ = [
    'BUSY_SECONDS',
    'DATABASE_NAMES',
    'VERDICTS',
    'ChangedStoreError',
    'DamageError',
    'Schema',
    'Stamp',
    'StoreError',
    'StoreFile',
    'is_network',
    'is_new',
    'note_damage',
    'open_file',
    'open_read_only',
    'stamp_of',
    'take_any_bytes',
]

MOUNTS = Path('/proc/self/mounts')
NETWORK = {
    '9p', 'afs', 'beegfs', 'ceph', 'cifs', 'gfs2', 'glusterfs', 'gpfs', 'lustre', 'ncpfs', 'nfs',
    'nfs4', 'ocfs2', 'orangefs', 'panfs', 'pvfs2', 'quobyte', 'smb3', 'smbfs', 'virtiofs', 'wekafs',
}  # fmt: skip


def is_network(path: Path, mounts: str | None = None) -> bool:
    """Tell whether other machines may have the same file open.

    Args:
        path: A file, which need not exist yet.
        mounts: The table of mounts; by default the kernel's. Without a table, as on macOS, the
            answer is no.
    """
    if mounts is None:
        try:
            mounts = MOUNTS.read_text('utf-8', errors='surrogateescape')
        except OSError:
            return False
    folders = path.resolve().parents
    best, kind = -1, ''
    for line in mounts.splitlines():
        _, point, found, *_ = [*line.split(' '), '', '', '']
        mounted = Path(re.sub(r'\\([0-7]{3})', lambda code: chr(int(code[1], 8)), point))
        # A later mount at the same place hides the earlier one.
        if mounted in folders and len(mounted.parts) >= best:
            best, kind = len(mounted.parts), found
    # Files served by FUSE are mostly on another machine, and may not support memory maps.
    return kind in NETWORK or kind.startswith('fuse.')


DATABASE_NAMES = ('.sqlite', '.sqlite3', '.db')


class DamageError(Exception):
    """A store's file is damaged."""


@dataclass(frozen=True)
class Schema:
    """The database schema of one kind of store.

    Attributes:
        noun: The store's name in messages.
        application: Four bytes that distinguish its files from other programs' databases.
        version: Version of the tables.
        tables: The statements that create the tables, by name.
        variable: The environment variable that names the file.
        name: The file's default name.
        loss: Message on a damaged store that was renamed to ``{moved}``.
        require_sound: Reads all rows; raises DamagedRowError, or an error of SQLite.
    """

    noun: str
    application: int
    version: int
    tables: Mapping[str, str]
    variable: str
    name: str
    loss: str
    require_sound: Callable[[sqlite3.Connection], None]


VERDICTS = Schema(
    noun='verdict store',
    application=0x47505653,  # 'GPVS'
    version=1,
    tables={
        'judges': """CREATE TABLE judges (
    digest BLOB PRIMARY KEY, model BLOB NOT NULL, prompt BLOB NOT NULL, settings TEXT NOT NULL
)""",
        'triples': """CREATE TABLE triples (
    digest BLOB PRIMARY KEY, question BLOB NOT NULL, gold BLOB NOT NULL, answer BLOB NOT NULL
)""",
        'verdicts': """CREATE TABLE verdicts (
    id INTEGER PRIMARY KEY, judge BLOB NOT NULL, triple BLOB NOT NULL, verdict TEXT NOT NULL,
    reason BLOB NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
    created REAL NOT NULL, checksum BLOB NOT NULL, reply BLOB NOT NULL, UNIQUE (judge, triple)
)""",
    },
    variable='GPASSK_VERDICT_STORE',
    name='verdicts.sqlite',
    loss="its verdicts will be asked for again. To save its undamaged verdicts, people's included: "
    'gpassk verdicts export {moved} -o saved.jsonl, then gpassk verdicts import saved.jsonl '
    '--store {path}',
    require_sound=require_sound,
)


def is_new(connection: sqlite3.Connection, path: Path, schema: Schema = VERDICTS) -> bool:
    """Tell whether a database is still empty; otherwise check that it has a store's tables.

    Raises:
        ValueError: If the database belongs to another program or a later version of this one.
        DamageError: If a table is missing or different.
        sqlite3.DatabaseError: If the database can't be read.
    """
    (application,) = connection.execute('PRAGMA application_id').fetchone()
    (version,) = connection.execute('PRAGMA user_version').fetchone()
    tables = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    if not application and not tables:
        return True
    if application != schema.application:
        raise ValueError(
            f'{path}: this database belongs to another program, or is another store; name another '
            f'file for the {schema.noun}, such as {schema.name} in a folder of its own'
        )
    if version > schema.version:
        raise ValueError(
            f'{path}: this {schema.noun} has version {version}, this package knows '
            f'{schema.version}; upgrade opencompass-gpassk, or name another file'
        )
    if any(tables.get(name) != sql for name, sql in schema.tables.items()):
        raise DamageError(f'its tables are not those of a {schema.noun}')
    return False


BUSY_SECONDS = 60.0
SIDECARS = ('-wal', '-shm', '-journal')
CHECKED_WHOLE = 1 << 27  # bytes; smaller files are read from end to end when opened: 0.5 s


class StoreError(JudgeError):
    """A store can't be used; entries stored before are kept."""


class ChangedStoreError(StoreError):
    """A store was written to while it was read without locks: the rows may not fit together."""


def open_file(
    path: Path, report: Callable[[str], None], schema: Schema = VERDICTS
) -> sqlite3.Connection:
    """Open a store's database; create it if it doesn't exist.

    A lock on ``<path>.lock`` makes processes open it one after the other. A damaged file is renamed
    to ``<stem>.damaged-<number><suffix>`` and a new one is created. Files up to 128 MiB are checked
    from end to end when opened; in larger ones damage is found when a damaged row is read. The
    process that finds it leaves a note, and the next process that opens the file reads every row.

    Args:
        path: The file; its folder is created if needed.
        report: Takes a message on a damaged file that was renamed.
        schema: The store's schema.

    Raises:
        ValueError: If the file belongs to another program or a later version of this one, or is a
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
    """Leave a note that a store is damaged, for the next process that opens it.

    Args:
        path: The store.
        inode: The damaged file's inode, since another file may have replaced it by then.
        damage: The damage found.
    """
    with _locked(path) as lock:
        os.ftruncate(lock, 0)
        os.pwrite(lock, f'{inode} {damage}'.encode(), 0)


def _look_into(connection: sqlite3.Connection, path: Path, lock: int, schema: Schema) -> None:
    """Read all of a store that a note calls damaged; remove the note if the store is sound.

    A sound file may have replaced it since, such as a backup, under the same inode.
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
    # Never lock the store itself: closing a file drops this process's own SQLite locks on it.
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
    """Create an empty file; a group that may write to its folder may write to it."""
    path.touch()
    folder, file = path.parent.stat(), path.stat()
    if folder.st_mode & 0o020 and folder.st_gid == file.st_gid and file.st_uid == os.geteuid():
        path.chmod(file.st_mode | 0o060)


def take_any_bytes(connection: sqlite3.Connection) -> None:
    """Accept bytes that aren't UTF-8, so that a row's checksum detects them."""
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
    """Check that a connection is to a sound store of this version; create missing tables."""
    new = is_new(connection, path, schema)
    if not new and _size(path) <= CHECKED_WHOLE:
        (found,) = connection.execute('PRAGMA integrity_check(1)').fetchone()
        if found != 'ok':
            raise DamageError(found)
    mode = _journal_mode(connection, 'delete' if is_network(path) else 'wal')
    # In WAL mode a power cut can lose the last rows but does not damage earlier ones.
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
    with suppress(sqlite3.OperationalError):  # others have it open in its current mode
        (mode,) = connection.execute(f'PRAGMA journal_mode = {wanted}').fetchone()
    return str(mode)


def _set_aside(path: Path) -> Path:
    """Rename a store and the files that belong to it to an unused name; return the new path."""
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


WAL = b'\x02\x02'  # bytes 18 and 19 of a file in WAL mode


class Stamp(NamedTuple):
    """Properties of a file that change when it is written to or replaced."""

    inode: int
    size: int
    modified: int


def stamp_of(path: Path) -> Stamp | None:
    """Return a file's stamp; None if the file doesn't exist."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return Stamp(found.st_ino, found.st_size, found.st_mtime_ns)


def open_read_only(
    path: Path, schema: Schema = VERDICTS
) -> tuple[sqlite3.Connection, Stamp | None]:
    """Open a store's database for reading; write access to it or its folder is not needed.

    A store in WAL mode that no process has open is read without locks, since SQLite would have to
    create files beside it. Then the file's stamp is returned, which must not change during reads.

    Raises:
        ValueError: If there is no store.
        StoreError: If it can't be read, or is damaged so badly that nothing in it can be read.
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
        # Lets SQLite read the rest of a truncated file. Nothing is written.
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
    """Tell whether another process has it open, or was killed and left rows in the log."""
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
            'was killed, someone who may write to its folder has to open it once; or copy it to '
            'a folder of yours, with the files beside it whose names begin with its name'
        )
    return StoreError(f'{path}: the {schema.noun} is damaged, nothing in it can be read: {error}')


StoreT = TypeVar('StoreT', bound='StoreFile')


class StoreFile:
    """The open file of a store. For its arguments see its subclass
    :class:`~opencompass_gpassk.judging.store.VerdictStore`.

    Attributes:
        schema: The store's schema.
    """

    schema: ClassVar[Schema] = VERDICTS

    def __init__(
        self,
        path: Path,
        *,
        report: Callable[[str], None] | None = None,
        read_only: bool = False,
    ) -> None:
        self.path = path
        self.read_only = read_only
        self._stamp: Stamp | None = None  # must not change while the file is read without locks
        if read_only:
            self._connection, self._stamp = open_read_only(path, self.schema)
        else:
            self._connection = open_file(path, report or _tell, self.schema)
        self._inode = path.stat().st_ino
        self._turn = threading.RLock()

    def __enter__(self: StoreT) -> StoreT:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        with self._turn:
            self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection for use by one thread at a time, with readable errors.

        Raises:
            StoreError: If the file is damaged, is gone, or can't be read or written.
        """
        with self._turn:
            if self._is_stale():
                self._connection.close()
                self._connection, self._stamp = open_read_only(self.path, self.schema)
            try:
                yield self._connection
                self._require_unchanged()
            # SQLite's messages about a damaged file may not be UTF-8.
            except (DamagedRowError, UnicodeDecodeError) as error:
                raise self._damaged(error) from error
            except sqlite3.OperationalError as error:
                remedy = _remedy(str(error), self.schema)
                raise StoreError(f'{self.path}: {error}; {remedy}') from error
            except sqlite3.DatabaseError as error:
                if type(error) is not sqlite3.DatabaseError:  # our own bug, such as a closed file
                    raise
                raise self._damaged(error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield the connection in a transaction, which is committed, or undone on an error.

        Raises:
            ValueError: If the store was opened read-only.
            StoreError: If the file is damaged, is gone, or can't be read or written.
        """
        if self.read_only:
            raise ValueError(f'{self.path}: the {self.schema.noun} was opened to be read only')
        with self.reading() as connection:
            self._require_in_place()
            connection.execute('BEGIN IMMEDIATE')
            try:
                yield connection
                connection.execute('COMMIT')
            finally:
                if connection.in_transaction:
                    connection.execute('ROLLBACK')

    def _require_in_place(self) -> None:
        try:
            inode = self.path.stat().st_ino
        except FileNotFoundError:
            inode = -1
        if inode != self._inode:
            raise StoreError(
                f'{self.path}: the {self.schema.noun} was removed or set aside while it was in '
                'use; start again'
            )

    def _is_stale(self) -> bool:
        return self._stamp is not None and stamp_of(self.path) != self._stamp

    def _require_unchanged(self) -> None:
        if self._is_stale():
            raise ChangedStoreError(
                f'{self.path}: the {self.schema.noun} was written to while it was read; start again'
            )

    def _damaged(self, error: Exception) -> StoreError:
        if self.read_only:
            self._require_unchanged()
            return StoreError(
                f'{self.path}: the verdict store is damaged ({error}); gpassk verdicts export '
                f'{shlex.quote(str(self.path))} writes its undamaged verdicts'
            )
        note_damage(self.path, self._inode, str(error))
        return StoreError(
            f'{self.path}: the {self.schema.noun} is damaged ({error}); start again: that renames '
            'it and begins a new one'
        )


def _remedy(error: str, schema: Schema) -> str:
    if 'locked' in error:
        return 'another process has been writing to it for a minute; is one stopped or hanging?'
    if 'full' in error:
        return f'make room, or name a file on another disk in {schema.variable}'
    return 'is the file still there, and may you write to it and its folder?'


def _tell(message: str) -> None:
    print(message, file=sys.stderr)
