"""Checks of opencompass_gpassk.rv.leetcode.games: the games are played out."""

from __future__ import annotations

from functools import cache
from itertools import product

from opencompass_gpassk.rv.leetcode import games
from rv_checks import check


def lost(positions, moves):
    """Return the positions without a move to a lost one; moves lead to earlier positions."""
    found = set()
    for position in positions:
        if not any(reached in found for reached in moves(position)):
            found.add(position)
    return found


@check(games.LastPebbleLoses)
def last_pebble_loses(q, answer):
    # An empty pile is won by the player to move: the other has taken the last pebble.
    won = [True]
    for pile in range(1, q.high + 1):
        won.append(not all(won[max(pile - q.most, 0) : pile]))
    return answer == won[q.low :].count(False)


@check(games.DivisorOfTheHeap)
def divisor_of_the_heap(q, answer):
    def moves(n):
        return (n - d for d in range(1, n // 2 + 1) if n % d == 0)

    return answer == sum(n for n in lost(range(1, q.high + 1), moves) if n >= q.low)


@check(games.OpenCardsShared)
def open_cards_shared(q, answer):
    @cache
    def lead(cards):
        rests = ((card, cards[:i] + cards[i + 1 :]) for i, card in enumerate(cards))
        return max((card - lead(rest) for card, rest in rests), default=0)

    return answer == lead(q.cards)


@cache
def lost_piles():
    won, found = set(), set()
    for a, b, c in product(range(30), repeat=3):
        if (a, b, c) not in won:
            found.add((a, b, c))
            won.update((more, b, c) for more in range(a + 1, 30))
            won.update((a, more, c) for more in range(b + 1, 30))
            won.update((a, b, more) for more in range(c + 1, 30))
    return found


@check(games.OneWinningMove)
def one_winning_move(q, answer):
    takes = [
        take
        for i, pile in enumerate(q.piles)
        for take in range(1, pile + 1)
        if (*q.piles[:i], pile - take, *q.piles[i + 1 :]) in lost_piles()
    ]
    return [answer] == takes


@check(games.EndsOfTheRow)
def ends_of_the_row(q, answer):
    leads = []
    for picks in product((0, -1), repeat=6):
        row, totals = list(q.cards), [0, 0]
        for turn, end in enumerate(picks):
            totals[turn % 2] += row.pop(end)
        leads.append(totals[0] - totals[1])
    for turn in range(5, -1, -1):
        choose = min if turn % 2 else max
        leads = [choose(pair) for pair in zip(leads[::2], leads[1::2], strict=True)]
    return [answer] == leads


@check(games.FaultyJointOfTheCable)
def faulty_joint_of_the_cable(q, answer):
    @cache
    def plans(low, high):
        """Return what each plan of tests costs at worst."""
        if low >= high:
            return [0]
        return [
            joint + q.fee + max(below, above)
            for joint in range(low, high + 1)
            for below in plans(low, joint - 1)
            for above in plans(joint + 1, high)
        ]

    return answer == min(plans(q.low, q.low + 7))


@check(games.ShortStepsToCorner)
def short_steps_to_corner(q, answer):
    def moves(square):
        x, y = square
        yield from ((x - step, y) for step in range(1, q.left + 1))
        yield from ((x, y - step) for step in range(1, q.down + 1))

    return answer == len(lost(product(range(q.columns), range(q.rows)), moves))


@cache
def lost_queens():
    won, found = set(), {}
    for x, y in product(range(40), range(70)):
        if (x, y) not in won:
            found[x] = y
            for step in range(1, 70):
                won.update([(x + step, y), (x, y + step), (x + step, y + step)])
    return found


@check(games.QueenToGoal)
def queen_to_goal(q, answer):
    return answer - q.goal_row == lost_queens()[q.column - q.goal_column]


@cache
def strips_won(strips):
    """Tell whether the player to move wins on strips of these lengths, which are sorted."""
    for i, strip in enumerate(strips):
        for left in range(strip // 2):
            parts = (part for part in (left, strip - 2 - left) if part > 1)
            if not strips_won(tuple(sorted((*strips[:i], *strips[i + 1 :], *parts)))):
                return True
    return False


@check(games.DominoesOnStrips)
def dominoes_on_strips(q, answer):
    lengths = range(q.low, q.high + 1)
    return answer == sum(n for n in lengths if not strips_won(tuple(sorted((n, q.length)))))


@check(games.TokenOverTheSquares)
def token_over_the_squares(q, answer):
    def outcome(row, first, second, turn):
        if not row:
            return first - second
        if turn % 2:
            return min(
                outcome(row[k:], first, second + sum(row[:k]), turn + 1)
                for k in range(1, min(3, len(row)) + 1)
            )
        return max(
            outcome(row[k:], first + sum(row[:k]), second, turn + 1)
            for k in range(1, min(3, len(row)) + 1)
        )

    return answer == outcome(q.squares, 0, 0, 0)


@check(games.TwiceTheLastTake)
def twice_the_last_take(q, answer):
    # The fewest coins whose taking wins; more than the limit of a move means that it is lost.
    fewest = [0]
    for pile in range(1, q.high + 1):
        fewest.append(
            next(
                take
                for take in range(1, pile + 1)
                if take == pile or fewest[pile - take] > 2 * take
            )
        )
    return answer == sum(fewest[n] == 1 for n in range(q.low, q.high + 1))
