"""The files, or their like on a hub, that a data set consists of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opencompass_gpassk.datasets.rows import FORMATS, Row, read_rows

__all__ = ['Part', 'find_files', 'read_folder']


@dataclass(frozen=True)
class Part:
    """A part of a data set that is selected and counted as one.

    Attributes:
        name: As shown in messages, such as ``AMC_en``.
        layouts: The files that it may consist of, by their names without ending, best first.
        hub_configs: Its configurations on the hub, None for a repository that has but one.
        hub_split: Its split on the hub.
        labels: What holds for all its rows, such as split and language.
    """

    name: str
    layouts: tuple[tuple[str, ...], ...]
    hub_configs: tuple[str | None, ...] = (None,)
    hub_split: str = 'test'
    labels: Mapping[str, str] = field(default_factory=dict)


def find_files(part: Part, folder: Path) -> list[Path]:
    """Return the part's files in a folder, none if it isn't complete there."""
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
    """Read all parts from a folder or, where it holds none of them, from one below it.

    Args:
        parts: The selected parts.
        folder: What the user named.
        subfolders: Where else to look, relative to it, such as ``livemathbench/202412``.

    Returns:
        The rows of each part by its name.

    Raises:
        ValueError: If a part's file is missing, naming it, or if a file can't be read.
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
