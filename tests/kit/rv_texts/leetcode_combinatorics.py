"""Readers of opencompass_gpassk.rv.leetcode.combinatorics."""

from __future__ import annotations

from collections import Counter
from functools import cache

from rv_texts import numbers, reader


@reader
def planked_footbridge(text, answer):
    length, *boards = numbers(text)

    @cache
    def lay(left):
        return left == 0 or sum(lay(left - board) for board in boards if board <= left)

    return answer == lay(length)


@reader
def rolls_in_three_baskets(text, answer):
    rolls, room = numbers(text)
    full = range(room + 1)
    return answer == sum(0 <= rolls - red - blue <= room for red in full for blue in full)


@reader
def route_round_the_roadworks(text, answer):
    _, _, east, north, *closed = numbers(text)
    routes = {(0, -1): 1}
    for x in range(east + 1):
        for y in range(north + 1):
            routes[x, y] = routes.get((x - 1, y), 0) + routes.get((x, y - 1), 0)
            if [x, y] == closed:
                routes[x, y] = 0
    return answer == routes[east, north]


@reader
def drummer_on_many_drums(text, answer):
    drums, beats, most = numbers(text)
    ends = Counter({(drum,): 1 for drum in range(drums)})  # by the last strokes
    for _ in range(beats - 1):
        longer = Counter()
        for last, ways in ends.items():
            for drum in range(drums):
                if last != (drum,) * most:
                    longer[(*last, drum)[-most:]] += ways
        ends = longer
    return answer == sum(ends.values())


@reader
def two_row_courtyard(text, answer):
    _, length, _, _, _, _, colours = numbers(text)

    @cache
    def pave(free):
        if not free:
            return 1
        column, row = min(free)
        shapes = [((0, 0), (1, 0)), ((0, 0), (0, 1)), ((0, 0), (1, 0), (0, 1), (1, 1))]
        total = 0
        for shape in shapes:
            cells = {(column + right, row + down) for right, down in shape}
            if cells <= free:
                total += (colours if len(shape) == 4 else 1) * pave(free - cells)
        return total

    return answer == pave(frozenset((c, r) for c in range(length) for r in range(2)))


@reader
def red_lantern_runs(text, answer):
    red, white = numbers(text)
    ways = Counter({(0, 0): 1})  # by red lanterns so far and at the end
    for _ in range(red + white):
        longer = Counter()
        for (reds, run), count in ways.items():
            longer[reds, 0] += count
            if run < 2:
                longer[reds + 1, run + 1] += count
        ways = longer
    return answer == sum(count for (reds, _), count in ways.items() if reds == red)


@reader
def safe_with_worn_keys(text, answer):
    _, _, keys, length, first, last = numbers(text)
    worn = frozenset(range(first, last + 1))
    codes = Counter({frozenset(): 1})
    for _ in range(length):
        longer = Counter()
        for seen, ways in codes.items():
            for key in range(1, keys + 1):
                longer[seen | worn & {key}] += ways
        codes = longer
    return answer == codes[worn]


@reader
def parcels_to_wrong_doors(text, answer):
    parcels, houses, fragile = numbers(text)
    ways = Counter({0: 1})  # by the set of parcels that are gone
    for house in range(houses):
        longer = Counter()
        for gone, count in ways.items():
            longer[gone] += count
            for parcel in range(parcels):
                if not gone >> parcel & 1 and not (parcel == house and parcel < fragile):
                    longer[gone | 1 << parcel] += count
        ways = longer
    return answer == ways[2**parcels - 1]


@reader
def change_at_the_turnstile(text, answer):
    @cache
    def queue(exact, double, till):
        if exact == double == 0:
            return 1
        one = queue(exact - 1, double, till + 1) if exact else 0
        return one + (queue(exact, double - 1, till - 1) if double and till else 0)

    return answer == queue(*numbers(text))


def falls(size, places):
    """Count the rows of so many numbers that fall at these places, by the rank of their last."""
    ends = [1]
    for length in range(1, size):
        below = [sum(ends[:rank]) for rank in range(length + 1)]
        ends = [sum(ends) - less if length in places else less for less in below]
    return sum(ends)


@reader
def row_that_falls_twice(text, answer):
    first, last, _, _, length, *places, _ = numbers(text)
    low, after_low, high, after_high = places
    fits = (first, last) == (1, length) and (after_low, after_high) == (low + 1, high + 1)
    return fits and answer == falls(length, (low, high))


@reader
def games_of_the_festival(text, answer):
    games, new, evenings = numbers(text)
    plans = Counter({(frozenset(), None): 1})  # by the new games played so far, and the last game
    for _ in range(evenings):
        longer = Counter()
        for (played, last), ways in plans.items():
            for game in range(games):
                if game != last:
                    longer[played | ({game} & {*range(new)}), game] += ways
        plans = longer
    return answer == sum(ways for (played, _), ways in plans.items() if len(played) == new)


@cache
def sights(towers, left, right):
    """Count the orders by where the lowest tower stands: it is seen from the ends alone."""
    if towers == 1:
        return int(left == right == 1)
    at_ends = sights(towers - 1, left - 1, right) + sights(towers - 1, left, right - 1)
    return at_ends + (towers - 2) * sights(towers - 1, left, right)


@reader
def towers_seen_from_both_ends(text, answer):
    return answer == sights(*numbers(text))
