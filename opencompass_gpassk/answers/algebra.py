"""Expressions in LaTeX, compared by their values at fixed points.

Two expressions are the same function if their values agree to many digits at several generic
points, including negative ones. Unlike simplification this never hangs; 10^-20 is not taken for 0.
"""

from __future__ import annotations

import re
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import Any

from opencompass_gpassk.answers.conditions import PARAMETER
from opencompass_gpassk.answers.sameness import Relation, all_of

# What SymPy and mpmath raise for a constant that has no number.
UNEVALUATED = (TypeError, ValueError, AttributeError, ArithmeticError, NotImplementedError)
# The characters that math-verify reads; it skips others, such as the prime of f'.
ALLOWED = re.compile(r'[0-9a-zA-Z+\-*/^_(){}\[\]|!.,\s\\&%]*')
# A decimal, which may be rounded.
DECIMAL = re.compile(r'(?<![\d.])(\d*)\.(\d+)(?![\d.])')
DEGREES = re.compile(r'\^\{\\circ\}')
# The real root: \sqrt[3]{-8}.
ODD_ROOT = re.compile(r'(\\sqrt\[\s?\d?[13579]\s?\])\{\s?-(?=\s?(?:\d+|[a-z])\s?\})')
# A root before a power: the parser would take the power into the root.
ROOT_POWER = re.compile(r'(\\sqrt(?:\[[^\]]*\])?\{[^{}]*\})(?=\^)')
# A power and a number after a space: 2^3 5^2 is a product.
FACTORS = re.compile(r'(\^(?:\d|\{[^{}]*\}))\s+(?=\d)')
# Two numbers in a row; 1/2x, which may be (1/2)x or 1/(2x); x2, which may be x^2 or 2x; dots, ±,
# and permutations, A_5^2.
UNSAFE = re.compile(
    r'\d\s+\d|/\s?\d+\s?(?:[a-zA-Z(]|\\(?!cdot|r|\\|[%}]|end))'
    r'|\)\s?_|\\(?:text|ldots|dot|pm|mp|[hv]?phantom|[hv]space|not|tag|label|cancel)(?![a-zA-Z])|(?<!\^)(?<!\^\{)\d\s?\}?_|!!'
    r'|(?<![\\a-zA-Z])(?:exp|[CP]\(\d)'
    r'|(?<![a-zA-Z\\])(?:[AP]_\{?\d+\}?\^|[a-zA-Z]+\d+(?![\d^]))'
)
# A mixed number in an expression, or a product: 1\frac{1}{2}\pi.
MIXED = re.compile(r'(?<![\d.^_}])\d+\s?\\frac\{\d+\}\{\d+\}')
# Two letters that the parser takes for a differential: dg is d times g, but not where one may be.
DIFFERENTIAL = re.compile(r'(?<![a-zA-Z\\])d\s?(?=[a-zA-Z]{1,2}(?![a-zA-Z]))')
DERIVATIVE = re.compile(r'\\i*int|\\frac\s?\{\s?d\s?\w?\s?\}\s?\{\s?d')
# One-letter bases and arguments in a row: \log_2 8.
LOG_BASE = re.compile(r'(\\log)\s?_\s?(\w)\s')
# Combinations of 5 things, 2 at a time, as they are written in Chinese: C_5^2.
CHOICE = r'(?<![a-zA-Z\\]){}_(?:\{{(\d+)\}}|(\d))\s?\^(?:\{{(\d+)\}}|(\d)(?!\d))'
COMBINATIONS = re.compile(CHOICE.format('C'))
# Permutations: A_5^2.
PERMUTATIONS = re.compile(CHOICE.format('[AP]'))
# Vectors by their units, 2\vec{i} + 3\vec{j} or 2i + 3j.
VECTOR = re.compile(r'\\(?:vec|hat|overrightarrow)(?![a-zA-Z])|(?<![a-zA-Z\\])[jk](?![a-zA-Z])')


