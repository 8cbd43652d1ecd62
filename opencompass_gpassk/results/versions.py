"""Questions that were asked in several versions (RV-Bench, arXiv 2501.11790), and their figures.

A group is a question with its original and m versions with other numbers. The figures of
:mod:`opencompass_gpassk.results.figures` are over the versions alone; those here relate the
versions of a group to one another and to its original.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics import understanding, variables
from opencompass_gpassk.metrics.variables import ratio
from opencompass_gpassk.results.columns import Columns
from opencompass_gpassk.trials import ORIGINAL

if TYPE_CHECKING:
    from opencompass_gpassk.results.protocol import Protocol
    from opencompass_gpassk.trials import Problem, TrialTable

__all__ = [
    'DROP',
    'SP_ACCURACY',
    'UNDERSTANDING',
    'UNDERSTANDING_SCORE',
    'VersionGroups',
    'find_groups',
    'monotone',
]

SP_ACCURACY = 'SP accuracy'
DROP = 'SP-RV drop'
UNDERSTANDING = {f'{share} understanding': share for share in ('complete', 'partial', 'collapsed')}
UNDERSTANDING_SCORE = 'understanding score'
# What is sure to grow when wrong responses turn right.
GROWING = (SP_ACCURACY, 'GA@', 'CR', 'G-Pass over', 'pooled G-Pass@')

Counts = NDArray[np.int64]
GroupCounts = tuple[Counts, Counts, Counts, Counts]


@dataclass(frozen=True)
class VersionGroups:
    """G groups of m versions among the P problems of a table.

    Attributes:
        members: Shape (G, m): the problems that are versions of each group's question.
        originals: Shape (G,): the problem that is its original, -1 where there is none.
        incomplete: Groups that lack versions, as where a part of the rows was asked; left out.
    """

    members: Counts
    originals: Counts
    incomplete: int = 0

    @property
    def size(self) -> int:
        """The versions of a group, m."""
        return self.members.shape[1]

    def within(self, problems: Sequence[int]) -> VersionGroups:
        """Return the groups whose versions are among these problems."""
        chosen = np.isin(self.members, problems).all(axis=1)
        return dataclasses.replace(
            self, members=self.members[chosen], originals=self.originals[chosen]
        )

    def rows(self, table: TrialTable, protocol: Protocol) -> dict[str, NDArray[np.float64]]:
        """Return what has a value in each group: name to shape (G,), in [0, 1] or NaN.

        With several samples these are unbiased estimates of what one sample of each problem
        gives; variances may fall slightly below 0.
        """
        n, c, original_n, original_c = self._counts(table)
        m = self.size
        original = variables.accuracy(original_n[:, None], original_c[:, None])
        rows = {
            f'GA@{m}': variables.group_accuracy(n, c),
            'CR': understanding.complete_ratio(n, c, original_n, original_c, protocol.complete),
            'OOR': understanding.original_only_ratio(
                n, c, original_n, original_c, protocol.collapsed
            ),
            SP_ACCURACY: original,
            DROP: original - variables.accuracy(n, c),
        }
        for tau in map(float, protocol.taus):
            rows[f'G-Pass over {m} versions_{tau}'] = variables.g_pass_over_versions(n, c, tau)
        if protocol.n > 1:
            for tau in map(float, protocol.taus):
                rows[f'pooled G-Pass@{m}_{tau}'] = variables.pooled_g_pass(n, c, m, tau)
            variance = variables.variance_split(n, c)
            rows['variance between versions'] = variance.between
            rows['variance between samples'] = variance.within
        return rows

    def excluded(self, table: TrialTable, protocol: Protocol) -> dict[str, int]:
        """Count the groups that are left out of each headline figure, which is undefined there."""
        rows = self.rows(table, protocol)
        names = (f'GA@{self.size}', 'CR', 'OOR', SP_ACCURACY)
        return {name: int(np.isnan(rows[name]).sum()) for name in names}

    def understanding(self, table: TrialTable, protocol: Protocol) -> Columns:
        """Return how each question is understood whose original is right, and how often it is.

        Values are shares of its versions or chances, given that the original is right, and weights
        the chance of that: weighted means are the shares among questions with a right original
        (:class:`~.metrics.understanding.Understanding`).
        """
        joint = understanding.understanding(
            *self._counts(table), protocol.complete, protocol.collapsed
        )
        known = ~np.isnan(joint.complete)
        weights = np.where(known, joint.original, 0.0)
        rows = {name: getattr(joint, share) for name, share in UNDERSTANDING.items()}
        rows[UNDERSTANDING_SCORE] = joint.score / self.size
        return Columns(
            {name: ratio(np.where(known, row, 0.0), weights) for name, row in rows.items()},
            np.arange(len(self.members)),
            weights,
        )

    def _counts(self, table: TrialTable) -> GroupCounts:
        """Return n and c of the versions, then of the originals; 0 where there is none."""
        n, c = table.counts()
        there = self.originals >= 0
        return (
            n[self.members],
            c[self.members],
            np.where(there, n[self.originals], 0),
            np.where(there, c[self.originals], 0),
        )


def find_groups(problems: Sequence[Problem]) -> VersionGroups | None:
    """Return the groups among problems, None if no question has two versions.

    m is that of the largest group.

    Raises:
        ValueError: If a group has a version or its original twice.
    """
    members: dict[str, list[int]] = {}
    originals: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    for index, problem in enumerate(problems):
        if problem.version and (problem.cluster, problem.version) in seen:
            raise ValueError(
                f'problem_id {problem.problem_id!r}: question {problem.cluster!r} has version '
                f'{problem.version!r} twice; number the versions of a question'
            )
        seen.add((problem.cluster, problem.version))
        if problem.version == ORIGINAL:
            originals[problem.cluster] = index
        elif problem.version:
            members.setdefault(problem.cluster, []).append(index)
    size = max(map(len, members.values()), default=0)
    if size < 2:
        return None
    whole = {name: indices for name, indices in members.items() if len(indices) == size}
    return VersionGroups(
        np.array(list(whole.values()), dtype=np.int64),
        np.array([originals.get(name, -1) for name in whole], dtype=np.int64),
        len(members) - len(whole),
    )


def monotone(name: str) -> bool:
    """Tell whether a figure of versions can only grow when wrong responses turn right."""
    return name.startswith(GROWING)
