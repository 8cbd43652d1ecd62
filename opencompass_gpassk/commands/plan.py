"""``gpassk plan``: how many samples and problems tell a difference of two models."""

from __future__ import annotations

import argparse
from operator import attrgetter
from pathlib import Path
from typing import Any

from tabulate import tabulate

from opencompass_gpassk.commands import add_all_argument, add_command, add_numbers, note
from opencompass_gpassk.compare.comparison import FEW
from opencompass_gpassk.compare.paired_results import chosen_models, pair_data_sets
from opencompass_gpassk.compare.planning import Outlook, outlook
from opencompass_gpassk.formats.display import counted, one_line, short_line
from opencompass_gpassk.formats.jsonlines import row_line
from opencompass_gpassk.metrics.difference_plan import CORRELATION, margin_for_power
from opencompass_gpassk.results.metric import parse_metric
from opencompass_gpassk.results.read import ModelResult, one_of_each, results_at

DESCRIPTION = """\
Say how precisely n samples of each problem would tell the difference of two models: its margin of
error, half the width of its 95 % interval, on these problems and for problems like these. A and B
are pilots: results with their trials, runs or work dirs. Each needs at least k samples of each
problem. Without B, the other model is assumed to have rates of the same distribution.

More samples narrow both, more problems the second alone. Ranges are what pilots drawn again from
their problems would say (5 to 95 %).

--target 3 asks what makes the margin 3 points; --power 80 --difference 5 what finds a difference of
5 points in 80 % of the cases.
"""

POWER, DIFFERENCE = 80.0, 5.0


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(subparsers, 'plan', told, DESCRIPTION, run)
    parser.add_argument('a', metavar='A', type=Path, help='a pilot')
    parser.add_argument('b', metavar='B', type=Path, nargs='?', help='that of the other model')
    parser.add_argument('--model-a', metavar='M', help='the model of A, if A has several')
    parser.add_argument('--model-b', metavar='M', help='the model of B, if B has several')
    parser.add_argument(
        '--metric', help='such as "G-Pass@8_1.0" (default: G-Pass@k at τ = 1 and the greatest k)'
    )
    add_numbers(parser, '-n', int, 'samples (default: k, 2k, 4k, 8k)')
    add_numbers(parser, '--problems', int, "numbers of problems (default: A's, and 4 times)")
    parser.add_argument('--target', type=float, metavar='POINTS', help='the margin of error wanted')
    parser.add_argument('--power', type=float, metavar='PERCENT', help='the chance to find …')
    parser.add_argument('--difference', type=float, metavar='POINTS', help='… this difference')
    parser.add_argument('--json', action='store_true', help='print a JSON document')
    add_all_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Print what each data set's pilots say."""
    target = _target(args)
    metric = parse_metric(args.metric) if args.metric else None
    faults: list[str] = []
    shown = []
    for pilots in _pilots(args):
        try:
            found = outlook(pilots, metric)
        except ValueError as error:
            faults.append(short_line(str(error)))
            continue
        names = [one.name for one in pilots]
        shown.append({'pilots': names, **_facts(found, args, target)})
        if not args.json:
            told = _lines(one_line(' and '.join(names)), found, shown[-1], args)
            print('\n'.join([*told, '']))
    if not shown:
        raise ValueError('\n'.join(faults))
    if args.json:
        print(row_line({'data_sets': shown, 'skipped': faults}, indent=1), end='')
    for fault in faults:
        note(f'skipped: {fault}')
    return 0


def _target(args: argparse.Namespace) -> float | None:
    """Return the margin of error that is wanted, in points; None if none is."""
    if args.power is None and args.difference is None:
        if args.target is not None and not 0 < args.target < 100:
            raise ValueError(f'--target is {args.target:g}; give points above 0, such as 3')
        return args.target
    if args.target is not None:
        raise ValueError('give --target, or --power and --difference')
    power = POWER if args.power is None else args.power
    difference = DIFFERENCE if args.difference is None else args.difference
    if not 50 < power < 100 or not 0 < difference < 100:
        raise ValueError(
            'give --power above 50 and below 100, and --difference above 0, such as --power 80 '
            '--difference 5'
        )
    return 100 * margin_for_power(difference / 100, power / 100)


def _pilots(args: argparse.Namespace) -> list[tuple[ModelResult, ...]]:
    """Return one pilot of each data set, or two."""
    first = [one for one in results_at(args.a, note, alone=True) if not one.result.greedy]
    if args.b is None and not args.model_b:
        chosen = [one for one in first if args.model_a in (None, one.model)]
        if not chosen:
            raise ValueError(
                f'{args.a}: there is no sampled result{f" of {args.model_a}" * bool(args.model_a)};'
                ' a pilot has several samples of each problem'
            )
        return [(one,) for one in one_of_each(chosen, note)]
    second = first if args.b is None else results_at(args.b, note, alone=True)
    a, b = chosen_models(first, None if args.b is None else second, (args.model_a, args.model_b))
    pairs, _ = pair_data_sets(
        [one for one in first if one.model == a],
        [one for one in second if one.model == b and not one.result.greedy],
    )
    return [*pairs]


