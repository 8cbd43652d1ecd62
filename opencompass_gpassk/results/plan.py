"""Expected metrics and intervals of further runs, from a pilot's trials or assumed rates."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.metrics.fixed_problems import within_problem_variance
from opencompass_gpassk.metrics.rate_distribution import Rates
from opencompass_gpassk.metrics.sample_size import (
    ADVISED,
    MOST_SAMPLES,
    Plan,
    design_effect,
    pilot_rates,
    plan,
)
from opencompass_gpassk.results.groups import headline_problems
from opencompass_gpassk.results.metric import ACCURACY, G_PASS, MG_PASS, Metric, parse_metric
from opencompass_gpassk.results.metric_intervals import ESTIMAND
from opencompass_gpassk.results.metric_values import problem_clusters
from opencompass_gpassk.trials import TrialTable

DEFAULT_K = 16
PROBLEMS = (45, 119, 238, 500, 1000)
NEGLIGIBLE = 0.1  # share of the variance from sampling; more samples hardly help then
TARGET = re.compile(r'(?P<metric>.+?)\s*(?:±|\+/?-)\s*(?P<half>\d+(?:\.\d+)?)')
# The greatest multiple of k, and how many n, in a search for the cheapest.
MOST_TRIED, TRIED = 16, 40
LEAST = 2  # judged samples that some problem of a pilot needs
MULTIPLES = (1, 2, 3, 4, 6, 8)  # multiples of k, as default n
MOST = {'k': 1024, 'n': 4096}  # larger tables take long, and nobody draws so many samples


class Target(NamedTuple):
    """A metric that is to be known to within so many points, half the width of its interval."""

    metric: Metric
    half: float

    @classmethod
    def of(cls, text: str) -> Target:
        """Return the target that a text such as ``G-Pass@8_1.0 ±2`` names.

        Raises:
            ValueError: If it names none.
        """
        found = TARGET.fullmatch(text.strip())
        if not found or not 0 < float(found['half']) < 50:
            raise ValueError(
                f'--target is {text!r}; write a metric and half the width of its interval in '
                'points, such as "G-Pass@8_1.0 ±2"'
            )
        metric = parse_metric(found['metric'])
        if metric.family.estimator is None:
            raise ValueError(
                f'--target {metric.heading}: it is not computed from n and c of each problem; take '
                'G-Pass@k, mG-Pass@k, pass@k or accuracy'
            )
        return cls(metric.of_n(None) if metric.family is ACCURACY else metric, float(found['half']))


@dataclass(frozen=True)
class Grid:
    """The settings of a plan.

    Args:
        k: The k of G-Pass@k; None for the pilot's greatest, or 16.
        taus: Thresholds of G-Pass@k.
        n: Numbers of samples of each problem; None for multiples of k.
        problems: Numbers of problems.
        level: Confidence level of the intervals.
        target: The only metric that is planned for, and how well it is to be known.

    Raises:
        ValueError: If a setting is out of its range.
    """

    k: int | None
    taus: tuple[float, ...]
    n: Sequence[int] | None
    problems: Sequence[int]
    level: float
    target: Target | None = None

    def __post_init__(self) -> None:
        for name, numbers in (('k', [self.k]), ('n', self.n or [])):
            for number in numbers:
                if number is not None and not 1 <= number <= MOST[name]:
                    raise ValueError(f'{name} is {number}; choose from 1 to {MOST[name]}')
        for number in self.problems:
            if number < 1:
                raise ValueError(f'problems is {number}; choose at least 1')
        if not 0 < self.level < 1:
            raise ValueError(f'level is {self.level:g}; choose one between 0 and 1, such as 0.95')

    def metrics(self, k: int) -> list[Metric]:
        """Return the metrics that are planned for."""
        if self.target:
            return [self.target.metric]
        passes = [G_PASS(k=k, tau=tau) for tau in dict.fromkeys(self.taus)]
        return [ACCURACY(), *passes, MG_PASS(k=k)]

    def samples(self, k: int) -> list[int]:
        """Return the numbers of samples n, one for each row of the table.

        Raises:
            ValueError: If an n is less than k.
        """
        numbers = [k * multiple for multiple in MULTIPLES] if self.n is None else self.n
        if short := [n for n in numbers if n < k]:
            raise ValueError(
                f'n is {short[0]}, but k is {k}, and k of n samples are drawn; choose a -n of at '
                f'least {k}, or a smaller -k'
            )
        return sorted(set(numbers))


@dataclass(frozen=True)
class Outlook:
    """The plan of one metric, and its settings.

    Attributes:
        metric: The metric.
        plan: The expected metric and its variances.
        grid: The settings of the plan.
        k: The k of the plan's G-Pass@k.
        source: Where the rates come from, in words.
        observed: The pilot's metric; None without a pilot.
        design: Factor by which clusters raise the variance between problems; None without any.
    """

    metric: Metric
    plan: Plan
    grid: Grid
    k: int
    source: str
    observed: float | None = None
    design: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the outlook for JSON: shares in [0, 1], None where undefined or unlimited."""
        plan, grid = self.plan, self.grid
        rows = [self._row(n) for n in [*grid.samples(self.k), None]]
        advised = ADVISED * self.k
        found: dict[str, Any] = {
            'metric': self.metric.key,
            'source': self.source,
            'k': plan.estimator.k,
            'mean': plan.mean,
            'observed': self.observed,
            'between': plan.between,
            'design': self.design,
            'level': grid.level,
            'of': ESTIMAND,
            'problems': list(grid.problems),
            'rows': rows,
            'negligible': NEGLIGIBLE,
            'enough': plan.enough_samples(NEGLIGIBLE),
            'most': MOST_SAMPLES,
            'advised': {'n': advised, 'within_share': plan.within_share(advised)},
        }
        return {name: without_nan(value) for name, value in found.items()}

    def costs(self, half: float) -> list[tuple[int, int]]:
        """Return how many problems are needed for an interval of a width, with each of several n.

        Args:
            half: Half the width in points.

        Returns:
            (n, problems), n ascending: those of the grid, and the one that needs the fewest
            responses; [] if no number of problems is enough.
        """
        fewest = self.plan.estimator.k
        tried = np.geomspace(fewest, MOST_TRIED * fewest, TRIED).round().astype(int).tolist()
        asked = [n for n in self.grid.samples(self.k) if n >= fewest]
        needs = {
            n: problems
            for n in sorted({*tried, *asked})
            if (problems := self.plan.problems_for(n, half / 100, self.grid.level))
        }
        cheapest = min(needs, key=lambda n: (n * needs[n], n), default=None)
        return [(n, problems) for n, problems in needs.items() if n == cheapest or n in asked]

    def _row(self, n: int | None) -> dict[str, Any]:
        plan, grid = self.plan, self.grid
        return {
            'n': n,
            'within': 0.0 if n is None else plan.within(n),
            'within_share': 0.0 if n is None else plan.within_share(n),
            'intervals': [plan.interval(n, number, grid.level) for number in grid.problems],
        }


