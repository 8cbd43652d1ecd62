"""How far the tasks of a run are: the files that tasks write, and what is shown of them."""

from __future__ import annotations

import io
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.formats.progress_bar import progress_bar
from opencompass_gpassk.runs import slurm_queue, task_progress
from opencompass_gpassk.runs import watch as watch_module
from opencompass_gpassk.runs.config import Run
from opencompass_gpassk.runs.running_job import LOG, lock
from opencompass_gpassk.runs.task_progress import progress_file
from opencompass_gpassk.runs.task_states import task_states
from opencompass_gpassk.runs.watch import watch, watched_lines

CONFIG = "models=[dict(abbr='m', type='T', path='p')]\ndatasets=[dict(abbr='d', path='x')]\n"
AT_WORK = {'stage': 'inference', 'state': 'running', 'told': '3 of 8 (37 %), 1 lost'}


def put(run: Path, name: str, told: Any, age: float = 0) -> None:
    """Write a progress file as old as ``age`` seconds."""
    path = run / 'logs' / 'progress' / f'{name}.json'
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(told if isinstance(told, str) else json.dumps(told))
    os.utime(path, (time.time() - age,) * 2)


def lines(run: Path, *datasets: str) -> list[str]:
    """Return what is shown of the data sets of model m."""
    planned = Run(run, [('m', one) for one in datasets or ('d',)])
    return watched_lines(task_states(planned))


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write and look a hundred times as often."""
    for module in (task_progress, watch_module):
        monkeypatch.setattr(module, 'INTERVAL', 0.02)


def written(run: Path, name: str = 'm/d') -> dict[str, Any]:
    """Return what a progress file holds."""
    found: dict[str, Any] = json.loads((run / 'logs' / 'progress' / f'{name}.json').read_text())
    return found


@pytest.mark.usefixtures('quick')
def test_a_task_writes_what_its_bars_count(tmp_path: Path) -> None:
    """While it works, and how it ended; a task after another begins anew."""
    output = tmp_path / 'predictions' / 'org' / 'm' / 'd.v1_0.json'
    with (
        progress_file(output, 'inference'),
        progress_bar(8, 'Sampling', 'it', shown=True, initial=2, status=lambda: {'lost': 1}) as bar,
    ):
        bar.update(3)
        place = tmp_path / 'logs' / 'progress' / 'org' / 'm' / 'd.v1_0.json'
        said = '5 of 8 (62 %), 1 lost, about '
        while not place.exists() or said not in written(tmp_path, 'org/m/d.v1_0')['told']:
            time.sleep(0.02)
        told = written(tmp_path, 'org/m/d.v1_0')
        assert (told['stage'], told['state']) == ('inference', 'running')
        bar.update(2)
    told = written(tmp_path, 'org/m/d.v1_0')
    assert (told['told'], told['state']) == ('7 of 8 (87 %), 1 lost', 'ended')
    with pytest.raises(KeyError), progress_file(tmp_path / 'results' / 'm' / 'd', 'evaluation'):
        raise KeyError
    told = written(tmp_path)
    assert list(told.values()) == ['evaluation', 'failed', 'nothing counted yet']


@pytest.mark.usefixtures('quick')
def test_a_server_that_is_silent_is_told(tmp_path: Path) -> None:
    """As the task's bar tells it; nobody knows then how long the rest takes."""
    silence = {'no reply for': '40 s (unreachable)'}
    with (
        progress_file(tmp_path / 'predictions' / 'm' / 'd.json', 'inference'),
        progress_bar(8, 'Sampling', 'it', shown=True, status=lambda: silence) as bar,
    ):
        bar.update(2)
        while '2 of 8' not in (shown := lines(tmp_path)[0]):
            time.sleep(0.02)
    assert shown.endswith('2 of 8 (25 %), no reply for 40 s (unreachable)')


