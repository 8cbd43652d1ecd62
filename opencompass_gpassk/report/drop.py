"""Accuracy against the drop from originals to versions, as in Figure 3 of arXiv 2501.11790."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from opencompass_gpassk.report.points import Points, draw_panels, plot_points
from opencompass_gpassk.report.variables import VariableResult
from opencompass_gpassk.version_groups import DROP

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ['draw_drop', 'plot_drop']

LEAST_SPAN = 10.0  # points that the axis of drops covers


def plot_drop(axis: Axes, points: Points, title: str) -> Axes:
    """Draw a point a model, the regression line and Pearson's r, and return the axis.

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
        ends = np.array([x.min(), x.max()])
        axis.plot(ends, steepness * ends + height, color='#555555', linestyle='--')
        if np.ptp(y) > 0:
            title += f', r = {np.corrcoef(x, y)[0, 1]:.2f}'
    axis.axhline(0, color='#999999', linewidth=0.8)
    low, high = axis.get_ylim()
    if high - low < LEAST_SPAN:  # of one model or equal drops
        axis.set_ylim((low + high - LEAST_SPAN) / 2, (low + high + LEAST_SPAN) / 2)
    axis.set(xlabel='accuracy on versions, RV (%)', title=title)
    axis.grid(alpha=0.3)
    return axis


def _panel(one: VariableResult) -> str:
    return f'{one.result["benchmark"]}, {one.responses}'


def draw_drop(results: Sequence[VariableResult]) -> Figure:
    """Return a figure with a panel for each benchmark and way of decoding.

    Raises:
        ImportError: If matplotlib is missing.
    """
    panels: dict[str, dict[str, tuple[float, float]]] = {}
    # Every panel has a place for every model, so that each keeps its colour.
    unknown = {one.model: (math.nan, math.nan) for one in results}
    for one in results:
        drop, accuracy = one.figure(DROP), one.accuracy()
        panels.setdefault(_panel(one), dict(unknown))[one.model] = (
            math.nan if accuracy is None else accuracy,
            math.nan if drop is None else drop,
        )
    return draw_panels(panels, plot_drop, 'drop SP − RV (points)')
