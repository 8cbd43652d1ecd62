"""The ranks of a benchmark's models in the primary metric, and who can't be ranked, and why."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from opencompass_gpassk.compare.comparability import (
    copied_samples,
    different_measures,
    set_apart,
)
from opencompass_gpassk.compare.comparison import (
    Asked,
    Difference,
    Pair,
    common_protocols,
    differences,
    primary_metric,
)
from opencompass_gpassk.compare.shared_problems import Aligned, aligned
from opencompass_gpassk.results.metric import Metric
from opencompass_gpassk.results.result import Entry
from opencompass_gpassk.trials import TrialTable


@dataclass(frozen=True)
class Leaderboard:
    """The comparison of a benchmark's entries on the problems that they answered.

    Attributes:
        shared: The entries whose trials are there, named by their places; None without two.
        rows: The place of each of these among the entries; of a single one, too.
        metric: The primary metric; None without one that all have.
        ranks: Place of an entry → its best and its worst rank on these problems.
        tested: The places of every two ranked entries → the second's difference from the first in
            the primary metric; all pairs are one family.
        apart: (first, second) places of entries that can't be compared → why.
        notes: Why some entries, or all, have no rank, and whose samples are copies.
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

    def difference(self, first: int, second: int) -> Difference | None:
        """Return the tested difference of the second entry from the first; None without a test."""
        if (first, second) in self.tested:
            return self.tested[first, second]
        found = self.tested.get((second, first))
        return found and found.turned()


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
    lacking = [one.label for one in asked.values() if one.place not in trials]
    if lacking:
        notes.append(f'not ranked, since the trials can not be read: {", ".join(lacking)}')
    asked = {place: one for place, one in asked.items() if one.place in trials}
    for place, later in _repeated(asked, trials).items():
        told = f'{asked.pop(place).label} has samples that {later.label} has too, and fewer'
        notes.append(f'{told}: it has no rank')
    usual = set_apart([one.result for one in asked.values()])
    why = {place: list(told.values()) for place, told in zip(asked, usual, strict=True)}
    against = {place: how for place, one in asked.items() if (how := contradictory.get(one.place))}
    for place, how in against.items():
        why[place].append(f'its result contradicts its trials: {how}')
    copied = copied_samples(
        {one.label: one.result for one in asked.values()},
        {one.label: trials[one.place] for one in asked.values()},
    )
    for place, one in asked.items():
        why[place] += filter(None, [copied.get(frozenset([one.label]))])
    notes += [
        f'{asked[place].label} is not ranked: {"; ".join(told)}'
        for place, told in why.items()
        if told
    ]
    notes += [of_two for models, of_two in copied.items() if len(models) > 1]
    apart = {}
    for first, second in combinations(asked, 2):
        reasons = different_measures(asked[first].result, asked[second].result)
        if {first, second} & against.keys():
            reasons.append('a result contradicts its trials')
        reasons += filter(None, [copied.get(frozenset((asked[first].label, asked[second].label)))])
        if reasons:
            apart[first, second] = '; '.join(reasons)
    rows = list(asked)
    if len(rows) < 2:
        return Leaderboard(rows=() if lacking else rows, notes=notes)
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
    pairs = [
        (rows.index(a), rows.index(b))
        for a, b in combinations([place for place in rows if not why[place]], 2)
        if (a, b) not in apart
    ]
    found = differences([Asked(shared, '', primary, pair) for pair in pairs])
    tested = {
        (rows[a], rows[b]): one
        for (a, b), one in zip(pairs, found, strict=True)
        if not math.isnan(one.difference)
    }
    return Leaderboard(shared, rows, primary, ranks_of(tested), tested, apart, notes)


def _repeated(
    entries: Mapping[int, Entry], trials: Mapping[tuple[str, str], TrialTable]
) -> dict[int, Entry]:
    """Return place of each entry → another of its model with all its samples and more."""
    texts = {
        place: {(one.problem_id, one.replica, one.text_hash) for one in trials[of.place].trials}
        for place, of in entries.items()
    }
    return {
        place: later
        for place, one in entries.items()
        for other, later in entries.items()
        if one.model == later.model and texts[place] < texts[other]
    }


def ranks_of(tested: Mapping[Pair, Difference]) -> dict[int, tuple[int, int]]:
    """Return the best and the worst rank that tests leave possible, of every model in them.

    A model's best rank is just behind all models that are certainly better, its worst rank just
    before all that are certainly worse (Mogstad, Romano, Shaikh and Wilhelm, Review of Economic
    Studies 91 (2024), 476-518). As all pairs are one family, the ranks of all models hold at once
    with a chance of at least the level.
    """
    models = sorted({place for pair in tested for place in pair})
    ranks = {place: [1, len(models)] for place in models}
    for (first, second), one in tested.items():
        if one.claim:
            better, worse = (second, first) if one.claim == 'better' else (first, second)
            ranks[worse][0] += 1
            ranks[better][1] -= 1
    return {place: (best, worst) for place, (best, worst) in ranks.items()}
