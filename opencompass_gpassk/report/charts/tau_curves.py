"""Curves of G-Pass@k over τ, the share of the k samples that must be right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opencompass_gpassk.report.board import Benchmark
from opencompass_gpassk.report.charts.style import Chart, Looks, intervals_told, plot_lines
from opencompass_gpassk.results.metric import G_PASS

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def tau_curves(benchmark: Benchmark, k: int, looks: Looks) -> Chart:
    """Return the chart of a benchmark, whose entries have k: a line for each."""
    taus = benchmark.taus
    series = {
        entry.label: [entry.metric(G_PASS(k=k, tau=tau)) for tau in taus]
        for entry in benchmark.entries
    }
    shown = taus if len(taus) <= 6 else [0, 0.25, 0.5, 0.75, 1]

    def plot(axis: Axes) -> None:
        plot_lines(axis, taus, series, looks)
        axis.set(xlabel='threshold τ', ylim=(0, 100), ylabel=f'G-Pass@{k} at τ (%)')
        axis.set_xticks(shown, [f'{tau:g}' for tau in shown])

    told = f'{benchmark.name}: G-Pass@{k} over τ, the share of the {k} samples that must be right.'
    told += intervals_told(value for values in series.values() for value in values)
    return Chart(f'{benchmark.name}_k{k}', told, plot, lines=True)
