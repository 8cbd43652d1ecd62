"""Is it the gold answer? Same, different, or unknown where no rule can tell."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from opencompass_gpassk.answers.braces import depth
from opencompass_gpassk.answers.expressions import (
    UnreadableError,
    compare_equations,
    compare_expressions,
    compare_rounded,
    fingerprint,
    is_scalar,
)
from opencompass_gpassk.answers.forms import Form, Kind, parse_form, words
from opencompass_gpassk.answers.normalise import normalise
from opencompass_gpassk.answers.numbers import Number, compare_numbers
from opencompass_gpassk.answers.relation import Relation, all_of
from opencompass_gpassk.answers.statements import stated_value

__all__ = ['Relation', 'canonical', 'check', 'compare', 'compare_quickly']

LENGTH_LIMIT = 5000
DEPTH_LIMIT = 40
LIST_LIMIT = 200
# Words that may stand for a number.
QUANTITY = re.compile(
    r'\d|\\|none|zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|teen|ty\b|hundred'
    r'|half|third|quarter|thousand|double|twice|infinit|[^\x00-\x7f]'
)
COMMA_DECIMAL = re.compile(r'-?\d+,\d+')
FUNCTION = re.compile(r'[a-zA-Z]\([a-z]\)')


def check(gold: str, answer: str) -> Relation:
    """Tell whether an answer is the gold answer.

    Nothing here is protected against an input that hangs a parser or eats the memory: for answers
    of a model use :func:`opencompass_gpassk.answers.pool.check_pairs`.
    """
    return compare(gold, answer)[0]


def compare(gold: str, answer: str) -> tuple[Relation, str | None]:
    """Return the relation and, if it is unknown, the reason."""
    quick = compare_quickly(gold, answer)
    if quick:
        return quick
    left, right = parse_form(normalise(gold)), parse_form(normalise(answer))
    try:
        relation = compare_forms(left, right)
    except UnreadableError as error:
        side = 'answer' if _holds(right, str(error.args[0])) else 'gold'
        relation, reason = Relation.UNKNOWN, f'{side} unparsable'
    else:
        reason = 'undecided'
    if relation is not Relation.UNKNOWN:
        return relation, None
    value = stated_value(answer) if left.kind is not Kind.TEXT else None
    if value is not None and value != answer.strip() and _states(left, value):
        return Relation.SAME, None
    return relation, reason


def _states(gold: Form, value: str) -> bool:
    try:
        return compare_forms(gold, parse_form(normalise(value))) is Relation.SAME
    except UnreadableError:
        return False


def compare_quickly(gold: str, answer: str) -> tuple[Relation, str | None] | None:
    """Decide what needs no computer algebra; None of all else. Linear in both texts."""
    if not gold.strip():
        return Relation.UNKNOWN, 'gold empty'
    if not answer.strip():
        return Relation.DIFFERENT, None
    for text, side in ((gold, 'gold'), (answer, 'answer')):
        if len(text) > LENGTH_LIMIT:
            if gold.split() == answer.split():
                return Relation.SAME, None
            return Relation.UNKNOWN, f'{side} too long'
        if depth(text) > DEPTH_LIMIT:
            return Relation.UNKNOWN, f'{side} too deeply nested'
    first, second = normalise(gold), normalise(answer)
    if not first:
        return Relation.UNKNOWN, 'gold empty'
    if first == second or _comma_decimal(first, second):
        return Relation.SAME, None
    left, right = parse_form(first), parse_form(second)
    if _is_plain(left) and _is_plain(right):
        relation = compare_forms(left, right)
        return (relation, None) if relation is not Relation.UNKNOWN else None
    return None


def _comma_decimal(gold: str, answer: str) -> bool:
    """Tell whether one is the other with a decimal comma."""
    pairs = ((gold, answer), (answer, gold))
    return any(COMMA_DECIMAL.fullmatch(a) and a.replace(',', '.') == b for a, b in pairs)


def canonical(answer: str) -> str:
    """Return a form that equivalent answers share where that can be told."""
    if len(answer) > LENGTH_LIMIT or depth(answer) > DEPTH_LIMIT:
        return ' '.join(answer.split())
    return _canonical(parse_form(normalise(answer)))


def is_plain(answer: str) -> bool:
    """Tell whether an answer's canonical form needs no computer algebra."""
    if len(answer) > LENGTH_LIMIT or depth(answer) > DEPTH_LIMIT:
        return True
    return _is_plain(parse_form(normalise(answer)))


