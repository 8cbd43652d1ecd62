"""Rows of data files: reading them from any usual format, and checking their fields."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ['FORMATS', 'Row', 'optional_text', 'read_rows', 'text_field']

FORMATS = ('.jsonl', '.json', '.parquet', '.csv')


@dataclass(frozen=True)
class Row:
    """One record and where it stands, such as ``AMC_en.jsonl, line 3``."""

    place: str
    fields: Mapping[str, Any]


def read_rows(path: Path) -> list[Row]:
    """Read a file of records: JSON lines, JSON (a list, or an object of records), parquet or CSV.

    Raises:
        ValueError: If the format is unknown or the file can't be read, naming file and line.
    """
    readers = {'.jsonl': _jsonl, '.json': _json, '.parquet': _parquet, '.csv': _csv}
    if path.suffix not in readers:
        raise ValueError(f'{path}: unknown format; use one of {", ".join(FORMATS)}')
    try:
        rows = [Row(f'{path}, {place}', fields) for place, fields in readers[path.suffix](path)]
    except UnicodeDecodeError as error:
        raise ValueError(f'{path}: not UTF-8 ({error}); save it in that encoding') from error
    for row in rows:
        if not isinstance(row.fields, Mapping):
            raise ValueError(
                f'{row.place}: a record with named fields is needed, '
                f'this is a {type(row.fields).__name__}'
            )
    return rows


def text_field(row: Row, names: Sequence[str]) -> str:
    """Return the first of the named fields that the row has, as a text.

    Raises:
        ValueError: If there is none or it is empty, naming file, line and field.
    """
    for name in names:
        value = row.fields.get(name)
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            continue
        if str(value).strip():
            return str(value)
    found = ', '.join(map(str, row.fields)) or 'none'
    raise ValueError(
        f'{row.place}: field {" or ".join(names)} is missing, empty or not a text; '
        f'the fields there are {found}'
    )


def optional_text(row: Row, name: str) -> str:
    """Return a field as a text, '' where there is none."""
    value = row.fields.get(name)
    return '' if value is None else str(value).strip()


def _jsonl(path: Path) -> Iterator[tuple[str, Any]]:
    # Lines end at \n alone: a question may hold U+2028, where splitlines would cut.
    for number, line in enumerate(path.read_bytes().decode('utf-8-sig').split('\n'), start=1):
        if line.strip():
            try:
                yield f'line {number}', json.loads(line)
            except ValueError as error:
                raise ValueError(f'{path}, line {number}: not JSON: {error}') from error


def _json(path: Path) -> Iterator[tuple[str, Any]]:
    try:
        data = json.loads(path.read_bytes().decode('utf-8-sig'))
    except json.JSONDecodeError as error:
        raise ValueError(f'{path}, line {error.lineno}: not JSON: {error}') from error
    if not isinstance(data, (dict, list)):
        raise ValueError(f'{path}: a list of records is needed, this is a {type(data).__name__}')
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, fields in items:
        yield f'record {key}', fields


def _parquet(path: Path) -> Iterator[tuple[str, Any]]:
    import pyarrow
    import pyarrow.parquet

    try:
        records = pyarrow.parquet.read_table(path).to_pylist()
    except pyarrow.ArrowException as error:
        raise ValueError(f'{path}: not a parquet file: {error}') from error
    for number, fields in enumerate(records, start=1):
        yield f'row {number}', fields


def _csv(path: Path) -> Iterator[tuple[str, Any]]:
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding='utf-8-sig', newline='') as file:
        reader = csv.DictReader(file, restkey='')
        for fields in reader:
            if '' in fields or None in fields.values():
                raise ValueError(
                    f'{path}, line {reader.line_num}: the row has another number of columns than '
                    'the head; quote fields that hold commas'
                )
            yield f'line {reader.line_num}', fields
