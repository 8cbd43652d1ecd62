"""Data files: where those of a data set lie, their rows, and the problems made of them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import yaml

from opencompass_gpassk.formats.jsonlines import at_place, fields_of
from opencompass_gpassk.formats.tables import FORMATS, unread_rows

INFINITE = (math.inf, -math.inf)
CARD_BYTES = 1 << 18  # of the README of a snapshot; a larger one is not read
ANCHOR = re.compile(r'(?:^|[\s\[{,:])&\S')  # of YAML; aliases of aliases may stand for terabytes
_files_read: ContextVar[list[Path] | None] = ContextVar('files_read', default=None)


@dataclass(frozen=True)
class Row:
    """One record and its place, such as ``AMC_en.jsonl, line 3``."""

    place: str
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class DatasetProblem:
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


@contextmanager
def noted_files() -> Iterator[list[Path]]:
    """Yield a list to which each file of records is added when it is read."""
    files: list[Path] = []
    token = _files_read.set(files)
    try:
        yield files
    finally:
        _files_read.reset(token)


def read_rows(path: Path) -> list[Row]:
    """Read a file of records: JSON lines, JSON (a list, or an object of records), parquet or CSV.

    Raises:
        ValueError: If there is no such file, or it can't be read; it names file and line.
    """
    if not path.is_file():
        raise ValueError(f'{path}: there is no such file')
    rows = []
    for row in unread_rows(path):
        with at_place(row.place):
            rows.append(Row(row.place, row.read()))
    if (files := _files_read.get()) is not None:
        files.append(path)
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
        f'{fields_of(row.fields)}'
    )


def text_of(value: object) -> str:
    """Return a text or a finite number as a text, '' if it is blank or neither.

    A list of one is read as its member.
    """
    one = value[0] if isinstance(value, list) and len(value) == 1 else value
    if isinstance(one, bool) or not isinstance(one, (str, int, float)) or one in INFINITE:
        return ''
    return str(one) if one == one and str(one).strip() else ''


def optional_text(row: Row, name: str) -> str:
    """Return a field as a text, '' if there is none."""
    value = row.fields.get(name)
    return '' if value is None else str(value).strip()


def check_counts(
    title: str, expected: Mapping[str, int | None], rows: Mapping[str, Sequence[Row]]
) -> None:
    """Compare the number of problems in each part with the known number.

    Args:
        title: The data set's name, for the message.
        expected: Problems of each part; None if unknown.
        rows: The parts' rows.

    Raises:
        ValueError: If a part has another number of problems; it names the part and its last row.
    """
    wrong = [
        f'{name} has {len(rows[name])} problems instead of {count}'
        + (f' (the last at {rows[name][-1].place})' if rows[name] else '')
        for name, count in expected.items()
        if count is not None and len(rows[name]) != count
    ]
    if wrong:
        raise ValueError(
            f'{title}: {"; ".join(wrong)}. Results would not be comparable with others; get the '
            'complete data, or load your part of them as a file of your own (CustomProblems)'
        )


@dataclass(frozen=True)
class DataPart:
    """A part of a data set that is selected and counted as a unit.

    Attributes:
        name: The name in messages, such as ``AMC_en``.
        layouts: Possible sets of files, by their names without ending, best first.
        hub_configs: Its configurations on the hub, None for a repository with only one.
        hub_split: Its split on the hub.
    """

    name: str
    layouts: tuple[tuple[str, ...], ...]
    hub_configs: tuple[str | None, ...] = (None,)
    hub_split: str = 'test'

    def hub_names(self) -> list[list[str]]:
        """Return, for each configuration, the names without ending that hubs give its files.

        They are patterns: a file may be split into numbered ones.
        """
        split = self.hub_split
        return [
            [split, f'{split}-[0-9]*']
            if config is None
            else [config, f'{config}/{split}', f'{config}/{split}-[0-9]*']
            for config in self.hub_configs
        ]


def find_files(part: DataPart, folder: Path) -> list[Path]:
    """Return the part's files in a folder; an empty list if the part isn't complete there."""
    for stems in part.layouts:
        found = [
            next(filter(Path.is_file, (folder / f'{stem}{ending}' for ending in FORMATS)), None)
            for stem in stems
        ]
        if None not in found:
            return [path for path in found if path]
    return _complete(
        next(
            (
                files
                for name in names
                for ending in FORMATS
                if (files := sorted(filter(Path.is_file, folder.glob(name + ending))))
            ),
            [],
        )
        for names in part.hub_names()
    )


def _complete(of_configs: Iterable[list[Path]]) -> list[Path]:
    """Join the files of a part's configurations; none if a configuration has none."""
    found = [*of_configs]
    return [path for files in found for path in files] if all(found) else []


