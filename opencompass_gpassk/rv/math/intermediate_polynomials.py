"""Intermediate algebra: roots and coefficients, remainders, interpolation, complex roots."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import polynomial, signed

if TYPE_CHECKING:
    import sympy


@register('math', 'intermediate algebra', 2)
@dataclass(frozen=True)
class OneRemainderForAnother(Question):
    """P(r) is the remainder on division by x - r: the first fixes k, the second uses it."""

    linear: int = -5
    constant: int = 7
    root: int = 2
    remainder: int = 17
    other: int = -3

    @classmethod
    def init(cls, rng: Random) -> OneRemainderForAnother:
        b, c, r, k = rng.randint(-9, 9), rng.randint(-9, 9), rng.randint(-4, 4), rng.randint(-6, 6)
        return cls(b, c, r, r**3 + k * r**2 + b * r + c, rng.randint(-4, 4))

    def holds(self) -> bool:
        apart = 0 not in (self.root, self.other, self.root - self.other)
        return apart and abs(self.linear) > 1 and self.constant != 0

    def solve(self) -> Fraction:
        r, s, b, c = self.root, self.other, self.linear, self.constant
        k = Fraction(self.remainder - r**3 - b * r - c, r**2)
        return s**3 + k * s**2 + b * s + c

    def render(self) -> str:
        return (
            f'When $x^3 + kx^2 {signed(self.linear)}x {signed(self.constant)}$, where $k$ is a '
            f'constant, is divided by $x {signed(-self.root)}$, the remainder is '
            f'${self.remainder}$. Find the remainder when the same polynomial is divided by '
            f'$x {signed(-self.other)}$.'
        )


@register('math', 'intermediate algebra', 2)
@dataclass(frozen=True)
class RootsOverEachOther(Question):
    """u/v + v/u = ((u + v)^2 - 2uv) / uv, with u + v = -b/a and uv = c/a."""

    a: int = 3
    b: int = 7
    c: int = 4

    @classmethod
    def init(cls, rng: Random) -> RootsOverEachOther:
        return cls(rng.randint(2, 7), rng.randint(-9, 9), rng.randint(-9, 9))

    def holds(self) -> bool:
        return self.b * self.c != 0 and self.b**2 % (self.a * self.c) != 0

    def solve(self) -> Fraction:
        return Fraction(self.b**2 - 2 * self.a * self.c, self.a * self.c)

    def render(self) -> str:
        quadratic = polynomial([self.a, self.b, self.c])
        return (
            f'Let $u$ and $v$ be the two roots, real or not, of ${quadratic} = 0$. '
            r'Find $\frac{u}{v} + \frac{v}{u}$ as a common fraction in lowest terms.'
        )


@register('math', 'intermediate algebra', 3)
@dataclass(frozen=True)
class RemainderByTheProduct(Question):
    """The remainder is the line through (r, P(r)) and (s, P(s))."""

    r: int = 2
    at_r: int = 11
    s: int = -3
    at_s: int = -4

    @classmethod
    def init(cls, rng: Random) -> RemainderByTheProduct:
        r, s, slope, shift = (rng.randint(-9, 9) for _ in range(4))
        return cls(r, slope * r + shift, s, slope * s + shift)

    def holds(self) -> bool:
        return 0 not in (self.r, self.s, self.r - self.s) and min(map(abs, self._line())) > 1

    def _line(self) -> tuple[int, int]:
        slope = (self.at_r - self.at_s) // (self.r - self.s)
        return slope, self.at_r - slope * self.r

    def solve(self) -> sympy.Expr:
        import sympy

        slope, shift = self._line()
        return slope * sympy.Symbol('x') + shift

    def render(self) -> str:
        first, second = f'x {signed(-self.r)}', f'x {signed(-self.s)}'
        return (
            f'A polynomial $P(x)$ leaves the remainder ${self.at_r}$ when it is divided by '
            f'${first}$, and the remainder ${self.at_s}$ when it is divided by ${second}$. What '
            f'remainder does $P(x)$ leave when it is divided by $({first})({second})$? Answer '
            'with a polynomial in $x$.'
        )


@register('math', 'intermediate algebra', 3)
@dataclass(frozen=True)
class RootProductsSquared(Question):
    """(pq + qr + rp)^2 = p^2q^2 + q^2r^2 + r^2p^2 + 2pqr(p + q + r)."""

    a: int = -4
    b: int = 7
    c: int = 3

    @classmethod
    def init(cls, rng: Random) -> RootProductsSquared:
        return cls(rng.randint(-9, 9), rng.randint(-9, 9), rng.randint(-9, 9))

    def holds(self) -> bool:
        return self.a * self.b * self.c != 0

    def solve(self) -> int:
        return self.b**2 - 2 * self.a * self.c

    def render(self) -> str:
        cubic = polynomial([1, self.a, self.b, self.c])
        return (
            f'Let $p$, $q$ and $r$ be the complex roots of ${cubic}$, counted with '
            'multiplicity. Find the value of $p^2q^2 + q^2r^2 + r^2p^2$.'
        )


@register('math', 'intermediate algebra', 4)
@dataclass(frozen=True)
class QuarticOnALine(Question):
    """P(x) minus the line through the four points is lead times (x-1)(x-2)(x-3)(x-4)."""

    lead: int = 3
    first: int = 8
    step: int = 7

    @classmethod
    def init(cls, rng: Random) -> QuarticOnALine:
        return cls(rng.choice([-5, -4, -3, -2, 2, 3, 4, 5]), rng.randint(2, 20), rng.randint(2, 12))

    def solve(self) -> int:
        def at(x: int) -> int:
            line = self.first + (x - 1) * self.step
            return line + self.lead * (x - 1) * (x - 2) * (x - 3) * (x - 4)

        return at(-1) + at(6)

    def render(self) -> str:
        values = [f'$P({x}) = {self.first + (x - 1) * self.step}$' for x in (1, 2, 3, 4)]
        return (
            f'A polynomial $P(x)$ of degree $4$ with leading coefficient ${self.lead}$ has '
            f'{", ".join(values[:3])} and {values[3]}. Find $P(-1) + P(6)$.'
        )


@register('math', 'intermediate algebra', 4)
@dataclass(frozen=True)
class RootsSeenFromAPoint(Question):
    """The sum of 1/(t - r) over the roots r of P is P'(t)/P(t)."""

    a: int = -2
    b: int = 5
    c: int = -8
    t: int = 3

    @classmethod
    def init(cls, rng: Random) -> RootsSeenFromAPoint:
        a, b, c = (rng.randint(-9, 9) for _ in range(3))
        return cls(a, b, c, rng.randint(2, 4))

    def holds(self) -> bool:
        return self.a * self.b * self.c * self._at() != 0 and self.solve().denominator >= 10

    def _at(self) -> int:
        return self.t**4 + self.a * self.t**3 + self.b * self.t + self.c

    def solve(self) -> Fraction:
        return Fraction(4 * self.t**3 + 3 * self.a * self.t**2 + self.b, self._at())

    def render(self) -> str:
        quartic = polynomial([1, self.a, 0, self.b, self.c])
        terms = ' + '.join(rf'\frac{{1}}{{{self.t} - r_{i}}}' for i in (1, 2, 3, 4))
        return (
            f'Let $r_1$, $r_2$, $r_3$ and $r_4$ be the complex roots of ${quartic}$, counted '
            f'with multiplicity. Find ${terms}$ as a common fraction in lowest terms.'
        )


