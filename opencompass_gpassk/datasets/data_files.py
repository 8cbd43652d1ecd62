"""Rows of data files, read from all usual formats with checks; the problems made of them."""

from __future__ import annotations

import csv
import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opencompass_gpassk.formats.jsonlines import at_line, fields_of, numbered_lines, parse_row

FORMATS = ('.jsonl', '.json', '.parquet', '.csv')


@dataclass(frozen=True)
class Row:
    """One record and its place, such as ``AMC_en.jsonl, line 3``."""

    place: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """A problem of a data set, with the columns that a result can be broken down by.

    Attributes:
        problem_id: Unique inside the data set, the same on every machine.
        question: The problem's text.
        answer: The gold answer, LaTeX or plain.
        language: ``'en'`` or ``'cn'``.
        cluster: A label that translations of one problem, or versions of one question, share.
        version: ``'original'`` or the number of a version; '' if there are no versions.
    """

    problem_id: str
    question: str
    answer: str
    language: str
    cluster: str
    split: str = ''
    level: str = ''
    subject: str = ''
    question_type: str = ''
    version: str = ''


def read_rows(path: Path) -> list[Row]:
    """Read a file of records: JSON lines, JSON (a list, or an object of records), parquet or CSV.

    Raises:
        ValueError: If there is no such file, its format is unknown, or it can't be read; it names
            file and line.
    """
    readers = {'.jsonl': _jsonl, '.json': _json, '.parquet': _parquet, '.csv': csv_rows}
    if not path.is_file():
        raise ValueError(f'{path}: there is no such file')
    if path.suffix not in readers:
        raise ValueError(f'{path}: unknown format; use one of {", ".join(FORMATS)}')
    try:
        rows = [Row(f'{path}, {place}', fields) for place, fields in readers[path.suffix](path)]
    except UnicodeDecodeError as error:
        raise ValueError(f'{path}: not UTF-8 ({error}); save it in that encoding') from error
    except RecursionError as error:
        raise ValueError(f'{path}: its records are nested too deeply') from error
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
        ValueError: If there is none or it is empty; it names file, line and field.
    """
    for name in names:
        if text := text_of(row.fields.get(name)):
            return text
    raise ValueError(
        f'{row.place}: field {" or ".join(names)} is missing, empty or not a text; '
        f'{fields_of(row.fields, names[0])}'
    )


def text_of(value: object) -> str:
    """Return a text or a number as a text, '' if it is blank or neither."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return ''
    return str(value) if str(value).strip() else ''


def optional_text(row: Row, name: str) -> str:
    """Return a field as a text, '' if there is none."""
    value = row.fields.get(name)
    return '' if value is None else str(value).strip()


def _jsonl(path: Path) -> Iterator[tuple[str, Any]]:
    for number, line in numbered_lines(path):
        with at_line(path, number):
            row = parse_row(line)
        yield f'line {number}', row


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


def csv_rows(path: Path) -> Iterator[tuple[str, Any]]:
    csv.field_size_limit(2**31 - 1)
    with path.open(encoding='utf-8-sig', newline='') as file:
        reader = csv.DictReader(file, restkey='')
        try:
            for fields in reader:
                if '' in fields or None in fields.values():
                    raise ValueError(
                        f'{path}, line {reader.line_num}: the row has another number of columns '
                        'than the head; quote fields that contain commas'
                    )
                yield f'line {reader.line_num}', fields
        except csv.Error as error:
            raise ValueError(f'{path}, line {reader.line_num}: not CSV: {error}') from error


def check_counts(
    title: str,
    expected: Mapping[str, int | None],
    rows: Mapping[str, Sequence[Row]],
    *,
    strict: bool = True,
) -> None:
    """Compare the number of problems in each part with the known number.

    Args:
        title: The data set's name, for the message.
        expected: Problems of each part; None if unknown.
        rows: The parts' rows.
        strict: Raise an error, or else warn.

    Raises:
        ValueError: If a part has another number of problems; it names the part and its last row.
    """
    wrong = [
        f'{name} has {len(rows[name])} problems instead of {count}'
        + (f' (the last at {rows[name][-1].place})' if rows[name] else '')
        for name, count in expected.items()
        if count is not None and len(rows[name]) != count
    ]
    if not wrong:
        return
    message = f'{title}: {"; ".join(wrong)}'
    if strict:
        raise ValueError(
            f'{message}. Results would not be comparable with others; get the complete data, or '
            'set strict=False in the data set config to go on with a warning'
        )
    logging.getLogger(__name__).warning(message)


@dataclass(frozen=True)
class Part:
    """A part of a data set that is selected and counted as a unit.

    Attributes:
        name: The name in messages, such as ``AMC_en``.
        layouts: Possible sets of files, by their names without ending, best first.
        hub_configs: Its configurations on the hub, None for a repository with only one.
        hub_split: Its split on the hub.
        labels: Fields with the same value in all its rows, such as split and language.
    """

    name: str
    layouts: tuple[tuple[str, ...], ...]
    hub_configs: tuple[str | None, ...] = (None,)
    hub_split: str = 'test'
    labels: Mapping[str, str] = field(default_factory=dict)


def find_files(part: Part, folder: Path) -> list[Path]:
    """Return the part's files in a folder; an empty list if the part isn't complete there."""
    for stems in part.layouts:
        found = [
            next(filter(Path.is_file, (folder / f'{stem}{ending}' for ending in FORMATS)), None)
            for stem in stems
        ]
        if None not in found:
            return [path for path in found if path]
    return []


def read_folder(
    parts: Sequence[Part], folder: Path, subfolders: Sequence[str]
) -> dict[str, list[Row]]:
    """Read all parts from a folder or, if it holds none of them, from one of its subfolders.

    Args:
        parts: The selected parts.
        folder: The folder that the user named.
        subfolders: Other places to look, relative to it, such as ``livemathbench/202412``.

    Returns:
        The rows of each part by its name.

    Raises:
        ValueError: If a part's file is missing (it names the file), or a file can't be read.
    """
    best: dict[str, list[Path]] = {}
    for place in (folder, *(folder / name for name in subfolders)):
        found = {part.name: paths for part in parts if (paths := find_files(part, place))}
        if len(found) > len(best):
            best = found
    missing = [part for part in parts if part.name not in best]
    if missing:
        names = ', '.join(f'{stem}.jsonl' for part in missing for stem in part.layouts[0])
        there = (
            ', '.join(str(path) for paths in best.values() for path in paths)
            or 'none of the data set'
        )
        raise ValueError(
            f'{folder}: {names} not found (nor as {", ".join(FORMATS[1:])}); files found: {there}'
        )
    return {
        name: [row for path in paths for row in read_rows(path)] for name, paths in best.items()
    }
