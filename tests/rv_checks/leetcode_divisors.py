"""Checks of opencompass_gpassk.rv.leetcode.divisors."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations

from opencompass_gpassk.rv.leetcode import divisors
from rv_checks import check


@check(divisors.DividingBoth)
def dividing_both(q, answer):
    candidates = range(1, max(q.first, q.second) + 1)
    return answer == sum(q.first % d == 0 and q.second % d == 0 for d in candidates)


@cache
def having_three_divisors():
    counts = [0] * 2600
    for d in range(1, 2600):
        for multiple in range(d, 2600, d):
            counts[multiple] += 1
    return [n for n, count in enumerate(counts) if count == 3]


@check(divisors.ThreeDivisorsExactly)
def three_divisors_exactly(q, answer):
    return answer == sum(n for n in having_three_divisors() if q.low <= n <= q.high)


@check(divisors.MoreThanPerfect)
def more_than_perfect(q, answer):
    smaller = [d for d in range(1, q.number) if q.number % d == 0]
    return answer == sum(smaller) - q.number


@check(divisors.FromTheLargestDivisor)
def from_the_largest_divisor(q, answer):
    rank = 0
    for d in range(q.number, 0, -1):
        rank += q.number % d == 0
        if rank == q.rank:
            return answer == d
    return False


@check(divisors.FactorialTail)
def factorial_tail(q, answer):
    number, zeros = math.factorial(q.n), 0
    while number % q.base == 0:
        number, zeros = number // q.base, zeros + 1
    return answer == zeros


@check(divisors.ThreePrimesOnly)
def three_primes_only(q, answer):
    rank, number = 0, 0
    while rank < q.rank:
        number += 1
        rest = number
        for p in (2, q.second, q.third):
            while rest % p == 0:
                rest //= p
        rank += rest == 1
    return answer == number


@check(divisors.DivisibleByJustOne)
def divisible_by_just_one(q, answer):
    by_a = set(range(q.a, q.a * 1000, q.a))
    by_b = set(range(q.b, q.a * 1000, q.b))
    return answer == sorted(by_a ^ by_b)[q.rank - 1]


@check(divisors.TowerRemainder)
def tower_remainder(q, answer):
    rest = q.a
    for _ in range(q.c):  # a^(b^c) is a, raised c times to the power b
        power = 1
        for _ in range(q.b):
            power = power * rest % q.modulus
        rest = power
    return answer == rest


@check(divisors.OneDigitManyTimes)
def one_digit_many_times(q, answer):
    lengths = (n for n in range(1, 50) if int(str(q.digit) * n) % q.divisor == 0)
    return answer == next(lengths)


@check(divisors.FourFactorsAboveOne)
def four_factors_above_one(q, answer):
    def splits(product, places):
        """Count by trying each first factor."""
        if places == 1:
            return product > 1
        factors = (d for d in chosen if product % d == 0)
        return sum(splits(product // d, places - 1) for d in factors)

    chosen = [d for d in range(2, q.product) if q.product % d == 0]
    return answer == splits(q.product, 4)


@check(divisors.AllTheirGcds)
def all_their_gcds(q, answer):
    groups = (group for size in range(1, 7) for group in combinations(q.numbers, size))
    return answer == sum({math.gcd(*group) for group in groups})


@check(divisors.RunsOfSummands)
def runs_of_summands(q, answer):
    lengths = []
    for first in range(1, q.n):
        total, length = first, 1
        while total < q.n:
            total, length = total + first + length, length + 1
        if total == q.n and length > 1:
            lengths.append(length)
    return answer == (len(lengths), max(lengths))
