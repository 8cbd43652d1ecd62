"""Checks of opencompass_gpassk.rv.math.geometry: coordinates instead of formulas."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import mpmath
import sympy

from opencompass_gpassk.rv.math import geometry as geo
from rv_checks import check

EXACT = mpmath.mpf(10) ** -40


def number(answer):
    """Compute an answer to the digits that mpmath works with."""
    return mpmath.mpf(str(sympy.N(answer, 60)))


@check(geo.AngleFromOutside)
def angle_from_outside(q, answer):
    # A = (0, 0), B = (1, 0); C on the ray from A by at_a, and on the ray from B by outside.
    a, b = math.radians(q.at_a), math.radians(q.outside)
    length = math.sin(b) / math.sin(b - a)
    x, y = length * math.cos(a), length * math.sin(a)
    assert abs(math.atan2(y, x - 1) - b) < 1e-9
    at_c = math.atan2(-y, 1 - x) - math.atan2(-y, -x)
    return abs(math.degrees(at_c) - answer) < 1e-9


@check(geo.CircleRoundRectangle)
def circle_round_rectangle(q, answer):
    # Four segments of the circle, one beyond each side.
    with mpmath.workdps(60):
        radius = mpmath.hypot(q.width, q.height) / 2
        angles = [2 * mpmath.asin(side / (2 * radius)) for side in (q.width, q.height)]
        area = sum(radius**2 * (angle - mpmath.sin(angle)) for angle in angles)
        return abs(area - number(answer)) < EXACT


@check(geo.ShadowOfPost)
def shadow_of_post(q, answer):
    # The lamp (0, lamp), the post's top (away, post) and the shadow's end are on a line.
    return answer > 0 and q.away * -q.lamp == (q.away + answer) * (q.post - q.lamp)


@check(geo.AllAnglesButOne)
def all_angles_but_one(q, answer):
    (corners,) = (n for n in range(3, 100) if 0 < 180 * (n - 2) - q.total < 180)
    pairs = combinations(range(corners), 2)
    return answer == sum(b - a not in (1, corners - 1) for a, b in pairs)


@check(geo.TurnedAboutHypotenuse)
def turned_about_hypotenuse(q, answer):
    # Pappus: the area times the way of the centroid (first/3, second/3).
    a, b = q.first, q.second
    (c,) = (n for n in range(1, 100) if n * n == a * a + b * b)
    distance = abs(b * Fraction(a, 3) + a * Fraction(b, 3) - a * b) / c
    volume = Fraction(a * b, 2) * 2 * distance
    return answer == sympy.Rational(volume.numerator, volume.denominator) * sympy.pi


@check(geo.ChordCutInRatio)
def chord_cut_in_ratio(q, answer):
    square = sympy.expand(answer**2)
    middle = q.radius**2 - square / 4  # squared distances of the chord's middle from the centre
    from_p = square * sympy.Rational(1, 6) ** 2  # and from P
    return answer > 0 and middle > 0 and middle + from_p == q.away**2


@check(geo.MedianMeetsBisector)
def median_meets_bisector(q, answer):
    with mpmath.workdps(50):
        sine = mpmath.mpf(2 * q.area) / (q.ab * q.ac)
        cosine = mpmath.sqrt(1 - sine**2)
        mx, my = q.ac * cosine / 2, q.ac * sine / 2
        ux, uy = 1 + cosine, sine  # the sum of unit vectors halves the angle
        # P = t u lies on the line from B = (ab, 0) to M.
        t = q.ab * my / (ux * my - uy * (mx - q.ab))
        return abs(q.ab * t * uy / 2 - mpmath.mpf(answer.numerator) / answer.denominator) < EXACT


def left_of(polygon, start, end):
    """Cut off what is on the right of the line from start to end."""

    def side(point):
        return (end[0] - start[0]) * (point[1] - start[1]) - (end[1] - start[1]) * (
            point[0] - start[0]
        )

    kept = []
    for i, here in enumerate(polygon):
        there = polygon[i - 1]
        s, t = side(there), side(here)
        if s * t < 0:
            part = Fraction(s) / (s - t)
            kept.append(tuple(u + part * (v - u) for u, v in zip(there, here, strict=True)))
        if t >= 0:
            kept.append(here)
    return kept


def shoelace(polygon):
    turns = (polygon[i - 1][0] * p[1] - polygon[i - 1][1] * p[0] for i, p in enumerate(polygon))
    return Fraction(sum(turns)) / 2


@check(geo.FoldCornerToCorner)
def fold_corner_to_corner(q, answer):
    w, h = Fraction(q.width), Fraction(q.height)
    sheet = [(0, 0), (w, 0), (w, h), (0, h)]
    on, off = (w / 2, h / 2), (w / 2 - h, h / 2 + w)  # of the crease, square to the diagonal
    stays, turns = left_of(sheet, on, off), left_of(sheet, off, on)

    def mirrored(x, y):
        t = 2 * ((x - w / 2) * w + (y - h / 2) * h) / (w * w + h * h)
        return x - t * w, y - t * h

    assert mirrored(w, h) == (0, 0)
    double = stays
    moved = [mirrored(*corner) for corner in reversed(turns)]
    for i, corner in enumerate(moved):
        double = left_of(double, moved[i - 1], corner)
    return answer == shoelace(double)


@check(geo.ThreeDistances)
def three_distances(q, answer):
    if not answer > 0:
        return False
    with mpmath.workdps(60):
        side = mpmath.sqrt(4 * number(answer) / mpmath.sqrt(3))
        x = (q.pa**2 - q.pb**2 + side**2) / (2 * side)
        y = mpmath.sqrt(q.pa**2 - x**2)  # A = (0, 0), B = (side, 0)
        root = mpmath.sqrt(3)
        inside = 0 < y < root * min(x, side - x)
        return inside and abs(mpmath.hypot(x - side / 2, y - side * root / 2) - q.pc) < EXACT


@check(geo.HexagonOfTwoLengths)
def hexagon_of_two_lengths(q, answer):
    with mpmath.workdps(55):

        def gap(radius):
            angles = [mpmath.asin(side / (2 * radius)) for side in (q.a, q.b)]
            return 6 * sum(angles) - 2 * mpmath.pi

        radius = mpmath.findroot(gap, ((q.a + q.b) / 2, (q.a + q.b) * 0.6), tol=1e-50)
        heights = [
            (side, mpmath.sqrt(radius**2 - mpmath.mpf(side) ** 2 / 4)) for side in (q.a, q.b)
        ]
        return abs(sum(3 * side * height / 2 for side, height in heights) - number(answer)) < EXACT


def determinant(matrix):
    if not matrix:
        return 1
    minors = ([row[:j] + row[j + 1 :] for row in matrix[1:]] for j in range(len(matrix)))
    return sum((-1) ** j * matrix[0][j] * determinant(m) for j, m in enumerate(minors))


@check(geo.FourEqualFaces)
def four_equal_faces(q, answer):
    p, r, s = q.p, q.q, q.r
    squares = [[0, 1, 1, 1, 1], [1, 0, p, r, s], [1, p, 0, s, r], [1, r, s, 0, p], [1, s, r, p, 0]]
    return answer > 0 and 288 * answer**2 == determinant(squares)  # Cayley and Menger
