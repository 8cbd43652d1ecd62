"""``gpassk compare``: compare two models on the same problems."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import (
    add_all_argument,
    add_command,
    check_outputs,
    note,
    write_lines,
)
from opencompass_gpassk.compare.claims import mean_claim
from opencompass_gpassk.compare.comparison import (
    Check,
    Comparison,
    check_metrics,
    compare_results,
    is_meant,
    mean_difference,
)
from opencompass_gpassk.compare.paired_results import Pair, chosen_models, pair_data_sets
from opencompass_gpassk.formats.display import called, one_line, short_line
from opencompass_gpassk.formats.jsonlines import row_line
from opencompass_gpassk.report.tables.comparison import (
    check_lines,
    claims_of,
    comparison_brief,
    comparison_document,
    comparison_tables,
)
from opencompass_gpassk.report.tables.table import to_text, wrapped
from opencompass_gpassk.results.read import ModelResult, results_at
from opencompass_gpassk.runs.task_states import unfinished

LEAST_MARGIN = 0.1  # points; less is meant as a share
NOT_IN_A = 'not in A'  # the reason why a problem that only B has is left out

DESCRIPTION = """\
Compare two models, or one model in two runs, on the problems that both answered. It says whether B
is more stable than A on these problems, and for problems like these, and shows the difference B - A
of every metric, and the problems gained and lost. A and B are work dirs of OpenCompass (their
newest run is used), timestamp folders, or results of gpassk score -o with their trials files.
Without B, A is a run of two models.

Data sets are paired by abbr, else by benchmark and n. Problems are the same if id, gold answer and
question are equal. Other problems are left out and counted.

One metric is tested: G-Pass@k at τ = 1 and the greatest k of both, accuracy on RV-Bench or with one
response to each problem, validity without verdicts; or that of --primary. The others have plain
intervals. Of several data sets their mean difference is one more test.

--fail-if-worse checks a new model B against A, for example after training. The named metrics on all
data sets are one family of tests. A claim counts if it holds with B's missing verdicts like its
judged ones and A's all wrong.

--margin 3 asks whether B is at most 3 points less stable than A in the primary metric, as of a
quantised or cheaper model. --fail-unless-as-stable 3 makes that a condition, on every data set.

Exit code: 0 passed; 1 if B is worse in a named metric, or more than the margin less stable; 2 on
errors, if B lacks problems of A, or the results are not comparable; 3 if it is undecided.
"""


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(subparsers, 'compare', told, DESCRIPTION, run)
    parser.add_argument('a', metavar='A', type=Path, help='a run or a result, such as the baseline')
    parser.add_argument(
        'b', metavar='B', type=Path, nargs='?', help='another (default: A, if it has two models)'
    )
    parser.add_argument('--model-a', metavar='M', help='the model of A, if A has several')
    parser.add_argument('--model-b', metavar='M', help='the model of B, if B has several')
    parser.add_argument('--dataset', nargs='+', default=[], help='abbrs of the data sets')
    parser.add_argument(
        '--fail-if-worse',
        nargs='+',
        default=[],
        metavar='METRIC',
        help='exit with 1 if B is significantly worse in one of these metrics, such as mG-Pass@16, '
        'average@16 or en/G-Pass@16_1.0; write it after A and B',
    )
    parser.add_argument(
        '--margin',
        type=float,
        metavar='POINTS',
        help='say whether B is at most so many points less stable',
    )
    parser.add_argument(
        '--fail-unless-as-stable',
        type=float,
        metavar='POINTS',
        help='exit with 1 if B is more than so many points less stable, with 3 if it is undecided',
    )
    parser.add_argument(
        '--allow-missing',
        action='store_true',
        help='with --fail-if-worse or --fail-unless-as-stable: B may lack data sets and problems '
        'of A',
    )
    parser.add_argument(
        '--primary',
        metavar='METRIC',
        help='the metric by which B is compared first, such as average@16 (default: G-Pass@k at '
        'τ = 1 and the greatest k)',
    )
    parser.add_argument('--level', type=float, default=0.95, help='confidence (default: 0.95)')
    parser.add_argument('--json', type=Path, metavar='FILE', help='write everything as JSON')
    add_all_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, print and write; return the exit code that DESCRIPTION defines."""
    try:
        return _run(args)
    except (ValueError, OSError) as error:
        for line in str(error).split('\n'):
            print(f'gpassk compare: {one_line(line)}', file=sys.stderr)
    except Exception:  # Python's own exit code of 1 would mean that the model is worse
        traceback.print_exc()
    return 2


