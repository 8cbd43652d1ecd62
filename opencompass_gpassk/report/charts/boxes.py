"""Box plots of validity and redundancy, as in Figure 3 of arXiv 2404.05692."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from opencompass_gpassk.formats.display import shortened
from opencompass_gpassk.report.charts.style import add_legend, shown_label
from opencompass_gpassk.report.tables.reasoning import PARTS, QUANTITIES, box_of, threshold_of
from opencompass_gpassk.report.tables.table import told_apart
from opencompass_gpassk.results.judged_trials import VALIDITY
from opencompass_gpassk.results.stored_result import Entry, has_verdicts

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Boxes = Mapping[str, Mapping[str, Mapping[str, float]]]

STATISTICS = ('med', 'q1', 'q3', 'whislo', 'whishi', 'mean')
# Okabe and Ito's colours; they differ in lightness and hatching too, for a copy without colours.
FILLS = {'all': ('#BBBBBB', ''), 'right': ('#56B4E9', '....'), 'wrong': ('#E69F00', '////')}
MEDIAN: dict[str, Any] = {'color': 'black', 'linewidth': 2.2, 'solid_capstyle': 'butt'}
MEAN: dict[str, Any] = {
    'marker': 'D',
    'markersize': 4.5,
    'markerfacecolor': 'white',
    'markeredgecolor': 'black',
}
THRESHOLD: dict[str, Any] = {'color': '#555555', 'linestyle': '--', 'linewidth': 1.2}
THICKNESS = 0.25  # of a box, where models are 1 apart
LONGEST_NAME = 28  # characters beside the boxes of a model
LONGEST_TITLE = 60


def boxed_results(found: Sequence[Entry]) -> list[Entry]:
    """Return the results with at least one box to draw."""
    return [one for one in found if any(_boxes(one, quantity) for quantity in QUANTITIES)]


def plot_boxes(axis: Axes, boxes: Boxes, quantity: str, threshold: float = math.nan) -> Axes:
    """Draw the boxes of all, right and wrong responses below each other, and return the axis.

    A box reaches from the first to the third quartile, its line is the median, its diamond the
    mean; whiskers end at the outermost value within 1.5 times the box's length.

    Args:
        axis: Where to draw.
        boxes: Name of the model → ``all``, ``right``, ``wrong`` → statistics as ``Axes.bxp`` takes
            them, in [0, 1]. A model without any has an empty place.
        quantity: ``validity`` or ``redundancy``, the label of the axis.
        threshold: The threshold of soundness, drawn as a line; NaN for none.
    """
    places = [_places(index, of_model) for index, of_model in enumerate(boxes.values())]
    for part, (colour, hatch) in FILLS.items():
        drawn = {
            at[part]: {name: of_model[part][name] for name in STATISTICS}
            for at, of_model in zip(places, boxes.values(), strict=True)
            if part in of_model
        }
        if not drawn:
            continue
        axis.bxp(
            list(drawn.values()),
            list(drawn),
            widths=0.85 * THICKNESS,
            patch_artist=True,
            showfliers=False,
            showmeans=True,
            manage_ticks=False,
            boxprops={'facecolor': colour, 'hatch': hatch, 'linewidth': 0.8},
            medianprops=MEDIAN,
            meanprops=MEAN,
            **_horizontal(axis),
        )
    if not math.isnan(threshold):
        axis.axvline(threshold, **THRESHOLD)
    names = [shown_label(name) for name in told_apart(list(boxes), LONGEST_NAME)]
    axis.set_yticks(range(len(names)), names)
    axis.set(xlim=(-0.02, 1.02), ylim=(len(names) - 0.5, -0.5), xlabel=quantity)
    axis.grid(axis='x', alpha=0.3)
    axis.set_axisbelow(True)
    return axis


def draw_boxes(found: Sequence[Entry]) -> Figure:
    """Return a figure with validity and redundancy for each benchmark and decoding.

    Args:
        found: Results with a box to draw, at least one.

    Raises:
        ImportError: If matplotlib is missing.
    """
    from matplotlib.figure import Figure

    panels: dict[tuple[str, str], list[Entry]] = {}
    for one in found:
        panels.setdefault(one.panel, []).append(one)
    heights = [1.0 + 0.65 * len(results) for results in panels.values()]
    figure = Figure(figsize=(10, 0.8 + sum(heights)), layout='constrained')
    axes = figure.subplots(
        len(panels), 2, squeeze=False, gridspec_kw={'height_ratios': heights, 'wspace': 0.04}
    )
    for row, ((name, responses), results) in zip(axes, panels.items(), strict=True):
        seen = False
        for axis, quantity in zip(row, QUANTITIES, strict=True):
            boxes = {one.label: _boxes(one, quantity) for one in results}
            plot_boxes(axis, boxes, quantity, _threshold(results, quantity))
            axis.set_visible(any(boxes.values()))
            if not seen:  # only the left panel shows what both have in common
                title = f'{shown_label(shortened(name, LONGEST_TITLE))}, {responses}'
                axis.set_title(title, loc='left')
            axis.tick_params(labelleft=not seen)
            seen = seen or axis.get_visible()
    add_legend(figure, _explanations(found))
    return figure


def _boxes(one: Entry, quantity: str) -> dict[str, Mapping[str, float]]:
    """Return the boxes of a result that can be drawn."""
    boxes = {part: box_of(one, quantity, part) for part in PARTS}
    return {
        part: box
        for part, box in boxes.items()
        if box and all(_is_number(box.get(name)) for name in STATISTICS)
    }


def _is_number(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _places(index: int, of_model: Mapping[str, object]) -> dict[str, float]:
    """Return the positions of a model's boxes, around the model's own."""
    parts = [part for part in PARTS if part in of_model]
    return {
        part: index + THICKNESS * (number - (len(parts) - 1) / 2)
        for number, part in enumerate(parts)
    }


def _threshold(results: Sequence[Entry], quantity: str) -> float:
    """Return the common threshold of results with verdicts, NaN if there is none."""
    if quantity != VALIDITY:
        return math.nan
    found = {threshold_of(one) for one in results if has_verdicts(one.result)}
    return found.pop() if len(found) == 1 else math.nan


def _horizontal(axis: Axes) -> dict[str, Any]:
    # Older releases know no orientation, later ones warn of vert.
    known = 'orientation' in inspect.signature(axis.bxp).parameters
    return {'orientation': 'horizontal'} if known else {'vert': False}


def _explanations(found: Sequence[Entry]) -> dict[str, Artist]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    parts = [
        part
        for part in PARTS
        if any(part in _boxes(one, quantity) for one in found for quantity in QUANTITIES)
    ]
    handles: dict[str, Artist] = {}
    for part in parts:
        colour, hatch = FILLS[part]
        handles[f'{part} answers'] = Patch(
            facecolor=colour, hatch=hatch, edgecolor='black', linewidth=0.8
        )
    handles['median'] = Line2D([], [], **MEDIAN)
    handles['mean'] = Line2D([], [], linestyle='none', **MEAN)
    if any(not math.isnan(_threshold([one], VALIDITY)) for one in found):
        handles['threshold of soundness'] = Line2D([], [], **THRESHOLD)
    return handles