def _is_plain(form: Form) -> bool:
    if form.kind in (Kind.EXPRESSION, Kind.RELATION):
        return False
    return all(_is_plain(part) for part in form.parts)


def _holds(form: Form, text: str) -> bool:
    return form.text == text or any(_holds(part, text) for part in form.parts)


def compare_forms(gold: Form, answer: Form) -> Relation:
    """Compare two answers that were taken apart.

    Raises:
        UnreadableError: If an expression in one of them cannot be read.
    """
    if not _units_agree(gold, answer):
        return Relation.UNKNOWN
    if gold.name and answer.name and not _names_agree(gold, answer):
        return Relation.UNKNOWN
    kinds = (gold.kind, answer.kind)
    if kinds == (Kind.NUMBER, Kind.NUMBER) and gold.number and answer.number:
        return compare_numbers(gold.number, answer.number)
    scalar = {Kind.NUMBER, Kind.EXPRESSION}
    if set(kinds) <= scalar:
        return _compare_scalars(gold, answer)
    if gold.kind is answer.kind:
        return COMPARE[gold.kind](gold, answer)
    return _compare_kinds(gold, answer)


def _units_agree(gold: Form, answer: Form) -> bool:
    if gold.unit == answer.unit or not gold.unit or not answer.unit:
        return True
    return '1' in (gold.unit, answer.unit)


def _names_agree(gold: Form, answer: Form) -> bool:
    if gold.name == answer.name:
        return True
    # f(x) = 2x, f(t) = 2t and y = 2x give the same function; x = 5 and y = 5 are two things
    functions = [FUNCTION.fullmatch(form.name) for form in (gold, answer)]
    if all(functions):
        return gold.name[0] == answer.name[0]
    return any(functions) and 'y' in (gold.name, answer.name)


def _text(form: Form) -> str:
    """Return the LaTeX of a number or an expression."""
    if form.number:
        value = form.number.value / (100 if form.number.percent else 1)
        return f'\\frac{{{value.numerator}}}{{{value.denominator}}}'
    if form.kind is Kind.MATRIX:
        width = int(form.text.partition('x')[2])
        cells = [_text(part) for part in form.parts]
        rows = [' & '.join(cells[i : i + width]) for i in range(0, len(cells), width)]
        return '\\begin{pmatrix}' + ' \\\\ '.join(rows) + '\\end{pmatrix}'
    return form.text


def _compare_scalars(gold: Form, answer: Form) -> Relation:
    if gold.text and gold.text.replace(' ', '') == answer.text.replace(' ', ''):
        return Relation.SAME
    relation = compare_expressions(_text(gold), _text(answer))
    if relation is not Relation.DIFFERENT:
        return relation
    rounded = compare_rounded(gold.number or gold.text, answer.number or answer.text)
    return rounded or relation


def _compare_text(gold: Form, answer: Form) -> Relation:
    if gold.text == answer.text or gold.text.replace(' ', '') == answer.text.replace(' ', ''):
        return Relation.SAME
    one_word = all(form.text.isalpha() for form in (gold, answer))
    alike = gold.text[:4] == answer.text[:4] or not gold.text.isascii()
    return Relation.DIFFERENT if one_word and not alike else Relation.UNKNOWN


def _compare_choices(gold: Form, answer: Form) -> Relation:
    return Relation.SAME if gold.text == answer.text else Relation.DIFFERENT


def _compare_ordered(gold: Sequence[Form], answer: Sequence[Form]) -> Relation:
    if len(gold) != len(answer):
        return Relation.DIFFERENT
    return all_of(compare_forms(a, b) for a, b in zip(gold, answer, strict=True))


def _compare_unordered(gold: Sequence[Form], answer: Sequence[Form]) -> Relation:
    if len(gold) > LIST_LIMIT or len(answer) > LIST_LIMIT:
        return Relation.UNKNOWN
    if len(gold) != len(answer):
        return _compare_repeated(gold, answer)
    left = list(answer)
    doubts = False
    for part in gold:
        relations = [compare_forms(part, other) for other in left]
        if Relation.SAME in relations:
            left.pop(relations.index(Relation.SAME))
        elif Relation.UNKNOWN in relations:
            doubts = True
        else:
            return Relation.DIFFERENT
    return Relation.UNKNOWN if doubts else Relation.SAME


