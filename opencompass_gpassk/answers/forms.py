"""The form of an answer: a number, a list, an interval, a relation, a matrix, a choice, words."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum

from opencompass_gpassk.answers.braces import split_top
from opencompass_gpassk.answers.numbers import Number, parse_number
from opencompass_gpassk.answers.units import split_unit

__all__ = ['Form', 'Kind', 'parse_form']


class Kind(str, Enum):
    """What an answer is."""

    NUMBER = 'number'
    EXPRESSION = 'expression'
    TEXT = 'text'
    CHOICE = 'choice'
    LIST = 'list'  # without brackets: order is free
    SET = 'set'
    TUPLE = 'tuple'  # in brackets: coordinates or an interval
    UNION = 'union'
    MATRIX = 'matrix'
    RELATION = 'relation'


@dataclass(frozen=True)
class Form:
    """An answer taken apart.

    Attributes:
        kind: What it is.
        text: LaTeX of an expression, words of a text, letter of a choice, the outer brackets of a
            tuple such as ``[)``, the operators of a relation, rows x columns of a matrix.
        parts: The elements.
        number: The value of a number.
        name: The variable it is said to be the value of, as in ``x = 5``; '' if none.
        unit: The unit behind it, '' if none.
    """

    kind: Kind
    text: str = ''
    parts: tuple[Form, ...] = field(default=())
    number: Number | None = None
    name: str = ''
    unit: str = ''


LIST = re.compile(
    r'[,;]\s*(?:\\text\{\s*(?:and|or)\s*\}|(?:and|or)(?![a-zA-Z]))?'
    r'|\\text\{\s*,?\s*(?:and|or|,)\s*\}|(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])|和|或者?|以及|及'
)
RELATION = re.compile(r'\\(?:le|ge|ne|in|equiv|approx)(?![a-zA-Z])|(?<!:)[<>]|=|\\to(?![a-zA-Z])')
CUP = re.compile(r'\\cup(?![a-zA-Z])')
WHOLE_TEXT = re.compile(r'\\text\{([^{}]*)\}')
TEXT_COMMAND = re.compile(r'\\text\{([^{}]*)\}')
CHOICE = re.compile(r'[(\[]?\s*([A-J])\s*[)\]]?[.:]?')
CHOICE_LEAD = re.compile(r'(?:\(([A-J])\)|([A-J])(?:[.)]|:\s))\s*\S')
WORD = re.compile(r'(?<![\\a-zA-Z])[a-zA-Z]{3,}|[^\W\d_a-zA-Z\u0370-\u03ff]')
FIGURE_NAME = re.compile(r'[A-Z]{3,5}')
FUNCTIONS = frozenset(
    'sin cos tan cot sec csc log exp max min gcd lcm mod arcsin arccos arctan sinh cosh tanh '  # noqa: SIM905
    'det'.split()
)
MATRIX = re.compile(r'\\begin\{([pbBv]?matrix|array)\}(?:\{[^{}]*\})?(.*)\\end\{\1\}', re.DOTALL)
ENVIRONMENT = re.compile(r'\\(?:begin|end)\{\w*\}(?:\{\w*\})?')
ROW = re.compile(r'\\\\(?:\[[^\]]*\])?')
CELL = re.compile(r'&')
# The measure of a figure: AB, |AB|, \angle ABC, AB:CD, \frac{AB}{CD}, S_{ABC}:S.
FIGURE = re.compile(
    r"\|?(?:\\(?:angle|triangle|overline|vec|overrightarrow)\s?)?\{?[A-Z][A-Z']*\}?\|?"
    r'|[A-Z]+(?:_\{?[\w\\ ]+\}?)?\s?:\s?[A-Z]+(?:_\{?[\w\\ ]+\}?)?'
    r"|\\frac\{[A-Z']+(?:_\{?\w+\}?)?\}\{[A-Z']+(?:_\{?\w+\}?)?\}"
    r'|\\(?:Delta|angle)\s?[a-zA-Z]'
)
VARIABLE = re.compile(r'(?<![a-zA-Z\\])(?![ei](?![a-zA-Z]))[a-zA-Z]')
COMMA = re.compile(r',')
SEMICOLON = re.compile(
    r';|\\text\{\s?(?:and|or)\s?\}|(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])|或者?|和'
)
RATIO = re.compile(r':')
NAME = re.compile(r"\\?[a-zA-Z]+(?:_\{?[\w,\\ ]+\}?)?'*(?:\s?\(\s?\\?[\w, ]+\s?\))?")
TUPLE_NAME = re.compile(r"\([\w\\{}, ']+\)")
COMPUTED = re.compile(r'\\(?:lim|sum|int|prod|bmod|mod)(?![a-zA-Z])')
PM = re.compile(r'\\pm(?![a-zA-Z])|\+/-|\+-')
FLIP = {'>': '<', '\\ge': '\\le'}
ORDER = {'<', '>', '\\le', '\\ge'}
INFINITY = {'\\infty', '-\\infty'}


def parse_form(text: str, level: int = 0) -> Form:
    """Take an answer in its normal spelling apart."""
    text = _unwrapped(text.strip())
    whole = WHOLE_TEXT.fullmatch(text)
    if whole:
        text = whole.group(1).strip()
    choice = CHOICE.fullmatch(text)
    if choice:
        return Form(Kind.CHOICE, choice.group(1))
    number = parse_number(text)
    if number:
        return Form(Kind.NUMBER, number=number)
    if level > 6:
        return Form(Kind.EXPRESSION, text)
    bare, unit = split_unit(text)
    if unit:
        form = parse_form(bare, level + 1)
        if form.kind in (Kind.NUMBER, Kind.EXPRESSION):
            return Form(form.kind, form.text, form.parts, form.number, form.name, unit)
    if CHOICE_LEAD.match(text):
        return Form(Kind.CHOICE, next(g for g in CHOICE_LEAD.match(text).groups() if g))  # type: ignore[union-attr]
    if _is_words(text):
        return Form(Kind.TEXT, words(text))
    for take in READERS:
        found = take(text, level)
        if found:
            return found
    return Form(Kind.EXPRESSION, text)


def words(text: str) -> str:
    """Return a text's words in lower case without punctuation and articles."""
    text = TEXT_COMMAND.sub(r' \1 ', text).lower()
    text = re.sub(r'[^\w\\^+*/=<>()-]+', ' ', text)
    return ' '.join(word for word in text.split() if word not in {'the', 'a', 'an'})


