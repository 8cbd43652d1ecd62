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
class SocksInTheDark(Question):
    """Of all pairs, those of one colour are good."""

    black: int = 8
    white: int = 6
    red: int = 4

    @classmethod
    def init(cls, rng: Random) -> SocksInTheDark:
        return cls(rng.randint(5, 12), rng.randint(4, 10), rng.randint(3, 9))

    def holds(self) -> bool:
        return len({self.black, self.white, self.red}) == 3 and self.solve().denominator > 9

    def solve(self) -> Fraction:
        good = sum(math.comb(socks, 2) for socks in (self.black, self.white, self.red))
        return Fraction(good, math.comb(self.black + self.white + self.red, 2))

    def render(self) -> str:
        return (
            f'A drawer holds ${self.black}$ black, ${self.white}$ white and ${self.red}$ red '
            'socks. Two socks are taken out at random in the dark. What is the probability that '
            'they have the same colour? Answer with a common fraction in lowest terms.'
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
class JarsWithLimits(Question):
    """Stars and bars, with overfull jars taken out by inclusion and exclusion."""

    coins: int = 20
    most: int = 8

    @classmethod
    def init(cls, rng: Random) -> JarsWithLimits:
        return cls(rng.randint(14, 30), rng.randint(6, 10))

    def holds(self) -> bool:
        return 2 * self.most + 2 <= self.coins <= 3 * self.most

    def solve(self) -> int:
        # Three jars cannot be overfull at once: there are at most 3 * most coins.
        return sum(
            (-1) ** j * math.comb(4, j) * math.comb(self.coins - j * (self.most + 1) + 3, 3)
            for j in range(3)
        )

    def render(self) -> str:
        return (
            f'In how many ways can ${self.coins}$ identical coins be distributed among $4$ jars of '
            f'different colours if each jar holds at most ${self.most}$ coins? Jars may stay '
            'empty, and all coins must be placed.'
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
class NeverTwoBehind(Question):
    """Reflection: C(n, b - 2) of the C(n, b) orders of n votes put the loser two ahead."""

    winner: int = 10
    loser: int = 7

    @classmethod
    def init(cls, rng: Random) -> NeverTwoBehind:
        return cls(rng.randint(7, 15), rng.randint(4, 12))

    def holds(self) -> bool:
        return self.winner > self.loser and self.solve().denominator > 9

    def solve(self) -> Fraction:
        votes = self.winner + self.loser
        return 1 - Fraction(math.comb(votes, self.loser - 2), math.comb(votes, self.loser))

    def render(self) -> str:
        return (
            f'In the election of a village council, Imke receives ${self.winner}$ votes and Tarek '
            f'${self.loser}$. The ballots are counted one by one, all orders being equally likely. '
            'What is the probability that at no moment of the count Tarek is ahead of Imke by two '
            'or more votes? Answer with a common fraction in lowest terms.'
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
