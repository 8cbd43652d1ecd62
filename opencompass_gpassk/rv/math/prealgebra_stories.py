"""Prealgebra in stories: everyday numbers, shapes, rates, counting by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from opencompass_gpassk.rv.question import Question, register


@register('math', 'prealgebra', 1)
@dataclass(frozen=True)
class PearsInBoxes(Question):
    """Equal boxes hold their number times what each holds."""

    boxes: int = 5
    each: int = 8
    eaten: int = 6

    @classmethod
    def init(cls, rng: Random) -> PearsInBoxes:
        return cls(rng.randint(2, 9), rng.randint(5, 12), rng.randint(2, 9))

    def solve(self) -> int:
        return self.boxes * self.each - self.eaten

    def render(self) -> str:
        return (
            f'Mia has ${self.boxes}$ boxes with ${self.each}$ pears each. '
            f'She eats ${self.eaten}$ pears. How many pears are left?'
        )


@register('math', 'prealgebra', 1)
@dataclass(frozen=True)
class FencedBed(Question):
    """A rectangle has each of its two sides twice."""

    length: int = 7
    width: int = 4

    @classmethod
    def init(cls, rng: Random) -> FencedBed:
        return cls(rng.randint(5, 25), rng.randint(3, 12))

    def holds(self) -> bool:
        return self.width < self.length

    def solve(self) -> int:
        return 2 * (self.length + self.width)

    def render(self) -> str:
        return (
            f'A rectangular bed is ${self.length}$ m long and ${self.width}$ m wide. '
            'How many metres of fence go all around it?'
        )


@register('math', 'prealgebra', 2)
@dataclass(frozen=True)
class TrainOnTheMove(Question):
    """Clock times are minutes since midnight; the standing is taken from their difference."""

    hour: int = 9
    minute: int = 47
    last_hour: int = 14
    last_minute: int = 12
    standing: int = 25

    @classmethod
    def init(cls, rng: Random) -> TrainOnTheMove:
        leaves, arrives = rng.randint(6, 11), rng.randint(14, 20)
        return cls(leaves, rng.randint(11, 59), arrives, rng.randint(11, 59), rng.randint(10, 45))

    def solve(self) -> int:
        last = 60 * self.last_hour + self.last_minute
        return last - (60 * self.hour + self.minute) - self.standing

    def render(self) -> str:
        return (
            f'A train leaves at ${self.hour}{{:}}{self.minute}$ and arrives at '
            f'${self.last_hour}{{:}}{self.last_minute}$ on the same day (24-hour clock). On its '
            f'way it stands in stations for ${self.standing}$ minutes in all. '
            'For how many minutes is it moving?'
        )


@register('math', 'prealgebra', 2)
@dataclass(frozen=True)
class BoxesOfTiles(Question):
    """Tiles in a row times rows; then full boxes, rounded up."""

    length: int = 6
    width: int = 4
    side: int = 25
    packed: int = 18

    @classmethod
    def init(cls, rng: Random) -> BoxesOfTiles:
        return cls(
            rng.randint(4, 9), rng.randint(3, 8), rng.choice((20, 25, 50)), rng.randint(10, 24)
        )

    def solve(self) -> int:
        tiles = (100 * self.length // self.side) * (100 * self.width // self.side)
        return -(-tiles // self.packed)

    def render(self) -> str:
        return (
            f'A floor is a rectangle of ${self.length}$ m by ${self.width}$ m. It is to '
            f'be covered with square tiles whose sides are ${self.side}$ cm long. The tiles are '
            f'sold in full boxes of ${self.packed}$. What is the smallest number of boxes that is '
            'enough?'
        )


@register('math', 'prealgebra', 3)
@dataclass(frozen=True)
class BeetleOnTheFlagpole(Question):
    """The last climb is not followed by a slide; before it, each day and night gain up - down."""

    height: int = 66
    up: int = 7
    down: int = 4

    @classmethod
    def init(cls, rng: Random) -> BeetleOnTheFlagpole:
        return cls(rng.randint(35, 95), rng.randint(5, 9), rng.randint(2, 6))

    def holds(self) -> bool:
        return self.down + 2 <= self.up

    def solve(self) -> int:
        return math.ceil(Fraction(self.height - self.up, self.up - self.down)) + 1

    def render(self) -> str:
        return (
            f'A flagpole is ${self.height}$ feet high. A beetle starts at its foot on the morning '
            f'of day $1$. Every day it climbs ${self.up}$ feet, and every night it slides back '
            f'${self.down}$ feet. On which day does it first reach the top? Give the number of '
            'that day.'
        )


@register('math', 'prealgebra', 3)
@dataclass(frozen=True)
class TypedPageNumbers(Question):
    """Pages up to 9 take a digit each, the 90 pages from 10 to 99 two each, the others three."""

    first: int = 4
    digits: int = 657

    @classmethod
    def init(cls, rng: Random) -> TypedPageNumbers:
        first = rng.randint(2, 8)
        return cls(first, 10 - first + 2 * 90 + 3 * rng.randint(15, 300))

    def solve(self) -> int:
        one_digit = 10 - self.first
        return 99 + (self.digits - one_digit - 2 * 90) // 3

    def render(self) -> str:
        return (
            f'In a report, the page numbers begin with ${self.first}$ on the first page of the '
            'text and go up by $1$ from page to page. In printing them all, '
            f'${self.digits}$ digits are used. Which number is on the last page?'
        )


@register('math', 'prealgebra', 3)
@dataclass(frozen=True)
class SheetInStrips(Question):
    """Each strip has two full sides of the square; their short ends make up two more."""

    strips: int = 4
    total: int = 150

    @classmethod
    def init(cls, rng: Random) -> SheetInStrips:
        strips = rng.randint(3, 9)
        return cls(strips, 2 * (strips + 1) * rng.randint(10, 30))

    def solve(self) -> int:
        return (self.total // (2 * (self.strips + 1))) ** 2

    def render(self) -> str:
        return (
            'With cuts parallel to one of its sides, a square sheet of paper is cut into '
            f'${self.strips}$ rectangular strips. The perimeters of the strips add up to '
            f'${self.total}$ cm. What was the area of the sheet, in square centimetres?'
        )


@register('math', 'prealgebra', 4)
@dataclass(frozen=True)
class PaintedOnTheTable(Question):
    """Two painted faces: on the upright edges below the top, and on the top edges between corners.

    The faces on the table stay unpainted.
    """

    length: int = 7
    width: int = 5
    height: int = 4

    @classmethod
    def init(cls, rng: Random) -> PaintedOnTheTable:
        return cls(rng.randint(5, 9), rng.randint(4, 8), rng.randint(3, 8))

    def holds(self) -> bool:
        return self.width < self.length

    def solve(self) -> int:
        upright, top = self.height - 1, (self.length - 2) + (self.width - 2)
        return 4 * upright + 2 * top

    def render(self) -> str:
        return (
            'Small wooden cubes of equal size are glued together into a solid block that is '
            f'${self.length}$ cubes long, ${self.width}$ cubes wide and ${self.height}$ cubes '
            'high. The block stands on a table, and all of its outside is painted except for the '
            'bottom. Then it is taken apart. How many of the small cubes have exactly two painted '
            'faces?'
        )


@register('math', 'prealgebra', 4)
@dataclass(frozen=True)
class DrainingTanks(Question):
    """After t hours the tanks are 1 - t/slow and 1 - t/fast full."""

    slow: int = 8
    fast: int = 5
    times: int = 3

    @classmethod
    def init(cls, rng: Random) -> DrainingTanks:
        return cls(rng.randint(6, 12), rng.randint(3, 9), rng.randint(2, 5))

    def holds(self) -> bool:
        # Whole hours would be guessed too easily.
        return self.fast < self.slow and self.solve().denominator > 1

    def solve(self) -> Fraction:
        return (self.times - 1) / (Fraction(self.times, self.fast) - Fraction(1, self.slow))

    def render(self) -> str:
        return (
            'Two equal tanks are full of water. Their valves are opened at the same moment, and '
            f'each tank drains at its own steady rate: the first is empty after ${self.slow}$ '
            f'hours, the second after ${self.fast}$ hours. After how many hours, with water '
            f'still in both, does the first tank hold exactly ${self.times}$ times as much as the '
            'second? Answer with a common fraction in lowest terms.'
        )


@register('math', 'prealgebra', 5)
@dataclass(frozen=True)
class StepsOfTheEscalator(Question):
    """With N steps and r moving by in a second: N = up (1 + r) and N = down (1 - r/2)."""

    up: int = 30
    down: int = 60

    @classmethod
    def init(cls, rng: Random) -> StepsOfTheEscalator:
        # With 2·up and down in ratios of small numbers, N is whole often enough.
        up = rng.randint(20, 45)
        return cls(up, up * rng.choice((8, 9, 12, 15, 18)) // 6)

    def holds(self) -> bool:
        return 3 * self.up * self.down % (2 * self.up + self.down) == 0

    def solve(self) -> int:
        return 3 * self.up * self.down // (2 * self.up + self.down)

    def render(self) -> str:
        return (
            'An escalator runs upwards at a steady speed. Nora walks up on it, one step a second, '
            f'and is at the top after ${self.up}$ steps of hers. Then she walks down on the same '
            'escalator, which still runs upwards, two steps a second, and is at the bottom after '
            f'${self.down}$ steps of hers. How many steps of hers would it take from the bottom '
            'to the top if the escalator stood still?'
        )
