"""Compare an answer with the gold answer: same, different, or unknown if no rule can tell."""

from __future__ import annotations

import re

from opencompass_gpassk.answers.algebra import UnreadableError
from opencompass_gpassk.answers.braces import depth
from opencompass_gpassk.answers.extract import boxed, without_boxes
from opencompass_gpassk.answers.forms import Text
from opencompass_gpassk.answers.forms.form import Form, compare, parse
from opencompass_gpassk.answers.frames import stated_value
from opencompass_gpassk.answers.normalise import normalise, unspaced
from opencompass_gpassk.answers.parameters import read_conditions
from opencompass_gpassk.answers.relation import Relation

__all__ = ['canonical', 'canonical_quickly', 'compare_quickly', 'compare_thoroughly']


LENGTH_LIMIT = 5000
DEPTH_LIMIT = 40
PAIRS_LIMIT = 10_000  # greatest number of element pairs compared without a time limit
LISTED = re.compile(r'(?:\(\d\)\s?){2,}')
COMMA_SPACE = re.compile(r',\s')
COMMA_DECIMAL = re.compile(r'-?(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))')


def compare_thoroughly(gold: str, answer: str) -> tuple[Relation, str | None]:
    """Compare two answers with computer algebra, if :func:`compare_quickly` couldn't decide.

    An input may hang a parser or exhaust the memory here: for a model's answers use
    :func:`opencompass_gpassk.answers.pool.check_pairs`.

    Returns:
        The relation; and the reason if it is unknown, else None.
    """
    gold = boxed(gold) or gold
    left, right = _read(normalise(gold), normalise(answer))
    try:
        relation, reason = compare(left, right), 'undecided'
    except UnreadableError as error:
        side = 'answer' if _holds(right, error.text) else 'gold'
        relation, reason = Relation.UNKNOWN, f'{side} unparsable'
    cases = {'\\begin{cases}' in text for text in (gold, answer)}
    if relation is Relation.DIFFERENT and (len(cases) > 1 or _respaced(gold, answer)):
        relation = Relation.UNKNOWN
    if relation is not Relation.UNKNOWN:
        return relation, None
    value = stated_value(without_boxes(answer)) if _has_words(right) else None
    if value and value != answer.strip():
        relation = _compare_stated(gold, value)
    return relation, reason if relation is Relation.UNKNOWN else None


def compare_quickly(gold: str, answer: str) -> tuple[Relation, str | None] | None:
    """Compare two answers without computer algebra, fast for any texts; None if undecided."""
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
    gold = boxed(gold) or gold
    first, second = normalise(gold), normalise(answer)
    if not first:
        return Relation.UNKNOWN, 'gold empty'
    if unspaced(first) == unspaced(second) or _comma_decimal(first, second):
        return Relation.SAME, None
    left, right = _read(first, second)
    small = _leaves(left) * _leaves(right) <= PAIRS_LIMIT
    if small and left.is_plain() and right.is_plain():
        relation = compare(left, right)
        if relation is Relation.DIFFERENT and _respaced(gold, answer):
            return Relation.UNKNOWN, 'undecided'
        return (relation, None) if relation is not Relation.UNKNOWN else None
    return None


def canonical(answer: str) -> str:
    """Return a text that is equal for equivalent answers, as far as rules can tell."""
    form = _taken_apart(answer)
    return form.canonical() if form else ' '.join(answer.split())


def canonical_quickly(answer: str) -> str | None:
    """Return the canonical form if it needs no computer algebra (this is fast); else None."""
    form = _taken_apart(answer)
    if form is None:
        return ' '.join(answer.split())
    return form.canonical() if form.is_plain() else None


def _taken_apart(answer: str) -> Form | None:
    """Return a parsed answer; None if it is too long or too deeply nested."""
    if len(answer) > LENGTH_LIMIT or depth(answer) > DEPTH_LIMIT:
        return None
    return parse(normalise(answer))


def _read(gold: str, answer: str) -> tuple[Form, Form]:
    """Read two answers in their normal spelling."""
    if LISTED.fullmatch(answer) and COMMA_SPACE.sub(',', gold).count(','):  # ①② as (1)(2)
        answer = answer.replace(')', '),')
    first, second = read_conditions(gold, answer)
    return parse(first), parse(second)


def _compare_stated(gold: str, value: str) -> Relation:
    """Compare the value that a sentence states; words that are left over keep it unknown."""
    try:
        return compare(*_read(normalise(gold), normalise(value)))
    except UnreadableError:
        return Relation.UNKNOWN


def _comma_decimal(gold: str, answer: str) -> bool:
    """Tell whether one answer is the other with a decimal comma; 12,345 is twelve thousand."""
    pairs = ((gold, answer), (answer, gold))
    return any(COMMA_DECIMAL.fullmatch(a) and a.replace(',', '.') == b for a, b in pairs)


def _respaced(gold: str, answer: str) -> bool:
    """Tell whether only spaces at commas differ: 100,200 and 100, 200, one number or two?"""
    return COMMA_SPACE.sub(',', normalise(gold)) == COMMA_SPACE.sub(',', normalise(answer))


def _leaves(form: Form) -> int:
    return sum(_leaves(part) for part in (*form.parts(), *form.sides)) or 1


def _has_words(form: Form) -> bool:
    return isinstance(form, Text) or any(_has_words(part) for part in (*form.parts(), *form.sides))


def _holds(form: Form, text: str) -> bool:
    return text in form.text
