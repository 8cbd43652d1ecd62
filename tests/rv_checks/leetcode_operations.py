"""Checks of opencompass_gpassk.rv.leetcode.operations."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations, product

from opencompass_gpassk.rv.leetcode import operations as ops
from rv_checks import check


def fewest(start, done, moves):
    """Search breadth first for the least number of moves."""
    seen, edge, count = {start}, [start], 0
    while edge:
        if any(done(state) for state in edge):
            return count
        # Sorted, so that a failure looks the same every time.
        edge = sorted({new for state in edge for new in moves(state)} - seen)
        seen.update(edge)
        count += 1
    return None


@check(ops.StepsToAPower)
def steps_to_a_power(q, answer):
    def moves(exponent):
        return [e for e in (2 * exponent, exponent + 1) if e <= q.exponent]

    return answer == fewest(1, lambda exponent: exponent == q.exponent, moves)


@check(ops.CouponsForCocoa)
def coupons_for_cocoa(q, answer):
    cups = coupons = q.paid
    while coupons >= q.coupons:
        coupons += 1 - q.coupons
        cups += 1
    return answer == cups


@check(ops.CheapDiagonals)
def cheap_diagonals(q, answer):
    # The order of steps doesn't matter: try all diagonal ways, then go straight. `up` counts
    # steps to the upper right (left if negative), `down` those to the lower right.
    return answer == min(
        (abs(up) + abs(down)) * q.diagonal
        + (abs(q.east - up - down) + abs(q.north - up + down)) * q.straight
        for up in range(-5, 36)
        for down in range(-30, 31)
    )


@check(ops.OneClerkFiveClients)
def one_clerk_five_clients(q, answer):
    def spent(order):
        clock = total = 0
        for minutes in order:
            clock += minutes
            total += clock
        return total

    return answer == min(map(spent, permutations(q.minutes)))


@check(ops.PayingWithChange)
def paying_with_change(q, answer):
    # Coins can change hands in such an order that the sum never leaves [-big, price + big].
    offset = q.big
    window = (1 << (q.price + 2 * q.big + 1)) - 1
    reached, count = 1 << offset, 0
    while not reached >> (offset + q.price) & 1:
        moved = [reached << c | reached >> c for c in (1, q.middle, q.big)]
        reached = (moved[0] | moved[1] | moved[2]) & window
        count += 1
    return answer == count


@check(ops.PailsAtTheWell)
def pails_at_the_well(q, answer):
    def moves(state):
        a, b = state
        right, left = min(a, q.large - b), min(b, q.small - a)
        return [
            (q.small, b),
            (a, q.large),
            (0, b),
            (a, 0),
            (a - right, b + right),
            (a + left, b - left),
        ]

    return answer == fewest((0, 0), lambda state: q.wanted in state, moves)


@check(ops.BowlsOfMarbles)
def bowls_of_marbles(q, answer):
    red, green = q.first, q.second
    for _ in range(q.moves):
        red, green = (red - green, 2 * green) if red > green else (2 * red, green - red)
    return answer == red


@check(ops.OddJumps)
def odd_jumps(q, answer):
    # Bit i of `places` tells whether i - total can be reached, total the length of all jumps.
    places, total, count = 1, 0, 0
    while not places >> (q.target + total) & 1:
        length = 2 * count + 1
        places |= places << 2 * length
        total += length
        count += 1
    return answer == count


@check(ops.MergedStacks)
def merged_stacks(q, answer):
    @cache
    def least(stacks):
        if len(stacks) == 1:
            return 0
        costs = []
        for i, j in combinations(range(len(stacks)), 2):
            both = stacks[i] + stacks[j]
            rest = [s for k, s in enumerate(stacks) if k not in (i, j)]
            costs.append(both + least(tuple(sorted([*rest, both]))))
        return min(costs)

    return answer == least(tuple(sorted(q.cards)))


@check(ops.ThreeLampsAtOnce)
def three_lamps_at_once(q, answer):
    patterns = [(0, 0)]  # that can be reached, and the number of moves, for all sets of moves
    for start in range(10):
        patterns += [(pattern ^ 0b111 << start, moves + 1) for pattern, moves in patterns]
    return answer == min(moves for pattern, moves in patterns if pattern == int(q.row[::-1], 2))


@check(ops.GuardedSwitches)
def guarded_switches(q, answer):
    def moves(state):
        yield (1 - state[0], *state[1:])
        for k in range(2, 10):
            if state[k - 2] and not any(state[: k - 2]):
                yield (*state[: k - 1], 1 - state[k - 1], *state[k:])

    start = tuple(int(switch in q.lit) for switch in range(1, 10))
    return answer == fewest(start, lambda state: not any(state), moves)


@check(ops.CoinsRoundTheTable)
def coins_round_the_table(q, answer):
    share, rest = divmod(sum(q.coins), 6)
    # All flows from the last to the first, each followed round the table ...
    costs = []
    for flow in range(-sum(q.coins), sum(q.coins) + 1):
        carry, cost = flow, 0
        for count in q.coins:
            carry += count - share
            cost += abs(carry)
        costs.append(cost)
    # ... and the bound from the other side: places whose prices differ by at most 1 between
    # neighbours, so that a move raises the worth of all coins by at most 1.
    worth = 0
    for steps in product((-1, 0, 1), repeat=5):
        prices = [0]
        for step in steps:
            prices.append(prices[-1] + step)
        if abs(prices[-1]) <= 1:
            worth = max(worth, sum(p * (share - c) for p, c in zip(prices, q.coins, strict=True)))
    return rest == 0 and answer == min(costs) == worth
