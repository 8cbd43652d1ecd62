"""Several values: lists, finite sets, coordinates, ratios, matrices, values with ±."""

from __future__ import annotations

import re
from collections.abc import Sequence as Parts
from dataclasses import dataclass, replace

from opencompass_gpassk.answers.braces import balanced, split_top
from opencompass_gpassk.answers.conditions import COUNTERS, PARAMETER, letters
from opencompass_gpassk.answers.forms.form import COMMA, DOTS, Form, Parse, compare, parse
from opencompass_gpassk.answers.sameness import Relation, all_of
from opencompass_gpassk.answers.units import WORDLISTS, either

# Separators of the elements of a list: a comma, *and*, *or*, or their Chinese words.
WORD = r'(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])|和|或者?|以及|及|与'
LIST = re.compile(
    r'[,;]\s*(?:\\text\{\s*(?:and|or)\s*\}|(?:and|or)(?![a-zA-Z]))?'
    rf'|\\text\{{\s*,?\s*(?:and|or|,)\s*\}}|{WORD}'
)
# Separators of a list whose elements are lists: 1,2; 3,4.
SEMICOLON = re.compile(rf';|\\text\{{\s?(?:and|or)\s?\}}|{WORD}')
RATIO = re.compile(r':|(?<=[\d}])\s?(?:\\text\{)?\s?(?:to|比)\s?\}?\s?(?=[\d\\])')
# An environment of a matrix, with the columns of an array, and its content.
MATRIX = re.compile(r'\\begin\{([pbBv]?matrix|array)\}(?:\{[^{}]*\})?(.*)\\end\{\1\}', re.DOTALL)
# The end of a row, with an optional LaTeX length for the space below it.
ROW = re.compile(r'\\\\(?:\[[^\]]*\])?')
CELL = re.compile(r'&')
POINT = re.compile(r'[A-Z]\s?\(')  # A(1, 2)
PM = re.compile(r'\\pm(?![a-zA-Z])|\+/-|\+-')
MP = re.compile(r'\\mp(?![a-zA-Z])|-/\+')
COORDINATES = re.compile(r"\(([\w\\,']+)\)")
INDEX = re.compile(r'_?\{?\d\}?$')
SUCH_THAT = re.compile(r'\\mid(?![a-zA-Z])|:')
TIME = re.compile(r'(?:[01]?\d|2[0-3]):[0-5]\d')
CLOCK = re.compile(r'0\d*$')  # of 12:00 and 3:05
# The name of a value in a list: length 15, width is 8, 最大值 5.
QUANTITIES = either(WORDLISTS['quantities'] + WORDLISTS['quantities in Chinese'])
DESCRIBED = re.compile(
    rf'^\s*(?:\\text\{{)?\s*({QUANTITIES})\s*\}}?\s*(?:=|:|is|为|是)?\s*(?=-?[\d\\(])'
)
ROOTS = {'x', 't', 'z'}  # names of roots, whose numbers say nothing
LIST_LIMIT = 200
CLOSING = {'(': ')', '[': ']', '{': '}'}


