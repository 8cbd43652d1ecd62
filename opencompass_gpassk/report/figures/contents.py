"""The figures of a report: all whose data are there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from opencompass_gpassk.report.figures.bars import draw_bars
from opencompass_gpassk.report.figures.boxes import boxed_results, draw_boxes
from opencompass_gpassk.report.figures.difficulty import difficulties, draw_decline
from opencompass_gpassk.report.figures.growth import draw_growth, growing
from opencompass_gpassk.report.figures.scatter import draw_drop, draw_false_positives, rated_results
from opencompass_gpassk.report.figures.sweep import draw_slopes, draw_sweep, sweeps
from opencompass_gpassk.report.figures.tau_curves import draw_benchmark
from opencompass_gpassk.report.figures.understanding import draw_understanding
from opencompass_gpassk.report.tables.best import Trials
from opencompass_gpassk.report.tables.reasoning import reasoning_results
from opencompass_gpassk.report.tables.variables import variable_results
from opencompass_gpassk.results.join_results import Benchmark, Results, join_benchmarks

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Drawn = tuple[str, Callable[[], 'Figure']]


def report_figures(results: Results, trials: Trials | None = None) -> list[Drawn]:
    """Return the name of each figure of a report, and the function that draws it.

    Args:
        results: Model → data set → result, as stored in the result JSON.
        trials: Trials of the results, as far as they are there.
    """
    drawn = [one for benchmark in join_benchmarks(results) for one in _of(benchmark, trials or {})]
    if in_versions := variable_results(results):
        drawn.append(('accuracy_and_drop', partial(draw_drop, in_versions)))
        drawn.append(('understanding', partial(draw_understanding, in_versions)))
    scored = reasoning_results(results)
    if boxed := boxed_results(scored):
        drawn.append(('reasoning', partial(draw_boxes, boxed)))
    if rated := rated_results(scored):
        drawn.append(('accuracy_and_fpr', partial(draw_false_positives, rated)))
    return drawn


def _of(benchmark: Benchmark, trials: Trials) -> Iterable[Drawn]:
    """Yield the figures of one benchmark, the curves over τ first."""
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
