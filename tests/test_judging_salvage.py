"""Rows read from a database's pages without SQLite: the same that SQLite reads."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from opencompass_gpassk.judging.salvage import PAGE, opened_rows


@pytest.mark.parametrize('mode', ['wal', 'delete'])
@pytest.mark.parametrize('seed', range(4))
def test_the_rows_that_sqlite_reads(mode: str, seed: int, tmp_path: Path) -> None:
    """Also while the log holds some, rows span pages, and deleted ones are still in the file."""
    rng, path = random.Random(seed), tmp_path / 'a.sqlite'
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(f'PRAGMA journal_mode = {mode}')
        connection.execute('PRAGMA secure_delete = OFF')  # as some builds of SQLite have it
        connection.execute('CREATE TABLE rows (id INTEGER PRIMARY KEY, a, b REAL, c BLOB)')
        for step in range(60):
            sizes = [rng.choice([0, 30, 600, 3000, 5000, 40_000]) for _ in range(20)]
            values = [0, 1, -1, 127, -32768, 1 << 30, -(1 << 62), 'é中', None, 2.5]
            rows = [(rng.choice(values), rng.random() * 9, rng.randbytes(size)) for size in sizes]
            connection.executemany('INSERT INTO rows (a, b, c) VALUES (?, ?, ?)', rows)
            connection.execute('DELETE FROM rows WHERE id % 7 = ?', (step % 7,))
            connection.execute('DELETE FROM rows WHERE id BETWEEN ? AND ?', (step * 9, step * 12))
            connection.execute("UPDATE rows SET c = x'00' WHERE id % 11 = ?", (step % 11,))
            if step % 20 == 9:  # pages are merged, and some are free then
                connection.execute('DELETE FROM rows WHERE id % 4')
            if step % 20 == 19:
                connection.execute('VACUUM')
            found = connection.execute('SELECT id, a, b, c FROM rows').fetchall()
            with opened_rows(path) as read:
                # The first column stands for the id; the schema's rows have five.
                same = [(key, *row[1:]) for key, row in read() if len(row) == 4]
            assert sorted(same, key=str) == sorted(found, key=str)


def test_pages_that_point_to_each_other(tmp_path: Path) -> None:
    """None of them is followed for ever."""
    path = tmp_path / 'hostile.sqlite'
    page = bytearray(PAGE)
    page[0], page[3:5] = 13, b'\xff\xff'
    for place in range(8, PAGE - 200, 2):
        page[place : place + 2] = (PAGE - 100).to_bytes(2, 'big')
    page[PAGE - 100 : PAGE - 95] = b'\xff\xff\xff\x7f\x01'
    with path.open('wb') as file:
        for number in range(300):
            file.write(page[:-4] + (number * 7 % 300 + 1).to_bytes(4, 'big'))
    path.with_name('hostile.sqlite-wal').write_bytes(
        bytes(32) + b'\xff' * 8 + bytes(16) + bytes(PAGE)
    )
    with opened_rows(path) as read:
        assert list(read()) == []