@dataclass(frozen=True, kw_only=True)
class Sequence(Form):
    """Several values.

    Attributes:
        brackets: Around them: '' for a list and '{}' for a set, whose order is free; '()' and '[]'
            for coordinates, '::' for a ratio, '2x1' for a matrix of 2 rows, '±' for two values.
        elements: The values; those of a matrix row by row.
    """

    brackets: str = ''
    elements: tuple[Form, ...]

    @classmethod
    def read(cls, text: str, parse: Parse) -> Sequence | None:
        """Read a text with brackets, separators or ±."""
        for read in (_read_matrix, _read_signs, _read_ratio, _read_bracketed):
            found = read(text, parse)
            if found:
                return replace(found, text=text)
        return None

    @classmethod
    def of(cls, form: Form) -> Sequence | None:
        """Return a single value as a list of one."""
        if isinstance(form, cls):
            return form
        single = form.is_single() and ',' not in form.text  # 100,200 may be two numbers
        return cls(brackets='1', elements=(replace(form, name=''),)) if single else None

    def parts(self) -> tuple[Form, ...]:
        """Return the elements."""
        return self.elements

    def is_ordered(self) -> bool:
        """Tell whether the order of the elements matters."""
        return self.brackets not in ('', '{}', '±', '1')

    @property
    def sharp(self) -> bool:  # type: ignore[override]  # (0, 1), (2, 3) may be a union
        """Tell whether it can't be a set of intervals."""
        return self.is_ordered() or all(part.scalar for part in self.elements)

    def listed(self) -> list[Form]:
        """Return the elements of a list; one with ± gives two."""
        found: list[Form] = []
        for part in self.elements:
            signs = isinstance(part, Sequence) and part.brackets == '±'
            found += part.parts() if signs else [part]
        return found

    def value(self) -> str | None:
        """Return a matrix, or a ratio of two numbers as their quotient, in LaTeX."""
        values = [part.value() for part in self.elements]
        if None in values or TIME.fullmatch(self.text):
            return None
        if self.brackets == '::' and len(values) == 2:
            return f'\\frac{{{values[0]}}}{{{values[1]}}}'
        if 'x' not in self.brackets:
            return None
        width = int(self.brackets.partition('x')[2])
        cells = [str(value) for value in values]
        rows = [' & '.join(cells[i : i + width]) for i in range(0, len(cells), width)]
        return '\\begin{pmatrix}' + ' \\\\ '.join(rows) + '\\end{pmatrix}'

    def canonical(self) -> str:
        """Return the canonical texts of the elements, sorted if their order is free."""
        if not self.is_ordered():
            return '{' + ', '.join(sorted(part.canonical() for part in self.listed())) + '}'
        inner = ', '.join(part.canonical() for part in self.elements)
        if self.brackets in ('()', '[]'):
            return self.brackets[0] + inner + self.brackets[1]
        return f'{self.brackets}: {inner}'

    def compare(self, answer: Sequence) -> Relation:
        """Compare element by element, in order where one of them has an order."""
        if not self.is_ordered() and not answer.is_ordered():
            return _compare_lists(self.listed(), answer.listed())
        if not self.is_ordered() or not answer.is_ordered():
            return _compare_listed(self, answer)
        if not (self.has_usual_names() or answer.name) or not (
            answer.has_usual_names() or self.name
        ):
            return Relation.UNKNOWN  # (y, x) = (7, 8) against (7, 8)
        relation = _compare_ordered(self.elements, answer.elements)
        if any(TIME.fullmatch(one.text) for one in (self, answer)):  # 12:30 and 6:15
            return relation if relation is Relation.SAME else Relation.UNKNOWN
        brackets = {self.brackets, answer.brackets}
        if brackets == {'::'} and relation is Relation.DIFFERENT:
            values = self.value(), answer.value()
            return Relation.UNKNOWN if None in values else compare(*map(parse, map(str, values)))
        if len(brackets) == 1 or (relation is Relation.DIFFERENT and '::' not in brackets):
            return relation
        if brackets == {'()', '[]'}:
            return Relation.DIFFERENT if self.may_be_interval() else relation
        column = any(one.endswith('x1') or one.startswith('1x') for one in brackets)
        vector = column and not brackets.isdisjoint({'()', '[]'})
        return relation if vector else Relation.UNKNOWN

    def has_usual_names(self) -> bool:
        """Tell whether its values have no names, or names in the order of the alphabet."""
        match = COORDINATES.fullmatch(self.name)
        names = match[1].split(',') if match else [p.name for p in self.elements if p.name]
        return names == sorted(names, key=lambda name: name.strip('\\'))

    def may_be_interval(self) -> bool:
        """Tell whether these are two values of which the second may be the greater."""
        if self.brackets not in ('()', '[]') or len(self.elements) != 2:
            return False
        low, high = (part.constant() for part in self.elements)
        return low is None or high is None or low < high


def _compare_ordered(gold: Parts[Form], answer: Parts[Form]) -> Relation:
    """Compare parts in order, such as coordinates."""
    if len(gold) != len(answer):
        return Relation.DIFFERENT
    return all_of(compare(a, b) for a, b in zip(gold, answer, strict=True))


