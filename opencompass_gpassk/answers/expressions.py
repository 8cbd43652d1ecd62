"""Comparing expressions by their values."""

from __future__ import annotations

import re
from typing import Any

from opencompass_gpassk.answers.latex import has_decimal, read
from opencompass_gpassk.answers.numbers import Number, rounds
from opencompass_gpassk.answers.relation import Relation, all_of
from opencompass_gpassk.answers.values import PRECISION, as_number, names_of, values_at_points

__all__ = ['compare_equations', 'compare_expressions', 'compare_rounded']

TOLERANCE = 1e-100
NOISE = 1e-115  # what is left of 0 computed to so many digits
DECIMAL_TOLERANCE = 1e-6
DECIMAL_DOUBT = 2e-3
DIGITS_LIMIT = 2000  # before the point; more than that is not computed
# A numeral with its base: 1010_2.
BASE = re.compile(r'(\d{1,1000})\s?_\s?\{?\s?(\d+)\s?\}?')


def compare_expressions(gold: str, answer: str) -> Relation:
    """Compare two expressions in LaTeX.

    Raises:
        UnreadableError: If one cannot be read.
    """
    bases = BASE.fullmatch(gold), BASE.fullmatch(answer)
    if any(bases):
        return _compare_bases(gold, answer, *bases)
    relation = compare_read(read(gold), read(answer))
    if relation is Relation.DIFFERENT and (has_decimal(gold) or has_decimal(answer)):
        return _compare_roughly(read(gold), read(answer))
    return relation


def compare_equations(
    gold: tuple[str, str], answer: tuple[str, str], *, flips: bool, rounded: bool = False
) -> Relation:
    """Compare two equations or, unless ``flips``, two inequalities that point the same way.

    With ``rounded`` a number in them may be a rounded one.

    They are the same if the differences of their sides are proportional.
    """
    left = read(f'({gold[0]})-({gold[1]})')
    right = read(f'({answer[0]})-({answer[1]})')
    values = zip(values_at_points(left, right), values_at_points(right, left), strict=True)
    pairs = [pair for pair in values if None not in pair]
    if len(pairs) < 3:
        return Relation.UNKNOWN
    if any(abs(b) < TOLERANCE or abs(a) < TOLERANCE for a, b in pairs):
        return Relation.UNKNOWN
    ratios = [a / b for a, b in pairs]
    if any(abs(ratio - ratios[0]) > TOLERANCE * abs(ratios[0]) for ratio in ratios):
        if rounded or any(has_decimal(side) for side in (*gold, *answer)):
            return Relation.UNKNOWN
        linear = all(_is_polynomial(side) for side in (left, right))
        return Relation.DIFFERENT if linear else Relation.UNKNOWN
    if not flips and not (ratios[0].imag == 0 and ratios[0].real > 0):
        return Relation.DIFFERENT
    return Relation.SAME


def compare_read(gold: Any, answer: Any) -> Relation:
    """Compare two expressions of sympy."""
    from sympy import MatrixBase, MatrixExpr, nan, zoo

    if gold.has(nan, zoo) or answer.has(nan, zoo):  # 1/0, which is not itself plus 1
        return Relation.UNKNOWN
    if gold == answer:
        return Relation.SAME
    if isinstance(gold, MatrixBase) and isinstance(answer, MatrixBase):
        if gold.shape != answer.shape:
            return Relation.DIFFERENT
        return all_of(compare_read(a, b) for a, b in zip(gold.flat(), answer.flat(), strict=True))
    if isinstance(gold, (MatrixBase, MatrixExpr)) or isinstance(answer, (MatrixBase, MatrixExpr)):
        return Relation.UNKNOWN
    pairs = list(zip(values_at_points(gold, answer), values_at_points(answer, gold), strict=True))
    pairs = [pair for pair in pairs if None not in pair]
    constant = not names_of(gold) and not names_of(answer)
    if constant and gold.is_Rational and answer.is_Rational:
        return Relation.DIFFERENT
    if len(pairs) < (1 if constant else 3):
        return _verified(gold, answer)
    if all(_agree(a, b) for a, b in pairs):
        return _confirmed(gold, answer) if constant else Relation.SAME
    if not constant and all(_agree(a, b) for a, b in pairs[:3]):
        return Relation.UNKNOWN  # the same for positive variables: \\sqrt{x^2} and x
    if any(str(name) in ('n', 'k', 'm') for name in names_of(gold)) and _alternates(gold, answer):
        return Relation.UNKNOWN
    return Relation.DIFFERENT


