"""Figures against a sampling parameter, from runs that differ in it; Figure 5 of 2412.13147."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.formats.display import shortened
from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.report.board import Benchmark, Trials
from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.charts.bars import plot_bars
from opencompass_gpassk.report.charts.style import (
    COLOURS,
    MARKERS,
    add_legend,
    has_intervals,
    intervals_name,
    labelled,
    shown_label,
)
from opencompass_gpassk.report.tables.contamination import slope
from opencompass_gpassk.results.figure_intervals import ESTIMAND
from opencompass_gpassk.results.figure_values import problem_clusters
from opencompass_gpassk.results.figures import ACCURACY, G_PASS, PASS, parse_figure
from opencompass_gpassk.results.groups import headline_problems
from opencompass_gpassk.results.judged_trials import JudgedTrials
from opencompass_gpassk.results.stored_result import Entry, Estimate
from opencompass_gpassk.trials import TrialTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


NUMBER = re.compile(r'\d+(?:\.\d+)?')
DODGE = 0.012  # distance between intervals, as a share of the width that values cover
OTHERS = ('data', 'judge', 'prompt')  # fields of the signature that must be the same


@dataclass(frozen=True)
class Sweep:
    """Results of one model that differ only in one sampling parameter.

    Attributes:
        parameter: The parameter's name, such as ``temperature``.
        model: The model's name, without the parameter's value.
        fixed: The other parameters.
        entries: (value, entry), sorted by value; at least two.
    """

    parameter: str
    model: str
    fixed: Mapping[str, object]
    entries: Sequence[tuple[float, Entry]]


def sweeps(benchmark: Benchmark) -> list[Sweep]:
    """Return the sweeps among the sampled results of a benchmark.

    A sweep is several data sets of one model, or several models whose names differ only in the
    parameter's value, such as ``m-t0.5`` and ``m-t1.0``. Data, judge, prompt, n and k must be the
    same.
    """
    found: dict[tuple[str, str, str], dict[float, Entry]] = {}
    fixed: dict[tuple[str, str, str], Mapping[str, object]] = {}
    for entry in benchmark.entries:
        sampling = entry.result.get('signature', {}).get('sampling')
        if not entry.ks or not isinstance(sampling, Mapping):
            continue
        for parameter, value in sampling.items():
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                continue
            if not math.isfinite(value):
                continue
            rest = {name: other for name, other in sampling.items() if name != parameter}
            same = [entry.result['signature'].get(name) for name in OTHERS]
            rule = json.dumps([rest, same, entry.n, entry.ks], sort_keys=True, default=str)
            # With one value in its name a model would be a sweep of its own.
            for model in dict.fromkeys((entry.model, _without(entry.model, value))):
                key = (parameter, model, rule)
                found.setdefault(key, {}).setdefault(float(value), entry)
                fixed[key] = rest
    return [
        Sweep(key[0], key[1], fixed[key], sorted(entries.items(), key=lambda one: one[0]))
        for key, entries in found.items()
        if len(entries) > 1
    ]


def plot_sweep(axis: Axes, sweep: Sweep, names: Sequence[str]) -> Axes:
    """Draw one line per metric, with intervals, and return the axis.

    Args:
        axis: Where to draw.
        sweep: The sweep.
        names: The figures' headings, such as ``average@n``.
    """
    values = [value for value, _ in sweep.entries]
    for index, name in enumerate(names):
        figures = _figures(sweep, name)
        axis.plot(
            values,
            figures,
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            label=shown_label(name),
        )
        # Side by side, so that no interval hides another.
        aside = DODGE * (values[-1] - values[0]) * (index - (len(names) - 1) / 2)
        for value, figure in zip(values, figures, strict=True):
            if isinstance(figure, Estimate):
                axis.plot(
                    (value + aside, value + aside),
                    figure.interval,
                    color=COLOURS[index % len(COLOURS)],
                    linewidth=1,
                    marker='_',
                    markersize=6,
                )
    title = shown_label(shortened(sweep.model, 40))
    told = ', '.join(f'{name} {value}' for name, value in sweep.fixed.items())
    if told:
        title += f'\n{shown_label(shortened(told, 50))}'
    axis.set(xlabel=shown_label(shortened(sweep.parameter, 40)), ylim=(0, 100))
    axis.set_title(title, fontsize='medium')
    axis.set_xticks(values if len(values) <= 8 else values[:: math.ceil(len(values) / 8)])
    axis.grid(alpha=0.3)
    return axis


def draw_sweep(benchmark: Benchmark, found: Sequence[Sweep]) -> Figure:
    """Return a figure with a panel for each sweep, at the greatest k.

    Args:
        benchmark: The benchmark.
        found: Its :func:`sweeps`, at least one.

    Raises:
        ImportError: If matplotlib is missing.
    """
    from matplotlib.figure import Figure

    k, taus = benchmark.ks[-1], benchmark.taus
    middle = [tau for tau in taus if 0.5 <= tau < taus[-1]][:1]
    shown_figures = [ACCURACY(), PASS(k=k), *(G_PASS(k=k, tau=tau) for tau in (*middle, taus[-1]))]
    names = [one.heading for one in shown_figures]
    wide = min(len(found), 3)
    rows = math.ceil(len(found) / wide)
    figure = Figure(figsize=(1.6 + 3.6 * wide, 1.4 + 3.2 * rows), layout='constrained')
    axes = figure.subplots(rows, wide, squeeze=False, sharey=True).reshape(-1)
    for axis, sweep in zip(axes, found, strict=False):
        plot_sweep(axis, sweep, names)
    for axis in axes[len(found) :]:
        axis.set_visible(False)
    axes[0].set_ylabel('problems (%)')
    figure.suptitle(shown_label(shortened(benchmark.name, 60)))
    shown = [_figures(sweep, name) for sweep in found for name in names]
    told = f'upright lines: {intervals_name(shown)}' if has_intervals(shown) else ''
    add_legend(figure, labelled(axes[0]), told)
    return figure


def _figures(sweep: Sweep, name: str) -> list[float]:
    figure = parse_figure(name)
    return [number(entry.figure(figure)) for _, entry in sweep.entries]


def _without(model: str, value: float) -> str:
    """Return a model's name with … in place of the value."""
    return NUMBER.sub(lambda found: '…' if float(found[0]) == value else found[0], model)


