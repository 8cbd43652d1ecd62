"""Numbers: exact values, rounded decimals, percentages."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from opencompass_gpassk.answers.forms.form import Form, Parse
from opencompass_gpassk.answers.sameness import Relation
from opencompass_gpassk.answers.units import either

# No answer has as many digits, and results stay below the 4300 digits that Python will print.
DIGITS_LIMIT = 1000
DIGIT = re.compile(r'\d')

GROUPED = re.compile(r'[+-]?[1-9]\d{0,2}(?:(?:,\d{3})+|(?: \d{3})+)(?:\.\d+)?')
PLAIN = re.compile(r'[+-]?(?:\d+\.?\d*|\.\d+)')
# A fraction or a mixed number: -\frac{1}{2}, 3\frac12, 1/2, 3 1/2.
PART = r'\s?(?:\{\s?([+-]?\d+)\s?\}|(\d))'
FRACTION = re.compile(rf'([+-]?)\s?(\d*)\s?\\frac{PART}{PART}')
SLASH = re.compile(
    r'([+-]?)\s?((?:\d+\s(?=\d+\s?/))?)\(?\s?([+-]?\d+)\s?\)?\s?/\s?\(?\s?([+-]?\d+)\s?\)?'
)
# A repeating decimal: 0.1\overline{6}.
REPEATING = re.compile(r'([+-]?)(\d*)\.(\d*)\\(?:overline|bar)\s?\{?(\d+)\}?')
SCIENTIFIC = re.compile(
    r'([+-]?\d+\.?\d*)\s?\\cdot\s?10\s?\^\s?(?:\{\s?([+-]?\d{1,3})\s?\}|(\d))'
    r'|([+-]?\d+\.?\d*)[eE]([+-]?\d{1,3})'
)
SCALES = {
    'dozen': 12, 'hundred': 100, '百': 100, 'thousand': 1000, '千': 1000, '万': 10**4,
    'million': 10**6, '亿': 10**8, 'billion': 10**9,
}  # fmt: skip
SCALED = re.compile(rf'([\d.,]+)\s?(?:\\text\{{\s?)?({either(SCALES)})\s?\}}?')
NUMBER_WORDS = {
    word: str(number)
    for words in (
        'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen '
        'fifteen sixteen seventeen eighteen nineteen twenty',
        '零 一 二 三 四 五 六 七 八 九',
        '〇 壹 两',
    )
    for number, word in enumerate(words.split())
}
NUMBER_WORDS |= {  # 十三, 二十, 二十四
    f'{tens}十{ones}': f'{ten}{one}'
    for ten, tens in enumerate(('', *'二三四五六七八九'), 1)
    for one, ones in enumerate(('', *'一二三四五六七八九'))
}


@dataclass(frozen=True, kw_only=True)
class Number(Form):
    """A rational number as written.

    Attributes:
        number: Its exact value; a percentage of 28 is 28.
        digits: Significant digits of a decimal with a fractional part, 0 for any other number.
        places: Digits after the decimal point.
        percent: Whether a percent sign follows.
    """

    number: Fraction
    digits: int = 0
    places: int = 0
    percent: bool = False

    scalar = True

    @classmethod
    def read(cls, text: str, _: Parse) -> Number | None:
        """Read a number of digits, or a word for a small one."""
        return parse_number(NUMBER_WORDS.get(text.lower(), text))

    @property
    def sharp(self) -> bool:  # type: ignore[override]  # 100,200 may be two numbers
        """Tell whether it can't be several numbers."""
        return ',' not in self.text

    def canonical(self) -> str:
        """Return the value as a fraction in lowest terms."""
        return str(self.constant())

    def constant(self) -> Fraction:
        """Return the exact value."""
        return self.number / (100 if self.percent else 1)

    def value(self) -> str:
        """Return the value as a fraction in LaTeX."""
        value = self.constant()
        if value.denominator == 1:
            return str(value.numerator)
        return f'\\frac{{{value.numerator}}}{{{value.denominator}}}'

    def compare(self, answer: Number) -> Relation:
        """Compare two numbers; ``28%`` is both 28 and 0.28, as a question may ask for percent.

        Of a gold answer of at most 1, which may be a share, a percentage is not the number.

        Unequal numbers are the same only as :func:`rounds` allows.
        """
        if self.percent != answer.percent:
            pct, other = (self, answer) if self.percent else (answer, self)
            if other.number == pct.number / 100:
                return Relation.SAME
            if other.number != pct.number:
                shares = (replace(n, number=n.constant(), percent=False) for n in (self, answer))
                return rounds(*(replace(n, places=n.places + 2) if n.digits else n for n in shares))
            return Relation.SAME if self.percent or self.number > 1 else Relation.UNKNOWN
        return Relation.SAME if self.number == answer.number else rounds(self, answer)

    def is_single(self) -> bool:
        """Return True."""
        return True


