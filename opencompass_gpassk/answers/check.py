"""Is it the gold answer? Same, different, or unknown where no rule can tell."""

from __future__ import annotations

import re

from opencompass_gpassk.answers.braces import depth
from opencompass_gpassk.answers.canonical import canonical_form, is_plain_form
from opencompass_gpassk.answers.comparison import compare_forms
from opencompass_gpassk.answers.form import Form, Kind
from opencompass_gpassk.answers.forms import parse_form
from opencompass_gpassk.answers.latex import UnreadableError
from opencompass_gpassk.answers.normalise import normalise, unspaced
from opencompass_gpassk.answers.relation import Relation
from opencompass_gpassk.answers.statements import stated_value

__all__ = [
    'Relation',
    'canonical',
    'canonical_quickly',
    'check',
    'compare',
    'compare_quickly',
    'compare_thoroughly',
]

LENGTH_LIMIT = 5000
DEPTH_LIMIT = 40
PAIRS_LIMIT = 10_000  # pairs of elements that are compared without a time limit
COMMA_SPACE = re.compile(r',\s')
COMMA_DECIMAL = re.compile(r'-?(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))')


def check(gold: str, answer: str) -> Relation:
    """Tell whether an answer is the gold answer.

    Nothing here is protected against an input that hangs a parser or eats the memory: for answers
    of a model use :func:`opencompass_gpassk.answers.pool.check_pairs`.
    """
    return compare(gold, answer)[0]


def compare(gold: str, answer: str) -> tuple[Relation, str | None]:
    """Return the relation and, if it is unknown, the reason."""
    return compare_quickly(gold, answer) or compare_thoroughly(gold, answer)


def compare_thoroughly(gold: str, answer: str) -> tuple[Relation, str | None]:
    """Compare what :func:`compare_quickly` couldn't decide, with computer algebra."""
    left, right = parse_form(normalise(gold)), parse_form(normalise(answer))
    try:
        relation, reason = compare_forms(left, right), 'undecided'
    except UnreadableError as error:
        side = 'answer' if _holds(right, error.text) else 'gold'
        relation, reason = Relation.UNKNOWN, f'{side} unparsable'
    if relation is Relation.DIFFERENT and _respaced(gold, answer):
        relation = Relation.UNKNOWN
    if relation is not Relation.UNKNOWN:
        return relation, None
    if left.kind is not Kind.TEXT and _has_words(right):
        value = stated_value(answer)
        if value and value != answer.strip() and _states(left, value):
            return Relation.SAME, None
    return relation, reason


def compare_quickly(gold: str, answer: str) -> tuple[Relation, str | None] | None:
    """Decide what needs no computer algebra, in little time for any texts; None of all else."""
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
    if unspaced(first) == unspaced(second) or _comma_decimal(first, second):
        return Relation.SAME, None
    left, right = parse_form(first), parse_form(second)
    small = _leaves(left) * _leaves(right) <= PAIRS_LIMIT
    if small and is_plain_form(left) and is_plain_form(right):
        relation = compare_forms(left, right)
        if relation is Relation.DIFFERENT and _respaced(gold, answer):
            return Relation.UNKNOWN, 'undecided'
        return (relation, None) if relation is not Relation.UNKNOWN else None
    return None


def canonical(answer: str) -> str:
    """Return a form that equivalent answers share where that can be told."""
    form = _taken_apart(answer)
    return canonical_form(form) if form else ' '.join(answer.split())


def canonical_quickly(answer: str) -> str | None:
    """Return the canonical form if it needs no computer algebra, in little time; else None."""
    form = _taken_apart(answer)
    if form is None:
        return ' '.join(answer.split())
    return canonical_form(form) if is_plain_form(form) else None


def _taken_apart(answer: str) -> Form | None:
    """Return the parts of an answer, None if it is too long or too deeply nested."""
    if len(answer) > LENGTH_LIMIT or depth(answer) > DEPTH_LIMIT:
        return None
    return parse_form(normalise(answer))


def _states(gold: Form, value: str) -> bool:
    try:
        return compare_forms(gold, parse_form(normalise(value))) is Relation.SAME
    except UnreadableError:
        return False


def _comma_decimal(gold: str, answer: str) -> bool:
    """Tell whether one is the other with a decimal comma; 12,345 is twelve thousand."""
    pairs = ((gold, answer), (answer, gold))
    return any(COMMA_DECIMAL.fullmatch(a) and a.replace(',', '.') == b for a, b in pairs)


def _respaced(gold: str, answer: str) -> bool:
    """Tell whether spaces at commas alone differ: 100,200 and 100, 200, one number or two?"""
    return COMMA_SPACE.sub(',', normalise(gold)) == COMMA_SPACE.sub(',', normalise(answer))


def _leaves(form: Form) -> int:
    return sum(_leaves(part) for part in form.parts) if form.parts else 1


def _has_words(form: Form) -> bool:
    return form.kind is Kind.TEXT or any(_has_words(part) for part in form.parts)


def _holds(form: Form, text: str) -> bool:
    return form.text == text or any(_holds(part, text) for part in form.parts)
