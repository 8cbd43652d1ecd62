"""Differences of models on the same problems, and the models that may be as good as the best."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.compare.shared_problems import Aligned, Block
from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.clusters import ClusterSums
from opencompass_gpassk.metrics.paired import (
    claimed_p_value,
    holm,
    least_p_value,
    rank_intervals,
    ratio_differences,
    settled_test,
)
from opencompass_gpassk.metrics.version_figures import ratio
from opencompass_gpassk.results.figure_intervals import IntervalSettings
from opencompass_gpassk.results.figure_values import percent
from opencompass_gpassk.results.figures import Figure, parse_figure
from opencompass_gpassk.results.groups import in_group

SETTINGS = IntervalSettings()
ROUNDING = 1e-9  # percent
OPEN = 'the missing verdicts decide; judge them first'


@dataclass(frozen=True)
class Difference:
    """A figure of two models, in percent: a mean over units where both are defined, or a ratio.

    Attributes:
        group: The group's label, '' for the headline.
        figure: The figure; of accuracy it has n if n is the same.
        first: The first model's figure.
        second: The second model's figure.
        difference: The second figure minus the first, in points.
        low: Lower end of the difference's interval, for a population of such problems, in points.
        high: Upper end, in points.
        method: The interval's method, see
            :class:`~opencompass_gpassk.metrics.bootstrap_intervals.Intervals`.
        p_value: p-value of the paired sign-flip test, two-sided, with equal numbers of samples of
            each problem and the less favourable settlement of missing verdicts, see
            :func:`~opencompass_gpassk.metrics.paired.settled_test`, times the factor of a look; 1
            if the test supports the other sign of the difference, NaN if it is not ranked.
        adjusted: The p-value after Holm's correction over all figures of the headline; for groups,
            over all groups of one figure.
        units: Problems, or groups of versions, for which it is defined for both models.
        measured: Clusters of these units.
        differing: Those of them in which the models differ.
        clusters: Clusters that the test flips; more if units lack verdicts.
        least_p: The least p-value that a test of that many clusters can have.
        favourable_p: The p-value under the more favourable settlement; the same as ``p_value``
            where no verdict is missing.
        favourable: The same after Holm's correction.
    """

    group: str
    figure: Figure
    first: float
    second: float
    difference: float
    low: float
    high: float
    method: str
    p_value: float
    adjusted: float
    units: int
    measured: int
    differing: int
    clusters: int
    least_p: float
    favourable_p: float
    favourable: float

    @property
    def name(self) -> str:
        """The figure's key."""
        return self.figure.key

    @property
    def key(self) -> str:
        """The figure's key in the result JSON, with its group."""
        return in_group(self.group, self.name)

    @property
    def heading(self) -> str:
        """The name that people read, with its group."""
        return in_group(self.group, self.figure.heading)

    @property
    def gain(self) -> float:
        """The second model's improvement, in points; negative if it is worse."""
        return -self.difference if self.figure.lower_is_better else self.difference

    def without_claim(self) -> Difference:
        """Return the difference of what is not comparable: it has no p-values."""
        return replace(
            self, p_value=np.nan, adjusted=np.nan, favourable_p=np.nan, favourable=np.nan
        )


@dataclass(frozen=True)
class Standing:
    """The ranks of the models in one figure.

    Attributes:
        figures: Shape (models,), in percent; NaN where undefined.
        ranks: Shape (models, 2): the best and the worst rank that the data allow, from 1.
        best: Shape (models,): whether none of the models below has a better figure.
        among_best: Shape (models,): whether it may be the first.
    """

    figures: NDArray[np.float64]
    ranks: NDArray[np.int64]
    best: NDArray[np.bool_]
    among_best: NDArray[np.bool_]


