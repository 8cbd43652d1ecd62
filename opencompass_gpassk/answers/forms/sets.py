"""Sets of real numbers: intervals, inequalities of one variable, unions, points removed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from math import ceil, floor
from typing import NamedTuple

from opencompass_gpassk.answers.braces import split_top
from opencompass_gpassk.answers.forms.form import Form, Parse, compare_values, operators_between
from opencompass_gpassk.answers.forms.number import Number
from opencompass_gpassk.answers.forms.sequence import Sequence
from opencompass_gpassk.answers.relation import Relation, all_of

__all__ = ['Set']

CUP = re.compile(r'\\cup(?![a-zA-Z])')
OR = re.compile(
    r'\\(?:lor|vee)(?![a-zA-Z])|[,;]?\s?\\text\{\s?or\s?\}'
    r'|[,;]?\s?(?<![a-zA-Z\\])or(?![a-zA-Z])|[,;]?\s?或者?'
)
AND = re.compile(
    r'[,;]?\s?(?:\\(?:cap|land|wedge)(?![a-zA-Z])|\\text\{\s?(?:and|but)\s?\}'
    r'|(?<![a-zA-Z\\])(?:and|but)(?![a-zA-Z])|且)'
)
COMMA = re.compile(r'[,;]')
MEMBER = re.compile(r'\\in(?![a-zA-Z])')
WITHOUT = re.compile(
    r'\\setminus(?![a-zA-Z])|\\backslash|(?:\\text\{)?\s?except(?: for)?\s?\}?|-(?=\s?\\\{)'
)
SIZE = re.compile(r'\|\s?([a-zA-Z])\s?([-+][^|<>=]*)?\|\s?(<|>|\\le|\\ge)\s?([^|<>=]+)')
SUCH_THAT = re.compile(r'\\mid(?![a-zA-Z])|\||:')
COMPARISON = re.compile(r'\\(?:le|ge|ne|in)(?![a-zA-Z])|(?<!:)[<>]|=')
FLIP = {'>': '<', '\\ge': '\\le', '<': '>', '\\le': '\\ge'}
NAME = re.compile(
    r"\\?(?:[a-zA-Z]+|[a-zA-Z]\d)(?:_\{?[\w,\\ ]+\}?)?(?:'*|\^\{?-1\}?)(?:\s?\(\s?\\?[\w, ]+\s?\))?"
)
VARIABLE = re.compile(r'(?<!\\)(?<![a-zA-Z])(?![ei](?![a-zA-Z]))[a-zA-Z](?![a-zA-Z])')
REALS = re.compile(
    r'\\?(?:mathbb|text|bf)\s?\{?\s?R\s?\}?|\\?R'
    r'|(?:all|any|every|the set of(?: all)?) real(?: number)?s?'
    r'|全体实数|任意实数|一切实数|所有实数|实数集?'
)
SIGNED = re.compile(r'(?:all |the )?(non-?)?(positive|negative) real(?: number)?s?|([正负])实数')
INTEGERS = re.compile(r'\\?(?:mathbb|text|bf)\s?\{?\s?Z\s?\}?|\\?Z')
INTEGERS_LIMIT = 200
EMPTY = re.compile(r'\\emptyset|\\\{\s?\\\}|(?:the )?(?:empty|null) set|空集')
PAIRS = ('()', '[]')
SEPARATORS = (('or', CUP), ('or', OR), ('without', WITHOUT), ('and', AND), (',', COMMA))
TOLERANCE = Fraction(1, 10**25)


class UnorderedError(ValueError):
    """A bound has no value, so that bounds can't be put into order."""


class Cells(NamedTuple):
    """The line cut at points: the points in order, and what of the cells between and at them is in.

    The cells of the points p and q are: below p, p, between p and q, q, above q.
    """

    points: tuple[Form, ...]
    inside: tuple[bool, ...]


