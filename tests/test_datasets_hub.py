"""Snapshots of the hubs' repositories: their layouts, and a hub's cache without a network."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hub_server import COMMIT, HubServer

from opencompass_gpassk.datasets import AIME, MATH500L5, LiveMathBench
from opencompass_gpassk.datasets.settings import PART_SIZES

FETCH = [sys.executable, '-m', 'opencompass_gpassk.commands.main', 'fetch']
LoginNode = tuple[dict[str, str], list[str]]
SCRIPT = b"raise SystemExit('a data set ran code')\n"


def lines(rows: Sequence[dict[str, Any]]) -> bytes:
    return '\n'.join(map(json.dumps, rows)).encode()


def parquet(rows: Sequence[dict[str, Any]]) -> bytes:
    file = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([*rows]), file)
    return file.getvalue()


def problems(count: int, first: int = 0) -> list[dict[str, Any]]:
    return [
        {'question': f'What is {i} + 0?', 'answer': str(i), 'level': 5, 'unique_id': f'u{i}'}
        for i in range(first, first + count)
    ]


def laid_out(folder: Path, files: dict[str, bytes]) -> str:
    """Write the files of a snapshot; return the folder."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return str(folder)


@pytest.mark.parametrize(
    'name',
    [
        'WLPMC_en.jsonl',
        'data/202412/WLPMC_en.jsonl',
        'v202412_WLPMC_en.jsonl',
        'data/v202412_WLPMC_en.jsonl',
        'v202412_WLPMC_en/test.jsonl',
        'v202412_WLPMC_en/test-00000-of-00001.parquet',
        'data/v202412_WLPMC_en/test-00000-of-00001.parquet',
    ],
)
def test_livemathbench_in_each_layout(tmp_path: Path, name: str) -> None:
    """A part lies in a file or in a folder, named for the part or for the hub's configuration."""
    write = parquet if name.endswith('parquet') else lines
    other = {'202412_WLPMC_en.py': SCRIPT, 'v202505_all_en/test.jsonl': lines(problems(3))}
    folder = laid_out(tmp_path, {name: write(problems(11)), **other})
    rows = LiveMathBench.load(version='202412', splits=['WLPMC'], languages=['en'], path=folder)
    assert rows['answer'] == [str(i) for i in range(11)]


def test_files_in_numbered_pieces(tmp_path: Path) -> None:
    """They are read in order; MATH-500 has the split test, AIME 2024 the split train."""
    math = {
        'data/test-00001-of-00002.parquet': parquet(problems(34, 100)),
        'data/test-00000-of-00002.parquet': parquet(problems(100)),
    }
    rows = MATH500L5.load(path=laid_out(tmp_path / 'math', math))
    assert rows['problem_id'] == [f'u{i}' for i in range(134)]
    aime = {'data/train-00000-of-00001.parquet': parquet(problems(30))}
    assert len(AIME.load(edition='2024', path=laid_out(tmp_path / 'aime', aime))) == 30


def test_the_parts_of_aime_2025_are_configurations(tmp_path: Path) -> None:
    """The folder's name tells the part."""
    files = {f'AIME2025-{part}/test.jsonl': lines(problems(15)) for part in ('I', 'II')}
    rows = AIME.load(edition='2025', path=laid_out(tmp_path, files))
    assert rows['split'] == ['I'] * 15 + ['II'] * 15


def test_a_readme_tells_where_the_files_are(tmp_path: Path) -> None:
    """Its head has configurations with patterns, which stay inside the snapshot."""
    head = """---
configs:
- config_name: v202412_WLPMC_en
  data_files:
  - {split: train, path: other/*.jsonl}
  - {split: test, path: english/small-*.jsonl}
- config_name: v202412_WLPMC_cn
  data_files: [{split: test, path: [../outside.jsonl, /etc/passwd]}]
---
Text.
"""
    folder = tmp_path / 'snapshot'
    files = {'english/small-1.jsonl': lines(problems(11)), 'other/1.jsonl': lines(problems(2))}
    laid_out(folder, {'README.md': head.encode(), **files})
    laid_out(tmp_path, {'outside.jsonl': lines(problems(11))})
    wanted: dict[str, Any] = {'version': '202412', 'splits': ['WLPMC'], 'path': str(folder)}
    assert len(LiveMathBench.load(languages=['en'], **wanted)) == 11
    with pytest.raises(ValueError, match='not found'):
        LiveMathBench.load(languages=['cn'], **wanted)


