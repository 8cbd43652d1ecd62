"""Comparisons of every two entries of a benchmark on the problems that both answered.

They follow the same rules as :mod:`opencompass_gpassk.compare.shared_problems`, but need counts
alone: missing verdicts are settled both ways, and if entries have different numbers of samples,
equal numbers are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.compare.claims import difference_claim
from opencompass_gpassk.compare.comparability import different_measures, set_apart
from opencompass_gpassk.compare.shared_problems import DRAWS, drawn_counts
from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.metrics.bootstrap_intervals import ROUNDING, bootstrap_means
from opencompass_gpassk.metrics.clusters import ClusterSums
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.missing import expected, right_among_missing
from opencompass_gpassk.metrics.paired import (
    claimed_p_value,
    holm,
    rank_intervals,
    settled_test,
)
from opencompass_gpassk.report.board import Benchmark
from opencompass_gpassk.report.cells import WILSON
from opencompass_gpassk.report.page.columns import AVERAGE, GREEDY
from opencompass_gpassk.report.page.problems import PageProblem
from opencompass_gpassk.results.figures import ACCURACY, G_PASS, Figure, result_figures
from opencompass_gpassk.results.groups import headline_problems
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.stored_result import Result

COLUMNS = 400  # pairs compared at once, to save memory
DIGITS = 4
LEVEL = 0.95

Values = NDArray[np.float64]
Integers = NDArray[np.int64]


def compare_entries(
    benchmark: Benchmark, problems: Sequence[PageProblem], contradictory: Collection[int] = ()
) -> dict[str, Any]:
    """Return the difference of every two entries, over the problems that both answered.

    Args:
        benchmark: The benchmark with its entries.
        problems: The problems, and how the entries solved them.
        contradictory: The ids of results that contradict their trials.

    Returns:
        ``metrics``: the names of the compared metrics. ``rows``: lists ``[first, second,
        [[difference, low, high, p, p after Holm's correction, first figure, second figure,
        problems, open, few], …]]``, all over the problems for which both have the figure. The
        difference is the second minus the first, in points, with a 95 % interval for a population
        of such problems. p is NaN if they are not comparable, or the figure is not ranked. ``open``
        is 1 if missing verdicts decide whether it is significant. ``few`` is [clusters that differ,
        clusters] if they differ too seldom, or all alike, to know more, else None. ``ranks``:
        for each metric the [best, worst] rank of each entry that the data allow, None without a
        rank. ``claims``: for each k a sentence on G-Pass@k at τ = 1 of each row, '' if they are not
        tested. ``incomparable``: lists ``[first, second, why]`` of entries that are not comparable.
    """
    headline = headline_problems([one.problem for one in problems])
    shared = [i for i in headline if len(problems[i].solved) > 1]
    asked = [problems[i] for i in shared]
    pairs = np.array(list(combinations(range(len(benchmark.entries)), 2))).reshape(-1, 2)
    clusters = [one.problem.cluster or f'\n{index}' for index, one in enumerate(asked)]
    sampled = _comparable([one.result or None for one in benchmark.entries], contradictory)
    greedy = _comparable([one.greedy for one in benchmark.entries], contradictory)
    names, tested, ranks = [], [], []
    for name, figure, every in _metrics(benchmark, problems):
        estimator = figure.estimator()
        values, counts = every.values(estimator)[:, shared], every.of(shared)
        if (~np.isnan(values)).any(axis=1).sum() > 1:
            names.append(name)
            ranked, apart = greedy if name == GREEDY else sampled
            tests = [figure.family.ranked and pair not in apart for pair in map(tuple, pairs)]
            tested.append(_differences(values, counts, estimator, pairs, clusters, tests))
            of = ranked if figure.family.ranked else ()
            ranks.append(_ranks(values, counts, estimator, clusters, of))
    rows = [[int(a), int(b), [of[i] for of in tested]] for i, (a, b) in enumerate(pairs)]
    labels = [entry.label for entry in benchmark.entries]
    claims = {
        str(k): [
            _claim((labels[a], labels[b]), strictest, row)
            for (a, b), row in zip(pairs, tested[names.index(strictest.key)], strict=True)
        ]
        for k in benchmark.ks
        if (strictest := G_PASS(k=k, tau=1.0)).key in names
    }
    why = {pair: f'greedy: {reason}' for pair, reason in greedy.apart.items()} | sampled.apart
    return {
        'metrics': names,
        'rows': rows if names else [],
        'ranks': ranks,
        'claims': claims,
        'incomparable': [[*pair, one_line(reason)] for pair, reason in why.items()],
    }


def _claim(names: tuple[str, str], figure: Figure, row: Sequence[Any]) -> str:
    difference, low, high, p_value, adjusted, *_, is_open, _ = row
    if math.isnan(p_value):
        return ''
    word = 'open' if is_open else ''
    if adjusted <= 1 - LEVEL:
        word = 'better' if difference > 0 else 'worse'
    return difference_claim(names, figure, word, (difference, low, high), adjusted, LEVEL)


class _Comparable(NamedTuple):
    """Entries that can be compared with one another, and why two can't be."""

    ranked: list[int]
    apart: dict[tuple[int, int], str]


