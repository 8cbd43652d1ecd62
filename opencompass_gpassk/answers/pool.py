"""Check answers in worker processes that can be stopped.

Workers are separate programs, started with ``subprocess``: that works inside threads and daemonic
processes, without a fork. A pair that hangs or crashes its worker does not affect other pairs.
"""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from opencompass_gpassk.answers.check import canonical_quickly, compare_quickly
from opencompass_gpassk.answers.relation import Relation
from opencompass_gpassk.formats.display import progress_bar

__all__ = ['CheckResult', 'canonical_forms', 'check_pairs']

GIB = 1 << 30
START_LIMIT = 120.0  # seconds for a worker to load its libraries
TASKS_A_WORKER = 16  # number of tasks that justifies one more worker
REPLY_LIMIT = 1 << 20


class CheckResult(NamedTuple):
    """The result of a check; ``reason`` tells why a relation is unknown."""

    relation: Relation
    reason: str | None


def check_pairs(
    pairs: Iterable[tuple[str, str]],
    *,
    workers: int | None = None,
    time_limit: float = 5.0,
    memory_limit: int = 2 * GIB,
    progress: bool = False,
) -> dict[tuple[str, str], CheckResult]:
    """Check distinct (gold, answer) pairs once each.

    Args:
        pairs: (gold, answer) pairs; they may repeat.
        workers: Greatest number of worker processes; by default one per CPU.
        time_limit: Seconds per pair; a slower pair is unknown with the reason ``timeout``.
        memory_limit: Bytes of address space per worker; a pair that needs more is unknown.
        progress: Show a bar on standard error.
    """
    results: dict[tuple[str, str], CheckResult] = {}
    hard: list[tuple[str, str]] = []
    for pair in dict.fromkeys(pairs):
        quick = compare_quickly(*pair)
        if quick:
            results[pair] = CheckResult(*quick)
        else:
            hard.append(pair)
    tasks = [{'gold': gold, 'answer': answer} for gold, answer in hard]
    replies = _run(tasks, workers, time_limit, memory_limit, progress)
    for pair, reply in zip(hard, replies, strict=True):
        relation = Relation(reply.get('relation', Relation.UNKNOWN))
        results[pair] = CheckResult(relation, reply.get('reason'))
    return results


def canonical_forms(
    answers: Iterable[str],
    *,
    workers: int | None = None,
    time_limit: float = 5.0,
    memory_limit: int = 2 * GIB,
    progress: bool = False,
) -> dict[str, str]:
    """Return the canonical form of each answer; one that fails is its own form.

    The other arguments are those of :func:`check_pairs`.
    """
    forms: dict[str, str] = {}
    hard = []
    for answer in dict.fromkeys(answers):
        form = canonical_quickly(answer)
        if form is None:
            hard.append(answer)
        else:
            forms[answer] = form
    tasks = [{'answer': answer} for answer in hard]
    replies = _run(tasks, workers, time_limit, memory_limit, progress)
    for answer, reply in zip(hard, replies, strict=True):
        forms[answer] = reply.get('form', ' '.join(answer.split()))
    return forms


class _WorkerError(Exception):
    """A worker did not answer; ``args[0]`` is the reason."""


class _Worker:
    """One worker process, started for its first task and again after it was killed."""

    def __init__(self, memory_limit: int) -> None:
        self.memory_limit = memory_limit
        self.process: subprocess.Popen[bytes] | None = None
        self.unread = b''

    def ask(self, task: dict[str, str], time_limit: float) -> dict[str, Any]:
        """Return the reply to one task; a failure is a reply with its reason."""
        try:
            if self.process is None:
                self._start()
            self._write((json.dumps({**task, 'time_limit': time_limit}) + '\n').encode('ascii'))
            reply = self._read(time_limit)
        except _WorkerError as failure:
            self.stop()
            return {'reason': failure.args[0]}
        if reply.get('reason') == 'memory':  # its allocator may be corrupt
            self.stop()
        return reply

    def stop(self) -> None:
        """Kill the process, if there is one."""
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with suppress(OSError):  # unwritten data are lost with the process
                    pipe.close()
        self.process, self.unread = None, b''

    def _start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, '-m', 'opencompass_gpassk.answers.worker', str(self.memory_limit)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            cwd=Path(__file__).parents[2],  # Python imports from its start folder first
        )
        if not self._read(START_LIMIT).get('ready'):
            raise _WorkerError('worker did not start')

    def _write(self, data: bytes) -> None:
        stdin = self.process.stdin if self.process else None
        if stdin is None:
            raise _WorkerError('crash')
        try:
            stdin.write(data)
            stdin.flush()
        except OSError as error:
            raise _WorkerError('crash') from error

    def _read(self, limit: float) -> dict[str, Any]:
        stdout = self.process.stdout if self.process else None
        if stdout is None:
            raise _WorkerError('crash')
        end = time.monotonic() + limit
        while b'\n' not in self.unread:
            left = end - time.monotonic()
            if left <= 0 or not select.select([stdout], [], [], left)[0]:
                raise _WorkerError('timeout')
            piece = os.read(stdout.fileno(), 1 << 16)
            if not piece or len(self.unread) > REPLY_LIMIT:
                raise _WorkerError('crash')
            self.unread += piece
        line, _, self.unread = self.unread.partition(b'\n')
        reply: dict[str, Any] = json.loads(line)
        return reply


def _environment() -> dict[str, str]:
    """Return the environment of a worker: the package importable, one thread per library."""
    import opencompass_gpassk

    root = Path(opencompass_gpassk.__path__[0]).resolve().parent
    path = os.pathsep.join(part for part in (str(root), os.environ.get('PYTHONPATH')) if part)
    return {**os.environ, 'PYTHONPATH': path, 'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}


def _run(
    tasks: list[dict[str, str]],
    workers: int | None,
    time_limit: float,
    memory_limit: int,
    progress: bool,
) -> list[dict[str, Any]]:
    """Return the replies to tasks, in order."""
    if workers is not None and workers < 1:
        raise ValueError(f'workers is {workers}; it must be at least 1')
    if time_limit <= 0:
        raise ValueError(f'time_limit is {time_limit}; it must be positive seconds')
    if not tasks:
        return []
    most = workers or len(os.sched_getaffinity(0))
    number = max(1, min(most, -(-len(tasks) // TASKS_A_WORKER)))
    todo: queue.SimpleQueue[int] = queue.SimpleQueue()
    for index in range(len(tasks)):
        todo.put(index)
    replies: list[dict[str, Any]] = [{'reason': 'crash'}] * len(tasks)
    stopped = threading.Event()
    lock = threading.Lock()
    with progress_bar(len(tasks), 'checking answers', 'pair', shown=progress) as bar:

        def serve() -> None:
            worker = _Worker(memory_limit)
            try:
                while not stopped.is_set():
                    try:
                        index = todo.get_nowait()
                    except queue.Empty:
                        return
                    replies[index] = worker.ask(tasks[index], time_limit)
                    with lock:
                        bar.update()
            finally:
                worker.stop()

        threads = [threading.Thread(target=serve, daemon=True) for _ in range(number)]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        finally:
            stopped.set()
    return replies
