"""Box plots of validity and redundancy, as in Figure 3 of arXiv 2404.05692."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from opencompass_gpassk.report.charts.style import Chart, name_rows
from opencompass_gpassk.report.tables.reasoning import PARTS, QUANTITIES, box_of, threshold_of
from opencompass_gpassk.results.judged_trials import VALIDITY
from opencompass_gpassk.results.result import Box, Entry

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Boxes = Mapping[str, Mapping[str, Box]]

# Okabe and Ito's colours; they differ in lightness and hatching too, for a copy without colours.
FILLS = {'all': ('#BBBBBB', ''), 'right': ('#56B4E9', '....'), 'wrong': ('#E69F00', '////')}
MEDIAN: dict[str, Any] = {'color': 'black', 'linewidth': 1.8, 'solid_capstyle': 'butt'}
MEAN: dict[str, Any] = {
    'marker': 'D',
    'markersize': 3.5,
    'markerfacecolor': 'white',
    'markeredgecolor': 'black',
}
THICKNESS, MIDDLE = 0.2, 0.15  # of a model's boxes, where models are 1 apart


def plot_boxes(axis: Axes, boxes: Boxes, quantity: str, threshold: float = math.nan) -> None:
    """Draw the boxes of all, right and wrong responses below each other.

    A box reaches from the first to the third quartile, its line is the median, its diamond the
    mean; whiskers end at the outermost value within 1.5 times the box's length.

    Args:
        axis: Where to draw.
        boxes: Name of the model → ``all``, ``right``, ``wrong`` → statistics as ``Axes.bxp`` takes
            them, in [0, 1]. A model without any has an empty place.
        quantity: ``validity`` or ``redundancy``, the label of the axis.
        threshold: The threshold of soundness, drawn as a line; NaN for none.
    """
    for number, (part, (colour, hatch)) in enumerate(FILLS.items()):
        drawn = {
            index + MIDDLE + THICKNESS * (number - 1): of_model[part].model_dump(exclude={'n'})
            for index, of_model in enumerate(boxes.values())
            if part in of_model
        }
        if not drawn:
            continue
        made = axis.bxp(
            list(drawn.values()),
            list(drawn),
            widths=0.85 * THICKNESS,
            patch_artist=True,
            showfliers=False,
            showmeans=True,
            manage_ticks=False,
            boxprops={'facecolor': colour, 'hatch': hatch},
            medianprops=MEDIAN,
            meanprops=MEAN,
            **_horizontal(axis),
        )
        made['boxes'][0].set_label(f'{part} answers')
    if not math.isnan(threshold):
        axis.axvline(threshold, color='#555555', linestyle='--', label='threshold of soundness')
    name_rows(axis, list(boxes), MIDDLE - 1.6 * THICKNESS)
    axis.set(xlim=(-0.02, 1.02), xlabel=quantity)


def box_charts(panel: tuple[str, str], results: Sequence[Entry]) -> Iterable[Chart]:
    """Yield the charts of validity and redundancy of a benchmark and way of decoding."""
    for quantity in QUANTITIES:
        boxes = {
            one.label: {part: box for part in PARTS if (box := box_of(one, quantity, part))}
            for one in results
        }
        if any(boxes.values()):
            threshold = _threshold(results, quantity)
            plot = partial(plot_boxes, boxes=boxes, quantity=quantity, threshold=threshold)
            told = (
                f'{", ".join(panel)}: {quantity} of solutions. Boxes: quartiles, with the median; '
                'diamonds: means; whiskers: values within 1.5 times the box.'
            )
            name = f'{"_".join(panel)}_{quantity}'
            yield Chart(name, told, plot, 0.4 + 0.55 * len(results))


def _threshold(results: Sequence[Entry], quantity: str) -> float:
    """Return the common threshold of results with verdicts, NaN if there is none."""
    if quantity != VALIDITY:
        return math.nan
    found = {threshold_of(one) for one in results if one.result.judged}
    return found.pop() if len(found) == 1 else math.nan


def _horizontal(axis: Axes) -> dict[str, Any]:
    # Older releases know no orientation, later ones warn of vert.
    known = 'orientation' in inspect.signature(axis.bxp).parameters
    return {'orientation': 'horizontal'} if known else {'vert': False}
