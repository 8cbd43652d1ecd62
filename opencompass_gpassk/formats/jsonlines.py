"""JSON lines: read from users' files (gzipped or not) or standard input, and written."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.stored_files import SAMPLES, bounded_lines

ESCAPED = re.compile('[\ud800-\udfff\x85\u2028\u2029]')
ROWS = SAMPLES._replace(lines=SAMPLES.size)  # whose lines may be short
# From surrogateescape: bytes that aren't UTF-8; and what UTF-16 has between its characters.
UNDECODED = re.compile('[\udc80-\udcff\0]')
NOT_UTF8 = 'not UTF-8; save it so: iconv -f GBK -t UTF-8 FILE > NEW, or with -f UTF-16'


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yield number and text of a file's lines that aren't blank; ``-`` is standard input.

    Only ``\\n`` ends a line: a response may contain U+2028 or U+0085. A byte order mark is removed.
    :func:`parse_row` refuses bytes that aren't UTF-8, so that the other lines can be read.

    Raises:
        ValueError: If the file is gzipped and damaged, or larger than ``ROWS``.
    """
    standard: Any = nullcontext(sys.stdin.buffer)
    with standard if str(path) == '-' else Path(path).open('rb') as file:
        for number, line in enumerate(bounded_lines(file, path, ROWS), start=1):
            text = line.decode('utf-8', 'surrogateescape')
            text = text.removeprefix('\ufeff') if number == 1 else text
            if text.strip():
                yield number, text


@contextmanager
def at_line(
    path: str | Path,
    number: int,
    *,
    skip_bad: bool | None = None,
    report: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Add file and line to a ValueError of the block; see :func:`at_place`."""
    with at_place(f'{input_name(path)}, line {number}', skip_bad=skip_bad, report=report):
        yield


@contextmanager
def at_place(
    place: str, *, skip_bad: bool | None = None, report: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Add a place to a ValueError of the block.

    Args:
        place: File and line, or row.
        skip_bad: Whether to suppress the error and go on; None if the command has no such option.
        report: Takes a message on each line left out.
    """
    try:
        yield
    except ValueError as error:
        message = f'{place}: {error}'
        if not skip_bad:
            hint = '' if skip_bad is None else ' (--skip-bad leaves such rows out)'
            raise ValueError(f'{message}{hint}') from error
        if report:
            report(f'left out: {message}')


def input_name(path: str | Path) -> str:
    """Return the name of a file, or of ``-``, in messages."""
    return 'standard input' if str(path) == '-' else str(path)


def parse_row(line: str) -> dict[str, Any]:
    """Return the object in a line; NaN, as Python and pandas write it, is read as null.

    Raises:
        ValueError: If the line isn't UTF-8, JSON or an object, or holds a number beyond 1.8e308.
    """
    if UNDECODED.search(line):
        raise ValueError(NOT_UTF8)
    try:
        row = json.loads(line, parse_constant=_undefined, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise ValueError(f'not JSON: {error}; put one {{…}} on each line') from error
    return as_row(row)


def as_row(value: Any) -> dict[str, Any]:
    """Return a value as a row; raise a ValueError if it is no object."""
    if not isinstance(value, dict):
        raise ValueError(f'a row is an object {{…}}, not a {type(value).__name__}')
    return value


# Other programs' names of our fields, the likeliest first; a name may also contain one of them.
OTHER_NAMES = {
    'question': ('question', 'problem', 'prompt', 'input', 'query', 'instruction'),
    'answer': (
        *('answer', 'gold', 'target', 'label', 'reference', 'expected', 'truth', 'gt', 'solution'),
    ),
    'samples': ('sample', 'response', 'output', 'completion', 'generation', 'prediction'),
}
LONG = 200  # characters of a text that is no answer
SHORT = 60  # characters of a text that may be an option, and no response


def fields_of(row: Mapping[str, Any]) -> str:
    """Return the names of a row's fields, for a message on missing ones."""
    names = ', '.join(short_line(str(name), 40) for name in list(row)[:20]) or 'none'
    return f'the fields there are {names}'


def columns_option(
    row: Mapping[str, Any], needed: Collection[str], other: Collection[str] = ()
) -> str:
    """Return ``--columns`` with the fields that may be those that a row lacks; '' if none may.

    They are told by what they hold and by their names: the samples are the list of the longest
    texts, and an answer is short.

    Args:
        row: The row.
        needed: Fields that a row needs.
        other: Fields that are only told if one of a likely name is there.
    """
    free = dict(row)
    found = {}
    for field in ('samples', 'question', 'answer'):  # the surest first
        fits = {name: fit for name in free if (fit := _fit(field, str(name), free[name]))}
        best = max(fits, key=fits.__getitem__, default=None)
        if (
            field in row
            or best is None
            or not (field in needed or (field in other and fits[best][0]))
        ):
            free.pop(field, None)
            continue
        one = field == 'samples' and isinstance(free.pop(best), str)
        found[field] = f'{"sample" if one else field}={best}'
        free.pop(best, None)
    pairs = [found[field] for field in (*other, *needed) if field in found]
    return f'--columns {" ".join(pairs)}' if pairs else ''


def _fit(field: str, name: str, value: Any) -> tuple[float, ...]:
    """Return how well a field may be one of ours, greater if better; () if it can't be."""
    listed = isinstance(value, list)
    texts = value if listed else [value]
    kinds = str | int | float if field == 'answer' else str
    if not texts or not all(isinstance(one, kinds) and type(one) is not bool for one in texts):
        return ()
    length = sum(len(str(one)) for one in texts) / len(texts)
    if (field == 'question' and listed) or (field == 'answer' and not 0 < length <= LONG):
        return ()
    named = {own for own, names in OTHER_NAMES.items() if any(one in name.lower() for one in names)}
    likely = named == {field}
    if field == 'answer':
        return likely, -length
    return likely or (listed and length > SHORT), listed, length


def row_line(row: Mapping[str, Any], indent: int | None = None) -> str:
    """Return a row as a line that people can read, with texts of any script unescaped.

    With an indent it is a document of several lines.

    Characters that UTF-8 can't encode, or that some programs take for a line end, are escaped.
    """
    text = json.dumps(row, ensure_ascii=False, indent=indent)
    return ESCAPED.sub(lambda char: f'\\u{ord(char[0]):04x}', text) + '\n'


def _undefined(constant: str) -> None:
    if constant != 'NaN':
        raise ValueError(f'{constant} is no number of JSON')


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):  # it would be written as Infinity, which is not JSON
        raise ValueError(f'{short_line(digits, 40)} is too large for a number')
    return number


def without_nan(value: Any) -> Any:
    """Return a value with None in place of every number that JSON can't hold."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): without_nan(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_nan(item) for item in value]
    return value
