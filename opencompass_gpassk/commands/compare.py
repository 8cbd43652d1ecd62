"""``gpassk compare``: compare two models on the same problems."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command, add_numbers
from opencompass_gpassk.compare.comparability import (
    cautions,
    incomparable,
    planned_look,
    shared_protocols,
    sides_differ,
)
from opencompass_gpassk.compare.differences import check_metrics, compare
from opencompass_gpassk.compare.paired_results import (
    Pair,
    chosen_models,
    pair_data_sets,
)
from opencompass_gpassk.compare.problem_changes import problem_changes
from opencompass_gpassk.compare.shared_problems import aligned
from opencompass_gpassk.formats.display import escape_markdown, one_line, short_line
from opencompass_gpassk.metrics.looks import look_levels
from opencompass_gpassk.report.tables.comparison import (
    Compared,
    check_lines,
    comparison_document,
    comparison_tables,
)
from opencompass_gpassk.report.tables.table import Table, to_markdown, to_text
from opencompass_gpassk.results.figure_intervals import IntervalSettings
from opencompass_gpassk.results.read import ModelResult, results_at

NOT_IN_A = 'not in A'  # the reason why a problem that only B has is left out

DESCRIPTION = """\
Compare two models, or one model in two runs, on the problems that both answered. It says in words
which is better in G-Pass@k at τ = 1, and shows the difference B - A of every figure with its
interval and p-values, and the problems gained and lost. A and B are work dirs of OpenCompass (their
newest run is used), timestamp folders, or results of gpassk score -o with their trials files.
Without B, A is a run of two models.

Data sets are paired by abbr, else by benchmark and n. Problems are the same if id, gold answer and
question are equal. Other problems are left out and counted.

--fail-if-worse checks a new model B against A, for example after training. B is worse in a figure
if it has fallen (or risen, if lower is better) and the two-sided p-value of the paired sign-flip
test over clusters of problems is below 1 - LEVEL, after Holm's correction over the named figures on
all compared data sets. Other figures don't affect that.

--looks gives a plan of several comparisons of A and B, the next with more samples, such as n = 16,
32 and 48. This is one of them, and p-values are corrected for all. Without a plan they are nominal
if a result was looked at before; a caution then says so. The n is that of the side with fewer
samples.

Exit code: 1 if a named figure is worse; 2 if that is unknown, for example with too few problems for
a significant difference, or if B lacks problems of A, the results are not comparable or missing
verdicts decide, and on errors; 0 otherwise.
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
        help='exit with 1 if B is significantly worse in one of these figures, such as mG-Pass@16, '
        'average@16 or en/G-Pass@16_1.0; write it after A and B',
    )
    parser.add_argument(
        '--allow-missing',
        action='store_true',
        help='with --fail-if-worse: B may lack data sets and problems of A',
    )
    add_numbers(
        parser,
        '--looks',
        int,
        'the planned n of all comparisons of A and B, such as 16 32 48, of which this is one; '
        'write it after A and B',
    )
    parser.add_argument('--groups', action='store_true', help='show the groups too')
    parser.add_argument(
        '--problems',
        type=int,
        default=10,
        metavar='N',
        help='number of gained, and of lost, problems to show (default: 10)',
    )
    parser.add_argument('--level', type=float, default=0.95, help='confidence (default: 0.95)')
    parser.add_argument(
        '--resamples',
        type=int,
        default=10_000,
        help='sign flips of the test (default: 10000)',
    )
    parser.add_argument('--seed', type=int, default=0, help='random seed of the flips (default: 0)')
    parser.add_argument('--json', type=Path, metavar='FILE', help='write everything as JSON')
    parser.add_argument('--markdown', type=Path, metavar='FILE', help='write tables as Markdown')


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
    settings = IntervalSettings(resamples=args.resamples, seed=args.seed, level=args.level)
    for name in ('seed', 'problems'):
        if getattr(args, name) < 0:
            raise ValueError(f'--{name} is {getattr(args, name)}; take 0 or more')
    levels = look_levels(args.looks, args.level) if args.looks else {}
    pairs, unpaired = _pairs(args)
    compared = []
    faults = []
    for pair in pairs:
        _note(f'comparing {_name(pair)}')
        try:
            compared.append(_compare(pair, settings, levels))
        except ValueError as error:  # a bad file only costs its own data set
            faults.append(short_line(str(error)))
            unpaired += pair
    if not compared or (faults and args.fail_if_worse and not args.allow_missing):
        raise ValueError('\n'.join(faults))
    for fault in faults:
        _note(fault)
    _check_missing(args, compared)
    figures = {one.name: one.differences for one in compared}
    incomparable = {one.name: one.incomparable for one in compared}
    checks = check_metrics(figures, args.fail_if_worse, args.level, incomparable)
    if args.json:
        document = comparison_document(pairs[0], compared, checks, unpaired, settings)
        text = json.dumps(document, indent=1, ensure_ascii=True, allow_nan=False)
        args.json.write_text(text + '\n', encoding='ascii')
    sides = [
        f'{side}: {one.model}, {one.run or one.path}'
        for side, one in zip('AB', pairs[0], strict=True)
    ]
    others = [f'not compared: {one.model}, {one.dataset}' for one in unpaired]
    tables = [
        table
        for one in compared
        for table in comparison_tables(one, groups=args.groups, most=args.problems)
    ]
    _write(args, [*sides, *others], check_lines(checks), tables)
    unknown = [check for check in checks if check.unknowable and not check.worse]
    for check in unknown:
        _note(
            f'gpassk compare: --fail-if-worse {check.difference.key}: unknown on '
            f'{check.data_set}: {check.unknowable}'
        )
    return 1 if any(check.worse for check in checks) else 2 if unknown else 0


