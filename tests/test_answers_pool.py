"""The pool against answers that hang, crash or eat the memory, wherever it runs."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.answers import worker_pool as pool
from opencompass_gpassk.answers.sameness import Relation
from opencompass_gpassk.answers.worker_pool import (
    CheckResult,
    Pair,
    canonical_forms,
    check_in_order,
    check_pairs,
)

SAME = CheckResult(Relation.SAME, 'expression')
HARD = ('2\\sqrt{2}', '\\sqrt{8}')  # needs a worker
SLOW = ('5x', '\\int \\frac{x^7+1}{x^{11}+x^3+7}dx')
GIB = 1 << 30

Processes = list[subprocess.Popen[bytes]]


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    """Yield the worker processes as they are started; none may live on."""
    started: Processes = []
    popen = subprocess.Popen

    def record(*args: Any, **settings: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*args, **settings))
        return started[-1]

    monkeypatch.setattr(pool.subprocess, 'Popen', record)
    yield started
    assert all(process.poll() is not None for process in started)


def test_easy_pairs_need_no_worker(processes: Processes) -> None:
    """Numbers, choices and lists are compared without starting a process."""
    pairs = [('073', '73'), ('A', '(A)'), ('1, 2', '2, 1'), ('[0,1)', '(0,1]')]
    found = [result.relation.value for result in check_pairs(pairs).values()]
    assert found == ['same', 'same', 'same', 'different']
    assert not processes


@pytest.mark.slow
def test_hostile_answers_cost_themselves_alone() -> None:
    """Towers of powers, nests, floods of digits and strange characters end in a verdict each."""
    hostile = {
        '9^{9^{9^9}}': 'too large',
        '((9!)!)!': 'too large',
        '3^{(10^8+7)}+1': 'too large',
        '2^{-10^9}': 'too large',
        'x^{123456789}': 'too large',
        '\\binom{10^{9}}{10^{8}}': 'too large',
        '\\sqrt{3}^{10^9+1}': 'too large',
        SLOW[1]: 'timeout',
        '{' * 10_000 + '}' * 10_000: 'answer too long',
        '(' * 1000 + ')' * 1000: 'answer too deep',
        '7' * 1_000_000: 'answer too long',
        '+1' * 2400: 'failed',
        '\ud800x+\udfff': 'answer unparsable',
        '\x00x\x00': 'answer unparsable',
        '1\u20282': 'answer unparsable',
        '<script>alert(1)</script>\n': 'words',
        '\\frac{1}{' * 30 + 'x' + '{' * 30: 'answer too deep',
    }
    pairs = [(f'{i}\\sqrt{{2}}', answer) for i, answer in enumerate(hostile, 2)]
    results = check_pairs([HARD, *pairs, ('\\sqrt{2}', '1')], time_limit=4, workers=2)
    assert results[HARD] == SAME
    assert results['\\sqrt{2}', '1'].relation is Relation.DIFFERENT
    for pair, reason in zip(pairs, hostile.values(), strict=True):
        assert results[pair].relation is Relation.UNKNOWN, pair[1][:40]
        assert results[pair].reason == reason, pair[1][:40]


def test_hostile_answers_have_canonical_forms() -> None:
    """An answer that cannot be worked out is its own form, its spaces aside; others share one."""
    answers = ['\\sqrt{8}', SLOW[1], '7' * 1_000_000, ' 2\\sqrt{2} ', 'a \ud800  b' * 2000]
    forms = canonical_forms(answers, time_limit=1.5)
    assert forms[answers[0]] == forms[answers[3]]
    assert forms[answers[1]] == answers[1]
    assert forms[answers[2]] == answers[2]
    assert forms[answers[4]] == ' '.join(answers[4].split())


@pytest.mark.parametrize(
    ('gold', 'answer', 'relation'),
    [
        ('2^{100}', str(2**100), 'same'),
        ('100!', str(math.factorial(100)), 'same'),
        ('\\binom{50}{25}', str(math.comb(50, 25)), 'same'),
        (str(3**1000), '3^{1000}', 'same'),
        ('3^{1000}', str(3**1000 + 2), 'different'),
        ('2^{100000}', '4^{50000}', 'same'),
        ('10000!', '10000 \\cdot 9999!', 'same'),
        ('(-1)^{123456789}', '-1', 'same'),
        ('x^{2024}+1', '1+x^{2024}', 'same'),
    ],
)
def test_large_numbers_are_compared(gold: str, answer: str, relation: str) -> None:
    """Those that occur in answers are far below the bound."""
    assert check_pairs([(gold, answer)])[gold, answer].relation.value == relation


@pytest.mark.slow
def test_slow_answers_have_a_budget(processes: Processes) -> None:
    """Of a problem, and of all; what needs no worker is compared, and others are as before."""
    slow = [(gold, f'{SLOW[1]}+{i}') for gold in ('7', '5x', '6x', '4x', '3x') for i in range(40)]
    results = check_pairs([*slow[:40], HARD, *slow[40:], ('7', '7.0'), ('1', '2')], time_limit=1)
    found = [results[pair].reason for pair in slow]
    assert set(found) == {'timeout', 'budget'}
    assert found.count('timeout') < 10
    assert found[3:40] == ['budget'] * 37
    assert results[HARD] == SAME
    assert [results[pair].relation.value for pair in (('7', '7.0'), ('1', '2'))] == [
        *('same', 'different')
    ]
    assert {results[pair].relation for pair in slow} == {Relation.UNKNOWN}
    assert len(processes) < 20


HUNGRY = """
from opencompass_gpassk.answers import check
compare = check.compare_thoroughly
def hungry(gold, answer):
    room = bytearray(1 << 30) if answer == 'hungry + 1' else b''
    return compare(gold, answer)
