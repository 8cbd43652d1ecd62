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

Vector = tuple[int, int, int]
NONZERO = [number for number in range(-9, 10) if number]


def _dot(u: Vector, v: Vector) -> int:
    return sum(a * b for a, b in zip(u, v, strict=True))


@register('math', 'precalculus', 2)
@dataclass(frozen=True)
class FactorAlongVector(Question):
    """(v - tw) . w = 0 gives t = v . w / w . w."""

    v: Vector = (7, 2, -4)
    w: Vector = (3, -1, 2)

    @classmethod
    def init(cls, rng: Random) -> FactorAlongVector:
        a, b, c, d, e, f = (rng.choice(NONZERO) for _ in range(6))
        return cls((a, b, c), (d, e, f))

    def holds(self) -> bool:
        return self.solve().denominator > 1

    def solve(self) -> Fraction:
        return Fraction(_dot(self.v, self.w), _dot(self.w, self.w))

    def render(self) -> str:
        return (
            rf'Let $\mathbf{{v}} = {self.v}$ and $\mathbf{{w}} = {self.w}$. For exactly one real '
            r'number $t$, the vector $\mathbf{v} - t\mathbf{w}$ is perpendicular to $\mathbf{w}$. '
            'Find $t$ as a common fraction in lowest terms.'
        )


@register('math', 'precalculus', 2)
@dataclass(frozen=True)
class PolarPointsApart(Question):
    """The law of cosines, the angle at the pole being the difference of the two."""

    r: int = 7
    s: int = 5
    first: int = 25
    second: int = 145

    @classmethod
    def init(cls, rng: Random) -> PolarPointsApart:
        first = rng.randint(10, 85)
        return cls(rng.randint(3, 12), rng.randint(3, 12), first, first + rng.choice([60, 120]))

    def holds(self) -> bool:
        return self.r != self.s and not self.solve().is_Integer

    def solve(self) -> sympy.Expr:
        import sympy

        cosine = 1 if self.second - self.first == 60 else -1  # doubled
        return sympy.sqrt(self.r**2 + self.s**2 - cosine * self.r * self.s)

    def render(self) -> str:
        return (
            rf'Two points have the polar coordinates $({self.r}, {self.first}^\circ)$ and '
            rf'$({self.s}, {self.second}^\circ)$, the distance from the pole first. Find the '
            'distance between them in simplest radical form.'
        )


@register('math', 'precalculus', 3)
@dataclass(frozen=True)
class InverseFromMatrix(Question):
    """M^2 = tM - dI with the trace t and the determinant d, so that M(tI - M) = dI."""

    a: int = 5
    b: int = 3
    c: int = 2
    d: int = 4

    @classmethod
    def init(cls, rng: Random) -> InverseFromMatrix:
        a, b, c, d = (rng.choice(NONZERO) for _ in range(4))
        return cls(a, b, c, d)

    def holds(self) -> bool:
        return abs(self._determinant()) > 4 and self.a + self.d != 0

    def _determinant(self) -> int:
        return self.a * self.d - self.b * self.c

    def solve(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.a + self.d, self._determinant()), Fraction(-1, self._determinant())

    def render(self) -> str:
        return (
            rf'Let $M = \begin{{pmatrix}} {self.a} & {self.b} \\ {self.c} & {self.d} '
            r'\end{pmatrix}$, and let $I$ be the identity matrix. Real numbers $p$ and $q$ fulfil '
            '$M^{-1} = pI + qM$. Find the ordered pair $(p, q)$.'
        )


@register('math', 'precalculus', 3)
@dataclass(frozen=True)
class SineCosineCubes(Question):
    """With sum k, the product is (k^2 - 1)/2, and the cubes add up to k^3 - 3k(k^2 - 1)/2."""

    total: Fraction = Fraction(1, 3)

    @classmethod
    def init(cls, rng: Random) -> SineCosineCubes:
        return cls(Fraction(rng.randint(1, 9), rng.randint(2, 8)))

    def holds(self) -> bool:
        return self.total.denominator > 1 and self.total**2 < 2

    def solve(self) -> Fraction:
        product = (self.total**2 - 1) / 2
        return self.total * (1 - product)

    def render(self) -> str:
        return (
            rf'A real number $x$ satisfies $\sin x + \cos x = {latex(self.total)}$. Find the value '
            r'of $\sin^3 x + \cos^3 x$ as a common fraction in lowest terms.'
        )


