"""Sources of a data set's rows: a local path, a hub, or OpenCompass's own files.

A hub's address is tested before its library is called, because libraries retry for minutes without
a network.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from opencompass_gpassk.datasets.data_files import Part, Row, read_folder, read_rows

__all__ = [
    'DataNotFoundError',
    'Sources',
    'load_rows',
    'opencompass_download',
    'read_hub',
    'read_modelscope',
]

PROBE_SECONDS = 4.0


def read_hub(repository: str, parts: Sequence[Part]) -> dict[str, list[Row]]:
    """Read all parts from the HuggingFace hub, or from its local cache if it can't be reached.

    Raises:
        Exception: Errors of the libraries, or ConnectionError.
    """
    import datasets
    from huggingface_hub import constants

    unreachable = 'HF_HUB_OFFLINE is set' if constants.HF_HUB_OFFLINE else ''
    unreachable = unreachable or _unreachable(constants.ENDPOINT)
    found: dict[str, list[Row]] = {}
    with _offline(datasets.config, bool(unreachable)):
        for part, config in _configs(parts):
            try:
                rows = datasets.load_dataset(repository, config, split=part.hub_split)
            except Exception as error:  # without its hub the library may raise anything
                if unreachable:
                    raise ConnectionError(
                        f'{unreachable}, and {part.name} is not in the local cache'
                    ) from error
                raise
            found.setdefault(part.name, []).extend(_as_rows(repository, config, rows))
    return found


def read_modelscope(repository: str, parts: Sequence[Part]) -> dict[str, list[Row]]:
    """Read all parts from ModelScope.

    Raises:
        ImportError: If modelscope isn't installed.
        Exception: Errors of the library, or ConnectionError.
    """
    try:
        from modelscope import MsDataset
    except ImportError as error:
        raise ImportError(f'{error}; install it with `pip install modelscope`') from error
    unreachable = _unreachable('https://www.modelscope.cn')
    if unreachable:
        raise ConnectionError(unreachable)
    found: dict[str, list[Row]] = {}
    for part, config in _configs(parts):
        settings = {'subset_name': config} if config else {}
        rows = MsDataset.load(repository, split=part.hub_split, **settings)
        found.setdefault(part.name, []).extend(_as_rows(repository, config, rows))
    return found


def opencompass_download(known: str) -> Path:
    """Let OpenCompass download its archive of a data set; return the path of the files.

    Raises:
        Exception: Errors of OpenCompass, or ConnectionError.
    """
    from opencompass.utils.datasets import download_dataset
    from opencompass.utils.datasets_info import DATASETS_MAPPING, DATASETS_URL

    local = DATASETS_MAPPING[known]['local']
    urls = [entry['url'] for name, entry in DATASETS_URL.items() if name in local]
    if not urls:
        raise LookupError('OpenCompass knows no archive of it')
    unreachable = _unreachable(urls[-1])  # the URL that OpenCompass uses
    if unreachable:
        raise ConnectionError(unreachable)
    cache = os.environ.get('COMPASS_DATA_CACHE', '')
    return Path(download_dataset(os.path.join(cache, local), cache))  # noqa: PTH118 - its own form


def _unreachable(url: str) -> str:
    """Return why a host can't be reached, '' if it can; through a proxy if one is set."""
    import requests

    try:
        requests.head(url, timeout=PROBE_SECONDS, allow_redirects=False)
    except requests.RequestException as error:
        return f'{url} cannot be reached ({type(error).__name__})'
    return ''


@contextmanager
def _offline(config: Any, offline: bool) -> Iterator[None]:
    """Let the library use only its cache."""
    before = config.HF_HUB_OFFLINE
    config.HF_HUB_OFFLINE = before or offline
    try:
        yield
    finally:
        config.HF_HUB_OFFLINE = before


def _configs(parts: Sequence[Part]) -> list[tuple[Part, str | None]]:
    return [(part, config) for part in parts for config in part.hub_configs]


def _as_rows(repository: str, config: str | None, rows: Any) -> list[Row]:
    name = f'{repository}/{config}' if config else repository
    return [Row(f'{name}, row {number}', dict(fields)) for number, fields in enumerate(rows, 1)]


RowsByPart = dict[str, list[Row]]


class DataNotFoundError(ValueError):
    """No source has the data."""


@dataclass(frozen=True)
class Sources:
    """A data set's parts, and the sources to try in order.

    Attributes:
        title: Its name in messages.
        parts: The parts to load.
        path: A file or folder of the user's. If given, no other source is tried.
        subfolders: Subfolders that may contain the files, besides the folder itself.
        hub: Its repository on the HuggingFace hub, None to leave the hub out.
        modelscope: Its repository on ModelScope, used instead of the hub if the environment
            variable DATASET_SOURCE is ``ModelScope``; None if it has none.
        opencompass: Its id in OpenCompass's table of data sets, None to leave its files out.
        download: Let OpenCompass download missing files.
        narrowing: How the user can select fewer parts, for the message about a missing file.
    """

    title: str
    parts: tuple[Part, ...]
    path: str | None = None
    subfolders: tuple[str, ...] = ()
    hub: str | None = None
    modelscope: str | None = None
    opencompass: str | None = None
    download: bool = True
    narrowing: str = ''


