"""The verdict store: what is kept comes back, whatever happens to processes and to the file."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_writer import JUDGE, put_human, triple

from opencompass_gpassk.judging import sqlite as store_files
from opencompass_gpassk.judging.judge import JudgeIdentity, Triple
from opencompass_gpassk.judging.sqlite import is_network
from opencompass_gpassk.judging.store import (
    Selection,
    StoredVerdict,
    StoreError,
    VerdictStore,
    count_verdicts,
    give_room_back,
    prune,
    records,
    store_path,
)
from opencompass_gpassk.trials import Verdict

WRITER = [sys.executable, str(Path(__file__).with_name('store_writer.py'))]
RIGHT = StoredVerdict(Verdict.CORRECT, '', 'They agree: \\boxed{yes}', 500, 20)
WRONG = StoredVerdict(Verdict.INCORRECT)
TEXTS = st.text(st.characters(exclude_categories=()), max_size=40)  # lone surrogates too


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be."""
    return tmp_path / 'run' / 'verdicts.sqlite'


@pytest.fixture
def full(path: Path) -> Path:
    """A closed store of 100 verdicts, the odd ones correct."""
    with VerdictStore(path) as store:
        for number in range(100):
            store.put(JUDGE, triple(number), RIGHT if number % 2 else WRONG)
    return path


def start(*arguments: object) -> subprocess.Popen[str]:
    """A writer that waits for a line."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        [*WRITER, *map(str, arguments)], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )
    assert process.stdout and process.stdout.readline() == 'ready\n'
    return process


def together(processes: list[subprocess.Popen[str]]) -> list[dict[int, str]]:
    """Let writers go at once; what each was told to stand."""
    for process in processes:
        assert process.stdin
        process.stdin.write('\n')
        process.stdin.flush()
    with ThreadPoolExecutor() as threads:
        said = list(threads.map(lambda process: process.communicate(timeout=60), processes))
    assert [process.returncode for process in processes] == [0] * len(processes), said
    return [{int(n): v for n, v in map(str.split, out.splitlines())} for out, _ in said]


def standing(path: Path) -> dict[int, str]:
    """What a store holds, by the number of the triple, read without the store's own code."""
    with sqlite3.connect(path) as connection:
        rows = connection.execute(
            'SELECT gold, verdict FROM verdicts JOIN triples ON digest = triple'
        ).fetchall()
        assert connection.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
    assert len(rows) == len(dict(rows))
    return {int(gold): verdict for gold, verdict in rows}


numbers = count()


@pytest.fixture(scope='module')
def shared(tmp_path_factory: pytest.TempPathFactory) -> VerdictStore:
    """One store for all examples of a property."""
    return VerdictStore(tmp_path_factory.mktemp('shared') / 'verdicts.sqlite')


@settings(max_examples=30, deadline=None)
@given(
    texts=st.lists(TEXTS, min_size=6, max_size=6),
    verdict=st.sampled_from(Verdict),
    tokens=st.integers(0, 10**6),
)
def test_what_is_put_comes_back(
    shared: VerdictStore, texts: list[str], verdict: Verdict, tokens: int
) -> None:
    """Any texts come back as they were, U+2028, NUL and lone surrogates among them."""
    judge = JudgeIdentity('judge', texts[5], {'example': next(numbers)})
    about = Triple(*texts[:3])
    said = StoredVerdict(verdict, texts[3], texts[4], tokens, tokens + 1)
    assert shared.get(judge, [about]) == {}
    assert shared.put(judge, about, said) == said
    assert shared.get(judge, [about]) == {about: replace(said, reply='')}
    kept = [record for record in records(shared) if record.judge == judge]
    assert [(record.triple, record.said) for record in kept] == [(about, said)]


@pytest.mark.parametrize(
    ('judge', 'about'),
    [
        (replace(JUDGE, model='judge2'), triple(1)),
        (replace(JUDGE, prompt='Is {answer}  {gold}?'), triple(1)),
        (replace(JUDGE, settings={'temperature': 0.1}), triple(1)),
        (replace(JUDGE, settings={**JUDGE.settings, 'seed': None}), triple(1)),
        (JUDGE, triple(1)._replace(question='1 + 0 =?')),
        (JUDGE, triple(1)._replace(gold='1.')),
        (JUDGE, triple(1)._replace(answer='about 1 ')),
        (JUDGE, Triple('1 + 0 = ?1', '', 'about 1')),
    ],
    ids=['model', 'prompt', 'setting', 'new setting', 'question', 'gold', 'answer', 'boundary'],
)
def test_any_other_field_is_another_verdict(
    path: Path, judge: JudgeIdentity, about: Triple
) -> None:
    """Whatever a verdict depends on is part of its key."""
    with VerdictStore(path) as store:
        store.put(JUDGE, triple(1), RIGHT)
        assert store.get(judge, [about]) == {}
        assert store.put(judge, about, WRONG) == WRONG
        assert store.get(JUDGE, [triple(1)])[triple(1)].verdict is Verdict.CORRECT


