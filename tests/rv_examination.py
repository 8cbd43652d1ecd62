"""What every question with random variables has to pass, whatever it asks."""

from __future__ import annotations

import dataclasses
import random
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import sympy

from opencompass_gpassk.rv.question import Question
from opencompass_gpassk.rv.wording import latex

# Digits of an answer or a variable lie between the original's divided by this and times this.
FACTOR = 2


def draws(question: type[Question], count: int, stream: str) -> Iterator[Question]:
    """Draw sound versions, which may repeat."""
    rng = random.Random(f'{question.__name__}/{stream}')
    found, tries = 0, 0
    while found < count:
        version = question.init(rng)
        tries += 1
        if version.holds():
            found += 1
            yield version
        elif tries > 200 * (found + 5):
            raise AssertionError(f'{question.__name__}: less than one draw in 200 holds')


def digits(value: Any) -> int:
    """Count the digits that an answer or a variable is written with."""
    return len(re.findall(r'\d', latex(value)))


def sizes(version: Question) -> dict[str, int]:
    """Return the digits of each variable and of the answer."""
    fields = {f.name: getattr(version, f.name) for f in dataclasses.fields(version)}  # type: ignore[arg-type]
    return {name: digits(value) for name, value in {**fields, 'answer': version.solve()}.items()}


def size_faults(question: type[Question], count: int) -> list[str]:
    """Return what has too few or too many digits over many draws."""
    usual = sizes(question())
    faults = []
    for version in draws(question, count, 'sizes'):
        for name, size in sizes(version).items():
            if not usual[name] / FACTOR <= size <= usual[name] * FACTOR:
                faults.append(f'{name}: {size} digits, the original has {usual[name]}: {version}')
    return faults


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