def _compare_unordered(gold: Parts[Form], answer: Parts[Form]) -> Relation:
    """Compare parts in any order, such as the solutions of an equation."""
    dotted = any(part.text == DOTS for part in (*gold, *answer))
    if dotted or len(gold) > LIST_LIMIT or len(answer) > LIST_LIMIT:
        return Relation.UNKNOWN
    if len(gold) != len(answer):
        return _compare_repeated(gold, answer)
    left = list(answer)
    doubts = False
    for part in gold:
        relations = [_compare_elements(part, other) for other in left]
        if Relation.SAME in relations:
            left.pop(relations.index(Relation.SAME))
        elif Relation.UNKNOWN in relations:
            doubts = True
        else:
            return Relation.DIFFERENT
    return Relation.UNKNOWN if doubts else Relation.SAME


def _compare_elements(gold: Form, answer: Form) -> Relation:
    sets = [isinstance(one, Sequence) and one.brackets == '{}' for one in (gold, answer)]
    return compare(gold, answer) if sets[0] == sets[1] else Relation.UNKNOWN  # {1, {2}}, {1, 2}


def _compare_repeated(gold: Parts[Form], answer: Parts[Form]) -> Relation:
    """Compare lists of different lengths, since a solution may be listed twice."""
    found = [
        {compare(part, other) for other in second}
        for first, second in ((gold, answer), (answer, gold))
        for part in first
    ]
    parts = (*gold, *answer)
    families = any(COUNTERS & letters(f'{p.name} {p.text}') or PARAMETER in p.text for p in parts)
    if {Relation.DIFFERENT} in found and not families:
        return Relation.DIFFERENT
    points = all(isinstance(part, Sequence) and part.is_ordered() for part in (*gold, *answer))
    texts = {part.text for part in answer}  # 3/8 or 0.375, and not the root 2 twice
    spelt = len(gold) == 1 < len(answer) == len(texts)
    repeated = (points or spelt) and all(Relation.SAME in relations for relations in found)
    return Relation.SAME if repeated else Relation.UNKNOWN


def _compare_lists(gold: Parts[Form], answer: Parts[Form]) -> Relation:
    """Compare lists and sets, whose elements may have names: x = 1, y = 2."""
    known = [_by_name(parts) for parts in (gold, answer)]
    if known[0] and known[1] and len(gold) > 1 < len(answer):
        if known[0].keys() != known[1].keys():
            return Relation.UNKNOWN
        return all_of(compare(part, known[1][name]) for name, part in known[0].items())
    if known[0] or known[1]:  # x = 1, y = 2 against 1, 2
        names = list(known[0] or known[1] or {})
        ordered = known[0] or names == sorted(names) or all(len(name) > 2 for name in names)
        if any(part.name for part in (answer if known[0] else gold)) or not ordered:
            return Relation.UNKNOWN
        return _compare_ordered(gold, answer)
    return _compare_unordered(gold, answer)


def _by_name(parts: Parts[Form]) -> dict[str, Form] | None:
    """Return elements by name if each has a name of its own, else None."""
    found = {part.name: part for part in parts}
    return None if '' in found or len(found) < len(parts) else found


def _compare_listed(gold: Sequence, answer: Sequence) -> Relation:
    """Compare a list with values whose order matters: names or commas may give it one."""
    listed, point = (answer, gold) if gold.is_ordered() else (gold, answer)
    relation = _compare_ordered(gold.elements, answer.elements)
    if listed.brackets == '1':
        value = point.value() if 'x' not in point.brackets else None  # 4 and 4:1
        if value is None:  # or 10 and C(5, 2)
            column = 'x' in point.brackets and listed.elements[0].constant() is None
            return Relation.UNKNOWN if column or point.name else Relation.DIFFERENT
        values = (parse(value), *listed.elements)
        return compare(*(values if point is gold else values[::-1]))
    if listed.brackets or 'x' in point.brackets or point.brackets == '::':
        return Relation.UNKNOWN
    named = _by_name(listed.elements)
    if named:
        order = point.name or f'({",".join(sorted(named))})'
        return relation if f'({",".join(named)})' == order else Relation.UNKNOWN
    commas = len(split_top(listed.text, COMMA)) == len(listed.elements)
    if not commas or any(part.name for part in listed.elements):
        return Relation.UNKNOWN
    if point.may_be_interval() or (listed is gold and relation is Relation.DIFFERENT):
        return Relation.UNKNOWN  # of a gold list the order may be free
    return relation