def test_settings_with_numbers_as_keys(path: Path) -> None:
    """A judge whose settings JSON would sort in another order is found and read again."""
    judge = replace(JUDGE, settings={'logit_bias': {9: 1, 10: 2}})
    with VerdictStore(path) as store:
        store.put(judge, triple(1), RIGHT)
    with VerdictStore(path) as store:
        assert list(store.get(judge, [triple(1)])) == [triple(1)]
        (record,) = records(store)
    assert record.judge and record.judge.settings == {'logit_bias': {'9': 1, '10': 2}}


def test_the_first_verdict_stands(path: Path) -> None:
    """A second one on the same triple is not taken."""
    with VerdictStore(path) as store, VerdictStore(path) as other:
        assert store.put(JUDGE, triple(1), RIGHT) == RIGHT
        assert other.put(JUDGE, triple(1), WRONG).verdict is Verdict.CORRECT
        assert [one.verdicts for one in count_verdicts(store)] == [{Verdict.CORRECT: 1}]


def test_many_triples_at_once(path: Path) -> None:
    """More triples than one statement of SQLite takes are found, and no others."""
    with VerdictStore(path) as store:
        for number in range(0, 1900, 4):
            store.put(JUDGE, triple(number), RIGHT)
        found = store.get(JUDGE, map(triple, range(1900)))
    assert set(found) == {triple(number) for number in range(0, 1900, 4)}


def test_a_person_outranks_and_may_change_their_mind(path: Path) -> None:
    """People's verdicts are kept apart from judges'; the last one stands."""
    with VerdictStore(path) as store:
        store.put(JUDGE, triple(1), RIGHT)
        put_human(store, triple(1), Verdict.CORRECT)
        put_human(store, triple(1), Verdict.INCORRECT, 'no unit')
        assert store.human([triple(1), triple(2)]) == {triple(1): WRONG}
        assert store.get(JUDGE, [triple(1)])[triple(1)].verdict is Verdict.CORRECT
        assert [r.said.reply for r in records(store, Selection(human=True))] == ['no unit']


def test_pruning_keeps_what_others_use(full: Path) -> None:
    """Texts go with the last verdict on them, and the file shrinks."""
    before = full.stat().st_size
    with VerdictStore(full) as store:
        put_human(store, triple(0), Verdict.CORRECT)
        assert prune(store, Selection(model='judge', verdict=Verdict.INCORRECT)) == 50
        assert store.human([triple(0)]) and not store.get(JUDGE, [triple(0)])
        assert prune(store, Selection(human=False)) == 50
        give_room_back(store)
        assert [record.triple for record in records(store)] == [triple(0)]
    assert full.stat().st_size < before / 2


def test_threads_share_a_store(path: Path) -> None:
    """Verdicts may be put from any thread."""
    with VerdictStore(path) as store, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: store.put(JUDGE, triple(number % 200), RIGHT), range(400)))
    assert standing(path) == dict.fromkeys(range(200), 'correct')


def test_processes_that_judge_the_same(path: Path) -> None:
    """Three tasks that begin a store at once lose nothing, double nothing and agree on all."""
    told = together(
        [
            start(path, 'correct', 0, 400),
            start(path, 'incorrect', 200, 600),
            start(path, 'unjudged', 300, 700),
        ]
    )
    kept = standing(path)
    assert sorted(kept) == list(range(700))
    for one in told:
        assert len(one) == 400
        assert one.items() <= kept.items()


def test_kill_in_the_middle(path: Path) -> None:
    """Every verdict whose put returned survives kill -9, time and again."""
    promised: dict[int, str] = {}
    for _ in range(3):
        first = len(promised)
        process = start(path, 'correct', first, 10**6)
        assert process.stdin and process.stdout
        process.stdin.write('\n')
        process.stdin.flush()
        seen = [process.stdout.readline() for _ in range(150)]
        process.kill()
        out, error = process.communicate()
        assert not error
        whole = [*seen, *(line for line in out.splitlines(True) if line.endswith('\n'))]
        promised |= {int(number): verdict for number, verdict in map(str.split, whole)}
        told: list[str] = []
        with VerdictStore(path, report=told.append) as store:
            assert set(store.get(JUDGE, map(triple, promised))) == set(map(triple, promised))
        assert not told
    assert promised.items() <= standing(path).items()


