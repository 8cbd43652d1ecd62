"""The commands of ``gpassk``: one module each, with ``add_parser`` and ``run``."""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ['add_run_argument', 'add_trust_argument', 'add_undecided_argument']


def add_run_argument(parser: argparse.ArgumentParser) -> None:
    """Add the argument RUN to a command that reads one run."""
    parser.add_argument(
        'run_folder',
        metavar='RUN',
        type=Path,
        help='a timestamp folder, or a work dir (its newest run is used)',
    )


def add_trust_argument(parser: argparse.ArgumentParser) -> None:
    """Add --trust-config to a command that builds objects from a run's config."""
    parser.add_argument(
        '--trust-config',
        action='store_true',
        help='execute the config in RUN, which can do anything that you can, and import all that '
        'it and the results name; for your own runs with data sets or judges of other packages',
    )


def add_undecided_argument(parser: argparse.ArgumentParser) -> None:
    """Add --undecided to a command that may judge by rule."""
    parser.add_argument(
        '--undecided',
        choices=('unjudged', 'incorrect'),
        help='with judge rule: what an answer is that the rules cannot decide (default: unjudged)',
    )
