"""``gpassk gate``: is a model reliable enough, for sure?"""

from __future__ import annotations

import argparse
import math
import re
import traceback
from functools import partial
from pathlib import Path
from typing import Any

from opencompass_gpassk.commands import add_all_argument, add_command, decision, note
from opencompass_gpassk.compare.comparison import LEVEL
from opencompass_gpassk.formats.display import counted, one_line
from opencompass_gpassk.metrics.difference_plan import pilot_rates, sampling_variance
from opencompass_gpassk.metrics.fixed_problems import fixed_problems_intervals
from opencompass_gpassk.metrics.reliability import ERROR, samples_needed, surely_below
from opencompass_gpassk.results.groups import in_group, parts_of
from opencompass_gpassk.results.judged_trials import JudgedTrials
from opencompass_gpassk.results.metric import Metric, parse_metric
from opencompass_gpassk.results.read import ModelResult, one_of_each, results_at
from opencompass_gpassk.results.reliable_problems import Attempts, attempts, reliable_counts
from opencompass_gpassk.results.result import Estimate, Few, Result
from opencompass_gpassk.runs.task_states import unfinished
from opencompass_gpassk.trials import TrialTable

MOST_NAMED = 5  # problems
DESCRIPTION = """\
Check results against a bar, for example before a release. RESULT is a result of gpassk score -o, a
run of OpenCompass or a work dir (its newest run is used), or RUN/results/MODEL for one model alone.
Every sampled result in it must pass; of several of a model on one benchmark that with most samples.

--every-problem 0.8 asks whether the model solves every problem in at least 80 % of all attempts. It
passes if the lower bound of each problem is at least 0.8 (exact, one-sided, 95 %), and misses if
the upper bound of any is below, at 5 % divided by the number of problems. A response without a
verdict may be right or wrong in both.

--at-least "G-Pass@8_1.0 60" asks whether a metric is at least 60 on these problems. It passes if
its 95 % interval lies above even if all missing verdicts are wrong, and misses if the interval lies
below. --at-most "OOR 5" asks the same of a metric of which less is better. Metrics that are not
computed from right samples alone are judged by their interval for problems like these.

Exit code: 0 passed; 1 if anything misses its bar; 2 if a result contradicts its trials or is not
finished, if any file cannot be read or is left out, and on errors; 3 if it is undecided.
"""
BAR = re.compile(r'(?P<metric>.+?)\s+(?P<bar>\d+(?:\.\d+)?)')
Answer = tuple[bool | None, str]  # whether it passes (True), misses or neither; and why
WORDS = {True: 'passed', False: 'MISSED', None: 'undecided'}
FACTORS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 64)  # times as many samples


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
    parser.add_argument(
        '--at-most',
        metavar='"METRIC PERCENT"',
        help='a metric of which less is better, and its greatest value, such as "OOR 5"',
    )
    add_all_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Check, print and return the exit code that DESCRIPTION defines."""
    try:
        return _run(args)
    except (ValueError, OSError) as error:
        note(f'gpassk gate: {error}')
    except Exception:  # Python's own exit code of 1 would mean that a bar is missed
        traceback.print_exc()
    return 2


def _run(args: argparse.Namespace) -> int:
    rate = args.every_problem
    bars = {'at least': args.at_least, 'at most': args.at_most}
    if rate is None and not any(bars.values()):
        raise ValueError('nothing is asked; give --every-problem, --at-least or --at-most')
    if rate is not None and not 0 < rate < 1:
        raise ValueError(f'--every-problem is {rate:g}; give a rate between 0 and 1, such as 0.9')
    asked = [(way, _bar(way, text)) for way, text in bars.items() if text]
    left_out: list[str] = []
    found = one_of_each(results_at(args.result, left_out.append), note)
    partial = unfinished((one.run for one in found), left_out.append)
    for told in left_out:
        note(told)
    shown: list[bool | None] = []
    for one in [one for one in found if not one.result.greedy] or found:
        table = one.table()
        if fault := partial.get(one.path) or one.contradiction(table) or one.result.copies:
            left_out.append(fault)
            print(one_line(f'{one.name}: {fault}'), flush=True)
            continue
        answers: list[Answer] = []
        if rate is not None:
            most = None if args.all else MOST_NAMED
            answers.append(_every_problem(attempts(JudgedTrials.recorded(table)), rate, most))
        answers += [_beyond(one, table, way, *bar) for way, bar in asked]
        for answer, told in answers:
            print(one_line(f'{one.name}: {WORDS[answer]}: {told}'), flush=True)
            shown.append(answer)
    # What can't be read, or is left out, might miss the bar.
    code = 1 if False in shown else 2 if left_out else 3 if None in shown else 0
    print(decision(code), flush=True)
    return code


def _bar(way: str, text: str) -> tuple[str, float]:
    found = BAR.fullmatch(text.strip())
    if not found:
        raise ValueError(
            f'--{way.replace(" ", "-")} is {text!r}; write a metric and its bar in percent, such '
            'as "G-Pass@8_1.0 60"'
        )
    return found['metric'], float(found['bar'])


def _every_problem(of: Attempts, rate: float, most: int | None) -> Answer:
    counts, problems = reliable_counts(of, rate), len(of.n)
    told = (
        f'of {counted(problems, "problem")} {counts["at_least"]} are right in at least '
        f'{100 * rate:g} % of all attempts, {counts["below"]} are not, {counts["unclear"]} '
        'undecided (each at 95 %)'
    )
    below = surely_below(rate, of.n, of.most, ERROR / problems).nonzero()[0].tolist()
    if below:
        named = [f'{of.problem_ids[i]} ({of.most[i]} of {of.n[i]})' for i in below[:most]]
        more = ', … (--all names them)' if len(named) < len(below) else ''
        return False, f'{told}; surely not, at 5 % / {problems}: {", ".join(named)}{more}'
    if counts['at_least'] == problems:
        return True, told
    least, with_one = samples_needed(rate), samples_needed(rate, wrong=1)
    told += f'; {least} right of {least}, or {with_one - 1} of {with_one}, would show it'
    return None, told + (f'; n = {of.n.max()} cannot' if of.n.max() < least else '')


def _beyond(one: ModelResult, table: TrialTable, way: str, name: str, bar: float) -> Answer:
    """Return whether a metric is at least, or at most, a bar in percent."""
    group, _, key = name.rpartition('/')
    metric = parse_metric(key)
    value = one.result.metric(metric, group)
    if value is None:
        known = ', '.join(map(str, one.result.k))
        remedy = f': gpassk score {one.trials} -k {metric.k} -o NEW.json'
        remedy *= (metric.k or 0) <= one.result.n
        raise ValueError(
            f'--{way.replace(" ", "-")} {name}: {one.path} has no such metric'
            + f'; its k are {known}, and n is {one.result.n}{remedy}' * (metric.k is not None)
        )
    if metric.lower_is_better != (way == 'at most'):
        other = 'at-most' if metric.lower_is_better else 'at-least'
        raise ValueError(
            f'{name}: {"less" if metric.lower_is_better else "more"} of it is better; '
            f'give --{other}'
        )
    told = f'{name} {way} {bar:g}: {"undefined" if math.isnan(value) else f"{value:.1f}"}'
    made = one.result.uncertainty
    level = f'{100 * made.level:.4g} %' if made else ''
    if fixed := one.result.intervals_fixed.get(in_group(group, metric.key)):
        low, high = fixed
        told = f'{told}, {level} interval on these problems {low:.1f} to {high:.1f}'
        worst = _if_missing_are_wrong(table, one.result, group, metric)
        least = min(low, worst) if one.result.counts.unjudged else low
        if least < low:
            told = f'{told}, from {least:.1f} if all missing verdicts are wrong'
        if least >= bar or high < bar:
            return least >= bar, told
        if low >= bar:
            return None, f'{told}; the missing verdicts decide: ask a judge (--judge cascade)'
        room = value - low if value > bar else high - value
        share = abs(value - bar) / room if room else 0.0
        return None, f'{told}; {_would_decide(JudgedTrials.recorded(table), metric, share)}'
    if isinstance(value, Few):
        asked = counted(value.questions, 'question')
        return None, f'{told}, on {asked}, too few for an interval'
    if not isinstance(value, Estimate):
        return None, f'{told}, without an interval'
    low, high = value.interval
    told = f'{told}, {level} interval for problems like these {low:.1f} to {high:.1f}'
    if one.result.counts.unjudged:
        ends = None if group else one.result.bounds_of(metric)
        if not ends:
            return None, f'{told}; what its missing verdicts would change is not known'
        told = f'{told}, by missing verdicts {ends[0]:.1f} to {ends[1]:.1f}'
        low, high = min(low, ends[0]), max(high, ends[1])
    if way == 'at most':
        return True if high <= bar else False if low > bar else None, told
    return True if low >= bar else False if high < bar else None, told


def _would_decide(trials: JudgedTrials, metric: Metric, share: float) -> str:
    """Return how many samples would decide it, if the metric stays where it is.

    Args:
        trials: All trials.
        metric: The metric.
        share: To which share of its length the interval must shrink.
    """
    variance = partial(sampling_variance, metric.estimator(), pilot_rates(trials.known, trials.c))
    n = int(trials.n.max())
    noise = share**2 * variance(n)
    enough = next((n * times for times in FACTORS if variance(n * times) <= noise), None)
    if enough is None:
        return f'more than n = {n * FACTORS[-1]} would decide it, as near is the bar'
    return f'about n = {enough} would decide it: gpassk run … -n {enough} --resume'


def _if_missing_are_wrong(table: TrialTable, result: Result, group: str, metric: Metric) -> float:
    """Return the lower end of a metric's interval on these problems, in percent, in that case."""
    trials = JudgedTrials.recorded(table)
    members = parts_of(table.problems, result.protocol.groups)[group].members
    level = result.uncertainty.level if result.uncertainty else LEVEL
    (found,) = fixed_problems_intervals(
        metric.estimator(), trials.n, trials.c, [members], level=level
    )
    return 100 * found.low