@dataclass(frozen=True, kw_only=True)
class Set(Form):
    """A set of real numbers.

    Attributes:
        operation: 'interval', 'or', 'and', 'without', or ',', which is 'and' unless nothing
            is left.
        bounds: The lower and the upper bound of an interval, None if it has none.
        brackets: Of an interval.
        members: The sets that the operation joins.
    """

    sharp = True

    operation: str
    bounds: tuple[Form | None, ...] = ()
    brackets: str = ''
    members: tuple[Set, ...] = ()

    @classmethod
    def read(cls, text: str, parse: Parse) -> Form | None:
        """Read an interval that no pair of values could be, or any text that describes a set."""
        found = _read(text, parse)
        if found and found.is_finite():
            builder = text.startswith('\\{') and len(split_top(text[2:-2], SUCH_THAT)) > 1
            members = found.members or (found,)
            points = tuple(
                member.bounds[0] for member in members if member.bounds and member.bounds[0]
            )
            return Sequence(text=text, brackets='{}', elements=points) if builder else None
        return found and replace(found, text=text)

    @classmethod
    def of(cls, form: Form) -> Set | None:
        """Return a pair in brackets as an interval, and a finite set as points."""
        if isinstance(form, cls):
            return form
        if not isinstance(form, Sequence):
            return None
        if form.may_be_interval():
            return cls(operation='interval', bounds=form.elements, brackets=form.brackets)
        if form.brackets == '{}' and all(part.scalar for part in form.listed()):
            return _points(form)
        return None

    def parts(self) -> tuple[Form, ...]:
        """Return the bounds, or the sets that are joined."""
        return (*(bound for bound in self.bounds if bound), *self.members)

    def is_finite(self) -> bool:
        """Tell whether it is a union of points, which is read as a list."""
        if self.operation == 'interval':
            return (
                bool(self.bounds)
                and self.bounds[0] is not None
                and self.bounds[0] is self.bounds[1]
            )
        return self.operation != 'without' and all(member.is_finite() for member in self.members)

    def cells(self) -> Cells:
        """Return the set as cells of the line, each cut needed.

        Raises:
            UnorderedError: If bounds would have to be put into order that have no value.
        """
        if self.operation == 'interval':
            if not self.bounds:
                return Cells((), (False,))
            return _interval_cells(self.bounds, self.brackets)
        members = [member.cells() for member in self.members]
        joined = reduce(partial(_joined, OPERATIONS[self.operation]), members)
        if self.operation == ',' and not any(joined.inside):  # x < 1, x > 3
            return reduce(partial(_joined, OPERATIONS['or']), members)
        return joined

    def canonical(self) -> str:
        """Return the points and cells of the set."""
        try:
            points, inside = self.cells()
        except UnorderedError:
            return self.text
        return ' '.join((*(p.canonical() for p in points), *('-+'[cell] for cell in inside)))

    def compare(self, answer: Set) -> Relation:
        """Compare the cells of two sets, and the points between them in order."""
        try:
            left, right = self.cells(), answer.cells()
        except UnorderedError:
            return Relation.UNKNOWN
        if left.inside != right.inside:
            return Relation.DIFFERENT
        return all_of(compare_values(a, b) for a, b in zip(left.points, right.points, strict=True))


OPERATIONS: dict[str, Callable[[bool, bool], bool]] = {
    'or': lambda a, b: a or b,
    'and': lambda a, b: a and b,
    ',': lambda a, b: a and b,
    'without': lambda a, b: a and not b,
}
ALL = Set(operation='interval', bounds=(None, None), brackets='()')


def _value(form: Form) -> Fraction:
    value = form.constant()
    if value is None:
        raise UnorderedError(form.text)
    return value


def _interval_cells(bounds: tuple[Form | None, ...], brackets: str) -> Cells:
    low, high = bounds
    first, last = (bracket in '[]' for bracket in brackets)
    if low is None and high is None:
        return Cells((), (True,))
    if low is None or high is None:
        end, closed = (low, first) if low else (high, last)
        return Cells((end,) if end else (), (low is None, closed, high is None))
    start, stop = low.constant(), high.constant()
    if low is high or (start is not None and start == stop and first and last):
        return Cells((low,), (False, True, False))
    if start is not None and stop is not None and start >= stop:
        return Cells((), (False,))
    return Cells((low, high), (False, first, True, last, False))


def _joined(operation: Callable[[bool, bool], bool], first: Cells, second: Cells) -> Cells:
    """Cut the line at all points of two sets, and again only where a cut is needed."""
    points: list[tuple[Fraction, Form]] = sorted(
        ((_value(point), point) for point in (*first.points, *second.points)), key=lambda p: p[0]
    )
    cuts: list[tuple[Fraction, Form]] = []
    for value, point in points:
        if not cuts or value - cuts[-1][0] > TOLERANCE * max(Fraction(1), abs(value)):
            cuts.append((value, point))
    spread = [_spread(cells, [value for value, _ in cuts]) for cells in (first, second)]
    inside = [operation(a, b) for a, b in zip(*spread, strict=True)]
    kept = [i for i in range(len(cuts)) if len(set(inside[2 * i : 2 * i + 3])) > 1]
    cells = [inside[0]]
    for index in kept:
        cells += inside[2 * index + 1 : 2 * index + 3]
    return Cells(tuple(cuts[index][1] for index in kept), tuple(cells))


