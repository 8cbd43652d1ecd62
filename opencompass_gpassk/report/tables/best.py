"""Marks for the best figures of a table, and for figures not distinguishable from the best."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opencompass_gpassk.compare.comparability import set_apart
from opencompass_gpassk.compare.differences import Standing, distinguishable
from opencompass_gpassk.compare.shared_problems import Aligned, aligned
from opencompass_gpassk.report.cells import Mark
from opencompass_gpassk.results.figures import ACCURACY, G_PASS, Figure, Side
from opencompass_gpassk.results.join_results import (
    Entry,
    Result,
    read_figure,
    sample_count,
    stored_protocol,
)
from opencompass_gpassk.trials import TrialTable

Place = tuple[str, str]  # model, data set
Trials = Mapping[Place, TrialTable]  # the trials of the result

GREEDY, AVERAGE = ACCURACY(n=1), ACCURACY()
ROUNDING = 1e-6  # percent


@dataclass
class Best:
    """The marks of a table's figures.

    Attributes:
        marks: (label of a group or '', figure) → (model, data set) → its mark.
            :data:`GREEDY` and :data:`AVERAGE` are the accuracy of a greedy response and of samples.
        ranks: (model, data set) → the best and the worst rank in G-Pass@k at τ = 1.
        notes: Why some figures are not marked.
    """

    marks: dict[tuple[str, Figure], dict[Place, Mark]] = field(default_factory=dict)
    ranks: dict[Place, Sequence[int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def of(self, entry: Entry, figure: Figure, group: str = '') -> Mark | None:
        """Return the mark of an entry's figure, None if it has none."""
        return self.marks.get((group, figure), {}).get((entry.model, entry.dataset))


@dataclass(frozen=True)
class _Row:
    """A row's sampled result or its greedy one, and the data set that it is of."""

    entry: Entry
    result: Result
    dataset: str

    @property
    def trials(self) -> Place:
        """Model and data set of the result's trials."""
        return self.entry.model, self.dataset

    def named(self, figure: Figure) -> Figure:
        """Return a figure as the result has it; accuracy then has its n."""
        return figure.of_n(sample_count(self.result)) if figure.family is ACCURACY else figure


def best_entries(
    entries: Sequence[Entry],
    k: int | None,
    trials: Trials,
    figures: Sequence[Figure],
    groups: Iterable[str] = (),
) -> Best:
    """Return, for each figure, the best entries and those not distinguishable from the best.

    They are chosen among the entries that can be compared with one another, if the trials of all
    can be read. Each two are compared on the problems that both answered.

    Args:
        entries: The rows of a table.
        k: The k of G-Pass@k; None without G-Pass@k.
        trials: Trials of the results.
        figures: The figures to compare; either all of them are sound figures, or none.
        groups: Labels of the groups in which to compare them too.
    """
    found = Best()
    sound = any(one.side is Side.SOUND for one in figures)
    for greedy in (False, True):
        asked = [one for one in figures if (one.on(Side.PLAIN) == GREEDY) is greedy]
        rows = [
            _Row(one, result, one.greedy_dataset if greedy else one.dataset)
            for one in entries
            if (result := one.greedy if greedy else one.result)
            and (result.get('reasoning') or not sound)
        ]
        if not asked:
            continue
        rows = _comparable(rows, found)
        shared = _shared(rows, None if greedy else k, trials, found, sound=sound)
        if shared is not None:
            for label in ('', *groups):
                _mark(found, shared, label, asked, rows)
    found.notes = list(dict.fromkeys(found.notes))  # greedy answers may have the same
    return found


def _comparable(rows: Sequence[_Row], found: Best) -> list[_Row]:
    """Return the rows that can be compared with one another; add a note on each other one."""
    apart = set_apart([row.result for row in rows])
    found.notes += [
        f'{row.entry.model} is not compared: {"; ".join(why.values())}'
        for row, why in zip(rows, apart, strict=True)
        if why
    ]
    return [row for row, why in zip(rows, apart, strict=True) if not why]


def _shared(
    rows: Sequence[_Row], k: int | None, trials: Trials, found: Best, *, sound: bool
) -> Aligned | None:
    """Return the rows' figures on all problems; add a note if they can't be compared."""
    if len(rows) < 2:
        return None
    called = 'samples' if rows[0].result is rows[0].entry.result else 'greedy answers'
    lacking = [row.entry.model for row in rows if row.trials not in trials]
    if lacking:
        found.notes.append(
            f'the best {called} are not marked: the trials of '
            f'{", ".join(dict.fromkeys(lacking))} can not be read'
        )
        return None
    try:
        tables = _completed([trials[row.trials] for row in rows])
        protocols = [stored_protocol(row.result) for row in rows]
        shared = aligned(
            {str(i): table for i, table in enumerate(tables)},
            {
                str(i): replace(one, k=(k,) if k else (), sound=one.sound if sound else None)
                for i, one in enumerate(protocols)
            },
        )
    except (TypeError, ValueError):  # they share no problem, or a result's settings are invalid
        shared = None
    if shared is None or shared.left_out:
        found.notes.append(
            f'the best {called} are not marked: the models answered different problems'
        )
        return None
    return shared


def _completed(tables: Sequence[TrialTable]) -> list[TrialTable]:
    """Return tables that all have the problems of all; figures are undefined without trials.

    Raises:
        ValueError: If there is no problem that all have.
    """
    own = [{one.problem_id for one in table.problems} for table in tables]
    if not set.intersection(*own):
        raise ValueError('the tables have no problem in common')
    asked = {one.problem_id: one for table in tables for one in table.problems}
    return [
        TrialTable(
            [*table.problems, *(asked[name] for name in asked if name not in of_table)],
            table.trials,
        )
        for table, of_table in zip(tables, own, strict=True)
    ]


def _mark(
    found: Best, shared: Aligned, label: str, figures: Sequence[Figure], rows: Sequence[_Row]
) -> None:
    """Add the marks of one group, or of the headline, to ``found``."""
    if label not in shared.parts:
        return
    wanted = {}
    for figure in figures:
        named = {row.named(figure) for row in rows}
        wanted[figure] = named.pop() if len(named) == 1 else figure.of_n(None)
    standings = distinguishable(shared, label, figures=set(wanted.values()))
    for figure, meant in wanted.items():
        standing = standings.get(meant)
        if standing is None or not _is_shown(found, figure, standing, label, rows):
            continue
        found.marks[label, figure] = {
            (row.entry.model, row.entry.dataset): Mark.BEST if best else Mark.NEAR
            for row, best, among in zip(rows, standing.best, standing.among_best, strict=True)
            if among
        }
        if not label and figure == G_PASS(k=figure.k, tau=1.0):
            places = [(row.entry.model, row.entry.dataset) for row in rows]
            found.ranks = dict(zip(places, standing.ranks.tolist(), strict=True))


def _is_shown(
    found: Best, figure: Figure, standing: Standing, label: str, rows: Sequence[_Row]
) -> bool:
    """Tell whether the shown values were computed from these trials; if not, add a note."""
    for value, row in zip(standing.figures, rows, strict=True):
        shown = read_figure(row.result, figure, label)
        if shown is None:
            return False
        if math.isnan(shown) != math.isnan(value) or abs(shown - value) > ROUNDING:
            if not label:  # one note, not one for each group
                called = 'greedy' if figure.on(Side.PLAIN) == GREEDY else figure.heading
                note = f'{called} is not marked: it differs from the trials beside the results'
                found.notes.append(note)
            return False
    return True
