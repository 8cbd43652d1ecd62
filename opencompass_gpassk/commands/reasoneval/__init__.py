"""``gpassk reasoneval``: the quality of the steps of solutions, one action a module."""

from __future__ import annotations

import argparse
from typing import Any

from opencompass_gpassk.commands.reasoneval import filter, meta, run, score, train

__all__ = ['add_parser']

DESCRIPTION = """\
Is each step of a solution valid, and does it help (ReasonEval, arXiv 2404.05692)?

  gpassk reasoneval score FILE --model MODEL -o SCORED        score the steps of solutions
  gpassk reasoneval run RUN --model MODEL                     score the responses of a finished run
  gpassk reasoneval filter SCORED -o KEPT                     keep the good ones, as training data
  gpassk reasoneval meta --data FOLDER --scores PATH          do scores find people's errors?
  gpassk reasoneval train LABELS --backbone MODEL -o FOLDER   train a model on step labels
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        'reasoneval',
        help='are the steps of solutions valid, and do they help?',
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    for module in (score, run, filter, meta, train):
        module.add_action(actions)
