"""The result of comparing an answer with the gold answer."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Relation(str, Enum):
    """Whether an answer equals the gold answer; ``unknown`` if no rule can tell."""

    SAME = 'same'
    DIFFERENT = 'different'
    UNKNOWN = 'unknown'


def all_of(relations: Iterable[Relation]) -> Relation:
    """Return the relation of two wholes from the relations of their parts."""
    found = Relation.SAME
    for relation in relations:
        if relation is Relation.DIFFERENT:
            return relation
        if relation is Relation.UNKNOWN:
            found = relation
    return found
