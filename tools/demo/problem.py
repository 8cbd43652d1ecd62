"""What a family of short problems is: one question, one way to solve it, numbers that vary.

A family is a function that draws its numbers and works the solution out. Its question stands once
in English and once in Chinese, with `@a`, `@b`, … for the numbers.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from string import Template
from typing import NamedTuple

ANSWER = {'en': '. The answer is $\\boxed{%d}$.', 'cn': '。答案是 $\\boxed{%d}$。'}


class Question(Template):
    """A question with `@a` where number a goes; `$` belongs to LaTeX."""

    delimiter = '@'


class Work(NamedTuple):
    """One instance of a family: its numbers, the lines of its solution, the answer."""

    numbers: dict[str, int]
    lines: list[str]
    answer: int


def worked_out(lines: Sequence[str], answer: int, language: str) -> str:
    """The text of a solution: its lines as formulas, then the answer in a box."""
    return ', '.join(f'${line}$' for line in lines) + ANSWER[language] % answer


@dataclass(frozen=True)
class Problem:
    """A question in one language with its worked solution."""

    family: str
    language: str
    numbers: tuple[int, ...]
    question: str
    prompt: str  # the question and the words around it
    solution: str
    answer: int

    def asked(self, prompt: str) -> Problem:
        """The same problem posed by this prompt."""
        return replace(self, prompt=prompt)


@dataclass(frozen=True)
class Family:
    """Problems that differ in their numbers alone."""

    name: str
    text: dict[str, str]
    weight: int
    work: Callable[[random.Random], Work]

    def draw(self, rng: random.Random, language: str) -> Problem:
        """One instance with numbers from `rng`, its prompt the bare question."""
        work = self.work(rng)
        question = Question(self.text[language]).substitute(work.numbers)
        return Problem(
            self.name,
            language,
            tuple(work.numbers.values()),
            question,
            question,
            worked_out(work.lines, work.answer, language),
            work.answer,
        )

    def numbers_in(self, question: str) -> tuple[int, ...] | None:
        """The numbers of a question if it is one of this family, else None."""
        for text in self.text.values():
            names = re.findall(r'@\{?([a-z])', text)
            pattern = re.sub(r'@(?:[a-z]|\\\{[a-z]\\\})', r'(-?\\d+)', re.escape(text))
            if match := re.fullmatch(pattern, question):
                found = dict(zip(names, map(int, match.groups()), strict=True))
                return tuple(found[name] for name in sorted(found))
        return None
