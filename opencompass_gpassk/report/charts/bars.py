"""pass@k, greedy accuracy and G-Pass@k as bars, as in Figure 1 of arXiv 2412.13147."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from opencompass_gpassk.report.board import Benchmark
from opencompass_gpassk.report.charts.style import (
    Chart,
    intervals_told,
    name_rows,
    put_undefined,
    shown_label,
)
from opencompass_gpassk.results.metric import G_PASS, PASS
from opencompass_gpassk.results.result import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The fills differ in lightness and hatching too, for a copy without colours.
FILLS = (('#56B4E9', ''), ('#E69F00', '....'), ('#0072B2', '////'))
NAME = 1.4  # height of a model's name and the gap below its bars, in heights of a bar


def plot_bars(
    axis: Axes, names: Sequence[str], series: Mapping[str, Sequence[float | None]]
) -> None:
    """Draw horizontal bars, grouped by model.

    Args:
        axis: Where to draw.
        names: M models, from the top.
        series: Name of a metric → M values in percent. An interval is drawn as a line; None has
            no bar, and NaN a dash.
    """
    height = 1 / (len(series) + NAME)
    top = 1.3 * height - 0.5
    for row, ((label, values), (colour, hatch)) in enumerate(
        zip(series.items(), FILLS, strict=False)
    ):
        places = [place + top + (row + 0.5) * height for place in range(len(names))]
        known = {y: v for y, v in zip(places, values, strict=True) if v is not None}
        widths = [0.0 if math.isnan(value) else float(value) for value in known.values()]
        axis.barh(
            list(known),
            widths,
            height,
            color=colour,
            hatch=hatch,
            edgecolor='black',
            label=shown_label(label),
        )
        for y, value in known.items():
            if isinstance(value, Estimate):  # visible on any ground
                axis.plot(value.interval, (y, y), color='white', linewidth=2.6, alpha=0.85)
                axis.plot(value.interval, (y, y), color='black', linewidth=1.0)
            elif math.isnan(value):
                put_undefined(axis, (0.0, y), ('data', 'data'))
    name_rows(axis, names, top - 0.15 * height)
    axis.set(xlim=(0, 100), xlabel='problems (%)')


def benchmark_bars(benchmark: Benchmark) -> Chart:
    """Return the chart of a benchmark, at its greatest k and strictest τ."""
    k = benchmark.ks[-1]
    entries = [entry for entry in benchmark.entries if k in entry.ks or entry.greedy is not None]
    highest, strictest = PASS(k=k), G_PASS(k=k, tau=benchmark.taus[-1])
    series = {
        highest.heading: [entry.metric(highest) for entry in entries],
        'greedy': [entry.greedy_accuracy() for entry in entries],
        strictest.heading: [entry.metric(strictest) for entry in entries],
    }
    series = {name: row for name, row in series.items() if any(v is not None for v in row)}
    told = f'{benchmark.name}: {", ".join(series)}.'
    told += intervals_told((value for row in series.values() for value in row), 'black lines')
    plot = partial(plot_bars, names=[entry.label for entry in entries], series=series)
    height = 0.4 + 0.13 * (len(series) + NAME) * len(entries)
    return Chart(f'{benchmark.name}_bars', told, plot, height)