def _agree(first: Any, second: Any) -> bool:
    error = abs(first - second)
    return bool(error <= NOISE or error <= TOLERANCE * max(abs(first), abs(second)))


def _confirmed(gold: Any, answer: Any) -> Relation:
    """Look closer at constants: 2^{400} \\sqrt{2} - 1 and 2^{400} \\sqrt{2} agree to 120 digits."""
    from sympy import Rational, log

    size = abs(gold).evalf(5)
    digits = max(0, int(log(size, 10).evalf(5))) if size.is_positive else 0
    if digits > DIGITS_LIMIT:
        return Relation.UNKNOWN
    # of two roots of large numbers that differ by 1, the values differ late behind the point
    precision = PRECISION + 4 * digits
    error = abs(gold.evalf(precision) - answer.evalf(precision))
    return Relation.SAME if error <= Rational(1, 10 ** (100 + 2 * digits)) else Relation.DIFFERENT


def _compare_roughly(gold: Any, answer: Any) -> Relation:
    """Compare expressions with decimals in them, which may be rounded."""
    pairs = list(zip(values_at_points(gold, answer), values_at_points(answer, gold), strict=True))
    if any(None in pair for pair in pairs):
        return Relation.DIFFERENT
    error = max(abs(a - b) / (max(abs(a), abs(b)) or 1) for a, b in pairs)
    if error <= DECIMAL_TOLERANCE:
        return Relation.SAME
    return Relation.UNKNOWN if error <= DECIMAL_DOUBT else Relation.DIFFERENT


def _verified(gold: Any, answer: Any) -> Relation:
    """Ask math-verify, gold first, about what has no values, such as an unknown function."""
    from math_verify import verify

    return Relation.SAME if verify(gold, answer, timeout_seconds=None) else Relation.UNKNOWN


def _alternates(gold: Any, answer: Any) -> bool:
    """Tell whether one holds what agrees with something else at whole numbers alone."""
    from sympy import Pow, ceiling, cos, floor, sin

    return any(
        expression.has(floor, ceiling, sin, cos)
        or any(power.base.is_negative for power in expression.atoms(Pow))
        for expression in (gold, answer)
    )


def _is_polynomial(expression: Any) -> bool:
    return bool(expression.is_polynomial(*expression.free_symbols))


def compare_rounded(gold: Number | str, answer: Number | str) -> Relation | None:
    """Compare a decimal with the constant it may round; None if neither is a decimal."""
    left = gold if isinstance(gold, Number) else as_number(gold)
    right = answer if isinstance(answer, Number) else as_number(answer)
    if left is None or right is None or not (left.digits or right.digits):
        return None
    if left.percent != right.percent:
        return None
    return rounds(left, right)


def _compare_bases(
    gold: str, answer: str, first: re.Match[str] | None, second: re.Match[str] | None
) -> Relation:
    """Compare numerals such as ``204_5``; a missing base leaves it open."""
    if first and second:
        same = (int(first[1]), first[2]) == (int(second[1]), second[2])
        return Relation.SAME if same else Relation.DIFFERENT
    numeral, other = (first, answer) if first else (second, gold)
    if numeral and other.isdigit() and len(other) < 4000 and 2 <= int(numeral[2]) <= 10:
        digits, base = numeral[1], int(numeral[2])
        if int(other) == int(digits):
            return Relation.UNKNOWN
        valid = max(digits) < str(base) or base == 10
        return Relation.UNKNOWN if valid and int(digits, base) == int(other) else Relation.DIFFERENT
    return Relation.UNKNOWN