def _check_missing(args: argparse.Namespace, compared: Sequence[Compared]) -> None:
    """Raise a ValueError if B lacks problems of A, on which it may be worse."""
    if not args.fail_if_worse or args.allow_missing:
        return
    for one in compared:
        lacking = [name for name, why in one.left_out if why != NOT_IN_A]
        if lacking:
            raise ValueError(
                f'{len(lacking)} problems of A on {one.name}, such as {lacking[0][:80]!r}, are '
                'missing or different in B, so it is unknown whether B is worse on them; complete '
                'B, or compare the rest with --allow-missing'
            )


def _pairs(args: argparse.Namespace) -> tuple[list[Pair], list[ModelResult]]:
    first = results_at(args.a, _note)
    second = None if args.b is None else results_at(args.b, _note)
    a, b = chosen_models(first, second, (args.model_a, args.model_b))
    ours = [found for found in first if found.model == a]
    theirs = [found for found in (first if second is None else second) if found.model == b]
    pairs, unpaired = pair_data_sets(ours, theirs, args.dataset)
    missing = [found.dataset for found in unpaired if any(found is one for one in ours)]
    if args.fail_if_worse and missing and not args.allow_missing:
        raise ValueError(
            f'B has no result for {", ".join(missing)}, so it is unknown whether B is worse there; '
            'choose data sets with --dataset, or compare the rest with --allow-missing'
        )
    return pairs, unpaired


def _compare(pair: Pair, settings: IntervalSettings, levels: Mapping[int, float]) -> Compared:
    a, b = pair
    tables = a.table(), b.table()
    protocols = dict(zip('AB', shared_protocols(a.protocol, b.protocol), strict=True))
    try:
        look = planned_look(a, b, levels) if levels else None
        shared = aligned(dict(zip('AB', tables, strict=True)), protocols, seed=settings.seed)
    except ValueError as error:
        raise ValueError(f'{_name(pair)}: {error}') from error
    ks = [max(one.ks, default=None) for one in protocols.values()]
    k = None if None in ks else ks[0]
    factor = look.factor if look else 1.0
    differences = compare(shared, settings, factor=factor)
    changes = problem_changes(shared, k, factor)
    reasons = incomparable(a, b, tables)
    if reasons:  # no claim is made, in the tables or in the JSON
        differences = [one.without_claim() for one in differences]
        changes = [replace(one, p_value=math.nan, adjusted=math.nan) for one in changes]
    return Compared(
        _name(pair),
        differences,
        changes,
        shared.left_out,
        reasons,
        cautions(a, b, look),
        sides_differ(*pair),
        settings.level,
        k,
        shared.drawn,
        look,
    )


def _name(pair: Pair) -> str:
    names = dict.fromkeys(found.dataset for found in pair)
    return ' and '.join(names)


def _write(
    args: argparse.Namespace, sides: Sequence[str], told: Sequence[str], tables: Sequence[Table]
) -> None:
    """Write the Markdown, and print the same."""
    if args.markdown:
        lines = ''.join(f'- {escape_markdown(line)}\n' for line in [*sides, *told])
        text = '\n'.join(['# Comparison\n', lines, *map(to_markdown, tables)])
        args.markdown.write_text(text, encoding='utf-8')
    body = [to_text(table) for table in tables]
    try:
        print('\n'.join([*map(one_line, sides), '', *body, *map(one_line, told)]), flush=True)
    except BrokenPipeError:  # the reader closed the pipe, as head does; still set the exit code
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _note(message: str) -> None:
    print(short_line(message), file=sys.stderr)