def _is_words(text: str) -> bool:
    bare = ENVIRONMENT.sub(' ', text)
    bare = TEXT_COMMAND.sub(lambda m: f' {m.group(1)} ', bare)
    found = [
        word
        for word in WORD.findall(LIST.sub(' ', bare))
        if word.lower() not in FUNCTIONS
        and not (word.isupper() and word.isascii() and len(word) < 6)
    ]
    return bool(found) and '\\operatorname' not in text


def _unwrapped(text: str) -> str:
    """Take away braces and parentheses around the whole of a single value."""
    while len(text) > 1 and text[0] in '{(' and text[-1] == {'{': '}', '(': ')'}[text[0]]:
        inner = text[1:-1]
        if not _balanced(inner) or len(split_top(inner, LIST)) > 1:
            break
        if text[0] == '(' and CHOICE.fullmatch(text):
            break
        text = inner.strip()
    return text


def _balanced(text: str) -> bool:
    level = 0
    for token in re.finditer(r'\\.|[][(){}]', text):
        word = token.group()
        if word in '([{' or word == '\\{':
            level += 1
        elif word in ')]}' or word == '\\}':
            level -= 1
            if level < 0:
                return False
    return level == 0


def _as_list(text: str, level: int) -> Form | None:
    outer = split_top(text, SEMICOLON)
    counts = {len(split_top(piece, COMMA)) for piece in outer}
    nested = len(outer) > 1 and len(counts) == 1 and counts != {1}
    pieces = [piece.strip() for piece in (outer if nested else split_top(text, LIST))]
    pieces = [piece for piece in pieces if piece]
    if len(pieces) < 2:
        return None
    parts = [parse_form(piece, level + 1) for piece in pieces]
    if parts[0].name and not any(part.name for part in parts[1:]):
        name = parts[0].name
        first = Form(**{**parts[0].__dict__, 'name': ''})
        return Form(Kind.LIST, parts=(first, *parts[1:]), name=name)
    names = {part.name for part in parts}
    if (
        all(part.kind in (Kind.TUPLE, Kind.UNION) and part.name for part in parts)
        and len(names) == 1
    ):
        inner = [p for part in parts for p in (part.parts if part.kind is Kind.UNION else [part])]
        return Form(Kind.UNION, parts=tuple(inner), name=names.pop())
    if len(names) == 1 and '' not in names:
        parts = [Form(**{**part.__dict__, 'name': ''}) for part in parts]
        return Form(Kind.LIST, parts=tuple(parts), name=names.pop())
    return Form(Kind.LIST, parts=tuple(parts))


