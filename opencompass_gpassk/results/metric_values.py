"""The values that each metric averages, computed once per table, and their means over any group.

The metrics, breakdowns, intervals and bounds of a result are computed from these arrays.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.clusters import ClusterSums
from opencompass_gpassk.results.groups import Part, headline_problems, in_group, parts_of
from opencompass_gpassk.results.judged_trials import JudgedTrials
from opencompass_gpassk.results.metric import Metric, Over, Side, result_metrics
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import Problem, TrialTable

ROUNDING = 1e-9  # percent

Row = NDArray[np.float64]


@dataclass(frozen=True)
class Columns:
    """The values of M metrics that average the same U problems, questions or responses.

    Attributes:
        metrics: The M metrics.
        values: Shape (U, M): shares in [0, 1], or differences of shares; NaN where undefined.
        clusters: Shape (U,): the cluster of each; members of one cluster are not independent.
        weights: Shape (U,): the weight of each, at least 0; None if all are equal.
    """

    metrics: tuple[Metric, ...]
    values: Row
    clusters: NDArray[np.int64]
    weights: Row | None = None

    def among(self, units: NDArray[np.int64]) -> Columns:
        """Return the columns of some of the problems, questions or responses."""
        weights = None if self.weights is None else self.weights[units]
        return Columns(self.metrics, self.values[units], self.clusters[units], weights)

    def percentages(self) -> dict[str, float]:
        """Return the metrics by key, in percent."""
        return {
            metric.key: percent(self.values[:, i], self.weights)
            for i, metric in enumerate(self.metrics)
        }

    def questions(self) -> dict[str, int]:
        """Return how many clusters each metric rests on, by key."""
        defined = ClusterSums.of(self.values, self.clusters, self.weights).defined
        keys = (metric.key for metric in self.metrics)
        return dict(zip(keys, defined.tolist(), strict=True))


def percent(values: Row, weights: Row | None = None) -> float:
    """Return the mean of the defined values in percent; NaN if there are none.

    Args:
        values: Shape (U,), NaN where undefined.
        weights: Shape (U,), at least 0; None if all are equal.
    """
    known = ~np.isnan(values)
    weight = np.ones(len(values)) if weights is None else weights
    total = weight[known].sum()
    mean = float(100.0 * (weight[known] @ values[known]) / total) if total > 0 else math.nan
    return 0.0 if abs(mean) < ROUNDING else mean  # a difference of 0 may be rounded to 1e-17


def problem_clusters(table: TrialTable) -> NDArray[np.int64]:
    """Return the cluster of each problem, shape (P,); versions of a question share one."""
    names = cluster_names(table.problems)
    return np.unique(names, return_inverse=True)[1].reshape(-1).astype(np.int64)


def cluster_names(problems: Iterable[Problem]) -> list[str]:
    """Return a name of each problem's cluster."""
    # The prefixes keep a cluster apart from a problem of the same name.
    return [
        f'cluster {one.cluster}' if one.cluster else f'problem {one.problem_id}' for one in problems
    ]


