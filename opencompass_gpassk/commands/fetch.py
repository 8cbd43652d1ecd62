"""``gpassk fetch``: download the data that a job needs."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command
from opencompass_gpassk.commands.run import load_data
from opencompass_gpassk.commands.run.job import JobSettings, dataset_configs
from opencompass_gpassk.datasets.data_files import noted_files
from opencompass_gpassk.datasets.sources import cache_folders
from opencompass_gpassk.formats.display import counted

DESCRIPTION = """\
Download the data sets that a job needs, and print how large they are and where they lie:

  gpassk fetch livemathbench math500-l5 aime2024-45 gsm8k

Run it where there is a network, such as on a login node. Machines that share its home folder find
the data there; set HF_HUB_OFFLINE=1 on them. What is already there is not downloaded again.
"""


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(
        subparsers,
        'fetch',
        told,
        DESCRIPTION,
        run,
    )
    parser.add_argument(
        'data', metavar='DATA', nargs='+', help='a data set, named as in gpassk run --data'
    )


def run(args: argparse.Namespace) -> int:
    """Load each data set as a job does, and print a line for each.

    Raises:
        ValueError: If some don't load, after the others were.
    """
    failures = []
    for name in args.data:
        files: set[Path] = set()
        try:
            for dataset in dataset_configs(name, JobSettings(n=1, k=[1])):
                with noted_files() as read:
                    load_data([dataset])
                files |= {*(read or _opencompass_files(dataset))}
        except ValueError as error:  # the other data sets are wanted all the same
            failures.append(str(error))
        else:
            print(f'{name}: {_told(files)}', flush=True)
    if failures:
        raise ValueError('\n'.join(failures))
    return 0


def _opencompass_files(dataset: Mapping[str, Any]) -> Iterable[Path]:
    """Return the files of a data set that a class of OpenCompass has loaded, if it tells them."""
    path = str(dataset.get('problems', {}).get('path', ''))
    for place in cache_folders(path):
        if place.exists():
            return filter(Path.is_file, [place, *place.rglob('*')])
    return []


def _told(files: Iterable[Path]) -> str:
    """Return number, size and common folder of files."""
    places = [Path(os.path.abspath(file)) for file in files]  # noqa: PTH100 - a link stays one
    if not places:
        return 'loads; it has no files, or its class does not tell them'
    size = sum(file.stat().st_size for file in places)
    folder = os.path.commonpath([file.parent for file in places])
    return f'{counted(len(places), "file")}, {size / 1000:,.1f} kB, in {folder}'
