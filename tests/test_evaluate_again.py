"""A finished run whose config is edited: ``opencompass -r`` makes the table for the new one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from opencompass_here import TASKS_HERE, opencompass

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parent.parent
NAME = 'sample-en-first4-n4'
CONFIG = """
from mmengine.config import read_base

with read_base():
    from .configs.datasets.livemathbench.livemathbench_gpassk_gen import (
        livemathbench_gpassk_datasets,
    )
    from .configs.models.demo import models
    from .configs.summarizers.gpassk import summarizer

datasets = [*livemathbench_gpassk_datasets]
work_dir = 'outputs'
"""


def job(folder: Path, edits: str, *arguments: str) -> str:
    """Run the job with edits at the end of its config; return what it prints."""
    (folder / 'job.py').write_text(CONFIG + edits, 'utf-8')
    settings = {'GPASSK_N': '4', 'GPASSK_K': '2', 'GPASSK_LANGUAGES': 'en', 'GPASSK_LIMIT': '4'}
    return opencompass(folder, 'job.py', TASKS_HERE, *arguments, settings=settings)


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
    job(folder, '')
    assert result(folder)['k'] == [2]
    return folder


def test_new_k_and_thresholds_are_evaluated_again(folder: Path) -> None:
    """Nothing is asked; the table has the new k, with and without the means to evaluate."""
    responses = only(folder, f'outputs/*/predictions/gpassk-demo/{NAME}.json')
    made = responses.stat().st_mtime_ns
    edits = "\ndatasets[0]['k'] = [2, 4]\ndatasets[0]['eval_cfg']['evaluator']['taus'] = [1.0]\n"
    assert 'k [2] instead of [2, 4]' in job(folder, edits, '-r', '-m', 'viz')
    assert result(folder)['k'] == [2]
    assert 'G-Pass@4_1.0' in job(folder, edits, '-r')
    found = result(folder)
    assert (found['k'], found['taus']) == ([2, 4], [1.0])
    assert not any('instead of' in warning for warning in found['warnings'])
    assert responses.stat().st_mtime_ns == made
    assert not [*folder.glob('outputs/*/results/*/*.earlier')]


def test_another_n_under_the_same_name_is_refused(folder: Path) -> None:
    """The responses are those of n = 4; the name says so, and the job's end too."""
    with pytest.raises(ValueError, match='says n = 4, but n is 8'):
        job(folder, "\ndatasets[0]['n'] = 8\n", '-r')
    assert result(folder)['signature']['n'] == 4
