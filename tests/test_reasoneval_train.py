"""Training on step labels: what is learned, from which tokens, and what is saved."""

from __future__ import annotations

import json
import math
import os
import random
import re
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from real_data import DATA, needs_data
from tiny_reasoneval import SHAPE, publish
from tiny_reasoneval import tokenizer as make_tokenizer
from torch.multiprocessing import start_processes
from transformers import LlamaConfig, LlamaForCausalLM, LlamaModel, Trainer

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.reasoneval import train as training
from opencompass_gpassk.reasoneval.classifier import (
    StepClassifier,
    StepScorer,
    StepTokenizer,
)
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.solutions import Solution
from opencompass_gpassk.reasoneval.train import (
    TrainingSettings,
    collate,
    load_for_training,
    make_examples,
    step_loss,
    train,
)
from opencompass_gpassk.reasoneval.training_data import LabelledSteps, read_step_labels
from tools.demo.step_detection import detect_errors

TOKENIZER = make_tokenizer('34b')
CASES = json.loads((Path(__file__).parent / 'cases/reasoneval_labels.json').read_text('utf-8'))


def make_labelled(count: int, seed: int) -> list[LabelledSteps]:
    """Solutions that add what the question says, 1 or 2: wrong ones miss it, idle ones add none.

    All steps look alike, so that only its numbers, and the question, tell what a step is.
    """
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        more = rng.choice((1, 2))
        steps: list[str] = []
        labels: list[int | None] = []
        for _ in range(rng.randint(3, 5)):
            a, label = rng.randint(0, 4), rng.choice((-1, 0, 1))
            wrong = [n for n in range(7) if n not in (a, a + more)]
            b = {1: a + more, 0: a, -1: rng.choice(wrong)}[label]
            steps.append(f'{a} {b}')
            labels.append(label)
        made.append(LabelledSteps(f'add {more}', tuple(steps), tuple(labels)))
    return made


def make_model(seed: int = 0, dropout: float = 0.0) -> StepClassifier:
    """A tiny Llama with a head, both fresh."""
    torch.manual_seed(seed)
    shape = {**SHAPE, 'initializer_range': 0.1, 'attention_dropout': dropout}
    backbone = LlamaModel(LlamaConfig(vocab_size=len(TOKENIZER), **shape))
    return StepClassifier(backbone, generator=torch.Generator().manual_seed(seed))


@pytest.fixture(scope='module')
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, training.Trained]:
    """A model that learned from counting."""
    folder = tmp_path_factory.mktemp('trained') / 'm'
    settings = TrainingSettings(
        learning_rate=1e-2, epochs=4, batch_size=64, device_batch=64, warmup=10
    )
    return folder, train(make_labelled(1500, 0), make_model(), TOKENIZER, folder, settings=settings)


def test_learns_to_tell_steps_apart(trained: tuple[Path, training.Trained]) -> None:
    """On problems that it never saw, wrong, idle and good steps are told apart."""
    folder, outcome = trained
    assert outcome.updates == math.ceil(1500 / 64) * 4
    seen = {(each.question, *each.steps) for each in make_labelled(1500, 0)}
    held_out = [e for e in make_labelled(300, 1) if (e.question, *e.steps) not in seen]
    assert len(held_out) > 200
    found = detect_errors(StepScorer.load(folder), held_out)
    before = detect_errors(StepScorer(make_model(), TOKENIZER), held_out)
    for kind in ErrorKind:
        assert found[kind].macro_f1 > 0.85, found[kind]
        assert found[kind].auc > 0.95, found[kind]
        assert before[kind].auc < 0.7, before[kind]
    assert outcome.loss < 0.4


SOLUTIONS = [
    LabelledSteps('add 1', ('2 3', '4 4', 'so 5 8', 'and 6 7'), (1, None, -1, None)),
    LabelledSteps('a longer question, add 2', ('3 5', '5 5'), (1, 0)),
    LabelledSteps('add 2', ('1 1 1 1 1 1 1 1', '<s> 2 4'), (0, 1)),
]