def _run(args: argparse.Namespace) -> int:
    check_outputs([args.json], [args.a, args.b], begin=(b'{\n',))
    for name in ('margin', 'fail_unless_as_stable'):
        option = name.replace('_', '-')
        if (points := getattr(args, name)) is not None and not 0 < points < 100:
            raise ValueError(f'--{option} is {points:g}; give points above 0, such as 3')
        if points and points < LEAST_MARGIN:
            raise ValueError(
                f'--{option} is {points:g} points; if you mean {100 * points:g} points, give '
                f'--{option} {100 * points:g}'
            )
    gated = args.fail_unless_as_stable is not None
    margin = args.fail_unless_as_stable if gated else args.margin
    pairs, unpaired = _pairs(args)
    compared: list[Comparison] = []
    faults = []
    names = called(found.dataset for pair in pairs for found in pair)
    partial = unfinished((found.run for pair in pairs for found in pair), note)
    for pair in pairs:
        title = _title(pair, names)
        note(f'comparing {title}')
        try:
            one = compare_results(*pair, primary=args.primary, level=args.level, unfinished=partial)
        except ValueError as error:  # a bad file only costs its own data set
            faults.append(short_line(str(error)))
            unpaired += pair
        else:
            compared.append(one)
    if not compared or (faults and _must_be_whole(args)):
        raise ValueError('\n'.join(faults))
    for fault in faults:
        note(fault)
    _check_missing(args, compared)
    checks = check_metrics(compared, args.fail_if_worse, args.level)
    for metric in args.fail_if_worse or ():
        for one in compared:
            if not any(
                check.data_set == one.name
                and is_meant(metric, check.difference.group, check.difference.metric)
                for check in checks
            ):
                note(f'--fail-if-worse {metric}: {one.name} lacks it, and is not checked')
    mean = mean_difference(compared, args.level)
    if args.json:
        document = comparison_document(compared, checks, unpaired, margin, mean)
        write_lines([row_line(document, indent=1)], args.json)
    code = _exit_code(checks, compared, margin if gated else None)
    first = compared[0]
    sides = [
        f'{side}: {one.model}, {one.run or one.path}'
        for side, one in (('A', first.a), ('B', first.b))
    ]
    others = [f'not compared: {one.model}, {one.dataset}' for one in unpaired]
    titles = [_title((one.a, one.b), names) for one in compared]
    told = [*([mean_claim(mean, len(compared))] if mean else []), *check_lines(checks)]
    shown = [*map(one_line, [*sides, *others]), '']
    for one, title in zip(compared, titles, strict=True):
        if args.all:
            tables = comparison_tables(one, title)
            shown += map(to_text, tables)
        else:
            shown.append(comparison_brief(one, title))
    shown += (
        [] if args.all else [f'All k, thresholds, groups and problems: {one_line(args.line)} --all']
    )
    # The decision comes last, below what is told on the standard error.
    for one, title in zip(compared, titles, strict=True):
        shown += [wrapped(f'{title}:')] if len(compared) > 1 else []
        shown += map(wrapped, claims_of(one, margin))
    try:
        print('\n'.join([*shown, *map(one_line, told)]), flush=True)
    except BrokenPipeError:  # the reader closed the pipe, as head does; still set the exit code
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return code


def _exit_code(
    checks: Sequence[Check], compared: Sequence[Comparison], margin: float | None
) -> int:
    """Return the exit code that DESCRIPTION defines, and print why it is not 0.

    Args:
        checks: The checks of ``--fail-if-worse``.
        compared: The comparisons.
        margin: That of ``--fail-unless-as-stable``; None if it was not given.
    """
    asked = margin is not None or checks
    for one in compared:
        if asked and one.incomparable:
            note(f'gpassk compare: {one.name}: {"; ".join(one.incomparable)}')
    stable = [] if margin is None else [one.as_stable(margin) for one in compared]
    if any(check.worse for check in checks) or False in stable:
        return 1
    if asked and any(one.incomparable for one in compared):
        return 2
    return 3 if any(check.unknown for check in checks) or None in stable else 0


def _must_be_whole(args: argparse.Namespace) -> bool:
    """Tell whether B may not lack anything of A."""
    checked = args.fail_if_worse or args.fail_unless_as_stable is not None
    return bool(checked and not args.allow_missing)


def _check_missing(args: argparse.Namespace, compared: Sequence[Comparison]) -> None:
    """Raise a ValueError if B lacks problems of A, on which it may be worse."""
    if not _must_be_whole(args):
        return
    for one in compared:
        lacking = [name for name, why in one.shared.left_out if why != NOT_IN_A]
        if lacking:
            raise ValueError(
                f'{len(lacking)} problems of A on {one.name}, such as {lacking[0][:80]!r}, are '
                'missing or different in B, so it is unknown whether B is worse on them; complete '
                'B, or compare the rest with --allow-missing'
            )


def _pairs(args: argparse.Namespace) -> tuple[list[Pair], list[ModelResult]]:
    first = results_at(args.a, note)
    second = None if args.b is None else results_at(args.b, note)
    a, b = chosen_models(first, second, (args.model_a, args.model_b))
    ours = [found for found in first if found.model == a]
    theirs = [found for found in (first if second is None else second) if found.model == b]
    pairs, unpaired = pair_data_sets(ours, theirs, args.dataset)
    missing = [found.dataset for found in unpaired if any(found is one for one in ours)]
    if missing and _must_be_whole(args):
        raise ValueError(
            f'B has no result for {", ".join(missing)}, so it is unknown whether B is worse there; '
            'choose data sets with --dataset, or compare the rest with --allow-missing'
        )
    return pairs, unpaired


def _title(pair: Pair, names: Mapping[str, str]) -> str:
    return ' and '.join(dict.fromkeys(names[found.dataset] for found in pair))
