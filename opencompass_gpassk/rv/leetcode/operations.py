"""Operations: the least number of moves, the cheapest exchange, what many moves lead to."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import listed


@register('leetcode', 'operations', 'easy')
@dataclass(frozen=True)
class StepsToAPower(Question):
    """Squaring appends a binary 0 to the exponent, multiplying by x turns it into a 1."""

    exponent: int = 200

    @classmethod
    def init(cls, rng: Random) -> StepsToAPower:
        return cls(rng.randint(50, 1500))

    def solve(self) -> int:
        return self.exponent.bit_length() - 1 + f'{self.exponent:b}'.count('1') - 1

    def render(self) -> str:
        return (
            'Mira starts with $x$. In each step she either squares the power of $x$ that she has, '
            'or multiplies it by $x$. What is the least number of steps that leads her to '
            f'$x^{{{self.exponent}}}$?'
        )


@register('leetcode', 'operations', 'easy')
@dataclass(frozen=True)
class CouponsForCocoa(Question):
    """A free cup costs its coupons but one, which it brings back; one coupon stays at last."""

    paid: int = 40
    coupons: int = 4

    @classmethod
    def init(cls, rng: Random) -> CouponsForCocoa:
        return cls(rng.randint(20, 400), rng.randint(3, 9))

    def solve(self) -> int:
        return self.paid + (self.paid - 1) // (self.coupons - 1)

    def render(self) -> str:
        return (
            'At a kiosk every cup of cocoa, even a free one, comes with a coupon, and '
            f'${self.coupons}$ coupons are exchanged for a free cup. Ned pays for ${self.paid}$ '
            'cups and exchanges coupons as long as he can. How many cups of cocoa does he get in '
            'all?'
        )


@register('leetcode', 'operations', 'easy')
@dataclass(frozen=True)
class CheapDiagonals(Question):
    """Diagonal zigzags make up for straight ways; a straight step is needed for parity alone."""

    east: int = 17
    north: int = 24
    straight: int = 13
    diagonal: int = 7

    @classmethod
    def init(cls, rng: Random) -> CheapDiagonals:
        diagonal = rng.randint(3, 9)
        return cls(rng.randint(5, 30), rng.randint(5, 30), rng.randint(10, 19), diagonal)

    def holds(self) -> bool:
        return abs(self.east - self.north) >= 5

    def solve(self) -> int:
        steps, odd = max(self.east, self.north), (self.east + self.north) % 2
        return steps * self.diagonal + odd * (self.straight - self.diagonal)

    def render(self) -> str:
        return (
            'A robot moves on the points of the plane with integer coordinates. A step to one of '
            f'the four nearest points takes ${self.straight}$ seconds, a step to one of the four '
            f'diagonally adjacent points takes only ${self.diagonal}$ seconds. What is the least '
            f'number of seconds in which it gets from $(0, 0)$ to $({self.east}, {self.north})$?'
        )


@register('leetcode', 'operations', 'easy')
@dataclass(frozen=True)
class OneClerkFiveClients(Question):
    """Shortest first: the first one's time counts five times, the last one's once."""

    minutes: tuple[int, ...] = (12, 7, 19, 4, 15)

    @classmethod
    def init(cls, rng: Random) -> OneClerkFiveClients:
        return cls(tuple(rng.sample(range(3, 40), 5)))

    def solve(self) -> int:
        return sum(accumulate(sorted(self.minutes)))

    def render(self) -> str:
        return (
            'Five clients come to an office at the same moment; serving them takes '
            f'{listed(self.minutes)} minutes respectively. The only clerk serves them one after '
            'another, without breaks, in an order of his choice. Each client spends in the office '
            'the time until he or she has been served. What is the least possible sum, in '
            'minutes, of the times that the five clients spend there?'
        )


@register('leetcode', 'operations', 'medium')
@dataclass(frozen=True)
class PayingWithChange(Question):
    """With the number of middle coins fixed, the big ones should come as near as they can."""

    middle: int = 9
    big: int = 31
    price: int = 200

    @classmethod
    def init(cls, rng: Random) -> PayingWithChange:
        return cls(rng.randint(6, 13), rng.randint(20, 45), rng.randint(120, 450))

    def holds(self) -> bool:
        return self.big % self.middle > 1

    def solve(self) -> int:
        # Fewer than `big` middle coins, since `middle` big ones are worth as much as those.
        least = self.price
        for middle in range(-self.big, self.big + 1):
            rest = self.price - middle * self.middle
            for big in (rest // self.big, rest // self.big + 1):
                least = min(least, abs(middle) + abs(big) + abs(rest - big * self.big))
        return least

    def render(self) -> str:
        return (
            f'In a country there are coins worth $1$, ${self.middle}$ and ${self.big}$ crowns '
            f'only. Ada has to pay Bo ${self.price}$ crowns. Both have plenty of coins of each '
            'kind, and Bo may give change. What is the least number of coins that change hands, '
            'the coins given as change included?'
        )


@register('leetcode', 'operations', 'medium')
@dataclass(frozen=True)
class PailsAtTheWell(Question):
    """It is best to keep filling one pail from the other, always the same way round."""

    small: int = 7
    large: int = 11
    wanted: int = 6

    @classmethod
    def init(cls, rng: Random) -> PailsAtTheWell:
        return cls(rng.randint(5, 9), rng.randint(8, 15), rng.randint(2, 14))

    def holds(self) -> bool:
        a, b, c = self.small, self.large, self.wanted
        return c < b and math.gcd(a, b) == 1 and a < b and c not in (a, b - a)

    def solve(self) -> int:
        counts = []
        for source, target in [(self.small, self.large), (self.large, self.small)]:
            here = there = moves = 0
            while self.wanted not in (here, there):
                if here == 0:
                    here = source
                elif there == target:
                    there = 0
                else:
                    here, there = max(here + there - target, 0), min(here + there, target)
                moves += 1
            counts.append(moves)
        return min(counts)

    def render(self) -> str:
        return (
            f'Two empty pails hold ${self.small}$ and ${self.large}$ litres. In one move one of '
            'them is filled up at the well, or emptied on the grass, or poured into the other one '
            'until the first is empty or the second is full. What is the least number of moves '
            f'after which one of the pails contains exactly ${self.wanted}$ litres?'
        )


@register('leetcode', 'operations', 'medium')
@dataclass(frozen=True)
class BowlsOfMarbles(Question):
    """Each move doubles the number in the first bowl modulo the number of all marbles."""

    first: int = 17
    second: int = 26
    moves: int = 200

    @classmethod
    def init(cls, rng: Random) -> BowlsOfMarbles:
        return cls(rng.randint(10, 50), rng.randint(10, 50), rng.randint(100, 999))

    def holds(self) -> bool:
        return (self.first + self.second) % 2 == 1

    def solve(self) -> int:
        marbles = self.first + self.second
        return self.first * pow(2, self.moves, marbles) % marbles

    def render(self) -> str:
        return (
            f'A red bowl contains ${self.first}$ marbles and a green bowl contains '
            f'${self.second}$. In each move, marbles are taken from the bowl that contains more '
            'and put into the other one, so many that the number of marbles in the other one '
            f'doubles. How many marbles does the red bowl contain after ${self.moves}$ moves?'
        )


@register('leetcode', 'operations', 'medium')
@dataclass(frozen=True)
class OddJumps(Question):
    """Turning jumps of total length s left shortens n^2 by 2s; s takes all values but 2, n^2-2."""

    target: int = 1500

    @classmethod
    def init(cls, rng: Random) -> OddJumps:
        return cls(rng.randint(300, 5000))

    def solve(self) -> int:
        jumps = math.isqrt(self.target - 1) + 1
        while (jumps**2 - self.target) % 2 or jumps**2 - self.target == 4:
            jumps += 1
        return jumps

    def render(self) -> str:
        return (
            'A cricket sits at $0$ on the number line. The lengths of its jumps are '
            '$1, 3, 5, 7, \\dots$ in this order, and it may make each jump to the left or to the '
            f'right. What is the least number of jumps after which it can sit at ${self.target}$?'
        )


@register('leetcode', 'operations', 'medium')
@dataclass(frozen=True)
class MergedStacks(Question):
    """Merging the two smallest stacks first is cheapest (Huffman)."""

    cards: tuple[int, ...] = (25, 14, 31, 9, 18)

    @classmethod
    def init(cls, rng: Random) -> MergedStacks:
        return cls(tuple(rng.sample(range(5, 60), 5)))

    def solve(self) -> int:
        stacks, cost = sorted(self.cards), 0
        while len(stacks) > 1:
            merged = heapq.heappop(stacks) + heapq.heappop(stacks)
            heapq.heappush(stacks, merged)
            cost += merged
        return cost

    def render(self) -> str:
        return (
            f'Five sorted stacks of {listed(self.cards)} cards are to become one sorted stack. '
            'In each step two stacks are merged into one; merging stacks of $a$ and $b$ cards '
            'takes $a + b$ seconds. What is the least total number of seconds?'
        )


@register('leetcode', 'operations', 'medium')
@dataclass(frozen=True)
class ThreeLampsAtOnce(Question):
    """No move is worth making twice, and the leftmost lit lamp forces the next one."""

    row: str = '110110101101'

    @classmethod
    def init(cls, rng: Random) -> ThreeLampsAtOnce:
        moves = rng.sample(range(10), rng.randint(4, 8))
        return cls(''.join(str(sum(0 <= i - m < 3 for m in moves) % 2) for i in range(12)))

    def solve(self) -> int:
        lamps, moves = [int(lamp) for lamp in self.row], 0
        for i in range(10):
            if lamps[i]:
                lamps[i : i + 3] = [1 - lamp for lamp in lamps[i : i + 3]]
                moves += 1
        return moves

    def render(self) -> str:
        return (
            f'In a row of $12$ lamps, some are on ($1$) and some are off ($0$): ${self.row}$. A '
            'move switches three neighbouring lamps at once: each of them that is on goes off, '
            'and each that is off goes on. What is the least number of moves after which all '
            'lamps are off?'
        )


@register('leetcode', 'operations', 'hard')
@dataclass(frozen=True)
class GuardedSwitches(Question):
    """Chinese rings: the patterns form one path, numbered by the inverse of the Gray code."""

    lit: tuple[int, ...] = (2, 5, 6, 9)

    @classmethod
    def init(cls, rng: Random) -> GuardedSwitches:
        return cls((*sorted(rng.sample(range(1, 9), 3)), 9))

    def solve(self) -> int:
        gray = sum(2 ** (switch - 1) for switch in self.lit)
        moves = 0
        while gray:
            moves ^= gray
            gray >>= 1
        return moves

    def render(self) -> str:
        return (
            f'Of nine switches, numbered $1$ to $9$, the switches {listed(self.lit)} are on and '
            'the others are off. In one move one switch is flipped, on or off. Switch $1$ may '
            'be flipped at any time. For $k \\ge 2$, switch $k$ may be flipped only while switch '
            '$k - 1$ is on and all switches with numbers less than $k - 1$ are off. What is the '
            'least number of moves after which all nine switches are off?'
        )


@register('leetcode', 'operations', 'hard')
@dataclass(frozen=True)
class CoinsRoundTheTable(Question):
    """One flow between neighbours fixes all others; their sizes sum up least at a median."""

    coins: tuple[int, ...] = (21, 4, 16, 9, 25, 3)

    @classmethod
    def init(cls, rng: Random) -> CoinsRoundTheTable:
        return cls(tuple(rng.randint(2, 30) for _ in range(6)))

    def holds(self) -> bool:
        return sum(self.coins) % 6 == 0 and self.solve() >= 20

    def solve(self) -> int:
        share = sum(self.coins) // 6
        flows = sorted(accumulate(count - share for count in self.coins))
        return sum(abs(flow - flows[3]) for flow in flows)

    def render(self) -> str:
        return (
            f'Six people round a table have, in this order, {listed(self.coins)} coins; the first '
            'and the last sit side by side, too. In one move somebody gives one coin to one of '
            'his or her two neighbours. What is the least number of moves after which all have '
            'equally many coins?'
        )