check.compare_thoroughly = hungry
"""


def test_memory_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair that needs more memory than allowed is unknown, and the next one is checked."""
    (tmp_path / 'sitecustomize.py').write_text(HUNGRY)  # loaded by the worker as it starts
    monkeypatch.setenv('PYTHONPATH', str(tmp_path))
    monkeypatch.setattr(pool, 'MEMORY_LIMIT', GIB)
    pairs = [('5x', 'hungry + 1'), HARD]
    results = check_pairs(pairs, workers=1)
    assert results['5x', 'hungry + 1'] == CheckResult(Relation.UNKNOWN, 'memory')
    assert results[HARD] == SAME
    monkeypatch.setattr(pool, 'MEMORY_LIMIT', 4 * GIB)
    more = check_pairs(pairs, workers=1)
    assert more['5x', 'hungry + 1'].reason not in ('memory', 'failed')


@pytest.fixture
def on_task(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[int], None]], None]:
    """Return a function that has something done to each worker that is sent a certain answer."""

    def do(answer: str, act: Callable[[int], None]) -> None:
        send = pool._Worker.send

        def send_and_act(worker: Any, task: Any) -> None:
            send(worker, task)
            if answer in task:
                act(worker.process.pid)

        monkeypatch.setattr(pool._Worker, 'send', send_and_act)

    return do


OnTask = Callable[[str, Callable[[int], None]], None]


def test_worker_killed_twice_costs_its_pair(processes: Processes, on_task: OnTask) -> None:
    """A pair that kills its worker, and a fresh one too, is unknown; no other is."""
    on_task(SLOW[1], lambda pid: os.kill(pid, signal.SIGKILL))
    results = check_pairs([SLOW, HARD, ('x+1', '1+x')], time_limit=30, workers=1)
    assert results[SLOW] == CheckResult(Relation.UNKNOWN, 'crash')
    assert results[HARD] == results['x+1', '1+x'] == SAME
    assert len(processes) == 3


def test_worker_killed_once_costs_nothing(processes: Processes, on_task: OnTask) -> None:
    """Its pair is checked by a fresh worker."""
    killed: list[int] = []

    def kill_the_first(pid: int) -> None:
        if not killed:
            os.kill(pid, signal.SIGKILL)
        killed.append(pid)

    on_task(HARD[1], kill_the_first)
    assert check_pairs([HARD], workers=1) == {HARD: SAME}
    assert len(set(killed)) == len(processes) == 2


@pytest.mark.slow
def test_a_busy_machine_changes_no_verdict(processes: Processes, on_task: OnTask) -> None:
    """A worker that gets no CPU time for longer than its limit of CPU time goes on afterwards."""
    pauses: list[threading.Timer] = []

    def pause(pid: int) -> None:
        os.kill(pid, signal.SIGSTOP)
        pauses.append(threading.Timer(3, os.kill, (pid, signal.SIGCONT)))
        pauses[-1].start()

    on_task(HARD[1], pause)
    assert check_pairs([HARD], workers=1, time_limit=2) == {HARD: SAME}
    assert len(processes) == len(pauses) == 1