RESAMPLES = 2_000
LEVEL = 0.95
ROUNDING = 1e-6  # points
UNCERTAINTY: Mapping[str, object] = {'level': LEVEL, 'of': ESTIMAND}


def slope_weights(taus: Sequence[float]) -> NDArray[np.float64]:
    """Return the weight of each of T figures in the least-squares slope, shape (T,).

    A slope is a weighted sum of figures, so the slope of a mean is the mean of the slopes.
    """
    off = np.asarray(taus, dtype=float) - np.mean(taus)
    return off / (off**2).sum()


def entry_slopes(entry: Entry, trials: Trials) -> dict[int, float]:
    """Return k → change of G-Pass@k_τ, in points, as τ goes from 0 to 1.

    Args:
        entry: A model's results, at two thresholds at least.
        trials: Trials of the results. If the entry's are there, slopes have intervals, from the
            slopes of the problems.
    """
    found = {}
    for k in entry.ks:
        figures = [number(entry.figure(G_PASS(k=k, tau=tau))) for tau in entry.taus]
        # A slope without one of its points would not be comparable.
        found[k] = slope(entry.taus, figures) if not np.isnan(figures).any() else math.nan
    table = trials.get(entry.place)
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
    plot_bars(axis, [entry.label for entry in entries], series, limits=None)
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
    """Return slopes with their intervals, if the slopes were computed from these trials."""
    chosen = headline_problems(table.problems)
    trials = JudgedTrials.recorded(table)
    weights = slope_weights(entry.taus)
    of_taus = {
        k: np.stack([trials.expected(Estimator('G-Pass', k, tau)) for tau in entry.taus], axis=1)
        for k in slopes
    }
    values = np.stack([of_k[chosen] @ weights for of_k in of_taus.values()], axis=1)
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
