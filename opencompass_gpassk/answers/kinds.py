"""Comparing answers of two kinds: a set with a list, an interval with an inequality, …"""

from __future__ import annotations

import re
from collections.abc import Callable

from opencompass_gpassk.answers.expressions import compare_expressions
from opencompass_gpassk.answers.form import Form, Kind
from opencompass_gpassk.answers.forms import words
from opencompass_gpassk.answers.latex import is_scalar
from opencompass_gpassk.answers.lists import compare_lists, compare_ordered
from opencompass_gpassk.answers.names import coordinate_names
from opencompass_gpassk.answers.relation import Relation

__all__ = ['compare_kinds']

# Words that may stand for a number.
QUANTITY = re.compile(
    r'\d|\\|none|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|teen|ty\b'
    r'|hundred|half|third|quarter|thousand|double|twice|infinit'
    r'|[零〇一二三四五六七八九十百千万亿两双半倍无]'
    r'|[^\x00-\x7f\u3000-\u9fff\uff00-\uffef]'  # such as ½ and ∞, but not Chinese
)
# Truth values, which 0 and 1 are.
TRUTH = re.compile(r'\b(?:yes|no|true|false)\b|[是否对正错真假]')

Compare = Callable[[Form, Form], Relation]


def compare_kinds(gold: Form, answer: Form, compare: Compare) -> Relation:
    """Compare answers of two kinds; ``compare`` compares their parts."""
    pair = frozenset({gold.kind, answer.kind})
    if Kind.SET in pair and Kind.LIST not in pair and len(gold.parts or answer.parts) == 1:
        one = [form.parts[0] if form.kind is Kind.SET else form for form in (gold, answer)]
        return compare(one[0], one[1])
    if pair in PAIRS:
        return PAIRS[pair](gold, answer, compare)
    if Kind.CHOICE in pair or Kind.TEXT in pair:
        return _compare_words(gold, answer)
    if gold.kind is Kind.RELATION and answer.kind is Kind.NUMBER:
        return Relation.DIFFERENT
    if Kind.RELATION in pair:
        first, second = _equation(gold), _equation(answer)
        return compare(first, second) if first and second else Relation.UNKNOWN
    if '::' in (gold.text, answer.text) or pair == {Kind.LIST, Kind.UNION}:
        return Relation.UNKNOWN
    if Kind.EXPRESSION in pair:
        text = gold.text if gold.kind is Kind.EXPRESSION else answer.text
        return Relation.DIFFERENT if is_scalar(text) else Relation.UNKNOWN
    return Relation.DIFFERENT


def _column(gold: Form, answer: Form, compare: Compare) -> Relation:
    """Compare coordinates with a matrix, which may be a vector."""
    matrix = gold if gold.kind is Kind.MATRIX else answer
    if matrix.text.endswith('x1') or matrix.text.startswith('1x'):
        return compare_ordered(gold.parts, answer.parts, compare)
    return Relation.UNKNOWN


def _named(gold: Form, answer: Form, compare: Compare) -> Relation:
    """Compare coordinates or an interval with a list; only names tell the order of a list."""
    listed, point = (gold, answer) if gold.kind is Kind.LIST else (answer, gold)
    names = [part.name for part in listed.parts]
    if point.text != '()' or listed.text or len(set(names)) < len(names) or '' in names:
        return Relation.UNKNOWN
    if names != (coordinate_names(point.name) or sorted(names)):
        return Relation.UNKNOWN
    return compare_ordered(gold.parts, answer.parts, compare)


def _bracketed(gold: Form, answer: Form, compare: Compare) -> Relation:
    """Compare a set with coordinates or an interval, for which it may have been taken."""
    relation = compare_ordered(gold.parts, answer.parts, compare)
    return Relation.DIFFERENT if relation is Relation.DIFFERENT else Relation.UNKNOWN


def _expressed(gold: Form, answer: Form, _: Compare) -> Relation:
    """Compare a matrix with an expression, such as a product of one."""
    return compare_expressions(gold.latex(), answer.latex())


def _comma(gold: Form, answer: Form, _: Compare) -> Relation:
    """Compare a decimal with two whole numbers, which may be a decimal with a comma."""
    number, pair = (gold.number, answer) if gold.number else (answer.number, gold)
    decimal = number is not None and number.places > 0
    return Relation.UNKNOWN if decimal and len(pair.parts) == 2 else Relation.DIFFERENT


def _choices(gold: Form, answer: Form, _: Compare) -> Relation:
    """Compare several choices, ``A, C``, with letters in a row, ``AC``."""
    listed, letters = (gold, answer) if gold.kind is Kind.LIST else (answer, gold)
    if all(part.kind is Kind.CHOICE for part in listed.parts):
        same = sorted(part.text for part in listed.parts) == sorted(letters.text)
        return Relation.SAME if same else Relation.UNKNOWN
    return Relation.DIFFERENT if is_scalar(letters.text) else Relation.UNKNOWN


PAIRS: dict[frozenset[Kind], Callable[[Form, Form, Compare], Relation]] = {
    frozenset({Kind.LIST, Kind.SET}): compare_lists,
    frozenset({Kind.TUPLE, Kind.MATRIX}): _column,
    frozenset({Kind.LIST, Kind.TUPLE}): _named,
    frozenset({Kind.TUPLE, Kind.SET}): _bracketed,
    frozenset({Kind.MATRIX, Kind.EXPRESSION}): _expressed,
    frozenset({Kind.LIST, Kind.NUMBER}): _comma,
    frozenset({Kind.LIST, Kind.EXPRESSION}): _choices,
}


def _equation(form: Form) -> Form | None:
    """Read ``y = 2x`` and ``x < 3``, which were taken for a value and an interval, as relations."""
    if form.kind is Kind.RELATION:
        return form
    name = Form(Kind.EXPRESSION, form.name)
    if not form.name or not form.parts:
        value = Form(form.kind, form.text, number=form.number)
        scalar = form.kind in (Kind.NUMBER, Kind.EXPRESSION)
        return Form(Kind.RELATION, '=', (name, value)) if form.name and scalar else None
    if form.kind is not Kind.TUPLE or len(form.parts) != 2:
        return None
    low, high = form.parts
    if low.text.replace(' ', '') == '-\\infty':
        return Form(Kind.RELATION, '\\le' if form.text[1] == ']' else '<', (name, high))
    if high.text.replace(' ', '') == '\\infty':
        return Form(Kind.RELATION, '\\le' if form.text[0] == '[' else '<', (low, name))
    return None


def _compare_words(gold: Form, answer: Form) -> Relation:
    """Compare words or a choice with something else."""
    if {gold.kind, answer.kind} == {Kind.CHOICE, Kind.EXPRESSION}:
        texts = [form.text.strip('() ').lower() for form in (gold, answer)]
        if texts[0] == texts[1]:
            return Relation.SAME
    if words(gold.text) and words(gold.text) == words(answer.text):
        return Relation.SAME
    for number, text in ((gold, answer), (answer, gold)):
        if number.kind is Kind.NUMBER and text.kind is Kind.TEXT and not _names_number(text.text):
            return Relation.DIFFERENT
    return Relation.UNKNOWN


def _names_number(text: str) -> bool:
    return bool(QUANTITY.search(text) or TRUTH.search(text))
