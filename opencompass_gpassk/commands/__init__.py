"""The commands of ``gpassk``: one module each, with ``add_parser`` and ``run``."""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ['add_run_argument', 'add_trust_argument']


def add_run_argument(parser: argparse.ArgumentParser) -> None:
    """Add RUN to a command that is about one run."""
    parser.add_argument(
        'run_folder',
        metavar='RUN',
        type=Path,
        help='a timestamp folder, or the work dir, of which the newest run is meant',
    )


def add_trust_argument(parser: argparse.ArgumentParser) -> None:
    """Add --trust-config to a command that makes parts of a run's config again."""
    parser.add_argument(
        '--trust-config',
        action='store_true',
        help='run the config in RUN, which can do anything that you can, and use whatever it and '
        'the results name; for runs of your own with data sets or judges of other packages',
    )
