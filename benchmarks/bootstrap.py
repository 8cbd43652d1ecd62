"""Time and memory of the intervals of 30 models × 500 problems × all metrics × 10,000 resamples.

    python benchmarks/bootstrap.py

Each model has the 23 metrics that one data set of k = 4, 8, 16 reports. scipy.stats.bootstrap does
one of these columns at a time on the same data, with as many resamples; its time for all of them is
that of the timed ones, multiplied. Largest differences are those of the bounds of these columns.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from scipy import stats

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.clusters import ClusterSums
from opencompass_gpassk.metrics.gpassk import g_pass_at_k, mg_pass_at_k, pass_at_k
from opencompass_gpassk.metrics.paired import sign_flip_test, step_down

KS = (4, 8, 16)
TAUS = (0.0, 0.25, 0.5, 0.75, 1.0)
N = 48
TIMED = 10  # columns


def columns(models: int, problems: int) -> np.ndarray:
    """Return all metrics of all models, shape (problems, models × metrics), in [0, 1]."""
    rng = np.random.default_rng(0)
    rows = []
    for _ in range(models):
        c = rng.binomial(N, rng.beta(0.4, 0.5, problems))
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
    values = columns(args.models, args.problems)
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

    metrics = values.shape[1] // args.models
    start = time.perf_counter()
    differences = values[:, metrics : 2 * metrics] - values[:, :metrics]
    bootstrap_means(differences, bounds=(-1, 1))
    sign_flip_test(ClusterSums.of(differences), flips=args.resamples)
    print(f'  intervals and p-values {time.perf_counter() - start:8.2f} s for a pair of models')
    start = time.perf_counter()
    of_models = values[:, ::metrics]
    first, second = np.triu_indices(args.models, 1)
    step_down(of_models[:, second] - of_models[:, first], flips=args.resamples)
    print(f'  tests of every two     {time.perf_counter() - start:8.2f} s for all models')


if __name__ == '__main__':
    main()
