"""Readers of opencompass_gpassk.rv.math.number_theory."""

from __future__ import annotations

import math

from rv_texts import numbers, reader


@reader
def remainder_carried(text, answer):
    divisor, rest, factor, plus, last = numbers(text)
    possible = [n for n in range(1, 5 * divisor) if n % divisor == rest]
    found = {(factor * n + plus) % last for n in possible}
    return divisor == last and found == {answer}


@reader
def lamps_in_step(text, answer):
    first, second, minutes = numbers(text)
    seconds = range(1, 60 * minutes + 1)
    return answer == sum(s % first == 0 and s % second == 0 for s in seconds)


@reader
def sum_in_other_base(text, answer):
    first, base, second, same, last = numbers(text)
    total = int(str(first), base) + int(str(second), same)
    return base == same == last and int(str(answer), base) == total


@reader
def marchers_in_rows(text, answer):
    read = numbers(text)
    pairs = list(zip(read[::2], read[1::2], strict=True))
    possible = range(1, math.prod(row for row, _ in pairs) + 1)
    fitting = (n for n in possible if all(n % row == over for row, over in pairs))
    return answer == next(fitting, None)


@reader
def divisors_among_multiples(text, answer):
    number, factor = numbers(text)
    return answer == sum(number % d == 0 for d in range(factor, number + 1, factor))


@reader
def closest_with_same_lcm(text, answer):
    gcd, lcm = numbers(text)
    divisors = [n for n in range(1, lcm + 1) if lcm % n == 0]
    pairs = ((a, b) for a in divisors for b in divisors if a <= b)
    fitting = (a + b for a, b in pairs if math.gcd(a, b) == gcd and math.lcm(a, b) == lcm)
    return answer == min(fitting)


@reader
def divides_square_plus(text, answer):
    # Beyond, n - shift is the quotient, and the remainder is not 0.
    shift, two, plus = numbers(text)
    tried = range(1, shift**2 + plus + 1)
    return answer == sum(n for n in tried if (n**two + plus) % (n + shift) == 0)


@reader
def sum_of_decimals(text, answer):
    above, below, places = numbers(text)
    rest, total = above % below, 0
    for _ in range(places):  # long division
        digit, rest = divmod(10 * rest, below)
        total += digit
    return answer == total


@reader
def coprime_sum(text, answer):
    limit, one, number = numbers(text)
    return answer == sum(n for n in range(1, limit) if math.gcd(n, number) == one)


@reader
def power_minus_square(text, answer):
    first, limit, base, two, prime = numbers(text)
    found, power = 0, 1
    for n in range(first, limit + 1):
        power = power * base % prime
        found += (power - n**two) % prime == 0
    return answer == found


@reader
def squares_from_quadratic(text, answer):
    # From the end on the value lies strictly between two neighbouring squares.
    two, b, c = numbers(text)
    end = abs(4 * c - b**2) + b
    values = ((n, n**two + b * n + c) for n in range(1, end))
    return answer == sum(n for n, value in values if math.isqrt(value) ** 2 == value)


@reader
def square_roots_of_one(text, answer):
    limit, two, rest, modulus = numbers(text)
    return answer == sum(n**two % modulus == rest for n in range(1, limit + 1))