class UnreadableError(ValueError):
    """An expression that cannot be read: its text."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


BITS_LIMIT = 1 << 18  # of a number that is computed: about 79,000 digits
# A power of two numbers as they are written: 3^{100000000}.
WRITTEN_POWER = re.compile(r'(?<![\d._])(\d{1,20})\s?\^\s?\{\s?(\d{5,20})\s?[}+]')


class TooLargeError(Exception):
    """A number that would have more than ``BITS_LIMIT`` bits; sympy catches no such exception."""


def _check_power(base: int, exponent: Any) -> None:
    if abs(base) > 1 and base.bit_length() * abs(exponent) > BITS_LIMIT:
        raise TooLargeError


def bound_numbers() -> None:
    """Let sympy raise a :class:`TooLargeError` where it would compute a number that is too large.

    This holds for powers, factorials and binomials, nested ones too, from then on and in the whole
    process: a worker calls it.
    """
    from sympy import Integer, Rational, binomial, factorial

    choose, product = binomial._eval.__func__, factorial.eval.__func__

    def bounded(compute: Any) -> Any:
        def power(self: Any, expt: Any) -> Any:
            if expt.is_Rational:
                _check_power(max(abs(self.p), self.q), Fraction(int(expt.p), int(expt.q)))
            return compute(self, expt)

        return power

    def factorial_of(cls: Any, n: Any) -> Any:
        # n! has fewer bits than n^n; so has each product on the way.
        if n.is_Integer and n.p > 0:
            _check_power(n.p, n.p)
        return product(cls, n)

    def binomial_of(cls: Any, n: Any, k: Any) -> Any:
        if n.is_Rational and k.is_Integer:
            steps = min(k.p, n.p - k.p) if n.is_Integer and n.p >= k.p else k.p
            _check_power(max(abs(n.p) + abs(k.p), n.q), steps)
        return choose(cls, n, k)

    Rational._eval_power = bounded(Rational._eval_power)
    Integer._eval_power = bounded(Integer._eval_power)
    factorial.eval, binomial._eval = classmethod(factorial_of), classmethod(binomial_of)


@lru_cache(maxsize=256)
def read(text: str) -> Any:
    """Read an expression in LaTeX with math-verify; decimals become exact.

    Raises:
        UnreadableError: If it cannot be read.
        TooLargeError: If a number in it is too large.
    """
    from latex2sympy2_extended.math_normalization import NormalizationConfig, normalize_latex
    from sympy import Basic, Float, I, MatrixBase, Pow, Rational, Symbol
    from sympy.core.relational import Relational

    latex = COMBINATIONS.sub(r'\\binom{\1\2}{\3\4}', text)
    latex = PERMUTATIONS.sub(r'\\frac{\1\2!}{(\1\2-\3\4)!}', latex)
    latex = LOG_BASE.sub(r'\1_{\2}', latex)
    if not text or not ALLOWED.fullmatch(text) or UNSAFE.search(FACTORS.sub(r'\1', latex)):
        raise UnreadableError(text)
    for base, exponent in WRITTEN_POWER.findall(latex):  # the parser takes longer
        _check_power(int(base), int(exponent))
    latex = FACTORS.sub(r'\1\\cdot ', latex)
    if not DERIVATIVE.search(latex):
        latex = DIFFERENTIAL.sub(r'd\\cdot ', latex)
    latex = DEGREES.sub(r'\\cdot\\frac{\\pi}{180}', latex)
    latex = ODD_ROOT.sub(r'-\1{', latex)
    latex = ROOT_POWER.sub(r'(\1)', latex)
    latex = DECIMAL.sub(_as_fraction, latex)
    normalization = NormalizationConfig(malformed_operators=True, boxed='none')
    try:
        plain = normalize_latex(latex, normalization)
        if MIXED.search(plain):
            raise UnreadableError(text)
        expression = _converter().parse(plain)
    except (MemoryError, RecursionError, TooLargeError, UnreadableError):
        raise
    except Exception as error:  # a generated parser may raise anything
        raise UnreadableError(text) from error
    if not isinstance(expression, (Basic, MatrixBase)) or isinstance(expression, Relational):
        raise UnreadableError(text)
    try:
        expression = expression.doit()
        floats = {f: Rational(str(f)) for f in expression.atoms(Float)}
        imaginary = {s: I for s in expression.free_symbols if s.name == 'i'}
        plain = {s: Symbol(s.name) for s in expression.free_symbols if s.name != 'i'}
        expression = expression.xreplace({**floats, **imaginary, **plain})
        odd = [power for power in expression.atoms(Pow) if _is_odd_root(power)]
        expression = expression.xreplace({one: -((-one.base) ** one.exp) for one in odd})
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise UnreadableError(text) from error
    return expression


def _converter() -> Any:
    """Return math-verify's converter, for which X is not x, and 2(3) not the mixed number 2 + 3.

    Its own `parse` would also read the m of 2m as metres, and drop it.
    """
    from latex2sympy2_extended.latex2sympy2 import ConversionConfig, _Latex2Sympy

    class Converter(_Latex2Sympy):
        def __init__(self) -> None:
            super().__init__(config=ConversionConfig(lowercase_symbols=False))
            self.known: dict[Any, Any] = {}

        def convert_postfix(self, node: Any) -> Any:
            if node not in self.known:  # each node is converted twice at each of many levels
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


def _is_odd_root(power: Any) -> bool:
    """Tell whether it is an odd root of a negative number, such as the real ∛(2 - √5)."""
    exponent = power.exp
    return bool(
        exponent.is_Rational and exponent.q > 1 and exponent.q % 2 and exponent.p % 2
    ) and bool(power.base.is_negative)


def _as_fraction(match: re.Match[str]) -> str:
    whole, part = match.groups()
    return f'(\\frac{{{int(whole + part)}}}{{{10 ** len(part)}}})'


def is_scalar(text: str) -> bool:
    """Tell whether an expression is a single value and can't be a vector."""
    from sympy import Expr

    return not VECTOR.search(text) and isinstance(_readable(text), Expr)