@pytest.mark.usefixtures('quick')
def test_a_failed_write_harms_no_task(tmp_path: Path) -> None:
    """Nor is anything written where a link leads out of the run."""
    run, elsewhere = tmp_path / 'run', tmp_path / 'elsewhere'
    elsewhere.mkdir()
    (run / 'logs').mkdir(parents=True)
    (run / 'logs' / 'progress').symlink_to(elsewhere)
    for place in ('m', 'n/o'):
        with progress_file(run / 'results' / place / 'd', 'evaluation'):
            time.sleep(0.1)
    assert not list(elsewhere.iterdir())
    (run / 'logs' / 'progress').unlink()
    (run / 'logs' / 'progress').write_text('a file')
    with progress_file(run / 'results' / 'm' / 'd', 'evaluation'):
        time.sleep(0.1)


def test_a_pipe_in_place_of_the_file_is_replaced(tmp_path: Path) -> None:
    """A run folder from someone else may hold one; writing to it would never end."""
    place = tmp_path / 'logs' / 'progress' / 'm' / 'd.json'
    place.parent.mkdir(parents=True)
    os.mkfifo(place)
    assert lines(tmp_path) == ['0 of 1 finished']
    with progress_file(tmp_path / 'results' / 'm' / 'd', 'evaluation'):
        pass
    assert written(tmp_path)['state'] == 'ended'


def test_the_work_at_hand_is_shown_first(tmp_path: Path) -> None:
    """Then what failed or went silent; then the total. Only missing shards are shown."""
    put(tmp_path, 'm/a', {**AT_WORK, 'state': 'failed'})
    put(tmp_path, 'm/b', AT_WORK, age=600)
    put(tmp_path, 'm/d_0', AT_WORK)
    put(tmp_path, 'm/f', {**AT_WORK, 'stage': 'evaluation', 'told': 'Judging 3 of 8'})
    for name in ('predictions/m/d_1', 'predictions/m/f', 'results/m/g'):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).with_suffix('.json').write_text('{"accuracy": 1}')
    assert lines(tmp_path, *'abdefg') == [
        'm/d  unfinished in inference: d_0 missing; interrupted or still running',
        '  d_0: 3 of 8 (37 %), 1 lost',
        'm/f  unfinished in evaluation: Judging 3 of 8',
        'm/a  unfinished in inference: 3 of 8 (37 %), 1 lost, failed',
        'm/b  unfinished in inference: 3 of 8 (37 %), 1 lost, nothing written for 10 min: '
        'is it still running?',
        '1 of 6 finished',
    ]


def test_slurm_tells_of_tasks_that_write_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job that waits, and one that was submitted again; one at work tells for itself."""
    slurm_queue._asked.cache_clear()
    squeue = tmp_path / 'squeue'
    jobs = ['PENDING 3-Infer[m/d_2]', 'RUNNING 2-Infer[m/d_1]', 'RUNNING 1-Infer[m/d_0]', 'x', '']
    squeue.write_text(f"#!/bin/sh\necho '{chr(10).join(jobs)}'\n")
    squeue.chmod(0o755)
    monkeypatch.setenv('PATH', str(tmp_path), prepend=os.pathsep)
    put(tmp_path, 'm/d_0', AT_WORK)
    put(tmp_path, 'm/d_1', AT_WORK, age=180)
    found = lines(tmp_path)
    slurm_queue._asked.cache_clear()
    assert found[1].startswith('  d_0: 3 of 8')
    assert found[2:4] == [f'  d_1: {slurm_queue.WORKS}', f'  d_2: {slurm_queue.WAITS}']


def test_a_task_at_work_has_not_failed(tmp_path: Path) -> None:
    """A traceback in its log was none that ended it, but for a silent one; a kill ends it."""
    log = tmp_path / 'logs' / 'infer' / 'm' / 'd.out'
    log.parent.mkdir(parents=True)
    log.write_text('Traceback (most recent call last):\n  File "x"\nValueError: caught\n')
    put(tmp_path, 'm/d', AT_WORK)
    assert '3 of 8' in lines(tmp_path)[0]
    put(tmp_path, 'm/d', AT_WORK, age=600)
    assert lines(tmp_path)[0].startswith('m/d  failed in inference: ValueError: caught')
    put(tmp_path, 'm/d', AT_WORK)
    log.write_text('Killed\n')
    assert lines(tmp_path)[0].startswith('m/d  failed in inference: Killed')


@pytest.mark.parametrize(
    'told',
    [
        'no JSON',
        '[]',
        '[' * 3000,
        '{"stage": "x" ' + ' ' * 5000 + '}',
        {'stage': ['inference']},
        {**AT_WORK, 'stage': 'evaluation'},
    ],
)
def test_a_bad_file_is_passed_over(told: Any, tmp_path: Path) -> None:
    """It may come from anyone."""
    put(tmp_path, 'm/d', told)
    assert lines(tmp_path) == ['0 of 1 finished']


@pytest.mark.usefixtures('quick')
@pytest.mark.parametrize('terminal', [False, True])
def test_watching_begins_before_the_run_and_ends_with_it(
    terminal: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log gets few lines, a terminal a block that is drawn again."""
    screen = io.StringIO()
    screen.isatty = lambda: terminal  # type: ignore[method-assign]
    monkeypatch.setattr(sys, 'stderr', screen)
    ended = threading.Event()
    watcher = threading.Thread(target=watch, args=(tmp_path, lambda _: not ended.is_set()))
    watcher.start()
    run = tmp_path / '20260101_000000'
    begun = tmp_path / 'begun' / 'run'  # appears as a whole, so that the first line shows it all
    (begun / 'configs').mkdir(parents=True)
    (begun / 'configs' / 'c.py').write_text(CONFIG)
    put(begun, 'm/d', {**AT_WORK, 'told': '0 of 8'})
    begun.rename(run)
    for done in range(5):
        put(run, 'm/d', {**AT_WORK, 'told': f'{done} of 8'})
        while (
            f'm/d  unfinished in inference: {done if terminal else 0} of 8' not in screen.getvalue()
        ):
            time.sleep(0.02)
    ended.set()
    watcher.join()
    told = screen.getvalue()
    assert ('\x1b' in told) is terminal
    assert terminal or told.count('0 of 1 finished') == 2
    assert '4 of 8' in told.splitlines()[-2]


