"""The drop from greedy accuracy to G-Pass@k, against difficulty."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from opencompass_gpassk.formats.display import shortened
from opencompass_gpassk.report.board import Benchmark
from opencompass_gpassk.report.charts.style import (
    COLOURS,
    LINES,
    MARKERS,
    add_legend,
    labelled,
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
    from matplotlib.figure import Figure


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

    levels, entries = difficulties(benchmark), comparable(benchmark)
    figure = Figure(figsize=(9.5, 4.4), layout='constrained')
    titles = ('drop (points)', 'drop (% of the greedy accuracy)')
    axes = figure.subplots(1, 2)
    for axis, place, title in zip(axes, (2, 3), titles, strict=True):
        series = {
            entry.label: [
                declines(entry, level)[place] if level in entry.groups else math.nan
                for level in levels
            ]
            for entry in entries
        }
        plot_decline(axis, levels, series).set_title(title)
    figure.suptitle(shown_label(shortened(benchmark.name, 70)))
    add_legend(figure, labelled(axes[0]), f'drop: from greedy to {strictest_heading(entries)}')
    return figure
