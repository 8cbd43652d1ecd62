"""``gpassk reasoneval``: score the steps of solutions, select, compare with labels, train."""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import (
    add_command,
    add_run_argument,
    check_outputs,
    note,
    write_lines,
)
from opencompass_gpassk.formats.jsonlines import row_line
from opencompass_gpassk.formats.parse_settings import settings_from
from opencompass_gpassk.formats.shared_store import files_of
from opencompass_gpassk.formats.stored_files import full_disk_named, require_no_links
from opencompass_gpassk.judging.settings import MODES, read_settings
from opencompass_gpassk.reasoneval.meta_evaluation import evaluate_files
from opencompass_gpassk.reasoneval.score_store import ScoreStore, score_solutions
from opencompass_gpassk.reasoneval.scorers import make_scorer, step_delimiter
from opencompass_gpassk.reasoneval.settings import WHO, ReasoningSettings
from opencompass_gpassk.reasoneval.solution_files import (
    read_solutions,
    scored_row,
    select,
    solution_in,
)
from opencompass_gpassk.reasoneval.steps import require_steps
from opencompass_gpassk.reasoneval.training_data import TrainingSettings, read_step_labels
from opencompass_gpassk.report.tables.meta_evaluation import (
    meta_json,
    meta_tables,
    threshold_tables,
)
from opencompass_gpassk.report.tables.table import to_text

DESCRIPTION = """\
Score whether the steps of solutions are valid and useful (ReasonEval, arXiv 2404.05692):

  gpassk reasoneval score FILE --model MODEL -o SCORED        score the steps of solutions
  gpassk reasoneval run RUN --model MODEL                     score the responses of a finished run
  gpassk reasoneval filter SCORED -o KEPT                     keep good solutions as training data
  gpassk reasoneval meta --data FOLDER --scores PATH          compare scores with people's labels
  gpassk reasoneval train LABELS --backbone MODEL -o FOLDER   train a model on step labels
"""


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(subparsers, 'reasoneval', told, DESCRIPTION)
    actions = parser.add_subparsers(dest='action', required=True, metavar='ACTION')
    for add in (_add_score, _add_run, _add_filter, _add_meta, _add_train):
        add(actions)


SCORING = """\
Score each step of solutions with a ReasonEval model, a process reward model, or a judge (whose
scores are 0 or 1). FILE is JSON lines, gzipped or not, or - for standard input:

  {"question": "1 + 1 = ?", "solution": "Step 1: ... Step 2: ..."}    split into steps
  {"question": "1 + 1 = ?", "steps": ["...", "..."]}                  already in steps

Each row is written with its own fields, its "steps", "scores" (negative, neutral, positive of each
step; for a reward model one number), "step_validity", "step_redundancy", and "validity",
"redundancy" and "tokens" of the whole. For a reward model redundancy is null. A solution that can't
be scored has null in these fields, and the reason in "refusal". Scores are stored at once. If the
run is interrupted, a judge does not answer or memory runs out, start it again with the same model
and settings: it continues where it stopped. The exit code is 1 if no solution has scores.
"""


def _add_score(actions: Any) -> None:
    parser = add_command(actions, 'score', 'score the steps of solutions', SCORING, run_score)
    parser.add_argument('file', metavar='FILE', help='JSON lines, or - for standard input')
    parser.add_argument('-o', '--output', type=Path, metavar='SCORED', help='file (default: print)')
    parser.add_argument(
        '--store',
        type=Path,
        metavar='FILE',
        help='keep scores in this file, also for other files of solutions (default: the file in '
        'GPASSK_SCORE_STORE, else one beside SCORED until that is complete)',
    )
    add_scorer_options(parser)
    parser.add_argument('--skip-bad', action='store_true', help='leave out malformed rows')


def run_score(args: argparse.Namespace) -> int:
    """Score a file, and store scores as they come."""
    settings = scorer_settings(args)
    beside = _beside(args.output)
    check_outputs([args.output, beside], [args.file, args.store, args.settings, args.judge])
    store = args.store or ScoreStore.default_path(None)
    rows = read_solutions(args.file, skip_bad=args.skip_bad, report=note)
    beside = None if store else beside
    scorer = make_scorer(settings, report=note)
    delimiter = step_delimiter(settings, scorer)
    solutions = [solution_in(row, delimiter=delimiter, thinking=settings.thinking) for row in rows]
    if settings.delimiter is None:
        both = zip(rows, solutions, strict=True)
        require_steps([one.steps for row, one in both if row.get('steps') is None], delimiter)
    scores = score_solutions(scorer, solutions, store or beside, progress=True, report=note)
    how = {'validity_by': settings.validity_by, 'redundancy_by': settings.redundancy_by}
    lines = (
        row_line(scored_row(row, solution, scores[solution], **how))
        for row, solution in zip(rows, solutions, strict=True)
    )
    refusals = Counter(refusal for one in solutions if (refusal := scores[one].refusal) is not None)
    for refusal, count in refusals.most_common():
        note(f'{count} of {len(rows)} solutions have no scores: {refusal.value}')
    write_lines(lines, args.output)
    passing = sum(count for refusal, count in refusals.items() if refusal.may_pass)
    if passing:
        kept = f'; the scores so far are kept in {store or beside}' if store or beside else ''
        note(f'{passing} of them may get scores if the command is started again{kept}')
    elif beside:
        for file in files_of(beside):
            file.unlink(missing_ok=True)
    return 1 if refusals.total() == len(rows) else 0


