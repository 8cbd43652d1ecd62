"""Scorers made from settings: who they are, what they are loaded with, and that only once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_reward_model
from score_writer import Scorer
from tiny_reasoneval import Published, publish

from opencompass_gpassk.reasoneval import scorers
from opencompass_gpassk.reasoneval.classifier import StepScorer
from opencompass_gpassk.reasoneval.reward_model import ProcessRewardScorer
from opencompass_gpassk.reasoneval.scorers import make_scorer
from opencompass_gpassk.reasoneval.settings import ReasoningSettings
from opencompass_gpassk.reasoneval.solutions import Solution
from opencompass_gpassk.reasoneval.step_judge import PromptedStepJudge


@pytest.fixture(scope='module')
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """A tiny step classifier."""
    return publish(tmp_path_factory.mktemp('scorers') / 'checkpoint', '34b')


@pytest.fixture(autouse=True)
def nothing_is_loaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Each test begins as a process does."""
    monkeypatch.setattr(scorers, '_last', None)
    yield
    scorers._last = None


def made(**settings: Any) -> Any:
    """Return a scorer."""
    return make_scorer(ReasoningSettings(**settings))


def test_a_step_classifier_is_loaded_once(published: Published, tmp_path: Path) -> None:
    """It is shared by settings that differ in what is made of its scores; others load another."""
    folder = tmp_path / 'model'
    shutil.copytree(published.folder, folder)
    options = {'position': 'published', 'batch_size': 2}
    first = made(model=str(folder), options=options)
    assert isinstance(first, StepScorer) and (first.position, first.batch_size) == ('published', 2)
    assert made(model=str(folder), options=options, threshold=0.5, delimiter='|') is first
    assert made(model=str(folder)) is not first
    assert made(model=str(folder)) is made(model=str(folder))


def test_what_a_config_says_reaches_the_model(published: Published) -> None:
    """The dtype, and how attention is computed."""
    scorer = made(model=str(published.folder), model_kwargs={'dtype': 'bfloat16'})
    assert scorer.settings['dtype'] == 'bfloat16'
    scorer = made(model=str(published.folder), model_kwargs={'attn_implementation': 'eager'})
    assert scorer.model.config._attn_implementation == 'eager'


def test_a_reward_model_and_a_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by its name; a judge takes what the environment says at the time."""
    reward = tiny_reward_model.publish(tmp_path)
    scorer = made(reward_model=str(reward.folder), options={'step_tag': 'th'})
    assert isinstance(scorer, ProcessRewardScorer) and scorer.settings['step_tag'] == 'th'
    monkeypatch.setenv('OC_JUDGE_API_BASE', 'http://localhost:1/v1')
    for name in ('one', 'other'):
        monkeypatch.setenv('OC_JUDGE_MODEL', name)
        judge = made(judge='llm')
        assert isinstance(judge, PromptedStepJudge) and judge.settings['model'] == name
    given = {'model': 'third', 'api_base': 'http://localhost:1/v1'}
    assert made(judge=given).settings['model'] == 'third'


def test_a_scorer_of_ones_own() -> None:
    """A class, or where it stands, made of the options."""
    scorer = made(type=Scorer, options={'settings': {'model': 'mine'}})
    assert isinstance(scorer, Scorer) and scorer.settings == {'model': 'mine'}
    named = made(type='score_writer.Scorer')
    ((_, scores),) = named.stream([Solution('1 +', ['a', 'b'])])
    np.testing.assert_allclose(scores.validity, 0.75)


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'type': 'score_writer.Nobody'}, "type of reasoning is 'score_writer.Nobody'"),
        ({'type': Scorer, 'model_kwargs': {'dtype': 'auto'}}, 'your own scorer in options'),
        ({'judge': 'llm', 'options': {'long': 'refuse'}}, 'options or model_kwargs of a model'),
        ({'model': 'x', 'options': {'speed': 2}}, "for StepScorer has no setting 'speed'"),
        ({'model': 'x', 'options': {'tokenizer': 2}}, "for StepScorer has no setting 'tokenizer'"),
        ({'reward_model': 'x', 'options': {'long': 'window'}}, 'for ProcessRewardScorer has no'),
        ({'model': 'x', 'model_kwargs': {'dtype': 'bf16'}}, "dtype of the model is 'bf16'"),
    ],
)
def test_what_does_not_fit_is_named(settings: dict[str, Any], message: str) -> None:
    """Before anything is loaded."""
    with pytest.raises(ValueError, match=message):
        made(**settings)


@pytest.mark.parametrize('place', ['cuda', 'cuda:1', 0, {'': 0}, {'model': 'cuda'}])
def test_a_gpu_that_is_not_there(place: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenCompass is to be told to give one."""
    monkeypatch.setenv('CUDA_VISIBLE_DEVICES', '')
    with pytest.raises(ValueError, match=r'no GPU can be seen .*num_gpus=1'):
        made(model='x', model_kwargs={'device_map': place})


def test_a_large_model_on_the_cpu_is_told(
    published: Published, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, when it is loaded, with what to do; a small one is not."""
    monkeypatch.setitem(os.environ, 'CUDA_VISIBLE_DEVICES', '')
    told: list[str] = []
    settings = ReasoningSettings(model=str(published.folder))
    make_scorer(settings, report=told.append)
    assert told == []
    monkeypatch.setattr(scorers, 'LARGE', 1000)
    monkeypatch.setattr(scorers, '_last', None)
    for _ in range(2):
        make_scorer(settings, report=told.append)
    assert len(told) == 1 and 'num_gpus=1' in told[0]


def test_what_can_not_be_loaded_is_named(published: Published, tmp_path: Path) -> None:
    """No traceback of a library, and nothing half loaded is kept."""
    broken = tmp_path / 'broken'
    shutil.copytree(published.folder, broken)
    weights = broken / 'model.safetensors'
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ValueError, match='broken: not a checkpoint that can be loaded'):
        made(model=str(broken))
    assert scorers._last is None
    with pytest.raises(ValueError, match='none: there is no such folder'):
        made(model=str(tmp_path / 'none'))
