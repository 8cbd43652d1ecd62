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

from opencompass_gpassk.commands import add_command, add_numbers, check_outputs, write_lines
from opencompass_gpassk.compare.comparability import (
    cautions,
    copies,
    incomparable,
    planned_look,
    sides_differ,
)
from opencompass_gpassk.compare.differences import (
    PRIMARY,
    Check,
    check_metrics,
    compare,
    is_meant,
    primary_metric,
    tipping_point,
)
from opencompass_gpassk.compare.leaderboard import common_protocols
from opencompass_gpassk.compare.length_caution import length_caution
from opencompass_gpassk.compare.paired_results import (
    Pair,
    chosen_models,
    pair_data_sets,
)
from opencompass_gpassk.compare.problem_changes import problem_changes
from opencompass_gpassk.compare.shared_problems import aligned
from opencompass_gpassk.formats.display import called, escape_markdown, one_line, short_line
from opencompass_gpassk.metrics.look_levels import look_levels
from opencompass_gpassk.report.tables.comparison import (
    Compared,
    check_lines,
    comparison_document,
    comparison_tables,
)
from opencompass_gpassk.report.tables.table import Table, to_markdown, to_text
from opencompass_gpassk.results.metric import Metric, parse_metric
from opencompass_gpassk.results.metric_intervals import MOST, PER_TAIL, IntervalSettings
from opencompass_gpassk.results.read import ModelResult, results_at, without_earlier_looks
from opencompass_gpassk.runs.task_states import unfinished

NOT_IN_A = 'not in A'  # the reason why a problem that only B has is left out

