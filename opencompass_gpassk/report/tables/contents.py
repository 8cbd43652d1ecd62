"""The tables of a report, in their order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from opencompass_gpassk.report.board import Board
from opencompass_gpassk.report.notes import undecided_note
from opencompass_gpassk.report.tables.benchmark import benchmark_tables
from opencompass_gpassk.report.tables.contamination import contamination_table
from opencompass_gpassk.report.tables.cost import cost_table
from opencompass_gpassk.report.tables.difficulty import decline_tables
from opencompass_gpassk.report.tables.pivot import pivots
from opencompass_gpassk.report.tables.reasoning import reasoning_tables
from opencompass_gpassk.report.tables.sound_gpassk import sound_tables
from opencompass_gpassk.report.tables.table import Table
from opencompass_gpassk.report.tables.variables import variable_tables
from opencompass_gpassk.results.warnings import warning_place


def report_tables(board: Board) -> list[Table]:
    """Return all tables of a report."""
    singles = (cost_table(board), contamination_table(board))
    note = undecided_note(board.results)
    tables = [
        *benchmark_tables(board),
        *decline_tables(board),
        *variable_tables(board),
        *reasoning_tables(board),
        *sound_tables(board),
        *filter(None, singles),
    ]
    return [
        replace(table, warnings=sorted([*note, *table.warnings], key=warning_place))
        for table in tables
    ]


def paper_tables(board: Board, tables: Iterable[Table]) -> list[Table]:
    """Return the tables of a report, and before them those that are only of use in a paper."""
    leaderboards = variable_tables(board)[:1]
    return [*(one for leaderboard in leaderboards for one in pivots(leaderboard)), *tables]
