"""Verdict stores that are only read: nothing is changed, and what is sound is found."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path

import pytest
from store_writer import JUDGE, put_human, triple

from opencompass_gpassk.judging import sqlite as files
from opencompass_gpassk.judging import sqlite as viewing
from opencompass_gpassk.judging.store import (
    StoredVerdict,
    StoreError,
    VerdictStore,
    count_verdicts,
    records,
    restore,
)
from opencompass_gpassk.judging.store import Record
from opencompass_gpassk.trials import Verdict

RIGHT = StoredVerdict(Verdict.CORRECT, '', 'They agree: \\boxed{yes}', 500, 20)
SIZE = 400


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A closed store of a judge's verdicts and one of a person."""
    path = tmp_path / 'run' / 'verdicts.sqlite'
    with VerdictStore(path) as store:
        restore(store, (Record(triple(n), JUDGE, RIGHT, 1.0 + n) for n in range(SIZE)))
        put_human(store, triple(0), Verdict.INCORRECT)
    path.with_name('verdicts.sqlite.lock').unlink()
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def seen(path: Path, bad: list[str] | None = None) -> set[int]:
    """The numbers of the judge's verdicts that can be read."""
    report = None if bad is None else bad.append
    with VerdictStore(path, read_only=True) as store:
        found = records(store, report=report)
        return {int(record.triple.gold) for record in found if record.judge}


