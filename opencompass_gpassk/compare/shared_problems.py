"""The problems that several models answered, and the models' figures on them.

Models often find the same problems hard, so on shared problems their difference is known far better
than either figure. Problems that only some models answered are left out.

Tests use other values than figures do. Missing verdicts are settled as wrong and as right, since a
claim must hold either way. If models have different numbers of samples, the smallest number is
drawn from each: figures from 16 and from 48 samples are distributed differently, and a permutation
test would detect that. Several draws are made, since with one the p-value would be a lottery.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.paired import swap_residuals
from opencompass_gpassk.metrics.version_figures import ratio
from opencompass_gpassk.results.figure_values import Columns, FigureValues
from opencompass_gpassk.results.figures import (
    ACCURACY,
    MAJORITY_VOTE,
    Counted,
    Figure,
    Over,
    result_figures,
)
from opencompass_gpassk.results.groups import Part, parts_of
from opencompass_gpassk.results.judged_trials import VALIDITY, JudgedTrials
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import Problem, TrialTable


def drawn_down(
    tables: Sequence[TrialTable],
    counted: Callable[[TrialTable], Mask],
    seed: int = 0,
    least: int = 1,
) -> tuple[list[TrialTable], int]:
    """Return tables in which each problem has the same number of counted trials.

    Trials are drawn at random without replacement, so that estimates stay unbiased. Trials that
    don't count are left out.

    Args:
        tables: Trials of the same problems in the same order.
        counted: Table → shape (T,): whether a trial counts.
        seed: Random seed. The draw also depends on the table's place and its trials' replicas.
        least: A table with fewer trials of a problem keeps all of them, and is ignored when the
            smallest number is taken, so that the other tables keep enough.

    Returns:
        The tables, unchanged if the numbers were equal; and the number of problems for which they
        were not.
    """
    masks = [counted(table) for table in tables]
    numbers = np.stack(
        [
            np.bincount(table.problem_index[mask], minlength=len(table.problems))
            for table, mask in zip(tables, masks, strict=True)
        ]
    )
    fewest = np.where(numbers >= least, numbers, numbers.max(axis=0)).min(axis=0)
    unequal = int((numbers > fewest).any(axis=0).sum())
    if not unequal:
        return list(tables), 0
    return [
        _drawn(table, mask, fewest, np.random.default_rng([*b'drawn down', place, seed]))
        for place, (table, mask) in enumerate(zip(tables, masks, strict=True))
    ], unequal


def _drawn(
    table: TrialTable, counted: Mask, numbers: NDArray[np.int64], rng: np.random.Generator
) -> TrialTable:
    there = np.flatnonzero(counted)
    replica = np.array([table.trials[i].replica for i in there], dtype=np.int64)
    # Draw the same trials whatever their order in the file.
    there = there[np.lexsort((replica, table.problem_index[there]))]
    problem = table.problem_index[there]
    order = np.lexsort((rng.random(len(there)), problem))
    there, problem = there[order], problem[order]
    rank = np.arange(len(there)) - np.searchsorted(problem, problem)
    kept = np.sort(there[rank < numbers[problem]])
    return TrialTable(table.problems, [table.trials[i] for i in kept])


def drawn_counts(
    c: NDArray[np.int64],
    missing: NDArray[np.int64],
    n: NDArray[np.int64],
    size: NDArray[np.int64],
    rng: np.random.Generator,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw ``size`` of n samples of each problem, of which only counts are known.

    Args:
        c: Right samples, any shape; all arguments have it.
        missing: Samples without a verdict.
        n: All samples.
        size: Samples to draw, at most n.
        rng: Random numbers.

    Returns:
        Drawn samples that are right, and that are right or without a verdict.
    """
    right = rng.hypergeometric(c, n - c, size)
    return right, right + rng.hypergeometric(missing, n - c - missing, size - right)


