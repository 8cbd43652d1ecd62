"""How a solution's scores are made of its steps', on the command line."""

from __future__ import annotations

import argparse

__all__ = ['add_aggregates']


def add_aggregates(parser: argparse.ArgumentParser) -> None:
    """Add ``--validity-by`` and ``--redundancy-by``."""
    for kind, usual in (('validity', 'min'), ('redundancy', 'max')):
        parser.add_argument(
            f'--{kind}-by',
            metavar='HOW',
            help=f"makes a solution's {kind} of its steps': min, max, mean or 'geometric mean' "
            f'(default: {usual})',
        )
