"""The files, or their like on a hub, that a data set consists of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opencompass_gpassk.datasets.rows import FORMATS, Row, read_rows

__all__ = ['Part', 'find_files', 'read_folder']


@dataclass(frozen=True)
class Part:
    """One file's worth of a data set.

    Attributes:
        name: As shown in messages, such as ``AMC_en``.
        stems: File names without ending that it may have, best first.
        hub_config: Its configuration on the hub, None where the repository has but one.
        hub_split: Its split on the hub.
        labels: What holds for all its rows, such as split and language.
    """

    name: str
    stems: tuple[str, ...]
    hub_config: str | None = None
    hub_split: str = 'test'
    labels: Mapping[str, str] = field(default_factory=dict)


def find_files(part: Part, folder: Path) -> Path | None:
    """Return the part's file in a folder, None if there is none."""
    for stem in part.stems:
        for ending in FORMATS:
            path = folder / f'{stem}{ending}'
            if path.is_file():
                return path
    return None


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
    best: dict[str, Path] = {}
    for place in (folder, *(folder / name for name in subfolders)):
        found = {part.name: path for part in parts if (path := find_files(part, place))}
        if len(found) > len(best):
            best = found
    missing = [part for part in parts if part.name not in best]
    if missing:
        names = ', '.join(f'{part.stems[0]}.jsonl' for part in missing)
        there = ', '.join(str(path) for path in best.values()) or 'none of the data set'
        raise ValueError(
            f'{folder}: {names} not found (nor as {", ".join(FORMATS[1:])}); files found: {there}'
        )
    return {name: read_rows(path) for name, path in best.items()}