Row = NDArray[np.float64]
Protocols = Protocol | Mapping[str, Protocol]
Mask = NDArray[np.bool_]
# The trials that a figure is computed from. For a test all models need the same number of them.
COUNTED: dict[Counted, Callable[[TrialTable], Mask]] = {
    Counted.JUDGED: lambda table: np.ones(len(table.trials), bool),  # missing ones are settled
    Counted.PRESENT: lambda table: ~table.lost,
    Counted.SCORED: lambda table: ~np.isnan(table.values(VALIDITY)),
    Counted.JUDGED_AND_SCORED: lambda table: ~np.isnan(table.values(VALIDITY)),
}
DRAWS = 15  # p-values of so many draws are combined


@dataclass(frozen=True)
class Block:
    """Figures of several models over the same U problems, or groups of versions.

    Attributes:
        figures: M figures; accuracy has no n if the numbers of samples differ.
        values: Shape (models, U, M): shares in [0, 1] or differences of shares; NaN where
            undefined.
        clusters: Shape (U,): a number that versions of one question share.
        tested: Shape (2, D, models, U, M): the values that a sign-flip test compares, with missing
            verdicts wrong and right, in D draws of equal numbers of samples of each problem; for
            ratios, their :func:`~opencompass_gpassk.metrics.paired.swap_residuals`.
        weights: Shape (models, U, M): number of responses in each problem's mean, if figures are
            ratios of sums over responses; None if they are means over units.
    """

    figures: tuple[Figure, ...]
    values: Row
    clusters: NDArray[np.int64]
    tested: Row
    weights: Row | None = None


@dataclass(frozen=True)
class Aligned:
    """The figures of several models on the problems that all of them answered.

    Attributes:
        models: The models' names.
        tables: Each model's trials on these problems, in the same order of problems.
        left_out: (problem_id, reason) of every problem that is not compared.
        parts: Label of a group → its figures; '' is the headline.
        drawn: Kind of responses, such as ``judged`` → number of problems of which the models have
            different numbers of them, so that tests use fewer.
    """

    models: tuple[str, ...]
    tables: tuple[TrialTable, ...]
    left_out: tuple[tuple[str, str], ...]
    parts: Mapping[str, tuple[Block, ...]]
    drawn: Mapping[str, int] = field(default_factory=dict)

    @property
    def problems(self) -> list[Problem]:
        """The problems that all models answered, from the first model's table."""
        return self.tables[0].problems


def aligned(tables: Mapping[str, TrialTable], protocols: Protocols, *, seed: int = 0) -> Aligned:
    """Return the figures of several models over the problems that all of them answered.

    Problems are the same if their ids, gold answers and (if known) questions are equal. Groups and
    clusters are those of the first table. Figures that some model lacks are left out. If the
    numbers of samples n differ, accuracy gets no n, and majority votes are left out since they
    depend on n. If a problem's numbers of counted samples differ, tests use as many of each model
    as the model with the fewest has, in :data:`DRAWS` draws.

    Args:
        tables: Model → its trials.
        protocols: The protocol of all models, or model → its protocol.
        seed: Random seed of the samples drawn for tests.

    Raises:
        ValueError: If there is no table, or no problem that all models answered.
    """
    if not tables:
        raise ValueError('tables is empty; give the trials of one model at least')
    if isinstance(protocols, Protocol):
        protocols = dict.fromkeys(tables, protocols)
    left_out = _left_out(tables)
    shared = _restricted(tables, {problem_id for problem_id, _ in left_out})
    if not shared[0].problems:
        told = f', such as {left_out[0][0]!r}: {left_out[0][1]}' if left_out else ''
        raise ValueError(
            f'{" and ".join(tables)} have no problem in common{told}; compare results of the same '
            'data'
        )
    chosen = _verdicts_or_reasoning(shared, [protocols[name] for name in tables])
    measured = [_Rows(*one) for one in zip(shared, chosen, strict=True)]
    tested, drawn = _tested(measured, seed)
    several = len({one.n for one in chosen}) > 1
    parts = {
        label: _blocks(measured, tested, part, several=several)
        for label, part in parts_of(shared[0].problems, chosen[0].groups).items()
    }
    return Aligned(tuple(tables), tuple(shared), tuple(left_out), parts, drawn)


