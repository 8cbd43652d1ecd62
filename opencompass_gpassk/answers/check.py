"""Compare an answer with the gold answer: same, different, or unknown if no rule can tell."""

from __future__ import annotations

import re

from opencompass_gpassk.answers.braces import depth
from opencompass_gpassk.answers.equality import compare_forms, spread
from opencompass_gpassk.answers.expressions import UnreadableError, fingerprint
from opencompass_gpassk.answers.extract import boxed, without_boxes
from opencompass_gpassk.answers.form import Form, Kind, parse_form
from opencompass_gpassk.answers.frames import stated_value
from opencompass_gpassk.answers.normalise import normalise, unspaced
from opencompass_gpassk.answers.numbers import Relation

__all__ = [
    *('NOT_COMPARED', 'REASONS', 'canonical', 'canonical_quickly', 'compare_exactly'),
    *('compare_quickly', 'compare_thoroughly'),
]


def is_plain_form(form: Form) -> bool:
    """Tell whether the form and all its parts can be compared without computer algebra."""
    if form.kind in (Kind.EXPRESSION, Kind.RELATION):
        return False
    return all(is_plain_form(part) for part in form.all_parts())


def canonical_form(form: Form) -> str:
    """Return the canonical text of a parsed answer."""
    if form.number:
        value = form.number.value
        return str(value / 100 if form.number.percent else value)
    if form.kind is Kind.EXPRESSION:
        return fingerprint(form.text) or unspaced(form.text)
    if form.kind in (Kind.LIST, Kind.SET):
        return '{' + ', '.join(sorted(canonical_form(part) for part in spread(form))) + '}'
    parts = [canonical_form(part) for part in form.parts]
    if form.kind is Kind.UNION:
        return ' u '.join(sorted(parts))
    if form.kind is Kind.TUPLE:
        return form.text[0] + ', '.join(parts) + form.text[1]
    if parts:
        return f'{form.text}: ' + ', '.join(parts)
    return form.text


LENGTH_LIMIT = 5000
DEPTH_LIMIT = 40
PAIRS_LIMIT = 10_000  # greatest number of element pairs compared without a time limit
COMMA_SPACE = re.compile(r',\s')
COMMA_DECIMAL = re.compile(r'-?(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))')
# Text and control symbols, in which spaces count; a command before a letter or a digit before a
# digit, between which they count too; other spaces.
SPACES = re.compile(
    r'(\\(?:text[a-z]{0,2}|mbox)\s*\{[^{}]*\}|\\[^a-zA-Z])'
    r'|(\\[a-zA-Z]+(?=\s+[a-zA-Z])|\d(?=\s+\d))?\s+'
)

# With these reasons nothing was compared: it is not the rules that could not decide.
NOT_COMPARED = frozenset({'gold empty', 'timeout', 'memory', 'crash', 'stalled'})
# Why a verdict was given: the form of the gold answer if the two were compared as such, else what
# was decisive. docs/checking.md explains them.
REASONS = NOT_COMPARED | {
    *(kind.value for kind in Kind),
    *('words', 'no answer', 'gold too long', 'answer too long', 'gold too deep', 'answer too deep'),
    *('gold unparsable', 'answer unparsable', 'failed'),
}

Result = tuple[Relation, str]


def compare_thoroughly(gold: str, answer: str, question: str | None = None) -> Result:
    """Compare two answers with computer algebra, if :func:`compare_quickly` couldn't decide.

    An input may hang a parser or exhaust the memory here: for a model's answers use
    :func:`opencompass_gpassk.answers.pool.check_pairs`.

    Args:
        gold: The gold answer.
        answer: The answer.
        question: The question, if it is known; some rules need it.

    Returns:
        The relation and its reason, one of :data:`REASONS`.
    """
    gold = boxed(gold) or gold
    left, right = parse_form(normalise(gold)), parse_form(normalise(answer))
    try:
        found = _explained(compare_forms(left, right), left, right)
    except UnreadableError as error:
        side = 'answer' if _holds(right, error.text) else 'gold'
        found = Relation.UNKNOWN, f'{side} unparsable'
    if found[0] is Relation.DIFFERENT and _respaced(gold, answer):
        found = _explained(Relation.UNKNOWN, left, right)
    if found[0] is Relation.UNKNOWN and left.kind is not Kind.TEXT and _has_words(right):
        value = stated_value(without_boxes(answer))
        if value and value != answer.strip() and _states(left, value):
            return _explained(Relation.SAME, left, right)
    return found