def read_list(text: str, parse: Parse) -> Sequence | None:
    """Read elements without outer brackets; a name that all have, x = 1 or x = 2, is the list's."""
    outer = split_top(text, SEMICOLON)
    counts = {len(split_top(piece, COMMA)) for piece in outer}
    nested = len(outer) > 1 and len(counts) == 1 and counts != {1}
    pieces = [piece for piece in (outer if nested else split_top(text, LIST)) if piece]
    if len(pieces) < 2:
        return None
    parts = [parse(DESCRIBED.sub(r'\1 = ', piece)) for piece in pieces]
    if {INDEX.sub('', part.name) for part in parts} < ROOTS:  # x_1 = 1, x_2 = 2
        parts = [replace(part, name=INDEX.sub('', part.name)) for part in parts]
    names = {part.name for part in parts}
    name = names.pop() if len(names) == 1 else ''
    return Sequence(text=text, elements=tuple(parts), name=name)


def _read_ratio(text: str, parse: Parse) -> Sequence | None:
    """Read ``1:2:3``."""
    pieces = split_top(text, RATIO)
    if len(pieces) < 2 or not all(pieces) or any(CLOCK.match(piece) for piece in pieces):
        return None
    return Sequence(brackets='::', elements=tuple(parse(piece) for piece in pieces))


def _read_bracketed(text: str, parse: Parse) -> Sequence | None:
    """Read coordinates or a set."""
    point = POINT.match(text)
    if point and not text.startswith('('):
        found = _read_bracketed(text[1:].strip(), parse)
        return replace(found, name=text[0]) if found and found.brackets == '()' else None
    if text.startswith('\\{') and text.endswith('\\}') and balanced(text[2:-2]):
        opening, inner = '{', text[2:-2]
    elif len(text) > 1 and CLOSING.get(text[0]) == text[-1] and balanced(text[1:-1]):
        opening, inner = text[0], text[1:-1]
    else:
        return None
    pieces = split_top(inner, LIST)
    if opening == '{' and len(split_top(inner, SUCH_THAT)) > 1:
        return None
    if any(not piece for piece in pieces) or (opening == '(' and len(pieces) < 2):
        return None
    parts = tuple(parse(piece) for piece in pieces)
    single = opening == '[' and len(parts) == 1
    return Sequence(brackets='' if single else opening + CLOSING[opening], elements=parts)


def _read_matrix(text: str, parse: Parse) -> Sequence | None:
    """Read a matrix; all rows must have the same length."""
    inner = text
    bracketed = len(text) > 1 and text[0] in '([' and text[-1] in ')]'
    if bracketed and text[1:].lstrip().startswith('\\begin'):
        inner = text[1:-1].strip()
    match = MATRIX.fullmatch(inner)
    if not match or match[1] == 'vmatrix' or '\\begin' in match[2]:
        return None
    rows = [row for row in ROW.split(match[2]) if row.strip()]
    cells = [split_top(row, CELL) for row in rows]
    width = len(cells[0]) if cells else 0
    if not width or any(len(row) != width for row in cells):
        return None
    parts = tuple(parse(cell) for row in cells for cell in row)
    return Sequence(brackets=f'{len(cells)}x{width}', elements=parts)


def _read_signs(text: str, parse: Parse) -> Sequence | None:
    """Read a value with one ±, or with ± and ∓, as two values."""
    if (
        text.startswith('\\{')
        or not PM.search(text)
        or (len(PM.findall(text)) > 1 and not MP.search(text))
    ):
        return None
    parts = tuple(
        parse(MP.sub(other, PM.sub(sign, text))) for sign, other in (('+', '-'), ('-', '+'))
    )
    return Sequence(brackets='±', elements=parts)