DESCRIPTION = """\
Compare two models, or one model in two runs, on the problems that both answered. It says in words
which is better in G-Pass@k at τ = 1, and shows the difference B - A of every metric with its
interval and p-values, and the problems gained and lost. A and B are work dirs of OpenCompass (their
newest run is used), timestamp folders, or results of gpassk score -o with their trials files.
Without B, A is a run of two models.

Data sets are paired by abbr, else by benchmark and n. Problems are the same if id, gold answer and
question are equal. Other problems are left out and counted.

One metric is primary: G-Pass@k at τ = 1 and the greatest k of both, accuracy on RV-Bench or with
one response to each problem, validity without verdicts. It is tested by itself. The other metrics
are one family of tests, and so are the groups, in the primary metric.

--fail-if-worse checks a new model B against A, for example after training. B is worse in a metric
if it has fallen (or risen, if lower is better), in at least 6 clusters of problems, and the p-value
is at most 1 - LEVEL. The named metrics on all compared data sets are one family of tests. Other
metrics don't affect that.

--looks gives a plan of several comparisons of A and B, the next with more samples, such as n = 16,
32 and 48. This comparison is one of them: that of the n of the side with fewer samples. Tests and
intervals have its level. Without a plan they do not allow for earlier looks, and a caution says so.

--margin 3 asks whether B is at most 3 points less stable than A in the primary metric, as of a
quantised or cheaper model: it is shown if the whole interval of B - A lies above -3.
--fail-unless-as-stable 3 makes that a condition, on every compared data set.

Exit code: 1 if a named metric is worse, or B surely more than the margin less stable; 2 if that
is unknown, for example with fewer than 6 clusters of problems, or if B lacks problems of A or the
results are not comparable, and on errors; 0 otherwise.
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
        help='exit with 1 if B is surely more than so many points less stable, with 2 unless it is '
        'shown to be at most so many',
    )
    parser.add_argument(
        '--allow-missing',
        action='store_true',
        help='with --fail-if-worse or --fail-unless-as-stable: B may lack data sets and problems '
        'of A',
    )
    add_numbers(
        parser,
        '--looks',
        int,
        'the planned n of all comparisons of A and B, such as 16 32 48, of which this is one; '
        'write it after A and B',
    )
    parser.add_argument(
        '--primary',
        metavar='METRIC',
        help='the metric by which B is compared first, such as average@16 (default: G-Pass@k at '
        'τ = 1 and the greatest k)',
    )
    parser.add_argument('--groups', action='store_true', help='show the groups too')
    parser.add_argument('--level', type=float, default=0.95, help='confidence (default: 0.95)')
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
    check_outputs([args.json, args.markdown], [args.a, args.b], begin=(b'{\n', b'# '))
    settings = _settings(args.level)
    for name in ('margin', 'fail_unless_as_stable'):
        if (points := getattr(args, name)) is not None and not 0 < points < 100:
            option = name.replace('_', '-')
            raise ValueError(f'--{option} is {points:g}; give points above 0, such as 3')
    margin = args.margin if args.fail_unless_as_stable is None else args.fail_unless_as_stable
    levels = look_levels(args.looks, args.level) if args.looks else {}
    asked = parse_metric(args.primary) if args.primary else None
    pairs, unpaired = _pairs(args)
    compared = []
    faults = []
    names = called(found.dataset for pair in pairs for found in pair)
    partial = unfinished((found.run for pair in pairs for found in pair), _note)
    for pair in pairs:
        title = ' and '.join(dict.fromkeys(names[found.dataset] for found in pair))
        _note(f'comparing {title}')
        try:
            one = _compare(pair, settings, levels, asked, partial)
            compared.append(replace(one, margin=margin, title=title))
        except ValueError as error:  # a bad file only costs its own data set
            faults.append(short_line(str(error)))
            unpaired += pair
    if not compared or (faults and _must_be_whole(args)):
        raise ValueError('\n'.join(faults))
    for fault in faults:
        _note(fault)
    _check_missing(args, compared)
    metrics = {one.name: one.differences for one in compared}
    incomparable = {one.name: one.incomparable for one in compared}
    checks = check_metrics(
        metrics,
        args.fail_if_worse,
        settings,
        incomparable,
        {one.name: one.level for one in compared},
    )
    for metric in args.fail_if_worse or ():
        for one in compared:
            if not any(is_meant(metric, of) for of in one.differences):
                _note(f'--fail-if-worse {metric}: {one.title} lacks it, and is not checked')
    if args.json:
        document = comparison_document(pairs[0], compared, checks, unpaired, settings)
        text = json.dumps(document, indent=1, ensure_ascii=True, allow_nan=False)
        write_lines([text, '\n'], args.json)
    sides = [
        f'{side}: {one.model}, {one.run or one.path}'
        for side, one in zip('AB', pairs[0], strict=True)
    ]
    others = [f'not compared: {one.model}, {one.dataset}' for one in unpaired]
    tables = [table for one in compared for table in comparison_tables(one, groups=args.groups)]
    _write(args, [*sides, *others], check_lines(checks), tables)
    return _exit_code(checks, compared if args.fail_unless_as_stable is not None else [])


def _settings(level: float) -> IntervalSettings:
    """Return settings with as many sign flips as p-values at a level need."""
    flips = 2 * math.ceil(PER_TAIL / (1 - level)) if 0 < level < 1 else 0
    if flips > MOST:
        raise ValueError(
            f'the level {level!r} is too high for a test with {MOST:,} sign flips; give one of at '
            f'most {1 - 2 * PER_TAIL / MOST:.5f}, or plan the first look at more samples'
        )
    return IntervalSettings(resamples=max(10_000, flips), level=level)


def _exit_code(checks: Sequence[Check], gated: Sequence[Compared]) -> int:
    """Return the exit code that DESCRIPTION defines, and print why it is not 0.

    Args:
        checks: The checks of ``--fail-if-worse``.
        gated: The comparisons that ``--fail-unless-as-stable`` is about.
    """
    unknown = [check for check in checks if check.unknowable and not check.worse]
    for check in unknown:
        _note(
            f'gpassk compare: --fail-if-worse {check.difference.key}: unknown on '
            f'{check.data_set}: {check.unknowable}'
        )
    for one in gated:
        if not one.as_stable:
            why = '; '.join(one.incomparable) or one.stability
            _note(f'gpassk compare: --fail-unless-as-stable: {one.name}: {why}')
    stable = [one.as_stable for one in gated]
    if any(check.worse for check in checks) or False in stable:
        return 1
    return 2 if unknown or None in stable else 0


def _must_be_whole(args: argparse.Namespace) -> bool:
    """Tell whether B may not lack anything of A."""
    checked = args.fail_if_worse or args.fail_unless_as_stable is not None
    return bool(checked and not args.allow_missing)


def _check_missing(args: argparse.Namespace, compared: Sequence[Compared]) -> None:
    """Raise a ValueError if B lacks problems of A, on which it may be worse."""
    if not _must_be_whole(args):
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
    if not args.dataset:
        last = [without_earlier_looks(of, lambda told: None) for of in (ours, theirs)]
        n_of_a, n_of_b = ({found.result.n for found in of} for of in last)
        ours = without_earlier_looks(ours, _note, keep=n_of_b)
        theirs = without_earlier_looks(theirs, _note, keep=n_of_a)
    pairs, unpaired = pair_data_sets(ours, theirs, args.dataset)
    missing = [found.dataset for found in unpaired if any(found is one for one in ours)]
    if missing and _must_be_whole(args):
        raise ValueError(
            f'B has no result for {", ".join(missing)}, so it is unknown whether B is worse there; '
            'choose data sets with --dataset, or compare the rest with --allow-missing'
        )
    return pairs, unpaired


def _compare(
    pair: Pair,
    settings: IntervalSettings,
    levels: Mapping[int, float],
    asked: Metric | None,
    partial: Mapping[Path, str],
) -> Compared:
    a, b = pair
    tables = a.table(), b.table()
    protocols = dict(
        zip('AB', common_protocols([a.result.protocol, b.result.protocol]), strict=True)
    )
    try:
        look = planned_look(a, b, levels) if levels else None
        shared = aligned(dict(zip('AB', tables, strict=True)), protocols)
        if not shared.shared(0, 1).size:
            told = ': '.join(shared.left_out[0])[:200]
            raise ValueError(f'they have no problem in common, such as {told}')
        primary = primary_metric(shared, asked)
    except ValueError as error:
        raise ValueError(f'{_name(pair)}: {error}') from error
    if look:
        settings = _settings(1 - look.level)
    ks = [max(one.ks, default=None) for one in protocols.values()]
    k = None if None in ks else ks[0]
    differences = compare(shared, primary, settings)
    changes = problem_changes(shared, k)
    reasons = incomparable(a, b, tables)
    if reasons:  # no claim is made, in the tables or in the JSON
        differences = [one.without_claim() for one in differences]
        changes = [replace(one, p_value=math.nan, adjusted=math.nan) for one in changes]
    claimed = [one for one in differences if one.family == PRIMARY and one.claim(settings.level)]
    longer = length_caution(a.result, b.result, claimed[0], settings.level) if claimed else ''
    return Compared(
        _name(pair),
        differences,
        changes,
        shared.left_out,
        reasons,
        [
            *([] if reasons else copies(dict(zip('AB', tables, strict=True)))),
            *cautions(a, b, partial, look),
            *filter(None, [longer]),
        ],
        sides_differ(*pair),
        settings.level,
        k,
        look,
        tipping_point(shared, claimed[0], settings) if claimed else '',
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
        write_lines([text], args.markdown)
    body = [to_text(table) for table in tables]
    try:
        print('\n'.join([*map(one_line, sides), '', *body, *map(one_line, told)]), flush=True)
    except BrokenPipeError:  # the reader closed the pipe, as head does; still set the exit code
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _note(message: str) -> None:
    print(short_line(message), file=sys.stderr)
