"""Problems that a model solves always, sometimes or never, as a strip of bars."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.report.board import Benchmark, Trials
from opencompass_gpassk.report.charts.style import Chart, letters_of, name_rows, put_undefined
from opencompass_gpassk.results.groups import headline_problems
from opencompass_gpassk.trials import TrialTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


ALWAYS, IF_JUDGED, SOMETIMES, NEVER = 'always', 'always, if judged', 'sometimes', 'never'
# The fills differ in lightness, hatching or height, for a copy without colours.
FILLS = {
    ALWAYS: ('#0072B2', ''),
    IF_JUDGED: ('#56B4E9', '////'),
    SOMETIMES: ('#E69F00', ''),
    NEVER: ('#999999', ''),
}
TOP, BOTTOM = -0.05, 0.45  # of a strip below the middle of its row, where rows are 1 apart
NAME = 0.06  # between a strip and its model's name
LEAST = 0.08  # part of the strip's height that a problem has that is never solved
COUNTS = 18  # letters that the counts take

Shares = Mapping[str, NDArray[np.float64]]


def shares_of(table: TrialTable) -> Shares:
    """Return kind of problem → share of right samples of each one's judged samples, descending.

    The problems are the headline's that have a verdict. One is of the kind :data:`IF_JUDGED` if all
    judged samples are right but verdicts are missing.
    """
    chosen = headline_problems(table.problems)
    judged, right = (counts[chosen] for counts in table.counts())
    complete = judged == np.bincount(table.problem_index, minlength=len(table.problems))[chosen]
    solved = (judged > 0) & (right == judged)
    kinds = {
        ALWAYS: solved & complete,
        IF_JUDGED: solved & ~complete,
        SOMETIMES: (right > 0) & ~solved,
        NEVER: (judged > 0) & (right == 0),
    }
    return {kind: np.sort(right[of] / judged[of])[::-1] for kind, of in kinds.items()}


def plot_strips(axis: Axes, strips: Mapping[str, Shares]) -> None:
    """Draw a strip for each model: a bar for each problem, as high as its share of right samples.

    Args:
        axis: Where to draw.
        strips: Name of a model → kind of problem → shares. One without problems has a dash.
    """
    known = [kind for kind in FILLS if any(len(strip[kind]) for strip in strips.values())]
    for place, strip in enumerate(strips.values()):
        bottom, at = place + BOTTOM, 0
        total = sum(map(len, strip.values()))
        for kind in known:
            shares, (colour, hatch) = strip[kind], FILLS[kind]
            axis.stairs(
                bottom - (BOTTOM - TOP) * np.maximum(shares, LEAST),
                100 * np.arange(at, at + len(shares) + 1) / max(total, 1),
                baseline=bottom,
                fill=True,
                facecolor=colour,
                hatch=hatch,
                edgecolor='black' if hatch else colour,
                linewidth=0,
                label=f'_{kind}' if place else kind,
            )
            at += len(shares)
        if not total:
            put_undefined(axis, (0.0, bottom), ('data', 'data'))
        counts = ' · '.join(f'{len(strip[kind])}' for kind in known)
        axis.text(100, place + TOP - NAME, counts, ha='right', va='bottom')
    name_rows(axis, list(strips), TOP - NAME, letters_of(axis) - COUNTS)
    axis.set(xlim=(0, 100), xlabel='problems (%)')


def strip_chart(benchmark: Benchmark, trials: Trials) -> Chart | None:
    """Return the chart of a benchmark, of the sampled results with trials; None without any."""
    shown = [one for one in benchmark.entries if one.ks and one.place in trials]
    if not shown:
        return None
    sizes = sorted({one.n for one in shown})
    strips = {
        one.label + f', n = {one.n}' * (len(sizes) > 1): shares_of(trials[one.place])
        for one in shown
    }
    told = (
        f'{benchmark.name}, n = {" or ".join(map(str, sizes))}: a bar for each problem, as high as '
        'the share of its judged samples that are right. Numbers: problems of each kind, in the '
        f'order of the legend; “{IF_JUDGED}”: all judged samples are right, but verdicts are '
        'missing.'
    )
    plot = partial(plot_strips, strips=strips)
    return Chart(f'{benchmark.name}_strip', told, plot, 0.4 + 0.32 * len(strips))