def truncated(path: Path) -> None:
    """Half of the file is gone."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def other_header(path: Path) -> None:
    """The file is none of SQLite any more."""
    path.write_bytes(random.Random(1).randbytes(100) + path.read_bytes()[100:])


def garbage_page(path: Path) -> None:
    """A page in the middle is noise."""
    data = bytearray(path.read_bytes())
    middle = len(data) // 4096 // 2 * 4096
    data[middle : middle + 4096] = random.Random(1).randbytes(4096)
    path.write_bytes(data)


def no_database(path: Path) -> None:
    """Something else stands there."""
    path.write_text('not a database\n')


def main_file_gone(path: Path) -> None:
    """What was in the log alone is left."""
    path.unlink()
    path.with_name('verdicts.sqlite-wal').write_bytes(b'frames')


def other_tables(path: Path) -> None:
    """A column has another name."""
    with sqlite3.connect(path) as connection:
        connection.execute('ALTER TABLE verdicts RENAME COLUMN reply TO words')


DAMAGES = [truncated, other_header, garbage_page, no_database, main_file_gone, other_tables]


@pytest.mark.parametrize('damage', DAMAGES)
def test_a_damaged_file_is_set_aside(full: Path, damage: Any) -> None:
    """What is no store any more is renamed, named, and replaced; the next one gets a new name."""
    for number in (1, 2):
        damage(full)
        left = full.read_bytes() if full.exists() else None
        told: list[str] = []
        with VerdictStore(full, report=told.append) as store:
            assert store.get(JUDGE, map(triple, range(100))) == {}
            for again in range(100):
                store.put(JUDGE, triple(again), RIGHT)
        (message,) = told
        aside = full.with_name(f'verdicts.damaged-{number}.sqlite')
        assert str(full) in message and str(aside) in message
        assert (aside.read_bytes() if aside.exists() else None) == left
    assert len(standing(full)) == 100


@pytest.mark.parametrize(
    ('change', 'seen_by_get'),
    [
        ("verdicts SET verdict = 'correct' WHERE verdict = 'incorrect'", True),
        ("verdicts SET verdict = CAST(x'636ff27265' AS TEXT)", True),
        ("verdicts SET reason = x'ff'", True),
        ('verdicts SET prompt_tokens = prompt_tokens + 1', True),
        ('verdicts SET reply = zeroblob(20)', False),
        ("triples SET answer = x'39'", False),
        ("judges SET prompt = x'39'", False),
        ("judges SET settings = '{'", False),
    ],
)
def test_a_row_that_was_not_written_so(full: Path, change: str, seen_by_get: bool) -> None:
    """A changed row is never believed: it ends the use, and the next start sets the file aside."""
    with sqlite3.connect(full) as connection:
        connection.execute(f'UPDATE {change}')
    with VerdictStore(full) as store, pytest.raises(StoreError, match='damaged') as error:
        if seen_by_get:
            store.get(JUDGE, map(triple, range(100)))
        else:
            list(records(store))
    assert str(full) in str(error.value) and 'start again' in str(error.value)
    told: list[str] = []
    with VerdictStore(full, report=told.append) as store:
        assert store.get(JUDGE, map(triple, range(100))) == {}
    assert 'verdicts.damaged-1.sqlite' in told[0]


def test_flipped_bytes_on_the_disk(full: Path) -> None:
    """A verdict that is changed in the file itself is noticed."""
    full.write_bytes(full.read_bytes().replace(b'incorrect', b'IncorrecT'))
    with VerdictStore(full) as store, pytest.raises(StoreError, match='damaged'):
        store.get(JUDGE, map(triple, range(100)))


def test_two_find_the_damage_at_once(full: Path) -> None:
    """The new store of the first is not set aside by the second."""
    garbage_page(full)
    together([start(full, 'correct', 0, 60), start(full, 'correct', 60, 120)])
    assert sorted(standing(full)) == list(range(120))
    assert [p.name for p in full.parent.glob('*damaged*')] == ['verdicts.damaged-1.sqlite']


def test_a_store_that_is_replaced_in_use(full: Path) -> None:
    """Who still has the old file open is told, and their late finding does not hurt the new one."""
    with VerdictStore(full) as old:
        with sqlite3.connect(full) as connection:
            connection.execute("UPDATE verdicts SET verdict = 'correct'")
        with VerdictStore(full) as finder, pytest.raises(StoreError):
            finder.get(JUDGE, map(triple, range(100)))
        with VerdictStore(full, report=lambda message: None) as new:
            new.put(JUDGE, triple(0), RIGHT)
        with pytest.raises(StoreError, match='while it was in use'):
            old.put(JUDGE, triple(101), RIGHT)
        with pytest.raises(StoreError, match='damaged'):
            old.get(JUDGE, map(triple, range(100)))
    told: list[str] = []
    with VerdictStore(full, report=told.append) as store:
        assert len(store.get(JUDGE, [triple(0)])) == 1
    assert not told


def test_a_note_of_damage_goes_with_its_file(full: Path) -> None:
    """A new file may get the number of a damaged one that somebody deleted; it is not set aside."""
    with sqlite3.connect(full) as connection:
        connection.execute("UPDATE verdicts SET verdict = 'correct'")
    with VerdictStore(full) as store, pytest.raises(StoreError):
        store.get(JUDGE, map(triple, range(100)))
    lock = full.with_name('verdicts.sqlite.lock')
    assert lock.read_text().startswith(f'{full.stat().st_ino} ')
    full.unlink()
    VerdictStore(full).close()
    assert lock.read_text() == ''


@pytest.mark.parametrize('shared', [True, False])
def test_a_group_shares_a_store(tmp_path: Path, shared: bool) -> None:
    """Where a group may write to the folder it may write to all of the store's files."""
    tmp_path.chmod(0o775 if shared else 0o755)
    before = os.umask(0o022)
    try:
        with VerdictStore(tmp_path / 'verdicts.sqlite') as store:
            store.put(JUDGE, triple(1), RIGHT)
            modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    names = [f'verdicts.sqlite{end}' for end in ('', '-shm', '-wal', '.lock')]
    assert modes == dict.fromkeys(names, 0o664 if shared else 0o644)


