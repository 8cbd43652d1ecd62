"""What is printed of results: the answer, what limits it, and what to do next, in a few lines."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from opencompass_gpassk.formats.display import counted, one_line
from opencompass_gpassk.report.cells import BRACKETS
from opencompass_gpassk.report.tables.table import Table, shown_notes, to_text, wrapped
from opencompass_gpassk.results.result import Results
from opencompass_gpassk.runs.task_states import State, TaskState

MOST_CHECKS = 3
Command = tuple[str, str]  # a command, and what it is for


def brief(
    tables: Sequence[Table],
    commands: Iterable[Command],
    *,
    intervals: str | None = BRACKETS,
    others: str = '',
    undone: Sequence[str] = (),
) -> str:
    """Return the text: the main tables, at most three things to check, two commands.

    Args:
        tables: All tables of the report; the main ones are shown, with their main columns.
        commands: What may be done next, the most useful first.
        intervals: Style of the intervals.
        others: The table of data sets with other evaluators.
        undone: What is not finished.
    """
    parts: list[str] = []
    explained: set[str] = set()
    for table in (one for one in tables if one.main):
        parts.append('\n'.join(map(wrapped, (table.title, *table.claims))))
        shown = replace(table.in_brief(), title='')
        signs = [sign for sign in shown_notes(shown, intervals) if sign not in explained]
        parts.append(to_text(shown, intervals, signs))
        explained.update(signs)
    parts += [f'{others}\n'] if others else []
    told = [*undone, *_warnings(tables)]
    more = [f'  {len(told) - MOST_CHECKS} more'] if len(told) > MOST_CHECKS else []
    if told:
        lines = [wrapped(warning, '  ! ') for warning in told[:MOST_CHECKS]]
        parts.append('\n'.join(['Check:', *lines, *more]))
    return '\n'.join([*parts, *next_lines(commands)])


def next_lines(commands: Iterable[Command]) -> list[str]:
    """Return the lines of at most two commands, each with what it is for."""
    lines = [f'  {one_line(command)}  # {why}' for command, why in [*commands][:2]]
    return ['Next:', *lines] if lines else []


def next_commands(results: Results, *, judge: str, models: str, plan: str) -> list[Command]:
    """Return what may be done next with results that are whole.

    Args:
        results: Model → data set → result.
        judge: The command that asks a judge about what no rule could decide; '' for none.
        models: The results or the run that ``gpassk compare`` would compare; '' for none.
        plan: Those of ``gpassk plan``; '' for none.
    """
    found = []
    ours = [result for by_dataset in results.values() for result in by_dataset.values()]
    undecided = sum(
        result.counts.unjudged - result.counts.lost + result.counts.unrecognised
        for result in ours
        if result.signature.judge.startswith('rule')
    )
    if undecided and judge:
        told = counted(undecided, 'response')
        found.append((judge, f'ask a judge about {told} that no rule could decide'))
    names = [shlex.quote(model) for model, by_dataset in results.items() if by_dataset]
    if len(names) > 1 and models:
        named = f' --model-a {names[0]} --model-b {names[1]}' if len(names) > 2 else ''
        found.append((f'gpassk compare {models}{named}', 'what differs between two models'))
    if any(result.k for result in ours) and plan:
        found.append((f'gpassk plan {plan}', 'how many samples and problems a claim needs'))
    return found


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
    """Return what is printed when a job has ended.

    Args:
        tables: All tables of the report.
        results: Model → data set → result.
        states: State of each model's work on each data set.
        run: The timestamp folder, as commands name it.
        page: The report page, or the file in its place.
        intervals: Style of the intervals.
        others: The table of data sets with other evaluators.
    """
    folder = shlex.quote(str(run))
    undone = [state for state in states if state.state is not State.FINISHED]
    commands = next_commands(
        results, judge=f'gpassk rescore {folder} --judge cascade', models=folder, plan=folder
    )
    if undone:
        commands = [
            (f'gpassk status {folder}', 'why tasks are not finished'),
            ('opencompass CONFIG -r', 'go on: finished work is kept'),
        ]
    told = [f'{state.name}: {state}' for state in undone]
    text = brief(tables, commands, intervals=intervals, others=others, undone=told)
    return f'\n{text}\nEvery k, threshold and group: {page}\n'


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
