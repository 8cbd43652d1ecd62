"""``gpassk plan``: plan how many problems and samples a metric needs."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tabulate import tabulate

from opencompass_gpassk.commands import add_command, add_numbers
from opencompass_gpassk.formats.display import one_line, short_line
from opencompass_gpassk.metrics.look_levels import look_levels
from opencompass_gpassk.results.plan import (
    NEGLIGIBLE,
    PROBLEMS,
    Grid,
    Outlook,
    Pilot,
    SingleResponsesError,
    Target,
    assumed,
    from_pilot,
    pilot,
)
from opencompass_gpassk.results.read import results_at, without_earlier_looks

DESCRIPTION = """\
Say how many samples are enough, and how wide the interval of G-Pass@k will be with n samples
of each of P problems. The width has two parts. Another n samples of the same problems would be
a little better or worse: this part shrinks as n grows. Other problems would be a little harder or
easier: this part only shrinks as the number of problems grows.

The rates of the problems (the chance that one sample is right) come from a pilot run, or are
assumed: give their mean and standard deviation.

With --target it says how many problems and samples make a metric's interval so narrow, and which
of these need the fewest responses.

With --looks, models are compared at each of several n, and the data decide whether to go on. It
shows the level to test at each time, so that the chance of a false claim at any of them is at most
1 - LEVEL. gpassk compare --looks tests at these levels. Other options are not needed then.
"""


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(subparsers, 'plan', told, DESCRIPTION, run)
    parser.add_argument(
        'pilot',
        metavar='PILOT',
        nargs='?',
        type=Path,
        help='a result (*.json with its trials beside it), a trials file (*.trials.jsonl.gz), or a '
        'folder with some: a run of OpenCompass, its work dir (the newest run is used), or results '
        'of gpassk score',
    )
    parser.add_argument('--mean', type=float, help='the mean rate, between 0 and 1')
    parser.add_argument('--spread', type=float, help="the rates' standard deviation")
    parser.add_argument(
        '--target',
        metavar='METRIC',
        help='a metric and half the width of its interval in points, such as "G-Pass@8_1.0 ±2"',
    )
    parser.add_argument('-k', type=int, help="k of G-Pass@k (default: the pilot's greatest, or 16)")
    add_numbers(parser, '--tau', float, 'thresholds (default: 0.5 1)', default=[0.5, 1.0])
    add_numbers(parser, '-n', int, 'samples (default: those of --looks, or k, 2k, 3k, 4k, 6k, 8k)')
    add_numbers(parser, '--looks', int, 'samples at each look, such as 16 32 48')
    add_numbers(
        parser,
        '--problems',
        int,
        f"numbers of problems (default: {' '.join(map(str, PROBLEMS))}, and the pilot's)",
    )
    parser.add_argument('--level', type=float, default=0.95, help='confidence (default: 0.95)')
    parser.add_argument(
        '--json', action='store_true', help='print a JSON line for the looks, and for each metric'
    )


def run(args: argparse.Namespace) -> int:
    """Print a table of the looks, a conclusion for each pilot, and a table for each metric."""
    samples = args.n or args.looks
    target = Target.of(args.target) if args.target else None
    k = (target.metric.k or 1) if target else args.k
    grid = Grid(k, tuple(args.tau), samples, args.problems or PROBLEMS, args.level, target)
    assumes = args.mean is not None or args.spread is not None
    if args.pilot is not None and assumes:
        raise ValueError('both a pilot and assumed rates are given; give only one of them')
    if args.looks:
        _print_looks(args)
    outlooks: list[Outlook] = []
    pilots = [] if args.pilot is None else _pilots(args.pilot)
    by_pilot = []
    for one in pilots:
        numbers = args.problems or sorted({*PROBLEMS, len(one.n)})
        by_pilot.append([*from_pilot(one, replace(grid, problems=numbers))])
    if pilots:
        outlooks = [outlook for of_one in by_pilot for outlook in of_one]
    elif assumes or not args.looks:
        outlooks = assumed(grid, args.mean, args.spread)
    if args.json:
        for outlook in outlooks:
            costs = {'target': target.half, 'costs': outlook.costs(target.half)} if target else {}
            print(json.dumps({**outlook.as_dict(), **costs}))
        return 0
    if target:
        for outlook in outlooks:
            print(f'{target_table(outlook, target.half)}\n')
        return 0
    if outlooks and not pilots:
        print(f'{conclusion(outlooks)}\n')
    for one, of_one in zip(pilots, by_pilot, strict=True):
        print('\n'.join([conclusion(of_one), *next_step(one, of_one), '']))
    for outlook in outlooks:
        print(f'{table(outlook)}\n')
    return 0


def _print_looks(args: argparse.Namespace) -> None:
    """Print the level to test at, for each planned look."""
    levels = look_levels(args.looks, args.level)
    if args.json:
        print(json.dumps({'looks': [{'n': n, 'level': one} for n, one in levels.items()]}))
        return
    alpha = 1 - args.level
    print(
        f'The chance of a false claim at any look is at most {100 * alpha:.3g} %, if p-values are'
    )
    print('below these levels, or, multiplied by the factor, below their sum:')
    rows = [[n, f'{one:.2g}', f'{alpha / one:.3g}'] for n, one in levels.items()]
    align = ('right',) * 3
    print(tabulate(rows, ['n', 'level', 'factor'], colalign=align, disable_numparse=True) + '\n')


def _pilots(path: Path) -> list[Pilot]:
    """Return the pilots in a file or folder, and print which sampled ones are skipped."""
    pilots: list[Pilot] = []
    skipped: list[ValueError] = []
    report = partial(print, file=sys.stderr)
    for one in without_earlier_looks(results_at(path, report, alone=True), report):
        try:
            table = one.table()
        except ValueError as error:
            skipped.append(error)
            continue
        try:
            pilots.append(pilot(table, one.name, one.result.k))
        except ValueError as error:
            skipped.append(type(error)(f'{one.trials}: {error}'))
    if not pilots:
        raise ValueError('\n'.join(short_line(str(why)) for why in skipped))
    for why in skipped:
        if not isinstance(why, SingleResponsesError):  # greedy answers beside samples are usual
            print(f'skipped: {short_line(str(why))}', file=sys.stderr)
    return pilots


def conclusion(outlooks: list[Outlook]) -> str:
    """Return which n is enough for all metrics of a pilot, and the intervals that it gives."""
    at, n, enough = _needed(outlooks)
    grid, told = at.grid, _advice(at.as_dict())[0]
    widths = [
        f'± {50 * (high - low):.1f} for {number} problems'
        for number in grid.problems
        for low, high in [at.plan.interval(n, number, grid.level)]
    ]
    return (
        f'Conclusion for {one_line(at.source)}:\n'
        f'{told}{" No metric needs more." if enough else ""}\n'
        f'At n = {n}, the {100 * grid.level:g} % interval of {at.metric.heading}, which needs '
        f'the most samples, in points is {", ".join(widths)}.'
    )


def _needed(outlooks: list[Outlook]) -> tuple[Outlook, int, bool]:
    """Return the metric that needs the most samples, how many, and whether they are enough."""
    facts = [outlook.as_dict() for outlook in outlooks]
    # Without an n that is enough: all, if there is variance to shrink, else none.
    needs = [one['enough'] or one['most'] * bool(one['rows'][0]['within']) for one in facts]
    at = needs.index(max(needs))
    enough = facts[at]['enough']
    return outlooks[at], enough or max(outlooks[at].grid.samples(outlooks[at].k)), bool(enough)


def next_step(pilot: Pilot, outlooks: list[Outlook]) -> list[str]:
    """Return how a pilot is extended to the n of the conclusion, its cost, and what n can't do."""
    _, n, _ = _needed(outlooks)
    problems = len(pilot.n)
    lines = []
    if n > pilot.drawn:
        missing = (n - pilot.drawn) * problems
        tokens = f', about {missing * pilot.tokens:,.0f} tokens' if pilot.tokens else ''
        lines = [
            f'To reach it: the same gpassk run with -n {n} --resume, or GPASSK_N={n} opencompass '
            f'CONFIG -r. {missing:,} responses are asked for{tokens}.'
        ]
    strictest = max(outlooks, key=lambda one: one.metric.tau or 0.0)
    now, best = (
        f'± {50 * (high - low):.1f}'
        for low, high in (
            strictest.plan.interval(count, problems, strictest.grid.level)
            for count in (max(pilot.drawn, strictest.k), None)
        )
    )
    known = f'With {problems} problems, {strictest.metric.heading} is known to {now}'
    if now == best:
        return [f'{known}, however many samples each has: take more problems.']
    lines = lines or [f'n = {pilot.drawn} is enough already.']
    return [*lines, f'{known}; more samples alone cannot reach less than {best}.']


