"""Estimates against the number of samples, as in Figure 4 of arXiv 2412.13147.

With fewer samples G-Pass@k is the same on average, but less certain. Lines are estimates from the
first samples of each problem. Bands show how far such estimates scatter about the estimate from all
samples, for these problems.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.fixed_problems import within_problem_variance
from opencompass_gpassk.metrics.sample_size import ADVISED
from opencompass_gpassk.report.board import Benchmark, Trials
from opencompass_gpassk.report.charts.style import Chart, Looks, colour_of, plot_line
from opencompass_gpassk.results.groups import headline_problems
from opencompass_gpassk.results.metric import G_PASS
from opencompass_gpassk.trials import TrialTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_POINTS = 12  # points of a line
LEAST_SPAN = 5.0  # points that the axis covers at least
NORMAL = 1.959964  # standard deviations to either side of the mean that hold 95 %

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Growth:
    """Estimates of a metric from growing numbers of samples.

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


def growth(table: TrialTable, estimator: Estimator) -> Growth | None:
    """Return a metric by number of samples, None if no problem has more than k judged samples.

    A problem with too few samples gives all that it has. The variance of an estimate from m of n
    samples is the variance over all choices of m among the n (exact, hypergeometric) plus that of
    the estimate from n (see
    :func:`~opencompass_gpassk.metrics.fixed_problems.within_problem_variance`).

    Args:
        table: The trials.
        estimator: The metric.
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
    left_open = within_problem_variance(estimator, n, c)
    estimates, spreads = np.empty(len(samples)), np.empty(len(samples))
    for index, size in enumerate(samples):
        taken = np.minimum(n, size)
        seen = np.array([row[m] for row, m in zip(rows, taken, strict=True)], dtype=np.int64)
        estimates[index] = estimator(taken, seen).mean()
        variances = _choice_variance(estimator, n, c, taken, whole) + left_open
        spreads[index] = np.sqrt(max(variances.sum(), 0.0)) / len(n)
    low, high = (np.clip(whole.mean() + side * spreads, 0, 1) for side in (-NORMAL, NORMAL))
    return Growth(samples, 100 * estimates, 100 * low, 100 * high)


def growing(benchmark: Benchmark, k: int, trials: Trials) -> dict[str, TrialTable]:
    """Return label → trials of the entries with more than k samples of a problem."""
    found = {}
    for entry in benchmark.entries:
        table = trials.get(entry.place)
        if k in entry.ks and table is not None:
            n = table.counts()[0][headline_problems(table.problems)]
            if n.max(initial=0) > k:
                found[entry.label] = table
    return found


def plot_growth(axis: Axes, lines: Mapping[str, Growth], k: int, looks: Looks) -> None:
    """Draw one line per model, and the least advised number of samples.

    Args:
        axis: Where to draw.
        lines: Name → its estimates.
        k: The metric's k.
        looks: Name → number of the model.
    """
    for name, line in lines.items():
        x = line.samples.tolist()
        plot_line(axis, x, line.estimate.tolist(), looks[name], name)
        colour = colour_of(looks[name])
        axis.fill_between(x, line.low, line.high, color=colour, alpha=0.15, linewidth=0)
    left, right = axis.get_xlim()
    if left < ADVISED * k < right:
        axis.axvline(ADVISED * k, color='#555555', linestyle=':')
    low, high = axis.get_ylim()
    axis.set(xlabel='samples of each problem, n', ylim=(max(low, 0), max(high, low + LEAST_SPAN)))
    axis.locator_params(axis='x', integer=True)


def growth_chart(
    benchmark: Benchmark, k: int, tables: Mapping[str, TrialTable], looks: Looks
) -> Chart:
    """Return the chart of the strictest G-Pass@k.

    Args:
        benchmark: The benchmark.
        k: One of its k.
        tables: Trials from :func:`growing`, at least one.
        looks: Name → number of the model.
    """
    strictest = G_PASS(k=k, tau=benchmark.taus[-1])

    def plot(axis: Axes) -> None:
        found = {name: growth(table, strictest.estimator()) for name, table in tables.items()}
        plot_growth(axis, {name: one for name, one in found.items() if one}, k, looks)
        axis.set_ylabel(f'{strictest.heading} (%)')

    told = (
        f'{benchmark.name}: {strictest.heading} from the first n samples of each problem. Bands: '
        'scatter of estimates from n samples of these problems (95 %). '
        f'Dotted, if in the range: the advised n = {ADVISED}k.'
    )
    return Chart(f'{benchmark.name}_samples_k{k}', told, plot, lines=True)


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
