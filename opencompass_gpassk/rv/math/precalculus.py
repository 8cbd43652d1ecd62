"""Precalculus: trigonometry, vectors, matrices, complex numbers, polar coordinates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import TYPE_CHECKING

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import latex, polynomial, signed

if TYPE_CHECKING:
    import sympy

Pair = tuple[int, int]
Triple = tuple[int, int, int]
TRIANGLES = [(3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29), (9, 40, 41)]


@register('math', 'precalculus', 2)
@dataclass(frozen=True)
class AcuteAndObtuse(Question):
    """sin(a + b) = sin a cos b + cos a sin b; what is not given is a positive root."""

    sine: Fraction = Fraction(5, 13)
    cosine: Fraction = Fraction(-8, 17)

    @classmethod
    def init(cls, rng: Random) -> AcuteAndObtuse:
        first, second = rng.sample(TRIANGLES, 2)
        leg, other = rng.choice(first[:2]), rng.choice(second[:2])
        return cls(Fraction(leg, first[2]), Fraction(-other, second[2]))

    def holds(self) -> bool:
        return math.gcd(self.sine.denominator, self.cosine.denominator) == 1

    def solve(self) -> Fraction:
        cosine, sine = (
            Fraction(math.isqrt(f.denominator**2 - f.numerator**2), f.denominator)
            for f in (self.sine, self.cosine)
        )
        return self.sine * self.cosine + cosine * sine

    def render(self) -> str:
        return (
            rf'The angle $\alpha$ is acute with $\sin\alpha = {latex(self.sine)}$, and the angle '
            rf'$\beta$ lies between $90^\circ$ and $180^\circ$ with '
            rf'$\cos\beta = {latex(self.cosine)}$. Compute $\sin(\alpha + \beta)$. Give the answer '
            'as a common fraction in lowest terms.'
        )


@register('math', 'precalculus', 2)
@dataclass(frozen=True)
class ArrowsAtRightAngles(Question):
    """Vectors are perpendicular if their dot product is 0, here ac + (b + d)t."""

    a: int = 3
    b: int = -2
    c: int = 8
    d: int = 5

    @classmethod
    def init(cls, rng: Random) -> ArrowsAtRightAngles:
        a, b, c, d = (rng.choice([-1, 1]) * rng.randint(2, 9) for _ in range(4))
        return cls(a, b, c, d)

    def holds(self) -> bool:
        return abs(self.b + self.d) > 1 and self.a * self.c % (self.b + self.d) == 0

    def solve(self) -> int:
        return -self.a * self.c // (self.b + self.d)

    def render(self) -> str:
        return (
            f'For which real number $t$ are the vectors $({self.a}, t, {self.b})$ and '
            f'$({self.c}, {self.d}, t)$ perpendicular to each other?'
        )


@register('math', 'precalculus', 3)
@dataclass(frozen=True)
class BuoysOnRadar(Question):
    """Law of cosines: the angle at the pole is the difference of the two polar angles."""

    near: int = 4
    far: int = 7
    angle: int = 23
    turn: int = 60

    @classmethod
    def init(cls, rng: Random) -> BuoysOnRadar:
        near, far = sorted(rng.sample(range(2, 13), 2))
        return cls(near, far, rng.randint(10, 59), rng.choice([60, 120]))

    def holds(self) -> bool:
        return math.isqrt(self._square()) ** 2 != self._square()

    def _square(self) -> int:
        twice_cosine = 1 if self.turn == 60 else -1
        return self.near**2 + self.far**2 - twice_cosine * self.near * self.far

    def solve(self) -> sympy.Expr:
        from sympy import sqrt

        return sqrt(self._square())

    def render(self) -> str:
        return (
            'A harbour pilot sees two buoys on a radar screen, one at the polar coordinates '
            rf'$(r, \theta) = ({self.near}, {self.angle}^\circ)$, the other '
            rf'at $(r, \theta) = ({self.far}, {self.angle + self.turn}^\circ)$. How far are they '
            'from each other? Give the exact distance in simplest radical form.'
        )


@register('math', 'precalculus', 3)
@dataclass(frozen=True)
class ImageOfAThird(Question):
    """If w = au + bv, then Mw = aMu + bMv; Cramer's rule gives a and b."""

    u: Pair = (2, 5)
    v: Pair = (3, 1)
    image_of_u: Pair = (7, -4)
    image_of_v: Pair = (1, 6)
    w: Pair = (1, 9)

    @classmethod
    def init(cls, rng: Random) -> ImageOfAThird:
        u, v, p, q = ((rng.randint(-7, 7), rng.randint(1, 9)) for _ in range(4))
        a, b = rng.choice([(2, -1), (-1, 2), (2, 1), (3, -1), (-1, 3), (2, -3), (3, -2)])
        return cls(u, v, p, q, (a * u[0] + b * v[0], a * u[1] + b * v[1]))

    def holds(self) -> bool:
        return self.u[0] * self.v[1] != self.u[1] * self.v[0]

    def solve(self) -> tuple[int, int]:
        (ux, uy), (vx, vy), (wx, wy) = self.u, self.v, self.w
        a = (wx * vy - wy * vx) // (ux * vy - uy * vx)
        b = (ux * wy - uy * wx) // (ux * vy - uy * vx)
        (x, y), (z, t) = self.image_of_u, self.image_of_v
        return a * x + b * z, a * y + b * t

    def render(self) -> str:
        return (
            'Multiplying column vectors by a certain real $2 \\times 2$ matrix turns the vector '
            f'with the entries ${self.u}$ into ${self.image_of_u}$, and ${self.v}$ into '
            f'${self.image_of_v}$. Into what does it turn the vector ${self.w}$? Answer with an '
            'ordered pair $(x, y)$.'
        )


