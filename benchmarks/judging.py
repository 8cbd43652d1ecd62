"""Time judging by a model, side by side with OpenCompass's GenericLLMEvaluator on the same stub.

    python benchmarks/judging.py [--part 480] [--problems 238] [--million 1000000]

The stub is ``tests/kit/judge_server.py`` in a separate process: 50 ms latency, 64 requests at once.
Each row is measured in a fresh process after its imports. OpenCompass's defaults send 16 requests a
second; they are measured on a part of the trials, and that row is extrapolated. The ideal time is
the number of distinct triples times the latency, divided by the requests at once. The trials are
drawn, not recorded, and only contain answers, not whole responses.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from judging_peer import judge_by_opencompass
from judging_stub import AT_ONCE, LATENCY, InstantJudge, counts, stub
from judging_trials import Candidate, described, distinct, is_right, repeated, spread

from opencompass_gpassk.judging.pipeline import Pipeline
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.verdict_store import VerdictStore
from opencompass_gpassk.trials import Verdict

SAMPLES = 48
COLUMNS = 'time', '/ ideal', 'calls', 'calls/s', 'stub CPU', 'wrong', 'memory'

Draw = Callable[..., list[Candidate]]


class Run(NamedTuple):
    """The measurements of one process.

    Attributes:
        trials: How many it judged.
        seconds: Wall time.
        calls: Requests that the stub got.
        stub: Seconds that the stub computed.
        wrong: Trials whose verdict is not the expected one, unjudged ones among them.
        megabytes: Its peak memory.
    """

    trials: int
    seconds: float
    calls: int
    stub: float
    wrong: int
    megabytes: float


def ours(url: str, store: Path, mode: str, draw: Draw, *how: Any) -> Run:
    """Judge by this package; without a URL, by a judge in this process."""
    candidates = draw(*how)
    before = counts(url)
    start = time.perf_counter()
    with VerdictStore(store) as kept:
        settings = JudgeSettings(mode=mode, model='judge', api_base=url or None)
        judged = Pipeline(settings, kept, judge=None if url else InstantJudge()).run(candidates)
    seconds = time.perf_counter() - start
    memory = peak_memory()
    calls, cpu = counts(url)
    wrong = sum(
        one.verdict is not (Verdict.CORRECT if is_right(candidate) else Verdict.INCORRECT)
        for one, candidate in zip(judged.judgements, candidates, strict=True)
    )
    return Run(len(candidates), seconds, calls - before[0], cpu - before[1], wrong, memory)


def theirs(url: str, trials: int | None, workers: int | None, draw: Draw, *how: Any) -> Run:
    """Judge a part of the trials, drawn evenly, by OpenCompass; drop its printed output."""
    for output in (sys.stdout, sys.stderr):
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.fileno())
    candidates = draw(*how)
    if trials and trials < len(candidates):
        candidates = [candidates[i * len(candidates) // trials] for i in range(trials)]
    with tempfile.TemporaryDirectory() as folder:
        before = counts(url)
        seconds, right = judge_by_opencompass(candidates, url, Path(folder), workers)
    calls, cpu = counts(url)
    wrong = abs(right - sum(map(is_right, candidates)))  # at least: it is told how many
    calls -= before[0] + 1  # one before its clock starts
    return Run(len(candidates), seconds, calls, cpu - before[1], wrong, peak_memory())


def peak_memory() -> float:
    """Return the peak memory of this process, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def alone(function: Callable[..., Run], *arguments: Any) -> Run:
    """Call a function in a fresh process, with a fresh stub."""
    with stub() as url, ProcessPoolExecutor(1, mp_context=get_context('spawn')) as pool:
        return pool.submit(function, url, *arguments).result()


def header() -> None:
    """Print the headings."""
    print(f'\n{"":48}' + ''.join(f'{name:>10}' for name in COLUMNS))


def row(name: str, run: Run, ideal: float) -> None:
    """Print the measurements."""
    cells = (
        *(f'{run.seconds:.2f} s', f'{run.seconds / ideal:.2f}', run.calls),
        *(f'{run.calls / run.seconds:.0f}', f'{run.stub / run.seconds:.0%}', run.wrong),
        f'{run.megabytes:.0f} MB',
    )
    print(f'  {name:<46}' + ''.join(f'{cell:>10}' for cell in cells), flush=True)


