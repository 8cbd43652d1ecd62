"""Digits: digit sums, reversals and palindromes, other bases, counting by digits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from opencompass_gpassk.rv.question import Question, register


@register('leetcode', 'digits', 'easy')
@dataclass(frozen=True)
class LastDigitSumStanding(Question):
    """Repeated digit sums keep the remainder on division by 9."""

    low: int = 230
    high: int = 745
    end: int = 4

    @classmethod
    def init(cls, rng: Random) -> LastDigitSumStanding:
        return cls(rng.randint(100, 450), rng.randint(550, 999), rng.randint(1, 9))

    def solve(self) -> int:
        return (self.high - self.end) // 9 - (self.low - 1 - self.end) // 9

    def render(self) -> str:
        return (
            'Take a positive integer and replace it by the sum of its decimal digits, again and '
            f'again, until a single digit is left. For how many integers from ${self.low}$ to '
            f'${self.high}$, both included, is this last digit ${self.end}$?'
        )


@register('leetcode', 'digits', 'easy')
@dataclass(frozen=True)
class NumeralTurnedOver(Question):
    """A numeral and its complement add up to base^length - 1."""

    number: int = 500
    base: int = 6

    @classmethod
    def init(cls, rng: Random) -> NumeralTurnedOver:
        return cls(rng.randint(100, 999), rng.randint(3, 9))

    def holds(self) -> bool:
        return self.solve() >= 10

    def solve(self) -> int:
        full = self.base
        while full <= self.number:
            full *= self.base
        return full - 1 - self.number

    def render(self) -> str:
        return (
            f'The number ${self.number}$ is written in base ${self.base}$, without leading '
            f'zeros. Then each digit $d$ of this numeral is replaced by ${self.base - 1} - d$. '
            f'Which number does the new numeral stand for in base ${self.base}$? Give it in '
            'base ten.'
        )


@register('leetcode', 'digits', 'easy')
@dataclass(frozen=True)
class SixCardsTwoNumbers(Question):
    """The smallest digits go to the hundreds, the next to the tens."""

    cards: int = 583275

    @classmethod
    def init(cls, rng: Random) -> SixCardsTwoNumbers:
        return cls(int(''.join(str(rng.randint(1, 9)) for _ in range(6))))

    def solve(self) -> int:
        d = sorted(map(int, str(self.cards)))
        return 100 * (d[0] + d[1]) + 10 * (d[2] + d[3]) + d[4] + d[5]

    def render(self) -> str:
        return (
            f'Six cards show the digits of the number ${self.cards}$, one digit each. All six '
            'are laid out to form two three-digit numbers. What is the smallest possible sum of '
            'the two numbers?'
        )


@register('leetcode', 'digits', 'easy')
@dataclass(frozen=True)
class OddDigitSums(Question):
    """Of ten numbers that differ in the last digit alone, five have an odd digit sum."""

    first: int = 357
    last: int = 1284

    @classmethod
    def init(cls, rng: Random) -> OddDigitSums:
        return cls(rng.randint(100, 999), rng.randint(1000, 1999))

    def solve(self) -> int:
        return self._below(self.last + 1) - self._below(self.first)

    def _below(self, end: int) -> int:
        rest = range(end - end % 10, end)
        return 5 * (end // 10) + sum(sum(map(int, str(n))) % 2 for n in rest)

    def render(self) -> str:
        return (
            f'How many of the integers from ${self.first}$ to ${self.last}$, both included, '
            'have an odd sum of their decimal digits?'
        )


@register('leetcode', 'digits', 'easy')
@dataclass(frozen=True)
class OdometerPalindrome(Question):
    """Mirror the first three digits; if that isn't beyond the reading, mirror the next three."""

    reading: int = 47381

    @classmethod
    def init(cls, rng: Random) -> OdometerPalindrome:
        return cls(rng.randint(10000, 99800))

    def solve(self) -> int:
        half = self.reading // 100
        if self._mirrored(half) <= self.reading:
            half += 1
        return self._mirrored(half) - self.reading

    def _mirrored(self, half: int) -> int:
        return int(str(half) + str(half)[1::-1])

    def render(self) -> str:
        return (
            f"A car's odometer shows ${self.reading}$ kilometres. After how many more kilometres "
            'will it next show a number that reads the same forwards and backwards?'
        )


@register('leetcode', 'digits', 'medium')
@dataclass(frozen=True)
class EndlessTape(Question):
    """The numbers of one, two, three and four digits fill 9, 180, 2700 and 36000 places."""

    place: int = 2026

    @classmethod
    def init(cls, rng: Random) -> EndlessTape:
        return cls(rng.randint(1000, 9999))

    def solve(self) -> tuple[int, int]:
        rest, length = self.place - 1, 1
        while rest >= 9 * 10 ** (length - 1) * length:
            rest -= 9 * 10 ** (length - 1) * length
            length += 1
        number = 10 ** (length - 1) + rest // length
        return number, int(str(number)[rest % length])

    def render(self) -> str:
        return (
            'The positive integers are printed on a tape one after another without gaps: '
            f'$123456789101112\\ldots$. To which integer does the digit in place ${self.place}$ '
            'of the tape belong (the first place is place $1$), and which digit is it? Answer '
            'with an ordered pair (integer, digit).'
        )


