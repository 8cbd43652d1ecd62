"""A run folder that an earlier version made: its config names classes where they were then."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from opencompass_here import TASKS_HERE, opencompass

import opencompass_gpassk
from opencompass_gpassk.commands.main import main
from opencompass_gpassk.results.schema import in_schema_3

CASE = Path(__file__).parent / 'cases/run_of_0.1.0.tar.gz'  # sample-en, greedy and n = 4
GREEDY = 'sample-en-greedy-n1'
PACKAGE = Path(opencompass_gpassk.__file__).parent
NAMES = (GREEDY, 'sample-en-n4')


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The run, whose model is that of the package here, without settings of the environment."""
    for name in os.environ:
        if name.startswith(('GPASSK_', 'OC_JUDGE_')):
            monkeypatch.delenv(name)
    shutil.unpack_archive(CASE, tmp_path / 'outputs')
    folder = tmp_path / 'outputs/20260101_000000'
    (config,) = (folder / 'configs').glob('*.py')
    config.write_text(config.read_text('utf-8').replace('PACKAGE', str(PACKAGE)), 'utf-8')
    return folder


def rounded(value: Any) -> Any:
    """A value with floats as every processor computes them, and NaN equal to itself."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return f'{value:.6f}' if isinstance(value, float) else value


def figures(run: Path, name: str) -> dict[str, Any]:
    """A result but for versions, details, what was added, and intervals, which are wider now."""
    found = in_schema_3(json.loads((run / f'results/gpassk-demo/{name}.json').read_text('utf-8')))
    for name in ('undecided', 'unrecognised'):
        found['counts'].pop(name, None)
    found['shares'].pop('unrecognised', None)
    found['judging'].pop('reasons', None)
    for field in (found['figures'], found.get('intervals_fixed', {})):
        for key in [key for key in field if 'loss@' in key or 'cons' in key]:
            del field[key]
    for name in ('intervals', 'questions', 'tokens', 'reliable', 'sampling_share'):
        found.pop(name, None)
    found.get('uncertainty', {}).pop('other_methods', None)
    found['reasoning'].pop('threshold')  # 0.25 was that of every scorer
    found['reasoning']['settings'].pop('threshold', None)
    return {
        k: rounded(v)
        for k, v in found.items()
        if k not in found['figures'] and k not in ('schema', 'signature', 'details', 'judge_error')
    }


@pytest.mark.slow
def test_it_is_resumed(run: Path) -> None:
    """What is missing is inferred and evaluated, by the paths of classes in its config."""
    job, before = run.parent.parent / 'job.py', {name: figures(run, name) for name in NAMES}
    for folder in ('predictions', 'results'):
        (run / f'{folder}/gpassk-demo/{GREEDY}.json').unlink()
    (config,) = (run / 'configs').glob('*.py')
    job.write_text(config.read_text('utf-8'), 'utf-8')
    opencompass(job.parent, job.name, TASKS_HERE, '-w', 'outputs', '-r', run.name)
    assert {name: figures(run, name) for name in NAMES} == before


def test_it_is_rescored(run: Path) -> None:
    """The same figures come of its responses, without trusting its config."""
    before = {name: figures(run, name) for name in NAMES}
    assert main(['rescore', str(run)]) == 0
    assert {name: figures(run, name) for name in NAMES} == before
    for name in NAMES:
        stored = json.loads((run / f'results/gpassk-demo/{name}.json').read_text('utf-8'))
        assert stored['reasoning']['threshold'] == 0.25
