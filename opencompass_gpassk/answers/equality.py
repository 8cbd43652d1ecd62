"""Comparison of parsed answers, of the same or different kinds, ordered or unordered."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from opencompass_gpassk.answers.expressions import (
    as_number,
    compare_equations,
    compare_expressions,
    compare_rounded,
    is_scalar,
)
from opencompass_gpassk.answers.form import Form, Kind, words
from opencompass_gpassk.answers.normalise import unspaced
from opencompass_gpassk.answers.numbers import Relation, all_of, compare_numbers
from opencompass_gpassk.answers.units import units_agree

__all__ = ['compare_forms', 'spread']

LIST_LIMIT = 200


def compare_ordered(gold: Sequence[Form], answer: Sequence[Form], compare: Compare) -> Relation:
    """Compare parts in order, such as coordinates."""
    if len(gold) != len(answer):
        return Relation.DIFFERENT
    return all_of(compare(a, b) for a, b in zip(gold, answer, strict=True))


def compare_unordered(gold: Sequence[Form], answer: Sequence[Form], compare: Compare) -> Relation:
    """Compare parts in any order, such as the solutions of an equation."""
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
    """Return the elements of a list or set; one with ± gives two."""
    if form.kind not in (Kind.LIST, Kind.SET):
        return [form]
    parts: list[Form] = []
    for part in form.parts:
        parts += part.parts if part.text == '±' else [part]
    return parts


def _by_name(parts: Sequence[Form]) -> dict[str, Form] | None:
    """Return elements by name if each has a name of its own, else None."""
    found = {part.name: part for part in parts}
    return None if '' in found or len(found) < len(parts) else found


def _compare_repeated(gold: Sequence[Form], answer: Sequence[Form], compare: Compare) -> Relation:
    """Compare lists of different lengths, since a solution may be listed twice."""
    for first, second in ((gold, answer), (answer, gold)):
        for part in first:
            relations = {compare(part, other) for other in second}
            if relations == {Relation.DIFFERENT}:
                return Relation.DIFFERENT
    points = all(part.kind is Kind.TUPLE for part in (*gold, *answer))
    return Relation.SAME if points else Relation.UNKNOWN


FUNCTION = re.compile(r'([a-zA-Z])\(([a-z])\)')
COORDINATES = re.compile(r"\(([\w\\,']+)\)")


def names_agree(gold: str, answer: str) -> bool:
    """Tell whether two names may mean the same: f(x) and f(t) or y may, x and y may not."""
    first, second = FUNCTION.fullmatch(gold), FUNCTION.fullmatch(answer)
    if first and second:
        return first[1] == second[1]
    return bool(first or second) and 'y' in (gold, answer)


def renamed(gold: Form, answer: Form) -> Form:
    """Return the answer with its function's argument renamed to the gold answer's."""
    first, second = FUNCTION.fullmatch(gold.name), FUNCTION.fullmatch(answer.name)
    if not first or not second or first[2] == second[2] or answer.kind is not Kind.EXPRESSION:
        return answer
    # rename letters outside commands, unless the new name is already used
    if re.search(rf'(?<![a-zA-Z\\]){first[2]}(?![a-zA-Z])', answer.text):
        return answer
    text = re.sub(rf'(?<![a-zA-Z\\]){second[2]}(?![a-zA-Z])', first[2], answer.text)
    return replace(answer, text=text, name=gold.name)


def coordinate_names(name: str) -> list[str]:
    """Return x and y of ``(x,y)``; an empty list for any other name."""
    match = COORDINATES.fullmatch(name)
    return match[1].split(',') if match else []


# Words that may stand for a number.
QUANTITY = re.compile(
    r'\d|\\|none|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|teen|ty\b'
    r'|hundred|half|third|quarter|thousand|double|twice|infinit'
    r'|[零〇一二三四五六七八九十百千万亿两双半倍无]'
    r'|[^\x00-\x7f\u3000-\u9fff\uff00-\uffef]'  # such as ½ and ∞, but not Chinese
)
# Truth values; 0 and 1 count as such.
TRUTH = re.compile(r'\b(?:yes|no|true|false)\b|[是否对正错真假]')

Compare = Callable[[Form, Form], Relation]


def compare_kinds(gold: Form, answer: Form, compare: Compare) -> Relation:
    """Compare answers of different kinds; ``compare`` compares their parts."""
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
    """Compare coordinates or an interval with a list; only names give a list an order."""
    listed, point = (gold, answer) if gold.kind is Kind.LIST else (answer, gold)
    names = [part.name for part in listed.parts]
    if point.text != '()' or listed.text or len(set(names)) < len(names) or '' in names:
        return Relation.UNKNOWN
    if names != (coordinate_names(point.name) or sorted(names)):
        return Relation.UNKNOWN
    return compare_ordered(gold.parts, answer.parts, compare)


def _bracketed(gold: Form, answer: Form, compare: Compare) -> Relation:
    """Compare a set with coordinates or an interval, which one may write for it."""
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
    """Read ``y = 2x`` and ``x < 3``, which were parsed as a value and an interval, as relations."""
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


INFINITE = {'\\infty': 1, '-\\infty': -1}
SCALAR = {Kind.NUMBER, Kind.EXPRESSION}
GAP = re.compile(r'(?<!\d) | (?!\d)')  # a space, but not one between two digits
# Letters for any whole number, as in 2k + 1.
WHOLE = re.compile(r'(?<![a-zA-Z\\])[klmn](?![a-zA-Z])')
LETTERS = re.compile(r'(?<![a-zA-Z\\{])[a-zA-Z]{2,}')
RADIANS = re.compile(r'\\pi(?![a-zA-Z])')
AFFIRMATIVE = frozenset({'yes', 'true', 'correct', 'right', '是', '对', '正确', '真', '能', '可以'})
NEGATIVE = frozenset({'no', 'false', 'incorrect', 'wrong', '否', '错', '错误', '假', '不能', '不'})


def compare_forms(gold: Form, answer: Form) -> Relation:
    """Compare two parsed answers; one that says 7 = 11 is different from either.

    Raises:
        UnreadableError: If an expression in one of them cannot be read.
    """
    relation = _compare_values(gold, answer)
    if relation is Relation.DIFFERENT or not (answer.sides or answer.rounded):
        return relation
    value = replace(answer, sides=(), rounded=(), name='')
    rounded = [_compare_values(value, side) for side in answer.rounded]
    if Relation.DIFFERENT in rounded:
        return Relation.DIFFERENT
    numbers = all(side.number or as_number(side.text) for side in (value, *answer.sides))
    sides = all_of(compare_forms(value, side) for side in answer.sides)
    if sides is Relation.DIFFERENT and not numbers:  # x^2 + 1 = 5 need not hold for all x
        sides = Relation.UNKNOWN
    return all_of((relation, sides))


def _compare_values(gold: Form, answer: Form) -> Relation:
    if not units_agree(gold.unit, answer.unit):
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


def _compare_scalars(gold: Form, answer: Form) -> Relation:
    if gold.text and unspaced(gold.text) == unspaced(answer.text):
        return Relation.SAME
    signs = [INFINITE.get(form.text.replace(' ', '')) for form in (gold, answer)]
    if any(signs) and (all(signs) or gold.number or answer.number):
        return Relation.SAME if signs[0] == signs[1] else Relation.DIFFERENT
    texts = _in_radians(gold, answer) or (gold.latex(), answer.latex())
    relation = compare_expressions(*texts)
    letters = set(''.join(LETTERS.findall(texts[1])))
    if relation is Relation.SAME and letters - set(texts[0]):  # NOT 0, read as a product
        return Relation.UNKNOWN
    if relation is not Relation.DIFFERENT:
        return relation
    if texts[0].lower() == texts[1].lower():  # is the C of x + C the c of x + c?
        return Relation.UNKNOWN
    if _same_form(gold.text, answer.text):
        return Relation.UNKNOWN
    rounded = compare_rounded(gold.number or gold.text, answer.number or answer.text)
    return rounded or relation


def _same_form(gold: str, answer: str) -> bool:
    """Tell whether only the letters for any whole number differ: k\\pi and n\\pi."""
    found = [set(WHOLE.findall(text)) for text in (gold, answer)]
    return all(len(letters) == 1 for letters in found) and (
        WHOLE.sub('n', unspaced(gold)) == WHOLE.sub('n', unspaced(answer))
    )


def _in_radians(gold: Form, answer: Form) -> tuple[str, str] | None:
    """Return both in radians if one is in degrees and the other has π and no unit, else None."""
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
    """Compare ratios in other terms: whether 2:4 will do for 1:2 is unknown."""
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
