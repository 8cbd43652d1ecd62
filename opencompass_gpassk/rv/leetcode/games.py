"""Games of two players without chance: lost positions, winning moves, scores of best play."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import count
from random import Random

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import listed


@register('leetcode', 'games', 'easy')
@dataclass(frozen=True)
class LastPebbleLoses(Question):
    """Leaving 1 more than a multiple of most + 1 forces the last pebble on the other."""

    most: int = 5
    low: int = 30
    high: int = 200

    @classmethod
    def init(cls, rng: Random) -> LastPebbleLoses:
        return cls(rng.randint(3, 9), rng.randint(10, 60), rng.randint(120, 400))

    def solve(self) -> int:
        return (self.high - 1) // (self.most + 1) - (self.low - 2) // (self.most + 1)

    def render(self) -> str:
        return (
            f'Mia and Noah take turns at removing $1$ to ${self.most}$ pebbles from one pile; Mia '
            'begins, and whoever has to take the last pebble loses. For how many of the pile sizes '
            f'from ${self.low}$ to ${self.high}$ (both included) can Noah force a win?'
        )


@register('leetcode', 'games', 'easy')
@dataclass(frozen=True)
class DivisorOfTheHeap(Question):
    """An odd number less an (odd) divisor is even, and an even one can be made odd by taking 1."""

    low: int = 24
    high: int = 97

    @classmethod
    def init(cls, rng: Random) -> DivisorOfTheHeap:
        return cls(rng.randint(10, 50), rng.randint(70, 150))

    def solve(self) -> int:
        return sum(n for n in range(self.low, self.high + 1) if n % 2)

    def render(self) -> str:
        return (
            'Two players take turns at removing beans from a heap. The number of beans removed '
            'must be a divisor of the number that the heap has just before the move, and at least '
            'one bean must stay. A player who cannot move loses. Find the sum of all starting '
            f'sizes of the heap from ${self.low}$ to ${self.high}$ beans (both included) with '
            'which the player who moves first loses if both play perfectly.'
        )


@register('leetcode', 'games', 'easy')
@dataclass(frozen=True)
class OpenCardsShared(Question):
    """Nothing hinders taking the most valuable card each time."""

    cards: tuple[int, ...] = (17, 42, 8, 33, 29, 51, 12)

    @classmethod
    def init(cls, rng: Random) -> OpenCardsShared:
        return cls(tuple(rng.sample(range(5, 80), 7)))

    def solve(self) -> int:
        ordered = sorted(self.cards, reverse=True)
        return sum(ordered[::2]) - sum(ordered[1::2])

    def render(self) -> str:
        return (
            f'Seven cards worth {listed(self.cards)} points lie face up. Lea and Tom take turns at '
            'picking any one card until none is left; Lea begins. Each wants to finish as far '
            'ahead of the other as possible, and both play perfectly. By how many points does Lea '
            'finish ahead of Tom?'
        )


@register('leetcode', 'games', 'medium')
@dataclass(frozen=True)
class OneWinningMove(Question):
    """A position of Nim is lost if and only if one pile is the exclusive or of the others."""

    piles: tuple[int, ...] = (11, 14, 23)

    @classmethod
    def init(cls, rng: Random) -> OneWinningMove:
        return cls(tuple(rng.sample(range(6, 30), 3)))

    def holds(self) -> bool:
        _, middle, largest = sorted(self.piles)
        return middle < 16 <= largest

    def solve(self) -> int:
        smallest, middle, largest = sorted(self.piles)
        return largest - (smallest ^ middle)

    def render(self) -> str:
        return (
            f'Three piles hold {listed(self.piles)} coins. Two players take turns; on a turn a '
            'player removes one or more coins from a single pile. Whoever takes the very last coin '
            'wins. Exactly one opening move lets the first player force a win. How many coins are '
            'removed by this move?'
        )


@register('leetcode', 'games', 'medium')
@dataclass(frozen=True)
class EndsOfTheRow(Question):
    """The best lead on a row follows from the best leads on the two rows one card shorter."""

    cards: tuple[int, ...] = (14, 27, 9, 31, 22, 18)

    @classmethod
    def init(cls, rng: Random) -> EndsOfTheRow:
        return cls(tuple(rng.sample(range(5, 45), 6)))

    def holds(self) -> bool:
        return self.solve() > 0

    def solve(self) -> int:
        lead = list(self.cards)
        for length in range(1, 6):
            lead = [
                max(self.cards[i] - lead[i + 1], self.cards[i + length] - lead[i])
                for i in range(6 - length)
            ]
        return lead[0]

    def render(self) -> str:
        return (
            f'Six cards in a row show, from left to right, the numbers {listed(self.cards)}. Two '
            'players take turns at picking up the leftmost or the rightmost card that is still '
            'there, until all are gone. A score is the sum of the cards picked up, and each player '
            'wants to finish as far ahead of the other as possible. If both play perfectly, by how '
            'many points does the player who begins win?'
        )


@register('leetcode', 'games', 'medium')
@dataclass(frozen=True)
class TokenOverTheSquares(Question):
    """The best lead from a square on follows from the best leads one to three squares later."""

    squares: tuple[int, ...] = (4, -7, 9, 6, -3, 8, -5, 2)

    @classmethod
    def init(cls, rng: Random) -> TokenOverTheSquares:
        return cls(tuple(rng.choice([-1, 1]) * number for number in rng.sample(range(1, 13), 8)))

    def solve(self) -> int:
        lead = [0]  # on the last 0, 1, 2, … squares
        for start in range(7, -1, -1):
            takes = range(1, min(3, 8 - start) + 1)
            lead.append(max(sum(self.squares[start : start + k]) - lead[-k] for k in takes))
        return lead[8]

    def render(self) -> str:
        return (
            'In front of the first of eight squares in a row lies a token. The squares show, in '
            f'this order, the numbers {listed(self.squares)}. Two players take turns; each time, a '
            'player moves the token on by one, two or three squares, never beyond the last one, '
            'and scores the sum of the numbers on the squares that it enters or passes over in '
            'this move. The game ends when the token is on the last square. Each player wants to '
            "maximise their own score minus the other's. If both play perfectly, what is the score "
            "of the player who begins minus the other's? (It may be negative.)"
        )


@register('leetcode', 'games', 'medium')
@dataclass(frozen=True)
class ShortStepsToCorner(Question):
    """The two directions are heaps with Grundy numbers modulo left + 1 and modulo down + 1."""

    columns: int = 14
    rows: int = 11
    left: int = 3
    down: int = 2

    @classmethod
    def init(cls, rng: Random) -> ShortStepsToCorner:
        left, down = rng.sample(range(2, 6), 2)
        return cls(rng.randint(10, 20), rng.randint(10, 20), left, down)

    def solve(self) -> int:
        squares = ((x, y) for x in range(self.columns) for y in range(self.rows))
        return sum(x % (self.left + 1) == y % (self.down + 1) for x, y in squares)

    def render(self) -> str:
        return (
            f'A token stands on one of the squares of a board with ${self.columns}$ columns and '
            f'${self.rows}$ rows. Two players move it in turn, either $1$ to ${self.left}$ squares '
            f'to the left or $1$ to ${self.down}$ squares down, never off the board. A player who '
            f'cannot move loses. From how many of the ${self.columns} \\cdot {self.rows}$ starting '
            'squares does the player who moves first lose if both play perfectly?'
        )


@register('leetcode', 'games', 'hard')
@dataclass(frozen=True)
class QueenToGoal(Question):
    """The lost distances are the pairs of floor(k phi) and floor(k phi) + k."""

    goal_column: int = 4
    goal_row: int = 7
    column: int = 27

    @classmethod
    def init(cls, rng: Random) -> QueenToGoal:
        return cls(rng.randint(2, 9), rng.randint(2, 9), rng.randint(20, 40))

    def solve(self) -> int:
        distance = self.column - self.goal_column
        for k in count(1):
            near = (k + math.isqrt(5 * k * k)) // 2
            if distance in (near, near + k):
                return self.goal_row + (near + k if distance == near else near)
        raise ArithmeticError('every distance is in one of the pairs')

    def render(self) -> str:
        return (
            'On a board of squares that extends without end to the right and upwards, columns are '
            'numbered from left to right and rows from bottom to top. Two players move a single '
            'queen in turn, any number of squares to the left, or down, or diagonally to the left '
            f'and down, never beyond column ${self.goal_column}$ to the left or row '
            f'${self.goal_row}$ below. Whoever brings her to the square in column '
            f'${self.goal_column}$ and row ${self.goal_row}$ wins. The queen stands in column '
            f'${self.column}$, and the player to move will lose if both play perfectly. What is '
            'the number of the row she stands in?'
        )


@register('leetcode', 'games', 'hard')
@dataclass(frozen=True)
class DominoesOnStrips(Question):
    """A domino splits a strip in two: Grundy numbers are the mex over exclusive ors."""

    length: int = 7
    low: int = 3
    high: int = 17

    @classmethod
    def init(cls, rng: Random) -> DominoesOnStrips:
        return cls(rng.randint(4, 11), rng.randint(2, 7), rng.randint(11, 18))

    def holds(self) -> bool:
        return self.solve() > 9

    def solve(self) -> int:
        grundy = [0, 0]
        for n in range(2, self.high + 1):
            reached = {grundy[i] ^ grundy[n - 2 - i] for i in range(n - 1)}
            grundy.append(min(set(range(n)) - reached))
        return sum(n for n in range(self.low, self.high + 1) if grundy[n] == grundy[self.length])

    def render(self) -> str:
        return (
            f'Squares are drawn in two separate rows, ${self.length}$ squares in the first and $n$ '
            'squares in the second. Two players take turns at laying a domino on two neighbouring '
            'squares of a row that are both still empty. A player who cannot lay one loses. Find '
            f'the sum of all $n$ with ${self.low} \\le n \\le {self.high}$ for which the player '
            'who moves second can force a win.'
        )


@register('leetcode', 'games', 'hard')
@dataclass(frozen=True)
class FaultyJointOfTheCable(Question):
    """The worst case of a first test is its fee and the worse of the two ranges it leaves."""

    low: int = 12
    fee: int = 5

    @classmethod
    def init(cls, rng: Random) -> FaultyJointOfTheCable:
        return cls(rng.randint(5, 30), rng.randint(2, 9))

    def solve(self) -> int:
        @functools.cache
        def worst(low: int, high: int) -> int:
            if low >= high:
                return 0
            return min(
                joint + self.fee + max(worst(low, joint - 1), worst(joint + 1, high))
                for joint in range(low, high + 1)
            )

        return worst(self.low, self.low + 7)

    def render(self) -> str:
        return (
            f'Exactly one of the joints of a cable, which are numbered from ${self.low}$ to '
            f'${self.low + 7}$ along it, is faulty. A test of joint $g$ shows whether the fault is '
            'there, at a smaller number or at a greater one. It is free of charge if the fault is '
            f'there and costs $g + {self.fee}$ crowns otherwise. Joints are tested one after '
            'another until it is certain which is faulty. What is the smallest number of crowns '
            'that is sure to be enough if the joints to be tested are chosen in the best way?'
        )


@register('leetcode', 'games', 'hard')
@dataclass(frozen=True)
class TwiceTheLastTake(Question):
    """Taking the smallest Fibonacci number of the Zeckendorf representation wins, less doesn't."""

    low: int = 25
    high: int = 80

    @classmethod
    def init(cls, rng: Random) -> TwiceTheLastTake:
        return cls(rng.randint(10, 40), rng.randint(60, 99))

    def solve(self) -> int:
        wins = 0
        for rest in range(self.low, self.high + 1):
            for part in (89, 55, 34, 21, 13, 8, 5, 3, 2):
                rest -= part if part <= rest else 0
            wins += rest == 1
        return wins

    def render(self) -> str:
        return (
            'Ana and Ben take coins in turn from a pile of $n$ coins, and whoever takes the last '
            'coin wins. Ana begins and may take any number from $1$ to $n - 1$. From then on a '
            'player takes at least one coin and at most twice as many as the other has just taken. '
            f'For how many of the values of $n$ from ${self.low}$ to ${self.high}$ (both included) '
            'can Ana force a win by taking exactly one coin on her first move?'
        )