def test_others_files_are_left_alone(tmp_path: Path) -> None:
    """A database of another program, a later version, and what is no database are refused."""
    foreign, later, text = tmp_path / 'a.sqlite', tmp_path / 'b.sqlite', tmp_path / 'rows.jsonl'
    with sqlite3.connect(foreign) as connection:
        connection.execute('CREATE TABLE mine (x)')
    VerdictStore(later).close()
    with sqlite3.connect(later) as connection:
        connection.execute('PRAGMA user_version = 7')
    text.write_text('{"question": "1 + 1"}\n' * 100)
    for path, told in (
        (foreign, 'another program'),
        (later, 'version 7'),
        (text, 'no SQLite database'),
    ):
        before = path.read_bytes()
        with pytest.raises(ValueError, match=told):
            VerdictStore(path)
        assert path.read_bytes() == before
    assert not list(tmp_path.glob('*damaged*'))


def test_no_room_and_no_place(path: Path) -> None:
    """A full disk and a folder that can't be made are told; the rest stays usable."""
    with VerdictStore(path) as store:
        store._connection.execute('PRAGMA max_page_count = 12')
        with pytest.raises(StoreError, match=r'full.*make room'):
            for number in range(500):
                store.put(JUDGE, triple(number), replace(RIGHT, reason='x' * 500))
        kept = [record.triple for record in records(store)]
        assert kept == list(map(triple, range(len(kept))))
    with pytest.raises(StoreError, match='can not be opened'):
        VerdictStore(Path('/proc/none/verdicts.sqlite'))


def test_where_stores_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment comes before the run; a folder is refused."""
    monkeypatch.delenv('GPASSK_VERDICT_STORE', raising=False)
    assert store_path(None) is None
    assert store_path(tmp_path) == tmp_path / 'verdicts.sqlite'
    monkeypatch.setenv('GPASSK_VERDICT_STORE', '~/shared.sqlite')
    monkeypatch.setenv('HOME', str(tmp_path))
    assert store_path(Path('run')) == tmp_path / 'shared.sqlite'
    monkeypatch.setenv('GPASSK_VERDICT_STORE', str(tmp_path))
    with pytest.raises(ValueError, match='a folder; name a file'):
        store_path(None)


def test_network_file_systems(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The longest mount decides; there the store does without shared memory, and back."""
    mounts = (
        'a / ext4 rw 0 0\nb /data nfs4 rw 0 0\nc /data/local\\040disk xfs rw 0 0\n'
        'd /s3 fuse.sshfs rw 0 0\n'
    )
    kinds = ['/home/v', '/data/x/v', '/data/local disk/v', '/s3/v', '/database/v']
    assert [is_network(Path(p), mounts) for p in kinds] == [False, True, False, True, False]
    for network in (True, False, True):
        monkeypatch.setattr(store_files, 'is_network', lambda path, found=network: found)
        with VerdictStore(path) as store:
            store.put(JUDGE, triple(int(network)), RIGHT)
            assert path.with_name('verdicts.sqlite-wal').exists() is not network
            mode = 2 if network else 1  # FULL, NORMAL
            assert store._connection.execute('PRAGMA synchronous').fetchone() == (mode,)
    assert len(standing(path)) == 2
