"""Models as points: drops and false positives against accuracy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.charts.style import (
    MARKERS,
    Chart,
    Looks,
    colour_of,
    intervals_told,
    shown_label,
)
from opencompass_gpassk.results.metric import ACCURACY, DROP, FALSE_POSITIVES, Metric
from opencompass_gpassk.results.result import Entry, Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Points = Mapping[str, tuple[float, float]]
Values = NDArray[np.float64]

LEAST_SPAN = 10.0  # points that an axis covers at least


def plot_points(axis: Axes, points: Points, looks: Looks) -> None:
    """Draw one point per model, with the intervals of both metrics.

    Args:
        axis: Where to draw.
        points: Name → x, y in percent. Points with NaN are left out.
        looks: Name → number of the model.
    """
    for name, (x, y) in points.items():
        if math.isnan(x) or math.isnan(y):
            continue
        colour, marker = colour_of(looks[name]), MARKERS[looks[name] % len(MARKERS)]
        axis.plot(x, y, marker, color=colour, label=shown_label(name))
        if isinstance(x, Estimate):
            axis.plot(x.interval, (y, y), color=colour, linewidth=0.8)
        if isinstance(y, Estimate):
            axis.plot((x, x), y.interval, color=colour, linewidth=0.8)
    axis.margins(0.08)
    for limits, put in ((axis.get_xlim(), axis.set_xlim), (axis.get_ylim(), axis.set_ylim)):
        middle, half = sum(limits) / 2, max(limits[1] - limits[0], LEAST_SPAN) / 2
        put(middle - half, middle + half)  # wide enough, also with one model or equal metrics


def plot_drop(axis: Axes, points: Points, looks: Looks) -> None:
    """Draw one point per model, and the regression line with its 95 % band and Pearson's r.

    As in Figure 3 of arXiv 2501.11790.

    Args:
        axis: Where to draw.
        points: Name → accuracy on the versions in percent, drop in points. Undefined ones are left
            out; the line needs three points with different accuracies.
        looks: Name → number of the model.
    """
    plot_points(axis, points, looks)
    known = [point for point in points.values() if not any(map(math.isnan, point))]
    x, y = np.array(known, dtype=float).reshape(-1, 2).T
    if len(np.unique(x)) > 2 and np.ptp(y) > 0:
        steepness, height = np.polyfit(x, y, deg=1)
        along = np.linspace(x.min(), x.max(), 50)
        line = steepness * along + height
        label = f'r = {np.corrcoef(x, y)[0, 1]:.2f}'
        axis.plot(along, line, color='#555555', linestyle='--', label=label)
        half = _half_band(x, y - (steepness * x + height), along)
        axis.fill_between(along, line - half, line + half, color='#555555', alpha=0.15, linewidth=0)
    axis.axhline(0, color='#999999', linewidth=0.8)


def _half_band(x: Values, residuals: Values, at: Values) -> Values:
    """Return half the width of the regression line's 95 % confidence band, in points."""
    from scipy.special import stdtrit

    degrees = len(x) - 2
    error = math.sqrt(residuals @ residuals / degrees)
    leverage = 1 / len(x) + (at - x.mean()) ** 2 / ((x - x.mean()) ** 2).sum()
    return np.asarray(stdtrit(degrees, 0.975) * error * np.sqrt(leverage))


def drop_chart(panel: tuple[str, str], results: Sequence[Entry], looks: Looks) -> Chart:
    """Return the chart of a benchmark and way of decoding: the drop against accuracy."""
    points = _points(results, DROP())

    def plot(axis: Axes) -> None:
        plot_drop(axis, points, looks)
        axis.set(xlabel='accuracy on versions, RV (%)', ylabel='drop SP - RV (points)')

    told = (
        f'{", ".join(panel)}: drop from the accuracy on original problems to that on versions, '
        "with the regression line, its 95 % band and Pearson's r."
    )
    told += intervals_told((v for point in points.values() for v in point), 'crosses')
    return Chart(f'{"_".join(panel)}_drop', told, plot)


def false_positives_chart(
    panel: tuple[str, str], results: Sequence[Entry], looks: Looks
) -> Chart | None:
    """Return the chart of a benchmark and way of decoding; None without a point to draw."""
    points = _points(results, FALSE_POSITIVES())
    if all(any(map(math.isnan, point)) for point in points.values()):
        return None

    def plot(axis: Axes) -> None:
        plot_points(axis, points, looks)
        axis.set(xlabel='accuracy (%)', ylabel='false-positive rate (%)')

    told = f'{", ".join(panel)}: share of the right answers with invalid reasoning, by accuracy.'
    told += intervals_told((v for point in points.values() for v in point), 'crosses')
    return Chart(f'{"_".join(panel)}_fpr', told, plot)


def _points(results: Sequence[Entry], metric: Metric) -> dict[str, tuple[float, float]]:
    """Return label → accuracy and another metric."""
    return {
        one.label: (number(one.metric(ACCURACY())), number(one.metric(metric))) for one in results
    }
