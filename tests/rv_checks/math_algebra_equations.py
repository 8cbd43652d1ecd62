"""Checks of opencompass_gpassk.rv.math.algebra_equations."""

from __future__ import annotations

from fractions import Fraction

from opencompass_gpassk.rv.math import algebra_equations as ae
from rv_checks import check


@check(ae.LinearForX)
def linear_for_x(q, answer):
    # The left side grows with x, so one x at most is right.
    return q.factor * answer + q.added == q.total


@check(ae.BracketsOnBothSides)
def brackets_on_both_sides(q, answer):
    # The sides are lines of different slopes, which meet once.
    return q.a * (answer + q.p) == q.b * (answer + q.q)


@check(ae.PairOfLinears)
def pair_of_linears(q, answer):
    x, y = answer
    return q.a * x + q.b * y == q.total and q.c * x - q.d * y == q.difference


@check(ae.YardOfWheels)
def yard_of_wheels(q, answer):
    possible = [
        tricycles
        for tricycles in range(q.vehicles + 1)
        for cars in range(q.vehicles + 1 - tricycles)
        if 2 * cars + tricycles + cars == q.vehicles
        and 2 * 2 * cars + 3 * tricycles + 4 * cars == q.wheels
    ]
    return possible == [answer]


@check(ae.BarsAgainstALine)
def bars_against_a_line(q, answer):
    # On either side of the bars' zero the equation is linear, with slopes -3 and 1: all solutions
    # are thirds. They are tried in turn, in a range beyond which the bars are the larger.
    thirds = [k for k in range(-200, 201) if abs(2 * k - 3 * q.a) == k + 3 * q.b]
    return sorted(answer) == [Fraction(k, 3) for k in thirds]


@check(ae.BarsWithinBars)
def bars_within_bars(q, answer):
    return answer == sum(abs(abs(3 * x - q.a) - q.b) <= q.c for x in range(-100, 101))


@check(ae.TwiceWatered)
def twice_watered(q, answer):
    cider = Fraction(q.volume)
    for _ in range(2):
        cider -= answer * cider / q.volume
    return 0 < answer < q.volume and cider == q.left


@check(ae.MultipleOfItsFraction)
def multiple_of_its_fraction(q, answer):
    # (a - 1)x is the integer a * floor(x) - b, and x is from b to b + a, at most 24.
    parts = q.a - 1
    tried = (Fraction(k, parts) for k in range(-2 * parts, 30 * parts))
    return answer == sum(x for x in tried if x == q.a * (x - x.numerator // x.denominator) + q.b)


@check(ae.RobotsInACorridor)
def robots_in_a_corridor(q, answer):
    def at(speed, time, start):
        driven = speed * time % (2 * answer)
        folded = min(driven, 2 * answer - driven)
        return answer - folded if start else folded

    def apart(time):
        return at(q.west, time, 0) - at(answer - q.west, time, 1)

    # With these speeds they first meet at time 1. A meeting between two steps swaps their order.
    before = apart(Fraction(51, 50))
    for step in range(52, 500):
        time = Fraction(step, 50)
        now = apart(time)
        if now * before <= 0:
            return now == 0 and at(q.west, time, 0) == answer - q.east
        before = now
    return False


@check(ae.ThreeLockedPairs)
def three_locked_pairs(q, answer):
    # By the first and the third equation y and z fall as x grows, so the second allows one x only.
    for x in range(1, answer):
        y, z = Fraction(q.xy - 2 * x, x + 2), Fraction(q.zx - 2 * x, x + 2)
        if y > 0 and z > 0 and y * z + 2 * y + 2 * z == q.yz:
            return answer == x + y + z
    return False
