"""Counting and probability: choices, arrangements, chances, expected values."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from opencompass_gpassk.rv.question import Question, register
from opencompass_gpassk.rv.wording import latex


@register('math', 'counting and probability', 1)
@dataclass(frozen=True)
class MealWithOrWithoutDessert(Question):
    """Independent choices multiply; to take none is one choice more."""

    soups: int = 4
    mains: int = 12
    desserts: int = 6

    @classmethod
    def init(cls, rng: Random) -> MealWithOrWithoutDessert:
        return cls(rng.randint(3, 9), rng.randint(5, 20), rng.randint(3, 9))

    def solve(self) -> int:
        return self.soups * self.mains * (self.desserts + 1)

    def render(self) -> str:
        return (
            f'A menu lists ${self.soups}$ soups, ${self.mains}$ main dishes and ${self.desserts}$ '
            'desserts. A guest orders one soup, one main dish and at most one dessert. How many '
            'different meals are possible?'
        )


@register('math', 'counting and probability', 2)
@dataclass(frozen=True)
class GreetingsAcrossTeams(Question):
    """Two teams of a and b players have ab pairs across them."""

    first: int = 9
    second: int = 12
    third: int = 15

    @classmethod
    def init(cls, rng: Random) -> GreetingsAcrossTeams:
        return cls(rng.randint(6, 20), rng.randint(6, 20), rng.randint(6, 20))

    def holds(self) -> bool:
        return len({self.first, self.second, self.third}) == 3

    def solve(self) -> int:
        return self.first * self.second + self.second * self.third + self.third * self.first

    def render(self) -> str:
        return (
            f'Three teams of ${self.first}$, ${self.second}$ and ${self.third}$ players meet. '
            'Everybody shakes hands once with each player of the other two teams, but with nobody '
            'of their own. How many handshakes are there?'
        )


@register('math', 'counting and probability', 2)
@dataclass(frozen=True)
class JuryOfBothGuilds(Question):
    """All choices, less those from one side alone."""

    painters: int = 6
    potters: int = 8

    @classmethod
    def init(cls, rng: Random) -> JuryOfBothGuilds:
        return cls(rng.randint(4, 12), rng.randint(4, 12))

    def solve(self) -> int:
        everyone = math.comb(self.painters + self.potters, 3)
        return everyone - math.comb(self.painters, 3) - math.comb(self.potters, 3)

    def render(self) -> str:
        return (
            f'A jury of $3$ people is chosen from ${self.painters}$ painters and ${self.potters}$ '
            'potters. Nobody is both. In how many ways can this be done if the jury must include '
            'at least one painter and at least one potter?'
        )


@register('math', 'counting and probability', 3)
@dataclass(frozen=True)
class HighestOfThreeSpins(Question):
    """The highest is k if all are at most k, but not all at most k - 1."""

    sectors: int = 10
    highest: int = 7

    @classmethod
    def init(cls, rng: Random) -> HighestOfThreeSpins:
        return cls(rng.randint(7, 14), rng.randint(4, 12))

    def holds(self) -> bool:
        return self.highest < self.sectors and self.solve().denominator > 99

    def solve(self) -> Fraction:
        return Fraction(self.highest**3 - (self.highest - 1) ** 3, self.sectors**3)

    def render(self) -> str:
        return (
            f'A fair wheel of fortune has ${self.sectors}$ equal sectors, numbered from $1$ to '
            f'${self.sectors}$. It is spun three times. What is the probability that the highest '
            f'of the three numbers is exactly ${self.highest}$? Answer with a common fraction in '
            'lowest terms.'
        )


@register('math', 'counting and probability', 3)
@dataclass(frozen=True)
class CubicTermOfPower(Question):
    """In (ax^2 + b/x)^6, the cubic term takes three factors of each kind."""

    first: int = 3
    second: int = -2

    @classmethod
    def init(cls, rng: Random) -> CubicTermOfPower:
        return cls(rng.randint(2, 6), rng.choice([-1, 1]) * rng.randint(2, 6))

    def holds(self) -> bool:
        return math.gcd(self.first, self.second) == 1

    def solve(self) -> int:
        return math.comb(6, 3) * self.first**3 * self.second**3

    def render(self) -> str:
        sign = '-' if self.second < 0 else '+'
        return (
            'What is the coefficient of $x^3$ when '
            rf'$\left({self.first}x^2 {sign} \frac{{{abs(self.second)}}}{{x}}\right)^6$ '
            'is multiplied out and like terms are combined?'
        )


@register('math', 'counting and probability', 4)
@dataclass(frozen=True)
class LanternsOnARing(Question):
    """From one of the lanterns on, the free hooks left over are shared out among three gaps."""

    hooks: int = 18
    gap: int = 3

    @classmethod
    def init(cls, rng: Random) -> LanternsOnARing:
        return cls(rng.randint(13, 28), rng.randint(2, 5))

    def holds(self) -> bool:
        return self.hooks >= 3 * self.gap + 7

    def solve(self) -> int:
        spare = self.hooks - 3 - 3 * self.gap
        # Any of the three lanterns could be the first one, on any hook.
        return self.hooks * math.comb(spare + 2, 2) // 3

    def render(self) -> str:
        return (
            f'${self.hooks}$ numbered hooks are placed in a circle. In how many ways can $3$ '
            'identical lanterns be hung on three of the hooks if, all around the circle, at least '
            f'${self.gap}$ free hooks must separate any two lanterns?'
        )


@register('math', 'counting and probability', 4)
@dataclass(frozen=True)
class SecondFromTheSameBag(Question):
    """P(second red | first red) is P(both red) / P(first red), each over both bags."""

    left: tuple[int, int] = (4, 6)
    right: tuple[int, int] = (5, 3)

    @classmethod
    def init(cls, rng: Random) -> SecondFromTheSameBag:
        a, b, c, d = (rng.randint(2, 8) for _ in range(4))
        return cls((a, b), (c, d))

    def holds(self) -> bool:
        return 20 < self.solve().denominator < 1000

    def solve(self) -> Fraction:
        bags = [(red, red + green) for red, green in (self.left, self.right)]
        both = sum(Fraction(red * (red - 1), n * (n - 1)) for red, n in bags)
        return Fraction(both, sum(Fraction(red, n) for red, n in bags))

    def render(self) -> str:
        return (
            f'One bag holds ${self.left[0]}$ red and ${self.left[1]}$ green marbles, another '
            f'${self.right[0]}$ red and ${self.right[1]}$ green ones. The toss of a fair coin '
            'decides from which bag two marbles are drawn, one after the other and without '
            'replacement. The first is red. What is the probability that the second is red, too? '
            'Answer with a common fraction in lowest terms.'
        )


@register('math', 'counting and probability', 4)
@dataclass(frozen=True)
class FerriesAtOnePier(Question):
    """The arrivals are a point of a square; outside a band along its diagonal, nobody waits."""

    window: int = 60
    first: int = 12
    second: int = 20

    @classmethod
    def init(cls, rng: Random) -> FerriesAtOnePier:
        window = rng.choice([60, 72, 80, 90, 96, 100])
        return cls(window, rng.randint(5, 15) * 2, rng.randint(2, 6) * 5)

    def holds(self) -> bool:
        return self.first != self.second and 9 < self.solve().denominator < 1000

    def solve(self) -> Fraction:
        apart = (self.window - self.first) ** 2 + (self.window - self.second) ** 2
        return 1 - Fraction(apart, 2 * self.window**2)

    def render(self) -> str:
        return (
            'Two ferries use the same pier, which has room for only one of them. They arrive at '
            f'independent, uniformly random moments of the same ${self.window}$ minutes. The '
            f'first ferry stays at the pier for ${self.first}$ minutes, the second one for '
            f'${self.second}$ minutes. What is the probability that the ferry that arrives later '
            'finds the pier occupied by the other? Answer with a common fraction in lowest terms.'
        )


@register('math', 'counting and probability', 5)
@dataclass(frozen=True)
class BlocksOfOneColour(Question):
    """A new block begins at the first flag and wherever neighbours differ; expectations add up."""

    green: int = 5
    yellow: int = 6

    @classmethod
    def init(cls, rng: Random) -> BlocksOfOneColour:
        return cls(rng.randint(3, 9), rng.randint(3, 9))

    def holds(self) -> bool:
        return self.green + self.yellow <= 12 and self.solve().denominator > 1

    def solve(self) -> Fraction:
        flags = self.green + self.yellow
        differ = Fraction(2 * self.green * self.yellow, flags * (flags - 1))
        return 1 + (flags - 1) * differ

    def render(self) -> str:
        return (
            f'${self.green}$ green and ${self.yellow}$ yellow flags are hung in a row in random '
            'order. A block is a group of neighbouring flags of one colour that is as long as '
            'possible; it may be a single flag. What is the expected number of blocks? Answer '
            'with a common fraction in lowest terms.'
        )


@register('math', 'counting and probability', 5)
@dataclass(frozen=True)
class CandlesOnAWreath(Question):
    """Burnside: phi(d) of the turns keep only arrangements that repeat one d-th of the wreath."""

    red: int = 4
    white: int = 6

    @classmethod
    def init(cls, rng: Random) -> CandlesOnAWreath:
        return cls(rng.randint(3, 7), rng.randint(3, 10))

    def holds(self) -> bool:
        return self.red <= self.white <= 14 - self.red and math.gcd(self.red, self.white) > 1

    def solve(self) -> int:
        from sympy import divisors, totient

        places, common = self.red + self.white, math.gcd(self.red, self.white)
        kept = (totient(d) * math.comb(places // d, self.red // d) for d in divisors(common))
        return int(sum(kept)) // places

    def render(self) -> str:
        return (
            f'${self.red}$ identical red candles and ${self.white}$ identical white candles are '
            'set at equal distances around a wreath that lies on a table. Two arrangements count '
            'as the same if one becomes the other by turning the wreath; it cannot be flipped '
            'over. How many different arrangements are there?'
        )


@register('math', 'counting and probability', 5)
@dataclass(frozen=True)
class UntilTwoHitsInARow(Question):
    """E = 1 + p F + (1 - p) E with F = 1 + (1 - p) E gives E = (1 + p) / p^2."""

    chance: Fraction = Fraction(3, 5)

    @classmethod
    def init(cls, rng: Random) -> UntilTwoHitsInARow:
        below = rng.randint(3, 11)
        return cls(Fraction(rng.randint(1, below - 1), below))

    def holds(self) -> bool:
        return Fraction(1, 4) < self.chance and self.chance.numerator > 1

    def solve(self) -> Fraction:
        return (1 + self.chance) / self.chance**2

    def render(self) -> str:
        return (
            f'Each arrow of an archer hits the target with probability ${latex(self.chance)}$, '
            'independently of the others. She shoots until she has hit the target with two arrows '
            'in a row. What is the expected number of arrows that she shoots? Answer with a common '
            'fraction in lowest terms.'
        )
