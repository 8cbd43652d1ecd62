"""Claims in words: sentences that follow from tests alone, for the command, tables and the page."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence

from opencompass_gpassk.compare.comparison import Asked, Comparison, Difference, Interval
from opencompass_gpassk.compare.leaderboard import Leaderboard
from opencompass_gpassk.formats.display import counted, decimal_text, short_line
from opencompass_gpassk.metrics.difference_plan import plan_difference
from opencompass_gpassk.results.metric import (
    ACCURACY,
    DROP,
    G_PASS,
    OOR_LESS_CHANCE,
    PASS,
    SP_ACCURACY,
    Metric,
)
from opencompass_gpassk.results.protocol import ADVISED
from opencompass_gpassk.results.result import Entry, Estimate, Few, Result
from opencompass_gpassk.results.token_metrics import MEAN, PER_SOLVED

NAMED = 5  # models that a sentence names
LONGEST_NAME = 60
MOVED = 1.0  # points by which missing verdicts must move a number for its range to be told
SIDES = ('A', 'B')  # the models of gpassk compare
SEVERAL = 2.0  # times as many tokens
MORE_PROBLEMS = 2.0  # times the margin of error: then more samples hardly help


def leaderboard_claim(entries: Sequence[Entry], ranked: Leaderboard) -> list[str]:
    """Return who is the most stable, or how often a single model solves problems.

    A model is the most stable only if each test against another says so, whatever the missing
    verdicts are. The first sentence is the claim, those after it are its test, and what holds for
    problems like these. Questions in versions have a sentence of their own.

    Args:
        entries: The entries of one benchmark.
        ranked: Their ranks in the primary metric.

    Returns:
        The sentences; [] if fewer than two of several models can be compared.
    """
    alone = ranked.rows if len(entries) > 1 else [0]
    told = _single(entries[alone[0]]) if len(alone) == 1 else _leader(entries, ranked)
    return [*told, *filter(None, [versions_claim(entries)])]


def _single(entry: Entry) -> list[str]:
    k = max(entry.ks, default=0)
    some, every = PASS(k=k), G_PASS(k=k, tau=1.0)
    if k <= 1 or math.isnan(_value(entry, some) + _value(entry, every)):
        return []
    result = entry.result
    problems = result.counts.problems
    # A range is also one of problems without a verdict, but not of those with too few samples.
    whole = result.counts.trials >= result.n * problems and result.bounds_of(every)
    left = 0 if whole else entry.left_out(k)
    of = f'{problems - left} of the {problems} problems' if left else _these(problems)
    name = short_line(entry.label, LONGEST_NAME)
    told = [
        f'{name} solves {_said(entry, every)} of {of} in {_attempts(k)} and '
        f'{_said(entry, some)} in at least one'
    ]
    value = result.metric(every)
    if isinstance(value, Estimate):
        low, high = value.interval
        ends = result.bounds_of(every) or (value, value)
        if max(value - ends[0], ends[1] - value) >= MOVED:  # the first sentence tells their range
            low, high = max(low - value + ends[0], 0.0), min(high - value + ends[1], 100.0)
        told.append(f'For problems like these: {low:.0f} to {high:.0f} % in {_attempts(k)}')
    return told


def _attempts(k: int | None) -> str:
    return {1: 'one attempt', 2: 'both attempts'}.get(k or 0, f'all {k} attempts')


def standing(
    entries: Sequence[Entry], ranked: Leaderboard
) -> tuple[list[int], dict[int, Difference]]:
    """Return the ranked places, the best first, and the best one's tests against the others.

    The first test is the one that says most: against the first that may be as good, else the next.
    """
    metric = ranked.metric
    values = {place: _value(entries[place], metric) for place in ranked.ranks if metric}
    if metric is None or any(map(math.isnan, values.values())):  # some lack the common k
        return [], {}
    sign = -1 if metric.lower_is_better else 1
    order = sorted(values, key=lambda place: -sign * values[place])
    tests = {place: one for place in order[1:] if (one := ranked.difference(place, order[0]))}
    return order, dict(sorted(tests.items(), key=lambda of: of[1].claim == 'better'))


def _leader(entries: Sequence[Entry], ranked: Leaderboard) -> list[str]:
    """Return who leads, the difference to the next, and what holds for problems like these."""
    order, tests = standing(entries, ranked)
    metric = ranked.metric
    if metric is None or not tests:
        return []
    top, rivals = order[0], order[1:]
    undecided = [place for place, one in tests.items() if one.claim != 'better']
    name = {place: short_line(entries[place].label, LONGEST_NAME) for place in order}
    nearest, test = next(iter(tests.items()))
    best = 'most stable' if metric.family is G_PASS else 'best'
    on = _on_these(test)
    among = '' if len(order) == len(entries) else f' of the {len(order)} models compared'
    share, other = _said(entries[top], metric), _said(entries[nearest], metric)
    strict = (metric.family, metric.tau) == (G_PASS, 1.0)
    where = _attempts(metric.k) if strict else metric.heading
    how = f'{"solves" if strict else "has"} {share} in {where}'
    if not undecided:
        head = f'{on} {name[top]} is the {best}{among}: it {how}, {name[nearest]} {other}'
    elif all(tests[place].fragile for place in undecided):
        first, second = (_value(entries[place], metric) for place in (top, nearest))
        head = (
            f'{name[top]} is ahead {on[0].lower()}{on[1:]} ({first:.0f} and {second:.0f} % in '
            f'{where}), but {_missing(test)} could explain it'
        )
        least = (entries[top].result.bounds_of(metric) or (math.nan,))[0]
        told = f'With those wrong it would be {least:.0f} and {second:.0f} %'
        return [head, f'{told}: no significant lead', others_claim(test)]
    elif len(undecided) == 1 and len(rivals) > 1:
        head = f'{on} {name[top]} is {_stable(metric, "better")} than all but {name[nearest]}'
        head += f'{among}: it {how}, that {other}'
    else:
        lead = [top, *undecided][:NAMED]
        named = ' and '.join(f'{name[place]} ({_said(entries[place], metric)})' for place in lead)
        rest = len(undecided) + 1 - len(lead)
        head = f'{on} {named}{f" and {rest} more" * bool(rest)} lead{among}; '
        head += f'which is {_stable(metric, "better")} is undecided'
    wrong = f", also if {name[top]}'s missing verdicts are all wrong"
    whatever = wrong if test.claim and test.missing[1] else ''
    more = '; gpassk compare tests two models by themselves' if test.tests > 1 else ''
    if undecided:
        more = _narrower(ranked, nearest, top, test) or more
    return [head, f'Difference {_points(test)}{whatever}{more}', others_claim(test)]


def _narrower(ranked: Leaderboard, first: int, second: int, test: Difference) -> str:
    """Return to what more samples would narrow an undecided difference; '' if that is unknown."""
    if ranked.shared is None:
        return ''
    pair = ranked.rows.index(first), ranked.rows.index(second)
    asked = Asked(ranked.shared, '', test.metric, pair)
    if not asked.estimated:
        return ''
    planned, judged, _, right = asked.counts()
    both = planned.all(axis=0)
    try:
        plan = plan_difference(test.metric.estimator(), judged[:, both], right[:, both])
    except ValueError:  # such as fewer than k verdicts
        return ''
    now = int(planned.max())
    n = max(2 * now, ADVISED * (test.metric.k or 1))
    half = (test.these.high - test.these.low) / 2 * math.sqrt(plan.within(n) / plan.within(now))
    return f'; n = {n} would narrow it to ± {half:.1f}: gpassk run … -n {n} --resume'


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
    most = 'loses most' if len(drops) > 1 and drop > 0 else 'goes'
    told = (
        f'{name} {most} from {before} on the original questions to {after} on their versions, '
        f'a drop of {decimal_text(drop, 1)} points{_bracket(drop)}'
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


def comparison_claims(compared: Comparison) -> list[str]:
    """Return what may be said of B against A: on these problems, then for problems like these."""
    one = compared.primary
    if one is None or compared.incomparable:
        return []
    if compared.withheld:
        head = f'{_on_these(one)} nothing is said: {compared.withheld}'
        return [head, others_claim(one)]
    told = [these_claim(SIDES, one), *filter(None, [_if_missing(compared)]), others_claim(one)]
    longer = length_caution(compared.a.result, compared.b.result, one) if one.claim else ''
    return [*told, *filter(None, [longer])]


def these_claim(names: tuple[str, str], one: Difference) -> str:
    """Return a sentence on two models on the problems that both answered.

    Args:
        names: Of the first and the second model.
        one: Their tested difference, the second metric minus the first.
    """
    first, second = (short_line(name, LONGEST_NAME) for name in names)
    on = _on_these(one)
    if math.isnan(one.these.low):
        return f'{on} {second} less {first} is {signed(one.difference)} points in {one.heading}'
    if one.fragile:
        winner = second if one.these.sign * one.better > 0 else first
        told = f'{winner} is ahead in {one.heading}, but {_missing(one)} could explain it'
        return f'{on} {told}: {_points(one)}'
    if not one.claim:
        told = f'no significant difference of {second} and {first} in {one.heading}'
        return f'{on} {told}: {_points(one)}'
    word = _stable(one.metric, one.claim)
    return f'{on} {second} is {word} than {first}: {one.heading} {_points(one)}'


def others_claim(one: Difference) -> str:
    """Return a sentence on what a difference says of problems like these."""
    if math.isnan(one.like_these.low) or one.few:
        return one.few_told
    line = _line(one.like_these, one)
    if one.claim_like_these:
        return f'For problems like these, too: {line}'
    if one.like_these.fragile:
        return f'For problems like these: {line}; {_missing(one)} could explain it'
    if one.like_these.sign or not one.tests:
        return f'For problems like these: {line}; nothing is claimed'
    told = f'For problems like these: no significant difference, {line}'
    wide, narrow = (of.high - of.low for of in (one.like_these, one.these))
    if wide >= MORE_PROBLEMS * narrow:
        return f'{told}; more problems would tell, more samples hardly'
    return told


def margin_claims(compared: Comparison, margin: float) -> list[str]:
    """Return whether B is at most so many points worse than A, in both senses.

    Args:
        compared: The comparison.
        margin: In points.
    """
    one = compared.primary
    if one is None or compared.incomparable:
        return []
    first, second = SIDES
    worse = _stable(one.metric, 'worse')
    asked = f'{second} is at most {margin:g} points {worse} than {first} in {one.heading}'
    words = {True: 'shown', False: 'no, it is more than that', None: 'undecided'}
    these = compared.as_stable(margin)
    told = [f'{_on_these(one)} {asked}: {words[these]}']
    if one.few:
        return [*told, one.few_told]
    if these:
        rare = 'allowing for hard kinds of problems that were not asked'
        told.append(
            f'For problems like these: {words[compared.as_stable_like_these(margin)]}, {rare}'
        )
    else:
        told.append('For problems like these: not shown, since it is not shown on these')
    return told


def mean_claim(one: Difference, data_sets: int) -> str:
    """Return a sentence on the mean difference of B and A over several data sets."""
    word = (
        f'B is {_stable(one.metric, one.claim)} than A'
        if one.claim
        else 'no significant difference'
    )
    return (
        f'Mean of {data_sets} data sets: {word} in {one.heading}: {_points(one)}. '
        f'{others_claim(one)}'
    )


def _if_missing(compared: Comparison) -> str:
    """Return what missing verdicts would have to be for a claim to fall; '' if none is missing."""
    one = compared.primary
    if one is None or not (one.claim or one.fragile) or not sum(one.missing):
        return ''
    if math.isnan(one.these.low):  # its metric is not computed from right samples alone
        return ''
    if one.fragile:
        winner = int(one.these.sign * one.better > 0)
        missed = (compared.a, compared.b)[winner]
        if missed.run is None:
            return 'To decide them: gpassk score with --judge cascade'
        return f'To decide them: gpassk rescore {shlex.quote(str(missed.run))} --judge cascade'
    needed = compared.needed
    lacking = counted(sum(one.missing), 'missing verdict')
    if needed is None:
        return f'It holds whatever the {lacking} are'
    return f'{needed} of the {lacking} would have to go against it to take it away'


def _missing(one: Difference) -> str:
    """Return the missing verdicts that could explain a claim, which are the winner's."""
    return counted(one.missing[int(one.headline.sign > 0)], 'missing verdict')


