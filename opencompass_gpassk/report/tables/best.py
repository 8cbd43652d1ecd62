"""Which figures of a table are the best, and which the data cannot tell from these."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from opencompass_gpassk.compare.differences import Standing, distinguishable
from opencompass_gpassk.compare.shared_problems import Aligned, aligned
from opencompass_gpassk.report.cells import Mark
from opencompass_gpassk.results.figures import ACCURACY, Figure, Side
from opencompass_gpassk.results.join_results import Entry, Result, read_figure
from opencompass_gpassk.results.judged_trials import VALIDITY
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.trials import TrialTable, read_trials

__all__ = ['AVERAGE', 'GREEDY', 'Best', 'Trials', 'best_entries', 'verdicts_of']

Place = tuple[str, str]  # model, data set
Trials = Mapping[Place, TrialTable]  # the trials of the result
Groups = Mapping[str, Mapping[str, object]]  # label to the values of its fields

GREEDY, AVERAGE = ACCURACY(n=1), ACCURACY()
ROUNDING = 1e-6  # percent


@dataclass
class Best:
    """What is known of a table's figures.

    Attributes:
        marks: (label of a group, '' for none; figure) → (model, data set) → its mark.
            :data:`GREEDY` and :data:`AVERAGE` are the accuracy of a greedy response and of samples.
        notes: Why nothing is told of some.
    """

    marks: dict[tuple[str, Figure], dict[Place, Mark]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def of(self, entry: Entry, figure: Figure, group: str = '') -> Mark | None:
        """Return the mark of an entry's figure, None if it has none."""
        return self.marks.get((group, figure), {}).get((entry.model, entry.dataset))


@dataclass(frozen=True)
class _Sampled:
    """The sampled results of a table's entries, or the greedy ones.

    Attributes:
        greedy: Which.
        sound: What is asked for are sound figures.
        k: Of G-Pass@k, None for none.
        groups: In which figures are asked for.
    """

    greedy: bool
    sound: bool
    k: int | None
    groups: Groups

    @property
    def called(self) -> str:
        """What the figures are of."""
        return 'greedy answers' if self.greedy else 'samples'

    def result(self, entry: Entry) -> Result | None:
        """Return the result, None if there is none with such figures."""
        result = entry.greedy if self.greedy else entry.result
        return result if result and (result.get('reasoning') or not self.sound) else None

    def place(self, entry: Entry) -> Place:
        """Return where the trials are found."""
        return entry.model, entry.greedy_dataset if self.greedy else entry.dataset

    def protocol(self, entry: Entry) -> Protocol:
        """Return what is measured; a ValueError if the result makes no sense."""
        reasoning = (self.result(entry) or {}).get('reasoning') or {}
        fields = (tuple(f for f in one if f != 'problems') for one in self.groups.values())
        return Protocol(
            1 if self.greedy else entry.n,
            (self.k,) if self.k and not self.greedy else (),
            () if self.greedy else tuple(entry.taus),
            tuple(dict.fromkeys(one for one in fields if one and 'version' not in one)),
            sound=reasoning.get('threshold') if self.sound else None,
        )

    def named(self, figure: Figure, entry: Entry) -> Figure:
        """Return a figure as the result of an entry has it: the accuracy's key tells n."""
        if figure.family is not ACCURACY:
            return figure
        return ACCURACY(n=1 if self.greedy else entry.n).on(figure.side)


def verdicts_of(result: Result, folder: Path, report: Callable[[str], None]) -> TrialTable | None:
    """Return problems, verdicts and validity of a result, None if its trials can't be read.

    Args:
        result: As stored.
        folder: Where the result file lies.
        report: Is told of trials that can't be read.
    """
    name = result.get('trials_file')
    if not isinstance(name, str) or not name or Path(name).name != name:
        return None
    try:
        table, _ = read_trials(folder / name)
    except ValueError as error:
        report(str(error))
        return None
    ids = {problem.problem_id: problem.problem_id for problem in table.problems}
    nothing: dict[str, float] = {}
    valid: dict[float, dict[str, float]] = {}
    for trial in table.trials:  # twenty models have half a million: what they answered may go
        trial.problem_id = ids[trial.problem_id]
        validity = trial.values.get(VALIDITY)
        trial.answer, trial.response = None, ''
        trial.values = (
            nothing if validity is None else valid.setdefault(validity, {VALIDITY: validity})
        )
    return table


