"""Geometry: triangles, circles, polygons, folding, solids."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING

from opencompass_gpassk.rv.question import Question, register

if TYPE_CHECKING:
    import sympy

# Triangles with whole sides and area, and without an angle of 120 degrees or more.
HERON = [
    *[(5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29), (6, 8, 10), (9, 12, 15)],
    *[(4, 13, 15), (13, 14, 15), (11, 13, 20), (13, 20, 21), (12, 17, 25), (17, 25, 28)],
]


@register('math', 'geometry', 1)
@dataclass(frozen=True)
class AngleFromOutside(Question):
    """An exterior angle is the sum of the two interior angles that are not next to it."""

    at_a: int = 48
    outside: int = 115

    @classmethod
    def init(cls, rng: Random) -> AngleFromOutside:
        at_a = rng.randint(20, 90)
        return cls(at_a, rng.randint(at_a + 10, 165))

    def solve(self) -> int:
        return self.outside - self.at_a

    def render(self) -> str:
        return (
            rf'In triangle $ABC$, the angle at $A$ measures ${self.at_a}^\circ$. Side $AB$ is '
            r'extended beyond $B$ to a point $D$, and the angle $CBD$ measures '
            rf'${self.outside}^\circ$. How many degrees does the angle at $C$ measure?'
        )


@register('math', 'geometry', 2)
@dataclass(frozen=True)
class CircleRoundRectangle(Question):
    """A diagonal of the rectangle is a diameter of the circle."""

    width: int = 24
    height: int = 10

    @classmethod
    def init(cls, rng: Random) -> CircleRoundRectangle:
        return cls(rng.randrange(8, 42, 2), rng.randrange(8, 42, 2))

    def holds(self) -> bool:
        return self.width > self.height

    def solve(self) -> sympy.Expr:
        import sympy

        return (self.width**2 + self.height**2) // 4 * sympy.pi - self.width * self.height

    def render(self) -> str:
        return (
            f'The four corners of a rectangle, ${self.width}$ wide and ${self.height}$ high, lie '
            'on a circle. What is the area of the region that lies inside the circle but outside '
            r'the rectangle? Give it exactly, in terms of $\pi$.'
        )


@register('math', 'geometry', 2)
@dataclass(frozen=True)
class ShadowOfPost(Question):
    """The triangles above the post and behind it are similar: (lamp - post)/away = post/shadow."""

    lamp: int = 7
    post: int = 3
    away: int = 10

    @classmethod
    def init(cls, rng: Random) -> ShadowOfPost:
        return cls(rng.randint(4, 12), rng.randint(2, 9), rng.randint(3, 20))

    def holds(self) -> bool:
        return self.post < self.lamp and self.solve().denominator > 1

    def solve(self) -> Fraction:
        return Fraction(self.away * self.post, self.lamp - self.post)

    def render(self) -> str:
        return (
            f'A street lamp shines ${self.lamp}$ metres above level ground. A post '
            f'${self.post}$ metres high stands upright, ${self.away}$ metres away from the point '
            'of the ground right below the lamp. How many metres long is the shadow of the post '
            'on the ground? Answer with a common fraction in lowest terms.'
        )


@register('math', 'geometry', 3)
@dataclass(frozen=True)
class AllAnglesButOne(Question):
    """All angles sum up to the next multiple of 180, which is (n - 2) * 180 degrees."""

    total: int = 2030

    @classmethod
    def init(cls, rng: Random) -> AllAnglesButOne:
        return cls(180 * (rng.randint(8, 40) - 2) - rng.randint(15, 165))

    def solve(self) -> int:
        corners = self.total // 180 + 3
        return corners * (corners - 3) // 2

    def render(self) -> str:
        return (
            'All the interior angles of a convex polygon, except for one of them, add up to '
            rf'${self.total}^\circ$. How many diagonals does the polygon have?'
        )


@register('math', 'geometry', 3)
@dataclass(frozen=True)
class TurnedAboutHypotenuse(Question):
    """Two cones share a base, whose radius is the height on the hypotenuse; this is their axis."""

    first: int = 15
    second: int = 20

    @classmethod
    def init(cls, rng: Random) -> TurnedAboutHypotenuse:
        a, b = rng.choice([(3, 4), (5, 12), (8, 15), (7, 24), (20, 21)])
        scale = rng.randint(1, 48 // b)
        return cls(scale * a, scale * b)

    def holds(self) -> bool:
        return self.first > 4

    def solve(self) -> sympy.Expr:
        import sympy

        axis = math.isqrt(self.first**2 + self.second**2)
        radius = sympy.Rational(self.first * self.second, axis)
        return radius**2 * axis / 3 * sympy.pi

    def render(self) -> str:
        return (
            f'A right triangle with legs of ${self.first}$ and ${self.second}$ is turned through a '
            'full revolution about its hypotenuse. What is the volume of the solid that it sweeps '
            r'out? Give it exactly, in terms of $\pi$.'
        )


@register('math', 'geometry', 4)
@dataclass(frozen=True)
class ChordCutInRatio(Question):
    """The parts x and 2x of a chord through P have the product radius^2 - away^2."""

    radius: int = 13
    away: int = 7

    @classmethod
    def init(cls, rng: Random) -> ChordCutInRatio:
        return cls(rng.randint(10, 25), rng.randint(2, 20))

    def holds(self) -> bool:
        # In between, the chord can be drawn and is no diameter.
        return self.radius < 3 * self.away < 3 * self.radius and (self.radius - self.away) % 2 == 0

    def solve(self) -> sympy.Expr:
        import sympy

        return 3 * sympy.sqrt((self.radius**2 - self.away**2) // 2)

    def render(self) -> str:
        return (
            f'A point $P$ lies at a distance of ${self.away}$ from the centre of a circle with '
            f'radius ${self.radius}$. A chord of the circle passes through $P$, and $P$ divides it '
            'in the ratio $1 : 2$. How long is the chord? Answer with an integer or in simplest '
            'radical form.'
        )


@register('math', 'geometry', 4)
@dataclass(frozen=True)
class MedianMeetsBisector(Question):
    """AP bisects the angle of triangle ABM too, so BP : PM = AB : AM; ABM is half of ABC."""

    ab: int = 7
    ac: int = 9
    area: int = 25

    @classmethod
    def init(cls, rng: Random) -> MedianMeetsBisector:
        ab, ac = rng.randint(5, 15), rng.randint(5, 15)
        return cls(ab, ac, rng.randint(ab * ac // 4, ab * ac // 2 - 1))

    def holds(self) -> bool:
        return self.ab != self.ac and self.solve().denominator > 9

    def solve(self) -> Fraction:
        return Fraction(self.area, 2) * Fraction(2 * self.ab, 2 * self.ab + self.ac)

    def render(self) -> str:
        return (
            f'Triangle $ABC$ has the area ${self.area}$, with $AB = {self.ab}$ and '
            f'$AC = {self.ac}$. Let $M$ be the midpoint of $AC$. The bisector of the angle at $A$ '
            'meets the segment $BM$ at $P$. Find the area of triangle $ABP$ as a common fraction '
            'in lowest terms.'
        )


@register('math', 'geometry', 4)
@dataclass(frozen=True)
class FoldCornerToCorner(Question):
    """The doubled triangle has one side t on a long edge, with t^2 = (width - t)^2 + height^2."""

    width: int = 15
    height: int = 9

    @classmethod
    def init(cls, rng: Random) -> FoldCornerToCorner:
        return cls(rng.randint(10, 30), rng.randint(6, 25))

    def holds(self) -> bool:
        return self.height < self.width and self.solve().denominator > 1

    def solve(self) -> Fraction:
        side = Fraction(self.width**2 + self.height**2, 2 * self.width)
        return side * self.height / 2

    def render(self) -> str:
        return (
            f'A rectangular sheet of paper, ${self.width}$ long and ${self.height}$ wide, is '
            'folded once, flat, so that two opposite corners come to lie on each other. What is '
            'the area of the part where the paper now lies double? Answer with a common fraction '
            'in lowest terms.'
        )


@register('math', 'geometry', 5)
@dataclass(frozen=True)
class ThreeDistances(Question):
    """Turn the parts about the corners by 60 degrees: twice the area is that of three equilateral
    triangles on PA, PB and PC and of three triangles with the sides PA, PB and PC.
    """

    pa: int = 13
    pb: int = 14
    pc: int = 15

    @classmethod
    def init(cls, rng: Random) -> ThreeDistances:
        return cls(*rng.choice(HERON))

    def solve(self) -> sympy.Expr:
        import sympy

        a, b, c = self.pa, self.pb, self.pc
        four_areas = math.isqrt((a + b + c) * (-a + b + c) * (a - b + c) * (a + b - c))
        squares = a * a + b * b + c * c
        return sympy.Rational(squares, 8) * sympy.sqrt(3) + sympy.Rational(3 * four_areas, 8)

    def render(self) -> str:
        return (
            f'A point $P$ inside an equilateral triangle $ABC$ has the distances $PA = {self.pa}$, '
            f'$PB = {self.pb}$ and $PC = {self.pc}$ from its corners. Find the area of triangle '
            r'$ABC$ in the form $a + b\sqrt{3}$ with rational numbers $a$ and $b$.'
        )


@register('math', 'geometry', 5)
@dataclass(frozen=True)
class HexagonOfTwoLengths(Question):
    """Put in the order a, b, a, b, a, b it has the same area, and all its angles are 120 degrees:
    an equilateral triangle of side a + 2b with three corners of side b cut off.
    """

    a: int = 4
    b: int = 7

    @classmethod
    def init(cls, rng: Random) -> HexagonOfTwoLengths:
        return cls(rng.randint(2, 15), rng.randint(2, 15))

    def holds(self) -> bool:
        return self.a != self.b

    def solve(self) -> sympy.Expr:
        import sympy

        return sympy.Rational((self.a + 2 * self.b) ** 2 - 3 * self.b**2, 4) * sympy.sqrt(3)

    def render(self) -> str:
        sides = ', '.join(f'${side}$' for side in [self.a] * 3 + [self.b] * 2)
        return (
            'The six corners of a convex hexagon lie on a circle. Its sides, in the order in '
            f'which they follow each other, are {sides} and ${self.b}$ long. Find the area of the '
            'hexagon in simplest radical form.'
        )


@register('math', 'geometry', 5)
@dataclass(frozen=True)
class FourEqualFaces(Question):
    """Its edges are the face diagonals of a box, of which it fills a third."""

    p: int = 41
    q: int = 65
    r: int = 74

    @classmethod
    def init(cls, rng: Random) -> FourEqualFaces:
        x, y, z = sorted(rng.sample(range(2, 10), 3))
        return cls(x * x + y * y, x * x + z * z, y * y + z * z)

    def holds(self) -> bool:
        return all(math.isqrt(edge) ** 2 != edge for edge in (self.p, self.q, self.r))

    def solve(self) -> Fraction:
        half = (self.p + self.q + self.r) // 2  # x^2 + y^2 + z^2
        return Fraction(math.isqrt((half - self.p) * (half - self.q) * (half - self.r)), 3)

    def render(self) -> str:
        return (
            'Each of the four faces of a tetrahedron is a triangle with sides of length '
            rf'$\sqrt{{{self.p}}}$, $\sqrt{{{self.q}}}$ and $\sqrt{{{self.r}}}$. Find the volume '
            'of the tetrahedron as an integer or a common fraction in lowest terms.'
        )
