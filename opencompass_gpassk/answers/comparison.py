"""Comparing answers of one kind that were taken apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from opencompass_gpassk.answers.expressions import (
    compare_equations,
    compare_expressions,
    compare_rounded,
)
from opencompass_gpassk.answers.form import Form, Kind
from opencompass_gpassk.answers.kinds import compare_kinds
from opencompass_gpassk.answers.lists import compare_lists, compare_ordered, compare_unordered
from opencompass_gpassk.answers.names import names_agree, renamed
from opencompass_gpassk.answers.normalise import unspaced
from opencompass_gpassk.answers.numbers import compare_numbers
from opencompass_gpassk.answers.relation import Relation

__all__ = ['compare_forms']

INFINITE = {'\\infty': 1, '-\\infty': -1}
SCALAR = {Kind.NUMBER, Kind.EXPRESSION}
GAP = re.compile(r'(?<!\d) | (?!\d)')  # a space, but not one between two digits
# Letters for any whole number, as in 2k + 1.
WHOLE = re.compile(r'(?<![a-zA-Z\\])[klmn](?![a-zA-Z])')
RADIANS = re.compile(r'\\pi(?![a-zA-Z])')
AFFIRMATIVE = frozenset({'yes', 'true', 'correct', 'right', '是', '对', '正确', '真', '能', '可以'})
NEGATIVE = frozenset({'no', 'false', 'incorrect', 'wrong', '否', '错', '错误', '假', '不能', '不'})


def compare_forms(gold: Form, answer: Form) -> Relation:
    """Compare two answers that were taken apart.

    Raises:
        UnreadableError: If an expression in one of them cannot be read.
    """
    if not _units_agree(gold, answer):
        return Relation.UNKNOWN
    if gold.name and answer.name and gold.name != answer.name:
        if not names_agree(gold.name, answer.name):
            return Relation.UNKNOWN
        other = renamed(gold, answer)
        if other is not answer:
            same = compare_forms(gold, other) is Relation.SAME
            return Relation.SAME if same else Relation.UNKNOWN
    kinds = (gold.kind, answer.kind)
    if kinds == (Kind.NUMBER, Kind.NUMBER) and gold.number and answer.number:
        return compare_numbers(gold.number, answer.number)
    if set(kinds) <= SCALAR:
        return _compare_scalars(gold, answer)
    if gold.kind is answer.kind:
        return COMPARE[gold.kind](gold, answer)
    return compare_kinds(gold, answer, compare_forms)


def _units_agree(gold: Form, answer: Form) -> bool:
    if gold.unit == answer.unit or not gold.unit or not answer.unit:
        return True
    return '1' in (gold.unit, answer.unit)


def _compare_scalars(gold: Form, answer: Form) -> Relation:
    if gold.text and unspaced(gold.text) == unspaced(answer.text):
        return Relation.SAME
    signs = [INFINITE.get(form.text.replace(' ', '')) for form in (gold, answer)]
    if any(signs) and (all(signs) or gold.number or answer.number):
        return Relation.SAME if signs[0] == signs[1] else Relation.DIFFERENT
    texts = _in_radians(gold, answer) or (gold.latex(), answer.latex())
    relation = compare_expressions(*texts)
    if relation is not Relation.DIFFERENT:
        return relation
    if texts[0].lower() == texts[1].lower():  # is the C of x + C the c of x + c?
        return Relation.UNKNOWN
    if _same_form(gold.text, answer.text):
        return Relation.UNKNOWN
    rounded = compare_rounded(gold.number or gold.text, answer.number or answer.text)
    return rounded or relation


def _same_form(gold: str, answer: str) -> bool:
    """Tell whether the letters for any whole number alone differ: k\\pi and n\\pi."""
    found = [set(WHOLE.findall(text)) for text in (gold, answer)]
    return all(len(letters) == 1 for letters in found) and (
        WHOLE.sub('n', unspaced(gold)) == WHOLE.sub('n', unspaced(answer))
    )


def _in_radians(gold: Form, answer: Form) -> tuple[str, str] | None:
    """Return both in radians if one is in degrees and the other, without a unit, holds π."""
    for one, other in ((gold, answer), (answer, gold)):
        if one.unit == 'degree' and not other.unit and RADIANS.search(other.text):
            degrees = f'({one.latex()}) \\cdot \\frac{{\\pi}}{{180}}'
            return (degrees, other.text) if one is gold else (other.text, degrees)
    return None


def _compare_text(gold: Form, answer: Form) -> Relation:
    texts = gold.text, answer.text
    if GAP.sub('', texts[0]) == GAP.sub('', texts[1]):
        return Relation.SAME
    sides = [1 if text in AFFIRMATIVE else -1 if text in NEGATIVE else 0 for text in texts]
    if all(sides):
        return Relation.DIFFERENT if sides[0] != sides[1] else Relation.UNKNOWN
    words = all(text.isalpha() and text.isascii() for text in texts)
    return Relation.DIFFERENT if words and texts[0][:4] != texts[1][:4] else Relation.UNKNOWN


def _compare_choices(gold: Form, answer: Form) -> Relation:
    return Relation.SAME if gold.text == answer.text else Relation.DIFFERENT


def _compare_lists(gold: Form, answer: Form) -> Relation:
    return compare_lists(gold, answer, compare_forms)


def _compare_tuples(gold: Form, answer: Form) -> Relation:
    relation = compare_ordered(gold.parts, answer.parts, compare_forms)
    if relation is Relation.SAME and gold.text != answer.text:
        return Relation.DIFFERENT
    if relation is Relation.DIFFERENT and gold.text == answer.text == '::':
        return _compare_ratios(gold.parts, answer.parts)
    return relation


def _compare_ratios(gold: Sequence[Form], answer: Sequence[Form]) -> Relation:
    """Leave it open whether 2:4 will do for 1:2."""
    first = [part.number.value for part in gold if part.number]
    second = [part.number.value for part in answer if part.number]
    if len(first) == len(second) == len(gold) and any(first) and any(second):
        scale = sum(first), sum(second)
        if any(a * scale[1] != b * scale[0] for a, b in zip(first, second, strict=True)):
            return Relation.DIFFERENT
        return Relation.UNKNOWN
    if len(gold) == len(answer) == 2:
        quotients = [
            Form(Kind.EXPRESSION, f'\\frac{{{above.latex()}}}{{{below.latex()}}}')
            for above, below in (gold, answer)
        ]
        relation = compare_forms(quotients[0], quotients[1])
        return Relation.DIFFERENT if relation is Relation.DIFFERENT else Relation.UNKNOWN
    return Relation.DIFFERENT if len(gold) != len(answer) else Relation.UNKNOWN


def _compare_unions(gold: Form, answer: Form) -> Relation:
    return compare_unordered(gold.parts, answer.parts, compare_forms)


def _compare_matrices(gold: Form, answer: Form) -> Relation:
    if gold.text != answer.text:
        return Relation.DIFFERENT
    return compare_ordered(gold.parts, answer.parts, compare_forms)


def _compare_relations(gold: Form, answer: Form) -> Relation:
    if gold.text != answer.text:
        return Relation.UNKNOWN
    parts = (*gold.parts, *answer.parts)
    if not all(part.kind in SCALAR for part in parts):
        return compare_ordered(gold.parts, answer.parts, compare_forms)
    sides = [tuple(part.latex() for part in form.parts) for form in (gold, answer)]
    if sides[0] == sides[1]:
        return Relation.SAME
    if len(gold.parts) == 2 and gold.text in ('=', '<', '\\le', '\\ne'):
        first, second = ((left, right) for left, right in sides)
        rounded = any(part.number and part.number.digits for part in parts)
        flips = gold.text in ('=', '\\ne')
        return compare_equations(first, second, flips=flips, rounded=bool(rounded))
    return compare_ordered(gold.parts, answer.parts, compare_forms)


COMPARE: dict[Kind, Callable[[Form, Form], Relation]] = {
    Kind.TEXT: _compare_text,
    Kind.CHOICE: _compare_choices,
    Kind.LIST: _compare_lists,
    Kind.SET: _compare_lists,
    Kind.TUPLE: _compare_tuples,
    Kind.UNION: _compare_unions,
    Kind.MATRIX: _compare_matrices,
    Kind.RELATION: _compare_relations,
}
