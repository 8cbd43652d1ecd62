"""Checkpoints of step classifiers: both published layouts, and our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_reasoneval import SHAPE, Published, publish
from transformers import AutoModel, GPT2Config, GPT2Model, LlamaConfig, Qwen2Config

from opencompass_gpassk.reasoneval.classifier import StepClassifier

IDS = [5, 9, 200, 31, 7, 7]


@pytest.mark.parametrize('parts', [False, True], ids=['safetensors', 'pickled parts'])
@pytest.mark.parametrize('bias', [False, True], ids=['no bias', 'bias'])
@pytest.mark.parametrize('layout', ['7b', '34b'])
def test_published_checkpoint_loads(layout: str, bias: bool, parts: bool, tmp_path: Path) -> None:
    """Every weight finds its place, none is left over, and the logits are the weights' own."""
    published = publish(tmp_path / 'm', layout, bias=bias, parts=parts)
    model = StepClassifier.load(published.folder)
    written = published.backbone.state_dict()
    expected = {f'model.{name}': tensor for name, tensor in written.items()}
    expected |= {f'score_head.{name}': tensor for name, tensor in published.head.items()}
    held = model.state_dict()
    assert held.keys() == expected.keys()
    assert all(torch.equal(held[name], tensor) for name, tensor in expected.items())
    with torch.no_grad():
        torch.testing.assert_close(model(torch.tensor([IDS]))[0], published.logits(IDS))
    assert not model.training


@pytest.mark.parametrize(('layout', 'position'), [('7b', 'published'), ('34b', 'last')])
def test_published_position(layout: str, position: str, tmp_path: Path) -> None:
    """Only the published 7B model is read where its authors' code read it."""
    published = publish(tmp_path / 'm', layout)
    model = StepClassifier.load(published.folder)
    assert model.position == position
    model.save(tmp_path / 'again')
    assert StepClassifier.load(tmp_path / 'again').position == position
    model.save(tmp_path / 'trained', position='last')
    assert StepClassifier.load(tmp_path / 'trained').position == 'last'


@pytest.fixture(scope='module')
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """A checkpoint in the layout of the 7B model."""
    return publish(tmp_path_factory.mktemp('published') / 'm', '7b')


def changed(published: Published, folder: Path, config: dict[str, Any], **tensors: Any) -> Path:
    """Copy a checkpoint with other config keys and tensors; None drops a tensor."""
    folder.mkdir()
    kept = json.loads((published.folder / 'config.json').read_text()) | config
    (folder / 'config.json').write_text(json.dumps(kept))
    held = load_file(published.folder / 'model.safetensors') | tensors
    held = {name: tensor for name, tensor in held.items() if tensor is not None}
    save_file(held, folder / 'model.safetensors', {'format': 'pt'})
    return folder


@pytest.mark.parametrize(
    ('config', 'tensors', 'message'),
    [
        ({}, {'model.norm.weight': None}, 'misses norm.weight'),
        ({}, {'score_head.bias': None}, 'misses score_head.bias'),
        ({}, {'model.extra.weight': torch.ones(2)}, 'no place for .*extra.weight'),
        ({'use_bias': False}, {}, 'no place for score_head.bias'),
        ({}, {'score_head.weight': None}, 'no score_head.weight'),
        ({}, {'score_head.weight': torch.ones(3, 5)}, 'size mismatch for weight'),
    ],
)
def test_damaged_checkpoint_is_refused(
    config: dict[str, Any],
    tensors: dict[str, Any],
    message: str,
    published: Published,
    tmp_path: Path,
) -> None:
    """A checkpoint that isn't whole is named as such, never filled up with random weights."""
    folder = changed(published, tmp_path / 'm', config, **tensors)
    with pytest.raises((ValueError, RuntimeError), match=message):
        StepClassifier.load(folder)


def test_folder_without_weights_is_refused(tmp_path: Path) -> None:
    """A folder that holds no checkpoint is an error that names it."""
    with pytest.raises(OSError, match=r'model\.safetensors'):
        StepClassifier.load(tmp_path)


def test_head_of_no_layout_loads(published: Published, tmp_path: Path) -> None:
    """A backbone with a head loads even if its config says nothing of one."""
    folder = changed(published, tmp_path / 'm', {})
    config = json.loads((folder / 'config.json').read_text())
    del config['score_dimension'], config['use_bias']
    (folder / 'config.json').write_text(json.dumps(config))
    model = StepClassifier.load(folder)
    assert model.score_head.bias is not None
    assert model.position == 'last'


@pytest.mark.parametrize(
    ('config', 'keys'),
    [
        (LlamaConfig(vocab_size=300, **SHAPE), ('score_dim', 'bias')),
        (Qwen2Config(vocab_size=300, **SHAPE), ('score_dimension', 'use_bias')),
        (GPT2Config(300, 64, 32, 2, 4), ('score_dimension', 'use_bias')),
    ],
    ids=['llama', 'qwen', 'gpt2'],
)
@pytest.mark.parametrize('bias', [False, True])
def test_saved_checkpoint_is_the_same(
    config: Any, keys: tuple[str, str], bias: bool, tmp_path: Path
) -> None:
    """Any decoder with a head comes back as it was written, in the published names."""
    torch.manual_seed(1)
    backbone = AutoModel.from_config(config)
    model = StepClassifier(backbone, bias=bias, generator=torch.Generator().manual_seed(3)).eval()
    model.save(tmp_path)
    written = json.loads((tmp_path / 'config.json').read_text())
    assert [written[key] for key in keys] == [3, bias]
    assert written['architectures'] == [
        'ReasonEval_34B' if keys[0] == 'score_dim' else 'ReasonEval_7B'
    ]
    if not isinstance(backbone, GPT2Model):
        assert load_file(tmp_path / 'model.safetensors').keys() == model.state_dict().keys()
    again = StepClassifier.load(tmp_path)
    assert again.position == 'last'
    ids = torch.tensor([IDS])
    with torch.no_grad():
        assert model(ids).abs().max() > 0
        assert torch.equal(again(ids), model(ids))
