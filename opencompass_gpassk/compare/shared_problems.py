"""The problems that several models answered, and the models' metrics on them.

Models often find the same problems hard, so on shared problems their difference is known far better
than either metric. Two models are compared on the problems that both answered, with the values that
their metrics average: a missing verdict has its expected value, whatever model it is compared with.
The metrics are unbiased for any number of samples, so models may have different ones; the majority
vote is not, and is left out then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.version_metrics import ratio
from opencompass_gpassk.results.groups import Part, parts_of
from opencompass_gpassk.results.judged_trials import VALIDITY, JudgedTrials
from opencompass_gpassk.results.metric import (
    ACCURACY,
    MAJORITY_VOTE,
    Metric,
    Over,
    result_metrics,
)
from opencompass_gpassk.results.metric_values import MetricValues, cluster_names
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import Problem, TrialTable

Row = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]
T = TypeVar('T')
Protocols = Protocol | Mapping[str, Protocol]


@dataclass(frozen=True)
class Block:
    """Metrics of several models over the same U problems, or questions with all their versions.

    Attributes:
        metrics: M metrics; accuracy has no n if the numbers of samples differ.
        values: Shape (models, U, M): shares in [0, 1] or differences of shares; NaN where
            undefined.
        units: Shape (U,): the index of each problem among all, or of a question's first version.
        weights: Shape (models, U, M): number of responses in each problem's mean, if metrics are
            ratios of sums over responses; None if they are means over units.
    """

    metrics: tuple[Metric, ...]
    values: Row
    units: Integers
    weights: Row | None = None


@dataclass(frozen=True)
class Aligned:
    """The metrics of several models on the problems that they answered.

    Attributes:
        models: The models' names.
        problems: The P problems that any model answered; groups and clusters are those of the first
            that has it.
        places: Shape (models, P): the place of a problem in the model's table, -1 without it.
        tables: Each model's trials.
        clusters: Shape (P,): the number of each problem's cluster, from 0.
        left_out: (problem_id, reason) of every problem that not all models answered.
        parts: Label of a group → its metrics; '' is the headline.
    """

    models: tuple[str, ...]
    problems: tuple[Problem, ...]
    places: Integers
    tables: tuple[TrialTable, ...]
    clusters: Integers
    left_out: tuple[tuple[str, str], ...]
    parts: Mapping[str, tuple[Block, ...]]

    @cached_property
    def counts(self) -> tuple[Integers, Integers, Integers]:
        """Planned, judged and right samples of each problem, each of shape (models, P)."""
        return self._counts([JudgedTrials.recorded(table) for table in self.tables])

    @cached_property
    def decided(self) -> tuple[Integers, Integers, Integers]:
        """The same, but judged are only those with a verdict that somebody gave."""
        return self._counts([JudgedTrials.recorded(table).decided() for table in self.tables])

    def _counts(self, of_models: Sequence[JudgedTrials]) -> tuple[Integers, Integers, Integers]:
        found = np.zeros((3, *self.places.shape), np.int64)
        for row, trials in enumerate(of_models):
            there = self.places[row] >= 0
            for of, counts in zip(found, (trials.n, trials.known, trials.c), strict=True):
                of[row, there] = counts[self.places[row, there]]
        return found[0], found[1], found[2]

    def shared(self, first: int, second: int) -> Integers:
        """Return the indices of the problems that both models answered."""
        return np.flatnonzero((self.places[[first, second]] >= 0).all(axis=0))

    def values(self, group: str, metric: Metric, first: int, second: int) -> tuple[Row, Row]:
        """Return what two models' metric averages over the problems.

        Returns:
            Values and their weights, each of shape (2, P). Weights are 1, or the number of
            responses if the metric is a ratio of sums over these; they are 0 where it is undefined
            for one of them, and where a ratio has no response.
        """
        pair = [first, second]
        block = self._block(group, metric)
        column = block.metrics.index(metric)
        values = block.values[pair, :, column]
        weights = np.repeat(~np.isnan(values).any(axis=0)[None], 2, axis=0).astype(float)
        if block.weights is not None:
            weights = block.weights[pair, :, column]
        found = np.zeros((2, 2, len(self.problems)))
        found[:, :, block.units] = np.where(weights > 0, values, 0.0), weights
        return found[0], found[1]

    def asked(self, group: str, metric: Metric, first: int, second: int) -> Mask:
        """Return which problems of a metric of a group both models were asked, shape (P,)."""
        inside = np.zeros(len(self.problems), bool)
        inside[self._block(group, metric).units] = True
        return inside & (self.places[[first, second]] >= 0).all(axis=0)

    def _block(self, group: str, metric: Metric) -> Block:
        return next(one for one in self.parts[group] if metric in one.metrics)

    def has(self, group: str, metric: Metric) -> bool:
        """Tell whether all models have a metric of a group."""
        return any(metric in one.metrics for one in self.parts.get(group, ()))


def aligned(tables: Mapping[str, TrialTable], protocols: Protocols) -> Aligned:
    """Return the metrics of several models over the problems that they answered.

    Problems are the same if their ids, gold answers and (if known) questions are equal. Metrics
    that some model lacks are left out. If the numbers of samples n differ, accuracy gets no n.

    Args:
        tables: Model → its trials, of one at least.
        protocols: The protocol of all models, or model → its protocol.
    """
    if isinstance(protocols, Protocol):
        protocols = dict.fromkeys(tables, protocols)
    problems, places = _joined(list(tables.values()))
    left_out = _left_out(tables)
    _, clusters = np.unique(cluster_names(problems), return_inverse=True)
    clusters = clusters.reshape(-1).astype(np.int64)
    chosen = _verdicts_or_reasoning(list(tables.values()), [protocols[name] for name in tables])
    several = len({one.n for one in chosen}) > 1
    rows = [
        _values(table, protocol, of, several=several)
        for table, protocol, of in zip(tables.values(), chosen, places, strict=True)
    ]
    parts = {
        label: _blocks(rows, part) for label, part in parts_of(problems, chosen[0].groups).items()
    }
    return Aligned(
        tuple(tables),
        tuple(problems),
        places,
        tuple(tables.values()),
        clusters,
        left_out,
        parts,
    )


def _joined(tables: Sequence[TrialTable]) -> tuple[list[Problem], Integers]:
    """Return the problems of all tables, and the place of each in each table or -1."""
    problems: list[Problem] = []
    known: dict[tuple[str, str], list[int]] = {}
    found: list[dict[int, int]] = []
    for table in tables:
        places = {}
        for place, problem in enumerate(table.problems):
            same = known.setdefault((problem.problem_id, problem.gold), [])
            number = next((i for i in same if _same_question(problems[i], problem)), None)
            if number is None:
                number = len(problems)
                same.append(number)
                problems.append(problem)
            elif not problems[number].question:
                problems[number] = replace(problems[number], question=problem.question)
            places[number] = place
        found.append(places)
    return problems, np.array(
        [[places.get(number, -1) for number in range(len(problems))] for places in found],
        dtype=np.int64,
    ).reshape(len(tables), len(problems))


def _same_question(one: Problem, other: Problem) -> bool:
    questions = {' '.join(of.question.split()) for of in (one, other)} - {''}
    return len(questions) < 2


def _left_out(tables: Mapping[str, TrialTable]) -> tuple[tuple[str, str], ...]:
    known = {name: {one.problem_id: one for one in t.problems} for name, t in tables.items()}
    found = []
    for problem_id in dict.fromkeys(one for problems in known.values() for one in problems):
        lacking = [name for name, problems in known.items() if problem_id not in problems]
        asked = [problems[problem_id] for problems in known.values() if problem_id in problems]
        if lacking:
            found.append((problem_id, f'not in {", ".join(lacking)}'))
        elif len({one.gold for one in asked}) > 1:
            found.append((problem_id, 'another gold answer'))
        elif not all(_same_question(asked[0], one) for one in asked):
            found.append((problem_id, 'another question'))
    return tuple(found)


def _verdicts_or_reasoning(
    tables: Sequence[TrialTable], protocols: Sequence[Protocol]
) -> list[Protocol]:
    """Return protocols that all measure verdicts, or reasoning alone where nobody has verdicts."""
    scored = any(VALIDITY in trial.values for table in tables for trial in table.trials)
    judged = any(table.judged.any() for table in tables) or not scored
    return [replace(one, judged=judged, sound=one.sound if judged else None) for one in protocols]


class _Values(NamedTuple):
    """The values of a model's metrics, at the places of the P problems of all models.

    Attributes:
        problems: Metric → values, shape (P,).
        questions: Metric → (problems that are a question's versions → value).
        reasoning: Metric → means of each problem's responses, and how many these are.
    """

    problems: dict[Metric, Row]
    questions: dict[Metric, dict[tuple[int, ...], float]]
    reasoning: dict[Metric, tuple[Row, Row]]


def _values(table: TrialTable, protocol: Protocol, places: Integers, *, several: bool) -> _Values:
    """Return the values of a model's metrics.

    Args:
        table: The model's trials.
        protocol: What is measured.
        places: Shape (P,): the place of each problem in the table, -1 without it.
        several: Whether the models have several n; then metrics that depend on n are left out.
    """
    trials = JudgedTrials.recorded(table)
    metrics = [
        one.of_n(None) if several and one.family is ACCURACY else one
        for one in result_metrics(protocol, trials.groups.size if trials.groups else None)
        if one.family.compared and not (several and one.family is MAJORITY_VOTE)
    ]
    there = places >= 0
    number = np.full(len(table.problems), -1)
    number[places[there]] = np.flatnonzero(there)
    found = _Values({}, {}, {})
    for over, columns in MetricValues(table, protocol, trials, metrics).columns.items():
        for metric, column in zip(columns.metrics, columns.values.T, strict=True):
            if over is Over.PROBLEMS:
                found.problems[metric] = _spread(column, places)
            elif over is Over.QUESTIONS and trials.groups:
                keys = map(tuple, np.sort(number[trials.groups.members], axis=1).tolist())
                found.questions[metric] = dict(zip(keys, column.tolist(), strict=True))
            elif over is Over.RESPONSES:
                means = _problem_means(column, table.problem_index, len(table.problems))
                mean, count = (_spread(of, places) for of in means)
                found.reasoning[metric] = mean, np.nan_to_num(count)
    return found


def _spread(values: Row, places: Integers) -> Row:
    """Return values at the places of all models' problems; NaN without the problem."""
    return (
        np.where(places >= 0, values[places], np.nan)
        if len(values)
        else np.full(len(places), np.nan)
    )


def _problem_means(values: Row, problem: Integers, size: int) -> tuple[Row, Row]:
    """Return each problem's mean, and the number of responses in it."""
    known = ~np.isnan(values)
    sums = np.bincount(problem[known], weights=values[known], minlength=size)
    counts = np.bincount(problem[known], minlength=size).astype(float)
    return ratio(sums, counts), counts


def _blocks(rows: Sequence[_Values], part: Part) -> tuple[Block, ...]:
    members = np.array(part.members, dtype=np.int64)
    blocks = []
    if metrics := _common([one.problems for one in rows]):
        values = np.array([list(of.values()) for of in metrics])[:, :, members].swapaxes(1, 2)
        blocks.append(Block(tuple(metrics[0]), values, members))
    if part.versions and (asked := _common([one.questions for one in rows])):
        inside = set(part.members)
        keys = [
            key
            for key in dict.fromkeys(key for of in asked for one in of.values() for key in one)
            if inside.issuperset(key)
        ]
        values = np.array(
            [[[one.get(key, np.nan) for one in of.values()] for key in keys] for of in asked]
        ).reshape(len(rows), len(keys), -1)
        first = np.array([key[0] for key in keys], dtype=np.int64)
        blocks.append(Block(tuple(asked[0]), values, first))
    if scored := _common([one.reasoning for one in rows]):
        pairs = np.array([list(of.values()) for of in scored])[..., members]
        values, weights = np.moveaxis(pairs, (2, 3), (0, 2))
        blocks.append(Block(tuple(scored[0]), values, members, weights))
    return tuple(blocks)


def _common(rows: Sequence[Mapping[Metric, T]]) -> list[dict[Metric, T]]:
    """Return what all models have, in the order of the first; [] if that is nothing."""
    metrics = [one for one in rows[0] if all(one in row for row in rows)]
    return [{one: row[one] for one in metrics} for row in rows] if metrics else []
