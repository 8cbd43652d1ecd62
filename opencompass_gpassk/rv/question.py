r"""How a question with random variables is written, and where questions are found.

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

Questions of a file of the user's own have any subject and level, and need no Chinese statement.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import pkgutil
import re
import runpy
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from types import CodeType
from typing import TYPE_CHECKING, Any, Union

from opencompass_gpassk.rv import wording

if TYPE_CHECKING:
    import sympy


# Exact: an integer, a fraction, an expression of sympy, a text; a list where any order will do, a
# tuple where the order matters.
ExactAnswer = Union[int, Fraction, str, list[Any], tuple[Any, ...], 'sympy.Basic']
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
HAN = re.compile('[\u3000-\u9fff\uff00-\uffef]')  # Chinese characters and punctuation
MADE = '__questions__'  # in a module: name → question
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


class UnsoundError(Exception):
    """The variables make no sound problem, or one much easier or harder than the others."""


def require(condition: Any) -> None:
    """Leave out variables that make no sound problem, or one of another difficulty."""
    if not condition:
        raise UnsoundError


# What variables are drawn from.


def span(low: Number, high: Number, step: int = 1) -> Any:
    """An integer from low to high, both included."""
    return lambda rng, known: rng.choice(_range(low, high, known, step))


def either_sign(low: int, high: int) -> Any:
    """An integer from low to high, or its negative."""
    return lambda rng, known: rng.choice((-1, 1)) * rng.choice(_range(low, high, known))


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
        numbers = self.of or _range(self.low, self.high, known)
        if len(numbers) < count:
            raise ValueError(f'{count} different values are drawn from {len(numbers)}')
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
        source: ``math`` or ``leetcode``; '' of a question of the user's own.
        subject: One of the source's :data:`SUBJECTS`, or any.
        level: One of the source's :data:`LEVELS`, or any.
        function: Returns the answer for values of the variables.
        draws: Variable → how it is drawn, in their order.
        statements: Language → the statement with its places; English is always there.
    """

    name: str
    source: str
    subject: str
    level: int | str
    function: Callable[..., ExactAnswer]
    draws: Mapping[str, Draw]
    statements: Mapping[str, str]

    @property
    def place(self) -> str:
        """File, line and name."""
        code = self.function.__code__
        return f'{code.co_filename}, line {code.co_firstlineno}: question {self.name}'

    def draw(self, rng: Random) -> Version | None:
        """Draw the variables; None if they make no sound problem."""
        known: dict[str, Any] = {}
        for draw, alike in itertools.groupby(self.draws, self.draws.__getitem__):
            names = list(alike)
            try:
                if isinstance(draw, Pool):
                    known |= zip(names, draw.draw(rng, known, len(names)), strict=True)
                else:
                    known[names[0]] = draw(rng, known)
            except Exception as error:
                raise ValueError(
                    f'parameter {", ".join(names)}: {error}; write the values that it is drawn '
                    f'from, such as {names[0]}=span(2, 9), the smaller number first'
                ) from error
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
    answer: ExactAnswer

    def text(self, language: str = 'en') -> str:
        """Return the problem's text, mathematics in LaTeX between dollar signs."""

        def fill(place: re.Match[str]) -> str:
            sign, expression = place[1][0] == '+', place[1].removeprefix('+')
            value = _value(expression, {**WORDS[language], **self.variables})
            return wording.signed(value) if sign else wording.latex(value)

        return PLACE.sub(fill, self.question.statements[language])


def question(subject: str, level: int | str) -> Callable[[Callable[..., ExactAnswer]], Question]:
    """Make the decorated function a question of its module.

    Raises:
        ValueError: If another question of the module has the name, the function has no statement,
            or a parameter is not drawn from anything.
    """
    source = next((name for name, subjects in SUBJECTS.items() if subject in subjects), '')

    def add(function: Callable[..., ExactAnswer]) -> Question:
        name = ''.join(part.capitalize() for part in function.__name__.split('_'))
        made = function.__globals__.setdefault(MADE, {})
        draws = {one.name: one.default for one in inspect.signature(function).parameters.values()}
        found = Question(name, source, subject, level, function, draws, _statements(function))
        with told_of(found):
            if name in made:
                raise ValueError(f'there are two questions {name}; give one another name')
            if not found.statements:
                raise ValueError(
                    'it needs a docstring: the English statement in one paragraph, and perhaps '
                    'an empty line and the Chinese one'
                )
            for one, draw in draws.items():
                if isinstance(draw, type) or not (callable(draw) or isinstance(draw, Pool)):
                    plain = '' if draw is inspect.Parameter.empty else f' = {draw!r}'
                    raise ValueError(
                        f'parameter {one}{plain} is not drawn from anything; write what, such as '
                        f'{one}=span(2, 9) or {one}=one_of(3, 5), or move it into the body'
                    )
        made[name] = found
        return found

    return add