@register('math', 'precalculus', 3)
@dataclass(frozen=True)
class LengthOfCombination(Question):
    """|a + b|^2 gives 2 a . b, and |2a - b|^2 = 4|a|^2 - 4 a . b + |b|^2."""

    a: int = 5
    b: int = 6
    plus: int = 9

    @classmethod
    def init(cls, rng: Random) -> LengthOfCombination:
        return cls(rng.randint(3, 12), rng.randint(3, 12), rng.randint(3, 20))

    def holds(self) -> bool:
        triangle = abs(self.a - self.b) < self.plus < self.a + self.b
        return triangle and self.a**2 + self.b**2 != self.plus**2

    def solve(self) -> sympy.Expr:
        import sympy

        twice_dot = self.plus**2 - self.a**2 - self.b**2
        return sympy.sqrt(4 * self.a**2 - 2 * twice_dot + self.b**2)

    def render(self) -> str:
        return (
            rf'Two vectors satisfy $|\mathbf{{a}}| = {self.a}$, $|\mathbf{{b}}| = {self.b}$ and '
            rf'$|\mathbf{{a}} + \mathbf{{b}}| = {self.plus}$. Find '
            r'$|2\mathbf{a} - \mathbf{b}|$ as an integer or in simplest radical form.'
        )


@register('math', 'precalculus', 4)
@dataclass(frozen=True)
class TangentsInRatio(Question):
    """The tangents at, bt, ct of a triangle's angles have equal sum and product."""

    a: int = 3
    b: int = 4
    c: int = 6

    @classmethod
    def init(cls, rng: Random) -> TangentsInRatio:
        a, b, c = rng.sample(range(1, 10), 3)
        return cls(a, b, c)

    def holds(self) -> bool:
        return self.solve().denominator > 9

    def solve(self) -> Fraction:
        a, b, c = self.a, self.b, self.c
        t_squared = Fraction(a + b + c, a * b * c)
        return 1 / (1 + a * a * t_squared)

    def render(self) -> str:
        return (
            rf'The angles of triangle $ABC$ fulfil $\tan A : \tan B : \tan C = {self.a} : {self.b} '
            rf': {self.c}$. Find $\cos^2 A$ as a common fraction in lowest terms.'
        )


@register('math', 'precalculus', 4)
@dataclass(frozen=True)
class TwoMirrorLines(Question):
    """The two reflections turn by twice the angle from the first line to the second."""

    point: tuple[int, int] = (4, 7)
    first: int = 2
    second: int = 5

    @classmethod
    def init(cls, rng: Random) -> TwoMirrorLines:
        first, second = rng.sample([-4, -3, -2, 2, 3, 4, 5], 2)
        return cls((rng.choice(NONZERO), rng.choice(NONZERO)), first, second)

    def holds(self) -> bool:
        return all(coordinate.denominator > 4 for coordinate in self.solve())

    def solve(self) -> tuple[Fraction, Fraction]:
        # The quotient of the lines' directions, 1 + second i by 1 + first i, is a multiple of:
        real, imaginary = 1 + self.first * self.second, self.second - self.first
        size = real**2 + imaginary**2
        cosine, sine = Fraction(real**2 - imaginary**2, size), Fraction(2 * real * imaginary, size)
        x, y = self.point
        return x * cosine - y * sine, x * sine + y * cosine

    def render(self) -> str:
        first, second = polynomial([self.first, 0]), polynomial([self.second, 0])
        return (
            f'The point ${self.point}$ is reflected in the line $y = {first}$, and its image is '
            f'then reflected in the line $y = {second}$. Where is the second image? Answer with '
            'an ordered pair of common fractions in lowest terms.'
        )


@register('math', 'precalculus', 4)
@dataclass(frozen=True)
class SkewLinesApart(Question):
    """The distance is what the cross product of the directions sees of a way between the lines."""

    u: Vector = (2, 1, 3)
    q: Vector = (4, 1, 5)
    v: Vector = (1, -2, 1)

    @classmethod
    def init(cls, rng: Random) -> SkewLinesApart:
        a, b, c, d, e, f = (rng.choice([-3, -2, -1, 1, 2, 3]) for _ in range(6))
        return cls((a, b, c), (rng.randint(1, 6), rng.randint(1, 6), rng.randint(1, 6)), (d, e, f))

    def holds(self) -> bool:
        seen, square = self._seen_and_square()
        return square < 100 and math.isqrt(square) ** 2 != square and seen**2 % square > 0

    def _seen_and_square(self) -> tuple[int, int]:
        (a, b, c), (d, e, f) = self.u, self.v
        normal = b * f - c * e, c * d - a * f, a * e - b * d
        return abs(_dot(normal, self.q)), _dot(normal, normal)

    def solve(self) -> sympy.Expr:
        import sympy

        seen, square = self._seen_and_square()
        return seen / sympy.sqrt(square)

    def render(self) -> str:
        return (
            f'For real numbers $s$ and $t$, the points $t{self.u}$ form one line in space, and the '
            f'points ${self.q} + s{self.v}$ another one. Find the distance between the two lines '
            'in simplest radical form.'
        )


