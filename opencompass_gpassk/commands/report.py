"""``gpassk report``: write results as one HTML page."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command, check_outputs, written_output
from opencompass_gpassk.formats.display import counted, short_line
from opencompass_gpassk.report.files import write_for_paper
from opencompass_gpassk.report.page.data import PageData, page_data
from opencompass_gpassk.report.page.html import write_page

LONGEST = 60  # characters of an answer
COLUMN = 3.25  # inches: a column of a two-column page
NARROWEST, WIDEST = 2.0, 20.0  # inches of a chart

DESCRIPTION = """\
Write one HTML page about results: who is the most stable and how sure that is, which problems are
solved always, sometimes and never, each with its answers and responses, and groups of problems.
Name any number of work dirs of OpenCompass (all their runs are shown), single runs, and files
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
    parser.add_argument(
        '--responses',
        metavar='FOLDER',
        type=Path,
        help='show more responses, 40 MB instead of 4; those that were moved are searched here',
    )
    parser.add_argument(
        '--no-texts',
        action='store_true',
        help='leave out questions, gold answers and responses, as of a private benchmark',
    )
    parser.add_argument(
        '--suspects',
        action='store_true',
        help='only list the problems whose gold answer may be wrong, since models agree on another',
    )
    parser.add_argument(
        '--charts',
        metavar='DIR',
        type=Path,
        help='also write charts as PDF and SVG to this folder, and gpassk.tex: they and all tables '
        'for a paper',
    )
    parser.add_argument(
        '--width',
        type=float,
        default=COLUMN,
        help=f'of a chart, in inches, with texts of 8 points; default: {COLUMN}, a column of two',
    )


def run(args: argparse.Namespace) -> int:
    """Write the page; return 1 if results are missing on it."""
    if args.responses and not args.responses.is_dir():
        raise ValueError(f'--responses {args.responses}: there is no such folder')
    if not NARROWEST <= args.width <= WIDEST:
        raise ValueError(f'--width {args.width:g}: name {NARROWEST:g} to {WIDEST:g} inches')
    if args.charts and args.charts.exists() and not args.charts.is_dir():
        raise ValueError(f'--charts {args.charts} is no folder')
    if not args.suspects:
        check_outputs([args.output], [*args.paths, args.responses], begin=(b'<',))
    data = page_data(args.paths, responses=args.responses, texts=not args.no_texts)
    tasks = [f'{task} ({run}): {state}' for run, task, state in data.tasks]
    absent = [data.shown(line) for line in (*tasks, *data.untold)]
    results = len(data.sources.results)
    if not results:
        raise ValueError('\n'.join(['there is no result to show yet', *absent]))
    for line in absent:
        print(line, file=sys.stderr)
    if args.suspects:
        list_suspects(data)
        return 1 if tasks else 0
    with written_output(args.output) as part:
        write_page(part, data)
    entries = sum(len(one.entries) for one in data.data_sets)
    size = args.output.stat().st_size / 1e6
    print(
        f'{args.output}: {counted(results, "result")} in {counted(entries, "row")}, {size:.1f} MB'
    )
    if args.charts:
        for path in write_for_paper(args.charts, data.board, args.width):
            print(path)
    return 1 if tasks else 0


def list_suspects(data: PageData) -> None:
    """Print the problems whose gold answer may be wrong, the most agreed on first, and how many."""
    for one in data.data_sets:
        suspects = [(problem, of) for problem in one.problems if (of := problem.suspect)]
        for problem, found in sorted(suspects, key=lambda of: -of[1].share):
            who = ', '.join(one.entries[place].label for place in found.models)
            print(
                f'{data.shown(problem.name)}: gold {short_line(problem.gold, LONGEST)}; '
                f'{found.times} of {found.of} responses: {short_line(found.answer, LONGEST)} '
                f'({data.shown(who)}); gold answer: {found.right}'
            )
        print(
            f'{data.shown(one.name)}: {len(suspects)} of {len(one.problems)} gold answers may be '
            'wrong'
        )
