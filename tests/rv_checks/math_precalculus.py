"""Checks of opencompass_gpassk.rv.math.precalculus."""

from __future__ import annotations

import cmath
import math
from fractions import Fraction
from itertools import combinations, pairwise, permutations

import mpmath
import sympy

from opencompass_gpassk.rv.math import precalculus as pc
from rv_checks import check


def near(exact, numeric):
    """Compare with a number of 50 digits, in whose precision this is called."""
    return abs(mpmath.mpf(exact.numerator) / exact.denominator - numeric) < mpmath.mpf(10) ** -40


@check(pc.AcuteAndObtuse)
def acute_and_obtuse(q, answer):
    with mpmath.workdps(50):
        sine, cosine = (mpmath.mpf(f.numerator) / f.denominator for f in (q.sine, q.cosine))
        return near(answer, mpmath.sin(mpmath.asin(sine) + mpmath.acos(cosine)))


@check(pc.ArrowsAtRightAngles)
def arrows_at_right_angles(q, answer):
    # Pythagoras: the square over the hypotenuse is the sum of the other two.
    first, second = (q.a, answer, q.b), (q.c, q.d, answer)
    between = [x - y for x, y in zip(first, second, strict=True)]
    return sum(x * x for x in between) == sum(x * x for x in (*first, *second))


@check(pc.BuoysOnRadar)
def buoys_on_radar(q, answer):
    with mpmath.workdps(50):
        one = mpmath.rect(q.near, mpmath.radians(q.angle))
        other = mpmath.rect(q.far, mpmath.radians(q.angle + q.turn))
        square = answer**2
        return (
            answer > 0 and square.is_Integer and near(sympy.Rational(square), abs(one - other) ** 2)
        )


@check(pc.ImageOfAThird)
def image_of_a_third(q, answer):
    # Both rows of the matrix, each from its two equations, by elimination.
    (a, b), (c, d) = q.u, q.v
    image = []
    for first, second in zip(q.image_of_u, q.image_of_v, strict=True):
        y = Fraction(a * second - c * first, a * d - b * c)
        x = (first - b * y) / a if a else (second - d * y) / c
        image.append(x * q.w[0] + y * q.w[1])
    return answer == tuple(image)


@check(pc.NearestOnTheTrack)
def nearest_on_the_track(q, answer):
    along = [y - x for x, y in zip(q.a, q.b, strict=True)]
    steps = {Fraction(x - y, z) for x, y, z in zip(answer, q.a, along, strict=True)}

    def far(t):
        return sum((x + t * y - z) ** 2 for x, y, z in zip(q.a, along, q.p, strict=True))

    # Three values fix the parabola of the square distance, symmetric around its lowest point.
    t = steps.pop()
    return not steps and far(t - 1) == far(t + 1) > far(t)


@check(pc.CrestOfMixedSquares)
def crest_of_mixed_squares(q, answer):
    # Over cos^2 x, with t = tan x: at^2 + bt + c never exceeds M(t^2 + 1), and reaches it once.
    reached = q.b**2 - 4 * (q.a - answer) * (q.c - answer) == 0
    values = (q.a * t * t + q.b * t + q.c - answer * (t * t + 1) for t in range(-50, 51))
    return reached and q.a < answer and max(values) <= 0


@check(pc.ModulusOfAMix)
def modulus_of_a_mix(q, answer):
    # Turned so that w is real and positive, z = x + yi.
    x = Fraction(q.of_sum**2 - q.of_z**2 - q.of_w**2, 2 * q.of_w)
    y_squared = q.of_z**2 - x * x
    sound = y_squared > 0 and (x + q.of_w) ** 2 + y_squared == q.of_sum**2
    return sound and answer == (2 * x - 3 * q.of_w) ** 2 + 4 * y_squared


@check(pc.SineMeetsCosine)
def sine_meets_cosine(q, answer):
    # A grid that has every solution on it: between its points the sign never changes.
    size = 4 * (q.a**2 - q.b**2)
    turns = [2 * math.pi * j / size for j in range(size + 1)]
    values = [math.sin(q.a * x) - math.cos(q.b * x) for x in turns]
    signs = [0 if abs(value) < 1e-9 else math.copysign(1, value) for value in values]
    missed = any(one * other < 0 for one, other in pairwise(signs))
    return not missed and answer == signs[:-1].count(0)


@check(pc.DiagonalAboveTheRest)
def diagonal_above_the_rest(q, answer):
    rows = range(5)
    total = 0
    for columns in permutations(rows):
        swapped = sum(one > other for one, other in combinations(columns, 2))
        entries = (q.rest + q.step * (i + 1) * (i == columns[i]) for i in rows)
        total += (-1) ** swapped * math.prod(entries)
    return answer == total


@check(pc.FourthPowersToCorners)
def fourth_powers_to_corners(q, answer):
    # The direction of P must not matter.
    for direction in (0, 0.1, 1):
        p = cmath.rect(q.distance, direction)
        corners = (cmath.rect(q.radius, 2 * math.pi * k / q.corners) for k in range(q.corners))
        if not math.isclose(sum(abs(p - z) ** 4 for z in corners), answer, abs_tol=1e-6):
            return False
    return True


@check(pc.TangentsAsRoots)
def tangents_as_roots(q, answer):
    with mpmath.workdps(50):
        roots = mpmath.polyroots([1, -q.e1, q.e2, -q.e3], maxsteps=200, extraprec=100)
        real = all(abs(mpmath.im(root)) < mpmath.mpf(10) ** -40 for root in roots)
        angles = [mpmath.atan(mpmath.re(root)) for root in roots]
        return real and near(answer, mpmath.sin(2 * sum(angles)))


@check(pc.VolumeFromDotProducts)
def volume_from_dot_products(q, answer):
    # u along the first axis, v in the plane of the first two: squares of length, width, height.
    (uu, vv, ww), (uv, uw, vw) = q.squares, q.dots
    width = vv - Fraction(uv**2, uu)
    height = ww - Fraction(uw**2, uu) - (vw - Fraction(uv * uw, uu)) ** 2 / width
    return answer > 0 and answer**2 == uu * width * height
