"""``gpassk reasoneval``: the quality of the steps of solutions."""

from __future__ import annotations

import argparse
import io
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opencompass_gpassk.reasoneval.prompted import PromptedStepJudge
    from opencompass_gpassk.reasoneval.scorer import StepScorer
    from opencompass_gpassk.reasoneval.solutions import Solution, StepScores

__all__ = ['add_parser']

DESCRIPTION = """\
Is each step of a solution valid, and does it help (ReasonEval, arXiv 2404.05692)?

  gpassk reasoneval score FILE --model MODEL -o SCORED      score the steps of solutions
  gpassk reasoneval filter SCORED -o KEPT                   keep the good ones, as training data
  gpassk reasoneval meta --data FOLDER --scores PATH        how well do scores find people's errors?
"""
SCORE = """\
Score each step of solutions with a ReasonEval model, or by a judge, who says 0 or 1. FILE is JSON
lines, gzipped or not, or - for standard input, each line a solution:

  {"question": "1 + 1 = ?", "solution": "Step 1: ... Step 2: ..."}    split into steps
  {"question": "1 + 1 = ?", "steps": ["...", "..."]}                  in steps already

A row comes back with what it had, its "steps", "scores" (negative, neutral, positive of each step),
"step_validity", "step_redundancy", and "validity", "redundancy" and "tokens" of the whole. What
can't be scored has null there, and the reason in "refusal". An interrupted run with -o goes on
where it stopped, when it is started again with the same model and settings.
"""
FILTER = """\
Keep the solutions that are valid and to the point, such as for training (arXiv 2404.05692, 5.2).
SCORED is what `gpassk reasoneval score` wrote; the rows come back as they stand in it.
"""
META = """\
Compare the scores that evaluators gave to the steps of MR-MATH with people's labels: macro F1 and
AUC for invalid and for redundant errors, of solutions and of steps, and the false-positive rate of
checking answers alone by the threshold of validity.

FOLDER holds mr-math_invalid_errors.json, mr-math_redundant_errors.json, or both. A file of scores
has a JSON line a solution, with a score for each of its lines, or each of its steps:

  {"id": 0, "scores": [[0.01, 0.33, 0.66], ...]}    negative, neutral, positive
  {"id": 0, "scores": [0.69, ...]}                  one number, of a process reward model
  {"id": 0, "scores": null}                       refused

Its name, or that of its folder, says of which set it is, invalid_errors or redundant_errors.
"""