def test_a_worker_that_never_goes_on(
    processes: Processes, on_task: OnTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is given up in the end; a fresh one is asked, and the other pairs are checked."""
    monkeypatch.setattr(pool, 'PATIENCE', 1.0)
    monkeypatch.setattr(pool, 'PATIENCE_FACTOR', 0.0)
    on_task(SLOW[1], lambda pid: os.kill(pid, signal.SIGSTOP))
    results = check_pairs([SLOW], workers=1, time_limit=30)
    assert results == {SLOW: CheckResult(Relation.UNKNOWN, 'stalled')}
    assert len(processes) == 2


def test_a_slow_pair_is_not_tried_again(processes: Processes) -> None:
    """Its CPU time would be the same."""
    assert check_pairs([SLOW], time_limit=0.5)[SLOW].reason == 'timeout'
    assert len(processes) == 1


def test_results_come_in_order_as_they_are_known(processes: Processes) -> None:
    """Those before a slow pair need not wait for it, nor for pairs that are not read yet."""
    read: list[str] = []

    def pairs() -> Iterator[Pair]:
        for pair in (('1', '1.0'), ('2', '3'), SLOW, HARD, ('4', '4')):
            read.append(pair[1])
            yield pair

    with closing(check_in_order(pairs(), time_limit=1)) as results:
        assert next(results).relation is Relation.SAME
        assert read == ['1.0']
        assert next(results).relation is Relation.DIFFERENT
        assert [one.reason for one in results] == ['timeout', 'expression', 'text']


def test_results_may_be_left(processes: Processes) -> None:
    """Whoever closes the results early waits for no worker; none lives on."""
    results = check_in_order([('1', '1'), SLOW], time_limit=600)
    next(results)
    results.close()


def test_the_question_belongs_to_a_pair() -> None:
    """The same answers to two questions are two checks; a question may be unknown."""
    pairs: list[Pair] = [('2', '2.0', 'Round to one decimal.'), ('2', '2.0', None), ('2', '2.0')]
    assert list(check_pairs([*pairs, *pairs])) == pairs


def test_distinct_pairs_are_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Copies of a pair are one task: n replicas with one answer cost one check."""
    tasks: list[Any] = []
    send = pool._Worker.send

    def count(worker: Any, task: Any) -> None:
        tasks.append(task)
        send(worker, task)

    monkeypatch.setattr(pool._Worker, 'send', count)
    results = check_pairs([HARD, ('x+1', '1+x')] * 48)
    assert len(tasks) == 2
    assert results == {HARD: SAME, ('x+1', '1+x'): SAME}
    assert list(check_in_order([HARD] * 48)) == [SAME] * 48
    assert len(tasks) == 3
    canonical_forms(['\\sqrt{8}'] * 48)
    assert len(tasks) == 4


def test_works_inside_a_thread() -> None:
    """Workers can be started from any thread, where signals and forks fail."""
    results: list[dict[Pair, CheckResult]] = []
    threads = [threading.Thread(target=lambda: results.append(check_pairs([HARD]))) for _ in '12']
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [{HARD: SAME}] * 2


def _put_check(results: Any) -> None:
    results.put(check_pairs([HARD, SLOW], time_limit=1))


def test_works_inside_a_daemonic_process() -> None:
    """Workers can be started from a daemonic process, which may have no children of its kind."""
    context = multiprocessing.get_context('fork')
    results = context.Queue()
    process = context.Process(target=_put_check, args=(results,), daemon=True)
    process.start()
    found = results.get(timeout=60)
    process.join(10)
    assert found[HARD] == SAME
    assert found[SLOW].reason == 'timeout'


def test_no_worker_outlives_its_parent() -> None:
    """When the parent is killed in the middle of a check, its worker ends, idle or hung."""
    code = (
        'from opencompass_gpassk.answers import worker_pool as pool\n'
        'send = pool._Worker.send\n'
        'def tell(worker, task):\n'
        '    send(worker, task)\n'
        '    print(worker.process.pid, flush=True)\n'
        'pool._Worker.send = tell\n'
        f'pool.check_pairs([{SLOW!r}], time_limit=2)\n'
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
