"""pass@k, greedy accuracy and G-Pass@k by difficulty, as in Table 4 of arXiv 2412.13147."""

from __future__ import annotations

import math
from collections.abc import Sequence

from opencompass_gpassk.report.board import LEVELS, Board, group_order
from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.tables.column import group_sizes
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.metric import G_PASS, PASS
from opencompass_gpassk.results.result import Entry

ALL = 'all'
LEGEND = (
    'drop: greedy accuracy minus G-Pass@k at the strictest τ, in points and in percent of that '
    'accuracy',
)


def decline_tables(board: Board) -> list[Table]:
    """Return a table for each benchmark whose problems have levels of difficulty, or else splits.

    Only models are shown whose greedy and sampled results are of the same problems. The relative
    drop is NaN if no greedy answer is right.
    """
    tables = []
    for benchmark in board.benchmarks:
        entries = [
            entry
            for entry in benchmark.entries
            if entry.ks and entry.taus and entry.greedy and entry.greedy.same_data(entry.result)
        ]
        if levels := _difficulties(entries):
            tables.append(_table(benchmark.name, entries, levels))
    return tables


def _difficulties(entries: Sequence[Entry]) -> list[str]:
    """Return the groups of problems by difficulty, from easy to hard; else the splits, if any."""
    groups = [item for entry in entries for item in entry.groups.items()]
    of_levels = {label for label, group in groups if {*group.fields} <= {*LEVELS}}
    return sorted(
        of_levels or {label for label, group in groups if [*group.fields] == ['split']},
        key=group_order,
    )


def _table(name: str, entries: Sequence[Entry], levels: Sequence[str]) -> Table:
    shown = [
        (level, entry)
        for level in (*levels, '')
        for entry in entries
        if not level or level in entry.groups
    ]
    sizes, counts = group_sizes(shown)
    rows: list[list[Cell]] = []
    headings = set()
    for (level, entry), size in zip(shown, counts, strict=True):
        k, strictest = entry.ks[-1], G_PASS(k=entry.ks[-1], tau=entry.taus[-1])
        headings.add(strictest.heading)
        greedy, strict = (
            number(entry.greedy_accuracy(level)),
            number(entry.metric(strictest, level)),
        )
        drop = greedy - strict
        metrics = number(entry.metric(PASS(k=k), level)), greedy, strict, drop
        relative = 100 * drop / greedy if greedy else math.nan
        rows.append([level or ALL, *size, entry.label, k, *metrics, relative])
    heading = headings.pop() if len(headings) == 1 else 'G-Pass@k'
    columns = ['difficulty', *sizes, 'model', 'k', 'pass@k', 'Greedy', heading]
    columns += ['drop (points)', 'drop (%)']
    return Table(f'{name}: drop from greedy by difficulty', columns, rows, LEGEND)
