"""Simulation: processes that run by simple rules, and what comes of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from random import Random

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import listed


@register('leetcode', 'simulation', 'easy')
@dataclass(frozen=True)
class SavingsWeekByWeek(Question):
    """Each full week brings 7 coins more than the week before, the first one 7 start + 21."""

    start: int = 12
    days: int = 100

    @classmethod
    def init(cls, rng: Random) -> SavingsWeekByWeek:
        return cls(rng.randint(10, 40), rng.randint(60, 180))

    def holds(self) -> bool:
        return self.days % 7 != 0

    def solve(self) -> int:
        weeks, rest = divmod(self.days, 7)
        full_weeks = weeks * (7 * self.start + 21) + 7 * weeks * (weeks - 1) // 2
        return full_weeks + rest * (self.start + weeks) + rest * (rest - 1) // 2

    def render(self) -> str:
        return (
            f'On a Monday Mia puts ${self.start}$ coins into an empty chest. From Tuesday to '
            'Sunday she always puts in one coin more than on the day before. Each later Monday she '
            'puts in one coin more than on the Monday before, and goes on in the same way until '
            f'Sunday. How many coins has she put in on the first ${self.days}$ days?'
        )


@register('leetcode', 'simulation', 'easy')
@dataclass(frozen=True)
class BucketUpAndDownTheLine(Question):
    """The bucket is back at the first villager after every 2(n - 1) passes."""

    villagers: int = 17
    passes: int = 150

    @classmethod
    def init(cls, rng: Random) -> BucketUpAndDownTheLine:
        return cls(rng.randint(8, 30), rng.randint(100, 400))

    def solve(self) -> int:
        done = self.passes % (2 * self.villagers - 2)
        return 1 + min(done, 2 * self.villagers - 2 - done)

    def render(self) -> str:
        return (
            f'Villagers with the numbers $1$ to ${self.villagers}$ stand in a line in this order. '
            'Number $1$ holds a bucket, which is passed on from neighbour to neighbour: up the '
            f'line to number ${self.villagers}$, at once back to number $1$, up the line again and '
            f'so on. Which number holds the bucket after ${self.passes}$ passes?'
        )


@register('leetcode', 'simulation', 'easy')
@dataclass(frozen=True)
class LettersOneAtATime(Question):
    """Until one leaves, those ahead post up to as many letters, those behind up to one less."""

    letters: tuple[int, ...] = (7, 3, 6, 9, 4)
    place: int = 3

    @classmethod
    def init(cls, rng: Random) -> LettersOneAtATime:
        return cls(tuple(rng.randint(2, 9) for _ in range(5)), rng.randint(1, 5))

    def holds(self) -> bool:
        return self.letters[self.place - 1] >= 4

    def solve(self) -> int:
        own = self.letters[self.place - 1]
        ahead, behind = self.letters[: self.place], self.letters[self.place :]
        return sum(min(n, own) for n in ahead) + sum(min(n, own - 1) for n in behind)

    def render(self) -> str:
        return (
            'Five customers queue at a counter; from the first to the last they have '
            f'{listed(self.letters)} letters to post. The clerk takes one letter at a time, in one '
            'minute; then the customer goes to the end of the queue at once, or leaves if he has '
            'no more letters. After how many minutes does the customer leave who is number '
            f'${self.place}$ of the queue at the start?'
        )


@register('leetcode', 'simulation', 'easy')
@dataclass(frozen=True)
class StrikesOfTheTownClock(Question):
    """Twelve hours have 78 strikes on the hours, and one more on each half hour."""

    start: int = 4
    hours: int = 40

    @classmethod
    def init(cls, rng: Random) -> StrikesOfTheTownClock:
        return cls(rng.randint(1, 12), rng.randint(20, 90))

    def solve(self) -> int:
        turns, rest = divmod(self.hours, 12)
        return 78 * turns + sum((self.start + i) % 12 + 1 for i in range(rest)) + self.hours

    def render(self) -> str:
        return (
            'On each full hour a clock strikes the number of the hour, from once at one to twelve '
            'times at noon and at midnight; on each half hour it strikes once. How many strikes '
            f'are there in the ${self.hours}$ hours that begin at a quarter past ${self.start}$?'
        )


@register('leetcode', 'simulation', 'easy')
@dataclass(frozen=True)
class EveryFewLampsRoundTheRing(Question):
    """Only n / gcd(n, step) lamps are reached, over and over in turn, on in odd laps of theirs."""

    lamps: int = 60
    step: int = 9
    presses: int = 250

    @classmethod
    def init(cls, rng: Random) -> EveryFewLampsRoundTheRing:
        return cls(rng.randint(30, 99), rng.randint(4, 25), rng.randint(150, 600))

    def holds(self) -> bool:
        reached = self.lamps // gcd(self.lamps, self.step)
        return 9 < reached < self.lamps and self.presses % reached != 0

    def solve(self) -> int:
        reached = self.lamps // gcd(self.lamps, self.step)
        laps, rest = divmod(self.presses, reached)
        return reached - rest if laps % 2 else rest

    def render(self) -> str:
        return (
            f'A ring of ${self.lamps}$ lamps is dark. Starting at one of them, somebody moves on '
            f'by ${self.step}$ lamps along the ring, always the same way round, and presses the '
            f'switch of the lamp reached; this is done ${self.presses}$ times in succession. A '
            'press turns a lamp on if it is off, and off if it is on. How many lamps are on in '
            'the end?'
        )


@register('leetcode', 'simulation', 'medium')
@dataclass(frozen=True)
class VatDrainedWhenFull(Question):
    """After k fillings the vat holds the remainder of k jugs on division by a vat."""

    jug: int = 7
    vat: int = 18
    target: int = 4

    @classmethod
    def init(cls, rng: Random) -> VatDrainedWhenFull:
        return cls(rng.randint(5, 9), rng.randint(14, 29), rng.randint(2, 9))

    def holds(self) -> bool:
        return gcd(self.jug, self.vat) == 1 and self.solve() > 3

    def solve(self) -> int:
        return self.target * pow(self.jug, -1, self.vat) % self.vat

    def render(self) -> str:
        return (
            f'A jug of ${self.jug}$ litres is filled to the brim again and again, and each time '
            f'emptied into a vat of ${self.vat}$ litres, which is empty at first. Whenever the '
            'vat becomes full, it is drained completely at once; then the rest of the jug is '
            'poured in. After how many fillings of the jug, each emptied into the vat, are there '
            f'for the first time exactly ${self.target}$ litres in the vat?'
        )


@register('leetcode', 'simulation', 'medium')
@dataclass(frozen=True)
class CountedOutOfTheCircle(Question):
    """With one child more, the last place moves on by the count: r(n) = (r(n - 1) + k) mod n."""

    children: int = 14
    count: int = 3
    start: int = 5

    @classmethod
    def init(cls, rng: Random) -> CountedOutOfTheCircle:
        return cls(rng.randint(11, 20), rng.randint(3, 5), rng.randint(2, 9))

    def solve(self) -> int:
        last = 0
        for size in range(2, self.children + 1):
            last = (last + self.count) % size
        return (self.start - 1 + last) % self.children + 1

    def render(self) -> str:
        return (
            f'Children with the numbers $1$ to ${self.children}$ stand in a circle in this order. '
            f'Beginning with child ${self.start}$ as one, they count up to ${self.count}$ in the '
            f'order of the numbers, with $1$ after ${self.children}$. The child counted as '
            f'${self.count}$ leaves the circle, and counting begins anew with the next child as '
            'one, until a single child is left. What is its number?'
        )


@register('leetcode', 'simulation', 'medium')
@dataclass(frozen=True)
class CardsTakenToAndFro(Question):
    """A pass doubles the distance of the cards; it moves the lowest if it takes that end's card."""

    low: int = 12
    high: int = 150

    @classmethod
    def init(cls, rng: Random) -> CardsTakenToAndFro:
        return cls(rng.randint(10, 60), rng.randint(120, 400))

    def solve(self) -> int:
        lowest, step, cards, rightwards = self.low, 1, self.high - self.low + 1, True
        while cards > 1:
            if rightwards or cards % 2:
                lowest += step
            step, cards, rightwards = 2 * step, cards // 2, not rightwards
        return lowest

    def render(self) -> str:
        return (
            f'Cards with the numbers from ${self.low}$ to ${self.high}$ lie in a row in increasing '
            'order. Going along the row from left to right, somebody takes away the first card, '
            'the third, the fifth and so on; then, from right to left, of the cards still there '
            'again the first one met, the third and so on; then from left to right, and so forth '
            'to and fro until a single card is left. What is its number?'
        )


