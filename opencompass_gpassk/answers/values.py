"""The values of expressions at fixed points.

Two expressions whose values agree to many digits at several generic points, negative ones among
them, are the same function; this neither hangs as simplification does, nor takes 10^-20 for 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from opencompass_gpassk.answers.latex import UnreadableError, read
from opencompass_gpassk.answers.numbers import Number

__all__ = ['as_number', 'fingerprint', 'names_of', 'values_at_points']

PRECISION = 120  # digits
DENOMINATOR_DIGITS = 9
# Generic points: the i-th variable takes the i-th number of a row.
POINTS = (
    ('1.2394', '0.7193', '2.1377', '1.6091', '0.3911', '2.7713'),
    ('2.8171', '3.3119', '0.5477', '4.1213', '1.9301', '0.8887'),
    ('0.6113', '1.7391', '3.9127', '0.2719', '2.2543', '1.1071'),
    ('-1.4173', '-0.8231', '-2.6311', '-0.3391', '-1.1777', '-3.0703'),
    ('-0.3719', '2.4441', '-1.0937', '3.5173', '-2.7191', '0.6553'),
)


def values_at_points(expression: Any, other: Any) -> list[Any]:
    """Return the values of an expression at the points, None where it has none."""
    import mpmath  # type: ignore[import-untyped]  # it ships no types
    from sympy import Symbol, sympify

    names = sorted(set(names_of(expression)) | set(names_of(other)))
    if len(names) > len(POINTS[0]):
        return [None] * len(POINTS)
    values = []
    for point in POINTS if names else POINTS[:1]:
        chosen = {Symbol(n): sympify(Fraction(v)) for n, v in zip(names, point, strict=False)}
        try:
            value = expression.xreplace(chosen).evalf(PRECISION, maxn=2 * PRECISION)
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
    if names_of(expression):
        return None
    value = values_at_points(expression, expression)[0]
    if value is None or value.imag != 0:
        return None
    import mpmath

    return Number(Fraction(mpmath.nstr(value.real, 30, strip_zeros=False)))


def fingerprint(text: str) -> str | None:
    """Return the rounded values of an expression at the points, None if it has none."""
    try:
        expression = read(text)
    except UnreadableError:
        return None
    values = values_at_points(expression, expression)
    if not values or None in values:
        return None
    if expression.is_Rational and max(map(abs, (expression.p, expression.q))) < 10**4000:
        return str(Fraction(int(expression.p), int(expression.q)))
    names = ','.join(names_of(expression))
    if not names:
        return _shown(values[0])
    return f'{names}:' + ';'.join(_shown(value) for value in values)


def _shown(value: Any) -> str:
    real, imaginary = _digits(value.real), _digits(value.imag)
    return real if imaginary == '0' else f'{real}+{imaginary}i'


def _digits(part: Any) -> str:
    """Return a number as a fraction of small numbers if it is one, else rounded."""
    import mpmath

    if abs(part) < 10**DENOMINATOR_DIGITS:
        with mpmath.workdps(PRECISION):
            exact = Fraction(mpmath.nstr(part, PRECISION, strip_zeros=False))
            near = exact.limit_denominator(10**DENOMINATOR_DIGITS)
        if abs(exact - near) < Fraction(1, 10**80):
            return str(near)
    return str(mpmath.nstr(part, 30))


def names_of(expression: Any) -> list[str]:
    return sorted(symbol.name for symbol in expression.free_symbols)
