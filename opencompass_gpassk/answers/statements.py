"""The value that a sentence states: *the largest n is 34*, *一共有 **858颗** 糖果*."""

from __future__ import annotations

import re

from opencompass_gpassk.answers.extract import last_statement
from opencompass_gpassk.answers.units import UNITS, WORDS

__all__ = ['stated_value']

LENGTH_LIMIT = 600
NEGATION = re.compile(r"\b(?:not|no|never|neither|nor|cannot|false|incorrect|wrong)\b|n't|不|非|没")
# What makes of "5" a bound, a guess or another number: at least 5, more than 5, minus 5, 5 dozen.
HEDGE = re.compile(
    r'\b(?:at (?:least|most)|(?:more|less|fewer|greater|larger|smaller|bigger|higher|lower|other'
    r'|rather) than|up to|about|around|approximately|roughly|nearly|almost|between|above|below'
    r'|exceeds?|minus|negative|half of|root of|factorial|squared|cubed'
    r'|dozen|hundred|thousand|million|billion|trillion)\b'
    r'|至少|至多|最多|最少|大于|小于|超过|多于|少于|以上|以下|大约|左右|之间|分之|百|千(?![克米])|万|亿|负|根号'
)
MATH = re.compile(r'\$\$([^$]+)\$\$|\$([^$]+)\$|\\\((.+?)\\\)|\\\[(.+?)\\\]', re.DOTALL)
BOLD = re.compile(r'\*\*([^*]+)\*\*')
# A number, a fraction or a percentage, and the unit behind it if it is a known one.
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
    """Return the one value that a sentence states, None if there is none or more than one.

    A sentence with a negation or a bound states none: *the number is not 10*, *at least 10*.
    A known unit behind the value is kept: *the rope is 5 m long* states 5 m.
    """
    sentence = last_statement(sentence).strip().rstrip('.。!！,; ')
    sentence = sentence[-LENGTH_LIMIT:]
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
    """Tell whether a number is no part of a calculation or a name: 5x, 5!, x^5, 5^2, n=5k."""
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
    # people and books count what the question asks for; only measures are kept
    return '' if UNITS.get(unit.group().strip()) == '1' else f' {unit.group().strip()}'
