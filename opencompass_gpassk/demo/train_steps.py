"""Train the demonstration's step classifier: `python -m opencompass_gpassk.demo.train_steps`.

It begins with the demonstration model, which knows the arithmetic, and learns from the labels of
:mod:`~opencompass_gpassk.demo.step_labels`, with the trainer that `gpassk reasoneval train` runs:
first of each sign and digit, by which it finds mistakes, then of whole steps.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from tempfile import TemporaryDirectory

from opencompass_gpassk.demo.evaluate import MODEL
from opencompass_gpassk.demo.step_labels import COUNT, STREAM, labelled_steps
from opencompass_gpassk.reasoneval.scorer import StepScorer
from opencompass_gpassk.reasoneval.step_detection import detect_errors
from opencompass_gpassk.reasoneval.train import (
    Trained,
    TrainingSettings,
    load_for_training,
    train,
)

__all__ = ['HELD_OUT', 'STAGES', 'STEP_CLASSIFIER', 'train_steps']

STEP_CLASSIFIER = Path(__file__).parent / 'step_classifier'
HELD_OUT = ('steps/held-out', 2000)  # stream and count
LATER = 4  # solutions in pieces to one in whole steps
STAGES = tuple(
    TrainingSettings(
        learning_rate=rate, epochs=1, batch_size=16, device_batch=8, checkpoint_every=100_000
    )
    for rate in (1e-3, 4e-4)
)


def train_steps(folder: Path, count: int = COUNT, *, progress: bool = False) -> Trained:
    """Train on so many labelled solutions, each once, and write the checkpoint to `folder`."""
    import torch
    from transformers import AutoTokenizer

    torch.set_num_threads(1)
    model = load_for_training(MODEL, seed=STAGES[0].seed)
    tokenizer = AutoTokenizer.from_pretrained(MODEL)
    with TemporaryDirectory() as whole:
        for stage, settings in enumerate(STAGES):
            share = count if stage == 0 else max(count // LATER, 1)
            solutions = list(labelled_steps(f'{STREAM}/{stage}', share, pieces=stage == 0))
            trained = train(
                solutions,
                model,
                tokenizer,
                f'{whole}/{stage}',
                settings=settings,
                progress=progress,
            )
    model.half().save(folder, '34b', 'last')
    tokenizer.save_pretrained(folder)
    # CPUs are slow at half precision: the weights are loaded as the configuration says.
    path = folder / 'config.json'
    config = {**json.loads(path.read_text('utf-8')), 'dtype': 'float32'}
    path.write_text(json.dumps(config, indent=2, sort_keys=True) + '\n', 'utf-8')
    return trained


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        'folder', type=Path, nargs='?', default=STEP_CLASSIFIER, help='default: %(default)s'
    )
    parser.add_argument('--count', type=int, default=COUNT, help='solutions; default: %(default)s')
    arguments = parser.parse_args()
    trained = train_steps(arguments.folder, arguments.count, progress=True)
    print(f'{trained.updates} updates on {trained.steps} steps; loss {trained.loss:.4f}')
    held_out = list(labelled_steps(*HELD_OUT, held_out=True))
    for kind, found in detect_errors(StepScorer.load(arguments.folder), held_out).items():
        print(
            f'held out, {kind.value} steps: macro F1 {found.macro_f1:.3f}, AUC {found.auc:.3f} '
            f'({found.errors} of {found.units})'
        )


if __name__ == '__main__':
    main()
