"""Sets of real numbers: intervals, inequalities of one variable, unions, points removed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from opencompass_gpassk.answers.braces import split_top, split_with
from opencompass_gpassk.answers.conditions import number_set
from opencompass_gpassk.answers.forms.form import COMMA, Form, Parse, compare, is_name
from opencompass_gpassk.answers.forms.sequence import Sequence
from opencompass_gpassk.answers.sameness import Relation, all_of

CUP = re.compile(r'\\cup(?![a-zA-Z])')
OR = re.compile(
    r'\\(?:lor|vee)(?![a-zA-Z])|[,;]?\s?\\text\{\s?or\s?\}'
    r'|[,;]?\s?(?<![a-zA-Z\\])or(?![a-zA-Z])|[,;]?\s?或者?'
)
AND = re.compile(
    r'[,;]?\s?(?:\\(?:cap|land|wedge)(?![a-zA-Z])|\\text\{\s?(?:and|but)\s?\}'
    r'|(?<![a-zA-Z\\])(?:and|but)(?![a-zA-Z])|且)'
)
WITHOUT = re.compile(
    r'\\setminus(?![a-zA-Z])|\\backslash|(?:\\text\{)?\s?except(?: for)?\s?\}?|-(?=\s?\\\{)'
)
SEPARATORS = (('or', CUP), ('or', OR), ('without', WITHOUT), ('and', AND), (',', COMMA))
SUCH_THAT = re.compile(r'\\mid(?![a-zA-Z])|\||:')
MEMBER = re.compile(r'\\in(?![a-zA-Z])')
COMPARISON = re.compile(r'\\(?:le|ge|ne|in)(?![a-zA-Z])|(?<!:)[<>]|=')
FLIP = {'>': '<', '\\ge': '\\le', '<': '>', '\\le': '\\ge'}
VARIABLE = re.compile(r'(?<!\\)(?<![a-zA-Z])(?![ei](?![a-zA-Z]))[a-zA-Z](?![a-zA-Z])')
REALS = re.compile(
    rf'{number_set("R")}|(?:all|any|every|the set of(?: all)?) real(?: number)?s?'
    r'|全体实数|任意实数|一切实数|所有实数|实数集?'
)
BUILDERS = 4  # greatest number of braces in a text that is read as a set
EMPTY = re.compile(r'\\emptyset|\\\{\s?\\\}|(?:the )?(?:empty|null) set|空集')
TOLERANCE = Fraction(1, 10**25)

# The line cut at points: the points in order, and whether the cells between and at them are in the
# set. The cells of the points p and q are: below p, p, between p and q, q, above q.
Cells = tuple[tuple[Form, ...], tuple[bool, ...]]
# How a point's membership of a joined set follows from that of its members. Conditions after commas
# hold together, unless they never do: x < 1, x > 3.
OPERATIONS: dict[str, Callable[[tuple[bool, ...]], bool]] = {
    'or': any,
    'and': all,
    ',': all,
    'without': lambda held: held[0] and not any(held[1:]),
}


@dataclass(frozen=True, kw_only=True)
class Set(Form):
    """A set of real numbers.

    Attributes:
        operation: 'interval', or one of :data:`OPERATIONS`; 'or' of no members is the empty set.
        bounds: The lower and the upper bound of an interval, None if it has none; a point's are
            equal.
        brackets: Of an interval.
        members: The sets that the operation joins.
    """

    sharp = True

    operation: str = 'interval'
    bounds: tuple[Form | None, ...] = ()
    brackets: str = ''
    members: tuple[Set, ...] = ()

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
            return cls(bounds=form.elements, brackets=form.brackets)
        finite = form.brackets == '{}' and all(part.scalar for part in form.listed())
        return _points(form) if finite else None

    def parts(self) -> tuple[Form, ...]:
        """Return the bounds of all intervals."""
        bounds = tuple(bound for bound in self.bounds if bound)
        return (*bounds, *(part for member in self.members for part in member.parts()))

    def is_finite(self) -> bool:
        """Tell whether it is a point or a union of points, which is read as a list."""
        if self.operation == 'interval':
            return self.bounds[0] is not None and self.bounds[0] is self.bounds[1]
        joined = bool(self.members) and self.operation != 'without'
        return joined and all(member.is_finite() for member in self.members)

    def cells(self) -> Cells | None:
        """Return the cells of the line that it has; None if its points can't be put into order.

        The bounds of one interval need no value: [a, b) has the cells of [0, 1).
        """
        cuts: list[list[Form]] = []  # equal points together
        points = dict.fromkeys(self.parts())
        values = [(value, p) for p in points if (value := p.constant()) is not None]
        if len(values) < len(points):
            if self.operation != 'interval':
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
        inside = self._inside(places, 2 * len(cuts) + 1)
        needed = [i for i in range(len(cuts)) if len(set(inside[2 * i : 2 * i + 3])) > 1]
        cells = (cell for i in needed for cell in inside[2 * i + 1 : 2 * i + 3])
        return tuple(cuts[i][0] for i in needed), (inside[0], *cells)

    def _inside(self, places: dict[Form, int], count: int) -> list[bool]:
        """Tell which of the cells it has; a place is the number of a point's cell."""
        if self.operation == 'interval':
            low, high = self.bounds
            first = places[low] + (self.brackets[0] == '(') if low else 0
            last = places[high] - (self.brackets[1] == ')') if high else count
            return [first <= cell <= last for cell in range(count)]
        members = [member._inside(places, count) for member in self.members]
        held = list(zip(*members, strict=True)) or [()] * count
        inside = [OPERATIONS[self.operation](each) for each in held]
        return [any(each) for each in held] if self.operation == ',' and not any(inside) else inside

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