@register('leetcode', 'digits', 'medium')
@dataclass(frozen=True)
class SmallestForProduct(Question):
    """Few digits, so large ones: split off 9, 8, 7 … as often as they divide."""

    product: int = 8640

    @classmethod
    def init(cls, rng: Random) -> SmallestForProduct:
        twos, threes = rng.randint(2, 7), rng.randint(1, 4)
        return cls(2**twos * 3**threes * 5 ** rng.randint(0, 2) * 7 ** rng.randint(0, 1))

    def holds(self) -> bool:
        return 500 <= self.product <= 40000

    def solve(self) -> int:
        digits, rest = '', self.product
        for digit in range(9, 1, -1):
            while rest % digit == 0:
                digits, rest = str(digit) + digits, rest // digit
        return int(digits)

    def render(self) -> str:
        return (
            'Find the smallest positive integer for which the product of its decimal digits is '
            f'${self.product}$.'
        )


@register('leetcode', 'digits', 'medium')
@dataclass(frozen=True)
class NegativeBase(Question):
    """Divide by the negative base again and again, with remainders from 0 to base - 1."""

    number: int = 523
    base: int = 4

    @classmethod
    def init(cls, rng: Random) -> NegativeBase:
        return cls(rng.choice([-1, 1]) * rng.randint(100, 999), rng.randint(3, 8))

    def solve(self) -> int:
        digits, rest = '', self.number
        while rest:
            digit = rest % self.base
            digits, rest = f'{digit}{digits}', (rest - digit) // -self.base
        return int(digits)

    def render(self) -> str:
        b = self.base
        return (
            f'In base $-{b}$ the digits are $0$ to ${b - 1}$ and the places are worth, from the '
            f'right, $1$, $-{b}$, ${b**2}$, $-{b**3}$ and so on, the powers of $-{b}$. Every '
            f'integer has exactly one such numeral without leading zeros. Write ${self.number}$ '
            f'in base $-{b}$, digits only.'
        )


@register('leetcode', 'digits', 'medium')
@dataclass(frozen=True)
class DigitSumInBase(Question):
    """Stars and bars for total - 1 over four places, less those with a place above its limit."""

    base: int = 7
    total: int = 12

    @classmethod
    def init(cls, rng: Random) -> DigitSumInBase:
        return cls(rng.randint(5, 9), rng.randint(7, 28))

    def holds(self) -> bool:
        return self.solve() >= 20

    def solve(self) -> int:
        b = self.base  # the first digit, less one, has b - 1 values, the others have b
        return sum(
            (-1) ** (first + others) * math.comb(3, others) * math.comb(rest + 3, 3)
            for first in (0, 1)
            for others in range(4)
            if (rest := self.total - 1 - first * (b - 1) - others * b) >= 0
        )

    def render(self) -> str:
        return (
            f'How many positive integers have exactly four digits in base ${self.base}$, the '
            f'first of them not zero, and a sum of these four digits of ${self.total}$ (in base '
            'ten)? Give your answer in base ten.'
        )


@register('leetcode', 'digits', 'medium')
@dataclass(frozen=True)
class StairsBelow(Question):
    """At the first descent lower the digit before it, back to where it rose, and add nines."""

    limit: int = 355524

    @classmethod
    def init(cls, rng: Random) -> StairsBelow:
        steps = sorted(rng.choices(rng.sample(range(1, 10), 3), k=4))
        return cls(int(''.join(map(str, steps))) * 100 + rng.randint(0, 99))

    def holds(self) -> bool:
        d = str(self.limit)
        return sorted(d) != list(d)

    def solve(self) -> int:
        d = [int(c) for c in str(self.limit)]
        for i in range(5, 0, -1):
            if d[i - 1] > d[i]:
                d[i - 1] -= 1
                d[i:] = [9] * (6 - i)
        return int(''.join(map(str, d)))

    def render(self) -> str:
        return (
            f'What is the largest integer below ${self.limit}$ whose decimal digits, read from '
            'left to right, never get smaller?'
        )


@register('leetcode', 'digits', 'hard')
@dataclass(frozen=True)
class DigitInAllPlaces(Question):
    """In the place of 10^k a digit stands for 10^k of each 10^(k+1) numbers in a row."""

    first: int = 36158
    last: int = 41927
    digit: int = 7

    @classmethod
    def init(cls, rng: Random) -> DigitInAllPlaces:
        first = rng.randint(10000, 90000)
        return cls(first, first + rng.randint(2500, 8500), rng.randint(1, 9))

    def solve(self) -> int:
        return self._below(self.last + 1) - self._below(self.first)

    def _below(self, end: int) -> int:
        count = 0
        for place in (1, 10, 100, 1000, 10000):
            blocks, rest = divmod(end, 10 * place)
            count += blocks * place + min(max(rest - self.digit * place, 0), place)
        return count

    def render(self) -> str:
        return (
            f'All integers from ${self.first}$ to ${self.last}$, both included, are written '
            f'down in decimal. How many times is the digit ${self.digit}$ written?'
        )


@register('leetcode', 'digits', 'hard')
@dataclass(frozen=True)
class NoDigitTwice(Question):
    """Count by the first place where the number falls below the limit; then by length."""

    limit: int = 52836

    @classmethod
    def init(cls, rng: Random) -> NoDigitTwice:
        return cls(rng.randint(20000, 89999))

    def solve(self) -> int:
        count = 9 + 9 * 9 + 9 * 9 * 8 + 9 * 9 * 8 * 7  # those with one to four digits
        used: list[int] = []
        for place, digit in enumerate(map(int, str(self.limit))):
            smaller = [d for d in range(place == 0, digit) if d not in used]
            count += len(smaller) * math.perm(9 - place, 4 - place)
            if digit in used:
                return count
            used.append(digit)
        return count + 1

    def render(self) -> str:
        return (
            f'How many integers from $1$ to ${self.limit}$, both included, have no decimal digit '
            'that occurs more than once in them?'
        )