def compare_quickly(gold: str, answer: str, question: str | None = None) -> Result | None:
    """Compare two answers without computer algebra, fast for any texts; None if undecided.

    Arguments and result are those of :func:`compare_thoroughly`.
    """
    if not gold.strip():
        return Relation.UNKNOWN, 'gold empty'
    if not answer.strip():
        return Relation.DIFFERENT, 'no answer'
    for text, side in ((gold, 'gold'), (answer, 'answer')):
        if len(text) > LENGTH_LIMIT:
            if gold.split() == answer.split():
                return Relation.SAME, 'text'
            return Relation.UNKNOWN, f'{side} too long'
        if depth(text) > DEPTH_LIMIT:
            return Relation.UNKNOWN, f'{side} too deep'
    gold = boxed(gold) or gold
    first, second = normalise(gold), normalise(answer)
    if not first:
        return Relation.UNKNOWN, 'gold empty'
    if unspaced(first) == unspaced(second):
        return Relation.SAME, 'text'
    if _comma_decimal(first, second):
        return Relation.SAME, 'number'
    left, right = parse_form(first), parse_form(second)
    small = _leaves(left) * _leaves(right) <= PAIRS_LIMIT
    if not (small and is_plain_form(left) and is_plain_form(right)):
        return None
    relation = compare_forms(left, right)
    if relation is Relation.DIFFERENT and _respaced(gold, answer):
        return _explained(Relation.UNKNOWN, left, right)
    return _explained(relation, left, right) if relation is not Relation.UNKNOWN else None


def compare_exactly(gold: str, answer: str) -> Result:
    r"""Tell whether two answers are the same text, except for spaces that LaTeX ignores.

    Spaces count in ``\text{…}``, as the command ``\ ``, and between two digits: ``1 2`` is not 12.
    """
    first, second = (
        SPACES.sub(lambda found: found[1] or (f'{found[2]} ' if found[2] else ''), text.strip())
        for text in (gold, answer)
    )
    return Relation.SAME if first == second else Relation.DIFFERENT, 'text'


def canonical(answer: str) -> str:
    """Return a text that is equal for equivalent answers, as far as rules can tell."""
    form = _taken_apart(answer)
    return canonical_form(form) if form else ' '.join(answer.split())


def canonical_quickly(answer: str) -> str | None:
    """Return the canonical form if it needs no computer algebra (this is fast); else None."""
    form = _taken_apart(answer)
    if form is None:
        return ' '.join(answer.split())
    return canonical_form(form) if is_plain_form(form) else None


def _taken_apart(answer: str) -> Form | None:
    """Return a parsed answer; None if it is too long or too deeply nested."""
    if len(answer) > LENGTH_LIMIT or depth(answer) > DEPTH_LIMIT:
        return None
    return parse_form(normalise(answer))


def _explained(relation: Relation, gold: Form, answer: Form) -> Result:
    """Return a relation with the form of the gold answer, or words that leave it unknown."""
    worded = relation is Relation.UNKNOWN and (_has_words(gold) or _has_words(answer))
    return relation, 'words' if worded else gold.kind.value


def _states(gold: Form, value: str) -> bool:
    try:
        return compare_forms(gold, parse_form(normalise(value))) is Relation.SAME
    except UnreadableError:
        return False


def _comma_decimal(gold: str, answer: str) -> bool:
    """Tell whether one answer is the other with a decimal comma; 12,345 is twelve thousand."""
    pairs = ((gold, answer), (answer, gold))
    return any(COMMA_DECIMAL.fullmatch(a) and a.replace(',', '.') == b for a, b in pairs)


def _respaced(gold: str, answer: str) -> bool:
    """Tell whether only spaces at commas differ: 100,200 and 100, 200, one number or two?"""
    return COMMA_SPACE.sub(',', normalise(gold)) == COMMA_SPACE.sub(',', normalise(answer))


def _leaves(form: Form) -> int:
    return sum(_leaves(part) for part in form.all_parts()) or 1


def _has_words(form: Form) -> bool:
    return form.kind is Kind.TEXT or any(_has_words(part) for part in form.all_parts())


def _holds(form: Form, text: str) -> bool:
    return form.text == text or any(_holds(part, text) for part in form.all_parts())
