"""Time all metrics of k = 4, 8, 16 and five thresholds, side by side with OpenCompass's own.

    python benchmarks/metrics.py

The first half scores 238 problems of 48 samples with both, checks that the metrics are the same,
and prints how many times faster ours are; the second scores 1,000,000 problems with ours.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.gpassk import g_pass_at_k, mg_pass_at_k, pass_at_k

KS = (4, 8, 16)
TAUS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
N = 48
ROUNDS = 5

Metrics = NDArray[np.float64]


def ours(c: NDArray[np.int64]) -> Metrics:
    """Return every metric of P problems with c of N samples correct, shape (metrics, P)."""
    rows = []
    for k in KS:
        rows += [pass_at_k(N, c, k), g_pass_at_k(N, c, k, TAUS[:, None]), mg_pass_at_k(N, c, k)]
    return np.vstack(rows)


def opencompass(c: NDArray[np.int64]) -> Metrics:
    """Return the same metrics by OpenCompass's functions, one problem after another."""
    from opencompass.openicl.icl_evaluator.icl_base_evaluator import (
        compute_g_pass_at_k,
        compute_mg_pass_at_k,
        compute_pass_at_k,
    )

    columns = []
    for count in c.tolist():
        column = []
        for k in KS:
            column.append(compute_pass_at_k(N, count, k))
            column += [compute_g_pass_at_k(N, count, k, tau) for tau in TAUS.tolist()]
            column.append(compute_mg_pass_at_k(N, count, k))
        columns.append(column)
    return np.array(columns).T


def timed(function: Callable[[NDArray[np.int64]], Metrics], c: NDArray[np.int64]) -> float:
    """Return the shortest of a few runs, in seconds."""
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        function(c)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    """Run both halves and print them."""
    rng = np.random.default_rng(0)
    c = rng.integers(0, N + 1, 238)
    difference = np.max(np.abs(ours(c) - opencompass(c)))
    theirs, mine = timed(opencompass, c), timed(ours, c)
    print(f'238 problems, n = {N}: the best of {ROUNDS} rounds')
    print(f'  OpenCompass        {theirs * 1e3:10.1f} ms')
    print(f'  opencompass_gpassk {mine * 1e3:10.1f} ms   {theirs / mine:.0f} times faster')
    print(f'  largest difference {difference:10.1e}')
    million = timed(ours, rng.integers(0, N + 1, 1_000_000))
    print(f'1,000,000 problems, n = {N}')
    print(f'  opencompass_gpassk {million:10.2f} s')


if __name__ == '__main__':
    main()
