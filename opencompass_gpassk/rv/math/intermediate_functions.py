"""Intermediate algebra: rational functions, conics, extrema, functional equations, logarithms."""

from __future__ import annotations

import math
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
class AsymptoteCrossed(Question):
    """The asymptote is y = a; a times the denominator less the numerator is linear."""

    a: int = 3
    b: int = -4
    c: int = 5
    d: int = 2
    e: int = -6

    @classmethod
    def init(cls, rng: Random) -> AsymptoteCrossed:
        return cls(rng.randint(2, 9), *(rng.randint(-9, 9) for _ in range(4)))

    def holds(self) -> bool:
        if 0 in (self.b, self.c, self.d, self.e, self.a * self.d - self.b):
            return False
        x = self.solve()
        return x.denominator > 1 and x**2 + self.d * x + self.e != 0

    def solve(self) -> Fraction:
        return Fraction(self.c - self.a * self.e, self.a * self.d - self.b)

    def render(self) -> str:
        top, bottom = polynomial([self.a, self.b, self.c]), polynomial([1, self.d, self.e])
        return (
            rf'The graph of $y = \frac{{{top}}}{{{bottom}}}$ meets its horizontal asymptote at '
            'exactly one point. Find the $x$-coordinate of this point as a common fraction in '
            'lowest terms.'
        )


@register('math', 'intermediate algebra', 3)
@dataclass(frozen=True)
class LogAndItsReciprocal(Question):
    """With t = log_p x, log_x p is 1/t; so t solves a quadratic with the roots u and v."""

    p: int = 3
    u: int = 2
    v: int = 5

    @classmethod
    def init(cls, rng: Random) -> LogAndItsReciprocal:
        u = rng.randint(1, 4)
        return cls(rng.choice([2, 3, 4, 5, 6, 7, 10]), u, rng.randint(u + 1, 6))

    def holds(self) -> bool:
        return 10 <= self.solve() < 10000

    def solve(self) -> int:
        return self.p**self.u + self.p**self.v

    def render(self) -> str:
        return (
            f'Find the sum of all real numbers $x$ for which '
            rf'$\log_{{{self.p}}} x + {self.u * self.v} \log_x {self.p} = {self.u + self.v}$.'
        )


@register('math', 'intermediate algebra', 3)
@dataclass(frozen=True)
class FartherFocusOfAnEllipse(Question):
    """Completed squares show q(x-h)^2 + p(y-k)^2 = pq; the foci are sqrt|p - q| from (h, k)."""

    h: int = 2
    k: int = -3
    p: int = 4
    q: int = 19

    @classmethod
    def init(cls, rng: Random) -> FartherFocusOfAnEllipse:
        h, k = rng.choice([-1, 1]) * rng.randint(1, 5), rng.choice([-1, 1]) * rng.randint(1, 5)
        return cls(h, k, rng.randint(2, 30), rng.randint(2, 30))

    def holds(self) -> bool:
        apart = abs(self.p - self.q)
        coprime = math.gcd(self.p, self.q) == 1
        return coprime and self._constant() != 0 and math.isqrt(apart) ** 2 != apart

    def _constant(self) -> int:
        return self.q * self.h**2 + self.p * self.k**2 - self.p * self.q

    def solve(self) -> tuple[sympy.Expr | int, sympy.Expr | int]:
        import sympy

        away = sympy.sqrt(abs(self.p - self.q))
        if self.p > self.q:
            return self.h + (away if self.h > 0 else -away), self.k
        return self.h, self.k + (away if self.k > 0 else -away)

    def render(self) -> str:
        linear = f'{signed(-2 * self.q * self.h)}x {signed(-2 * self.p * self.k)}y'
        return (
            f'Of the two foci of the ellipse ${self.q}x^2 + {self.p}y^2 {linear} '
            f'{signed(self._constant())} = 0$, find the one farther from the origin. Answer with '
            'an ordered pair, in simplest radical form.'
        )


