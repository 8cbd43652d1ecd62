"""Check answers in worker processes that can be stopped.

Workers run this module as a program, started with ``subprocess``: that works inside threads and
daemonic processes, without a fork. A pair that hangs or crashes its worker does not affect other
pairs.
"""

from __future__ import annotations

import json
import logging
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from opencompass_gpassk.answers import algebra, check
from opencompass_gpassk.answers.check import canonical_quickly, compare_exactly, compare_quickly
from opencompass_gpassk.answers.sameness import Relation
from opencompass_gpassk.formats.progress_bar import with_progress

LINUX = sys.platform == 'linux'
MEMORY_LIMIT = 2 << 30  # bytes of address space for a worker
# Seconds on the clock until a worker is given up, and more for each second of CPU time.
PATIENCE, PATIENCE_FACTOR = 120.0, 20.0
TASKS_A_WORKER = 16  # number of tasks that justifies one more worker
AHEAD = 2000  # greatest number of tasks in progress
TRIED_AGAIN = ('crash', 'memory', 'stalled')
KEPT = ('', 'failed', 'too large')  # after these a worker goes on
SLOW = 0.5  # seconds of CPU time from which a task counts against the budget
# The budget, in time limits: of one problem; of a run; and more of a run for each distinct task.
A_PROBLEM, A_RUN, A_TASK = 2, 3, 0.0002

Pair = tuple[str, str] | tuple[str, str, str | None]  # gold, answer, and perhaps the question
Task = tuple[str | None, ...]  # the arguments of a function; a pair is one
Outcome = tuple[Any, str, float]  # its value; or None, and the failure; seconds of CPU time
OVER_BUDGET: Outcome = None, 'budget', 0.0


class CheckResult(NamedTuple):
    """The result of a check, with one of :data:`opencompass_gpassk.answers.check.REASONS`."""

    relation: Relation
    reason: str


def check_in_order(
    pairs: Iterable[Pair],
    *,
    match: str = 'value',
    workers: int | None = None,
    time_limit: float = 5.0,
) -> Generator[CheckResult, None, None]:
    """Yield the result of each pair, in order, as soon as it is known.

    Equal pairs are checked once. A pair whose worker dies is tried once more. What a run and a
    problem (a gold answer with its question) may cost is limited: see :class:`_Workers`.

    Args:
        pairs: The pairs; they are read a little ahead.
        match: ``'exact'`` if an answer must be the gold answer's text.
        workers: Greatest number of worker processes; by default one per CPU.
        time_limit: Seconds of CPU time per pair; a slower pair is unknown.

    Raises:
        ValueError: If a setting is out of its range.
    """
    quickly = (lambda *pair: compare_exactly(*pair[:2])) if match == 'exact' else compare_quickly
    for value, failure, _ in _in_order(pairs, quickly, 'compare_thoroughly', workers, time_limit):
        relation, reason = value or (Relation.UNKNOWN, failure)
        yield CheckResult(Relation(relation), reason)


def check_pairs(
    pairs: Iterable[Pair], *, progress: bool = False, **settings: Any
) -> dict[Pair, CheckResult]:
    """Check distinct pairs once each.

    Args:
        pairs: The pairs; they may repeat.
        progress: Show the progress on standard error.
        **settings: Those of :func:`check_in_order`.
    """
    distinct = list(dict.fromkeys(pairs))
    found = check_in_order(distinct, **settings)
    results = with_progress(found, len(distinct), 'checking', 'answer', shown=progress)
    return dict(zip(distinct, results, strict=True))


def canonical_forms(
    answers: Iterable[str], *, time_limit: float = 5.0, progress: bool = False
) -> dict[str, str]:
    """Return the canonical form of each answer; one that fails is its own form.

    The other arguments are those of :func:`check_pairs`.
    """
    distinct = list(dict.fromkeys(answers))
    tasks = ((answer,) for answer in distinct)
    found = _in_order(tasks, canonical_quickly, 'canonical', None, time_limit)
    shown = with_progress(found, len(distinct), 'checking', 'answer', shown=progress)
    forms = (form for form, *_ in shown)
    return {
        answer: ' '.join(answer.split()) if form is None else form
        for answer, form in zip(distinct, forms, strict=True)
    }


