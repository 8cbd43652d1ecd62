"""Curves of G-Pass@k over τ, the share of the k samples that must be right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from opencompass_gpassk.formats.display import shortened
from opencompass_gpassk.report.board import Benchmark
from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.charts.style import (
    COLOURS,
    LINES,
    MARKERS,
    MOST_BANDS,
    add_legend,
    ends_of,
    has_intervals,
    intervals_name,
    labelled,
    plot_band,
    shown_label,
)
from opencompass_gpassk.results.figures import G_PASS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_thresholds(
    axis: Axes,
    taus: Sequence[float],
    series: Mapping[str, Sequence[float]],
    title: str,
    *,
    bands: bool = True,
) -> Axes:
    """Draw one line per model and return the axis.

    Args:
        axis: Where to draw.
        taus: T thresholds, ascending.
        series: Name → T figures in percent; NaN leaves a gap.
        title: The panel's heading.
        bands: Whether to shade the intervals of figures that have one.
    """
    for index, (name, values) in enumerate(series.items()):
        axis.plot(
            taus,
            values,
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            linestyle=LINES[index // len(COLOURS) % len(LINES)],
            label=shown_label(name),
            clip_on=False,
        )
        if bands:
            plot_band(axis, taus, *ends_of(values), index)
    axis.set(xlabel='threshold τ', ylim=(0, 100), title=title)
    axis.set_xticks(list(taus) if len(taus) <= 6 else [0, 0.25, 0.5, 0.75, 1])
    axis.grid(alpha=0.3)
    return axis


def draw_benchmark(benchmark: Benchmark) -> Figure:
    """Return a figure of one benchmark with a panel for each k.

    Raises:
        ImportError: If matplotlib is missing.
        ValueError: If nothing was sampled, so that there is nothing to draw.
    """
    from matplotlib.figure import Figure

    if not benchmark.ks or not benchmark.taus:
        raise ValueError(f'{benchmark.name}: nothing was sampled; there is no G-Pass@k to draw')
    figure = Figure(figsize=(1.5 + 3.5 * len(benchmark.ks), 4.2), layout='constrained')
    panels = figure.subplots(1, len(benchmark.ks), sharey=True, squeeze=False)[0]
    # All panels list all models, so that each keeps its colour.
    sampled = [entry for entry in benchmark.entries if entry.ks]
    banded = len(sampled) <= MOST_BANDS
    shown: list[Sequence[float]] = []
    for axis, k in zip(panels, benchmark.ks, strict=True):
        series = {
            entry.label: [number(entry.figure(G_PASS(k=k, tau=tau))) for tau in benchmark.taus]
            for entry in sampled
        }
        shown += series.values()
        plot_thresholds(axis, benchmark.taus, series, f'k = {k}', bands=banded)
    panels[0].set_ylabel('G-Pass@k$_τ$ (%)')
    figure.suptitle(shown_label(shortened(benchmark.name, 70)))
    told = f'bands: {intervals_name(shown)}' if banded and has_intervals(shown) else ''
    add_legend(figure, labelled(panels[0]), told)
    return figure
