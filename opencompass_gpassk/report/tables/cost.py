"""The table of cost: tokens of responses, and tokens per problem that is solved every time."""

from __future__ import annotations

import math

from opencompass_gpassk.report.board import Board
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.token_figures import MEAN, RIGHT, WRONG, cost_text, read_tokens

COLUMNS = (MEAN, RIGHT, WRONG)
NOTES = (
    'per problem solved every time: mean tokens of a response divided by the share G-Pass@k_1.0, '
    'with its 95 % interval',
    "tokens are those of each model's own tokenizer",
)


def cost_table(board: Board) -> Table | None:
    """Return the tokens of every result that knows them; None if none does."""
    rows: list[list[Cell]] = []
    for benchmark in board.benchmarks:
        for entry in benchmark.entries:
            counts = [read_tokens(entry.result, key) for key in COLUMNS]
            if not math.isnan(counts[0]):
                k = max(entry.ks, default=None)
                cost = cost_text(entry, k) if k else ''
                rows.append([benchmark.name, entry.label, *counts, k, cost or '–'])
    columns = ['benchmark', 'model', *COLUMNS, 'k', 'per problem solved every time']
    return Table('Tokens', columns, rows, NOTES, decimals=0) if rows else None