@register('leetcode', 'simulation', 'medium')
@dataclass(frozen=True)
class RobotOnASquareSpiral(Question):
    """The sides come in pairs: the j-th pair leads j steps along and j steps up, or back."""

    x: int = 5
    y: int = -3
    steps: int = 500

    @classmethod
    def init(cls, rng: Random) -> RobotOnASquareSpiral:
        return cls(rng.randint(2, 9), -rng.randint(2, 9), rng.randint(250, 900))

    def solve(self) -> tuple[int, int]:
        x, y, left, side, way = self.x, self.y, self.steps, 1, 1
        while left:
            along = min(side, left)
            up = min(side, left - along)
            x, y, left = x + way * along, y + way * up, left - along - up
            side, way = side + 1, -way
        return x, y

    def render(self) -> str:
        return (
            f'From the point $({self.x}, {self.y})$ of the coordinate plane a robot takes steps of '
            'length $1$: $1$ step to the right (towards greater $x$), $1$ step up, $2$ to the '
            'left, $2$ down, $3$ to the right, $3$ up, $4$ to the left, and so on in a growing '
            f'spiral. Where is it after ${self.steps}$ steps? Give an ordered pair $(x, y)$.'
        )


@register('leetcode', 'simulation', 'medium')
@dataclass(frozen=True)
class RobotRepeatsItsProgram(Question):
    """A run turns the robot by a right angle, so that four runs bring it back to the start."""

    first: int = 7
    second: int = 4
    third: int = 6
    runs: int = 50

    @classmethod
    def init(cls, rng: Random) -> RobotRepeatsItsProgram:
        return cls(rng.randint(2, 9), rng.randint(2, 9), rng.randint(2, 9), rng.randint(20, 99))

    def holds(self) -> bool:
        return self.runs % 4 != 0 and self.first != self.third

    def solve(self) -> tuple[int, int]:
        x, y = self.second, self.first - self.third
        moves = [(x, y), (-y, x), (-x, -y)][: self.runs % 4]
        return sum(a for a, _ in moves), sum(b for _, b in moves)

    def render(self) -> str:
        return (
            'A robot at the point $(0, 0)$ of the coordinate plane looks up, towards greater $y$. '
            f'Its program is: ${self.first}$ steps forwards, a right turn, ${self.second}$ steps '
            f'forwards, a right turn, ${self.third}$ steps forwards, a right turn. A step has '
            'length $1$, and a turn is by $90^\\circ$ on the spot. Where is the robot after '
            f'running its program ${self.runs}$ times? Give an ordered pair $(x, y)$.'
        )


