"""Simulation: processes that run by simple rules, and what comes of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from random import Random

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import listed


@register('leetcode', 'simulation', 'easy')
@dataclass(frozen=True)
class RowsInGroupsOfSeven(Question):
    """A full group has 7 seats more than the one before it, the first one 7 start + 21."""

    start: int = 12
    rows: int = 100

    @classmethod
    def init(cls, rng: Random) -> RowsInGroupsOfSeven:
        return cls(rng.randint(10, 40), rng.randint(60, 180))

    def holds(self) -> bool:
        return self.rows % 7 != 0

    def solve(self) -> int:
        groups, rest = divmod(self.rows, 7)
        full = groups * (7 * self.start + 21) + 7 * groups * (groups - 1) // 2
        return full + rest * (self.start + groups) + rest * (rest - 1) // 2

    def render(self) -> str:
        return (
            'The rows of an arena are numbered from the innermost one outwards and form groups of '
            f'seven. Row $1$ has ${self.start}$ seats. Within a group each row has one seat more '
            'than the row before it; but the first row of a group has only one seat more than the '
            f'first row of the group before. How many seats do the first ${self.rows}$ rows have '
            'altogether?'
        )


@register('leetcode', 'simulation', 'easy')
@dataclass(frozen=True)
class TrainUpAndDownTheMountain(Question):
    """The train is back at the first station after every 2(n - 1) rides."""

    stations: int = 17
    rides: int = 150

    @classmethod
    def init(cls, rng: Random) -> TrainUpAndDownTheMountain:
        return cls(rng.randint(8, 30), rng.randint(100, 400))

    def solve(self) -> int:
        done = self.rides % (2 * self.stations - 2)
        return 1 + min(done, 2 * self.stations - 2 - done)

    def render(self) -> str:
        return (
            f'A mountain railway has ${self.stations}$ stations, numbered from $1$ in the valley '
            f'to ${self.stations}$ on the summit. Its only train starts at station $1$, goes up to '
            f'station ${self.stations}$, down to station $1$, up again and so on. What is the '
            f'number of the station at which it is after ${self.rides}$ rides, each from one '
            'station to a neighbouring one?'
        )


@register('leetcode', 'simulation', 'easy')
@dataclass(frozen=True)
class CanAfterCanOnTheBeds(Question):
    """Until one is done, those before it get up to as many cans, those after it up to one less."""

    cans: tuple[int, ...] = (7, 3, 6, 9, 4)
    bed: int = 3

    @classmethod
    def init(cls, rng: Random) -> CanAfterCanOnTheBeds:
        return cls(tuple(rng.randint(2, 9) for _ in range(5)), rng.randint(1, 5))

    def holds(self) -> bool:
        return self.cans[self.bed - 1] >= 4

    def solve(self) -> int:
        own = self.cans[self.bed - 1]
        before, after = self.cans[: self.bed], self.cans[self.bed :]
        return sum(min(n, own) for n in before) + sum(min(n, own - 1) for n in after)

    def render(self) -> str:
        return (
            f'Five flower beds need {listed(self.cans)} cans of water, respectively. A gardener '
            'goes round the beds in this order, again and again. To each bed that does not yet '
            'have all its water she gives one can, which takes one minute; she passes the others '
            f'by, and walking takes no time. After how many minutes has bed number ${self.bed}$ '
            'got all its water?'
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
