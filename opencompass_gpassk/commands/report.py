"""``gpassk report``: results as one HTML page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

__all__ = ['add_parser', 'run']

DESCRIPTION = """\
Write a page with everything that results say: a leaderboard, curves over τ, which problems are
solved only sometimes, each problem with its answers, the comparison of every two models, and how
each result came about. Name work dirs of OpenCompass (all their runs are shown), single runs, and
files or folders that gpassk score -o wrote, as many as you like. What could not be read, failed or
is not finished is named on the page and below. The page is one file, which loads nothing; of the
work dirs nothing is run, so that others' may be shown.
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        'report',
        help='results of any number of runs as one HTML page',
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
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
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the page."""
    from opencompass_gpassk.formats.display import one_line
    from opencompass_gpassk.report.page.data import page_data
    from opencompass_gpassk.report.page.html import write_page

    data = page_data(args.paths)
    write_page(args.output, data)
    for line in missing(data.document):
        print(one_line(line), file=sys.stderr)
    entries = sum(len(benchmark['entries']) for benchmark in data.document['benchmarks'])
    size = args.output.stat().st_size / 1e6
    results = len(data.document['facts'])
    print(f'{args.output}: {results} results in {entries} rows, {size:.1f} MB')
    return 0


def missing(document: dict[str, Any]) -> list[str]:
    """Return what the page says is not in it."""
    tasks = [f'{task} ({run}): {state}' for run, task, state in document['tasks']]
    return [*tasks, *document['faults']]