@register('math', 'precalculus', 3)
@dataclass(frozen=True)
class NearestOnTheTrack(Question):
    """At the nearest point, the way to it is perpendicular to the line."""

    a: Triple = (1, -2, 4)
    b: Triple = (3, -1, 2)
    p: Triple = (8, 3, 0)

    @classmethod
    def init(cls, rng: Random) -> NearestOnTheTrack:
        a, d, e = ([rng.randint(-k, k) for _ in range(3)] for k in (5, 3, 2))
        # d x e is perpendicular to the line, so that its nearest point is a + td.
        across = [d[i - 2] * e[i - 1] - d[i - 1] * e[i - 2] for i in range(3)]
        t = rng.choice([-2, 2, 3])
        p0, p1, p2 = (x + t * y + z for x, y, z in zip(a, d, across, strict=True))
        return cls((a[0], a[1], a[2]), (a[0] + d[0], a[1] + d[1], a[2] + d[2]), (p0, p1, p2))

    def holds(self) -> bool:
        level = any(x == y for x, y in zip(self.a, self.b, strict=True))
        return not level and self.solve() != self.p

    def solve(self) -> tuple[int, ...]:
        along = [y - x for x, y in zip(self.a, self.b, strict=True)]
        way = sum((z - x) * y for x, y, z in zip(self.a, along, self.p, strict=True))
        t = way // sum(y * y for y in along)
        return tuple(x + t * y for x, y in zip(self.a, along, strict=True))

    def render(self) -> str:
        return (
            f'A straight line in space passes through the points ${self.a}$ and ${self.b}$. Which '
            f'point of the line is nearest to the point ${self.p}$? Answer with its coordinates '
            'as an ordered triple $(x, y, z)$.'
        )