def _verdicts_or_reasoning(
    tables: Sequence[TrialTable], protocols: Sequence[Protocol]
) -> list[Protocol]:
    """Return protocols that all measure verdicts, or reasoning alone where nobody has verdicts."""
    scored = any(VALIDITY in trial.values for table in tables for trial in table.trials)
    judged = any(table.judged.any() for table in tables) or not scored
    return [replace(one, judged=judged, sound=one.sound if judged else None) for one in protocols]


class _Rows:
    """The values of a model's figures: of problems, of questions, and of its reasoning."""

    def __init__(
        self, table: TrialTable, protocol: Protocol, *, missing: bool | None = None
    ) -> None:
        self.protocol = protocol
        trials = JudgedTrials.recorded(table)
        if missing is not None:  # whether missing verdicts count as right
            trials = trials.settled(correct=missing)
        figures = result_figures(protocol, trials.groups.size if trials.groups else None)
        compared = (one for one in figures if one.family.compared)
        self.values = FigureValues(table, protocol, trials, compared)
        self.reasoning: dict[Figure, tuple[Row, Row]] = {}
        if columns := self.values.columns.get(Over.RESPONSES):
            size = len(table.problems)
            self.reasoning = {
                figure: _problem_means(columns.values[:, i], table.problem_index, size)
                for i, figure in enumerate(columns.figures)
            }

    def columns(self, part: Part) -> dict[Over, Columns]:
        """Return the values of a part's problems, and of the questions with all their versions."""
        found = {columns.figures[0].family.over: columns for columns in self.values.of(part)}
        return {over: found[over] for over in (Over.PROBLEMS, Over.QUESTIONS) if over in found}


# Rows of each model for tests: with missing verdicts wrong and right (once if none is missing),
# in each draw.
Tested = list[list[list[_Rows]]]


def _tested(measured: Sequence[_Rows], seed: int) -> tuple[dict[Counted, Tested], dict[str, int]]:
    """Return the rows for tests by the kind of responses, and how many problems lost samples."""
    tables = [one.values.table for one in measured]
    missing = not all(table.judged.all() for table in tables)
    # With two models a problem counts if both have enough samples; with more, if some pair has.
    least = 1 if len(measured) < 3 else max(max(one.protocol.ks, default=1) for one in measured)
    found: dict[Counted, Tested] = {}
    drawn: dict[str, int] = {}
    for counted, mask in COUNTED.items():
        scored = counted in (Counted.SCORED, Counted.JUDGED_AND_SCORED)
        found[counted] = [[list(measured)]]
        if scored and not any(one.reasoning for one in measured):
            continue
        first, unequal = drawn_down(tables, mask, seed, least)
        draws = [first]
        if unequal:
            drawn[counted.value] = unequal
            draws += [drawn_down(tables, mask, seed + d, least)[0] for d in range(1, DRAWS)]
        if unequal or missing:
            found[counted] = [
                [
                    [
                        _Rows(table, one.protocol, missing=right)
                        for table, one in zip(draw, measured, strict=True)
                    ]
                    for draw in draws
                ]
                for right in ((False, True) if missing else (None,))
            ]
    return found, drawn


def _left_out(tables: Mapping[str, TrialTable]) -> list[tuple[str, str]]:
    known = {name: {one.problem_id: one for one in t.problems} for name, t in tables.items()}
    found = []
    for problem_id in dict.fromkeys(one for problems in known.values() for one in problems):
        lacking = [name for name, problems in known.items() if problem_id not in problems]
        asked = [problems[problem_id] for problems in known.values() if problem_id in problems]
        if lacking:
            found.append((problem_id, f'not in {", ".join(lacking)}'))
        elif len({one.gold for one in asked}) > 1:
            found.append((problem_id, 'another gold answer'))
        elif len({' '.join(one.question.split()) for one in asked if one.question}) > 1:
            found.append((problem_id, 'another question'))
    return found