def _readable(text: str) -> Any:
    """Return an expression in LaTeX; None if it cannot be read."""
    with suppress(UnreadableError):
        return read(text)
    return None


PRECISION = 300  # digits
DENOMINATOR, EXACT = 10**9, Fraction(1, 10**80)  # of values that are shown as fractions
# Generic points: the i-th variable takes the i-th number of a row.
POINTS = (
    ('1.2394', '0.7193', '2.1377', '1.6091', '0.3911', '2.7713'),
    ('2.8171', '3.3119', '0.5477', '4.1213', '1.9301', '0.8887'),
    ('0.6113', '1.7391', '3.9127', '0.2719', '2.2543', '1.1071'),
    ('-1.4173', '-0.8231', '-2.6311', '-0.3391', '-1.1777', '-3.0703'),
    ('-0.3719', '2.4441', '-1.0937', '3.5173', '-2.7191', '0.6553'),
)


def values_at_points(expression: Any, names: list[str]) -> list[Any]:
    """Return the values of an expression in variables at the points; None where it has no value."""
    import mpmath  # type: ignore[import-untyped]  # it ships no types

    if len(names) > len(POINTS[0]):
        return []
    values = []
    for point in POINTS if names else POINTS[:1]:
        try:
            value = expression.xreplace(_at(point, names)).evalf(PRECISION, maxn=2 * PRECISION)
            with mpmath.workdps(PRECISION):
                number = mpmath.mpc(value._to_mpmath(mpmath.mp.prec, allow_ints=False))
        except UNEVALUATED:
            number = None
        values.append(number if number is not None and mpmath.isfinite(number) else None)
    return values


def _at(point: tuple[str, ...], names: list[str]) -> dict[Any, Any]:
    from sympy import Symbol, sympify

    return {Symbol(n): sympify(Fraction(v)) for n, v in zip(names, point, strict=False)}


def names_of(*expressions: Any) -> list[str]:
    """Return the names of the variables, in alphabetical order."""
    return sorted({symbol.name for one in expressions for symbol in one.free_symbols})


