"""What all forms of an answer share: how a form is read, and how two of any forms are compared."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

from opencompass_gpassk.answers.braces import TEXT_COMMAND, balanced, split_top
from opencompass_gpassk.answers.sameness import Relation, all_of
from opencompass_gpassk.answers.units import MEASURES, WORDLISTS, factor, split_unit, units_agree

Parse = Callable[[str], 'Form']


@dataclass(frozen=True, kw_only=True)
class Form:
    """An answer of one form. A subclass says how it is read, made canonical and compared.

    Attributes:
        text: What it was read from, in its normal spelling.
        name: The variable that has this value, as in ``x = 5``; '' if none.
        unit: The unit after it, '' if none.
        sides: The other sides of the equation that ends in this value, 3 + 4 in ``x = 3 + 4 = 7``.
        rounded: What it is about, 5.21 in ``99/19 \\approx 5.21``.
    """

    text: str = ''
    name: str = ''
    unit: str = ''
    sides: tuple[Form, ...] = ()
    rounded: Form | None = None

    scalar: ClassVar[bool] = False  # whether it is a single value, which may have a unit
    sharp: ClassVar[bool] = False  # whether it can be nothing else, as a number or an interval

    @classmethod
    def of(cls, form: Form) -> Any:
        """Return an answer that was read in another form in this one; None if it has none."""
        return form if isinstance(form, cls) else None

    def parts(self) -> tuple[Form, ...]:
        """Return the forms that it is made of."""
        return ()

    def is_plain(self) -> bool:
        """Tell whether it is compared without computer algebra."""
        sides = (*self.sides, self.rounded) if self.rounded else self.sides
        return all(part.is_plain() for part in (*self.parts(), *sides))

    def canonical(self) -> str:
        """Return a text that is equal for equivalent answers, as far as rules can tell."""
        raise NotImplementedError

    def compare(self, answer: Any) -> Relation:
        """Compare a gold answer with an answer of the same form."""
        raise NotImplementedError

    def excludes(self, answer: Form) -> bool:
        """Tell whether it is different from an answer that has no form in common with it."""
        return self.sharp and answer.sharp

    def value(self) -> str | None:
        """Return the LaTeX of it as one value; None if it is several or none."""
        return None

    def is_single(self) -> bool:
        """Tell whether it is one value, and can't be a vector or a set."""
        return False

    def constant(self) -> Fraction | None:
        """Return the real number that it is, to 30 digits; None if it is none."""
        return None


# How a text is tried as one form after another, filled by the package: the last takes any. A reader
# returns None if the text has another form; it gets a function that reads parts of the text.
READERS: list[Callable[[str, Parse], Form | None]] = []
LEVELS = 7  # of parts of parts
COMMA = re.compile(r'[,;]')
DOTS = '\\ldots'  # for elements or terms that are left out
LETTER = re.compile(r'\([A-J]\)')


def parse(text: str, level: int = 0) -> Form:
    """Read an answer in its normal spelling; the last of the forms takes what no other does."""
    text = _unwrapped(text.strip())
    whole = TEXT_COMMAND.fullmatch(text)
    text = whole[1].strip() if whole else text
    readers = READERS if level < LEVELS else READERS[-1:]
    found = (read(text, partial(parse, level=level + 1)) for read in readers)
    return next(form for form in found if form)


def read_measured(text: str, parse: Parse) -> Form | None:
    """Read a single value with a unit."""
    bare, unit = split_unit(text)
    value = parse(bare) if unit else None
    return replace(value, unit=unit) if value and value.scalar else None


def _unwrapped(text: str) -> str:
    """Remove braces and parentheses around a whole single value."""
    while len(text) > 1 and text[0] in '{(' and text[-1] == {'{': '}', '(': ')'}[text[0]]:
        inner = text[1:-1]
        if not balanced(inner) or len(split_top(inner, COMMA)) > 1 or LETTER.fullmatch(text):
            break
        text = inner.strip()
    return text


