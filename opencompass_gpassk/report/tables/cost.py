"""The table of cost: tokens of responses, and tokens per problem that is solved every time."""

from __future__ import annotations

import math

from opencompass_gpassk.report.board import AVERAGE, Board
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.token_metrics import MEAN, RIGHT, WRONG, cost_text

COLUMNS = (MEAN, RIGHT, WRONG)
LEGEND = (
    'per problem solved every time: mean tokens of a response divided by G-Pass@k_1.0 '
    '(docs/metrics.md)',
)


def cost_table(board: Board) -> Table | None:
    """Return the tokens of every result that knows them; None if none does."""
    rows: list[list[Cell]] = []
    for benchmark in board.benchmarks:
        for entry in benchmark.entries:
            counts = [entry.result.tokens.metrics.get(key, math.nan) for key in COLUMNS]
            if not math.isnan(counts[0]):
                k = max(entry.ks, default=None)
                cost = cost_text(entry, k) if k else ''
                asked = entry.questions(AVERAGE)
                rows.append([benchmark.name, entry.label, asked, *counts, k, cost or '–'])
    columns = ['benchmark', 'model', 'questions', *COLUMNS, 'k', 'per problem solved every time']
    return Table('Tokens', columns, rows, LEGEND, decimals=0) if rows else None
