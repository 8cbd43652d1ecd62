"""Expressions: any text of mathematics that is read as a single value or function."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from opencompass_gpassk.answers.algebra import compare_expressions, constant, fingerprint, is_scalar
from opencompass_gpassk.answers.conditions import COUNTERS, PARAMETER, letters
from opencompass_gpassk.answers.forms.form import DOTS, Form, Parse
from opencompass_gpassk.answers.forms.number import Number, rounds
from opencompass_gpassk.answers.normalise import unspaced
from opencompass_gpassk.answers.sameness import Relation
from opencompass_gpassk.answers.units import UNITS

INFINITE = {'\\infty': 1, '-\\infty': -1}
FREE = COUNTERS | frozenset('ABCK')  # that may have any other name
LETTERS = re.compile(r'(?<![a-zA-Z\\{])[a-zA-Z]{2,}')
RADIANS = re.compile(r'\\pi(?![a-zA-Z])|\\circ')
LENGTHS = re.compile(r'\d+\s?\\cdot\s?\d+')
TIGHT = re.compile(r'([\d.]+)([a-zA-Z]{1,2})')


@dataclass(frozen=True, kw_only=True)
class Expression(Form):
    """An expression in LaTeX.

    Attributes:
        number: The number that it was read as.
    """

    number: Number | None = None

    scalar = True

    @classmethod
    def read(cls, text: str, _: Parse) -> Expression:
        """Read any text."""
        return cls(text=text)

    @classmethod
    def of(cls, form: Form) -> Expression | None:
        """Return any single value as an expression."""
        if isinstance(form, cls):
            return form
        value = form.value()
        number = form if isinstance(form, Number) else None
        return cls(text=value, unit=form.unit, number=number) if value else None

    def is_plain(self) -> bool:
        """Return False: infinity alone is compared without computer algebra."""
        return self.sign() is not None and super().is_plain()

    def sign(self) -> int | None:
        """Return the sign of infinity, None for anything else."""
        return INFINITE.get(self.text.replace(' ', ''))

    def value(self) -> str:
        """Return its LaTeX."""
        return self.text

    def constant(self) -> Fraction | None:
        """Return its value to 30 digits if it is a real constant."""
        return None if self.sign() else constant(self.text)

    def canonical(self) -> str:
        """Return its values at fixed points, or its text where it has none."""
        return fingerprint(self.text) or unspaced(self.text)

    def excludes(self, answer: Form) -> bool:
        """Tell whether it is a single value, and the answer isn't."""
        return answer.sharp and self.is_single()

    def is_single(self) -> bool:
        """Tell whether it is read as a value; it may have no unit vector, nor be 10 × 8."""
        return is_scalar(self.text) and not LENGTHS.fullmatch(self.text)

    def compare(self, answer: Expression) -> Relation:
        """Compare by values; where these differ, by the rule of rounding.

        Raises:
            UnreadableError: If one of them cannot be read.
        """
        texts = _in_radians(self, answer)
        if self.text and unspaced(texts[0]) == unspaced(texts[1]):
            return Relation.SAME
        signs = self.sign(), answer.sign()
        if any(signs):
            return Relation.SAME if signs[0] == signs[1] else Relation.DIFFERENT
        if DOTS in self.text + answer.text:
            return Relation.UNKNOWN
        relation = compare_expressions(*texts)
        words = set(''.join(LETTERS.findall(texts[1])))
        if relation is Relation.SAME and words - set(texts[0]):  # NOT 0, read as a product
            return Relation.UNKNOWN
        if relation is not Relation.DIFFERENT:
            return relation
        tight = TIGHT.fullmatch(self.text) or TIGHT.fullmatch(answer.text)
        if tight and tight[2] in UNITS and tight[1] in texts:  # 5m may be metres
            return Relation.UNKNOWN
        own, other = letters(self.text), letters(answer.text)
        renamed = all(one - two and one - two <= FREE for one, two in ((own, other), (other, own)))
        if renamed or (PARAMETER in self.text and PARAMETER in answer.text):
            return Relation.UNKNOWN  # another constant, or counted from another start
        if unspaced(texts[0]).lower() == unspaced(texts[1]).lower():  # x + C and x + c
            return Relation.UNKNOWN
        return _compare_rounded(self, answer)


def _in_radians(gold: Expression, answer: Expression) -> tuple[str, str]:
    """Return both in radians if one is in degrees and the other has π and no unit."""
    texts = [gold.text, answer.text]
    for index, (one, other) in enumerate(((gold, answer), (answer, gold))):
        degrees = one.unit == 'degree' and not other.unit
        if degrees and RADIANS.search(other.text):  # 180^\\circ k is read in radians, too
            texts[index] = f'({one.text}) \\cdot \\frac{{\\pi}}{{180}}'
    return texts[0], texts[1]


def _compare_rounded(gold: Expression, answer: Expression) -> Relation:
    """Compare constants of which one is a decimal that may be rounded from the other."""
    numbers = []
    for form in (gold, answer):
        value = None if form.number else form.constant()
        numbers.append(form.number if value is None else Number(number=value))
    left, right = numbers
    if left is None or right is None or not (left.digits or right.digits):
        return Relation.DIFFERENT
    return Relation.DIFFERENT if left.percent != right.percent else rounds(left, right)
