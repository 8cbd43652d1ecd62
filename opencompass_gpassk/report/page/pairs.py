"""Comparisons of every two entries of a benchmark on the problems that both answered."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.paired import compare_means, holm, rank_intervals
from opencompass_gpassk.report.page.columns import AVERAGE, GREEDY
from opencompass_gpassk.report.page.problems import PageProblem, Solved
from opencompass_gpassk.results.figures import ACCURACY, result_figures
from opencompass_gpassk.results.groups import headline_problems
from opencompass_gpassk.results.join_results import Benchmark
from opencompass_gpassk.results.protocol import Protocol

__all__ = ['compare_entries']

COLUMNS = 400  # pairs compared at once, to save memory
DIGITS = 4

Values = NDArray[np.float64]


def compare_entries(
    benchmark: Benchmark, problems: Sequence[PageProblem], ranked: Collection[int]
) -> dict[str, Any]:
    """Return the difference of every two entries, over the problems that both answered.

    Args:
        benchmark: The benchmark with its entries.
        problems: The problems, and how the entries solved them.
        ranked: Indices of the entries that can be compared with one another.

    Returns:
        ``metrics``: the names of the compared metrics. ``rows``: lists ``[first, second,
        [[difference, low, high, p, p after Holm's correction, first figure, second figure,
        problems], …]]``, all over the problems for which both have the figure. The difference is
        the second minus the first, in points, with a 95 % interval for a population of such
        problems. ``ranks``: for each metric the [best, worst] rank of each entry that the data
        allow, None without a rank.
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
    counts = _counts(benchmark, asked)[0]
    alike = np.array([_alike(counts[a], counts[b]) for a, b in pairs])
    like_first = [i for i in ranked if _alike(counts[i], counts[min(ranked)])]
    tested, ranks = [], []
    for name, of_metric in values.items():
        # All entries have one greedy response, however many samples they have.
        testable = np.ones_like(alike) if name == GREEDY else alike
        tested.append(_differences(of_metric, pairs, clusters, testable))
        ranks.append(_ranks(of_metric, clusters, ranked if name == GREEDY else like_first))
    return {
        'metrics': list(values),
        'rows': [[a, b, [rows[i] for rows in tested]] for i, (a, b) in enumerate(pairs)],
        'ranks': ranks,
    }


def _alike(one: Values, other: Values) -> bool:
    """Tell whether two entries have equally many judged responses to each problem that both have.

    If not, differences are not symmetric for equal models, as the test assumes. There
    :mod:`~opencompass_gpassk.compare.shared_problems` draws trials; the page has only their
    counts.
    """
    both = (one > 0) & (other > 0)
    return bool((one[both] == other[both]).all())


def _differences(
    values: Values,
    pairs: Sequence[tuple[int, int]],
    clusters: Sequence[str],
    testable: NDArray[np.bool_],
) -> list[list[float]]:
    """Return the comparison of each pair of rows of (entries, P) values; p only if testable."""
    first, second = np.array(pairs).T
    parts = []
    for start in range(0, len(pairs), COLUMNS):
        of_part = slice(start, start + COLUMNS)
        one, other = values[first[of_part]], values[second[of_part]]
        found = compare_means(other.T, one.T, clusters)
        common = ~np.isnan(one + other)
        parts.append(
            np.stack(
                [
                    *(100 * found.difference, 100 * found.low, 100 * found.high),
                    np.where(testable[of_part], found.p_value, np.nan),
                    *(_means(one, common), _means(other, common), common.sum(axis=1)),
                ]
            )
        )
    columns = np.concatenate(parts, axis=1)
    rows = np.insert(columns, 4, holm(columns[3]), axis=0).T
    return [[*(round(float(v), DIGITS) for v in row[:-1]), int(row[-1])] for row in rows]


def _means(values: Values, common: NDArray[np.bool_]) -> Values:
    """Return the mean of each row of (pairs, P) values over the common ones, in percent."""
    counts = common.sum(axis=1)
    sums = np.where(common, values, 0.0).sum(axis=1)
    means: Values = np.full(len(sums), np.nan)
    np.divide(100 * sums, counts, out=means, where=counts > 0)
    return means


def _ranks(
    values: Values, clusters: Sequence[str], ranked: Collection[int]
) -> list[list[int] | None]:
    """Return the ranks of the ranked rows of (entries, P) values; None for rows without values."""
    known = (~np.isnan(values)).any(axis=1)
    measured = np.array([row for row in np.flatnonzero(known) if row in ranked], dtype=np.int64)
    ranks: list[list[int] | None] = [None] * len(values)
    if len(measured) < 2:
        return ranks
    for row, found in zip(measured, rank_intervals(values[measured], clusters), strict=True):
        ranks[row] = found.tolist()
    return ranks


def _values(benchmark: Benchmark, problems: Sequence[PageProblem]) -> dict[str, Values]:
    """Return metric → values of shape (entries, P), in [0, 1] or NaN."""
    n, c, greedy = _counts(benchmark, problems)
    values = {GREEDY: greedy}
    known = n > 0
    ns, cs = n[known].astype(np.int64), c[known].astype(np.int64)
    most = max((2, *benchmark.ks))
    for figure in result_figures(Protocol(most, tuple(benchmark.ks), tuple(benchmark.taus))):
        if figure.family.estimator:
            name = AVERAGE if figure.family is ACCURACY else figure.key
            values[name] = np.full_like(n, np.nan)
            values[name][known] = figure.estimator()(ns, cs)
    return values


def _greedy(solved: Solved) -> float:
    verdicts = {verdict for *_, verdict, _ in solved.greedy}
    return {('correct',): 1.0, ('incorrect',): 0.0}.get(tuple(verdicts), np.nan)


def _counts(benchmark: Benchmark, problems: Sequence[PageProblem]) -> tuple[Values, Values, Values]:
    """Return n, c and greedy verdicts, each of shape (entries, P), NaN if missing."""
    entries = benchmark.entries
    n, c, greedy = (np.full((len(entries), len(problems)), np.nan) for _ in range(3))
    for column, problem in enumerate(problems):
        for row, solved in problem.solved.items():
            if entries[row].result:
                n[row, column], c[row, column] = solved.n, solved.c
                greedy[row, column] = _greedy(solved)
            elif solved.n:
                greedy[row, column] = solved.c / solved.n
    return n, c, greedy
