"""``gpassk reasoneval run``: score the reasoning in the responses of a finished run."""

from __future__ import annotations

import argparse
from typing import Any

from opencompass_gpassk.commands import add_command, add_run_argument, add_trust_argument, note
from opencompass_gpassk.commands.reasoneval.scorer_options import (
    add_scorer_options,
    scorer_settings,
)
from opencompass_gpassk.reasoneval.scorers import make_scorer

DESCRIPTION = """\
Score the reasoning in the responses of a run of OpenCompass, without inference. This adds validity,
redundancy, the false-positive rate and sound G-Pass@k to its results. The scores of all steps are
written beside each result, to <data set>.steps.jsonl.gz. Stored verdicts are not asked for again.
Scores are stored at once (in step_scores.sqlite in the run, or the file in GPASSK_SCORE_STORE), so
that an interrupted command continues when it is started again. The summary is printed and written
again. Data sets with other evaluators are not changed.
"""


def add_action(actions: Any) -> None:
    """Add the action to the command line."""
    parser = add_command(actions, 'run', 'score the responses of a finished run', DESCRIPTION, run)
    add_run_argument(parser)
    add_trust_argument(parser)
    add_scorer_options(parser)
    parser.add_argument(
        '--threshold',
        type=float,
        metavar='SHARE',
        help='a right response is sound if its validity is at least this (default: 0.25)',
    )
    parser.add_argument(
        '--only-models', nargs='+', default=[], metavar='ABBR', help='score these; after RUN'
    )
    parser.add_argument(
        '--only-datasets', nargs='+', default=[], metavar='ABBR', help='score these; after RUN'
    )


def run(args: argparse.Namespace) -> int:
    """Rescore with scores of the reasoning, then summarize."""
    from opencompass_gpassk.commands.rescore.task import Changes, rescore_run

    threshold = {} if args.threshold is None else {'threshold': args.threshold}
    settings = scorer_settings(args, **threshold)
    make_scorer(settings, report=note)  # report its errors once, before any work
    changes = Changes(reasoning=settings.as_dict(), trusted=args.trust_config)
    return rescore_run(
        args.run_folder,
        changes,
        models=args.only_models,
        datasets=args.only_datasets,
        report=note,
    )
