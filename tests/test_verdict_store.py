"""The verdict store: what is kept comes back, whatever happens to processes and to the file."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_writer import JUDGE, put_human, triple

from opencompass_gpassk.formats.shared_store import StoreError
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


def other_header(path: Path) -> None:
    """SQLite's header is noise."""
    path.write_bytes(random.Random(1).randbytes(100) + path.read_bytes()[100:])


def garbage_root(path: Path) -> None:
    """The page by which SQLite finds all rows is noise."""
    with closing(sqlite3.connect(path)) as connection:
        (root,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE type = 'table'")
    data = bytearray(path.read_bytes())
    data[(root[0] - 1) * 4096 : root[0] * 4096] = random.Random(1).randbytes(4096)
    path.write_bytes(data)


def no_database(path: Path) -> None:
    """Something else is in the file."""
    path.write_text('not a database\n')


@pytest.mark.parametrize('damage', [other_header, no_database])
def test_a_damaged_file_is_set_aside(
    full: Path, damage: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new store is begun; the damaged file is kept beside it; standard error tells of both."""
    for number in (1, 2):
        damage(full)
        left = full.read_bytes()
        with VerdictStore(full) as store:
            aside = full.with_name(f'verdicts.damaged-{number}.sqlite')
            told = capsys.readouterr().err
            assert f'{full}: this verdict store is damaged' in told
            assert f'sqlite3 {aside} .recover' in told
            assert store.damage in told
            assert store.put(JUDGE, triple(1), RIGHT) == RIGHT
        assert aside.read_bytes() == left
        assert standing(full) == {1: 'correct'}
    assert not capsys.readouterr().err


OPENER = """
import os, sys
from store_writer import Path, VerdictStore
path, elsewhere = map(Path, sys.argv[1:])
for ending in ('', '-journal', '-wal', '-shm', '.lock'):
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
    assert not said.stderr and said.stdout.count('no regular file') == 2 + 4 * 2 * 2
    assert not (tmp_path / 'elsewhere').exists()


def test_a_store_behind_a_link(full: Path, tmp_path: Path) -> None:
    """All files beside it are beside the file that the link leads to."""
    link = tmp_path / 'link.sqlite'
    link.symlink_to(full)
    with VerdictStore(link) as store, VerdictStore(full) as other:
        store.put(JUDGE, triple(SIZE), RIGHT)
        assert other.get(JUDGE, [triple(SIZE)])
    assert not list(tmp_path.glob('link.sqlite?*'))


def test_damage_that_is_found_in_use(full: Path) -> None:
    """Whoever finds it begins a new file; whoever has the store open goes on with that."""
    with VerdictStore(full) as store, VerdictStore(full) as other:
        garbage_root(full)
        assert store.get(JUDGE, map(triple, range(SIZE))) == {}
        assert 'malformed' in store.damage
        other.put(JUDGE, triple(SIZE), RIGHT)
        assert store.get(JUDGE, [triple(SIZE)])
    assert [p.name for p in full.parent.glob('*damaged*.sqlite')] == ['verdicts.damaged-1.sqlite']
    garbage_root(full)
    with (
        VerdictStore(full, read_only=True) as store,
        pytest.raises(StoreError, match=r'malformed.*sqlite3 .* \.recover'),
    ):
        store.get(JUDGE, [triple(SIZE)])


@pytest.mark.slow
def test_two_find_the_damage_at_once(full: Path) -> None:
    """The new store of the first is not set aside by the second."""
    other_header(full)
    together([start(full, 'correct', 0, 60), start(full, 'correct', 60, 120)])
    assert set(standing(full)) == set(range(120))
    assert [p.name for p in full.parent.glob('*damaged*.sqlite')] == ['verdicts.damaged-1.sqlite']


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
    names = [f'verdicts.sqlite{end}' for end in ('', '.lock')]
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
        (foreign, 'no verdict store of this version'),
        (later, 'no verdict store of this version'),
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
    for ending in ('', '.lock', '-wal', '-shm', '-journal'):
        link = run / f'verdicts.sqlite{ending}'
        link.symlink_to(tmp_path / 'important')
        with pytest.raises(ValueError, match='leads out of the run'):
            where(run)
        link.unlink()
    monkeypatch.setenv('GPASSK_VERDICT_STORE', '~/shared.sqlite')
    monkeypatch.setenv('HOME', str(tmp_path))
    assert where(run) == tmp_path / 'shared.sqlite'


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_reading_changes_nothing(full: Path) -> None:
    """No lock and no journal appears; writing is refused; verdicts and replies are there."""
    before = contents(full.parent)
    with VerdictStore(full, read_only=True) as store:
        assert store.get(JUDGE, [triple(1)])[triple(1)].reply == ''
        assert store.get(JUDGE, [triple(1)], replies=True)[triple(1)] == RIGHT
        assert store.judges() == [JUDGE]
        assert len(list(store.records())) == SIZE
        assert contents(full.parent) == before
        with pytest.raises(ValueError, match='read only'):
            store.put(JUDGE, triple(SIZE), RIGHT)


def test_a_store_whose_writer_was_killed_can_be_read(full: Path) -> None:
    """What it left is undone first, also by somebody who only reads."""
    script = (
        'import os, sqlite3, sys\n'
        'connection = sqlite3.connect(sys.argv[1])\n'
        "connection.execute('PRAGMA cache_size = 1')\n"
        "connection.execute('UPDATE entries SET value = zeroblob(9000)')\n"
        'os._exit(1)\n'
    )
    subprocess.run([sys.executable, '-c', script, str(full)], check=False)
    assert full.with_name('verdicts.sqlite-journal').stat().st_size
    with VerdictStore(full, read_only=True) as store:
        assert len(list(store.records())) == SIZE


def test_no_store_is_made_of_what_is_none(tmp_path: Path) -> None:
    """A folder, nothing, an empty file, an empty database and another program's are refused."""
    text, empty = tmp_path / 'important.db', tmp_path / 'notes.txt'
    database = tmp_path / 'new.sqlite'
    text.write_text('no database\n' * 100)
    empty.touch()
    sqlite3.connect(database).execute('VACUUM')
    before = contents(tmp_path)
    for path in (tmp_path, tmp_path / 'absent.sqlite', empty, database, text):
        with pytest.raises((ValueError, StoreError), match=str(path)):
            VerdictStore(path, read_only=True)
    assert contents(tmp_path) == before
    with pytest.raises(ValueError, match='a folder; name a file'):
        VerdictStore(tmp_path)
    assert not tmp_path.with_name(f'{tmp_path.name}.lock').exists()


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
    """Somebody's file may hold it, it is an error, not a crash."""
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
