"""Readers of opencompass_gpassk.rv.math.prealgebra_numbers."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations

import sympy

from rv_texts import numbers, reader


@reader
def times_before_plus(text, answer):
    # So many single strokes, laid in rows beside the summand's.
    summand, factor, other = numbers(text)
    strokes = '|' * summand + ''.join('|' * factor for _ in range(other))
    return answer == len(strokes)


@reader
def percent_of_tens(text, answer):
    # The answer is to the whole as the percent is to 100.
    percent, whole = numbers(text)
    return Fraction(answer, whole) == Fraction(percent, 100)


@reader
def next_two_primes(text, answer):
    (bound,) = numbers(text)
    one = sympy.nextprime(bound)
    return answer == one + sympy.nextprime(one)


@reader
def fifth_number_joins(text, answer):
    before, after = numbers(text)
    four = [before - 9, before + 2, before + 3, before + 4]
    return sum(four) == 4 * before and Fraction(sum([*four, answer]), 5) == after


@reader
def part_of_the_way(text, answer):
    # P divides the way as the share and the rest of the share.
    places = [numbers(formula) for formula in text.split('$')[1::2]]
    share, start, end = (Fraction(*place) for place in places if place)
    walked, left = answer - start, end - answer
    return left > 0 and walked / left == share / (1 - share)


@reader
def four_equal_powers(text, answer):
    *powers, below, exponent, base = numbers(text)
    total = sum(eight**power for eight, power in zip(powers[:-1:2], powers[1::2], strict=True))
    return total == Fraction(base) ** answer * below**exponent


@reader
def late_repeating(text, answer):
    # Long division writes the decimal's digits, and its remainders repeat.
    lead, period = re.findall(r'0\.(\d+)\\overline\{(\d+)\}', text)[0]
    remainder, digits = answer.numerator, ''
    for _ in range(21):
        whole, remainder = divmod(10 * remainder, answer.denominator)
        digits += str(whole)
        if len(digits) == 1:
            after_lead = remainder
    return digits == lead + period * 10 and remainder == after_lead


@reader
def least_largest_of_five(text, answer):
    median, mean = numbers(text)
    total, largest = 5 * mean, []
    for low, next_low in combinations(range(1, median), 2):
        upper = total - low - next_low - median
        largest += [upper - e for e in range(median + 1, upper // 2 + 1) if upper - e > e]
    return answer == min(largest)


@reader
def terminating_ones(text, answer):
    # A decimal that ends does so within 20 places here, since 2^20 is above all denominators.
    count, *fractions = numbers(text)
    *above, last = fractions[::2]
    (below,) = set(fractions[1::2])
    ending = sum(k * 10**20 % below == 0 for k in range(1, last + 1))
    return above == [1, 2, 3] and last == count and answer == ending


@reader
def chain_of_products(text, answer):
    printed = [numbers(term) for term in re.findall(r'\\frac\{1\}\{(.*?)\}', text)]
    start, step = printed[0][0], printed[0][1] - printed[0][0]
    terms = [[start + i * step, start + (i + 1) * step] for i in range(10)]
    total = sum(Fraction(1, one * other) for one, other in terms)
    return printed == [*terms[:3], terms[9]] and answer == total
