"""Readers of opencompass_gpassk.rv.math.geometry: coordinates instead of formulas."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations

import mpmath
import sympy

from rv_texts import numbers, reader

EXACT = mpmath.mpf(10) ** -40


def digits_of(answer):
    """Compute an answer to the digits that mpmath works with."""
    return mpmath.mpf(str(sympy.N(answer, 60)))


@reader
def angle_from_outside(text, answer):
    at_a, outside = numbers(text)
    at_b = 180 - outside
    return answer > 0 and at_a + at_b + answer == 180


@reader
def circle_round_rectangle(text, answer):
    # Four segments of the circle, one beyond each side.
    width, height = numbers(text)
    ((circle, rectangle),) = re.findall(r'^(\d+)\\pi - (\d+)$', answer)
    with mpmath.workdps(60):
        radius = mpmath.hypot(width, height) / 2
        angles = [2 * mpmath.asin(side / (2 * radius)) for side in (width, height)]
        area = sum(radius**2 * (angle - mpmath.sin(angle)) for angle in angles)
        return abs(area - (int(circle) * mpmath.pi - int(rectangle))) < EXACT


@reader
def shadow_of_post(text, answer):
    # The lamp (0, lamp), the post's top (away, post) and the shadow's end are on a line.
    lamp, post, away = numbers(text)
    return answer > 0 and away * -lamp == (away + answer) * (post - lamp)


@reader
def all_angles_but_one(text, answer):
    (total,) = numbers(text)
    (corners,) = (n for n in range(3, 100) if 0 < 180 * (n - 2) - total < 180)
    pairs = combinations(range(corners), 2)
    return answer == sum(b - a not in (1, corners - 1) for a, b in pairs)


@reader
def turned_about_hypotenuse(text, answer):
    # Pappus: the area times the way of the centroid (a/3, b/3).
    a, b = numbers(text)
    (c,) = (n for n in range(1, 200) if n * n == a * a + b * b)
    distance = abs(b * Fraction(a, 3) + a * Fraction(b, 3) - a * b) / c
    volume = Fraction(a * b, 2) * 2 * distance
    return answer == volume * sympy.pi


@reader
def chord_cut_in_ratio(text, answer):
    away, radius, one, two = numbers(text)
    square = sympy.expand(answer**2)
    middle = radius**2 - square / 4  # squared distances of the chord's middle from the centre
    from_p = square * (sympy.Rational(1, 2) - sympy.Rational(one, one + two)) ** 2  # and from P
    return bool(answer > 0 and middle > 0) and middle + from_p == away**2


@reader
def median_meets_bisector(text, answer):
    area, ab, ac = numbers(text)
    with mpmath.workdps(50):
        sine = mpmath.mpf(2 * area) / (ab * ac)
        cosine = mpmath.sqrt(1 - sine**2)
        mx, my = ac * cosine / 2, ac * sine / 2
        ux, uy = 1 + cosine, sine  # the sum of unit vectors halves the angle
        # P = t u lies on the line from B = (ab, 0) to M.
        t = ab * my / (ux * my - uy * (mx - ab))
        return abs(ab * t * uy / 2 - mpmath.mpf(answer.numerator) / answer.denominator) < EXACT


@reader
def fold_corner_to_corner(text, answer):
    # The paper is double in the triangle of the crease's ends, E and F on the long edges, and the
    # corner O that the opposite one falls on. E = (x, 0) is equally far from O and (long, wide); on
    # the base OE, the triangle is as high as the sheet is wide.
    long, wide = sorted(numbers(text), reverse=True)
    x = 2 * answer / wide
    return x**2 == (long - x) ** 2 + wide**2


@reader
def three_distances(text, answer):
    pa, pb, pc, _ = numbers(text)
    if not answer > 0:
        return False
    with mpmath.workdps(60):
        side = mpmath.sqrt(4 * digits_of(answer) / mpmath.sqrt(3))
        x = (pa**2 - pb**2 + side**2) / (2 * side)
        y = mpmath.sqrt(pa**2 - x**2)  # A = (0, 0), B = (side, 0)
        root = mpmath.sqrt(3)
        inside = 0 < y < root * min(x, side - x)
        return inside and abs(mpmath.hypot(x - side / 2, y - side * root / 2) - pc) < EXACT


@reader
def hexagon_of_two_lengths(text, answer):
    # The angles that the sides are seen under from the centre make a full turn.
    sides = numbers(text)
    with mpmath.workdps(55):

        def gap(radius):
            return 2 * sum(mpmath.asin(side / (2 * radius)) for side in sides) - 2 * mpmath.pi

        mean = mpmath.mpf(sum(sides)) / 6
        radius = mpmath.findroot(gap, (mean, mean * 1.2), tol=1e-50)
        heights = [mpmath.sqrt(radius**2 - mpmath.mpf(side) ** 2 / 4) for side in sides]
        area = sum(side * height / 2 for side, height in zip(sides, heights, strict=True))
        return len(sides) == 6 and abs(area - digits_of(answer)) < EXACT


def determinant(matrix):
    """Expand along the first row."""
    if not matrix:
        return 1
    minors = ([row[:j] + row[j + 1 :] for row in matrix[1:]] for j in range(len(matrix)))
    return sum((-1) ** j * matrix[0][j] * determinant(m) for j, m in enumerate(minors))


@reader
def four_equal_faces(text, answer):
    p, r, s = numbers(text)
    squares = [[0, 1, 1, 1, 1], [1, 0, p, r, s], [1, p, 0, s, r], [1, r, s, 0, p], [1, s, r, p, 0]]
    return answer > 0 and 288 * answer**2 == determinant(squares)  # Cayley and Menger
