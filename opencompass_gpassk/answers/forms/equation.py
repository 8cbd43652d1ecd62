"""Equations and other relations: a value with a name, an equation of a curve, a congruence."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from opencompass_gpassk.answers.algebra import compare_equations
from opencompass_gpassk.answers.braces import ENVIRONMENT, TEXT_COMMAND, split_with
from opencompass_gpassk.answers.forms.expression import Expression
from opencompass_gpassk.answers.forms.form import Form, Parse, compare, is_name
from opencompass_gpassk.answers.forms.number import Number, parse_number
from opencompass_gpassk.answers.forms.sets import FLIP
from opencompass_gpassk.answers.sameness import Relation, all_of
from opencompass_gpassk.answers.units import split_unit

OPERATOR = re.compile(r'\\(?:le|ge|ne|in|equiv|approx)(?![a-zA-Z])|(?<!:)[<>]|=|\\to(?![a-zA-Z])')
# The measure of a figure: AB, |AB|, \cos\alpha, \angle ABC, AB:CD, \frac{AB}{CD}, S_{ABC}:S.
FIGURE = re.compile(
    r"\|?(?:\\(?:angle|triangle|overline|vec|overrightarrow)\s?)?\{?[A-Z][A-Z']*\}?\|?"
    r'|[A-Z]+(?:_\{?[\w\\ ]+\}?)?\s?:\s?[A-Z]+(?:_\{?[\w\\ ]+\}?)?'
    r"|\\frac\{[A-Z']+(?:_\{?\w+\}?)?\}\{[A-Z']+(?:_\{?\w+\}?)?\}"
    r'|\\(?:Delta|angle)\s?[a-zA-Z]|[a-z](?:\s?:\s?[a-z])+|[A-Z](?:\s?\\c[au]p\s?[A-Z])+'
)
VARIABLE = re.compile(r'(?<![a-zA-Z\\])(?![ACP]_\{?\d)(?![ei](?![a-zA-Z]))[a-zA-Z]')
TUPLE_NAME = re.compile(r"\([\w\\{}, ']+\)")
COMPUTED = re.compile(r'\\(?:lim|sum|int|prod|bmod|mod|ldots)(?![a-zA-Z])')
GREATER = ('>', '\\ge')


@dataclass(frozen=True, kw_only=True)
class Equation(Form):
    """A relation between sides; the operators of an inequality point to the greater side.

    Attributes:
        operators: Between the sides, such as '=' and '<'.
        terms: The sides.
    """

    operators: str
    terms: tuple[Form, ...]

    @classmethod
    def read(cls, text: str, parse: Parse) -> Form | None:
        """Read a relation; one that gives a name to a value is that value."""
        sides, operators = split_with(text, OPERATOR)
        if len(sides) < 2 or not all(sides):
            return None
        value = _read_value(text, sides, operators, parse)
        if value:
            return value
        if operators[0] in GREATER and all(o in (*GREATER, '=') for o in operators):
            sides, operators = sides[::-1], [FLIP.get(o, o) for o in operators[::-1]]
        terms = tuple(parse(side) for side in sides)
        return cls(text=text, operators=' '.join(operators), terms=terms)

    @classmethod
    def of(cls, form: Form) -> Equation | None:
        """Return a named value, ``y = 2x``, as a relation."""
        if isinstance(form, cls):
            return form
        if not form.name or not form.scalar:
            return None
        return cls(operators='=', terms=(Expression(text=form.name), replace(form, name='')))

    def parts(self) -> tuple[Form, ...]:
        """Return the sides."""
        return self.terms

    def is_plain(self) -> bool:
        """Return False: sides are compared by computer algebra."""
        return False

    def canonical(self) -> str:
        """Return the operators and the sides."""
        return f'{self.operators}: ' + ', '.join(term.canonical() for term in self.terms)

    def compare(self, answer: Equation) -> Relation:
        """Compare two relations: by the difference of their sides, if they are of two values."""
        if self.operators != answer.operators:
            return Relation.UNKNOWN
        terms = (*self.terms, *answer.terms)
        values = [tuple(term.value() for term in one.terms) for one in (self, answer)]
        if values[0] == values[1] and None not in values[0]:
            return Relation.SAME
        scalars = all(term.scalar for term in terms)
        if scalars and self.operators in ('=', '<', '\\le', '\\ne') and len(self.terms) == 2:
            first, second = ((str(left), str(right)) for left, right in values)
            rounded = any(isinstance(term, Number) and term.digits for term in terms)
            flips = self.operators in ('=', '\\ne')
            return compare_equations(first, second, flips=flips, rounded=rounded)
        if len(self.terms) != len(answer.terms):
            return Relation.DIFFERENT
        return all_of(compare(a, b) for a, b in zip(self.terms, answer.terms, strict=True))


def _read_value(text: str, sides: list[str], operators: list[str], parse: Parse) -> Form | None:
    """Read a relation that gives a value: x = 5, (a, b) = (1, 2), x = 3 + 4 = 7, 99/19 ≈ 5.21."""
    named = is_name(sides[0]) or FIGURE.fullmatch(sides[0])
    if '\\approx' in operators:
        at = operators.index('\\approx')
        about = parse_number(sides[at + 1])
        if about and at + 2 == len(sides) and not (at == 0 and named):
            return replace(parse('='.join(sides[:-1])), rounded=about)
        operators = [o if o != '\\approx' else '=' for o in operators]
    if set(operators) == {'\\in'} and len(sides) == 2:
        return _named(sides[1], sides[0], parse)
    if set(operators) != {'='}:
        return None
    if named or TUPLE_NAME.fullmatch(sides[0]):
        return _equated(_named(sides[-1], sides[0], parse), sides[1:-1], parse)
    if len(sides) == 2 and is_name(sides[1]):
        return _named(sides[0], sides[1], parse)
    bare = '='.join([*sides[:-1], split_unit(sides[-1])[0]])
    free = VARIABLE.search(ENVIRONMENT.sub(' ', bare))
    if len(sides) > 2 or not free or COMPUTED.search(sides[0]):
        return _equated(parse(sides[-1]), sides[:-1], parse)
    return None


def _equated(value: Form, others: list[str], parse: Parse) -> Form:
    """Return a value with the other sides of its equation, but for sums, limits and formulas."""
    number = isinstance(value, Number)
    shown = (o for o in others if not COMPUTED.search(o) and not (number and VARIABLE.search(o)))
    return replace(value, sides=tuple(parse(side) for side in shown))


def _named(value: str, name: str, parse: Parse) -> Form:
    said = TEXT_COMMAND.fullmatch(name)
    return replace(parse(value), name=re.sub(r'[\s{}]', '', said[1] if said else name))
