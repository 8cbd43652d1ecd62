"""Algebra: sequences and their sums, roots, mixtures, work and rates, factoring."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from opencompass_gpassk.rv.question import Question, register


@register('math', 'algebra', 1)
@dataclass(frozen=True)
class PlaceOfATerm(Question):
    """The n-th term is n - 1 steps away from the first."""

    first: int = 17
    step: int = 6
    term: int = 245

    @classmethod
    def init(cls, rng: Random) -> PlaceOfATerm:
        first, step = rng.randint(5, 40), rng.randint(3, 15)
        return cls(first, step, first + step * rng.randint(20, 80))

    def solve(self) -> int:
        return (self.term - self.first) // self.step + 1

    def render(self) -> str:
        start = ', '.join(str(self.first + i * self.step) for i in range(3))
        return (
            f'In the arithmetic sequence ${start}, \\dots$, the $n$-th term is ${self.term}$. '
            'What is $n$?'
        )


@register('math', 'algebra', 2)
@dataclass(frozen=True)
class SyrupMadeSweeter(Question):
    """The sugar missing in the weak syrup is the surplus of the strong one."""

    litres: int = 20
    weak: int = 15
    strong: int = 55
    wanted: int = 30

    @classmethod
    def init(cls, rng: Random) -> SyrupMadeSweeter:
        weak, wanted, strong = sorted(rng.sample(range(10, 85, 5), 3))
        return cls(rng.randint(6, 45), weak, strong, wanted)

    def holds(self) -> bool:
        return self.litres * (self.wanted - self.weak) % (self.strong - self.wanted) == 0

    def solve(self) -> int:
        return self.litres * (self.wanted - self.weak) // (self.strong - self.wanted)

    def render(self) -> str:
        return (
            f'Lena has ${self.litres}$ litres of a syrup that is ${self.weak}\\%$ sugar. How many '
            f'litres of another syrup, which is ${self.strong}\\%$ sugar, must she add to obtain '
            f'a syrup that is ${self.wanted}\\%$ sugar? (All percentages are by volume.)'
        )


@register('math', 'algebra', 2)
@dataclass(frozen=True)
class TermsFromBothEnds(Question):
    """The fourth term and the fourth to last have the sum of the first and the last."""

    fourth: int = 23
    eleventh: int = 58

    @classmethod
    def init(cls, rng: Random) -> TermsFromBothEnds:
        first, step = rng.randint(3, 40), rng.randint(2, 9)
        return cls(first + 3 * step, first + 10 * step)

    def solve(self) -> int:
        return 7 * (self.fourth + self.eleventh)

    def render(self) -> str:
        return (
            f'The fourth term of an arithmetic sequence is ${self.fourth}$ and its eleventh term '
            f'is ${self.eleventh}$. What is the sum of its first $14$ terms?'
        )


@register('math', 'algebra', 3)
@dataclass(frozen=True)
class RootWithinRoot(Question):
    """Squaring shows the sum m + n and the product 4mn, so m and n solve a quadratic."""

    outer: int = 17
    inner: int = 264

    @classmethod
    def init(cls, rng: Random) -> RootWithinRoot:
        m, n = rng.sample(range(3, 25), 2)
        return cls(m + n, 4 * m * n)

    def holds(self) -> bool:
        return math.isqrt(self.inner) ** 2 != self.inner

    def solve(self) -> tuple[int, int]:
        apart = math.isqrt(self.outer**2 - self.inner)
        return (self.outer + apart) // 2, (self.outer - apart) // 2

    def render(self) -> str:
        return (
            f'The number $\\sqrt{{{self.outer} + \\sqrt{{{self.inner}}}}}$ can be written as '
            '$\\sqrt{m} + \\sqrt{n}$ with integers $m > n$. Find the ordered pair $(m, n)$.'
        )


@register('math', 'algebra', 3)
@dataclass(frozen=True)
class PumpsAtOneBasin(Question):
    """Rates add: 1/x + 1/(x + d) = 1/t, a quadratic with one positive root."""

    together: int = 12
    later: int = 10

    @classmethod
    def init(cls, rng: Random) -> PumpsAtOneBasin:
        # The pumps take scale * p * (p + q) and scale * q * (p + q) minutes.
        p, q = sorted(rng.sample(range(1, 6), 2))
        scale = rng.randint(2, 6)
        return cls(scale * p * q, scale * (q * q - p * p))

    def solve(self) -> int:
        root = math.isqrt(4 * self.together**2 + self.later**2)
        return (2 * self.together - self.later + root) // 2

    def render(self) -> str:
        return (
            f'Two pumps working together fill a basin in ${self.together}$ minutes. Alone, the '
            f'weaker pump would need ${self.later}$ minutes longer than the stronger one. How '
            'many minutes would the stronger pump need alone?'
        )


@register('math', 'algebra', 4)
@dataclass(frozen=True)
class SumsInStretches(Question):
    """The sums of consecutive stretches of equal length are again a geometric sequence."""

    tenth: int = 28
    thirtieth: int = 133

    @classmethod
    def init(cls, rng: Random) -> SumsInStretches:
        # From stretch to stretch the sum grows by the factor u / v.
        u, v = rng.sample(range(1, 7), 2)
        scale = rng.randint(2, 9)
        return cls(scale * v * v, scale * (v * v + u * v + u * u))

    def solve(self) -> int:
        a, b = self.tenth, self.thirtieth
        return (a + math.isqrt(4 * a * b - 3 * a * a)) // 2

    def render(self) -> str:
        return (
            'All terms of a geometric sequence are positive real numbers. Its first $10$ terms '
            f'have the sum ${self.tenth}$, and its first $30$ terms have the sum '
            f'${self.thirtieth}$. What is the sum of its first $20$ terms?'
        )


@register('math', 'algebra', 4)
@dataclass(frozen=True)
class RootOfFourFactors(Question):
    """n(n+d)(n+2d)(n+3d) + d^4 is the square of n^2 + 3nd + d^2."""

    start: int = 47
    step: int = 3

    @classmethod
    def init(cls, rng: Random) -> RootOfFourFactors:
        return cls(rng.randint(21, 89), rng.randint(2, 7))

    def solve(self) -> int:
        return self.start**2 + 3 * self.start * self.step + self.step**2

    def render(self) -> str:
        factors = ' \\cdot '.join(str(self.start + i * self.step) for i in range(4))
        return f'Compute the integer $\\sqrt{{{factors} + {self.step**4}}}$.'


@register('math', 'algebra', 5)
@dataclass(frozen=True)
class DroneAlongBarges(Question):
    """With speed ratio k, L/(k-1) + L/(k+1) = d; the drone flies kd = L + sqrt(L^2 + d^2)."""

    length: int = 90
    advance: int = 120

    @classmethod
    def init(cls, rng: Random) -> DroneAlongBarges:
        legs = rng.choice([(3, 4), (5, 12), (8, 15), (7, 24), (20, 21), (12, 35)])
        scale = rng.randint(3, 40)
        length, advance = rng.sample([scale * leg for leg in legs], 2)
        return cls(length, advance)

    def holds(self) -> bool:
        return 30 <= self.length <= 300 and 30 <= self.advance <= 500

    def solve(self) -> int:
        return self.length + math.isqrt(self.length**2 + self.advance**2)

    def render(self) -> str:
        return (
            f'A string of barges, ${self.length}$ metres from end to end, is towed along a '
            'straight canal at a constant speed. A drone films it at a constant greater speed, '
            'the same both ways: it flies level from the stern of the last barge to the bow of the '
            'first one and, without a pause, back to the stern of the last. During this flight the '
            f'barges move on by ${self.advance}$ metres. How many metres does the drone fly?'
        )


@register('math', 'algebra', 5)
@dataclass(frozen=True)
class FractionsOfCubes(Question):
    """Both (n-1)/(n+1) and (n^2+n+1)/(n^2-n+1), the factors of a fraction, telescope."""

    first: int = 4
    last: int = 30

    @classmethod
    def init(cls, rng: Random) -> FractionsOfCubes:
        return cls(rng.randint(3, 9), rng.randint(20, 60))

    def solve(self) -> Fraction:
        a, b = self.first, self.last
        return Fraction(a * (a - 1), b * (b + 1)) * Fraction(b * b + b + 1, a * a - a + 1)

    def render(self) -> str:
        first, second, last = (
            f'\\frac{{{n}^3 - 1}}{{{n}^3 + 1}}' for n in (self.first, self.first + 1, self.last)
        )
        return (
            f'The product ${first} \\cdot {second} \\cdots {last}$ has one factor '
            f'$\\frac{{n^3 - 1}}{{n^3 + 1}}$ for each integer $n$ from ${self.first}$ to '
            f'${self.last}$. Write it as a common fraction in lowest terms.'
        )
