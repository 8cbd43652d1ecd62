"""Checks of opencompass_gpassk.rv.math.precalculus."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import mpmath
import sympy

from opencompass_gpassk.rv.math import precalculus as pre
from rv_checks import check

EXACT = mpmath.mpf(10) ** -40


def number(answer):
    """Compute an answer to the digits that mpmath works with."""
    return mpmath.mpf(str(sympy.N(answer, 60)))


@check(pre.FactorAlongVector)
def factor_along_vector(q, answer):
    rest = [a - answer * b for a, b in zip(q.v, q.w, strict=True)]
    return sum(a * b for a, b in zip(rest, q.w, strict=True)) == 0


@check(pre.PolarPointsApart)
def polar_points_apart(q, answer):
    with mpmath.workdps(50):
        one = q.r * mpmath.expjpi(mpmath.mpf(q.first) / 180)
        other = q.s * mpmath.expjpi(mpmath.mpf(q.second) / 180)
        return abs(abs(one - other) - number(answer)) < EXACT


@check(pre.InverseFromMatrix)
def inverse_from_matrix(q, answer):
    (e, f), (g, h) = (q.a, q.b), (q.c, q.d)
    s, t = answer
    k, l, m, n = s + t * e, t * f, t * g, s + t * h  # noqa: E741
    return [e * k + f * m, e * l + f * n, g * k + h * m, g * l + h * n] == [1, 0, 0, 1]


@check(pre.SineCosineCubes)
def sine_cosine_cubes(q, answer):
    with mpmath.workdps(50):
        k = mpmath.mpf(q.total.numerator) / q.total.denominator
        x = mpmath.asin(k / mpmath.sqrt(2)) - mpmath.pi / 4
        assert abs(mpmath.sin(x) + mpmath.cos(x) - k) < EXACT
        cubes = mpmath.sin(x) ** 3 + mpmath.cos(x) ** 3
        return abs(cubes * answer.denominator - answer.numerator) < EXACT


@check(pre.LengthOfCombination)
def length_of_combination(q, answer):
    # a = (a, 0), b = (x, y)
    x = Fraction(q.plus**2 - q.a**2 - q.b**2, 2 * q.a)
    y2 = q.b**2 - x**2
    length2 = (2 * q.a - x) ** 2 + y2
    return answer > 0 and sympy.expand(answer**2) == sympy.Rational(
        length2.numerator, length2.denominator
    )


@check(pre.TangentsInRatio)
def tangents_in_ratio(q, answer):
    if not 0 < answer < 1:
        return False
    with mpmath.workdps(50):
        square = mpmath.mpf(answer.numerator) / answer.denominator
        tangent = mpmath.tan(mpmath.acos(mpmath.sqrt(square)))
        angles = [mpmath.atan(tangent * side / q.a) for side in (q.a, q.b, q.c)]
        return abs(sum(angles) - mpmath.pi) < EXACT


@check(pre.TwoMirrorLines)
def two_mirror_lines(q, answer):
    x, y = q.point
    for slope in (q.first, q.second):
        foot = Fraction(x + slope * y, 1 + slope**2)  # its x; from there as far to the other side
        x, y = 2 * foot - x, 2 * slope * foot - y
    return answer == (x, y)


@check(pre.SkewLinesApart)
def skew_lines_apart(q, answer):
    def dot(one, other):
        return sum(a * b for a, b in zip(one, other, strict=True))

    # The shortest way q - t u + s v is perpendicular to both lines.
    w = q.q
    uu, uv, vv, uw, vw = dot(q.u, q.u), dot(q.u, q.v), dot(q.v, q.v), dot(q.u, w), dot(q.v, w)
    scale = uv * uv - uu * vv
    t, s = Fraction(uv * vw - vv * uw, scale), Fraction(uu * vw - uv * uw, scale)
    way = [c - t * a + s * b for a, b, c in zip(q.u, q.v, w, strict=True)]
    assert dot(way, q.u) == dot(way, q.v) == 0
    square = dot(way, way)
    return answer > 0 and sympy.expand(answer**2) == sympy.Rational(
        square.numerator, square.denominator
    )


@check(pre.ShellOfSegments)
def shell_of_segments(q, answer):
    with localcontext() as context:
        context.prec = 70
        cosine = Decimal(q.cosine.numerator) / q.cosine.denominator
        sine = (1 - cosine**2).sqrt()
        x, y, ahead, left = Decimal(0), Decimal(0), Decimal(q.start), Decimal(0)
        for _ in range(180):
            x, y = x + ahead, y + left
            ahead, left = (cosine * ahead - sine * left) / q.m, (sine * ahead + cosine * left) / q.m
        return abs((x * x + y * y) * answer.denominator - answer.numerator) < Decimal('1e-40')


@check(pre.TowerFromThreeAngles)
def tower_from_three_angles(q, answer):
    if not answer > 0:
        return False
    with mpmath.workdps(60):
        h = number(answer)
        away = [h / mpmath.tan(mpmath.radians(angle)) for angle in (30, 45, 60)]
        # A = (0, 0) and B = (ab, 0); the foot (x, y) from its distances to these two.
        x = (away[0] ** 2 - away[1] ** 2 + q.ab**2) / (2 * q.ab)
        y = mpmath.sqrt(away[0] ** 2 - x**2)
        to_c = mpmath.sqrt((q.ab + q.bc - x) ** 2 + y**2)
        return mpmath.im(y) == 0 and y > 0 and abs(to_c - away[2]) < EXACT


@check(pre.SineMeetsCosine)
def sine_meets_cosine(q, answer):
    parts = 4 * (q.a**2 - q.b**2)
    found, zeros = 0, 0
    for part in range(parts):
        x = 2 * math.pi * part / parts
        if abs(math.sin(q.a * x) - math.cos(q.b * x)) < 1e-9:
            slope = q.a * math.cos(q.a * x) + q.b * math.sin(q.b * x)
            found += 1
            zeros += 2 if abs(slope) < 1e-7 else 1
    # A trigonometric polynomial of degree a has no more than 2a zeros: none is off the grid.
    return zeros == 2 * q.a and answer == found


@check(pre.FarthestOnUnitCircle)
def farthest_on_unit_circle(q, answer):
    def square(x, y):
        real, imaginary = x * x - y * y + q.p * x - q.m, 2 * x * y + q.p * y
        return real**2 + imaginary**2

    # The square of the value is a quadratic function of x: at -1, 0, 1 and, as a test, at 3/5.
    low, middle, high = square(-1, 0), square(0, 1), square(1, 0)
    lead, linear = Fraction(low + high, 2) - middle, Fraction(high - low, 2)
    x = Fraction(3, 5)
    assert square(x, Fraction(4, 5)) == lead * x * x + linear * x + middle
    vertex = -linear / (2 * lead)
    best = lead * vertex**2 + linear * vertex + middle
    greatest = lead < 0 and -1 < vertex < 1 and answer > 0
    return bool(greatest) and sympy.expand(answer**2) == sympy.Rational(
        best.numerator, best.denominator
    )
