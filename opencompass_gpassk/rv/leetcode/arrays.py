"""Arrays: sums over blocks, pairs and subsets, medians, missing numbers, tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from random import Random

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import listed


@register('leetcode', 'arrays', 'easy')
@dataclass(frozen=True)
class SumOfBlockSums(Question):
    """The i-th of n numbers is in i(n+1-i) blocks, one of which is the number alone."""

    numbers: tuple[int, ...] = (8, 3, 11, 6, 2, 14, 5)

    @classmethod
    def init(cls, rng: Random) -> SumOfBlockSums:
        return cls(tuple(rng.sample(range(2, 25), 7)))

    def solve(self) -> int:
        return sum(((i + 1) * (7 - i) - 1) * number for i, number in enumerate(self.numbers))

    def render(self) -> str:
        return (
            f'The numbers {listed(self.numbers)} stand in a row in this order. For every block of '
            'two or more consecutive numbers of the row (the whole row is a block, too), write '
            'down the sum of its numbers. What is the total of all sums written down?'
        )


@register('leetcode', 'arrays', 'easy')
@dataclass(frozen=True)
class WellOnTheRoad(Question):
    """The sum of distances is least at a median."""

    farms: tuple[int, ...] = (12, 47, 5, 63, 28, 90, 71)

    @classmethod
    def init(cls, rng: Random) -> WellOnTheRoad:
        return cls(tuple(rng.sample(range(2, 100), 7)))

    def solve(self) -> int:
        middle = sorted(self.farms)[3]
        return sum(abs(farm - middle) for farm in self.farms)

    def render(self) -> str:
        return (
            f'Seven farms lie on a straight road, {listed(self.farms)} kilometres from its '
            'beginning respectively. A well is to be dug somewhere on the road. What is the least '
            'possible sum, in kilometres, of the seven distances between the well and the farms?'
        )


@register('leetcode', 'arrays', 'easy')
@dataclass(frozen=True)
class GreatestTripleProduct(Question):
    """It has the largest number, with the two next ones or with the two least ones."""

    numbers: tuple[int, ...] = (-14, 9, 3, -11, 12, -2, 7)

    @classmethod
    def init(cls, rng: Random) -> GreatestTripleProduct:
        numbers = [*rng.sample(range(-19, -1), 3), *rng.sample(range(2, 18), 4)]
        return cls(tuple(rng.sample(numbers, 7)))

    def solve(self) -> int:
        low = sorted(self.numbers)
        return low[-1] * max(low[0] * low[1], low[-2] * low[-3])

    def render(self) -> str:
        return (
            f'What is the largest product of three different numbers among {listed(self.numbers)}?'
        )


@register('leetcode', 'arrays', 'easy')
@dataclass(frozen=True)
class ProductsOverSubsets(Question):
    """Expanding the product of all (1 + a) gives them all, and 1 for the empty subset."""

    elements: tuple[int, ...] = (2, 3, 5, 6, 9)

    @classmethod
    def init(cls, rng: Random) -> ProductsOverSubsets:
        return cls(tuple(sorted(rng.sample(range(2, 16), 5))))

    def solve(self) -> int:
        return math.prod(1 + element for element in self.elements) - 1

    def render(self) -> str:
        elements = ', '.join(map(str, self.elements))
        return (
            f'For every non-empty subset of $\\{{{elements}\\}}$, write down the product of its '
            'elements (for a subset with one element, that element). What is the sum of all '
            'numbers written down?'
        )


@register('leetcode', 'arrays', 'medium')
@dataclass(frozen=True)
class HooksWithOneNumberTwice(Question):
    """The sums tell t - m and t^2 - m^2 = (t - m)(t + m), t there twice and m missing."""

    last: int = 40
    total: int = 832
    squares: int = 22620

    @classmethod
    def init(cls, rng: Random) -> HooksWithOneNumberTwice:
        last = rng.randint(25, 60)
        twice, missing = rng.sample(range(2, last), 2)
        numbers = [*range(1, missing), *range(missing + 1, last + 1), twice]
        return cls(last, sum(numbers), sum(number**2 for number in numbers))

    def solve(self) -> tuple[int, int]:
        n = self.last
        apart = self.total - n * (n + 1) // 2
        both = (self.squares - n * (n + 1) * (2 * n + 1) // 6) // apart
        return (both + apart) // 2, (both - apart) // 2

    def render(self) -> str:
        return (
            f'The ${self.last}$ hooks of a cloakroom should bear the integers from $1$ to '
            f'${self.last}$, one each, but by mistake one of these integers is on two hooks, and '
            f'another one on none. The sum of the integers on the ${self.last}$ hooks is '
            f'${self.total}$, and the sum of their squares is ${self.squares}$. Let $t$ be the '
            'integer that is on two hooks and $m$ the one that is missing. Find the ordered pair '
            '$(t, m)$.'
        )


@register('leetcode', 'arrays', 'medium')
@dataclass(frozen=True)
class XorOfEveryPair(Question):
    """A binary place counts once for each pair of a number with a 1 there and one with a 0."""

    numbers: tuple[int, ...] = (13, 22, 7, 41, 58, 36)

    @classmethod
    def init(cls, rng: Random) -> XorOfEveryPair:
        return cls(tuple(rng.sample(range(4, 64), 6)))

    def solve(self) -> int:
        ones = [sum(number >> place & 1 for number in self.numbers) for place in range(6)]
        return sum(2**place * count * (6 - count) for place, count in enumerate(ones))

    def render(self) -> str:
        return (
            'For non-negative integers $a$ and $b$ let $a \\oplus b$ be the number whose binary '
            'digit is $1$ exactly in those places in which the binary digits of $a$ and $b$ '
            'differ; for example, $6 \\oplus 3 = 5$. What is the sum of $a \\oplus b$ over all '
            f'$15$ unordered pairs of different numbers $a$ and $b$ among {listed(self.numbers)}? '
            'Answer in base ten.'
        )


@register('leetcode', 'arrays', 'medium')
@dataclass(frozen=True)
class SpiralIntoTheTable(Question):
    """Whole rings before the cell's own hold hw - (h-2k)(w-2k) numbers; then walk its ring."""

    height: int = 14
    width: int = 17
    row: int = 10
    column: int = 6

    @classmethod
    def init(cls, rng: Random) -> SpiralIntoTheTable:
        height, width = rng.randint(10, 20), rng.randint(10, 20)
        return cls(height, width, rng.randint(4, height - 3), rng.randint(4, width - 3))

    def solve(self) -> int:
        h, w, r, c = self.height, self.width, self.row, self.column
        k = min(r - 1, c - 1, h - r, w - c)
        h, w, r, c = h - 2 * k, w - 2 * k, r - k, c - k
        place = r + c - 1 if r == 1 or c == w else 2 * (h + w) - r - c - 1
        return self.height * self.width - h * w + place

    def render(self) -> str:
        return (
            f'A table has ${self.height}$ rows and ${self.width}$ columns. The numbers '
            '$1, 2, 3, \\dots$ are written into its cells along a clockwise spiral, which starts '
            'in the top left corner, runs to the right along the first row, down the last column, '
            'to the left along the last row, and so on inwards until the table is full. Which '
            f'number is in row ${self.row}$ (counted from the top) and column ${self.column}$ '
            '(counted from the left)?'
        )


