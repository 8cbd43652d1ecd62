"""Algebra: equations, systems, inequalities, absolute values, and stories that lead to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import signed


@register('math', 'algebra', 1)
@dataclass(frozen=True)
class LinearForX(Question):
    """What is added is taken away, what is multiplied is divided by."""

    factor: int = 3
    added: int = 4
    total: int = 25

    @classmethod
    def init(cls, rng: Random) -> LinearForX:
        factor, added = rng.randint(2, 9), rng.randint(1, 20)
        return cls(factor, added, factor * rng.randint(2, 15) + added)

    def solve(self) -> int:
        return (self.total - self.added) // self.factor

    def render(self) -> str:
        return f'Solve ${self.factor}x + {self.added} = {self.total}$ for $x$.'


@register('math', 'algebra', 2)
@dataclass(frozen=True)
class BracketsOnBothSides(Question):
    """a(x + p) = b(x + q) has the solution (bq - ap)/(a - b)."""

    a: int = 5
    p: int = 3
    b: int = 2
    q: int = 11

    @classmethod
    def init(cls, rng: Random) -> BracketsOnBothSides:
        p, q = (rng.choice((-1, 1)) * rng.randint(1, 12) for _ in range(2))
        return cls(rng.randint(4, 9), p, rng.randint(2, 7), q)

    def holds(self) -> bool:
        return self.b < self.a - 1 and (self.b * self.q - self.a * self.p) % (self.a - self.b) != 0

    def solve(self) -> Fraction:
        return Fraction(self.b * self.q - self.a * self.p, self.a - self.b)

    def render(self) -> str:
        return (
            f'Solve ${self.a}(x {signed(self.p)}) = {self.b}(x {signed(self.q)})$ for $x$. '
            'Answer with a common fraction in lowest terms.'
        )


@register('math', 'algebra', 2)
@dataclass(frozen=True)
class PairOfLinears(Question):
    """Adding d times the first and b times the second leaves (ad + bc)x; y is alike."""

    a: int = 2
    b: int = 3
    total: int = 11
    c: int = 5
    d: int = 4
    difference: int = 16

    @classmethod
    def init(cls, rng: Random) -> PairOfLinears:
        a, b, c, d = (rng.randint(2, 7) for _ in range(4))
        x, y = (rng.choice((-1, 1)) * rng.randint(1, 9) for _ in range(2))
        return cls(a, b, a * x + b * y, c, d, c * x - d * y)

    def solve(self) -> tuple[int, int]:
        factor = self.a * self.d + self.b * self.c
        x = self.d * self.total + self.b * self.difference
        y = self.c * self.total - self.a * self.difference
        return x // factor, y // factor

    def render(self) -> str:
        return (
            f'Solve the system ${self.a}x + {self.b}y = {self.total}$ and '
            f'${self.c}x - {self.d}y = {self.difference}$. Answer with the ordered pair $(x, y)$.'
        )


@register('math', 'algebra', 3)
@dataclass(frozen=True)
class YardOfWheels(Question):
    """With c cars, 3c + t vehicles have 2(2c) + 4c + 3t wheels; thrice the first leaves c."""

    vehicles: int = 34
    wheels: int = 95

    @classmethod
    def init(cls, rng: Random) -> YardOfWheels:
        cars, tricycles = rng.randint(4, 20), rng.randint(6, 40)
        return cls(3 * cars + tricycles, 8 * cars + 3 * tricycles)

    def solve(self) -> int:
        cars = 3 * self.vehicles - self.wheels
        return self.vehicles - 3 * cars

    def render(self) -> str:
        return (
            f'In a yard there are ${self.vehicles}$ vehicles: bicycles, tricycles and cars, with '
            f'${self.wheels}$ wheels altogether. A bicycle has $2$ wheels, a tricycle $3$ and a '
            'car $4$. There are twice as many bicycles as cars. How many tricycles are there?'
        )


@register('math', 'algebra', 3)
@dataclass(frozen=True)
class BarsAgainstALine(Question):
    """Either 2x - a = x + b or a - 2x = x + b; both count if x + b is not negative."""

    a: int = 9
    b: int = 6

    @classmethod
    def init(cls, rng: Random) -> BarsAgainstALine:
        return cls(rng.randint(1, 25), rng.choice((-1, 1)) * rng.randint(1, 15))

    def holds(self) -> bool:
        return self.a + 2 * self.b > 0

    def solve(self) -> list[Fraction]:
        return [Fraction(self.a - self.b, 3), Fraction(self.a + self.b)]

    def render(self) -> str:
        return (
            f'Find all real numbers $x$ with $|2x - {self.a}| = x {signed(self.b)}$. '
            'List them, separated by commas.'
        )


@register('math', 'algebra', 4)
@dataclass(frozen=True)
class BarsWithinBars(Question):
    """With c < b, it says that 3x - a lies from b - c to b + c, or from -b - c to c - b."""

    a: int = 5
    b: int = 28
    c: int = 12

    @classmethod
    def init(cls, rng: Random) -> BarsWithinBars:
        return cls(rng.randint(1, 20), rng.randint(22, 45), rng.randint(6, 20))

    def solve(self) -> int:
        low, high = self.b - self.c, self.b + self.c
        spans = [(self.a + low, self.a + high), (self.a - high, self.a - low)]
        return sum(end // 3 - (start - 1) // 3 for start, end in spans)

    def render(self) -> str:
        return (
            rf'How many integers $x$ satisfy $\bigl| |3x - {self.a}| - {self.b} \bigr| '
            rf'\le {self.c}$?'
        )


@register('math', 'algebra', 4)
@dataclass(frozen=True)
class TwiceWatered(Question):
    """Each time the share 1 - x/V of the cider stays, so V(1 - x/V)^2 is left."""

    volume: int = 128
    left: int = 50

    @classmethod
    def init(cls, rng: Random) -> TwiceWatered:
        k, m, n = rng.randint(1, 4), rng.randint(7, 13), rng.randint(4, 10)
        return cls(k * m * m, k * n * n)

    def holds(self) -> bool:
        # Neither nearly all of the cider is drawn nor nearly none.
        return self.volume < 8 * self.left < 6 * self.volume

    def solve(self) -> int:
        return self.volume - math.isqrt(self.volume * self.left)

    def render(self) -> str:
        return (
            f'A cask holds ${self.volume}$ litres of cider. Some of it is drawn off, as much water '
            'is poured in, and all is stirred well. Then the same amount as before is drawn off '
            f'again and replaced by water. Now ${self.left}$ litres of cider are left in the '
            'cask. How many litres were drawn off each time?'
        )


@register('math', 'algebra', 5)
@dataclass(frozen=True)
class MultipleOfItsFraction(Question):
    """With x = n + f, (a - 1)f = n - b is one of the integers from 0 to a - 2."""

    a: int = 7
    b: int = 4

    @classmethod
    def init(cls, rng: Random) -> MultipleOfItsFraction:
        return cls(rng.randint(5, 12), rng.randint(2, 12))

    def solve(self) -> Fraction:
        return sum((self.b + j + Fraction(j, self.a - 1) for j in range(self.a - 1)), Fraction(0))

    def render(self) -> str:
        return (
            r'Let $\lfloor x \rfloor$ be the greatest integer less than or equal to $x$. What is '
            rf'the sum of all real numbers $x$ for which $x = {self.a}(x - \lfloor x \rfloor) '
            rf'+ {self.b}$? Answer with an integer or a common fraction in lowest terms.'
        )


@register('math', 'algebra', 5)
@dataclass(frozen=True)
class RobotsInACorridor(Question):
    """Up to the first meeting they go one length together, up to the second three lengths."""

    west: int = 70
    east: int = 50

    @classmethod
    def init(cls, rng: Random) -> RobotsInACorridor:
        return cls(rng.randint(45, 95), rng.randint(20, 99))

    def holds(self) -> bool:
        # Else the faster robot overtakes the slower one before they meet head-on again.
        return 2 * self.east < 3 * self.west and self.east != self.west

    def solve(self) -> int:
        return 3 * self.west - self.east

    def render(self) -> str:
        return (
            'Two robots start at the same moment from the two ends of a straight corridor and '
            'drive towards each other, each at its own constant speed. At an end of the corridor '
            'they turn back at once without losing time. They first meet at a point '
            f'${self.west}$ m from the west end; their next meeting is at a point ${self.east}$ m '
            'from the east end, after each has turned back exactly once. How many metres long is '
            'the corridor?'
        )


@register('math', 'algebra', 5)
@dataclass(frozen=True)
class ThreeLockedPairs(Question):
    """xy + 2x + 2y + 4 = (x + 2)(y + 2), and three such products give each factor."""

    xy: int = 50
    yz: int = 95
    zx: int = 62

    @classmethod
    def init(cls, rng: Random) -> ThreeLockedPairs:
        x, y, z = rng.sample(range(3, 13), 3)
        return cls(x * y + 2 * x + 2 * y, y * z + 2 * y + 2 * z, z * x + 2 * z + 2 * x)

    def solve(self) -> int:
        p, q, r = self.xy + 4, self.yz + 4, self.zx + 4
        root = math.isqrt(p * q * r)
        return root // p + root // q + root // r - 6

    def render(self) -> str:
        return (
            f'The positive real numbers $x$, $y$ and $z$ satisfy $xy + 2x + 2y = {self.xy}$, '
            f'$yz + 2y + 2z = {self.yz}$ and $zx + 2z + 2x = {self.zx}$. What is $x + y + z$?'
        )
