"""Train a step classifier on step labels, as ``gpassk reasoneval train`` does.

A backbone and its head are fine-tuned together by the cross-entropy at the last token of each
labelled step (arXiv 2404.05692, section 3.2), with AdamW and a cosine decay after a warm-up.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence
from transformers import (
    AutoConfig,
    AutoModel,
    AutoTokenizer,
    PrinterCallback,
    ProgressCallback,
    Trainer,
    TrainingArguments,
)

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.reasoneval.batching import Encoded, load_whole, weights_fingerprint
from opencompass_gpassk.reasoneval.classifier import StepClassifier, StepTokenizer, find_layout
from opencompass_gpassk.reasoneval.solutions import Refusal, Solution
from opencompass_gpassk.reasoneval.training_data import LABELS, LabelledSteps, TrainingSettings

CHECKPOINTS = 'checkpoints'
SIGNATURE = 'run.txt'  # the settings that a resumed run must share with the interrupted one


def load_for_training(source: str | Path, *, seed: int = 0) -> tuple[StepClassifier, Any]:
    """Load a decoder with a new head, or a checkpoint with a head to train further.

    Weights are in float32, since small updates vanish in bfloat16.

    Args:
        source: A folder or an id on the hub, such as a language model, whose language-model head
            is left out.
        seed: Seed of the new head's weights.

    Returns:
        The model and its tokenizer.

    Raises:
        ValueError: If the checkpoint lacks weights of the backbone.
        OSError: If there is no such checkpoint.
    """
    source = str(source)
    tokenizer = AutoTokenizer.from_pretrained(source)
    if find_layout(AutoConfig.from_pretrained(source)):
        return StepClassifier.load(source, dtype='float32'), tokenizer
    remedy = 'the files may be cut short, or of another model'
    backbone, _ = load_whole(AutoModel, source, dtype='float32', remedy=remedy)
    return StepClassifier(backbone, generator=torch.Generator().manual_seed(seed)), tokenizer


IGNORED = -100  # target of tokens that don't end a labelled step, as transformers expects it
NO_LABEL = 'none of its steps has a label'
AT_ONCE = 256  # solutions in a call of the tokenizer

# A solution's tokens up to its last labelled step, and the target of each: the class, from 0 to 2,
# of the step that ends there, else IGNORED. Both have the shape (T,).
Example = tuple[torch.Tensor, torch.Tensor]


def make_examples(
    solutions: Sequence[LabelledSteps], tokenizer: StepTokenizer, max_tokens: int
) -> tuple[list[Example], Counter[str]]:
    """Return examples in the solutions' order, and the number of solutions left out by reason.

    Steps that end beyond ``max_tokens`` tokens of prompt and steps have no target.
    """
    examples: list[Example] = []
    left_out: Counter[str] = Counter()
    for start in range(0, len(solutions), AT_ONCE):
        chunk = solutions[start : start + AT_ONCE]
        encoded = tokenizer.encode([Solution(each.question, each.steps) for each in chunk])
        for solution, item in zip(chunk, encoded, strict=True):
            made = _example(solution.labels, item, max_tokens)
            if isinstance(made, str):
                left_out[made] += 1
            else:
                examples.append(made)
    return examples, left_out


def _example(
    labels: Sequence[int | None], encoded: Encoded | Refusal, max_tokens: int
) -> Example | str:
    if all(label is None for label in labels):
        return NO_LABEL
    if isinstance(encoded, Refusal):
        return encoded.value
    targets = np.full(len(encoded.ids), IGNORED)
    for end, label in zip(encoded.ends, labels, strict=True):
        if label is not None and end < max_tokens:
            targets[end] = LABELS.index(label)
    labelled = np.flatnonzero(targets != IGNORED)
    if not len(labelled):
        return Refusal.TOO_LONG.value
    # A decoder's tokens don't see what follows, so nothing after the last label is needed.
    length = labelled[-1] + 1
    return torch.from_numpy(encoded.ids[:length]).long(), torch.from_numpy(targets[:length])


def collate(examples: Sequence[Example]) -> dict[str, torch.Tensor]:
    """Return B examples as ``input_ids`` and ``labels``, each of shape (B, T).

    Each row has its own labels, so that batches can be split and gathered between processes.
    """
    ids, labels = [ids for ids, _ in examples], [labels for _, labels in examples]
    return {
        'input_ids': pad_sequence(ids, batch_first=True),
        'labels': pad_sequence(labels, batch_first=True, padding_value=IGNORED),
    }


def step_loss(
    logits: torch.Tensor, labels: torch.Tensor, num_items_in_batch: Any = None
) -> torch.Tensor:
    """Return the cross-entropy at the labelled tokens, the mean over all steps of an update.

    Args:
        logits: Logits of the classes at each token, shape (B, T, 3).
        labels: Classes, :data:`IGNORED` where there is none, shape (B, T).
        num_items_in_batch: Number of steps in the whole update, if it has several batches; by
            default that of this batch.
    """
    kept = labels != IGNORED
    total = torch.nn.functional.cross_entropy(logits[kept].float(), labels[kept], reduction='sum')
    return total / (kept.sum() if num_items_in_batch is None else num_items_in_batch)


class QuietBar(ProgressCallback):
    """A progress bar with the loss behind it; the base class writes a line for each loss."""

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Show the loss."""
        if self.training_bar is not None and logs and 'loss' in logs:
            self.training_bar.set_postfix(loss=f'{logs["loss"]:.4f}')