def _in_order(
    tasks: Iterable[Task],
    quickly: Callable[..., Any],
    function: str,
    workers: int | None,
    time_limit: float,
) -> Iterator[Outcome]:
    """Yield the outcome of each task; where ``quickly`` returns None, it is a worker's."""
    known: dict[Task, Outcome | None] = {}
    begun: deque[Task] = deque()
    yielded: set[Task] = set()

    def decided(ahead: int) -> Iterator[Outcome]:
        """Yield what is known; wait if more tasks are begun."""
        while begun:
            if known[begun[0]] is None:
                known.update(pool.replies(wait=len(begun) > ahead))
            task, value = begun[0], known[begun[0]]
            if value:
                begun.popleft()
                if task not in yielded:
                    yielded.add(task)
                    # What was begun meanwhile counts no more: the number of workers and their
                    # speed change no verdict.
                    if task in pool.places and pool.is_spent(task):
                        value = known[task] = OVER_BUDGET
                    pool.charge(task, value)
                yield value
            elif len(begun) <= ahead:
                return

    with closing(_Workers(function, workers, time_limit)) as pool:
        for task in tasks:
            if task not in known:
                value = quickly(*task)
                known[task] = None if value is None else (value, '', 0.0)
                if value is None:
                    pool.places[task] = len(known) - 1
                    pool.todo.append(task)
            begun.append(task)
            yield from decided(AHEAD)
        yield from decided(0)


def _problem(task: Task) -> Task:
    """Return all of a pair but its answer; a text alone is a problem of its own."""
    return task[:1] + task[2:]


