"""``gpassk report``: write results as one HTML page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command, check_output
from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.report.page.data import page_data
from opencompass_gpassk.report.page.html import write_page

DESCRIPTION = """\
Write one HTML page about results: a leaderboard, curves over τ, the problems that are solved only
sometimes, each problem with its answers, comparisons of every two models, and how each result was
made. Name any number of work dirs of OpenCompass (all their runs are shown), single runs, and files
or folders of gpassk score -o. Files that can't be read and tasks that failed or are unfinished are
listed on the page and on standard error; the exit code is 1 if tasks are missing. The page loads
nothing from elsewhere. No code in the work dirs is executed, so other people's work dirs are safe
to show.
"""


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(
        subparsers,
        'report',
        told,
        DESCRIPTION,
        run,
    )
    parser.add_argument(
        'paths',
        metavar='PATH',
        type=Path,
        nargs='+',
        help='work dirs, timestamp folders, results of gpassk score',
    )
    parser.add_argument(
        '-o', '--output', type=Path, default=Path('report.html'), help='default: report.html'
    )


def run(args: argparse.Namespace) -> int:
    """Write the page; return 1 if results are missing on it."""
    check_output(args.output)
    data = page_data(args.paths)
    absent = [one_line(line) for line in missing(data.document)]
    if not data.document['facts']:
        raise ValueError('\n'.join(['there is no result to show yet', *absent]))
    write_page(args.output, data)
    for line in absent:
        print(line, file=sys.stderr)
    entries = sum(len(benchmark['entries']) for benchmark in data.document['benchmarks'])
    size = args.output.stat().st_size / 1e6
    results = len(data.document['facts'])
    print(f'{args.output}: {results} results in {entries} rows, {size:.1f} MB')
    return 1 if data.document['tasks'] else 0


def missing(document: dict[str, Any]) -> list[str]:
    """Return the lines on the page about missing tasks and unreadable files."""
    tasks = [f'{task} ({run}): {state}' for run, task, state in document['tasks']]
    return [*tasks, *document['faults']]
