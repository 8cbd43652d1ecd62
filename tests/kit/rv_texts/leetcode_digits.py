"""Readers of opencompass_gpassk.rv.leetcode.digits."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from math import prod

from rv_texts import numbers, reader


@reader
def last_digit_sum_standing(text, answer):
    def last(number):
        while number > 9:
            number = sum(map(int, str(number)))
        return number

    low, high, end = numbers(text)
    return answer == sum(last(n) == end for n in range(low, high + 1))


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


@reader
def numeral_turned_over(text, answer):
    number, base, top, base_again = numbers(text)
    turned = ''.join(str(top - digit) for digit in numeral(number, base))
    return answer == int(turned, base_again)


@reader
def six_cards_two_numbers(text, answer):
    (cards,) = numbers(text)
    return answer == min(
        100 * (a + d) + 10 * (b + e) + c + f
        for a, b, c, d, e, f in permutations(map(int, str(cards)))
    )


@reader
def odd_digit_sums(text, answer):
    first, last = numbers(text)
    return answer == sum(sum(map(int, str(n))) % 2 for n in range(first, last + 1))


@reader
def odometer_palindrome(text, answer):
    (reading,) = numbers(text)
    shown = reading + 1
    while str(shown) != ''.join(reversed(str(shown))):
        shown += 1
    return answer == shown - reading


@reader
def endless_tape(text, answer):
    _, place, first = numbers(text)
    tape, number = '', 0
    while len(tape) <= place - first:
        number += 1
        tape += str(number)
    return answer == (number, int(tape[place - first]))


@cache
def smallest_by_product():
    smallest = {}
    for length in range(1, 9):
        for chosen in combinations_with_replacement(range(1, 10), length):
            smallest.setdefault(prod(chosen), int(''.join(map(str, chosen))))
    return smallest


@reader
def smallest_for_product(text, answer):
    (wanted,) = numbers(text)
    return answer == smallest_by_product()[wanted]


@reader
def negative_base(text, answer):
    base, zero, top, *places, base_again, number, base_at_last = numbers(text)
    written = [int(digit) for digit in reversed(str(answer))]  # a minus sign is a ValueError
    value = sum(digit * base**place for place, digit in enumerate(written))
    said = base == base_again == base_at_last and top == -base - 1
    said = said and places == [base**place for place in range(4)]
    return said and written[-1] > zero and max(written) <= top and value == number


@reader
def digit_sum_in_base(text, answer):
    base, total = numbers(text)
    numerals = product(range(1, base), *[range(base)] * 3)
    return answer == [*map(sum, numerals)].count(total)


@cache
def stairs():
    chosen = combinations_with_replacement('0123456789', 6)
    return sorted(int(''.join(c)) for c in chosen)


@reader
def stairs_below(text, answer):
    (limit,) = numbers(text)
    return answer == stairs()[bisect_left(stairs(), limit) - 1]


@reader
def digit_in_all_places(text, answer):
    first, last, digit = numbers(text)
    return answer == ' '.join(map(str, range(first, last + 1))).count(str(digit))


@cache
def without_repetition():
    return [n for n in range(1, 100000) if len(set(str(n))) == len(str(n))]


@reader
def no_digit_twice(text, answer):
    low, limit = numbers(text)
    return low == 1 and answer == bisect_right(without_repetition(), limit)
