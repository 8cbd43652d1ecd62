"""Readers of opencompass_gpassk.rv.math.algebra_sequences."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt, prod

from rv_texts import numbers, reader

TINY = Decimal(10) ** -40


@reader
def place_of_a_term(text, answer):
    first, second, third, term = numbers(text)
    terms = range(first, term + 1, third - second)
    return first + third == 2 * second and terms[-1] == term and answer == len(terms)


@reader
def syrup_made_sweeter(text, answer):
    litres, weak, strong, wanted = numbers(text)
    sugar = Fraction(weak, 100) * litres + Fraction(strong, 100) * answer
    return answer > 0 and sugar / (litres + answer) == Fraction(wanted, 100)


@reader
def terms_from_both_ends(text, answer):
    # Step from the fourth term to the eleventh, trying all steps, then write all terms down.
    fourth, eleventh, count = numbers(text)
    (step,) = [s for s in range(-500, 500) if fourth + s * 7 == eleventh]
    return answer == sum(fourth + step * i for i in range(-3, count - 3))


@reader
def root_within_root(text, answer):
    outer, inner = numbers(text)
    m, n = answer
    with localcontext() as context:
        context.prec = 60
        left = (outer + Decimal(inner).sqrt()).sqrt()
        return m > n and abs(left - Decimal(m).sqrt() - Decimal(n).sqrt()) < TINY


@reader
def pumps_at_one_basin(text, answer):
    together, later = numbers(text)
    return answer > 0 and Fraction(together, answer) + Fraction(together, answer + later) == 1


@reader
def sums_in_stretches(text, answer):
    # The sequence itself: its ratio from the second stretch, its first term from the first.
    ten, tenth, thirty, thirtieth, twenty = numbers(text)
    with localcontext() as context:
        context.prec = 60
        ratio = (Decimal(answer - tenth) / tenth) ** (Decimal(1) / ten)
        powers = [ratio**i for i in range(thirty)]
        first = tenth / sum(powers[:ten])
        second_right = abs(first * sum(powers[:twenty]) - answer) < TINY
        return second_right and abs(first * sum(powers) - thirtieth) < TINY


@reader
def root_of_four_factors(text, answer):
    *factors, added = numbers(text)
    square = prod(factors) + added
    return len(factors) == 4 and isqrt(square) ** 2 == square and answer == isqrt(square)


@reader
def drone_along_barges(text, answer):
    # The barges go one metre a second, so the drone takes `advance` seconds.
    length, advance = numbers(text)
    speed = Fraction(answer, advance)
    out = length / (speed - 1)
    back = length / (speed + 1)
    return speed > 1 and speed * out == length + out and out + back == advance


@reader
def fractions_of_cubes(text, answer):
    printed = re.findall(r'\\frac\{(\d+)\^3 - 1\}\{(\d+)\^3 \+ 1\}', text)
    *_, first, last = numbers(text)
    product = Fraction(1)
    for n in range(first, last + 1):
        product *= Fraction(n * n * n - 1, n * n * n + 1)
    shown = [(str(n), str(n)) for n in (first, first + 1, last)]
    return printed == shown and answer == product
