"""The pool against answers that hang, crash or eat the memory, wherever it runs."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.answers import pool
from opencompass_gpassk.answers.relation import Relation
from opencompass_gpassk.answers.pool import CheckResult, canonical_forms, check_pairs

SAME = CheckResult(Relation.SAME, None)
DIFFERENT = CheckResult(Relation.DIFFERENT, None)
HARD = ('2\\sqrt{2}', '\\sqrt{8}')  # needs a worker
GIB = 1 << 30


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Yield the worker processes as they are started; none may live on."""
    started: list[subprocess.Popen[bytes]] = []
    popen = subprocess.Popen

    def record(*args: Any, **settings: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*args, **settings))
        return started[-1]

    monkeypatch.setattr(pool.subprocess, 'Popen', record)
    yield started
    assert all(process.poll() is not None for process in started)


def test_easy_pairs_need_no_worker(processes: list[subprocess.Popen[bytes]]) -> None:
    """Numbers, choices and lists are compared without starting a process."""
    pairs = [('073', '73'), ('A', '(A)'), ('1, 2', '2, 1'), ('[0,1)', '(0,1]')]
    assert list(check_pairs(pairs).values()) == [SAME, SAME, SAME, DIFFERENT]
    assert not processes


def test_hostile_answers_cost_themselves_alone() -> None:
    """Towers of powers, nests, floods of digits and strange characters end in a verdict each."""
    hostile = {
        '9^{9^{9^9}}': 'timeout',
        '((9!)!)!': 'timeout',
        '{' * 10_000 + '}' * 10_000: 'answer too long',
        '(' * 1000 + ')' * 1000: 'answer too deeply nested',
        '7' * 1_000_000: 'answer too long',
        '+1' * 2400: 'too deeply nested',
        '\ud800x+\udfff': 'answer unparsable',
        '\x00x\x00': 'answer unparsable',
        '1\u20282': 'answer unparsable',
        '<script>alert(1)</script>\n': 'undecided',
        '\\frac{1}{' * 30 + 'x' + '{' * 30: 'answer too deeply nested',
    }
    pairs = [('2\\sqrt{2}', answer) for answer in hostile]
    results = check_pairs([HARD, *pairs, ('\\sqrt{2}', '1')], time_limit=1.5, workers=2)
    assert results[HARD] == SAME
    assert results['\\sqrt{2}', '1'] == DIFFERENT
    for pair, reason in zip(pairs, hostile.values(), strict=True):
        assert results[pair].relation is Relation.UNKNOWN, pair[1][:40]
        assert results[pair].reason == reason, pair[1][:40]


def test_hostile_answers_have_canonical_forms() -> None:
    """An answer that cannot be worked out is its own form, its spaces aside; others share one."""
    answers = ['\\sqrt{8}', '9^{9^{9^9}}', '7' * 1_000_000, ' 2\\sqrt{2} ', 'a \ud800  b' * 2000]
    forms = canonical_forms(answers, time_limit=1.5)
    assert forms[answers[0]] == forms[answers[3]]
    assert forms[answers[1]] == answers[1]
    assert forms[answers[2]] == answers[2]
    assert forms[answers[4]] == ' '.join(answers[4].split())


HUNGRY = """
from opencompass_gpassk.answers import check
compare = check.compare_thoroughly
def hungry(gold, answer):
    return len(bytearray(1 << 30)) if answer == 'hungry + 1' else compare(gold, answer)
check.compare_thoroughly = hungry
"""


