"""The charts of a report: all whose data are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from opencompass_gpassk.report.board import Benchmark, Board, Trials
from opencompass_gpassk.report.charts.bars import draw_bars
from opencompass_gpassk.report.charts.boxes import boxed_results, draw_boxes
from opencompass_gpassk.report.charts.difficulty import draw_decline
from opencompass_gpassk.report.charts.growth import draw_growth, growing
from opencompass_gpassk.report.charts.scatter import draw_drop, draw_false_positives, rated_results
from opencompass_gpassk.report.charts.sweep import draw_slopes, draw_sweep, sweeps
from opencompass_gpassk.report.charts.tau_curves import draw_benchmark
from opencompass_gpassk.report.charts.understanding import draw_understanding
from opencompass_gpassk.report.tables.difficulty import difficulties

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Drawn = tuple[str, Callable[[], 'Figure']]


def report_charts(board: Board) -> list[Drawn]:
    """Return the name of each chart of a report, and the function that draws it."""
    drawn = [one for benchmark in board.benchmarks for one in _of(benchmark, board.trials or {})]
    if board.in_versions:
        drawn.append(('accuracy_and_drop', partial(draw_drop, board.in_versions)))
        drawn.append(('understanding', partial(draw_understanding, board.in_versions)))
    if boxed := boxed_results(board.scored):
        drawn.append(('reasoning', partial(draw_boxes, boxed)))
    if rated := rated_results(board.scored):
        drawn.append(('accuracy_and_fpr', partial(draw_false_positives, rated)))
    return drawn


def _of(benchmark: Benchmark, trials: Trials) -> Iterable[Drawn]:
    """Yield the charts of one benchmark, the curves over τ first."""
    name = benchmark.name
    if not benchmark.ks or not benchmark.taus:
        return
    yield name, partial(draw_benchmark, benchmark)
    yield f'{name}_bars', partial(draw_bars, benchmark)
    if tables := growing(benchmark, trials):
        yield f'{name}_samples', partial(draw_growth, benchmark, tables)
    if found := sweeps(benchmark):
        yield f'{name}_sweep', partial(draw_sweep, benchmark, found)
    if any(entry.ks and len(set(entry.taus)) > 1 for entry in benchmark.entries):
        yield f'{name}_slopes', partial(draw_slopes, benchmark, trials)
    if difficulties(benchmark):
        yield f'{name}_difficulty', partial(draw_decline, benchmark)
