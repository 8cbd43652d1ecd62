"""Where a store lies: in a run, or where the environment says."""

from __future__ import annotations

import os
from pathlib import Path

from opencompass_gpassk.judging.storage.schema import DATABASE_NAMES, VERDICTS, Schema
from opencompass_gpassk.runs import find_run

__all__ = ['NAME', 'find_store', 'named_path', 'require_beginnable', 'store_path']

NAME = VERDICTS.name


def store_path(run: Path | None) -> Path | None:
    """Return where verdicts are kept: ``GPASSK_VERDICT_STORE``, else ``verdicts.sqlite`` in a run.

    Raises:
        ValueError: If ``GPASSK_VERDICT_STORE`` is a folder.
    """
    return named_path(VERDICTS, run)


def named_path(schema: Schema, run: Path | None) -> Path | None:
    """Return the store that a kind's environment variable names, else the one in a run, if any.

    Raises:
        ValueError: If the variable names a folder.
    """
    given = os.environ.get(schema.variable, '').strip()
    if not given:
        return None if run is None else run / schema.name
    try:
        path = Path(given).expanduser().absolute()
    except RuntimeError as error:  # ~somebody unknown
        raise ValueError(f'{schema.variable} is {given}: {error}') from error
    if path.is_dir():
        raise ValueError(
            f'{schema.variable} is {given}, a folder; name a file in it, such as '
            f'{path / schema.name}'
        )
    return path


def find_store(given: Path | None) -> Path:
    """Return the store that a user means.

    Args:
        given: A store's file; or a run: a timestamp folder, or the work dir, of which the newest
            is taken, and the store that its evaluation takes (:func:`store_path`); or None, which
            is the file in ``GPASSK_VERDICT_STORE``.

    Raises:
        ValueError: If nothing is meant, or there is no run in a folder.
    """
    path = store_path(None) if given is None else given
    if path is None:
        raise ValueError('name a verdict store or a run, or set GPASSK_VERDICT_STORE')
    if given is None or not path.is_dir():
        return path
    try:
        run = find_run(path)
    except ValueError:
        if not (path / NAME).is_file():  # that of scored samples
            raise
        run = path
    return store_path(run) or run / NAME


def require_beginnable(path: Path) -> None:
    """Refuse to begin a store where a mistyped path would have it.

    OpenCompass takes whatever lies beside timestamp folders for one of them.

    Raises:
        ValueError: If there is no store, and its name is none of a database, or runs lie beside it.
    """
    if path.exists() and (path.stat().st_size or path.suffix in DATABASE_NAMES):
        return
    if path.suffix not in DATABASE_NAMES:
        raise ValueError(
            f'{path}: there is no verdict store; a new one is begun in a run, or in a file whose '
            f'name ends in {", ".join(DATABASE_NAMES)}'
        )
    beside = path.parent if path.parent.is_dir() else path.parent.parent
    if any(beside.glob('[0-9]*_[0-9]*/configs')):
        raise ValueError(
            f'{path}: {beside} holds runs, and nothing but runs may lie in it; name one of them, '
            'or a file elsewhere'
        )
