"""The charts of a report: all whose data are there."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from opencompass_gpassk.report.board import Benchmark, Board, Trials
from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.charts.bars import benchmark_bars
from opencompass_gpassk.report.charts.boxes import box_charts
from opencompass_gpassk.report.charts.growth import growing, growth_chart
from opencompass_gpassk.report.charts.scatter import (
    drop_chart,
    false_positives_chart,
    rated_results,
)
from opencompass_gpassk.report.charts.strip import strip_chart
from opencompass_gpassk.report.charts.style import Chart, Looks
from opencompass_gpassk.report.charts.sweep import sweep_chart, sweeps
from opencompass_gpassk.report.charts.tau_curves import tau_curves
from opencompass_gpassk.report.charts.understanding import understanding_chart
from opencompass_gpassk.results.metric import G_PASS
from opencompass_gpassk.results.result import Entry

MOST_LINES = 5  # models in one chart of lines


def report_charts(board: Board) -> Iterable[Chart]:
    """Yield the charts of a report. A model looks the same in all of them."""
    of_benchmarks = chain.from_iterable(one.entries for one in board.benchmarks)
    labels = dict.fromkeys(e.label for e in chain(of_benchmarks, board.in_versions, board.scored))
    looks = {label: index for index, label in enumerate(labels)}
    for benchmark in board.benchmarks:
        if benchmark.ks and benchmark.taus:
            yield from _of(benchmark, board.trials or {}, looks)
    for panel, found in _panels(board.in_versions).items():
        yield drop_chart(panel, found, looks)
        yield understanding_chart(panel, found)
    for panel, found in _panels(board.scored).items():
        yield from box_charts(panel, found)
    for panel, found in _panels(rated_results(board.scored)).items():
        yield false_positives_chart(panel, found, looks)


def _of(benchmark: Benchmark, trials: Trials, looks: Looks) -> Iterable[Chart]:
    """Yield the charts of one benchmark with samples, the most stable models first."""
    strictest = G_PASS(k=benchmark.ks[-1], tau=benchmark.taus[-1])

    def rank(entry: Entry) -> tuple[bool, float]:
        value = number(entry.metric(strictest))
        return math.isnan(value), -value

    ranked = replace(benchmark, entries=sorted(benchmark.entries, key=rank))
    first = replace(ranked, entries=ranked.entries[:MOST_LINES])
    told = f' The {MOST_LINES} most stable of {len(ranked.entries)} models.'
    told *= len(ranked.entries) > MOST_LINES
    if strip := strip_chart(ranked, trials):
        yield strip
    for k in benchmark.ks:
        yield _told(tau_curves(first, k, looks), told)
    yield benchmark_bars(ranked)
    for k in benchmark.ks:
        if tables := growing(first, k, trials):
            yield _told(growth_chart(first, k, tables, looks), told)
    for sweep in sweeps(benchmark):
        yield sweep_chart(benchmark, sweep)


def _told(chart: Chart, more: str) -> Chart:
    return replace(chart, caption=chart.caption + more)


def _panels(found: Sequence[Entry]) -> dict[tuple[str, str], list[Entry]]:
    """Return benchmark and way of decoding → its results."""
    panels: dict[tuple[str, str], list[Entry]] = {}
    for one in found:
        panels.setdefault(one.panel, []).append(one)
    return panels
