"""The metrics on the page: how they are called, their columns, and their values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from opencompass_gpassk.report.board import GREEDY, Benchmark
from opencompass_gpassk.report.cells import BRACKETS, few_legend, interval_legend
from opencompass_gpassk.report.page.drawings import TOO_FEW
from opencompass_gpassk.results.metric import (
    ACCURACY,
    FAMILIES,
    Family,
    Metric,
    Over,
    Side,
)
from opencompass_gpassk.results.result import Entry, Few


class Column(NamedTuple):
    """A metric with its heading and its meaning."""

    metric: Metric
    heading: str
    about: str


def heading_of(metric: Metric) -> str:
    """Return what a metric is called; that of accuracy says how responses were drawn."""
    return 'greedy' if metric == GREEDY else metric.heading


def measured(entry: Entry, metric: Metric, group: str = '') -> float | None:
    """Return a metric of an entry in percent; NaN if it is undefined, None if it wasn't measured.

    Args:
        entry: The entry.
        metric: :data:`GREEDY`, or a metric of the samples; without samples those of the greedy
            result, but for its accuracy.
        group: Label of a group, '' for all problems.
    """
    if metric == GREEDY:
        return entry.greedy_accuracy(group)
    return (entry if metric.family is ACCURACY else entry.result).metric(metric, group)


def known(entry: Entry, metric: Metric, group: str = '') -> float | None:
    """Return a metric of an entry in percent; None if it is undefined or wasn't measured."""
    value = measured(entry, metric, group)
    return None if value is None or math.isnan(value) else value


def columns_at(benchmark: Benchmark, k: int | None, m: int | None) -> list[Column]:
    """Return the columns of the metrics at k that any entry has, for m versions of a question."""
    return [
        Column(metric, heading_of(metric), _about(metric))
        for metric in _metrics(benchmark, k, m)
        if any(measured(entry, metric) is not None for entry in benchmark.entries)
    ]


def _metrics(benchmark: Benchmark, k: int | None, m: int | None) -> Iterator[Metric]:
    for family, side in _families():
        if family is ACCURACY and side is Side.PLAIN:
            yield GREEDY
        # At τ = 0 it is pass@k, which has its own column.
        for tau in filter(None, benchmark.taus) if family.has('tau') else [None]:
            at_k, of_m = k if family.has('k') else None, m if family.has('m') else None
            yield family(k=at_k, tau=tau, m=of_m).on(side)


def _families() -> Iterator[tuple[Family, Side]]:
    shown = [one for one in FAMILIES if one.on_page]
    for over in (Over.RIGHT_ORIGINALS, Over.PROBLEMS):
        yield from ((one, Side.PLAIN) for one in shown if one.over is over)
    yield from ((one, Side.SOUND) for one in shown if one.sides)
    for over in (Over.RESPONSES, Over.QUESTIONS):
        yield from ((one, Side.PLAIN) for one in shown if one.over is over)


def _about(metric: Metric) -> str:
    if metric == GREEDY:
        return 'share of the problems that the greedy response solves'
    if metric.side is Side.SOUND:
        return f'like {metric.on(Side.PLAIN).heading}, but the reasoning must be valid too'
    return metric.family.about.format(k=metric.k, tau=metric.tau, m=metric.m, n='n')


def column_notes(benchmark: Benchmark) -> list[str]:
    """Return the notes on the intervals of a benchmark's metrics."""
    cells: list[float | None] = []
    for entry in benchmark.entries:
        for metric in (*(one.of_n(None) for one in entry.result.measured()), GREEDY):
            cells.append(measured(entry, metric))
    few = any(isinstance(value, Few) for value in cells)
    return [*interval_legend(cells, BRACKETS), *([few_legend(TOO_FEW)] if few else [])]
