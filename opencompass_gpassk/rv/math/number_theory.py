"""Number theory: divisors, remainders, digits in other bases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import polynomial


@register('math', 'number theory', 1)
@dataclass(frozen=True)
class RemainderCarried(Question):
    """A number may be replaced by its remainder in sums and products."""

    divisor: int = 17
    rest: int = 11
    factor: int = 6
    plus: int = 15

    @classmethod
    def init(cls, rng: Random) -> RemainderCarried:
        divisor = rng.randint(12, 99)
        return cls(divisor, rng.randint(2, divisor - 1), rng.randint(2, 9), rng.randint(2, 30))

    def solve(self) -> int:
        return (self.factor * self.rest + self.plus) % self.divisor

    def render(self) -> str:
        return (
            f'When the positive integer $N$ is divided by ${self.divisor}$, the remainder is '
            f'${self.rest}$. What is the remainder when ${self.factor}N + {self.plus}$ is divided '
            f'by ${self.divisor}$?'
        )


@register('math', 'number theory', 2)
@dataclass(frozen=True)
class LampsInStep(Question):
    """Two periods fall together every lcm seconds."""

    first: int = 12
    second: int = 18
    minutes: int = 15

    @classmethod
    def init(cls, rng: Random) -> LampsInStep:
        return cls(rng.randint(10, 30), rng.randint(10, 30), rng.randint(10, 30))

    def holds(self) -> bool:
        return self.first < self.second and 1 < math.gcd(self.first, self.second) < self.first

    def solve(self) -> int:
        return 60 * self.minutes // math.lcm(self.first, self.second)

    def render(self) -> str:
        return (
            f'A red lamp flashes every ${self.first}$ seconds and a blue one every ${self.second}$ '
            'seconds. They have just flashed together. How many more times will they flash '
            f'together within the next ${self.minutes}$ minutes, the last moment included?'
        )


@register('math', 'number theory', 2)
@dataclass(frozen=True)
class SumInOtherBase(Question):
    """Add column by column, carrying the base; the fields hold the numerals as they are written."""

    base: int = 7
    first: int = 465
    second: int = 254

    @classmethod
    def init(cls, rng: Random) -> SumInOtherBase:
        base = rng.randint(5, 9)
        a, b, c, d, e, f = rng.choices(range(1, base), k=6)
        return cls(base, 100 * a + 10 * b + c, 100 * d + 10 * e + f)

    def solve(self) -> int:
        total, carry = 0, 0
        for place in (1, 10, 100):
            column = carry + self.first // place % 10 + self.second // place % 10
            carry, digit = divmod(column, self.base)
            total += digit * place
        return total + 1000 * carry

    def render(self) -> str:
        return (
            f'Compute ${self.first}_{{{self.base}}} + {self.second}_{{{self.base}}}$, where the '
            'index of a number is the base in which it is written. Give the digits of the sum in '
            f'base ${self.base}$, without an index.'
        )


@register('math', 'number theory', 3)
@dataclass(frozen=True)
class MarchersInRows(Question):
    """Three remainders by coprime divisors fix a number up to the product of the divisors."""

    rows: tuple[int, int, int] = (5, 8, 9)
    over: tuple[int, int, int] = (3, 6, 4)

    @classmethod
    def init(cls, rng: Random) -> MarchersInRows:
        a, b, c = sorted(rng.sample([5, 7, 8, 9, 11], 3))
        return cls((a, b, c), (rng.randint(2, a - 1), rng.randint(2, b - 1), rng.randint(2, c - 1)))

    def holds(self) -> bool:
        return self.solve() > 60

    def solve(self) -> int:
        from sympy.ntheory.modular import crt

        return int(crt(self.rows, self.over)[0])

    def render(self) -> str:
        return (
            f'When the musicians of a band line up in rows of ${self.rows[0]}$, '
            f'${self.over[0]}$ of them are left over. In rows of ${self.rows[1]}$, '
            f'${self.over[1]}$ are left over, and in rows of ${self.rows[2]}$, ${self.over[2]}$ '
            'are. What is the smallest possible number of musicians?'
        )


@register('math', 'number theory', 3)
@dataclass(frozen=True)
class DivisorsAmongMultiples(Question):
    """The divisors of N that are multiples of m are m times the divisors of N / m."""

    number: int = 4320
    factor: int = 12

    @classmethod
    def init(cls, rng: Random) -> DivisorsAmongMultiples:
        factor = rng.choice([10, 12, 14, 15, 18, 20, 21])
        rest = 2 ** rng.randint(1, 6) * 3 ** rng.randint(1, 3) * rng.choice([5, 7, 25, 35, 49])
        return cls(factor * rest, factor)

    def solve(self) -> int:
        from sympy import divisor_count

        return int(divisor_count(self.number // self.factor))

    def render(self) -> str:
        return (
            f'How many of the positive divisors of ${self.number}$ are multiples of '
            f'${self.factor}$?'
        )


@register('math', 'number theory', 3)
@dataclass(frozen=True)
class ClosestWithSameLcm(Question):
    """Divided by their gcd, the two are coprime factors of lcm / gcd."""

    gcd: int = 14
    lcm: int = 1260

    @classmethod
    def init(cls, rng: Random) -> ClosestWithSameLcm:
        gcd = rng.randint(4, 30)
        factors = [30, 42, 60, 66, 70, 78, 84, 90, 105, 110, 120, 126, 132, 140, 150, 156, 165]
        return cls(gcd, gcd * rng.choice(factors))

    def solve(self) -> int:
        product = self.lcm // self.gcd
        factors = [d for d in range(1, product + 1) if product % d == 0]
        sums = [d + product // d for d in factors if math.gcd(d, product // d) == 1]
        return self.gcd * min(sums)

    def render(self) -> str:
        return (
            f'Two positive integers have the greatest common divisor ${self.gcd}$ and the least '
            f'common multiple ${self.lcm}$. What is the smallest possible value of their sum?'
        )


@register('math', 'number theory', 4)
@dataclass(frozen=True)
class DividesSquarePlus(Question):
    """Since n + a divides n^2 - a^2, it divides n^2 + b exactly if it divides a^2 + b."""

    shift: int = 7
    plus: int = 95

    @classmethod
    def init(cls, rng: Random) -> DividesSquarePlus:
        return cls(rng.randint(4, 12), rng.randint(30, 200))

    def holds(self) -> bool:
        return 3 <= sum(d > self.shift for d in self._divisors()) <= 10

    def solve(self) -> int:
        return sum(d - self.shift for d in self._divisors() if d > self.shift)

    def _divisors(self) -> list[int]:
        number = self.shift**2 + self.plus
        return [d for d in range(1, number + 1) if number % d == 0]

    def render(self) -> str:
        return (
            f'Find the sum of all positive integers $n$ for which $n + {self.shift}$ is a divisor '
            f'of $n^2 + {self.plus}$.'
        )


@register('math', 'number theory', 4)
@dataclass(frozen=True)
class SumOfDecimals(Question):
    """Lowest terms, denominator coprime to 10: the digits repeat from the first one on."""

    numerator: int = 5
    denominator: int = 13
    places: int = 100

    @classmethod
    def init(cls, rng: Random) -> SumOfDecimals:
        denominator = rng.choice([7, 13, 17, 37, 41, 73])
        return cls(rng.randint(2, denominator - 1), denominator, rng.randint(50, 200))

    def solve(self) -> int:
        period: list[int] = []
        rest = self.numerator
        while not period or rest != self.numerator:
            digit, rest = divmod(10 * rest, self.denominator)
            period.append(digit)
        full, left = divmod(self.places, len(period))
        return full * sum(period) + sum(period[:left])

    def render(self) -> str:
        return (
            rf'The fraction $\frac{{{self.numerator}}}{{{self.denominator}}}$ is written as a '
            f'decimal. What is the sum of the first ${self.places}$ digits after the decimal point?'
        )


@register('math', 'number theory', 4)
@dataclass(frozen=True)
class CoprimeSum(Question):
    """If m is coprime to N, so is kN - m: the numbers pair up to kN."""

    number: int = 60
    limit: int = 900

    @classmethod
    def init(cls, rng: Random) -> CoprimeSum:
        number = rng.choice([30, 36, 42, 45, 60, 63, 66, 70, 75, 78, 84, 90, 105])
        return cls(number, number * rng.randint(6, 18))

    def solve(self) -> int:
        from sympy import totient

        count = int(totient(self.number)) * (self.limit // self.number)
        return count * self.limit // 2

    def render(self) -> str:
        return (
            f'Find the sum of all positive integers less than ${self.limit}$ that have no common '
            f'divisor greater than $1$ with ${self.number}$.'
        )


@register('math', 'number theory', 5)
@dataclass(frozen=True)
class PowerMinusSquare(Question):
    """Modulo p each a^n that is a square has two roots n, independent of n modulo p - 1."""

    base: int = 3
    prime: int = 13
    limit: int = 1248

    @classmethod
    def init(cls, rng: Random) -> PowerMinusSquare:
        prime = rng.choice([7, 11, 13, 17])
        periods = rng.randint(3, 9)
        return cls(rng.randint(2, 9), prime, periods * prime * (prime - 1))

    def holds(self) -> bool:
        return self.base % self.prime > 1

    def solve(self) -> int:
        periods = self.limit // (self.prime * (self.prime - 1))
        # If the base is no square, only even exponents make its power one.
        is_square = pow(self.base, (self.prime - 1) // 2, self.prime) == 1
        exponents = (self.prime - 1) // (1 if is_square else 2)
        return periods * exponents * 2

    def render(self) -> str:
        return (
            f'For how many integers $n$ with $1 \\le n \\le {self.limit}$ is '
            f'${self.base}^n - n^2$ divisible by ${self.prime}$?'
        )


@register('math', 'number theory', 5)
@dataclass(frozen=True)
class SquaresFromQuadratic(Question):
    """n^2 + bn + c = m^2 means (2m - 2n - b)(2m + 2n + b) = 4c - b^2."""

    linear: int = 13
    constant: int = 91

    @classmethod
    def init(cls, rng: Random) -> SquaresFromQuadratic:
        return cls(rng.randrange(7, 22, 2), rng.randint(50, 250))

    def holds(self) -> bool:
        return len(self._solutions()) >= 2

    def solve(self) -> int:
        return sum(self._solutions())

    def _solutions(self) -> list[int]:
        product = 4 * self.constant - self.linear**2
        # As b is odd, the product is 3 modulo 4, and so every pair of factors gives an integer n.
        pairs = [(product // d, d) for d in range(1, abs(product) + 1) if product % d == 0]
        numbers = {(large - small - 2 * self.linear) // 4 for small, large in pairs}
        return sorted(n for n in numbers if n > 0)

    def render(self) -> str:
        return (
            f'There are only a few positive integers $n$ that make '
            f'${polynomial([1, self.linear, self.constant], "n")}$ the square of an integer. What '
            'do they add up to?'
        )


@register('math', 'number theory', 5)
@dataclass(frozen=True)
class SquareRootsOfOne(Question):
    """1 has 2 square roots modulo p^e (p odd), 1 modulo 2, 2 modulo 4, 4 modulo 8, 16, ..."""

    modulus: int = 120
    limit: int = 1800

    @classmethod
    def init(cls, rng: Random) -> SquareRootsOfOne:
        modulus = rng.choice([56, 60, 72, 80, 84, 88, 90, 105, 112, 120, 126, 132, 140, 144, 168])
        return cls(modulus, modulus * rng.randint(7, 21))

    def solve(self) -> int:
        from sympy import factorint

        roots = 1
        for prime, power in factorint(self.modulus).items():
            roots *= 2 if prime > 2 else 2 ** min(power - 1, 2)
        return roots * (self.limit // self.modulus)

    def render(self) -> str:
        return (
            f'For how many positive integers $n$ up to and including ${self.limit}$ does $n^2$ '
            f'leave the remainder $1$ when it is divided by ${self.modulus}$?'
        )