def load_rows(sources: Sources) -> RowsByPart:
    """Return the rows of each part by its name, from the first source that has them.

    Raises:
        ValueError: If the user's own path doesn't exist or lacks a part.
        DataNotFoundError: If no source has the data; it names each source with the reason.
    """
    if sources.path:
        return _read_path(sources, Path(sources.path).expanduser())
    failures = []
    for name, attempt in _attempts(sources):
        try:
            return attempt()
        # Hubs and downloads can raise any error; each one is reported to the user.
        except Exception as error:
            failures.append(f'{name}: {_one_line(error)}')
    tried = '\n'.join(f'  - {failure}' for failure in failures) or '  - nothing: all are turned off'
    raise DataNotFoundError(
        f'{sources.title}: no source has the data. Tried:\n{tried}\n'
        'Supply them in one of three ways:\n'
        "  1. files of your own: path='FOLDER or FILE' in the data set's config, or the "
        f'environment variable GPASSK_DATA; files: {_file_names(sources)}\n'
        f'  2. the HuggingFace hub: go online, accept the terms of {sources.hub or "a repository"} '
        "if it has any, log in with `huggingface-cli login`, or name a mirror with hub='NAME' or "
        'HF_ENDPOINT (ModelScope: DATASET_SOURCE=ModelScope)\n'
        "  3. OpenCompass's data archive: unpack it and set COMPASS_DATA_CACHE to the folder that "
        'holds data/'
    )


def _attempts(sources: Sources) -> Iterator[tuple[str, Callable[[], RowsByPart]]]:
    if sources.opencompass:
        for folder in _cache_folders(sources.opencompass):
            yield f"OpenCompass's files in {folder}", partial(_read_path, sources, folder)
    if sources.modelscope and os.environ.get('DATASET_SOURCE') == 'ModelScope':
        yield (
            f'ModelScope, {sources.modelscope}',
            partial(read_modelscope, sources.modelscope, sources.parts),
        )
    elif sources.hub:
        yield f'HuggingFace hub, {sources.hub}', partial(read_hub, sources.hub, sources.parts)
    if sources.opencompass and sources.download:
        known = sources.opencompass
        yield (
            f"OpenCompass's download of {known}",
            lambda: _read_path(sources, opencompass_download(known)),
        )


def _cache_folders(known: str) -> list[Path]:
    """Return the folders where OpenCompass looks before it downloads anything."""
    from opencompass.utils.datasets import DEFAULT_DATA_FOLDER
    from opencompass.utils.datasets_info import DATASETS_MAPPING

    local = DATASETS_MAPPING.get(known, {}).get('local')
    if not local:
        return []
    roots = [os.environ.get('COMPASS_DATA_CACHE', ''), DEFAULT_DATA_FOLDER]
    return [Path(root) / local for root in roots]


def _read_path(sources: Sources, path: Path) -> RowsByPart:
    if path.is_dir():
        try:
            return read_folder(sources.parts, path, sources.subfolders)
        except ValueError as error:
            hint = f'. {sources.narrowing}' if sources.narrowing else ''
            raise ValueError(f'{sources.title}: {error}{hint}') from error
    if path.is_file():
        return _read_file(sources, path)
    raise ValueError(f'{sources.title}: path {str(path)!r} does not exist')


def _read_file(sources: Sources, path: Path) -> RowsByPart:
    """Read a single file that holds one part, or all parts with their labels as fields."""
    rows = read_rows(path)
    if len(sources.parts) == 1 and not (
        sources.parts[0].labels.keys() <= (rows[0].fields.keys() if rows else set())
        and sources.parts[0].labels
    ):
        return {sources.parts[0].name: rows}
    for part in sources.parts:
        if (path.stem,) in part.layouts:
            raise ValueError(
                f'{path} holds only {part.name}, but {len(sources.parts)} parts are selected. '
                f'{sources.narrowing or "Give the folder"}'
            )
    names = list(sources.parts[0].labels)
    found: RowsByPart = {part.name: [] for part in sources.parts}
    for row in rows:
        missing = [name for name in names if name not in row.fields]
        if missing:
            raise ValueError(
                f'{row.place}: field {" and ".join(missing)} is missing, which tells the part of a '
                f'row in a file with several parts; add it, or give a folder with '
                f'{_file_names(sources)}'
            )
        for part in sources.parts:
            if all(str(row.fields[name]) == label for name, label in part.labels.items()):
                found[part.name].append(row)
    empty = [name for name, members in found.items() if not members]
    if empty:
        raise ValueError(f'{path}: no rows of {", ".join(empty)}. {sources.narrowing}')
    return found


def _file_names(sources: Sources) -> str:
    return ', '.join(f'{stem}.jsonl' for part in sources.parts for stem in part.layouts[0])


def _one_line(error: Exception) -> str:
    text = ' '.join(str(error).split()) or 'no message'
    return f'{type(error).__name__}: {text[:300]}'