def constant(text: str) -> Fraction | None:
    """Return a real constant's value to 30 digits; None if it isn't a real constant."""
    expression = _readable(text)
    if expression is None or names_of(expression):
        return None
    value = values_at_points(expression, [])[0]
    if value is None or value.imag != 0:
        return None
    import mpmath

    return Fraction(mpmath.nstr(value.real, 30, strip_zeros=False))


def fingerprint(text: str) -> str | None:
    """Return the rounded values of an expression at the points; None if it has no value."""
    expression = _readable(text)
    if expression is None:
        return None
    names = names_of(expression)
    values = values_at_points(expression, names)
    if not values or None in values:
        return None
    if expression.is_Rational and max(map(abs, (expression.p, expression.q))) < 10**4000:
        return str(Fraction(int(expression.p), int(expression.q)))
    shown = ';'.join(_shown(value) for value in values)
    return f'{",".join(names)}:{shown}' if names else shown


def _shown(value: Any) -> str:
    real, imaginary = _digits(value.real), _digits(value.imag)
    return real if imaginary == '0' else f'{real}+{imaginary}i'


def _digits(part: Any) -> str:
    """Return a number as a fraction if it is one of small numbers, else rounded."""
    import mpmath

    with mpmath.workdps(PRECISION):
        exact = Fraction(mpmath.nstr(part, PRECISION, strip_zeros=False))
    near = exact.limit_denominator(DENOMINATOR)
    return str(near) if abs(exact - near) < EXACT else str(mpmath.nstr(part, 30))


# Names that may stand for whole numbers.
WHOLE = frozenset({'n', 'k', 'm', PARAMETER.strip('\\')})
BARE_LOG = re.compile(r'\\log(?!\s?_)')
SPARE_DIGITS = 20  # that rounding errors may take of the precision
DECIMAL_DOUBT = 2e-3  # greatest relative error of a value that may be rounded
DIGITS_LIMIT = 130  # digits of a term; expressions of larger or smaller terms are not compared


def compare_expressions(gold: str, answer: str) -> Relation:
    """Compare two expressions in LaTeX.

    Raises:
        UnreadableError: If one cannot be read.
    """
    relation = compare_read(read(gold), read(answer))
    logs = {'\\ln' in text for text in (gold, answer) if '\\ln' in text or BARE_LOG.search(text)}
    if relation is Relation.DIFFERENT and len(logs) == 2:  # \log may be \ln
        return Relation.UNKNOWN
    if relation is Relation.DIFFERENT and (DECIMAL.search(gold) or DECIMAL.search(answer)):
        return _compare_roughly(read(gold), read(answer))
    return relation


def compare_equations(
    gold: tuple[str, str], answer: tuple[str, str], *, flips: bool, rounded: bool = False
) -> Relation:
    """Compare two equations or, unless ``flips``, two inequalities that point the same way.

    They are the same if the differences of their sides are proportional. With ``rounded``, a number
    in them may be rounded.
    """
    import mpmath

    left = read(f'({gold[0]})-({gold[1]})')
    right = read(f'({answer[0]})-({answer[1]})')
    pairs = _value_pairs(left, right)
    if len(pairs) < 3 or any(_agree(value, 0) for pair in pairs for value in pair):
        return Relation.UNKNOWN
    with mpmath.workdps(PRECISION):
        ratios = [a / b for a, b in pairs]
    if not all(_agree(ratio, ratios[0]) for ratio in ratios):
        if rounded or any(DECIMAL.search(side) for side in (*gold, *answer)):
            return Relation.UNKNOWN
        polynomials = all(side.is_polynomial(*side.free_symbols) for side in (left, right))
        return Relation.DIFFERENT if polynomials else Relation.UNKNOWN
    if not flips and not (ratios[0].imag == 0 and ratios[0].real > 0):
        return Relation.DIFFERENT
    return Relation.SAME


