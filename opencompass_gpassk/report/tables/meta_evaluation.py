"""Tables and JSON on how well evaluators of steps find errors."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.reasoneval.meta_evaluation import (
    MetaEvaluation,
    labelled_rate,
    threshold_rows,
)
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.report.tables.table import Cell, Table

DECIMALS = 3


def meta_tables(evaluations: Iterable[MetaEvaluation]) -> list[Table]:
    """Return a table for each kind of error, one row per evaluator: F1 and AUC at both levels."""
    found = list(evaluations)
    tables = []
    for kind in ErrorKind:
        if rows := [one for one in found if one.kind is kind]:
            tables.append(_metrics(kind, rows))
    return tables


def threshold_tables(evaluations: Iterable[MetaEvaluation]) -> list[Table]:
    """Return a table for each evaluator of invalid errors, one row per threshold of validity."""
    return [
        Table(
            f'{one.evaluator}: solutions with right answers, by threshold of validity',
            ['threshold', 'FPR', 'precision', 'recall', 'macro F1'],
            [
                # As a text, a threshold keeps its own decimals, such as 0.025.
                [f'{row.threshold:g}', *list(asdict(row).values())[1:]]
                for row in threshold_rows(one)
            ],
            [
                'FPR: right answers whose validity is below the threshold; '
                'precision, recall: in finding wrong solutions'
            ],
            [f'by human labels the FPR is {labelled_rate(one):.{DECIMALS}f}'],
            decimals=DECIMALS,
        )
        for one in evaluations
        if one.kind is ErrorKind.INVALID and one.answer_right.any()
    ]


def meta_json(evaluations: Iterable[MetaEvaluation]) -> str:
    """Return the metrics as a JSON document, shares in [0, 1] and null where undefined.

    Its schema::

        {"evaluators": {name: {"invalid" or "redundant": {
            "solution": {"units": int, "errors": int, "unscored": int, "threshold": float,
                         "macro_f1": float, "auc": float},
            "step": the same,
            "labelled_false_positive_rate": float,       (these two only for invalid)
            "thresholds": [{"threshold": float, "false_positive_rate": float, "precision": float,
                            "recall": float, "macro_f1": float}]}}}}
    """
    evaluators: dict[str, dict[str, Any]] = {}
    for one in evaluations:
        metrics: dict[str, Any] = {'solution': asdict(one.solution), 'step': asdict(one.step)}
        if one.kind is ErrorKind.INVALID:
            metrics['labelled_false_positive_rate'] = labelled_rate(one)
            metrics['thresholds'] = [asdict(row) for row in threshold_rows(one)]
        evaluators.setdefault(one.evaluator, {})[one.kind.value] = metrics
    document = without_nan({'evaluators': evaluators})
    return json.dumps(document, indent=1, allow_nan=False) + '\n'


def _metrics(kind: ErrorKind, rows: Sequence[MetaEvaluation]) -> Table:
    units = {
        f'{len(one.errors)} solutions, {int(one.errors.sum())} with an error; '
        f'{one.step.units + one.step.unscored} labelled steps'
        for one in rows
    }
    cells: list[list[Cell]] = [
        [
            one.evaluator,
            f'{one.solution.threshold:g}',
            *(
                metric
                for found in (one.solution, one.step)
                for metric in (found.macro_f1, found.auc)
            ),
            one.solution.unscored,
        ]
        for one in rows
    ]
    return Table(
        f'{kind.value} errors: {"; ".join(sorted(units))}',
        [
            'evaluator',
            'threshold',
            'solution F1',
            'solution AUC',
            'step F1',
            'step AUC',
            'refused',
        ],
        cells,
        ['F1: macro F1, the mean of the F1 of errors and the F1 of non-errors'],
        ['the score of a solution is that of its worst step'],
        decimals=DECIMALS,
    )
