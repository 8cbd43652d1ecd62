"""Answers of several values: lists, sets, tuples, ratios, unions, matrices, ±."""

from __future__ import annotations

import re
from collections.abc import Callable

from opencompass_gpassk.answers.braces import balanced, split_top
from opencompass_gpassk.answers.form import Form, Kind

__all__ = [
    'LIST', 'read_bracketed', 'read_list', 'read_matrix', 'read_ratio', 'read_signs', 'read_union',
]  # fmt: skip

Parse = Callable[[str], Form]

# What separates the elements of a list: a comma, *and*, *or*, or their Chinese words.
LIST = re.compile(
    r'[,;]\s*(?:\\text\{\s*(?:and|or)\s*\}|(?:and|or)(?![a-zA-Z]))?'
    r'|\\text\{\s*,?\s*(?:and|or|,)\s*\}|(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])|和|或者?|以及|及'
)
# What separates the elements of a list whose elements are lists: 1,2; 3,4.
SEMICOLON = re.compile(
    r';|\\text\{\s?(?:and|or)\s?\}|(?<![a-zA-Z\\])(?:and|or)(?![a-zA-Z])|或者?|和'
)
OR = re.compile(r'(?<![a-zA-Z\\])or(?![a-zA-Z])|或')
COMMA = re.compile(r',')
RATIO = re.compile(r':')
CUP = re.compile(r'\\cup(?![a-zA-Z])')
# An environment of a matrix, with the columns of an array, and its content.
MATRIX = re.compile(r'\\begin\{([pbBv]?matrix|array)\}(?:\{[^{}]*\})?(.*)\\end\{\1\}', re.DOTALL)
# The end of a row, with the space LaTeX may be told to leave below it.
ROW = re.compile(r'\\\\(?:\[[^\]]*\])?')
CELL = re.compile(r'&')
POINT = re.compile(r'[A-Z]\s?\(')  # A(1, 2)
PM = re.compile(r'\\pm(?![a-zA-Z])|\+/-|\+-')


def read_list(text: str, parse: Parse) -> Form | None:
    """Read elements without brackets around them; a name before the first is the list's own."""
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
    """Read a matrix, whose shape must be a rectangle."""
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
    """Read one ± as the two values it stands for."""
    if len(PM.findall(text)) != 1:
        return None
    parts = tuple(parse(PM.sub(sign, text)) for sign in '+-')
    return Form(Kind.LIST, '±', parts)
