"""The problems that a metric averages over: the headline's, groups of a breakdown, and versions.

RV-Bench (arXiv 2501.11790) asks each question in m versions, with other numbers. A group of
versions contains their problems, and the problem of the original question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.trials import ORIGINAL, Problem


@dataclass(frozen=True)
class Part:
    """A set of problems that metrics average over.

    Attributes:
        members: Indices of the problems.
        fields: The group fields that they share, with their values; empty for the headline.
        versions: Whether metrics that compare the versions of a question are reported too.
    """

    members: list[int]
    fields: dict[str, str]
    versions: bool = True


def parts_of(problems: Sequence[Problem], groupings: Sequence[Sequence[str]]) -> dict[str, Part]:
    """Return label → problems for each set that has metrics: the headline '', its groups, and the
    originals.

    Args:
        problems: P problems.
        groupings: Breakdowns of the headline; each is a list of group fields.
    """
    headline = headline_problems(problems)
    parts = {'': Part(headline, {})}
    for label, (fields, members) in group_members(problems, groupings, headline).items():
        parts[label] = Part(members, fields)
    if len(headline) < len(problems):
        originals = [i for i, one in enumerate(problems) if one.version == ORIGINAL]
        parts[ORIGINAL] = Part(originals, {'version': ORIGINAL}, versions=False)
    return parts


def in_group(label: str, key: str) -> str:
    """Return the key of a group's metric in a result; '' is the label of the headline."""
    return f'{label}/{key}' if label else key


def headline_problems(problems: Sequence[Problem]) -> list[int]:
    """Return the problems of the headline metrics: all but the originals of versions."""
    others = [i for i, problem in enumerate(problems) if problem.version != ORIGINAL]
    return others or list(range(len(problems)))


def group_members(
    problems: Sequence[Problem],
    groupings: Sequence[Sequence[str]],
    among: Sequence[int] | None = None,
) -> dict[str, tuple[dict[str, str], list[int]]]:
    """Return label → (field values, indices of the problems) for every group.

    Only problems in ``among`` are grouped. A grouping that leaves the problems in one group, or
    splits them as an earlier one does, is left out.
    """
    among = range(len(problems)) if among is None else among
    result: dict[str, tuple[dict[str, str], list[int]]] = {}
    partitions: list[set[tuple[int, ...]]] = []
    for grouping in groupings:
        members: dict[tuple[str, ...], list[int]] = {}
        for index in among:
            values = tuple(problems[index].groups.get(name, '') for name in grouping)
            if all(values):
                members.setdefault(values, []).append(index)
        partition = {tuple(indices) for indices in members.values()}
        if partition in partitions or partition == {tuple(among)}:
            continue
        partitions.append(partition)
        for values, indices in members.items():
            label = '-'.join(map(_label, grouping, values))
            if label in result:
                label = f'{"-".join(grouping)} {label}'
            result[label] = (dict(zip(grouping, values, strict=True)), indices)
    return result


def _label(name: str, value: str) -> str:
    # A bare '5' needs the name; 'Level 5' doesn't.
    return f'level {value}' if name == 'level' and value[:1].isdigit() else value


Counts = NDArray[np.int64]


class VersionCounts(NamedTuple):
    """Judged and right samples of G groups of m versions, and of their originals.

    Attributes:
        n: Shape (G, m): judged samples of each version.
        c: Shape (G, m): right samples of each version.
        original_n: Shape (G,): judged samples of each original; 0 without an original.
        original_c: Shape (G,): right samples of each original.
    """

    n: Counts
    c: Counts
    original_n: Counts
    original_c: Counts


@dataclass(frozen=True)
class VersionGroups:
    """G groups of m versions among the P problems of a table.

    Attributes:
        members: Shape (G, m): indices of the problems that are versions of a group's question.
        originals: Shape (G,): index of the group's original, -1 without one.
        incomplete: Number of groups left out as they lack versions, as when only some rows ran.
    """

    members: Counts
    originals: Counts
    incomplete: int = 0

    @property
    def size(self) -> int:
        """Number of versions in a group, m."""
        return self.members.shape[1]

    def within(self, problems: Sequence[int]) -> NDArray[np.int64]:
        """Return the indices of the groups whose versions are all among these problems."""
        return np.flatnonzero(np.isin(self.members, problems).all(axis=1))

    def counts(self, n: Counts, c: Counts) -> VersionCounts:
        """Return the counts of each group, from ``n`` and ``c`` of each problem, shape (P,)."""
        there = self.originals >= 0
        return VersionCounts(
            n[self.members],
            c[self.members],
            np.where(there, n[self.originals], 0),
            np.where(there, c[self.originals], 0),
        )


def find_groups(problems: Sequence[Problem]) -> VersionGroups | None:
    """Return the groups of versions among problems, None if no question has two versions.

    m is the number of versions in the largest group.

    Raises:
        ValueError: If a group has a version or its original twice.
    """
    # A group is a question in a language.
    members: dict[tuple[str, str], list[int]] = {}
    originals: dict[tuple[str, str], int] = {}
    seen: set[tuple[tuple[str, str], str]] = set()
    for index, problem in enumerate(problems):
        group = problem.cluster, problem.language
        if problem.version and (group, problem.version) in seen:
            raise ValueError(
                f'problem_id {problem.problem_id!r}: question {problem.cluster!r} has version '
                f'{problem.version!r} twice; number the versions of a question'
            )
        seen.add((group, problem.version))
        if problem.version == ORIGINAL:
            originals[group] = index
        elif problem.version:
            members.setdefault(group, []).append(index)
    size = max(map(len, members.values()), default=0)
    if size < 2:
        return None
    whole = {name: indices for name, indices in members.items() if len(indices) == size}
    return VersionGroups(
        np.array(list(whole.values()), dtype=np.int64),
        np.array([originals.get(name, -1) for name in whole], dtype=np.int64),
        len(members) - len(whole),
    )