def reference_loss(model: StepClassifier) -> torch.Tensor:
    """The mean of -log p at the last token of each labelled step, found by growing prefixes."""
    losses = []
    for solution in SOLUTIONS:
        for count, label in enumerate(solution.labels, start=1):
            if label is None:
                continue
            (encoded,) = StepTokenizer(TOKENIZER).encode(
                [Solution(solution.question, solution.steps[:count])]
            )
            hidden = model.model(torch.tensor([encoded.ids.tolist()]))[0][0, -1]
            logits = [(hidden @ row).item() for row in model.score_head.weight]
            total = math.log(sum(math.exp(each) for each in logits))
            losses.append(total - logits[label + 1])
    assert len(losses) == 6
    return torch.tensor(losses).mean()


def test_loss_is_that_of_last_tokens() -> None:
    """The loss of a padded batch is a plain one: one prefix at a time, read at its end."""
    model = make_model(3)
    batch = collate(make_examples(SOLUTIONS, StepTokenizer(TOKENIZER), 999)[0])
    labels = batch.pop('labels')
    loss = step_loss(model(**batch), labels)
    torch.testing.assert_close(loss, reference_loss(model), rtol=1e-5, atol=1e-5)


def test_update_does_not_depend_on_its_batches(tmp_path: Path) -> None:
    """A step weighs the same in one batch as in an update made of several, of unequal steps."""
    weights = []
    for rows in (4, 1):
        model = make_model(1)
        settings = TrainingSettings(
            1e-3, 1, batch_size=4, device_batch=rows, warmup=0, gradient_checkpointing=rows == 1
        )
        train(make_labelled(8, 5), model, TOKENIZER, tmp_path / str(rows), settings=settings)
        weights.append(model.state_dict())
    for name, tensor in weights[0].items():
        torch.testing.assert_close(weights[1][name], tensor, rtol=0, atol=2e-4)
    start = make_model(1).state_dict()
    assert max((start[name] - weights[0][name]).abs().max() for name in start) > 1.5e-3


def run_process(rank: int, port: int, folder: Path) -> None:
    """Train as one of two processes, as ``accelerate launch`` starts them."""
    settings = {'RANK': rank, 'LOCAL_RANK': rank, 'WORLD_SIZE': 2, 'LOCAL_WORLD_SIZE': 2}
    settings |= {'MASTER_PORT': port, 'MASTER_ADDR': '127.0.0.1', 'ACCELERATE_USE_CPU': 'true'}
    os.environ.update({name: str(value) for name, value in settings.items()})
    train(make_labelled(24, 5), make_model(1), TOKENIZER, folder, settings=SHARED)


SHARED = TrainingSettings(3e-3, 1, batch_size=8, device_batch=2)


@pytest.mark.slow
def test_two_processes_learn_what_one_does(tmp_path: Path) -> None:
    """Work is shared between processes without a trace in the weights, and saved once."""
    model = make_model(1)
    train(make_labelled(24, 5), model, TOKENIZER, tmp_path / 'one', settings=SHARED)
    with socket.socket() as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    start_processes(run_process, (port, tmp_path / 'two'), nprocs=2, start_method='fork')
    together = StepClassifier.load(tmp_path / 'two').state_dict()
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(together[name], tensor, rtol=0, atol=1e-5)


class KilledError(Exception):
    """Stands for a process that is killed."""