def table(outlook: Outlook) -> str:
    """Return a metric's outlook as text for a terminal."""
    facts = outlook.as_dict()
    lines = [f'{outlook.metric.heading}, {one_line(str(facts["source"]))}']
    metric = f'Expected: {100 * facts["mean"]:.1f} %'
    if facts['observed'] is not None:
        metric += f'; the pilot has {100 * facts["observed"]:.1f} %'
    level = f'{100 * facts["level"]:g} %'
    lines += [metric, f'Half the width of the {level} interval in points, for {facts["of"]}:']
    heads = ['n', 'due to n', *(f'{number} problems' for number in facts['problems'])]
    rows = [
        [
            _samples(row['n'], facts['k']),
            _share(row['within_share']),
            *(
                '–' if low is None or high is None else f'{50 * (high - low):.1f}'
                for low, high in row['intervals']
            ),
        ]
        for row in facts['rows']
    ]
    align = ('right',) * len(heads)
    lines.append(tabulate(rows, heads, colalign=align, disable_numparse=True))
    return '\n'.join([*lines, *_advice(facts)])


def target_table(outlook: Outlook, half: float) -> str:
    """Return how many problems a metric needs with each n, and what is the cheapest."""
    costs = outlook.costs(half)
    about = f'{outlook.metric.heading}, {one_line(outlook.source)}'
    interval = f'a {100 * outlook.grid.level:g} % interval of ± {half:g} points'
    if not costs:
        return f'{about}\nNo number of problems up to a million gives {interval}.'
    n, problems = min(costs, key=lambda one: one[0] * one[1])
    lines = [
        about,
        f'Expected: {100 * outlook.plan.mean:.1f} %. For {interval}, the fewest responses are '
        f'{n * problems:,}: {problems:,} problems, n = {n}.',
    ]
    rows = [
        [_samples(n, outlook.plan.estimator.k), f'{problems:,}', f'{n * problems:,}']
        for n, problems in costs
    ]
    heads = ['n', 'problems', 'responses']
    lines.append(tabulate(rows, heads, colalign=('right',) * 3, disable_numparse=True))
    return '\n'.join(lines)