@register('leetcode', 'arrays', 'medium')
@dataclass(frozen=True)
class BestArcOfTheRing(Question):
    """An arc across the ends leaves out a block of the row, which should then be the least."""

    numbers: tuple[int, ...] = (9, -4, 6, -13, 2, -8, 11, -3)

    @classmethod
    def init(cls, rng: Random) -> BestArcOfTheRing:
        return cls(tuple(rng.choice([-1, 1]) * rng.randint(2, 15) for _ in range(8)))

    def holds(self) -> bool:
        return self.solve() >= 10 and sum(number < 0 for number in self.numbers) in (3, 4)

    def solve(self) -> int:
        blocks = [sum(self.numbers[i:j]) for i, j in combinations(range(9), 2)]
        return max(max(blocks), sum(self.numbers) - min(blocks))

    def render(self) -> str:
        return (
            f'The eight numbers {listed(self.numbers)} are written round a circle in this order, '
            'so that the last one is followed by the first. What is the largest possible sum of '
            'one or more consecutive numbers on the circle, each taken at most once?'
        )


@register('leetcode', 'arrays', 'medium')
@dataclass(frozen=True)
class MiddlesOfTriples(Question):
    """An element is in the middle as often as one below it and one above it can be chosen."""

    elements: tuple[int, ...] = (17, 4, 29, 11, 38, 8, 23, 31)

    @classmethod
    def init(cls, rng: Random) -> MiddlesOfTriples:
        return cls(tuple(rng.sample(range(3, 50), 8)))

    def solve(self) -> int:
        return sum(i * (7 - i) * element for i, element in enumerate(sorted(self.elements)))

    def render(self) -> str:
        elements = ', '.join(map(str, self.elements))
        return (
            f'From each of the $56$ three-element subsets of $\\{{{elements}\\}}$, take the '
            'element that is neither the least nor the greatest of the three. What is the sum of '
            'the $56$ numbers taken?'
        )


@register('leetcode', 'arrays', 'hard')
@dataclass(frozen=True)
class PlaceAmongProducts(Question):
    """It is the least v for which k products are at most v; row i has min(n, v/i) of those."""

    rows: int = 9
    columns: int = 14
    place: int = 75

    @classmethod
    def init(cls, rng: Random) -> PlaceAmongProducts:
        return cls(rng.randint(7, 10), rng.randint(12, 16), rng.randint(50, 84))

    def solve(self) -> int:
        value = 1
        while sum(min(self.columns, value // i) for i in range(1, self.rows + 1)) < self.place:
            value += 1
        return value

    def render(self) -> str:
        return (
            f'All ${self.rows * self.columns}$ products $i \\cdot j$ with '
            f'$1 \\le i \\le {self.rows}$ and $1 \\le j \\le {self.columns}$ are listed in '
            'non-decreasing order, equal products as often as they occur (so $1 \\cdot 2$ and '
            f'$2 \\cdot 1$ are two entries). Which number is at place ${self.place}$ of the list?'
        )


@register('leetcode', 'arrays', 'hard')
@dataclass(frozen=True)
class FiveFromTenSums(Question):
    """All add up to 4(a+b+c+d+e); the ends a+b and d+e leave c; next to them are a+c and c+e."""

    sums: tuple[int, ...] = (11, 15, 20, 22, 27, 27, 31, 34, 38, 43)

    @classmethod
    def init(cls, rng: Random) -> FiveFromTenSums:
        numbers = rng.sample(range(2, 40), 5)
        return cls(tuple(sorted(a + b for a, b in combinations(numbers, 2))))

    def solve(self) -> list[int]:
        middle = sum(self.sums) // 4 - self.sums[0] - self.sums[-1]
        least, greatest = self.sums[1] - middle, self.sums[-2] - middle
        return [least, self.sums[0] - least, middle, self.sums[-1] - greatest, greatest]

    def render(self) -> str:
        return (
            'Somebody has thought of five different positive integers and written down the sums '
            f'of two of them for all ten pairs, in non-decreasing order: {listed(self.sums)}. '
            'Which are the five integers? List them in increasing order, separated by commas.'
        )
