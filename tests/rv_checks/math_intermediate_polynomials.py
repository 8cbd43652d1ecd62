"""Checks of opencompass_gpassk.rv.math.intermediate_polynomials.

Polynomials are lists of coefficients, the highest power first.
"""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations, pairwise, permutations
from math import prod

import mpmath
import sympy

from opencompass_gpassk.rv.math import intermediate_polynomials as ip
from rv_checks import check


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


def determinant(matrix):
    if not matrix:
        return 1
    minors = ([row[:j] + row[j + 1 :] for row in matrix[1:]] for j in range(len(matrix)))
    return sum((-1) ** j * matrix[0][j] * determinant(m) for j, m in enumerate(minors))


def written(text):
    """Read the coefficients of the first polynomial in x of a text."""
    formula = re.search(r'\$(-?\d*x[^$=]*)', text)[1].replace(' ', '')
    terms = re.findall(r'([+-]?)(\d*)(x?)(?:\^(\d+))?', formula)
    powers = {}
    for sign, size, x, power in terms:
        if size or x:
            powers[int(power or 1) if x else 0] = int(sign + (size or '1'))
    return [powers.get(i, 0) for i in range(max(powers), -1, -1)]


@check(ip.OneRemainderForAnother)
def one_remainder_for_another(q, answer):
    for k in range(-50, 51):
        poly = [1, k, q.linear, q.constant]
        if (remainder(poly, [1, -q.root]) or [0]) == [q.remainder]:
            return (remainder(poly, [1, -q.other]) or [0]) == [answer]
    return False


@check(ip.RootsOverEachOther)
def roots_over_each_other(q, answer):
    matrix = companion(written(q.render()))
    square = times(matrix, matrix)
    return answer == (square[0][0] + square[1][1]) / determinant(matrix)


@check(ip.RemainderByTheProduct)
def remainder_by_the_product(q, answer):
    line = [Fraction(c.p, c.q) for c in sympy.Poly(answer, sympy.Symbol('x')).all_coeffs()]
    if len(line) > 2:
        return False
    r, s = q.r, q.s
    poly = [1, -r - s + 2, r * s - 2 * r - 2 * s, 2 * r * s]  # (x - r)(x - s)(x + 2)
    poly = [a + b for a, b in zip(poly, [0] * (4 - len(line)) + line, strict=True)]
    left = [remainder(poly, [1, -root]) or [0] for root in (r, s)]
    return left == [[q.at_r], [q.at_s]]


@check(ip.RootProductsSquared)
def root_products_squared(q, answer):
    matrix = companion(written(q.render()))
    m = times(matrix, matrix)
    pairs = combinations(range(3), 2)
    return answer == sum(m[i][i] * m[j][j] - m[i][j] * m[j][i] for i, j in pairs)


@check(ip.QuarticOnALine)
def quartic_on_a_line(q, answer):
    values = [int(v) for v in re.findall(r'P\(\d\) = (-?\d+)', q.render())]
    table = [values]
    while len(table) < 4:
        table.append([b - a for a, b in pairwise(table[-1])])
    table.append([24 * q.lead])

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


@check(ip.RootsSeenFromAPoint)
def roots_seen_from_a_point(q, answer):
    matrix = companion(written(q.render()))
    away = [[q.t * (i == j) - matrix[i][j] for j in range(4)] for i in range(4)]
    minors = [[[*row[:i], *row[i + 1 :]] for row in away[:i] + away[i + 1 :]] for i in range(4)]
    return answer == sum(map(determinant, minors)) / determinant(away)


@check(ip.MirroredQuartic)
def mirrored_quartic(q, answer):
    with mpmath.workdps(30):
        roots = mpmath.polyroots(written(q.render()), extraprec=30)
        real = [root.real for root in roots if abs(root.imag) < 1e-20]
        return len(real) == 2 and abs(sum(x**3 for x in real) - answer) < 1e-20


@check(ip.PossibleIntegerRoots)
def possible_integer_roots(q, answer):
    def quadratic_is_whole(r):
        """Tell whether the parabola through the three points has integer coefficients."""
        points = [(q.a, q.at_a), (q.b, q.at_b), (r, 0)]
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

    tried = (r for r in range(-80, 100) if r not in (q.a, q.b))
    return sorted(answer) == [r for r in tried if quadratic_is_whole(r)]


def cycles(permutation):
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


@check(ip.FifthPowersOfThree)
def fifth_powers_of_three(q, answer):
    def elementary(n, sums):
        """Sum signed products of power sums over all permutations: n! e_n."""
        return sum((-1) ** (n - len(c)) * prod(sums[i] for i in c) for c in CYCLES[n])

    # Three numbers have no four or five different ones to multiply: e_4 = e_5 = 0.
    sums = {1: q.p1, 2: q.p2, 3: q.p3, 4: 0, 5: 0}
    sums[4] = Fraction(elementary(4, sums), 6)
    sums[5] = answer
    return elementary(4, sums) == 0 and elementary(5, sums) == 0


@check(ip.FifthRootsProduct)
def fifth_roots_product(q, answer):
    # The eigenvalues of a circulant matrix are its first row's polynomial at the roots of unity.
    row = [q.b, q.a, 1, 0, 0]
    return answer == determinant([row[-i:] + row[:-i] for i in range(5)])


@check(ip.TwoRootsAddUp)
def two_roots_add_up(q, answer):
    poly = [*written(q.render().replace('+ k$', '+ 0$'))[:-1], answer]
    mirrored = [0]
    for c in poly:  # P(total - x), by Horner's scheme
        grown = [a * q.total - b for a, b in zip([0, *mirrored], [*mirrored, 0], strict=True)]
        mirrored = [*grown[:-1], grown[-1] + c]
    mirrored = mirrored[-5:]
    while mirrored:
        poly, mirrored = mirrored, remainder(poly, mirrored)
    return len(poly) >= 3  # a common root r comes with total - r