def add_parser(subparsers: Any) -> None:
    """Add the command to the command line."""
    parser = subparsers.add_parser(
        'reasoneval',
        help='are the steps of solutions valid, and do they help?',
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    _add_score(actions)
    _add_filter(actions)
    _add_meta(actions)


def _add_score(actions: Any) -> None:
    parser = actions.add_parser(
        'score',
        help='score the steps of solutions',
        description=SCORE,
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
    _add_aggregates(parser)
    parser.add_argument('--skip-bad', action='store_true', help='leave malformed rows out')
    parser.set_defaults(run=run_score)


def _add_filter(actions: Any) -> None:
    parser = actions.add_parser(
        'filter',
        help='keep the good solutions',
        description=FILTER,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('file', metavar='SCORED', help='JSON lines, or - for standard input')
    parser.add_argument(
        '--min-validity', type=float, default=0.5, metavar='SHARE', help='default: 0.5'
    )
    parser.add_argument(
        '--max-redundancy', type=float, default=0.15, metavar='SHARE', help='default: 0.15'
    )
    parser.add_argument('-o', '--output', type=Path, metavar='KEPT', help='file (default: print)')
    parser.set_defaults(run=run_filter)


def _add_aggregates(parser: argparse.ArgumentParser) -> None:
    for kind, usual in (('validity', 'min'), ('redundancy', 'max')):
        parser.add_argument(
            f'--{kind}-by',
            metavar='HOW',
            help=f"makes a solution's {kind} of its steps': min, max, mean or 'geometric mean' "
            f'(default: {usual})',
        )


def _add_meta(actions: Any) -> None:
    parser = actions.add_parser(
        'meta',
        help="how well do scores find people's errors?",
        description=META,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        '--data', type=Path, required=True, metavar='FOLDER', help='with the sets of MR-MATH'
    )
    parser.add_argument(
        '--scores',
        type=Path,
        nargs='+',
        required=True,
        metavar='PATH',
        help='files of scores, or folders of them',
    )
    for kind, beyond, usual in (
        ('validity', 'below', '0.5'),
        ('redundancy', 'above', '0.15, of a process reward model 0.5'),
    ):
        parser.add_argument(
            f'--{kind}-threshold',
            type=float,
            metavar='SHARE',
            help=f'{beyond} it is an error (default: {usual})',
        )
    _add_aggregates(parser)
    parser.add_argument(
        '--thresholds',
        type=float,
        nargs='+',
        metavar='SHARE',
        help='of validity, to choose one from (default: 0.05, 0.1, ... 0.5)',
    )
    parser.add_argument('-o', '--output', type=Path, metavar='FILE', help='write the figures: JSON')
    parser.set_defaults(run=run_meta)


def run_score(args: argparse.Namespace) -> int:
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
        report=_note,
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
        _note(f'{count} of {len(rows)} solutions have no scores: {refusal.value}')
    _write(lines, args.output)
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
            _note(f'{len(scores)} of {len(set(solutions))} distinct solutions are in {part}')
        missing = [one for one in dict.fromkeys(solutions) if one not in scores]
        for index, found in scorer.stream(missing, progress=True):
            kept.keep(missing[index], found)
            scores[missing[index]] = found
    return scores


def run_filter(args: argparse.Namespace) -> int:
    """Write the rows that are good enough, and say what share they are."""
    from opencompass_gpassk.jsonlines import row_line
    from opencompass_gpassk.reasoneval.solution_rows import select

    found = select(args.file, min_validity=args.min_validity, max_redundancy=args.max_redundancy)
    _write([row_line(row) for row in found.kept], args.output)
    for name, count in (
        ('kept', len(found.kept)),
        (f'below validity {args.min_validity}', found.invalid),
        (f'above redundancy {args.max_redundancy}', found.redundant),
        ('without scores', found.refused),
    ):
        share = 100 * count / found.total if found.total else math.nan
        _note(f'{name}: {count} of {found.total} ({share:.1f} %)')
    return 0


def _write(lines: list[str], output: Path | None) -> None:
    """Print lines, or write a file that appears whole or not at all."""
    text = ''.join(lines)
    if output is None:
        if isinstance(sys.stdout, io.TextIOWrapper):  # JSON is UTF-8, whatever the terminal is
            sys.stdout.reconfigure(encoding='utf-8')
        sys.stdout.write(text)
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    if output.exists() and not output.is_file():  # a device or a pipe is not to be replaced
        output.write_text(text, encoding='utf-8', newline='\n')
        return
    output = output.resolve()  # of a link, what it names
    new = output.with_name(f'{output.name}.{os.getpid()}.new')
    new.write_text(text, encoding='utf-8', newline='\n')
    new.replace(output)
    _note(f'{output} written')


def run_meta(args: argparse.Namespace) -> int:
    """Print the figures of all evaluators, and write them."""
    from opencompass_gpassk.reasoneval.meta import evaluate_files
    from opencompass_gpassk.reasoneval.mr_math import ErrorKind
    from opencompass_gpassk.reasoneval.thresholds import THRESHOLDS
    from opencompass_gpassk.report.meta_evaluation import meta_json, meta_tables, threshold_tables
    from opencompass_gpassk.report.tables import to_text

    limits = {
        ErrorKind.INVALID: args.validity_threshold,
        ErrorKind.REDUNDANT: args.redundancy_threshold,
    }
    aggregates = {ErrorKind.INVALID: args.validity_by, ErrorKind.REDUNDANT: args.redundancy_by}
    found = evaluate_files(
        args.data, args.scores, thresholds=limits, aggregates=aggregates, report=_note
    )
    thresholds = THRESHOLDS if args.thresholds is None else args.thresholds
    for table in [*meta_tables(found), *threshold_tables(found, thresholds)]:
        print(to_text(table))
    if args.output:
        args.output.parent.mkdir(parents=True, exist_ok=True)
        args.output.write_text(meta_json(found, thresholds), encoding='ascii')
        _note(f'{args.output} written')
    return 0


def _note(message: str) -> None:
    print(message, file=sys.stderr)
