"""Do the figures of a result agree with the trials beside it?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from opencompass_gpassk.results.figure_values import FigureValues
from opencompass_gpassk.results.join_results import Result, has_verdicts, sample_count
from opencompass_gpassk.results.make_result import table_figures
from opencompass_gpassk.results.protocol import DEFAULT_TAUS, Protocol
from opencompass_gpassk.trials import SCHEMA, TrialTable, check_schema

__all__ = ['contradiction', 'stored_protocol']

ROUNDING = 1e-6  # percent


def stored_protocol(result: Result) -> Protocol:
    """Return what was measured, as a result says.

    Raises:
        ValueError: If that is impossible.
    """
    signature = result['signature']
    groups: Mapping[str, Mapping[str, object]] = result.get('groups') or {}
    fields = dict.fromkeys(
        tuple(f for f in g if f not in ('problems', 'version')) for g in groups.values()
    )
    reasoning = result.get('reasoning') or {}
    judged = has_verdicts(result)
    return Protocol(
        n=sample_count(result),
        k=tuple(result.get('k') or ()),
        taus=tuple(map(float, result.get('taus') or DEFAULT_TAUS)),
        groups=tuple(filter(None, fields)),
        complete=signature.get('complete', Protocol.complete),
        collapsed=signature.get('collapsed', Protocol.collapsed),
        sound=reasoning.get('threshold') if judged else None,
        judged=judged,
    )


def contradiction(result: Result, table: TrialTable) -> str:
    """Return in what a result and its trials contradict each other, '' if they agree.

    n and c of each problem are compared always, figures if the result is of this package's schema.

    Args:
        result: As stored.
        table: The trials beside it.
    """
    if differing := _other_counts(result, table):
        return f'n and c are not those of its trials: {differing}'
    if check_schema(result) != SCHEMA:
        return ''
    try:
        given = table_figures(FigureValues(table, stored_protocol(result)))
    except ValueError as error:
        return f'its trials give no figures: {error}'
    numbers = {key: value for key, value in given.items() if isinstance(value, float)}
    others = [key for key, value in numbers.items() if not _same(result.get(key), value)]
    if not others:
        return ''
    shown, right = _told(result.get(others[0])), _told(numbers[others[0]])
    return (
        f'{len(others)} of {len(numbers)} figures are not those of its trials, such as '
        f'{others[0]}: {shown} instead of {right}'
    )


def _other_counts(result: Result, table: TrialTable) -> str:
    """Return where n and c differ; without details the sums are compared."""
    n, c = table.counts()
    counts = result.get('counts') or {}
    pairs: dict[str, tuple[Any, Any]] = {}
    if 'correct' in counts and 'incorrect' in counts:
        right, judged = int(c.sum()), int(n.sum())
        pairs['all problems'] = (
            (counts['correct'] + counts['incorrect'], counts['correct']),
            (judged, right),
        )
    if details := result.get('details'):
        of_trials = {
            problem.problem_id: (int(n[i]), int(c[i])) for i, problem in enumerate(table.problems)
        }
        stored = {str(row['problem_id']): (row['n'], row['c']) for row in details}
        pairs |= {
            f'problem {name[:80]}': (stored.get(name), of_trials.get(name))
            for name in (*of_trials, *stored)
        }
    for name, (shown, right) in pairs.items():
        if shown != right:
            return f'{name} has {_counted(shown)}, in the trials {_counted(right)}'
    return ''


def _counted(pair: tuple[int, int] | None) -> str:
    return 'nothing' if pair is None else f'n = {pair[0]}, c = {pair[1]}'


def _same(shown: Any, right: float) -> bool:
    value = math.nan if shown is None else float(shown)
    return math.isnan(value) == math.isnan(right) and not abs(value - right) > ROUNDING


def _told(value: float | None) -> str:
    return 'undefined' if value is None or math.isnan(value) else f'{value:.2f}'
