"""Geometry on grids: rectangles, lattice points, squares of dots, stacked cubes, mirrors."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from random import Random

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import listed

Point = tuple[int, int]
Box = tuple[int, int, int, int]  # left, bottom, right, top


def _turn(a: Point, b: Point, c: Point) -> int:
    """Return twice the area of the triangle, positive if it turns to the left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


@register('leetcode', 'figures', 'easy')
@dataclass(frozen=True)
class DiagonalShortcuts(Question):
    """With diagonal steps a leg takes as many steps as its longer side."""

    stops: tuple[Point, ...] = ((2, 3), (11, -4), (-5, 6), (8, 9), (-7, -2))

    @classmethod
    def init(cls, rng: Random) -> DiagonalShortcuts:
        return cls(tuple((rng.randint(-12, 12), rng.randint(-12, 12)) for _ in range(5)))

    def solve(self) -> int:
        return sum(max(abs(a - c), abs(b - d)) for (a, b), (c, d) in pairwise(self.stops))

    def render(self) -> str:
        return (
            'In one step a robot moves from a point $(x, y)$ with integer coordinates to one of '
            'its eight neighbours: $x$ and $y$ each stay or change by $1$, and at least one of '
            f'them changes. It visits the points {listed(self.stops)} in this order, starting at '
            'the first of them. What is the smallest number of steps in which it can reach the '
            'last?'
        )


@register('leetcode', 'figures', 'easy')
@dataclass(frozen=True)
class DippedTowers(Question):
    """A tower shows its top, its bottom and, to each neighbour, the difference in height."""

    front: tuple[int, int, int] = (3, 7, 2)
    middle: tuple[int, int, int] = (5, 1, 6)
    back: tuple[int, int, int] = (4, 8, 3)

    @classmethod
    def init(cls, rng: Random) -> DippedTowers:
        a, b, c, d, e, f, g, h, i = (rng.randint(1, 9) for _ in range(9))
        return cls((a, b, c), (d, e, f), (g, h, i))

    def solve(self) -> int:
        rows = (self.front, self.middle, self.back)
        lines = [(0, *line, 0) for line in (*rows, *zip(*rows, strict=True))]
        return 18 + sum(abs(one - other) for line in lines for one, other in pairwise(line))

    def render(self) -> str:
        return (
            'Unit cubes are stacked in nine towers that stand side by side without gaps on a '
            '$3 \\times 3$ grid. From left to right, the towers of the front row are '
            f'{listed(self.front)} cubes high, those of the middle row {listed(self.middle)}, and '
            f'those of the back row {listed(self.back)} (a tower of height $1$ is a single cube). '
            'The cubes are glued together, and the whole body is dipped in paint so that its '
            'entire surface, including the bottom, is coloured. How many unit squares are coloured?'
        )


@register('leetcode', 'figures', 'easy')
@dataclass(frozen=True)
class WidestTriangle(Question):
    """Half the absolute value of a determinant is the area of a triangle."""

    points: tuple[Point, ...] = ((1, 8), (9, 2), (4, 7), (7, 10), (2, 3))

    @classmethod
    def init(cls, rng: Random) -> WidestTriangle:
        return cls(tuple((rng.randint(0, 12), rng.randint(0, 12)) for _ in range(5)))

    def holds(self) -> bool:
        return len(set(self.points)) == 5 and self.solve() >= 15

    def solve(self) -> Fraction:
        return Fraction(max(abs(_turn(*corners)) for corners in combinations(self.points, 3)), 2)

    def render(self) -> str:
        return (
            f'Five points are given: {listed(self.points)}. What is the largest area of a triangle '
            'with its three corners among them? Give an integer or a common fraction in lowest '
            'terms.'
        )


@register('leetcode', 'figures', 'medium')
@dataclass(frozen=True)
class MirroredBox(Question):
    """Unfolded, the beam crosses the lines of a lattice until width and height divide its way."""

    width: int = 84
    height: int = 60

    @classmethod
    def init(cls, rng: Random) -> MirroredBox:
        common = rng.randint(2, 9)
        return cls(common * rng.randint(5, 14), common * rng.randint(5, 14))

    def holds(self) -> bool:
        return self.width > self.height and self.solve() >= 8

    def solve(self) -> int:
        return (self.width + self.height) // math.gcd(self.width, self.height) - 2

    def render(self) -> str:
        return (
            f'A flat rectangular box is ${self.width}$ cm long and ${self.height}$ cm wide, and '
            'its four walls are mirrors. From one corner a beam of light starts into the box at an '
            'angle of $45^\\circ$ to the walls and is reflected whenever it meets a wall, until it '
            'runs into a corner, where it ends. How many times is it reflected before that?'
        )


