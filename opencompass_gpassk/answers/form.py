"""The form of an answer: a number, a list, an interval, a relation, a matrix, a choice, words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial

from opencompass_gpassk.answers.braces import balanced, split_top
from opencompass_gpassk.answers.numbers import Number, parse_number
from opencompass_gpassk.answers.units import split_unit

__all__ = ['Form', 'Kind', 'parse_form', 'words']


class Kind(str, Enum):
    """The kind of an answer."""

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
    """A parsed answer.

    Attributes:
        kind: Its kind.
        text: LaTeX of an expression, words of a text, letter of a choice, the outer brackets of a
            tuple such as ``[)``, the operators of a relation, rows x columns of a matrix.
        parts: The elements.
        number: The value of a number.
        name: The variable that has this value, as in ``x = 5``; '' if none.
        unit: The unit after it, '' if none.
        sides: The other sides of the equation that ends in this value, 3 + 4 in ``x = 3 + 4 = 7``.
        rounded: What it is about, 5.21 in ``99/19 \\approx 5.21``.
    """

    kind: Kind
    text: str = ''
    parts: tuple[Form, ...] = field(default=())
    number: Number | None = None
    name: str = ''
    unit: str = ''
    sides: tuple[Form, ...] = field(default=())
    rounded: tuple[Form, ...] = field(default=())

    def named(self, name: str) -> Form:
        """Return the same value with a name, or without one if it is ''."""
        return replace(self, name=name)

    def all_parts(self) -> tuple[Form, ...]:
        """Return the elements and all that is said to equal the value."""
        return (*self.parts, *self.sides, *self.rounded)

    def latex(self) -> str:
        """Return the LaTeX of a number, an expression or a matrix of these."""
        if self.number:
            value = self.number.value / (100 if self.number.percent else 1)
            if value.denominator == 1:
                return str(value.numerator)
            return f'\\frac{{{value.numerator}}}{{{value.denominator}}}'
        if self.kind is Kind.MATRIX:
            width = int(self.text.partition('x')[2])
            cells = [part.latex() for part in self.parts]
            rows = [' & '.join(cells[i : i + width]) for i in range(0, len(cells), width)]
            return '\\begin{pmatrix}' + ' \\\\ '.join(rows) + '\\end{pmatrix}'
        return self.text


Parse = Callable[[str], Form]

# Separators of the elements of a list: a comma, *and*, *or*, or their Chinese words.
LIST = re.compile(
    r'[,;]\s*(?:\\text\{\s*(?:and|or)\s*\}|(?:and|or)(?![a-zA-Z]))?'
    r'|\\text\{\s*,?\s*(?:and|or|,)\s*\}|(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])|和|或者?|以及|及'
)
# Separators of a list whose elements are lists: 1,2; 3,4.
SEMICOLON = re.compile(
    r';|\\text\{\s?(?:and|or)\s?\}|(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])|或者?|和'
)
OR = re.compile(r'(?<![a-zA-Z\\])or(?![a-zA-Z])|或')
COMMA = re.compile(r',')
RATIO = re.compile(r':')
CUP = re.compile(r'\\cup(?![a-zA-Z])')
# An environment of a matrix, with the columns of an array, and its content.
MATRIX = re.compile(r'\\begin\{([pbBv]?matrix|array)\}(?:\{[^{}]*\})?(.*)\\end\{\1\}', re.DOTALL)
# The end of a row, with an optional LaTeX length for the space below it.
ROW = re.compile(r'\\\\(?:\[[^\]]*\])?')
CELL = re.compile(r'&')
POINT = re.compile(r'[A-Z]\s?\(')  # A(1, 2)
PM = re.compile(r'\\pm(?![a-zA-Z])|\+/-|\+-')


def read_list(text: str, parse: Parse) -> Form | None:
    """Read elements without outer brackets; a name before the first belongs to the list."""
    outer = split_top(text, SEMICOLON)
    counts = {len(split_top(piece, COMMA)) for piece in outer}
    nested = len(outer) > 1 and len(counts) == 1 and counts != {1}
    pieces = [piece.strip() for piece in (outer if nested else split_top(text, LIST))]
    pieces = [piece for piece in pieces if piece]
    if len(pieces) < 2:
        return None
    parts = [parse(piece) for piece in pieces]
    if parts[0].name and not any(part.name for part in parts[1:]):
        name = parts[0].name
        first = parts[0].named('')
        return Form(Kind.LIST, parts=(first, *parts[1:]), name=name)
    names = {part.name for part in parts}
    ranges = all(part.kind in (Kind.TUPLE, Kind.UNION) for part in parts)
    if ranges and len(names) == 1 and '' not in names and OR.search(text):  # x < 1 or x > 2
        inner = [p for part in parts for p in (part.parts if part.kind is Kind.UNION else [part])]
        return Form(Kind.UNION, parts=tuple(inner), name=names.pop())
    if len(names) == 1 and '' not in names:
        parts = [part.named('') for part in parts]
        return Form(Kind.LIST, parts=tuple(parts), name=names.pop())
    return Form(Kind.LIST, parts=tuple(parts))


def read_ratio(text: str, parse: Parse) -> Form | None:
    """Read ``1:2:3``."""
    pieces = [piece.strip() for piece in split_top(text, RATIO)]
    if len(pieces) < 2 or not all(pieces):
        return None
    return Form(Kind.TUPLE, '::', tuple(parse(piece) for piece in pieces))


def read_union(text: str, parse: Parse) -> Form | None:
    """Read a union of intervals or sets."""
    pieces = split_top(text, CUP)
    if len(pieces) < 2:
        return None
    return Form(Kind.UNION, parts=tuple(parse(piece) for piece in pieces))


def read_bracketed(text: str, parse: Parse) -> Form | None:
    """Read coordinates, an interval or a set."""
    point = POINT.match(text)
    if point and not text.startswith('('):
        form = parse(text[1:])
        return form.named(text[0]) if form.kind is Kind.TUPLE else None
    if text.startswith('\\{') and text.endswith('\\}') and balanced(text[2:-2]):
        opening, inner = '{', text[2:-2]
    elif len(text) > 1 and text[0] in '([{' and text[-1] in ')]}' and balanced(text[1:-1]):
        opening, inner = text[0], text[1:-1]
    else:
        return None
    pieces = [piece.strip() for piece in split_top(inner, LIST)]
    if opening == '[' and len(pieces) == 1 and text[-1] == ']':
        return parse(inner)
    if any(not piece for piece in pieces) or (opening != '{' and len(pieces) < 2):
        return None
    parts = tuple(parse(piece) for piece in pieces)
    if opening == '{':
        return Form(Kind.SET, parts=parts)
    return Form(Kind.TUPLE, opening + text[-1], parts)


def read_matrix(text: str, parse: Parse) -> Form | None:
    """Read a matrix; all rows must have the same length."""
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
    parts = tuple(parse(cell) for row in cells for cell in row)
    return Form(Kind.MATRIX, f'{len(cells)}x{width}', parts)


def read_signs(text: str, parse: Parse) -> Form | None:
    """Read a value with one ± as two values."""
    if len(PM.findall(text)) != 1:
        return None
    parts = tuple(parse(PM.sub(sign, text)) for sign in '+-')
    return Form(Kind.LIST, '±', parts)


RELATION = re.compile(r'\\(?:le|ge|ne|in|equiv|approx)(?![a-zA-Z])|(?<!:)[<>]|=|\\to(?![a-zA-Z])')
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
        about = parse_number(sides[at + 1])
        named = at == 0 and (NAME.fullmatch(sides[0]) or FIGURE.fullmatch(sides[0]))
        if about and not named and at + 2 == len(sides):
            exact = parse('='.join(sides[:-1]))
            return replace(exact, rounded=(Form(Kind.NUMBER, number=about),))
        operators = [o if o != '\\approx' else '=' for o in operators]
    if any(not side for side in sides):
        return None
    if set(operators) == {'\\in'} and len(sides) == 2:
        return _named(sides[1], sides[0], parse)
    if set(operators) == {'='}:
        if any(p.fullmatch(sides[0]) for p in (NAME, TUPLE_NAME, FIGURE)):
            return _equated(_named(sides[-1], sides[0], parse), sides[1:-1], parse)
        if len(sides) == 2 and NAME.fullmatch(sides[1]) and not NAME.fullmatch(sides[0]):
            return _named(sides[0], sides[1], parse)
        if (
            len(sides) > 2
            or not VARIABLE.search(ENVIRONMENT.sub(' ', text))
            or COMPUTED.search(sides[0])
        ):
            return _equated(parse(sides[-1]), sides[:-1], parse)
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


def _equated(value: Form, others: list[str], parse: Parse) -> Form:
    """Return a value with the other sides of its equation, but for sums and limits."""
    return replace(value, sides=tuple(parse(o) for o in others if not COMPUTED.search(o)))


def _named(value: str, name: str, parse: Parse) -> Form:
    form = parse(value)
    return form.named(re.sub(r'[\s{}]', '', name))


def _interval(sides: list[str], operators: list[str], parse: Parse) -> Form | None:
    """Read an interval such as ``a < x <= b`` or ``x > a``, with numbers as bounds."""
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


TEXT_COMMAND = re.compile(r'\\text\{([^{}]*)\}')
# The letter of a choice alone: A, (A), [A], A., (A):
CHOICE = re.compile(r'[(\[]?\s*([A-J])\s*[)\]]?[.:]?')
# A choice before its content: (A) 5, B. 5, C: 5, \\text{(D) } 5; and a choice named as such.
CHOICE_LEAD = re.compile(
    r'(?:\(([A-J])\)|\\text\{\s?\(([A-J])\)\s?\}|([A-J])(?:[.)]|:\s))\s*(\S.*)', re.DOTALL
)
NAMED_CHOICE = re.compile(r'(?:[Oo]ption|[Cc]hoice|选项?|選項?)\s?\(?([A-J])\)?')
LETTER = re.compile(r'(?<![a-zA-Z\\_])[A-J](?![a-zA-Z])')
# Three letters or more that aren't a command, a short English word, or a letter of another script
# except Greek.
WORD = re.compile(
    r'(?<![\\a-zA-Z])(?:[a-zA-Z]{3,}|(?i:so|is|it|we|of|if|no|as|at|by|be|an|on|my|he)(?![a-zA-Z]))'
    r'|[^\W\d_a-zA-Z\u0370-\u03ff]'
)
WORD_BANG = re.compile(r'([^\W\d_]{3})!+(?=\s|$)')  # an exclamation, not a factorial
# Characters outside words; a point, comma or colon between digits is kept: 1.5 is not 15.
PUNCTUATION = re.compile(r"(?:(?!(?<=\d)[.,:](?=\d))[^\w\\^+*/=<>()\[\]|'%!?-])+")
CLOCK = re.compile(r'\d\s?[ap]\.?m\.?$', re.IGNORECASE)
FUNCTIONS = frozenset(
    'sin cos tan cot sec csc log exp max min gcd lcm mod arcsin arccos arctan sinh cosh tanh '  # noqa: SIM905
    'det'.split()
)
NUMBER_WORDS = {
    word: str(number)
    for words_ in (
        'zero one two three four five six seven eight nine ten eleven twelve',
        '零 一 二 三 四 五 六 七 八 九 十 十一 十二',
    )
    for number, word in enumerate(words_.split())
} | {'两': '2'}
ENVIRONMENT = re.compile(r'\\(?:begin|end)\{\w*\}(?:\{\w*\})?')


def parse_form(text: str, level: int = 0) -> Form:
    """Parse an answer in its normal spelling."""
    text = _unwrapped(text.strip())
    whole = TEXT_COMMAND.fullmatch(text)
    if whole:
        text = whole.group(1).strip()
    letter = CHOICE.fullmatch(text)
    if letter:
        return Form(Kind.CHOICE, letter.group(1))
    number = parse_number(NUMBER_WORDS.get(text.lower(), text))
    if number:
        return Form(Kind.NUMBER, number=number)
    if level > 6:
        return Form(Kind.EXPRESSION, text)
    bare, unit = split_unit(text)
    if unit:
        form = parse_form(bare, level + 1)
        if form.kind in (Kind.NUMBER, Kind.EXPRESSION):
            return replace(form, unit=unit)
    choice = read_choice(text, partial(parse_form, level=level + 1))
    if choice:
        return choice
    sides, equals, last = text.rpartition('=')
    if _is_words(sides + equals + split_unit(last)[0]):
        return Form(Kind.TEXT, words(text))
    for read in READERS:
        found = read(text, partial(parse_form, level=level + 1))
        if found:
            return found
    return Form(Kind.EXPRESSION, text)


def read_choice(text: str, parse: Parse) -> Form | None:
    """Read a choice that is named as one, or that stands before its own text, which is a value."""
    named = NAMED_CHOICE.fullmatch(text)
    if named:
        return Form(Kind.CHOICE, named.group(1))
    lead = CHOICE_LEAD.fullmatch(text)
    if not lead or LETTER.search(lead.group(4)):  # A. 1 B. 6
        return None
    content = parse(lead.group(4))
    if content.kind in (Kind.TEXT, Kind.LIST):
        return None
    return Form(Kind.CHOICE, next(letter for letter in lead.groups() if letter))


def words(text: str) -> str:
    """Return a text's words in lower case without punctuation and articles."""
    text = TEXT_COMMAND.sub(r' \1 ', text).lower()
    text = PUNCTUATION.sub(' ', text)
    found = WORD_BANG.sub(r'\1', text).split()
    return ' '.join(word for word in found if word not in {'the', 'a', 'an'})


def _is_words(text: str) -> bool:
    bare = ENVIRONMENT.sub(' ', text)
    bare = TEXT_COMMAND.sub(lambda m: f' {m.group(1)} ', bare)
    found = [
        word
        for word in WORD.findall(LIST.sub(' ', bare))
        if word.lower() not in FUNCTIONS
        and not (word.isupper() and word.isascii() and len(word) < 6)
    ]
    clock = CLOCK.search(text)
    return bool(found or clock or text.lower() == 'no') and '\\operatorname' not in text


def _unwrapped(text: str) -> str:
    """Remove braces and parentheses around a whole single value."""
    while len(text) > 1 and text[0] in '{(' and text[-1] == {'{': '}', '(': ')'}[text[0]]:
        inner = text[1:-1]
        if not balanced(inner) or len(split_top(inner, LIST)) > 1:
            break
        if text[0] == '(' and CHOICE.fullmatch(text):
            break
        text = inner.strip()
    return text


READERS = (
    read_list,
    read_relation,
    read_ratio,
    read_union,
    read_bracketed,
    read_matrix,
    read_signs,
)
