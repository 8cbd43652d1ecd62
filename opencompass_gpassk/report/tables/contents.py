"""The tables of a report, in their order."""

from __future__ import annotations

from dataclasses import replace

from opencompass_gpassk.report.figures.difficulty import decline_tables
from opencompass_gpassk.report.notes import undecided_note
from opencompass_gpassk.report.tables.benchmark import benchmark_tables
from opencompass_gpassk.report.tables.best import Trials
from opencompass_gpassk.report.tables.reasoning import reasoning_tables
from opencompass_gpassk.report.tables.sound_gpassk import sound_tables
from opencompass_gpassk.report.tables.table import Table
from opencompass_gpassk.report.tables.variables import contamination_table, variable_tables
from opencompass_gpassk.results.join_results import Results
from opencompass_gpassk.results.warnings import UNAPPLIED


def report_tables(results: Results, trials: Trials | None = None) -> list[Table]:
    """Return all tables of a report.

    Args:
        results: Model → data set → result, as stored in the result JSON.
        trials: Trials of the results, for marks on the best figures; None for no marks.
    """
    signs = contamination_table(results)
    note = undecided_note(results)
    tables = [
        *benchmark_tables(results, trials),
        *decline_tables(results),
        *variable_tables(results),
        *reasoning_tables(results),
        *sound_tables(results, trials),
        *([signs] if signs else []),
    ]
    if not note:
        return tables
    return [
        replace(
            table, warnings=sorted([*note, *table.warnings], key=lambda one: UNAPPLIED not in one)
        )
        for table in tables
    ]
