"""Tables and files of an audit of verdicts: metrics, and the disagreements to read and label."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from opencompass_gpassk.formats.hashing import stable_hash
from opencompass_gpassk.judging.audit_sample import (
    Comparison,
    Labelled,
    Sample,
    labelled_outcomes,
)
from opencompass_gpassk.metrics.agreement import VERDICTS
from opencompass_gpassk.metrics.judge_error import LabelledOutcomes, says_right
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.true_verdicts import ERRORS
from opencompass_gpassk.trials import Verdict

Names = tuple[str, str]
LEVEL = '95 %'
# Model, data set, metric, half the width of its interval, and of its range for so many labels.
PlanRow = tuple[str, str, str, float, Mapping[int, float]]

# Model, data set, number of problems, whose verdicts, the greatest k, metrics by key.
TheirsRow = tuple[str, str, int, str, int, Mapping[str, float]]

# Legends; docs/judges.md says the rest.
BASIS = (
    'agreement, kappa: over the trials that both judged, each weighted by its stratum '
    '(docs/judges.md)'
)
RATES = (
    'rates: of the right answers, and of the wrong ones; labels: equal answers share one '
    '(docs/judges.md)'
)
PLAN = (
    'labels: of different answers; enough: the range is narrower than the interval for sampling. '
    'Without labels so far, 1 % of right answers are assumed to be called wrong, and 1 % of wrong '
    'ones right (docs/judges.md)'
)
THEIRS = 'problems: those that the other tool judged in whole; recorded: the verdicts of the result'


def audit_tables(
    comparisons: Sequence[Comparison], names: Names, labels: Sequence[Labelled]
) -> list[Table]:
    """Return the table of agreement for all models, the verdicts of both sources for each, and how
    often recorded verdicts are wrong if people labelled them.
    """
    first, second = names
    rows: list[list[Cell]] = []
    for one in comparisons:
        found = one.agreement
        rows.append(
            [
                one.sample.model,
                found.trials,
                found.judged,
                100 * found.rate,
                _range(100 * found.interval[0], 100 * found.interval[1], 1),
                _number(found.kappa, 3),
                _range(*found.kappa_interval, 3),
                *found.unjudged,
            ]
        )
    columns = [
        'model',
        'trials',
        'judged by both',
        'agreement %',
        f'agreement: {LEVEL}',
        'kappa',
        f'kappa: {LEVEL}',
        f'unjudged: {first}',
        f'unjudged: {second}',
    ]
    title = f'Agreement of {first} and {second}'
    overview = Table(title, columns, rows, [BASIS], detail=columns[-2:], main=True)
    tables = [overview, *(_confusion(one, names) for one in comparisons)]
    judged = [one for one in labels if one[0].trial.verdict is not Verdict.UNJUDGED]
    if judged:
        tables.append(_errors_table(judged))
    return tables


def _errors_table(labels: Sequence[Labelled]) -> Table:
    """Return how often recorded verdicts are wrong, of the trials with people's labels."""
    audit = labelled_outcomes(labels)
    labelled = LabelledOutcomes.of(audit, list(audit))
    rates = 100 * labelled.error_rates(np.array([says_right(one) for one in audit], dtype=bool))
    cells: list[Cell] = ['all', round(float(labelled.labels.sum()))]
    for rate, low, high in rates.tolist():
        cells += [_number(rate, 2), _range(low, high, 2)]
    columns = ['', 'labels', *(text for one in ERRORS for text in (f'{one}, %', LEVEL))]
    return Table('Errors of the recorded verdicts', columns, [cells], [RATES], main=True)


