"""A finished run whose config is edited: ``opencompass -r`` makes the table for the new one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
NAME = 'sample-en-first4-n4'
CONFIG = """
from mmengine.config import read_base

with read_base():
    from .configs.datasets.livemathbench.livemathbench_gpassk_gen import livemathbench_datasets
    from .configs.models.demo import models
    from .configs.summarizers.gpassk import summarizer

datasets = [*livemathbench_datasets]
work_dir = 'outputs'
"""


def opencompass(folder: Path, edits: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the job with edits at the end of its config, all tasks in the command's own process."""
    (folder / 'job.py').write_text(CONFIG + edits, 'utf-8')
    kept = {name: value for name, value in os.environ.items() if 'GPASSK_' not in name}
    settings = {'GPASSK_N': '4', 'GPASSK_K': '2', 'GPASSK_LANGUAGES': 'en', 'GPASSK_LIMIT': '4'}
    return subprocess.run(
        [Path(sys.executable).with_name('opencompass'), 'job.py', '--debug', *arguments],
        cwd=folder,
        env={**kept, **settings},
        capture_output=True,
        text=True,
        timeout=400,
    )


def only(folder: Path, pattern: str) -> Path:
    """The one file of a pattern."""
    (found,) = folder.glob(pattern)
    return found


def result(folder: Path) -> dict[str, Any]:
    """The result as it is on disk."""
    path = only(folder, f'outputs/*/results/gpassk-demo/{NAME}.json')
    found: dict[str, Any] = json.loads(path.read_text('utf-8'))
    return found


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run of n = 4 and k = 2."""
    folder = tmp_path_factory.mktemp('edited')
    (folder / 'configs').symlink_to(ROOT / 'configs')
    done = opencompass(folder, '')
    assert done.returncode == 0, done.stdout + done.stderr
    assert result(folder)['k'] == [2]
    return folder


def test_new_k_and_thresholds_are_evaluated_again(folder: Path) -> None:
    """Nothing is asked; the table has the new k, with and without the means to evaluate."""
    responses = only(folder, f'outputs/*/predictions/gpassk-demo/{NAME}.json')
    made = responses.stat().st_mtime_ns
    edits = "\ndatasets[0]['k'] = [2, 4]\ndatasets[0]['eval_cfg']['evaluator']['taus'] = [1.0]\n"
    shown = opencompass(folder, edits, '-r', '-m', 'viz')
    assert 'k [2] instead of [2, 4]' in shown.stdout, shown.stdout + shown.stderr
    assert result(folder)['k'] == [2]
    again = opencompass(folder, edits, '-r')
    assert again.returncode == 0, again.stdout + again.stderr
    assert 'G-Pass@4_1.0' in again.stdout
    found = result(folder)
    assert (found['k'], found['taus']) == ([2, 4], [1.0])
    assert not any('instead of' in warning for warning in found['warnings'])
    assert responses.stat().st_mtime_ns == made
    assert not [*folder.glob('outputs/*/results/*/*.earlier')]


def test_another_n_under_the_same_name_is_refused(folder: Path) -> None:
    """The responses are those of n = 4; the name says so, and the job's end too."""
    done = opencompass(folder, "\ndatasets[0]['n'] = 8\n", '-r')
    assert done.returncode != 0
    assert 'says n = 4, but n is 8' in done.stdout + done.stderr
    assert result(folder)['signature']['n'] == 4