def test_memory_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair that needs more memory than allowed is unknown, and the next one is checked."""
    (tmp_path / 'sitecustomize.py').write_text(HUNGRY)  # loaded by the worker as it starts
    monkeypatch.setenv('PYTHONPATH', str(tmp_path))
    pairs = [('5x', 'hungry + 1'), HARD]
    results = check_pairs(pairs, memory_limit=GIB, workers=1)
    assert results['5x', 'hungry + 1'] == CheckResult(Relation.UNKNOWN, 'memory')
    assert results[HARD] == SAME
    more = check_pairs(pairs, memory_limit=4 * GIB, workers=1)
    assert more['5x', 'hungry + 1'].reason != 'memory'


def test_killed_worker_costs_its_pair(
    processes: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that is killed in the middle of a task leaves that pair unknown, and no other."""
    write = pool._Worker._write

    def write_and_kill(worker: Any, data: bytes) -> None:
        write(worker, data)
        if b'9^{9^{9^9}}' in data:
            killer = threading.Timer(0.3, os.kill, (worker.process.pid, signal.SIGKILL))
            killer.start()

    monkeypatch.setattr(pool._Worker, '_write', write_and_kill)
    slow = ('5x', '9^{9^{9^9}}')
    results = check_pairs([slow, HARD, ('x+1', '1+x')], time_limit=30, workers=1)
    assert results[slow] == CheckResult(Relation.UNKNOWN, 'crash')
    assert results[HARD] == results['x+1', '1+x'] == SAME
    assert len(processes) == 2


def test_distinct_pairs_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of a pair are one task: n replicas with one answer cost one check."""
    tasks: list[dict[str, str]] = []
    ask = pool._Worker.ask

    def count(worker: Any, task: dict[str, str], time_limit: float) -> dict[str, Any]:
        tasks.append(task)
        return ask(worker, task, time_limit)

    monkeypatch.setattr(pool._Worker, 'ask', count)
    results = check_pairs([HARD, ('x+1', '1+x')] * 48)
    assert len(tasks) == 2
    assert results == {HARD: SAME, ('x+1', '1+x'): SAME}
    canonical_forms(['\\sqrt{8}'] * 48)
    assert len(tasks) == 3


def test_works_inside_a_thread() -> None:
    """Workers can be started from any thread, where signals and forks fail."""
    results: list[dict[tuple[str, str], CheckResult]] = []
    threads = [threading.Thread(target=lambda: results.append(check_pairs([HARD]))) for _ in '12']
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [{HARD: SAME}] * 2


def _put_check(results: Any) -> None:
    results.put(check_pairs([HARD, ('5x', '2^{10^{10}}')], time_limit=1))


def test_works_inside_a_daemonic_process() -> None:
    """Workers can be started from a daemonic process, which may have no children of its kind."""
    context = multiprocessing.get_context('fork')
    results = context.Queue()
    process = context.Process(target=_put_check, args=(results,), daemon=True)
    process.start()
    found = results.get(timeout=60)
    process.join(10)
    assert found[HARD] == SAME
    assert found['5x', '2^{10^{10}}'].reason == 'timeout'


def test_no_worker_outlives_its_parent() -> None:
    """When the parent is killed in the middle of a check, its worker ends, idle or hung."""
    code = (
        'from opencompass_gpassk.answers import pool\n'
        'start = pool._Worker._start\n'
        'def tell(worker):\n'
        '    start(worker)\n'
        '    print(worker.process.pid, flush=True)\n'
        'pool._Worker._start = tell\n'
        "pool.check_pairs([('5x', '9^{9^{9^9}}')], time_limit=2)\n"
    )
    parent = subprocess.Popen([sys.executable, '-c', code], stdout=subprocess.PIPE)
    assert parent.stdout
    worker = int(parent.stdout.readline())
    time.sleep(0.5)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    end = time.monotonic() + 20
    while _alive(worker) and time.monotonic() < end:
        time.sleep(0.1)
    alive = _alive(worker)
    if alive:
        os.kill(worker, signal.SIGKILL)
    assert not alive


def _alive(pid: int) -> bool:
    stat = Path(f'/proc/{pid}/stat')
    try:
        return stat.read_text().rpartition(')')[2].split()[0] not in 'ZX'
    except OSError:
        return False


@pytest.mark.parametrize(
    ('settings', 'named'), [({'workers': 0}, 'workers'), ({'time_limit': 0}, 'time_limit')]
)
def test_bad_settings(settings: dict[str, Any], named: str) -> None:
    """A setting that makes no sense is named, with its value."""
    with pytest.raises(ValueError, match=f'{named} is 0'):
        check_pairs([HARD], **settings)


def test_nothing_to_check() -> None:
    """No pairs give no results."""
    assert check_pairs([]) == {}
    assert canonical_forms([]) == {}
