"""``gpassk verdicts`` as it is run: listed, counted, exported and imported, pruned."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.judging.judge import JudgeIdentity
from opencompass_gpassk.judging.prompt import Triple
from opencompass_gpassk.judging.verdict_files import verdict_line
from opencompass_gpassk.judging.verdict_store import Record, StoredVerdict, VerdictStore
from opencompass_gpassk.trials import Verdict

CASES = json.loads((Path(__file__).parent / 'cases' / 'verdict_rows.json').read_text())
QWEN = JudgeIdentity('qwen', 'Is {answer} {gold}?', {'temperature': 0.0, 'menu': 'boxed'})
OTHER = JudgeIdentity('other', 'Are they the same?', {})
SUM = Triple('1 + 1 = ?', '2', 'two')
HOSTILE = Triple('2 + 2\n\x1b[2J = \ud800?', '4', 'five\u2028' + 'x' * 10**6)
RECORDS = [
    Record(SUM, QWEN, StoredVerdict(Verdict.CORRECT, '', '\\boxed{yes}', 100, 7), 1.7e9),
    Record(HOSTILE, QWEN, StoredVerdict(Verdict.INCORRECT, '', '\ud800 no', 50, 3), 1.7e9),
    Record(SUM, OTHER, StoredVerdict(Verdict.UNJUDGED, 'too long'), time.time()),
    Record(SUM, None, StoredVerdict(Verdict.INCORRECT, '', 'a word, no number'), time.time()),
]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store of a run: three judges' verdicts, one of a person."""
    monkeypatch.delenv('GPASSK_VERDICT_STORE', raising=False)
    run = tmp_path / 'work' / '20250101_000000'
    (run / 'configs').mkdir(parents=True)
    with VerdictStore(run / 'verdicts.sqlite') as opened:
        opened.restore(RECORDS)
    return run / 'verdicts.sqlite'


def held(path: Path) -> list[Record]:
    """What a store holds."""
    with VerdictStore(path) as opened:
        return list(opened.records())


def rows_file(path: Path, *rows: Any) -> str:
    """A file of JSON lines."""
    path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    return str(path)


def person(answer: str | int, **fields: Any) -> dict[str, Any]:
    """A row of a person."""
    return {'question': '1 + 1 = ?', 'gold': '2', 'answer': answer, **fields}


