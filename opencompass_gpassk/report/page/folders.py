"""Where runs and results lie below a folder, however deep."""

from __future__ import annotations

import os
import re
from pathlib import Path

__all__ = ['TRIALS', 'results_below', 'run_around']

TRIALS = '.trials.jsonl.gz'
TIME = re.compile(r'\d{8}_\d{6}')
OF_RUN = frozenset({'configs', 'predictions', 'results', 'logs', 'summary'})


def run_around(path: Path) -> Path | None:
    """Return the run that a path is, or in whose results it lies."""
    whole = path.absolute()
    for folder in (whole, *whole.parents):
        if folder.name == 'results' and _is_run(folder.parent):
            return folder.parent
    return path if path.is_dir() and _is_run(path) else None


def results_below(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the runs below a folder, and the JSON files outside of them that may be results.

    A file is such a file itself. What is hidden is passed over, and no link followed.
    """
    if path.is_file():
        return [], [path]
    runs: list[Path] = []
    files: set[Path] = set()
    for name, folders, names in os.walk(path):
        folder = Path(name)
        if _is_run(folder):
            runs.append(folder)
            folders[:] = [one for one in folders if one not in OF_RUN]
        else:
            files |= {folder / one for one in names if one.endswith('.json')}
            # A result that is missing is said to be so when it is read.
            files |= {
                folder / f'{one.removesuffix(TRIALS)}.json' for one in names if one.endswith(TRIALS)
            }
        folders[:] = [one for one in folders if not one.startswith('.')]
    return sorted(runs), sorted(files)


def _is_run(folder: Path) -> bool:
    found = [(folder / name).is_dir() for name in ('configs', 'predictions', 'results')]
    # Many a project has a folder of configs, or of results.
    return sum(found) > 1 or found[1] or (any(found) and TIME.fullmatch(folder.name) is not None)
