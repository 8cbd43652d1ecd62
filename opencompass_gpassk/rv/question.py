r"""How a question with random variables is written, and the registry of all of them.

A question is a function. Its parameters are the variables, each with what it is drawn from. Its
docstring is the statement: in English, then, after an empty line, in Chinese. Its body returns the
exact answer::

    @question('algebra', level=1)
    def linear_for_x(factor=span(2, 9), added=span(1, 20), x=span(2, 15)):
        '''Solve $<factor>x + <added> = <factor * x + added>$ for $x$.

        解关于 $x$ 的方程 $<factor>x + <added> = <factor * x + added>$。
        '''
        return x

``<…>`` is a place: a number, or an expression in Python of the variables and of the words in
:mod:`opencompass_gpassk.rv.wording`. ``<+p>`` writes ``+ 3`` or ``- 3``. A less-than sign is
followed by a space.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import pkgutil
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from types import CodeType
from typing import TYPE_CHECKING, Any, Union

from opencompass_gpassk.rv import wording

if TYPE_CHECKING:
    import sympy


# Exact: an integer, a fraction, an expression of sympy, a text; a list where any order will do, a
# tuple where the order matters.
Answer = Union[int, Fraction, str, list[Any], tuple[Any, ...], 'sympy.Basic']
Known = Mapping[str, Any]  # the variables that are drawn already
Draw = Callable[[Random, Known], Any]
Number = int | str  # a text is an expression of the variables before it

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
LANGUAGES = ('en', 'cn')
DEFAULT_SEED = 42
PER_GROUP = 5  # versions of a question
PLACE = re.compile(r'<([^\s<>][^<>]*)>')
# What expressions in statements and ranges may name, besides the variables.
PLAIN: dict[str, Any] = {
    '__builtins__': {},
    **{one.__name__: one for one in (range, sorted, sum, zip)},
    **{name: getattr(wording, name) for name in wording.__all__},
    'Fraction': Fraction,
    'combinations': itertools.combinations,
}
WORDS = {'en': PLAIN, 'cn': {**PLAIN, 'listed': wording.listed_in_chinese}}
REGISTRY: dict[str, Question] = {}


class UnsoundError(Exception):
    """The variables make no sound problem, or one much easier or harder than the others."""


def require(condition: Any) -> None:
    """Leave out variables that make no sound problem, or one of another difficulty."""
    if not condition:
        raise UnsoundError


# What variables are drawn from.


def span(low: Number, high: Number, step: int = 1) -> Any:
    """An integer from low to high, both included."""
    return lambda rng, known: rng.randrange(_number(low, known), _number(high, known) + 1, step)


def either_sign(low: int, high: int) -> Any:
    """An integer from low to high, or its negative."""
    return lambda rng, known: rng.choice((-1, 1)) * rng.randint(low, high)


def one_of(*values: Any) -> Any:
    """One of the values."""
    return lambda rng, known: rng.choice(values)


@dataclass(frozen=True)
class Pool:
    """Numbers of which several different ones are drawn; see :func:`distinct`."""

    low: Number
    high: Number
    of: tuple[Any, ...]
    rising: bool

    def draw(self, rng: Random, known: Known, count: int) -> tuple[Any, ...]:
        """Return so many different ones."""
        numbers = self.of or range(_number(self.low, known), _number(self.high, known) + 1)
        drawn = rng.sample(numbers, count)
        return tuple(sorted(drawn) if self.rising else drawn)


def distinct(low: Number = 0, high: Number = 0, *, of: Sequence[Any] = ()) -> Any:
    """An integer from low to high, or one of the values; neighbours drawn alike are different."""
    return Pool(low, high, tuple(of), rising=False)


def rising(low: Number = 0, high: Number = 0, *, of: Sequence[Any] = ()) -> Any:
    """As :func:`distinct`; each is greater than its neighbour before."""
    return Pool(low, high, tuple(of), rising=True)


def several(count: Number, draw: Any) -> Any:
    """A tuple of values that are each drawn alike."""
    if isinstance(draw, Pool):
        return lambda rng, known: draw.draw(rng, known, _number(count, known))
    return lambda rng, known: tuple(draw(rng, known) for _ in range(_number(count, known)))


@dataclass(frozen=True)
class Question:
    """A problem with random variables.

    Attributes:
        name: Its name, such as ``LinearForX`` for the function ``linear_for_x``.
        source: ``math`` or ``leetcode``.
        subject: One of the source's :data:`SUBJECTS`.
        level: One of the source's :data:`LEVELS`.
        function: Returns the answer for values of the variables.
        draws: Variable → how it is drawn, in their order.
        statements: Language → the statement with its places.
    """

    name: str
    source: str
    subject: str
    level: int | str
    function: Callable[..., Answer]
    draws: Mapping[str, Draw]
    statements: Mapping[str, str]

    def draw(self, rng: Random) -> Version | None:
        """Draw the variables; None if they make no sound problem."""
        known: dict[str, Any] = {}
        for draw, alike in itertools.groupby(self.draws, self.draws.__getitem__):
            names = list(alike)
            if isinstance(draw, Pool):
                known |= zip(names, draw.draw(rng, known, len(names)), strict=True)
            else:
                known[names[0]] = draw(rng, known)
        return self.version(known)

    def version(self, variables: Known) -> Version | None:
        """Return the problem with these values of the variables; None if it isn't sound."""
        try:
            return Version(self, variables, self.function(**variables))
        except UnsoundError:
            return None