def as_nobody(read: Callable[[], object]) -> str:
    """What somebody who may not write gets: root may everywhere."""

    def said() -> str:
        try:
            return str(read())
        except Exception as error:
            return repr(error)

    if os.geteuid():
        return said()
    outlet, inlet = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.setgid(65534)
            os.setuid(65534)
            os.write(inlet, said().encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(inlet)
    with os.fdopen(outlet) as file:
        return file.read()


@pytest.mark.parametrize('network', [False, True])
def test_reading_changes_nothing(
    full: Path, network: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No lock, no log, no index appears; writing is refused; verdicts and replies are there."""
    if network:  # where a store has a rollback journal
        monkeypatch.setattr(files, 'is_network', lambda path: True)
        VerdictStore(full).close()
    before = contents(full.parent)
    with VerdictStore(full, read_only=True) as store:
        assert store.human([triple(0)])[triple(0)].verdict is Verdict.INCORRECT
        assert store.get(JUDGE, [triple(1)])[triple(1)].reply == ''
        told = store.get(JUDGE, [triple(1)], replies=True)[triple(1)]
        assert (told.reply, told.created) == (RIGHT.reply, 2.0)
        assert store.judges() == [JUDGE]
        assert contents(full.parent) == before
        with pytest.raises(ValueError, match='read only'):
            store.put(JUDGE, triple(200), RIGHT)
    assert seen(full) == set(range(SIZE))
    assert contents(full.parent) == before


@pytest.mark.parametrize('state', ['closed', 'in use', 'killed'])
def test_a_folder_that_one_may_only_read(state: str, tmp_path: Path, full: Path) -> None:
    """A store there is read, and one whose writer was killed if SQLite's files are whole."""
    with VerdictStore(full) as writer:
        writer.put(JUDGE, triple(SIZE), RIGHT)
        if state == 'closed':
            writer.close()
        elif state == 'killed':
            copy = full.parent.with_name('copy')
            shutil.copytree(full.parent, copy)
            full = copy / full.name
            (copy / 'verdicts.sqlite-shm').unlink()
        for folder in (tmp_path, *(one for one in tmp_path.parents if 'pytest-' in str(one))):
            folder.chmod(0o755)
        full.parent.chmod(0o555)
        before = contents(full.parent).keys()
        said = as_nobody(lambda: len(seen(full)))
        full.parent.chmod(0o755)
        assert contents(full.parent).keys() == before
    if state == 'killed':
        assert 'StoreError' in said and 'copy it to' in said
    else:
        assert said == str(SIZE + 1)


def test_no_store_is_made_of_what_is_none(tmp_path: Path) -> None:
    """A folder, nothing, an empty file, an empty database and another program's are refused."""
    text, empty = tmp_path / 'important.db', tmp_path / 'notes.txt'
    database = tmp_path / 'new.sqlite'
    text.write_text('no database\n' * 100)
    empty.touch()
    sqlite3.connect(database).execute('VACUUM')
    before = contents(tmp_path)
    for path, told in (
        (tmp_path, 'a folder'),
        (tmp_path / 'absent.sqlite', 'no verdict store'),
        (empty, 'empty file'),
        (database, 'empty'),
        (text, 'no SQLite database'),
    ):
        with pytest.raises(ValueError, match=told):
            VerdictStore(path, read_only=True)
    assert contents(tmp_path) == before
    with pytest.raises(ValueError, match='a folder; name a file'):
        VerdictStore(tmp_path)
    assert not tmp_path.with_name(f'{tmp_path.name}.lock').exists()


def test_a_store_that_others_write_to(full: Path) -> None:
    """What was written since is seen; a change in the middle of reading is no damage."""
    with VerdictStore(full, read_only=True) as store:
        with VerdictStore(full) as writer:
            writer.put(JUDGE, triple(SIZE), RIGHT)
        assert store.get(JUDGE, [triple(SIZE)])
        with pytest.raises(StoreError, match='while it was read'), store.reading():
            os.utime(full)


def damaged_row(path: Path) -> None:
    """Verdict 7 was changed."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute('UPDATE verdicts SET prompt_tokens = 1 WHERE id = 8')


def cut_off(path: Path) -> None:
    """The last pages are gone."""
    os.truncate(path, path.stat().st_size * 3 // 4 // 4096 * 4096)


def damaged_page(path: Path) -> None:
    """A leaf of the verdicts is noise."""
    # The leaf (13) that holds the name of most verdicts: none of the index, which holds digests.
    data = path.read_bytes()
    pages = [data[start : start + 4096] for start in range(0, len(data), 4096)]
    leaf = max((page for page in pages if page[0] == 13), key=lambda page: page.count(b'correct'))
    path.write_bytes(data.replace(leaf, b'\xff' * 4096))


@pytest.mark.parametrize(
    ('damage', 'least'), [(damaged_row, SIZE - 1), (cut_off, 30), (damaged_page, SIZE // 2)]
)
def test_what_is_sound_of_a_damaged_store(
    full: Path, damage: Callable[[Path], None], least: int
) -> None:
    """Sound verdicts are found and the others counted; without leave, the first is an error."""
    damage(full)
    before = contents(full.parent)
    bad: list[str] = []
    found = seen(full, bad)
    assert least <= len(found) < SIZE
    assert bad
    if damage is damaged_row:
        assert found == set(range(SIZE)) - {7} and len(bad) == 1
    with VerdictStore(full, read_only=True) as store:
        (count,) = [c for c in count_verdicts(store, report=bad.append) if c.judge]
        assert count.verdicts == {Verdict.CORRECT: len(found)}
        assert count.prompt_tokens == 500 * len(found)
        with pytest.raises(StoreError, match='gpassk verdicts export'):
            list(records(store))
    assert contents(full.parent) == before


def test_a_backup_put_in_its_place(full: Path) -> None:
    """A sound file under the number of a damaged one is read before it is judged."""
    backup = full.with_name('backup')
    shutil.copy(full, backup)
    for restored in (True, False):
        damaged_row(full)
        with VerdictStore(full) as store, pytest.raises(StoreError, match='damaged'):
            list(records(store))
        if restored:
            shutil.copyfile(backup, full)
        told: list[str] = []
        with VerdictStore(full, report=told.append) as store:
            assert len(store.get(JUDGE, map(triple, range(SIZE)))) == (SIZE if restored else 0)
    (message,) = told
    assert 'gpassk verdicts export' in message and 'damaged-1.sqlite -o' in message


def test_a_replaced_verdict_keeps_its_place(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads all while others replace meets each verdict once."""
    monkeypatch.setattr('opencompass_gpassk.judging.store.PAGE', 10)
    with VerdictStore(full) as store, VerdictStore(full) as other:
        reading = records(store)
        first = [next(reading) for _ in range(5)]
        restore(other, [Record(one.triple, JUDGE, RIGHT, 9.0) for one in first], replace=True)
        every = [*first, *reading]
    numbers = [int(one.triple.gold) for one in every if one.judge]
    assert numbers == list(range(SIZE))


def test_an_import_lets_others_write_in_between(
    full: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records are written some thousands at a time: others see the first before the last."""
    monkeypatch.setattr('opencompass_gpassk.judging.store.RECORDS_AT_ONCE', 10)
    with VerdictStore(full) as store, VerdictStore(full) as other:
        seen_before: list[int] = []
        writing = store.writing

        def watched() -> AbstractContextManager[sqlite3.Connection]:
            seen_before.append(len(other.get(JUDGE, map(triple, range(SIZE, SIZE + 20)))))
            return writing()

        monkeypatch.setattr(store, 'writing', watched)
        given = (Record(triple(number), JUDGE, RIGHT, 1.0) for number in range(SIZE, SIZE + 20))
        assert restore(store, given) == (20, 0)
        assert seen_before == [0, 10]


def test_stamps(tmp_path: Path) -> None:
    """A file that is gone has none."""
    assert viewing.stamp_of(tmp_path / 'absent') is None
