"""Train a step classifier on step labels, as ``gpassk reasoneval train`` does.

A backbone and its head are fine-tuned together by the cross-entropy at the last token of each
labelled step (arXiv 2404.05692, section 3.2), with AdamW and a cosine decay after a warm-up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
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
from opencompass_gpassk.reasoneval.batching import WHERE, dtype_keyword
from opencompass_gpassk.reasoneval.classifier import StepClassifier, StepTokenizer, find_layout
from opencompass_gpassk.reasoneval.training_data import (
    Example,
    LabelledSteps,
    collate,
    make_examples,
    step_loss,
)
from opencompass_gpassk.reasoneval.training_settings import TrainingSettings

__all__ = [
    'Trained',
    'TrainingSettings',
    'is_first',
    'load_for_training',
    'load_tokenizer',
    'train',
]

CHECKPOINTS = 'checkpoints'
SIGNATURE = 'run.txt'  # the settings that a resumed run must share with the interrupted one


def load_tokenizer(source: str | Path) -> Any:
    """Load the tokenizer of a backbone from a folder or from the hub."""
    return AutoTokenizer.from_pretrained(source)


def load_for_training(source: str | Path, *, seed: int = 0, **settings: Any) -> StepClassifier:
    """Load a decoder with a new head, or a checkpoint with a head to train further.

    Args:
        source: A folder or an id on the hub, such as a language model, whose language-model head
            is left out.
        seed: Seed of the new head's weights.
        settings: Arguments of ``AutoModel.from_pretrained``; weights are in float32 by default,
            since small updates vanish in bfloat16.

    Raises:
        ValueError: If the checkpoint lacks weights of the backbone.
        OSError: If there is no such checkpoint.
    """
    dtype = settings.pop('dtype', 'float32')
    where = {name: settings[name] for name in WHERE if name in settings}
    if find_layout(AutoConfig.from_pretrained(str(source), **where)):
        return StepClassifier.load(source, dtype=dtype, **settings)
    settings[dtype_keyword()] = dtype
    backbone, report = AutoModel.from_pretrained(str(source), output_loading_info=True, **settings)
    if report['missing_keys']:
        raise ValueError(
            f'{source}: the checkpoint misses {sorted(report["missing_keys"])[:5]} of its '
            'backbone; the files may be cut short, or of another model'
        )
    return StepClassifier(backbone, generator=torch.Generator().manual_seed(seed))


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
    if find_spec('accelerate') is None:
        raise ImportError("training needs accelerate: pip install 'opencompass-gpassk[reasoneval]'")
    can = torch.cuda.is_available() and torch.cuda.is_bf16_supported()
    arguments = TrainingArguments(
        output_dir=str(folder),
        learning_rate=settings.learning_rate,
        num_train_epochs=settings.epochs,
        lr_scheduler_type='cosine',
        warmup_ratio=settings.warmup,
        weight_decay=settings.weight_decay,
        adam_beta1=settings.betas[0],
        adam_beta2=settings.betas[1],
        bf16=can if settings.bf16 is None else settings.bf16,
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
    layout: str | None = None,
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
        layout: ``7b`` or ``34b``, as in :meth:`.StepClassifier.save`.
        progress: Show a bar on standard error.

    Raises:
        ValueError: If no solution has a label; if the processes can't share a batch; or if the
            folder holds checkpoints of a run with other data or settings.
        ImportError: If ``accelerate`` is not installed.
    """
    settings = settings or TrainingSettings()
    folder = Path(folder)
    limits = [settings.max_tokens]
    positions = getattr(model.config.get_text_config(), 'max_position_embeddings', None)
    limits += [positions] if positions else []
    examples, left_out = make_examples(solutions, StepTokenizer(tokenizer), min(limits))
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
        model.save(folder, layout, position='last')
        tokenizer.save_pretrained(folder)
    trainer.accelerator.wait_for_everyone()
    losses = [entry['loss'] for entry in trainer.state.log_history if 'loss' in entry][-RECENT:]
    return Trained(
        updates=trainer.state.global_step,
        loss=sum(losses) / len(losses) if losses else math.nan,
        solutions=len(examples),
        steps=sum(len(example.targets) for example in examples),
        left_out=dict(left_out),
    )


def _signature(
    model: StepClassifier, solutions: Sequence[LabelledSteps], settings: TrainingSettings
) -> str:
    how = asdict(settings)
    for name in ('device_batch', 'checkpoint_every', 'gradient_checkpointing', 'bf16'):
        del how[name]  # they change results only by rounding
    data = [(each.question, each.steps, each.labels) for each in solutions]
    return stable_hash([model.config.to_dict(), model.fingerprint, data, how])


def is_first() -> bool:
    """Tell whether this is the first of several processes, which alone prints."""
    from accelerate import PartialState

    return bool(PartialState().is_main_process)