def best_entries(
    entries: Sequence[Entry],
    k: int | None,
    trials: Trials,
    figures: Sequence[Figure],
    groups: Groups | None = None,
) -> Best:
    """Return who is the best and who is not distinguishable from it, figure by figure.

    Nothing is told unless several entries have a figure, all of them were asked the same problems,
    and the trials of all are there.

    Args:
        entries: The rows of a table.
        k: Of G-Pass@k, None for none.
        trials: Of the results.
        figures: The figures that are asked for: all of them sound ones, or none.
        groups: Label → fields of the groups that they are asked for in, too.
    """
    found = Best()
    sound = any(one.side is Side.SOUND for one in figures)
    for greedy in (False, True):
        asked = [one for one in figures if (one.on(Side.PLAIN) == GREEDY) is greedy]
        side = _Sampled(greedy, sound, k, groups or {})
        chosen = [entry for entry in entries if side.result(entry)]
        shared = _shared(side, chosen, trials, found) if asked else None
        if shared is not None:
            for label in ('', *side.groups):
                _mark(found, side, shared, label, asked, chosen)
    return found


def _shared(
    side: _Sampled, entries: Sequence[Entry], trials: Trials, found: Best
) -> Aligned | None:
    """Return what the entries reached, None and a note where they can't be compared."""
    if len(entries) < 2:
        return None
    places = [side.place(entry) for entry in entries]
    lacking = [place[0] for place in places if place not in trials]
    if lacking:
        found.notes.append(
            f'the best {side.called} are not marked: the trials of '
            f'{", ".join(dict.fromkeys(lacking))} are not to be read'
        )
        return None
    try:
        shared = aligned(
            {str(i): trials[place] for i, place in enumerate(places)},
            {str(i): side.protocol(entry) for i, entry in enumerate(entries)},
        )
    except (TypeError, ValueError):  # they have no problem in common, or a result no sense
        shared = None
    if shared is None or shared.left_out:
        found.notes.append(
            f'the best {side.called} are not marked: not all models were asked the same problems'
        )
        return None
    return shared


def _mark(
    found: Best,
    side: _Sampled,
    shared: Aligned,
    label: str,
    figures: Sequence[Figure],
    entries: Sequence[Entry],
) -> None:
    """Keep who is among the best in one group, or in none."""
    if label not in shared.parts:
        return
    wanted = {}
    for figure in figures:
        named = {side.named(figure, entry) for entry in entries}
        wanted[figure] = named.pop() if len(named) == 1 else figure.of_n(None)
    standings = distinguishable(shared, label, figures=set(wanted.values()))
    for figure, meant in wanted.items():
        if meant in standings:
            standing = standings[meant]
            found.marks[label, figure] = _marks(found, side, label, figure, standing, entries)


def _marks(
    found: Best,
    side: _Sampled,
    label: str,
    figure: Figure,
    standing: Standing,
    entries: Sequence[Entry],
) -> dict[Place, Mark]:
    """Return the marks of a figure, none if what is shown is of other trials than these."""
    for value, entry in zip(standing.figures, entries, strict=True):
        shown = read_figure(side.result(entry) or {}, side.named(figure, entry), label)
        if shown is None:
            return {}
        if math.isnan(shown) != math.isnan(value) or abs(shown - value) > ROUNDING:
            if not label:  # else it is told of all problems
                called = 'greedy' if figure.on(Side.PLAIN) == GREEDY else figure.heading
                note = f'{called} is not marked: the trials beside the results are others'
                found.notes.append(note)
            return {}
    return {
        (entry.model, entry.dataset): Mark.BEST if best else Mark.NEAR
        for entry, best, among in zip(entries, standing.best, standing.among_best, strict=True)
        if among
    }
