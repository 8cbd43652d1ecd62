"""Estimates against the number of samples, as in Figure 4 of arXiv 2412.13147.

With fewer samples G-Pass@k is the same on average, but less certain. Lines are estimates from the
first samples of each problem. Bands show how far such estimates scatter about the estimate from all
samples, for these problems.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.formats.display import shortened
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.fixed_problems import within_problem_variance
from opencompass_gpassk.metrics.sample_size import ADVISED
from opencompass_gpassk.report.board import Benchmark, Trials
from opencompass_gpassk.report.charts.style import (
    COLOURS,
    LINES,
    MARKERS,
    MOST_BANDS,
    add_legend,
    labelled,
    plot_band,
    shown_label,
)
from opencompass_gpassk.results.groups import headline_problems
from opencompass_gpassk.trials import TrialTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


MOST_POINTS = 12  # points of a line
NORMAL = 1.959964  # standard deviations to either side of the mean that hold 95 %

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Growth:
    """Estimates of a figure from growing numbers of samples.

    Attributes:
        samples: Shape (S,): numbers of samples, from k to n.
        estimate: Shape (S,): estimate in percent from the first judged samples of each problem.
        low: Shape (S,): lower end of a range about the estimate from all samples. It is expected to
            contain 95 % of the estimates from that many new samples of these problems.
        high: Shape (S,): upper end of the range.
    """

    samples: NDArray[np.int64]
    estimate: Numbers
    low: Numbers
    high: Numbers


def growth(table: TrialTable, estimator: Estimator, *, bands: bool = True) -> Growth | None:
    """Return a figure by number of samples, None if no problem has more than k judged samples.

    A problem with too few samples gives all that it has. The variance of an estimate from m of n
    samples is the variance over all choices of m among the n (exact, hypergeometric) plus that of
    the estimate from n (see
    :func:`~opencompass_gpassk.metrics.fixed_problems.within_problem_variance`).

    Args:
        table: The trials.
        estimator: The figure.
        bands: Whether to compute low and high; else they are NaN.
    """
    chosen = headline_problems(table.problems)
    right = _right_so_far(table)
    n = np.array([len(right[i]) - 1 for i in chosen], dtype=np.int64)
    rows = [right[i] for i, size in zip(chosen, n, strict=True) if size >= estimator.k]
    n = n[n >= estimator.k]
    if not len(n) or n.max() <= estimator.k:
        return None
    c = np.array([row[-1] for row in rows], dtype=np.int64)
    steps = np.linspace(estimator.k, n.max(), MOST_POINTS).round()
    samples: NDArray[np.int64] = np.unique(steps.astype(np.int64))
    whole = estimator(n, c)
    left_open = within_problem_variance(estimator, n, c) if bands else np.full(len(n), np.nan)
    estimates, spreads = np.empty(len(samples)), np.full(len(samples), np.nan)
    for index, size in enumerate(samples):
        taken = np.minimum(n, size)
        seen = np.array([row[m] for row, m in zip(rows, taken, strict=True)], dtype=np.int64)
        estimates[index] = estimator(taken, seen).mean()
        if bands:
            variances = _choice_variance(estimator, n, c, taken, whole) + left_open
            spreads[index] = np.sqrt(max(variances.sum(), 0.0)) / len(n)
    low, high = (np.clip(whole.mean() + side * spreads, 0, 1) for side in (-NORMAL, NORMAL))
    return Growth(samples, 100 * estimates, 100 * low, 100 * high)


def growing(benchmark: Benchmark, trials: Trials) -> dict[str, TrialTable]:
    """Return label → trials of the entries with more samples than their least k."""
    found = {}
    for entry in benchmark.entries:
        table = trials.get(entry.place)
        if entry.ks and table is not None:
            n = table.counts()[0][headline_problems(table.problems)]
            if n.max(initial=0) > entry.ks[0]:
                found[entry.label] = table
    return found


def plot_growth(axis: Axes, lines: Mapping[str, Growth | None], k: int, title: str) -> Axes:
    """Draw one line per model, and the least advised number of samples; return the axis.

    Args:
        axis: Where to draw.
        lines: Name → its estimates; None has no line, but keeps its colour.
        k: The metric's k.
        title: The panel's heading.
    """
    for index, (name, line) in enumerate(lines.items()):
        axis.plot(
            [] if line is None else line.samples,
            [] if line is None else line.estimate,
            color=COLOURS[index % len(COLOURS)],
            marker=MARKERS[index % len(MARKERS)],
            linestyle=LINES[index // len(COLOURS) % len(LINES)],
            markersize=4.5,
            label=shown_label(name),
        )
        if line is not None and not np.isnan(line.low).all():
            plot_band(axis, line.samples.tolist(), line.low.tolist(), line.high.tolist(), index)
    axis.margins(y=0.14)
    left, right = axis.get_xlim()
    if left < ADVISED * k < right:
        axis.axvline(ADVISED * k, color='#555555', linestyle=':', linewidth=1.2)
        aside = -1 if ADVISED * k > 0.8 * right + 0.2 * left else 1  # within the panel
        axis.annotate(
            f'n = {ADVISED}k',
            (ADVISED * k, 1),
            (3 * aside, -3),
            ('data', 'axes fraction'),
            'offset points',
            va='top',
            ha='left' if aside > 0 else 'right',
            fontsize='small',
            color='#555555',
        )
    low, high = axis.get_ylim()
    axis.set_ylim(max(low, -2.0), min(high, 102.0))
    axis.set(title=title, xlabel='samples of each problem, n')
    axis.locator_params(axis='x', integer=True)
    axis.grid(alpha=0.3)
    return axis


def draw_growth(benchmark: Benchmark, tables: Mapping[str, TrialTable]) -> Figure:
    """Return a figure with two panels for each k: pass@k above, the strictest G-Pass@k below.

    Args:
        benchmark: The benchmark.
        tables: Trials from :func:`growing`, at least one.

    Raises:
        ImportError: If matplotlib is missing.
    """
    from matplotlib.figure import Figure

    drawn = {k: _lines(tables, k, (0.0, benchmark.taus[-1])) for k in benchmark.ks}
    drawn = {k: rows for k, rows in drawn.items() if any(any(row.values()) for row in rows)}
    figure = Figure(figsize=(1.8 + 3.4 * len(drawn), 6.2), layout='constrained')
    axes = figure.subplots(2, len(drawn), squeeze=False, sharex='col')
    for column, (k, rows) in enumerate(drawn.items()):
        names = (f'pass@{k} (%)', f'G-Pass@{k}$_{{{benchmark.taus[-1]}}}$ (%)')  # as TeX
        for row, (lines, name) in enumerate(zip(rows, names, strict=True)):
            plot_growth(axes[row, column], lines, k, name)
        axes[0, column].set_xlabel('')
    figure.suptitle(shown_label(shortened(benchmark.name, 70)))
    told = 'lines: from the first n samples of each problem'
    if len(tables) <= MOST_BANDS:
        told += '; bands: scatter of estimates from n samples of these problems (95 %)'
    add_legend(figure, labelled(axes[0, 0]), told)
    return figure


def _lines(
    tables: Mapping[str, TrialTable], k: int, taus: Sequence[float]
) -> list[dict[str, Growth | None]]:
    return [
        {
            name: growth(table, Estimator('G-Pass', k, tau), bands=len(tables) <= MOST_BANDS)
            for name, table in tables.items()
        }
        for tau in taus
    ]


def _right_so_far(table: TrialTable) -> list[NDArray[np.int64]]:
    """Return the number of right ones among the first 0, 1, 2, … judged samples of each problem."""
    found: list[NDArray[np.int64]] = []
    order = np.lexsort((np.array([one.replica for one in table.trials]), table.problem_index))
    order = order[table.judged[order]]
    ends = np.searchsorted(table.problem_index[order], np.arange(len(table.problems) + 1))
    for first, last in pairwise(ends):
        right = table.correct[order[first:last]]
        found.append(np.concatenate([[0], np.cumsum(right)]).astype(np.int64))
    return found


def _choice_variance(
    estimator: Estimator,
    n: NDArray[np.int64],
    c: NDArray[np.int64],
    taken: NDArray[np.int64],
    whole: Numbers,
) -> Numbers:
    """Return the variance of the estimates over all choices of a part of a problem's samples."""
    from scipy.stats import hypergeom

    variances = np.empty(len(n))
    for m in np.unique(taken):
        seen = np.arange(m + 1)
        squares = np.nan_to_num(estimator(np.full(m + 1, m), seen)) ** 2
        of_size = np.flatnonzero(taken == m)
        pairs, place = np.unique(np.stack([n[of_size], c[of_size]]), axis=1, return_inverse=True)
        chances = hypergeom.pmf(seen, pairs[0][:, np.newaxis], pairs[1][:, np.newaxis], m)
        variances[of_size] = (chances @ squares)[place.reshape(-1)] - whole[of_size] ** 2
    return np.clip(variances, 0, None)
