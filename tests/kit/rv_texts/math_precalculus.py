"""Readers of opencompass_gpassk.rv.math.precalculus."""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction

import mpmath
import sympy

from rv_texts import numbers, reader
from rv_texts.math_geometry import EXACT, digits_of


def dot(one, other):
    return sum(a * b for a, b in zip(one, other, strict=True))


def is_root_of(answer, square):
    """Tell whether the answer is positive, and its square this fraction."""
    return bool(answer > 0) and sympy.expand(answer**2) == sympy.Rational(
        square.numerator, square.denominator
    )


@reader
def factor_along_vector(text, answer):
    vector = numbers(text)
    v, w = vector[:3], vector[3:]
    rest = [a - answer * b for a, b in zip(v, w, strict=True)]
    return dot(rest, w) == 0


@reader
def polar_points_apart(text, answer):
    r, first, s, second = numbers(text)
    with mpmath.workdps(50):
        one = r * mpmath.expjpi(mpmath.mpf(first) / 180)
        other = s * mpmath.expjpi(mpmath.mpf(second) / 180)
        return abs(abs(one - other) - digits_of(answer)) < EXACT


@reader
def inverse_from_matrix(text, answer):
    e, f, g, h, _ = numbers(text.replace('^{-1}', '^{1}'))
    s, t = answer
    k, l, m, n = s + t * e, t * f, t * g, s + t * h  # noqa: E741
    return [e * k + f * m, e * l + f * n, g * k + h * m, g * l + h * n] == [1, 0, 0, 1]


@reader
def sine_cosine_cubes(text, answer):
    above, below, *_ = numbers(text)
    with mpmath.workdps(50):
        k = mpmath.mpf(above) / below
        x = mpmath.asin(k / mpmath.sqrt(2)) - mpmath.pi / 4  # sin x + cos x = k
        cubes = mpmath.sin(x) ** 3 + mpmath.cos(x) ** 3
        return abs(cubes * answer.denominator - answer.numerator) < EXACT


@reader
def length_of_combination(text, answer):
    # a = (size, 0), b = (x, y)
    size, other, plus, _ = numbers(text)
    x = Fraction(plus**2 - size**2 - other**2, 2 * size)
    return is_root_of(answer, (2 * size - x) ** 2 + other**2 - x**2)


@reader
def tangents_in_ratio(text, answer):
    a, b, c, _ = numbers(text)
    if not 0 < answer < 1:
        return False
    with mpmath.workdps(50):
        square = mpmath.mpf(answer.numerator) / answer.denominator
        tangent = mpmath.tan(mpmath.acos(mpmath.sqrt(square)))
        angles = [mpmath.atan(tangent * side / a) for side in (a, b, c)]
        return abs(sum(angles) - mpmath.pi) < EXACT


@reader
def two_mirror_lines(text, answer):
    x, y, *slopes = numbers(text)
    for slope in slopes:
        foot = Fraction(x + slope * y, 1 + slope**2)  # its x; from there as far to the other side
        x, y = 2 * foot - x, 2 * slope * foot - y
    return answer == (x, y)


@reader
def skew_lines_apart(text, answer):
    vector = numbers(text)
    u, q, v = vector[:3], vector[3:6], vector[6:]
    # The shortest way q - t u + s v is perpendicular to both lines.
    uu, uv, vv, uq, vq = dot(u, u), dot(u, v), dot(v, v), dot(u, q), dot(v, q)
    scale = uv * uv - uu * vv
    t, s = Fraction(uv * vq - vv * uq, scale), Fraction(uu * vq - uv * uq, scale)
    way = [c - t * a + s * b for a, b, c in zip(u, v, q, strict=True)]
    return dot(way, u) == dot(way, v) == 0 and is_root_of(answer, dot(way, way))


@reader
def shell_of_segments(text, answer):
    start, _, m, above, below = numbers(text)
    with localcontext() as context:
        context.prec = 70
        cosine = Decimal(above) / below
        sine = (1 - cosine**2).sqrt()
        x, y, ahead, left = Decimal(0), Decimal(0), Decimal(start), Decimal(0)
        for _ in range(180):
            x, y = x + ahead, y + left
            ahead, left = (cosine * ahead - sine * left) / m, (sine * ahead + cosine * left) / m
        return abs((x * x + y * y) * answer.denominator - answer.numerator) < Decimal('1e-40')


@reader
def tower_from_three_angles(text, answer):
    ab, bc, *angles = numbers(text)
    if not answer > 0:
        return False
    with mpmath.workdps(60):
        h = digits_of(answer)
        away = [h / mpmath.tan(mpmath.radians(angle)) for angle in angles]
        # A = (0, 0) and B = (ab, 0); the foot (x, y) from its distances to these two.
        x = (away[0] ** 2 - away[1] ** 2 + ab**2) / (2 * ab)
        y = mpmath.sqrt(away[0] ** 2 - x**2)
        to_c = mpmath.sqrt((ab + bc - x) ** 2 + y**2)
        return mpmath.im(y) == 0 and mpmath.re(y) > 0 and abs(to_c - away[2]) < EXACT


@reader
def sine_meets_cosine(text, answer):
    a, b = (int(size) for size in re.findall(r'(\d+)x', text))
    parts = 4 * (a**2 - b**2)
    found, zeros = 0, 0
    for part in range(parts):
        x = 2 * math.pi * part / parts
        if abs(math.sin(a * x) - math.cos(b * x)) < 1e-9:
            slope = a * math.cos(a * x) + b * math.sin(b * x)
            found += 1
            zeros += 2 if abs(slope) < 1e-7 else 1
    # A trigonometric polynomial of degree a has no more than 2a zeros: none is off the grid.
    return zeros == 2 * a and answer == found


@reader
def farthest_on_unit_circle(text, answer):
    _, _, p, minus_m = numbers(text)

    def square(x, y):
        real, imaginary = x * x - y * y + p * x + minus_m, 2 * x * y + p * y
        return real**2 + imaginary**2

    # The square of the value is a quadratic function of x: at -1, 0 and 1.
    low, middle, high = square(-1, 0), square(0, 1), square(1, 0)
    lead, linear = Fraction(low + high, 2) - middle, Fraction(high - low, 2)
    vertex = -linear / (2 * lead)
    best = lead * vertex**2 + linear * vertex + middle
    return lead < 0 and -1 < vertex < 1 and is_root_of(answer, best)
