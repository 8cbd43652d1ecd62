"""Differences of models on the same problems, their tests, and the ranks that these allow.

One metric is primary; it is chosen before anyone looks. Of two models it is tested as it is, of
more models in all pairs at once. The other metrics of a pair are one family of tests, and so are
the groups of problems, in the primary metric alone. Every p-value names its family.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from opencompass_gpassk.compare.shared_problems import Aligned, Block
from opencompass_gpassk.metrics.clusters import LEAST_CLUSTERS, ClusterSums
from opencompass_gpassk.metrics.missing import expected
from opencompass_gpassk.metrics.paired import least_p_value, ranks_of, sign_flip_test, step_down
from opencompass_gpassk.metrics.share_intervals import bounded_mean_interval
from opencompass_gpassk.metrics.version_metrics import ratio
from opencompass_gpassk.results.groups import in_group
from opencompass_gpassk.results.judged_trials import VALIDITY
from opencompass_gpassk.results.metric import (
    ACCURACY,
    G_PASS,
    REASONING,
    Metric,
    Over,
    Side,
    parse_metric,
)
from opencompass_gpassk.results.metric_intervals import IntervalSettings
from opencompass_gpassk.results.metric_values import percent

SETTINGS = IntervalSettings()
ROUNDING = 1e-9  # percent
FEWEST = 6  # clusters in which two models must differ for a claim
PRIMARY, OTHERS, GROUPS = 'primary metric', 'other metrics', 'groups'
FLIPS, GAINS = 'half-subsets', 'gain-loss'

Row = NDArray[np.float64]
Pair = tuple[int, int]
Ends = tuple[float, float]


@dataclass(frozen=True)
class Difference:
    """A metric of two models, in percent: a mean over units where both are defined, or a ratio.

    Attributes:
        group: The group's label, '' for the headline.
        metric: The metric; of accuracy it has n if n is the same.
        first: The first model's metric.
        second: The second model's metric.
        difference: The second metric minus the first, in points.
        low: Lower end of the difference's interval, for a population of such problems, in points;
            NaN if it is defined in fewer than five clusters.
        high: Upper end, in points.
        method: ``half-subsets``: the interval is that of the sign-flip test, see
            :func:`~opencompass_gpassk.metrics.paired.sign_flip_test`; ``gain-loss`` where fewer
            than :data:`FEWEST` clusters differ, see
            :func:`~opencompass_gpassk.metrics.share_intervals.bounded_mean_interval`; ``none``.
        p_value: Two-sided p-value of the paired sign-flip test, adjusted for its family; NaN
            without a test.
        family: The family of tests: the primary metric, the other metrics, or the groups; '' for
            none.
        units: Problems, or groups of versions, for which it is defined for both models.
        measured: Clusters of these units.
        differing: Those of them in which the models differ.
        totals: Shape (C,): the difference summed over each cluster.
        labels: The names of the clusters.
        drawn: See :meth:`.Aligned.drawn`, of this metric.
        ends: Of the first and of the second model, the lowest and the highest metric that missing
            verdicts allow, in percent; () if none is missing, or if that isn't known.
        fragile: Whether there is a claim that missing verdicts can overturn.
    """

    group: str
    metric: Metric
    first: float
    second: float
    difference: float
    low: float
    high: float
    method: str
    p_value: float
    family: str
    units: int
    measured: int
    differing: int
    totals: Row = field(repr=False, compare=False)
    labels: tuple[str, ...] = field(repr=False, compare=False)
    drawn: Row | None = field(default=None, repr=False, compare=False)
    ends: tuple[Ends, ...] = ()
    fragile: bool = False

    @property
    def name(self) -> str:
        """The metric's key."""
        return self.metric.key

    @property
    def key(self) -> str:
        """The metric's key in the result JSON, with its group."""
        return in_group(self.group, self.name)

    @property
    def heading(self) -> str:
        """The name that people read, with its group."""
        return in_group(self.group, self.metric.heading)

    @property
    def gain(self) -> float:
        """The second model's improvement, in points; negative if it is worse."""
        return self._sign * self.difference

    @property
    def difference_ends(self) -> Ends | None:
        """The least and the greatest difference that missing verdicts allow; None if unknown."""
        if not self.ends:
            return None
        (low, high), (other_low, other_high) = self.ends
        return other_low - high, other_high - low

    def claim(self, level: float) -> str:
        """Return whether the second model is ``better`` or ``worse``; '' if nothing is claimed."""
        if self.differing < FEWEST or not self.p_value <= 1 - level + ROUNDING:
            return ''
        return 'better' if self.gain > 0 else 'worse'

    def within(self, margin: float) -> bool | None:
        """Tell whether the second model is at most so many points worse; None if it isn't known.

        The whole interval, and what missing verdicts allow, must lie on one side of the margin.

        Args:
            margin: In points, at least 0.
        """
        reached = [self._sign * one for one in (self.low, self.high, *(self.difference_ends or ()))]
        low, high = min(reached), max(reached)
        return True if low > -margin else False if high < -margin else None

    def turned(self) -> Difference:
        """Return the difference of the first model from the second."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=-self.difference,
            low=-self.high,
            high=-self.low,
            ends=self.ends[::-1],
        )

    @property
    def _sign(self) -> int:
        return -1 if self.metric.lower_is_better else 1

    def without_claim(self) -> Difference:
        """Return the difference of what is not comparable: it has no p-value."""
        return replace(self, p_value=math.nan, family='')


def primary_metric(shared: Aligned, asked: Metric | None = None) -> Metric | None:
    """Return the metric by which models are compared first; None if they have none in common.

    It is RV accuracy if questions have versions, else G-Pass@k at τ = 1 and the greatest k that
    all models measured; accuracy if that is undefined; validity if answers are not judged.

    Args:
        shared: The models.
        asked: The metric that the user chose.

    Raises:
        ValueError: If the models don't all have the metric that was chosen.
    """
    known = {
        metric: block.values[..., place]
        for block in shared.parts['']
        for place, metric in enumerate(block.metrics)
    }
    if asked is not None:
        meant = [one for one in known if asked in (one, one.of_n(None))]
        if not meant or not meant[0].family.ranked:
            names = ', '.join(one.heading for one in known if one.family.ranked)
            raise ValueError(f'--primary {asked.heading}: choose from {names}')
        return meant[0]
    accuracies = [one for one in known if one.family is ACCURACY and one.side is Side.PLAIN]
    in_versions = any(one.family.over is Over.QUESTIONS for one in known)
    strictest = [
        one
        for one in known
        if one.family is G_PASS and one.tau == 1.0 and one.side is Side.PLAIN and not in_versions
        if not np.isnan(known[one]).all(axis=1).any()
    ]
    reasoning = [one for one in known if one.family is REASONING[VALIDITY, '']]
    if strictest:
        return max(strictest, key=lambda one: one.k or 0)
    return next(iter([*accuracies, *reasoning]), None)


def compare(
    shared: Aligned,
    primary: Metric | None = None,
    settings: IntervalSettings = SETTINGS,
) -> list[Difference]:
    """Return the difference of the second of two models from the first in every metric.

    Args:
        shared: Two models.
        primary: The primary metric, see :func:`primary_metric`.
        settings: Level of the intervals; resamples are the number of sign flips.

    Returns:
        The headline's differences, then those of the groups.
    """
    found = differences(shared, [(0, 1)], settings)[0, 1]
    families: dict[str, list[int]] = {}
    for place, one in enumerate(found):
        family = (GROUPS if one.group else PRIMARY) if one.metric == primary else OTHERS
        if one.metric.family.ranked and not (one.group and family is OTHERS):
            families.setdefault(family, []).append(place)
    for family, places in families.items():
        p_values = adjusted([found[place] for place in places], settings)
        for place, p_value in zip(places, p_values, strict=True):
            tested = replace(found[place], p_value=p_value, family=family)
            fragile = family == PRIMARY and _is_fragile(shared, tested, (0, 1), settings)
            found[place] = replace(tested, fragile=fragile)
    return found


def differences(
    shared: Aligned,
    pairs: Sequence[Pair],
    settings: IntervalSettings = SETTINGS,
    *,
    groups: bool = True,
) -> dict[Pair, list[Difference]]:
    """Return the differences of several pairs of models in every metric, without p-values.

    Args:
        shared: The models.
        pairs: (first, second) models; all are flipped together.
        settings: Level of the intervals; resamples are the number of sign flips.
        groups: Compare each group too.
    """
    found: dict[Pair, list[Difference]] = {pair: [] for pair in pairs}
    for label, blocks in shared.parts.items():
        for block in blocks if groups or not label else ():
            for together in _batches(shared, pairs):
                for pair, one in _differences(label, block, shared, together, settings):
                    found[pair].append(one)
    return found


def _batches(shared: Aligned, pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Return the pairs to flip together; draws of several pairs would take too much memory."""
    equal = [pair for pair in pairs if shared.equal_samples(*pair)]
    alone = [[pair] for pair in pairs if pair not in equal]
    return [equal, *alone] if equal else alone


