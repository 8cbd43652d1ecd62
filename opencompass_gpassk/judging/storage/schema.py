"""What the database of a store is known by: its mark, version and tables."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from opencompass_gpassk.judging.storage.reading import require_sound

__all__ = ['DATABASE_NAMES', 'VERDICTS', 'DamageError', 'Schema', 'is_new']

DATABASE_NAMES = ('.sqlite', '.sqlite3', '.db')


class DamageError(Exception):
    """A file is the store no more that it was."""


@dataclass(frozen=True)
class Schema:
    """What the database of a kind of store is known by.

    Attributes:
        noun: What its users call it.
        application: Four bytes that tell its files from other programs' databases.
        version: Of its tables.
        tables: The statements that make them, by their names.
        variable: The environment variable that names its file.
        name: Of its file where nothing else is said.
        loss: What a user is told of one that is damaged, and set aside as ``{moved}``.
        require_sound: Reads everything in it; raises DamagedRowError, or an error of SQLite.
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
    loss="what it held will be asked for again. To save what is sound in it, people's verdicts "
    'too: gpassk verdicts export {moved} -o saved.jsonl, then gpassk verdicts import saved.jsonl '
    '--store {path}',
    require_sound=require_sound,
)


def is_new(connection: sqlite3.Connection, path: Path, schema: Schema = VERDICTS) -> bool:
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
    if application != schema.application:
        raise ValueError(
            f'{path}: this database belongs to another program, or is another store; name another '
            f'file for the {schema.noun}, such as {schema.name} in a folder of its own'
        )
    if version > schema.version:
        raise ValueError(
            f'{path}: this {schema.noun} is of version {version}, this package knows '
            f'{schema.version}; upgrade opencompass-gpassk, or name another file'
        )
    if any(tables.get(name) != sql for name, sql in schema.tables.items()):
        raise DamageError(f'its tables are not those of a {schema.noun}')
    return False
