"""What a comparison says."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

__all__ = ['Relation', 'all_of']


class Relation(str, Enum):
    """Whether an answer is the gold answer; ``unknown`` where no rule can tell."""

    SAME = 'same'
    DIFFERENT = 'different'
    UNKNOWN = 'unknown'


def all_of(relations: Iterable[Relation]) -> Relation:
    """Return what holds of a whole whose parts compare like this."""
    found = Relation.SAME
    for relation in relations:
        if relation is Relation.DIFFERENT:
            return relation
        if relation is Relation.UNKNOWN:
            found = relation
    return found