def _beside(output: Path | None) -> Path | None:
    """Return the store for an unfinished run, beside its output; None without such a place."""
    # A device or a pipe has no store beside it.
    if output is None or (output.exists() and not output.is_file()):
        return None
    return output.with_name(f'{output.name}.part.sqlite')


SCORING_A_RUN = """\
Score the reasoning in the responses of a run of OpenCompass, without inference. This adds validity,
redundancy, the false-positive rate and sound G-Pass@k to its results. The scores of all steps are
written beside each result, to <data set>.steps.jsonl.gz. Stored verdicts are not asked for again.
Scores are stored at once (in step_scores.sqlite in the run, or the file in GPASSK_SCORE_STORE), so
that an interrupted command continues when it is started again. The summary is printed and written
again. Data sets with other evaluators are not changed.
"""


def _add_run(actions: Any) -> None:
    parser = add_command(
        actions, 'run', 'score the responses of a finished run', SCORING_A_RUN, run_run
    )
    add_run_argument(parser)
    add_scorer_options(parser)
    parser.add_argument(
        '--threshold',
        type=float,
        metavar='SHARE',
        help='a right response is sound if its validity is at least this (default: that of the '
        'result, else of the scorer: docs/reasoneval.md)',
    )


def run_run(args: argparse.Namespace) -> int:
    """Rescore with scores of the reasoning, then summarize."""
    from opencompass_gpassk.commands.rescore import Changes, rescore_run

    threshold = {} if args.threshold is None else {'threshold': args.threshold}
    settings = scorer_settings(args, **threshold)
    make_scorer(settings, report=note)  # report its errors once, before any work
    changes = Changes(reasoning=settings.as_dict())
    return rescore_run(args.run_folder, changes)


FILTERING = """\
Keep the solutions that are valid and not redundant, for example for training (arXiv 2404.05692,
5.2). SCORED is a file of `gpassk reasoneval score`, or the steps file beside a result of a run
(<data set>.steps.jsonl.gz), whose rows have verdicts. Rows are written unchanged.
"""


def _add_filter(actions: Any) -> None:
    parser = add_command(actions, 'filter', 'keep the good solutions', FILTERING, run_filter)
    parser.add_argument('file', metavar='SCORED', help='JSON lines, or - for standard input')
    parser.add_argument(
        '--min-validity', type=float, default=0.5, metavar='SHARE', help='default: 0.5'
    )
    parser.add_argument(
        '--max-redundancy', type=float, default=0.15, metavar='SHARE', help='default: 0.15'
    )
    parser.add_argument(
        '--verdict',
        choices=('correct', 'any'),
        help='correct: keep only rows with a right answer; any: also rows with a wrong one '
        '(default: leave out rows whose verdict is incorrect)',
    )
    parser.add_argument('-o', '--output', type=Path, metavar='KEPT', help='file (default: print)')


def run_filter(args: argparse.Namespace) -> int:
    """Write the rows that are good enough, and print their share."""
    check_outputs([args.output], [args.file])
    found = select(
        args.file,
        min_validity=args.min_validity,
        max_redundancy=args.max_redundancy,
        verdict=args.verdict,
    )
    if found.valid_alone:
        note(
            f'{found.valid_alone} of {found.total} rows have no redundancy, as from process reward '
            'models; they are kept by validity alone'
        )
    if not found.judged and args.verdict != 'any':
        note(
            'no row has a verdict, so that wrong answers can not be left out; the steps files of '
            'gpassk reasoneval run have verdicts'
        )
    write_lines(map(row_line, found.kept), args.output)
    for name, count in (
        ('kept', len(found.kept)),
        (f'below validity {args.min_validity}', found.left_out['invalid']),
        (f'above redundancy {args.max_redundancy}', found.left_out['redundant']),
        ('without scores', found.left_out['refused']),
        ('by verdict', found.left_out['other verdict']),
    ):
        note(f'{name}: {count} of {found.total} ({100 * count / found.total:.1f} %)')
    return 0


COMPARING = """\
Compare evaluators' scores of the steps of MR-MATH with people's labels: macro F1 and AUC for
invalid and redundant errors, of solutions and of steps, and the false-positive rate among right
answers by threshold of validity.

FOLDER holds mr-math_invalid_errors.json, mr-math_redundant_errors.json, or both. A file of scores
has a JSON line for each solution, with a score for each of its lines or steps:

  {"id": 0, "scores": [[0.01, 0.33, 0.66], ...]}    negative, neutral, positive
  {"id": 0, "scores": [0.69, ...]}                  one number, of a process reward model
  {"id": 0, "scores": null}                       refused

The file's or folder's name must contain the set's name: invalid_errors or redundant_errors.
"""


