"""Claims in words: sentences that follow from tests alone, for the command, tables and the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter

from opencompass_gpassk.compare.differences import PRIMARY, Difference
from opencompass_gpassk.compare.leaderboard import Leaderboard
from opencompass_gpassk.formats.display import counted, short_line
from opencompass_gpassk.results.figures import G_PASS, PASS
from opencompass_gpassk.results.stored_result import Entry

NAMED = 5  # models that a sentence names
LONGEST_NAME = 60
SIDES = ('A', 'B')  # the models of gpassk compare
# A claim on few clusters of problems is about these problems; near 0 and 100 % more are needed.
FEW, FEW_NEAR_BOUNDS, NEAR = 50, 500, 5.0


def leaderboard_claim(entries: Sequence[Entry], ranked: Leaderboard) -> str:
    """Return a sentence on the best model, or on how often a single model solves problems.

    A model is the best only if no other rank is possible; else all that may be the first are named,
    the one with the highest figure first.

    Args:
        entries: The entries of one benchmark.
        ranked: Their ranks in the primary figure.

    Returns:
        The sentence; '' if a single model's figures leave out problems, or fewer than two of
        several models can be compared.
    """
    if len(entries) == 1:
        (entry,) = entries
        k = max(entry.ks, default=0)
        some, every = entry.figure(PASS(k=k)), entry.figure(G_PASS(k=k, tau=1.0))
        # A share of some of the problems would read as one of all.
        whole = k and some is not None and every is not None and not entry.left_out(k)
        return _solves(entry.label, float(some or 0), float(every or 0), k) if whole else ''
    figure = ranked.figure
    if figure is None:
        return ''
    sign = -1 if figure.lower_is_better else 1
    known = [
        (sign * (entry.figure(figure) or 0), entry.label, rank)
        for place, entry in enumerate(entries)
        if (rank := ranked.rank(place))
    ]
    first = sorted((one for one in known if one[2][0] == 1), key=itemgetter(0), reverse=True)
    if len(known) < 2 or not first:
        return ''
    sure = len(first) == 1 and first[0][2][1] == 1
    names = ', '.join(short_line(name, LONGEST_NAME) for _, name, _ in first[:NAMED])
    more = f' and {len(first) - NAMED} more' if len(first) > NAMED else ''
    among = '' if len(known) == len(entries) else f' of the {len(known)} models compared'
    best = 'most stable' if figure.family is G_PASS else 'best'
    found = best if sure else f'may be the {best}'
    return f'{found}{among} by {figure.heading}: {names}{more}'


def pair_claims(
    differences: Sequence[Difference],
    level: float,
    tipping: str = '',
) -> list[str]:
    """Return sentences on two models, A and B: which is better, and how often each solves problems.

    The first is about the primary figure. It is left out if that was not tested, as of results that
    can't be compared.

    Args:
        differences: The differences of the figures, the second model minus the first.
        level: The level of the tests and intervals.
        tipping: What overturns a claim, see
            :func:`~opencompass_gpassk.compare.differences.tipping_point`.
    """
    whole = {one.figure: one for one in differences if not one.group}
    found = [
        '; '.join(filter(None, (difference_claim(SIDES, one, level), tipping)))
        for one in whole.values()
        if one.family == PRIMARY
    ]
    k = max((figure.k or 0 for figure in whole), default=0)
    some, every = whole.get(PASS(k=k)), whole.get(G_PASS(k=k, tau=1.0))
    if some and every:
        found.append(_solves(SIDES[0], some.first, every.first, k))
        found.append(_solves(SIDES[1], some.second, every.second, k))
    return [one for one in found if one]


def difference_claim(names: tuple[str, str], one: Difference, level: float) -> str:
    """Return a sentence on the difference of two models in a figure.

    On few clusters of problems it is about these problems alone: rare great losses among others
    can't be seen on so few, least of all where models solve nearly all problems, or nearly none.

    Args:
        names: Of the first and the second model.
        one: The difference, the second figure minus the first.
        level: The level of the test and of the interval.
    """
    first, second = (short_line(name, LONGEST_NAME) for name in names)
    word = one.claim(level)
    near = min(one.first, one.second) < NEAR or max(one.first, one.second) > 100 - NEAR
    few = one.measured < (FEW_NEAR_BOUNDS if near else FEW)
    on = f' on these {counted(one.units, "problem")}' if few else ''
    told = f'{second} is {word} than {first}' if word else f'not shown: {second} unlike {first}'
    return (
        f'{told} in {one.figure.heading}{on}: {signed(one.difference)} points '
        f'({_ends(one, level)}), '
        f'p {p_text(one.p_value)} ({one.family})'
    )


def margin_claim(one: Difference, margin: float, level: float) -> str:
    """Return a sentence on whether B is at most so many points worse than A.

    Args:
        one: The difference of the primary figure.
        margin: In points.
        level: The level of the interval.
    """
    first, second = SIDES
    worse = 'less stable' if one.figure.family is G_PASS else 'worse'
    told = {True: 'shown', False: 'no, surely more than that', None: 'not shown'}
    return (
        f'{second} is at most {margin:g} points {worse} than {first} in {one.figure.heading}: '
        f'{told[one.within(margin)]} ({_ends(one, level)})'
    )


def _ends(one: Difference, level: float) -> str:
    return f'{100 * level:.4g} % interval {signed(one.low)} to {signed(one.high)}'


def _solves(name: str, some: float, every: float, k: int) -> str:
    if k < 2 or math.isnan(some + every):
        return ''
    return (
        f'{short_line(name, LONGEST_NAME)} solves {_share(some)} of the problems in some of {k} '
        f'attempts, {_share(every)} in all of them'
    )


def _share(percent: float) -> str:
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
    # Adding 0.0 turns -0.0 into 0.0.
    return '–' if math.isnan(value) else f'{round(value, 1) + 0.0:+.1f}'
