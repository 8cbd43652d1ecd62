"""Sets of real numbers: intervals, inequalities of one variable, unions, points removed."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction

from opencompass_gpassk.answers.braces import split_top, split_with
from opencompass_gpassk.answers.forms.form import COMMA, Form, Parse, compare, is_name
from opencompass_gpassk.answers.forms.sequence import Sequence
from opencompass_gpassk.answers.sameness import Relation, all_of

CUP = re.compile(r'\\cup(?![a-zA-Z])')
OR = re.compile(
    r'\\(?:lor|vee)(?![a-zA-Z])|[,;]?\s?\\text\{\s?or\s?\}'
    r'|[,;]?\s?(?<![a-zA-Z\\])or(?![a-zA-Z])|[,;]?\s?或者?'
)
# Before points that are removed: [0, 1] \\setminus \\{...\\}; x > 0 and x \\ne 1.
WITHOUT = re.compile(
    r'\\setminus(?![a-zA-Z])|\\backslash|-(?=\s?\\\{)'
    r'|(?:[,;]|且|\\text\{\s?(?:and|but)\s?\}|(?<![a-zA-Z\\])(?:and|but)(?![a-zA-Z]))'
    r'(?=\s?[a-zA-Z]\s?\\ne(?![a-zA-Z]))'
)
SUCH_THAT = re.compile(r'\\mid(?![a-zA-Z])|\||:')
MEMBER = re.compile(r'\\in(?![a-zA-Z])')
COMPARISON = re.compile(r'\\(?:le|ge|ne)(?![a-zA-Z])|(?<!:)[<>]|=')
FLIP = {'>': '<', '\\ge': '\\le', '<': '>', '\\le': '\\ge'}
VARIABLE = re.compile(r'(?<!\\)(?<![a-zA-Z])(?![ei](?![a-zA-Z]))[a-zA-Z](?![a-zA-Z])')
REALS = re.compile(
    r'\\?(?:mathbb|text|bf)?\s?\{?\s?R\s?\}?'
    r'|(?:all|any|every|the set of(?: all)?) real(?: number)?s?'
    r'|全体实数|任意实数|一切实数|所有实数|实数集?'
)
BUILDERS = 4  # greatest number of braces in a text that is read as a set
EMPTY = re.compile(r'\\emptyset|\\\{\s?\\\}|(?:the )?(?:empty|null) set|空集')
TOLERANCE = Fraction(1, 10**25)

# Bounds, None for infinity, and brackets.
Interval = tuple[Form | None, Form | None, str]
# The line cut at points: the points in order, and whether the cells between and at them are in the
# set. The cells of the points p and q are: below p, p, between p and q, q, above q.
Cells = tuple[tuple[Form, ...], tuple[bool, ...]]


@dataclass(frozen=True, kw_only=True)
class Set(Form):
    """A set of real numbers.

    Attributes:
        intervals: Of which it is the union. A point has one object as both bounds, and the empty
            set has no interval.
        removed: Points that it does not hold.
    """

    sharp = True

    intervals: tuple[Interval, ...] = ()
    removed: tuple[Form, ...] = ()

    @classmethod
    def read(cls, text: str, parse: Parse) -> Form | None:
        """Read an interval that no pair of values could be, or any text that describes a set."""
        if text.count('\\{') > BUILDERS:
            return None
        found = _read(text, parse)
        if found and found.is_finite():  # a list, which reads x = 1 or x = 2 with their names
            points = tuple(dict.fromkeys(found.parts()))
            return Sequence(text=text, brackets='{}', elements=points) if CUP.search(text) else None
        return found and replace(found, text=text)

    @classmethod
    def of(cls, form: Form) -> Set | None:
        """Return a pair in brackets as an interval, and a finite set as points."""
        if not isinstance(form, Sequence):
            return form if isinstance(form, cls) else None
        if form.may_be_interval():
            low, high = form.elements
            return cls(intervals=((low, high, form.brackets),))
        finite = form.brackets == '{}' and all(part.scalar for part in form.listed())
        return _points(form) if finite else None

    def parts(self) -> tuple[Form, ...]:
        """Return the bounds of all intervals."""
        bounds = (bound for low, high, _ in self.intervals for bound in (low, high) if bound)
        return (*bounds, *self.removed)

    def is_finite(self) -> bool:
        """Tell whether it is a point or a union of points, which is read as a list."""
        return bool(self.intervals) and all(low and low is high for low, high, _ in self.intervals)

    def cells(self) -> Cells | None:
        """Return the cells of the line that it has; None if its points can't be put into order.

        The bounds of one interval need no value: [a, b) has the cells of [0, 1).
        """
        cuts: list[list[Form]] = []  # equal points together
        points = dict.fromkeys(self.parts())
        values = [(value, p) for p in points if (value := p.constant()) is not None]
        if len(values) < len(points):
            if len(self.intervals) > 1 or self.removed:
                return None
            cuts = [[point] for point in points]
        else:
            last = Fraction(0)
            for value, point in sorted(values, key=lambda pair: pair[0]):
                if cuts and value - last <= TOLERANCE * max(Fraction(1), abs(value)):
                    cuts[-1].append(point)
                else:
                    cuts.append([point])
                    last = value
        places = {point: 2 * i + 1 for i, equal in enumerate(cuts) for point in equal}
        inside = [False] * (2 * len(cuts) + 1)
        for low, high, brackets in self.intervals:
            first = places[low] + (brackets[0] == '(') if low else 0
            end = places[high] + (brackets[1] == ']') if high else len(inside)
            inside[first:end] = [True] * (end - first)
        for point in self.removed:
            inside[places[point]] = False
        needed = [i for i in range(len(cuts)) if len(set(inside[2 * i : 2 * i + 3])) > 1]
        cells = (cell for i in needed for cell in inside[2 * i + 1 : 2 * i + 3])
        return tuple(cuts[i][0] for i in needed), (inside[0], *cells)

    def canonical(self) -> str:
        """Return the points and cells of the set."""
        found = self.cells()
        if found is None:
            return self.text
        points, inside = found
        return ' '.join((*(p.canonical() for p in points), *('-+'[cell] for cell in inside)))

    def compare(self, answer: Set) -> Relation:
        """Compare the cells of two sets, and the points between them in order."""
        left, right = self.cells(), answer.cells()
        if left is None or right is None:
            return Relation.UNKNOWN
        if left[1] != right[1]:
            return Relation.DIFFERENT
        return all_of(compare(a, b) for a, b in zip(left[0], right[0], strict=True))


ALL = Set(intervals=((None, None, '()'),))


def _listed(form: Form) -> list[Form]:
    return form.listed() if isinstance(form, Sequence) else [form]


def _points(form: Form) -> Set:
    return Set(intervals=tuple((one, one, '[]') for one in _listed(form)))


def _read(text: str, parse: Parse, variable: str = '') -> Set | None:
    """Read a set; ``variable`` is the one that a set-builder names."""
    text = text.strip()
    if EMPTY.fullmatch(text):
        return Set()
    if REALS.fullmatch(text):
        return ALL
    for separator in (CUP, OR, WITHOUT):
        pieces = split_top(text, separator)
        if len(pieces) > 1:
            return _read_joined(pieces, parse, variable, separator)
    return (
        _read_builder(text, parse)
        or _read_condition(text, parse, variable)
        or _read_interval(text, parse)
    )


def _read_joined(
    pieces: list[str], parse: Parse, variable: str, separator: re.Pattern[str]
) -> Set | None:
    """Read a union, or a set without points; what words join are no finite sets."""
    members = [_operand(piece, parse, variable, pairs=separator is not OR) for piece in pieces]
    found = [member for member in members if member]
    names = {member.name for member in found} - {''}
    listed = separator is OR and not (variable or names) and any(one.is_finite() for one in found)
    if len(found) < len(pieces) or len(names) > 1 or listed:
        return None
    first, *others = found
    name = ''.join(names)
    if separator is WITHOUT:
        points = tuple(point for one in others for point in one.parts())
        known = all(one.removed or one.is_finite() for one in others)
        return replace(first, removed=first.removed + points, name=name) if known else None
    intervals = tuple(interval for one in found for interval in one.intervals)
    return None if any(one.removed for one in found) else Set(intervals=intervals, name=name)


def _operand(text: str, parse: Parse, variable: str, *, pairs: bool = True) -> Set | None:
    """Read a set that is known to be one, so that ``pairs`` are intervals; or a finite set."""
    found = _read(text, parse, variable)
    if found:
        return found
    form = parse(text)
    brackets = form.brackets if isinstance(form, Sequence) else ''
    if pairs and brackets in ('()', '[]') and len(form.parts()) == 2:
        low, high = form.parts()
        return Set(intervals=((low, high, brackets),))
    named = form.name and form.name == (variable or form.name)
    if not (named or brackets == '{}') or not all(value.scalar for value in _listed(form)):
        return None
    return replace(_points(form), name=form.name)


def _read_builder(text: str, parse: Parse) -> Set | None:
    """Read ``\\{x \\mid 0 < x < 1\\}``, whose variable may have any name."""
    if not (text.startswith('\\{') and text.endswith('\\}')):
        return None
    head, *condition = SUCH_THAT.split(text[2:-2], maxsplit=1)
    name, *domain = (part.strip() for part in MEMBER.split(head))
    if not condition or not is_name(name):
        return None
    found = _operand(condition[0], parse, name)
    if found is None or found.name not in ('', name):
        return None
    return None if domain and not REALS.fullmatch(domain[0]) else replace(found, name='')


def _read_condition(text: str, parse: Parse, variable: str) -> Set | None:
    """Read ``a < x \\le b``, ``x > a`` or ``x \\ne a``."""
    sides, operators = split_with(text, COMPARISON)
    if not 2 <= len(sides) <= 3 or not all(sides):
        return None
    if operators[0] in ('>', '\\ge') and all(operator in FLIP for operator in operators):
        sides, operators = sides[::-1], [FLIP[operator] for operator in operators[::-1]]
    place = _place(sides, variable)
    if place is None:
        return None
    name = re.sub(r'[\s{}]', '', sides[place])
    values = [parse(side) for index, side in enumerate(sides) if index != place]
    if operators == ['\\ne'] and all(value.scalar for value in _listed(values[0])):
        return replace(ALL, removed=tuple(_listed(values[0])), name=name)
    if not set(operators) <= {'<', '\\le'} or not all(value.scalar for value in values):
        return None
    low = _bound(values[0]) if place else None
    high = _bound(values[-1]) if place < len(sides) - 1 else None
    first = '[' if place and operators[0] == '\\le' else '('
    last = ']' if place < len(sides) - 1 and operators[-1] == '\\le' else ')'
    return Set(intervals=((low, high, first + last),), name=name)


def _place(sides: list[str], variable: str) -> int | None:
    """Return the place of the variable among the sides: the middle, or the one side with a name."""
    if len(sides) == 3:
        return 1 if is_name(sides[1]) and sides[1] == (variable or sides[1]) else None
    if variable:
        return sides.index(variable) if variable in sides else None
    for place in (0, 1):
        if is_name(sides[place]) and not VARIABLE.search(sides[1 - place]):
            return place
    return None


def _bound(form: Form) -> Form | None:
    return None if form.text.replace(' ', '') in ('\\infty', '-\\infty') else form


def _read_interval(text: str, parse: Parse) -> Set | None:
    """Read an interval that can't be a pair of values: half-open, or with an infinite end."""
    if len(text) < 5 or text[0] not in '([]' or text[-1] not in ')][':
        return None
    ends = split_top(text[1:-1], COMMA)
    if len(ends) != 2:
        return None
    brackets = ('[' if text[0] == '[' else '(') + (']' if text[-1] == ']' else ')')
    bounds = [parse(end) for end in ends]
    low, high = (_bound(bound) for bound in bounds)
    pair = text[0] + text[-1] in ('()', '[]') and low and high
    if pair or not all(bound.scalar for bound in bounds):
        return None
    return Set(intervals=((low, high, brackets),))
