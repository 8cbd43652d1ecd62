"""Probability: socks, loaded coins, random walks, seats, spinners, ballots, mean waits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from random import Random

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import latex, listed

FORM = 'Give a common fraction in lowest terms.'
WAYS = ((0, 1), (0, -1), (1, 0), (-1, 0))


@register('leetcode', 'probability', 'easy')
@dataclass(frozen=True)
class TwoSocksAlike(Question):
    """Favourable pairs, colour by colour, over all pairs."""

    red: int = 8
    blue: int = 7
    green: int = 2

    @classmethod
    def init(cls, rng: Random) -> TwoSocksAlike:
        return cls(rng.randint(2, 12), rng.randint(2, 12), rng.randint(2, 12))

    def solve(self) -> Fraction:
        colours = (self.red, self.blue, self.green)
        return Fraction(sum(math.comb(c, 2) for c in colours), math.comb(sum(colours), 2))

    def render(self) -> str:
        return (
            f'A drawer holds ${self.red}$ red, ${self.blue}$ blue and ${self.green}$ green socks. '
            'Two socks are drawn at random, without putting back. What is the probability that '
            f'they have the same colour? {FORM}'
        )


@register('leetcode', 'probability', 'medium')
@dataclass(frozen=True)
class TwoHeadsOfLoaded(Question):
    """Coin by coin, the chances of each number of heads follow from those before."""

    heads: tuple[int, ...] = (2, 5, 7, 9)

    @classmethod
    def init(cls, rng: Random) -> TwoHeadsOfLoaded:
        return cls(tuple(sorted(rng.sample(range(2, 10), 4))))

    def holds(self) -> bool:
        return self.solve().denominator > 99

    def solve(self) -> Fraction:
        chance = [Fraction(1), Fraction(0), Fraction(0)]  # of 0, 1, 2 heads so far
        for n in self.heads:
            more = [Fraction(0), *chance]
            chance = [(c * (n - 1) + m) / n for c, m in zip(chance, more, strict=False)]
        return chance[2]

    def render(self) -> str:
        chances = listed(Fraction(1, n) for n in self.heads)
        return (
            f'Four coins, not all of them fair, show heads with probability {chances}, '
            'respectively. Each is tossed once, and they do not influence one another. What is the '
            f'probability that exactly two of them show heads? {FORM}'
        )


@register('leetcode', 'probability', 'medium')
@dataclass(frozen=True)
class BeetleOnBoard(Question):
    """A path that has left the board is not followed any further."""

    rows: int = 3
    columns: int = 4
    row: int = 1
    column: int = 2

    @classmethod
    def init(cls, rng: Random) -> BeetleOnBoard:
        rows, columns = rng.randint(2, 5), rng.randint(3, 6)
        return cls(rows, columns, rng.randint(1, rows), rng.randint(1, columns))

    def solve(self) -> Fraction:
        squares = [(self.row, self.column)]  # at the ends of all paths so far
        for _ in range(4):
            near = ((r + a, c + b) for r, c in squares for a, b in WAYS)
            squares = [(r, c) for r, c in near if 1 <= r <= self.rows and 1 <= c <= self.columns]
        return Fraction(len(squares), 4**4)

    def render(self) -> str:
        return (
            f'A beetle sits on a board with ${self.rows}$ rows and ${self.columns}$ columns of '
            f'squares, in row ${self.row}$ and column ${self.column}$ (numbered from $1$). Four '
            'times it crawls one square up, down, left or right, each with probability '
            '$\\frac{1}{4}$, and when it leaves the board, it falls off for good. What is the '
            f'probability that it is still on the board after the four moves? {FORM}'
        )


@register('leetcode', 'probability', 'medium')
@dataclass(frozen=True)
class ScatterbrainedGuest(Question):
    """Random choosers are as likely to take any of the seats 1 and k to n first."""

    guests: int = 24
    earlier: int = 13
    later: int = 20

    @classmethod
    def init(cls, rng: Random) -> ScatterbrainedGuest:
        guests = rng.randint(15, 40)
        return cls(guests, rng.randint(10, guests - 3), rng.randint(11, guests - 1))

    def holds(self) -> bool:
        return self.earlier < self.later

    def solve(self) -> Fraction:
        one, other = self.guests - self.earlier + 1, self.guests - self.later + 1
        return Fraction(one, one + 1) * Fraction(other, other + 1)

    def render(self) -> str:
        return (
            f'At a dinner, ${self.guests}$ guests have one reserved seat each. They enter one by '
            'one. The first has forgotten which seat is reserved for her and takes one of '
            f'the ${self.guests}$ seats at random. Each later guest takes their own seat if it '
            'is free, and otherwise one of the free seats at random. What is the probability that '
            f'guest number ${self.earlier}$ and guest number ${self.later}$ both end up on '
            f'their own seats? {FORM}'
        )


@register('leetcode', 'probability', 'medium')
@dataclass(frozen=True)
class SpinForBothColours(Question):
    """The later of two waits is their sum less the earlier one."""

    red: int = 3
    blue: int = 6
    white: int = 4

    @classmethod
    def init(cls, rng: Random) -> SpinForBothColours:
        return cls(rng.randint(2, 7), rng.randint(2, 7), rng.randint(2, 12))

    def holds(self) -> bool:
        return self.red != self.blue and self.solve().denominator > 1

    def solve(self) -> Fraction:
        waits = Fraction(1, self.red) + Fraction(1, self.blue) - Fraction(1, self.red + self.blue)
        return (self.red + self.blue + self.white) * waits

    def render(self) -> str:
        return (
            f'A wheel of fortune has ${self.red}$ red, ${self.blue}$ blue and ${self.white}$ white '
            'sectors, all equally likely. It is spun until each of the colours red and blue has '
            f'come up at least once. What is the expected number of spins? {FORM}'
        )


@register('leetcode', 'probability', 'medium')
@dataclass(frozen=True)
class StopAtOrPast(Question):
    """A total is reached in one spin from the totals before it that lie below the stop."""

    faces: int = 4
    stop: int = 6
    bound: int = 7

    @classmethod
    def init(cls, rng: Random) -> StopAtOrPast:
        faces, stop = rng.randint(3, 6), rng.randint(4, 6)
        return cls(faces, stop, rng.randint(stop, stop + faces - 2))

    def solve(self) -> Fraction:
        hit = [Fraction(1)]
        for total in range(1, self.bound + 1):
            before = hit[max(total - self.faces, 0) : min(total, self.stop)]
            hit.append(sum(before, Fraction(0)) / self.faces)
        return sum(hit[self.stop :], Fraction(0))

    def render(self) -> str:
        return (
            f'A fair spinner shows each of the numbers $1$ to ${self.faces}$ with the same '
            f'probability. It is spun, and the numbers are added up, until the total is '
            f'${self.stop}$ or more. What is the probability that the final total is at most '
            f'${self.bound}$? {FORM}'
        )


@register('leetcode', 'probability', 'hard')
@dataclass(frozen=True)
class ChalkSharedByTwo(Question):
    """Binomials count the ways to put so many pieces of each colour into one share."""

    red: int = 2
    blue: int = 4
    green: int = 4

    @classmethod
    def init(cls, rng: Random) -> ChalkSharedByTwo:
        return cls(rng.randint(1, 6), rng.randint(1, 6), rng.randint(1, 6))

    def holds(self) -> bool:
        total = self.red + self.blue + self.green
        return total in (8, 10, 12) and self.solve() < 1

    def solve(self) -> Fraction:
        pieces = (self.red, self.blue, self.green)
        ways = 0
        for left in product(*(range(n + 1) for n in pieces)):
            right = tuple(n - k for n, k in zip(pieces, left, strict=True))
            if sum(left) == sum(right) and left.count(0) == right.count(0):
                ways += math.prod(map(math.comb, pieces, left))
        return Fraction(ways, math.comb(sum(pieces), sum(pieces) // 2))

    def render(self) -> str:
        half = (self.red + self.blue + self.green) // 2
        return (
            f'A box holds ${self.red}$ red, ${self.blue}$ blue and ${self.green}$ green pieces of '
            f'chalk. Ana takes ${half}$ of the ${2 * half}$ pieces at random, and Ben gets the '
            'rest. What is the probability that both then have pieces of equally many different '
            f'colours? {FORM}'
        )


@register('leetcode', 'probability', 'hard')
@dataclass(frozen=True)
class NeverTwoBehind(Question):
    """Reflected after Bo's first lead of two, the bad orders give him all but loser - 2 votes."""

    winner: int = 11
    loser: int = 8

    @classmethod
    def init(cls, rng: Random) -> NeverTwoBehind:
        return cls(rng.randint(6, 16), rng.randint(4, 14))

    def holds(self) -> bool:
        return self.winner > self.loser

    def solve(self) -> Fraction:
        votes = self.winner + self.loser
        return 1 - Fraction(math.comb(votes, self.loser - 2), math.comb(votes, self.loser))

    def render(self) -> str:
        return (
            f'In an election Ada got ${self.winner}$ votes and Bo got ${self.loser}$. The ballots '
            'are counted one by one in random order. What is the probability that at no time '
            f'during the count Bo is two or more votes ahead of Ada? {FORM}'
        )


