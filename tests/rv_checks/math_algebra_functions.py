"""Checks of opencompass_gpassk.rv.math.algebra_functions."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import sympy

from opencompass_gpassk.rv.math import algebra_functions as af
from rv_checks import check


def close(answer, decimal):
    """Compare an exact answer with a number of 50 digits."""
    return abs(Decimal(str(sympy.N(answer, 50))) - decimal) < Decimal('1e-30')


@check(af.ValueOfComposite)
def value_of_composite(q, answer):
    inner = Fraction(answer - q.shift, q.factor)
    return inner - q.square == q.at**2


@check(af.LineToTheAxis)
def line_to_the_axis(q, answer):
    (a, b), (c, d) = q.start, q.end
    return (c - a) * (0 - b) == (d - b) * (answer - a)  # vectors from start to end, and to (x, 0)


@check(af.TwoStepsBack)
def two_steps_back(q, answer):
    for _ in range(2):
        answer = (q.factor * answer + q.plus) / (answer + q.below)
    return answer == q.value


@check(af.DearerBoatTours)
def dearer_boat_tours(q, answer):
    rises = range(q.guests // q.lost + 1)
    return answer == max((q.price + rise) * (q.guests - q.lost * rise) for rise in rises)


@check(af.FourfoldMap)
def fourfold_map(q, answer):
    value = Fraction(q.start)
    for _ in range(q.times):
        value = (q.size * value - q.size**2) / (value + q.size)
    return answer == value


@check(af.EquationWithSwappedArgument)
def equation_with_swapped_argument(q, answer):
    other = Fraction(q.swap, q.at)
    of_other = (q.slope * q.at - answer) / q.factor  # from the equation at x = q.at
    return of_other + q.factor * answer == q.slope * other


@check(af.TangentPointsApart)
def tangent_points_apart(q, answer):
    # A line of slope m through the point meets the parabola where x^2 + (b - m)x + c + mp - q = 0;
    # it touches if the discriminant, m^2 - 2(b + 2p)m + b^2 - 4(c - q), is 0.
    b, c, (x, y) = q.linear, q.constant, q.point
    with localcontext() as context:
        context.prec = 60
        half = b + 2 * x
        root = Decimal(half**2 - b**2 + 4 * (c - y)).sqrt()
        touch = [(m - b) / 2 for m in (half - root, half + root)]
        (s, v), (t, w) = ((u, u * u + b * u + c) for u in touch)
        return close(answer, ((s - t) ** 2 + (v - w) ** 2).sqrt())


@check(af.SquaresOfNestedRoots)
def squares_of_nested_roots(q, answer):
    f = np.poly1d([1, q.linear, q.constant])
    roots = (f(f) - q.value).roots
    return bool(abs(answer - sum(x.real**2 for x in roots if abs(x.imag) < 1e-6)) < 1e-6)


@check(af.LeastSumOfRoots)
def least_sum_of_roots(q, answer):
    with localcontext() as context:
        context.prec = 60
        left, right = Decimal(min(q.left, q.right)), Decimal(max(q.left, q.right))
        sides = [(Decimal(q.left), q.up), (Decimal(q.right), q.down)]
        for _ in range(70):  # the sum is convex: halve the interval by the sign of the slope
            x = (left + right) / 2
            slope = sum((x - p) / ((x - p) ** 2 + h * h).sqrt() for p, h in sides)
            left, right = (left, x) if slope > 0 else (x, right)
        return close(answer, sum(((x - p) ** 2 + h * h).sqrt() for p, h in sides))
