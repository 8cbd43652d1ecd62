"""Checks of opencompass_gpassk.rv.math.number_theory."""

from __future__ import annotations

import math
from itertools import count

from opencompass_gpassk.rv.math import number_theory as nt
from rv_checks import check


@check(nt.RemainderCarried)
def remainder_carried(q, answer):
    numbers = [n for n in range(1, 5 * q.divisor) if n % q.divisor == q.rest]
    return all((q.factor * n + q.plus) % q.divisor == answer for n in numbers)


@check(nt.LampsInStep)
def lamps_in_step(q, answer):
    seconds = range(1, 60 * q.minutes + 1)
    return answer == sum(s % q.first == 0 and s % q.second == 0 for s in seconds)


@check(nt.SumInOtherBase)
def sum_in_other_base(q, answer):
    return int(str(answer), q.base) == int(str(q.first), q.base) + int(str(q.second), q.base)


@check(nt.MarchersInRows)
def marchers_in_rows(q, answer):
    pairs = list(zip(q.rows, q.over, strict=True))
    return answer == next(n for n in count(1) if all(n % row == over for row, over in pairs))


@check(nt.DivisorsAmongMultiples)
def divisors_among_multiples(q, answer):
    return answer == sum(q.number % d == 0 for d in range(q.factor, q.number + 1, q.factor))


@check(nt.ClosestWithSameLcm)
def closest_with_same_lcm(q, answer):
    numbers = [n for n in range(1, q.lcm + 1) if q.lcm % n == 0]
    pairs = ((a, b) for a in numbers for b in numbers if a <= b)
    fitting = (a + b for a, b in pairs if math.gcd(a, b) == q.gcd and math.lcm(a, b) == q.lcm)
    return answer == min(fitting)


@check(nt.DividesSquarePlus)
def divides_square_plus(q, answer):
    # Beyond, n - shift is the quotient, and the remainder is not 0.
    numbers = range(1, q.shift**2 + q.plus + 1)
    return answer == sum(n for n in numbers if (n * n + q.plus) % (n + q.shift) == 0)


@check(nt.SumOfDecimals)
def sum_of_decimals(q, answer):
    decimals = str(10**q.places * q.numerator // q.denominator)  # zeros in front add nothing
    return answer == sum(map(int, decimals))


@check(nt.CoprimeSum)
def coprime_sum(q, answer):
    return answer == sum(n for n in range(1, q.limit) if math.gcd(n, q.number) == 1)


@check(nt.PowerMinusSquare)
def power_minus_square(q, answer):
    found, power = 0, 1
    for n in range(1, q.limit + 1):
        power = power * q.base % q.prime
        found += (power - n * n) % q.prime == 0
    return answer == found


@check(nt.SquaresFromQuadratic)
def squares_from_quadratic(q, answer):
    # From here on the value lies strictly between two neighbouring squares.
    end = abs(4 * q.constant - q.linear**2) + q.linear
    values = ((n, n * n + q.linear * n + q.constant) for n in range(1, end))
    return answer == sum(n for n, value in values if math.isqrt(value) ** 2 == value)


@check(nt.SquareRootsOfOne)
def square_roots_of_one(q, answer):
    return answer == sum(n * n % q.modulus == 1 for n in range(1, q.limit + 1))
