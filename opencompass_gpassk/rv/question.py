"""What a question with random variables is, and the registry of all of them.

A question is a frozen dataclass: its fields are the variables, their defaults the original problem.
"""

from __future__ import annotations

import importlib
import pkgutil
import random
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, Union

if TYPE_CHECKING:
    import sympy
    from typing_extensions import Self

__all__ = ['LEVELS', 'SUBJECTS', 'Answer', 'Question', 'question_named', 'questions', 'register']

# Exact: an integer, a fraction, an expression of sympy, a text; a list where any order will do, a
# tuple where the order matters.
Answer = Union[int, Fraction, str, list[Any], tuple[Any, ...], 'sympy.Basic']

SUBJECTS: dict[str, tuple[str, ...]] = {
    'math': (
        'prealgebra',
        'algebra',
        'number theory',
        'counting and probability',
        'geometry',
        'intermediate algebra',
        'precalculus',
    ),
    'leetcode': (
        'arrays',
        'counting',
        'digits',
        'divisors',
        'figures',
        'games',
        'operations',
        'probability',
        'sequences',
        'simulation',
    ),
}
LEVELS: dict[str, tuple[int | str, ...]] = {
    'math': (1, 2, 3, 4, 5),
    'leetcode': ('easy', 'medium', 'hard'),
}
REGISTRY: dict[str, type[Question]] = {}


class Question:
    """A problem with random variables.

    Attributes:
        source: ``math`` or ``leetcode``.
        subject: One of the source's :data:`SUBJECTS`.
        level: One of the source's :data:`LEVELS`.
    """

    source: ClassVar[str]
    subject: ClassVar[str]
    level: ClassVar[int | str]

    @classmethod
    def init(cls, rng: random.Random) -> Self:
        """Draw the variables; what they must fulfil together is left to :meth:`holds`."""
        raise NotImplementedError

    def holds(self) -> bool:
        """Tell whether the variables make a sound problem, about as hard as the original."""
        return True

    def solve(self) -> Answer:
        """Work the answer out exactly, never as a rounded float."""
        raise NotImplementedError

    def render(self) -> str:
        """Return the problem's text, mathematics in LaTeX between dollar signs."""
        raise NotImplementedError


Q = TypeVar('Q', bound=type[Question])


def register(source: str, subject: str, level: int | str) -> Callable[[Q], Q]:
    """Register the decorated question under its class name.

    Raises:
        ValueError: If another question has the name, or source, subject or level is unknown.
    """
    if subject not in SUBJECTS.get(source, ()):
        known = '; '.join(f'{name}: {", ".join(of)}' for name, of in SUBJECTS.items())
        raise ValueError(
            f'source {source!r} with subject {subject!r} is unknown; there are {known}'
        )
    if level not in LEVELS[source]:
        raise ValueError(f'level is {level!r}; {source} has {", ".join(map(str, LEVELS[source]))}')

    def add(question: Q) -> Q:
        name = question.__name__
        if name in REGISTRY:
            raise ValueError(
                f'question {name} of {question.__module__} is already in '
                f'{REGISTRY[name].__module__}; give it another name'
            )
        question.source, question.subject, question.level = source, subject, level
        REGISTRY[name] = question
        return question

    return add


def questions(source: str = 'all') -> list[type[Question]]:
    """Return all questions of a source, by subject, level and name.

    Args:
        source: ``math``, ``leetcode`` or ``all``, which has math first.

    Raises:
        ValueError: If the source is unknown.
    """
    if source not in ('all', *SUBJECTS):
        raise ValueError(f'source is {source!r}; use one of {", ".join(SUBJECTS)}, all')
    sources = list(SUBJECTS) if source == 'all' else [source]
    for name in sources:
        package = importlib.import_module(f'opencompass_gpassk.rv.{name}')
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f'{package.__name__}.{module.name}')
    return sorted((q for q in REGISTRY.values() if q.source in sources), key=_place)


def question_named(name: str) -> type[Question]:
    """Return the question of this class name.

    Raises:
        ValueError: If there is none, naming similar ones.
    """
    import difflib

    named = {question.__name__: question for question in questions()}
    if name not in named:
        near = difflib.get_close_matches(name, named)
        hint = f'do you mean {", ".join(near)}?' if near else 'see gpassk rv list'
        raise ValueError(f'there is no question {name!r}; {hint}')
    return named[name]


def _place(question: type[Question]) -> tuple[int, int, int, str]:
    source = question.source
    return (
        list(SUBJECTS).index(source),
        SUBJECTS[source].index(question.subject),
        LEVELS[source].index(question.level),
        question.__name__,
    )
