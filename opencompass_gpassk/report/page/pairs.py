"""Every two entries of a benchmark, compared on the problems that both were asked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.groupings import headline_problems
from opencompass_gpassk.metrics.gpassk import g_pass_at_k, mg_pass_at_k, pass_at_k
from opencompass_gpassk.metrics.paired import compare_means, holm, rank_intervals
from opencompass_gpassk.report.benchmarks import Benchmark
from opencompass_gpassk.report.page.columns import AVERAGE, GREEDY
from opencompass_gpassk.report.page.problems import PageProblem, Solved

__all__ = ['compare_entries']

COLUMNS = 400  # compared at once, for the sake of memory
DIGITS = 4

Values = NDArray[np.float64]


def compare_entries(benchmark: Benchmark, problems: Sequence[PageProblem]) -> dict[str, Any]:
    """Return the difference of every two entries, over the problems that both were asked.

    Returns:
        ``metrics``, the names of those compared; ``rows`` of ``[first, second, [[difference, low,
        high, p, p after Holm's correction], …]]``, the second entry's figure less the first's in
        points, with a 95 % interval for a population of such problems; and ``ranks``, for each
        metric the [best, worst] rank of each entry that the data allow, None where it has none.
    """
    asked = [problems[i] for i in headline_problems([one.problem for one in problems])]
    asked = [problem for problem in asked if len(problem.solved) > 1]
    entries = range(len(benchmark.entries))
    pairs = list(combinations(entries, 2))
    values = {
        name: of_metric
        for name, of_metric in _values(benchmark, asked).items()
        if (~np.isnan(of_metric)).any(axis=1).sum() > 1
    }
    if not pairs or not values:
        return {'metrics': [], 'rows': [], 'ranks': []}
    clusters = [one.problem.cluster or f'\n{index}' for index, one in enumerate(asked)]
    tested = [_differences(of_metric, pairs, clusters) for of_metric in values.values()]
    return {
        'metrics': list(values),
        'rows': [[a, b, [rows[i] for rows in tested]] for i, (a, b) in enumerate(pairs)],
        'ranks': [_ranks(of_metric, clusters) for of_metric in values.values()],
    }


def _differences(
    values: Values, pairs: Sequence[tuple[int, int]], clusters: Sequence[str]
) -> list[list[float]]:
    """Return difference, interval, p and adjusted p of each pair of rows of (entries, P) values."""
    first, second = np.array(pairs).T
    parts = []
    for start in range(0, len(pairs), COLUMNS):
        of_part = slice(start, start + COLUMNS)
        found = compare_means(values[second[of_part]].T, values[first[of_part]].T, clusters)
        parts.append(
            np.stack([100 * found.difference, 100 * found.low, 100 * found.high, found.p_value])
        )
    columns = np.concatenate(parts, axis=1)
    adjusted = holm(columns[3])
    rows = np.concatenate([columns, adjusted[np.newaxis]]).T
    return [[round(float(value), DIGITS) for value in row] for row in rows]


def _ranks(values: Values, clusters: Sequence[str]) -> list[list[int] | None]:
    """Return the ranks of those of the rows of (entries, P) values that hold any."""
    measured = np.flatnonzero((~np.isnan(values)).any(axis=1))
    ranks: list[list[int] | None] = [None] * len(values)
    for row, found in zip(measured, rank_intervals(values[measured], clusters), strict=True):
        ranks[row] = found.tolist()
    return ranks


def _values(benchmark: Benchmark, problems: Sequence[PageProblem]) -> dict[str, Values]:
    """Return metric to shape (entries, P), in [0, 1] or NaN."""
    entries = benchmark.entries
    n, c, greedy = (np.full((len(entries), len(problems)), np.nan) for _ in range(3))
    for column, problem in enumerate(problems):
        for row, solved in problem.solved.items():
            if entries[row].result:
                n[row, column], c[row, column] = solved.n, solved.c
                greedy[row, column] = _greedy(solved)
            elif solved.n:
                greedy[row, column] = solved.c / solved.n
    values = {GREEDY: greedy, AVERAGE: np.divide(c, n, out=np.full_like(c, np.nan), where=n > 0)}
    known = n > 0
    ns, cs = n[known].astype(np.int64), c[known].astype(np.int64)

    def spread(figures: Any) -> Values:
        whole = np.full_like(n, np.nan)
        whole[known] = figures
        return whole

    for k in benchmark.ks:
        values[f'pass@{k}'] = spread(pass_at_k(ns, cs, k))
        for tau in benchmark.taus:
            values[f'G-Pass@{k}_{tau}'] = spread(g_pass_at_k(ns, cs, k, tau))
        values[f'mG-Pass@{k}'] = spread(mg_pass_at_k(ns, cs, k))
    return values


def _greedy(solved: Solved) -> float:
    verdicts = {verdict for *_, verdict, _ in solved.greedy}
    return {('correct',): 1.0, ('incorrect',): 0.0}.get(tuple(verdicts), np.nan)
