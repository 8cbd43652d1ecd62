"""Readers of opencompass_gpassk.rv.leetcode.games: the games are played out."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import product

from rv_texts import numbers, reader


def lost(positions, moves):
    """Return the positions without a move to a lost one; moves lead to earlier positions."""
    found = set()
    for position in positions:
        if not any(reached in found for reached in moves(position)):
            found.add(position)
    return found


@reader
def last_pebble_loses(text, answer):
    # An empty pile is won by the player to move: the other has taken the last pebble.
    least, most, low, high = numbers(text)
    won = [True]
    for pile in range(1, high + 1):
        won.append(not all(won[max(pile - most, 0) : pile - least + 1]))
    return answer == won[low:].count(False)


@reader
def divisor_of_the_heap(text, answer):
    def moves(n):
        return (n - d for d in range(1, n // 2 + 1) if n % d == 0)

    low, high = numbers(text)
    return answer == sum(n for n in lost(range(1, high + 1), moves) if n >= low)


@reader
def open_cards_shared(text, answer):
    @cache
    def lead(cards):
        rests = ((card, cards[:i] + cards[i + 1 :]) for i, card in enumerate(cards))
        return max((card - lead(rest) for card, rest in rests), default=0)

    return answer == lead(tuple(numbers(text)))


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


@reader
def one_winning_move(text, answer):
    piles = numbers(text)
    takes = [
        take
        for i, pile in enumerate(piles)
        for take in range(1, pile + 1)
        if (*piles[:i], pile - take, *piles[i + 1 :]) in lost_piles()
    ]
    return [answer] == takes


@reader
def ends_of_the_row(text, answer):
    leads = []
    for picks in product((0, -1), repeat=6):
        row, totals = numbers(text), [0, 0]
        for turn, end in enumerate(picks):
            totals[turn % 2] += row.pop(end)
        leads.append(totals[0] - totals[1])
    for turn in range(5, -1, -1):
        choose = min if turn % 2 else max
        leads = [choose(pair) for pair in zip(leads[::2], leads[1::2], strict=True)]
    return [answer] == leads


@reader
def token_over_the_squares(text, answer):
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

    return answer == outcome(numbers(text), 0, 0, 0)


@reader
def short_steps_to_corner(text, answer):
    columns, rows, to_left, left, to_down, down, *board = numbers(text)

    def moves(square):
        x, y = square
        yield from ((x - step, y) for step in range(to_left, left + 1))
        yield from ((x, y - step) for step in range(to_down, down + 1))

    squares = product(range(columns), range(rows))
    return board == [columns, rows] and answer == len(lost(squares, moves))


@cache
def lost_queens():
    won, found = set(), {}
    for x, y in product(range(40), range(70)):
        if (x, y) not in won:
            found[x] = y
            for step in range(1, 70):
                won.update([(x + step, y), (x, y + step), (x + step, y + step)])
    return found


@reader
def queen_to_goal(text, answer):
    left_end, lower_end, goal_column, goal_row, column = numbers(text)
    said = (left_end, lower_end) == (goal_column, goal_row)
    return said and answer - goal_row == lost_queens()[column - goal_column]


@cache
def strips_won(strips):
    """Tell whether the player to move wins on strips of these lengths, which are sorted."""
    for i, strip in enumerate(strips):
        for left in range(strip // 2):
            rest = Counter((*strips[:i], *strips[i + 1 :], left, strip - 2 - left))
            # Two strips of one length change nothing: moves on one are copied on the other.
            odd = (length for length, times in rest.items() if length > 1 and times % 2)
            if not strips_won(tuple(sorted(odd))):
                return True
    return False


@reader
def dominoes_on_strips(text, answer):
    length, low, high = numbers(text)
    second = range(low, high + 1)
    return answer == sum(n for n in second if not strips_won(tuple(sorted((n, length)))))


@reader
def faulty_joint_of_the_cable(text, answer):
    @cache
    def plans(low, high):
        """Return what each plan of tests costs at worst."""
        if low >= high:
            return [0]
        return [
            joint + fee + max(below, above)
            for joint in range(low, high + 1)
            for below in plans(low, joint - 1)
            for above in plans(joint + 1, high)
        ]

    low, high, fee = numbers(text)
    return high - low == 7 and answer == min(plans(low, high))


@reader
def twice_the_last_take(text, answer):
    # The fewest coins whose taking wins; more than the limit of a move means that it is lost.
    _, _, low, high = numbers(text)
    fewest = [0]
    for pile in range(1, high + 1):
        takes = range(1, pile + 1)
        fewest.append(next(t for t in takes if t == pile or fewest[pile - t] > 2 * t))
    return answer == sum(fewest[n] == 1 for n in range(low, high + 1))
