"""The training problems of the demonstration model: drawn by seed, never one that is evaluated."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from tools.demo.families import FAMILIES
from tools.demo.problem import Family, Problem
from tools.demo.questions import QUESTIONS, QuestionFamily, evaluated_questions
from tools.demo.wording import wrap

SAMPLE = Path(__file__).parents[2] / 'opencompass_gpassk' / 'datasets/sample'
RESERVED = 0.1  # share of each family's instances that are kept for measuring accuracy


def normalise(text: str) -> str:
    """Text without white space and case, by which two wordings of one question are compared."""
    return ''.join(text.split()).casefold()


def sample_rows() -> list[tuple[str, dict[str, str]]]:
    """(language, row) of each problem of `sample`."""
    return [
        (path.stem.rpartition('_')[2], json.loads(line))
        for path in sorted(SAMPLE.glob('*.jsonl'))
        for line in path.read_text('utf-8').rstrip().split('\n')
    ]


class Evaluated:
    """The problems that must not be trained on: by their text, and by family and numbers.

    The second catches a translation, and a problem that differs in the order of its numbers alone;
    of questions with random variables, where that is another question, the text decides.
    """

    def __init__(self, questions: Sequence[str]) -> None:
        self.texts = {normalise(question) for question in questions}
        self.instances: set[tuple[str, tuple[int, ...]]] = set()
        for question in questions:
            for name, family in FAMILIES.items():
                if numbers := family.numbers_in(question):
                    self.instances.add((name, tuple(sorted(numbers))))

    def __contains__(self, problem: Problem) -> bool:
        """Whether the problem, in either language, or its prompt's text is one of them."""
        if (problem.family, tuple(sorted(problem.numbers))) in self.instances:
            return True
        prompt = normalise(problem.prompt)
        return any(text in prompt for text in self.texts)


@cache
def evaluated() -> Evaluated:
    """The problems of `sample`, and the questions with random variables that are asked."""
    return Evaluated([*(row['question'] for _, row in sample_rows()), *evaluated_questions()])


def reserved(problem: Problem) -> bool:
    """Whether this instance, in any language and order of its numbers, is kept out of training."""
    return random.Random(f'{problem.family}/{sorted(problem.numbers)}').random() < RESERVED


def problems(stream: str, count: int, *, held_out: bool = False) -> Iterator[Problem]:
    """`count` problems of the named stream, each drawn by (stream, index) alone.

    Either all or none of them are reserved instances; none is evaluated.
    """
    families: list[Family | QuestionFamily] = [*FAMILIES.values(), *QUESTIONS.values()]
    weights = [family.weight for family in families]
    for index in range(count):
        rng = random.Random(f'{stream}/{index}')
        while True:
            (family,) = rng.choices(families, weights)
            language = rng.choice(('en', 'cn'))
            problem = family.draw(rng, language)
            problem = problem.asked(wrap(problem.question, problem.language, rng))
            if reserved(problem) == held_out and problem not in evaluated():
                break
        yield problem
