"""What every question with random variables has to pass, whatever it asks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from random import Random
from typing import Any

import sympy

from opencompass_gpassk.rv.question import PLACE, Question, Version
from opencompass_gpassk.rv.wording import latex


def draws(question: Question, count: int, stream: str) -> Iterator[Version]:
    """Draw sound versions, which may repeat."""
    rng = Random(f'{question.name}/{stream}')
    found, tries = 0, 0
    while found < count:
        version = question.draw(rng)
        tries += 1
        if version:
            found += 1
            yield version
        elif tries > 200 * (found + 5):
            raise AssertionError(f'{question.name}: less than one draw in 200 is sound')


def digits(value: Any) -> int:
    """Count the digits that an answer is written with."""
    return len(re.findall(r'\d', latex(value)))


def with_swapped_places(question: Question) -> Iterator[tuple[str, Question]]:
    """Yield the question with two places of its English statement exchanged, for each two."""
    statement = question.statements['en']
    places = sorted({*PLACE.findall(statement)})
    for one, other in combinations(places, 2):
        exchanged = {one: other, other: one}
        text = PLACE.sub(lambda place: f'<{exchanged.get(place[1], place[1])}>', statement)  # noqa: B023
        yield f'{one} and {other}', replace(question, statements={'en': text})


def wrong_answers(answer: Any) -> list[Any]:
    """Return answers near to the right one, and different from it."""
    return [wrong for wrong in _perturbed(answer) if wrong != answer]


def _perturbed(answer: Any) -> list[Any]:
    if isinstance(answer, str):
        return [answer + 'x', answer[:-1], answer[::-1] + '1']
    if isinstance(answer, (list, tuple)):
        kind = type(answer)
        one_off = [
            kind([*answer[:i], wrong, *answer[i + 1 :]])
            for i, value in enumerate(answer)
            for wrong in wrong_answers(value)[:2]
        ]
        return [*one_off, kind(answer[:-1]), kind([*answer, answer[-1]])]
    if isinstance(answer, int):
        return [answer + 1, answer - 1, 2 * answer + 3, -answer - 5]
    if isinstance(answer, Fraction):
        return [answer + 1, answer - Fraction(1, 7), answer + Fraction(1, answer.denominator + 1)]
    if isinstance(answer, sympy.MatrixBase):
        return [answer + sympy.ones(*answer.shape), 2 * answer + sympy.ones(*answer.shape)]
    if isinstance(answer, sympy.Expr):
        return [answer + 1, answer - sympy.Rational(1, 7), 2 * answer + 3]
    raise TypeError(f'{answer!r} of type {type(answer).__name__} is not an answer')
