"""Algebra: functions and their inverses, lines, parabolas, least and greatest values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import polynomial

if TYPE_CHECKING:
    import sympy


@register('math', 'algebra', 1)
@dataclass(frozen=True)
class ValueOfComposite(Question):
    """The inner function goes first."""

    factor: int = 5
    shift: int = -7
    square: int = 4
    at: int = -3

    @classmethod
    def init(cls, rng: Random) -> ValueOfComposite:
        factor, at = (rng.choice([-1, 1]) * rng.randint(2, 9) for _ in range(2))
        return cls(factor, rng.randint(-20, 20), rng.randint(-20, 20), at)

    def holds(self) -> bool:
        return self.shift != 0 and self.square != 0

    def solve(self) -> int:
        return self.factor * (self.at**2 + self.square) + self.shift

    def render(self) -> str:
        f, g = polynomial([self.factor, self.shift]), polynomial([1, 0, self.square])
        return f'Let $f(x) = {f}$ and $g(x) = {g}$. What is $f(g({self.at}))$?'


@register('math', 'algebra', 2)
@dataclass(frozen=True)
class LineToTheAxis(Question):
    """y falls to 0 at the rate of the slope, which two points give."""

    start: tuple[int, int] = (3, 8)
    end: tuple[int, int] = (-4, 5)

    @classmethod
    def init(cls, rng: Random) -> LineToTheAxis:
        a, b, c, d = (rng.randint(-9, 9) for _ in range(4))
        return cls((a, b), (c, d))

    def holds(self) -> bool:
        (a, b), (c, d) = self.start, self.end
        return a != c and 0 not in (b, d) and b != d and self.solve().denominator > 1

    def solve(self) -> Fraction:
        (a, b), (c, d) = self.start, self.end
        return a - Fraction(b * (c - a), d - b)

    def render(self) -> str:
        return (
            f'A straight line passes through the points ${self.start}$ and ${self.end}$. What is '
            'the $x$-coordinate of the point where it meets the $x$-axis? Answer with a common '
            'fraction in lowest terms.'
        )


@register('math', 'algebra', 3)
@dataclass(frozen=True)
class TwoStepsBack(Question):
    """y = (ax + b) / (x + d) means x = (b - dy) / (y - a); go back twice."""

    factor: int = 2
    plus: int = 3
    below: int = -4
    value: int = 5

    @classmethod
    def init(cls, rng: Random) -> TwoStepsBack:
        plus, below = rng.randint(-7, 7), rng.randint(-7, 7)
        return cls(rng.randint(2, 7), plus, below, rng.randint(2, 9))

    def holds(self) -> bool:
        a, b, d = self.factor, self.plus, self.below
        sound = 0 not in (b, d, a + d, a * d - b) and a != self.value
        return sound and a != self._back(Fraction(self.value)) and 9 < self.solve().denominator < 99

    def _back(self, y: Fraction) -> Fraction:
        return (self.plus - self.below * y) / (y - self.factor)

    def solve(self) -> Fraction:
        return self._back(self._back(Fraction(self.value)))

    def render(self) -> str:
        above, below = polynomial([self.factor, self.plus]), polynomial([1, self.below])
        return (
            rf'Let $f(x) = \frac{{{above}}}{{{below}}}$. For which $x$ is '
            f'$f(f(x)) = {self.value}$? Answer with a common fraction in lowest terms.'
        )


@register('math', 'algebra', 3)
@dataclass(frozen=True)
class DearerBoatTours(Question):
    """A quadratic of falling differences is greatest at one of the integers around its vertex."""

    price: int = 24
    guests: int = 310
    lost: int = 8

    @classmethod
    def init(cls, rng: Random) -> DearerBoatTours:
        return cls(rng.randint(12, 40), rng.randint(150, 600), rng.randint(3, 12))

    def holds(self) -> bool:
        return self.price * self.lost + 6 * self.lost < self.guests

    def solve(self) -> int:
        vertex = (self.guests - self.lost * self.price) // (2 * self.lost)
        return max((self.price + k) * (self.guests - self.lost * k) for k in (vertex, vertex + 1))

    def render(self) -> str:
        return (
            f'At ${self.price}$ dollars a ticket, a boat tour has ${self.guests}$ guests a day. '
            f'For every dollar that is added to the price, it loses ${self.lost}$ guests a day. '
            'The price must be a whole number of dollars. What is the greatest possible income a '
            'day from the tickets, in dollars?'
        )


@register('math', 'algebra', 4)
@dataclass(frozen=True)
class FourfoldMap(Question):
    """Twice f is x -> -c^2 / x, so that four times f is x again."""

    size: int = 3
    times: int = 203
    start: int = 7

    @classmethod
    def init(cls, rng: Random) -> FourfoldMap:
        return cls(rng.randint(2, 9), rng.randint(100, 250), rng.randint(2, 15))

    def holds(self) -> bool:
        moving = self.times % 4 > 0 and self.start != self.size
        return moving and self.solve().denominator > 1

    def solve(self) -> Fraction:
        c, x = self.size, Fraction(self.start)
        return {1: c * (x - c) / (x + c), 2: -(c**2) / x, 3: -c * (x + c) / (x - c)}[self.times % 4]

    def render(self) -> str:
        c = self.size
        return (
            rf'Let $f(x) = \frac{{{polynomial([c, -c * c])}}}{{{polynomial([1, c])}}}$. Starting '
            f'with the number ${self.start}$, $f$ is applied ${self.times}$ times, each time to '
            'the result of the time before. What is the last result? Answer with a common '
            'fraction in lowest terms.'
        )


@register('math', 'algebra', 4)
@dataclass(frozen=True)
class EquationWithSwappedArgument(Question):
    """Putting m / x for x gives a second equation for the same two unknowns."""

    factor: int = 3
    swap: int = 12
    slope: int = 5
    at: int = 8

    @classmethod
    def init(cls, rng: Random) -> EquationWithSwappedArgument:
        return cls(rng.randint(2, 6), rng.randint(4, 30), rng.randint(2, 9), rng.randint(2, 12))

    def holds(self) -> bool:
        return self.at**2 != self.swap and 1 < self.solve().denominator < 100

    def solve(self) -> Fraction:
        other = Fraction(self.swap, self.at)
        return self.slope * (self.at - self.factor * other) / (1 - self.factor**2)

    def render(self) -> str:
        return (
            'A function $f$ is defined for all real numbers except $0$, and '
            rf'$f(x) + {self.factor} f\left(\frac{{{self.swap}}}{{x}}\right) = {self.slope}x$ '
            rf'for all $x \ne 0$. Find $f({self.at})$ as a common fraction in lowest terms.'
        )


@register('math', 'algebra', 4)
@dataclass(frozen=True)
class TangentPointsApart(Question):
    """From h below (p, f(p)), tangents touch at p -+ sqrt(h); that chord has slope f'(p)."""

    linear: int = -3
    constant: int = 7
    point: tuple[int, int] = (2, -1)

    @classmethod
    def init(cls, rng: Random) -> TangentPointsApart:
        b, c, p = rng.randint(-9, 9), rng.randint(-9, 9), rng.randint(-5, 5)
        return cls(b, c, (p, p * p + b * p + c - rng.randint(2, 19)))

    def holds(self) -> bool:
        near = 0 not in (self.linear, *self.point) and abs(2 * self.point[0] + self.linear) <= 6
        return near and not self.solve().is_integer

    def solve(self) -> sympy.Expr:
        import sympy

        p, q = self.point
        h, slope = p * p + self.linear * p + self.constant - q, 2 * p + self.linear
        return 2 * sympy.sqrt(h * (1 + slope**2))

    def render(self) -> str:
        parabola = polynomial([1, self.linear, self.constant])
        return (
            f'Two straight lines through the point ${self.point}$ are tangent to the parabola '
            f'$y = {parabola}$. What is the distance between the two points where they touch it? '
            'Answer in simplest radical form.'
        )


