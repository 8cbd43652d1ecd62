"""The command-line options for the scorer of steps, shared by all actions that score."""

from __future__ import annotations

import argparse
from typing import Any

from opencompass_gpassk.judging.settings import MODES, read_settings
from opencompass_gpassk.reasoneval.settings import ReasoningSettings


def add_aggregates(parser: argparse.ArgumentParser) -> None:
    """Add ``--validity-by`` and ``--redundancy-by``."""
    for kind, usual in (('validity', 'min'), ('redundancy', 'max')):
        parser.add_argument(
            f'--{kind}-by',
            metavar='HOW',
            help=f"how the steps' {kind} is combined: min, max, mean or 'geometric mean' "
            f'(default: {usual})',
        )


OPTIONS = ('position', 'batch_size', 'max_tokens', 'long', 'step_tag', 'good', 'bad')
MODEL_KWARGS = ('dtype', 'device_map', 'attn_implementation')


def add_scorer_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for a scorer to an action."""
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument(
        '--model',
        help='folder or hub id, such as GAIR/ReasonEval-7B; demo is the step classifier of the '
        'demonstration model',
    )
    who.add_argument(
        '--reward-model',
        metavar='MODEL',
        help='a process reward model with one number per step instead, such as '
        'peiyi9979/math-shepherd-mistral-7b-prm; it gives no redundancy',
    )
    who.add_argument(
        '--judge',
        metavar='JUDGE',
        help='ask a language model for the first wrong step and for redundant ones instead: llm '
        '(set by OC_JUDGE_MODEL and OC_JUDGE_API_BASE), or a JSON file of its settings',
    )
    parser.add_argument(
        '--position',
        choices=('published', 'last'),
        help="where a step's scores are read: at its last token, or one before it, as in the code "
        'of the published 7B model (default: by checkpoint)',
    )
    parser.add_argument('--dtype', help="such as bfloat16 (default: the checkpoint's)")
    parser.add_argument(
        '--device-map', metavar='MAP', help='such as cuda:0 (default: GPUs if there are any)'
    )
    parser.add_argument(
        '--attn-implementation', metavar='NAME', help='such as sdpa or flash_attention_2'
    )
    parser.add_argument('--batch-size', type=int, help='most solutions in a forward pass')
    parser.add_argument(
        '--max-tokens', type=int, help="longest solution (default: the model's limit)"
    )
    parser.add_argument(
        '--long',
        choices=('refuse', 'window'),
        help='refuse longer solutions (default), or read them in windows',
    )
    for name, what in (
        ('--step-tag', "a reward model's text after each step (default: ки)"),
        ('--good', "its token for a good step (default: '+')"),
        ('--bad', "its token for a bad step (default: '-')"),
    ):
        parser.add_argument(name, metavar='TEXT', help=what)
    parser.add_argument(
        '--delimiter',
        help='text between steps (default: that of the training, if the config of the model has '
        'it; else steps are found by markers)',
    )
    parser.add_argument(
        '--thinking', choices=('drop', 'keep'), default='drop', help='thoughts (default: drop)'
    )
    add_aggregates(parser)


def scorer_settings(args: argparse.Namespace, **further: Any) -> ReasoningSettings:
    """Return the settings in the options.

    Args:
        args: The parsed command line.
        **further: More settings, such as ``threshold``.

    Raises:
        ValueError: If a setting is out of its range, or has no effect on this scorer.
    """
    # read_settings would take `match` from the environment, which has no meaning for steps.
    judge = args.judge if args.judge in (None, *MODES) else read_settings(args.judge).as_dict()
    return ReasoningSettings(
        model=args.model or '',
        reward_model=args.reward_model or '',
        judge=judge,
        options=_given(args, OPTIONS),
        model_kwargs=_given(args, MODEL_KWARGS),
        validity_by=args.validity_by or 'min',
        redundancy_by=args.redundancy_by or 'max',
        delimiter=args.delimiter,
        thinking=args.thinking,
        **further,
    )


def _given(args: argparse.Namespace, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(args, name) for name in names if getattr(args, name) is not None}