def _as_relation(text: str, level: int) -> Form | None:
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
            return parse_form(sides[0], level + 1)
    if any(not side for side in sides):
        return None
    if set(operators) == {'\\in'} and len(sides) == 2:
        return _named(sides[1], sides[0], level)
    if set(operators) == {'='}:
        if any(p.fullmatch(sides[0]) for p in (NAME, TUPLE_NAME, FIGURE)):
            return _named(sides[-1], sides[0], level)
        if len(sides) == 2 and NAME.fullmatch(sides[1]) and not NAME.fullmatch(sides[0]):
            return _named(sides[0], sides[1], level)
        if (
            len(sides) > 2
            or not VARIABLE.search(ENVIRONMENT.sub(' ', text))
            or COMPUTED.search(sides[0])
        ):
            return parse_form(sides[-1], level + 1)
    interval = _as_interval(sides, operators)
    if interval:
        return interval
    if operators[0] in FLIP and all(o in FLIP or o == '=' for o in operators):
        sides, operators = sides[::-1], [FLIP.get(o, o) for o in operators[::-1]]
    parts = tuple(parse_form(side, level + 1) for side in sides)
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


def _named(value: str, name: str, level: int) -> Form:
    form = parse_form(value, level + 1)
    return Form(**{**form.__dict__, 'name': re.sub(r'[\s{}]', '', name)})


def _as_interval(sides: list[str], operators: list[str]) -> Form | None:
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
    parts = (parse_form(low, 5), parse_form(high, 5))
    return Form(Kind.TUPLE, brackets, parts, name=re.sub(r'[\s{}]', '', name))


def _as_ratio(text: str, level: int) -> Form | None:
    pieces = [piece.strip() for piece in split_top(text, RATIO)]
    if len(pieces) < 2 or not all(pieces):
        return None
    return Form(Kind.TUPLE, '::', tuple(parse_form(piece, level + 1) for piece in pieces))


def _as_union(text: str, level: int) -> Form | None:
    pieces = split_top(text, CUP)
    if len(pieces) < 2:
        return None
    return Form(Kind.UNION, parts=tuple(parse_form(piece, level + 1) for piece in pieces))


def _as_bracketed(text: str, level: int) -> Form | None:
    if text.startswith('\\{') and text.endswith('\\}') and _balanced(text[2:-2]):
        opening, inner = '{', text[2:-2]
    elif len(text) > 1 and text[0] in '([{' and text[-1] in ')]}' and _balanced(text[1:-1]):
        opening, inner = text[0], text[1:-1]
    else:
        return None
    pieces = [piece.strip() for piece in split_top(inner, LIST)]
    if opening == '[' and len(pieces) == 1 and text[-1] == ']':
        return parse_form(inner, level + 1)
    if any(not piece for piece in pieces) or (opening != '{' and len(pieces) < 2):
        return None
    parts = tuple(parse_form(piece, level + 1) for piece in pieces)
    if opening == '{':
        return Form(Kind.SET, parts=parts)
    return Form(Kind.TUPLE, opening + text[-1], parts)


def _as_matrix(text: str, level: int) -> Form | None:
    inner = text
    bracketed = len(text) > 1 and text[0] in '([' and text[-1] in ')]'
    if bracketed and text[1:].lstrip().startswith('\\begin'):
        inner = text[1:-1].strip()
    match = MATRIX.fullmatch(inner)
    if not match or match.group(1) == 'vmatrix' or '\\begin' in match.group(2):
        return None
    rows = [row for row in ROW.split(match.group(2)) if row.strip()]
    cells = [[cell.strip() for cell in split_top(row, CELL)] for row in rows]
    width = len(cells[0]) if cells else 0
    if not width or any(len(row) != width for row in cells):
        return None
    parts = tuple(parse_form(cell, level + 1) for row in cells for cell in row)
    return Form(Kind.MATRIX, f'{len(cells)}x{width}', parts)


def _as_signs(text: str, level: int) -> Form | None:
    """Read one ± as the two values it stands for."""
    if len(PM.findall(text)) != 1:
        return None
    parts = tuple(parse_form(PM.sub(sign, text), level + 1) for sign in '+-')
    return Form(Kind.LIST, '±', parts)


READERS = (
    _as_list,
    _as_relation,
    _as_ratio,
    _as_union,
    _as_bracketed,
    _as_matrix,
    _as_signs,
)
