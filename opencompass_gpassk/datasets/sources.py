"""Sources of a data set's rows: a local path, a hub, or OpenCompass's own files.

A hub's address is tested before its library is called, because libraries retry for minutes without
a network.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from opencompass_gpassk.datasets.data_files import FORMATS, DataPart, Row, read_folder, read_rows

PROBE_SECONDS = 4.0
TOLD = 900  # characters of a source's error

RowsByPart = dict[str, list[Row]]


def hub_snapshot(repository: str) -> Path:
    """Return the folder of a data set's files from the Hugging Face hub, in its local cache.

    If the hub can't be reached, the cache is taken as it is. Only data files and the README are
    downloaded, and none is run.

    Raises:
        Exception: Errors of the library, or ConnectionError.
    """
    from huggingface_hub import constants, snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    unreachable = 'HF_HUB_OFFLINE is set' if constants.HF_HUB_OFFLINE else ''
    unreachable = unreachable or _unreachable(constants.ENDPOINT)
    try:
        return Path(
            snapshot_download(
                repository,
                repo_type='dataset',
                allow_patterns=['README.md', *(f'*{ending}' for ending in FORMATS)],
                local_files_only=bool(unreachable),
            )
        )
    except LocalEntryNotFoundError as error:
        if not unreachable:
            raise
        raise ConnectionError(
            f'{unreachable}, and it is not in the local cache {constants.HF_HUB_CACHE}; download '
            'it where there is a network with gpassk fetch'
        ) from error


def read_modelscope(repository: str, parts: Sequence[DataPart]) -> RowsByPart:
    """Read all parts from ModelScope.

    Raises:
        ImportError: If modelscope isn't installed.
        Exception: Errors of the library, or ConnectionError.
    """
    from modelscope import MsDataset

    if unreachable := _unreachable('https://www.modelscope.cn'):
        raise ConnectionError(unreachable)

    found: RowsByPart = {part.name: [] for part in parts}
    for part in parts:
        for config in part.hub_configs:
            settings = {'subset_name': config} if config else {}
            loaded = MsDataset.load(repository, split=part.hub_split, **settings)
            name = f'{repository}/{config}' if config else repository
            found[part.name] += [
                Row(f'{name}, row {i}', dict(fields)) for i, fields in enumerate(loaded, start=1)
            ]
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
    if urls and (unreachable := _unreachable(urls[-1])):  # the URL that OpenCompass uses
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


def load_rows(
    title: str,
    parts: Sequence[DataPart],
    *,
    path: str | None,
    subfolders: Sequence[str] = (),
    hub: str | None = None,
    modelscope: str | None = None,
    opencompass: str | None = None,
    download: bool = True,
    narrowing: str = '',
) -> RowsByPart:
    """Return the rows of each part by its name, from the first source that has them.

    Args:
        title: The data set's name in messages.
        parts: The parts to load.
        path: A file or folder of the user's. If given, no other source is tried.
        subfolders: Subfolders that may contain the files, besides the folder itself and ``data``.
        hub: Its repository on the HuggingFace hub, None to leave the hub out.
        modelscope: Its repository on ModelScope, used instead of the hub if the environment
            variable DATASET_SOURCE is ``ModelScope``; None if it has none.
        opencompass: Its id in OpenCompass's table of data sets, None to leave its files out.
        download: Let OpenCompass download missing files.
        narrowing: How the user can select fewer parts, for the message about a missing file.

    Raises:
        ValueError: If the user's own path doesn't exist or lacks a part, or no source has the
            data; it names each source with the reason.
    """
    read = partial(_read_path, title, parts, subfolders, narrowing)
    if path:
        return read(Path(path).expanduser())
    attempts: dict[str, Callable[[], RowsByPart]] = {}
    if opencompass:
        for folder in cache_folders(opencompass):
            attempts[f"OpenCompass's files in {folder}"] = partial(read, folder)
    if modelscope and os.environ.get('DATASET_SOURCE') == 'ModelScope':
        attempts[f'ModelScope, {modelscope}'] = partial(read_modelscope, modelscope, parts)
    elif hub:
        attempts[f'HuggingFace hub, {hub}'] = lambda: read(hub_snapshot(hub))
    if opencompass and download:
        attempts[f"OpenCompass's download of {opencompass}"] = lambda: read(
            opencompass_download(opencompass)
        )
    failures = []
    for name, attempt in attempts.items():
        try:
            return attempt()
        # Hubs and downloads can raise any error; each one is reported to the user.
        except Exception as error:
            told = ' '.join(str(error).split()) or 'no message'
            failures.append(f'{name}: {type(error).__name__}: {told[:TOLD]}')
    tried = '\n'.join(f'  - {failure}' for failure in failures or ['nothing: all are turned off'])
    raise ValueError(
        f'{title}: no source has the data. Tried:\n{tried}\n'
        'Supply them in one of three ways:\n'
        "  1. files of your own: path='FOLDER or FILE' in the data set's config, or the "
        f'environment variable GPASSK_DATA; files: {_file_names(parts)}\n'
        f'  2. the HuggingFace hub: go online, accept the terms of {hub or "a repository"} '
        "if it has any, log in with `huggingface-cli login`, or name a mirror with hub='NAME' or "
        'HF_ENDPOINT (ModelScope: DATASET_SOURCE=ModelScope)\n'
        "  3. OpenCompass's data archive: unpack it and set COMPASS_DATA_CACHE to the folder that "
        'holds data/'
    )


def cache_folders(known: str) -> list[Path]:
    """Return the folders where OpenCompass looks before it downloads anything."""
    from opencompass.utils.datasets import DEFAULT_DATA_FOLDER
    from opencompass.utils.datasets_info import DATASETS_MAPPING

    local = DATASETS_MAPPING.get(known, {}).get('local')
    if not local:
        return []
    roots = [os.environ.get('COMPASS_DATA_CACHE', ''), DEFAULT_DATA_FOLDER]
    return [Path(root) / local for root in roots]


def _read_path(
    title: str, parts: Sequence[DataPart], subfolders: Sequence[str], narrowing: str, path: Path
) -> RowsByPart:
    if path.is_dir():
        try:
            return read_folder(parts, path, subfolders)
        except ValueError as error:
            hint = f'. {narrowing}' if narrowing else ''
            raise ValueError(f'{title}: {error}{hint}') from error
    if path.is_file():
        if len(parts) > 1:
            raise ValueError(
                f'{path} is one file, but {len(parts)} parts are selected; give a folder with '
                f'{_file_names(parts)}. {narrowing}'
            )
        return {parts[0].name: read_rows(path)}
    raise ValueError(f'{title}: path {str(path)!r} does not exist')


def _file_names(parts: Sequence[DataPart]) -> str:
    return ', '.join(f'{stem}.jsonl' for part in parts for stem in part.layouts[0])
