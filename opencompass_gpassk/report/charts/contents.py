"""The charts of a report: all whose data are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from opencompass_gpassk.report.board import Benchmark, Board, Trials
from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.charts.bars import benchmark_bars
from opencompass_gpassk.report.charts.boxes import box_charts
from opencompass_gpassk.report.charts.growth import growth_chart
from opencompass_gpassk.report.charts.scatter import (
    drop_chart,
    false_positives_chart,
)
from opencompass_gpassk.report.charts.strip import strip_chart
from opencompass_gpassk.report.charts.style import Chart, Looks, best_first
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
        if rates := false_positives_chart(panel, found, looks):
            yield rates


def _of(benchmark: Benchmark, trials: Trials, looks: Looks) -> Iterable[Chart]:
    """Yield the charts of one benchmark with samples, in each the most stable models first."""
    strictest = G_PASS(k=benchmark.ks[-1], tau=benchmark.taus[-1])
    entries = best_first(benchmark.entries, lambda one: number(one.metric(strictest)))
    ranked = replace(benchmark, entries=entries)
    yield from filter(None, [strip_chart(ranked, trials), benchmark_bars(ranked)])
    for k in benchmark.ks:
        at_k = [one for one in entries if k in one.ks]
        first = replace(benchmark, entries=at_k[:MOST_LINES])
        told = f' The {MOST_LINES} most stable of {len(at_k)} models.' * (len(at_k) > MOST_LINES)
        lines = tau_curves(first, k, looks), growth_chart(first, k, trials, looks)
        for chart in filter(None, lines):
            yield replace(chart, caption=chart.caption + told)
    for sweep in sweeps(benchmark):
        yield sweep_chart(benchmark, sweep)


def _panels(found: Sequence[Entry]) -> dict[tuple[str, str], list[Entry]]:
    """Return benchmark and way of decoding → its results."""
    panels: dict[tuple[str, str], list[Entry]] = {}
    for one in found:
        panels.setdefault(one.panel, []).append(one)
    return panels
