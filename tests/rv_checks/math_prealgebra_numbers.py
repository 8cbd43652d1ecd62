"""Checks of opencompass_gpassk.rv.math.prealgebra_numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import sympy

from opencompass_gpassk.rv.math import prealgebra_numbers as pn
from rv_checks import check


@check(pn.TimesBeforePlus)
def times_before_plus(q, answer):
    # So many single strokes, laid in rows beside the summand's.
    strokes = '|' * q.summand + ''.join('|' * q.factor for _ in range(q.other))
    return answer == len(strokes)


@check(pn.PercentOfTens)
def percent_of_tens(q, answer):
    # The answer is to the whole as the percent is to 100.
    return Fraction(answer, q.whole) == Fraction(q.percent, 100)


@check(pn.NextTwoPrimes)
def next_two_primes(q, answer):
    one = sympy.nextprime(q.bound)
    return answer == one + sympy.nextprime(one)


@check(pn.FifthNumberJoins)
def fifth_number_joins(q, answer):
    four = [q.before - 9, q.before + 2, q.before + 3, q.before + 4]
    return sum(four) == 4 * q.before and Fraction(sum([*four, answer]), 5) == q.after


@check(pn.PartOfTheWay)
def part_of_the_way(q, answer):
    # P divides the way as the share and the rest of the share.
    walked, left = answer - q.start, q.end - answer
    return left > 0 and walked / left == q.share / (1 - q.share)


@check(pn.FourEqualPowers)
def four_equal_powers(q, answer):
    return sum(8**q.eights for _ in range(4)) == Fraction(2) ** answer * 2**q.twos


@check(pn.LateRepeating)
def late_repeating(q, answer):
    # Long division writes the decimal's digits, and its remainders repeat.
    remainder, digits = answer.numerator, ''
    for _ in range(21):
        whole, remainder = divmod(10 * remainder, answer.denominator)
        digits += str(whole)
        if len(digits) == 1:
            after_lead = remainder
    return digits == f'{q.lead}{str(q.period) * 10}' and remainder == after_lead


@check(pn.LeastLargestOfFive)
def least_largest_of_five(q, answer):
    total, largest = 5 * q.mean, []
    for low, next_low in combinations(range(1, q.median), 2):
        upper = total - low - next_low - q.median
        largest += [upper - e for e in range(q.median + 1, upper // 2 + 1) if upper - e > e]
    return answer == min(largest)


@check(pn.TerminatingOnes)
def terminating_ones(q, answer):
    # A decimal that ends does so within 20 places here, since 2^20 is above all denominators.
    return answer == sum(k * 10**20 % q.bottom == 0 for k in range(1, q.bottom))


@check(pn.ChainOfProducts)
def chain_of_products(q, answer):
    total, a = Fraction(0), q.first
    for _ in range(10):
        total += Fraction(1, a * (a + q.step))
        a += q.step
    return answer == total
