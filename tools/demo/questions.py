"""The questions with random variables that the demonstration model learns, in English.

Their texts and answers are those of :mod:`opencompass_gpassk.rv`; here stands how a small model can
work them out, step by step.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from opencompass_gpassk.rv.generation import generate
from opencompass_gpassk.rv.question import question_named
from tools.demo.families import times
from tools.demo.problem import Problem, worked_out

EVALUATED_VERSIONS = 20  # of each question, under the default seed: four times what is asked
QUESTIONS: dict[str, QuestionFamily] = {}


@dataclass(frozen=True)
class QuestionFamily:
    """A question with random variables, and the lines of its solution."""

    name: str
    weight: int
    lines: Callable[..., list[str]]

    def draw(self, rng: random.Random, language: str = 'en') -> Problem:
        """One version with numbers from `rng`, its prompt the bare question; in English alone."""
        question = question_named(self.name)
        while (version := question.draw(rng)) is None:
            pass
        text, answer = version.text(), version.answer
        if not isinstance(answer, int):
            raise ValueError(f'{self.name} has answer {answer!r}; the model learns integers alone')
        return Problem(
            self.name,
            'en',
            tuple(map(int, re.findall(r'\d+', text))),
            text,
            text,
            worked_out(self.lines(**version.variables), answer, 'en'),
            answer,
        )


def learnt(
    name: str, weight: int = 2
) -> Callable[[Callable[..., list[str]]], Callable[..., list[str]]]:
    """Register the decorated function, which works a question out from its variables."""

    def register(lines: Callable[..., list[str]]) -> Callable[..., list[str]]:
        QUESTIONS[name] = QuestionFamily(name, weight, lines)
        return lines

    return register


@cache
def evaluated_questions() -> frozenset[str]:
    """The texts of the original problems and of the versions that are asked by default."""
    rows = generate('all', EVALUATED_VERSIONS, names=list(QUESTIONS))
    return frozenset(row.question for row in rows)


@learnt('PercentOfTens')
def percent(percent: int, whole: int) -> list[str]:
    product = whole * percent
    return [times(whole, percent), rf'{product}\div100={product // 100}']


@learnt('TimesBeforePlus', weight=1)
def product_and_sum(summand: int, factor: int, other: int) -> list[str]:
    product = factor * other
    return [rf'{factor}\times{other}={product}', f'{summand}+{product}={summand + product}']


@learnt('PearsInBoxes', weight=1)
def pears(boxes: int, each: int, eaten: int) -> list[str]:
    packed = boxes * each
    return [rf'{boxes}\times{each}={packed}', f'{packed}-{eaten}={packed - eaten}']


@learnt('FencedBed', weight=1)
def fence(length: int, width: int) -> list[str]:
    half = length + width
    return [f'{length}+{width}={half}', rf'2\times{half}={2 * half}']


@learnt('LinearForX')
def linear(factor: int, added: int, x: int) -> list[str]:
    rest = factor * x
    return [f'{rest + added}-{added}={rest}', rf'{rest}\div{factor}={x}']


@learnt('FifthNumberJoins')
def fifth_number(before: int, change: int) -> list[str]:
    after = before + change
    all_five, four = 5 * after, 4 * before
    return [
        rf'5\times{after}={all_five}',
        rf'4\times{before}={four}',
        f'{all_five}-{four}={all_five - four}',
    ]


@learnt('CouponsForCocoa')
def cocoa(paid: int, coupons: int) -> list[str]:
    won, price = paid - 1, coupons - 1
    free = won // price
    return [
        f'{paid}-1={won}',
        f'{coupons}-1={price}',
        rf'{won}={price}\times{free}+{won % price}',
        f'{paid}+{free}={paid + free}',
    ]


@learnt('WellOnTheRoad', weight=3)
def well(farms: tuple[int, ...]) -> list[str]:
    ordered = sorted(farms)
    pairs = [ordered[-1 - i] - ordered[i] for i in range(3)]
    return [
        ','.join(map(str, ordered)),
        *(f'{ordered[-1 - i]}-{ordered[i]}={pairs[i]}' for i in range(3)),
        f'{pairs[0]}+{pairs[1]}={pairs[0] + pairs[1]}',
        f'{pairs[0] + pairs[1]}+{pairs[2]}={sum(pairs)}',
    ]


@learnt('OneClerkFiveClients', weight=3)
def clients(minutes: tuple[int, ...]) -> list[str]:
    ordered = sorted(minutes)
    ends = list(accumulate(ordered))
    sums = list(accumulate(ends))
    return [
        ','.join(map(str, ordered)),
        *(f'{ends[i]}+{ordered[i + 1]}={ends[i + 1]}' for i in range(4)),
        *(f'{sums[i]}+{ends[i + 1]}={sums[i + 1]}' for i in range(4)),
    ]