def declared_files(part: DataPart, snapshot: Path, head: Mapping[str, Any]) -> list[Path]:
    """Return the part's files as the head of the snapshot's README declares them.

    On the Hugging Face hub it has ``configs`` with ``config_name`` and ``data_files``. A head
    without them, or with others, declares nothing.
    """
    patterns: dict[str | None, list[object]] = {}
    for config in _mappings(head.get('configs')):
        for entry in _mappings(config.get('data_files')):
            if entry.get('split') == part.hub_split:
                name, paths = config.get('config_name'), entry.get('path')
                if isinstance(name, str):
                    patterns[None if name == 'default' else name] = (
                        paths if isinstance(paths, list) else [paths]
                    )
    if not patterns.keys() & {*part.hub_configs}:
        return []
    files_there = sorted(
        path for path in snapshot.rglob('*') if path.suffix in FORMATS and path.is_file()
    )
    return _complete(
        [
            path
            for path in files_there
            if any(
                fnmatchcase(path.relative_to(snapshot).as_posix(), pattern)
                for pattern in patterns.get(config, ())
                if isinstance(pattern, str)
            )
        ]
        for config in part.hub_configs
    )


def _card_head(card: Path) -> Mapping[str, Any]:
    """Return the YAML at the head of a README; nothing if there is none that can be read."""
    if not card.is_file() or card.stat().st_size > CARD_BYTES:
        return {}
    try:
        found = re.match(r'---\n(.*?)\n---', card.read_text('utf-8-sig'), re.DOTALL)
        head = found[1] if found and not ANCHOR.search(found[1]) else ''
        loaded = yaml.safe_load(head)
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return loaded if isinstance(loaded, Mapping) else {}


def _mappings(values: object) -> list[Mapping[str, Any]]:
    """Return the mappings in a list; none if it is no list."""
    members = values if isinstance(values, list) else []
    return [member for member in members if isinstance(member, Mapping)]


def read_folder(
    parts: Sequence[DataPart], folder: Path, subfolders: Sequence[str]
) -> dict[str, list[Row]]:
    """Read all parts from a folder or, if it holds none of them, from one of its subfolders.

    The folder may be a snapshot of a repository on a hub, in the layouts that are usual there.

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
    places = dict.fromkeys(('data', *subfolders))
    searches: list[Callable[[DataPart], list[Path]]] = [
        partial(declared_files, snapshot=folder, head=_card_head(folder / 'README.md')),
        *(partial(find_files, folder=folder / place) for place in ('', *places)),
    ]
    for search in searches:
        found = {part.name: paths for part in parts if (paths := search(part))}
        if len(found) > len(best):
            best = found
    if missing := [part for part in parts if part.name not in best]:
        names = ', '.join(f'{stem}.jsonl' for part in missing for stem in part.layouts[0])
        there = (
            ', '.join(str(path) for paths in best.values() for path in paths)
            or 'none of the data set'
        )
        raise ValueError(
            f'{folder}: {names} not found, nor with the ending {", ".join(FORMATS[1:])} or a name '
            f'of the hub, in the folder and in its subfolders {", ".join(places)}, nor what its '
            f'README.md declares; files found: {there}'
        )
    return {
        name: [row for path in paths for row in read_rows(path)] for name, paths in best.items()
    }