def goal(text: str, value: float, bound: float, *, above: bool = False) -> None:
    """Print whether a goal is reached."""
    reached = value >= bound if above else value <= bound
    word, sign = 'reached' if reached else 'MISSED', '≥' if above else '≤'
    print(f'  {text}: {value:.2f} (goal {sign} {bound:g}) {word}')


def compare(folder: Path, problems: int, part: int) -> None:
    """Judge a test set of 48 samples by both."""
    how = spread, problems, SAMPLES, 'judging'
    candidates = spread(*how[1:])
    ideal = len(distinct(candidates)) * LATENCY / AT_ONCE
    print(f'{len(candidates)} trials, {len(distinct(candidates))} distinct triples; ideal', end=' ')
    print(f'{ideal:.2f} s\n  {described(candidates)}')
    header()
    store = folder / 'llm'
    judged = alone(ours, store, 'llm', *how)
    row('opencompass_gpassk', judged, ideal)
    row('  again, from its store', alone(ours, store, 'llm', *how), ideal)
    row('  rules first (cascade)', alone(ours, folder / 'cascade', 'cascade', *how), ideal)
    different = repeated, len(candidates), len(candidates), 'judging'
    other = alone(ours, folder / 'different', 'llm', *different)
    row('  other trials, all different', other, len(candidates) * LATENCY / AT_ONCE)
    freed = alone(theirs, None, AT_ONCE, *how)
    row('OpenCompass, no rate limit, 64 workers', freed, ideal)
    slow = alone(theirs, part, None, *how)
    row(f'OpenCompass, defaults, {slow.trials} trials', slow, ideal)
    times = len(candidates) / slow.trials
    slow = slow._replace(
        trials=len(candidates),
        seconds=slow.seconds * times,
        stub=slow.stub * times,
        calls=round(slow.calls * times),
        wrong=round(slow.wrong * times),
    )
    row(f'  extrapolated to {slow.trials} trials', slow, ideal)
    goal('times the ideal', judged.seconds / ideal, 2)
    for name, run, bound in (('with its defaults', slow, 100), ('without its limit', freed, 5)):
        ratio = run.seconds / judged.seconds
        goal(f'times less time than OpenCompass {name}', ratio, bound, above=True)
    goal('wrong or missing verdicts', judged.wrong, 0)


def scale(folder: Path, trials: int) -> None:
    """Judge many trials with a twentieth as many distinct triples."""
    how = repeated, trials, trials // 20, 'judging'
    ideal = how[2] * LATENCY / AT_ONCE
    print(f'{trials} trials, {how[2]} distinct triples; ideal {ideal:.2f} s')
    header()
    with ProcessPoolExecutor(1, mp_context=get_context('spawn')) as pool:
        instant = pool.submit(ours, '', folder / 'instant', 'llm', *how).result()
    row('opencompass_gpassk, a judge that takes no time', instant, ideal)
    judged = alone(ours, folder / 'million', 'llm', *how)
    row('opencompass_gpassk', judged, ideal)
    row('  again, from its store', alone(ours, folder / 'million', 'llm', *how), ideal)
    goal('times the ideal', judged.seconds / ideal, 2)
    goal('peak memory, MB', judged.megabytes, 1000)
    goal('wrong or missing verdicts', judged.wrong, 0)


def main() -> None:
    """Run both and print them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--problems', type=int, default=238, help='of 48 samples; 0 for none')
    parser.add_argument('--part', type=int, default=480, help='trials for the defaults')
    parser.add_argument('--million', type=int, default=1_000_000, help='trials; 0 for none')
    options = parser.parse_args()
    print(f'{len(os.sched_getaffinity(0))} CPUs, load {os.getloadavg()[0]:.2f}')
    with tempfile.TemporaryDirectory() as folder:
        if options.problems:
            compare(Path(folder), options.problems, options.part)
        if options.million:
            scale(Path(folder), options.million)


if __name__ == '__main__':
    main()
