"""Readers of opencompass_gpassk.rv.leetcode.probability: all outcomes, or the chain of states."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import prod

from rv_texts import numbers, reader


@reader
def two_socks_alike(text, answer):
    red, blue, green = numbers(text)
    pairs = list(combinations('r' * red + 'b' * blue + 'g' * green, 2))
    return answer == Fraction(sum(one == other for one, other in pairs), len(pairs))


@reader
def two_heads_of_loaded(text, answer):
    # Each coin is a fair die with one face of heads.
    faces = numbers(text)[1::2]
    throws = (
        prod(1 if head else n - 1 for head, n in zip(heads, faces, strict=True))
        for heads in product((0, 1), repeat=4)
        if sum(heads) == 2
    )
    return answer == Fraction(sum(throws), prod(faces))


@reader
def beetle_on_board(text, answer):
    rows, columns, row, column, first, one, four = numbers(text)
    board = list(product(range(first, rows + 1), range(first, columns + 1)))
    # Backwards: the chance to stay for so many moves more, from each square.
    stays = dict.fromkeys(board, Fraction(1))
    for _ in range(4):
        stays = {
            (r, c): sum(stays[x, y] for x, y in board if abs(x - r) + abs(y - c) == 1)
            * Fraction(one, four)
            for r, c in board
        }
    return answer == stays[row, column]


@reader
def scatterbrained_guest(text, answer):
    guests, seats, earlier, later = numbers(text)

    @cache
    def both(guest):
        """Return the chance if this one must choose, of seat 1 and the seats of later guests."""
        free = [1, *range(guest + 1, seats + 1)]
        # On seat 1, everyone else finds the own seat; on seat k, guest k must choose.
        chances = [
            1 if seat == 1 else 0 if seat in (earlier, later) else both(seat) for seat in free
        ]
        return Fraction(sum(chances), len(free))

    return guests == seats and answer == both(1)


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


@reader
def spin_for_both_colours(text, answer):
    sectors = numbers(text)
    red, blue, white = (Fraction(n, sum(sectors)) for n in sectors)
    chain = {
        'none': {'red': red, 'blue': blue, 'none': white},
        'red': {'red': red + white},
        'blue': {'blue': blue + white},
    }
    return answer == mean_steps(chain, 'none')


@reader
def stop_at_or_past(text, answer):
    first, faces, stop, bound = numbers(text)

    def chance(total):
        if total >= stop:
            return Fraction(total <= bound)
        return sum(chance(total + face) for face in range(first, faces + 1)) / faces

    return answer == chance(0)


@reader
def chalk_shared_by_two(text, answer):
    red, blue, green, taken, total = numbers(text)
    chalk = 'r' * red + 'b' * blue + 'g' * green
    boxes = list(combinations(chalk, taken))
    same = 0
    for box in boxes:
        others = sum(box.count(colour) < chalk.count(colour) for colour in 'rbg')
        same += len(set(box)) == others
    return total == len(chalk) == 2 * taken and answer == Fraction(same, len(boxes))


@reader
def never_two_behind(text, answer):
    for_ada, for_bo = numbers(text)

    def orders(bound):
        """Count the orders in which Bo is never further ahead than the bound."""
        ways = {(0, 0): 1}
        for ada, bo in product(range(for_ada + 1), range(for_bo + 1)):
            if bo - ada <= bound and (ada or bo):
                ways[ada, bo] = ways.get((ada - 1, bo), 0) + ways.get((ada, bo - 1), 0)
        return ways[for_ada, for_bo]

    return answer == Fraction(orders(1), orders(for_bo))


@reader
def unfair_duel_for_chips(text, answer):
    # With chance x from one chip, that from two, three, … follows; with all the chips it is 1.
    own, other, wins, rounds = numbers(text)
    p = Fraction(wins, rounds)
    chances = [Fraction(0), Fraction(1)]  # in units of x
    for chips in range(1, own + other):
        chances.append((chances[chips] - (1 - p) * chances[chips - 1]) / p)
    return answer == chances[own] / chances[-1]


@reader
def wait_for_red_white_red(text, answer):
    balls = numbers(text)
    red, white = (Fraction(n, sum(balls)) for n in balls)
    chain = {'': {'r': red, '': white}, 'r': {'r': red, 'rw': white}, 'rw': {'': white}}
    return answer == mean_steps(chain, '')