def compare(
    shared: Aligned,
    settings: IntervalSettings = SETTINGS,
    *,
    groups: bool = True,
    factor: float = 1.0,
) -> list[Difference]:
    """Return the difference of the second model from the first in every figure.

    Intervals are from gains and losses of clusters, p-values from the paired sign-flip test of
    clusters. Figures with the same values for every problem, such as pass@k and G-Pass@k at
    τ = 0, count once in Holm's correction.

    Args:
        shared: Two models.
        settings: Level of the intervals; resamples are the number of sign flips.
        groups: Compare each group too.
        factor: Factor of p-values, if this is one of several looks, see
            :class:`~opencompass_gpassk.compare.comparability.Look`.

    Returns:
        The headline's differences, then those of the groups.

    Raises:
        ValueError: If there aren't two models.
    """
    if len(shared.models) != 2:
        raise ValueError(f'{len(shared.models)} models are aligned; compare two')
    tested = [
        one
        for label, blocks in shared.parts.items()
        if groups or not label
        for block in blocks
        for one in _differences(label, block, settings, factor)
    ]
    families: dict[str, list[_Tested]] = {}
    for one in tested:
        # A figure that is not ranked has no p-value and is no test among the others.
        alone = one.difference.group or not one.difference.figure.family.ranked
        families.setdefault(one.difference.name if alone else '', []).append(one)
    corrected = {one.key: one for family in families.values() for one in _corrected(family)}
    return [corrected[one.difference.key] for one in tested]