def test_export_prints_what_import_reads(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A work dir means its run's store."""
    assert main(['verdicts', 'export', str(store.parent.parent)]) == 0
    assert capsys.readouterr().out == ''.join(map(verdict_line, RECORDS))


@pytest.mark.parametrize('name', ['out.jsonl', 'out.jsonl.gz'])
def test_export_and_import(
    store: Path, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is exported is imported as it was; a second import changes nothing."""
    output, other = tmp_path / name, tmp_path / 'new' / 'copy.sqlite'
    assert main(['verdicts', 'export', str(store), '-o', str(output)]) == 0
    data = output.read_bytes()
    assert name.endswith('.gz') == (data[:2] == b'\x1f\x8b')
    text = gzip.decompress(data) if name.endswith('.gz') else data
    first = json.loads(text.split(b'\n')[0])
    assert first == {
        **SUM._asdict(),
        'verdict': 'correct',
        'reason': '',
        'reply': '\\boxed{yes}',
        'prompt_tokens': 100,
        'completion_tokens': 7,
        'model': 'qwen',
        'prompt': 'Is {answer} {gold}?',
        'settings': {'temperature': 0.0, 'menu': 'boxed'},
        'created': 1.7e9,
    }
    for _ in range(2):
        assert main(['verdicts', 'import', str(output), '--store', str(other)]) == 0
        assert held(other) and sorted(held(other), key=str) == sorted(RECORDS, key=str)
    assert '3 verdicts already in the store' in capsys.readouterr().out


def test_people_overrule(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The audit's rows are taken as a person filled them in; a later import replaces."""
    audit = rows_file(
        tmp_path / 'audit.jsonl',
        person('two', first='correct', second='incorrect', human='Correct '),
        person('2.0', first='correct', second='incorrect', human=''),
        person('3', first='correct', second='incorrect', human=None),
        person(2, verdict='correct', note='a number'),
    )
    assert main(['verdicts', 'import', audit, '--store', str(store)]) == 0
    told = capsys.readouterr().out
    assert '2 verdicts imported' in told and '2 rows without a verdict' in told
    with VerdictStore(store) as opened:
        found = opened.get(
            None, [SUM, Triple('1 + 1 = ?', '2', '2'), Triple('1 + 1 = ?', '2', '2.0')]
        )
    assert {triple.answer: said.verdict for triple, said in found.items()} == {
        'two': Verdict.CORRECT,
        '2': Verdict.CORRECT,
    }


def test_judges_verdicts_are_kept(store: Path, tmp_path: Path) -> None:
    """A judge's verdict that is there already stands."""
    row = json.loads(verdict_line(RECORDS[0])) | {'verdict': 'incorrect'}
    file = rows_file(tmp_path / 'rows.jsonl', row)
    assert main(['verdicts', 'import', file, '--store', str(store)]) == 0
    with VerdictStore(store) as opened:
        assert opened.get(QWEN, [SUM])[SUM].verdict is Verdict.CORRECT


@pytest.mark.parametrize('case', CASES, ids=lambda case: case['id'])
def test_malformed_rows(
    case: dict[str, Any], store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """File, line, field and remedy are named; nothing is imported unless bad rows are skipped."""
    good = rows_file(tmp_path / 'good.jsonl', person('II', verdict='correct'))
    bad = rows_file(tmp_path / 'bad.jsonl', person('2', verdict='correct'), case['row'])
    argv = ['verdicts', 'import', good, bad, '--store', str(store)]
    assert main(argv) == 1
    told = capsys.readouterr().err
    assert f'{bad}, line 2: ' in told and case['told'] in told
    assert len(held(store)) == len(RECORDS)
    assert main([*argv, '--skip-bad']) == 0
    assert '1 row malformed' in capsys.readouterr().out
    assert len(held(store)) == len(RECORDS) + 2


def test_contradictions(store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two rows of a file that contradict each other are both named; the same twice is fine."""
    right, wrong = person('2', verdict='correct'), person('2', human='incorrect')
    other = json.loads(verdict_line(RECORDS[2])) | {'answer': '2'}
    file = rows_file(tmp_path / 'rows.jsonl', right, other, right, wrong)
    assert main(['verdicts', 'import', file, '--store', str(store)]) == 1
    told = capsys.readouterr().err
    assert 'line 4' in told and 'line 1 says correct' in told
    assert len(held(store)) == len(RECORDS)


@pytest.mark.parametrize(
    ('options', 'left'),
    [
        (['--unjudged'], [0, 1, 3]),
        (['--judge', 'qwen'], [2, 3]),
        (['--judge', 'qwen', '--unjudged'], [0, 1, 2, 3]),
        (['--human'], [0, 1, 2]),
    ],
    ids=lambda value: ' '.join(map(str, value)),
)
def test_prune(
    options: list[str], left: list[int], store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing goes without --yes, people's verdicts not without --human."""
    number = len(RECORDS) - len(left)
    assert main(['verdicts', 'prune', str(store), *options]) == 0
    assert capsys.readouterr().out.startswith(f'{number} verdict')
    assert held(store) == RECORDS
    assert main(['verdicts', 'prune', str(store), *options, '--yes']) == 0
    assert capsys.readouterr().out.startswith(f'{number} verdict')
    assert held(store) == [RECORDS[n] for n in left]


def test_which_store(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The environment names the store by default; what is missing, or no criterion, is told."""
    assert main(['verdicts', 'export']) == 1
    assert 'set GPASSK_VERDICT_STORE' in capsys.readouterr().err
    assert main(['verdicts', 'prune', str(store), '--yes']) == 1
    assert 'choose what to prune' in capsys.readouterr().err
    absent = store.with_name('absent.sqlite')
    assert main(['verdicts', 'export', str(absent)]) == 1
    assert f'{absent}: there is no verdict store' in capsys.readouterr().err
    assert not absent.exists()
    monkeypatch.setenv('GPASSK_VERDICT_STORE', str(store))
    assert main(['verdicts', 'export']) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
    monkeypatch.setenv('GPASSK_VERDICT_STORE', str(absent))
    assert main(['verdicts', 'export', str(store)]) == 0
    assert str(absent) in capsys.readouterr().err


def test_a_run_means_the_store_that_its_evaluation_takes(
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The environment's where there is one, which is said."""
    run, shared = store.parent, tmp_path / 'shared.sqlite'
    labels = rows_file(tmp_path / 'labels.jsonl', person('II', verdict='correct'))
    monkeypatch.setenv('GPASSK_VERDICT_STORE', str(shared))
    for named in (run, run.parent):
        assert main(['verdicts', 'import', labels, '--store', str(named)]) == 0
        assert f'verdict store: {shared}' in capsys.readouterr().err
    assert len(held(shared)) == 1 and len(held(store)) == len(RECORDS)


def test_a_mistyped_path_leaves_nothing(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A store is begun by a name of a database alone, and never beside runs."""
    labels = rows_file(tmp_path / 'labels.jsonl', person('II', verdict='correct'))
    work, notes = store.parent.parent, tmp_path / 'notes.txt'
    notes.touch()
    before = sorted(tmp_path.rglob('*'))
    for path, told in (
        (work / '2025', 'name ends in .sqlite'),
        (work / 'v.sqlite', 'holds runs'),
        (work / '2025' / 'verdicts.sqlite', 'holds runs'),
        (notes, 'name ends in .sqlite'),
    ):
        assert main(['verdicts', 'import', labels, '--store', str(path)]) == 1
        assert told in capsys.readouterr().err
    assert sorted(tmp_path.rglob('*')) == before


def test_others_files_are_not_touched(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No command but import makes a store, and the store is not written over."""
    text, empty = tmp_path / 'important.db', tmp_path / 'empty.db'
    text.write_text('of another program\n')
    empty.touch()
    for path in (text, empty):
        for action in (['export'], ['prune', '--human', '--yes']):
            assert main(['verdicts', *action, str(path)]) == 1
    assert text.read_text() == 'of another program\n' and not empty.stat().st_size
    assert main(['verdicts', 'export', str(store), '-o', str(store)]) == 1
    assert 'name another output' in capsys.readouterr().err
    assert held(store) == RECORDS


def test_what_an_audit_reads_is_imported(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Truth values count, who can't tell is left out; a file without disagreements is no error."""
    labels = rows_file(
        tmp_path / 'labels.jsonl',
        person('a', human=True),
        person('b', human='False'),
        person('c', human='unjudged'),
    )
    absent, empty = tmp_path / 'absent.sqlite', rows_file(tmp_path / 'empty.jsonl')
    assert main(['verdicts', 'import', empty, '--store', str(absent)]) == 0
    assert 'nothing to import' in capsys.readouterr().out and not absent.exists()
    assert main(['verdicts', 'import', labels, '--store', str(store)]) == 0
    assert '1 row without a verdict' in capsys.readouterr().out
    assert {one.triple.answer: one.said.verdict for one in held(store)[len(RECORDS) :]} == {
        'a': Verdict.CORRECT,
        'b': Verdict.INCORRECT,
    }


def test_errors_hold_nothing_that_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    """Each line of one is a line of printable characters."""
    assert main(['verdicts', 'export', 'a\x1b[2J\rb\nc']) == 1
    lines = capsys.readouterr().err.removesuffix('\n').split('\n')
    assert len(lines) == 2 and all(line.isprintable() for line in lines)