def adjusted(family: Sequence[Difference], settings: IntervalSettings = SETTINGS) -> list[float]:
    """Return the p-value of each of a family's differences; NaN where it is undefined."""
    labels = {name: i for i, name in enumerate(dict.fromkeys(n for d in family for n in d.labels))}
    totals = np.zeros((len(labels), len(family)))
    draws = max((len(one.drawn) for one in family if one.drawn is not None), default=0)
    drawn = np.zeros((draws, *totals.shape))
    for column, one in enumerate(family):
        rows = [labels[name] for name in one.labels]
        totals[rows, column] = one.totals
        drawn[:, rows, column] = one.totals if one.drawn is None else one.drawn
    p_values = step_down(
        totals,
        flips=settings.resamples,
        seed=settings.seed,
        drawn=drawn if draws else None,
    ).tolist()
    return [
        math.nan if math.isnan(one.difference) else p
        for one, p in zip(family, p_values, strict=True)
    ]


def _differences(
    label: str, block: Block, shared: Aligned, pairs: Sequence[Pair], settings: IntervalSettings
) -> Iterable[tuple[Pair, Difference]]:
    drawn = shared.drawn(block, *pairs[0]) if len(pairs) == 1 else None
    extremes = shared.extremes(block)
    found = [shared.differences(block, *pair) for pair in pairs]
    sums = ClusterSums(
        *(np.concatenate([getattr(o, n) for o in found], 1) for n in ('totals', 'counts'))
    )
    size = len(block.metrics)
    alike = np.stack([shared.alike(*pair) for pair in pairs], axis=1)
    kept = np.where(np.repeat(alike, size, axis=1), 0.0, sums.totals)
    tested = sign_flip_test(
        ClusterSums(kept, sums.counts),
        level=settings.level,
        flips=settings.resamples,
        seed=settings.seed,
        drawn=drawn,
    )
    reach = np.tile([metric.most - metric.least for metric in block.metrics], len(pairs))
    if block.weights is not None:  # a cluster with many responses weighs more than one ratio
        reach = np.nan_to_num(np.abs(ratio(sums.totals, sums.counts))).max(axis=0, initial=1.0)
    several = sums.defined >= LEAST_CLUSTERS
    few = several & (tested.differing < FEWEST)
    ends = np.stack([tested.low, tested.high])
    ends[:, ~several] = np.nan
    if few.any():
        ends[:, few] = bounded_mean_interval(
            sums.columns(few), -reach[few], reach[few], settings.level
        )
    estimate = sums.means
    # What is expected of missing verdicts may differ where clusters are alike, and is not tested.
    low, high = np.minimum(ends[0], estimate), np.maximum(ends[1], estimate)
    for row, pair in enumerate(pairs):
        one, other = block.values[list(pair)]
        both = ~np.isnan(one) & ~np.isnan(other)
        metrics = _metrics(block, pair, both)
        for i, metric in enumerate(block.metrics):
            at = row * size + i
            yield (
                pair,
                Difference(
                    label,
                    metric,
                    float(metrics[0, i]),
                    float(metrics[1, i]),
                    _points(estimate[at]),
                    100 * float(low[at]),
                    100 * float(high[at]),
                    (GAINS if few[at] else FLIPS) if several[at] else 'none',
                    math.nan,
                    '',
                    int(both[:, i].sum()),
                    int(sums.defined[at]),
                    int(tested.differing[at]),
                    kept[:, at],
                    shared.labels,
                    None if drawn is None else drawn[:, :, i],
                    () if extremes is None else _ends(extremes[:, list(pair)][..., i], both[:, i]),
                ),
            )