@register('leetcode', 'probability', 'hard')
@dataclass(frozen=True)
class UnfairDuelForChips(Question):
    """The ruin of a gambler: (1 - r^a) / (1 - r^n) with r the odds of losing a round."""

    own: int = 2
    other: int = 3
    wins: int = 2
    rounds: int = 3

    @classmethod
    def init(cls, rng: Random) -> UnfairDuelForChips:
        return cls(rng.randint(2, 3), rng.randint(2, 3), rng.randint(1, 4), rng.randint(3, 5))

    def holds(self) -> bool:
        coprime = math.gcd(self.wins, self.rounds) == 1
        return self.wins < self.rounds and coprime and 2 * self.wins != self.rounds

    def solve(self) -> Fraction:
        odds = Fraction(self.rounds - self.wins, self.wins)
        return (1 - odds**self.own) / (1 - odds ** (self.own + self.other))

    def render(self) -> str:
        chance = latex(Fraction(self.wins, self.rounds))
        return (
            f'Kim has ${self.own}$ chips and Lou has ${self.other}$. In each round Kim wins one '
            f'chip from Lou with probability ${chance}$; otherwise Lou wins one chip from Kim. '
            'They play until one of them has all the chips. What is the probability that it is '
            f'Kim? {FORM}'
        )


@register('leetcode', 'probability', 'hard')
@dataclass(frozen=True)
class WaitForRedWhiteRed(Question):
    """The mean wait adds 1/P for each beginning, of chance P, that is the pattern's end too."""

    red: int = 2
    white: int = 3

    @classmethod
    def init(cls, rng: Random) -> WaitForRedWhiteRed:
        return cls(rng.randint(1, 9), rng.randint(1, 9))

    def holds(self) -> bool:
        return math.gcd(self.red, self.white) == 1 and self.red + self.white > 2

    def solve(self) -> Fraction:
        p = Fraction(self.red, self.red + self.white)
        return 1 / (p * (1 - p) * p) + 1 / p

    def render(self) -> str:
        return (
            f'A bag holds ${self.red}$ red and ${self.white}$ white balls. A ball is drawn at '
            'random, its colour is noted, and it is put back; this is repeated until the last '
            'three colours noted are red, white, red in this order. What is the expected number '
            f'of draws? {FORM}'
        )
