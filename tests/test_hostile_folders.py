"""Run folders that somebody else may have sent: one bad file costs itself alone, in bounded memory.

The folder of these tests holds two good models and one model for each kind of bad file.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from made_runs import MadeRun
from made_sweep import GREEDY, SAMPLED, Sweep, make_sweep

from opencompass_gpassk.formats.stored_files import (
    RESULT_BYTES,
    TRIALS,
    LineBounds,
    read_bytes,
    read_members,
    read_object,
    stored_lines,
)
from opencompass_gpassk.report.page.problems import read_responses
from opencompass_gpassk.results.read import read_result
from opencompass_gpassk.runs.config import Run
from opencompass_gpassk.runs.predictions import read_predictions
from opencompass_gpassk.runs.task_states import read_log, task_states, tasks_named
from opencompass_gpassk.trials import Trial, Verdict, read_trials

GOOD = ('good', 'better')
GIB = 1 << 30
DEEP = '[' * 500_000
META = b'{"kind": "meta", "schema": "4"}\n{"kind": "problem", "problem_id": "p"}\n'
ROW = b'{"kind": "trial", "problem_id": "p", "replica": 0, "verdict": "correct"}\n'
MEASURED = (
    'import resource, subprocess, sys\n'
    'done = subprocess.run(sys.argv[2:], timeout=120)\n'
    'size = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n'
    'open(sys.argv[1], "w").write(str(size))\n'
    'sys.exit(done.returncode)\n'
)

Make = Callable[[Path], object]


def pipe(path: Path) -> None:
    """Nobody writes to it, so that whoever opens it to read waits."""
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(path)


def deep(path: Path) -> None:
    """More brackets than a parser can count."""
    text = DEEP.encode()
    path.write_bytes(gzip.compress(text) if path.suffix == '.gz' else text)


def packed(unit: bytes, times: int) -> Make:
    """Return what writes the same gzipped text many times behind each other."""
    return lambda path: path.write_bytes(gzip.compress(META) + gzip.compress(unit) * times)


def cut(path: Path) -> None:
    """A gzip file that was not copied to its end."""
    path.write_bytes(path.read_bytes()[:-20])


def changed(**fields: Any) -> Make:
    """Return what replaces fields of a result."""
    return lambda path: path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


LONG = 'x' * 100_000
RESULTS: dict[str, Make] = {
    'result-pipe': pipe,
    'result-deep': deep,
    'result-types': changed(k=['x'], groups=5),
    'result-name': changed(benchmark=LONG),
    'result-groups': changed(groups={str(i): {'split': str(i)} for i in range(100_000)}),
    'result-thresholds': changed(k=[*range(1, 1000)], taus=[i / 20_000 for i in range(20_000)]),
}
TABLED: dict[str, Make] = {
    'trials-pipe': pipe,
    'trials-deep': deep,
    'trials-cut': cut,
    'trials-bomb': packed((b'0' * (1 << 20) + b'\n') * 64, 48),
    'trials-line': packed(b'0' * (64 << 20), 48),
    'trials-types': packed(ROW.replace(b'0', b'1' + b'0' * 30), 1),
}
PREDICTED: dict[str, Make] = {
    'predictions-pipe': pipe,
    'predictions-deep': deep,
}
LOGGED = ('log-pipe',)


@pytest.fixture(scope='module')
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a run."""
    models = [*GOOD, *RESULTS, *TABLED, *PREDICTED, *LOGGED]
    folder = tmp_path_factory.mktemp('hostile') / '20260101_000000'
    make_sweep(folder, dict.fromkeys(models, 0.5), Sweep(problems=4, n=4, k=(2,)))
    for name, make in RESULTS.items():
        make(folder / f'results/{name}/{SAMPLED}.json')
    for name, make in TABLED.items():
        make(folder / f'results/{name}/{SAMPLED}.trials.jsonl.gz')
    for name, make in PREDICTED.items():
        make(folder / f'predictions/{name}/{SAMPLED}.json')
    for name in LOGGED:
        (folder / f'results/{name}/{SAMPLED}.json').unlink()
        (folder / f'predictions/{name}/{SAMPLED}.json').unlink()
        pipe(folder / f'logs/infer/{name}/{SAMPLED}.out')
    yield folder
    for path in folder.rglob('*.gz'):  # pytest keeps what is left
        if path.is_file():
            path.unlink()


