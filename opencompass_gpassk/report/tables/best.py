"""Marks for the best figures of a table, and for figures not distinguishable from the best."""

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
    """The marks of a table's figures.

    Attributes:
        marks: (label of a group or '', figure) → (model, data set) → its mark.
            :data:`GREEDY` and :data:`AVERAGE` are the accuracy of a greedy response and of samples.
        notes: Why some figures are not marked.
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
        greedy: Whether these are the greedy results.
        sound: Whether sound figures are compared.
        k: The k of G-Pass@k; None without G-Pass@k.
        groups: The groups in which figures are compared.
    """

    greedy: bool
    sound: bool
    k: int | None
    groups: Groups

    @property
    def called(self) -> str:
        """The kind of responses in words."""
        return 'greedy answers' if self.greedy else 'samples'

    def result(self, entry: Entry) -> Result | None:
        """Return an entry's result, None if it has no such figures."""
        result = entry.greedy if self.greedy else entry.result
        return result if result and (result.get('reasoning') or not self.sound) else None

    def place(self, entry: Entry) -> Place:
        """Return model and data set of an entry's trials."""
        return entry.model, entry.greedy_dataset if self.greedy else entry.dataset

    def protocol(self, entry: Entry) -> Protocol:
        """Return an entry's protocol; raise a ValueError if the result's settings are invalid."""
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
        """Return a figure as an entry's result has it; accuracy then has its n."""
        if figure.family is not ACCURACY:
            return figure
        return ACCURACY(n=1 if self.greedy else entry.n).on(figure.side)


def verdicts_of(result: Result, folder: Path, report: Callable[[str], None]) -> TrialTable | None:
    """Return problems, verdicts and validity of a result, None if its trials can't be read.

    Args:
        result: The stored result.
        folder: The folder of the result file.
        report: Takes a message if the trials can't be read.
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
    for trial in table.trials:  # twenty models have half a million; drop texts to save memory
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
    """Return, for each figure, the best entries and those not distinguishable from the best.

    Figures are only marked if several entries have them, all entries answered the same problems,
    and the trials of all can be read.

    Args:
        entries: The rows of a table.
        k: The k of G-Pass@k; None without G-Pass@k.
        trials: Trials of the results.
        figures: The figures to compare; either all of them are sound figures, or none.
        groups: Label → fields of the groups in which to compare them too.
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
    """Return the entries' figures on shared problems; add a note if they can't be compared."""
    if len(entries) < 2:
        return None
    places = [side.place(entry) for entry in entries]
    lacking = [place[0] for place in places if place not in trials]
    if lacking:
        found.notes.append(
            f'the best {side.called} are not marked: the trials of '
            f'{", ".join(dict.fromkeys(lacking))} can not be read'
        )
        return None
    try:
        shared = aligned(
            {str(i): trials[place] for i, place in enumerate(places)},
            {str(i): side.protocol(entry) for i, entry in enumerate(entries)},
        )
    except (TypeError, ValueError):  # they share no problem, or a result's settings are invalid
        shared = None
    if shared is None or shared.left_out:
        found.notes.append(
            f'the best {side.called} are not marked: the models answered different problems'
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
    """Add the marks of one group, or of the headline, to ``found``."""
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
    """Return the marks of a figure; none if the shown value was not computed from these trials."""
    for value, entry in zip(standing.figures, entries, strict=True):
        shown = read_figure(side.result(entry) or {}, side.named(figure, entry), label)
        if shown is None:
            return {}
        if math.isnan(shown) != math.isnan(value) or abs(shown - value) > ROUNDING:
            if not label:  # one note, not one for each group
                called = 'greedy' if figure.on(Side.PLAIN) == GREEDY else figure.heading
                note = f'{called} is not marked: it differs from the trials beside the results'
                found.notes.append(note)
            return {}
    return {
        (entry.model, entry.dataset): Mark.BEST if best else Mark.NEAR
        for entry, best, among in zip(entries, standing.best, standing.among_best, strict=True)
        if among
    }