def _comparable(results: Sequence[Result | None], contradictory: Collection[int]) -> _Comparable:
    given = {i: one for i, one in enumerate(results) if one}
    apart = {}
    for (i, one), (j, other) in combinations(given.items(), 2):
        why = different_measures(one, other)
        if {id(one), id(other)} & {*contradictory}:
            why.append('a result contradicts its trials')
        if why:
            apart[i, j] = '; '.join(why)
    settings = zip(given.items(), set_apart(list(given.values())), strict=True)
    ranked = [i for (i, one), other in settings if not other and id(one) not in contradictory]
    return _Comparable(ranked, apart)


@dataclass(frozen=True)
class _Counts:
    """Samples of E entries on P problems, each of shape (E, P); n is 0 without the problem.

    Attributes:
        n: All samples.
        c: Right ones.
        missing: Those without a verdict.
    """

    n: Integers
    c: Integers
    missing: Integers

    @cached_property
    def chances(self) -> list[Values]:
        """For each entry the chance of each number of right ones among the missing verdicts."""
        return [
            right_among_missing(missing, n - missing, c)
            for n, c, missing in zip(self.n, self.c, self.missing, strict=True)
        ]

    def values(self, estimator: Estimator) -> Values:
        """Return the estimates, as expected over the missing verdicts, shape (E, P)."""
        found = [
            expected(estimator, n, c, chances)
            for n, c, chances in zip(self.n, self.c, self.chances, strict=True)
        ]
        return np.where(self.n > self.missing, found, np.nan)

    def of(self, problems: Sequence[int]) -> _Counts:
        """Return the samples on some of the problems."""
        return _Counts(self.n[:, problems], self.c[:, problems], self.missing[:, problems])

    def tested(self, rows: Integers, estimator: Estimator, least: int = 1) -> tuple[Values, Values]:
        """Return estimates from equally many samples, with missing verdicts wrong and right.

        Args:
            rows: Shape (S, …): entries; those along the first axis are compared with one another.
            estimator: Makes estimates from n and c.
            least: An entry with fewer samples of a problem keeps all of them.

        Returns:
            Two arrays of shape (D, S, …, P).
        """
        n, c, missing = self.n[rows], self.c[rows], self.missing[rows]
        fewest = np.where(n >= least, n, n.max(axis=0)).min(axis=0)
        size = np.minimum(n, fewest)
        unequal = (n > size).any()
        ends: tuple[list[Values], list[Values]] = ([], [])
        for draw in range(DRAWS if unequal else 1):
            drawn = c, c + missing
            if unequal:
                rng = np.random.default_rng([*b'drawn counts', draw])
                drawn = drawn_counts(c, missing, n, size, rng)
            for end, right in zip(ends, drawn, strict=True):
                end.append(_estimates(estimator, size, right))
        return np.array(ends[0]), np.array(ends[1])


def _estimates(estimator: Estimator, n: Integers, c: Integers) -> Values:
    found = np.full(n.shape, np.nan)
    found[n > 0] = estimator(n[n > 0], c[n > 0])
    return found


