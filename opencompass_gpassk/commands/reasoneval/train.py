"""``gpassk reasoneval train``: train your own step classifier."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command
from opencompass_gpassk.reasoneval.meta_evaluation import detect_errors
from opencompass_gpassk.reasoneval.training_data import (
    LabelledSteps,
    TrainingSettings,
    read_step_labels,
)

DESCRIPTION = """\
Fine-tune a language model on step labels, so that it scores steps (arXiv 2404.05692, section 3.2).
FILE is PRM800K's JSON lines, or a set of MR-MATH. `gpassk reasoneval score --model` reads the saved
model. An interrupted training continues from its last checkpoint when it is started again. To use
several GPUs:

  accelerate launch -m opencompass_gpassk.commands.main reasoneval train FILE --backbone MODEL \\
    -o FOLDER
"""
NUMBERS = {
    'learning_rate': float,
    'epochs': float,
    'batch_size': int,
    'device_batch': int,
    'warmup': float,
    'weight_decay': float,
    'max_tokens': int,
    'checkpoint_every': int,
    'seed': int,
}


def add_action(actions: Any) -> None:
    """Add the action to the command line."""
    parser = add_command(actions, 'train', 'train a model on step labels', DESCRIPTION, run)
    usual = TrainingSettings()
    parser.add_argument(
        'labels', nargs='+', type=Path, metavar='FILE', help='step labels: PRM800K or MR-MATH'
    )
    parser.add_argument(
        '--backbone', required=True, help='a language model or a ReasonEval model: folder or hub id'
    )
    parser.add_argument('-o', '--output', required=True, type=Path, help='folder for the model')
    parser.add_argument(
        '--held-out', nargs='+', default=[], type=Path, metavar='FILE', help='labels to test on'
    )
    parser.add_argument(
        '--alternatives', action='store_true', help='train on all rated completions of PRM800K'
    )
    parser.add_argument('--layout', choices=('7b', '34b'), help='default: by the backbone')
    for name, kind in NUMBERS.items():
        parser.add_argument(
            f'--{name.replace("_", "-")}',
            type=kind,
            default=getattr(usual, name),
            help='default: %(default)s',
        )
    parser.add_argument('--gradient-checkpointing', action='store_true', help='save memory')


def run(args: argparse.Namespace) -> int:
    """Train, and print a summary."""
    try:
        return _train(args)
    except ImportError as error:  # accelerate is an extra
        raise ValueError(str(error)) from error


def _train(args: argparse.Namespace) -> int:
    from opencompass_gpassk.reasoneval.classifier import StepScorer
    from opencompass_gpassk.reasoneval.train import (
        is_first,
        load_for_training,
        load_tokenizer,
        train,
    )

    def read(paths: Sequence[Path]) -> list[LabelledSteps]:
        found = [read_step_labels(path, alternatives=args.alternatives) for path in paths]
        return [solution for each in found for solution in each]

    solutions, held_out = read(args.labels), read(args.held_out)
    numbers = {name: getattr(args, name) for name in NUMBERS}
    settings = TrainingSettings(**numbers, gradient_checkpointing=args.gradient_checkpointing)
    model = load_for_training(args.backbone, seed=settings.seed)
    tokenizer = load_tokenizer(args.backbone)
    trained = train(
        solutions,
        model,
        tokenizer,
        args.output,
        settings=settings,
        layout=args.layout,
        progress=True,
    )
    if not is_first():
        return 0
    print(
        f'{trained.updates} updates on {trained.steps} steps of {trained.solutions} solutions; '
        f'loss {trained.loss:.4f}; {args.output}'
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