@pytest.mark.parametrize(
    'head',
    [
        *('configs: [', 'configs: {a: 1}', 'configs: [1, {data_files: [2]}]', '- a', '[' * 9999),
        'configs: [{config_name: default, data_files: [{split: train, path: [1, {2: 3}]}]}]',
        f'configs: [{{config_name: 0x{"F" * 5000}, data_files: [{{split: train, path: a}}]}}]',
        'configs: [{config_name: default, data_files: [{split: train, path: "folder*"}]}]',
        'a0: &a0 {k: 1}\n'
        + '\n'.join(f'a{i}: &a{i} {{<<: [{", ".join([f"*a{i - 1}"] * 9)}]}}' for i in range(1, 12)),
    ],
)
def test_a_readme_that_declares_nothing(tmp_path: Path, head: str) -> None:
    """The files are found by their names, whatever its head says."""
    files = {'README.md': f'---\n{head}\n---\n'.encode(), 'data/train.jsonl': lines(problems(30))}
    (tmp_path / 'folder.jsonl').mkdir()
    assert len(AIME.load(edition='2024', path=laid_out(tmp_path, files))) == 30


def made_hub() -> dict[str, dict[str, bytes]]:
    """Three repositories of tiny problems of our own, each with a script that must not run."""
    live = {
        f'data/202412/{split}_{language}.jsonl': lines(problems(count or 0))
        for (split, language), count in PART_SIZES['202412'].items()
    }
    files = {
        'opencompass/LiveMathBench': live,
        'HuggingFaceH4/MATH-500': {'test.jsonl': lines(problems(134))},
        'HuggingFaceH4/aime_2024': {'data/train-00000-of-00001.parquet': parquet(problems(30))},
    }
    return {
        name: {'README.md': b'Made.', f'{name.split("/")[1]}.py': SCRIPT, **members}
        for name, members in files.items()
    }


def fetch(
    names: Sequence[str], environment: Mapping[str, str], before: Sequence[str] = ()
) -> tuple[int, list[str], str]:
    """Return exit code, lines without those of OpenCompass's log, and errors."""
    command = [*before, *FETCH, *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    told = [line for line in done.stdout.splitlines() if ' - OpenCompass - ' not in line]
    return done.returncode, told, done.stderr


@pytest.fixture(scope='module')
def login_node(tmp_path_factory: pytest.TempPathFactory) -> LoginNode:
    """The environment in which data were fetched from a hub that is gone, and the output."""
    home = tmp_path_factory.mktemp('home')
    kept = {name: text for name, text in os.environ.items() if 'proxy' not in name.lower()}
    hub = HubServer(made_hub())
    environment = {
        **{name: text for name, text in kept.items() if not name.startswith(('GPASSK_', 'HF_'))},
        'HF_ENDPOINT': hub.url,
        'HF_HOME': str(home / 'hf'),
        'HOME': str(home),
        'COMPASS_DATA_CACHE': str(home / 'opencompass'),
    }
    names = ['livemathbench', 'math500-l5', 'aime2024-45']
    code, told, errors = fetch(names, environment)
    hub.close()
    assert code == 0, errors
    assert not [file for file in hub.sent if file.endswith('.py')]
    return environment, told


@pytest.mark.slow
def test_fetch_tells_sizes_and_places(login_node: LoginNode) -> None:
    """One line for each name."""
    environment, told = login_node
    live, math, aime = told
    size = sum(map(len, made_hub()['opencompass/LiveMathBench'].values())) - len(SCRIPT) - 5
    assert live.startswith(f'livemathbench: 8 files, {size / 1000:,.1f} kB, in ')
    assert f'{environment["HF_HOME"]}/hub/datasets--opencompass--LiveMathBench' in live
    assert math.startswith('math500-l5: 1 file')
    assert f'{COMMIT}/data' in aime


@pytest.mark.slow
def test_what_was_fetched_is_found_without_the_hub(login_node: LoginNode) -> None:
    """With HF_HUB_OFFLINE=1 it is loaded from the cache; what is not there says so, by name."""
    environment, told = login_node
    nodes = {**environment, 'HF_HUB_OFFLINE': '1'}
    names = ['livemathbench', 'aime2025', 'math500-l5', 'aime2024-45']
    code, found, errors = fetch(names, nodes)
    assert (code, found) == (1, told)
    assert 'HF_HUB_OFFLINE is set, and it is not in the local cache' in errors
    assert 'opencompass/AIME2025' in errors