@register('math', 'intermediate algebra', 3)
@dataclass(frozen=True)
class IntegersBetweenRootAndPole(Question):
    """The sign changes at the simple root and the pole only; the double root is a solution too."""

    root: int = -4
    double: int = 15
    pole: int = 11

    @classmethod
    def init(cls, rng: Random) -> IntegersBetweenRootAndPole:
        return cls(rng.randint(-20, 20), rng.randint(-20, 20), rng.randint(-20, 20))

    def holds(self) -> bool:
        a, b, c = self.root, self.double, self.pole
        return a * b * c != 0 and (b - a) * (b - c) > 0 and abs(a - c) > 3

    def solve(self) -> int:
        a, c = self.root, self.pole
        return self.double + sum(range(a, c) if a < c else range(c + 1, a + 1))

    def render(self) -> str:
        a, b, c = (f'x {signed(-value)}' for value in (self.root, self.double, self.pole))
        return (
            'Find the sum of all integers $x$ that satisfy '
            rf'$\frac{{({a})({b})^2}}{{{c}}} \le 0$.'
        )


@register('math', 'intermediate algebra', 4)
@dataclass(frozen=True)
class AlmostAdditive(Question):
    """f(x) = cx^2/2 + mx - d, where f(4) gives m."""

    c: int = 4
    d: int = -7
    at_four: int = 31
    n: int = 15

    @classmethod
    def init(cls, rng: Random) -> AlmostAdditive:
        c, d, one = rng.randint(2, 7), rng.randint(-9, 9), rng.randint(-9, 9)
        return cls(c, d, 4 * one + 6 * c + 3 * d, rng.randint(10, 25))

    def holds(self) -> bool:
        return self.d != 0 and abs(self.solve()) >= 10

    def solve(self) -> int:
        m = Fraction(self.at_four + self.d - 8 * self.c, 4)
        return int(Fraction(self.c * self.n**2, 2) - m * self.n - self.d)

    def render(self) -> str:
        return (
            f'A function $f$ satisfies $f(x + y) = f(x) + f(y) + {self.c}xy {signed(self.d)}$ for '
            f'all integers $x$ and $y$, and $f(4) = {self.at_four}$. Find $f(-{self.n})$.'
        )


@register('math', 'intermediate algebra', 4)
@dataclass(frozen=True)
class IntegersAmongTheValues(Question):
    """y is a value if (a - y)x^2 + (b - y)x + (c - y) has a real root, by its discriminant."""

    a: int = 4
    b: int = -3
    c: int = 2

    @classmethod
    def init(cls, rng: Random) -> IntegersAmongTheValues:
        return cls(rng.randint(2, 9), rng.randint(-9, 9), rng.randint(-9, 9))

    def holds(self) -> bool:
        # With a = b, the value a would need x = infinity.
        return self.b * self.c != 0 and self.a != self.b and len(self._values()) > 3

    def _values(self) -> list[int]:
        a, b, c = self.a, self.b, self.c
        return [y for y in range(-30, 31) if (b - y) ** 2 >= 4 * (a - y) * (c - y)]

    def solve(self) -> int:
        return sum(self._values())

    def render(self) -> str:
        top = polynomial([self.a, self.b, self.c])
        return (
            rf'For real numbers $x$, the expression $\frac{{{top}}}{{x^2 + x + 1}}$ takes some '
            'integer values. Find the sum of all the different integers among its values.'
        )