def _facts(found: Outlook, args: argparse.Namespace, target: float | None) -> dict[str, Any]:
    """Return all that is printed: shares and margins in points."""
    k = found.plan.estimator.k
    numbers = args.n or [k, 2 * k, 4 * k, 8 * k]
    problems = args.problems or [found.problems, 4 * found.problems]
    if few := [n for n in numbers if n < k]:
        raise ValueError(f'-n {few[0]} is less than k = {k}; give at least k')
    sizes = [(number, n) for n in numbers for number in problems]
    rows = [
        {
            'n': n,
            'problems': number,
            'these': 100 * (margins := found.plan.margins(number, n)).these,
            'like_these': 100 * margins.like_these,
            'these_range': [100 * low.these, 100 * high.these],
            'like_these_range': [100 * low.like_these, 100 * high.like_these],
        }
        for (number, n), (low, high) in zip(sizes, found.ranges(sizes), strict=True)
    ]
    facts: dict[str, Any] = {
        'metric': found.metric.key,
        'problems': found.problems,
        'left_out': found.left_out,
        'n': found.drawn,
        'two_pilots': len(found.n) == 2,
        'within': found.plan.within(max(found.drawn, k)),
        'between': found.plan.between,
        'margins': rows,
        'worthwhile': found.worthwhile,
    }
    if target is not None:
        facts['target'] = target
        n = found.plan.samples_for(attrgetter('these'), target / 100, found.problems)
        cheapest = found.plan.cheapest(attrgetter('like_these'), target / 100, FEW)
        facts['on_these'] = None if n is None else _cost(found, found.problems, n)
        facts['for_others'] = None if cheapest is None else _cost(found, *cheapest)
    return facts


def _cost(found: Outlook, problems: int, n: int) -> dict[str, Any]:
    samples, tokens = found.cost(problems, n)
    return {'problems': problems, 'n': n, 'samples': samples, 'tokens': tokens}


def _lines(
    names: str, found: Outlook, facts: dict[str, Any], args: argparse.Namespace
) -> list[str]:
    lines = [f'{names}: {counted(found.problems, "problem")}, n = {found.drawn}']
    if found.left_out:
        lines[0] += f'; left out: {counted(found.left_out, "problem")} with fewer than k verdicts'
    if not facts['two_pilots']:
        lines.append(
            'Assumed of the other model: rates of the same distribution, and true values that '
            f'correlate by {CORRELATION:g} over the problems'
        )
    ranges = ' (range of pilots)' * args.all
    lines.append(f'Margin of error of a difference in {found.metric.heading}, in points{ranges}:')
    sizes = dict.fromkeys(row['problems'] for row in facts['margins'])
    heads = ['n', 'on these problems', *(f'like these: {number}' for number in sizes)]
    rows = []
    for n in dict.fromkeys(row['n'] for row in facts['margins']):
        of_n = [row for row in facts['margins'] if row['n'] == n]
        margins = [(of_n[0], 'these'), *((row, 'like_these') for row in of_n)]
        rows.append([n, *(_margin(row, line, ranged=args.all) for row, line in margins)])
    align = ('right',) * len(heads)
    lines += tabulate(rows, heads, colalign=align, disable_numparse=True).split('\n')
    lines.append(
        f'For problems like these, n above {facts["worthwhile"]} hardly helps unless you add '
        'problems: doubling it gains less than 10 % or 0.5 points'
    )
    if 'target' not in facts:
        return lines
    asked = f'± {facts["target"]:.1f} points'
    if args.target is None:
        asked = f'{args.power or POWER:g} % power to find {args.difference or DIFFERENCE:g} points '
        asked += f'(± {facts["target"]:.1f})'
    these, others = facts['on_these'], facts['for_others']
    lines.append(f'{asked} on these problems: {_told(these)}')
    if these:
        lines.append(f'  gpassk run … -n {these["n"]} --resume')
    return [*lines, f'{asked} for problems like these: {_told(others)}']


def _margin(row: dict[str, Any], line: str, *, ranged: bool) -> str:
    low, high = row[f'{line}_range']
    return f'±{max(row[line], 0.1):.1f}' + f' ({low:.1f} to {high:.1f})' * ranged


def _told(cost: dict[str, Any] | None) -> str:
    if cost is None:
        return 'out of reach'
    tokens = 'tokens unknown' if cost['tokens'] is None else f'about {cost["tokens"]:,.0f} tokens'
    return (
        f'{counted(cost["problems"], "problem")} with n = {cost["n"]}: {cost["samples"]:,} more '
        f'samples, of both models together ({tokens})'
    )