@register('math', 'precalculus', 4)
@dataclass(frozen=True)
class CrestOfMixedSquares(Question):
    """It is (a + c)/2 + (b/2) sin 2x - ((a - c)/2) cos 2x, a wave around (a + c)/2."""

    a: int = 13
    b: int = 8
    c: int = 7

    @classmethod
    def init(cls, rng: Random) -> CrestOfMixedSquares:
        legs = rng.choice([(3, 4), (6, 8), (5, 12), (8, 15), (9, 12)])
        m, n = rng.sample(legs, 2)
        c = rng.randint(2, 15)
        return cls(c + 2 * m, rng.choice([-2, 2]) * n, c)

    def solve(self) -> int:
        return (self.a + self.c + math.isqrt((self.a - self.c) ** 2 + self.b**2)) // 2

    def render(self) -> str:
        return (
            'What is the greatest value that the expression '
            rf'${self.a}\sin^2 x {signed(self.b)}\sin x\cos x {signed(self.c)}\cos^2 x$ takes for '
            'real numbers $x$?'
        )


@register('math', 'precalculus', 4)
@dataclass(frozen=True)
class ModulusOfAMix(Question):
    """|z + w|^2 = |z|^2 + |w|^2 + 2D gives D, the real part of z times w conjugate."""

    of_z: int = 5
    of_w: int = 4
    of_sum: int = 6

    @classmethod
    def init(cls, rng: Random) -> ModulusOfAMix:
        return cls(rng.randint(3, 9), rng.randint(3, 9), rng.randint(3, 15))

    def holds(self) -> bool:
        apart = abs(self.of_z - self.of_w)
        return 0 < apart < self.of_sum < self.of_z + self.of_w and self.solve() > 40

    def solve(self) -> int:
        twice_d = self.of_sum**2 - self.of_z**2 - self.of_w**2
        return 4 * self.of_z**2 + 9 * self.of_w**2 - 6 * twice_d

    def render(self) -> str:
        return (
            f'The complex numbers $z$ and $w$ satisfy $|z| = {self.of_z}$, $|w| = {self.of_w}$ and '
            f'$|z + w| = {self.of_sum}$. Compute $|2z - 3w|^2$.'
        )


@register('math', 'precalculus', 4)
@dataclass(frozen=True)
class SineMeetsCosine(Question):
    """sin ax = cos bx where ax + bx or ax - bx is a quarter turn, up to full turns."""

    a: int = 7
    b: int = 4

    @classmethod
    def init(cls, rng: Random) -> SineMeetsCosine:
        return cls(rng.randint(3, 14), rng.randint(2, 9))

    def holds(self) -> bool:
        return self.a > self.b + 1

    def solve(self) -> int:
        # As parts of a full turn; some belong to both kinds.
        quarters = (
            (n, Fraction(4 * k + 1, 4))
            for n in (self.a + self.b, self.a - self.b)
            for k in range(n)
        )
        return len({turns / n for n, turns in quarters})

    def render(self) -> str:
        return (
            rf'How many real numbers $x$ with $0 \le x < 2\pi$ satisfy '
            rf'$\sin {self.a}x = \cos {self.b}x$?'
        )


