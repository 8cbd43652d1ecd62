"""What is shown of a run while it goes on: the lines of ``gpassk status``, again and again."""

from __future__ import annotations

import math
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from opencompass_gpassk.runs.config import planned_run, read_run_config, run_config
from opencompass_gpassk.runs.running_job import begun_run
from opencompass_gpassk.runs.task_states import State, TaskState, state_lines, task_states

INTERVAL = 2.0  # seconds between two looks
PLAIN_INTERVAL = 10.0  # seconds between lines where there is no terminal


def watched_lines(states: Sequence[TaskState]) -> list[str]:
    """Return the lines of unfinished tasks that have begun, those at work first, and the total."""
    undone = [state for state in states if state.state is not State.FINISHED]
    begun = [state for state in undone if state.state is not State.NOT_STARTED]
    lines = state_lines(sorted(begun, key=lambda state: not state.at_work))
    return [*lines, f'{len(states) - len(undone)} of {len(states)} finished']


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
        lines = watched_lines(states) if run else []
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
