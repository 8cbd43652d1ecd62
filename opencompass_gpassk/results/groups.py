"""The problems that a figure averages over: the headline's, and the groups of a breakdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opencompass_gpassk.trials import ORIGINAL, Problem


@dataclass(frozen=True)
class Part:
    """A set of problems that figures average over.

    Attributes:
        members: Indices of the problems.
        fields: The group fields that they share, with their values; empty for the headline.
        versions: Whether figures that compare the versions of a question are reported too.
    """

    members: list[int]
    fields: dict[str, str]
    versions: bool = True


def parts_of(problems: Sequence[Problem], groupings: Sequence[Sequence[str]]) -> dict[str, Part]:
    """Return label → problems for each set that has figures: the headline '', its groups, and the
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
    """Return the key of a group's figure in a result; '' is the label of the headline."""
    return f'{label}/{key}' if label else key


def headline_problems(problems: Sequence[Problem]) -> list[int]:
    """Return the problems of the headline figures: all but the originals of versions."""
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