@register('leetcode', 'figures', 'medium')
@dataclass(frozen=True)
class DotsInsideTriangle(Question):
    """Pick: twice the area is twice the inner points plus the points on the sides minus 2."""

    first: Point = (1, 2)
    second: Point = (17, 6)
    third: Point = (9, 18)

    @classmethod
    def init(cls, rng: Random) -> DotsInsideTriangle:
        a, b, c = ((rng.randint(0, 20), rng.randint(0, 20)) for _ in range(3))
        return cls(a, b, c)

    def holds(self) -> bool:
        return abs(_turn(self.first, self.second, self.third)) >= 80

    def solve(self) -> int:
        around = (self.first, self.second, self.third, self.first)
        border = sum(math.gcd(c - a, d - b) for (a, b), (c, d) in pairwise(around))
        return (abs(_turn(self.first, self.second, self.third)) - border) // 2 + 1

    def render(self) -> str:
        return (
            f'A triangle has its corners at ${self.first}$, ${self.second}$ and ${self.third}$. '
            'How many points with integer coordinates lie strictly inside it (neither on a side '
            'nor at a corner)?'
        )


@register('leetcode', 'figures', 'medium')
@dataclass(frozen=True)
class SquaresOnDots(Question):
    """An upright frame of side k holds k squares, all but one of them tilted."""

    rows: int = 7
    columns: int = 10

    @classmethod
    def init(cls, rng: Random) -> SquaresOnDots:
        return cls(rng.randint(4, 9), rng.randint(6, 14))

    def holds(self) -> bool:
        return self.rows < self.columns

    def solve(self) -> int:
        return sum(k * (self.rows - k) * (self.columns - k) for k in range(1, self.rows))

    def render(self) -> str:
        return (
            f'On a sheet, dots are printed in ${self.rows}$ rows and ${self.columns}$ columns; '
            'neighbouring dots of a row or of a column are $1$ cm apart. How many squares, in any '
            'position, tilted ones included, have all four corners on dots?'
        )


@register('leetcode', 'figures', 'medium')
@dataclass(frozen=True)
class RoundMinusDiamond(Question):
    """A disc is counted column by column; the diamond within it has k^2 + (k + 1)^2 points."""

    square: int = 93
    bound: int = 6

    @classmethod
    def init(cls, rng: Random) -> RoundMinusDiamond:
        return cls(rng.randint(50, 150), rng.randint(3, 9))

    def holds(self) -> bool:
        return (self.bound + 1) ** 2 <= self.square

    def solve(self) -> int:
        radius = math.isqrt(self.square)
        disc = sum(2 * math.isqrt(self.square - x * x) + 1 for x in range(-radius, radius + 1))
        return disc - self.bound**2 - (self.bound + 1) ** 2

    def render(self) -> str:
        return (
            f'How many pairs $(x, y)$ of integers satisfy both $x^2 + y^2 \\le {self.square}$ and '
            f'$|x| + |y| > {self.bound}$?'
        )


@register('leetcode', 'figures', 'medium')
@dataclass(frozen=True)
class ThreePosters(Question):
    """Areas minus overlaps of two plus the overlap of all three (inclusion and exclusion)."""

    posters: tuple[Box, ...] = ((2, 1, 11, 9), (4, 5, 15, 12), (0, 3, 9, 15))

    @classmethod
    def init(cls, rng: Random) -> ThreePosters:
        low, high = rng.choices(range(7), k=6), rng.choices(range(8, 16), k=6)
        return cls(tuple((low[i], low[i + 1], high[i], high[i + 1]) for i in (0, 2, 4)))

    def holds(self) -> bool:
        return not any(
            a <= e and b <= f and c >= g and d >= h  # one poster covers the other
            for (a, b, c, d), (e, f, g, h) in permutations(self.posters, 2)
        )

    def solve(self) -> int:
        area = 0
        for size in (1, 2, 3):
            for some in combinations(self.posters, size):
                left, bottom, _, _ = map(max, zip(*some, strict=True))
                _, _, right, top = map(min, zip(*some, strict=True))
                area -= (-1) ** size * (right - left) * (top - bottom)
        return area

    def render(self) -> str:
        first, second, third = (
            f'${a} \\le x \\le {c}$ and ${b} \\le y \\le {d}$' for a, b, c, d in self.posters
        )
        return (
            'Three rectangular posters are glued on a wall and overlap. The first covers the '
            f'points $(x, y)$ with {first}, the second those with {second}, and the third those '
            f'with {third}. What is the area of the wall that is covered by at least one poster?'
        )


