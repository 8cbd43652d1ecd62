"""Claims in words: sentences that follow from tests alone, for the command, tables and the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import itemgetter

from opencompass_gpassk.compare.differences import Difference
from opencompass_gpassk.formats.display import short_line
from opencompass_gpassk.results.figures import ACCURACY, G_PASS, PASS, Figure, Side
from opencompass_gpassk.results.stored_result import Entry

NAMED = 5  # models that a sentence names
LONGEST_NAME = 60


def leaderboard_claim(
    entries: Sequence[Entry], ranks: Sequence[Sequence[int] | None], k: int | None
) -> str:
    """Return a sentence on the most stable model, or on how often a single model solves problems.

    A model is the most stable only if no other rank is possible; else all that may be the first are
    named, the one with the highest figure first.

    Args:
        entries: Entries of one benchmark.
        ranks: For each, the best and the worst rank in G-Pass@k at τ = 1 that the data allow; all
            hold at once. None for an entry that can't be compared with the others.
        k: Samples drawn, None if there is no k.

    Returns:
        The sentence; '' if k was not measured, a single model's figures leave out problems, or
        fewer than two of several models can be compared.
    """
    if k is None:
        return ''
    strictest = G_PASS(k=k, tau=1.0)
    known = [
        (entry.label, some, every, of_entry)
        for entry, of_entry in zip(entries, ranks, strict=True)
        if (some := entry.figure(PASS(k=k))) is not None
        and (every := entry.figure(strictest)) is not None
        and not math.isnan(every)
    ]
    if len(known) == 1:
        # A share of some of the problems would read as one of all.
        partial = any(entry.left_out(k) for entry in entries)
        return '' if partial else _solves(*known[0][:3], k)
    ranked = [(every, name, of_entry) for name, _, every, of_entry in known if of_entry]
    first = [one for one in ranked if one[2][0] == 1]
    if len(ranked) < 2 or not first:
        return ''
    first.sort(key=itemgetter(0), reverse=True)
    sure = len(first) == 1 and first[0][2][1] == 1
    names = ', '.join(short_line(name, LONGEST_NAME) for _, name, _ in first[:NAMED])
    more = f' and {len(first) - NAMED} more' if len(first) > NAMED else ''
    among = '' if len(ranked) == len(known) else f' of the {len(ranked)} models compared'
    found = 'most stable' if sure else 'may be the most stable'
    return f'{found}{among} by {strictest.heading}: {names}{more}'


def pair_claims(differences: Sequence[Difference], level: float) -> list[str]:
    """Return sentences on two models A and B: which is better, and how often each solves problems.

    The first is about G-Pass@k at τ = 1 and the greatest k, or about accuracy if there is no k. It
    is left out if there is no p-value.

    Args:
        differences: The differences of the figures, B minus A.
        level: The level of the tests and intervals.
    """
    plain = [one for one in differences if not one.group and one.figure.side is Side.PLAIN]
    strictest = [one for one in plain if one.figure.family is G_PASS and one.figure.tau == 1]
    chosen = strictest or [one for one in plain if one.figure.family is ACCURACY]
    headline = max(chosen, key=lambda one: one.figure.k or 0, default=None)
    if headline is None:
        return []
    found = []
    if not math.isnan(headline.p_value):
        points = headline.difference, headline.low, headline.high
        word = claim(headline, level)
        found = [
            difference_claim(('A', 'B'), headline.figure, word, points, headline.adjusted, level)
        ]
    k = headline.figure.k or 0
    for some in (one for one in plain if k and one.figure == PASS(k=k)):
        found.append(_solves('A', some.first, headline.first, k))
        found.append(_solves('B', some.second, headline.second, k))
    return [sentence for sentence in found if sentence]


def claim(one: Difference, level: float) -> str:
    """Return ``better`` or ``worse`` of B, ``open`` if the missing verdicts decide, else ''."""
    if not one.adjusted < 1 - level:
        return 'open' if one.favourable < 1 - level else ''
    return 'better' if one.gain > 0 else 'worse'


def difference_claim(
    names: tuple[str, str],
    figure: Figure,
    found: str,
    points: tuple[float, float, float],
    p_value: float,
    level: float,
) -> str:
    """Return a sentence on the difference of two models in a figure.

    Args:
        names: Of the first and the second model.
        figure: The figure.
        found: What the test found, as :func:`claim` returns it.
        points: The second figure minus the first, in points, and the ends of its interval.
        p_value: After Holm's correction.
        level: The level of the test and of the interval.
    """
    first, second = (short_line(name, LONGEST_NAME) for name in names)
    told = {
        '': f'the test does not tell {second} from {first}',
        'open': f'the missing verdicts decide whether {second} is better or worse than {first}',
    }.get(found, f'{second} is {found} than {first}')
    difference, low, high = map(signed, points)
    return (
        f'{told} in {figure.heading}: {difference} points ({100 * level:.4g} % interval {low} to '
        f'{high}), p (Holm) {p_text(p_value)}'
    )


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
