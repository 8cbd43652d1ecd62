"""How far the tasks of a run are: each task writes a file, ``gpassk status --watch`` shows them.

OpenCompass tells of a task only that it began and that it ended. ``logs/progress/<model>/<data
set>.json`` tells how many responses are drawn, judged or scored. Shards have files of their own.
"""

from __future__ import annotations

import json
import math
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.display import called, one_line, short_line
from opencompass_gpassk.formats.progress_bar import NO_REPLY, newest_bar
from opencompass_gpassk.formats.stored_files import read_json, written_whole
from opencompass_gpassk.runs.config import (
    Run,
    planned_run,
    read_run_config,
    require_inside,
    run_config,
)
from opencompass_gpassk.runs.predictions import shard_numbers
from opencompass_gpassk.runs.running_job import begun_run
from opencompass_gpassk.runs.slurm_queue import in_queue
from opencompass_gpassk.runs.task_states import BY_SCANCEL, State, TaskState, task_states

INTERVAL = 2.0  # seconds between two writes, and between two looks
PLAIN_INTERVAL = 30.0  # seconds between lines where there is no terminal
SILENT = 60.0  # seconds without a write after which a task is taken to be dead
MOST_BYTES = 4096  # of a file
MOST = 10**12  # items or seconds; a longer number can't be shown
OUTPUTS = {'inference': 'predictions', 'evaluation': 'results'}
RUNNING, ENDED, FAILED = 'running', 'ended', 'failed'


@contextmanager
def progress_file(output: Path | None, stage: str) -> Iterator[None]:
    """Write every two seconds how far the work in the block is, as its progress bars tell.

    A file is written whole or not at all. A failed write never harms the work.

    Args:
        output: Where the task's output goes: ``RUN/predictions/MODEL/DATA SET.json`` or
            ``RUN/results/MODEL/DATA SET``. Nothing is written if it is elsewhere.
        stage: ``inference`` or ``evaluation``.
    """
    text = output.as_posix().removesuffix('.json') if output else ''
    run, inside, name = text.rpartition(f'/{OUTPUTS[stage]}/')
    if not inside:
        yield
        return
    path = Path(run, 'logs', 'progress', f'{name}.json')
    told = {'stage': stage, 'step': '', 'done': 0, 'total': 0, 'lost': 0, 'reused': 0, 'left': None}
    ended = threading.Event()
    newest_bar.clear()  # it may be of the task before

    def tell(state: str) -> None:
        with suppress(Exception):  # a full disk, a planted link: the work goes on
            told.update(_of_newest_bar())
            require_inside(Path(run), path)
            with written_whole(path) as part:
                part.write_text(json.dumps({**told, 'state': state}), encoding='ascii')

    def go_on() -> None:
        tell(RUNNING)
        while not ended.wait(INTERVAL):
            tell(RUNNING)

    writer = threading.Thread(target=go_on, daemon=True)
    writer.start()
    state = FAILED
    try:
        yield
        state = ENDED
    finally:
        ended.set()
        writer.join()
        tell(state)
        newest_bar.clear()


def _of_newest_bar() -> dict[str, Any]:
    if not newest_bar:
        return {}
    bar, status = newest_bar[0]
    new, missing = bar.n - bar.initial, (bar.total or bar.n) - bar.n
    return {
        'step': bar.desc.removesuffix(': '),
        'done': bar.n,
        'total': bar.total or bar.n,
        'lost': (said := status()).get('lost', 0),
        'reused': said.get('reused', 0),
        'quiet': said.get(NO_REPLY, ''),
        'left': round(missing * bar.format_dict['elapsed'] / new) if new else None,
    }


@dataclass(frozen=True)
class TaskProgress:
    """How far one task is, as its file tells.

    Attributes:
        stage: ``inference`` or ``evaluation``.
        step: What is done with the items, such as ``judging``; '' if nothing is counted yet.
        done: Number of finished items.
        total: Number of items.
        lost: Items that failed.
        reused: Items that were not drawn, since they were saved before.
        left: Seconds left, as far as they can be told.
        state: ``running``, ``ended`` or ``failed``.
        silent: Seconds since the file was written.
        quiet: For how long no reply came, in words; '' if there is nothing to tell.
    """

    stage: str
    step: str
    done: int
    total: int
    lost: int
    left: int | None
    state: str
    silent: float
    reused: int = 0
    quiet: str = ''

    @property
    def alive(self) -> bool:
        """Whether the task is at work."""
        return self.state == RUNNING and self.silent < SILENT

    def __str__(self) -> str:
        step = f' ({self.step})' if self.step and self.stage == 'evaluation' else ''
        text = f'{self.stage}{step}'
        if self.total:
            text += f' {self.done} of {self.total} ({100 * self.done // self.total} %)'
        text += f', {self.lost} lost' if self.lost else ''
        text += f', {self.reused} reused' if self.reused else ''
        if self.state == RUNNING and not self.alive:
            return f'{text}, nothing written for {_duration(self.silent)}: is it still running?'
        if self.state == FAILED:
            return f'{text}, failed'
        if self.alive and self.quiet:
            return f'{text}, {NO_REPLY} {self.quiet}'
        return text + (f', about {_duration(self.left)} left' if self.alive and self.left else '')


def _duration(seconds: float) -> str:
    minutes, hours = seconds // 60, seconds // 3600
    if hours >= 1:
        return f'{hours:.0f} h {minutes % 60:.0f} min'
    return f'{minutes:.0f} min' if minutes >= 2 else f'{seconds:.0f} s'


