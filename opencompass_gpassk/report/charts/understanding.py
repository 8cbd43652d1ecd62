"""Complete, partial and collapsed understanding, as in Figure 4 of arXiv 2501.11790."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from opencompass_gpassk.formats.display import shortened
from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.charts.style import (
    add_legend,
    labelled,
    shown_label,
)
from opencompass_gpassk.report.tables.table import told_apart
from opencompass_gpassk.results.figures import UNDERSTANDING, UNDERSTANDING_SCORE
from opencompass_gpassk.results.stored_result import Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


# The fills differ in lightness and hatching too, for a copy without colours.
FILLS = (('#0072B2', ''), ('#56B4E9', '////'), ('#D55E00', 'xx'))
CONSISTENT = 60  # a lower score is inconsistent
LONGEST_NAME = 34


def plot_understanding(axis: Axes, scores: Mapping[str, Sequence[float]]) -> Axes:
    """Draw a model's three shares as a bar, its score on a line through all, and return the axis.

    Args:
        axis: Where to draw.
        scores: Name of a model → shares of complete, partial and collapsed understanding and the
            score, in percent; a model without right originals has NaN, and no bar.
    """
    places = range(len(scores))
    ends = [0.0] * len(scores)
    for share, (family, (colour, hatch)) in enumerate(zip(UNDERSTANDING, FILLS, strict=True)):
        widths = [0.0 if math.isnan(one[share]) else one[share] for one in scores.values()]
        axis.barh(
            places,
            widths,
            height=0.7,
            left=ends,
            label=family.key.split()[0],
            color=colour,
            hatch=hatch,
            edgecolor='black',
            linewidth=0.6,
        )
        ends = [end + width for end, width in zip(ends, widths, strict=True)]
    line = [one[-1] for one in scores.values()]
    axis.plot(line, places, color='black', marker='D', label='understanding (Eq. 5)')
    axis.axvline(CONSISTENT, color='black', linestyle=':', label=f'consistent from {CONSISTENT}')
    axis.set_yticks(places, [shown_label(name) for name in told_apart([*scores], LONGEST_NAME)])
    axis.set(xlim=(0, 100), ylim=(len(scores) - 0.5, -0.5))
    return axis


def draw_understanding(results: Sequence[Entry]) -> Figure:
    """Return a figure with a panel for each benchmark and way of decoding.

    Raises:
        ImportError: If matplotlib is missing.
    """
    from matplotlib.figure import Figure

    panels: dict[str, dict[str, list[float]]] = {}
    for one in results:
        panel = panels.setdefault(', '.join(one.panel), {})
        figures = (*UNDERSTANDING, UNDERSTANDING_SCORE)
        panel[one.label] = [number(one.figure(family())) for family in figures]
    heights = [0.8 + 0.35 * len(scores) for scores in panels.values()]
    figure = Figure(figsize=(8, 1.2 + sum(heights)), layout='constrained')
    axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights).reshape(-1)
    for axis, (title, scores) in zip(axes, panels.items(), strict=True):
        plot_understanding(axis, scores).set_title(shown_label(shortened(title, 70)))
    axes[-1].set_xlabel('questions whose original is right (%)')
    add_legend(figure, labelled(axes[0]))
    return figure
