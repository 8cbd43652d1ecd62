"""Measure time and memory of one result: 1,000 problems × 128 samples, with groups and intervals.

Usage::

    python benchmarks/results.py [--other CHECKOUT] [--problems 1000] [--samples 128]

Each version runs in a process of its own, in turn; the best of several runs counts. ``--other`` is
a checkout of another version of this package, such as the one before a change.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parents[1]
RUNS = 3


def measured(problems: int, samples: int) -> dict[str, float]:
    """Return seconds and peak memory of the version that Python imports."""
    from opencompass_gpassk.responses import Response
    from opencompass_gpassk.results.make_result import make_result
    from opencompass_gpassk.results.metric_intervals import IntervalSettings
    from opencompass_gpassk.results.protocol import Protocol
    from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

    rng = np.random.default_rng(0)
    rates = rng.beta(0.5, 0.7, problems)
    asked = [
        Problem(
            f'{i}',
            groups={
                'split': 'ABCD'[i % 4],
                'language': ('en', 'cn')[i // 4 % 2],
                'level': str(1 + i % 5),
                'subject': f'subject {i % 7}',
            },
            cluster=str(i // 2),
        )
        for i in range(problems)
    ]
    trials, responses = [], []
    for i, problem in enumerate(asked):
        right = rng.random(samples) < rates[i]
        judged = rng.random(samples) < 0.99
        for replica in range(samples):
            verdict = Verdict.CORRECT if right[replica] else Verdict.INCORRECT
            verdict = verdict if judged[replica] else Verdict.UNJUDGED
            answer = 0 if right[replica] else 1 + replica % 5
            trials.append(
                Trial(problem.problem_id, replica, verdict, answer='x', answer_class=answer)
            )
            text = f'{replica}'
            responses.append(Response(text, '', identity=(problem.problem_id, replica)))
    protocol = Protocol(samples, (4, 8, 16))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    def seconds(intervals: IntervalSettings | None) -> float:
        def once() -> float:
            fresh = TrialTable(asked, trials)
            start = time.perf_counter()
            make_result(
                fresh,
                protocol,
                responses,
                benchmark='b',
                data_version='1',
                judge='rule',
                prompt='p',
                intervals=intervals,
            )
            return time.perf_counter() - start

        return best(once)

    made = {'metrics': seconds(None), 'with intervals': seconds(IntervalSettings())}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return made | {'MiB': (peak - before) / 1024}


def best(once: Callable[[], float]) -> float:
    """Return the shortest of several runs; other load on the machine only makes runs longer."""
    return min(once() for _ in range(RUNS))


def run(checkout: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a checkout in a separate process."""
    command = [sys.executable, __file__, '--child', '--problems', str(arguments.problems)]
    command += ['--samples', str(arguments.samples)]
    environment = os.environ | {'PYTHONPATH': str(checkout)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--other', type=Path, help='a checkout of another version')
    parser.add_argument('--problems', type=int, default=1000)
    parser.add_argument('--samples', type=int, default=128)
    parser.add_argument('--child', action='store_true', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        print(json.dumps(measured(arguments.problems, arguments.samples)))
        return
    versions = {'this version': run(HERE, arguments)}
    if arguments.other:
        versions = {'the other': run(arguments.other.resolve(), arguments)} | versions
    for name, found in versions.items():
        print(
            f'{name:13} metrics {found["metrics"]:6.2f} s, with intervals '
            f'{found["with intervals"]:6.2f} s, {found["MiB"]:6.0f} MiB more than the table'
        )
    if arguments.other:
        other, this = versions['the other'], versions['this version']
        ratios = ', '.join(f'{name} {other[name] / this[name]:.2f}' for name in this)
        print(f'the other / this version: {ratios}')


if __name__ == '__main__':
    main()
