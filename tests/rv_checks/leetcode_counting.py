"""Checks of opencompass_gpassk.rv.leetcode.combinatorics."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import accumulate, permutations

from opencompass_gpassk.rv.leetcode import combinatorics as counting
from rv_checks import check


@check(counting.PlankedFootbridge)
def planked_footbridge(q, answer):
    def lay(left):
        return left == 0 or sum(lay(left - board) for board in (1, q.long) if board <= left)

    return answer == lay(q.length)


@check(counting.RollsInThreeBaskets)
def rolls_in_three_baskets(q, answer):
    full = range(q.room + 1)
    return answer == sum(0 <= q.rolls - red - blue <= q.room for red in full for blue in full)


@check(counting.RouteRoundTheRoadworks)
def route_round_the_roadworks(q, answer):
    routes = {(0, -1): 1}
    for x in range(q.east + 1):
        for y in range(q.north + 1):
            routes[x, y] = routes.get((x - 1, y), 0) + routes.get((x, y - 1), 0)
            if (x, y) == (q.x, q.y):
                routes[x, y] = 0
    return answer == routes[q.east, q.north]


@check(counting.DrummerOnManyDrums)
def drummer_on_many_drums(q, answer):
    drums = range(q.drums)
    ends = Counter((a, b) for a in drums for b in drums)
    for _ in range(q.beats - 2):
        longer = Counter()
        for (a, b), ways in ends.items():
            for c in drums:
                if not a == b == c:
                    longer[b, c] += ways
        ends = longer
    return answer == sum(ends.values())


@check(counting.TwoRowCourtyard)
def two_row_courtyard(q, answer):
    def pave(free):
        if not free:
            return 1
        column, row = min(free)
        shapes = [((0, 0), (1, 0)), ((0, 0), (0, 1)), ((0, 0), (1, 0), (0, 1), (1, 1))]
        total = 0
        for shape in shapes:
            cells = {(column + right, row + down) for right, down in shape}
            if cells <= free:
                total += (q.colours if len(shape) == 4 else 1) * paved(free - cells)
        return total

    paved = cache(pave)
    return answer == paved(frozenset((c, r) for c in range(q.length) for r in range(2)))


@check(counting.RedLanternRuns)
def red_lantern_runs(q, answer):
    rows = range(2 ** (q.red + q.white))
    return answer == sum(row.bit_count() == q.red and not row & row >> 1 & row >> 2 for row in rows)


@check(counting.SafeWithThreeWornKeys)
def safe_with_three_worn_keys(q, answer):
    codes = Counter({frozenset(): 1})
    for _ in range(q.length):
        longer = Counter()
        for seen, ways in codes.items():
            for key in range(1, q.keys + 1):
                longer[seen | ({key} & {1, 2, 3})] += ways
        codes = longer
    return answer == codes[frozenset({1, 2, 3})]


@check(counting.ParcelsToWrongDoors)
def parcels_to_wrong_doors(q, answer):
    ways = Counter({0: 1})  # by the set of parcels that are gone
    for house in range(q.parcels):
        longer = Counter()
        for gone, count in ways.items():
            for parcel in range(q.parcels):
                if not gone >> parcel & 1 and not (parcel == house and parcel < q.fragile):
                    longer[gone | 1 << parcel] += count
        ways = longer
    return answer == ways[2**q.parcels - 1]


@check(counting.ChangeAtTheTurnstile)
def change_at_the_turnstile(q, answer):
    def queue(exact, double, till):
        if exact == double == 0:
            return 1
        one = queue(exact - 1, double, till + 1) if exact else 0
        return one + (queue(exact, double - 1, till - 1) if double and till else 0)

    return answer == queue(q.exact, q.double, q.till)


@cache
def falls(size):
    rows = permutations(range(size))
    return Counter(tuple(i for i in range(1, size) if row[i - 1] > row[i]) for row in rows)


@check(counting.RowThatFallsTwice)
def row_that_falls_twice(q, answer):
    return answer == falls(q.length)[q.first, q.second]


@check(counting.GamesOfTheFestival)
def games_of_the_festival(q, answer):
    plans = Counter({(frozenset([game]), game): 1 for game in range(q.games)})
    for _ in range(q.evenings - 1):
        longer = Counter()
        for (played, last), ways in plans.items():
            for game in range(q.games):
                if game != last:
                    longer[played | {game}, game] += ways
        plans = longer
    return answer == sum(ways for (played, _), ways in plans.items() if len(played) == q.games)


@cache
def sights(size):
    def seen(row):
        return len(set(accumulate(row, max)))

    return Counter((seen(row), seen(row[::-1])) for row in permutations(range(size)))


@check(counting.TowersSeenFromBothEnds)
def towers_seen_from_both_ends(q, answer):
    return answer == sights(q.towers)[q.left, q.right]
