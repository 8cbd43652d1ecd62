"""Checks of opencompass_gpassk.rv.math.intermediate_functions."""

from __future__ import annotations

import functools
import math
import re
from fractions import Fraction

import mpmath
import numpy as np
import sympy

from opencompass_gpassk.rv.math import intermediate_functions as fn
from rv_checks import check


@check(fn.AsymptoteCrossed)
def asymptote_crossed(q, answer):
    def curve(x):
        return (q.a * x**2 + q.b * x + q.c) / (x**2 + q.d * x + q.e)

    level = round(curve(Fraction(10**9)))
    return curve(Fraction(answer)) == level


@check(fn.LogAndItsReciprocal)
def log_and_its_reciprocal(q, answer):
    # Two solutions among the powers of p are all, as the equation is quadratic in log_p x.
    factor, right = q.u * q.v, q.u + q.v
    logs = [t for t in range(-60, 61) if t != 0 and t + Fraction(factor, t) == right]
    return len(logs) == 2 and answer == sum(Fraction(q.p) ** t for t in logs)


@check(fn.FartherFocusOfAnEllipse)
def farther_focus_of_an_ellipse(q, answer):
    # The distances from the foci to points of the curve, found from its equation, have one sum.
    equation = q.render().split('$')[1].replace(' ', '')
    a, b, c, d, e = map(int, re.findall(r'[+-]?\d+(?=x|y|=)', equation))
    with mpmath.workdps(50):
        mid_x, mid_y = mpmath.mpf(-c) / (2 * a), mpmath.mpf(-d) / (2 * b)
        focus_x, focus_y = (mpmath.mpf(str(sympy.N(value, 50))) for value in answer)
        other_x, other_y = 2 * mid_x - focus_x, 2 * mid_y - focus_y
        sums = []
        for shift in (-0.75, 0, 0.25, 1):
            x = mid_x + mpmath.mpf(shift)
            y = (-d + mpmath.sqrt(d**2 - 4 * b * (a * x**2 + c * x + e))) / (2 * b)
            near = mpmath.hypot(x - focus_x, y - focus_y)
            sums.append(near + mpmath.hypot(x - other_x, y - other_y))
        farther = mpmath.hypot(focus_x, focus_y) > mpmath.hypot(other_x, other_y)
        return bool(farther and max(sums) - min(sums) < mpmath.mpf(10) ** -40)


@check(fn.IntegersBetweenRootAndPole)
def integers_between_root_and_pole(q, answer):
    tried = (x for x in range(-60, 61) if x != q.pole)
    return answer == sum(
        x for x in tried if Fraction((x - q.root) * (x - q.double) ** 2, x - q.pole) <= 0
    )


@check(fn.AlmostAdditive)
def almost_additive(q, answer):
    for one in range(-60, 61):
        f = {1: one}
        for x in range(1, 30):
            f[x + 1] = f[x] + one + q.c * x + q.d
        for x in range(0, -30, -1):
            f[x] = f[x + 1] - one - q.c * x - q.d
        if f[4] == q.at_four:
            pairs = ((x, y) for x in range(-12, 12, 5) for y in range(-15, 15, 4))
            sound = all(f[x + y] == f[x] + f[y] + q.c * x * y + q.d for x, y in pairs)
            return sound and answer == f[-q.n]
    return False


CIRCLE = np.tan(np.linspace(-np.pi / 2, np.pi / 2, 20001)[1:-1])


@check(fn.IntegersAmongTheValues)
def integers_among_the_values(q, answer):
    # The values fill an interval; its ends are integers or further than 1/1000 from one.
    values = (q.a * CIRCLE**2 + q.b * CIRCLE + q.c) / (CIRCLE**2 + CIRCLE + 1)
    low, high = math.ceil(values.min() - 1e-5), math.floor(values.max() + 1e-5)
    return answer == sum(range(low, high + 1))


@check(fn.QuotientsUnderAWeightedSum)
def quotients_under_a_weighted_sum(q, answer):
    # Newton's method for the least value of a convex function of x and y.
    (p, s, r), (a, b, c) = q.weights, q.tops
    x, y = q.total / (3 * p), q.total / (3 * s)
    for step in range(60):
        z = (q.total - p * x - s * y) / r
        slope = np.array([-a / x**2 + c * p / r / z**2, -b / y**2 + c * s / r / z**2])
        pull = 2 * c / z**3 / r**2
        bend = np.array(
            [
                [2 * a / x**3 + pull * p * p, pull * p * s],
                [pull * p * s, 2 * b / y**3 + pull * s * s],
            ]
        )
        dx, dy = np.linalg.solve(bend, slope)
        part = 1.0
        while min(x - part * dx, y - part * dy, z + part * (p * dx + s * dy) / r) <= 0:
            part /= 2
        x, y = x - part * dx, y - part * dy
        if step > 3 and abs(dx) + abs(dy) < 1e-13:
            break
    z = (q.total - p * x - s * y) / r
    return bool(abs(a / x + b / y + c / z - float(answer)) < 1e-9)


@check(fn.RightAnglesOnAParabola)
def right_angles_on_a_parabola(q, answer):
    def on_curve(x):
        return Fraction(x) ** 2 / q.k + q.up

    def beyond(slope):
        # The line meets the parabola at x = p and at the other root of a quadratic of sum slope*k.
        x = slope * q.k - q.p
        if on_curve(x) - on_curve(q.p) != slope * (x - q.p):
            raise ValueError('not on the line')
        return x, on_curve(x)

    if len(answer) != 2:
        return False
    x, y = answer
    for slope in (Fraction(7, 3), Fraction(5, 11), Fraction(13)):
        (ax, ay), (bx, by) = beyond(slope), beyond(-1 / slope)
        if (bx - ax) * (y - ay) != (by - ay) * (x - ax):
            return False
    return True


@check(fn.RootsOfThreeSquares)
def roots_of_three_squares(q, answer):
    total = Fraction(0)
    for k in range(q.first, q.last + 1):
        square = Fraction(1, 4) + Fraction(1, k**2) + Fraction(1, (k + 2) ** 2)
        root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
        if root**2 != square:
            return False
        total += root
    return answer == total


@functools.cache
def forced_values():
    # From bounds alone: f(n) > n, as f(n) = n would make f(f(n)) = n; f rises; f(f(n)) = 3n.
    size = 2187
    low = {n: n + 1 for n in range(1, size + 1)}
    high = {n: 3 * n - 1 for n in range(1, size + 1)}
    changed = True
    while changed:
        before = (dict(low), dict(high))
        for n in range(2, size + 1):
            low[n] = max(low[n], low[n - 1] + 1)
        for n in range(size - 1, 0, -1):
            high[n] = min(high[n], high[n + 1] - 1)
        for n in range(1, size + 1):
            if low[n] == high[n] <= size:
                low[low[n]] = high[low[n]] = 3 * n
        changed = before != (low, high)
    return {n: low[n] for n in low if low[n] == high[n]}


@check(fn.TwiceAppliedItTriples)
def twice_applied_it_triples(q, answer):
    return answer == forced_values().get(q.n)