class MetricValues:
    """The values that a table's metrics average, under one assignment of verdicts.

    Args:
        table: The trials.
        protocol: The protocol of the measurement.
        trials: The trials with assigned verdicts; by default the recorded ones.
        metrics: The metrics to compute; by default all metrics of a result.
    """

    def __init__(
        self,
        table: TrialTable,
        protocol: Protocol,
        trials: JudgedTrials | None = None,
        metrics: Iterable[Metric] | None = None,
    ) -> None:
        self.table = table
        self.protocol = protocol
        self.trials = trials or JudgedTrials.recorded(table)
        groups = self.trials.groups
        if metrics is None:
            metrics = result_metrics(protocol, groups.size if groups else None)
        self.clusters = problem_clusters(table)
        self.columns = self._columns(metrics)

    @cached_property
    def parts(self) -> dict[str, Part]:
        """The sets of problems that have metrics: the headline, its groups, the originals."""
        return parts_of(self.table.problems, self.protocol.groups)

    def of(self, part: Part) -> list[Columns]:
        """Return the columns of a part's problems, questions and responses."""
        members = np.array(part.members, dtype=np.int64)
        found = []
        for over, columns in self.columns.items():
            if over is Over.PROBLEMS:
                found.append(columns.among(members))
            elif over is Over.RESPONSES:
                of_part = np.isin(self.table.problem_index, members)
                found.append(columns.among(np.flatnonzero(of_part)))
            elif part.versions and self.trials.groups:
                found.append(columns.among(self.trials.groups.within(part.members)))
        return found

    def means(self, part: Part) -> dict[str, float]:
        """Return the metrics of a part by key, in percent."""
        found: dict[str, float] = {}
        for columns in self.of(part):
            found |= columns.percentages()
        return found

    def questions(self) -> dict[str, int]:
        """Return how many independent questions each metric rests on, those of groups included."""
        return {
            in_group(label, key): number
            for label, part in self.parts.items()
            for columns in self.of(part)
            for key, number in columns.questions().items()
        }

    def undefined(self, metric: Metric, units: Sequence[int] | None = None) -> int:
        """Count the units (problems, questions or responses; default all) where it is undefined."""
        columns = self.columns[metric.family.over]
        values = columns.values[:, columns.metrics.index(metric)]
        return int(np.isnan(values if units is None else values[units]).sum())

    def _columns(self, metrics: Iterable[Metric]) -> dict[Over, Columns]:
        by_units: dict[Over, list[Metric]] = {}
        for metric in metrics:
            by_units.setdefault(metric.family.over, []).append(metric)
        found = {}
        # Translations of a question are groups of one cluster.
        groups = self.trials.groups
        of_groups = self.clusters[groups.members[:, 0]] if groups else self.clusters
        for over, chosen in by_units.items():
            values: list[Row] = []
            weights: Row | None = None
            for metric in chosen:
                of_metric = self._values(metric)
                if isinstance(of_metric, tuple):
                    of_metric, weights = of_metric
                values.append(of_metric)
            clusters = {
                Over.PROBLEMS: self.clusters,
                Over.RESPONSES: self.clusters[self.table.problem_index],
            }.get(over, of_groups)
            stacked = np.stack(values, axis=1).astype(float)
            found[over] = Columns(tuple(chosen), stacked, clusters, weights)
        return found

    def _values(self, metric: Metric) -> Row | tuple[Row, Row]:
        values = metric.family.values(self.assignment(metric.side), metric, self.protocol)
        if metric.side is Side.DROP:
            return values - self._values(metric.on(Side.SOUND))  # type: ignore[operator]  # values of problems have no weights
        return values

    def assignment(self, side: Side) -> JudgedTrials:
        """Return the trials for sound metrics, or for plain metrics and the plain side of drops."""
        return self.sound if side is Side.SOUND else self.trials

    @cached_property
    def sound(self) -> JudgedTrials:
        """The trials in which a right one counts only with valid reasoning."""
        return self.trials.sound(self.protocol.sound or 0.0)


def bounds(recorded: MetricValues) -> dict[str, list[float]]:
    """Return each metric's value if all open responses are wrong, and if all are right.

    Open are unjudged and lost responses, and those that nobody decided and that count as wrong
    (``trials.OPEN``). A metric that never falls with c lies between the two, whatever verdicts they
    would get. Other metrics have no bounds: the majority vote depends on which answers are
    equivalent, and OOR falls when a version turns right. For sound metrics, a response is open if
    it is unknown whether its answer is right and its reasoning valid. A problem or question that
    the metric leaves out, since nobody judged it, counts as 0, and as the most that is possible.

    Returns:
        Key of the metric → [lowest, highest] in percent, NaN where undefined; empty if no response
        is open.
    """
    protocol, trials = recorded.protocol, recorded.trials.decided()
    found: dict[str, list[float]] = {}
    if not trials.judged.all():
        found |= _ends(recorded, trials, Side.PLAIN)
    if protocol.sound is not None:
        sound = trials.sound(protocol.sound)
        if not sound.judged.all():
            found |= _ends(recorded, sound, Side.SOUND)
    return found


def _ends(recorded: MetricValues, trials: JudgedTrials, side: Side) -> Mapping[str, list[float]]:
    found: dict[str, list[float]] = {}
    headline = Part(headline_problems(recorded.table.problems), {})
    for of in recorded.of(headline):
        chosen = [i for i, one in enumerate(of.metrics) if one.side is side and one.family.bounded]
        metrics = [of.metrics[i] for i in chosen]
        if not metrics:
            continue
        undefined = np.isnan(of.values[:, chosen])
        for correct in (False, True):
            plain = [one.on(Side.PLAIN) for one in metrics]
            settled = MetricValues(
                recorded.table, recorded.protocol, trials.settled(correct=correct), plain
            )
            (ends,) = settled.of(headline)
            extreme = [one.most * correct for one in metrics]
            values = np.where(undefined & ~np.isnan(ends.values), extreme, ends.values)
            for one, column in zip(metrics, values.T, strict=True):
                found.setdefault(one.key, []).append(percent(column))
    return found