def _restricted(tables: Mapping[str, TrialTable], without: set[str]) -> list[TrialTable]:
    first = next(iter(tables.values()))
    problems = [one for one in first.problems if one.problem_id not in without]
    return [
        TrialTable(problems, [one for one in table.trials if one.problem_id not in without])
        for table in tables.values()
    ]


def _blocks(
    measured: Sequence[_Rows],
    tested: Mapping[Counted, Tested],
    part: Part,
    *,
    several: bool,
) -> tuple[Block, ...]:
    of_models = [one.columns(part) for one in measured]
    blocks = []
    for over in of_models[0]:
        columns = [one[over] for one in of_models]
        given = [_named(one, several=several) for one in columns]
        common = [one for one in given[0] if all(one in row for row in given)]
        for counted, figures in _by_kind(common):
            rows = [
                [[_named(one.columns(part)[over], several=several) for one in draw] for draw in end]
                for end in tested[counted]
            ]
            flipped = [
                [np.stack([_stacked(row, figures) for row in draw]) for draw in end] for end in rows
            ]
            values = np.stack([_stacked(row, figures) for row in given])
            blocks.append(Block(figures, values, columns[0].clusters, _both_ends(flipped)))
    clusters = measured[0].values.clusters[part.members]
    scored = [one for one in measured[0].reasoning if all(one in r.reasoning for r in measured)]
    for counted, figures in _by_kind(scored):
        values, weights = _reasoning(measured, figures, part.members)
        flipped = [
            [swap_residuals(*_reasoning(draw, figures, part.members)) for draw in end]
            for end in tested[counted]
        ]
        blocks.append(Block(figures, values, clusters, _both_ends(flipped), weights))
    return tuple(blocks)


def _by_kind(figures: Iterable[Figure]) -> Iterable[tuple[Counted, tuple[Figure, ...]]]:
    """Return the figures by the kind of responses that they count: these have the same draws."""
    kinds: dict[Counted, tuple[Figure, ...]] = {}
    for figure in figures:
        kinds[figure.counted] = (*kinds.get(figure.counted, ()), figure)
    return kinds.items()


def _reasoning(
    rows: Sequence[_Rows], figures: Sequence[Figure], members: Sequence[int]
) -> tuple[Row, Row]:
    """Return means over the responses of each problem, and their numbers: (models, U, M) each."""
    found = np.array([[one.reasoning[figure] for figure in figures] for one in rows])
    values, weights = np.moveaxis(found[..., list(members)], (2, 3), (0, 2))
    return values, weights


def _both_ends(values: Sequence[Sequence[Row]]) -> Row:
    """Return values of shape (2, D, models, U, M), also if both settlements are given as one."""
    found = np.array(values, dtype=float)
    return np.broadcast_to(found, (2, *found.shape[1:]))


def _named(columns: Columns, *, several: bool) -> dict[Figure, Row]:
    """Return the values of each figure; with several n, without figures that depend on n."""
    return {
        figure.of_n(None) if several and figure.family is ACCURACY else figure: columns.values[:, i]
        for i, figure in enumerate(columns.figures)
        if not several or figure.family is not MAJORITY_VOTE
    }


def _stacked(rows: Mapping[Figure, Row], figures: Sequence[Figure]) -> Row:
    return np.stack([rows[one] for one in figures], axis=1).astype(float)


def _problem_means(values: Row, problem: NDArray[np.int64], size: int) -> tuple[Row, Row]:
    """Return each problem's mean, and the number of responses in it."""
    known = ~np.isnan(values)
    sums = np.bincount(problem[known], weights=values[known], minlength=size)
    counts = np.bincount(problem[known], minlength=size).astype(float)
    return ratio(sums, counts), counts