def test_interrupted_run_ends_with_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that goes on from a checkpoint learns what one in a piece does, dropout and all."""
    settings = TrainingSettings(3e-3, 2, batch_size=8, device_batch=4, checkpoint_every=3)
    data = make_labelled(40, 2)
    whole = make_model(1, dropout=0.2)
    outcome = train(data, whole, TOKENIZER, tmp_path / 'whole', settings=settings)
    assert outcome.updates == 10
    step = Trainer.training_step
    calls: list[int] = []

    def killed(self: Trainer, *args: Any, **kwargs: Any) -> Any:
        calls.append(self.state.global_step)
        if len(calls) == 15:
            raise KilledError
        return step(self, *args, **kwargs)

    monkeypatch.setattr(Trainer, 'training_step', killed)
    with pytest.raises(KilledError):
        train(data, make_model(1, dropout=0.2), TOKENIZER, tmp_path / 'm', settings=settings)
    assert not (tmp_path / 'm/config.json').exists()
    (tmp_path / 'm/checkpoints/checkpoint-9').mkdir()  # one that was being written
    again = make_model(1, dropout=0.2)
    calls.clear()
    calls += [0] * 20
    assert train(data, again, TOKENIZER, tmp_path / 'm', settings=settings) == outcome
    assert calls[20] == 6
    for name, tensor in whole.state_dict().items():
        torch.testing.assert_close(again.state_dict()[name], tensor, rtol=0, atol=1e-6)
    other = TrainingSettings(4e-3, 2, batch_size=8)
    with pytest.raises(ValueError, match='other data, settings or backbone'):
        train(data, make_model(1), TOKENIZER, tmp_path / 'm', settings=other)


def test_optimiser_is_the_papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """AdamW decays weights but no norms, and the rate rises, then falls along a cosine to 0."""
    held: list[Trainer] = []
    rates: list[float] = []
    step = Trainer.training_step

    def noted(self: Trainer, *args: Any, **kwargs: Any) -> Any:
        held.append(self)
        rates.append(self.lr_scheduler.get_last_lr()[0])
        return step(self, *args, **kwargs)

    monkeypatch.setattr(Trainer, 'training_step', noted)
    settings = TrainingSettings(1e-3, 1, batch_size=4, warmup=2)
    train(make_labelled(40, 2), make_model(), TOKENIZER, tmp_path / 'm', settings=settings)
    groups = held[0].optimizer.param_groups
    assert type(held[0].optimizer.optimizer) is torch.optim.AdamW
    assert {group['betas'] for group in groups} == {(0.9, 0.95)}
    decays = {group['weight_decay']: group['params'] for group in groups}
    assert {weight: {tensor.ndim for tensor in tensors} for weight, tensors in decays.items()} == {
        0.1: {2},
        0.0: {1},
    }
    falling = [(1 + math.cos(math.pi * i / 8)) / 2 for i in range(8)]
    np.testing.assert_allclose(rates, 1e-3 * np.array([0, 0.5, *falling]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize('case', CASES['read'], ids=lambda case: case['id'])
def test_labels_are_read(case: dict[str, Any], tmp_path: Path) -> None:
    """A row of either format gives question, steps and labels."""
    path = tmp_path / 'labels.jsonl'
    path.write_text('\n' + json.dumps(case['row']) + '\n', 'utf-8')
    (read,) = read_step_labels(path)
    assert (list(read.steps), list(read.labels)) == (case['steps'], case['labels'])
    question = case['row']['question']
    assert read.question == (question['problem'] if isinstance(question, dict) else question)


@pytest.mark.parametrize('case', CASES['refused'], ids=lambda case: case['id'])
def test_malformed_labels_are_refused(case: dict[str, Any], tmp_path: Path) -> None:
    """What is wrong is named: file, line, field and remedy."""
    path = tmp_path / 'labels.jsonl'
    path.write_text(json.dumps(case['row']), 'utf-8')
    with pytest.raises(ValueError, match=rf'labels\.jsonl, line 1: .*{case["message"]}'):
        read_step_labels(path)


@pytest.mark.parametrize('text', ['', '\n \n'])
def test_file_without_labels_is_refused(text: str, tmp_path: Path) -> None:
    """An empty file is no training set."""
    path = tmp_path / 'labels.jsonl'
    path.write_text(text)
    with pytest.raises(ValueError, match='no solution'):
        read_step_labels(path)


def test_what_cannot_be_learned_from_is_counted(tmp_path: Path) -> None:
    """Solutions without labels, with blank steps or too long are left out, cut ones are cut."""
    solutions = [
        SOLUTIONS[0],
        LabelledSteps('q', ('a',), (None,)),
        LabelledSteps('q', ('a', ' '), (1, 1)),
        LabelledSteps('q', (), ()),
        LabelledSteps('q' * 500, ('a',), (1,)),
        LabelledSteps('q', ('a', 'b' * 500, 'c'), (1, 0, -1)),
    ]
    settings = TrainingSettings(1e-3, 1, batch_size=1, max_tokens=150)
    found = train(solutions, make_model(), TOKENIZER, tmp_path / 'm', settings=settings)
    assert (found.solutions, found.steps) == (2, 3)
    assert sorted(found.left_out.values()) == [1, 1, 2]
    with pytest.raises(ValueError, match='no solution to learn from'):
        train(solutions[1:2], make_model(), TOKENIZER, tmp_path / 'n', settings=settings)


@pytest.mark.parametrize(
    'wrong',
    [{'batch_size': 0}, {'learning_rate': math.nan}, {'epochs': 0}, {'warmup': 0.03}],
    ids=str,
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    """A bad setting is an error that names it."""
    with pytest.raises(ValueError, match=f'^{next(iter(wrong))} of training'):
        TrainingSettings(**wrong)


def test_batches_are_shared_evenly() -> None:
    """An update has as many solutions as was asked for, whatever the number of processes."""
    settings = TrainingSettings(batch_size=60, device_batch=8)
    assert [settings.shares(processes) for processes in (1, 4, 60)] == [(6, 10), (5, 3), (1, 1)]
    with pytest.raises(ValueError, match=r'^batch_size .* 7 processes'):
        settings.shares(7)


def test_training_begins_with_a_language_model_or_goes_on(tmp_path: Path) -> None:
    """Of a language model the backbone is taken; of a step classifier the head too."""
    config = LlamaConfig(vocab_size=len(TOKENIZER), **SHAPE)
    language_model = LlamaForCausalLM(config)
    language_model.save_pretrained(tmp_path / 'lm')
    TOKENIZER.save_pretrained(tmp_path / 'lm')
    fresh, _ = load_for_training(tmp_path / 'lm')
    for name, tensor in language_model.model.state_dict().items():
        assert torch.equal(fresh.model.state_dict()[name], tensor)
    assert fresh.score_head.weight.std() > 0
    again, other = (load_for_training(tmp_path / 'lm', seed=seed)[0] for seed in (0, 1))
    assert torch.equal(again.score_head.weight, fresh.score_head.weight)
    assert not torch.equal(other.score_head.weight, fresh.score_head.weight)
    published = publish(tmp_path / 'm', '7b')
    going_on, _ = load_for_training(published.folder)
    assert torch.equal(going_on.score_head.weight, published.head['weight'])


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A published model is trained on from a file of labels."""
    published = publish(tmp_path / 'backbone', '7b')
    rows = [
        {'id': 1, 'question': 'q', 'model_output_step_format': [['a'], ['b']], 'rating': [1, 0]},
        {'id': 2, 'question': 'r', 'model_output_step_format': [['c']], 'rating': [1]},
    ]
    labels = tmp_path / 'labels.jsonl'
    labels.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    settings = tmp_path / 'settings.json'
    command = ['reasoneval', 'train', str(labels), '--backbone', str(published.folder), '-o']
    command += [str(tmp_path / 'm'), '--settings', str(settings)]
    settings.write_text('{"batch_size": 2, "epochs": 3, "warmup": 0}')
    assert main(command) == 0
    out = capsys.readouterr().out
    assert re.search(r'^3 updates on 3 steps of 2 solutions; loss \d', out, re.M)
    assert StepScorer.load(tmp_path / 'm').position == 'last'
    for wrong in ('{"epochs": 0}', '{"epochs": "3"}', '{"epoch": 3}'):
        settings.write_text(wrong)
        assert main(command) == 1
        assert re.search(r'settings.json: .*epochs', capsys.readouterr().err)


@needs_data
def test_real_labels_are_read() -> None:
    """MR-MATH gives as many labels as its authors count: 83 wrong steps, 150 idle solutions."""
    folder = Path(str(DATA)) / 'reasoneval'
    invalid = read_step_labels(folder / 'mr-math_invalid_errors.json')
    redundant = read_step_labels(folder / 'mr-math_redundant_errors.json')
    assert sum(-1 in each.labels for each in invalid) == 83
    assert sum(0 in each.labels for each in redundant) == 150
    assert (len(invalid), len(redundant)) == (159, 300)
    assert not any(0 in each.labels for each in invalid)
