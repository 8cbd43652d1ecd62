"""Readers of opencompass_gpassk.rv.leetcode.divisors."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations

from rv_texts import numbers, reader


@reader
def sum_of_common_divisors(text, answer):
    first, second = numbers(text)
    return answer == sum(d for d in range(1, first + 1) if first % d == 0 and second % d == 0)


@cache
def having_three_divisors():
    counts = [0] * 2600
    for d in range(1, 2600):
        for multiple in range(d, 2600, d):
            counts[multiple] += 1
    return [n for n, count in enumerate(counts) if count == 3]


@reader
def three_divisors_exactly(text, answer):
    low, high = numbers(text)
    return answer == sum(n for n in having_three_divisors() if low <= n <= high)


@reader
def more_than_perfect(text, answer):
    # The divisors of a number add up to the product of 1 + p + ... + p^e over its prime powers.
    number, again, compared = numbers(text)
    total, rest = 1, number
    for p in range(2, number + 1):
        powers = 1
        while rest % p == 0:
            rest, powers = rest // p, powers * p + 1
        total *= powers
    return number == again == compared and answer == total - 2 * number


@reader
def from_the_largest_divisor(text, answer):
    number, itself, last, rank = numbers(text)
    candidates = range(number, last - 1, -1)
    return number == itself and answer == [d for d in candidates if number % d == 0][rank - 1]


@reader
def factorial_tail(text, answer):
    n, base = numbers(text)
    number, zeros = math.factorial(n), 0
    while number % base == 0:
        number, zeros = number // base, zeros + 1
    return answer == zeros


@reader
def three_primes_only(text, answer):
    two, second, third, *first_ones, rank = numbers(text)
    if first_ones != [1, two]:
        return False
    found = []
    for number in range(1, answer + 1):
        rest = number
        for p in (two, second, third):
            while rest % p == 0:
                rest //= p
        found += [number] * (rest == 1)
    return len(found) == rank and found[-1] == answer


@reader
def divisible_by_just_one(text, answer):
    a, b, rank = numbers(text)
    by_a, by_b = (set(range(n, 1000 * min(a, b), n)) for n in (a, b))
    return answer == sorted(by_a ^ by_b)[rank - 1]


@reader
def tower_remainder(text, answer):
    a, b, c, modulus = numbers(text)
    rest = a
    for _ in range(c):  # a^(b^c) is a, raised c times to the power b
        power = 1
        for _ in range(b):
            power = power * rest % modulus
        rest = power
    return answer == rest


@reader
def one_digit_written_often(text, answer):
    length, digit, divisor = numbers(text)
    rest = 0
    for _ in range(length):
        rest = (10 * rest + digit) % divisor
    return digit < 10 and answer == rest


@reader
def four_factors_above_one(text, answer):
    def splits(product, places):
        """Count by trying each first factor."""
        if places == 1:
            return product > 1
        factors = (d for d in chosen if product % d == 0)
        return sum(splits(product // d, places - 1) for d in factors)

    one, product = numbers(text)
    chosen = [d for d in range(one + 1, product) if product % d == 0]
    return answer == splits(product, 4)


@reader
def all_their_gcds(text, answer):
    given = numbers(text)
    groups = (group for size in range(1, 7) for group in combinations(given, size))
    return answer == sum({math.gcd(*group) for group in groups})


@reader
def runs_of_summands(text, answer):
    (n,) = numbers(text)
    lengths = []
    for first in range(1, n):
        total, length = first, 1
        while total < n:
            total, length = total + first + length, length + 1
        if total == n and length > 1:
            lengths.append(length)
    return answer == (len(lengths), max(lengths))