def _metrics(block: Block, pair: Pair, both: NDArray[np.bool_]) -> Row:
    """Return the pair's metrics in percent, shape (2, M): means over units, or over responses."""
    if block.weights is None:
        return np.array(
            [
                [percent(column[known]) for column, known in zip(of.T, both.T, strict=True)]
                for of in block.values[list(pair)]
            ]
        ).reshape(2, -1)
    weights = block.weights[list(pair)]
    totals = np.where(weights > 0, np.nan_to_num(block.values[list(pair)]) * weights, 0.0)
    return 100 * ratio(totals.sum(axis=1), weights.sum(axis=1))


def _ends(extremes: Row, both: NDArray[np.bool_]) -> tuple[Ends, ...]:
    """Return the ends of two models' metrics, given their values of shape (2, models, U)."""
    ends = [[percent(values[both]) for values in of] for of in np.swapaxes(extremes, 0, 1)]
    return () if np.isnan(ends).any() else tuple((low, high) for low, high in ends)


def _points(share: float) -> float:
    points = 100 * float(share)
    return 0.0 if abs(points) < ROUNDING else points


def standing(
    shared: Aligned,
    primary: Metric,
    among: Sequence[int],
    settings: IntervalSettings = SETTINGS,
) -> tuple[dict[int, tuple[int, int]], dict[Pair, Difference]]:
    """Return the ranks of some models in the primary metric, and the test of every two.

    All pairs are tested together: with a chance of at least the level, all ranks are right.

    Args:
        shared: The models.
        primary: The primary metric.
        among: The models that can be compared with one another.
        settings: Level and number of sign flips.

    Returns:
        Model → the best and the worst rank that the data allow, from 1, see
        :func:`.paired.ranks_of`; and (first, second) → their difference. Models for which the
        metric is undefined are in neither; both are empty if fewer than two are left.
    """
    only = shared.only(primary)
    known = [i for i in among if not np.isnan(only.values[i]).all()]
    if len(known) < 2:
        return {}, {}
    pairs = list(combinations(known, 2))
    of_pairs = differences(replace(shared, parts={'': (only,)}), pairs, settings)
    found = [one for (one,) in of_pairs.values()]
    family = PRIMARY if len(pairs) == 1 else f'{PRIMARY}, all pairs'
    tested = {}
    for pair, one, p_value in zip(pairs, found, adjusted(found, settings), strict=True):
        of_pair = replace(one, p_value=p_value, family=family)
        tested[pair] = replace(of_pair, fragile=_is_fragile(shared, of_pair, pair, settings))
    sign = -1 if primary.lower_is_better else 1
    gains = [
        sign * one.totals.sum() if one.claim(settings.level) else 0.0 for one in tested.values()
    ]
    rows = [(known.index(a), known.index(b)) for a, b in pairs]
    ranks = ranks_of(len(known), rows, gains).tolist()
    return {i: (best, worst) for i, (best, worst) in zip(known, ranks, strict=True)}, tested


