"""Models as points: the drop from original problems, and false positives, against accuracy.

Each benchmark and way of decoding has a panel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.formats.display import shortened
from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.charts.style import (
    COLOURS,
    MARKERS,
    add_legend,
    shown_label,
)
from opencompass_gpassk.results.figures import ACCURACY, DROP, FALSE_POSITIVES
from opencompass_gpassk.results.stored_result import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Points = Mapping[str, tuple[float, float]]
Values = NDArray[np.float64]

LONGEST_TITLE = 50


def plot_points(axis: Axes, points: Points) -> None:
    """Draw one point per model.

    Args:
        axis: Where to draw.
        points: Name → x, y. Points with NaN are not drawn, but keep their colour and marker.
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
    """Return a figure with two panels per row, and one legend for all.

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


LEAST_SPAN = 10.0  # points that an axis covers at least


def plot_drop(axis: Axes, points: Points, title: str) -> Axes:
    """Draw one point per model, and the regression line with its 95 % band and Pearson's r.

    Returns the axis. As in Figure 3 of arXiv 2501.11790.

    Args:
        axis: Where to draw.
        points: Name → accuracy on the versions in percent, drop in points. Undefined ones are left
            out; the line needs three points with different accuracies.
        title: The panel's heading.
    """
    plot_points(axis, points)
    known = [point for point in points.values() if not any(map(math.isnan, point))]
    x, y = np.array(known).reshape(-1, 2).T
    if len(np.unique(x)) > 2:
        steepness, height = np.polyfit(x, y, deg=1)
        along = np.linspace(x.min(), x.max(), 50)
        line = steepness * along + height
        axis.plot(along, line, color='#555555', linestyle='--')
        half = _half_band(x, y - (steepness * x + height), along)
        axis.fill_between(along, line - half, line + half, color='#555555', alpha=0.15, linewidth=0)
        if np.ptp(y) > 0:
            title += f', r = {np.corrcoef(x, y)[0, 1]:.2f}'
    axis.axhline(0, color='#999999', linewidth=0.8)
    low, high = axis.get_ylim()
    if high - low < LEAST_SPAN:  # with one model, or equal drops
        axis.set_ylim((low + high - LEAST_SPAN) / 2, (low + high + LEAST_SPAN) / 2)
    axis.set(xlabel='accuracy on versions, RV (%)', title=title)
    axis.grid(alpha=0.3)
    return axis


def _half_band(x: Values, residuals: Values, at: Values) -> Values:
    """Return half the width of the regression line's 95 % confidence band, in points."""
    from scipy.special import stdtrit

    degrees = len(x) - 2
    error = math.sqrt(residuals @ residuals / degrees)
    leverage = 1 / len(x) + (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    return np.asarray(stdtrit(degrees, 0.975) * error * np.sqrt(leverage))


def draw_drop(results: Sequence[Entry]) -> Figure:
    """Return a figure with a panel for each benchmark and way of decoding.

    Raises:
        ImportError: If matplotlib is missing.
    """
    panels: dict[str, dict[str, tuple[float, float]]] = {}
    # Every panel has a place for every model, so that each keeps its colour.
    unknown = {one.label: (math.nan, math.nan) for one in results}
    for one in results:
        drop, accuracy = one.figure(DROP()), one.figure(ACCURACY())
        panels.setdefault(', '.join(one.panel), dict(unknown))[one.label] = (
            number(accuracy),
            number(drop),
        )
    return draw_panels(panels, plot_drop, 'drop SP - RV (points)')


MARGIN = 0.08  # share of the range, left free at each end


def rated_results(found: Sequence[Entry]) -> list[Entry]:
    """Return the results with a point to draw: accuracy and false-positive rate."""
    return [one for one in found if not any(map(math.isnan, _point(one)))]


def plot_false_positives(axis: Axes, points: Points, title: str) -> Axes:
    """Draw one point per model and return the axis.

    Args:
        axis: Where to draw.
        points: Name → accuracy and false-positive rate in percent; undefined ones are left out.
        title: The panel's heading.
    """
    plot_points(axis, points)
    known = [point for point in points.values() if not any(map(math.isnan, point))]
    accuracies = [accuracy for accuracy, _ in known]
    highest = max([LEAST_SPAN, *(rate for _, rate in known)])
    axis.set(
        xlabel='accuracy (%)',
        xlim=_limits(min(accuracies, default=0), max(accuracies, default=0)),
        ylim=(-MARGIN * highest, (1 + MARGIN) * highest),
        title=title,
    )
    axis.grid(alpha=0.3)
    return axis


def draw_false_positives(found: Sequence[Entry]) -> Figure:
    """Return a figure with a panel for each benchmark and way of decoding.

    Args:
        found: Results with a point to draw.

    Raises:
        ImportError: If matplotlib is missing.
    """
    panels: dict[str, dict[str, tuple[float, float]]] = {}
    # Every panel has a place for every model, so that each keeps its colour.
    unknown = {one.label: (math.nan, math.nan) for one in found}
    for one in found:
        panels.setdefault(', '.join(one.panel), dict(unknown))[one.label] = _point(one)
    return draw_panels(panels, plot_false_positives, 'false-positive rate (%)')


def _point(one: Entry) -> tuple[float, float]:
    accuracy = one.figure(ACCURACY())
    rate = one.figure(FALSE_POSITIVES())
    return math.nan if accuracy is None else accuracy, math.nan if rate is None else rate


def _limits(low: float, high: float) -> tuple[float, float]:
    """Return the limits of an axis for values from low to high, with a margin."""
    missing = max(LEAST_SPAN - (high - low), 0) / 2
    margin = MARGIN * max(high - low, LEAST_SPAN)
    return low - missing - margin, high + missing + margin