def assumed(grid: Grid, mean: float | None, spread: float | None) -> list[Outlook]:
    """Return the outlook of each metric, if the rates have an assumed Beta distribution.

    Args:
        grid: The settings of the plan.
        mean: Mean of the rates.
        spread: Standard deviation of the rates.

    Raises:
        ValueError: If one is missing, or no Beta distribution has both.
    """
    if mean is None or spread is None:
        raise ValueError(
            'the rates of the problems are missing: name a pilot run, or give --mean and --spread'
        )
    rates = Rates.with_spread(mean, spread)
    source = f'rates of mean {mean:g} and standard deviation {spread:g}'
    k = DEFAULT_K if grid.k is None else grid.k
    return [Outlook(one, plan(one.estimator(), rates), grid, k, source) for one in grid.metrics(k)]


@dataclass(frozen=True)
class Pilot:
    """A pilot's counts for P problems.

    Attributes:
        name: The pilot's name, for readers.
        n: Shape (P,): judged responses to each problem.
        c: Shape (P,): right responses to each problem.
        clusters: Shape (P,): a number that versions of one question share.
        k: The greatest k of the pilot's result, 16 if it has none.
        drawn: The greatest number of responses to a problem, judged or not.
        tokens: Mean length of a response in tokens; None if it is unknown.
    """

    name: str
    n: NDArray[np.int64]
    c: NDArray[np.int64]
    clusters: NDArray[np.int64]
    k: int
    drawn: int
    tokens: float | None = None


class SingleResponsesError(ValueError):
    """A file holds one response of each problem, as greedy decoding gives it: it is no pilot."""


