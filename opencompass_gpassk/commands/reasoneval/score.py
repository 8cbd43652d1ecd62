"""``gpassk reasoneval score``: score the steps of solutions in a file."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command, check_output, note, write_lines
from opencompass_gpassk.commands.reasoneval.scorer_options import (
    add_scorer_options,
    scorer_settings,
)
from opencompass_gpassk.formats.jsonlines import row_line
from opencompass_gpassk.reasoneval.score_store import ScoreStore, score_solutions
from opencompass_gpassk.reasoneval.scorers import make_scorer, step_delimiter
from opencompass_gpassk.reasoneval.solution_files import read_solutions, scored_row, solution_in

DESCRIPTION = """\
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
SIDECARS = ('', '-wal', '-shm', '-journal', '.lock', '.state')


def add_action(actions: Any) -> None:
    """Add the action to the command line."""
    parser = add_command(actions, 'score', 'score the steps of solutions', DESCRIPTION, run)
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


def run(args: argparse.Namespace) -> int:
    """Score a file, and store scores as they come."""
    settings = scorer_settings(args)
    check_output(args.output)
    store = args.store or ScoreStore.default_path(None)
    rows = read_solutions(args.file, skip_bad=args.skip_bad, report=note)
    beside = None if store else _beside(args.output)
    scorer = make_scorer(settings, report=note)
    delimiter = step_delimiter(settings, scorer)
    solutions = [solution_in(row, delimiter=delimiter, thinking=settings.thinking) for row in rows]
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
        for end in SIDECARS:
            beside.with_name(f'{beside.name}{end}').unlink(missing_ok=True)
    return 1 if refusals.total() == len(rows) else 0


def _beside(output: Path | None) -> Path | None:
    """Return the store for an unfinished run, beside its output; None without such a place."""
    # A device or a pipe has no store beside it.
    if output is None or (output.exists() and not output.is_file()):
        return None
    return output.with_name(f'{output.name}.part.sqlite')
