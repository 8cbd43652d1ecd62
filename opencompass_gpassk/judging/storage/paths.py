"""Where a verdict store lies: in a run, or where the environment says."""

from __future__ import annotations

import os
from pathlib import Path

from opencompass_gpassk.runs import find_run

__all__ = ['NAME', 'find_store', 'store_path']

NAME = 'verdicts.sqlite'


def store_path(run: Path | None) -> Path | None:
    """Return where verdicts are kept: ``GPASSK_VERDICT_STORE``, else ``verdicts.sqlite`` in a run.

    Raises:
        ValueError: If ``GPASSK_VERDICT_STORE`` is a folder.
    """
    given = os.environ.get('GPASSK_VERDICT_STORE', '').strip()
    if not given:
        return None if run is None else run / NAME
    try:
        path = Path(given).expanduser().absolute()
    except RuntimeError as error:  # ~somebody unknown
        raise ValueError(f'GPASSK_VERDICT_STORE is {given}: {error}') from error
    if path.is_dir():
        raise ValueError(
            f'GPASSK_VERDICT_STORE is {given}, a folder; name a file in it, such as {path / NAME}'
        )
    return path


def find_store(given: Path | None) -> Path:
    """Return the store that a user means.

    Args:
        given: A store's file; or a run: a timestamp folder, or the work dir, of which the newest
            is taken; or None, which is the file in ``GPASSK_VERDICT_STORE``.

    Raises:
        ValueError: If nothing is meant, or there is no run in a folder.
    """
    path = given or store_path(None)
    if path is None:
        raise ValueError('name a verdict store or a run, or set GPASSK_VERDICT_STORE')
    return find_run(path) / NAME if path.is_dir() else path