def make_trainer(
    model: StepClassifier,
    examples: list[Example],
    folder: Path,
    settings: TrainingSettings,
    progress: bool,
) -> Trainer:
    """Return the trainer, which minimises the steps' loss and keeps checkpoints in the folder.

    Raises:
        ValueError: If the processes can't share a batch, or are configured to share the model.
        ImportError: If ``accelerate`` is not installed.
    """
    arguments = TrainingArguments(
        output_dir=str(folder),
        learning_rate=settings.learning_rate,
        num_train_epochs=settings.epochs,
        lr_scheduler_type='cosine',
        warmup_steps=settings.warmup,
        weight_decay=settings.weight_decay,
        adam_beta1=0.9,
        adam_beta2=0.95,
        bf16=torch.cuda.is_available() and torch.cuda.is_bf16_supported(),  # weights stay float32
        save_steps=settings.checkpoint_every,
        save_total_limit=2,
        seed=settings.seed,
        logging_steps=1,
        report_to=[],
        dataloader_pin_memory=torch.cuda.is_available(),
        disable_tqdm=not progress,
        ddp_find_unused_parameters=False,
        remove_unused_columns=False,
        label_names=['labels'],
    )
    # The number of processes is known only now.
    rows, accumulation = settings.shares(arguments.world_size)
    arguments.per_device_train_batch_size = rows
    arguments.gradient_accumulation_steps = accumulation
    # One process uses one GPU: several GPUs in threads are slower and count steps wrongly.
    arguments._n_gpu = min(arguments.n_gpu, 1)
    if settings.gradient_checkpointing:
        model.model.gradient_checkpointing_enable({'use_reentrant': False})
    trainer = Trainer(
        model=model,
        args=arguments,
        train_dataset=examples,
        data_collator=collate,
        compute_loss_func=step_loss,
    )
    trainer.remove_callback(PrinterCallback)  # it prints each loss
    if progress:
        trainer.remove_callback(ProgressCallback)
        trainer.add_callback(QuietBar)
    if str(trainer.accelerator.distributed_type).split('.')[-1] in ('FSDP', 'DEEPSPEED'):
        raise ValueError(
            'accelerate is configured to split the model among the GPUs (FSDP or DeepSpeed); '
            'configure it for plain multi-GPU training'
        )
    return trainer


