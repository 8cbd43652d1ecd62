"""``gpassk status``: show which tasks of a run of OpenCompass finished, and why others didn't."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command, add_run_argument, note
from opencompass_gpassk.formats.jsonlines import row_line
from opencompass_gpassk.report.brief import Command, next_lines
from opencompass_gpassk.results.read import ModelResult, find_results
from opencompass_gpassk.runs.config import find_run, planned_run, read_run_config, run_config
from opencompass_gpassk.runs.running_job import is_running
from opencompass_gpassk.runs.task_states import State, TaskState, state_lines, task_states
from opencompass_gpassk.runs.watch import watch

DESCRIPTION = """\
Show the state of every model on every data set of a run. OpenCompass itself ends with exit code 0
even if its tasks fail. For a failed task the last exception in its log is shown, for one at work
how far it is. The metrics of each result are computed again from its trials file; a result that has
others is marked with BUT. With --watch, how far the tasks are is shown until all of them
ended; Ctrl-C ends it earlier. The exit code is 0 if all tasks are finished and no result is
marked, else 1.
"""

ENDED = (State.FINISHED, State.FAILED)


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(
        subparsers,
        'status',
        told,
        DESCRIPTION,
        run,
    )
    add_run_argument(parser)
    parser.add_argument('--json', action='store_true', help='print a JSON document')
    parser.add_argument(
        '--watch', action='store_true', help='first show live how far the tasks are'
    )


def run(args: argparse.Namespace) -> int:
    """Print a line for each model and data set."""
    if args.watch:
        with suppress(KeyboardInterrupt):
            watch(
                args.run_folder,
                lambda states: (
                    is_running(args.run_folder) or any(one.state not in ENDED for one in states)
                ),
            )
    folder = find_run(args.run_folder)
    planned = planned_run(folder, read_run_config(folder))
    sources = find_results([folder])
    states = task_states(planned)
    finished = [state for state in states if state.state is State.FINISHED]
    results = {f'{one.model}/{one.dataset}': one for one in sources.results}
    marks = {
        state.name: _contradiction(results[state.name])
        if state.name in results
        else sources.unread.get(folder / 'results' / state.model / f'{state.dataset}.json')
        for state in finished
    }
    whole = len(finished) == len(states)
    if args.json:
        tasks = [{**one.as_dict(), 'contradiction': marks.get(one.name)} for one in states]
        print(row_line({'run': str(folder), 'tasks': tasks}, indent=1), end='')
    else:
        print(*state_lines(states, marks), sep='\n')
        print(f'{len(finished)} of {len(states)} finished in {folder}')
        print('\n'.join(next_lines([_next(folder, states, whole=whole)])))
    return 0 if whole and not any(marks.values()) else 1


def _next(folder: Path, states: Sequence[TaskState], *, whole: bool) -> Command:
    """Return what to do next."""
    if whole:
        return f'gpassk report {shlex.quote(str(folder))} -o report.html', 'metrics as one page'
    if is_running(folder.absolute().parent) or any(one.at_work for one in states):
        return f'gpassk status {shlex.quote(str(folder))} --watch', 'how far it is, live'
    words = ['opencompass', run_config(folder), '-w', folder.parent, '-r', folder.name]
    return shlex.join(map(str, words)), 'go on: finished work is kept'


def _contradiction(found: ModelResult) -> str | None:
    """Return in what a result and its trials contradict each other, '' if they agree.

    None is unknown: its trials can't be read.
    """
    try:
        return found.contradiction(found.table())
    except ValueError as error:
        note(f'gpassk status: not compared with its trials: {error}')
        return None