def _statements(function: Callable[..., ExactAnswer]) -> dict[str, str]:
    """Return language → statement in a function's docstring; {} if it isn't one or two texts."""
    english, *others = re.split(r'\n\s*\n', inspect.cleandoc(function.__doc__ or ''))
    if not english or len(others) > 1 or not all(map(HAN.search, others)):
        return {}
    texts = [english.replace('\n', ' '), *(one.replace('\n', '') for one in others)]
    return dict(zip(LANGUAGES, texts, strict=False))


@contextmanager
def told_of(one: Question) -> Iterator[None]:
    """Name a question, its file and its line in an error of what stands in it."""
    try:
        yield
    except Exception as error:  # a question is Python, which may raise anything
        kind = '' if isinstance(error, ValueError) else f'{type(error).__name__}: '
        raise ValueError(f'{one.place}: {kind}{error}') from error


COMPILED: dict[str, CodeType] = {}


def _value(expression: str, names: dict[str, Any]) -> Any:
    """Evaluate an expression of a statement or a range, this package's or the user's own."""
    if expression not in COMPILED:
        COMPILED[expression] = compile(expression, f'<{expression}>', 'eval')
    return eval(COMPILED[expression], names)


def _number(number: Number, known: Known) -> Any:
    return _value(number, {**PLAIN, **known}) if isinstance(number, str) else number


def _range(low: Number, high: Number, known: Known, step: int = 1) -> range:
    """Return the integers of a range, both ends included; ValueError if there are none."""
    ends = _number(low, known), _number(high, known)
    if not (found := range(ends[0], ends[1] + 1, step)):
        raise ValueError(f'there is no number from {ends[0]} to {ends[1]}')
    return found


def questions(source: str = 'all', path: str | None = None) -> list[Question]:
    """Return all questions of a source, by subject, level and name, or those of a file, in order.

    Args:
        source: ``math``, ``leetcode`` or ``all``, which has math first.
        path: The user's own file of questions, in Python, which is executed; no source applies.

    Raises:
        ValueError: If the source is unknown, or the file is none of questions; with its line.
    """
    if path:
        return [replace(one, source='') for one in _executed(Path(path).expanduser())]
    if source not in ('all', *SUBJECTS):
        raise ValueError(f'source is {source!r}; use one of {", ".join(SUBJECTS)}, all')
    sources = list(SUBJECTS) if source == 'all' else [source]
    found: list[Question] = []
    for name in sources:
        package = importlib.import_module(f'opencompass_gpassk.rv.{name}')
        for module in pkgutil.iter_modules(package.__path__):
            made = importlib.import_module(f'{package.__name__}.{module.name}')
            found += vars(made)[MADE].values()
    return sorted(found, key=_place)


def is_executed(path: str | Path | None) -> bool:
    """Tell whether a file is one of questions in Python, which must be the user's own.

    What names it in a run's folder may come from anyone.
    """
    return path is not None and Path(path).suffix == '.py'


def _executed(path: Path) -> Iterable[Question]:
    """Execute a file of questions, and return what it defines."""
    if not is_executed(path) or not path.is_file():
        raise ValueError(f'{path}: there is no such file of questions; its name ends with .py')
    try:
        made = runpy.run_path(str(path)).get(MADE, {})
    except Exception as error:  # it is Python, which may raise anything
        if str(error).startswith(f'{path}, line '):  # of a question
            raise
        places = traceback.extract_tb(error.__traceback__)
        lines = [at.lineno for at in places if at.filename == str(path)]
        line = error.lineno if isinstance(error, SyntaxError) else lines[-1] if lines else 1
        said = error.msg if isinstance(error, SyntaxError) else error
        raise ValueError(f'{path}, line {line}: {type(error).__name__}: {said}') from error
    if not made:
        raise ValueError(
            f'{path}: it has no question; write functions with @question above them, as '
            'docs/rvbench.md shows'
        )
    return made.values()


def question_named(name: str, path: str | None = None) -> Question:
    """Return the question of this name, of this package or of the user's own file.

    Raises:
        ValueError: If there is none, naming similar ones.
    """
    return questions_named([name], path)[0]


def questions_named(names: Sequence[str], path: str | None = None) -> list[Question]:
    """Return the questions of these names, in this order; a file is executed once.

    Raises:
        ValueError: If there is none of a name, naming similar ones.
    """
    import difflib

    named = {one.name: one for one in questions(path=path)}
    if unknown := [name for name in names if name not in named]:
        near = difflib.get_close_matches(unknown[0], named)
        hint = f'do you mean {", ".join(near)}?' if near else 'see gpassk rv list'
        raise ValueError(f'there is no question {unknown[0]!r}; {hint}')
    return [named[name] for name in names]


def _place(one: Question) -> tuple[int, int, int, str]:
    return (
        list(SUBJECTS).index(one.source),
        SUBJECTS[one.source].index(one.subject),
        LEVELS[one.source].index(one.level),
        one.name,
    )