def last_checkpoint(folder: Path, signature: str) -> Path | None:
    """Return the last complete checkpoint of a run, and write the run's signature.

    Raises:
        ValueError: If the folder holds checkpoints of another run.
    """
    kept = folder / SIGNATURE
    found = {
        int(name[1]): path
        for path in folder.glob('checkpoint-*')
        if (name := re.fullmatch(r'checkpoint-(\d+)', path.name))
        and (path / 'trainer_state.json').is_file()  # written last
    }
    if found and (not kept.is_file() or kept.read_text('utf-8') != signature):
        raise ValueError(
            f'{folder} holds checkpoints of a run with other data, settings or backbone; remove '
            'it, or train into another folder'
        )
    folder.mkdir(parents=True, exist_ok=True)
    kept.write_text(signature, 'utf-8')
    return found[max(found)] if found else None


RECENT = 10  # last updates over which the final loss is averaged


@dataclass(frozen=True)
class Trained:
    """The outcome of a training.

    Attributes:
        updates: Number of the optimiser's steps, including those before an interruption.
        loss: Mean cross-entropy of the last ten updates; guessing gives ln 3 = 1.10.
        solutions: Number of solutions trained on.
        steps: Number of their labelled steps.
        left_out: Number of solutions left out, by reason.
    """

    updates: int
    loss: float
    solutions: int
    steps: int
    left_out: dict[str, int]


def train(
    solutions: Sequence[LabelledSteps],
    model: StepClassifier,
    tokenizer: Any,
    folder: str | Path,
    *,
    settings: TrainingSettings | None = None,
    progress: bool = False,
) -> Trained:
    """Train a model on step labels and save it, so that :class:`~.classifier.StepScorer` loads it.

    Several GPUs share the work if the program is started by ``accelerate launch``; each holds the
    whole model. An interrupted run resumes from its last checkpoint and reaches the same weights.

    Args:
        solutions: The training data.
        model: Trained in place; it is on the GPU afterwards if there is one.
        tokenizer: The backbone's own.
        folder: Model and tokenizer are saved here in a published layout; checkpoints in its folder
            ``checkpoints``, which is not needed afterwards.
        settings: By default the paper's, as far as they are known.
        progress: Show a bar on standard error.

    Raises:
        ValueError: If no solution has a label; if ``accelerate`` is not installed; if the processes
            can't share a batch; or if the folder holds checkpoints of a run with other data or
            settings.
    """
    settings = settings or TrainingSettings()
    folder = Path(folder)
    positions = getattr(model.config.get_text_config(), 'max_position_embeddings', None)
    limit = min(settings.max_tokens, positions or settings.max_tokens)
    examples, left_out = make_examples(solutions, StepTokenizer(tokenizer), limit)
    if not examples:
        raise ValueError(
            f'there is no solution to learn from: {dict(left_out) or "none was given"}; give some '
            'with labelled steps'
        )
    trainer = make_trainer(model, examples, folder / CHECKPOINTS, settings, progress)
    with trainer.args.main_process_first(local=False):
        start = last_checkpoint(folder / CHECKPOINTS, _signature(model, solutions, settings))
    trainer.train(resume_from_checkpoint=str(start) if start else None)
    model.eval()
    if trainer.is_world_process_zero():
        model.save(folder, position='last')
        tokenizer.save_pretrained(folder)
    trainer.accelerator.wait_for_everyone()
    losses = [entry['loss'] for entry in trainer.state.log_history if 'loss' in entry][-RECENT:]
    return Trained(
        updates=trainer.state.global_step,
        loss=sum(losses) / len(losses) if losses else math.nan,
        solutions=len(examples),
        steps=sum(int((labels != IGNORED).sum()) for _, labels in examples),
        left_out=dict(left_out),
    )


def _signature(
    model: StepClassifier, solutions: Sequence[LabelledSteps], settings: TrainingSettings
) -> str:
    how = asdict(settings)
    for name in ('device_batch', 'checkpoint_every', 'gradient_checkpointing'):
        del how[name]  # they change results only by rounding
    data = [(each.question, each.steps, each.labels) for each in solutions]
    return stable_hash([model.config.to_dict(), weights_fingerprint(model), data, how])
