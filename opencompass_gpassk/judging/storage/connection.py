"""The open file of a store, used by one thread at a time."""

from __future__ import annotations

import shlex
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import ClassVar, TypeVar

from opencompass_gpassk.judging.storage.files import (
    ChangedStoreError,
    StoreError,
    note_damage,
    open_file,
)
from opencompass_gpassk.judging.storage.rows import DamagedRowError
from opencompass_gpassk.judging.storage.schema import VERDICTS, Schema
from opencompass_gpassk.judging.storage.viewing import Stamp, open_read_only, stamp_of

__all__ = ['StoreFile']

StoreT = TypeVar('StoreT', bound='StoreFile')


class StoreFile:
    """The open file of a store, such as :class:`~opencompass_gpassk.judging.store.VerdictStore`,
    whose arguments these are.

    Attributes:
        schema: What is kept in it.
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
        self._stamp: Stamp | None = None  # which the file must keep while it is read without locks
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
        """Use the file alone among this process's threads, and say clearly what goes wrong.

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
            # SQLite's own words about a damaged file may be no UTF-8.
            except (DamagedRowError, UnicodeDecodeError) as error:
                raise self._damaged(error) from error
            except sqlite3.OperationalError as error:
                remedy = _remedy(str(error), self.schema)
                raise StoreError(f'{self.path}: {error}; {remedy}') from error
            except sqlite3.DatabaseError as error:
                if type(error) is not sqlite3.DatabaseError:  # our own mistake, as is a closed file
                    raise
                raise self._damaged(error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Use the file in a transaction that is committed in the end, or undone on an error.

        Raises:
            ValueError: If it was opened to be read only.
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
                f'{shlex.quote(str(self.path))} writes what is sound in it'
            )
        note_damage(self.path, self._inode, str(error))
        return StoreError(
            f'{self.path}: the {self.schema.noun} is damaged ({error}); start again, which sets it '
            'aside and begins a new one'
        )


def _remedy(error: str, schema: Schema) -> str:
    if 'locked' in error:
        return 'another process has written to it for a minute; is one stopped or hanging?'
    if 'full' in error:
        return f'make room, or name a file on another disk in {schema.variable}'
    return 'is the file still there, and may you write to it and its folder?'


def _tell(message: str) -> None:
    print(message, file=sys.stderr)
