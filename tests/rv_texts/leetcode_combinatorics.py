"""Readers of opencompass_gpassk.rv.leetcode.combinatorics."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import accumulate, permutations

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
    drums, beats = numbers(text)
    ends = Counter((a, b) for a in range(drums) for b in range(drums))
    for _ in range(beats - 2):
        longer = Counter()
        for (a, b), ways in ends.items():
            for c in range(drums):
                if not a == b == c:
                    longer[b, c] += ways
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
def safe_with_three_worn_keys(text, answer):
    _, _, keys, length, *worn = numbers(text)
    codes = Counter({frozenset(): 1})
    for _ in range(length):
        longer = Counter()
        for seen, ways in codes.items():
            for key in range(1, keys + 1):
                longer[seen | ({key} & {*worn})] += ways
        codes = longer
    return answer == codes[frozenset(worn)]


@reader
def parcels_to_wrong_doors(text, answer):
    parcels, houses, fragile = numbers(text)
    ways = Counter({0: 1})  # by the set of parcels that are gone
    for house in range(houses):
        longer = Counter()
        for gone, count in ways.items():
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


@cache
def falls(size):
    """Count the rows of each set of places where they fall."""
    rows = permutations(range(size))
    return Counter(tuple(i for i in range(1, size) if row[i - 1] > row[i]) for row in rows)


@reader
def row_that_falls_twice(text, answer):
    first, last, _, _, length, *places, _ = numbers(text)
    low, after_low, high, after_high = places
    fits = (first, last) == (1, length) and (after_low, after_high) == (low + 1, high + 1)
    return fits and answer == falls(length)[low, high]


@reader
def games_of_the_festival(text, answer):
    games, evenings = numbers(text)
    plans = Counter({(frozenset([game]), game): 1 for game in range(games)})
    for _ in range(evenings - 1):
        longer = Counter()
        for (played, last), ways in plans.items():
            for game in range(games):
                if game != last:
                    longer[played | {game}, game] += ways
        plans = longer
    return answer == sum(ways for (played, _), ways in plans.items() if len(played) == games)


@cache
def sights(size):
    """Count the orders of towers by how many are seen from either end."""

    def seen(row):
        return len(set(accumulate(row, max)))

    return Counter((seen(row), seen(row[::-1])) for row in permutations(range(size)))


@reader
def towers_seen_from_both_ends(text, answer):
    towers, left, right = numbers(text)
    return answer == sights(towers)[left, right]
