"""Complete, partial and collapsed understanding, as in Figure 4 of arXiv 2501.11790."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.charts.style import (
    Chart,
    best_first,
    intervals_told,
    name_rows,
    put_undefined,
)
from opencompass_gpassk.results.metric import UNDERSTANDING, UNDERSTANDING_SCORE
from opencompass_gpassk.results.result import Entry, Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The fills differ in lightness and hatching too, for a copy without colours.
FILLS = (('#0072B2', ''), ('#56B4E9', '////'), ('#D55E00', 'xx'))
THICKNESS, MIDDLE = 0.5, 0.2  # of a bar, where models are 1 apart
CONSISTENT = 60  # a lower score is inconsistent


def plot_understanding(axis: Axes, scores: Mapping[str, Sequence[float]]) -> None:
    """Draw a model's three shares as a bar, and its score with its interval on a line through all.

    Args:
        axis: Where to draw.
        scores: Name of a model → shares of complete, partial and collapsed understanding and the
            score, in percent; a model without right originals has NaN, and a dash.
    """
    places = [place + MIDDLE for place in range(len(scores))]
    ends = [0.0] * len(scores)
    for share, (family, (colour, hatch)) in enumerate(zip(UNDERSTANDING, FILLS, strict=True)):
        widths = [0.0 if math.isnan(one[share]) else float(one[share]) for one in scores.values()]
        axis.barh(
            places,
            widths,
            height=THICKNESS,
            left=ends,
            label=family.key.split()[0],
            color=colour,
            hatch=hatch,
            edgecolor='black',
        )
        ends = [end + width for end, width in zip(ends, widths, strict=True)]
    line = [float(one[-1]) for one in scores.values()]
    axis.plot(line, places, 'D-', color='black', markeredgecolor='white', label='score (Eq. 5)')
    for place, (*_, score) in zip(places, scores.values(), strict=True):
        if isinstance(score, Estimate):
            axis.plot(score.interval, (place, place), color='white', linewidth=2.6, zorder=1.9)
            axis.plot(score.interval, (place, place), color='black', linewidth=1.0)
        elif math.isnan(score):
            put_undefined(axis, (0.0, place), ('data', 'data'))
    axis.axvline(CONSISTENT, color='black', linestyle=':', label=f'consistent from {CONSISTENT}')
    name_rows(axis, list(scores), MIDDLE - THICKNESS / 2 - 0.06)
    axis.set(xlim=(0, 100), xlabel='right originals (%)')


def understanding_chart(panel: tuple[str, str], results: Sequence[Entry]) -> Chart:
    """Return the chart of a benchmark and way of decoding."""
    metrics = (*UNDERSTANDING, UNDERSTANDING_SCORE)
    scores = {one.label: [number(one.metric(family())) for family in metrics] for one in results}
    scores = dict(best_first(scores.items(), lambda one: one[1][-1]))
    told = f'{", ".join(panel)}: understanding of the questions whose original is right.'
    told += intervals_told((one[-1] for one in scores.values()), 'white-edged lines')
    plot = partial(plot_understanding, scores=scores)
    return Chart(f'{"_".join(panel)}_understanding', told, plot, 0.4 + 0.32 * len(scores))
