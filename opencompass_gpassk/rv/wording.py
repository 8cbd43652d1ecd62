"""How numbers, answers and formulas are written in a question: LaTeX, without dollar signs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

__all__ = ['count', 'latex', 'listed', 'listed_in_chinese', 'polynomial', 'root', 'signed']


def latex(value: Any) -> str:
    r"""Write an answer or a number; a list as ``1, 2``, a tuple as ``(1, 2)``.

    Raises:
        TypeError: If the value is a float, a bool or of another type that is no exact answer.

    >>> latex(Fraction(-3, 4))
    '-\\frac{3}{4}'
    """
    if isinstance(value, (bool, float)):
        raise TypeError(f'{value!r} is a {type(value).__name__}; answers are exact')
    if isinstance(value, (int, str)):
        return str(value)
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        sign = '-' if value < 0 else ''
        return rf'{sign}\frac{{{abs(value.numerator)}}}{{{value.denominator}}}'
    if isinstance(value, (list, tuple)):
        inner = ', '.join(map(latex, value))
        return inner if isinstance(value, list) else f'({inner})'
    import sympy

    if not isinstance(value, sympy.Basic) or value.has(sympy.Float):
        raise TypeError(f'{value!r} is a {type(value).__name__}; answers are exact')
    return str(sympy.latex(value))


def root(square: int | Fraction) -> Any:
    """Return the square root in simplest radical form."""
    import sympy

    return sympy.sqrt(square)


def signed(value: Any) -> str:
    """Write a number that follows another: ``+ 3`` or ``- 3``."""
    return f'- {latex(-value)}' if value < 0 else f'+ {latex(value)}'


def polynomial(coefficients: Sequence[Any], variable: str = 'x') -> str:
    """Write a polynomial of degree 9 at most, the coefficients from the highest power down.

    >>> polynomial([1, 0, -3, 2])
    'x^3 - 3x + 2'
    """
    degree = len(coefficients) - 1
    text = ''
    for power, factor in zip(range(degree, -1, -1), coefficients, strict=True):
        if factor == 0:
            continue
        body = variable if power == 1 else f'{variable}^{power}' if power else ''
        size = '' if abs(factor) == 1 and power else latex(abs(factor))
        sign = ('-' if factor < 0 else '') if not text else (' - ' if factor < 0 else ' + ')
        text += sign + size + body
    return text or '0'


def listed(values: Iterable[Any], last: str = ' and ', comma: str = ', ') -> str:
    """Write numbers in a sentence: ``$1$, $2$ and $3$``."""
    texts = [f'${latex(value)}$' for value in values]
    return comma.join(texts[:-1]) + last + texts[-1] if len(texts) > 1 else ''.join(texts)


def listed_in_chinese(values: Iterable[Any]) -> str:
    """Write numbers in a Chinese sentence: ``$1$、$2$ 和 $3$``."""
    return listed(values, ' 和 ', '、')


def count(number: int, noun: str) -> str:
    """Write a number of things: ``$1$ ball``, ``$2$ balls``."""
    return f'${number}$ {noun if number == 1 else noun + "s"}'
