"""``gpassk gate``: is a model reliable enough, for sure?"""

from __future__ import annotations

import argparse
import math
import re
import traceback
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_command, note
from opencompass_gpassk.formats.display import counted, one_line, short_line
from opencompass_gpassk.metrics.reliability import ERROR, samples_needed, surely_below
from opencompass_gpassk.results.judged_trials import JudgedTrials
from opencompass_gpassk.results.metric import parse_metric
from opencompass_gpassk.results.read import ModelResult, results_at, without_earlier_looks
from opencompass_gpassk.results.reliable_problems import Attempts, attempts, reliable_counts
from opencompass_gpassk.results.result import Estimate, Few
from opencompass_gpassk.runs.task_states import unfinished

MOST_NAMED = 5  # problems
DESCRIPTION = """\
Check results against a bar, for example before a release. RESULT is a result of gpassk score -o, a
run of OpenCompass or a work dir (its newest run is used), or RUN/results/MODEL for one model alone.
Every sampled result in it must pass.

--every-problem 0.8 asks whether the model solves every problem in at least 80 % of all attempts. It
is shown if the lower bound of each problem is at least 0.8 (exact, one-sided, 95 %), and refuted if
the upper bound of any is below, at 5 % divided by the number of problems. A response without a
verdict may be right or wrong in both.

--at-least "G-Pass@8_1.0 60" asks whether a metric is at least 60. It is shown if its interval and
its bounds lie above, and refuted if they lie below. It takes GROUP/METRIC too, without bounds.

Exit code: 0 if all is shown; 1 if anything is refuted; 2 if neither, if a result contradicts its
trials or is not finished, if any file cannot be read or is left out, and on errors.
"""
BAR = re.compile(r'(?P<metric>.+?)\s+(?P<least>\d+(?:\.\d+)?)')
Answer = tuple[bool | None, str]  # whether it is shown (True), refuted or neither; and why
WORDS = {True: 'yes', False: 'NO', None: 'not known'}


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(subparsers, 'gate', told, DESCRIPTION, run)
    parser.add_argument('result', metavar='RESULT', type=Path, help='a result or a run')
    parser.add_argument(
        '--every-problem',
        type=float,
        metavar='RATE',
        help='the least rate of right responses to each problem, between 0 and 1',
    )
    parser.add_argument(
        '--at-least',
        metavar='"METRIC PERCENT"',
        help='a metric and its least value, such as "G-Pass@8_1.0 60"',
    )


def run(args: argparse.Namespace) -> int:
    """Check, print and return the exit code that DESCRIPTION defines."""
    try:
        return _run(args)
    except (ValueError, OSError) as error:
        note(f'gpassk gate: {one_line(str(error))}')
    except Exception:  # Python's own exit code of 1 would mean that a bar is missed
        traceback.print_exc()
    return 2


def _run(args: argparse.Namespace) -> int:
    rate, bar = args.every_problem, BAR.fullmatch((args.at_least or '').strip())
    if rate is None and args.at_least is None:
        raise ValueError('nothing is asked; give --every-problem or --at-least')
    if rate is not None and not 0 < rate < 1:
        raise ValueError(f'--every-problem is {rate:g}; give a rate between 0 and 1, such as 0.9')
    if args.at_least is not None and not bar:
        raise ValueError(
            f'--at-least is {args.at_least!r}; write a metric and its least value in percent, such '
            'as "G-Pass@8_1.0 60"'
        )
    left_out: list[str] = []
    found = results_at(args.result, left_out.append)
    found = without_earlier_looks(found, note)
    partial = unfinished((one.run for one in found), left_out.append)
    for told in left_out:
        note(short_line(told))
    # What can't be read, or is left out, might miss the bar.
    shown: list[bool | None] = [None] if left_out else []
    for one in [one for one in found if not one.result.greedy] or found:
        table = one.table()
        fault = partial.get(one.path) or one.contradiction(table)
        answers: list[Answer] = [(None, fault)] if fault else []
        if rate is not None and not fault:
            answers.append(_every_problem(attempts(JudgedTrials.recorded(table)), rate))
        if bar and not fault:
            answers.append(_at_least(one, bar['metric'], float(bar['least'])))
        for answer, told in answers:
            print(one_line(f'{one.name}: {told}: {WORDS[answer]}'), flush=True)
            shown.append(answer)
    return 1 if False in shown else 2 if None in shown else 0


def _every_problem(of: Attempts, rate: float) -> Answer:
    counts, problems = reliable_counts(of, rate), len(of.n)
    told = (
        f'every problem at least {rate:g}: of {counted(problems, "problem")} {counts["at_least"]} '
        f'surely are, {counts["below"]} surely are not, {counts["unclear"]} cannot be told'
    )
    below = surely_below(rate, of.n, of.most, ERROR / problems).nonzero()[0].tolist()
    if below:
        named = [f'{of.problem_ids[i]} ({of.most[i]} of {of.n[i]})' for i in below[:MOST_NAMED]]
        more = ', …' if len(below) > MOST_NAMED else ''
        return False, f'{told}; below at 5 % / {problems}: {", ".join(named)}{more}'
    if counts['at_least'] == problems:
        return True, told
    least, with_one = samples_needed(rate), samples_needed(rate, wrong=1)
    told += f'; {least} right of {least}, or {with_one - 1} of {with_one}, would show it'
    return None, told + (f'; n = {of.n.max()} cannot' if of.n.max() < least else '')


def _at_least(one: ModelResult, name: str, least: float) -> Answer:
    group, _, metric = name.rpartition('/')
    value = one.result.metric(parse_metric(metric), group)
    if value is None:
        raise ValueError(f'--at-least {name}: {one.path} has no such metric')
    told = f'{name} at least {least:g}: {"undefined" if math.isnan(value) else f"{value:.1f}"}'
    if isinstance(value, Few):
        asked = counted(value.questions, 'question')
        return None, f'{told}, on {asked}, too few for an interval'
    if not isinstance(value, Estimate):
        return None, f'{told}, without an interval'
    low, high = value.interval
    told = f'{told}, interval {low:.1f} to {high:.1f}'
    ends = None if group else one.result.bounds_of(parse_metric(metric))
    if ends:
        told += f', by missing verdicts {ends[0]:.1f} to {ends[1]:.1f}'
        low, high = min(low, ends[0]), max(high, ends[1])
    return True if low >= least else False if high < least else None, told
