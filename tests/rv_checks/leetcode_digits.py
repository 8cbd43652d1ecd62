"""Checks of opencompass_gpassk.rv.leetcode.digits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from math import prod

from opencompass_gpassk.rv.leetcode import digits
from rv_checks import check


@check(digits.LastDigitSumStanding)
def last_digit_sum_standing(q, answer):
    def last(number):
        while number > 9:
            number = sum(map(int, str(number)))
        return number

    return answer == sum(last(n) == q.end for n in range(q.low, q.high + 1))


def numeral(number, base):
    """Write a number in a base, from its highest place down."""
    places = [base**i for i in range(12, -1, -1) if base**i <= number]
    found = []
    for place in places:
        digit = 0
        while number >= place:
            digit, number = digit + 1, number - place
        found.append(digit)
    return found


@check(digits.NumeralTurnedOver)
def numeral_turned_over(q, answer):
    turned = ''.join(str(q.base - 1 - d) for d in numeral(q.number, q.base))
    return answer == int(turned, q.base)


@check(digits.SixCardsTwoNumbers)
def six_cards_two_numbers(q, answer):
    cards = map(int, str(q.cards))
    return answer == min(
        100 * (a + d) + 10 * (b + e) + c + f for a, b, c, d, e, f in permutations(cards)
    )


@check(digits.OddDigitSums)
def odd_digit_sums(q, answer):
    return answer == sum(sum(map(int, str(n))) % 2 for n in range(q.first, q.last + 1))


@check(digits.OdometerPalindrome)
def odometer_palindrome(q, answer):
    shown = q.reading + 1
    while str(shown) != ''.join(reversed(str(shown))):
        shown += 1
    return answer == shown - q.reading


@check(digits.EndlessTape)
def endless_tape(q, answer):
    printed, number = 0, 0
    while printed < q.place:
        number += 1
        printed += len(str(number))
    tape = ''.join(map(str, range(1, number + 1)))
    return answer == (number, int(tape[q.place - 1]))


@cache
def smallest_by_product():
    smallest = {}
    for length in range(1, 9):
        for chosen in combinations_with_replacement(range(1, 10), length):
            smallest.setdefault(prod(chosen), int(''.join(map(str, chosen))))
    return smallest


@check(digits.SmallestForProduct)
def smallest_for_product(q, answer):
    return answer == smallest_by_product()[q.product]


@check(digits.NegativeBase)
def negative_base(q, answer):
    written = [int(d) for d in reversed(str(answer))]  # a minus sign is a ValueError
    value = sum(d * (-q.base) ** place for place, d in enumerate(written))
    return written[-1] > 0 and max(written) < q.base and value == q.number


@check(digits.DigitSumInBase)
def digit_sum_in_base(q, answer):
    numerals = product(range(1, q.base), *[range(q.base)] * 3)
    return answer == [*map(sum, numerals)].count(q.total)


@cache
def stairs():
    chosen = combinations_with_replacement('0123456789', 6)
    return sorted(int(''.join(c)) for c in chosen)


@check(digits.StairsBelow)
def stairs_below(q, answer):
    return answer == stairs()[bisect_left(stairs(), q.limit) - 1]


@check(digits.DigitInAllPlaces)
def digit_in_all_places(q, answer):
    written = ' '.join(map(str, range(q.first, q.last + 1)))
    return answer == written.count(str(q.digit))


@cache
def without_repetition():
    return [n for n in range(1, 100000) if len(set(str(n))) == len(str(n))]


@check(digits.NoDigitTwice)
def no_digit_twice(q, answer):
    return answer == bisect_right(without_repetition(), q.limit)