@register('math', 'intermediate algebra', 4)
@dataclass(frozen=True)
class MirroredQuartic(Question):
    """With t = x + 1/x it is (t - outer)(t - inner) = 0; x is real where |t| >= 2."""

    outer: int = 5
    inner: int = -1

    @classmethod
    def init(cls, rng: Random) -> MirroredQuartic:
        return cls(rng.choice([-1, 1]) * rng.randint(3, 18), rng.randint(-1, 1))

    def solve(self) -> int:
        return self.outer**3 - 3 * self.outer

    def render(self) -> str:
        edge, middle = -(self.outer + self.inner), self.outer * self.inner + 2
        return (
            'Find the sum of the cubes of all real solutions of '
            f'${polynomial([1, edge, middle, edge, 1])} = 0$.'
        )


@register('math', 'intermediate algebra', 5)
@dataclass(frozen=True)
class PossibleIntegerRoots(Question):
    """P(x) = (x - r)Q(x): r - a divides P(a), r - b divides P(b), and a - b divides Q(a) - Q(b)."""

    a: int = 1
    at_a: int = 12
    b: int = 4
    at_b: int = 30

    @classmethod
    def init(cls, rng: Random) -> PossibleIntegerRoots:
        a, gap, at_a = rng.randint(1, 5), rng.randint(2, 4), rng.randint(6, 30)
        return cls(a, at_a, a + gap, at_a + gap * rng.randint(1, 12))

    def holds(self) -> bool:
        return 2 <= len(self.solve()) <= 4

    def solve(self) -> list[int]:
        a, u, b, v = self.a, self.at_a, self.b, self.at_b
        tried = (r for r in range(a - u, a + u + 1) if r not in (a, b))
        both = [r for r in tried if u % (a - r) == 0 and v % (b - r) == 0]
        return [r for r in both if (u // (a - r) - v // (b - r)) % (a - b) == 0]

    def render(self) -> str:
        return (
            f'A polynomial $P(x)$ with integer coefficients satisfies $P({self.a}) = {self.at_a}$ '
            f'and $P({self.b}) = {self.at_b}$. List all integers that are a root of at least one '
            'such polynomial, separated by commas.'
        )


@register('math', 'intermediate algebra', 5)
@dataclass(frozen=True)
class FifthPowersOfThree(Question):
    """Power sums give the symmetric functions e, and p_n = e1 p_(n-1) - e2 p_(n-2) + e3 p_(n-3)."""

    p1: int = 2
    p2: int = 6
    p3: int = 23

    @classmethod
    def init(cls, rng: Random) -> FifthPowersOfThree:
        e1, e2, e3 = rng.randint(1, 4), rng.randint(-4, 3), rng.randint(-3, 5)
        p2 = e1**2 - 2 * e2
        return cls(e1, p2, e1 * p2 - e2 * e1 + 3 * e3)

    def holds(self) -> bool:
        return self.p2 != self.p1**2 and abs(self.solve()) >= 10

    def solve(self) -> Fraction:
        p1, p2, p3 = self.p1, self.p2, self.p3
        e2 = Fraction(p1**2 - p2, 2)
        e3 = (p3 - p1 * p2 + e2 * p1) / 3
        p4 = p1 * p3 - e2 * p2 + e3 * p1
        return p1 * p4 - e2 * p3 + e3 * p2

    def render(self) -> str:
        return (
            f'Complex numbers $x$, $y$ and $z$ satisfy $x + y + z = {self.p1}$, '
            f'$x^2 + y^2 + z^2 = {self.p2}$ and $x^3 + y^3 + z^3 = {self.p3}$. '
            'Find $x^5 + y^5 + z^5$.'
        )


@register('math', 'intermediate algebra', 5)
@dataclass(frozen=True)
class FifthRootsProduct(Question):
    """With z^2 + az + b = (z - u)(z - v) the product is (1 - u^5)(1 - v^5)."""

    a: int = 2
    b: int = 3

    @classmethod
    def init(cls, rng: Random) -> FifthRootsProduct:
        return cls(rng.randint(-5, 5), rng.randint(-5, 5))

    def holds(self) -> bool:
        return self.a != 0 and abs(self.b) > 1 and abs(self.solve()) >= 10

    def solve(self) -> int:
        before, powers = 2, -self.a  # u^n + v^n for n = 0 and 1
        for _ in range(4):
            before, powers = powers, -self.a * powers - self.b * before
        return 1 - powers + self.b**5

    def render(self) -> str:
        middle = {1: '+ ', -1: '- '}.get(self.a, signed(self.a))
        factors = rf'\left(\omega^{{2k}} {middle}\omega^k {signed(self.b)}\right)'
        return (
            r'Let $\omega = \cos\frac{2\pi}{5} + i\sin\frac{2\pi}{5}$, where $i^2 = -1$. '
            rf'Find the value of the product $\prod_{{k=0}}^{{4}} {factors}$.'
        )


@register('math', 'intermediate algebra', 5)
@dataclass(frozen=True)
class TwoRootsAddUp(Question):
    """It is (x^2 - sx + p)(x^2 - s'x + q); p + q and sq + s'p are known, and k = pq."""

    cubic: int = -7
    square: int = 9
    linear: int = 11
    total: int = 3

    @classmethod
    def init(cls, rng: Random) -> TwoRootsAddUp:
        s, t, p, q = (rng.randint(-7, 7) for _ in range(4))
        return cls(-s - t, p + q + s * t, -s * q - t * p, s)

    def holds(self) -> bool:
        shown = (self.cubic, self.square, self.linear, self.total)
        return 0 not in shown and self.cubic != -2 * self.total and self.solve() != 0

    def solve(self) -> Fraction:
        s, t = self.total, -self.cubic - self.total
        both = self.square - s * t
        p = Fraction(-self.linear - s * both, t - s)
        return p * (both - p)

    def render(self) -> str:
        start = polynomial([1, self.cubic, self.square, self.linear, 0])
        return (
            f'Two of the four complex roots of ${start} + k$, counted with multiplicity, have '
            f'the sum ${self.total}$. Find the number $k$.'
        )