class _Workers:
    """Worker processes for a function, started when there are tasks for them.

    The CPU time that slow tasks take is counted, in a run and of each problem. Once it is spent,
    what else needs a worker is not compared: a few hostile answers must not cost hours.
    """

    def __init__(self, function: str, most: int | None, time_limit: float) -> None:
        if most is not None and most < 1:
            raise ValueError(f'workers is {most}; it must be at least 1')
        if time_limit <= 0:
            raise ValueError(f'time_limit is {time_limit}; it must be positive seconds')
        # macOS knows no affinity.
        self.most = most or (len(os.sched_getaffinity(0)) if LINUX else os.cpu_count() or 1)
        self.arguments = (function, time_limit)
        self.todo: deque[Task] = deque()
        self.places: dict[Task, int] = {}  # of all that were to do: how many tasks came before
        # What the tasks that were yielded took, by problem; in the run under ().
        self.spent: Counter[Task] = Counter()
        self.busy: dict[_Worker, Task] = {}
        self.idle: list[_Worker] = []
        self.tried: set[Task] = set()

    def replies(self, *, wait: bool) -> list[tuple[Task, Outcome]]:
        """Give tasks to workers, and return the outcomes that are there; or wait for some."""
        most = min(self.most, -(-len(self.todo) // TASKS_A_WORKER))
        found: list[tuple[Task, Outcome]] = []
        while self.todo and (self.idle or len(self.busy) < most):
            task = self.todo.popleft()
            if self.is_spent(task):
                found.append((task, OVER_BUDGET))
                continue
            worker = self.idle.pop() if self.idle else _Worker(*self.arguments)
            self._begin(worker, task)
        if found or not self.busy:
            return found
        end = min(worker.end for worker in self.busy) if wait else 0.0
        ready = select.select(self.busy, [], [], max(0.0, end - time.monotonic()))[0]
        for worker, task in list(self.busy.items()):
            reply = worker.reply(ready=worker in ready)
            if reply is None:
                continue
            failure = reply[1]
            del self.busy[worker]
            if failure in KEPT:
                self.idle.append(worker)
            else:
                worker.close()
            if failure in TRIED_AGAIN and task not in self.tried:
                self.tried.add(task)
                self._begin(_Worker(*self.arguments), task)
            else:
                found.append((task, reply))
        return found

    def is_spent(self, task: Task) -> bool:
        """Tell whether no more may be spent on a task."""
        _, time_limit = self.arguments
        whole = (A_RUN + A_TASK * self.places[task]) * time_limit
        problem = A_PROBLEM * time_limit
        return self.spent[_problem(task)] >= problem or self.spent[()] >= whole

    def charge(self, task: Task, outcome: Outcome) -> None:
        """Count what a task took."""
        if outcome[2] >= SLOW or outcome[1] == 'too large':
            self.spent.update({_problem(task): outcome[2], (): outcome[2]})

    def close(self) -> None:
        """Kill the workers."""
        for worker in (*self.busy, *self.idle):
            worker.close()

    def _begin(self, worker: _Worker, task: Task) -> None:
        self.busy[worker] = task
        worker.send(task)


class _Worker:
    """One worker process."""

    def __init__(self, function: str, time_limit: float) -> None:
        import opencompass_gpassk

        root = str(Path(opencompass_gpassk.__path__[0]).resolve().parent)
        path = os.pathsep.join(filter(None, (root, os.environ.get('PYTHONPATH'))))
        one_thread = {'OMP_NUM_THREADS': '1', 'OPENBLAS_NUM_THREADS': '1'}
        limits = (str(time_limit), str(MEMORY_LIMIT))
        self.time_limit = time_limit
        self.patience = PATIENCE + PATIENCE_FACTOR * time_limit
        self.unread = b''
        self.process = subprocess.Popen(
            [sys.executable, '-m', 'opencompass_gpassk.answers.worker_pool', function, *limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, 'PYTHONPATH': path, **one_thread},
            cwd=root,  # Python imports from its start folder first
        )

    def fileno(self) -> int:
        """Return the pipe with its replies, for ``select``."""
        return self.process.stdout.fileno()  # type: ignore[union-attr]  # it is a pipe

    def send(self, task: Task) -> None:
        """Send a task."""
        self.end = time.monotonic() + self.patience
        with suppress(OSError):  # a dead process is noticed when its reply is read
            self.process.stdin.write(json.dumps(task).encode() + b'\n')  # type: ignore[union-attr]
            self.process.stdin.flush()  # type: ignore[union-attr]

    def reply(self, *, ready: bool) -> Outcome | None:
        """Return the outcome of the task; None if it isn't there yet."""
        if not ready:
            return (None, 'stalled', self.time_limit) if time.monotonic() > self.end else None
        piece = os.read(self.fileno(), 1 << 16)
        if not piece:
            failure = 'timeout' if self.process.wait() == -signal.SIGPROF else 'crash'
            return None, failure, self.time_limit
        self.unread += piece
        if not piece.endswith(b'\n'):
            return None
        value, failure, seconds = json.loads(self.unread)
        self.unread = b''
        return value, failure, seconds

    def close(self) -> None:
        """Kill the process."""
        self.process.kill()
        with suppress(OSError):  # unwritten data are lost with the process
            self.process.communicate()


def _serve() -> None:
    """Run as a worker: read arguments as a JSON line, answer with the value, until input ends."""
    name, time_limit, memory_limit = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
    if LINUX:  # macOS can't limit the address space
        resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    replies = os.fdopen(os.dup(1), 'w', encoding='ascii')
    os.dup2(2, 1)  # keep all other output away from the pool
    logging.disable(logging.CRITICAL)
    algebra.bound_numbers()
    algebra.read('x')  # which loads the parser before the first task's time counts

    function = getattr(check, name)
    for line in sys.stdin:
        arguments = json.loads(line)
        # After so much CPU time SIGPROF ends the process, even if the pool is gone.
        signal.setitimer(signal.ITIMER_PROF, time_limit)
        begun = time.process_time()
        try:
            reply = function(*arguments), ''
        except MemoryError:
            reply = None, 'memory'
        except algebra.TooLargeError:
            reply = None, 'too large'
        except Exception:  # a parser may raise anything; only this pair is lost
            reply = None, 'failed'
        signal.setitimer(signal.ITIMER_PROF, 0)
        replies.write(json.dumps([*reply, time.process_time() - begun]) + '\n')
        replies.flush()


if __name__ == '__main__':
    _serve()