@register('math', 'precalculus', 5)
@dataclass(frozen=True)
class DiagonalAboveTheRest(Question):
    """All c, but c + d_i on the diagonal: the product of d_i, times 1 plus the sum of c/d_i."""

    rest: int = 4
    step: int = 3

    @classmethod
    def init(cls, rng: Random) -> DiagonalAboveTheRest:
        return cls(rng.randint(2, 9), rng.randint(2, 6))

    def solve(self) -> int:
        more = [self.step * i for i in range(1, 6)]
        return math.prod(more) + sum(self.rest * math.prod(more) // d for d in more)

    def render(self) -> str:
        return (
            f'In a $5 \\times 5$ matrix, every entry off the main diagonal is ${self.rest}$. For '
            f'$i = 1, 2, 3, 4, 5$, the entry in row $i$ and column $i$ is ${self.rest} + '
            f'{self.step}i$. Compute the determinant of the matrix.'
        )


@register('math', 'precalculus', 5)
@dataclass(frozen=True)
class FourthPowersToCorners(Question):
    """In (r^2 + s^2 - 2rs cos t)^2, cos t averages 0 over the corners and cos^2 t averages 1/2."""

    corners: int = 9
    radius: int = 5
    distance: int = 4

    @classmethod
    def init(cls, rng: Random) -> FourthPowersToCorners:
        radius, distance = rng.sample(range(2, 10), 2)
        return cls(rng.randint(5, 12), radius, distance)

    def solve(self) -> int:
        r, s = self.radius**2, self.distance**2
        return self.corners * ((r + s) ** 2 + 2 * r * s)

    def render(self) -> str:
        return (
            f'A regular polygon with ${self.corners}$ vertices is inscribed in a circle of radius '
            f'${self.radius}$. In the plane of the circle, the point $P$ has the distance '
            f'${self.distance}$ from its centre. Compute the sum of the fourth powers of the '
            "distances from $P$ to the polygon's vertices."
        )


@register('math', 'precalculus', 5)
@dataclass(frozen=True)
class TangentsAsRoots(Question):
    """(1 + ip)(1 + iq)(1 + ir) = (1 - e2) + (e1 - e3)i, and the angles of the factors add up."""

    e1: int = 6
    e2: int = 3
    e3: int = -4

    @classmethod
    def init(cls, rng: Random) -> TangentsAsRoots:
        return cls(rng.randint(2, 9), rng.randint(-9, 9), rng.randint(-9, 9))

    def holds(self) -> bool:
        b, c, d = -self.e1, self.e2, -self.e3
        discriminant = 18 * b * c * d - 4 * b**3 * d + b * b * c * c - 4 * c**3 - 27 * d * d
        x, y = abs(1 - c), abs(self.e1 - self.e3)
        return discriminant > 0 and 0 not in (c, d) and x * y > 1 and x != y

    def solve(self) -> Fraction:
        # The tangent of the sum is y/x, the sine of twice the sum 2xy / (x^2 + y^2).
        x, y = 1 - self.e2, self.e1 - self.e3
        return Fraction(2 * x * y, x * x + y * y)

    def render(self) -> str:
        cubic = polynomial([1, -self.e1, self.e2, -self.e3])
        return (
            rf'The roots of ${cubic}$ are $\tan\alpha$, $\tan\beta$ and $\tan\gamma$ for real '
            r'numbers $\alpha$, $\beta$ and $\gamma$. Compute $\sin(2\alpha + 2\beta + 2\gamma)$. '
            'Give the answer as a common fraction in lowest terms.'
        )


@register('math', 'precalculus', 5)
@dataclass(frozen=True)
class VolumeFromDotProducts(Question):
    """The determinant of all dot products is the square of the volume."""

    squares: Triple = (9, 14, 11)
    dots: Triple = (3, 9, 2)

    @classmethod
    def init(cls, rng: Random) -> VolumeFromDotProducts:
        u, v, w = ([rng.randint(-3, 3) for _ in range(3)] for _ in range(3))
        pairs = ((u, u), (v, v), (w, w), (u, v), (u, w), (v, w))
        a, b, c, d, e, f = (sum(x * y for x, y in zip(*pair, strict=True)) for pair in pairs)
        return cls((a, b, c), (d, e, f))

    def holds(self) -> bool:
        return 0 not in self.dots and self.solve() > 9

    def solve(self) -> int:
        (a, b, c), (d, e, f) = self.squares, self.dots
        return math.isqrt(a * b * c + 2 * d * e * f - a * f * f - b * e * e - c * d * d)

    def render(self) -> str:
        (a, b, c), (d, e, f) = self.squares, self.dots
        u, v, w = (rf'\mathbf{{{name}}}' for name in 'uvw')
        return (
            rf'Three vectors in space satisfy ${u}\cdot{u} = {a}$, ${v}\cdot{v} = {b}$, '
            rf'${w}\cdot{w} = {c}$, ${u}\cdot{v} = {d}$, ${u}\cdot{w} = {e}$ and '
            rf'${v}\cdot{w} = {f}$. What is the volume of the parallelepiped spanned by ${u}$, '
            rf'${v}$ and ${w}$?'
        )