def parse_number(text: str) -> Number | None:
    """Read a number: integer, decimal, fraction, mixed, scientific, grouped; None if it is none."""
    bare = text.rstrip('% ').strip()
    if len(text) > DIGITS_LIMIT or not DIGIT.search(text) or bare.startswith('--'):
        return None
    percent = text.endswith('%')
    found = _decimal(bare) or _fraction(bare) or _repeating(bare)
    if not found and not percent:
        found = _scaled(text)
    return found and replace(found, text=text, percent=percent)


def _decimal(text: str) -> Number | None:
    if GROUPED.fullmatch(text):
        text = text.replace(',', '').replace(' ', '')
    scientific = SCIENTIFIC.fullmatch(text)
    if not (scientific or PLAIN.fullmatch(text)):
        return None
    head, power = filter(None, scientific.groups()) if scientific else (text, '0')
    part = head.partition('.')[2]
    digits = len(head.lstrip('+-0.').replace('.', '')) if part else 0
    value = Fraction(Decimal(head)) * Fraction(10) ** int(power)
    return Number(number=value, digits=digits, places=len(part) - int(power))


def _fraction(text: str) -> Number | None:
    match = FRACTION.fullmatch(text) or SLASH.fullmatch(text)
    if not match:
        return None
    sign, whole, *parts = [group for group in match.groups() if group is not None]
    above, below = (int(part) for part in parts)
    if not below or (whole and not 0 < above < below):
        return None
    value = int(whole or 0) + Fraction(above, below)
    return Number(number=-value if sign == '-' else value)


def _repeating(text: str) -> Number | None:
    match = REPEATING.fullmatch(text)
    if not match:
        return None
    sign, whole, before, cycle = match.groups()
    start, scale = int(f'{whole}{before}' or '0'), 10 ** len(before)
    value = (start + Fraction(int(cycle), 10 ** len(cycle) - 1)) / scale
    return Number(number=-value if sign == '-' else value)


def _scaled(text: str) -> Number | None:
    match = SCALED.fullmatch(text)
    found = _decimal(match[1]) if match else None
    if not match or not found or not found.number:  # 0 dozen is no number that one writes
        return None
    return Number(number=found.number * SCALES[match[2]])


GOLD_DIGITS = 4  # significant digits that a decimal gold answer needs to stand for a value
ANSWER_DIGITS = 6  # and those that a decimal answer needs
FLOAT_DIGITS = 15  # that a floating point number surely has; the next may be noise


def rounds(gold: Number, answer: Number) -> Relation:
    """Return whether one of two unequal numbers stands for the other: the rule of rounding.

    A decimal answer is the same as an exact gold answer only if it is that value, rounded to the
    answer's own digits, and has at least 6 significant digits. A decimal gold answer is the same as
    an answer that rounds to it, if it has at least 4 of them, or that it was cut off from, if it
    has at least 6. With fewer digits, for an answer that was cut off, and for one with fewer digits
    than a decimal gold answer the result is unknown; as it is for two decimals if the gold answer
    has one or two places, as of money. All else is different. Digits count from the first that
    isn't 0: the size of a number does not matter.
    """
    decimal, exact = (gold, answer) if gold.digits else (answer, gold)
    if gold.digits and answer.digits and answer.places < gold.places:
        decimal, exact = answer, gold
    if not decimal.digits or exact.number.denominator == 1 or exact.number * decimal.number <= 0:
        return Relation.DIFFERENT
    ulp = Fraction(10) ** (max(0, decimal.digits - FLOAT_DIGITS) - decimal.places)
    error = abs(exact.number - decimal.number)
    cut_off = abs(decimal.number) < abs(exact.number) and error < ulp
    rounded = error <= ulp / 2
    if not (rounded or cut_off):
        return Relation.DIFFERENT
    if gold.digits and answer.digits and gold.places < 3:  # 12.503 is not 12.50 of money
        return Relation.UNKNOWN
    if decimal is gold:
        enough = decimal.digits >= (GOLD_DIGITS if rounded else ANSWER_DIGITS)
    else:
        enough = rounded and not gold.digits and decimal.digits >= ANSWER_DIGITS
    return Relation.SAME if enough else Relation.UNKNOWN
