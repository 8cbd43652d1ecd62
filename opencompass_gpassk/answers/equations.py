"""Answers that state something: equations, inequalities, and the intervals these mean."""

from __future__ import annotations

import re
from collections.abc import Callable

from opencompass_gpassk.answers.braces import split_top
from opencompass_gpassk.answers.form import Form, Kind
from opencompass_gpassk.answers.numbers import parse_number

__all__ = ['read_relation']

Parse = Callable[[str], Form]

RELATION = re.compile(r'\\(?:le|ge|ne|in|equiv|approx)(?![a-zA-Z])|(?<!:)[<>]|=|\\to(?![a-zA-Z])')
ENVIRONMENT = re.compile(r'\\(?:begin|end)\{\w*\}(?:\{\w*\})?')
# The measure of a figure: AB, |AB|, \angle ABC, AB:CD, \frac{AB}{CD}, S_{ABC}:S.
FIGURE = re.compile(
    r"\|?(?:\\(?:angle|triangle|overline|vec|overrightarrow)\s?)?\{?[A-Z][A-Z']*\}?\|?"
    r'|[A-Z]+(?:_\{?[\w\\ ]+\}?)?\s?:\s?[A-Z]+(?:_\{?[\w\\ ]+\}?)?'
    r"|\\frac\{[A-Z']+(?:_\{?\w+\}?)?\}\{[A-Z']+(?:_\{?\w+\}?)?\}"
    r'|\\(?:Delta|angle)\s?[a-zA-Z]'
)
VARIABLE = re.compile(r'(?<![a-zA-Z\\])(?![ei](?![a-zA-Z]))[a-zA-Z]')
NAME = re.compile(r"\\?(?:[a-zA-Z]+|[a-zA-Z]\d)(?:_\{?[\w,\\ ]+\}?)?'*(?:\s?\(\s?\\?[\w, ]+\s?\))?")
TUPLE_NAME = re.compile(r"\([\w\\{}, ']+\)")
COMPUTED = re.compile(r'\\(?:lim|sum|int|prod|bmod|mod)(?![a-zA-Z])')
FLIP = {'>': '<', '\\ge': '\\le'}
ORDER = {'<', '>', '\\le', '\\ge'}


def read_relation(text: str, parse: Parse) -> Form | None:
    sides = [side.strip() for side in split_top(text, RELATION)]
    if len(sides) < 2:
        return None
    operators = _operators(text, sides)
    if '\\approx' in operators:
        at = operators.index('\\approx')
        rounded = parse_number(sides[at + 1])
        named = at == 0 and (NAME.fullmatch(sides[0]) or FIGURE.fullmatch(sides[0]))
        keep = at + 1 if rounded and not named else at + 2
        operators = [o if o != '\\approx' else '=' for o in operators[: keep - 1]]
        sides = sides[:keep]
        if len(sides) == 1:
            return parse(sides[0])
    if any(not side for side in sides):
        return None
    if set(operators) == {'\\in'} and len(sides) == 2:
        return _named(sides[1], sides[0], parse)
    if set(operators) == {'='}:
        if any(p.fullmatch(sides[0]) for p in (NAME, TUPLE_NAME, FIGURE)):
            return _named(sides[-1], sides[0], parse)
        if len(sides) == 2 and NAME.fullmatch(sides[1]) and not NAME.fullmatch(sides[0]):
            return _named(sides[0], sides[1], parse)
        if (
            len(sides) > 2
            or not VARIABLE.search(ENVIRONMENT.sub(' ', text))
            or COMPUTED.search(sides[0])
        ):
            return parse(sides[-1])
    interval = _interval(sides, operators, parse)
    if interval:
        return interval
    if operators[0] in FLIP and all(o in FLIP or o == '=' for o in operators):
        sides, operators = sides[::-1], [FLIP.get(o, o) for o in operators[::-1]]
    parts = tuple(parse(side) for side in sides)
    return Form(Kind.RELATION, ' '.join(operators), parts)


def _operators(text: str, sides: list[str]) -> list[str]:
    operators, position = [], 0
    for side in sides[:-1]:
        position = text.index(side, position) + len(side)
        match = RELATION.search(text, position)
        if match:
            operators.append(match.group())
            position = match.end()
    return operators


def _named(value: str, name: str, parse: Parse) -> Form:
    form = parse(value)
    return form.named(re.sub(r'[\s{}]', '', name))


def _interval(sides: list[str], operators: list[str], parse: Parse) -> Form | None:
    """Read ``a < x <= b``, ``x > a`` and the like, with bounds that are numbers."""
    if not set(operators) <= ORDER or len(sides) > 3:
        return None
    if operators[0] in FLIP and all(o in FLIP for o in operators):
        sides, operators = sides[::-1], [FLIP[o] for o in operators[::-1]]
    if any(o in FLIP for o in operators):
        return None
    bounds = [not re.search(r'(?<!\\)(?<![a-zA-Z])[a-zA-Z](?![a-zA-Z])', side) for side in sides]
    closed = [o == '\\le' for o in operators]
    if len(sides) == 3 and bounds == [True, False, True]:
        low, name, high = sides
        brackets = ('[' if closed[0] else '(') + (']' if closed[1] else ')')
    elif len(sides) == 2 and bounds == [True, False]:
        low, name, high = sides[0], sides[1], '\\infty'
        brackets = ('[' if closed[0] else '(') + ')'
    elif len(sides) == 2 and bounds == [False, True]:
        low, name, high = '-\\infty', sides[0], sides[1]
        brackets = '(' + (']' if closed[0] else ')')
    else:
        return None
    if not NAME.fullmatch(name):
        return None
    parts = (parse(low), parse(high))
    return Form(Kind.TUPLE, brackets, parts, name=re.sub(r'[\s{}]', '', name))
