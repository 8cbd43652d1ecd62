"""pass@k, greedy accuracy and G-Pass@k as bars, as in Figure 1 of arXiv 2412.13147."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from opencompass_gpassk.formats.display import shortened
from opencompass_gpassk.report.board import Benchmark
from opencompass_gpassk.report.charts.style import (
    add_legend,
    has_intervals,
    intervals_name,
    labelled,
    shown_label,
)
from opencompass_gpassk.report.tables.table import told_apart
from opencompass_gpassk.results.figures import G_PASS, PASS
from opencompass_gpassk.results.stored_result import Entry, Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# The fills differ in lightness and hatching too, for a copy without colours.
FILLS = (('#56B4E9', ''), ('#E69F00', '....'), ('#0072B2', '////'), ('#CC79A7', 'xx'))
THICKNESS = 0.8  # of all bars of a model, where models are 1 apart
LONGEST_NAME = 34


def plot_bars(
    axis: Axes,
    names: Sequence[str],
    series: Mapping[str, Sequence[float | None]],
    limits: tuple[float, float] | None = (0.0, 100.0),
) -> Axes:
    """Draw horizontal bars, grouped by model, and return the axis.

    Args:
        axis: Where to draw.
        names: M models, from the top.
        series: Name of a figure → M values. An interval is drawn as a line; NaN and None have no
            bar.
        limits: Ends of the figures' axis; None lets matplotlib choose.
    """
    height = THICKNESS / max(len(series), 1)
    for row, (label, values) in enumerate(series.items()):
        colour, hatch = FILLS[row % len(FILLS)]
        known = [
            (place + (row + 0.5) * height - THICKNESS / 2, value)
            for place, value in enumerate(values)
            if value is not None and not math.isnan(value)
        ]
        axis.barh(
            [y for y, _ in known],
            [float(value) for _, value in known],
            height,
            color=colour,
            hatch=hatch,
            edgecolor='black',
            linewidth=0.6,
            label=shown_label(label),
        )
        for y, value in known:
            if isinstance(value, Estimate):
                plot_interval(axis, value.interval, y)
    axis.set_yticks(
        range(len(names)), [shown_label(name) for name in told_apart(names, LONGEST_NAME)]
    )
    axis.set_ylim(len(names) - 0.5, -0.5)
    if limits:
        axis.set_xlim(*limits)
    axis.grid(axis='x', alpha=0.3)
    axis.set_axisbelow(True)
    return axis


def plot_interval(axis: Axes, interval: tuple[float, float], y: float) -> None:
    """Draw a horizontal interval that is visible on any background."""
    axis.plot(interval, (y, y), color='white', linewidth=3.4, alpha=0.85)
    axis.plot(interval, (y, y), color='black', linewidth=1.2, marker='|', markersize=5)


def draw_bars(benchmark: Benchmark) -> Figure:
    """Return a figure of one benchmark, at its greatest k and strictest τ.

    Raises:
        ImportError: If matplotlib is missing.
        ValueError: If nothing was sampled.
    """
    from matplotlib.figure import Figure

    if not benchmark.ks or not benchmark.taus:
        raise ValueError(f'{benchmark.name}: nothing was sampled; there is no G-Pass@k to draw')
    k, tau = benchmark.ks[-1], benchmark.taus[-1]
    entries = [entry for entry in benchmark.entries if k in entry.ks or entry.greedy is not None]
    series = _series(entries, k, tau)
    figure = Figure(figsize=(8, 1.6 + (0.15 + 0.24 * len(series)) * len(entries)))
    figure.set_layout_engine('constrained')
    axis = figure.subplots()
    plot_bars(axis, [entry.label for entry in entries], series)
    axis.set(xlabel='problems (%)', title=shown_label(shortened(benchmark.name, 70)))
    shown = [[v for v in values if v is not None] for values in series.values()]
    told = f'lines: {intervals_name(shown)}' if has_intervals(shown) else ''
    add_legend(figure, labelled(axis), told)
    return figure


def _series(entries: Sequence[Entry], k: int, tau: float) -> dict[str, list[float | None]]:
    highest, strictest = PASS(k=k), G_PASS(k=k, tau=tau)
    series = {
        highest.heading: [entry.figure(highest) for entry in entries],
        'greedy': [entry.greedy_accuracy() for entry in entries],
        strictest.heading: [entry.figure(strictest) for entry in entries],
    }
    return {
        name: values
        for name, values in series.items()
        if any(value is not None and not math.isnan(value) for value in values)
    }
