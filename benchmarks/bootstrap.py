"""Time and memory of the intervals of 30 models × 500 problems × all metrics × 10,000 resamples.

    python benchmarks/bootstrap.py

Each model has the 23 metrics that one data set of k = 4, 8, 16 reports. scipy.stats.bootstrap does
one of these columns at a time on the same data, with as many resamples; its time for all of them is
that of the timed ones, multiplied. Largest differences are those of the bounds of these columns.
Then both lines of G-Pass@16_1.0 are timed, for two models and for every two of a board.
"""

from __future__ import annotations

import argparse
import resource
import time
from itertools import combinations

import numpy as np
from scipy import stats

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.difference import paired_steps, two_lines
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.gpassk import g_pass_at_k, mg_pass_at_k, pass_at_k

KS = (4, 8, 16)
TAUS = (0.0, 0.25, 0.5, 0.75, 1.0)
N = 48
TIMED = 10  # columns
STRICT = Estimator('G-Pass', 16, 1.0)


def right_samples(models: int, problems: int) -> np.ndarray:
    """Return how many of N samples are right, shape (models, problems)."""
    rng = np.random.default_rng(0)
    rates = [rng.beta(0.4, 0.5, problems) for _ in range(models)]
    return rng.binomial(N, rates)


def columns(right: np.ndarray) -> np.ndarray:
    """Return all metrics of all models, shape (problems, models × metrics), in [0, 1]."""
    rows = []
    for c in right:
        rows += [c / N, (c > N / 2).astype(float)]  # accuracy, and as a majority vote would be
        for k in KS:
            rows += [pass_at_k(N, c, k), mg_pass_at_k(N, c, k)]
            rows += [g_pass_at_k(N, c, k, tau) for tau in TAUS]
    return np.stack(rows, axis=1)


def peak() -> float:
    """Return the peak memory of this process, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--models', type=int, default=30)
    parser.add_argument('--problems', type=int, default=500)
    parser.add_argument('--resamples', type=int, default=10_000)
    args = parser.parse_args()
    right = right_samples(args.models, args.problems)
    values = columns(right)
    before = peak()
    start = time.perf_counter()
    found = bootstrap_means(values, resamples=args.resamples)
    ours = time.perf_counter() - start
    print(
        f'{args.models} models × {args.problems} problems × {values.shape[1] // args.models} '
        f'metrics = {values.shape[1]} columns, {args.resamples} resamples, BCa'
    )
    print(f'  bootstrap_means        {ours:8.2f} s, peak memory {peak():.0f} MiB')
    print(f'    of which it needed   {peak() - before:8.0f} MiB')

    chosen = np.linspace(0, values.shape[1] - 1, TIMED).astype(int)
    start, difference = time.perf_counter(), 0.0
    for column in chosen:
        theirs = stats.bootstrap(
            (values[:, column],),
            np.mean,
            n_resamples=args.resamples,
            vectorized=True,
            batch=1000,
            random_state=0,
        ).confidence_interval
        bounds = np.abs([theirs.low - found.low[column], theirs.high - found.high[column]])
        difference = max(difference, float(bounds.max()))
    scipy = (time.perf_counter() - start) / TIMED * values.shape[1]
    print(f'  scipy.stats.bootstrap  {scipy:8.2f} s (from {TIMED} columns), {scipy / ours:.1f} ×')
    print(f'    largest difference   {100 * difference:8.3f} points')

    for name, pairs in (
        ('two models', [(0, 1)]),
        ('every two', list(combinations(range(args.models), 2))),
    ):
        start = time.perf_counter()
        two_lines(paired_steps(STRICT, np.full_like(right, N), right, pairs))
        print(f'  both lines, {name:10} {time.perf_counter() - start:8.2f} s')


if __name__ == '__main__':
    main()
