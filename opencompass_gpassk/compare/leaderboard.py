"""The ranks of a benchmark's models in the primary figure, and who can't be ranked, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

from opencompass_gpassk.compare.comparability import different_measures, set_apart
from opencompass_gpassk.compare.differences import (
    PRIMARY,
    SETTINGS,
    Difference,
    Pair,
    Standing,
    differences,
    primary_figure,
    standing,
)
from opencompass_gpassk.compare.shared_problems import Aligned, aligned
from opencompass_gpassk.results.contradictions import contradiction
from opencompass_gpassk.results.figure_intervals import IntervalSettings
from opencompass_gpassk.results.figures import Figure
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.stored_result import Entry, stored_protocol
from opencompass_gpassk.trials import TrialTable


@dataclass(frozen=True)
class Leaderboard:
    """The comparison of a benchmark's entries on the problems that they answered.

    Attributes:
        shared: The entries whose trials are there, named by their places; None without two.
        rows: The place of each of these among the entries.
        standing: Ranks and tests in the primary figure, of the models of ``shared``; None without
            a figure that all have.
        apart: (first, second) places of entries that can't be compared → why.
        notes: Why some entries, or all, have no rank.
    """

    shared: Aligned | None = None
    rows: Sequence[int] = ()
    standing: Standing | None = None
    apart: Mapping[Pair, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    @property
    def figure(self) -> Figure | None:
        """The primary figure; None if nothing was ranked."""
        return self.standing.figure if self.standing else None

    @cached_property
    def tested(self) -> Mapping[Pair, Difference]:
        """The places of every two tested entries → the second's difference from the first.

        It is that in the primary figure; the p-values of all pairs are one family.
        """
        if self.shared is None or self.standing is None:
            return {}
        family = PRIMARY if len(self.standing.p_values) == 1 else f'{PRIMARY}, all pairs'
        only = replace(self.shared, parts={'': (self.shared.only(self.standing.figure),)})
        found = differences(only, list(self.standing.p_values), groups=False)
        return {
            (self.rows[a], self.rows[b]): replace(
                one, p_value=self.standing.p_values[a, b], family=family
            )
            for (a, b), of_pair in found.items()
            for one in of_pair
        }

    def rank(self, place: int) -> tuple[int, int] | None:
        """Return the best and the worst rank of an entry; None if it has none."""
        if self.standing is None or place not in self.rows:
            return None
        return self.standing.ranks[list(self.rows).index(place)]


def leaderboard(
    entries: Sequence[Entry],
    trials: Mapping[tuple[str, str], TrialTable],
    contradictory: Mapping[tuple[str, str], str] | None = None,
    settings: IntervalSettings = SETTINGS,
) -> Leaderboard:
    """Compare a benchmark's entries: the sampled ones, or the greedy ones if nothing was sampled.

    Args:
        entries: The entries.
        trials: (model, data set) → trials of the result.
        contradictory: (model, data set) → how a result contradicts its trials, '' if it doesn't; by
            default it is computed. Such a result has no rank.
        settings: Level and number of sign flips.
    """
    greedy = not any(one.result for one in entries)
    asked = {
        place: (_greedy(one) if greedy else one)
        for place, one in enumerate(entries)
        if one.greedy or not greedy
        if greedy or one.result
    }
    if len(asked) < 2:
        return Leaderboard()
    lacking = [one.label for one in asked.values() if one.place not in trials]
    notes = []
    if lacking:
        notes.append(f'not ranked, since the trials can not be read: {", ".join(lacking)}')
    asked = {place: one for place, one in asked.items() if one.place in trials}
    usual = set_apart([one.result for one in asked.values()])
    why = {place: list(told.values()) for place, told in zip(asked, usual, strict=True)}
    against = {
        place: told
        for place, one in asked.items()
        if (told := _contradiction(one, trials[one.place], contradictory))
    }
    for place, told in against.items():
        why[place].append(f'its result contradicts its trials: {told}')
    notes += [
        f'{asked[place].label} is not ranked: {"; ".join(told)}'
        for place, told in why.items()
        if told
    ]
    apart = {}
    for first, second in combinations(asked, 2):
        reasons = different_measures(asked[first].result, asked[second].result)
        if {first, second} & against.keys():
            reasons.append('a result contradicts its trials')
        if reasons:
            apart[first, second] = '; '.join(reasons)
    if len(asked) < 2:
        return Leaderboard(notes=notes)
    rows = list(asked)
    try:
        protocols = common_protocols([stored_protocol(one.result) for one in asked.values()])
        shared = aligned(
            {str(place): trials[one.place] for place, one in asked.items()},
            {str(place): of for place, of in zip(rows, protocols, strict=True)},
        )
    except ValueError as error:  # such as k above n in a result that somebody edited
        return Leaderboard(apart=apart, notes=[*notes, f'not ranked: {error}'])
    primary = primary_figure(shared)
    found = None
    if primary is not None:
        found = standing(shared, primary, [i for i, p in enumerate(rows) if not why[p]], settings)
    return Leaderboard(shared, rows, found, apart, notes)


def common_protocols(protocols: Sequence[Protocol]) -> list[Protocol]:
    """Return the protocols reduced to the k and τ of all; if none are common, of any.

    Breakdowns and thresholds are those of the first. Sound figures stay if all have them.
    """
    sampled = [one for one in protocols if one.n > 1] or list(protocols)
    fewest = min(one.n for one in sampled)
    every = {k for one in sampled for k in one.k if k <= fewest}
    ks = tuple(sorted(set.intersection(*({*one.k} for one in sampled)) & every or every))
    taus = tuple(
        sorted(
            set.intersection(*({*one.taus} for one in sampled))
            or {tau for one in sampled for tau in one.taus}
        )
    )
    first = protocols[0]
    sound = first.sound if all(one.sound is not None for one in protocols) else None
    same = replace(first, k=ks, taus=taus, sound=sound)
    # Figures of one sample have no k.
    return [replace(same, n=one.n, k=ks if one.n > 1 else ()) for one in protocols]


def _greedy(entry: Entry) -> Entry:
    return Entry(entry.model, entry.greedy_dataset, entry.greedy or {}, apart=entry.apart)


def _contradiction(
    one: Entry, table: TrialTable, known: Mapping[tuple[str, str], str] | None
) -> str:
    return contradiction(one.result, table) if known is None else known.get(one.place, '')
