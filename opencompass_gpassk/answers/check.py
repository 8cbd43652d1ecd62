"""Compare an answer with the gold answer: same, different, or unknown if no rule can tell."""

from __future__ import annotations

import re

from opencompass_gpassk.answers.braces import depth
from opencompass_gpassk.answers.equality import compare_forms, spread
from opencompass_gpassk.answers.expressions import UnreadableError, fingerprint
from opencompass_gpassk.answers.extract import last_statement
from opencompass_gpassk.answers.form import Form, Kind, parse_form
from opencompass_gpassk.answers.normalise import normalise, unspaced
from opencompass_gpassk.answers.numbers import Number, Relation
from opencompass_gpassk.answers.units import UNITS, WORDS

__all__ = [
    'canonical',
    'canonical_form',
    'canonical_quickly',
    'compare_quickly',
    'compare_thoroughly',
    'is_plain_form',
    'stated_value',
]


def is_plain_form(form: Form) -> bool:
    """Tell whether the form and all its parts can be compared without computer algebra."""
    if form.kind in (Kind.EXPRESSION, Kind.RELATION):
        return False
    return all(is_plain_form(part) for part in form.parts)


def canonical_form(form: Form) -> str:
    """Return the canonical text of a parsed answer."""
    if form.number:
        return _canonical_number(form.number)
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


def _canonical_number(number: Number) -> str:
    value = number.value / 100 if number.percent else number.value
    return str(value)


SENTENCE_LIMIT = 600
NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|cannot|false|incorrect|wrong)\b|n't|不|非|没")
# Words that turn "5" into a bound, a guess or another number: at least 5, minus 5, 5 dozen.
HEDGE = re.compile(
    r'\b(?:at (?:least|most)|(?:more|less|fewer|greater|larger|smaller|bigger|higher|lower|other'
    r'|rather) than|up to|about|around|approximately|roughly|nearly|almost|between|above|below'
    r'|exceeds?|minus|negative|half of|root of|factorial|squared|cubed'
    r'|dozen|hundred|thousand|million|billion|trillion)\b'
    r'|至少|至多|最多|最少|大于|小于|超过|多于|少于|以上|以下|大约|左右|之间|分之|百|千(?![克米])|万|亿|负|根号'
)
MATH = re.compile(r'\$\$([^$]+)\$\$|\$([^$]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]', re.DOTALL)
BOLD = re.compile(r'\*\*([^*]+)\*\*')
# A number, a fraction or a percentage, with a known unit after it if there is one.
NUMBER = re.compile(r'(?<![a-zA-Z\d.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:\s?/\s?\d+)?\s?(?:\\?%)?')
UNIT = re.compile(rf'\s?(?:{WORDS})(?:\^?[23²³])?(?![a-zA-Z])')
BRACKETS = re.compile(r'\[([^\][]+)\]')
# "… is 34", "… = 67", "…为13/28", followed by the end or by a unit
LAST_VALUE = re.compile(
    r'(?:\b(?:is|are|be|equals?|by|to|of|worth)|[=≈:：为是有共了即]|等于|剩下|得到|\bde|\best)'
    rf'\s{{0,2}}\$?\s?({NUMBER.pattern})(?![\d.,]*\d)\s{{0,2}}[\])]?\s{{0,2}}'
    r'[^\d=+*/^<>$\\]{0,24}$'
)
LAST_MATH = re.compile(r'(?:\b(?:is|are)|[为是])\s{0,2}\$([^$]{1,200})\$$')


def stated_value(sentence: str) -> str | None:
    """Return the one value that a sentence states; None if it states none or several.

    A sentence with a negation or a bound states none: *the number is not 10*, *at least 10*.
    A known unit after the value is kept: *the rope is 5 m long* states 5 m.
    """
    sentence = last_statement(sentence).strip().rstrip('.。!！,; ')
    sentence = sentence[-SENTENCE_LIMIT:]
    if not sentence or NEGATION.search(sentence.lower()) or HEDGE.search(sentence.lower()):
        return None
    for pattern in (MATH, BOLD, BRACKETS):
        found = list(pattern.finditer(sentence))
        if len(found) == 1 and not NUMBER.search(pattern.sub(' ', sentence)):
            value = next(group for group in found[0].groups() if group).strip()
            return value if pattern is BOLD else value + _unit(sentence, found[0].end())
    numbers = list(NUMBER.finditer(sentence))
    if len(numbers) == 1 and '\\' not in sentence and _stands_alone(sentence, numbers[0]):
        return numbers[0].group().strip() + _unit(sentence, numbers[0].end())
    math = LAST_MATH.search(sentence)
    if math:
        return math.group(1).strip()
    last = LAST_VALUE.search(sentence)
    if last:
        return last.group(1).strip() + _unit(sentence, last.end(1))
    bold = list(BOLD.finditer(sentence))
    if len(bold) == 1 and bold[0].end() == len(sentence):
        return bold[0].group(1).strip()
    return None


def _stands_alone(sentence: str, number: re.Match[str]) -> bool:
    """Tell whether a number is not part of a calculation or a name: 5x, 5!, x^5, 5^2, n=5k."""
    before, after = sentence[: number.start()].rstrip(), sentence[number.end() :]
    unit = UNIT.match(after)
    after = after[unit.end() :] if unit else after
    return not before.endswith(('^', '_', '+', '-', '*', '/', '(', '√', '<', '>', '≤', '≥')) and (
        not re.match(r'\s?(?:[!^_+*/<>√≤≥-]|[a-zA-Z](?![a-zA-Z])|π)', after)
    )


def _unit(sentence: str, end: int) -> str:
    unit = UNIT.match(sentence, end)
    if not unit:
        return ''
    # words such as people and books repeat the question; keep only measures
    return '' if UNITS.get(unit.group().strip()) == '1' else f' {unit.group().strip()}'


LENGTH_LIMIT = 5000
DEPTH_LIMIT = 40
PAIRS_LIMIT = 10_000  # greatest number of element pairs compared without a time limit
COMMA_SPACE = re.compile(r',\s')
COMMA_DECIMAL = re.compile(r'-?(?:0,\d+|\d+,(?:\d{1,2}|\d{4,}))')


def compare_thoroughly(gold: str, answer: str) -> tuple[Relation, str | None]:
    """Compare two answers with computer algebra, if :func:`compare_quickly` couldn't decide.

    An input may hang a parser or exhaust the memory here: for a model's answers use
    :func:`opencompass_gpassk.answers.pool.check_pairs`.

    Returns:
        The relation; and the reason if it is unknown, else None.
    """
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
    return sum(_leaves(part) for part in form.parts) if form.parts else 1


def _has_words(form: Form) -> bool:
    return form.kind is Kind.TEXT or any(_has_words(part) for part in form.parts)


def _holds(form: Form, text: str) -> bool:
    return form.text == text or any(_holds(part, text) for part in form.parts)
