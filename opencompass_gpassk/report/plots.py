"""G-Pass@k against τ: how far a model's score falls as more of the k samples must be right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from opencompass_gpassk.report.benchmarks import Benchmark
from opencompass_gpassk.text import one_line

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    'INSTALL',
    'add_legend',
    'draw_benchmark',
    'plot_thresholds',
    'save_figure',
    'shortened',
    'shown_label',
]

INSTALL = 'pip install "matplotlib>=3.8"'

# Okabe and Ito's colours, which colour-blind readers tell apart; yellow is too faint for lines.
COLOURS = ('#0072B2', '#D55E00', '#009E73', '#CC79A7', '#56B4E9', '#E69F00', '#000000')
MARKERS = ('o', 's', '^', 'D', 'v', 'P', 'X', '*')
LINES = ('-', '--', '-.', ':')


def plot_thresholds(
    axis: Axes, taus: Sequence[float], series: Mapping[str, Sequence[float]], title: str
) -> Axes:
    """Draw one line a model and return the axis.

    Args:
        axis: Where to draw.
        taus: T thresholds, ascending.
        series: Name → T figures in percent; NaN leaves a gap.
        title: The panel's heading.
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
    for axis, k in zip(panels, benchmark.ks, strict=True):
        series = {
            benchmark.label(entry): [
                _number(entry.figure(f'G-Pass@{k}_{tau}')) for tau in benchmark.taus
            ]
            for entry in benchmark.entries
            if entry.ks
        }
        plot_thresholds(axis, benchmark.taus, series, f'k = {k}')
    panels[0].set_ylabel('G-Pass@k$_τ$ (%)')
    figure.suptitle(shown_label(benchmark.name))
    add_legend(figure, dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True)))
    return figure


def add_legend(figure: Figure, handles: Mapping[str, Artist]) -> None:
    """Put the legend of all panels below them, in as many columns as fit.

    Args:
        figure: The figure.
        handles: Label → what it explains.
    """
    # Twelve characters need about an inch, and each entry room for its line.
    room = int(12 * figure.get_figwidth())
    labels = [shortened(label, room - 8) for label in handles]
    columns = max(1, min(room // (8 + max(map(len, labels), default=1)), 3))
    figure.legend(handles.values(), labels, loc='outside lower center', ncols=columns)


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure as PNG."""
    figure.savefig(path, dpi=150, format='png')


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def shown_label(name: str) -> str:
    """Return a name that matplotlib shows as it stands: no formula, not hidden."""
    line = one_line(name).replace('$', r'\$')
    return f' {line}' if line.startswith('_') else line


def shortened(name: str, most: int) -> str:
    """Return a name, cut off where it has more than so many characters."""
    return name if len(name) <= most else f'{name[: most - 1]}…'
