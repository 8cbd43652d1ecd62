"""Trials of several models, drawn down to as many of each problem as the one with fewest has.

A figure of 16 samples has another distribution than one of 48, though both are right on average:
G-Pass@16_1.0 is 0 or 1 by the first. So a permutation test, to which the models are alike if
nothing tells them apart, would take one for the other's chance. Of as many samples they are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.trials import TrialTable

__all__ = ['drawn_down']

Mask = NDArray[np.bool_]


def drawn_down(
    tables: Sequence[TrialTable],
    counted: Callable[[TrialTable], Mask],
    seed: int = 0,
    least: int = 1,
) -> tuple[list[TrialTable], int]:
    """Return tables in which each problem has as many trials that count in all of them.

    Trials are drawn at random without replacement, so that estimates stay unbiased. Those that
    don't count are left out.

    Args:
        tables: Of the same problems in the same order.
        counted: Table → shape (T,), which of its trials count.
        seed: What is drawn depends on it, on the table's place, and on its trials' replicas.
        least: A table with fewer trials of a problem keeps its own, and has no part in how many
            the others keep: it would leave nothing of them.

    Returns:
        The tables, the very same if the numbers are equal already; and the number of problems of
        which they aren't.
    """
    masks = [counted(table) for table in tables]
    numbers = np.stack(
        [
            np.bincount(table.problem_index[mask], minlength=len(table.problems))
            for table, mask in zip(tables, masks, strict=True)
        ]
    )
    fewest = np.where(numbers >= least, numbers, numbers.max(axis=0)).min(axis=0)
    unequal = int((numbers > fewest).any(axis=0).sum())
    if not unequal:
        return list(tables), 0
    return [
        _drawn(table, mask, fewest, np.random.default_rng([*b'drawn down', place, seed]))
        for place, (table, mask) in enumerate(zip(tables, masks, strict=True))
    ], unequal


def _drawn(
    table: TrialTable, counted: Mask, numbers: NDArray[np.int64], rng: np.random.Generator
) -> TrialTable:
    there = np.flatnonzero(counted)
    replica = np.array([table.trials[i].replica for i in there], dtype=np.int64)
    # Whatever the order of the file, the same trials.
    there = there[np.lexsort((replica, table.problem_index[there]))]
    problem = table.problem_index[there]
    order = np.lexsort((rng.random(len(there)), problem))
    there, problem = there[order], problem[order]
    rank = np.arange(len(there)) - np.searchsorted(problem, problem)
    kept = np.sort(there[rank < numbers[problem]])
    return TrialTable(table.problems, [table.trials[i] for i in kept])
