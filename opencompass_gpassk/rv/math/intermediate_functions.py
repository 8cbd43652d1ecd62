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
class HoleInGraph(Question):
    """A common zero of both quadratics is the zero of their difference; cancel its factor."""

    above: tuple[int, int] = (1, -12)
    below: tuple[int, int] = (-8, 15)

    @classmethod
    def init(cls, rng: Random) -> HoleInGraph:
        hole, p, q = rng.sample([-7, -6, -5, -4, -3, -2, 2, 3, 4, 5, 6, 7], 3)
        return cls((-hole - p, hole * p), (-hole - q, hole * q))

    def holds(self) -> bool:
        return 0 not in (self.above[0], self.below[0]) and self.solve()[1].denominator > 1

    def solve(self) -> tuple[int, Fraction]:
        (a, b), (c, d) = self.above, self.below
        hole = (d - b) // (a - c)
        return hole, Fraction(2 * hole + a, 2 * hole + c)  # the other zero is -a - hole

    def render(self) -> str:
        above, below = polynomial([1, *self.above]), polynomial([1, *self.below])
        return (
            rf'The graph of $y = \frac{{{above}}}{{{below}}}$ has exactly one hole: a single point '
            'that is missing from an otherwise unbroken piece of the curve. Give the coordinates '
            'of the hole as an ordered pair.'
        )


@register('math', 'intermediate algebra', 3)
@dataclass(frozen=True)
class EllipseFoci(Question):
    """Completing the squares leaves p(x - h)^2 + q(y - k)^2 = n: half-axes squared n/p and n/q."""

    p: int = 4
    q: int = 9
    r: int = -16
    s: int = 18
    constant: int = -83

    @classmethod
    def init(cls, rng: Random) -> EllipseFoci:
        p, q = rng.sample([2, 3, 4, 5, 6, 7, 8, 9], 2)
        h, k, n = rng.choice([-3, -2, 2, 3]), rng.choice([-3, -2, 2, 3]), p * q * rng.randint(2, 6)
        return cls(p, q, -2 * p * h, -2 * q * k, p * h * h + q * k * k - n)

    def holds(self) -> bool:
        return self.constant < -9 and not self.solve().is_Integer

    def solve(self) -> sympy.Expr:
        import sympy

        n = Fraction(self.r**2, 4 * self.p) + Fraction(self.s**2, 4 * self.q) - self.constant
        return 2 * sympy.sqrt(int(abs(n / self.p - n / self.q)))

    def render(self) -> str:
        return (
            f'Find the distance between the two foci of the ellipse ${self.p}x^2 + {self.q}y^2 '
            f'{signed(self.r)}x {signed(self.s)}y {signed(self.constant)} = 0$ in simplest '
            'radical form.'
        )


@register('math', 'intermediate algebra', 3)
@dataclass(frozen=True)
class QuotientAtLeast(Question):
    """Only x > b can do; then x + a >= c(x - b), that is, (c - 1)(x - b) <= a + b."""

    a: int = 31
    b: int = 6
    c: int = 3

    @classmethod
    def init(cls, rng: Random) -> QuotientAtLeast:
        return cls(rng.randint(15, 60), rng.randint(2, 12), rng.randint(2, 5))

    def solve(self) -> int:
        count = (self.a + self.b) // (self.c - 1)
        return count * self.b + count * (count + 1) // 2

    def render(self) -> str:
        return (
            rf'Find the sum of all integers $x$ for which $\frac{{x + {self.a}}}{{x - {self.b}}} '
            rf'\ge {self.c}$.'
        )


@register('math', 'intermediate algebra', 3)
@dataclass(frozen=True)
class SumOfArgumentsRule(Question):
    """f(x) - cx^2/2 is additive, so f(n) = cn^2/2 + kn for integers n."""

    c: int = 3
    at_two: int = 11
    n: int = 9

    @classmethod
    def init(cls, rng: Random) -> SumOfArgumentsRule:
        return cls(rng.randint(2, 8), rng.randint(10, 40), rng.randint(6, 15))

    def holds(self) -> bool:
        return self.at_two > 2 * self.c and (self.n * (self.c * self.n + self.at_two)) % 2 == 0

    def solve(self) -> int:
        return self.n * (self.c * self.n + self.at_two - 2 * self.c) // 2

    def render(self) -> str:
        return (
            f'A function $f$ satisfies $f(x + y) = f(x) + f(y) + {self.c}xy$ for all real numbers '
            f'$x$ and $y$, and $f(2) = {self.at_two}$. Find $f({self.n})$.'
        )


@register('math', 'intermediate algebra', 4)
@dataclass(frozen=True)
class ProductOfTwoLogs(Question):
    """With log x = L it is L / (log b log c) = p / log b + q / log c: L = p log c + q log b."""

    b: int = 3
    c: int = 5
    p: int = 2
    q: int = 3

    @classmethod
    def init(cls, rng: Random) -> ProductOfTwoLogs:
        b, c = rng.sample([2, 3, 5, 6, 7, 10], 2)
        return cls(b, c, rng.randint(2, 4), rng.randint(2, 4))

    def holds(self) -> bool:
        return self.p != self.q and self.solve() < 10**5

    def solve(self) -> int:
        return self.c**self.p * self.b**self.q

    def render(self) -> str:
        first, second = rf'\log_{{{self.b}}} x', rf'\log_{{{self.c}}} x'
        return (
            rf'Find the real number $x > 1$ that satisfies ${first} \cdot {second} = '
            rf'{self.p} {first} + {self.q} {second}$.'
        )


