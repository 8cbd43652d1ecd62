"""Readers of opencompass_gpassk.rv.math.algebra_equations."""

from __future__ import annotations

from fractions import Fraction

from rv_texts import numbers, reader


@reader
def linear_for_x(text, answer):
    # The left side grows with x, so one x at most is right.
    factor, added, total = numbers(text)
    return factor * answer + added == total


@reader
def brackets_on_both_sides(text, answer):
    # The sides are lines of different slopes, which meet once.
    a, p, b, q = numbers(text)
    return a * (answer + p) == b * (answer + q)


@reader
def pair_of_linears(text, answer):
    a, b, total, c, d, difference = numbers(text)
    x, y = answer
    return a * x + b * y == total and c * x + d * y == difference


@reader
def yard_of_wheels(text, answer):
    vehicles, wheels, of_bicycle, of_tricycle, of_car = numbers(text)
    possible = [
        tricycles
        for tricycles in range(vehicles + 1)
        for cars in range(vehicles + 1 - tricycles)
        if 2 * cars + tricycles + cars == vehicles
        and of_bicycle * 2 * cars + of_tricycle * tricycles + of_car * cars == wheels
    ]
    return possible == [answer]


@reader
def bars_against_a_line(text, answer):
    # On either side of the bars' zero the equation is linear, with slopes -3 and 1: all solutions
    # are thirds. They are tried in turn, in a range beyond which the bars are the larger.
    two, minus_a, b = numbers(text)
    thirds = [k for k in range(-200, 201) if abs(two * k + 3 * minus_a) == k + 3 * b]
    return sorted(answer) == [Fraction(k, 3) for k in thirds]


@reader
def bars_within_bars(text, answer):
    three, minus_a, minus_b, c = numbers(text)
    return answer == sum(abs(abs(three * x + minus_a) + minus_b) <= c for x in range(-100, 101))


@reader
def twice_watered(text, answer):
    volume, left = numbers(text)
    cider = Fraction(volume)
    for _ in range(2):
        cider -= answer * cider / volume
    return 0 < answer < volume and cider == left


@reader
def multiple_of_its_fraction(text, answer):
    # (a - 1)x is the integer a * floor(x) - b, and x is from b to b + a, at most 24.
    a, b = numbers(text)
    tried = (Fraction(k, a - 1) for k in range(-2 * (a - 1), 30 * (a - 1)))
    return answer == sum(x for x in tried if x == a * (x - x.numerator // x.denominator) + b)


@reader
def robots_in_a_corridor(text, answer):
    west, east = numbers(text)

    def at(speed, time, start):
        driven = speed * time % (2 * answer)
        folded = min(driven, 2 * answer - driven)
        return answer - folded if start else folded

    def apart(time):
        return at(west, time, 0) - at(answer - west, time, 1)

    # With these speeds they first meet at time 1. A meeting between two steps swaps their order.
    before = apart(Fraction(51, 50))
    for step in range(52, 500):
        time = Fraction(step, 50)
        now = apart(time)
        if now * before <= 0:
            return now == 0 and at(west, time, 0) == answer - east
        before = now
    return False


@reader
def three_locked_pairs(text, answer):
    # By the first and the third equation y and z fall as x grows, so the second allows one x only.
    _, _, xy, _, _, yz, _, _, zx = numbers(text)
    for x in range(1, answer):
        y, z = Fraction(xy - 2 * x, x + 2), Fraction(zx - 2 * x, x + 2)
        if y > 0 and z > 0 and y * z + 2 * y + 2 * z == yz:
            return answer == x + y + z
    return False
