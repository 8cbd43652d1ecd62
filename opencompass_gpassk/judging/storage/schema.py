"""What the database of a verdict store is known by: its mark, version and tables."""

from __future__ import annotations

import sqlite3
from pathlib import Path

__all__ = ['APPLICATION', 'DATABASE_NAMES', 'TABLES', 'VERSION', 'DamageError', 'is_new']

APPLICATION = 0x47505653  # 'GPVS', which tells our files from other programs' databases
VERSION = 1
TABLES = {
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
}
DATABASE_NAMES = ('.sqlite', '.sqlite3', '.db')


class DamageError(Exception):
    """A file is a verdict store no more."""


def is_new(connection: sqlite3.Connection, path: Path) -> bool:
    """Tell whether nothing is in a database yet; what is in it is the tables of a store.

    Raises:
        ValueError: If it is another program's, or of a later version of this one.
        DamageError: If a table is missing or another.
        sqlite3.DatabaseError: If it can't be read.
    """
    (application,) = connection.execute('PRAGMA application_id').fetchone()
    (version,) = connection.execute('PRAGMA user_version').fetchone()
    tables = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    if not application and not tables:
        return True
    if application != APPLICATION:
        raise ValueError(
            f'{path}: this database belongs to another program; name another file for the verdict '
            'store, such as verdicts.sqlite in a folder of its own'
        )
    if version > VERSION:
        raise ValueError(
            f'{path}: this verdict store is of version {version}, this package knows {VERSION}; '
            'upgrade opencompass-gpassk, or name another file'
        )
    if any(tables.get(name) != sql for name, sql in TABLES.items()):
        raise DamageError('its tables are not those of a verdict store')
    return False
