"""How steeply G-Pass@k falls over τ, as in Figure 6 of arXiv 2412.13147."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.groupings import headline_problems
from opencompass_gpassk.measured import problem_clusters
from opencompass_gpassk.metrics.bootstrap import bootstrap_means
from opencompass_gpassk.metrics.gpassk import g_pass_at_k
from opencompass_gpassk.report.bars import plot_bars
from opencompass_gpassk.report.benchmarks import Benchmark, Entry
from opencompass_gpassk.report.best import Trials
from opencompass_gpassk.report.contamination import slope
from opencompass_gpassk.report.estimates import Estimate
from opencompass_gpassk.report.plots import (
    add_legend,
    has_intervals,
    intervals_name,
    labelled,
    number,
    shown_label,
)
from opencompass_gpassk.text import shortened
from opencompass_gpassk.trials import TrialTable
from opencompass_gpassk.uncertainty import ESTIMAND

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ['draw_slopes', 'entry_slopes', 'slope_weights']

RESAMPLES = 2_000
LEVEL = 0.95
ROUNDING = 1e-6  # points
UNCERTAINTY: Mapping[str, object] = {'level': LEVEL, 'of': ESTIMAND}


def slope_weights(taus: Sequence[float]) -> NDArray[np.float64]:
    """Return what each of T figures counts for in the slope by least squares, shape (T,).

    A slope is a sum of the figures, weighted; so that of a mean is the mean of the problems'.
    """
    off = np.asarray(taus, dtype=float) - np.mean(taus)
    return off / (off**2).sum()


def entry_slopes(entry: Entry, trials: Trials) -> dict[int, float]:
    """Return k → change of G-Pass@k_τ, in points, as τ goes from 0 to 1.

    Args:
        entry: What a model reached, at two thresholds at least.
        trials: Of the results; where those of this one are there, slopes have intervals, from the
            slopes of the problems.
    """
    found = {}
    for k in entry.ks:
        figures = [number(entry.figure(f'G-Pass@{k}_{tau}')) for tau in entry.taus]
        # Without one of its points a slope would be another.
        found[k] = slope(entry.taus, figures) if not np.isnan(figures).any() else math.nan
    table = trials.get((entry.model, entry.dataset))
    return found if table is None else _with_intervals(entry, found, table)


def draw_slopes(benchmark: Benchmark, trials: Trials) -> Figure:
    """Return a figure with a bar for each model and k.

    Raises:
        ImportError: If matplotlib is missing.
        ValueError: If there are no slopes.
    """
    from matplotlib.figure import Figure

    entries = [entry for entry in benchmark.entries if entry.ks and len(set(entry.taus)) > 1]
    if not entries:
        raise ValueError(f'{benchmark.name}: a slope needs two thresholds τ')
    slopes = [entry_slopes(entry, trials) for entry in entries]
    series = {f'k = {k}': [one.get(k) for one in slopes] for k in benchmark.ks}
    figure = Figure(figsize=(8, 1.6 + (0.15 + 0.24 * len(series)) * len(entries)))
    figure.set_layout_engine('constrained')
    axis = figure.subplots()
    plot_bars(axis, [benchmark.label(entry) for entry in entries], series, limits=None)
    shown = [[value for value in values if value is not None] for values in series.values()]
    axis.set(
        xlabel='change of G-Pass@k$_τ$ from τ = 0 to 1 (points, least squares)',
        title=shown_label(shortened(benchmark.name, 70)),
        xlim=(min(axis.get_xlim()[0], -1.0), 0),
    )
    told = f'lines: {intervals_name(shown)}' if has_intervals(shown) else ''
    add_legend(figure, labelled(axis), told)
    return figure


def _with_intervals(
    entry: Entry, slopes: Mapping[int, float], table: TrialTable
) -> dict[int, float]:
    """Return slopes with their intervals, where they are those of these very trials."""
    chosen = headline_problems(table.problems)
    n, c = (counts[chosen] for counts in table.counts())
    weights = slope_weights(entry.taus)
    values = np.stack(
        [
            np.stack([g_pass_at_k(n, c, k, tau) for tau in entry.taus], axis=1) @ weights
            for k in slopes
        ],
        axis=1,
    )
    least = float(np.cumsum(weights).min())  # G-Pass@k is 1 up to some τ and 0 beyond
    made = bootstrap_means(
        np.clip(values, least, 0.0),
        problem_clusters(table)[chosen],
        bounds=(least, 0.0),
        resamples=RESAMPLES,
        level=LEVEL,
    )
    found = {}
    for column, (k, value) in enumerate(slopes.items()):
        ends = 100 * float(made.low[column]), 100 * float(made.high[column])
        same = abs(100 * float(made.estimate[column]) - value) < ROUNDING
        known = same and not any(map(math.isnan, ends))
        found[k] = Estimate(value, ends, made.method[column], UNCERTAINTY) if known else value
    return found