ALL = Set(bounds=(None, None), brackets='()')


def _listed(form: Form) -> list[Form]:
    return form.listed() if isinstance(form, Sequence) else [form]


def _points(form: Form) -> Set:
    sets = tuple(Set(bounds=(one, one), brackets='[]') for one in _listed(form))
    return sets[0] if len(sets) == 1 else Set(operation='or', members=sets)


def _read(text: str, parse: Parse, variable: str = '') -> Set | None:
    """Read a set; ``variable`` is the one that a set-builder names."""
    text = text.strip()
    if EMPTY.fullmatch(text):
        return Set(operation='or')
    if REALS.fullmatch(text):
        return ALL
    for operation, separator in SEPARATORS:
        pieces = split_top(text, separator)
        if len(pieces) > 1:
            written = separator in (CUP, WITHOUT)
            return _read_joined(operation, pieces, parse, variable, written=written)
    return (
        _read_builder(text, parse)
        or _read_condition(text, parse, variable)
        or _read_interval(text, parse)
    )


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
        unnamed = not (member.name or variable or written)
        if unnamed and (operation != 'or' or not member.bounds or member.is_finite()):
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
    brackets = form.brackets if isinstance(form, Sequence) else ''
    if pairs and brackets in ('()', '[]') and len(form.parts()) == 2:
        return Set(bounds=form.parts(), brackets=brackets)
    named = form.name and form.name == (variable or form.name)
    allowed = points or named or brackets == '{}'
    if not allowed or not all(value.scalar for value in _listed(form)):
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
    """Read ``a < x \\le b``, ``x > a``, ``x \\ne a`` or ``x \\in A``."""
    sides, operators = split_with(text, COMPARISON)
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
    if operators == ['\\ne']:
        listed = not (isinstance(values[0], Sequence) and values[0].is_ordered())
        removed = listed and all(value.scalar for value in _listed(values[0]))
        members = (ALL, _points(values[0]))
        return Set(operation='without', members=members, name=name) if removed else None
    if not set(operators) <= {'<', '\\le'} or not all(value.scalar for value in values):
        return None
    low = _bound(values[0]) if place else None
    high = _bound(values[-1]) if place < len(sides) - 1 else None
    first = '[' if place and operators[0] == '\\le' else '('
    last = ']' if place < len(sides) - 1 and operators[-1] == '\\le' else ')'
    return Set(bounds=(low, high), brackets=first + last, name=name)


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
    return Set(bounds=(low, high), brackets=brackets)
