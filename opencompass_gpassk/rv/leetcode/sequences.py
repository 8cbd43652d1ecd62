"""Sequences: terms far out, merged rows, sequences that describe themselves."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from random import Random

from opencompass_gpassk.rv.question import Question, register


@register('leetcode', 'sequences', 'easy')
@dataclass(frozen=True)
class BadgesWithoutMultiples(Question):
    """Of every d numbers one is left out, so d - 1 badges reach d numbers further."""

    left_out: int = 7
    place: int = 200

    @classmethod
    def init(cls, rng: Random) -> BadgesWithoutMultiples:
        return cls(rng.randint(3, 9), rng.randint(100, 700))

    def solve(self) -> int:
        return self.place + (self.place - 1) // (self.left_out - 1)

    def render(self) -> str:
        return (
            'The badges of a congress bear the positive integers in increasing order, except that '
            f'all multiples of ${self.left_out}$ are left out. Which number is on the badge at '
            f'place ${self.place}$?'
        )


@register('leetcode', 'sequences', 'easy')
@dataclass(frozen=True)
class NumbersInBlocks(Question):
    """Whole blocks add up squares; what is left of the places goes to the next number."""

    start: int = 4
    terms: int = 60

    @classmethod
    def init(cls, rng: Random) -> NumbersInBlocks:
        return cls(rng.randint(2, 9), rng.randint(30, 90))

    def solve(self) -> int:
        number, left, total = self.start, self.terms, 0
        while left > number:
            total, left, number = total + number**2, left - number, number + 1
        return total + left * number

    def render(self) -> str:
        k = self.start
        return (
            f'A sequence starts with ${k}$ terms equal to ${k}$, which are followed by ${k + 1}$ '
            f'terms equal to ${k + 1}$, then ${k + 2}$ terms equal to ${k + 2}$, and so on. What '
            f'is the sum of its first ${self.terms}$ terms?'
        )


@register('leetcode', 'sequences', 'easy')
@dataclass(frozen=True)
class LostSecondTerm(Question):
    """The 7th term is 5 times the first and 8 times the second, the 10th 21 and 34 times them."""

    first: int = 12
    seventh: int = 204

    @classmethod
    def init(cls, rng: Random) -> LostSecondTerm:
        first = rng.randint(10, 40)
        return cls(first, 5 * first + 8 * rng.randint(10, 60))

    def solve(self) -> int:
        second = (self.seventh - 5 * self.first) // 8
        return 21 * self.first + 34 * second

    def render(self) -> str:
        return (
            'From the third term on, each term of a sequence is the sum of the two terms before '
            f'it. The first term is ${self.first}$ and the seventh term is ${self.seventh}$. What '
            'is the tenth term?'
        )


@register('leetcode', 'sequences', 'easy')
@dataclass(frozen=True)
class TermLessTheOneBefore(Question):
    """The terms p, q, q - p, -p, -q, p - q come again and again, and their sum is 0."""

    first: int = 23
    second: int = 41
    terms: int = 1001

    @classmethod
    def init(cls, rng: Random) -> TermLessTheOneBefore:
        return cls(rng.randint(10, 60), rng.randint(10, 60), rng.randint(1000, 4000))

    def holds(self) -> bool:
        return self.first < self.second and self.terms % 6 != 0

    def solve(self) -> int:
        p, q = self.first, self.second
        return sum([p, q, q - p, -p, -q][: self.terms % 6])

    def render(self) -> str:
        return (
            f'A sequence has $a_1 = {self.first}$, $a_2 = {self.second}$ and $a_{{n+2}} = a_{{n+1}}'
            f' - a_n$ for all $n \\ge 1$. What is $a_1 + a_2 + \\dots + a_{{{self.terms}}}$?'
        )


@register('leetcode', 'sequences', 'medium')
@dataclass(frozen=True)
class SquaresAmongCubes(Question):
    """Sixth powers are squares and cubes at once, but stand in the row once."""

    above: int = 2000
    place: int = 40

    @classmethod
    def init(cls, rng: Random) -> SquaresAmongCubes:
        return cls(rng.randint(1000, 4000), rng.randint(30, 60))

    def solve(self) -> int:
        enough = isqrt(self.above) + self.place
        powers = {root**exponent for root in range(1, enough + 1) for exponent in (2, 3)}
        return sorted(power for power in powers if power > self.above)[self.place - 1]

    def render(self) -> str:
        return (
            f'All integers greater than ${self.above}$ that are the square or the cube of an '
            'integer are written in a row in ascending order, each of them once. Which number '
            f'stands at place ${self.place}$?'
        )


@register('leetcode', 'sequences', 'medium')
@dataclass(frozen=True)
class RunsThatCountThemselves(Question):
    """Each term, as soon as it is known, tells the length of a run further on."""

    one: int = 2
    other: int = 3
    terms: int = 30

    @classmethod
    def init(cls, rng: Random) -> RunsThatCountThemselves:
        return cls(rng.randint(1, 4), rng.randint(1, 4), rng.randint(24, 36))

    def holds(self) -> bool:
        return self.one != self.other

    def solve(self) -> int:
        terms: list[int] = []
        for run in range(self.terms):
            value = self.other if run % 2 else self.one
            terms += [value] * (terms[run] if run < len(terms) else value)
        return sum(terms[: self.terms])

    def render(self) -> str:
        return (
            f'An infinite sequence, all of whose terms are ${self.one}$ or ${self.other}$, starts '
            f'with ${self.one}$. Cut it into runs of equal terms, each run as long as possible: '
            'the first run has as many terms as the first term says, the second run as the second '
            f'term says, and so on for ever. What is the sum of the first ${self.terms}$ terms?'
        )


@register('leetcode', 'sequences', 'medium')
@dataclass(frozen=True)
class SquareTreadmill(Question):
    """A remainder seen before brings all that followed it again."""

    start: int = 9
    shift: int = 6
    modulus: int = 58
    place: int = 2000

    @classmethod
    def init(cls, rng: Random) -> SquareTreadmill:
        return cls(*(rng.randint(*of) for of in [(3, 9), (3, 9), (30, 90), (1000, 4000)]))

    def orbit(self) -> list[int]:
        terms = [self.start]
        while terms[-1] not in terms[:-1]:
            terms.append((terms[-1] ** 2 + self.shift) % self.modulus)
        return terms

    def holds(self) -> bool:
        *terms, again = self.orbit()
        return len(terms) <= 12 and len(terms) - terms.index(again) >= 3

    def solve(self) -> int:
        *terms, again = self.orbit()
        back = terms.index(again)
        return terms[back + (self.place - 1 - back) % (len(terms) - back)]

    def render(self) -> str:
        return (
            f'A sequence starts with $x_1 = {self.start}$, and $x_{{n+1}}$ is always the remainder '
            f'of $x_n^2 + {self.shift}$ on division by ${self.modulus}$. What is '
            f'$x_{{{self.place}}}$?'
        )


@register('leetcode', 'sequences', 'medium')
@dataclass(frozen=True)
class OddPartsAddedUp(Question):
    """Up to n, odd numbers are their own odd parts; the even ones have those of 1 to n / 2."""

    start: int = 40
    end: int = 250

    @classmethod
    def init(cls, rng: Random) -> OddPartsAddedUp:
        return cls(rng.randint(20, 90), rng.randint(150, 400))

    def solve(self) -> int:
        def up_to(n: int) -> int:
            return ((n + 1) // 2) ** 2 + up_to(n // 2) if n else 0

        return up_to(self.end) - up_to(self.start - 1)

    def render(self) -> str:
        return (
            'For a positive integer $n$ let $u(n)$ be the greatest odd divisor of $n$; so '
            f'$u(7) = 7$ and $u(12) = 3$. What is the sum of $u(n)$ over all integers $n$ with '
            f'${self.start} \\le n \\le {self.end}$?'
        )


@register('leetcode', 'sequences', 'medium')
@dataclass(frozen=True)
class HalvingDownTheIndex(Question):
    """The binary digits of n lead from f(1), f(2) to f(n), f(n + 1), pair by pair."""

    start: int = 3
    step: int = 5
    index: int = 150

    @classmethod
    def init(cls, rng: Random) -> HalvingDownTheIndex:
        return cls(rng.randint(2, 9), rng.randint(2, 9), rng.randint(100, 250))

    def solve(self) -> int:
        here, after = self.start, self.start + self.step
        for bit in f'{self.index:b}'[1:]:
            both = here + after
            here, after = (both, after + self.step) if bit == '1' else (here + self.step, both)
        return here

    def render(self) -> str:
        return (
            f'A function on the positive integers has $f(1) = {self.start}$, and for all '
            f'$n \\ge 1$ it has $f(2n) = f(n) + {self.step}$ and $f(2n+1) = f(n) + f(n+1)$. '
            f'What is $f({self.index})$?'
        )


@register('leetcode', 'sequences', 'medium')
@dataclass(frozen=True)
class RootsRoundedDown(Question):
    """The roots of 1 to n, rounded down, sum to r(n + 1) - (1 + 4 + ... + r^2), r the last root."""

    start: int = 40
    end: int = 250

    @classmethod
    def init(cls, rng: Random) -> RootsRoundedDown:
        return cls(rng.randint(20, 90), rng.randint(150, 400))

    def solve(self) -> int:
        def up_to(n: int) -> int:
            r = isqrt(n)
            return r * (n + 1) - r * (r + 1) * (2 * r + 1) // 6

        return up_to(self.end) - up_to(self.start - 1)

    def render(self) -> str:
        return (
            'Let $\\lfloor x \\rfloor$ be the greatest integer that is not greater than $x$. What '
            f'is the sum of $\\lfloor \\sqrt{{n}} \\rfloor$ over all integers $n$ with '
            f'${self.start} \\le n \\le {self.end}$?'
        )


@register('leetcode', 'sequences', 'hard')
@dataclass(frozen=True)
class NumbersAsInADictionary(Question):
    """Skip all numbers that begin with the same digits as long as the place lies beyond them."""

    last: int = 700
    place: int = 450

    @classmethod
    def init(cls, rng: Random) -> NumbersAsInADictionary:
        return cls(rng.randint(300, 999), rng.randint(100, 900))

    def holds(self) -> bool:
        return self.place + 20 < self.last and self.solve() > 9

    def solve(self) -> int:
        here, left = 1, self.place - 1
        while left:
            spans = [(here * 10**i, (here + 1) * 10**i - 1) for i in range(3)]
            begin_so = sum(max(0, min(high, self.last) - low + 1) for low, high in spans)
            here, left = (here + 1, left - begin_so) if begin_so <= left else (10 * here, left - 1)
        return here

    def render(self) -> str:
        return (
            f'The integers from $1$ to ${self.last}$ are sorted as words are in a dictionary, with '
            'digits for letters: $9$ comes after $12$, and $12$ comes before $125$. So the list '
            f'begins with $1, 10, 100, 101$. Which number stands at place ${self.place}$?'
        )


@register('leetcode', 'sequences', 'hard')
@dataclass(frozen=True)
class NoThreeEvenlySpaced(Question):
    """From 0 on, the terms are the numbers without the digit 2 in base 3."""

    start: int = 14
    place: int = 45

    @classmethod
    def init(cls, rng: Random) -> NoThreeEvenlySpaced:
        return cls(rng.randint(10, 40), rng.randint(28, 64))

    def solve(self) -> int:
        return self.start + int(f'{self.place - 1:b}', base=3)

    def render(self) -> str:
        return (
            f'The first term of a sequence is ${self.start}$. Each further term is the smallest '
            'integer that is greater than all terms before it and for which no three different '
            'terms chosen so far, the new one included, form an arithmetic progression (whether '
            f'they follow one another or not). What is term number ${self.place}$?'
        )
