"""The commands of ``gpassk``: one module each, with ``add_parser`` and ``run``."""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ['add_run_argument']


def add_run_argument(parser: argparse.ArgumentParser) -> None:
    """Add RUN to a command that is about one run."""
    parser.add_argument(
        'run_folder',
        metavar='RUN',
        type=Path,
        help='a timestamp folder, or the work dir, of which the newest run is meant',
    )
