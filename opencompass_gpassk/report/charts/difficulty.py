"""The drop from greedy accuracy to G-Pass@k, against difficulty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from opencompass_gpassk.report.board import Benchmark
from opencompass_gpassk.report.charts.style import (
    Chart,
    Looks,
    intervals_told,
    plot_lines,
    shown_label,
)
from opencompass_gpassk.report.tables.difficulty import (
    comparable,
    declines,
    difficulties,
    strictest_heading,
)
from opencompass_gpassk.report.tables.table import told_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_decline(
    axis: Axes, levels: Sequence[str], series: Mapping[str, Sequence[float | None]], looks: Looks
) -> None:
    """Draw the drop of each model in percent, level by level.

    Args:
        axis: Where to draw.
        levels: L levels, from easy to hard.
        series: Name → L drops.
        looks: Name → number of the model.
    """
    plot_lines(axis, range(len(levels)), series, looks)
    axis.set_xticks(range(len(levels)), [shown_label(one) for one in told_apart(levels, 9)])
    axis.set_xlim(-0.3, len(levels) - 0.7)
    axis.set_ylabel('drop (% of greedy)')


def decline_chart(benchmark: Benchmark, looks: Looks) -> Chart:
    """Return the chart of a benchmark with :func:`difficulties`."""
    levels, entries = difficulties(benchmark), comparable(benchmark)
    series: dict[str, list[float | None]] = {
        entry.label: [
            # A drop of 0 from nothing is no steadiness: without a right greedy answer it is NaN.
            declines(entry, level)[-1] if level in entry.groups else None
            for level in levels
        ]
        for entry in entries
    }
    told = (
        f'{benchmark.name}: drop from greedy accuracy to {strictest_heading(entries)}, in percent '
        'of the greedy accuracy, by difficulty.'
    )
    told += intervals_told(value for values in series.values() for value in values)
    plot = partial(plot_decline, levels=levels, series=series, looks=looks)
    return Chart(f'{benchmark.name}_difficulty', told, plot)
