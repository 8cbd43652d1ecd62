"""Counting: walks, tilings, rows and arrangements under conditions."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, factorial
from random import Random

from opencompass_gpassk.rv.question import Question, register


@register('leetcode', 'counting', 'easy')
@dataclass(frozen=True)
class PlankedFootbridge(Question):
    """The last board is short or long: w(n) = w(n - 1) + w(n - long)."""

    length: int = 12
    long: int = 3

    @classmethod
    def init(cls, rng: Random) -> PlankedFootbridge:
        return cls(rng.randint(9, 15), rng.randint(2, 4))

    def solve(self) -> int:
        ways = [1] * self.long
        while len(ways) <= self.length:
            ways.append(ways[-1] + ways[-self.long])
        return ways[self.length]

    def render(self) -> str:
        return (
            f'A footbridge ${self.length}$ metres long is covered along its length by boards that '
            f'are $1$ metre or ${self.long}$ metres long, laid end to end without gaps. Boards of '
            'one length are alike. In how many different orders can the boards lie?'
        )


@register('leetcode', 'counting', 'easy')
@dataclass(frozen=True)
class RollsInThreeBaskets(Question):
    """Inclusion and exclusion over the baskets that got more than they hold."""

    rolls: int = 40
    room: int = 18

    @classmethod
    def init(cls, rng: Random) -> RollsInThreeBaskets:
        return cls(rng.randint(20, 60), rng.randint(10, 40))

    def holds(self) -> bool:
        return self.room + 2 < self.rolls < 3 * self.room - 2

    def solve(self) -> int:
        left = [self.rolls - over * (self.room + 1) for over in range(4)]
        return sum((-1) ** i * comb(3, i) * comb(n + 2, 2) for i, n in enumerate(left) if n >= 0)

    def render(self) -> str:
        return (
            f'A baker puts ${self.rolls}$ equal rolls into a red, a blue and a green basket, each '
            f'of which has room for at most ${self.room}$ rolls; a basket may stay empty. Only the '
            'numbers of rolls in the baskets matter. How many different distributions are there?'
        )


@register('leetcode', 'counting', 'medium')
@dataclass(frozen=True)
class RouteRoundTheRoadworks(Question):
    """Take the routes through the closed crossing away from all routes."""

    east: int = 7
    north: int = 5
    x: int = 3
    y: int = 2

    @classmethod
    def init(cls, rng: Random) -> RouteRoundTheRoadworks:
        east, north = rng.randint(5, 8), rng.randint(4, 7)
        return cls(east, north, rng.randint(1, east - 1), rng.randint(1, north - 1))

    def solve(self) -> int:
        before = comb(self.x + self.y, self.x)
        after = comb(self.east + self.north - self.x - self.y, self.east - self.x)
        return comb(self.east + self.north, self.east) - before * after

    def render(self) -> str:
        return (
            'The streets of a town form a grid whose crossings are the points with integer '
            f'coordinates. A cyclist rides along streets from $(0, 0)$ to $({self.east}, '
            f'{self.north})$, always in the direction of increasing $x$ or increasing $y$. The '
            f'crossing $({self.x}, {self.y})$ is closed and must not be passed. How many routes '
            'can he choose from?'
        )


@register('leetcode', 'counting', 'medium')
@dataclass(frozen=True)
class DrummerOnManyDrums(Question):
    """A new drum follows anything, the old one only a change: f(n) = (d - 1)(f(n-1) + f(n-2))."""

    beats: int = 6
    drums: int = 4

    @classmethod
    def init(cls, rng: Random) -> DrummerOnManyDrums:
        return cls(rng.randint(5, 7), rng.randint(3, 6))

    def solve(self) -> int:
        older, newer = self.drums, self.drums**2
        for _ in range(self.beats - 2):
            older, newer = newer, (self.drums - 1) * (older + newer)
        return newer

    def render(self) -> str:
        return (
            f'A drummer has ${self.drums}$ different drums and plays ${self.beats}$ beats, on each '
            'of which she strikes one drum. She may strike the same drum on two successive beats, '
            'but never on three. Not every drum has to be used. How many different sequences of '
            'strokes can she play?'
        )


@register('leetcode', 'counting', 'medium')
@dataclass(frozen=True)
class TwoRowCourtyard(Question):
    """The last column is one upright slab, or two columns are two flat slabs or one plate."""

    length: int = 8
    colours: int = 2

    @classmethod
    def init(cls, rng: Random) -> TwoRowCourtyard:
        return cls(rng.randint(6, 10), rng.randint(2, 5))

    def solve(self) -> int:
        older, newer = 1, 1
        for _ in range(self.length - 1):
            older, newer = newer, newer + (1 + self.colours) * older
        return newer

    def render(self) -> str:
        return (
            f'A strip of $2 \\times {self.length}$ unit squares is paved without gaps or overlaps '
            'with slabs of $1 \\times 2$, which may lie along or across the strip and are all '
            f'grey, and with plates of $2 \\times 2$, each in one of ${self.colours}$ colours. Two '
            'pavings are different if a slab or a plate lies differently or a plate has another '
            'colour, even if one is the mirror image of the other. How many pavings are there?'
        )


@register('leetcode', 'counting', 'medium')
@dataclass(frozen=True)
class RedLanternRuns(Question):
    """The white ones leave gaps, before, between and after, each for no, one or two red ones."""

    red: int = 6
    white: int = 5

    @classmethod
    def init(cls, rng: Random) -> RedLanternRuns:
        return cls(rng.randint(4, 8), rng.randint(3, 6))

    def holds(self) -> bool:
        return self.red <= 2 * self.white and self.red + self.white <= 13

    def solve(self) -> int:
        gaps = self.white + 1
        pairs = range(self.red // 2 + 1)
        return sum(comb(gaps, p) * comb(gaps - p, self.red - 2 * p) for p in pairs if p <= gaps)

    def render(self) -> str:
        return (
            f'A garland is a row of ${self.red}$ red and ${self.white}$ white lanterns; lanterns '
            'of one colour are alike. Nowhere may three red lanterns follow directly upon one '
            'another. How many different garlands are possible? They are compared from left to '
            'right: a garland and a different one that is its mirror image count as two.'
        )


@register('leetcode', 'counting', 'medium')
@dataclass(frozen=True)
class SafeWithThreeWornKeys(Question):
    """Inclusion and exclusion over which of the three worn keys are missing."""

    keys: int = 6
    length: int = 6

    @classmethod
    def init(cls, rng: Random) -> SafeWithThreeWornKeys:
        return cls(rng.randint(5, 9), rng.randint(5, 7))

    def solve(self) -> int:
        return sum((-1) ** i * comb(3, i) * (self.keys - i) ** self.length for i in range(4))

    def render(self) -> str:
        return (
            f'The keypad of a safe has the keys $1, 2, \\dots, {self.keys}$. A code is a sequence '
            f'of ${self.length}$ keys, in which keys may be repeated. The keys $1$, $2$ and $3$ '
            'are worn: each of these three occurs in the code at least once. Nothing is known '
            'about the other keys. How many codes are possible?'
        )


@register('leetcode', 'counting', 'medium')
@dataclass(frozen=True)
class ParcelsToWrongDoors(Question):
    """Inclusion and exclusion over the fragile parcels that come to the right house."""

    parcels: int = 8
    fragile: int = 3

    @classmethod
    def init(cls, rng: Random) -> ParcelsToWrongDoors:
        return cls(rng.randint(6, 9), rng.randint(2, 5))

    def solve(self) -> int:
        return sum(
            (-1) ** right * comb(self.fragile, right) * factorial(self.parcels - right)
            for right in range(self.fragile + 1)
        )

    def render(self) -> str:
        return (
            f'A postman has ${self.parcels}$ parcels for the ${self.parcels}$ houses of a street, '
            f'one addressed to each house; exactly ${self.fragile}$ of the parcels are fragile. '
            'He leaves one parcel at every house without reading the addresses. In how many ways '
            'can he do so if no fragile parcel gets to the house it is addressed to, while '
            'the other parcels may be right or wrong?'
        )


@register('leetcode', 'counting', 'hard')
@dataclass(frozen=True)
class ChangeAtTheTurnstile(Question):
    """Reflect a queue that fails at the first lack of change: its ends are swapped one to one."""

    exact: int = 7
    double: int = 5
    till: int = 1

    @classmethod
    def init(cls, rng: Random) -> ChangeAtTheTurnstile:
        return cls(rng.randint(5, 8), rng.randint(4, 7), rng.randint(1, 3))

    def holds(self) -> bool:
        return self.till + 1 < self.double <= self.exact + self.till

    def solve(self) -> int:
        people = self.exact + self.double
        return comb(people, self.double) - comb(people, self.double - self.till - 1)

    def render(self) -> str:
        return (
            f'Entry to a garden costs one crown. In the queue stand ${self.exact}$ visitors with a '
            f'one-crown coin each, and ${self.double}$ visitors with a two-crown coin each, who '
            'must at once be given back a one-crown coin from the till. The till, into which the '
            f'visitors pay, holds ${self.till}$ one-crown coin{"s" * (self.till > 1)} and no other '
            'coins at the start. Visitors with equal coins are not told apart. How many orders of '
            'the queue are there in which everybody can be given change?'
        )


@register('leetcode', 'counting', 'hard')
@dataclass(frozen=True)
class RowThatFallsTwice(Question):
    """Rising blocks are a multinomial; take away those without a drop at one border or both."""

    length: int = 7
    first: int = 3
    second: int = 5

    @classmethod
    def init(cls, rng: Random) -> RowThatFallsTwice:
        return cls(rng.randint(6, 7), rng.randint(1, 4), rng.randint(2, 6))

    def holds(self) -> bool:
        return self.first + 1 < self.second < self.length

    def solve(self) -> int:
        blocks = comb(self.length, self.second) * comb(self.second, self.first)
        return blocks - comb(self.length, self.first) - comb(self.length, self.second) + 1

    def render(self) -> str:
        return (
            f'The numbers from $1$ to ${self.length}$ are written in a row, each once, as '
            f'$a_1, a_2, \\dots, a_{self.length}$, so that $a_{self.first} > a_{self.first + 1}$ '
            f'and $a_{self.second} > a_{self.second + 1}$, while at all other places '
            '$a_i < a_{i+1}$. How many such rows are there?'
        )


@register('leetcode', 'counting', 'hard')
@dataclass(frozen=True)
class GamesOfTheFestival(Question):
    """Plans without repeats from g games are g(g - 1)^(n - 1); exclude those that miss games."""

    games: int = 4
    evenings: int = 7

    @classmethod
    def init(cls, rng: Random) -> GamesOfTheFestival:
        return cls(rng.randint(3, 5), rng.randint(6, 9))

    def solve(self) -> int:
        return sum(
            (-1) ** out * comb(self.games, out) * left * (left - 1) ** (self.evenings - 1)
            for out, left in enumerate(range(self.games, 0, -1))
        )

    def render(self) -> str:
        return (
            f'A club owns ${self.games}$ different board games and plans a festival of '
            f'${self.evenings}$ evenings, with one game on every evening. Each of the games must '
            'be played at least once, and none on two evenings in succession. How many plans are '
            'there, which say what game is played on which evening?'
        )


@register('leetcode', 'counting', 'hard')
@dataclass(frozen=True)
class TowersSeenFromBothEnds(Question):
    """The lower towers form a + b - 2 cycles; choose which of them stand left of the highest."""

    towers: int = 7
    left: int = 3
    right: int = 2

    @classmethod
    def init(cls, rng: Random) -> TowersSeenFromBothEnds:
        return cls(rng.randint(6, 7), rng.randint(2, 4), rng.randint(2, 4))

    def holds(self) -> bool:
        return self.left + self.right <= self.towers

    def solve(self) -> int:
        groups = self.left + self.right - 2
        cycles = [1] + [0] * groups  # by number of cycles: Stirling numbers of the first kind
        for size in range(self.towers - 1):
            cycles = [size * c + before for before, c in zip([0, *cycles], cycles, strict=False)]
        return cycles[groups] * comb(groups, self.left - 1)

    def render(self) -> str:
        return (
            f'In a row from west to east stand ${self.towers}$ towers of different heights. A '
            'tower hides all lower ones behind it. Looking along the row, one sees exactly '
            f'${self.left}$ towers from its west end and exactly ${self.right}$ from its east end. '
            'In how many orders can the towers stand?'
        )
