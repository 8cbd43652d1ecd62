"""What a report holds: the tables of all benchmarks, in their order."""

from __future__ import annotations

from opencompass_gpassk.report.benchmarks import Results
from opencompass_gpassk.report.best import Trials
from opencompass_gpassk.report.contamination import contamination_table
from opencompass_gpassk.report.decline import decline_tables
from opencompass_gpassk.report.model_tables import benchmark_tables
from opencompass_gpassk.report.reasoning import reasoning_tables
from opencompass_gpassk.report.sound import sound_tables
from opencompass_gpassk.report.tables import Table
from opencompass_gpassk.report.variables import variable_tables

__all__ = ['report_tables']


def report_tables(results: Results, trials: Trials | None = None) -> list[Table]:
    """Return all tables of a report.

    Args:
        results: Model → data set → result, as stored in the result JSON.
        trials: Of the results, which tell the best figures; None if nothing is to be marked.
    """
    signs = contamination_table(results)
    return [
        *benchmark_tables(results, trials),
        *decline_tables(results),
        *variable_tables(results),
        *reasoning_tables(results),
        *sound_tables(results, trials),
        *([signs] if signs else []),
    ]
