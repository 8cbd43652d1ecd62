"""Questions with random variables in the shape of Table 1 of arXiv 2501.11790: a row a model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.result import Estimate

OVERALL = 'overall'


def pivots(leaderboard: Table) -> Iterable[Table]:
    """Yield a table for each way of decoding, the model with the best RV accuracy first.

    Args:
        leaderboard: The first of
            :func:`~opencompass_gpassk.report.tables.variables.variable_tables`.
    """
    found: dict[Cell, dict[Cell, dict[Cell, Sequence[Cell]]]] = {}
    for source, model, decoding, _, _, *metrics, _ in leaderboard.rows:
        found.setdefault(decoding, {}).setdefault(model, {})[source] = metrics
    _, sp, _, *others = leaderboard.columns[4:-1]
    headings = [sp, 'Acc', *others]
    for decoding, models in found.items():
        sources = list(dict.fromkeys(source for of in models.values() for source in of))
        rows = [
            [
                model,
                *(cell for source in sources for cell in of.get(source, [None] * len(headings))),
            ]
            for model, of in sorted(models.items(), key=lambda one: -_accuracy(one[1]))
        ]
        yield Table(
            f'{leaderboard.title}, {decoding}',
            ['model', *(f'{source}\n{heading}' for source in sources for heading in headings)],
            [[float(c) if isinstance(c, Estimate) else c for c in row] for row in rows],
            ['SP, Acc: accuracy on originals, versions (docs/metrics.md)'],
        )


def _accuracy(of: dict[Cell, Sequence[Cell]]) -> float:
    """Return the accuracy on the versions of all sources, -1 if it is undefined."""
    shown = [of[OVERALL]] if OVERALL in of else of.values()
    known = [float(row[1]) for row in shown if isinstance(row[1], float) and row[1] == row[1]]
    return float(np.mean(known)) if known else -1.0