def _spread(cells: Cells, cuts: list[Fraction]) -> list[bool]:
    """Return the cells of a set for more cuts than its own."""
    values = [_value(point) for point in cells.points]
    found, place = [cells.inside[0]], 0
    for cut in cuts:
        own = place < len(values) and abs(values[place] - cut) <= TOLERANCE * max(
            Fraction(1), abs(cut)
        )
        place += own
        found += [cells.inside[2 * place - 1] if own else found[-1], cells.inside[2 * place]]
    return found


def _points(form: Form) -> Set:
    values = form.listed() if isinstance(form, Sequence) else [form]
    sets = tuple(Set(operation='interval', bounds=(one, one), brackets='[]') for one in values)
    return sets[0] if len(sets) == 1 else Set(operation='or', members=sets)


def _read(text: str, parse: Parse, variable: str = '') -> Set | None:
    """Read a set; ``variable`` is the one that a set-builder names."""
    text = text.strip()
    if EMPTY.fullmatch(text):
        return Set(operation='interval')
    if REALS.fullmatch(text):
        return ALL
    signed = SIGNED.fullmatch(text)
    if signed:
        return _signed(signed[2] == 'positive' or signed[3] == '正', bool(signed[1]))
    for operation, separator in SEPARATORS:
        pieces = split_top(text, separator)
        if len(pieces) > 1:
            written = separator in (CUP, WITHOUT)
            return _read_joined(operation, pieces, parse, variable, written=written)
    for read in (_read_builder, _read_condition, _read_interval):
        found = read(text, parse, variable)
        if found:
            return found
    return None


def _signed(positive: bool, opposite: bool) -> Set:
    """Return the positive or the negative numbers; the opposite of one is the other with 0."""
    zero = Number(number=Fraction(0))
    above = positive is not opposite
    brackets = ('[)' if above else '(]') if opposite else '()'
    bounds = (zero, None) if above else (None, zero)
    return Set(operation='interval', bounds=bounds, brackets=brackets)


def _read_joined(
    operation: str, pieces: list[str], parse: Parse, variable: str, *, written: bool
) -> Set | None:
    """Read sets that are joined by a sign if ``written``, else by a word or a comma.

    What commas join are conditions on one variable, and what words join is no finite set.
    """
    members = []
    for index, piece in enumerate(pieces):
        points = operation == 'without' and index > 0
        member = _operand(piece, parse, variable, points=points, pairs=written)
        if member is None:
            return None
        named = bool(member.name or variable)
        if not (named or written or (operation != ',' and member.bounds)) or (
            not (named or written) and member.is_finite()
        ):
            return None
        members.append(member)
    names = {member.name for member in members} - {''}
    if len(names) > 1:
        return None
    return Set(operation=operation, members=tuple(members), name=''.join(names))


def _operand(
    text: str, parse: Parse, variable: str, *, points: bool = False, pairs: bool = True
) -> Set | None:
    """Read a set that is known to be one, so that ``pairs`` are intervals; or allowed points."""
    found = _read(text, parse, variable)
    if found:
        return found
    form = parse(text)
    if isinstance(form, Sequence) and form.brackets in PAIRS and len(form.elements) == 2 and pairs:
        return Set(operation='interval', bounds=form.elements, brackets=form.brackets)
    values = form.listed() if isinstance(form, Sequence) else [form]
    finite = isinstance(form, Sequence) and form.brackets == '{}'
    named = form.name and form.name == (variable or form.name)
    if not (finite or named or points) or not all(value.scalar for value in values):
        return None
    return replace(_points(form), name=form.name)


def _read_builder(text: str, parse: Parse, _: str) -> Set | None:
    """Read ``\\{x \\mid 0 < x < 1\\}``, whose variable may have any name."""
    if not (text.startswith('\\{') and text.endswith('\\}')):
        return None
    inner = text[2:-2]
    head = split_top(inner, SUCH_THAT)[0]
    condition = SUCH_THAT.sub('', inner[len(head) :], count=1)
    name, *domain = split_top(head, MEMBER)
    if not condition or not NAME.fullmatch(name.strip()):
        return None
    found = _operand(condition, parse, name.strip())
    if found is None or found.name not in ('', name.strip()):
        return None
    if not domain or REALS.fullmatch(domain[0].strip()):
        return replace(found, name='')
    return _whole(found) if INTEGERS.fullmatch(domain[0].strip()) else None


