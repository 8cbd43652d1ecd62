"""What several models reached on the problems that all of them were asked, problem by problem.

Two models find the same problems hard, so that their difference is known far better than either
figure. What only some of them were asked tells nothing about the difference, and is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.columns import Columns
from opencompass_gpassk.groupings import group_members, headline_problems
from opencompass_gpassk.measured import Measured, reasoning_columns
from opencompass_gpassk.metrics.variables import ratio
from opencompass_gpassk.protocol import MAJORITY_VOTE, Protocol, accuracy_key
from opencompass_gpassk.trials import Problem, TrialTable
from opencompass_gpassk.uncertainty import UNBOUNDED
from opencompass_gpassk.version_groups import ORIGINAL

__all__ = ['Aligned', 'Block', 'aligned']

Row = NDArray[np.float64]
Protocols = Protocol | Mapping[str, Protocol]


@dataclass(frozen=True)
class Block:
    """Figures of several models over the same U problems, or groups of versions.

    Attributes:
        names: Of M figures, as in the result.
        values: Shape (models, U, M), shares in [0, 1] or differences of such; NaN where
            undefined.
        clusters: Shape (U,): what shares a number belongs to one question.
    """

    names: tuple[str, ...]
    values: Row
    clusters: NDArray[np.int64]


@dataclass(frozen=True)
class Aligned:
    """What several models reached on the problems that all of them were asked.

    Attributes:
        models: Their names.
        tables: The trials of each, on these problems alone, in the same order.
        left_out: (problem_id, why) of every problem that is not compared.
        parts: Label of a group to its figures; '' is the headline, over all that count.
    """

    models: tuple[str, ...]
    tables: tuple[TrialTable, ...]
    left_out: tuple[tuple[str, str], ...]
    parts: Mapping[str, tuple[Block, ...]]

    @property
    def problems(self) -> list[Problem]:
        """The problems that all were asked, as the first model's table has them."""
        return self.tables[0].problems


def aligned(tables: Mapping[str, TrialTable], protocols: Protocols) -> Aligned:
    """Return the figures of several models over the problems that all of them were asked.

    Problems are the same if their ids, their gold answers and, where both tell it, their questions
    are. Groups and clusters are those of the first table. A figure that not all have is left out;
    where the numbers of samples differ, the accuracy is called ``accuracy``, and majority votes,
    which depend on that number, are left out. What a figure of the reasoning is for a problem is
    the mean over its responses.

    Args:
        tables: Model → its trials.
        protocols: What was measured: of all, or model → its own.

    Raises:
        ValueError: If there is no table, or no problem that all were asked.
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
    chosen = [protocols[name] for name in tables]
    measured = [_Rows(*one) for one in zip(shared, chosen, strict=True)]
    several = len({one.n for one in chosen}) > 1
    problems = shared[0].problems
    headline = headline_problems(problems)
    parts = {'': _blocks(measured, headline, several=several)}
    for label, (_, members) in group_members(problems, chosen[0].groups, headline).items():
        parts[label] = _blocks(measured, members, several=several)
    if len(headline) < len(problems):
        originals = [i for i, one in enumerate(problems) if one.version == ORIGINAL]
        parts[ORIGINAL] = _blocks(measured, originals, several=several, versions=False)
    return Aligned(tuple(tables), tuple(shared), tuple(left_out), parts)


class _Rows:
    """What the figures of a table are means of, a row a problem or a group of versions."""

    def __init__(self, table: TrialTable, protocol: Protocol) -> None:
        self.measured = Measured(table, protocol)
        self.protocol = protocol
        scored = any('validity' in trial.values for trial in table.trials)
        # Reasoning may be scored where nobody judged the answers.
        alone = scored and not table.judged.any()
        self.rows = {} if alone else dict(self.measured.rows)
        if alone or protocol.sound is not None:
            of_trials = reasoning_columns(table, protocol.sound).values
            size = len(table.problems)
            for name, values in of_trials.items():
                self.rows[name] = _problem_means(values, table.problem_index, size)

    def columns(self, members: Sequence[int], *, versions: bool) -> list[Columns]:
        """Return the figures over these problems, and over the groups of their versions."""
        found = [Columns(self.rows, self.measured.clusters).among(members)]
        if versions and self.measured.versions:
            groups = self.measured.versions.within(members)
            rows = groups.rows(self.measured.table, self.protocol)
            found.append(Columns(rows, np.arange(len(groups.members))))
        return found


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
    measured: Sequence[_Rows], members: Sequence[int], *, several: bool, versions: bool = True
) -> tuple[Block, ...]:
    of_models = [one.columns(members, versions=versions) for one in measured]
    blocks = []
    for columns in zip(*of_models, strict=True):
        rows = [
            _named(one.values, rows.protocol.n) if several else one.values
            for one, rows in zip(columns, measured, strict=True)
        ]
        names = tuple(
            name
            for name in rows[0]
            if all(name in row for row in rows) and not name.startswith(UNBOUNDED)
        )
        values = np.stack(
            [_stacked([row[name] for name in names], len(columns[0].clusters)) for row in rows]
        )
        blocks.append(Block(names, values, columns[0].clusters))
    return tuple(blocks)


def _named(values: Mapping[str, Row], n: int) -> dict[str, Row]:
    """Return figures under names that are the same for all n, without those that depend on n."""
    return {
        name.replace(accuracy_key(n), 'accuracy'): row
        for name, row in values.items()
        if name != MAJORITY_VOTE
    }


def _stacked(rows: Sequence[Row], units: int) -> Row:
    return np.stack(rows, axis=1).astype(float) if rows else np.empty((units, 0))


def _problem_means(values: Row, problem: NDArray[np.int64], size: int) -> Row:
    known = ~np.isnan(values)
    sums = np.bincount(problem[known], weights=values[known], minlength=size)
    return ratio(sums, np.bincount(problem[known], minlength=size))
