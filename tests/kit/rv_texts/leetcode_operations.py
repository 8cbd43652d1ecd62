"""Readers of opencompass_gpassk.rv.leetcode.operations."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations, product

from rv_texts import numbers, reader


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


@reader
def seconds_to_a_power(text, answer):
    # With k squarings a factor x counts for 1, 2, 4, ... or 2^k in the end; the first does for 2^k.
    squaring, multiplying, exponent = numbers(text)
    return answer == min(
        k * squaring + multiplying * (exponent // 2**k - 1 + (exponent % 2**k).bit_count())
        for k in range(exponent.bit_length())
    )


@reader
def coupons_for_cocoa(text, answer):
    price, paid = numbers(text)
    cups = coupons = paid
    while coupons >= price:
        coupons += 1 - price
        cups += 1
    return answer == cups


@reader
def cheap_diagonals(text, answer):
    # The order of steps doesn't matter: try all diagonal ways, then go straight. `up` counts
    # steps to the upper right (left if negative), `down` those to the lower right.
    straight, diagonal, x, y, east, north = numbers(text)
    return answer == min(
        (abs(up) + abs(down)) * diagonal
        + (abs(east - x - up - down) + abs(north - y - up + down)) * straight
        for up in range(-5, 36)
        for down in range(-30, 31)
    )


@reader
def one_clerk_five_clients(text, answer):
    def spent(order):
        clock = total = 0
        for minutes in order:
            clock += minutes
            total += clock
        return total

    return answer == min(map(spent, permutations(numbers(text))))


@reader
def paying_with_change(text, answer):
    # Coins can change hands in such an order that the sum never leaves [-big, price + big].
    *coins, price = numbers(text)
    offset = max(coins)
    window = (1 << (price + 2 * offset + 1)) - 1
    reached, count = 1 << offset, 0
    while not reached >> (offset + price) & 1:
        one, middle, big = (reached << coin | reached >> coin for coin in coins)
        reached = (one | middle | big) & window
        count += 1
    return answer == count


@reader
def pails_at_the_well(text, answer):
    small, large, wanted = numbers(text)

    def moves(state):
        a, b = state
        right, left = min(a, large - b), min(b, small - a)
        filled = [(small, b), (a, large)]
        return [*filled, (0, b), (a, 0), (a - right, b + right), (a + left, b - left)]

    return answer == fewest((0, 0), lambda state: wanted in state, moves)


@reader
def bowls_of_marbles(text, answer):
    red, green, moves = numbers(text)
    for _ in range(moves):
        red, green = (red - green, 2 * green) if red > green else (2 * red, green - red)
    return answer == red


@reader
def odd_jumps(text, answer):
    # Bit i of `places` tells whether i - total can be reached, total the length of all jumps.
    *_, target = numbers(text)
    places, total, count = 1, 0, 0
    while not places >> (target + total) & 1:
        length = 2 * count + 1
        places |= places << 2 * length
        total += length
        count += 1
    return answer == count


@reader
def merged_stacks(text, answer):
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

    return answer == least(tuple(sorted(numbers(text))))


@reader
def middles_of_three_lamps(text, answer):
    row = text.split('$')[11]
    sets = [(0, 0, 0)]  # for each set of moves the lamps switched, their number, sum of middles
    for middle in range(2, 12):
        sets += [(lamps ^ 0b111 << middle - 2, n + 1, sum_ + middle) for lamps, n, sum_ in sets]
    _, least = min((n, sum_) for lamps, n, sum_ in sets if lamps == int(row[::-1], 2))
    return answer == least


@reader
def guarded_switches(text, answer):
    first, last, *lit, _, _, _, _ = numbers(text)

    def moves(state):
        yield (1 - state[0], *state[1:])
        for k in range(2, 10):
            if state[k - 2] and not any(state[: k - 2]):
                yield (*state[: k - 1], 1 - state[k - 1], *state[k:])

    start = tuple(int(switch in lit) for switch in range(first, last + 1))
    return answer == fewest(start, lambda state: not any(state), moves)


@reader
def coins_round_the_table(text, answer):
    coins = numbers(text)
    share, rest = divmod(sum(coins), 6)
    # All flows from the last to the first, each followed round the table ...
    costs = []
    for flow in range(-sum(coins), sum(coins) + 1):
        carry, cost = flow, 0
        for own in coins:
            carry += own - share
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
            worth = max(worth, sum(p * (share - c) for p, c in zip(prices, coins, strict=True)))
    return rest == 0 and answer == min(costs) == worth
