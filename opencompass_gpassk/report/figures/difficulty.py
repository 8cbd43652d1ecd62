"""Drop from greedy accuracy to G-Pass@k by difficulty, as in Table 4 of arXiv 2412.13147."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from opencompass_gpassk.formats.display import shortened
from opencompass_gpassk.report.figures.style import (
    COLOURS,
    LINES,
    MARKERS,
    add_legend,
    labelled,
    number,
    shown_label,
)
from opencompass_gpassk.report.tables.table import DIFFICULTY, Cell, Table, group_order, told_apart
from opencompass_gpassk.results.figures import G_PASS
from opencompass_gpassk.results.figures import Figure as Strictest
from opencompass_gpassk.results.join_results import (
    Benchmark,
    Entry,
    Results,
    join_benchmarks,
    same_data,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


FIELDS = ({'level'}, {'difficulty'})
ALL = 'all'
NOTES = (
    'drop: accuracy of the greedy answer minus G-Pass@k at the strictest τ, in points and in '
    'percent of the greedy accuracy',
)


def difficulties(benchmark: Benchmark) -> list[str]:
    """Return the groups of problems by difficulty, from easy to hard; empty if it is unknown."""
    labels = {
        label: None
        for entry in _comparable(benchmark)
        for label, fields in entry.groups.items()
        if set(fields) - {'problems'} in FIELDS
    }
    return sorted(labels, key=group_order)


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
    strict = number(entry.figure(_strictest(entry), group))
    drop = greedy - strict
    return greedy, strict, drop, 100 * drop / greedy if greedy else math.nan


def decline_tables(results: Results) -> list[Table]:
    """Return a table for each benchmark whose problems have levels of difficulty.

    Args:
        results: Model → data set → result, as stored in the result JSON. Greedy and sampled
            results must be of the same problems.
    """
    return [table for one in join_benchmarks(results) if (table := _table(one)) is not None]


def plot_decline(axis: Axes, levels: Sequence[str], series: Mapping[str, Sequence[float]]) -> Axes:
    """Draw the drop of each model, level by level, and return the axis.

    Args:
        axis: Where to draw.
        levels: L levels, from easy to hard.
        series: Name → L drops; NaN leaves a gap.
    """
    for index, (name, values) in enumerate(series.items()):
        axis.plot(
            range(len(levels)),
            values,
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            linestyle=LINES[index // len(COLOURS) % len(LINES)],
            label=shown_label(name),
        )
    axis.set_xticks(range(len(levels)), [shown_label(one) for one in told_apart(levels, 16)])
    axis.set_xlim(-0.3, len(levels) - 0.7)
    axis.axhline(0, color='#999999', linewidth=0.8)
    axis.grid(alpha=0.3)
    return axis


def draw_decline(benchmark: Benchmark) -> Figure:
    """Return a figure with the drop in points, and in percent of the greedy accuracy.

    Args:
        benchmark: One with :func:`difficulties`.

    Raises:
        ImportError: If matplotlib is missing.
    """
    from matplotlib.figure import Figure

    levels, entries = difficulties(benchmark), _comparable(benchmark)
    figure = Figure(figsize=(9.5, 4.4), layout='constrained')
    titles = ('drop (points)', 'drop (% of the greedy accuracy)')
    axes = figure.subplots(1, 2)
    for axis, place, title in zip(axes, (2, 3), titles, strict=True):
        series = {
            benchmark.label(entry): [
                declines(entry, level)[place] if level in entry.groups else math.nan
                for level in levels
            ]
            for entry in entries
        }
        plot_decline(axis, levels, series).set_title(title)
    figure.suptitle(shown_label(shortened(benchmark.name, 70)))
    add_legend(figure, labelled(axes[0]), f'drop: from greedy to {_strict(entries)}')
    return figure


def _comparable(benchmark: Benchmark) -> list[Entry]:
    return [
        entry
        for entry in benchmark.entries
        if entry.ks and entry.taus and entry.greedy and same_data(entry.greedy, entry.result)
    ]


def _strictest(entry: Entry) -> Strictest:
    return G_PASS(k=entry.ks[-1], tau=entry.taus[-1])


def _strict(entries: Sequence[Entry]) -> str:
    """Return the heading of the figure that is compared with greedy."""
    names = {_strictest(entry).heading for entry in entries}
    return names.pop() if len(names) == 1 else 'G-Pass@k'


def _table(benchmark: Benchmark) -> Table | None:
    levels, entries = difficulties(benchmark), _comparable(benchmark)
    if not levels:
        return None
    rows: list[list[Cell]] = [
        [
            level or ALL,
            entry.groups[level].get('problems') if level else _size(entry),
            benchmark.label(entry),
            entry.ks[-1],
            *declines(entry, level),
        ]
        for level in (*levels, '')
        for entry in entries
        if not level or level in entry.groups
    ]
    columns = ['difficulty', 'problems', 'model', 'k', 'Greedy', _strict(entries)]
    columns += ['drop (points)', 'drop (%)']
    return Table(
        f'{benchmark.name}: drop from greedy by difficulty',
        columns,
        rows,
        NOTES,
        breakdown=DIFFICULTY,
    )


def _size(entry: Entry) -> int | None:
    return (entry.result.get('counts') or {}).get('problems')