def _differences(
    values: Values,
    counts: _Counts,
    estimator: Estimator,
    pairs: Integers,
    clusters: Sequence[str],
    tests: Sequence[bool],
) -> list[list[Any]]:
    """Return the comparison of each pair of rows of (entries, P) values; no p without a test."""
    alike = np.array([_alike(counts.n[a], counts.n[b]) for a, b in pairs], dtype=bool)
    columns = np.full((8, len(pairs)), np.nan)
    few: list[list[int] | None] = [None] * len(pairs)
    for chosen in (np.flatnonzero(alike), np.flatnonzero(~alike)):  # only the latter are drawn
        for start in range(0, len(chosen), COLUMNS):
            part = chosen[start : start + COLUMNS]
            one, other = values[pairs[part, 0]], values[pairs[part, 1]]
            found = bootstrap_means((other - one).T, clusters, bounds=(-1.0, 1.0))
            low, high = counts.tested(pairs[part].T, estimator)
            least, most = settled_test(low.swapaxes(-1, -2), high.swapaxes(-1, -2), clusters)
            tested = np.array(tests, bool)[part] & ~np.isnan(found.estimate)
            p_value = np.where(tested, claimed_p_value(-found.estimate, least), np.nan)
            favourable = np.where(tested, most.min(axis=0), np.nan)
            sums = ClusterSums.of((other - one).T, clusters)
            differing = (np.abs(sums.totals) > ROUNDING).sum(axis=0)
            for i in np.flatnonzero(np.array(found.method) == WILSON):
                few[part[i]] = [int(differing[i]), int(sums.defined[i])]
            common = ~np.isnan(one + other)
            columns[:, part] = [
                *(100 * found.estimate, 100 * found.low, 100 * found.high),
                *(p_value, _means(one, common), _means(other, common)),
                *(common.sum(axis=1), favourable),
            ]
    adjusted = holm(columns[3])
    is_open = (adjusted > 1 - LEVEL) & (holm(columns[7]) <= 1 - LEVEL)
    rows = np.insert(columns[:7], 4, adjusted, axis=0).T
    return [
        [*(round(float(v), DIGITS) for v in row[:-1]), int(row[-1]), int(decides), seldom]
        for row, decides, seldom in zip(rows, is_open, few, strict=True)
    ]


def _alike(one: Integers, other: Integers) -> bool:
    """Tell whether two entries have equally many samples of each problem that both have."""
    both = (one > 0) & (other > 0)
    return bool((one[both] == other[both]).all())


def _means(values: Values, common: NDArray[np.bool_]) -> Values:
    """Return the mean of each row of (pairs, P) values over the common ones, in percent."""
    counts = common.sum(axis=1)
    sums = np.where(common, values, 0.0).sum(axis=1)
    means: Values = np.full(len(sums), np.nan)
    np.divide(100 * sums, counts, out=means, where=counts > 0)
    return means


def _ranks(
    values: Values,
    counts: _Counts,
    estimator: Estimator,
    clusters: Sequence[str],
    ranked: Collection[int],
) -> list[list[int] | None]:
    """Return the ranks of the ranked rows of (entries, P) values; None for rows without values."""
    known = (~np.isnan(values)).any(axis=1)
    measured = np.array([row for row in np.flatnonzero(known) if row in ranked], dtype=np.int64)
    ranks: list[list[int] | None] = [None] * len(values)
    if len(measured) < 2:
        return ranks
    low, high = counts.tested(measured, estimator, estimator.k)
    found = rank_intervals(low, clusters, high=high)
    for row, interval in zip(measured, found, strict=True):
        ranks[row] = interval.tolist()
    return ranks


def _metrics(
    benchmark: Benchmark, problems: Sequence[PageProblem]
) -> Iterator[tuple[str, Figure, _Counts]]:
    """Yield the name of each metric, its figure, and its samples."""
    sampled, greedy = _counts(benchmark, problems)
    yield GREEDY, ACCURACY(), greedy
    most = max((2, *benchmark.ks))
    for figure in result_figures(Protocol(most, tuple(benchmark.ks), tuple(benchmark.taus))):
        if figure.family.estimator:
            yield AVERAGE if figure.family is ACCURACY else figure.key, figure, sampled


def _counts(benchmark: Benchmark, problems: Sequence[PageProblem]) -> tuple[_Counts, _Counts]:
    """Return the sampled and the greedy responses of each entry to each problem."""
    shape = 3, len(benchmark.entries), len(problems)
    sampled, greedy = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for column, problem in enumerate(problems):
        for row, solved in problem.solved.items():
            own = solved.n + solved.missing, solved.c, solved.missing
            if not benchmark.entries[row].result:
                greedy[:, row, column] = own
                continue
            sampled[:, row, column] = own
            verdicts = [verdict for _, _, verdict, *_ in solved.greedy]
            greedy[:, row, column] = (
                *(len(verdicts), verdicts.count('correct'), verdicts.count('unjudged')),
            )
    return _Counts(*sampled), _Counts(*greedy)
