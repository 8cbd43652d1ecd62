"""The order in which data are looked for, and what is said when no source has them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import requests
from opencompass.utils import datasets_info

from opencompass_gpassk.datasets import AIME, LiveMathBench, sources

AIME_ROWS = [{'problem': f'p{i}', 'answer': str(i)} for i in range(30)]


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of OpenCompass, as the current folder too."""
    monkeypatch.setenv('COMPASS_DATA_CACHE', str(tmp_path))
    monkeypatch.delenv('DATASET_SOURCE', raising=False)
    monkeypatch.setattr('opencompass.utils.datasets.DEFAULT_DATA_FOLDER', str(tmp_path / 'home'))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def online(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Every host answers."""
    monkeypatch.setattr(requests, 'head', lambda *args, **kwargs: SimpleNamespace(status_code=200))
    return monkeypatch


def test_a_repository_of_the_users_choice(tmp_path: Path, online: pytest.MonkeyPatch) -> None:
    """hub= names a mirror or a copy; an error names file, line and field."""
    asked = []

    def download(repository: str, **settings: Any) -> str:
        asked.append(repository)
        return str(tmp_path)

    online.setattr('huggingface_hub.snapshot_download', download)
    file = tmp_path / 'train.jsonl'
    file.write_text('\n'.join(map(json.dumps, AIME_ROWS)))
    assert len(AIME.load(edition='2024', hub='me/mine')) == 30
    file.write_text('\n'.join(map(json.dumps, [*AIME_ROWS[:29], {'problem': 'p', 'answer': ''}])))
    with pytest.raises(ValueError, match=r'train\.jsonl, line 30: field answer'):
        AIME.load(edition='2024', hub='me/mine')
    assert asked == ['me/mine'] * 2


def test_opencompass_files_come_before_the_network(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """COMPASS_DATA_CACHE holds data/LiveMathBench/<version>."""
    monkeypatch.setattr(sources, 'hub_snapshot', lambda *a: pytest.fail('the hub was asked'))
    folder = nowhere / 'data/LiveMathBench/202412'
    folder.mkdir(parents=True)
    lines = [json.dumps({'question': str(i), 'answer': '1'}) for i in range(18)]
    (folder / 'CNMO_en.jsonl').write_text('\n'.join(lines))
    rows = LiveMathBench.load(version='202412', splits=['CNMO'], languages=['en'])
    assert len(rows) == 18


def test_modelscope_takes_the_place_of_the_hub(nowhere: Path, online: pytest.MonkeyPatch) -> None:
    """DATASET_SOURCE=ModelScope is OpenCompass's own switch; AIME has no repository there."""
    module = ModuleType('modelscope')
    asked = []

    class MsDataset:
        @staticmethod
        def load(repository: str, split: str, **settings: str) -> list[dict[str, str]]:
            asked.append((repository, split, settings))
            return [{'question': str(i), 'answer': '1'} for i in range(11)]

    module.MsDataset = MsDataset  # type: ignore[attr-defined]
    online.setitem(sys.modules, 'modelscope', module)
    online.setenv('DATASET_SOURCE', 'ModelScope')
    LiveMathBench.load(version='202412', splits=['WLPMC'], languages=['en'])
    assert asked == [('opencompass/LiveMathBench', 'test', {'subset_name': 'v202412_WLPMC_en'})]
    (nowhere / 'train.jsonl').write_text('\n'.join(map(json.dumps, AIME_ROWS)))
    online.setattr('huggingface_hub.snapshot_download', lambda *args, **kwargs: str(nowhere))
    assert len(AIME.load(edition='2024')) == 30
    assert len(asked) == 1


def test_opencompass_download_is_the_last_resort(nowhere: Path, online: pytest.MonkeyPatch) -> None:
    """Its archive is unpacked into its cache and read from there."""

    def download(local: str, cache: str) -> str:
        target = Path(local)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text('\n'.join(map(json.dumps, AIME_ROWS)))
        return str(target)

    online.setattr('opencompass.utils.datasets.download_dataset', download)
    assert len(AIME.load(edition='2024', hub=None)) == 30
    assert (nowhere / datasets_info.DATASETS_MAPPING['opencompass/aime2024']['local']).exists()


def test_one_error_lists_what_was_tried_and_what_can_be_done(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each source with its reason, and the three ways to supply the data."""

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise requests.ConnectionError('no route')

    monkeypatch.setattr(requests, 'head', refuse)
    with pytest.raises(ValueError) as caught:
        LiveMathBench.load(version='202412')
    text = str(caught.value)
    assert f"OpenCompass's files in {nowhere}" in text
    assert 'HuggingFace hub, opencompass/LiveMathBench: ConnectionError' in text
    assert "OpenCompass's download of opencompass/LiveMathBench: ConnectionError" in text
    for way in ("path='FOLDER or FILE'", 'GPASSK_DATA', 'HF_ENDPOINT', 'COMPASS_DATA_CACHE'):
        assert way in text
    assert 'AMC_cn.jsonl' in text


def test_sources_can_be_turned_off(nowhere: Path) -> None:
    """Then they are not among those that were tried."""
    with pytest.raises(ValueError) as caught:
        LiveMathBench.load(version='202412', hub=None, modelscope=None, download=False)
    tried = str(caught.value).split('Supply')[0]
    assert 'hub' not in tried
    assert 'download' not in tried
