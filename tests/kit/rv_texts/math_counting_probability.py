"""Readers of opencompass_gpassk.rv.math.counting_probability."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product

from rv_texts import numbers, reader


@reader
def meal_with_or_without_dessert(text, answer):
    soups, mains, desserts = numbers(text)
    meals = product(range(soups), range(mains), [None, *range(desserts)])
    return answer == len(list(meals))


@reader
def greetings_across_teams(text, answer):
    first, second, third = numbers(text)
    players = 'a' * first + 'b' * second + 'c' * third
    return answer == sum(one != other for one, other in combinations(players, 2))


@reader
def jury_of_both_guilds(text, answer):
    people, painters, potters = numbers(text)
    juries = combinations(range(painters + potters), people)
    return answer == sum(min(jury) < painters <= max(jury) for jury in juries)


@reader
def highest_of_three_spins(text, answer):
    sectors, lowest, last, highest = numbers(text)
    spins = Counter(max(spin) for spin in product(range(lowest, last + 1), repeat=3))
    return sectors == last and answer == Fraction(spins[highest], sectors**3)


@reader
def cubic_term_of_power(text, answer):
    wanted, first, up, second, times = numbers(text)
    second *= -1 if '- \\frac' in text else 1
    expanded = Counter({0: 1})
    for _ in range(times):
        bigger = Counter()
        for power, factor in expanded.items():
            bigger[power + up] += first * factor
            bigger[power - 1] += second * factor
        expanded = bigger
    return answer == expanded[wanted]


@reader
def lanterns_on_a_ring(text, answer):
    hooks, lanterns, gap = numbers(text)
    hung = combinations(range(hooks), lanterns)
    gaps = ((b - a - 1, c - b - 1, hooks - c + a - 1) for a, b, c in hung)
    return answer == sum(min(free) >= gap for free in gaps)


@reader
def second_from_the_same_bag(text, answer):
    a, b, c, d = numbers(text)
    first, both = Fraction(0), Fraction(0)
    for red, green in ((a, b), (c, d)):
        drawn = list(permutations('r' * red + 'g' * green, 2))
        first += Fraction(sum(one == 'r' for one, _ in drawn), len(drawn))
        both += Fraction(drawn.count(('r', 'r')), len(drawn))
    return answer == both / first


@reader
def ferries_at_one_pier(text, answer):
    window, first, second = numbers(text)

    def meeting(moment):
        """Return the minutes of the second ferry's arrival at which one finds the other."""
        return min(window, moment + first) - max(0, moment - second)

    # Between these moments the length is linear, so that trapezoids give the area exactly.
    moments = sorted({0, second, window - first, window})
    steps = pairwise(moments)
    area = sum(Fraction((b - a) * (meeting(a) + meeting(b)), 2) for a, b in steps)
    return answer == area / window**2


@reader
def blocks_of_one_colour(text, answer):
    def rows_and_blocks(green, yellow, last):
        """Count the rows that go on after a flag of the last colour, and the blocks they add."""
        if (green, yellow, last) not in known:
            rows, blocks = int(green == yellow == 0), 0
            for colour, g, y in (('g', green - 1, yellow), ('y', green, yellow - 1)):
                if min(g, y) >= 0:
                    more, added = rows_and_blocks(g, y, colour)
                    rows += more
                    blocks += added + more * (colour != last)
            known[green, yellow, last] = rows, blocks
        return known[green, yellow, last]

    known = {}
    rows, blocks = rows_and_blocks(*numbers(text), '')
    return answer == Fraction(blocks, rows)


@reader
def candles_on_a_wreath(text, answer):
    # An arrangement repeats a shortest piece around the wreath. Counted by this piece: of those
    # that repeat no shorter one, as many are the same by turning as the piece has places.
    red, white = numbers(text)

    def pieces(red, white):
        repeats = [k for k in range(2, red + 1) if red % k == white % k == 0]
        shorter = sum(pieces(red // k, white // k) for k in repeats)
        return math.comb(red + white, red) - shorter

    repeats = [k for k in range(1, red + 1) if red % k == white % k == 0]
    return answer == sum(pieces(red // k, white // k) * k // (red + white) for k in repeats)


@reader
def until_two_hits_in_a_row(text, answer):
    # The expected number is the sum of the chances that the n-th arrow is shot.
    above, below = numbers(text)
    p = above / below
    missed, hit, arrows = 1.0, 0.0, 0.0
    while missed + hit > 1e-18:
        arrows += missed + hit
        missed, hit = (1 - p) * (missed + hit), p * missed
    return answer == Fraction(arrows).limit_denominator(500)
