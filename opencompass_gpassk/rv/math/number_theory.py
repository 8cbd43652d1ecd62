"""Number theory: divisors, remainders, digits in other bases."""

from __future__ import annotations

import math
from dataclasses import dataclass
from random import Random

from opencompass_gpassk.rv.question import Question, register


@register('math', 'number theory', 2)
@dataclass(frozen=True)
class LampsInStep(Question):
    """Two periods fall together every lcm seconds."""

    first: int = 12
    second: int = 18
    minutes: int = 15

    @classmethod
    def init(cls, rng: Random) -> LampsInStep:
        return cls(rng.randint(10, 30), rng.randint(10, 30), rng.randint(10, 30))

    def holds(self) -> bool:
        return self.first < self.second and 1 < math.gcd(self.first, self.second) < self.first

    def solve(self) -> int:
        return 60 * self.minutes // math.lcm(self.first, self.second)

    def render(self) -> str:
        return (
            f'A red lamp flashes every ${self.first}$ seconds and a blue one every ${self.second}$ '
            'seconds. They have just flashed together. How many more times will they flash '
            f'together within the next ${self.minutes}$ minutes, the last moment included?'
        )