@register('math', 'algebra', 5)
@dataclass(frozen=True)
class SquaresOfNestedRoots(Question):
    """For f(y) = k, each root y above the minimum of f gives roots x with squares b^2 - 2c + 2y."""

    linear: int = 2
    constant: int = -5
    value: int = 30

    @classmethod
    def init(cls, rng: Random) -> SquaresOfNestedRoots:
        low, high, value = rng.randint(-9, 2), rng.randint(1, 9), rng.randint(9, 60)
        return cls(-low - high, value + low * high, value)

    def holds(self) -> bool:
        low, high = self._inner()
        lowest = Fraction(4 * self.constant - self.linear**2, 4)
        return 0 not in (self.linear, self.constant) and low < lowest < high

    def _inner(self) -> tuple[int, int]:
        root = math.isqrt(self.linear**2 - 4 * (self.constant - self.value))
        return (-self.linear - root) // 2, (-self.linear + root) // 2

    def solve(self) -> int:
        # holds() has the lower root under the minimum of f, where no real x leads.
        return self.linear**2 - 2 * (self.constant - self._inner()[1])

    def render(self) -> str:
        f = polynomial([1, self.linear, self.constant])
        return (
            f'Let $f(x) = {f}$. Find the sum of the squares of all real numbers $x$ for which '
            f'$f(f(x)) = {self.value}$.'
        )


@register('math', 'algebra', 5)
@dataclass(frozen=True)
class LeastSumOfRoots(Question):
    """The roots are distances from (x, 0) to (p, a) and (q, -b): least on their straight line."""

    left: int = -3
    up: int = 4
    right: int = 5
    down: int = 7

    @classmethod
    def init(cls, rng: Random) -> LeastSumOfRoots:
        return cls(rng.randint(-9, 9), rng.randint(1, 9), rng.randint(-9, 9), rng.randint(1, 9))

    def holds(self) -> bool:
        apart = 0 not in (self.left, self.right) and abs(self.left - self.right) > 2
        return apart and not self.solve().is_integer

    def solve(self) -> sympy.Expr:
        import sympy

        return sympy.sqrt((self.left - self.right) ** 2 + (self.up + self.down) ** 2)

    def render(self) -> str:
        one = polynomial([1, -2 * self.left, self.left**2 + self.up**2])
        two = polynomial([1, -2 * self.right, self.right**2 + self.down**2])
        return (
            f'What is the least value of $\\sqrt{{{one}}} + \\sqrt{{{two}}}$ for real $x$? Answer '
            'in simplest radical form.'
        )