def _read(path: Path) -> TaskProgress | None:
    """Return what a file tells; None if it is not readable."""
    try:
        told = read_json(path, MOST_BYTES)
        left = told.get('left')
        reused = told.get('reused', 0)
        numbers = (told['done'], told['total'], told['lost'], left or 0, reused)
        if not all(0 <= int(one) <= MOST for one in numbers):
            return None
        return TaskProgress(
            short_line(str(told['stage']), 20),
            short_line(str(told.get('step', '')), 20),
            int(told['done']),
            int(told['total']),
            int(told['lost']),
            None if left is None else int(left),
            str(told.get('state', RUNNING)),
            time.time() - path.stat().st_mtime,
            int(reused),
            short_line(str(told.get('quiet', '')), 40),
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError):
        return None


def _of_data_set(run: Run, model: str, dataset: str) -> dict[str, TaskProgress]:
    """Return data set or shard → its progress, of the newest stage."""
    folder = run.folder / 'logs' / 'progress' / model
    names = _parts(run, model, dataset, (path.stem for path in folder.glob('*.json')))
    found = {name: one for name in names if (one := _read(folder / f'{name}.json'))}
    newest = min(found.values(), key=lambda one: one.silent, default=None)
    return {name: one for name, one in found.items() if newest and one.stage == newest.stage}


def _parts(run: Run, model: str, dataset: str, names: Iterable[str]) -> list[str]:
    """Return the data set, and those of the names that are its shards."""
    others = {other for of, other in run.pairs if of == model}
    return [dataset, *(f'{dataset}_{i}' for i in shard_numbers(dataset, names, others))]


def _waiting(
    run: Run, model: str, dataset: str, found: Mapping[str, TaskProgress]
) -> dict[str, str]:
    """Return data set or shard → what its Slurm job does, of those that aren't seen at work."""
    queue = {
        name.removeprefix(f'{model}/'): said
        for name, said in in_queue().items()
        if name.startswith(f'{model}/')
    }
    seen = {name for name, one in found.items() if one.alive or one.state == ENDED}
    parts = _parts(run, model, dataset, queue)
    return {name: queue[name] for name in parts if name in queue and name not in seen}


def progress_lines(run: Run, states: Sequence[TaskState]) -> list[str]:
    """Return a line for each unfinished task that has begun, those at work first, and the total.

    Args:
        run: The run.
        states: The states of its tasks.
    """
    working: list[str] = []
    others: list[str] = []
    names = called(state.dataset for state in states)
    undone = [state for state in states if state.state is not State.FINISHED]
    for state in undone:
        found = _of_data_set(run, state.model, state.dataset)
        title = f'{state.model}/{names[state.dataset]}'
        waiting = _waiting(run, state.model, state.dataset, found)
        # A traceback in the log of a task at work was none that ended it.
        alive = {name for name, one in found.items() if one.alive}
        if state.state is State.FAILED and not (waiting or alive):
            others.append(f'{title}: {state}')
            continue
        dead = {
            name: told
            for name, told in state.dead_shards.items()
            if name not in alive or BY_SCANCEL in told
        }
        for name, told in {**found, **dead, **waiting}.items():
            line = f'{title}{name.removeprefix(state.dataset)}: {told}'
            (working if told is found.get(name) and name in alive else others).append(line)
        if state.state is State.UNFINISHED and not found and not waiting:
            others.append(f'{title}: {state.stage}, nothing counted yet')
    total = f'{len(states) - len(undone)} of {len(states)} finished'
    return [*map(one_line, [*working, *others]), total]


def watch(folder: Path, alive: Callable[[Sequence[TaskState]], bool]) -> None:
    """Show on standard error how far the newest run in a folder is, until ``alive`` says no.

    On a terminal it is a block that is drawn again; elsewhere lines are printed now and then.

    Args:
        folder: A work dir, in which the run may not be there yet, or a timestamp folder.
        alive: Tells from the states of the run's tasks, none before it has begun, whether to go on.
    """
    terminal = sys.stderr.isatty()
    run, config, height, printed = None, None, 0, -math.inf
    shown: list[str] = []
    while True:
        with suppress(ValueError, OSError):  # OpenCompass has not begun, or is writing its config
            newest = begun_run(folder)
            if config != run_config(newest):
                run = planned_run(newest, read_run_config(newest))
                config = run_config(newest)
        states = task_states(run) if run else []
        if not (going := alive(states)) and run:
            states = task_states(run)  # it may have ended since
        lines = progress_lines(run, states) if run else []
        due = not going or time.monotonic() - printed >= PLAIN_INTERVAL
        if terminal:
            height = _draw(lines, height)
        elif lines != shown and due:
            print(*lines, sep='\n', file=sys.stderr, flush=True)
            shown, printed = lines, time.monotonic()
        if not going:
            return
        time.sleep(INTERVAL)


def _draw(lines: list[str], before: int) -> int:
    """Draw a block over the one of so many lines before; return the number of lines drawn."""
    width, height = shutil.get_terminal_size()
    room = max(height - 3, 1)
    if len(lines) > room:
        lines = [*lines[: room - 1], f'… {len(lines) - room} more; {lines[-1]}']
    up = f'\x1b[{before}A' if before else ''
    sys.stderr.write(f'{up}\x1b[J' + ''.join(f'{line[: width - 1]}\n' for line in lines))
    sys.stderr.flush()
    return len(lines)
