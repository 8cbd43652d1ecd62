"""``gpassk reasoneval meta``: measure how well scores find the errors that people labelled."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command, add_numbers, check_output, note
from opencompass_gpassk.commands.reasoneval.scorer_options import add_aggregates
from opencompass_gpassk.reasoneval.meta_evaluation import THRESHOLDS, evaluate_files
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.report.tables.meta_evaluation import (
    meta_json,
    meta_tables,
    threshold_tables,
)
from opencompass_gpassk.report.tables.table import to_text

DESCRIPTION = """\
Compare evaluators' scores of the steps of MR-MATH with people's labels: macro F1 and AUC for
invalid and redundant errors, of solutions and of steps, and the false-positive rate among right
answers by threshold of validity.

FOLDER holds mr-math_invalid_errors.json, mr-math_redundant_errors.json, or both. A file of scores
has a JSON line for each solution, with a score for each of its lines or steps:

  {"id": 0, "scores": [[0.01, 0.33, 0.66], ...]}    negative, neutral, positive
  {"id": 0, "scores": [0.69, ...]}                  one number, of a process reward model
  {"id": 0, "scores": null}                       refused

The file's or folder's name must contain the set's name: invalid_errors or redundant_errors.
"""


def add_action(actions: Any) -> None:
    """Add the action to the command line."""
    parser = add_command(actions, 'meta', "compare scores with people's labels", DESCRIPTION, run)
    parser.add_argument(
        '--data', type=Path, required=True, metavar='FOLDER', help='folder with MR-MATH'
    )
    parser.add_argument(
        '--scores',
        type=Path,
        nargs='+',
        required=True,
        metavar='PATH',
        help='files of scores, or folders of them',
    )
    for kind, beyond, usual in (
        ('validity', 'below', '0.5'),
        ('redundancy', 'above', '0.15, of a process reward model 0.5'),
    ):
        parser.add_argument(
            f'--{kind}-threshold',
            type=float,
            metavar='SHARE',
            help=f'{beyond} it is an error (default: {usual})',
        )
    add_aggregates(parser)
    add_numbers(
        parser,
        '--thresholds',
        float,
        'thresholds of validity in the table (default: 0.05, 0.1, ... 0.5)',
    )
    parser.add_argument('-o', '--output', type=Path, metavar='FILE', help='write the figures: JSON')


def run(args: argparse.Namespace) -> int:
    """Print and write the figures of all evaluators."""
    check_output(args.output)
    limits = {
        ErrorKind.INVALID: args.validity_threshold,
        ErrorKind.REDUNDANT: args.redundancy_threshold,
    }
    aggregates = {ErrorKind.INVALID: args.validity_by, ErrorKind.REDUNDANT: args.redundancy_by}
    found = evaluate_files(
        args.data, args.scores, thresholds=limits, aggregates=aggregates, report=note
    )
    thresholds = THRESHOLDS if args.thresholds is None else args.thresholds
    for table in [*meta_tables(found), *threshold_tables(found, thresholds)]:
        print(to_text(table))
    if args.output:
        args.output.write_text(meta_json(found, thresholds), encoding='ascii')
        note(f'{args.output} written')
    return 0
