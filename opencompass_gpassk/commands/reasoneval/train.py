"""``gpassk reasoneval train``: a step classifier of one's own."""

from __future__ import annotations

import argparse
from typing import Any

from opencompass_gpassk.reasoneval.training_settings import add_arguments

__all__ = ['add_action', 'run']

DESCRIPTION = """\
Fine-tune a language model on step labels, so that it scores steps (arXiv 2404.05692, section 3.2):
FILE is PRM800K's JSON lines, or a set of MR-MATH. What is saved is read by `gpassk reasoneval score
--model`. An interrupted training goes on from its last checkpoint when it is started again. Several
GPUs share the work of

  accelerate launch -m opencompass_gpassk.reasoneval.train FILE --backbone MODEL -o FOLDER
"""


def add_action(actions: Any) -> None:
    """Add the action to the command line."""
    parser = actions.add_parser(
        'train',
        help='train a model on step labels',
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Train, and print what came of it."""
    from opencompass_gpassk.reasoneval import train

    try:
        return train.run(args)
    except ImportError as error:  # accelerate is an extra
        raise ValueError(str(error)) from error
