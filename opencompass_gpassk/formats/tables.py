"""The one reader of rows from outside, for data sets and for logs: JSON lines, JSON, CSV, Parquet.

A file is told by its content. Somebody else may have made it: it is of bounded size, packed or not.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.formats.jsonlines import (
    NOT_UTF8,
    as_row,
    input_name,
    numbered_lines,
    parse_row,
)
from opencompass_gpassk.formats.stored_files import (
    GZIP,
    MIB,
    RESULT_BYTES,
    SAMPLES,
    open_regular,
    read_bytes,
)

FORMATS = ('.jsonl', '.json', '.parquet', '.csv')
TABLE_BYTES = 128 * MIB  # of a CSV file
ROWS_AT_ONCE = 16  # of a Parquet file
PARQUET, ZIP = b'PAR1', b'PK\x03\x04'
UTF16 = b'\xff\xfe', b'\xfe\xff'  # how a file in UTF-16 begins
BEGINNING = 4096  # bytes that tell the format

Fields = dict[str, Any]


class UnreadRow(NamedTuple):
    """A row of a file.

    Attributes:
        number: Its number in the file, from 1.
        place: Where it stands, such as ``AMC_en.jsonl, line 3``.
        read: Returns its fields, or raises a ValueError.
    """

    number: int
    place: str
    read: Callable[[], Fields]


Located = Iterable[tuple[str, Callable[[], Fields]]]  # of each row: its place in the file, ``read``


def unread_rows(path: str | Path) -> Iterator[UnreadRow]:
    """Yield the rows of a file; ``-`` is standard input, with JSON lines.

    JSON is a list of records, an object of records, or one record.

    Raises:
        ValueError: If the file can't be read; it names file, line and remedy. What is wrong with
            a single row is raised when it is read.
    """
    return numbered(input_name(path), _located(path))


def numbered(file: str, rows: Located) -> Iterator[UnreadRow]:
    """Yield rows with their numbers, and their file in their places."""
    for number, (place, read) in enumerate(rows, start=1):
        yield UnreadRow(number, f'{file}, {place}', read)


def records(values: Iterable[tuple[object, Any]]) -> Located:
    """Yield the records of a JSON file, given by name or number."""
    for key, value in values:
        yield f'record {short_line(str(key), 40)}', partial(as_row, value)


def beginning(path: str | Path) -> bytes:
    """Return the first bytes of a file; none of standard input or a pipe, which is read once."""
    if str(path) == '-' or not Path(path).is_file():
        return b''
    with open_regular(Path(path)) as file:
        return file.read(BEGINNING)


def _located(path: str | Path) -> Located:
    start, file = beginning(path), Path(path)
    text = start.removeprefix(b'\xef\xbb\xbf').lstrip()
    if start.startswith(ZIP):
        raise ValueError(f'{path}: unknown format; use one of {", ".join(FORMATS)}')
    if start.startswith(PARQUET):
        return _parquet(file)
    if start.startswith(UTF16):
        raise ValueError(f'{path}: {NOT_UTF8}')
    if file.suffix.lower() == '.csv':
        return _csv(file)
    begun = text[:1] == b'[' or text.split(b'\n')[0].rstrip() == b'{'
    if start and not start.startswith(GZIP) and (begun or file.suffix == '.json'):
        return _json(file)
    return _lines(path)


def _lines(path: str | Path) -> Located:
    for number, line in numbered_lines(path):
        yield f'line {number}', partial(parse_row, line)


def _json(path: Path) -> Located:
    data = read_bytes(
        path,
        RESULT_BYTES,
        'save rows as JSON lines, or a log of inspect as .eval: inspect log convert --to eval',
    )
    try:
        found = json.loads(data)
    except json.JSONDecodeError as error:
        if error.msg == 'Extra data':
            return _lines(path)
        raise ValueError(f'{path}, line {error.lineno}: not JSON: {error}; mend it') from error
    except UnicodeDecodeError as error:
        raise ValueError(f'{path}: {NOT_UTF8}') from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f'{path}: not JSON: {error}; make it again') from error
    if isinstance(found, dict):
        by_name = all(isinstance(value, dict) for value in found.values())
        return records(found.items() if by_name else [(0, found)])
    if isinstance(found, list):
        return records(enumerate(found))
    raise ValueError(
        f'{path}: rows are an object {{…}} or a list of them, not a {type(found).__name__}'
    )


def _parquet(path: Path) -> Located:
    """Yield rows; their size is counted, as a kilobyte may hold terabytes."""
    import pyarrow
    import pyarrow.parquet

    number = size = 0
    try:
        file = pyarrow.parquet.ParquetFile(path)
        _require_different(f'{path}', file.schema_arrow.names)
        for batch in file.iter_batches(ROWS_AT_ONCE):
            for index in range(batch.num_rows):
                (fields,) = batch.slice(index, 1).to_pylist()  # a row may have a million tokens
                number += 1
                size += len(repr(fields))
                if size > SAMPLES.size or number > SAMPLES.lines:
                    raise ValueError(f'{path}: it holds too much; split it')
                yield f'row {number}', partial(as_row, fields)
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise ValueError(
            f'{path}: not a Parquet file: {short_line(str(error))}; make it again'
        ) from error


def _csv(path: Path) -> Located:
    """Yield rows, whose texts may have any length."""
    if path.stat().st_size > TABLE_BYTES:
        raise ValueError(f'{path}: larger than {TABLE_BYTES // MIB} MiB; save it as JSON lines')
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding='utf-8-sig', newline='') as file:
        reader = csv.DictReader(file, restkey='')
        try:
            _require_different(f'{path}, line 1', reader.fieldnames or [])
            for fields in reader:
                if '' in fields or None in fields.values():
                    raise ValueError(
                        f'{path}, line {reader.line_num}: the row has another number of columns '
                        'than the head; quote fields that contain commas'
                    )
                yield f'line {reader.line_num}', partial(as_row, fields)
        except csv.Error as error:
            raise ValueError(
                f'{path}, line {reader.line_num}: not CSV: {error}; save it again'
            ) from error
        except UnicodeDecodeError as error:
            raise ValueError(f'{path}: {NOT_UTF8}') from error


def _require_different(place: str, names: Sequence[str]) -> None:
    if twice := [name for name, count in Counter(names).items() if count > 1]:
        raise ValueError(
            f'{place}: several columns are named {short_line(twice[0], 40)!r}; rename all but one'
        )
