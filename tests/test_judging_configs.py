"""Configs of judges: what tells two apart, and what does not."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mmengine.config import Config, ConfigDict
from opencompass.evaluator import GenericLLMEvaluator
from opencompass.models import OpenAISDK
from opencompass.openicl.icl_prompt_template import PromptTemplate

from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.runs.config import config_hash
from opencompass_gpassk.trials import Problem

JUDGE: dict[str, Any] = {
    'type': GenericLLMEvaluator,
    'prompt_template': {'type': PromptTemplate, 'template': '{prediction} against {obj_gold}'},
    'judge_cfg': {'type': OpenAISDK, 'path': 'big', 'key': 'sk-1', 'temperature': 0.001},
    'dataset_cfg': {'abbr': 'a', 'n': 4},
}


def changed(*path: str, to: Any) -> dict[str, Any]:
    """The judge with another value at a path."""
    judge = copy.deepcopy(JUDGE)
    place = judge
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = to
    return judge


@pytest.mark.parametrize(
    ('path', 'value', 'same'),
    [
        (('judge_cfg', 'path'), 'small', False),
        (('judge_cfg', 'temperature'), 1.0, False),
        (('judge_cfg', 'type'), 'OpenAI', False),
        (('prompt_template', 'template'), '{prediction}?', False),
        (('type',), 'CascadeEvaluator', False),
        (('judge_cfg', 'key'), 'sk-2', True),
        (('judge_cfg', 'run_cfg'), {'num_gpus': 1}, True),
        (('judge_cfg', 'query_per_second'), 9, True),
        (('dataset_cfg',), {'abbr': 'a-greedy', 'n': 1}, True),
        (('judge_cfg', 'type'), 'opencompass.models.OpenAISDK', True),
        (('judge_cfg', 'type'), 'opencompass.models.openai_api.OpenAISDK', True),
    ],
)
def test_what_changes_verdicts_changes_the_hash(
    path: tuple[str, ...], value: Any, same: bool
) -> None:
    """Model, prompt and parameters; not keys, speed, GPUs or where a class was imported from."""
    assert (config_hash(changed(*path, to=value)) == config_hash(JUDGE)) == same


def test_the_model_of_the_environment_is_part_of_an_empty_config(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """OpenCompass takes it where judge_cfg is empty."""
    hashes = []
    for model in ('big', 'small', 'big'):
        monkeypatch.setenv('OC_JUDGE_MODEL', model)
        hashes.append(config_hash(changed('judge_cfg', to={})))
    assert hashes[0] == hashes[2] != hashes[1]


def test_the_hash_is_the_same_in_another_process(tmp_path: Path) -> None:
    """There the config is what OpenCompass wrote down and read again."""
    written = tmp_path / 'written.py'
    written.write_text(  # with classes that another process loads fast
        'from opencompass_gpassk.judging.verdict import Judgement\n'
        'from opencompass_gpassk.trials import Problem\n'
        "judge = dict(type=Judgement, judge_cfg=dict(type=Problem, path='big', key='sk-1'))\n"
    )
    path = tmp_path / 'dumped.py'
    Config.fromfile(str(written), lazy_import=True, format_python_code=False).dump(str(path))
    script = (
        'import sys\n'
        'from mmengine.config import Config\n'
        'from opencompass_gpassk.runs.config import config_hash\n'
        'print(config_hash(Config.fromfile(sys.argv[1], format_python_code=False).judge))\n'
    )
    environment = os.environ | {'PYTHONHASHSEED': '7'}
    run = subprocess.run(
        [sys.executable, '-c', script, str(path)],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    assert run.stdout.strip().splitlines()[-1] == config_hash(
        ConfigDict(type=Judgement, judge_cfg={'type': Problem, 'path': 'big', 'key': 'sk-2'})
    )


def test_the_hash_of_a_config_stays() -> None:
    """Stored verdicts are found by it."""
    config = {'type': 'Judge', 'key': 'sk-1', 'judge_cfg': {'path': 'big', 'seeds': (1, None)}}
    assert config_hash(config) == 'da29acbc'