def compare_read(gold: Any, answer: Any) -> Relation:
    """Compare two expressions of sympy."""
    from sympy import MatrixBase, MatrixExpr, nan, zoo

    if gold.has(nan, zoo) or answer.has(nan, zoo):  # 1/0 would equal 1/0 + 1
        return Relation.UNKNOWN
    if gold == answer:
        return Relation.SAME
    if isinstance(gold, MatrixBase) and isinstance(answer, MatrixBase):
        if gold.shape != answer.shape:
            return Relation.DIFFERENT
        return all_of(compare_read(a, b) for a, b in zip(gold.flat(), answer.flat(), strict=True))
    if isinstance(gold, (MatrixBase, MatrixExpr)) or isinstance(answer, (MatrixBase, MatrixExpr)):
        return Relation.UNKNOWN
    constant = not names_of(gold, answer)
    if constant and gold.is_Rational and answer.is_Rational:
        return Relation.DIFFERENT
    pairs = _value_pairs(gold, answer)
    if len(pairs) < (1 if constant else 3):
        return Relation.UNKNOWN
    if all(_agree(a, b) for a, b in pairs):
        return Relation.SAME
    if not constant and all(_agree(a, b) for a, b in pairs[:3]):
        return Relation.UNKNOWN  # the same for positive variables: \\sqrt{x^2} and x
    if any(name in WHOLE for name in names_of(gold)) and _alternates(gold, answer):
        return Relation.UNKNOWN
    return Relation.DIFFERENT


def _value_pairs(gold: Any, answer: Any) -> list[tuple[Any, Any]]:
    """Return the values of both where both have one; none if a term is too large or too small.

    10^{-120} is a difference that x + 10^{-120} must show, so that nothing is small by itself.
    """
    names = names_of(gold, answer)
    if max(_digits_of_terms(one) for one in (gold, answer)) > DIGITS_LIMIT:
        return []
    values = (values_at_points(one, names) for one in (gold, answer))
    return [pair for pair in zip(*values, strict=True) if None not in pair]


def _agree(first: Any, second: Any) -> bool:
    """Tell whether two values agree as far as the terms they are of were computed."""
    import mpmath

    with mpmath.workdps(PRECISION):
        least = mpmath.mpf(10) ** (SPARE_DIGITS - PRECISION)
        return bool(abs(first - second) <= least * max(1, abs(first), abs(second)))


def _digits_of_terms(expression: Any) -> int:
    """Return how many digits the largest or smallest term has before or after the point, about."""
    from sympy import preorder_traversal

    points = [_at(point, names_of(expression)) for point in (POINTS[0], POINTS[-1])]
    terms = [
        one
        for one in preorder_traversal(expression)
        if one.is_Atom or one.is_Pow or one.is_Function
    ]
    return max((_size(one.xreplace(values)) for one in terms for values in points), default=0)


def _size(term: Any) -> int:
    """Return the number of digits of a constant's value before or after the point, about."""
    import mpmath

    if term.is_Rational:
        return int(max(abs(term.p), term.q)).bit_length() // 3
    try:  # not sympy's log, which looks for the prime factors of a rational number
        value = mpmath.mpc(term.evalf(5)._to_mpmath(53, allow_ints=False))
        return abs(int(mpmath.mag(value) * 0.3))
    except UNEVALUATED:
        return 0


def _compare_roughly(gold: Any, answer: Any) -> Relation:
    """Compare expressions that contain decimals, which may be rounded."""
    pairs = _value_pairs(gold, answer)
    near = (abs(a - b) <= DECIMAL_DOUBT * max(abs(a), abs(b)) for a, b in pairs)
    return Relation.UNKNOWN if pairs and all(near) else Relation.DIFFERENT


def _alternates(gold: Any, answer: Any) -> bool:
    """Tell whether one contains a term, such as a sine, that may equal another only at integers."""
    from sympy import Pow, ceiling, cos, floor, sin

    return any(
        expression.has(floor, ceiling, sin, cos)
        or any(power.base.is_negative for power in expression.atoms(Pow))
        for expression in (gold, answer)
    )