@register('math', 'intermediate algebra', 4)
@dataclass(frozen=True)
class PowersOverProducts(Question):
    """The k-th term is b^(k+1)/(k+1) - b^k/k, so that only two ends are left."""

    base: int = 3
    last: int = 9

    @classmethod
    def init(cls, rng: Random) -> PowersOverProducts:
        return cls(rng.randint(3, 6), rng.randint(7, 12))

    def solve(self) -> Fraction:
        return Fraction(self.base ** (self.last + 1), self.last + 1) - self.base

    def render(self) -> str:
        factor = polynomial([self.base - 1, -1], 'k')
        term = rf'\frac{{{self.base}^k ({factor})}}{{k(k + 1)}}'
        return (
            rf'Find $\sum_{{k=1}}^{{{self.last}}} {term}$ as an integer or a common fraction in '
            'lowest terms.'
        )


@register('math', 'intermediate algebra', 5)
@dataclass(frozen=True)
class TiltedEllipse(Question):
    """On y = wx the value is s = n(1 + w^2)/(a + bw + cw^2); w is real for s between two zeros."""

    a: int = 3
    b: int = 4
    c: int = 5
    n: int = 6

    @classmethod
    def init(cls, rng: Random) -> TiltedEllipse:
        b = rng.choice([-7, -6, -5, -4, -3, -2, 2, 3, 4, 5, 6, 7])
        return cls(rng.randint(2, 9), b, rng.randint(2, 9), rng.randint(2, 9))

    def holds(self) -> bool:
        return 4 * self.a * self.c > self.b**2 and self.solve().denominator > 1

    def solve(self) -> Fraction:
        # (cs - n)w^2 + bsw + (as - n) = 0 has the discriminant b^2 s^2 - 4(as - n)(cs - n).
        square, linear = self.b**2 - 4 * self.a * self.c, 4 * self.n * (self.a + self.c)
        return Fraction(-linear, square)

    def render(self) -> str:
        return (
            f'Real numbers $x$ and $y$ satisfy ${self.a}x^2 {signed(self.b)}xy + {self.c}y^2 = '
            f'{self.n}$. Find the sum of the greatest and the least possible value of $x^2 + y^2$ '
            'as a common fraction in lowest terms.'
        )


@register('math', 'intermediate algebra', 5)
@dataclass(frozen=True)
class TwoLargestOfFive(Question):
    """Two numbers of sum u have squares of at least u^2/2, the others of (total - u)^2/3."""

    total: int = 34
    squares: int = 290

    @classmethod
    def init(cls, rng: Random) -> TwoLargestOfFive:
        large, small = rng.randint(9, 20), rng.randint(-3, 7)
        return cls(2 * large + 3 * small, 2 * large**2 + 3 * small**2)

    def holds(self) -> bool:
        return self.total > 9

    def solve(self) -> int:
        # The larger zero of 3u^2 + 2(total - u)^2 - 6 squares.
        return (2 * self.total + math.isqrt(30 * self.squares - 6 * self.total**2)) // 5

    def render(self) -> str:
        return (
            f'Five real numbers have the sum ${self.total}$, and their squares have the sum '
            f'${self.squares}$. What is the greatest possible sum of two of the five numbers?'
        )


@register('math', 'intermediate algebra', 5)
@dataclass(frozen=True)
class ThreefoldArgument(Question):
    """x -> 1/(1 - x) -> (x - 1)/x -> x gives three equations for three values of f."""

    a: int = 5
    b: int = 4
    t: int = 3

    @classmethod
    def init(cls, rng: Random) -> ThreefoldArgument:
        return cls(rng.randint(2, 9), rng.randint(2, 9), rng.randint(2, 6))

    def holds(self) -> bool:
        return self.solve().denominator > 3

    def solve(self) -> Fraction:
        orbit = [Fraction(self.t), Fraction(1, 1 - self.t), Fraction(self.t - 1, self.t)]
        first, second, third = (self.a * x + self.b for x in orbit)
        return (first - second + third) / 2

    def render(self) -> str:
        return (
            'For all real numbers $x$ except $0$ and $1$, a function $f$ satisfies '
            rf'$f(x) + f\left(\frac{{1}}{{1 - x}}\right) = {self.a}x + {self.b}$. Find '
            f'$f({self.t})$ as a common fraction in lowest terms.'
        )


@register('math', 'intermediate algebra', 5)
@dataclass(frozen=True)
class FocalTriangle(Question):
    """The vertex is mn/(m + n) from the focus; across the axis the ends are 2 sqrt(mn) apart."""

    m: int = 4
    n: int = 9

    @classmethod
    def init(cls, rng: Random) -> FocalTriangle:
        u, v = rng.sample(range(1, 7), 2)
        scale = rng.randint(1, 5)
        return cls(scale * u * u, scale * v * v)

    def holds(self) -> bool:
        return self.m < self.n and 4 < self.n < 100 and self.solve().denominator > 1

    def solve(self) -> Fraction:
        return Fraction(self.m * self.n, self.m + self.n) * math.isqrt(self.m * self.n)

    def render(self) -> str:
        return (
            'A chord of a parabola passes through the focus, which divides it into pieces of '
            f'length ${self.m}$ and ${self.n}$. Find the area of the triangle whose corners are '
            "the two ends of the chord and the parabola's vertex, as a common fraction in lowest "
            'terms.'
        )