@pytest.mark.usefixtures('quick')
def test_status_watches_until_all_has_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Then it tells the states, as without --watch."""
    (tmp_path / 'configs').mkdir()
    (tmp_path / 'configs' / 'c.py').write_text(CONFIG)
    put(tmp_path, 'm/d', AT_WORK)
    found: list[int] = []
    watcher = threading.Thread(
        target=lambda: found.append(main(['status', '--watch', str(tmp_path)]))
    )
    watcher.start()
    while '3 of 8' not in capsys.readouterr().err:
        time.sleep(0.02)
    assert watcher.is_alive()
    (tmp_path / 'results' / 'm').mkdir(parents=True)
    (tmp_path / 'results' / 'm' / 'd.json').write_text('{"accuracy": 50.0}')
    watcher.join()
    assert 'm/d  finished' in capsys.readouterr().out
    assert found == [0]


@pytest.mark.usefixtures('quick')
def test_a_job_that_was_just_begun_is_watched_not_its_older_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its log is locked while it runs, and its config is written before OpenCompass begins."""

    def begin(run: Path, done: bool) -> None:
        (run / 'configs').mkdir(parents=True)
        (run / 'configs' / 'c.py').write_text(CONFIG)
        if done:
            (run / 'results' / 'm').mkdir(parents=True)
            (run / 'results' / 'm' / 'd.json').write_text('{"accuracy": 50.0}')

    work = tmp_path / 'work'
    begin(work / '20260101_000000', done=True)
    os.utime(work / '20260101_000000' / 'configs' / 'c.py', (1, 1))
    (tmp_path / 'work.py').write_text(CONFIG)
    codes: list[int] = []
    with (work / LOG).open('ab') as log:
        lock(log, work)
        watcher = threading.Thread(
            target=lambda: codes.append(main(['status', '--watch', str(work)]))
        )
        watcher.start()
        time.sleep(0.2)
        assert capsys.readouterr() == ('', '')
        begin(work / '20260101_000001', done=False)
        put(work / '20260101_000001', 'm/d', AT_WORK)
        while '3 of 8' not in capsys.readouterr().err:
            time.sleep(0.02)
    begin(tmp_path / 'new', done=True)
    (tmp_path / 'new' / 'results').rename(work / '20260101_000001' / 'results')
    watcher.join()
    assert '20260101_000001' in capsys.readouterr().out
    assert codes == [0]
