"""The verdict store: what is kept comes back, whatever happens to processes and to the file."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_writer import JUDGE, put_human, triple

from opencompass_gpassk.formats import shared_store as store_files
from opencompass_gpassk.formats.shared_store import StoreError, is_network
from opencompass_gpassk.judging.judge import JudgeIdentity
from opencompass_gpassk.judging.prompt import Triple
from opencompass_gpassk.judging.verdict_store import Record, StoredVerdict, VerdictStore
from opencompass_gpassk.trials import Verdict

CASES = Path(__file__).parent / 'cases'
WRITER = [sys.executable, str(Path(__file__).parent / 'kit/store_writer.py')]
RIGHT = StoredVerdict(Verdict.CORRECT, '', 'They agree: \\boxed{yes}', 500, 20)
WRONG = StoredVerdict(Verdict.INCORRECT)
SIZE = 400
TEXTS = st.text(st.characters(exclude_categories=()), max_size=40)  # lone surrogates too


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be."""
    return tmp_path / 'run' / 'verdicts.sqlite'


def verdict_of(about: Triple) -> StoredVerdict:
    """The verdict on a triple in the fixture ``full``."""
    return RIGHT if int(about.gold) % 2 else WRONG


@pytest.fixture
def full(path: Path) -> Path:
    """A closed store of many verdicts."""
    with VerdictStore(path) as store:
        abouts = map(triple, range(SIZE))
        store.restore([Record(about, JUDGE, verdict_of(about), 1.0) for about in abouts])
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
    """What a sound store holds, by the number of the triple."""
    with sqlite3.connect(path) as connection:
        assert connection.execute('PRAGMA integrity_check').fetchall() == [('ok',)]
    with VerdictStore(path, read_only=True) as store:
        rows = [(record.triple.gold, record.said.verdict.value) for record in store.records()]
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
    kept = [record for record in shared.records() if record.judge == judge]
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
        (record,) = store.records()
    assert record.judge and record.judge.settings == {'logit_bias': {'9': 1, '10': 2}}


def test_the_first_verdict_stands(path: Path) -> None:
    """A second one on the same triple is not taken."""
    with VerdictStore(path) as store, VerdictStore(path) as other:
        assert store.put(JUDGE, triple(1), RIGHT) == RIGHT
        assert other.put(JUDGE, triple(1), WRONG).verdict is Verdict.CORRECT
        assert [record.said.verdict for record in store.records()] == [Verdict.CORRECT]
        assert other.put(JUDGE, triple(2), WRONG) == WRONG


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
        assert store.get(None, [triple(1), triple(2)]) == {triple(1): WRONG}
        assert store.get(JUDGE, [triple(1)])[triple(1)].verdict is Verdict.CORRECT
        assert [r.said.reply for r in store.records() if r.judge is None] == ['no unit']
        assert store.get(None, [triple(1)], replies=True)[triple(1)].reply == 'no unit'


def test_pruning_keeps_the_others(full: Path) -> None:
    """The file shrinks; a person's verdict on the same triple stays."""
    before = full.stat().st_size
    with VerdictStore(full) as store:
        put_human(store, triple(0), Verdict.CORRECT)
        store.prune([record for record in store.records() if record.judge])
        assert store.get(None, [triple(0)]) and not store.get(JUDGE, map(triple, range(100)))
        assert [record.triple for record in store.records()] == [triple(0)]
        assert store.judges() == []
    assert full.stat().st_size < before / 2


def test_threads_share_a_store(path: Path) -> None:
    """Verdicts may be put from any thread."""
    with VerdictStore(path) as store, ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: store.put(JUDGE, triple(number % 200), RIGHT), range(400)))
    assert standing(path) == dict.fromkeys(range(200), 'correct')


@pytest.mark.slow
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


@pytest.mark.slow
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
        # The first line may lack its beginning, which readline() had buffered.
        whole = [*seen, *(line for line in out.splitlines(True)[1:] if line.endswith('\n'))]
        promised |= {int(number): verdict for number, verdict in map(str.split, whole)}
        with VerdictStore(path) as store:
            assert set(store.get(JUDGE, map(triple, promised))) == set(map(triple, promised))
            assert not store.damage
    assert promised.items() <= standing(path).items()