def _compare_repeated(gold: Sequence[Form], answer: Sequence[Form]) -> Relation:
    """Compare lists of different lengths: a solution may stand there twice."""
    for first, second in ((gold, answer), (answer, gold)):
        for part in first:
            relations = {compare_forms(part, other) for other in second}
            if relations == {Relation.DIFFERENT}:
                return Relation.DIFFERENT
    points = all(part.kind is Kind.TUPLE for part in (*gold, *answer))
    return Relation.SAME if points else Relation.UNKNOWN


def _compare_lists(gold: Form, answer: Form) -> Relation:
    first, second = _spread(gold), _spread(answer)
    named = [all(part.name for part in parts) for parts in (first, second)]
    distinct = [len({part.name for part in parts}) == len(parts) for parts in (first, second)]
    if any(named) and not all(named) and all(d for d, n in zip(distinct, named, strict=True) if n):
        return _compare_ordered(first, second)  # x = 1, y = 2 against 1, 2
    return _compare_unordered(first, second)


def _spread(form: Form) -> list[Form]:
    """Return the elements of a list or set, of which some may stand for two values (±)."""
    if form.kind not in (Kind.LIST, Kind.SET):
        return [form]
    parts: list[Form] = []
    for part in form.parts:
        parts += part.parts if part.text == '±' else [part]
    return parts


def _compare_tuples(gold: Form, answer: Form) -> Relation:
    relation = _compare_ordered(gold.parts, answer.parts)
    if relation is Relation.SAME and gold.text != answer.text:
        return Relation.DIFFERENT
    return relation


def _compare_unions(gold: Form, answer: Form) -> Relation:
    return _compare_unordered(gold.parts, answer.parts)


def _compare_matrices(gold: Form, answer: Form) -> Relation:
    if gold.text != answer.text:
        return Relation.DIFFERENT
    return _compare_ordered(gold.parts, answer.parts)


def _compare_relations(gold: Form, answer: Form) -> Relation:
    if gold.text != answer.text:
        return Relation.UNKNOWN
    if all(part.kind in (Kind.NUMBER, Kind.EXPRESSION) for part in (*gold.parts, *answer.parts)):
        if _compare_texts(gold.parts, answer.parts):
            return Relation.SAME
        if len(gold.parts) == 2 and gold.text in ('=', '<', '\\le', '\\ne'):
            sides = [tuple(_text(part) for part in form.parts) for form in (gold, answer)]
            flips = gold.text in ('=', '\\ne')
            rounded = any(p.number and p.number.digits for p in (*gold.parts, *answer.parts))
            return compare_equations(sides[0], sides[1], flips=flips, rounded=bool(rounded))  # type: ignore[arg-type]
    return _compare_ordered(gold.parts, answer.parts)


def _compare_texts(gold: Sequence[Form], answer: Sequence[Form]) -> bool:
    return [_text(part) for part in gold] == [_text(part) for part in answer]


