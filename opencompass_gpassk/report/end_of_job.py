"""What is printed when a job has ended: verdicts, main tables, warnings, and what to do next."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.report.tables.table import Table, shown_notes, to_text, wrapped
from opencompass_gpassk.results.result import Results, group_fields
from opencompass_gpassk.runs.task_states import State, TaskState

MOST_WARNINGS = 3


def end_of_job(
    tables: Sequence[Table],
    results: Results,
    states: Sequence[TaskState],
    run: Path,
    page: Path,
    *,
    intervals: str | None,
    others: str = '',
) -> str:
    """Return the text: at most three warnings, two commands and one path; the rest is in files.

    Args:
        tables: All tables of the report; the main ones are shown.
        results: Model → data set → result.
        states: State of each model's work on each data set.
        run: The timestamp folder, as commands name it.
        page: The report page, or the file in its place.
        intervals: Style of the intervals.
        others: The table of data sets with other evaluators.
    """
    parts: list[str] = []
    explained: set[str] = set()
    for table in (one for one in tables if one.main):
        legend = shown_notes(replace(table, claims=(), warnings=(), remarks=()), intervals)
        parts.append(to_text(table, intervals, [note for note in legend if note not in explained]))
        explained.update(legend)
    parts += [f'{others}\n'] if others else []
    undone = [state for state in states if state.state is not State.FINISHED]
    told = [f'{state.name}: {state}' for state in undone] + _warnings(tables)
    if told:
        more = len(told) - MOST_WARNINGS
        lines = [wrapped(warning, '  ! ') for warning in told[:MOST_WARNINGS]]
        lines += [f'  {more} more in the report'] if more > 0 else []
        parts.append('\n'.join(['Warnings:', *lines, '']))
    commands = _next(results, states, shlex.quote(str(run)))
    width = max((len(command) for command, _ in commands), default=0)
    lines = [f'  {one_line(command):{width}}  {why}' for command, why in commands]
    parts += ['\n'.join(['Next:', *lines, ''])] if lines else []
    return '\n'.join(['', *parts, f'Report{_groups(results)}: {page}', ''])


def _groups(results: Results) -> str:
    """Return by what the report breaks metrics down, in brackets."""
    every = (result for by_dataset in results.values() for result in by_dataset.values())
    names = sorted(group_fields(every))
    return f' (also by {", ".join(names)})' if names else ''


def _warnings(tables: Sequence[Table]) -> list[str]:
    """Return each warning once: the most important one of each table, then the second ones."""
    of: dict[str, dict[str, None]] = {}
    ranked = [
        (place, table.title.partition(':')[0], warning)
        for table in tables
        for place, warning in enumerate(table.warnings)
    ]
    for _, name, warning in sorted(ranked, key=lambda one: one[0]):
        of.setdefault(warning, {}).setdefault(name)
    several = len({name for names in of.values() for name in names}) > 1
    return [f'{", ".join(names)}: {told}' if several else told for told, names in of.items()]


def _next(results: Results, states: Sequence[TaskState], run: str) -> list[tuple[str, str]]:
    """Return at most two commands, each with its purpose."""
    if any(state.state is not State.FINISHED for state in states):
        return [
            (f'gpassk status {run}', 'why tasks are not finished'),
            ('opencompass CONFIG -r', 'go on: finished work is kept'),
        ]
    found = []
    ours = [result for by_dataset in results.values() for result in by_dataset.values()]
    undecided = sum(
        result.counts.unjudged - result.counts.lost + result.counts.unrecognised
        for result in ours
        if result.signature.judge.startswith('rule')
    )
    if undecided:
        found.append(
            (
                f'gpassk rescore {run} --judge cascade',
                f'ask a judge about {undecided} responses that no rule could decide',
            )
        )
    models = [shlex.quote(model) for model, by_dataset in results.items() if by_dataset]
    if len(models) > 1:
        names = f' {run} --model-a {models[0]} --model-b {models[1]}' if len(models) > 2 else ''
        found.append((f'gpassk compare {run}{names}', 'what differs between two models'))
    if any(result.k for result in ours):
        found.append((f'gpassk plan {run}', 'how many samples and problems a claim needs'))
    return found[:2]
