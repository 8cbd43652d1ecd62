"""``gpassk status``: did all tasks of a run of OpenCompass finish, and if not, why?"""

from __future__ import annotations

import argparse
import json
from typing import Any

from opencompass_gpassk.commands import add_run_argument

__all__ = ['add_parser', 'run']

DESCRIPTION = """\
Tell what became of every model on every data set of a run of OpenCompass, which ends with exit
code 0 whatever happens to its tasks. Of a failed task the last exception in its log is shown.
The exit code is 0 if all are finished and 1 if not.
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        'status',
        help='did all tasks of a run finish, and if not, why?',
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_run_argument(parser)
    parser.add_argument('--json', action='store_true', help='a JSON line for each task')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print a line for each model and data set."""
    from opencompass_gpassk.formats.display import one_line
    from opencompass_gpassk.runs.config import find_run, planned_run, read_run_config
    from opencompass_gpassk.runs.task_states import State, task_states

    folder = find_run(args.run_folder)
    states = task_states(planned_run(folder, read_run_config(folder)))
    finished = sum(state.state is State.FINISHED for state in states)
    if args.json:
        for state in states:
            print(json.dumps(state.as_dict()))
    else:
        width = max((len(state.name) for state in states), default=0)
        for state in states:
            print(f'{one_line(state.name):{width}}  {one_line(str(state))}')
        print(f'{finished} of {len(states)} finished in {folder}')
    return 0 if finished == len(states) else 1
