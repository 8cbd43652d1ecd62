"""Tables of a comparison of two models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from opencompass_gpassk.compare.claims import (
    comparison_claims,
    margin_claims,
    p_text,
    signed,
)
from opencompass_gpassk.compare.comparison import Check, Comparison, Difference
from opencompass_gpassk.compare.problem_changes import Change
from opencompass_gpassk.formats.display import counted, short_line
from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.metrics.gpassk import threshold
from opencompass_gpassk.report.tables.table import Cell, Table, to_text, wrapped
from opencompass_gpassk.results.groups import in_group
from opencompass_gpassk.results.metric import G_PASS, MG_PASS, PASS, STABILITY_GAP
from opencompass_gpassk.results.read import ModelResult

FORMAT = 2
SHOWN, BRIEF = 10, 3  # problems gained, and problems lost, at most; changed ones in brief
LONGEST_QUESTION, LONGEST_NAME = 60, 40
NAMED = 5  # problems named for each reason why they are left out


def comparison_document(
    compared: Sequence[Comparison],
    checks: Sequence[Check],
    unpaired: Sequence[ModelResult],
    margin: float | None,
    mean: Difference | None,
) -> dict[str, Any]:
    """Return comparisons for JSON: percentages and points, null where undefined."""
    first = compared[0]
    document = {
        'format': FORMAT,
        'a': _about(first.a),
        'b': _about(first.b),
        'level': first.level,
        'data_sets': [_data_set(one, margin) for one in compared],
        'mean': mean and _difference(mean),
        'not_compared': [f'{one.model}/{one.dataset}' for one in unpaired],
        'checks': [
            {
                'data_set': check.data_set,
                **_difference(check.difference),
                'worse': check.worse,
                'unknown': check.unknown or None,
            }
            for check in checks
        ],
    }
    whole: dict[str, Any] = without_nan(document)
    return whole


def _about(found: ModelResult) -> dict[str, str]:
    return {'model': found.model, 'path': str(found.run or found.path), 'time': found.time}


def _difference(one: Difference) -> dict[str, Any]:
    return {
        'key': one.key,
        'group': one.group,
        'first': one.first,
        'second': one.second,
        'difference': one.difference,
        'these': one.these._asdict(),
        'like_these': one.like_these._asdict(),
        'tests': one.tests,
        'units': one.units,
        'questions': one.questions,
        'missing': list(one.missing),
        'claim': one.claim,
        'claim_like_these': one.claim_like_these,
    }


def _data_set(compared: Comparison, margin: float | None) -> dict[str, Any]:
    changes = compared.changes
    return {
        'data_set': compared.name,
        'claims': claims_of(compared, margin),
        'margin': margin,
        'as_stable': None if margin is None else compared.as_stable(margin),
        'as_stable_like_these': None if margin is None else compared.as_stable_like_these(margin),
        'needed': compared.needed,
        'not_comparable': list(compared.incomparable),
        'withheld': compared.withheld or None,
        'cautions': list(compared.cautions),
        'settings': list(compared.settings),
        'primary': compared.primary and compared.primary.key,
        'problems': len(changes),
        'gained': len(_turned(compared, 1)),
        'lost': len(_turned(compared, -1)),
        'unchanged': len(_turned(compared, 0)),
        'left_out': [{'problem_id': name, 'why': why} for name, why in compared.shared.left_out],
        'differences': [_difference(one) for one in (*compared.metrics, *compared.groups)],
        'changes': [
            {
                'problem_id': change.problem.problem_id,
                'n': list(change.n),
                'c': list(change.c),
                'points': change.points,
                **(
                    {}
                    if compared.k is None
                    else {G_PASS(k=compared.k, tau=1.0).key: change.strictest}
                ),
            }
            for change in changes
        ],
    }


def claims_of(compared: Comparison, margin: float | None) -> list[str]:
    """Return the sentences of a comparison, and of a margin if one was asked for."""
    of_margin = [] if margin is None else margin_claims(compared, margin)
    return [*comparison_claims(compared), *of_margin]


def comparison_tables(compared: Comparison, title: str) -> list[Table]:
    """Return the tables of a comparison: the metrics, the groups, problems lost and gained.

    Args:
        compared: The comparison.
        title: What people call the data set.
    """
    level = f'{100 * compared.level:.4g} %'
    legend = [
        f'{level}: interval on these problems; for problems like these. p: of the metric that was '
        'tested; the others are not (docs/method.md)'
    ]
    tables = [
        Table(
            _heading(compared, title),
            *_rows(compared.metrics, level),
            legend,
            [_problems_turned(compared)],
            warnings=_cautions(compared),
        ),
        Table(f'{title}, by group', *_rows(compared.groups, level)),
        *(_changes(*of, compared, title) for of in (('lost', -1), ('gained', 1))),
    ]
    return [table for table in tables if table.rows]


def comparison_brief(compared: Comparison, title: str) -> str:
    """Return the main metrics of a comparison, what limits it, and the greatest changes."""
    main = [
        one
        for one in compared.metrics
        if one.metric.k in (None, compared.k) and one.metric.tau in (None, 1.0)
        if one.metric.family not in (MG_PASS, STABILITY_GAP)
    ]
    columns, rows = _rows(main, f'{100 * compared.level:.4g} %')
    shown = to_text(Table(_heading(compared, title), columns, rows), None, _cautions(compared))
    turned = [
        f'{short_line(change.problem.problem_id, LONGEST_NAME)} '
        + ' → '.join(f'{c}/{n}' for c, n in zip(change.c, change.n, strict=True))
        for change in compared.changes[:BRIEF]
        if change.points
    ]
    more = [f'Largest changes: {"; ".join(turned)}'] if turned else []
    return shown + ''.join(f'{wrapped(line)}\n' for line in more)


def _heading(compared: Comparison, title: str) -> str:
    return f'{title}: B minus A on {counted(len(compared.changes), "problem")}'


def _cautions(compared: Comparison) -> list[str]:
    reasons = '; '.join(compared.incomparable)
    return [
        *([f'NOT COMPARABLE: {reasons}'] if reasons else []),
        *compared.cautions,
        *compared.settings,
        *_left_out(compared),
    ]


def check_lines(checks: Sequence[Check]) -> list[str]:
    """Return a line with the outcome of each check."""
    return [
        f'{check.difference.heading} on {check.data_set}: {_verdict(check)}, '
        f'{signed(check.difference.difference)} points, '
        f'p {p_text(check.difference.headline.p_value)}'
        + f', corrected for {check.difference.tests} tests'
        * (check.difference.tests > 1)
        for check in checks
    ]


def _verdict(check: Check) -> str:
    if check.worse:
        return 'WORSE'
    if check.unknown:
        return f'UNDECIDED: {check.unknown}'
    return check.difference.claim or 'not significantly worse'


def _rows(found: Sequence[Difference], level: str) -> tuple[list[str], list[list[Cell]]]:
    shown = [one for one in found if not _hidden(one, found)]
    columns = ['metric', 'A', 'B', 'B - A', f'{level}, these', 'like these', 'p', 'B is']
    rows: list[list[Cell]] = [
        [
            in_group(short_line(one.group, LONGEST_NAME), one.metric.heading),
            one.first,
            one.second,
            signed(one.difference),
            _interval(one.these.low, one.these.high),
            _interval(one.like_these.low, one.like_these.high),
            p_text(one.headline.p_value),
            one.claim,
        ]
        for one in shown
    ]
    if len({one.units for one in shown}) > 1:
        columns.insert(1, 'over')  # problems, or groups of versions, with the metric in both models
        for row, one in zip(rows, shown, strict=True):
            row.insert(1, one.units)
    return columns, rows


def _interval(low: float, high: float) -> str:
    return '–' if math.isnan(low) else f'{signed(low)} … {signed(high)}'


def _hidden(one: Difference, others: Sequence[Difference]) -> bool:
    """Tell whether a G-Pass@k equals the pass@k that is shown: it needs one right sample of k."""
    metric = one.metric
    if metric.family is not G_PASS or threshold(metric.k or 1, metric.tau or 0.0) > 1:
        return False
    same = one.group, PASS(k=metric.k).on(metric.side).key
    return any((other.group, other.name) == same for other in others)


def _turned(compared: Comparison, sign: int) -> list[Change]:
    """Return the problems that B solves more often (1), less often (-1) or alike (0)."""
    points = ((change, change.points) for change in compared.changes if all(change.n))
    return [change for change, p in points if (p > 0) - (p < 0) == sign]


def _changes(word: str, sign: int, compared: Comparison, title: str) -> Table:
    changes = _turned(compared, sign)
    columns = ['problem', 'A', 'B', 'points', 'question']
    rows: list[list[Cell]] = [
        [
            short_line(change.problem.problem_id, LONGEST_NAME),
            *(f'{c}/{n}' for c, n in zip(change.c, change.n, strict=True)),
            signed(change.points),
            short_line(change.problem.question, LONGEST_QUESTION),
        ]
        for change in changes[:SHOWN]
    ]
    shown = f', the {len(rows)} that changed most' if len(rows) < len(changes) else ''
    return Table(
        f'{title}: {counted(len(changes), "problem")} {word}{shown}',
        columns,
        rows,
        ['A, B: right/judged responses'],
    )


def _problems_turned(compared: Comparison) -> str:
    lost, same, gained = (len(_turned(compared, sign)) for sign in (-1, 0, 1))
    unknown = len(compared.changes) - lost - same - gained
    told = f', {unknown} without a verdict in one' if unknown else ''
    return f'problems solved more often by B: {gained}, less often: {lost}, as often: {same}{told}'


def _left_out(compared: Comparison) -> list[str]:
    left_out = compared.shared.left_out
    notes = []
    for reason, count in Counter(why for _, why in left_out).items():
        names = [short_line(name, LONGEST_NAME) for name, why in left_out if why == reason]
        more = ', …' if count > NAMED else ''
        told = counted(count, 'problem')
        notes.append(f'left out: {told}, {reason}: {", ".join(names[:NAMED])}{more}')
    return notes
