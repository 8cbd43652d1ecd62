"""A point a model, a panel for each benchmark and way of decoding."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from opencompass_gpassk.report.plots import COLOURS, MARKERS, add_legend, shown_label
from opencompass_gpassk.text import shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ['Points', 'draw_panels', 'plot_points']

Points = Mapping[str, tuple[float, float]]

LONGEST_TITLE = 50


def plot_points(axis: Axes, points: Points) -> None:
    """Draw a point a model.

    Args:
        axis: Where to draw.
        points: Name → x, y. Those that are NaN are not seen, but keep their colour and marker.
    """
    for index, (name, (x, y)) in enumerate(points.items()):
        axis.plot(
            x,
            y,
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            linestyle='none',
            label=shown_label(name),
        )


def draw_panels(
    panels: Mapping[str, Points], plot: Callable[[Axes, Points, str], Axes], ylabel: str
) -> Figure:
    """Return a figure with two panels a row, and one legend for all.

    Args:
        panels: Heading → points. Models stand in every panel, in the same order.
        plot: Draws the points of a panel on an axis, under a heading.
        ylabel: What the y-axes show.

    Raises:
        ImportError: If matplotlib is missing.
    """
    from matplotlib.figure import Figure

    rows = math.ceil(len(panels) / 2)
    figure = Figure(figsize=(9.5, 0.9 + 3.6 * rows), layout='constrained')
    axes = figure.subplots(rows, 2, squeeze=False).reshape(-1)
    for axis, (title, points) in zip(axes, panels.items(), strict=False):
        plot(axis, points, shown_label(shortened(title, LONGEST_TITLE))).set_ylabel(ylabel)
    for axis in axes[len(panels) :]:
        axis.set_visible(False)
    handles = {
        label: handle
        for axis in axes[: len(panels)]
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    add_legend(figure, handles)
    return figure
