"""Comparing answers of several values, in order or in any."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from opencompass_gpassk.answers.form import Form, Kind
from opencompass_gpassk.answers.relation import Relation, all_of

__all__ = ['compare_lists', 'compare_ordered', 'compare_unordered', 'spread']

LIST_LIMIT = 200

Compare = Callable[[Form, Form], Relation]


def compare_ordered(gold: Sequence[Form], answer: Sequence[Form], compare: Compare) -> Relation:
    """Compare coordinates and the like."""
    if len(gold) != len(answer):
        return Relation.DIFFERENT
    return all_of(compare(a, b) for a, b in zip(gold, answer, strict=True))


def compare_unordered(gold: Sequence[Form], answer: Sequence[Form], compare: Compare) -> Relation:
    """Compare solutions and the like, whose order says nothing."""
    if len(gold) > LIST_LIMIT or len(answer) > LIST_LIMIT:
        return Relation.UNKNOWN
    if len(gold) != len(answer):
        return _compare_repeated(gold, answer, compare)
    left = list(answer)
    doubts = False
    for part in gold:
        relations = [compare(part, other) for other in left]
        if Relation.SAME in relations:
            left.pop(relations.index(Relation.SAME))
        elif Relation.UNKNOWN in relations:
            doubts = True
        else:
            return Relation.DIFFERENT
    return Relation.UNKNOWN if doubts else Relation.SAME


def compare_lists(gold: Form, answer: Form, compare: Compare) -> Relation:
    """Compare lists and sets, whose elements may have names: x = 1, y = 2."""
    first, second = spread(gold), spread(answer)
    known = [_by_name(parts) for parts in (first, second)]
    if known[0] and known[1]:
        if known[0].keys() != known[1].keys():
            return Relation.UNKNOWN
        return all_of(compare(part, known[1][name]) for name, part in known[0].items())
    if known[0] or known[1]:  # x = 1, y = 2 against 1, 2
        if any(part.name for part in (second if known[0] else first)):
            return Relation.UNKNOWN
        return compare_ordered(first, second, compare)

    def compare_elements(part: Form, other: Form) -> Relation:
        nested = (part.kind is Kind.SET) != (other.kind is Kind.SET)  # {1, {2}} is not {1, 2}
        return Relation.UNKNOWN if nested else compare(part, other)

    return compare_unordered(first, second, compare_elements)


def spread(form: Form) -> list[Form]:
    """Return the elements of a list or set, of which some may stand for two values (±)."""
    if form.kind not in (Kind.LIST, Kind.SET):
        return [form]
    parts: list[Form] = []
    for part in form.parts:
        parts += part.parts if part.text == '±' else [part]
    return parts


def _by_name(parts: Sequence[Form]) -> dict[str, Form] | None:
    """Return elements by their names if each has one of its own, else None."""
    found = {part.name: part for part in parts}
    return None if '' in found or len(found) < len(parts) else found


def _compare_repeated(gold: Sequence[Form], answer: Sequence[Form], compare: Compare) -> Relation:
    """Compare lists of different lengths: a solution may stand there twice."""
    for first, second in ((gold, answer), (answer, gold)):
        for part in first:
            relations = {compare(part, other) for other in second}
            if relations == {Relation.DIFFERENT}:
                return Relation.DIFFERENT
    points = all(part.kind is Kind.TUPLE for part in (*gold, *answer))
    return Relation.SAME if points else Relation.UNKNOWN
