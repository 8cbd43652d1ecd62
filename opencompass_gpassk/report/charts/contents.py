"""The charts of a report: all whose data are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from opencompass_gpassk.report.board import Benchmark, Board, Trials
from opencompass_gpassk.report.charts.bars import benchmark_bars
from opencompass_gpassk.report.charts.boxes import box_charts
from opencompass_gpassk.report.charts.difficulty import decline_chart
from opencompass_gpassk.report.charts.growth import growing, growth_chart
from opencompass_gpassk.report.charts.scatter import (
    drop_chart,
    false_positives_chart,
    rated_results,
    tokens_chart,
)
from opencompass_gpassk.report.charts.style import Chart, Looks
from opencompass_gpassk.report.charts.sweep import sweep_chart, sweeps
from opencompass_gpassk.report.charts.tau_curves import tau_curves
from opencompass_gpassk.report.charts.understanding import understanding_chart
from opencompass_gpassk.report.tables.difficulty import difficulties
from opencompass_gpassk.results.result import Entry


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
    """Yield the charts of one benchmark with samples, the curves over τ first."""
    for k in benchmark.ks:
        yield tau_curves(benchmark, k, looks)
    yield benchmark_bars(benchmark)
    for k in benchmark.ks:
        if tables := growing(benchmark, k, trials):
            yield growth_chart(benchmark, k, tables, looks)
    for sweep in sweeps(benchmark):
        yield sweep_chart(benchmark, sweep)
    if lengths := tokens_chart(benchmark, max(benchmark.ks), looks):
        yield lengths
    if difficulties(benchmark):
        yield decline_chart(benchmark, looks)


def _panels(found: Sequence[Entry]) -> dict[tuple[str, str], list[Entry]]:
    """Return benchmark and way of decoding → its results."""
    panels: dict[tuple[str, str], list[Entry]] = {}
    for one in found:
        panels.setdefault(one.panel, []).append(one)
    return panels
