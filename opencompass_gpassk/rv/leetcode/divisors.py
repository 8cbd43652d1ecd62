"""Divisors: common divisors, primes, perfect and ugly numbers, factorials, modular powers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import listed, ordinal


@register('leetcode', 'divisors', 'easy')
@dataclass(frozen=True)
class DividingBoth(Question):
    """The common divisors of two numbers are the divisors of their gcd."""

    first: int = 504
    second: int = 360

    @classmethod
    def init(cls, rng: Random) -> DividingBoth:
        shared = rng.choice([12, 18, 20, 24, 28, 30, 36, 40, 42, 45, 48, 60, 64, 72])
        return cls(shared * rng.randint(3, 15), shared * rng.randint(3, 15))

    def holds(self) -> bool:
        return max(self.first, self.second) % min(self.first, self.second) != 0

    def solve(self) -> int:
        shared = math.gcd(self.first, self.second)
        return sum(shared % d == 0 for d in range(1, shared + 1))

    def render(self) -> str:
        return (
            f'How many positive integers divide both ${self.first}$ and ${self.second}$ without '
            'remainder?'
        )


@register('leetcode', 'divisors', 'easy')
@dataclass(frozen=True)
class ThreeDivisorsExactly(Question):
    """A number has exactly three divisors if it is the square of a prime."""

    low: int = 300
    high: int = 1500

    @classmethod
    def init(cls, rng: Random) -> ThreeDivisorsExactly:
        low = rng.randint(100, 999)
        return cls(low, low + rng.randint(500, 1500))

    def holds(self) -> bool:
        return self.solve() >= 700

    def solve(self) -> int:
        roots = range(math.isqrt(self.low - 1) + 1, math.isqrt(self.high) + 1)
        return sum(p * p for p in roots if all(p % d for d in range(2, p)))

    def render(self) -> str:
        return (
            f'Find the sum of all integers from ${self.low}$ to ${self.high}$, both included, '
            'that have exactly three positive divisors.'
        )


@register('leetcode', 'divisors', 'easy')
@dataclass(frozen=True)
class MoreThanPerfect(Question):
    """The divisors of a number add up to the product of (p^(e+1) - 1)/(p - 1)."""

    number: int = 420

    @classmethod
    def init(cls, rng: Random) -> MoreThanPerfect:
        return cls(12 * rng.randint(9, 83))

    def solve(self) -> int:
        total, rest = 1, self.number
        for p in range(2, self.number + 1):
            powers = 1
            while rest % p == 0:
                rest, powers = rest // p, powers * p + 1
            total *= powers
        return total - 2 * self.number

    def render(self) -> str:
        return (
            f'All positive divisors of ${self.number}$ that are smaller than ${self.number}$ are '
            f'added up. By how much does their sum exceed ${self.number}$?'
        )


@register('leetcode', 'divisors', 'easy')
@dataclass(frozen=True)
class FromTheLargestDivisor(Question):
    """The k-th largest divisor times the k-th smallest is the number."""

    number: int = 2520
    rank: int = 6

    @classmethod
    def init(cls, rng: Random) -> FromTheLargestDivisor:
        return cls(rng.choice([12, 20, 30, 36, 60]) * rng.randint(30, 150), rng.randint(4, 9))

    def holds(self) -> bool:
        return self._smallest() * self._smallest() < self.number

    def _smallest(self) -> int:
        return [d for d in range(1, self.number + 1) if self.number % d == 0][self.rank - 1]

    def solve(self) -> int:
        return self.number // self._smallest()

    def render(self) -> str:
        return (
            f'The positive divisors of ${self.number}$ are listed from the largest, '
            f'${self.number}$ itself, down to $1$. Which one is the {ordinal(self.rank)} in this '
            'list?'
        )


@register('leetcode', 'divisors', 'medium')
@dataclass(frozen=True)
class FactorialTail(Question):
    """p occurs in n! as often as n/p + n/p^2 + ... rounded down; the scarcest prime decides."""

    n: int = 100
    base: int = 12

    @classmethod
    def init(cls, rng: Random) -> FactorialTail:
        return cls(rng.randint(40, 300), rng.choice([12, 15, 18, 20, 24, 28, 36, 45, 48, 63, 72]))

    def solve(self) -> int:
        import sympy

        return min(
            sum(self.n // p**i for i in range(1, 10)) // exponent
            for p, exponent in sympy.factorint(self.base).items()
        )

    def render(self) -> str:
        return (
            f'With how many zeros does ${self.n}!$ end when it is written in base ${self.base}$? '
            'Answer in base ten.'
        )


@register('leetcode', 'divisors', 'medium')
@dataclass(frozen=True)
class ThreePrimesOnly(Question):
    """Each such number but 1 is an earlier one times one of the three primes."""

    second: int = 3
    third: int = 7
    rank: int = 26

    @classmethod
    def init(cls, rng: Random) -> ThreePrimesOnly:
        return cls(rng.choice([3, 5, 7]), rng.choice([5, 7, 11, 13]), rng.randint(18, 32))

    def holds(self) -> bool:
        return self.second < self.third

    def solve(self) -> int:
        primes = (2, self.second, self.third)
        found = [1]
        while len(found) < self.rank:
            found.append(min(p * n for p in primes for n in found if p * n > found[-1]))
        return found[-1]

    def render(self) -> str:
        return (
            'The positive integers without prime factors other than '
            f'{listed((2, self.second, self.third))} are listed in increasing order; the first '
            f'is $1$, the second $2$. Which number is the {ordinal(self.rank)} in the list?'
        )


@register('leetcode', 'divisors', 'medium')
@dataclass(frozen=True)
class DivisibleByJustOne(Question):
    """Such numbers repeat with the period lcm(a, b)."""

    a: int = 6
    b: int = 10
    rank: int = 200

    @classmethod
    def init(cls, rng: Random) -> DivisibleByJustOne:
        return cls(rng.randint(4, 12), rng.randint(6, 15), rng.randint(100, 400))

    def holds(self) -> bool:
        return self.a < self.b and self.b % self.a != 0

    def solve(self) -> int:
        period = math.lcm(self.a, self.b)
        first = [n for n in range(1, period) if (n % self.a == 0) != (n % self.b == 0)]
        rounds, rest = divmod(self.rank - 1, len(first))
        return rounds * period + first[rest]

    def render(self) -> str:
        return (
            f'The positive integers that are divisible by ${self.a}$ or by ${self.b}$, but not by '
            f'both, are listed in increasing order. Which one is the {ordinal(self.rank)} in the '
            'list?'
        )


@register('leetcode', 'divisors', 'medium')
@dataclass(frozen=True)
class TowerRemainder(Question):
    """By Fermat a^(m-1) leaves 1 for a prime m, so the exponent counts modulo m - 1."""

    a: int = 5
    b: int = 7
    c: int = 45
    modulus: int = 43

    @classmethod
    def init(cls, rng: Random) -> TowerRemainder:
        modulus = rng.choice([11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61])
        return cls(rng.randint(2, 9), rng.randint(2, 9), rng.randint(11, 99), modulus)

    def holds(self) -> bool:
        return self.solve() > 1

    def solve(self) -> int:
        exponent = pow(self.b, self.c, self.modulus - 1)
        return pow(self.a, exponent, self.modulus)

    def render(self) -> str:
        return (
            f'What is the remainder when ${self.a}^{{({self.b}^{{{self.c}}})}}$ is divided by '
            f'${self.modulus}$?'
        )


@register('leetcode', 'divisors', 'medium')
@dataclass(frozen=True)
class OneDigitManyTimes(Question):
    """With a rest r the number of one more digit has the rest 10r + digit; wait for 0."""

    digit: int = 6
    divisor: int = 259

    @classmethod
    def init(cls, rng: Random) -> OneDigitManyTimes:
        p, q = rng.sample([7, 9, 11, 13, 27, 37, 41, 73, 81, 101], 2)
        return cls(rng.randint(2, 9), p * q)

    def holds(self) -> bool:
        return 4 <= self.solve() <= 40

    def solve(self) -> int:
        rest, length = self.digit % self.divisor, 1
        while rest:
            rest, length = (10 * rest + self.digit) % self.divisor, length + 1
        return length

    def render(self) -> str:
        return (
            f'A positive multiple of ${self.divisor}$ has no decimal digit other than '
            f'${self.digit}$. What is the smallest number of digits that it can have?'
        )


@register('leetcode', 'divisors', 'hard')
@dataclass(frozen=True)
class FourFactorsAboveOne(Question):
    """Spread each prime's exponent over the places; inclusion-exclusion takes out the ones."""

    product: int = 720

    @classmethod
    def init(cls, rng: Random) -> FourFactorsAboveOne:
        p, q = rng.sample([3, 5, 7, 11, 13], 2)
        return cls(2 ** rng.randint(1, 5) * p ** rng.randint(1, 3) * q ** rng.randint(0, 2))

    def holds(self) -> bool:
        return self.product <= 4000 and 30 <= self.solve() <= 1500

    def solve(self) -> int:
        import sympy

        def into(k: int) -> int:
            return math.prod(math.comb(e + k - 1, e) for e in exponents)

        exponents = sympy.factorint(self.product).values()
        return into(4) - 4 * into(3) + 6 * into(2) - 4

    def render(self) -> str:
        return (
            'How many ordered quadruples $(a, b, c, d)$ of integers greater than $1$ have the '
            f'product $abcd = {self.product}$?'
        )