def distinguishable(
    shared: Aligned,
    label: str = '',
    *,
    figures: Collection[Figure] = (),
    flips: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> dict[Figure, Standing]:
    """Return for each figure which models are distinguishable from the best.

    All pairs are tested together, see :func:`~opencompass_gpassk.metrics.paired.rank_intervals`.
    With a chance of at least ``level``, all models found to be worse than the best are so.

    Args:
        shared: The models.
        label: The group's label, '' for the headline.
        figures: The figures to rank, all if empty.
        flips: Number of random sign flips.
        seed: Random seed of the flips.
        level: The chance that all ranks of a figure are right.
    """
    found = {}
    for block in shared.parts[label]:
        for index, figure in enumerate(block.figures):
            if (figures and figure not in figures) or not figure.family.ranked:
                continue
            low, high = block.tested[..., index]
            reached = 100 * _figures(block)[:, index]
            sign = -1.0 if figure.lower_is_better else 1.0
            # Bytes are a cache key: a figure is in several tables, and may equal another (τ = 0).
            values = np.round(sign * np.stack([low, high]), 12) + 0.0
            clusters = block.clusters.astype(np.int64).tobytes()
            ranks = _ranks(values.tobytes(), values.shape, clusters, flips, seed, level)
            among = (ranks[:, 0] == 1) & ~np.isnan(reached)
            # A model with a higher figure on other problems may be certain to be worse on these.
            best = among & (sign * reached == (sign * reached)[among].max(initial=-np.inf))
            found[figure] = Standing(reached, ranks, best, among)
    return found


@lru_cache(maxsize=512)
def _ranks(
    values: bytes, shape: tuple[int, ...], clusters: bytes, flips: int, seed: int, level: float
) -> NDArray[np.int64]:
    """Return the rank intervals of values, given as the bytes of an array."""
    low, high = np.frombuffer(values).reshape(shape)
    ranks = rank_intervals(
        low,
        np.frombuffer(clusters, np.int64),
        high=high,
        flips=flips,
        seed=seed,
        level=level,
    )
    ranks.setflags(write=False)  # all callers share it
    return ranks


@dataclass(frozen=True)
class _Tested:
    """A difference with an uncorrected p-value, and the differences of its problems."""

    difference: Difference
    values: bytes


def _differences(
    label: str, block: Block, settings: IntervalSettings, factor: float
) -> list[_Tested]:
    if not block.figures or not len(block.clusters):
        return []
    first, second = block.values
    of_both = ~np.isnan(first) & ~np.isnan(second)
    reach = np.array([figure.most - figure.least for figure in block.figures])
    if block.weights is None:
        figures = [
            [percent(np.where(of_both[:, i], row[:, i], np.nan)) for i in range(len(reach))]
            for row in block.values
        ]
        steps = np.clip(second - first, -reach, reach)  # rounding may put one slightly outside
        found = bootstrap_means(steps, block.clusters, bounds=(-reach, reach), **asdict(settings))
    else:
        figures = (100 * _figures(block)).tolist()
        of_first, of_second = (
            ClusterSums(*(ClusterSums.of(one, block.clusters).totals for one in of_model))
            for of_model in zip(*_weighted(block), strict=True)
        )
        found = ratio_differences(of_first, of_second, level=settings.level)
    ranked = np.array([figure.family.ranked for figure in block.figures])
    low, high = block.tested
    least, most = settled_test(
        low, high, block.clusters, flips=settings.resamples, seed=settings.seed
    )
    tests = ranked & ~np.isnan(found.estimate)
    p_values, favourable = (
        np.where(tests, np.minimum(factor * one, 1.0), np.nan)
        for one in (claimed_p_value(-found.estimate, least), most.min(axis=0))
    )
    defined = ~np.isnan(low[0].sum(axis=0))
    clusters = [len(np.unique(block.clusters[row])) for row in defined.T]
    sums = ClusterSums.of(np.where(of_both, second - first, np.nan), block.clusters)
    differing = (np.abs(sums.totals) > ROUNDING).sum(axis=0)
    draws = len(low)
    return [
        _Tested(
            Difference(
                label,
                figure,
                figures[0][i],
                figures[1][i],
                _points(found.estimate[i]),
                100 * float(found.low[i]),
                100 * float(found.high[i]),
                found.method[i],
                float(p_values[i]),
                np.nan,
                int(of_both[:, i].sum()),
                int(sums.defined[i]),
                int(differing[i]),
                clusters[i],
                min(
                    1.0, factor * (1 + (draws > 1)) * least_p_value(clusters[i], settings.resamples)
                ),
                float(favourable[i]),
                np.nan,
            ),
            block.tested[..., i].round(12).tobytes(),
        )
        for i, figure in enumerate(block.figures)
    ]


def _figures(block: Block) -> NDArray[np.float64]:
    """Return each model's figures, shape (models, M): means over units, or over responses."""
    if block.weights is None:
        found = [[percent(row[:, i]) for i in range(len(block.figures))] for row in block.values]
        return np.array(found).reshape(len(block.values), -1) / 100
    totals, counts = _weighted(block)
    return ratio(totals.sum(axis=1), counts.sum(axis=1))


def _weighted(block: Block) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, for each problem, the sum over its responses and their number."""
    weights = np.ones_like(block.values) if block.weights is None else block.weights
    return np.where(weights > 0, np.nan_to_num(block.values) * weights, 0.0), weights


def _points(share: float) -> float:
    points = 100 * float(share)
    return 0.0 if abs(points) < ROUNDING else points


def _corrected(family: Sequence[_Tested]) -> list[Difference]:
    """Return the differences of one family of tests with their adjusted p-values."""
    found = {one.values: (one.difference.p_value, one.difference.favourable_p) for one in family}
    both = np.array([holm(values) for values in np.transpose(list(found.values()))])
    adjusted = dict(zip(found, both.T.tolist(), strict=True))
    return [
        replace(one.difference, adjusted=p_value, favourable=favourable)
        for one in family
        for p_value, favourable in [adjusted[one.values]]
    ]


@dataclass(frozen=True)
class Check:
    """The check of one figure on one data set.

    Attributes:
        data_set: The data set's name.
        difference: The figure of both models.
        p_value: The p-value after Holm's correction over all checks.
        worse: Whether the second model is significantly worse.
        unknowable: Why it isn't known whether it is worse; '' if it is known.
    """

    data_set: str
    difference: Difference
    p_value: float
    worse: bool
    unknowable: str = ''


def check_metrics(
    compared: Mapping[str, Sequence[Difference]],
    metrics: Sequence[str],
    level: float,
    incomparable: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[Check]:
    """Check whether the second model is significantly worse in some figures.

    A figure is worse if it has fallen (or risen, if lower is better), and the two-sided p-value of
    the paired sign-flip test is below 1 - ``level`` after Holm's correction over the requested
    figures on all data sets. So if nothing has changed, the chance that any of them is reported as
    worse is at most (1 - ``level``) / 2. Figures that are not requested cost no power.

    A test with few clusters of problems, or few flips, can't be significant, whatever the data
    are. Such a check is marked as unknowable, and so is one that missing verdicts decide.

    Args:
        compared: Data set → differences.
        metrics: Figures, such as ``mG-Pass@16``, ``average@16`` or ``en/G-Pass@16_1.0``.
            ``accuracy`` and ``average@n`` stand for any n. Each is checked on every data set that
            has it.
        level: Confidence level of the checks.
        incomparable: Data set → why its results measure different things; then nothing is known.

    Raises:
        ValueError: If no data set has a figure, or it is undefined.
    """
    asked: dict[tuple[str, str], Difference] = {}
    for metric in metrics:
        found = {
            (data_set, one.key): one
            for data_set, differences in compared.items()
            for one in differences
            if _is_meant(metric, one)
        }
        if not found:
            raise ValueError(f'--fail-if-worse {metric}: not both have it; {_known(compared)}')
        asked |= found
    for (data_set, key), one in asked.items():
        if not one.figure.family.ranked:
            raise ValueError(
                f'--fail-if-worse {key}: it is never ranked, since neither more nor less of it is '
                'better; take another figure'
            )
        if math.isnan(one.p_value) and not incomparable.get(data_set):
            raise ValueError(
                f'--fail-if-worse {key}: it is undefined on {data_set}, since no problem has '
                'enough judged responses of both models'
            )
    adjusted = holm([one.p_value for one in asked.values()])
    possible = holm([one.favourable_p for one in asked.values()])
    fallen = np.array([one.gain < 0 for one in asked.values()], dtype=bool)
    worse, may_be_worse = (fallen & (p < 1 - level - 1e-12) for p in (adjusted, possible))
    return [
        Check(
            data_set,
            one,
            float(adjusted[i]),
            bool(worse[i]),
            '; '.join(incomparable.get(data_set, ()))
            or _unknowable(one, len(asked), level)
            or (OPEN if may_be_worse[i] and not worse[i] else ''),
        )
        for i, ((data_set, _), one) in enumerate(asked.items())
    ]


def _is_meant(metric: str, one: Difference) -> bool:
    """Tell whether a metric as the user wrote it names this figure and its group."""
    group, _, name = metric.rpartition('/') if one.group else ('', '', metric)
    if group != one.group:
        return False
    try:
        figure = parse_figure(name)
    except ValueError:
        return False
    return figure in (one.figure, one.figure.of_n(None))


def _unknowable(one: Difference, tests: int, level: float) -> str:
    least = one.least_p * tests
    if least < 1 - level - 1e-12:
        return ''
    return (
        f'with {one.clusters} clusters of problems and {tests} figures checked, the p-value (Holm) '
        f'is at least {min(least, 1.0):.2g}, so never below {1 - level:.2g}; take more problems, '
        'fewer figures, more --resamples or a lower --level'
    )


def _known(compared: Mapping[str, Sequence[Difference]]) -> str:
    whole = [one for differences in compared.values() for one in differences]
    names = dict.fromkeys(one.figure.heading for one in whole if one.figure.family.ranked)
    groups = dict.fromkeys(one.group for one in whole if one.group)
    told = f', and GROUP/NAME for a group: {", ".join(groups)}' if groups else ''
    return f'choose from {", ".join(names)}{told}'
