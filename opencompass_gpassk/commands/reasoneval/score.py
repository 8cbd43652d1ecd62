"""``gpassk reasoneval score``: the scores of solutions, step by step."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from opencompass_gpassk.commands.reasoneval.aggregates import add_aggregates
from opencompass_gpassk.commands.reasoneval.output import note, write_lines

if TYPE_CHECKING:
    from opencompass_gpassk.reasoneval.prompted import PromptedStepJudge
    from opencompass_gpassk.reasoneval.scorer import StepScorer
    from opencompass_gpassk.reasoneval.solutions import Solution, StepScores

__all__ = ['add_action', 'run']

DESCRIPTION = """\
Score each step of solutions with a ReasonEval model, or by a judge, who says 0 or 1. FILE is JSON
lines, gzipped or not, or - for standard input, each line a solution:

  {"question": "1 + 1 = ?", "solution": "Step 1: ... Step 2: ..."}    split into steps
  {"question": "1 + 1 = ?", "steps": ["...", "..."]}                  in steps already

A row comes back with what it had, its "steps", "scores" (negative, neutral, positive of each step),
"step_validity", "step_redundancy", and "validity", "redundancy" and "tokens" of the whole. What
can't be scored has null there, and the reason in "refusal". An interrupted run with -o goes on
where it stopped, when it is started again with the same model and settings.
"""


def add_action(actions: Any) -> None:
    """Add the action to the command line."""
    parser = actions.add_parser(
        'score',
        help='score the steps of solutions',
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('file', metavar='FILE', help='JSON lines, or - for standard input')
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument('--model', help='folder or hub id, such as GAIR/ReasonEval-7B')
    who.add_argument(
        '--judge',
        metavar='JUDGE',
        help='ask a language model for the first wrong step and for redundant ones instead: llm, '
        'which OC_JUDGE_MODEL and OC_JUDGE_API_BASE name, or a JSON file of its settings',
    )
    parser.add_argument('-o', '--output', type=Path, metavar='SCORED', help='file (default: print)')
    parser.add_argument(
        '--position',
        choices=('published', 'last'),
        help="where a step is read: at its last token, or as the published 7B model's code did, "
        'one before it (default: as the checkpoint is to be read)',
    )
    parser.add_argument('--dtype', default='auto', help='such as bfloat16 (default: its own)')
    parser.add_argument('--device-map', metavar='MAP', help='such as auto or cuda:0 (default: CPU)')
    parser.add_argument('--batch-size', type=int, default=64, help='solutions (default: 64)')
    parser.add_argument(
        '--max-tokens', type=int, help='of a solution (default: as the model takes)'
    )
    parser.add_argument(
        '--long',
        choices=('refuse', 'window'),
        default='refuse',
        help='what happens to longer ones: refuse (default), or read them in windows',
    )
    parser.add_argument('--delimiter', help='what stands between the steps of a "solution"')
    parser.add_argument(
        '--thinking', choices=('drop', 'keep'), default='drop', help='thoughts (default: drop)'
    )
    add_aggregates(parser)
    parser.add_argument('--skip-bad', action='store_true', help='leave malformed rows out')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Score a file; what is there is kept as it comes."""
    from opencompass_gpassk.jsonlines import row_line
    from opencompass_gpassk.metrics.reasoning import AGGREGATES
    from opencompass_gpassk.reasoneval.solution_rows import read_solutions, scored_row
    from opencompass_gpassk.reasoneval.solutions import count_refusals

    for name in ('validity_by', 'redundancy_by'):
        if getattr(args, name) not in (None, *AGGREGATES):
            option = f'--{name.replace("_", "-")}'
            raise ValueError(f'{option} is {getattr(args, name)!r}; use {", ".join(AGGREGATES)}')
    if args.output and args.output.is_dir():
        raise ValueError(f'--output {args.output} is a folder; name the file to write')
    if args.delimiter == '':
        raise ValueError("--delimiter is ''; give a text, or leave it out")
    rows = read_solutions(
        args.file,
        delimiter=args.delimiter,
        thinking=args.thinking,
        skip_bad=args.skip_bad,
        report=note,
    )
    scorer = _scorer(args)
    # A device or a pipe is written to as it is; nothing of an earlier run can lie beside it.
    kept = args.output and (args.output.is_file() or not args.output.exists())
    part = args.output.with_name(f'{args.output.name}.part') if kept else None
    solutions = [row.solution for row in rows]
    scores = _scores(scorer, solutions, part)
    how = {'validity_by': args.validity_by or 'min', 'redundancy_by': args.redundancy_by or 'max'}
    lines = [row_line(scored_row(row, scores[row.solution], **how)) for row in rows]
    for refusal, count in count_refusals(scores[one] for one in solutions).items():
        note(f'{count} of {len(rows)} solutions have no scores: {refusal.value}')
    write_lines(lines, args.output)
    if part:
        part.unlink(missing_ok=True)
    return 0


def _scorer(args: argparse.Namespace) -> StepScorer | PromptedStepJudge:
    """Return who is to score."""
    if args.judge:
        from opencompass_gpassk.judging.settings import read_settings
        from opencompass_gpassk.reasoneval.prompted import PromptedStepJudge

        return PromptedStepJudge(read_settings(args.judge))
    import torch

    from opencompass_gpassk.reasoneval.scorer import StepScorer

    if args.dtype != 'auto' and not isinstance(getattr(torch, args.dtype, None), torch.dtype):
        raise ValueError(f'--dtype is {args.dtype!r}; use auto, bfloat16, float16 or float32')
    if str(args.device_map).startswith('cuda') and not torch.cuda.is_available():
        raise ValueError(f'--device-map is {args.device_map!r}, but torch finds no GPU here')
    try:
        return StepScorer.load(
            args.model,
            model={'dtype': args.dtype, 'device_map': args.device_map},
            position=args.position,
            batch_size=args.batch_size,
            max_tokens=args.max_tokens,
            long=args.long,
        )
    except (ValueError, OSError):
        raise  # these say what is wrong
    except Exception as error:  # damaged weights and missing tokenizers fail in many ways
        raise ValueError(
            f'--model {args.model}: not a checkpoint that can be loaded ({type(error).__name__}: '
            f'{error}); are its weights whole, and its tokenizer there?'
        ) from error


def _scores(
    scorer: StepScorer | PromptedStepJudge, solutions: Sequence[Solution], part: Path | None
) -> dict[Solution, StepScores]:
    """Score what isn't in the file of an earlier run; add to it what comes."""
    from opencompass_gpassk.reasoneval.kept_scores import KeptScores

    if part is None:
        return dict(zip(solutions, scorer.score(solutions, progress=True), strict=True))
    with KeptScores(part, scorer.settings) as kept:
        scores = kept.restore(solutions)
        if scores:
            note(f'{len(scores)} of {len(set(solutions))} distinct solutions are in {part}')
        missing = [one for one in dict.fromkeys(solutions) if one not in scores]
        for index, found in scorer.stream(missing, progress=True):
            kept.keep(missing[index], found)
            scores[missing[index]] = found
    return scores