@register('leetcode', 'figures', 'hard')
@dataclass(frozen=True)
class CubesBetweenViews(Question):
    """Towers of equal height share the two views; at most, each is as high as both views allow."""

    front: tuple[int, int, int] = (4, 7, 5)
    side: tuple[int, int, int] = (5, 2, 7)

    @classmethod
    def init(cls, rng: Random) -> CubesBetweenViews:
        a, b, c, d, e, f = (rng.randint(2, 9) for _ in range(6))
        return cls((a, b, c), (d, e, f))

    def holds(self) -> bool:
        return max(self.front) == max(self.side) and sorted(self.front) != sorted(self.side)

    def solve(self) -> int:
        most = sum(min(one, other) for one in self.front for other in self.side)
        heights = range(1, max(self.front) + 1)
        fewest = sum(h * max(self.front.count(h), self.side.count(h)) for h in heights)
        return most - fewest + 1

    def render(self) -> str:
        return (
            'Unit cubes are stacked in towers on the nine squares of a $3 \\times 3$ board; some '
            'squares may stay empty. Seen from the front, the tallest towers of the three columns '
            f'of the board are {listed(self.front)} cubes high (from left to right). Seen from the '
            f'left side, the tallest towers of the three rows are {listed(self.side)} cubes high '
            '(from the back row to the front row). How many different values are possible for the '
            'total number of cubes?'
        )


@register('leetcode', 'figures', 'hard')
@dataclass(frozen=True)
class TilesUnderCircle(Question):
    """The circle changes tiles at each line it crosses, and at a corner crosses two at once."""

    tile: int = 4
    radius: int = 100

    @classmethod
    def init(cls, rng: Random) -> TilesUnderCircle:
        tiles = rng.choice([5, 10, 13, 15, 17, 20, 25, 26, 29, 30, 34, 35, 37, 39, 40, 41])
        tile = rng.randint(2, 9)
        return cls(tile, tile * tiles)

    def solve(self) -> int:
        tiles = self.radius // self.tile
        legs = (math.isqrt(tiles * tiles - x * x) for x in range(1, tiles))
        corners = 4 * sum(x * x + y * y == tiles * tiles for x, y in enumerate(legs, 1))
        return 4 * (2 * tiles - 1) - corners

    def render(self) -> str:
        return (
            f'A large floor is laid with square tiles of side ${self.tile}$ cm in straight rows '
            'and columns. Around a point where four tiles meet, a circle of radius '
            f'${self.radius}$ cm is drawn. How many tiles have points of the circle in their '
            'interior?'
        )


@register('leetcode', 'figures', 'hard')
@dataclass(frozen=True)
class BandAroundNails(Question):
    """A segment belongs to the hull if all other points are on its left; cross products add up."""

    nails: tuple[Point, ...] = ((1, 4), (3, 11), (5, 6), (6, 1), (8, 10), (11, 12), (13, 3), (7, 5))

    @classmethod
    def init(cls, rng: Random) -> BandAroundNails:
        return cls(tuple((rng.randint(0, 14), rng.randint(0, 14)) for _ in range(8)))

    def hull(self) -> list[tuple[Point, Point]]:
        return [
            (a, b)
            for a, b in permutations(self.nails, 2)
            if all(_turn(a, b, c) > 0 for c in self.nails if c not in (a, b))
        ]

    def holds(self) -> bool:
        # A nail on the way between two others would leave out this side.
        return all(_turn(*three) for three in combinations(self.nails, 3)) and self.solve() >= 40

    def solve(self) -> Fraction:
        return Fraction(sum(a * d - b * c for (a, b), (c, d) in self.hull()), 2)

    def render(self) -> str:
        return (
            'Eight thin nails are driven into a board with a coordinate grid of unit $1$ cm, at '
            f'{listed(self.nails)}. A rubber band is stretched around all of them. What is the '
            'area, in square centimetres, that the band encloses, if nails and band are regarded '
            'as having no thickness? Give an integer or a common fraction in lowest terms.'
        )
