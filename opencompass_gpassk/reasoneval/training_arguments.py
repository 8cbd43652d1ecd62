"""How a training is described on a command line; nothing heavy is imported for it."""

from __future__ import annotations

import argparse
from pathlib import Path

from opencompass_gpassk.reasoneval.training_settings import TrainingSettings

__all__ = ['add_arguments', 'settings_of']

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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what a training needs to a command line."""
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


def settings_of(arguments: argparse.Namespace) -> TrainingSettings:
    """Return the settings that a command line gives.

    Raises:
        ValueError: If one is out of its range.
    """
    numbers = {name: getattr(arguments, name) for name in NUMBERS}
    return TrainingSettings(**numbers, gradient_checkpointing=arguments.gradient_checkpointing)
