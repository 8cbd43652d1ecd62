"""The options that say who scores steps, and how: of every action that scores."""

from __future__ import annotations

import argparse
import gzip
import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opencompass_gpassk.formats.stored_files import written_whole

if TYPE_CHECKING:
    from opencompass_gpassk.reasoneval.settings import ReasoningSettings

__all__ = [
    'add_aggregates',
    'add_scorer_options',
    'note',
    'require_no_folder',
    'scorer_settings',
    'write_lines',
]


def add_aggregates(parser: argparse.ArgumentParser) -> None:
    """Add ``--validity-by`` and ``--redundancy-by``."""
    for kind, usual in (('validity', 'min'), ('redundancy', 'max')):
        parser.add_argument(
            f'--{kind}-by',
            metavar='HOW',
            help=f"makes a solution's {kind} of its steps': min, max, mean or 'geometric mean' "
            f'(default: {usual})',
        )


OPTIONS = ('position', 'batch_size', 'max_tokens', 'long', 'step_tag', 'good', 'bad')
MODEL_KWARGS = ('dtype', 'device_map', 'attn_implementation')


def add_scorer_options(parser: argparse.ArgumentParser) -> None:
    """Add them to an action's options."""
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument(
        '--model',
        help='folder or hub id, such as GAIR/ReasonEval-7B; demo is the step classifier of the '
        'demonstration model',
    )
    who.add_argument(
        '--reward-model',
        metavar='MODEL',
        help='a process reward model of one number a step instead, such as '
        'peiyi9979/math-shepherd-mistral-7b-prm; it says nothing of redundancy',
    )
    who.add_argument(
        '--judge',
        metavar='JUDGE',
        help='ask a language model for the first wrong step and for redundant ones instead: llm, '
        'which OC_JUDGE_MODEL and OC_JUDGE_API_BASE name, or a JSON file of its settings',
    )
    parser.add_argument(
        '--position',
        choices=('published', 'last'),
        help="where a step is read: at its last token, or as the published 7B model's code did, "
        'one before it (default: as the checkpoint is to be read)',
    )
    parser.add_argument('--dtype', help='such as bfloat16 (default: that of the checkpoint)')
    parser.add_argument(
        '--device-map', metavar='MAP', help='such as cuda:0 (default: GPUs if there are any)'
    )
    parser.add_argument(
        '--attn-implementation', metavar='NAME', help='such as sdpa or flash_attention_2'
    )
    parser.add_argument('--batch-size', type=int, help='solutions in a forward pass at most')
    parser.add_argument(
        '--max-tokens', type=int, help='of a solution (default: as the model takes)'
    )
    parser.add_argument(
        '--long',
        choices=('refuse', 'window'),
        help='what happens to longer ones: refuse (default), or read them in windows',
    )
    for name, what in (
        ('--step-tag', 'what a reward model reads a step at (default: ки)'),
        ('--good', "its token for a good step (default: '+')"),
        ('--bad', "its token for a bad one (default: '-')"),
    ):
        parser.add_argument(name, metavar='TEXT', help=what)
    parser.add_argument(
        '--delimiter',
        help='what stands between steps (default: what the model was trained with, if its config '
        'says so, or else they are found)',
    )
    parser.add_argument(
        '--thinking', choices=('drop', 'keep'), default='drop', help='thoughts (default: drop)'
    )
    add_aggregates(parser)


def scorer_settings(args: argparse.Namespace, **further: Any) -> ReasoningSettings:
    """Return the settings that the options make.

    Args:
        args: The command line's.
        **further: Settings besides, such as ``threshold``.

    Raises:
        ValueError: If one is out of its range, or has no effect on who is to score.
    """
    from opencompass_gpassk.judging.settings import MODES, read_settings
    from opencompass_gpassk.reasoneval.settings import ReasoningSettings

    # How answers are matched, which the environment may say, is nothing that steps are asked about.
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


def require_no_folder(output: Path | None) -> None:
    """Refuse to write where a folder is, before anything is computed.

    Raises:
        ValueError: If it is one.
    """
    if output and output.is_dir():
        raise ValueError(f'--output {output} is a folder; name the file to write')


def write_lines(lines: list[str], output: Path | None) -> None:
    """Print lines, or write a file that appears whole or not at all, gzipped if named ``.gz``."""
    text = ''.join(lines)
    if output is None:
        if isinstance(sys.stdout, io.TextIOWrapper):  # JSON is UTF-8, whatever the terminal is
            sys.stdout.reconfigure(encoding='utf-8')
        sys.stdout.write(text)
        return
    data = text.encode()
    if output.suffix == '.gz':
        data = gzip.compress(data, mtime=0)  # of equal lines an equal file
    if output.exists() and not output.is_file():  # a device or a pipe is not to be replaced
        output.write_bytes(data)
        return
    output = output.resolve()  # of a link, what it names
    with written_whole(output) as part:
        part.write_bytes(data)
    note(f'{output} written')


def note(message: str) -> None:
    """Tell the user something that is no result."""
    print(message, file=sys.stderr)
