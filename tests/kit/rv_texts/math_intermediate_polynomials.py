"""Readers of opencompass_gpassk.rv.math.intermediate_polynomials.

Polynomials are lists of coefficients, the highest power first.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb

import mpmath

from rv_texts import numbers, reader
from rv_texts.math_geometry import determinant


def remainder(poly, divisor):
    """Divide by long division and return what is left, without leading zeros."""
    poly = [Fraction(c) for c in poly]
    while len(poly) >= len(divisor):
        factor = poly[0] / divisor[0]
        for i, c in enumerate(divisor):
            poly[i] -= factor * c
        poly = poly[1:]
    while poly and poly[0] == 0:
        poly = poly[1:]
    return poly


def companion(poly):
    """Return the matrix whose eigenvalues are the roots of the polynomial."""
    size = len(poly) - 1
    below = [[Fraction(i == j + 1) for j in range(size)] for i in range(size)]
    for i in range(size):
        below[i][size - 1] = Fraction(-poly[size - i], poly[0])
    return below


def times(one, other):
    inner = range(len(other))
    return [[sum(row[k] * other[k][j] for k in inner) for j in range(len(other[0]))] for row in one]


def written(text):
    """Read the coefficients of the first polynomial in x or z of a text."""
    formula = re.search(r'\$(?:P\(z\) = )?(-?\d*[xz][^$=]*)', text)[1].replace(' ', '')
    terms = re.findall(r'([+-]?)(\d*)([xz]?)(?:\^(\d+))?', formula)
    powers = {}
    for sign, size, x, power in terms:
        if size or x:
            powers[int(power or 1) if x else 0] = int(sign + (size or '1'))
    return [powers.get(i, 0) for i in range(max(powers), -1, -1)]


@reader
def one_remainder_for_another(text, answer):
    _, _, b, c, minus_r, left, minus_s = numbers(text)
    for k in range(-50, 51):
        poly = [1, k, b, c]
        if (remainder(poly, [1, minus_r]) or [0]) == [left]:
            return (remainder(poly, [1, minus_s]) or [0]) == [answer]
    return False


@reader
def roots_over_each_other(text, answer):
    matrix = companion(written(text))
    square = times(matrix, matrix)
    return answer == (square[0][0] + square[1][1]) / determinant(matrix)


@reader
def remainder_by_the_product(text, answer):
    at_r, minus_r, at_s, minus_s, *again = numbers(text)
    line = written(f'${answer}$')
    at = [left[0] if (left := remainder(line, [1, x])) else 0 for x in (minus_r, minus_s)]
    return len(line) <= 2 and again == [minus_r, minus_s] and at == [at_r, at_s]


@reader
def root_products_squared(text, answer):
    matrix = companion(written(text[text.index('roots of') :]))
    m = times(matrix, matrix)
    pairs = combinations(range(3), 2)
    return answer == sum(m[i][i] * m[j][j] - m[i][j] * m[j][i] for i, j in pairs)


@reader
def quartic_on_a_line(text, answer):
    # Newton's series in binomials of x - 1, with the differences of the values; the fourth is 4!
    # times the leading coefficient.
    _, lead, *points, _, _ = numbers(text)
    row, differences = points[1::2], []
    while row:
        differences.append(row[0])
        row = [b - a for a, b in pairwise(row)]
    differences.append(24 * lead)
    at_6 = sum(comb(5, k) * d for k, d in enumerate(differences))
    at_minus_1 = sum((-1) ** k * (k + 1) * d for k, d in enumerate(differences))
    return points[::2] == [1, 2, 3, 4] and answer == at_6 + at_minus_1


@reader
def roots_seen_from_a_point(text, answer):
    matrix = companion(written(text[text.index('roots of') :]))
    (t,) = {int(t) for t in re.findall(r'\{1\}\{(\d+) - r', text)}
    away = [[t * (i == j) - matrix[i][j] for j in range(4)] for i in range(4)]
    minors = [[[*row[:i], *row[i + 1 :]] for row in away[:i] + away[i + 1 :]] for i in range(4)]
    return answer == sum(map(determinant, minors)) / determinant(away)


@reader
def mirrored_quartic(text, answer):
    with mpmath.workdps(30):
        roots = mpmath.polyroots(written(text), extraprec=30)
        real = [root.real for root in roots if abs(root.imag) < 1e-20]
        return len(real) == 2 and abs(sum(x**3 for x in real) - answer) < 1e-20


@reader
def possible_integer_roots(text, answer):
    # Newton's parabola through (a, u), (b, v) and (r, 0) has integer coefficients, or none has.
    a, u, b, v = numbers(text)
    slope = Fraction(v - u, b - a)
    tried = (r for r in range(-100, 120) if r not in (a, b))
    bends = ((r, (Fraction(-v, r - b) - slope) / (r - a)) for r in tried)
    roots = [r for r, bend in bends if bend.denominator == slope.denominator == 1]
    return sorted(answer) == roots


@reader
def fifth_powers_of_three(text, answer):
    # The trace of a matrix's fifth power, with the given traces of the first three.
    p1, _, _, _, p2, _, _, _, p3, *_ = numbers(text)
    e2, e3 = Fraction(p1**2 - p2, 2), Fraction(p1**3 - 3 * p1 * p2 + 2 * p3, 6)
    powers = [companion([1, -p1, e2, -e3])]
    while len(powers) < 5:
        powers.append(times(powers[-1], powers[0]))
    traces = [sum(power[i][i] for i in range(3)) for power in powers]
    return [*traces[:3], traces[4]] == [p1, p2, p3, answer]


@reader
def fifth_roots_product(text, answer):
    # The eigenvalues of a circulant matrix are its first row's polynomial at the roots of unity.
    row = [*written(text)[::-1], 0, 0]
    return answer == determinant([row[-i:] + row[:-i] for i in range(5)])


@reader
def two_roots_add_up(text, answer):
    *_, total = numbers(text)
    poly = [*written(text.replace('+ k$', '+ 0$'))[:-1], answer]
    mirrored = [0]
    for c in poly:  # P(total - x), by Horner's scheme
        grown = [a * total - b for a, b in zip([0, *mirrored], [*mirrored, 0], strict=True)]
        mirrored = [*grown[:-1], grown[-1] + c]
    mirrored = mirrored[-5:]
    while mirrored:
        poly, mirrored = mirrored, remainder(poly, mirrored)
    return len(poly) >= 3  # a common root r comes with total - r