@register('math', 'intermediate algebra', 5)
@dataclass(frozen=True)
class QuotientsUnderAWeightedSum(Question):
    """By Cauchy, (px + qy + rz)(A/x + B/y + C/z) is at least (sqrt(pA) + sqrt(qB) + sqrt(rC))^2."""

    weights: tuple[int, int, int] = (2, 3, 5)
    tops: tuple[int, int, int] = (8, 3, 20)
    total: int = 14

    @classmethod
    def init(cls, rng: Random) -> QuotientsUnderAWeightedSum:
        p, q, r = rng.sample(range(2, 8), 3)
        a, b, c = rng.choice([(1, 1, 2), (1, 2, 1), (2, 1, 1), (2, 1, 2), (1, 2, 2), (1, 1, 3)])
        return cls((p, q, r), (p * a**2, q * b**2, r * c**2), rng.randint(10, 30))

    def holds(self) -> bool:
        return self.solve().denominator > 1

    def solve(self) -> Fraction:
        pairs = zip(self.weights, self.tops, strict=True)
        return Fraction(sum(math.isqrt(weight * top) for weight, top in pairs) ** 2, self.total)

    def render(self) -> str:
        (p, q, r), (a, b, c) = self.weights, self.tops
        return (
            f'Positive real numbers $x$, $y$ and $z$ satisfy ${p}x + {q}y + {r}z = {self.total}$. '
            rf'Find the least possible value of $\frac{{{a}}}{{x}} + \frac{{{b}}}{{y}} + '
            rf'\frac{{{c}}}{{z}}$ as a common fraction in lowest terms.'
        )


@register('math', 'intermediate algebra', 5)
@dataclass(frozen=True)
class RightAnglesOnAParabola(Question):
    """Slopes m and -1/m from (p, p^2/k) lead to km - p and -k/m - p; AB meets x = -p, k above P."""

    k: int = 4
    p: int = 6
    up: int = 3

    @classmethod
    def init(cls, rng: Random) -> RightAnglesOnAParabola:
        return cls(rng.randint(2, 9), rng.randint(-12, 12), rng.randint(-9, 9))

    def holds(self) -> bool:
        return self.p * self.up != 0 and self.p**2 % self.k == 0 and self.solve()[1] > 0

    def solve(self) -> tuple[int, int]:
        return -self.p, self.p**2 // self.k + self.up + self.k

    def render(self) -> str:
        return (
            rf'The point $P = ({self.p}, {self.p**2 // self.k + self.up})$ lies on the parabola '
            rf'$y = \frac{{x^2}}{{{self.k}}} {signed(self.up)}$. Two further points $A$ and $B$ '
            r'move on the parabola so that $\angle APB$ is always a right angle. All the lines '
            '$AB$ pass through one fixed point. Find this point as an ordered pair.'
        )


@register('math', 'intermediate algebra', 5)
@dataclass(frozen=True)
class RootsOfThreeSquares(Question):
    """1/a^2 + 1/b^2 + 1/c^2 = (1/a + 1/b - 1/c)^2 if c = a + b; the sum telescopes by twos."""

    first: int = 2
    last: int = 18

    @classmethod
    def init(cls, rng: Random) -> RootsOfThreeSquares:
        return cls(rng.randint(1, 4), rng.randint(10, 40))

    def holds(self) -> bool:
        return self.solve().denominator > 99

    def solve(self) -> Fraction:
        a, b = self.first, self.last
        ends = Fraction(1, a) + Fraction(1, a + 1) - Fraction(1, b + 1) - Fraction(1, b + 2)
        return Fraction(b - a + 1, 2) + ends

    def render(self) -> str:
        return (
            rf'Find $\sum_{{k={self.first}}}^{{{self.last}}} \sqrt{{\frac{{1}}{{4}} + '
            r'\frac{1}{k^2} + \frac{1}{(k+2)^2}}$ as a common fraction in lowest terms.'
        )


@register('math', 'intermediate algebra', 5)
@dataclass(frozen=True)
class TwiceAppliedItTriples(Question):
    """f(1) = 2, f(3n) = 3f(n): from a power t of 3 to 2t, f(n) = n + t; from 2t to 3t, 3n - 3t."""

    n: int = 500

    @classmethod
    def init(cls, rng: Random) -> TwiceAppliedItTriples:
        return cls(rng.randint(200, 999))

    def holds(self) -> bool:
        return self.n % 9 != 0

    def solve(self) -> int:
        power = 1
        while 3 * power <= self.n:
            power *= 3
        return self.n + power if self.n <= 2 * power else 3 * (self.n - power)

    def render(self) -> str:
        return (
            'A strictly increasing function $f$ from the positive integers to the positive '
            f'integers satisfies $f(f(n)) = 3n$ for all positive integers $n$. Find $f({self.n})$.'
        )