def truncated(path: Path) -> None:
    """The last quarter of the file is gone."""
    os.truncate(path, path.stat().st_size * 3 // 4)


def other_header(path: Path) -> None:
    """SQLite's header is noise."""
    path.write_bytes(random.Random(1).randbytes(100) + path.read_bytes()[100:])


def garbage_page(path: Path) -> None:
    """A page in the middle is noise."""
    data = bytearray(path.read_bytes())
    middle = len(data) // 4096 // 2 * 4096
    data[middle : middle + 4096] = random.Random(1).randbytes(4096)
    path.write_bytes(data)


def garbage_root(path: Path) -> None:
    """The page by which SQLite finds all rows is noise."""
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE type = 'table'")
    data = bytearray(path.read_bytes())
    data[(root[0] - 1) * 4096 : root[0] * 4096] = random.Random(1).randbytes(4096)
    path.write_bytes(data)


def changed_rows(path: Path) -> None:
    """Some verdicts were changed, as SQLite itself would do it."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE entries SET value = x'00' WHERE id % 10 = 5")


def other_tables(path: Path) -> None:
    """A column has another name."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute('ALTER TABLE entries RENAME COLUMN value TO words')


def no_database(path: Path) -> None:
    """Something else is in the file."""
    path.write_text('not a database\n')


@pytest.mark.parametrize(
    ('damage', 'least'),
    [
        (truncated, SIZE // 2),
        (other_header, SIZE),
        (garbage_page, SIZE * 9 // 10),
        (garbage_root, SIZE),
        (changed_rows, SIZE * 9 // 10),
        (other_tables, SIZE),
        (no_database, 0),
    ],
)
def test_what_can_be_read_of_a_damaged_file(
    full: Path, damage: Any, least: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is in the new file; the damaged one is kept beside it; standard error says so."""
    for number in (1, 2):
        damage(full)
        left = full.read_bytes()
        with VerdictStore(full) as store:
            aside = full.with_name(f'verdicts.damaged-{number}.sqlite')
            told = capsys.readouterr().err
            assert f'{full}: this verdict store is damaged' in told and str(aside) in told
            assert store.damage in told
            found = store.get(JUDGE, map(triple, range(SIZE)), replies=True)
            assert len(found) >= least
            assert all(said == verdict_of(about) for about, said in found.items())
            for again in range(SIZE):
                store.put(JUDGE, triple(again), verdict_of(triple(again)))
        assert aside.read_bytes() == left
        assert len(standing(full)) == SIZE
    assert not capsys.readouterr().err


def test_a_log_without_its_file(full: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What is in it is found; SQLite would delete it."""
    with VerdictStore(full) as store:
        for number in range(SIZE, SIZE + 50):
            store.put(JUDGE, triple(number), RIGHT)
        log = full.with_name('verdicts.sqlite-wal').read_bytes()
    full.unlink()
    full.with_name('verdicts.sqlite-wal').write_bytes(log)
    with VerdictStore(full) as store:
        assert len(store.get(JUDGE, map(triple, range(SIZE, SIZE + 50)))) == 50
    assert 'its main file is gone' in capsys.readouterr().err
    assert full.with_name('verdicts.damaged-1.sqlite-wal').read_bytes() == log


@pytest.mark.slow
def test_flipped_bits(full: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Five of them never change a verdict, and cost few others."""
    sound = full.read_bytes()
    lost = []
    for seed in range(60):
        rng = random.Random(seed)
        data = bytearray(sound)
        for _ in range(5):
            bit = rng.randrange(100 * 8, len(data) * 8)  # behind SQLite's header
            data[bit // 8] ^= 1 << bit % 8
        for old in full.parent.iterdir():
            old.unlink()
        full.write_bytes(data)
        with VerdictStore(full) as store:
            found = store.get(JUDGE, map(triple, range(SIZE)), replies=True)
            assert all(said == verdict_of(about) for about, said in found.items())
            lost.append(SIZE - len(found))
            assert len(list(store.records())) == len(found)
    assert max(lost) < SIZE / 4 and sum(lost) / len(lost) < 8


def test_what_was_deleted_is_not_found_again(full: Path) -> None:
    """Pages that are no longer used may hold it when a damaged file is salvaged."""
    with VerdictStore(full) as store:
        kept = [one.triple for one in store.records()][:20]
        store._connection.execute('DELETE FROM entries WHERE id > 21')
    other_header(full)
    with VerdictStore(full) as store:
        assert [one.triple for one in store.records()] == kept and store.damage


def test_rows_that_share_a_chain_of_pages(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hostile file may have many; what else is in it is read, unless that takes far too long."""
    changed_rows(full)
    data = bytearray(full.read_bytes())
    pages, last = len(data) // 4096, 40
    leaf = bytearray(4096)
    leaf[0], leaf[3:5] = 13, (500).to_bytes(2, 'big')
    leaf[8 : 8 + 2 * 500] = (1100).to_bytes(2, 'big') * 500
    leaf[1100:1104] = b'\x81\x80\x00\x01'  # a row of 16,384 bytes, and its id
    leaf[1104:1110] = b'\x06\x00\x4c\x4c\x82\x0c'
    for number in range(pages, pages + last):
        leaf[-4:] = (pages + number % last + 1).to_bytes(4, 'big')
        data += leaf
    full.write_bytes(data)
    with VerdictStore(full) as store:
        assert len(list(store.records())) == SIZE * 9 // 10 and store.lost > 10_000
    full.write_bytes(data)
    monkeypatch.setattr(store_files, 'time', SimpleNamespace(monotonic=count(step=10).__next__))
    with pytest.raises(ValueError, match='no end of what is in it; move it away'):
        VerdictStore(full)
    assert full.read_bytes() == data


@pytest.mark.parametrize('holes', ['a store', 'holes alone'])
def test_a_file_of_holes(full: Path, holes: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its holes are neither read nor copied; what else is in it is found, or time ends."""
    other_header(full)
    if holes == 'holes alone':
        os.truncate(full, 0)
    os.truncate(full, 12 << 30)
    with VerdictStore(full) as store:
        assert len(list(store.records())) == (SIZE if holes == 'a store' else 0) and store.damage
    aside = full.with_name('verdicts.damaged-1.sqlite').stat()
    assert aside.st_size == 12 << 30 and aside.st_blocks * 512 < 1 << 24
    os.truncate(full, 0)
    with full.open('r+b') as file:
        file.write(b'no database and no rows' * 10_000)
        file.truncate(12 << 30)
    clock = SimpleNamespace(monotonic=count(step=5).__next__)
    monkeypatch.setattr(store_files, 'time', clock)
    with pytest.raises(ValueError, match='no end of what is in it; move it away'):
        VerdictStore(full)


OPENER = """
import os, sys
from store_writer import Path, VerdictStore
path, elsewhere = map(Path, sys.argv[1:])
for ending in ('', '-journal', '-wal', '-shm', '.lock', '.state'):
    file = path.with_name(path.name + ending)
    for make in (os.mkfifo, lambda file: file.symlink_to(elsewhere))[: 2 if ending else 1]:
        before = file.read_bytes() if file.exists() else None
        file.unlink(missing_ok=True)
        make(file)
        for read_only in (False, True):
            try:
                VerdictStore(path, read_only=read_only)
            except ValueError as error:
                print(error)
        file.unlink()
        if before is not None:
            file.write_bytes(before)
"""


def test_only_regular_files(full: Path, tmp_path: Path) -> None:
    """SQLite would wait forever for a pipe, and write through a link; neither happens."""
    command = [sys.executable, '-c', OPENER, str(full), str(tmp_path / 'elsewhere')]
    where = Path(__file__).parent / 'kit'
    said = subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=300)
    assert not said.stderr and said.stdout.count('no regular file') == 2 + 5 * 2 * 2
    assert not (tmp_path / 'elsewhere').exists()


def test_a_store_behind_a_link(full: Path, tmp_path: Path) -> None:
    """All files beside it are beside the file that the link leads to."""
    link = tmp_path / 'link.sqlite'
    link.symlink_to(full)
    with VerdictStore(link) as store, VerdictStore(full) as other:
        store.put(JUDGE, triple(SIZE), RIGHT)
        assert other.get(JUDGE, [triple(SIZE)])
    assert not list(tmp_path.glob('link.sqlite?*'))


@pytest.mark.parametrize('network', [False, True])
def test_the_whole_file_is_checked_after_an_unclean_end(
    full: Path, network: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And after a change by others, a copy or a loss of the note; not after a clean end."""
    monkeypatch.setattr(store_files, 'is_network', lambda path: network)
    checks = []
    check = VerdictStore._check

    def watched(store: VerdictStore, connection: sqlite3.Connection, whole: bool) -> None:
        checks.append(whole)
        check(store, connection, whole)

    monkeypatch.setattr(VerdictStore, '_check', watched)

    def checked(**how: bool) -> list[bool]:
        checks.clear()
        with VerdictStore(full, **how) as store:
            assert store.get(JUDGE, [triple(1)]) and not store.damage
        return checks

    VerdictStore(full).close()
    assert checked() == checked(read_only=True) == [False]
    with VerdictStore(full) as store, VerdictStore(full) as other:
        store.put(JUDGE, triple(SIZE), RIGHT)
        assert checked() == checked(read_only=True) == [False]
        other.close()
        store.put(JUDGE, triple(SIZE + 1), RIGHT)
    assert checked() == checked(read_only=True) == [False]
    assert checked(whole=True) == [True] and checked() == [False]
    process = start(full, 'correct', SIZE + 2, 10**6)
    assert process.stdin and process.stdout
    process.stdin.write('\n')
    process.stdin.flush()
    assert process.stdout.readline()
    process.kill()
    process.communicate()
    assert checked(read_only=True) == [True]
    assert checked() == [True] and checked() == [False]
    shutil.copytree(full.parent, tmp_path / 'copy')
    full = tmp_path / 'copy' / full.name
    assert checked() == [True] and checked() == [False]
    full.with_name(f'{full.name}.state').unlink()
    assert checked() == [True] and checked() == [False]


def test_bits_that_are_flipped_in_use(full: Path) -> None:
    """The damage is found when it is read; whoever has the store open goes on with the new file."""
    with VerdictStore(full) as store, VerdictStore(full) as other:
        changed_rows(full)
        found = store.get(JUDGE, map(triple, range(SIZE)), replies=True)
        assert SIZE * 4 // 5 < len(found) < SIZE and store.damage
        assert all(said == verdict_of(about) for about, said in found.items())
        other.put(JUDGE, triple(SIZE), RIGHT)  # goes on with the new file
        assert store.get(JUDGE, [triple(SIZE)])
    assert [p.name for p in full.parent.glob('*damaged*.sqlite')] == ['verdicts.damaged-1.sqlite']


@pytest.mark.slow
def test_two_find_the_damage_at_once(full: Path) -> None:
    """The new store of the first is not set aside by the second."""
    garbage_page(full)
    together([start(full, 'correct', 0, 60), start(full, 'correct', 60, 120)])
    assert set(standing(full)) >= set(range(120))
    assert [p.name for p in full.parent.glob('*damaged*.sqlite')] == ['verdicts.damaged-1.sqlite']


def test_a_kill_while_a_file_is_salvaged(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever comes next does the rest, at whatever step it was killed."""
    changed_rows(full)
    with VerdictStore(full, read_only=True) as store:
        sound = len(list(store.records()))
    assert sound == SIZE * 9 // 10
    steps = (shutil, 'copystat', 1), (shutil, 'copystat', 2), (Path, 'replace', 1)
    for owner, step, times in steps:
        folder = full.parent.with_name(f'{step}{times}')
        shutil.copytree(full.parent, folder)
        calls, done = count(1), getattr(owner, step)

        def killed(*given: Any, calls: Any = calls, times: int = times, done: Any = done) -> Any:
            if next(calls) == times:
                raise KeyboardInterrupt
            return done(*given)

        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(owner, step, killed)
            VerdictStore(folder / full.name)
        with VerdictStore(folder / full.name) as store:
            assert len(list(store.records())) == sound
        assert list(folder.glob('*damaged-1*'))


def test_a_store_that_is_replaced_or_removed_in_use(full: Path) -> None:
    """Whoever has it open goes on with a new file; if there is none, they are told."""
    with VerdictStore(full) as store:
        Path(shutil.copy(full, full.with_name('backup'))).replace(full)
        store.put(JUDGE, triple(SIZE), RIGHT)
        with VerdictStore(full) as other:
            assert other.get(JUDGE, [triple(SIZE)])
        full.unlink()
        with pytest.raises(StoreError, match='removed while it was in use'):
            store.put(JUDGE, triple(1), RIGHT)


def test_a_store_of_version_1(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is converted once; the old file is kept."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.decompress((CASES / 'verdicts_of_version_1.sqlite.gz').read_bytes()))
    before = path.read_bytes()
    verdicts = [Verdict.CORRECT, Verdict.INCORRECT, Verdict.UNJUDGED]
    given = []
    for n in range(100):
        reply = 'They agree: \ud800' + '\\boxed{yes} ' * (n if n < 99 else 900)
        said = StoredVerdict(verdicts[n % 3], 'too long' if n % 3 == 2 else '', reply, n, 20)
        given.append(Record(triple(n), JUDGE, said, 1 + n / 2))
    note = StoredVerdict(Verdict.CORRECT, reply='a note')
    given.append(Record(triple(1), None, note, 99.5))
    for _ in range(2):
        with VerdictStore(path) as store:
            assert list(store.records()) == given
            assert store.get(JUDGE, [triple(7)]) and store.judges() == [JUDGE]
    assert capsys.readouterr().err.count('earlier version') == 1
    assert path.with_name('verdicts.damaged-1.sqlite').read_bytes() == before


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
    names = [f'verdicts.sqlite{end}' for end in ('', '-shm', '-wal', '.lock', '.state')]
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
        (later, r'later version \(7'),
        (text, 'no SQLite database'),
    ):
        before = path.read_bytes()
        with pytest.raises(ValueError, match=told):
            VerdictStore(path)
        assert path.read_bytes() == before
    assert not list(tmp_path.glob('*damaged*'))


def test_no_room_and_no_place(path: Path) -> None:
    """A full disk and a folder that can't be made are told, with the file and what to do."""
    with VerdictStore(path) as store:
        store._connection.execute('PRAGMA max_page_count = 12')
        with pytest.raises(StoreError, match=r'verdicts.sqlite.* full.*make room.*GPASSK_VERDICT'):
            for number in range(500):
                store.put(JUDGE, triple(number), replace(RIGHT, reason='x' * 500))
        kept = [record.triple for record in store.records()]
        assert kept == list(map(triple, range(len(kept))))
        store._connection.execute('PRAGMA max_page_count = 10000')  # the user has made room
        assert store.put(JUDGE, triple(500), RIGHT) == RIGHT
    with pytest.raises(StoreError, match='can not be used'):
        VerdictStore(Path('/proc/none/verdicts.sqlite'))


def test_where_stores_lie(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment comes before the run; links out of a run are refused."""
    monkeypatch.delenv('GPASSK_VERDICT_STORE', raising=False)
    where = VerdictStore.default_path
    assert where(None) is None
    run = tmp_path / 'run'
    assert where(run) == run / 'verdicts.sqlite'
    run.mkdir()
    for ending in ('', '.lock', '.state', '-wal', '-shm', '-journal'):
        link = run / f'verdicts.sqlite{ending}'
        link.symlink_to(tmp_path / 'important')
        with pytest.raises(ValueError, match='leads out of the run'):
            where(run)
        link.unlink()
    monkeypatch.setenv('GPASSK_VERDICT_STORE', '~/shared.sqlite')
    monkeypatch.setenv('HOME', str(tmp_path))
    assert where(run) == tmp_path / 'shared.sqlite'


def test_network_file_systems(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The device of the folder decides; there the store does without shared memory, and back."""
    path.parent.mkdir(parents=True)
    mounts = path.with_name('mounts')
    monkeypatch.setattr(store_files, 'MOUNTS', mounts)
    device = path.parent.stat().st_dev
    here = f'{os.major(device)}:{os.minor(device)}'
    lines = '1 0 0:99999 / / rw - nfs4 a:/ rw\n2 1 {} / /data\\040disk rw shared:1 - {} b rw\n'
    for kind, network in (
        ('nfs4', True),
        ('ext4', False),
        ('fuse.sshfs', True),
        ('fuseblk', False),
    ):
        mounts.write_text(lines.format(here, kind))
        assert is_network(path) is network
        with VerdictStore(path) as store:
            store.put(JUDGE, triple(len(kind)), RIGHT)
            assert path.with_name('verdicts.sqlite-wal').exists() is not network
            mode = 2 if network else 1  # FULL, NORMAL
            assert store._connection.execute('PRAGMA synchronous').fetchone() == (mode,)
    mounts.unlink()
    assert not is_network(path)  # such as on macOS
    assert len(standing(path)) == 3


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


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
        monkeypatch.setattr(store_files, 'is_network', lambda path: True)
        VerdictStore(full).close()
    before = contents(full.parent)
    with VerdictStore(full, read_only=True) as store:
        assert store.get(JUDGE, [triple(1)])[triple(1)].reply == ''
        assert store.get(JUDGE, [triple(1)], replies=True)[triple(1)] == RIGHT
        assert store.judges() == [JUDGE]
        assert len(list(store.records())) == SIZE
        assert contents(full.parent) == before
        with pytest.raises(ValueError, match='read only'):
            store.put(JUDGE, triple(SIZE), RIGHT)
    changed_rows(full)
    before = contents(full.parent)
    with VerdictStore(full, read_only=True) as store:
        assert len(list(store.records())) == SIZE - store.lost == SIZE * 9 // 10
    assert contents(full.parent) == before


@pytest.mark.parametrize('state', ['closed', 'in use', 'killed'])
def test_a_folder_that_one_may_only_read(state: str, tmp_path: Path, full: Path) -> None:
    """A store there is read, and one whose writer was killed if SQLite's files are there."""
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
        said = as_nobody(lambda: len(list(VerdictStore(full, read_only=True).records())))
        full.parent.chmod(0o755)
        assert contents(full.parent).keys() == before
    if state == 'killed':
        assert 'StoreError' in said and str(full) in said
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
    for path in (tmp_path, tmp_path / 'absent.sqlite', empty, database, text):
        with pytest.raises(ValueError, match=str(path)):
            VerdictStore(path, read_only=True)
    assert contents(tmp_path) == before
    with pytest.raises(ValueError, match='a folder; name a file'):
        VerdictStore(tmp_path)
    assert not tmp_path.with_name(f'{tmp_path.name}.lock').exists()


def test_a_store_that_others_write_to(full: Path) -> None:
    """What was written since it was opened is read too."""
    with VerdictStore(full, read_only=True) as store:
        assert not store.get(JUDGE, [triple(SIZE)])
        with VerdictStore(full) as writer:
            writer.put(JUDGE, triple(SIZE), RIGHT)
        assert store.get(JUDGE, [triple(SIZE)])
    with VerdictStore(full) as writer, VerdictStore(full, read_only=True) as store:
        writer.put(JUDGE, triple(SIZE + 1), RIGHT)
        assert store.get(JUDGE, [triple(SIZE + 1)])


def test_a_replaced_verdict_keeps_its_place(full: Path) -> None:
    """Who reads all while others replace meets each verdict once."""
    with VerdictStore(full) as store, VerdictStore(full) as other:
        other.restore([Record(triple(number), JUDGE, RIGHT, 2.0) for number in range(SIZE, 2000)])
        reading = store.records()
        first = [next(reading) for _ in range(5)]
        other.restore([Record(one.triple, JUDGE, RIGHT, 9.0) for one in first], replace=True)
        numbers = [int(one.triple.gold) for one in (*first, *reading)]
    assert numbers == list(range(2000))


def test_others_write_while_many_are_imported(full: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records are written some thousands at a time: others see the first before the last."""
    monkeypatch.setattr('opencompass_gpassk.judging.verdict_store.WRITTEN_AT_ONCE', 10)
    new = range(SIZE, SIZE + 20)
    with VerdictStore(full) as store, VerdictStore(full) as other:
        seen = []

        def given() -> Iterator[Record]:
            for number in new:
                seen.append(len(other.get(JUDGE, map(triple, new))))
                yield Record(triple(number), JUDGE, RIGHT, 1.0)

        assert store.restore(given()) == 20
    assert seen == [0] * 10 + [10] * 10


@pytest.mark.parametrize(
    'value',
    [
        {},
        {'verdict': 'right'},
        {'question': 5},
        {'created': 1e300},
        {'created': 'now'},
        {'prompt_tokens': '9'},
        {'settings': 1, 'gold': None},
    ],
    ids=str,
)
def test_what_no_store_of_ours_holds(path: Path, value: dict[str, Any]) -> None:
    """Somebody's file may hold it, with the right checksum: it is an error, not a crash."""
    good = {**triple(1)._asdict(), **vars(RIGHT), 'verdict': 'correct', 'created': 1.0}
    with VerdictStore(path) as store:
        store.put(JUDGE, triple(1), RIGHT)
        (mine,) = (entry for entry in store.entries() if entry[0] != b'judge')
        store.keep([(*mine[:2], good | value if value else {})], replace=True)
        store.keep([(b'judge', mine[1], {'model': 5})])
        assert store.judges() == [JUDGE]
        with pytest.raises(StoreError, match='no verdict of this package'):
            list(store.records())
        with pytest.raises(StoreError, match='no verdict of this package'):
            store.get(JUDGE, [triple(1)])
