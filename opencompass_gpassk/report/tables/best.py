"""Marks for the best figures of a table, and for figures not distinguishable from the best."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from opencompass_gpassk.compare.comparability import set_apart
from opencompass_gpassk.compare.differences import Standing, distinguishable
from opencompass_gpassk.compare.shared_problems import Aligned, aligned
from opencompass_gpassk.report.board import Place, Trials
from opencompass_gpassk.report.cells import Mark
from opencompass_gpassk.results.figures import ACCURACY, G_PASS, Figure, Side
from opencompass_gpassk.results.stored_result import (
    Entry,
    stored_protocol,
)
from opencompass_gpassk.trials import TrialTable

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
        return self.marks.get((group, figure), {}).get(entry.place)


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
        rows = {
            one.place: alone
            for one in entries
            if (alone := _greedy(one) if greedy else one).result and (alone.reasoning or not sound)
        }
        if not asked:
            continue
        rows = _comparable(rows, found)
        called = 'greedy answers' if greedy else 'samples'
        shared = _shared(rows, None if greedy else k, trials, found, called, sound=sound)
        if shared is not None:
            for label in ('', *groups):
                _mark(found, shared, label, asked, rows)
    found.notes = list(dict.fromkeys(found.notes))  # greedy answers may have the same
    return found


def _greedy(entry: Entry) -> Entry:
    """Return an entry's greedy result as one of its own."""
    return Entry(entry.model, entry.greedy_dataset, entry.greedy or {})


def _comparable(rows: Mapping[Place, Entry], found: Best) -> dict[Place, Entry]:
    """Return the rows that can be compared with one another; add a note on each other one."""
    apart = dict(zip(rows, set_apart([one.result for one in rows.values()]), strict=True))
    found.notes += [
        f'{rows[place].model} is not compared: {"; ".join(why.values())}'
        for place, why in apart.items()
        if why
    ]
    return {place: one for place, one in rows.items() if not apart[place]}


def _shared(
    rows: Mapping[Place, Entry],
    k: int | None,
    trials: Trials,
    found: Best,
    called: str,
    *,
    sound: bool,
) -> Aligned | None:
    """Return the rows' figures on all problems; add a note if they can't be compared."""
    if len(rows) < 2:
        return None
    lacking = [one.model for one in rows.values() if one.place not in trials]
    if lacking:
        found.notes.append(
            f'the best {called} are not marked: the trials of '
            f'{", ".join(dict.fromkeys(lacking))} can not be read'
        )
        return None
    try:
        tables = _completed([trials[one.place] for one in rows.values()])
        protocols = [stored_protocol(one.result) for one in rows.values()]
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
    found: Best, shared: Aligned, label: str, figures: Sequence[Figure], rows: Mapping[Place, Entry]
) -> None:
    """Add the marks of one group, or of the headline, to ``found``."""
    if label not in shared.parts:
        return
    wanted = {}
    for figure in figures:
        named = {_named(one, figure) for one in rows.values()}
        wanted[figure] = named.pop() if len(named) == 1 else figure.of_n(None)
    standings = distinguishable(shared, label, figures=set(wanted.values()))
    for figure, meant in wanted.items():
        standing = standings.get(meant)
        if standing is None or not _is_shown(found, figure, standing, label, rows):
            continue
        found.marks[label, figure] = {
            place: Mark.BEST if best else Mark.NEAR
            for place, best, among in zip(rows, standing.best, standing.among_best, strict=True)
            if among
        }
        if not label and figure == G_PASS(k=figure.k, tau=1.0):
            found.ranks = dict(zip(rows, standing.ranks.tolist(), strict=True))


def _named(one: Entry, figure: Figure) -> Figure:
    """Return a figure as the result has it; accuracy then has its n."""
    return figure.of_n(one.n) if figure.family is ACCURACY else figure


def _is_shown(
    found: Best, figure: Figure, standing: Standing, label: str, rows: Mapping[Place, Entry]
) -> bool:
    """Tell whether the shown values were computed from these trials; if not, add a note."""
    for value, one in zip(standing.figures, rows.values(), strict=True):
        shown = one.figure(figure, label)
        if shown is None:
            return False
        if math.isnan(shown) != math.isnan(value) or abs(shown - value) > ROUNDING:
            if not label:  # one note, not one for each group
                called = 'greedy' if figure.on(Side.PLAIN) == GREEDY else figure.heading
                note = f'{called} is not marked: it differs from the trials beside the results'
                found.notes.append(note)
            return False
    return True
