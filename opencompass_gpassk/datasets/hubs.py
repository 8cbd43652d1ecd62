"""Data sets over the network: the HuggingFace hub, ModelScope, OpenCompass's archive.

A host is asked for a sign of life before a library is, because libraries try again for minutes
where there is no network.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from opencompass_gpassk.datasets.parts import Part
from opencompass_gpassk.datasets.rows import Row

__all__ = ['opencompass_download', 'read_hub', 'read_modelscope']

PROBE_SECONDS = 4.0


def read_hub(repository: str, parts: Sequence[Part]) -> dict[str, list[Row]]:
    """Read all parts from the HuggingFace hub, or from its cache where that is out of reach.

    Raises:
        Exception: What the libraries raise, or ConnectionError.
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
            except Exception as error:
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
        Exception: What the library raises, or ConnectionError.
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
    """Let OpenCompass download its archive of a data set and return where the files then are.

    Raises:
        Exception: What OpenCompass raises, or ConnectionError.
    """
    from opencompass.utils.datasets import download_dataset
    from opencompass.utils.datasets_info import DATASETS_MAPPING, DATASETS_URL

    local = DATASETS_MAPPING[known]['local']
    urls = [entry['url'] for name, entry in DATASETS_URL.items() if name in local]
    if not urls:
        raise LookupError('OpenCompass knows no archive of it')
    unreachable = _unreachable(urls[-1])  # the one that OpenCompass takes
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
    """Let the library look into its cache alone."""
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