def _samples(n: int | None, k: int) -> str:
    """Return n as text, with its ratio to k."""
    if n is None:
        return '∞'
    return f'{n} = {n / k:.3g}k' if k > 1 else str(n)


def _share(value: float | None) -> str:
    return '–' if value is None else f'{100 * value:.0f} %'


def _advice(facts: dict[str, Any]) -> list[str]:
    enough, share = facts['enough'], 100 * NEGLIGIBLE
    advised = facts['advised']
    if enough:
        lines = [f'From n = {enough} on, sampling causes at most {share:g} % of the variance.']
    elif advised['within_share'] is None:
        lines = ['Sampling causes no variance: all samples of a problem are alike.']
    elif not facts['between']:
        lines = [f'Sampling causes over {share:g} % of the variance at any n: problems are alike.']
    else:
        lines = [
            f'Even at n = {facts["most"]} sampling causes more than {share:g} % of the variance: '
            'the problems are nearly alike.'
        ]
    if facts['k'] > 1:
        part = (
            ''
            if advised['within_share'] is None
            else f'; then sampling causes {_share(advised["within_share"])} of the variance'
        )
        lines.append(f'The authors of G-Pass@k advise n ≥ 3k = {advised["n"]}{part}.')
    if facts['design'] is not None:
        lines.append(
            f"The pilot's problems form clusters, which multiply the variance between problems by "
            f'{facts["design"]:.2f}.'
        )
    return lines
