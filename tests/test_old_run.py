"""A run folder that an earlier version made: its config names classes where they were then."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest

import opencompass_gpassk

CASE = Path(__file__).parent / 'cases/run_of_0.1.0.tar.gz'  # sample-en, greedy and n = 4
PACKAGE = Path(opencompass_gpassk.__file__).parent
BIN = Path(sys.executable).parent
NAMES = ('sample-en-greedy-n1', 'sample-en-n4')


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The run, whose model is that of the package here."""
    with tarfile.open(CASE) as packed:
        packed.extractall(tmp_path / 'outputs', filter='data')
    folder = tmp_path / 'outputs/20260101_000000'
    (config,) = (folder / 'configs').glob('*.py')
    config.write_text(config.read_text('utf-8').replace('PACKAGE', str(PACKAGE)), 'utf-8')
    return folder


def start(folder: Path, *command: str | Path) -> str:
    """Run a command to its end, without settings of the environment; return what it printed."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(('GPASSK_', 'OC_JUDGE_'))}
    done = subprocess.run(
        list(map(str, command)), cwd=folder, env=kept, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def figures(run: Path, name: str) -> dict[str, Any]:
    """A result but for the versions of package and schema, and details."""
    found = json.loads((run / f'results/gpassk-demo/{name}.json').read_text('utf-8'))
    return {k: v for k, v in found.items() if k not in ('schema', 'signature', 'details')}


def test_it_is_resumed(run: Path) -> None:
    """What is missing is inferred and evaluated again, by the paths of classes in its config."""
    before = {name: figures(run, name) for name in NAMES}
    (run / 'predictions/gpassk-demo/sample-en-greedy-n1.json').unlink()
    for name in NAMES:
        (run / f'results/gpassk-demo/{name}.json').unlink()
    (config,) = (run / 'configs').glob('*.py')
    (run.parent.parent / 'job.py').write_text(config.read_text('utf-8'), 'utf-8')
    start(run.parent.parent, BIN / 'opencompass', 'job.py', '-w', 'outputs', '-r', run.name)
    assert {name: figures(run, name) for name in NAMES} == before


def test_it_is_rescored(run: Path) -> None:
    """The same figures come of its responses, without trusting its config."""
    before = {name: figures(run, name) for name in NAMES}
    start(run.parent.parent, BIN / 'gpassk', 'rescore', run)
    assert {name: figures(run, name) for name in NAMES} == before
