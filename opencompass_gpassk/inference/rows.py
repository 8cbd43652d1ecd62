"""One row of a test set on its way through inference, and the seeds that belong to rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ['Row', 'batches', 'combined_seed', 'row_seed', 'stable_hash']

SEED_BITS = 31  # what every engine and API takes as a seed


@dataclass(frozen=True)
class Row:
    """One trial to be drawn.

    Attributes:
        index: Position in the prediction file.
        problem_id: The problem, unique inside the data set.
        replica: Which of its n samples.
        entry: The prompt as OpenCompass's template makes it.
        prompt: The prompt as the model wrapper parses it, for the record.
        gold: The gold answer, None where the data set names none.
        seed: Of this row's draw.
        key: Names prompt, protocol and identity: a saved response with another key is not ours.
    """

    index: int
    problem_id: str
    replica: int
    entry: Any
    prompt: Any
    gold: Any
    seed: int
    key: str


def stable_hash(*parts: Any) -> str:
    """Return a hexadecimal SHA-256 that is the same in every process and on every machine."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def row_seed(run_seed: int, problem_id: str, replica: int, prompt: Any) -> int:
    """Return the seed of one draw: a function of the row alone, not of batch, shard or resume.

    The prompt takes part because two data sets may both call a problem ``'0'``.
    """
    return _seed(stable_hash('row', run_seed, problem_id, replica, prompt))


def combined_seed(seeds: Iterable[int]) -> int:
    """Return the seed of a batch whose backend takes a single one."""
    return _seed(stable_hash('batch', *seeds))


def _seed(digest: str) -> int:
    return int(digest, 16) >> (256 - SEED_BITS)


def batches(rows: Sequence[Row], size: int, *, repeats: bool) -> list[list[Row]]:
    """Cut rows into batches, which depend on the rows alone: a resumed run draws from the same.

    Args:
        rows: All rows of a task, finished ones too.
        size: Rows a batch holds at most.
        repeats: Whether a batch may hold several replicas of a problem. Where the backend gives
            one seed to every request of a batch it must not: equal prompts would be answered
            equally.
    """
    if repeats:
        return [list(rows[i : i + size]) for i in range(0, len(rows), size)]
    found: list[list[Row]] = []
    members: list[set[str]] = []
    first_open = 0
    for row in rows:
        place = first_open
        while place < len(found) and (
            len(found[place]) >= size or row.problem_id in members[place]
        ):
            place += 1
        if place == len(found):
            found.append([])
            members.append(set())
        found[place].append(row)
        members[place].add(row.problem_id)
        while first_open < len(found) and len(found[first_open]) >= size:
            first_open += 1
    return found
