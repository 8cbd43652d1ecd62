"""Numbers as written in answers: exact values, rounded decimals, percentages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction

__all__ = ['Number', 'Relation', 'all_of', 'compare_numbers', 'parse_number']


class Relation(str, Enum):
    """Whether an answer equals the gold answer; ``unknown`` if no rule can tell."""

    SAME = 'same'
    DIFFERENT = 'different'
    UNKNOWN = 'unknown'


def all_of(relations: Iterable[Relation]) -> Relation:
    """Return the relation of two wholes from the relations of their parts."""
    found = Relation.SAME
    for relation in relations:
        if relation is Relation.DIFFERENT:
            return relation
        if relation is Relation.UNKNOWN:
            found = relation
    return found


# No answer has as many digits, and results stay below the 4300 digits that Python will print.
DIGITS_LIMIT = 1000

GROUPED = re.compile(r'[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+|(?: \d{3})+)(?:\.\d+)?')
PLAIN = re.compile(r'[+-]?(?:\d+\.?\d*|\.\d+)')
FRACTION = re.compile(
    r'([+-]?)\s?\\frac\s?(?:\{\s?([+-]?\d+)\s?\}|(\d))\s?(?:\{\s?([+-]?\d+)\s?\}|(\d))'
)
# Repeating decimals: 0.1\overline{6}, 0.\dot{3}, 0.\dot{2}\dot{7}, 0.\dot{1}4\dot{2}.
REPEATING = re.compile(
    r'([+-]?)(\d*)\.(\d*)(?:\\(?:overline|bar)\s?\{?(\d+)\}?'
    r'|\\dot\s?\{?(\d)\}?(?:(\d*)\\dot\s?\{?(\d)\}?)?)'
)
SLASH = re.compile(r'([+-]?)\s?\(?\s?([+-]?\d+)\s?\)?\s?/\s?\(?\s?([+-]?\d+)\s?\)?')
MIXED = re.compile(
    r'([+-]?)\s?(\d+)\s?\\frac\s?(?:\{\s?(\d+)\s?\}|(\d))\s?(?:\{\s?(\d+)\s?\}|(\d))'
    r'|([+-]?)\s?(\d+)\s(\d+)\s?/\s?(\d+)'
)
SCIENTIFIC = re.compile(
    r'([+-]?\d+\.?\d*)\s?\\cdot\s?10\s?\^\s?(?:\{\s?([+-]?\d{1,3})\s?\}|(\d))'
    r'|([+-]?\d+\.?\d*)[eE]([+-]?\d{1,3})'
)


@dataclass(frozen=True)
class Number:
    """A rational number as written.

    Attributes:
        value: Its exact value; a percentage of 28 is 28.
        digits: Significant digits of a decimal with a fractional part, 0 for any other number.
        places: Digits after the decimal point.
        percent: Whether a percent sign follows.
    """

    value: Fraction
    digits: int = 0
    places: int = 0
    percent: bool = False


def parse_number(text: str) -> Number | None:
    """Read a number: integer, decimal, fraction, mixed, scientific, grouped; None if it is none."""
    if not text or len(text) > DIGITS_LIMIT:
        return None
    percent = text.endswith('%')
    text = text.rstrip('% ').strip()
    if text.startswith('--'):
        return None
    found = _decimal(text) or _fraction(text) or _repeating(text)
    if found and percent:
        return Number(found.value, found.digits, found.places, True)
    return found


def _decimal(text: str) -> Number | None:
    if GROUPED.fullmatch(text):
        text = text.replace(',', '').replace(' ', '')
    if PLAIN.fullmatch(text):
        whole, _, part = text.lstrip('+-').partition('.')
        digits = len((whole + part).lstrip('0')) if part else 0
        return Number(Fraction(Decimal(text)), digits, len(part))
    match = SCIENTIFIC.fullmatch(text)
    if match:
        head = match.group(1) or match.group(4)
        power = int(match.group(2) or match.group(3) or match.group(5))
        part = head.partition('.')[2]
        digits = len(head.lstrip('+-0.').replace('.', '')) if part else 0
        value = Fraction(Decimal(head)) * Fraction(10) ** power
        return Number(value, digits, len(part) - power)
    return None


def _fraction(text: str) -> Number | None:
    match = FRACTION.fullmatch(text) or SLASH.fullmatch(text)
    if match:
        sign, *rest = [group for group in match.groups() if group is not None]
        above, below = int(rest[0]), int(rest[1])
        return Number(Fraction(-above if sign == '-' else above, below)) if below else None
    match = MIXED.fullmatch(text)
    if match:
        sign, *rest = [group for group in match.groups() if group is not None]
        whole, above, below = (int(group) for group in rest)
        if not 0 < above < below:
            return None
        value = whole + Fraction(above, below)
        return Number(-value if sign == '-' else value)
    return None


def _repeating(text: str) -> Number | None:
    match = REPEATING.fullmatch(text)
    if not match:
        return None
    sign, whole, before, *cycles = match.groups()
    cycle = ''.join(part for part in cycles if part)
    scale = 10 ** len(before)
    value = Fraction(int(f'{whole}{before}' or '0'), scale)
    value += Fraction(int(cycle), scale * (10 ** len(cycle) - 1))
    return Number(-value if sign == '-' else value)


def compare_numbers(gold: Number, answer: Number) -> Relation:
    """Compare two numbers; ``28%`` is both 28 and 0.28, as a question may ask for percent.

    Unequal numbers are the same only as :func:`rounds` allows.
    """
    if gold.percent != answer.percent:
        pct, other = (gold, answer) if gold.percent else (answer, gold)
        same = other.value in (pct.value, pct.value / 100)
        return Relation.SAME if same else Relation.DIFFERENT
    if gold.value == answer.value:
        return Relation.SAME
    return rounds(gold, answer)


GOLD_DIGITS = 4  # significant digits that a decimal gold answer needs to stand for a value
ANSWER_DIGITS = 6  # and those that a decimal answer needs


def rounds(gold: Number, answer: Number) -> Relation:
    """Return whether one of two unequal numbers stands for the other: the rule of rounding.

    A decimal answer is the same as an exact gold answer only if it is that value, rounded to the
    answer's own digits, and has at least 6 significant digits. A decimal gold answer is the same as
    an answer that rounds to it, if it has at least 4 of them, or that it was cut off from, if it
    has at least 6. With fewer digits, for an answer that was cut off, and for one with fewer digits
    than a decimal gold answer the result is unknown. All else is different. Digits count from the
    first that isn't 0: the size of a number does not matter.
    """
    decimal, exact = (gold, answer) if gold.digits else (answer, gold)
    if gold.digits and answer.digits and answer.places < gold.places:
        decimal, exact = answer, gold
    if not decimal.digits or exact.value.denominator == 1 or exact.value * decimal.value <= 0:
        return Relation.DIFFERENT
    ulp = Fraction(10) ** -decimal.places
    error = abs(exact.value - decimal.value)
    cut_off = abs(decimal.value) < abs(exact.value) and error < ulp
    rounded = error <= ulp / 2
    if not (rounded or cut_off):
        return Relation.DIFFERENT
    if decimal is gold:
        enough = decimal.digits >= (GOLD_DIGITS if rounded else ANSWER_DIGITS)
    else:
        enough = rounded and not gold.digits and decimal.digits >= ANSWER_DIGITS
    return Relation.SAME if enough else Relation.UNKNOWN
