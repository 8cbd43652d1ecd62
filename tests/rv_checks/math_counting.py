"""Checks of opencompass_gpassk.rv.math.counting_probability."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product

from opencompass_gpassk.rv.math import counting_probability as co
from rv_checks import check


@check(co.MealWithOrWithoutDessert)
def meal_with_or_without_dessert(q, answer):
    meals = product(range(q.soups), range(q.mains), [None, *range(q.desserts)])
    return answer == len(list(meals))


@check(co.GreetingsAcrossTeams)
def greetings_across_teams(q, answer):
    players = 'a' * q.first + 'b' * q.second + 'c' * q.third
    return answer == sum(one != other for one, other in combinations(players, 2))


@check(co.JuryOfBothGuilds)
def jury_of_both_guilds(q, answer):
    juries = combinations(range(q.painters + q.potters), 3)
    return answer == sum(min(jury) < q.painters <= max(jury) for jury in juries)


@check(co.HighestOfThreeSpins)
def highest_of_three_spins(q, answer):
    spins = [max(spin) for spin in product(range(1, q.sectors + 1), repeat=3)]
    return answer == Fraction(spins.count(q.highest), len(spins))


@check(co.CubicTermOfPower)
def cubic_term_of_power(q, answer):
    expanded = Counter({0: 1})
    for _ in range(6):
        bigger = Counter()
        for power, factor in expanded.items():
            bigger[power + 2] += q.first * factor
            bigger[power - 1] += q.second * factor
        expanded = bigger
    return answer == expanded[3]


@check(co.LanternsOnARing)
def lanterns_on_a_ring(q, answer):
    hung = combinations(range(q.hooks), 3)
    gaps = ((b - a - 1, c - b - 1, q.hooks - c + a - 1) for a, b, c in hung)
    return answer == sum(min(free) >= q.gap for free in gaps)


@check(co.SecondFromTheSameBag)
def second_from_the_same_bag(q, answer):
    first, both = Fraction(0), Fraction(0)
    for red, green in (q.left, q.right):
        drawn = list(permutations('r' * red + 'g' * green, 2))
        first += Fraction(sum(one == 'r' for one, _ in drawn), len(drawn))
        both += Fraction(drawn.count(('r', 'r')), len(drawn))
    return answer == both / first


@check(co.FerriesAtOnePier)
def ferries_at_one_pier(q, answer):
    def meeting(first):
        """Return the minutes of the second ferry's arrival at which one finds the other."""
        return min(q.window, first + q.first) - max(0, first - q.second)

    # Between these moments the length is linear, so that trapezoids give the area exactly.
    moments = sorted({0, q.second, q.window - q.first, q.window})
    steps = pairwise(moments)
    area = sum(Fraction((b - a) * (meeting(a) + meeting(b)), 2) for a, b in steps)
    return answer == area / q.window**2


@check(co.BlocksOfOneColour)
def blocks_of_one_colour(q, answer):
    flags = q.green + q.yellow
    rows = [sum(1 << place for place in green) for green in combinations(range(flags), q.green)]
    # Bits that differ from the next one are the borders of blocks.
    borders = [bin((row ^ row >> 1) & ((1 << flags - 1) - 1)).count('1') for row in rows]
    return answer == Fraction(sum(borders) + len(rows), len(rows))


@check(co.CandlesOnAWreath)
def candles_on_a_wreath(q, answer):
    places = q.red + q.white
    seen, different = set(), 0
    for reds in combinations(range(places), q.red):
        wreath = sum(1 << place for place in reds)
        if wreath not in seen:
            different += 1
            for turn in range(places):
                seen.add((wreath << turn | wreath >> (places - turn)) & ((1 << places) - 1))
    return answer == different


@check(co.UntilTwoHitsInARow)
def until_two_hits_in_a_row(q, answer):
    # The expected number is the sum of the chances that the n-th arrow is shot.
    p = float(q.chance)
    missed, hit, arrows = 1.0, 0.0, 0.0
    while missed + hit > 1e-18:
        arrows += missed + hit
        missed, hit = (1 - p) * (missed + hit), p * missed
    return answer == Fraction(arrows).limit_denominator(150)