def plan_table(rows: Sequence[PlanRow]) -> Table:
    """Return how wide the range due to wrong verdicts will be with so many labels."""
    labels = list(rows[0][-1])
    cells: list[list[Cell]] = []
    for *names, sampling, halves in rows:
        enough = next((str(m) for m, half in halves.items() if half < sampling), f'> {labels[-1]}')
        enough = '–' if math.isnan(sampling) else enough
        margins = [_margin(half) for half in halves.values()]
        cells.append([*names, _number(sampling, 1), *margins, enough])
    columns = ['model', 'data set', 'metric', 'sampling', *(f'{m} labels' for m in labels)]
    title = 'Half the width of the 95 % range due to wrong verdicts, in points'
    return Table(title, [*columns, 'enough'], cells, [PLAN])


def _margin(half: float) -> Cell:
    """Return a margin of error, which is never said to be 0: it would be if all are labelled."""
    return 'all labelled' if half == 0 else '<0.1' if half < 0.05 else _number(half, 1)


def theirs_table(rows: Sequence[TheirsRow]) -> Table:
    """Return what the verdicts of another tool make of the metrics."""
    cells: list[list[Cell]] = []
    for model, data_set, problems, verdicts, k, metrics in rows:
        keys = ('accuracy', f'pass@{k}', f'G-Pass@{k}_1.0')
        shown = [_number(metrics.get(key, math.nan), 1) for key in keys]
        cells.append([model, data_set, problems, verdicts, k, *shown])
    columns = [
        'model',
        'data set',
        'problems',
        'verdicts',
        'k',
        'accuracy',
        'pass@k',
        'G-Pass@k_1.0',
    ]
    title = 'Metrics under the verdicts of the other tool'
    return Table(title, columns, cells, [THEIRS], main=True)


def disagreement_rows(comparisons: Iterable[Comparison]) -> list[dict[str, Any]]:
    """Return a row for each disagreement, with a field ``human`` for a person to fill in."""
    return [
        {
            'model': trial.model,
            'data_set': trial.data_set,
            'problem_id': trial.trial.problem_id,
            'replica': trial.trial.replica,
            'response': trial.trial.response,
            **trial.triple._asdict(),
            'first': first.verdict.value,
            'second': second.verdict.value,
            'first_reply': first.reply,
            'second_reply': second.reply,
            'human': '',
        }
        for one in comparisons
        for trial, first, second in one.disagreements()
    ]


def blind_rows(samples: Iterable[Sample], seed: int) -> list[dict[str, str]]:
    """Return a row for each distinct (question, gold, answer) of samples, for a person to label.

    Rows contain neither verdict nor model and are in random order.
    """
    triples = sorted({trial.triple for sample in samples for trial in sample.trials})
    rng = random.Random(stable_hash(['blind', seed]))
    order = sorted((rng.random(), i) for i in range(len(triples)))
    return [{**triples[i]._asdict(), 'human': ''} for _, i in order]


def _confusion(one: Comparison, names: Names) -> Table:
    first, second = names
    sample = one.sample
    words = [verdict.value for verdict in VERDICTS]
    notes = [
        f'drawn from {sample.population} trials in {sample.strata} strata; left out: '
        f'{sample.no_answer} without an answer, {sample.lost} lost',
    ]
    for name, opinions in ((first, one.first), (second, one.second)):
        reasons = Counter(
            said.reason.partition(':')[0]
            for said in opinions
            if said.reason and said.verdict is Verdict.UNJUDGED
        )
        if reasons:
            told = ', '.join(f'{reason} ({count})' for reason, count in reasons.most_common(3))
            notes.append(f'unjudged by {name}: {told}')
    return Table(
        f'{sample.model}: {first} (rows) and {second} (columns)',
        ['', *words],
        [
            [word, *counts]
            for word, counts in zip(words, one.agreement.confusion.tolist(), strict=True)
        ],
        ['counts of the drawn trials; unlike agreement and kappa, not weighted by strata'],
        notes,
    )


def _number(value: float, digits: int) -> str:
    return '–' if value != value else f'{value:.{digits}f}'


def _range(low: float, high: float, digits: int) -> str:
    return '–' if low != low else f'{low:.{digits}f} to {high:.{digits}f}'
