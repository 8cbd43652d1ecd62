"""Reading expressions in LaTeX, with math-verify."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

__all__ = ['UnreadableError', 'has_decimal', 'is_scalar', 'read']

# The characters of what math-verify reads; it skips others, such as the prime of f'.
ALLOWED = re.compile(r'[0-9a-zA-Z+\-*/^_(){}\[\]|!.,\s\\&%]*')
DECIMAL = re.compile(r'(?<![\d.])(\d*)\.(\d+)(?![\d.])')
DEGREES = re.compile(r'\^\{\\circ\}')
# A root before a power, of which the parser would take the power into the root.
ROOT_POWER = re.compile(r'(\\sqrt(?:\[[^\]]*\])?\{[^{}]*\})(?=\^)')
# A power and a number after a space: 2^3 5^2 is a product.
FACTORS = re.compile(r'(\^(?:\d|\{[^{}]*\}))\s+(?=\d)')
# Two numbers in a row; 1/2x, which may be (1/2)x or 1/(2x); x2, which may be x^2 or 2x; dots, ±,
# and permutations, A_5^2.
UNSAFE = re.compile(
    r'\d\s+\d|/\s?\d+\s?(?:[a-zA-Z(]|\\(?!cdot|r|\\|[%}]|end))'
    r'|\\text|\\ldots|\\cdots|\\dots|\.\.\.|\\pm|\\mp'
    r'|(?<![a-zA-Z\\])(?:[AP]_\{?\d+\}?\^|[a-zA-Z]+\d)'
)
# A mixed number in an expression: 1\frac{1}{2}\pi.
MIXED = re.compile(r'(?<![\d.^_}])(\d+)\s?(\\frac)\{(\d+)\}\{(\d+)\}')
# One-letter bases and arguments in a row: \log_2 8.
LOG_BASE = re.compile(r'(\\log)\s?_\s?(\w)\s')
# Combinations of 5 things, 2 at a time, as they are written in Chinese: C_5^2.
COMBINATIONS = re.compile(r'(?<![a-zA-Z\\])C_\{?(\d+)\}?\^\{?(\d+)\}?(?!\d)')
# Vectors by their units, 2\vec{i} + 3\vec{j} or 2i + 3j.
VECTOR = re.compile(r'\\(?:vec|hat|overrightarrow)(?![a-zA-Z])|(?<![a-zA-Z\\])[jk](?![a-zA-Z])')


class UnreadableError(ValueError):
    """An expression that cannot be read.

    Attributes:
        text: Its text.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


@lru_cache(maxsize=256)
def read(text: str) -> Any:
    """Read an expression in LaTeX with math-verify; decimals become exact.

    Raises:
        UnreadableError: If it cannot be read.
    """
    from latex2sympy2_extended.math_normalization import NormalizationConfig, normalize_latex
    from sympy import Basic, Float, I, MatrixBase, Rational, Symbol
    from sympy.core.relational import Relational

    latex = LOG_BASE.sub(r'\1_{\2}', text)
    if not text or not ALLOWED.fullmatch(text) or UNSAFE.search(FACTORS.sub(r'\1', latex)):
        raise UnreadableError(text)
    latex = FACTORS.sub(r'\1\\cdot ', latex)
    latex = DEGREES.sub(r'\\cdot\\frac{\\pi}{180}', latex)
    latex = ROOT_POWER.sub(r'(\1)', latex)
    latex = COMBINATIONS.sub(r'\\binom{\1}{\2}', DECIMAL.sub(_as_fraction, latex))
    normalization = NormalizationConfig(malformed_operators=True, boxed='none')
    try:
        expression = _converter().parse(MIXED.sub(_as_sum, normalize_latex(latex, normalization)))
    except (MemoryError, RecursionError):
        raise
    except Exception as error:  # a parser of a parser generator: it raises whatever it likes
        raise UnreadableError(text) from error
    if not isinstance(expression, (Basic, MatrixBase)):
        raise UnreadableError(text)
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


def _converter() -> Any:
    """Return math-verify's converter, told that X is not x, and 2(3) not the mixed number 2 + 3.

    Its own `parse` would also take the m of 2m for metres, and drop it.
    """
    from latex2sympy2_extended.latex2sympy2 import ConversionConfig, _Latex2Sympy

    class Converter(_Latex2Sympy):
        def __init__(self) -> None:
            super().__init__(config=ConversionConfig(lowercase_symbols=False))
            self.known: dict[Any, Any] = {}

        def convert_postfix(self, node: Any) -> Any:
            if node not in self.known:  # asked for twice, at each of many levels
                self.known[node] = super().convert_postfix(node)
            return self.known[node]

        def convert_postfix_list(self, nodes: Any, i: int = 0) -> Any:
            first = self.convert_postfix(nodes[i])
            if i + 1 == len(nodes) or not getattr(first, 'is_Integer', False):
                return super().convert_postfix_list(nodes, i)
            rest = self.convert_postfix_list(nodes, i + 1)
            matrix = getattr(rest, 'is_Matrix', False)
            return self.mat_mul_flat(first, rest) if matrix else self.mul_flat(first, rest)

    return Converter()


def _as_fraction(match: re.Match[str]) -> str:
    whole, part = match.groups()
    return f'(\\frac{{{int(whole + part)}}}{{{10 ** len(part)}}})'


def _as_sum(match: re.Match[str]) -> str:
    whole, command, above, below = match.groups()
    if len(above) > len(below) or (above >= below and len(above) == len(below)):
        return match.group()
    return f'({whole}+{command}{{{above}}}{{{below}}})'


def is_scalar(text: str) -> bool:
    """Tell whether an expression is read as a single value and can be no vector."""
    from sympy import Expr

    if VECTOR.search(text):
        return False
    try:
        return isinstance(read(text), Expr)
    except UnreadableError:
        return False


def has_decimal(text: str) -> bool:
    """Tell whether an expression holds a decimal, which may be rounded."""
    return bool(re.search(r'\d\.\d', text))
