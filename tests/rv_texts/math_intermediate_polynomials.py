"""Readers of opencompass_gpassk.rv.math.intermediate_polynomials.

Polynomials are lists of coefficients, the highest power first.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import prod

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
    lead = numbers(text)[1]
    table = [[int(value) for value in re.findall(r'P\(\d\) = (-?\d+)', text)]]
    while len(table) < 4:
        table.append([b - a for a, b in pairwise(table[-1])])
    table.append([24 * lead])

    def following(ends):
        for level in range(3, -1, -1):
            ends[level] += ends[level + 1]
        return ends[0]

    def preceding(starts):
        for level in range(3, -1, -1):
            starts[level] -= starts[level + 1]
        return starts[0]

    ends, starts = [row[-1] for row in table], [row[0] for row in table]
    at_6 = [following(ends) for _ in range(2)][-1]
    at_minus_1 = [preceding(starts) for _ in range(2)][-1]
    return answer == at_6 + at_minus_1


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
    a, at_a, b, at_b = numbers(text)

    def parabola_is_whole(r):
        """Tell whether the parabola through the three points has integer coefficients."""
        points = [(a, at_a), (b, at_b), (r, 0)]
        denominators = [prod(x - y for y, _ in points if y != x) for x, _ in points]
        others = [[y for y, _ in points if y != x] for x, _ in points]
        whole = prod(denominators)
        weights = [v * whole // d for (_, v), d in zip(points, denominators, strict=True)]
        coefficients = [
            sum(weights),
            -sum(w * sum(o) for w, o in zip(weights, others, strict=True)),
            sum(w * prod(o) for w, o in zip(weights, others, strict=True)),
        ]
        return all(c % whole == 0 for c in coefficients)

    tried = (r for r in range(-100, 120) if r not in (a, b))
    return sorted(answer) == [r for r in tried if parabola_is_whole(r)]


def cycles(permutation):
    """Return the lengths of a permutation's cycles."""
    left, lengths = set(range(len(permutation))), []
    while left:
        start = here = min(left)
        length = 0
        while length == 0 or here != start:
            left.discard(here)
            here, length = permutation[here], length + 1
        lengths.append(length)
    return lengths


CYCLES = {n: [cycles(p) for p in permutations(range(n))] for n in (4, 5)}


@reader
def fifth_powers_of_three(text, answer):
    p1, _, _, _, p2, _, _, _, p3, *_ = numbers(text)

    def elementary(n, sums):
        """Sum signed products of power sums over all permutations: n! e_n."""
        return sum((-1) ** (n - len(c)) * prod(sums[i] for i in c) for c in CYCLES[n])

    # Three numbers have no four or five different ones to multiply: e_4 = e_5 = 0.
    sums = {1: p1, 2: p2, 3: p3, 4: 0, 5: 0}
    sums[4] = Fraction(elementary(4, sums), 6)
    sums[5] = answer
    return elementary(4, sums) == 0 and elementary(5, sums) == 0


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
