"""Claims in words: sentences that follow from tests alone, for the command, tables and the page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from opencompass_gpassk.compare.differences import PRIMARY, SETTINGS, Difference
from opencompass_gpassk.compare.leaderboard import Leaderboard, latest
from opencompass_gpassk.formats.display import counted, decimal_text, short_line
from opencompass_gpassk.results.metric import (
    ACCURACY,
    DROP,
    G_PASS,
    OOR_LESS_CHANCE,
    PASS,
    SP_ACCURACY,
    Metric,
)
from opencompass_gpassk.results.result import Entry, Estimate, Few

NAMED = 5  # models that a sentence names
LONGEST_NAME = 60
ALIKE, APART = 5.0, 15.0  # points between averages, and between shares solved every time
PROBLEMS = 'the problems'
MOVED = 1.0  # points by which missing verdicts must move a number for its range to be told
FRAGILE = 'missing verdicts can overturn this'
SIDES = ('A', 'B')  # the models of gpassk compare
# A claim on few clusters of problems is about these problems; near 0 and 100 % more are needed.
FEW, FEW_NEAR_BOUNDS, NEAR = 50, 500, 5.0


def leaderboard_claim(entries: Sequence[Entry], ranked: Leaderboard) -> str:
    """Return who is the best by the primary metric, or how often a single model solves problems.

    A model is the best only if no other rank is possible; then the next best is named, with the
    difference and its test. Else all that may be the first are named, the one with the highest
    metric first, and the difference of the first two. Then two models are named whose averages are
    alike, but one solves far more problems every time, if that was tested. Questions in versions
    have a sentence of their own, see :func:`versions_claim`.

    Args:
        entries: The entries of one benchmark.
        ranked: Their ranks in the primary metric.

    Returns:
        The sentences; '' if fewer than two of several models can be compared.
    """
    alone = latest(entries)  # a look before n was raised is no rival
    if len(alone) == 1:
        (entry,) = alone
        k = max(entry.ks, default=0)
        some, every = PASS(k=k), G_PASS(k=k, tau=1.0)
        # A range is also one of problems without a verdict, but not of those with too few samples.
        result = entry.result
        whole = result.counts.trials >= result.n * result.counts.problems
        left = 0 if whole and result.bounds_of(every) else entry.left_out(k)
        # A share of some of the problems must not read as one of all.
        of = f'{_problems(entry) - left} of the {_problems(entry)} problems' if left else PROBLEMS
        defined = k > 1 and not math.isnan(_value(entry, some) + _value(entry, every))
        shares = _said(entry, some), _said(entry, every)
        told = _solves(entry.label, *shares, k=k, problems=of) if defined else ''
        return '. '.join(filter(None, (told, versions_claim(entries))))
    metric = ranked.metric
    if metric is None:
        return versions_claim(entries)
    sign = -1 if metric.lower_is_better else 1
    known = sorted(
        (
            place
            for place in range(len(entries))
            if ranked.rank(place) and not math.isnan(_value(entries[place], metric))
        ),
        key=lambda place: -sign * _value(entries[place], metric),
    )
    first = [place for place in known if (ranked.rank(place) or (0,))[0] == 1]
    if len(known) < 2 or not first:
        return versions_claim(entries)
    told = _best(entries, ranked, metric, known, first)
    return '. '.join(
        filter(None, (told, _alike_averages(entries, ranked, metric), versions_claim(entries)))
    )


def _best(
    entries: Sequence[Entry],
    ranked: Leaderboard,
    metric: Metric,
    known: Sequence[int],
    first: Sequence[int],
) -> str:
    """Return who is, or may be, the first, and the difference to the next.

    Args:
        entries: The entries of one benchmark.
        ranked: Their ranks.
        metric: The primary metric.
        known: Places of the entries with ranks, the best metric first.
        first: Places of those that may be the first.
    """
    name = [short_line(entry.label, LONGEST_NAME) for entry in entries]
    among = '' if len(known) == len(entries) else f' of the {len(known)} models compared'
    best = 'most stable' if metric.family is G_PASS else 'best'
    sure = len(first) == 1 and ranked.rank(first[0]) == (1, 1)
    top, other = (first[0], next(one for one in known if one != first[0]))
    share = _said(entries[top], metric)
    every = f'all {metric.k} attempts' if (metric.family, metric.tau) == (G_PASS, 1.0) else ''
    shown = f'it solves {share} of the problems in {every}' if every else share
    if sure:
        told = f'{name[top]} is the {best}{among} by {metric.heading}: {shown}'
    else:
        named = [f'{name[one]} ({_said(entries[one], metric)})' for one in first[:NAMED]]
        more = f' and {len(first) - NAMED} more' if len(first) > NAMED else ''
        told = f'{", ".join(named)}{more} may be the {best}{among} by {metric.heading}'
        other = first[1] if len(first) > 1 else other
        if len(first) > 1:
            told = f'{told}: no test tells them apart'
    test = _tested(ranked, other, top)
    if test is None or math.isnan(test.difference):
        return told
    gap = f'{_points(test)}, {_ends(test, SETTINGS.level)}, p {p_text(test.p_value)}'
    told = f'{told}; {name[top]} against {name[other]}: {gap} ({test.family})'
    rivals = (_tested(ranked, place, top) for place in known if place != top)
    return f'{told}; {FRAGILE}' if sure and any(one and one.fragile for one in rivals) else told


def _alike_averages(entries: Sequence[Entry], ranked: Leaderboard, metric: Metric) -> str:
    """Return the two models whose averages hide most: alike, but apart in solving every time."""
    if (metric.family, metric.tau) != (G_PASS, 1.0):
        return ''
    found = []
    for (a, b), one in ranked.tested.items():
        averages = _value(entries[a], ACCURACY()), _value(entries[b], ACCURACY())
        alike = abs(averages[0] - averages[1]) <= ALIKE
        if alike and abs(one.difference) > APART and one.claim(SETTINGS.level):
            found.append((abs(one.difference), (a, b) if one.difference < 0 else (b, a)))
    if not found:
        return ''
    _, places = max(found)
    names = ' and '.join(short_line(entries[i].label, LONGEST_NAME) for i in places)
    means, every = (
        ' and '.join(_said(entries[i], one) for i in places) for one in (ACCURACY(), metric)
    )
    return f'{names} average {means}, but solve {every} of the problems every time'


def versions_claim(entries: Sequence[Entry]) -> str:
    """Return how much is lost from the original questions to their versions; '' without versions.

    Of several models it is about the one that loses most.
    """
    drops = {
        place: drop
        for place, entry in enumerate(entries)
        if (drop := entry.result.metric(DROP())) is not None and not math.isnan(drop)
    }
    if not drops:
        return ''
    place = max(drops, key=lambda one: drops[one])
    result = entries[place].result
    original, drop = result.metric(SP_ACCURACY()) or 0.0, drops[place]
    before = _share(original, result.bounds_of(SP_ACCURACY()))
    after = _share(original - drop, result.bounds_of(ACCURACY()))
    name = short_line(entries[place].label, LONGEST_NAME)
    most = 'loses most' if len(drops) > 1 else 'goes'
    told = (
        f'{name} {most} from {before} on the original questions to {after} on their versions'
        f'{_bracket(drop)}'
    )
    chance = result.metric(OOR_LESS_CHANCE())
    if chance is None or math.isnan(chance):
        return told
    if chance <= 0:
        return f'{told}; it solves the original alone no more often than chance explains'
    return (
        f'{told}; it solves the original alone {signed(chance)} points{_bracket(chance)} more '
        'often than chance explains'
    )


def _bracket(value: float) -> str:
    if isinstance(value, Few):
        return f' (on {counted(value.questions, "question")})'
    if not isinstance(value, Estimate):
        return ''
    low, high = value.interval
    return f' ({signed(low)} to {signed(high)})'


def _value(entry: Entry, metric: Metric) -> float:
    """Return a metric of an entry, of its greedy result if nothing was sampled; NaN without it."""
    found = entry.result.metric(metric)
    return math.nan if found is None else found


def _tested(ranked: Leaderboard, first: int, second: int) -> Difference | None:
    """Return the difference of the second entry from the first; None if it was not tested."""
    if (first, second) in ranked.tested:
        return ranked.tested[first, second]
    found = ranked.tested.get((second, first))
    return found and found.turned()


def pair_claims(
    differences: Sequence[Difference],
    level: float,
    tipping: str = '',
) -> list[str]:
    """Return sentences on two models, A and B: which is better, and how often each solves problems.

    The first is about the primary metric. It is left out if that was not tested, as of results that
    can't be compared.

    Args:
        differences: The differences of the metrics, the second model minus the first.
        level: The level of the tests and intervals.
        tipping: What overturns a claim, see
            :func:`~opencompass_gpassk.compare.differences.tipping_point`.
    """
    whole = {one.metric: one for one in differences if not one.group}
    found = [
        difference_claim(SIDES, one, level, tipping)
        for one in whole.values()
        if one.family == PRIMARY
    ]
    k = max((metric.k or 0 for metric in whole), default=0)
    some, every = whole.get(PASS(k=k)), whole.get(G_PASS(k=k, tau=1.0))
    if k > 1 and some and every:
        pairs = (some, every), (some.turned(), every.turned())
        found += [
            _solves(name, *(_share(one.first, *one.ends[:1]) for one in pair), k=k)
            for name, pair in zip(SIDES, pairs, strict=True)
            if not any(math.isnan(one.first) for one in pair)
        ]
    return found


def difference_claim(
    names: tuple[str, str], one: Difference, level: float, tipping: str = ''
) -> str:
    """Return a sentence on the difference of two models in a metric.

    On few clusters of problems it is about these problems alone: rare great losses among others
    can't be seen on so few, least of all where models solve nearly all problems, or nearly none.

    Args:
        names: Of the first and the second model.
        one: The difference, the second metric minus the first.
        level: The level of the test and of the interval.
        tipping: What overturns it, if that is known more closely than that it is possible.
    """
    first, second = (short_line(name, LONGEST_NAME) for name in names)
    word = one.claim(level)
    near = min(one.first, one.second) < NEAR or max(one.first, one.second) > 100 - NEAR
    few = one.measured < (FEW_NEAR_BOUNDS if near else FEW)
    on = f' on these {counted(one.units, "problem")}' if few else ''
    told = f'{second} is {word} than {first}' if word else f'not shown: {second} unlike {first}'
    overturned = tipping or (FRAGILE if one.fragile else '')
    return (
        f'{told} in {one.metric.heading}{on}: {_points(one)} ({_ends(one, level)}), '
        f'p {p_text(one.p_value)} ({one.family})' + (overturned and f'; {overturned}')
    )


def _points(one: Difference) -> str:
    """Return a difference in points; the range if missing verdicts can move it by one or more."""
    low, high = one.difference_ends or (one.difference, one.difference)
    if not max(one.difference - low, high - one.difference) >= MOVED:  # NaN is told as one
        return f'{signed(one.difference)} points'
    return f'{signed(low)} to {signed(high)} points by missing verdicts'


def margin_claim(one: Difference, margin: float, level: float) -> str:
    """Return a sentence on whether B is at most so many points worse than A.

    Args:
        one: The difference of the primary metric.
        margin: In points.
        level: The level of the interval.
    """
    first, second = SIDES
    worse = 'less stable' if one.metric.family is G_PASS else 'worse'
    told = {True: 'shown', False: 'no, surely more than that', None: 'not shown'}
    return (
        f'{second} is at most {margin:g} points {worse} than {first} in {one.metric.heading}: '
        f'{told[one.within(margin)]} ({_ends(one, level)})'
    )


def _ends(one: Difference, level: float) -> str:
    if math.isnan(one.low):
        return f'{counted(one.measured, "question")}, too few for an interval'
    return f'{100 * level:.4g} % interval {signed(one.low)} to {signed(one.high)}'


def _solves(name: str, some: str, every: str, *, k: int, problems: str = PROBLEMS) -> str:
    return (
        f'{short_line(name, LONGEST_NAME)} solves {some} of {problems} in some of {k} attempts, '
        f'{every} in all of them'
    )


def _said(entry: Entry, metric: Metric) -> str:
    """Return a metric of an entry in words, see :func:`_share`."""
    return _share(_value(entry, metric), entry.result.bounds_of(metric))


def _problems(entry: Entry) -> int:
    return entry.result.counts.problems


def _share(percent: float, ends: tuple[float, float] | None = None) -> str:
    """Return a percentage; the range if missing verdicts can move it by a point or more."""
    if ends and max(percent - ends[0], ends[1] - percent) >= MOVED:
        return f'{ends[0]:.0f} to {ends[1]:.0f} %'
    # 99.97 % must not read as 100.
    if 0 < percent < 1:
        return 'less than 1 %'
    return 'more than 99 %' if 99 < percent < 100 else f'{percent:.0f} %'


def p_text(value: float) -> str:
    """Return a p-value as text, such as ``0.012`` or ``<0.001``."""
    if math.isnan(value):
        return '–'
    return '<0.001' if value < 0.001 else f'{value:.3f}'


def signed(value: float) -> str:
    """Return a difference in points as text, such as ``+1.5``."""
    return '–' if math.isnan(value) else '+' * (round(value, 9) >= 0) + decimal_text(value, 1)
