"""``gpassk configs``: print the folder of this package's configs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command

DESCRIPTION = """\
Print the folder of this package's configs, for OpenCompass's option --config-dir:

  opencompass --config-dir "$(gpassk configs)" --datasets livemathbench_gpassk_gen \\
      --models demo --summarizer gpassk
"""


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(
        subparsers,
        'configs',
        told,
        DESCRIPTION,
        run,
    )
    parser.add_argument('--list', action='store_true', help='print the configs in it instead')


def configs_folder() -> Path:
    """Return the folder of the configs; in the repository it is a link to the top level's.

    Raises:
        ValueError: If the folder isn't there.
    """
    folder = Path(__file__).resolve().parent.parent / 'configs'
    if not (folder / 'datasets').is_dir():
        raise ValueError(f'no configs in {folder}; install opencompass-gpassk again')
    return folder


def run(args: argparse.Namespace) -> int:
    """Print the folder, or the configs in it."""
    folder = configs_folder()
    if not args.list:
        print(folder)
        return 0
    for path in sorted(folder.rglob('*.py')):
        if path.name != '__init__.py':
            print(path.relative_to(folder))
    return 0
