"""Check that the figures of a result agree with its trials file."""

from __future__ import annotations

import math
from typing import Any

from opencompass_gpassk.results.figure_values import FigureValues
from opencompass_gpassk.results.groups import find_groups, parts_of
from opencompass_gpassk.results.make_result import table_figures
from opencompass_gpassk.results.stored_result import (
    Result,
    figures_of,
    has_verdicts,
    stored_protocol,
)
from opencompass_gpassk.results.token_figures import token_figures
from opencompass_gpassk.trials import TrialTable

ROUNDING = 1e-3  # percent; what is fitted is not the same to the last digit on every machine
LONGEST = 88  # characters of a problem's name in a message
MOST_VALUES = 20_000_000  # of figures × problems and responses; more take too much memory


def contradiction(result: Result, table: TrialTable) -> str:
    """Return how a result and its trials contradict each other, '' if they agree.

    n and c of each problem are always compared; figures not of a result of an earlier version, in
    which missing verdicts were left out.

    Args:
        result: The stored result.
        table: The trials of its trials file.
    """
    if differing := _other_counts(result, table):
        return f'n and c differ from its trials: {differing}'
    if has_verdicts(result) and 'unrecognised' not in (result.get('counts') or {}):
        return ''
    try:
        if differing := _other_parts(result, table):
            return f'its problems are not those of its trials: {differing}'
        if len(figures_of(result)) * (len(table.problems) + len(table)) > MOST_VALUES:
            return ''
        values = FigureValues(table, stored_protocol(result))
        given = table_figures(values)
    except ValueError as error:
        return f'its trials give no figures: {error}'
    # A result of an earlier version lacks the figures that were added since.
    tokens = (result.get('tokens') or {}).get('figures') or {}
    stored = {**result['figures'], **(result.get('shares') or {}), **tokens}
    found = {**given['figures'], **given['shares'], **token_figures(values)['figures']}
    numbers = {k: v for k, v in found.items() if k in stored}
    others = [key for key, value in numbers.items() if not _same(stored[key], value)]
    if not others:
        return ''
    shown, right = _told(stored[others[0]]), _told(numbers[others[0]])
    return (
        f'{len(others)} of {len(numbers)} figures differ from its trials, such as '
        f'{others[0]}: {shown} instead of {right}'
    )


def _other_parts(result: Result, table: TrialTable) -> str:
    """Return where versions or groups differ; figures are computed for as many as a result has."""
    groups = find_groups(table.problems)
    stored = (result.get('versions') or {}).get('per_group')
    if stored != (groups.size if groups else None):
        return f'{stored or "no"} versions, in the trials {groups.size if groups else "none"}'
    parts = parts_of(table.problems, stored_protocol(result).groups)
    if {label for label in parts if label} != set(result.get('groups') or {}):
        return 'other groups'
    return ''


def _other_counts(result: Result, table: TrialTable) -> str:
    """Return where n and c differ; if the result has no details, the sums are compared."""
    n, c = table.counts()
    counts = result.get('counts') or {}
    stored: dict[str, Any] = {}
    of_trials: dict[str, Any] = {}
    if None not in (counts.get('correct'), counts.get('incorrect')):
        stored['all problems'] = (counts['correct'] + counts['incorrect'], counts['correct'])
        of_trials['all problems'] = (int(n.sum()), int(c.sum()))
    if details := result.get('details'):
        stored |= {f'problem {row["problem_id"]}': (row['n'], row['c']) for row in details}
        of_trials |= {
            f'problem {problem.problem_id}': (int(n[i]), int(c[i]))
            for i, problem in enumerate(table.problems)
        }
    for name in (*of_trials, *stored):
        shown, right = stored.get(name), of_trials.get(name)
        if shown != right:
            return f'{name[:LONGEST]} has {_counted(shown)}, in the trials {_counted(right)}'
    return ''


def _counted(pair: tuple[int, int] | None) -> str:
    return 'nothing' if pair is None else f'n = {pair[0]}, c = {pair[1]}'


def _same(shown: Any, right: float) -> bool:
    value = math.nan if shown is None else float(shown)
    slack = ROUNDING + 1e-9 * abs(right)  # of tokens there may be very many
    return math.isnan(value) == math.isnan(right) and not abs(value - right) > slack


def _told(value: float | None) -> str:
    return 'undefined' if value is None or math.isnan(value) else f'{value:.2f}'