def _add_meta(actions: Any) -> None:
    parser = add_command(
        actions, 'meta', "compare scores with people's labels", COMPARING, run_meta
    )
    parser.add_argument(
        '--data', type=Path, required=True, metavar='FOLDER', help='folder with MR-MATH'
    )
    parser.add_argument(
        '--scores',
        type=Path,
        nargs='+',
        required=True,
        metavar='PATH',
        help='files of scores, or folders of them',
    )
    parser.add_argument('-o', '--output', type=Path, metavar='FILE', help='write the metrics: JSON')


def run_meta(args: argparse.Namespace) -> int:
    """Print and write the metrics of all evaluators."""
    check_outputs([args.output], [args.data, *args.scores])
    found = evaluate_files(args.data, args.scores, report=note)
    for table in [*meta_tables(found), *threshold_tables(found)]:
        print(to_text(table))
    if args.output:
        write_lines([meta_json(found)], args.output)
        note(f'{args.output} written')
    return 0


TRAINING = """\
Fine-tune a language model on step labels, so that it scores steps (arXiv 2404.05692, section 3.2).
FILE is PRM800K's JSON lines, or a set of MR-MATH. `gpassk reasoneval score --model` reads the saved
model. An interrupted training continues from its last checkpoint when it is started again. To use
several GPUs:

  accelerate launch -m opencompass_gpassk.commands.main reasoneval train FILE --backbone MODEL \\
    -o FOLDER
"""


def _add_train(actions: Any) -> None:
    parser = add_command(actions, 'train', 'train a model on step labels', TRAINING, run_train)
    parser.add_argument(
        'labels', nargs='+', type=Path, metavar='FILE', help='step labels: PRM800K or MR-MATH'
    )
    parser.add_argument(
        '--backbone', required=True, help='a language model or a ReasonEval model: folder or hub id'
    )
    parser.add_argument('-o', '--output', required=True, type=Path, help='folder for the model')
    parser.add_argument(
        '--settings',
        type=Path,
        metavar='FILE',
        help='JSON file of settings: ' + ', '.join(one.name for one in fields(TrainingSettings)),
    )


def run_train(args: argparse.Namespace) -> int:
    """Train, and print a summary."""
    from opencompass_gpassk.reasoneval.train import load_for_training, train

    for one in filter(None, (Path(args.backbone), args.settings, *args.labels)):
        if one.exists() and args.output.resolve() in (one.resolve(), one.resolve().parent):
            raise ValueError(
                f'-o {args.output} holds {one}, which is read, and which the model might replace; '
                'name a folder for the model alone'
            )
    require_no_links(args.output.resolve())
    settings = TrainingSettings()
    if args.settings:
        settings = settings_from(args.settings, TrainingSettings.of)
    solutions = [solution for path in args.labels for solution in read_step_labels(path)]
    model, tokenizer = load_for_training(args.backbone, seed=settings.seed)
    with full_disk_named(args.output):
        trained = train(solutions, model, tokenizer, args.output, settings=settings, progress=True)
    from accelerate import PartialState

    if not PartialState().is_main_process:  # of several, the first alone prints
        return 0
    print(
        f'{trained.updates} updates on {trained.steps} steps of {trained.solutions} solutions; '
        f'loss {trained.loss:.4f}; {args.output}'
    )
    for reason, count in trained.left_out.items():
        print(f'left out: {count} solutions: {reason}')
    return 0


def add_scorer_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for a scorer to an action."""
    who = parser.add_mutually_exclusive_group()
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
        '--settings',
        type=Path,
        metavar='FILE',
        help='JSON file of further settings (docs/settings.md, "Scores of reasoning"), such as '
        '{"model_kwargs": {"dtype": "bfloat16"}, "options": {"batch_size": 8}}',
    )


def scorer_settings(args: argparse.Namespace, **further: Any) -> ReasoningSettings:
    """Return the settings in the options; these go before those in the file.

    Args:
        args: The parsed command line.
        **further: More settings, such as ``threshold``.

    Raises:
        ValueError: If a setting is unknown, out of its range, or has no effect on this scorer; it
            names the file.
    """
    named = {name: getattr(args, name) for name in WHO if getattr(args, name, None)}
    if named.get('judge', 'llm') not in MODES:
        # A mode is left to the scorer: `match`, which the environment may set, is about answers.
        named['judge'] = read_settings(named['judge']).as_dict()
    if not named and not args.settings:
        raise ValueError(
            'no scorer is named; give --model, --reward-model or --judge, or one of them in the '
            'file of --settings'
        )
    if not args.settings:
        return ReasoningSettings(**named, **further)
    return settings_from(
        args.settings, lambda read: ReasoningSettings.of({**read, **named, **further})
    )
