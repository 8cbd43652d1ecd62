"""``gpassk reasoneval filter``: keep the solutions with good steps."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command, check_output, note, write_lines
from opencompass_gpassk.formats.jsonlines import row_line
from opencompass_gpassk.reasoneval.solution_files import select

DESCRIPTION = """\
Keep the solutions that are valid and not redundant, for example for training (arXiv 2404.05692,
5.2). SCORED is a file of `gpassk reasoneval score`, or the steps file beside a result of a run
(<data set>.steps.jsonl.gz), whose rows have verdicts. Rows are written unchanged.
"""

VERDICTS = ('correct', 'any')
OTHER_VERDICTS = {None: 'with a wrong answer', 'correct': 'without a right answer', 'any': ''}


def add_action(actions: Any) -> None:
    """Add the action to the command line."""
    parser = add_command(actions, 'filter', 'keep the good solutions', DESCRIPTION, run)
    parser.add_argument('file', metavar='SCORED', help='JSON lines, or - for standard input')
    parser.add_argument(
        '--min-validity', type=float, default=0.5, metavar='SHARE', help='default: 0.5'
    )
    parser.add_argument(
        '--max-redundancy', type=float, default=0.15, metavar='SHARE', help='default: 0.15'
    )
    parser.add_argument(
        '--verdict',
        choices=VERDICTS,
        help='correct: keep only rows with a right answer; any: also rows with a wrong one '
        '(default: leave out rows whose verdict is incorrect)',
    )
    parser.add_argument('-o', '--output', type=Path, metavar='KEPT', help='file (default: print)')


def run(args: argparse.Namespace) -> int:
    """Write the rows that are good enough, and print their share."""
    check_output(args.output)
    found = select(
        args.file,
        min_validity=args.min_validity,
        max_redundancy=args.max_redundancy,
        verdict=args.verdict,
    )
    if found.valid_alone:
        note(
            f'{found.valid_alone} of {found.total} rows have no redundancy, as from process reward '
            'models; they are kept by validity alone'
        )
    write_lines(map(row_line, found.kept), args.output)
    for name, count in (
        ('kept', len(found.kept)),
        (f'below validity {args.min_validity}', found.left_out['invalid']),
        (f'above redundancy {args.max_redundancy}', found.left_out['redundant']),
        ('without scores', found.left_out['refused']),
        (OTHER_VERDICTS[args.verdict], found.left_out['other verdict']),
    ):
        if not name:
            continue
        share = 100 * count / found.total if found.total else math.nan
        note(f'{name}: {count} of {found.total} ({share:.1f} %)')
    return 0