def _compare_kinds(gold: Form, answer: Form) -> Relation:
    """Compare answers of two kinds."""
    pair = {gold.kind, answer.kind}
    if pair == {Kind.LIST, Kind.SET}:
        return _compare_lists(gold, answer)
    if pair == {Kind.TUPLE, Kind.MATRIX}:
        matrix, tuple_ = (gold, answer) if gold.kind is Kind.MATRIX else (answer, gold)
        column = matrix.text.endswith('x1') or matrix.text.startswith('1x')
        return (
            _compare_ordered(gold.parts, answer.parts)
            if column and tuple_.parts
            else Relation.UNKNOWN
        )
    if pair == {Kind.LIST, Kind.TUPLE}:
        return _compare_named(gold, answer)
    if Kind.SET in pair and len(gold.parts or answer.parts) == 1:
        one = [form.parts[0] if form.kind is Kind.SET else form for form in (gold, answer)]
        return compare_forms(one[0], one[1])
    if Kind.CHOICE in pair or Kind.TEXT in pair:
        return _compare_words(gold, answer)
    if gold.kind is Kind.RELATION and answer.kind is Kind.NUMBER:
        return Relation.DIFFERENT
    if Kind.RELATION in pair:
        first, second = _equation(gold), _equation(answer)
        if first and second:
            return _compare_relations(first, second)
        return Relation.UNKNOWN
    if pair == {Kind.TUPLE, Kind.SET}:
        relation = _compare_ordered(gold.parts, answer.parts)
        return Relation.DIFFERENT if relation is Relation.DIFFERENT else Relation.UNKNOWN
    if pair == {Kind.MATRIX, Kind.EXPRESSION}:
        return compare_expressions(_text(gold), _text(answer))
    if pair == {Kind.LIST, Kind.NUMBER}:
        return _compare_comma(gold, answer)
    if '::' in (gold.text, answer.text):
        return Relation.UNKNOWN
    if Kind.EXPRESSION in pair:
        text = gold.text if gold.kind is Kind.EXPRESSION else answer.text
        return Relation.DIFFERENT if is_scalar(text) else Relation.UNKNOWN
    return Relation.DIFFERENT


def _equation(form: Form) -> Form | None:
    """Read ``y = 2x`` and ``x < 3``, which were taken for a value and an interval, as relations."""
    if form.kind is Kind.RELATION:
        return form
    name = Form(Kind.EXPRESSION, form.name)
    if not form.name or not form.parts:
        value = Form(form.kind, form.text, number=form.number)
        scalar = form.kind in (Kind.NUMBER, Kind.EXPRESSION)
        return Form(Kind.RELATION, '=', (name, value)) if form.name and scalar else None
    if form.kind is not Kind.TUPLE:
        return None
    low, high = form.parts
    if low.text.replace(' ', '') == '-\\infty':
        return Form(Kind.RELATION, '\\le' if form.text[1] == ']' else '<', (name, high))
    if high.text.replace(' ', '') == '\\infty':
        return Form(Kind.RELATION, '\\le' if form.text[0] == '[' else '<', (low, name))
    return None


def _compare_named(gold: Form, answer: Form) -> Relation:
    """Compare coordinates or an interval with a list; only names tell the order of a list."""
    form = gold if gold.kind is Kind.LIST else answer
    if all(part.name for part in form.parts) and {gold.text, answer.text} == {'', '()'}:
        return _compare_ordered(gold.parts, answer.parts)
    return Relation.UNKNOWN


def _compare_comma(gold: Form, answer: Form) -> Relation:
    """Compare a decimal with two whole numbers, which may be a decimal with a comma."""
    one, pair = (gold.number, answer) if gold.number else (answer.number, gold)
    decimal = one is not None and one.places > 0
    return Relation.UNKNOWN if decimal and len(pair.parts) == 2 else Relation.DIFFERENT


def _compare_words(gold: Form, answer: Form) -> Relation:
    """Compare words or a choice with something else."""
    if {gold.kind, answer.kind} == {Kind.CHOICE, Kind.EXPRESSION}:
        texts = [form.text.strip('() ').lower() for form in (gold, answer)]
        if texts[0] == texts[1]:
            return Relation.SAME
    if words(gold.text) and words(gold.text) == words(answer.text):
        return Relation.SAME
    if gold.kind is Kind.NUMBER and answer.kind is Kind.TEXT and not QUANTITY.search(answer.text):
        return Relation.DIFFERENT
    return Relation.UNKNOWN


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


def _canonical(form: Form) -> str:
    if form.number:
        return _canonical_number(form.number)
    if form.kind is Kind.EXPRESSION:
        return fingerprint(form.text) or form.text.replace(' ', '')
    parts = [_canonical(part) for part in form.parts]
    if form.kind in (Kind.LIST, Kind.SET):
        return '{' + ', '.join(sorted(_canonical(part) for part in _spread(form))) + '}'
    if form.kind is Kind.UNION:
        return ' u '.join(sorted(parts))
    if form.kind is Kind.TUPLE:
        return form.text[0] + ', '.join(parts) + form.text[1]
    if parts:
        return f'{form.text}: ' + ', '.join(parts)
    return form.text


def _canonical_number(number: Number) -> str:
    value = number.value / 100 if number.percent else number.value
    return str(value)
