"""``gpassk rescore``: make the results of a run again, without inference."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import (
    add_command,
    add_numbers,
    add_run_argument,
    add_trust_argument,
    add_undecided_argument,
    note,
)
from opencompass_gpassk.judging.settings import MODES, read_settings
from opencompass_gpassk.runs.config import read_config

DESCRIPTION = """\
Make the results of a run of OpenCompass again from its responses, after the judge, the thresholds,
the rules or a person's verdicts have changed. (OpenCompass's -r keeps all existing results.) Stored
verdicts are not asked for again. Data sets with other evaluators are not changed. The summary is
printed and written again.

The run may be someone else's: its config is read, not executed, and can't choose where a judge is.
Missing verdicts are asked of the judge in OC_JUDGE_MODEL and OC_JUDGE_API_BASE, --judge FILE or
--config. Data sets and evaluators of other packages need --config or --trust-config.
"""


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(
        subparsers,
        'rescore',
        told,
        DESCRIPTION,
        run,
    )
    add_run_argument(parser)
    parser.add_argument(
        '--judge',
        metavar='JUDGE',
        help='rule, llm, cascade, or a JSON file of settings (default: the judge of the existing '
        'result)',
    )
    add_undecided_argument(parser)
    add_numbers(parser, '-k', int, 'k of G-Pass@k, after RUN')
    add_numbers(parser, '--tau', float, 'thresholds')
    parser.add_argument(
        '--min-coverage',
        type=float,
        metavar='SHARE',
        help='end with an error if the judge cannot be reached and less than this share of the '
        'responses is judged (default: as in the config)',
    )
    parser.add_argument(
        '--config',
        type=Path,
        help='a changed config of OpenCompass: its data sets replace those of the same abbr '
        '(default: the config that the run was started with)',
    )
    add_trust_argument(parser)
    parser.add_argument('--model', nargs='+', default=[], help='abbrs of the models to rescore')
    parser.add_argument('--dataset', nargs='+', default=[], help='abbrs of the data sets')


def run(args: argparse.Namespace) -> int:
    """Rescore, then summarize."""
    from opencompass_gpassk.commands.rescore.task import Changes, rescore_run

    if args.config:
        sys.path.insert(0, str(Path.cwd()))  # as OpenCompass does, for classes beside a config
    judge: Any = args.judge
    if args.undecided and judge is None:
        raise ValueError('--undecided is for verdicts by rule; give --judge rule too')
    if judge is not None:
        settings = read_settings(judge, args.undecided)  # before any work
        if judge not in MODES or settings.rules != 'rule':
            judge = settings.as_dict()
    changes = Changes(
        judge,
        args.tau,
        args.k,
        args.min_coverage,
        datasets=read_config(args.config)['datasets'] if args.config else (),
        trusted=args.trust_config,
    )
    return rescore_run(
        args.run_folder, changes, models=args.model, datasets=args.dataset, report=note
    )