def tipping_point(shared: Aligned, one: Difference, settings: IntervalSettings = SETTINGS) -> str:
    """Return what the missing verdicts would have to be for a claim to fall; '' without any.

    The loser's missing verdicts are taken as right with a rising chance; if it has none, the
    winner's with a falling one. Those of the other model stay as expected, unless that overturns
    nothing.

    Args:
        shared: Two models.
        one: The claim: a headline metric that is computed from n and c of each problem.
        settings: Level and number of sign flips.
    """
    rows = shared.only(one.metric).units
    missing = [int(of[rows].sum()) for of in shared.decided[0] - shared.decided[1]]
    loser = 0 if one.gain > 0 else 1
    model = loser if missing[loser] else 1 - loser
    if not missing[model] or one.metric.family.estimator is None:
        return ''
    shares = range(101) if model == loser else range(100, -1, -1)
    falls = bisect_left(
        shares,
        True,
        key=lambda share: not _stays(shared, one, (0, 1), settings, {model: share / 100}),
    )
    name, other = 'AB'[model], 'AB'[1 - model]
    if falls <= 100:
        way = 'more' if model == loser else 'fewer'
        told = f"overturned if {shares[falls]} % or {way} of {name}'s {missing[model]} missing ones"
        return f'{told} are right'
    if one.fragile:
        return (
            f"overturned if all of {name}'s {missing[model]} missing ones are right and all of "
            f"{other}'s {missing[1 - model]} wrong"
        )
    return f"it holds whatever {name}'s {missing[model]} missing verdicts are"