@register('math', 'precalculus', 5)
@dataclass(frozen=True)
class ShellOfSegments(Question):
    """In the complex plane, the way is the geometric series of (cos x + i sin x)/m."""

    start: int = 6
    cosine: Fraction = Fraction(1, 4)
    m: int = 3

    @classmethod
    def init(cls, rng: Random) -> ShellOfSegments:
        denominator = rng.randint(3, 7)
        cosine = Fraction(rng.randint(1, denominator - 1), denominator)
        return cls(rng.randint(5, 12), cosine, rng.randint(2, 5))

    def holds(self) -> bool:
        return self.solve().denominator > 1

    def solve(self) -> Fraction:
        # |m - z|^2 = m^2 - 2m cos x + 1 for z = cos x + i sin x
        return (self.start * self.m) ** 2 / (self.m**2 - 2 * self.m * self.cosine + 1)

    def render(self) -> str:
        return (
            'The outline of a shell is drawn as a chain of infinitely many straight segments. The '
            f'first segment is ${self.start}$ cm long, and each later one is '
            rf'$\frac{{1}}{{{self.m}}}$ as long as the one before it. At each joint, the drawing '
            r'pen changes its direction by the same acute angle $\alpha$, always to the left, and '
            rf'$\cos \alpha = {latex(self.cosine)}$. How many square centimetres has the '
            'square whose side reaches from the start of the chain to the point to which it '
            'converges? Answer with a common fraction in lowest terms.'
        )


@register('math', 'precalculus', 5)
@dataclass(frozen=True)
class TowerFromThreeAngles(Question):
    """In terms of the height h the foot is h sqrt(3), h and h / sqrt(3) away; then Stewart."""

    ab: int = 30
    bc: int = 20

    @classmethod
    def init(cls, rng: Random) -> TowerFromThreeAngles:
        bc = 5 * rng.randint(2, 19)
        return cls(5 * rng.randint(2, min(19, 3 * bc // 5 - 1)), bc)

    def holds(self) -> bool:
        a2, h2 = self.ab**2, self._height_squared()
        return h2.denominator == 1 and (2 * h2 + a2) ** 2 < 12 * h2 * a2  # it is off the road

    def _height_squared(self) -> Fraction:
        a, b = self.ab, self.bc
        # 3 h^2 b + h^2 a / 3 = (a + b)(h^2 + ab)
        return (a + b) * a * b / (Fraction(a, 3) + 3 * b - a - b)

    def solve(self) -> sympy.Expr:
        import sympy

        return sympy.sqrt(int(self._height_squared()))

    def render(self) -> str:
        return (
            'A tower stands upright beside a straight road, on level ground. From three points '
            f'$A$, $B$ and $C$ of the road, in this order, with $AB = {self.ab}$ metres and '
            rf'$BC = {self.bc}$ metres, its top appears at angles of $30^\circ$, $45^\circ$ and '
            r'$60^\circ$ above the horizontal, respectively. How many metres high is the tower? '
            'Answer with an integer or in simplest radical form.'
        )


@register('math', 'precalculus', 5)
@dataclass(frozen=True)
class SineMeetsCosine(Question):
    """ax + bx or ax - bx is a quarter turn, up to full turns; what is both counts once."""

    a: int = 9
    b: int = 4

    @classmethod
    def init(cls, rng: Random) -> SineMeetsCosine:
        return cls(rng.randint(5, 20), rng.randint(2, 15))

    def holds(self) -> bool:
        return self.b < self.a and self.solve() < 2 * self.a

    def solve(self) -> int:
        sums, differences = (
            {Fraction(1 + 4 * turn, 4 * n) for turn in range(n)}
            for n in (self.a + self.b, self.a - self.b)
        )
        return len(sums | differences)

    def render(self) -> str:
        return (
            r'How many different real numbers $x$ with $0 \le x < 2\pi$ satisfy the equation '
            rf'$\sin {self.a}x = \cos {self.b}x$?'
        )


@register('math', 'precalculus', 5)
@dataclass(frozen=True)
class FarthestOnUnitCircle(Question):
    """|z^2 + pz - m|^2 is (1 + m)^2 + p^2 + 2p(1 - m)c - 4mc^2, c being the real part of z."""

    p: int = 3
    m: int = 2

    @classmethod
    def init(cls, rng: Random) -> FarthestOnUnitCircle:
        return cls(rng.choice([-6, -5, -4, -3, -2, 2, 3, 4, 5, 6]), rng.randint(2, 7))

    def holds(self) -> bool:
        return abs(self.p) * (self.m - 1) < 4 * self.m  # the vertex is between -1 and 1

    def solve(self) -> sympy.Expr:
        import sympy

        p, m = self.p, self.m
        vertex = sympy.Rational(p * (1 - m), 4 * m)
        return sympy.sqrt((1 + m) ** 2 + p**2 + 4 * m * vertex**2)

    def render(self) -> str:
        return (
            'Among all complex numbers $z$ with $|z| = 1$, what is the greatest value of '
            f'$|z^2 {signed(self.p)}z - {self.m}|$? Give it exactly, in simplest radical form '
            'where it is irrational.'
        )
