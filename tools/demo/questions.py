"""The questions with random variables that the demonstration model learns, in English.

Their texts and answers are those of :mod:`opencompass_gpassk.rv`; here stands how a small model can
work them out, step by step.
"""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from opencompass_gpassk.rv.generation import generate
from opencompass_gpassk.rv.leetcode.arrays import WellOnTheRoad
from opencompass_gpassk.rv.leetcode.operations import CouponsForCocoa, OneClerkFiveClients
from opencompass_gpassk.rv.math.algebra_equations import LinearForX
from opencompass_gpassk.rv.math.prealgebra_numbers import (
    FifthNumberJoins,
    PercentOfTens,
    TimesBeforePlus,
)
from opencompass_gpassk.rv.math.prealgebra_stories import FencedBed, PearsInBoxes
from opencompass_gpassk.rv.question import Question
from tools.demo.families import times
from tools.demo.problem import Problem, worked_out

__all__ = ['QUESTIONS', 'QuestionFamily', 'evaluated_questions']

EVALUATED_VERSIONS = 20  # of each question, under the default seed: four times what is asked
QUESTIONS: dict[str, QuestionFamily] = {}


@dataclass(frozen=True)
class QuestionFamily:
    """A question with random variables, and the lines of its solution."""

    name: str
    weight: int
    question: type[Question]
    lines: Callable[..., list[str]]

    def draw(self, rng: random.Random, language: str = 'en') -> Problem:
        """One version with numbers from `rng`, its prompt the bare question; in English alone."""
        version = self.question.init(rng)
        while not version.holds():
            version = self.question.init(rng)
        text, answer = version.render(), version.solve()
        if not isinstance(answer, int):
            raise ValueError(f'{self.name} has answer {answer!r}; the model learns integers alone')
        return Problem(
            self.name,
            'en',
            _numbers(version),
            text,
            text,
            worked_out(self.lines(version), answer, 'en'),
            answer,
        )


def learnt(
    question: type[Question], weight: int = 2
) -> Callable[[Callable[..., list[str]]], Callable[..., list[str]]]:
    """Register the decorated function, which works the question out."""

    def register(lines: Callable[..., list[str]]) -> Callable[..., list[str]]:
        QUESTIONS[question.__name__] = QuestionFamily(question.__name__, weight, question, lines)
        return lines

    return register


@cache
def evaluated_questions() -> frozenset[str]:
    """The texts of the original problems and of the versions that are asked by default."""
    rows = generate('all', EVALUATED_VERSIONS, names=list(QUESTIONS))
    return frozenset(row.question for row in rows)


@learnt(PercentOfTens)
def percent(q: PercentOfTens) -> list[str]:
    product = q.whole * q.percent
    return [times(q.whole, q.percent), rf'{product}\div100={product // 100}']


@learnt(TimesBeforePlus, weight=1)
def product_and_sum(q: TimesBeforePlus) -> list[str]:
    product = q.factor * q.other
    return [rf'{q.factor}\times{q.other}={product}', f'{q.summand}+{product}={q.summand + product}']


@learnt(PearsInBoxes, weight=1)
def pears(q: PearsInBoxes) -> list[str]:
    pears = q.boxes * q.each
    return [rf'{q.boxes}\times{q.each}={pears}', f'{pears}-{q.eaten}={pears - q.eaten}']


@learnt(FencedBed, weight=1)
def fence(q: FencedBed) -> list[str]:
    half = q.length + q.width
    return [f'{q.length}+{q.width}={half}', rf'2\times{half}={2 * half}']


@learnt(LinearForX)
def linear(q: LinearForX) -> list[str]:
    rest = q.total - q.added
    return [f'{q.total}-{q.added}={rest}', rf'{rest}\div{q.factor}={rest // q.factor}']


@learnt(FifthNumberJoins)
def fifth_number(q: FifthNumberJoins) -> list[str]:
    all_five, four = 5 * q.after, 4 * q.before
    return [
        rf'5\times{q.after}={all_five}',
        rf'4\times{q.before}={four}',
        f'{all_five}-{four}={all_five - four}',
    ]


@learnt(CouponsForCocoa)
def cocoa(q: CouponsForCocoa) -> list[str]:
    coupons, price = q.paid - 1, q.coupons - 1
    free = coupons // price
    return [
        f'{q.paid}-1={coupons}',
        f'{q.coupons}-1={price}',
        rf'{coupons}={price}\times{free}+{coupons % price}',
        f'{q.paid}+{free}={q.paid + free}',
    ]


@learnt(WellOnTheRoad, weight=3)
def well(q: WellOnTheRoad) -> list[str]:
    farms = sorted(q.farms)
    pairs = [farms[-1 - i] - farms[i] for i in range(3)]
    return [
        ','.join(map(str, farms)),
        *(f'{farms[-1 - i]}-{farms[i]}={pairs[i]}' for i in range(3)),
        f'{pairs[0]}+{pairs[1]}={pairs[0] + pairs[1]}',
        f'{pairs[0] + pairs[1]}+{pairs[2]}={sum(pairs)}',
    ]


@learnt(OneClerkFiveClients, weight=3)
def clients(q: OneClerkFiveClients) -> list[str]:
    ordered = sorted(q.minutes)
    ends = list(accumulate(ordered))
    sums = list(accumulate(ends))
    return [
        ','.join(map(str, ordered)),
        *(f'{ends[i]}+{ordered[i + 1]}={ends[i + 1]}' for i in range(4)),
        *(f'{sums[i]}+{ends[i + 1]}={sums[i + 1]}' for i in range(4)),
    ]


def _numbers(version: Question) -> tuple[int, ...]:
    values = dataclasses.astuple(version)  # type: ignore[call-overload]  # questions are dataclasses
    return tuple(n for value in values for n in (value if isinstance(value, tuple) else (value,)))
