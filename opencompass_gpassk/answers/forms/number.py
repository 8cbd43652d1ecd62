"""Numbers: exact values, rounded decimals, percentages, numerals of a base."""

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
# Repeating decimals: 0.1\overline{6}, 0.\dot{3}, 0.\dot{2}\dot{7}, 0.\dot{1}4\dot{2}.
REPEATING = re.compile(
    r'([+-]?)(\d*)\.(\d*)(?:\\(?:overline|bar)\s?\{?(\d+)\}?'
    r'|\\dot\s?\{?(\d)\}?(?:(\d*)\\dot\s?\{?(\d)\}?)?)'
)
SCIENTIFIC = re.compile(
    r'([+-]?\d+\.?\d*)\s?\\cdot\s?10\s?\^\s?(?:\{\s?([+-]?\d{1,3})\s?\}|(\d))'
    r'|([+-]?\d+\.?\d*)[eE]([+-]?\d{1,3})'
)
SCALES = {
    'dozen': 12, 'hundred': 100, '百': 100, 'thousand': 1000, '千': 1000, '万': 10**4,
    'million': 10**6, '亿': 10**8, 'billion': 10**9,
}  # fmt: skip
SCALED = re.compile(rf'([\d.,]+)\s?(?:\\text\{{\s?)?({either(SCALES)})\s?\}}?')
ORDINAL = re.compile(r'(\d+)\s?(?:\^\s?\{?)?\s?(?:\\text\{)?(?:st|nd|rd|th)\}{0,2}')
# An angle in degrees, minutes and seconds.
SEXAGESIMAL = re.compile(
    r"(-?)(\d+)\s?\^\{\\circ\}\s?(\d{1,2}(?:\.\d+)?)\s?(?:'|\^\{\\prime\}|分)"
    r"(?:\s?(\d{1,2}(?:\.\d+)?)\s?(?:''|\"|\^\{\\prime\s?\\prime\}|秒))?"
)
# A numeral with its base: 1010_2, (1010)_{(2)}, 1010 base 2.
BASE = re.compile(
    r'\(?((?=[A-F]*\d)[\dA-F]{1,1000})\)?'
    r'(?:\s?_\s?\{?\s?\(?(?:\\text\{)?(?:base )?(\d{1,2}|[a-z]{3,7})\}?\)?\s?\}?'
    r'|\s?\\?(?:text\{)?\s?\(?(?:in )?base[ -]?(\d{1,2}|[a-z]{3,7})\)?\s?\}?)'
)
NUMBER_WORDS = {
    word: str(number)
    for words in (
        'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen '
        'fifteen sixteen seventeen eighteen nineteen',
        'zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth',
    )
    for number, word in enumerate(words.split())
}
TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'
for _n, _word in enumerate(TENS.split(), 2):
    NUMBER_WORDS |= {
        f'{_word}-{unit}': f'{_n}{digit}'
        for unit, digit in NUMBER_WORDS.items()
        if digit in '123456789' and not unit.endswith(('th', 'st', 'nd', 'rd'))
    } | {_word: f'{_n}0'}
CHINESE_DIGITS = {
    char: n
    for n, chars in enumerate(['零〇', '一', '二两', '三', '四', '五', '六', '七', '八', '九'])
    for char in chars
}
CHINESE_TENS = {'十': 10, '百': 100, '千': 1000}
CHINESE_LIMIT = 40  # characters
# 三千五 may be 3005 or 3500; and 百, 万 or 亿 alone.
SHORTENED = re.compile(
    r'[百千万亿][一二两三四五六七八九]$|(?:^|[^百])分之[百千万亿]|^[正负]?[百千万亿](?!分之)'
)
CHINESE = re.compile(
    r'(负?)(?:(百|[零〇一二两三四五六七八九十百千万亿]+)分之)?([零〇一二两三四五六七八九十百千万亿]+)'
)


