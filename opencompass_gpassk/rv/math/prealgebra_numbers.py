"""Prealgebra with bare numbers: operations, fractions, percents, primes, averages, powers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from random import Random

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import latex


@register('math', 'prealgebra', 1)
@dataclass(frozen=True)
class TimesBeforePlus(Question):
    """Products are worked out before sums."""

    summand: int = 6
    factor: int = 4
    other: int = 7

    @classmethod
    def init(cls, rng: Random) -> TimesBeforePlus:
        return cls(rng.randint(2, 20), rng.randint(2, 9), rng.randint(2, 9))

    def solve(self) -> int:
        return self.summand + self.factor * self.other

    def render(self) -> str:
        return rf'What is ${self.summand} + {self.factor} \times {self.other}$?'


@register('math', 'prealgebra', 1)
@dataclass(frozen=True)
class PercentOfTens(Question):
    """A percent is a hundredth."""

    percent: int = 30
    whole: int = 80

    @classmethod
    def init(cls, rng: Random) -> PercentOfTens:
        return cls(rng.randrange(10, 100, 10), rng.randrange(20, 210, 10))

    def solve(self) -> int:
        return self.percent * self.whole // 100

    def render(self) -> str:
        return rf'What is ${self.percent}\%$ of ${self.whole}$?'


@register('math', 'prealgebra', 2)
@dataclass(frozen=True)
class NextTwoPrimes(Question):
    """A number without a divisor from 2 up to one below it is prime."""

    bound: int = 48

    @classmethod
    def init(cls, rng: Random) -> NextTwoPrimes:
        return cls(rng.randint(20, 90))

    def solve(self) -> int:
        beyond = range(self.bound + 1, self.bound + 40)
        primes = [n for n in beyond if all(n % d for d in range(2, n))]
        return primes[0] + primes[1]

    def render(self) -> str:
        return f'What is the sum of the two smallest prime numbers greater than ${self.bound}$?'


@register('math', 'prealgebra', 2)
@dataclass(frozen=True)
class FifthNumberJoins(Question):
    """The sum of numbers is their average times how many there are."""

    before: int = 34
    after: int = 38

    @classmethod
    def init(cls, rng: Random) -> FifthNumberJoins:
        before = rng.randint(25, 75)
        return cls(before, before + rng.choice((-1, 1)) * rng.randint(1, 5))

    def solve(self) -> int:
        return 5 * self.after - 4 * self.before

    def render(self) -> str:
        return (
            f'The average of four numbers is ${self.before}$. A fifth number joins them, and the '
            f'average of all five is ${self.after}$. What is the fifth number?'
        )


@register('math', 'prealgebra', 2)
@dataclass(frozen=True)
class PartOfTheWay(Question):
    """A share of the way is that share of the difference, added to the start."""

    start: Fraction = Fraction(1, 3)
    end: Fraction = Fraction(3, 4)
    share: Fraction = Fraction(1, 5)

    @classmethod
    def init(cls, rng: Random) -> PartOfTheWay:
        start, end = (Fraction(rng.randint(1, 5), rng.randint(3, 6)) for _ in range(2))
        return cls(start, end, Fraction(rng.randint(1, 3), rng.choice((4, 5))))

    def holds(self) -> bool:
        return self.start < self.end <= 1

    def solve(self) -> Fraction:
        return self.start + self.share * (self.end - self.start)

    def render(self) -> str:
        return (
            f'On the number line, the point $P$ lies ${latex(self.share)}$ of the way from '
            f'${latex(self.start)}$ to ${latex(self.end)}$. Which number is at $P$? '
            'Answer with a common fraction in lowest terms.'
        )


@register('math', 'prealgebra', 3)
@dataclass(frozen=True)
class FourEqualPowers(Question):
    """Four times a power of 8 is a power of 2; dividing takes one exponent from the other."""

    eights: int = 7
    twos: int = 5

    @classmethod
    def init(cls, rng: Random) -> FourEqualPowers:
        return cls(rng.randint(5, 15), rng.randint(3, 15))

    def solve(self) -> int:
        return 3 * self.eights + 2 - self.twos

    def render(self) -> str:
        total = ' + '.join([f'8^{{{self.eights}}}'] * 4)
        return (
            'Find the integer $n$ for which '
            rf'$\frac{{{total}}}{{2^{{{self.twos}}}}} = 2^n$.'
        )


@register('math', 'prealgebra', 3)
@dataclass(frozen=True)
class LateRepeating(Question):
    """A period of two digits, one place behind the point, is worth its number over 990."""

    lead: int = 4
    period: int = 27

    @classmethod
    def init(cls, rng: Random) -> LateRepeating:
        return cls(rng.randint(1, 9), rng.randint(12, 98))

    def holds(self) -> bool:
        return self.period % 11 != 0

    def solve(self) -> Fraction:
        return Fraction(self.lead, 10) + Fraction(self.period, 990)

    def render(self) -> str:
        return (
            rf'Write the repeating decimal $0.{self.lead}\overline{{{self.period}}}$, in which the '
            'digits under the bar repeat forever, as a common fraction in lowest terms.'
        )


@register('math', 'prealgebra', 4)
@dataclass(frozen=True)
class LeastLargestOfFive(Question):
    """The largest is least if two stand just below the median, two as near as can be above."""

    median: int = 12
    mean: int = 16

    @classmethod
    def init(cls, rng: Random) -> LeastLargestOfFive:
        median = rng.randint(10, 20)
        return cls(median, median + rng.randint(3, 8))

    def solve(self) -> int:
        upper_two = 5 * self.mean - self.median - (self.median - 1) - (self.median - 2)
        return upper_two // 2 + 1

    def render(self) -> str:
        return (
            f'Five different positive integers have the median ${self.median}$ and the mean '
            f'${self.mean}$. What is the least possible value of the largest of them?'
        )


@register('math', 'prealgebra', 4)
@dataclass(frozen=True)
class TerminatingOnes(Question):
    """k/N terminates if N's part prime to 10 divides k, which it does N/part - 1 times below N."""

    bottom: int = 360

    @classmethod
    def init(cls, rng: Random) -> TerminatingOnes:
        return cls(rng.randint(150, 700))

    def holds(self) -> bool:
        return 10 <= math.gcd(self.bottom, 10**9) < self.bottom

    def solve(self) -> int:
        return math.gcd(self.bottom, 10**9) - 1

    def render(self) -> str:
        n = self.bottom
        return (
            rf'How many of the ${n - 1}$ fractions $\frac{{1}}{{{n}}}, \frac{{2}}{{{n}}}, '
            rf'\frac{{3}}{{{n}}}, \dots, \frac{{{n - 1}}}{{{n}}}$ are equal to a decimal '
            'with finitely many digits?'
        )


@register('math', 'prealgebra', 5)
@dataclass(frozen=True)
class ChainOfProducts(Question):
    """1/(a(a+d)) is (1/a - 1/(a+d))/d, so that of ten such terms only two ends are left."""

    first: int = 3
    step: int = 4

    @classmethod
    def init(cls, rng: Random) -> ChainOfProducts:
        return cls(rng.randint(2, 9), rng.randint(2, 7))

    def solve(self) -> Fraction:
        end = self.first + 10 * self.step
        return (Fraction(1, self.first) - Fraction(1, end)) / self.step

    def render(self) -> str:
        ends = [self.first + i * self.step for i in range(11)]
        terms = [rf'\frac{{1}}{{{a} \cdot {b}}}' for a, b in pairwise(ends)]
        return (
            rf'The sum ${" + ".join(terms[:3])} + \dots + {terms[-1]}$ has ten terms; in each, the '
            f'second factor of the denominator exceeds the first by ${self.step}$ and is the first '
            'factor of the next term. Give its value as a common fraction in lowest terms.'
        )
