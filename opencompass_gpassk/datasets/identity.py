"""Which problem, and which of its samples, each row of a test set is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

__all__ = ['identify']


def identify(rows: Any) -> list[tuple[str, int]]:
    """Return (problem_id, replica) of each row.

    This package's data sets carry both as columns, so any part of a test set will do. In
    OpenCompass's own data sets a problem is its `idx`, numbered before the rows are repeated, and
    the replica is how often the problem occurred before: those rows must be the whole test set,
    not a shard of it. (`subdivision` is left aside: it holds the abbreviation, which differs
    between a shard and the whole.)

    Args:
        rows: A test set, as a ``datasets.Dataset`` or a sequence of mappings.

    Raises:
        ValueError: If rows have neither `problem_id` and `replica` nor `idx`.
    """
    columns = _columns(rows, ('problem_id', 'replica', 'idx'))
    if 'problem_id' in columns and 'replica' in columns:
        pairs = zip(columns['problem_id'], columns['replica'], strict=True)
        return [(str(problem), int(replica)) for problem, replica in pairs]
    if 'idx' not in columns:
        raise ValueError(
            "the test set's rows have neither the columns 'problem_id' and 'replica' nor 'idx', so "
            'samples of one problem cannot be told from those of another; load the data set '
            "through a subclass of OpenCompass's BaseDataset, which numbers the rows"
        )
    seen: Counter[str] = Counter()
    identities = []
    for problem in map(str, columns['idx']):
        identities.append((problem, seen[problem]))
        seen[problem] += 1
    return identities


def _columns(rows: Any, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return those of the columns that all rows have."""
    if hasattr(rows, 'column_names'):
        return {name: list(rows[name]) for name in names if name in rows.column_names}
    return {name: [row[name] for row in rows] for name in names if all(name in r for r in rows)}