def pilot(table: TrialTable, name: str, ks: object = None) -> Pilot:
    """Return a pilot's counts.

    Originals of versions are left out, as in the headline metrics.

    Args:
        table: The trials.
        name: The pilot's name, for readers.
        ks: The k of its result, which may be anything.

    Raises:
        ValueError: If no problem has two judged trials; it is SingleResponsesError if none has two
            trials.
    """
    n, c, clusters = _headline(table)
    if not n.any():
        raise ValueError('it has no judged trial; score the run first')
    if n.max() < LEAST:
        kind = SingleResponsesError if len(table) <= len(table.problems) else ValueError
        raise kind(
            "one judged response of each problem can't separate rates from chance; take a "
            f'pilot of n = {LEAST} or more'
        )
    lengths = [one.num_tokens for one in table.trials if one.num_tokens is not None]
    tokens = sum(lengths) / len(lengths) if lengths else None
    drawn = int(np.bincount(table.problem_index).max())
    return Pilot(name, n, c, clusters, max(_ks(ks), default=DEFAULT_K), drawn, tokens)


def from_pilot(pilot: Pilot, grid: Grid) -> Iterator[Outlook]:
    """Yield the outlook of each metric from a pilot."""
    n, c, clusters = pilot.n, pilot.c, pilot.clusters
    k = pilot.k if grid.k is None else grid.k
    rates = pilot_rates(n, c)
    source = f'{pilot.name}: {len(n)} problems, n = {n.max()}'
    if n.max() < k:
        source += f' < k = {k}, so metrics come from a fitted distribution of rates'
    groups = len(np.unique(clusters))
    if groups < len(n):
        source += f', {groups} clusters'
    for metric in grid.metrics(k):
        values = metric.estimator()(n, c)
        found, design = _expected(metric, values, rates, n, c, clusters)
        seen = ~np.isnan(values)
        observed = float(values[seen].mean()) if seen.any() else None
        yield Outlook(metric, found, grid, k, source, observed, design)


def _headline(table: TrialTable) -> tuple[NDArray[np.int64], ...]:
    """Return n, c and cluster of the problems of the headline."""
    headline = np.array(headline_problems(table.problems), dtype=np.int64)
    n, c = table.counts()
    return n[headline], c[headline], problem_clusters(table)[headline]


def _expected(
    metric: Metric,
    values: NDArray[np.float64],
    rates: Rates,
    n: NDArray[np.int64],
    c: NDArray[np.int64],
    clusters: NDArray[np.int64],
) -> tuple[Plan, float | None]:
    """Return the plan of a metric, and the design effect; None if each problem is a cluster.

    Args:
        metric: The metric.
        values: Its values for the pilot's problems.
        rates: The distribution of the problems' rates.
        n: Judged responses to each problem.
        c: Right responses to each problem.
        clusters: A number that versions of one question share.
    """
    estimator = metric.estimator()
    seen = ~np.isnan(values)
    design = None
    if len(np.unique(clusters)) < len(n) and seen.any():
        within = float(within_problem_variance(estimator, n[seen], c[seen]).mean())
        design = design_effect(estimator, n, c, clusters, within)
    return plan(estimator, rates, 1.0 if design is None else design), design


def sampling_shares(table: TrialTable, ks: Sequence[int]) -> dict[str, float]:
    """Return how much of the variance of the main metrics comes from sampling, in percent, by key.

    The rest comes from the choice of problems. Metrics that don't vary are left out.

    Args:
        table: The trials.
        ks: The k of G-Pass@k at τ = 1; the accuracy is added.
    """
    n, c, clusters = _headline(table)
    if n.max(initial=0) < LEAST:
        return {}
    rates = pilot_rates(n, c)
    shares = {}
    for metric in (ACCURACY(), *(G_PASS(k=k, tau=1.0) for k in ks)):
        values = metric.estimator()(n, c)
        if len({*values[~np.isnan(values)].tolist()}) > 1:  # else the prior alone would speak
            found, _ = _expected(metric, values, rates, n, c, clusters)
            shares[metric.key] = 100 * found.within_share(int(n.max()))
    return shares


def _ks(ks: object) -> list[int]:
    return (
        [k for k in ks if isinstance(k, int) and 1 <= k <= MOST['k']]
        if isinstance(ks, list)
        else []
    )
