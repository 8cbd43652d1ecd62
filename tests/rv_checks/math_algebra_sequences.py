"""Checks of opencompass_gpassk.rv.math.algebra_sequences."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from math import isqrt

from opencompass_gpassk.rv.math import algebra_sequences as seq
from rv_checks import check

TINY = Decimal(10) ** -40


@check(seq.PlaceOfATerm)
def place_of_a_term(q, answer):
    place, value = 1, q.first
    while value < q.term:
        place, value = place + 1, value + q.step
    return value == q.term and answer == place


@check(seq.SyrupMadeSweeter)
def syrup_made_sweeter(q, answer):
    sugar = Fraction(q.weak, 100) * q.litres + Fraction(q.strong, 100) * answer
    return answer > 0 and sugar / (q.litres + answer) == Fraction(q.wanted, 100)


@check(seq.TermsFromBothEnds)
def terms_from_both_ends(q, answer):
    # Step from the fourth term to the eleventh, trying all steps, then write all terms down.
    (step,) = [s for s in range(-500, 500) if q.fourth + s * 7 == q.eleventh]
    terms = [q.fourth + step * i for i in range(-3, 11)]
    return terms[3] == q.fourth and terms[10] == q.eleventh and answer == sum(terms)


@check(seq.RootWithinRoot)
def root_within_root(q, answer):
    m, n = answer
    with localcontext() as context:
        context.prec = 60
        left = (q.outer + Decimal(q.inner).sqrt()).sqrt()
        return m > n and abs(left - Decimal(m).sqrt() - Decimal(n).sqrt()) < TINY


@check(seq.PumpsAtOneBasin)
def pumps_at_one_basin(q, answer):
    filled = Fraction(q.together, answer) + Fraction(q.together, answer + q.later)
    return answer > 0 and filled == 1


@check(seq.SumsInStretches)
def sums_in_stretches(q, answer):
    # The sequence itself: its ratio from the second stretch, its first term from the first.
    with localcontext() as context:
        context.prec = 60
        ratio = (Decimal(answer - q.tenth) / q.tenth) ** Decimal('0.1')
        powers = [ratio**i for i in range(30)]
        first = q.tenth / sum(powers[:10])
        second_right = abs(first * sum(powers[:20]) - answer) < TINY
        return second_right and abs(first * sum(powers) - q.thirtieth) < TINY


@check(seq.RootOfFourFactors)
def root_of_four_factors(q, answer):
    square = q.step * q.step * q.step * q.step + q.start * (q.start + q.step) * (
        q.start + q.step + q.step
    ) * (q.start + q.step + q.step + q.step)
    return isqrt(square) * isqrt(square) == square and answer == isqrt(square)


@check(seq.DroneAlongBarges)
def drone_along_barges(q, answer):
    # The barges go one metre a second, so the drone takes `advance` seconds.
    speed = Fraction(answer, q.advance)
    out = q.length / (speed - 1)
    back = q.length / (speed + 1)
    met_at = speed * out
    return speed > 1 and met_at == q.length + out and out + back == q.advance


@check(seq.FractionsOfCubes)
def fractions_of_cubes(q, answer):
    product = Fraction(1)
    for n in range(q.first, q.last + 1):
        product *= Fraction(n * n * n - 1, n * n * n + 1)
    return answer == product