@dataclass(frozen=True, kw_only=True)
class Number(Form):
    """A rational number as written.

    Attributes:
        number: Its exact value; a percentage of 28 is 28.
        digits: Significant digits of a decimal with a fractional part, 0 for any other number.
        places: Digits after the decimal point.
        percent: Whether a percent sign follows.
        base: The base of a numeral that names it, else 0.
        numeral: The digits of a numeral with a base.
    """

    number: Fraction
    digits: int = 0
    places: int = 0
    percent: bool = False
    base: int = 0
    numeral: str = ''

    scalar = True

    @classmethod
    def read(cls, text: str, _: Parse) -> Number | None:
        """Read a number of digits, or a word for a small one."""
        return parse_number(NUMBER_WORDS.get(text.lower(), text)) or _chinese(text)

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

        Unequal numbers are the same only as :func:`rounds` allows. A numeral with a base is not
        told from the same digits without one: a question may say the base.
        """
        if self.base != answer.base:
            unsaid = self.written() == answer.written() and not self.base * answer.base
            doubt = unsaid or self.number == answer.number
            return Relation.UNKNOWN if doubt else Relation.DIFFERENT
        if self.percent != answer.percent:
            pct, other = (self, answer) if self.percent else (answer, self)
            if other.number == pct.number / 100:
                return Relation.SAME
            if other.number != pct.number:
                shares = (replace(n, number=n.constant(), percent=False) for n in (self, answer))
                return rounds(*(replace(n, places=n.places + 2) if n.digits else n for n in shares))
            return Relation.SAME if self.percent or self.number > 1 else Relation.UNKNOWN
        return Relation.SAME if self.number == answer.number else rounds(self, answer)

    def written(self) -> str:
        """Return its digits as they were written, whatever their base."""
        return self.numeral or str(self.number)

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
        found = _scaled(text) or _ordinal(text) or _sexagesimal(text) or _numeral(text)
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
    sign, whole, before, *cycles = match.groups()
    cycle = ''.join(filter(None, cycles))
    scale = 10 ** len(before)
    value = Fraction(int(f'{whole}{before}' or '0'), scale)
    value += Fraction(int(cycle), scale * (10 ** len(cycle) - 1))
    return Number(number=-value if sign == '-' else value)


def _scaled(text: str) -> Number | None:
    match = SCALED.fullmatch(text)
    found = _decimal(match[1]) if match else None
    if not match or not found or not found.number:  # 0 dozen is no number that one writes
        return None
    return Number(number=found.number * SCALES[match[2]])


def _ordinal(text: str) -> Number | None:
    match = ORDINAL.fullmatch(text)
    return Number(number=Fraction(match[1])) if match else None


def _sexagesimal(text: str) -> Number | None:
    match = SEXAGESIMAL.fullmatch(text)
    if not match:
        return None
    value = Fraction(match[2]) + Fraction(match[3]) / 60 + Fraction(match[4] or 0) / 3600
    return Number(number=-value if match[1] else value, unit='degree')


def _numeral(text: str) -> Number | None:
    match = BASE.fullmatch(text)
    if not match:
        return None
    said = match[2] or match[3]
    named = NUMBER_WORDS.get(said, said)
    base = int(named) if named.isdigit() else 0
    if not 2 <= base <= 16 or any(int(digit, 16) >= base for digit in match[1]):
        return None
    return Number(number=Fraction(int(match[1], base)), base=base, numeral=match[1])


def _chinese(text: str) -> Number | None:
    """Read a number in Chinese: 负七, 二十四, 三分之二, 百分之二十五."""
    match = CHINESE.fullmatch(text)
    if not match or len(text) > CHINESE_LIMIT or SHORTENED.search(text):
        return None
    sign, below, above = match.groups()
    value = Fraction(-1 if sign == '负' else 1) * _chinese_integer(above)
    if below == '百':
        return Number(text=text, number=value, percent=True)
    under = _chinese_integer(below) if below else 1
    return Number(text=text, number=value / under) if under else None


def _chinese_integer(text: str) -> int:
    """Return the value of an integer in Chinese: digits before tens, tens before 万 and 亿."""
    for char, size in (('亿', 10**8), ('万', 10**4)):
        above, found, below = text.rpartition(char)
        if found:
            return _chinese_integer(above) * size + _chinese_integer(below)
    if not CHINESE_TENS.keys() & set(text):
        return int(''.join(str(CHINESE_DIGITS[char]) for char in text) or '0')
    total, digit = 0, 0
    for char in text:
        if char in CHINESE_TENS:
            total += (digit or 1) * CHINESE_TENS[char]
            digit = 0
        else:
            digit = CHINESE_DIGITS[char]
    return total + digit


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
