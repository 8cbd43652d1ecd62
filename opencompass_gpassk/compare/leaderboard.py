"""The ranks of a benchmark's models in the primary metric, and who can't be ranked, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

from opencompass_gpassk.compare.comparability import copies, different_measures, set_apart
from opencompass_gpassk.compare.differences import Difference, Pair, primary_metric, standing
from opencompass_gpassk.compare.shared_problems import Aligned, aligned
from opencompass_gpassk.results.metric import Metric
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.result import Entry
from opencompass_gpassk.trials import TrialTable


@dataclass(frozen=True)
class Leaderboard:
    """The comparison of a benchmark's entries on the problems that they answered.

    Attributes:
        shared: The entries whose trials are there, named by their places; None without two.
        rows: The place of each of these among the entries.
        metric: The primary metric; None without one that all have.
        ranks: Place of an entry → its best and its worst rank.
        tested: The places of every two ranked entries → the second's difference from the first in
            the primary metric; the p-values of all pairs are one family.
        apart: (first, second) places of entries that can't be compared → why.
        notes: Why some entries, or all, have no rank, and whose responses are copies.
    """

    shared: Aligned | None = None
    rows: Sequence[int] = ()
    metric: Metric | None = None
    ranks: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    tested: Mapping[Pair, Difference] = field(default_factory=dict)
    apart: Mapping[Pair, str] = field(default_factory=dict)
    notes: Sequence[str] = ()

    def rank(self, place: int) -> tuple[int, int] | None:
        """Return the best and the worst rank of an entry; None if it has none."""
        return self.ranks.get(place)


def leaderboard(
    entries: Sequence[Entry],
    trials: Mapping[tuple[str, str], TrialTable],
    contradictory: Mapping[tuple[str, str], str],
) -> Leaderboard:
    """Compare a benchmark's entries: the sampled ones, or the greedy ones if nothing was sampled.

    Args:
        entries: The entries.
        trials: (model, data set) → trials of the result.
        contradictory: (model, data set) → how a result contradicts its trials, '' if it doesn't.
            Such a result has no rank.
    """
    asked = {place: one for place, one in enumerate(entries) if one.sampled}
    if not asked:
        asked = {
            place: Entry(one.model, one.greedy_dataset, one.greedy, apart=one.apart)
            for place, one in enumerate(entries)
            if one.greedy
        }
    if len(asked) < 2:
        return Leaderboard()
    notes = []
    for place, later in earlier_looks(asked).items():
        notes.append(
            f'{asked.pop(place).label} is an earlier look at {later.label}, which holds its '
            'samples too: it has no rank'
        )
    lacking = [one.label for one in asked.values() if one.place not in trials]
    if lacking:
        notes.append(f'not ranked, since the trials can not be read: {", ".join(lacking)}')
    asked = {place: one for place, one in asked.items() if one.place in trials}
    usual = set_apart([one.result for one in asked.values()])
    why = {place: list(told.values()) for place, told in zip(asked, usual, strict=True)}
    against = {
        place: told for place, one in asked.items() if (told := contradictory.get(one.place))
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
    notes += copies({one.label: trials[one.place] for one in asked.values()})
    rows = list(asked)
    try:
        protocols = common_protocols([one.result.protocol for one in asked.values()])
        shared = aligned(
            {str(place): trials[one.place] for place, one in asked.items()},
            {str(place): of for place, of in zip(rows, protocols, strict=True)},
        )
    except ValueError as error:  # such as k above n in a result that somebody edited
        return Leaderboard(apart=apart, notes=[*notes, f'not ranked: {error}'])
    primary = primary_metric(shared)
    if primary is None:
        return Leaderboard(shared, rows, apart=apart, notes=notes)
    ranks, tested = standing(shared, primary, [i for i, place in enumerate(rows) if not why[place]])
    return Leaderboard(
        shared,
        rows,
        primary,
        {rows[i]: rank for i, rank in ranks.items()},
        {(rows[a], rows[b]): one for (a, b), one in tested.items()},
        apart,
        notes,
    )


def earlier_looks(entries: Mapping[int, Entry]) -> dict[int, Entry]:
    """Return place of each entry whose n was raised → the entry that has its samples and more."""
    return {
        place: later
        for place, one in entries.items()
        for later in entries.values()
        if later.model == one.model and one.n in later.result.looks
    }


def latest(entries: Sequence[Entry]) -> list[Entry]:
    """Return the entries without looks before n was raised."""
    earlier = earlier_looks(dict(enumerate(entries)))
    return [one for place, one in enumerate(entries) if place not in earlier]


def common_protocols(protocols: Sequence[Protocol]) -> list[Protocol]:
    """Return the protocols reduced to the k and τ of all; if none are common, of any.

    Breakdowns and thresholds are those of the first. Sound metrics stay if all have them.
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
    # Metrics of one sample have no k.
    return [replace(same, n=one.n, k=ks if one.n > 1 else ()) for one in protocols]