@register('leetcode', 'divisors', 'hard')
@dataclass(frozen=True)
class AllTheirGcds(Question):
    """g is the gcd of some of the numbers if it is the gcd of all those that it divides."""

    numbers: tuple[int, ...] = (36, 48, 60, 84, 90, 126)

    @classmethod
    def init(cls, rng: Random) -> AllTheirGcds:
        many = [4, 6, 8, 9, 10, 12, 14, 15, 16, 18, 20, 21, 24, 27, 28, 30]
        return cls(tuple(sorted(6 * n for n in rng.sample(many, 6))))

    def holds(self) -> bool:
        return self.solve() - sum(self.numbers) >= 60  # hidden gcds besides the numbers

    def solve(self) -> int:
        total = 0
        for g in range(1, self.numbers[-1] + 1):
            if g == math.gcd(*[n for n in self.numbers if n % g == 0]):
                total += g
        return total

    def render(self) -> str:
        return (
            f'At least one of the numbers {listed(self.numbers)} is chosen, and the greatest '
            'common divisor of the chosen numbers is taken; for a single number it is that '
            'number. Find the sum of all different values that can result.'
        )


@register('leetcode', 'divisors', 'hard')
@dataclass(frozen=True)
class RunsOfSummands(Question):
    """k numbers in a row have the sum n if 2n = k(2a + k - 1): factors of different parity."""

    n: int = 945

    @classmethod
    def init(cls, rng: Random) -> RunsOfSummands:
        return cls(rng.choice([45, 63, 75, 90, 105, 135, 165, 210, 315]) * rng.randint(2, 20))

    def holds(self) -> bool:
        return 200 <= self.n <= 2500

    def solve(self) -> tuple[int, int]:
        most = math.isqrt(2 * self.n)
        lengths = [
            k
            for k in range(2, most + 1)
            if 2 * self.n % k == 0 and (2 * self.n // k - k) % 2 and 2 * self.n // k > k
        ]
        return len(lengths), lengths[-1]

    def render(self) -> str:
        return (
            f'In how many ways is ${self.n}$ a sum of two or more consecutive positive integers, '
            'and how many summands does the longest of these sums have? Answer with an ordered '
            'pair (number of ways, number of summands).'
        )
