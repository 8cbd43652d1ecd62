"""Expressions: read by math-verify, compared by their values at fixed points.

Two expressions whose values agree to many digits at several generic points, negative ones among
them, are the same function; this neither hangs as simplification does, nor takes 10^-20 for 0.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any

from opencompass_gpassk.answers.numbers import Number, rounds
from opencompass_gpassk.answers.relation import Relation, all_of

__all__ = ['UnreadableError', 'compare_equations', 'compare_expressions', 'fingerprint']

PRECISION = 40
TOLERANCE = 1e-25
DECIMAL_TOLERANCE = 1e-6
DECIMAL_DOUBT = 2e-3
# Generic points: the i-th variable takes the i-th number of a row.
POINTS = (
    ('1.2394', '0.7193', '2.1377', '1.6091', '0.3911', '2.7713'),
    ('2.8171', '3.3119', '0.5477', '4.1213', '1.9301', '0.8887'),
    ('0.6113', '1.7391', '3.9127', '0.2719', '2.2543', '1.1071'),
    ('-1.4173', '-0.8231', '-2.6311', '-0.3391', '-1.1777', '-3.0703'),
    ('-0.3719', '2.4441', '-1.0937', '3.5173', '-2.7191', '0.6553'),
)
# What math-verify reads wrongly or in part.
ALLOWED = re.compile(r"[0-9a-zA-Z+\-*/^_(){}\[\]|!.,'\s\\&%]*")
DECIMAL = re.compile(r'(?<![\d.])(\d*)\.(\d+)(?![\d.])')
DEGREES = re.compile(r'\^\{\\circ\}')
ROOT_POWER = re.compile(r'(\\sqrt(?:\[[^\]]*\])?\{[^{}]*\})(?=\^)')
FACTORS = re.compile(r'(\^(?:\d|\{[^{}]*\}))\s+(?=\d)')
UNSAFE = re.compile(r'\d\s+\d|\\text|\\ldots|\\cdots|\\dots|[\u3400-\u9fff]|\\pm|\\mp|\.\.\.')
BASE = re.compile(r'(\d+)\s?_\s?\{?\s?(\d+)\s?\}?')


class UnreadableError(ValueError):
    """An expression that cannot be read; ``args[0]`` is its text."""


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
    pairs = [
        p for p in zip(_values(left, right), _values(right, left), strict=True) if None not in p
    ]
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


def fingerprint(text: str) -> str | None:
    """Return the rounded values of an expression at the points, None if it has none."""
    try:
        expression = read(text)
    except UnreadableError:
        return None
    values = _values(expression, expression)
    if not values or None in values:
        return None
    names = ','.join(_names(expression))
    if not names:
        return _shown(values[0])
    return f'{names}:' + ';'.join(_shown(value) for value in values)


def _shown(value: Any) -> str:
    import mpmath

    real, imaginary = (mpmath.nstr(part, 15) for part in (value.real, value.imag))
    return real if imaginary in ('0', '0.0') else f'{real}+{imaginary}i'


@lru_cache(maxsize=256)
def read(text: str) -> Any:
    """Read an expression in LaTeX with math-verify; decimals become exact.

    Raises:
        UnreadableError: If it cannot be read.
    """
    from math_verify import LatexExtractionConfig, parse
    from sympy import Basic, Float, I, MatrixBase, Rational, Symbol
    from sympy.core.relational import Relational

    if not text or not ALLOWED.fullmatch(text) or UNSAFE.search(FACTORS.sub(r'\1', text)):
        raise UnreadableError(text)
    latex = FACTORS.sub(r'\1\\cdot ', text)
    latex = DEGREES.sub(r'\\cdot\\frac{\\pi}{180}', latex)
    latex = ROOT_POWER.sub(r'(\1)', latex)
    latex = DECIMAL.sub(_as_fraction, latex)
    found = parse(
        f'${latex}$',
        extraction_config=[LatexExtractionConfig()],
        fallback_mode='no_fallback',
        parsing_timeout=None,
    )
    if len(found) != 1 or not isinstance(found[0], (Basic, MatrixBase)):
        raise UnreadableError(text)
    expression = found[0]
    if isinstance(expression, Relational) or not hasattr(expression, 'free_symbols'):
        raise UnreadableError(text)
    try:
        expression = expression.doit()
        floats = {f: Rational(str(f)) for f in expression.atoms(Float)}
        imaginary = {s: I for s in expression.free_symbols if s.name == 'i'}
        plain = {s: Symbol(s.name) for s in expression.free_symbols if s.name != 'i'}
        expression = expression.xreplace({**floats, **imaginary, **plain})
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise UnreadableError(text) from error
    return expression


def _as_fraction(match: re.Match[str]) -> str:
    whole, part = match.groups()
    return f'(\\frac{{{int(whole + part)}}}{{{10 ** len(part)}}})'


def is_scalar(text: str) -> bool:
    """Tell whether an expression is read as a single value."""
    from sympy import Expr

    try:
        return isinstance(read(text), Expr)
    except UnreadableError:
        return False


def has_decimal(text: str) -> bool:
    """Tell whether an expression holds a decimal, which may be rounded."""
    return bool(re.search(r'\d\.\d', text))


def compare_read(gold: Any, answer: Any) -> Relation:
    """Compare two expressions of sympy."""
    from sympy import MatrixBase, MatrixExpr

    if gold == answer:
        return Relation.SAME
    if isinstance(gold, MatrixBase) and isinstance(answer, MatrixBase):
        if gold.shape != answer.shape:
            return Relation.DIFFERENT
        return all_of(compare_read(a, b) for a, b in zip(gold.flat(), answer.flat(), strict=True))
    if isinstance(gold, (MatrixBase, MatrixExpr)) or isinstance(answer, (MatrixBase, MatrixExpr)):
        return Relation.UNKNOWN
    pairs = list(zip(_values(gold, answer), _values(answer, gold), strict=True))
    pairs = [pair for pair in pairs if None not in pair]
    constant = not _names(gold) and not _names(answer)
    if len(pairs) < (1 if constant else 3):
        return _verified(gold, answer)
    if all(abs(a - b) <= TOLERANCE * max(abs(a), abs(b)) for a, b in pairs):
        return Relation.SAME
    if any(str(name) in ('n', 'k', 'm') for name in _names(gold)) and _alternates(gold, answer):
        return Relation.UNKNOWN
    return Relation.DIFFERENT


def _compare_roughly(gold: Any, answer: Any) -> Relation:
    """Compare expressions with decimals in them, which may be rounded."""
    pairs = list(zip(_values(gold, answer), _values(answer, gold), strict=True))
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


def _names(expression: Any) -> list[str]:
    return sorted(symbol.name for symbol in expression.free_symbols)


def _values(expression: Any, other: Any) -> list[Any]:
    """Return the values of an expression at the points, None where it has none."""
    import mpmath
    from sympy import Symbol, sympify

    names = sorted(set(_names(expression)) | set(_names(other)))
    if len(names) > len(POINTS[0]):
        return [None] * len(POINTS)
    values = []
    for point in POINTS if names else POINTS[:1]:
        chosen = {Symbol(n): sympify(Fraction(v)) for n, v in zip(names, point, strict=False)}
        try:
            value = expression.xreplace(chosen).evalf(PRECISION)
            with mpmath.workdps(PRECISION):
                number = value._to_mpmath(mpmath.mp.prec, allow_ints=False)
                number = mpmath.mpc(number)
        except (TypeError, ValueError, AttributeError, ArithmeticError, NotImplementedError):
            number = None
        finite = number is not None and mpmath.isfinite(number)
        values.append(number if finite else None)
    return values


def as_number(text: str) -> Number | None:
    """Return a constant's value to many digits, None if it is none or not real."""
    try:
        expression = read(text)
    except UnreadableError:
        return None
    if _names(expression):
        return None
    value = _values(expression, expression)[0]
    if value is None or value.imag != 0:
        return None
    import mpmath

    return Number(Fraction(mpmath.nstr(value.real, 30, strip_zeros=False)))


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
    if numeral and other.isdigit() and len(other) < 4000:
        if int(other) != int(numeral[1]):
            return Relation.DIFFERENT
        return Relation.SAME if first else Relation.UNKNOWN
    return Relation.UNKNOWN