def _is_fragile(shared: Aligned, one: Difference, pair: Pair, settings: IntervalSettings) -> bool:
    """Tell whether there is a claim, and missing verdicts can overturn it."""
    if not one.claim(settings.level) or not one.ends:
        return False
    loser, winner = pair if one.gain > 0 else pair[::-1]
    return not _stays(shared, one, pair, settings, {loser: 1.0, winner: 0.0})


def _stays(
    shared: Aligned,
    one: Difference,
    pair: Pair,
    settings: IntervalSettings,
    shares: Mapping[int, float],
) -> bool:
    """Tell whether a claim stays if missing verdicts are right with these chances.

    Args:
        shared: The models.
        one: The claim: a headline metric that is computed from n and c of each problem.
        pair: The models that it is about.
        settings: Level and number of sign flips.
        shares: Model → the chance of each of its missing verdicts.
    """
    only = shared.only(one.metric)
    values = only.values.copy()
    for model, share in shares.items():
        n, known, c = (of[model, only.units] for of in shared.decided)
        chances = binom.pmf(np.arange((n - known).max() + 1), (n - known)[:, None], share)
        values[model, :, 0] = expected(one.metric.estimator(), n, c, chances)
    sums = shared.differences(replace(only, values=values), *pair)
    p_value = sign_flip_test(
        sums, flips=settings.resamples, seed=settings.seed, drawn=shared.drawn(only, *pair)
    ).p_value[0]
    same = (sums.means[0] > 0) == (one.difference > 0)
    return bool(same and p_value <= 1 - settings.level + ROUNDING)


@dataclass(frozen=True)
class Check:
    """The check of one metric on one data set.

    Attributes:
        data_set: The data set's name.
        difference: The metric of both models; its p-value is that of the family of all checks.
        claim: Whether the second model is ``better`` or ``worse``; '' if nothing is claimed.
        unknowable: Why no test can tell; '' if it is known.
    """

    data_set: str
    difference: Difference
    claim: str
    unknowable: str = ''

    @property
    def worse(self) -> bool:
        """Whether the second model is worse."""
        return self.claim == 'worse'