def _on_these(one: Difference) -> str:
    return f'On {_these(one.units)}'


def _these(problems: int) -> str:
    return 'this problem' if problems == 1 else f'these {problems} problems'


def _stable(metric: Metric, word: str) -> str:
    stable = {'better': 'more stable', 'worse': 'less stable'}
    return stable[word] if metric.family is G_PASS else word


def _points(one: Difference) -> str:
    return f'{signed(one.difference)} points ({_line(one.headline, one)})'


def _line(line: Interval, one: Difference) -> str:
    """Return an interval, its p-value, and for how many tests both are corrected."""
    told = f'{100 * one.level:.4g} % interval {signed(line.low)} to {signed(line.high)}'
    if math.isnan(line.p_value):
        return told
    corrected = f', corrected for {one.tests} tests' if one.tests > 1 else ''
    return f'{told}, p {p_text(line.p_value)}{corrected}'


def length_caution(a: Result, b: Result, one: Difference, names: tuple[str, str] = SIDES) -> str:
    """Return a sentence if the more stable model's responses are several times as long; else ''.

    Each model's tokens are those of its own tokenizer.

    Args:
        a: The first result.
        b: The second result.
        one: Their difference in the primary metric, on which a claim is made.
        names: Of both models.
    """
    worse, better = zip((short_line(name, LONGEST_NAME) for name in names), (a, b), strict=True)
    if one.claim == 'worse':
        better, worse = worse, better
    (long, short), (cost, other) = (
        [result.tokens.metrics.get(key, math.nan) for _, result in (better, worse)]
        for key in (MEAN, PER_SOLVED.format(k=one.metric.k))
    )
    if one.metric.family is not G_PASS or not long >= SEVERAL * short > 0:
        return ''
    told = (
        f'{better[0]} is more stable with {long / short:.1f} times as many tokens: a mean response '
        f'has {long:,.0f}, one of {worse[0]} {short:,.0f}'
    )
    costs = f'; per problem solved every time: {cost:,.0f} and {other:,.0f}'
    return told if math.isnan(cost + other) else told + costs


def _value(entry: Entry, metric: Metric) -> float:
    """Return a metric of an entry, of its greedy result if nothing was sampled; NaN without it."""
    found = entry.result.metric(metric)
    return math.nan if found is None else found


def _said(entry: Entry, metric: Metric) -> str:
    """Return a metric of an entry in words, see :func:`_share`."""
    return _share(_value(entry, metric), entry.result.bounds_of(metric))


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
