"""Readers of opencompass_gpassk.rv.math.intermediate_functions."""

from __future__ import annotations

import re
from fractions import Fraction
from math import isqrt

import mpmath

from rv_texts import numbers, reader
from rv_texts.math_geometry import EXACT, digits_of


@reader
def hole_in_graph(text, answer):
    _, b, c, _, e, f = numbers(re.sub(r'([+-]) x', r'\1 1x', text))

    def at(x):
        return [x * x + b * x + c, x * x + e * x + f]

    (hole,) = (x for x in range(-60, 61) if at(x) == [0, 0])
    above, below = at(hole + Fraction(1, 10**30))
    return len(answer) == 2 and answer[0] == hole and abs(above / below - answer[1]) < 1e-25


@reader
def ellipse_foci(text, answer):
    # Points of the curve have equal sums of their distances to the foci.
    p, _, q, _, r, s, constant, _ = numbers(text)
    x, y = Fraction(-r, 2 * p), Fraction(-s, 2 * q)  # all is symmetrical about this point
    n = -(p * x * x + q * y * y + r * x + s * y + constant)
    if min(p, q, n) <= 0:
        return False
    with mpmath.workdps(60):
        half = digits_of(answer) / 2
        focus = (half, 0) if p < q else (0, half)
        sums = []
        for slope in (0, 1, 3, 7):
            u = mpmath.sqrt(mpmath.mpf(n.numerator) / n.denominator / (p + q * slope**2))
            ways = [mpmath.hypot(u - t * focus[0], u * slope - t * focus[1]) for t in (1, -1)]
            sums.append(sum(ways))
        return half > 0 and max(sums) - min(sums) < EXACT


@reader
def quotient_at_least(text, answer):
    a, minus_b, c = numbers(text)
    tried = [x for x in range(-700, 700) if x != -minus_b]
    return answer == sum(x for x in tried if Fraction(x + a, x + minus_b) >= c)


@reader
def sum_of_arguments_rule(text, answer):
    c, _, at_two, last = numbers(text)
    f = {1: Fraction(at_two - c, 2), 2: at_two}  # f(2) = f(1) + f(1) + c
    for n in range(3, last + 1):
        f[n] = f[n - 1] + f[1] + c * (n - 1)
        if f[n] != f[n - 2] + f[2] + c * 2 * (n - 2):
            return False
    return answer == f[last]


@reader
def product_of_two_logs(text, answer):
    _, b, c, p, first, q, second = numbers(text)
    if not answer > 1 or (b, c) != (first, second):
        return False
    with mpmath.workdps(50):
        first, second = (mpmath.log(answer) / mpmath.log(base) for base in (b, c))
        return abs(first * second - p * first - q * second) < EXACT


@reader
def powers_over_products(text, answer):
    first, last, base, slope, shift, _ = numbers(text)
    return answer == sum(
        Fraction(base**k * (slope * k + shift), k * (k + 1)) for k in range(first, last + 1)
    )


@reader
def tilted_ellipse(text, answer):
    # Along its axes, the ellipse is r^2 = n / (eigenvalue of the form's matrix).
    a, _, b, c, _, n, _, _ = numbers(text)
    with mpmath.workdps(50):
        form = mpmath.matrix([[a, mpmath.mpf(b) / 2], [mpmath.mpf(b) / 2, c]])
        eigenvalues = list(mpmath.eigsy(form, eigvals_only=True))
        both = sum(n / value for value in eigenvalues)
        return min(eigenvalues) > 0 and abs(both * answer.denominator - answer.numerator) < EXACT


@reader
def two_largest_of_five(text, answer):
    # The points with both sums form a sphere in the space of the first; there, the sum of two
    # coordinates grows along (3, 3, -2, -2, -2) / 5, by that vector's length.
    total, squares = numbers(text)
    radius2 = squares - Fraction(total**2, 5)
    beyond = answer - Fraction(2 * total, 5)
    return beyond > 0 and beyond**2 == radius2 * Fraction(3**2 * 2 + 2**2 * 3, 5**2)


@reader
def threefold_argument(text, answer):
    _, _, _, _, a, b, t = numbers(text)
    x, value = Fraction(t), answer
    for _ in range(3):
        value = a * x + b - value  # at the next argument
        x = 1 / (1 - x)
    return x == t and value == answer


@reader
def focal_triangle(text, answer):
    # The points (pt^2, 2pt) and (p/t^2, -2p/t) of y^2 = 4px are p + pt^2 and p + p/t^2 away from
    # the focus (p, 0), which is on the line through them.
    m, n = numbers(text)
    t = Fraction(isqrt(m * n), n)
    p = m / (1 + t**2)
    x, u, y, v = p * t**2, 2 * p * t, p / t**2, -2 * p / t
    return (p + x, p + y) == (m, n) and 2 * answer == abs(x * v - u * y)
