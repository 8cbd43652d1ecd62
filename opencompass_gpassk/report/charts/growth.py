"""Estimates against the number of samples, as in Figure 4 of arXiv 2412.13147."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.report.board import Benchmark, Trials
from opencompass_gpassk.report.charts.style import Chart, Looks, plot_line
from opencompass_gpassk.results.groups import headline_problems
from opencompass_gpassk.results.metric import G_PASS
from opencompass_gpassk.results.protocol import ADVISED
from opencompass_gpassk.trials import TrialTable, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_POINTS = 12  # points of a line
LEAST_SPAN = 5.0  # points that the axis covers at least

Growth = Mapping[int, float]


def growth(table: TrialTable, estimator: Estimator) -> Growth:
    """Return number of samples → estimate in percent from so many judged samples of each problem.

    They are the first ones; a problem with too few gives all that it has. Nothing is returned if no
    problem has more than k.

    Args:
        table: The trials.
        estimator: The metric.
    """
    by_problem, rows = table.by_problem(), []
    for index in headline_problems(table.problems):
        ordered = sorted(by_problem[index], key=lambda one: one.replica)
        judged = [one for one in ordered if one.verdict is not Verdict.UNJUDGED]
        if len(judged) >= estimator.k:
            rows.append(np.cumsum([0, *(one.verdict is Verdict.CORRECT for one in judged)]))
    n = np.array([len(row) - 1 for row in rows])
    if n.max(initial=0) <= estimator.k:
        return {}
    found = {}
    for size in np.linspace(estimator.k, n.max(), MOST_POINTS).round().astype(int).tolist():
        taken = np.minimum(n, size)
        seen = np.array([row[m] for row, m in zip(rows, taken, strict=True)])
        found[size] = 100 * float(estimator(taken, seen).mean())
    return found


def growth_chart(benchmark: Benchmark, k: int, trials: Trials, looks: Looks) -> Chart | None:
    """Return the chart of the strictest G-Pass@k; None if no problem has more than k samples.

    Args:
        benchmark: The benchmark.
        k: One of the k that all its entries have.
        trials: The trials of its results.
        looks: Name → number of the model.
    """
    strictest = G_PASS(k=k, tau=benchmark.taus[-1])
    lines = {
        entry.label: found
        for entry in benchmark.entries
        if entry.place in trials
        if (found := growth(trials[entry.place], strictest.estimator()))
    }
    if not lines:
        return None

    def plot(axis: Axes) -> None:
        for name, line in lines.items():
            plot_line(axis, [*line], [*line.values()], looks[name], name)
        left, right = axis.get_xlim()
        if left < ADVISED * k < right:
            axis.axvline(ADVISED * k, color='#555555', linestyle=':')
        low, high = axis.get_ylim()
        axis.set(ylim=(max(low, 0), max(high, low + LEAST_SPAN)))
        axis.set(xlabel='samples of each problem, n', ylabel=f'{strictest.heading} (%)')
        axis.locator_params(axis='x', integer=True)

    told = f'{benchmark.name}: {strictest.heading} from the first n samples of each problem.'
    told += f' Dotted, if in the range: the advised n = {ADVISED}k.'
    return Chart(f'{benchmark.name}_samples_k{k}', told, plot, lines=True)
