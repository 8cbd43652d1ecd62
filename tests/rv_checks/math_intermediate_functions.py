"""Checks of opencompass_gpassk.rv.math.intermediate_functions."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import mpmath
import sympy

from opencompass_gpassk.rv.math import intermediate_functions as fun
from rv_checks import check

EXACT = mpmath.mpf(10) ** -40


def number(answer):
    """Compute an answer to the digits that mpmath works with."""
    return mpmath.mpf(str(sympy.N(answer, 60)))


@check(fun.HoleInGraph)
def hole_in_graph(q, answer):
    def at(x):
        return [x * x + b * x + c for b, c in (q.above, q.below)]

    (hole,) = (x for x in range(-60, 61) if at(x) == [0, 0])
    above, below = at(hole + Fraction(1, 10**30))
    return len(answer) == 2 and answer[0] == hole and abs(above / below - answer[1]) < 1e-25


@check(fun.EllipseFoci)
def ellipse_foci(q, answer):
    # Points of the curve have equal sums of their distances to the foci.
    x, y = Fraction(-q.r, 2 * q.p), Fraction(-q.s, 2 * q.q)  # all is symmetrical about this point
    n = -(q.p * x * x + q.q * y * y + q.r * x + q.s * y + q.constant)
    with mpmath.workdps(60):
        half = number(answer) / 2
        focus = (half, 0) if q.p < q.q else (0, half)
        sums = []
        for slope in (0, 1, 3, 7):
            u = mpmath.sqrt(mpmath.mpf(n.numerator) / n.denominator / (q.p + q.q * slope**2))
            ways = [mpmath.hypot(u - s * focus[0], u * slope - s * focus[1]) for s in (1, -1)]
            sums.append(sum(ways))
        return half > 0 and max(sums) - min(sums) < EXACT


@check(fun.QuotientAtLeast)
def quotient_at_least(q, answer):
    numbers = [x for x in range(-500, 500) if x != q.b]
    return answer == sum(x for x in numbers if Fraction(x + q.a, x - q.b) >= q.c)


@check(fun.SumOfArgumentsRule)
def sum_of_arguments_rule(q, answer):
    f = {1: Fraction(q.at_two - q.c, 2), 2: q.at_two}  # f(2) = f(1) + f(1) + c
    for n in range(3, q.n + 1):
        f[n] = f[n - 1] + f[1] + q.c * (n - 1)
        assert f[n] == f[n - 2] + f[2] + q.c * 2 * (n - 2)
    return answer == f[q.n]


@check(fun.ProductOfTwoLogs)
def product_of_two_logs(q, answer):
    if not answer > 1:
        return False
    with mpmath.workdps(50):
        first, second = (mpmath.log(answer) / mpmath.log(base) for base in (q.b, q.c))
        return abs(first * second - q.p * first - q.q * second) < EXACT


@check(fun.PowersOverProducts)
def powers_over_products(q, answer):
    b = q.base
    terms = (Fraction(b**k * ((b - 1) * k - 1), k * (k + 1)) for k in range(1, q.last + 1))
    return answer == sum(terms)


@check(fun.TiltedEllipse)
def tilted_ellipse(q, answer):
    # In polar coordinates the form is rr times (a + c)/2 + (a - c)/2 cos 2t + b/2 sin 2t, which is
    # extreme where 2t is the direction of (a - c, b), or opposite.
    with mpmath.workdps(50):
        double = mpmath.atan2(q.b, q.a - q.c)
        values = []
        for t in (double / 2, (double + mpmath.pi) / 2):
            x, y = mpmath.cos(t), mpmath.sin(t)
            values.append(q.n / (q.a * x * x + q.b * x * y + q.c * y * y))
        around = [q.a + q.b * w + q.c * w * w for w in (Fraction(k, 8) for k in range(-40, 41))]
        seen = [
            q.n * (1 + Fraction(k, 8) ** 2) / form
            for k, form in zip(range(-40, 41), around, strict=True)
        ]
        assert min(values) - 1e-9 <= float(min(seen))
        assert float(max(seen)) <= max(values) + 1e-9
        return abs(sum(values) * answer.denominator - answer.numerator) < EXACT


@check(fun.TwoLargestOfFive)
def two_largest_of_five(q, answer):
    # The points with both sums form a sphere in the space of the first; there, the sum of two
    # coordinates grows along (3, 3, -2, -2, -2) / 5, by that vector's length.
    radius2 = q.squares - Fraction(q.total**2, 5)
    beyond = answer - Fraction(2 * q.total, 5)
    return beyond > 0 and beyond**2 == radius2 * Fraction(3**2 * 2 + 2**2 * 3, 5**2)


@check(fun.ThreefoldArgument)
def threefold_argument(q, answer):
    x, value = Fraction(q.t), answer
    for _ in range(3):
        value = q.a * x + q.b - value  # at the next argument
        x = 1 / (1 - x)
    return x == q.t and value == answer


@check(fun.FocalTriangle)
def focal_triangle(q, answer):
    # On y^2 = 4px with the directrix x = -p, the ends are at x = m - p and x = n - p.
    def ends(p):
        xs = [q.m - p, q.n - p]
        return xs, [2 * (p * xs[0]).sqrt(), -2 * (p * xs[1]).sqrt()]

    def turn(p):
        """Tell on which side of the line from the focus (p, 0) to one end the other is."""
        (x, u), (y, v) = ends(p)
        return (x - p) * v - (u - p) * y

    with localcontext() as context:
        context.prec = 50
        low, high = Decimal(q.m) / 2, Decimal(q.m)
        assert turn(low) * turn(high) < 0
        for _ in range(150):
            middle = (low + high) / 2
            low, high = (middle, high) if turn(low) * turn(middle) > 0 else (low, middle)
        (x, u), (y, v) = ends(low)
        area = abs(x * v - u * y) / 2
        return abs(area * answer.denominator - answer.numerator) < Decimal('1e-35')
