"""pass@k, greedy accuracy and G-Pass@k by difficulty, as in Table 4 of arXiv 2412.13147."""

from __future__ import annotations

import math
from collections.abc import Sequence

from opencompass_gpassk.report.board import LEVELS, Benchmark, Board, group_order
from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.tables.column import group_sizes
from opencompass_gpassk.report.tables.table import DIFFICULTY, Cell, Table
from opencompass_gpassk.results.metric import G_PASS, PASS, Metric
from opencompass_gpassk.results.result import Entry

ALL = 'all'
LEGEND = (
    'drop: greedy accuracy minus G-Pass@k at the strictest τ, in points and in percent of that '
    'accuracy',
)


def difficulties(benchmark: Benchmark) -> list[str]:
    """Return the groups of problems by difficulty, from easy to hard; else the splits, if any."""
    groups = [item for entry in comparable(benchmark) for item in entry.groups.items()]
    of_levels = {label for label, group in groups if {*group.fields} <= {*LEVELS}}
    return sorted(
        of_levels or {label for label, group in groups if [*group.fields] == ['split']},
        key=group_order,
    )


def declines(entry: Entry, group: str = '') -> tuple[float, float, float, float]:
    """Return greedy accuracy, the strictest G-Pass at the greatest k, and the drop.

    Args:
        entry: A model's greedy and sampled results.
        group: Label of a group, '' for all.

    Returns:
        Accuracy and G-Pass in percent, the drop in points, and the drop in percent of the greedy
        accuracy; NaN where undefined, as is the last if no greedy answer is right.
    """
    greedy = number(entry.greedy_accuracy(group))
    strict = number(entry.metric(_strictest(entry), group))
    drop = greedy - strict
    return greedy, strict, drop, 100 * drop / greedy if greedy else math.nan


def decline_tables(board: Board) -> list[Table]:
    """Return a table for each benchmark whose problems have levels of difficulty.

    Only models are shown whose greedy and sampled results are of the same problems.
    """
    return [table for one in board.benchmarks if (table := _table(one)) is not None]


def comparable(benchmark: Benchmark) -> list[Entry]:
    """Return the entries with samples and a greedy result of the same problems."""
    return [
        entry
        for entry in benchmark.entries
        if entry.ks and entry.taus and entry.greedy and entry.greedy.same_data(entry.result)
    ]


def _strictest(entry: Entry) -> Metric:
    return G_PASS(k=entry.ks[-1], tau=entry.taus[-1])


def strictest_heading(entries: Sequence[Entry]) -> str:
    """Return the heading of the metric that is compared with greedy."""
    names = {_strictest(entry).heading for entry in entries}
    return names.pop() if len(names) == 1 else 'G-Pass@k'


def _table(benchmark: Benchmark) -> Table | None:
    levels, entries = difficulties(benchmark), comparable(benchmark)
    if not levels:
        return None
    shown = [
        (level, entry)
        for level in (*levels, '')
        for entry in entries
        if not level or level in entry.groups
    ]
    sizes, counts = group_sizes(shown)
    rows: list[list[Cell]] = [
        [
            *(level or ALL, *size, entry.label, entry.ks[-1]),
            number(entry.metric(PASS(k=entry.ks[-1]), level)),
            *declines(entry, level),
        ]
        for (level, entry), size in zip(shown, counts, strict=True)
    ]
    columns = ['difficulty', *sizes, 'model', 'k', 'pass@k', 'Greedy', strictest_heading(entries)]
    columns += ['drop (points)', 'drop (%)']
    return Table(
        f'{benchmark.name}: drop from greedy by difficulty',
        columns,
        rows,
        LEGEND,
        breakdown=DIFFICULTY,
    )