@register('leetcode', 'simulation', 'hard')
@dataclass(frozen=True)
class BeetlesOnARuler(Question):
    """Beetles that turn are beetles that pass and swap names; their order stays the same."""

    length: int = 40
    marks: tuple[int, ...] = (5, 12, 20, 33)
    seconds: int = 130

    @classmethod
    def init(cls, rng: Random) -> BeetlesOnARuler:
        length = rng.randint(30, 60)
        return cls(length, tuple(sorted(rng.sample(range(10, length), 4))), rng.randint(100, 300))

    def solve(self) -> int:
        round_trip, ways = 2 * self.length, (1, -1, 1, -1)
        gone = (m + w * self.seconds for m, w in zip(self.marks, ways, strict=True))
        return sorted(min(g % round_trip, -g % round_trip) for g in gone)[1]

    def render(self) -> str:
        return (
            f'Four beetles sit at the marks {listed(self.marks)} of a ruler, which has marks from '
            f'$0$ to ${self.length}$. At one moment all start to walk along it, each at one mark '
            'per second, the first and the third in the direction of greater numbers, the second '
            'and the fourth in the other. Whenever two beetles meet, both turn round at once, and '
            'so does one that comes to an end of the ruler. At which mark is the beetle that '
            f'started at ${self.marks[1]}$ after ${self.seconds}$ seconds?'
        )


@register('leetcode', 'simulation', 'hard')
@dataclass(frozen=True)
class HanoiHaltedHalfway(Question):
    """The largest disc moves once, at move 2^(n-1); before and after it, the others change pegs."""

    discs: int = 8
    moves: int = 150

    @classmethod
    def init(cls, rng: Random) -> HanoiHaltedHalfway:
        return cls(rng.randint(7, 9), rng.randint(50, 450))

    def holds(self) -> bool:
        return self.moves < 2**self.discs - 10

    def solve(self) -> tuple[int, ...]:
        source, spare, target, left, pegs = 0, 1, 2, self.moves, [0, 0, 0]
        for disc in reversed(range(self.discs)):
            moved, left = divmod(left, 2**disc)
            pegs[target if moved else source] += 1
            source, spare, target = (spare, source, target) if moved else (source, target, spare)
        return tuple(pegs)

    def render(self) -> str:
        return (
            f'Of three pegs $A$, $B$ and $C$, peg $A$ holds ${self.discs}$ discs of different '
            'sizes, smaller ones on larger ones. A move takes the top disc of one peg and puts it '
            'on top of another peg, but never on a smaller disc. All discs are to be brought to '
            'peg $C$ in as few moves as possible. How many discs are on pegs $A$, $B$ and $C$ '
            f'after the first ${self.moves}$ moves? Give an ordered triple $(a, b, c)$.'
        )