FUNCTIONS = frozenset(
    'sin cos tan cot sec csc log ln lg exp sqrt max min gcd lcm mod arcsin arccos arctan sinh cosh '  # noqa: SIM905
    'tanh det'.split()
)
GREEK = frozenset(
    'alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta kappa lambda mu nu xi pi '  # noqa: SIM905
    'rho sigma tau phi varphi chi psi omega ell complement Gamma Delta Theta Lambda Sigma Phi '
    'Psi Omega'.split()
)
QUANTITIES = frozenset(WORDLISTS['quantities'])
NAME = re.compile(
    r"\\?(?:[a-zA-Z]+|[a-zA-Z]\d)(?:_\{?[\w,\\ ]+\}?)?(?:'*|\^\{?-1\}?(?=\s?\())"
    r'(?:\s?\(\s?\\?[\w, ]+\s?\))?'
)


def is_name(text: str) -> bool:
    """Tell whether a text may name a value: x, a_n, f(x), AB or width, but not guess or log."""
    said = TEXT_COMMAND.fullmatch(text)
    text = said[1].strip() if said else text
    if not NAME.fullmatch(text):
        return False
    word = re.split(r'[^a-zA-Z]', text.lstrip('\\'))[0]
    if text[0] == '\\':
        return word in GREEK
    known = len(word) < 3 or word.isupper() or word.lower() in QUANTITIES
    return known and word not in FUNCTIONS


def compare(gold: Form, answer: Form) -> Relation:
    """Compare two answers with their units, names and sides; one that says 7 = 11 is different.

    Raises:
        UnreadableError: If an expression in one of them cannot be read.
    """
    if not _may_name_one(gold.name, answer.name):
        return Relation.UNKNOWN
    if not units_agree(gold.unit, answer.unit):
        return _compare_measures(gold, answer)
    relation = _compare_forms(gold, answer)
    if relation is Relation.DIFFERENT and _converted(gold, answer):
        return Relation.UNKNOWN
    if relation is Relation.DIFFERENT or not (answer.sides or answer.rounded):
        return relation
    value = replace(answer, sides=(), rounded=None, name='')
    if answer.rounded and _compare_forms(value, answer.rounded) is Relation.DIFFERENT:
        return Relation.DIFFERENT
    sides = all_of(compare(value, side) for side in answer.sides)
    if sides is Relation.DIFFERENT and None in (s.constant() for s in (value, *answer.sides)):
        sides = Relation.UNKNOWN  # x^2 + 1 = 5 need not hold for all x
    return all_of((relation, sides))


def _converted(gold: Form, answer: Form) -> bool:
    """Tell whether one value has no unit and may be the other in another unit: 90 and 1.5 hours."""
    measured, bare = (gold, answer) if gold.unit else (answer, gold)
    size, number = measured.constant(), bare.constant()
    if not measured.unit or bare.unit or not size or number is None:
        return False
    return any(factor(measured.unit, other) == number / size for other in MEASURES)


def _compare_measures(gold: Form, answer: Form) -> Relation:
    """Compare values in two units of one kind; a decimal may be rounded: 1.33 hours."""
    size, value = factor(answer.unit, gold.unit), answer.value()
    if size is None or value is None:
        return Relation.UNKNOWN
    exact = parse(f'({value})\\cdot\\frac{{{size.numerator}}}{{{size.denominator}}}')
    relation = compare(gold, replace(exact, unit=gold.unit))
    decimals = '.' in gold.text + answer.text
    return Relation.UNKNOWN if relation is Relation.DIFFERENT and decimals else relation


def _compare_forms(gold: Form, answer: Form) -> Relation:
    """Compare two values in each form of theirs that both have."""
    found = []
    for kind in dict.fromkeys((type(gold), type(answer))):
        left, right = kind.of(gold), kind.of(answer)
        if left is not None and right is not None:
            found.append(left.compare(right))
    if Relation.SAME in found or not found:
        apart = gold.excludes(answer) or answer.excludes(gold)
        return Relation.SAME if found else Relation.DIFFERENT if apart else Relation.UNKNOWN
    return all_of(found) if set(found) == {Relation.DIFFERENT} else Relation.UNKNOWN


FUNCTION = re.compile(r'[a-zA-Z](?:\^-1)?\([a-z]\)')


def _may_name_one(name: str, other: str) -> bool:
    """Tell whether two names may mean the same: y and f(x) may, x and y may not."""
    curve = 'y' in (name, other) and bool(FUNCTION.fullmatch(name) or FUNCTION.fullmatch(other))
    return name == other or '' in (name, other) or curve