@dataclass(frozen=True)
class Version:
    """A question with numbers.

    Attributes:
        question: What it is a version of.
        variables: Variable → value.
        answer: The exact answer.
    """

    question: Question
    variables: Known
    answer: Answer

    def text(self, language: str = 'en') -> str:
        """Return the problem's text, mathematics in LaTeX between dollar signs."""

        def fill(place: re.Match[str]) -> str:
            sign, expression = place[1][0] == '+', place[1].removeprefix('+')
            value = _value(expression, {**WORDS[language], **self.variables})
            return wording.signed(value) if sign else wording.latex(value)

        return PLACE.sub(fill, self.question.statements[language])


def question(subject: str, level: int | str) -> Callable[[Callable[..., Answer]], Question]:
    """Register the decorated function as a question.

    Raises:
        ValueError: If another question has the name, subject or level is unknown, or the function
            has no statement in both languages.
    """
    source = next((name for name, subjects in SUBJECTS.items() if subject in subjects), None)
    if source is None:
        known = ', '.join(name for subjects in SUBJECTS.values() for name in subjects)
        raise ValueError(f'subject is {subject!r}; use one of {known}')
    if level not in LEVELS[source]:
        raise ValueError(f'level is {level!r}; {source} has {", ".join(map(str, LEVELS[source]))}')

    def add(function: Callable[..., Answer]) -> Question:
        name = ''.join(part.capitalize() for part in function.__name__.split('_'))
        if name in REGISTRY:
            raise ValueError(f'there are two questions {name}; give one another name')
        statements = inspect.cleandoc(function.__doc__ or '').split('\n\n')
        if len(statements) != len(LANGUAGES):
            raise ValueError(
                f'question {name} needs a docstring: the English statement, an empty line, and the '
                'Chinese one'
            )
        english, chinese = statements
        draws = {one.name: one.default for one in inspect.signature(function).parameters.values()}
        texts = {'en': english.replace('\n', ' '), 'cn': chinese.replace('\n', '')}
        found = Question(name, source, subject, level, function, draws, texts)
        REGISTRY[name] = found
        return found

    return add


COMPILED: dict[str, CodeType] = {}


def _value(expression: str, names: dict[str, Any]) -> Any:
    """Evaluate an expression of a statement or a range, which are all this package's own."""
    if expression not in COMPILED:
        COMPILED[expression] = compile(expression, f'<{expression}>', 'eval')
    return eval(COMPILED[expression], names)


def _number(number: Number, known: Known) -> Any:
    return _value(number, {**PLAIN, **known}) if isinstance(number, str) else number


def questions(source: str = 'all') -> list[Question]:
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
    return sorted((one for one in REGISTRY.values() if one.source in sources), key=_place)


def question_named(name: str) -> Question:
    """Return the question of this name.

    Raises:
        ValueError: If there is none, naming similar ones.
    """
    import difflib

    named = {one.name: one for one in questions()}
    if name not in named:
        near = difflib.get_close_matches(name, named)
        hint = f'do you mean {", ".join(near)}?' if near else 'see gpassk rv list'
        raise ValueError(f'there is no question {name!r}; {hint}')
    return named[name]


def _place(one: Question) -> tuple[int, int, int, str]:
    return (
        list(SUBJECTS).index(one.source),
        SUBJECTS[one.source].index(one.subject),
        LEVELS[one.source].index(one.level),
        one.name,
    )
