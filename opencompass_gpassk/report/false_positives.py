"""Accuracy against the false-positive rate, as in Figure 4 of arXiv 2404.05692."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from opencompass_gpassk.protocol import accuracy_key
from opencompass_gpassk.report.benchmarks import sample_count
from opencompass_gpassk.report.points import Points, draw_panels, plot_points
from opencompass_gpassk.report.reasoning import ReasoningResult
from opencompass_gpassk.soundness import FALSE_POSITIVES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ['draw_false_positives', 'plot_false_positives', 'rated_results']

LEAST_SPAN = 10.0  # percent that an axis covers
MARGIN = 0.08  # of what is shown, around it


def rated_results(found: Sequence[ReasoningResult]) -> list[ReasoningResult]:
    """Return the results that have a point to draw: accuracy and false-positive rate."""
    return [one for one in found if not any(map(math.isnan, _point(one)))]


def plot_false_positives(axis: Axes, points: Points, title: str) -> Axes:
    """Draw a point a model and return the axis.

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


def draw_false_positives(found: Sequence[ReasoningResult]) -> Figure:
    """Return a figure with a panel for each benchmark and way of decoding.

    Args:
        found: Results that have a point to draw.

    Raises:
        ImportError: If matplotlib is missing.
    """
    panels: dict[str, dict[str, tuple[float, float]]] = {}
    # Every panel has a place for every model, so that each keeps its colour.
    unknown = {one.model: (math.nan, math.nan) for one in found}
    for one in found:
        panels.setdefault(', '.join(one.panel), dict(unknown))[one.model] = _point(one)
    return draw_panels(panels, plot_false_positives, 'false-positive rate (%)')


def _point(one: ReasoningResult) -> tuple[float, float]:
    accuracy = one.figure(accuracy_key(sample_count(one.result)))
    rate = one.figure(FALSE_POSITIVES)
    return math.nan if accuracy is None else accuracy, math.nan if rate is None else rate


def _limits(low: float, high: float) -> tuple[float, float]:
    """Return what an axis shows of values from low to high, some room around them."""
    missing = max(LEAST_SPAN - (high - low), 0) / 2
    margin = MARGIN * max(high - low, LEAST_SPAN)
    return low - missing - margin, high + missing + margin