def _whole(found: Set) -> Set | None:
    """Return the integers of an interval between two numbers."""
    low, high = (bound.constant() if bound else None for bound in found.bounds or (None, None))
    if low is None or high is None or not 0 <= high - low <= INTEGERS_LIMIT:
        return None
    numbers = [Number(number=Fraction(n)) for n in range(ceil(low), floor(high) + 1)]
    if numbers and numbers[0].number == low and found.brackets[0] == '(':
        del numbers[0]
    if numbers and numbers[-1].number == high and found.brackets[1] == ')':
        del numbers[-1]
    return _points(Sequence(brackets='{}', elements=tuple(numbers))) if numbers else None


def _read_condition(text: str, parse: Parse, variable: str) -> Set | None:
    """Read ``a < x \\le b``, ``x > a``, ``x \\ne a`` or ``x \\in A``."""
    size = SIZE.fullmatch(text)
    if size:  # |x - 4| < 2
        name, shift, sign, radius = size.groups()
        start, stop = (f'-({shift or 0}){way}({radius})' for way in '-+')
        if sign in ('<', '\\le'):
            return _read(f'{start}{sign} {name}{sign} {stop}', parse, variable)
        return _read(f'{name}{FLIP[sign]} {start} or {name}{sign} {stop}', parse, variable)
    sides = [side.strip() for side in split_top(text, COMPARISON)]
    operators = operators_between(text, sides, COMPARISON)
    if not 2 <= len(sides) <= 3 or not all(sides):
        return None
    if operators[0] in ('>', '\\ge') and all(operator in FLIP for operator in operators):
        sides, operators = sides[::-1], [FLIP[operator] for operator in operators[::-1]]
    place = _place(sides, variable)
    if place is None:
        return None
    name = re.sub(r'[\s{}]', '', sides[place])
    if operators == ['\\in'] and place == 0:
        found = _operand(sides[1], parse, '')
        return replace(found, name=name) if found else None
    values = [parse(side) for index, side in enumerate(sides) if index != place]
    if operators == ['\\ne'] and all(_is_values(value) for value in values):
        return Set(operation='without', members=(ALL, _points(values[0])), name=name)
    if not set(operators) <= {'<', '\\le'} or not all(value.scalar for value in values):
        return None
    low = _bound(values[0]) if place else None
    high = _bound(values[-1]) if place < len(sides) - 1 else None
    first = '[' if place and operators[0] == '\\le' else '('
    last = ']' if place < len(sides) - 1 and operators[-1] == '\\le' else ')'
    return Set(operation='interval', bounds=(low, high), brackets=first + last, name=name)


def _is_values(form: Form) -> bool:
    listed = isinstance(form, Sequence) and not form.is_ordered()
    return form.scalar or (listed and all(part.scalar for part in form.parts()))


def _place(sides: list[str], variable: str) -> int | None:
    """Return the place of the variable among the sides: the middle, or the one side with a name."""
    if len(sides) == 3:
        return 1 if NAME.fullmatch(sides[1]) and sides[1] == (variable or sides[1]) else None
    if variable:
        return sides.index(variable) if variable in sides else None
    for place in (0, 1):
        if NAME.fullmatch(sides[place]) and not VARIABLE.search(sides[1 - place]):
            return place
    return None


def _bound(form: Form) -> Form | None:
    return None if form.text.replace(' ', '') in ('\\infty', '-\\infty') else form


def _read_interval(text: str, parse: Parse, variable: str) -> Set | None:
    """Read an interval that can't be a pair of values; with a variable it may be any."""
    if len(text) < 5 or text[0] not in '([]' or text[-1] not in ')][':
        return None
    ends = split_top(text[1:-1], COMMA)
    if len(ends) != 2:
        return None
    brackets = ('[' if text[0] == '[' else '(') + (']' if text[-1] == ']' else ')')
    bounds = [parse(end.strip()) for end in ends]
    low, high = (_bound(bound) for bound in bounds)
    pair = text[0] + text[-1] in ('()', '[]') and low and high
    if pair or not all(bound.scalar for bound in bounds):
        return None
    return Set(operation='interval', bounds=(low, high), brackets=brackets)