def check_metrics(
    compared: Mapping[str, Sequence[Difference]],
    metrics: Sequence[str],
    settings: IntervalSettings = SETTINGS,
    incomparable: Mapping[str, Sequence[str]] = MappingProxyType({}),
    levels: Mapping[str, float] = MappingProxyType({}),
) -> list[Check]:
    """Check whether the second model is worse in some metrics.

    The metrics that are named, on all data sets, are one family of tests. If nothing has changed,
    the chance that any of them is called worse is at most (1 - ``level``) / 2. Metrics that are not
    named cost no power. With fewer than :data:`FEWEST` clusters of problems, or too few flips, no
    test can tell.

    Args:
        compared: Data set → differences.
        metrics: Metrics, such as ``mG-Pass@16``, ``average@16`` or ``en/G-Pass@16_1.0``.
            ``accuracy`` and ``average@n`` stand for any n. Each is checked on every data set that
            has it.
        settings: Level and number of sign flips.
        incomparable: Data set → why its results measure different things; then nothing is known.
        levels: Data set → level of its claims, if that is the level of a look.

    Raises:
        ValueError: If no data set has a metric, or it is undefined.
    """
    asked: dict[tuple[str, str], Difference] = {}
    for metric in metrics:
        found = {
            (data_set, one.key): one
            for data_set, differences in compared.items()
            for one in differences
            if is_meant(metric, one)
        }
        if not found:
            raise ValueError(f'--fail-if-worse {metric}: not both have it; {_known(compared)}')
        asked |= found
    for (data_set, key), one in asked.items():
        if not one.metric.family.ranked:
            raise ValueError(
                f'--fail-if-worse {key}: it is never ranked, since neither more nor less of it is '
                'better; take another metric'
            )
        if math.isnan(one.difference) and not incomparable.get(data_set):
            raise ValueError(
                f'--fail-if-worse {key}: it is undefined on {data_set}, since no problem has '
                'enough judged responses of both models'
            )
    p_values = adjusted(list(asked.values()), settings)
    tested = [
        (data_set, replace(one, p_value=p_value, family='checked metrics'))
        for ((data_set, _), one), p_value in zip(asked.items(), p_values, strict=True)
    ]
    return [
        Check(
            data_set,
            one.without_claim() if incomparable.get(data_set) else one,
            '' if incomparable.get(data_set) else one.claim(levels.get(data_set, settings.level)),
            '; '.join(incomparable.get(data_set, ()))
            or _unknowable(one, levels.get(data_set, settings.level), settings.resamples),
        )
        for data_set, one in tested
    ]


def is_meant(metric: str, one: Difference) -> bool:
    """Tell whether a metric as the user wrote it names this metric and its group."""
    group, _, name = metric.rpartition('/') if one.group else ('', '', metric)
    if group != one.group:
        return False
    try:
        meant = parse_metric(name)
    except ValueError:
        return False
    return meant in (one.metric, one.metric.of_n(None))


def _unknowable(one: Difference, level: float, flips: int) -> str:
    if one.measured < FEWEST:
        return (
            f'it is known on {one.measured} clusters of problems, and a claim needs {FEWEST} in '
            'which the models differ; take more problems'
        )
    if least_p_value(one.measured, flips) > 1 - level + ROUNDING:
        return (
            f'with {one.measured} clusters of problems and {flips} sign flips no p-value can be as '
            f'low as {1 - level:.2g}; take more problems'
        )
    return ''


def _known(compared: Mapping[str, Sequence[Difference]]) -> str:
    whole = [one for differences in compared.values() for one in differences]
    names = dict.fromkeys(one.metric.heading for one in whole if one.metric.family.ranked)
    groups = dict.fromkeys(one.group for one in whole if one.group)
    told = f', and GROUP/NAME for a group: {", ".join(groups)}' if groups else ''
    return f'choose from {", ".join(names)}{told}'
