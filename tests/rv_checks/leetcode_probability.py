"""Checks of opencompass_gpassk.rv.leetcode.probability: all outcomes, or the chain of states."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import prod

from opencompass_gpassk.rv.leetcode import probability as pr
from rv_checks import check


@check(pr.TwoSocksAlike)
def two_socks_alike(q, answer):
    pairs = list(combinations('r' * q.red + 'b' * q.blue + 'g' * q.green, 2))
    return answer == Fraction(sum(one == other for one, other in pairs), len(pairs))


@check(pr.TwoHeadsOfLoaded)
def two_heads_of_loaded(q, answer):
    # Each coin is a fair die with one face of heads.
    throws = (
        prod(1 if head else n - 1 for head, n in zip(heads, q.heads, strict=True))
        for heads in product((0, 1), repeat=4)
        if sum(heads) == 2
    )
    return answer == Fraction(sum(throws), prod(q.heads))


@check(pr.BeetleOnBoard)
def beetle_on_board(q, answer):
    board = list(product(range(1, q.rows + 1), range(1, q.columns + 1)))
    # Backwards: the chance to stay for so many moves more, from each square.
    stays = dict.fromkeys(board, Fraction(1))
    for _ in range(4):
        stays = {
            (row, column): sum(
                stays.get(square, 0)
                for square in board
                if abs(square[0] - row) + abs(square[1] - column) == 1
            )
            * Fraction(1, 4)
            for row, column in board
        }
    return answer == stays[q.row, q.column]


@check(pr.ScatterbrainedGuest)
def scatterbrained_guest(q, answer):
    @cache
    def both(guest):
        """Return the chance if this one must choose, of seat 1 and the seats of later guests."""
        free = [1, *range(guest + 1, q.guests + 1)]
        # On seat 1, everyone else finds the own seat; on seat k, guest k must choose.
        chances = [
            1 if seat == 1 else 0 if seat in (q.earlier, q.later) else both(seat) for seat in free
        ]
        return Fraction(sum(chances), len(free))

    return answer == both(1)


def mean_steps(chain, start):
    """Return the mean number of steps until the chain leaves its states."""
    # Each state's mean is 1 plus the means of the next ones by their chances; all but the first
    # state are put into the equations of the others.
    chain = {state: {'step': Fraction(1), **following} for state, following in chain.items()}
    for state in [other for other in chain if other != start]:
        own = chain.pop(state)
        again = own.pop(state, 0)
        for following in chain.values():
            share = following.pop(state, 0) / (1 - again)
            for to, chance in own.items():
                following[to] = following.get(to, 0) + share * chance
    return chain[start]['step'] / (1 - chain[start].get(start, 0))


@check(pr.SpinForBothColours)
def spin_for_both_colours(q, answer):
    red, blue, white = (Fraction(c, q.red + q.blue + q.white) for c in (q.red, q.blue, q.white))
    chain = {
        'none': {'red': red, 'blue': blue, 'none': white},
        'red': {'red': red + white},
        'blue': {'blue': blue + white},
    }
    return answer == mean_steps(chain, 'none')


@check(pr.StopAtOrPast)
def stop_at_or_past(q, answer):
    def chance(total):
        if total >= q.stop:
            return Fraction(total <= q.bound)
        return sum(chance(total + face) for face in range(1, q.faces + 1)) / q.faces

    return answer == chance(0)


@check(pr.ChalkSharedByTwo)
def chalk_shared_by_two(q, answer):
    balls = 'r' * q.red + 'b' * q.blue + 'g' * q.green
    boxes = list(combinations(balls, len(balls) // 2))
    same = 0
    for box in boxes:
        others = sum(box.count(colour) < balls.count(colour) for colour in 'rbg')
        same += len(set(box)) == others
    return answer == Fraction(same, len(boxes))


@check(pr.NeverTwoBehind)
def never_two_behind(q, answer):
    def orders(bound):
        """Count the orders in which Bo is never further ahead than the bound."""
        ways = {(0, 0): 1}
        for ada, bo in product(range(q.winner + 1), range(q.loser + 1)):
            if bo - ada <= bound and (ada or bo):
                ways[ada, bo] = ways.get((ada - 1, bo), 0) + ways.get((ada, bo - 1), 0)
        return ways[q.winner, q.loser]

    return answer == Fraction(orders(1), orders(q.loser))


@check(pr.UnfairDuelForChips)
def unfair_duel_for_chips(q, answer):
    # With chance x from one chip, that from two, three, … follows; with all the chips it is 1.
    p = Fraction(q.wins, q.rounds)
    chances = [Fraction(0), Fraction(1)]  # in units of x
    for chips in range(1, q.own + q.other):
        chances.append((chances[chips] - (1 - p) * chances[chips - 1]) / p)
    return answer == chances[q.own] / chances[-1]


@check(pr.WaitForRedWhiteRed)
def wait_for_red_white_red(q, answer):
    red, white = (Fraction(c, q.red + q.white) for c in (q.red, q.white))
    chain = {'': {'r': red, '': white}, 'r': {'r': red, 'rw': white}, 'rw': {'': white}}
    return answer == mean_steps(chain, '')
