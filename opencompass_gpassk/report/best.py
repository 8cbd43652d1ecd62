"""Which figures of a table are the best of their column, as far as the data can tell."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from opencompass_gpassk.comparison import Standing, distinguishable
from opencompass_gpassk.protocol import Protocol, accuracy_key
from opencompass_gpassk.report.benchmarks import Entry, Result
from opencompass_gpassk.shared_problems import aligned
from opencompass_gpassk.trials import TrialTable
from opencompass_gpassk.trials_file import read_trials

__all__ = ['AVERAGE', 'GREEDY', 'Best', 'Trials', 'best_entries', 'verdicts_of']

Trials = Mapping[tuple[str, str], TrialTable]  # (model, data set) to the trials of the result

GREEDY, AVERAGE = 'greedy', 'average@n'
ROUNDING = 1e-6  # percent

Read = Callable[[Entry], float | None]


@dataclass
class Best:
    """What is known of a table's columns.

    Attributes:
        entries: Name of a figure → indices of the entries that are not distinguishable from the
            best. Names are those of results, :data:`GREEDY` and :data:`AVERAGE`.
        notes: Why nothing is told of some.
    """

    entries: dict[str, set[int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def verdicts_of(result: Result, folder: Path) -> TrialTable | None:
    """Return problems and verdicts of a result, None if its file of trials can't be read.

    Args:
        result: As stored.
        folder: Where the result file lies.
    """
    name = result.get('trials_file')
    if not isinstance(name, str) or Path(name).name != name:
        return None
    try:
        table, _ = read_trials(folder / name)
    except (OSError, ValueError, EOFError, zlib.error, RecursionError):
        return None
    ids = {problem.problem_id: problem.problem_id for problem in table.problems}
    nothing: dict[str, float] = {}
    for trial in table.trials:  # twenty models have half a million: what they answered may go
        trial.problem_id = ids[trial.problem_id]
        trial.answer, trial.response, trial.values = None, '', nothing
    return table


def best_entries(
    entries: Sequence[Entry], k: int | None, trials: Trials, names: Sequence[str]
) -> Best:
    """Return who is not distinguishable from the best, figure by figure.

    Nothing is told unless several entries have a figure, all of them were asked the same problems,
    and the trials of all are there.

    Args:
        entries: The rows of a table.
        k: Of G-Pass@k, None for none.
        trials: Of the results.
        names: The figures that are asked for.
    """
    found = Best()
    sampled = {i: entry for i, entry in enumerate(entries) if entry.result}
    standings = _compared(
        {i: (entry.model, entry.dataset) for i, entry in sampled.items()},
        lambda i: Protocol(entries[i].n, (k,) if k else (), tuple(entries[i].taus), ()),
        trials,
        found,
        'samples',
        [*names, 'accuracy', *(accuracy_key(entry.n) for entry in sampled.values())],
    )
    for name, standing in standings.items():
        if name.startswith('accuracy'):
            _take(found, AVERAGE, standing, sampled, Entry.average)
        else:
            _take(found, name, standing, sampled, partial(_figure, name=name))
    greedy = {i: entry for i, entry in enumerate(entries) if entry.greedy is not None}
    of_greedy = _compared(
        {i: (entry.model, entry.greedy_dataset) for i, entry in greedy.items()},
        lambda i: Protocol(1, groups=()),
        trials,
        found,
        'greedy answers',
        [accuracy_key(1)],
    )
    if accuracy_key(1) in of_greedy:
        _take(found, GREEDY, of_greedy[accuracy_key(1)], greedy, Entry.greedy_accuracy)
    return found


def _figure(entry: Entry, name: str) -> float | None:
    return entry.figure(name)


def _compared(
    places: Mapping[int, tuple[str, str]],
    protocol: Callable[[int], Protocol],
    trials: Trials,
    found: Best,
    what: str,
    names: Collection[str],
) -> dict[str, Standing]:
    """Return how the entries stand, nothing and a note where they can't be compared."""
    if len(places) < 2:
        return {}
    lacking = [model for model, dataset in places.values() if (model, dataset) not in trials]
    if lacking:
        found.notes.append(
            f'the best {what} are not marked: the trials of {", ".join(dict.fromkeys(lacking))} '
            'are not to be read'
        )
        return {}
    try:
        shared = aligned(
            {str(i): trials[place] for i, place in places.items()},
            {str(i): protocol(i) for i in places},
        )
    except ValueError:  # they have no problem in common, or a result no sense
        shared = None
    if shared is None or shared.left_out:
        found.notes.append(
            f'the best {what} are not marked: not all models were asked the same problems'
        )
        return {}
    return distinguishable(shared, names=names)


def _take(
    found: Best, name: str, standing: Standing, entries: Mapping[int, Entry], read: Read
) -> None:
    """Keep who is among the best, if the figures that are shown are of these very trials."""
    for figure, entry in zip(standing.figures, entries.values(), strict=True):
        shown = read(entry)
        if shown is None:
            return
        if math.isnan(shown) != math.isnan(figure) or abs(shown - figure) > ROUNDING:
            note = f'{name} is not marked: the trials beside the results are others'
            found.notes.append(note)
            return
    among = [i for i, best in zip(entries, standing.among_best, strict=True) if best]
    if among:
        found.entries[name] = set(among)
