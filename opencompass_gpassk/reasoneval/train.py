"""Train a step classifier on step labels: ``python -m opencompass_gpassk.reasoneval.train``.

A backbone and its head are fine-tuned together by the cross-entropy at the last token of each
labelled step (arXiv 2404.05692, section 3.2), with AdamW and a cosine decay after a warm-up.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opencompass_gpassk.hashing import stable_hash
from opencompass_gpassk.reasoneval.prompt import StepTokenizer
from opencompass_gpassk.reasoneval.scorer import StepScorer
from opencompass_gpassk.reasoneval.step_detection import detect_errors
from opencompass_gpassk.reasoneval.step_labels import LabelledSteps, read_step_labels
from opencompass_gpassk.reasoneval.training_arguments import add_arguments, settings_of
from opencompass_gpassk.reasoneval.training_data import make_examples
from opencompass_gpassk.reasoneval.training_run import (
    last_checkpoint,
    load_for_training,
    make_trainer,
)
from opencompass_gpassk.reasoneval.training_settings import TrainingSettings

if TYPE_CHECKING:
    from opencompass_gpassk.reasoneval.model import StepClassifier

__all__ = [
    'Trained',
    'TrainingSettings',
    'load_for_training',
    'run',
    'train',
]

CHECKPOINTS = 'checkpoints'
RECENT = 10  # updates over which the loss at the end is taken


@dataclass(frozen=True)
class Trained:
    """What came of a training.

    Attributes:
        updates: How many steps the optimiser took, those before an interruption among them.
        loss: Mean cross-entropy of the last ten updates; ln 3 = 1.10 is that of a guess.
        solutions: How many were trained on.
        steps: How many labelled steps they have.
        left_out: How many solutions were left out for which reason.
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
    """Train a model on step labels and save it, so that :class:`~.scorer.StepScorer` loads it.

    Several GPUs share the work if the program is started by ``accelerate launch``; each holds the
    whole model. A run that was interrupted goes on from its last checkpoint, to the same weights.

    Args:
        solutions: To learn from.
        model: Trained in place; it is on the GPU afterwards if there is one.
        tokenizer: The backbone's own.
        folder: Where model and tokenizer are saved in a published layout; the checkpoints, which
            are no longer needed then, in ``checkpoints`` below.
        settings: By default the paper's, as far as they are known.
        layout: ``7b`` or ``34b``, as :meth:`.StepClassifier.save` has it.
        progress: Show a bar on standard error.

    Raises:
        ValueError: If there is nothing to learn from; if a batch can't be shared between the
            processes; or if the folder holds checkpoints of a run with other data or settings.
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
        del how[name]  # they change no result but for rounding
    data = [(each.question, each.steps, each.labels) for each in solutions]
    return stable_hash([model.config.to_dict(), model.fingerprint, data, how])


def run(arguments: argparse.Namespace) -> int:
    """Train as a command line says, and print what came of it."""
    from transformers import AutoTokenizer

    def read(paths: Sequence[Path]) -> list[LabelledSteps]:
        found = [read_step_labels(path, alternatives=arguments.alternatives) for path in paths]
        return [solution for each in found for solution in each]

    solutions, held_out = read(arguments.labels), read(arguments.held_out)
    settings = settings_of(arguments)
    model = load_for_training(arguments.backbone, seed=settings.seed)
    tokenizer = AutoTokenizer.from_pretrained(arguments.backbone)
    trained = train(
        solutions,
        model,
        tokenizer,
        arguments.output,
        settings=settings,
        layout=arguments.layout,
        progress=True,
    )
    if not _is_first():
        return 0
    print(
        f'{trained.updates} updates on {trained.steps} steps of {trained.solutions} solutions; '
        f'loss {trained.loss:.4f}; {arguments.output}'
    )
    for reason, count in trained.left_out.items():
        print(f'left out: {count} solutions: {reason}')
    if held_out:
        scorer = StepScorer(model, tokenizer, position='last', long='window')
        for kind, found in detect_errors(scorer, held_out).items():
            print(
                f'held out, {kind.value} steps: macro F1 {found.macro_f1:.3f}, AUC {found.auc:.3f} '
                f'({found.errors} of {found.units} steps; {found.unscored} unscored)'
            )
    return 0


def _is_first() -> bool:
    from accelerate import PartialState

    return bool(PartialState().is_main_process)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog='python -m opencompass_gpassk.reasoneval.train',
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    arguments = parser.parse_args()
    try:
        return run(arguments)
    except (ValueError, OSError, ImportError) as error:
        parser.exit(2, f'{parser.prog}: {error}\n')


if __name__ == '__main__':
    raise SystemExit(main())