def in_little_memory(tmp_path: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run Python and require that it took no more than a GiB of memory.

    A child's metric is at least that of its parent, here of the small one between.
    """
    size = tmp_path / 'size'
    done = subprocess.run(
        [sys.executable, '-c', MEASURED, str(size), sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding='utf-8',
    )
    assert size.exists(), done.stderr  # else it ran for minutes
    assert int(size.read_text()) * 1024 < GIB
    return done


def gpassk(tmp_path: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the command."""
    return in_little_memory(tmp_path, '-m', 'opencompass_gpassk.commands.main', *arguments)


def require_one_line_each(told: Sequence[str], kinds: Sequence[str]) -> None:
    """Require a short line about each kind of bad file, and no other."""
    assert {kind: sum(f'{kind}/' in line for line in told) for kind in kinds} == dict.fromkeys(
        kinds, 1
    )
    assert len(told) == len(kinds)
    assert max(map(len, told)) < 1200


@pytest.mark.slow
def test_the_page_shows_the_others(run: Path, tmp_path: Path) -> None:
    """Results, trials, predictions and logs are read for it."""
    page = tmp_path / 'x.html'
    done = gpassk(tmp_path, 'report', run, '-o', page)
    assert done.returncode == 1  # as results are missing
    bad = [*RESULTS, *TABLED, *PREDICTED, *LOGGED]
    require_one_line_each(done.stderr.splitlines(), bad)
    shown = 2 * (len(GOOD) + len(bad)) - len(RESULTS) - len(LOGGED)
    assert f'{shown} results in' in done.stdout
    assert all(f'<summary>{name}: ' in page.read_text('utf-8') for name in GOOD)


@pytest.mark.slow
def test_good_results_are_compared(run: Path, tmp_path: Path) -> None:
    """What lies beside them is named."""
    done = gpassk(tmp_path, 'compare', run, '--model-a', 'good', '--model-b', 'better')
    assert done.returncode == 0
    told = [line for line in done.stderr.splitlines() if not line.startswith('comparing ')]
    require_one_line_each(told, [*RESULTS])
    assert all(f'{name}: B minus A on 4 problems' in done.stdout for name in (SAMPLED, GREEDY))


@pytest.mark.slow
def test_the_states_of_all_tasks_are_told(run: Path, tmp_path: Path) -> None:
    """Of a bad result, of bad trials, or of a log that is none, the state says so."""
    done = gpassk(tmp_path, 'status', run)
    assert done.returncode == 1
    states, *_ = done.stdout.partition('Next:')
    rows = dict(line.split(maxsplit=1) for line in states.splitlines())
    marked = {name.partition('/')[0] for name, row in rows.items() if ', BUT ' in row}
    assert 'result-thresholds' in marked
    assert not marked & {*GOOD, *LOGGED}
    assert 'not compared with its trials' in done.stderr
    failed = {
        name.partition('/')[0]
        for name, row in rows.items()
        if 'not readable: ' in row and ', BUT ' not in row
    }
    of_form = {'pipe', 'deep'}
    assert failed == {*(f'result-{kind}' for kind in of_form), *LOGGED}
    assert rows[f'good/{SAMPLED}'] == rows[f'log-pipe/{GREEDY}'] == 'finished'
    assert max(map(len, done.stdout.splitlines())) < 1200


@pytest.mark.slow
def test_good_trials_are_audited(run: Path, tmp_path: Path) -> None:
    """The others' files are named."""
    done = gpassk(tmp_path, 'audit', run, '-m', '10')
    assert done.returncode == 0
    told = done.stderr.splitlines()
    told = [line for line in told if not line.startswith('run: ')]
    require_one_line_each(told, [*RESULTS, *TABLED])
    assert all(f'\n{name} ' in done.stdout for name in GOOD)


@pytest.mark.slow
def test_files_at_the_bounds_fit_into_memory(tmp_path: Path) -> None:
    """JSON of what takes most memory, and texts whose every character takes four bytes."""
    result, trials = tmp_path / 'r.json', tmp_path / 't.trials.jsonl.gz'
    lists = b'{"a": [' + b'[],' * ((RESULT_BYTES - 20) // 3) + b'[]]}'
    result.write_bytes(lists)
    row = ROW[:-2] + b', "answer": "%s\\ud83d\\ude00"}\n' % (b'0' * (TRIALS.longest - 200))
    with gzip.open(trials, 'wb', compresslevel=1) as file:
        file.write(META)
        for replica in range(TRIALS.size // len(row)):
            file.write(row.replace(b'"replica": 0', b'"replica": %d' % replica))
    code = (
        'import sys; from pathlib import Path; from opencompass_gpassk.{module} import {name}; '
        '{name}(Path(sys.argv[1]))'
    )
    read = code.format(module='formats.stored_files', name='read_object')
    assert in_little_memory(tmp_path, '-c', read, result).returncode == 0
    read = code.format(module='trials', name='read_trials')
    assert in_little_memory(tmp_path, '-c', read, trials).returncode == 0


@pytest.mark.parametrize(
    ('make', 'told'),
    [
        (pipe, 'no regular file'),
        (deep, 'recursion depth'),
        (lambda path: path.write_bytes(b'["\xff"]'), 'decode'),
        (lambda path: path.write_text('[' + '1' * 5000 + ']'), '4300 digits'),
        (lambda path: path.write_text('null'), 'but a NoneType'),
    ],
)
def test_no_other_results_are_read(make: Make, told: str, tmp_path: Path) -> None:
    """The error names the file, what is wrong with it, and what to do."""
    path = tmp_path / 'x.json'
    path.write_text('{}')
    assert read_object(path) == {}
    make(path)
    with pytest.raises(ValueError, match=rf'x\.json: not readable: .*{told}.*; delete it'):
        read_object(path)


def test_what_is_read_may_be_a_link_and_hold_lone_surrogates(tmp_path: Path) -> None:
    """A file of exactly as many bytes as may be is read; one that is missing is told apart."""
    path = tmp_path / 'x.json'
    path.write_text('{"a": "\ud800"}', 'utf-8', errors='surrogatepass')
    (tmp_path / 'link').symlink_to(path)
    assert read_object(tmp_path / 'link') == {'a': '\ud800'}
    size = path.stat().st_size
    assert len(read_bytes(path, size)) == size
    with pytest.raises(ValueError, match='larger than'):
        read_bytes(path, size - 1)
    with pytest.raises(FileNotFoundError):
        read_object(tmp_path / 'y.json')
    for name in ('x' * 300, 'x\0y'):
        with pytest.raises(ValueError, match='not readable'):
            read_object(tmp_path / name)


@pytest.mark.parametrize('zipped', [False, True], ids=['plain', 'gzip'])
def test_lines_are_read_up_to_the_bounds(
    zipped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever part of them is unpacked at once."""
    monkeypatch.setattr('opencompass_gpassk.formats.stored_files.PIECE', 2)
    path = tmp_path / 'x'
    text = b'abc\n\nabcd\ne'
    path.write_bytes(gzip.compress(text[:5]) + gzip.compress(text[5:]) if zipped else text)
    assert [*stored_lines(path, LineBounds(11, 3, 4))] == [b'abc', b'', b'abcd', b'e']
    for bounds in (LineBounds(10, 3, 4), LineBounds(11, 2, 4), LineBounds(11, 3, 3)):
        with pytest.raises(ValueError, match='it holds more than'):
            list(stored_lines(path, bounds))


@pytest.mark.parametrize(
    ('make', 'told'),
    [
        (pipe, 'not readable: it is no regular file'),
        (deep, 'line 1: not a trials file'),
        (cut, 'damaged gzip file'),
        (lambda path: path.write_bytes(b'\x1f\x8b nothing'), 'damaged gzip file'),
        (TABLED['trials-line'], 'more than 4 MiB in a line'),
        (packed(ROW, 2), 'replica 0 twice'),
        (packed(ROW.replace(b'"p"', b'"q"'), 1), "problem_id 'q'"),
        (packed(ROW.replace(b'0', b'1' + b'0' * 30), 1), 'line 3.* field replica is 1000'),
        (packed(ROW.replace(b'0', b'0, "values": {"a": "b"}'), 1), "field values holds 'b'"),
        (packed(ROW.replace(b'0', b'0, "values": {"a": %d}' % 10**400), 1), 'field values holds'),
        (packed(ROW.replace(b'0', b'0, "other": 1'), 1), "'other'"),
        (packed(b'{"kind": "problem", "problem_id": "q", "groups": {"a": 1}}', 1), 'field groups'),
        (packed(b'{"kind": "problem", "problem_id": "p"}', 1), "problem_id 'p' occurs twice"),
        (packed(b'{"kind": "%s"}' % (b'x' * 100_000), 1), 'unknown kind'),
    ],
)
def test_no_other_trials_are_read(make: Make, told: str, run: Path, tmp_path: Path) -> None:
    """One kind of error, which names the file, and fits on a line."""
    path = tmp_path / 'x.trials.jsonl.gz'
    path.write_bytes((run / f'results/good/{SAMPLED}.trials.jsonl.gz').read_bytes())
    assert len(read_trials(path)[0]) == 16
    make(path)
    with pytest.raises(ValueError, match=rf'x\.trials\.jsonl\.gz.*{told}.*make it again') as error:
        read_trials(path)
    assert len(str(error.value)) < 600


@pytest.mark.parametrize(
    ('rows', 'told'),
    [
        ((b'{"kind": "problem", "problem_id": "%d"}\n' % i for i in range(200_001)), '200000'),
        (
            (
                b'{"kind": "problem", "problem_id": "%d", "groups": {"a": "%d"}}\n' % (i, i)
                for i in range(5000)
            ),
            'field groups holds too many names',
        ),
        (
            [ROW.replace(b'0', b'0, "values": {"a": 1, "b": 1, "c": 1, "d": 1, "e": 1, "f": 1}')],
            'field values holds too many names',
        ),
    ],
    ids=['problems', 'names', 'values'],
)
def test_nothing_of_trials_is_without_a_bound(
    rows: Sequence[bytes], told: str, tmp_path: Path
) -> None:
    """What takes much more memory than its text does."""
    path = tmp_path / 'x.trials.jsonl.gz'
    path.write_bytes(gzip.compress(META + b''.join(rows), 1))
    with pytest.raises(ValueError, match=told):
        read_trials(path)


@pytest.mark.parametrize('indent', [None, 4])
def test_predictions_are_read_record_by_record(
    indent: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever part of a record is read at once, as if the whole file were."""
    path = tmp_path / 'x.json'
    records = {str(i): {'a': ['é\ud800😀\\"' * i, {'b': -1.5e3}], 'c': None} for i in range(20)}
    records |= {'number': 12345, 'true': True, 'none': {}}  # type: ignore[dict-item]
    text = json.dumps(records, indent=indent, ensure_ascii=False) + '\n'
    path.write_text(text, 'utf-8', errors='surrogatepass')
    for piece in (1, 7, 1 << 20):
        monkeypatch.setattr('opencompass_gpassk.formats.stored_files.PIECE', piece)
        assert dict(read_members(path)) == records
    path.write_text(' {\n} ')
    assert [*read_members(path)] == []


@pytest.mark.parametrize(
    'text',
    [
        *('', 'null', '[1]', '{', '{"0"', '{"0":', '{"0": 1', '{"0": tru}', '{"0": 1 "1": 2}'),
        *('{"0": 1}}', '{0: 1}', '{"0": 1,', DEEP, '{"0":' + DEEP, '{"0": "' + 'x' * (40 << 20)),
    ],
    ids=lambda text: text[:12] or 'empty',
)
def test_no_other_predictions_are_read(text: str, tmp_path: Path) -> None:
    """The error says how much of the file is good."""
    path = tmp_path / 'x.json'
    path.write_text(text)
    with pytest.raises(ValueError, match=r'x\.json: not readable: after \d records.* with -r'):
        dict(read_members(path))


@pytest.mark.parametrize(
    ('field', 'value'),
    [
        *(('replica', [1]), ('replica', '1'), ('replica', None), ('problem_id', {'a': 1})),
        *(('num_tokens', 'x'), ('truncated', []), ('sampling', 'x'), ('lost', 5)),
    ],
)
def test_odd_fields_of_a_record_are_named(field: str, value: object, tmp_path: Path) -> None:
    """With the file, the record and the value."""
    record = {'prediction': 'x', 'problem_id': 'p', 'replica': 0, field: value}
    (tmp_path / 'a.json').write_text(json.dumps({'0': record}))
    with pytest.raises(ValueError, match=rf"a\.json, record '0': field {field} is .* with -r"):
        read_predictions(tmp_path, 'a')


@pytest.mark.parametrize('kind', [kind for kind in RESULTS if kind > 'result-deep'])
def test_a_result_of_another_form_is_refused(kind: str, run: Path) -> None:
    """With what is wrong in few words."""
    with pytest.raises(ValueError, match=r'lmb-n8\.json: not readable: ') as error:
        read_result(run / f'results/{kind}/{SAMPLED}.json')
    assert len(str(error.value)) < 600


@pytest.mark.parametrize(
    'fields',
    [
        {'signature': {'n': 4, 'judge': LONG}},
        {'signature': {'n': 4, 'sampling': {LONG: 1}}},
        {'warnings': [LONG]},
        {'warnings': ['x'] * 2000},
        {'judging': {'settings': {'a': LONG * 3}}},
        {'k': [100_000]},
        {'details': [{'problem_id': 'p', 'n': 0, 'c': 0}] * 200_001},
        {'details': [{'problem_id': 'p', 'n': 1000, 'c': 0}] * 1001},
        {'groups': {str(i): {f'field {i}': 'x'} for i in range(51)}},
    ],
    ids=lambda fields: f'{next(iter(fields))[:20]}',
)
def test_nothing_of_a_result_is_without_a_bound(
    fields: dict[str, Any], run: Path, tmp_path: Path
) -> None:
    """Names and texts that tables print, and numbers that they would take hours for."""
    path = tmp_path / 'x.json'
    path.write_bytes((run / f'results/good/{SAMPLED}.json').read_bytes())
    read_result(path)
    changed(**fields)(path)
    with pytest.raises(ValueError, match=r'x\.json: not readable: ') as error:
        read_result(path)
    assert len(str(error.value)) < 600


def test_trials_can_not_make_the_page_read_for_hours(tmp_path: Path) -> None:
    """One file under several names, a name that no file has, and one that is too long."""
    run, faults = tmp_path / '1', list[str]()
    (run / 'predictions').mkdir(parents=True)
    (run / 'predictions/a.json').write_text('{"0": {"prediction": "x"}}')
    names = ['predictions/a.json', 'predictions/./a.json', 'predictions/b.json', 'x' * 5000]
    trials = [Trial('p', i, Verdict.CORRECT, response=f'{n}#0') for i, n in enumerate(names)]
    found = read_responses(trials, run, run, faults)
    assert [*found] == ['predictions/a.json#0']
    (fault,) = faults
    assert fault.startswith('predictions/./a.json: its responses are not shown: it has two names')
    assert fault.endswith('nor are those of 2 other files')


def test_a_log_that_is_none_is_told(tmp_path: Path) -> None:
    """A pipe is not waited for; a line of many brackets does not take minutes."""
    pipe(tmp_path / 'x.out')
    with pytest.raises(ValueError, match='no regular file'):
        read_log(tmp_path / 'x.out')
    assert tasks_named('Task [' * 500_000, 'm') == []
    assert tasks_named('x Task [m/a,m/b] y]\t\n', 'm') == ['a', 'b] y']


def test_one_name_costs_its_own_state(tmp_path: Path) -> None:
    """Names that the file system refuses, the billionth shard, a log that leads nowhere."""
    long = 'x' * 5000
    run = MadeRun(tmp_path, ['m'], ['a', 'b'])
    run.result('m', 'a', {'accuracy': 1.0})
    run.predictions('m', 'a', 'b_0', 'b_1000000000')
    run.infer_log('m', 'b', ['b_999999999'])
    (tmp_path / 'logs/infer/m/c.out').symlink_to('/nowhere')
    pairs = [('m', 'a'), ('m', 'b'), ('m', long), (long, 'a')]
    states = {state.name: str(state) for state in task_states(Run(tmp_path, pairs))}
    assert states['m/a'] == 'finished'
    assert states['m/b'] == 'unfinished in evaluation: not started'
    assert states[f'm/{long}'].startswith('failed')
    assert states[f'{long}/a'].startswith('failed')
