"""What may be said of two models that were asked the same problems, in one object.

:func:`compare_results` is the one way to it, for Python, the command, tables and gates. The page
compares every two models of a board by :func:`differences`, which it uses too. One metric is
primary; it is chosen before anyone looks. What is asked for together is one family, and is tested
together (see ``metrics/difference.py``). Other metrics and groups have plain intervals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.compare.comparability import (
    cautions,
    copied_samples,
    incomparable,
    sides_differ,
)
from opencompass_gpassk.compare.problem_changes import Change, problem_changes
from opencompass_gpassk.compare.shared_problems import Aligned, aligned
from opencompass_gpassk.metrics.difference import (
    Family,
    Line,
    Steps,
    against_claim,
    averaged,
    least_against,
    low_with_rare_kind,
    mean_coefficients,
    on_these_problems,
    paired_steps,
    two_lines,
)
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
from opencompass_gpassk.results.protocol import Protocol
from opencompass_gpassk.results.read import ModelResult, results_at

LEVEL, HIGHEST_LEVEL = 0.95, 0.9999
ROUNDING = 1e-9  # percent
# Fewer questions say nothing of others: rare kinds of them were not asked, least of all where
# models solve nearly all problems, or nearly none.
FEW, FEW_NEAR_BOUNDS, NEAR = 50, 500, 5.0

Pair = tuple[int, int]
Numbers = NDArray[np.float64]
Column = tuple[Steps, Numbers, tuple[float, float]]  # steps, their weights, the metric of both


class Interval(NamedTuple):
    """Where a difference lies, in points; NaN if that is unknown.

    Attributes:
        low: Lower end.
        high: Upper end.
        p_value: Two-sided; at most 1 - level exactly if 0 is outside. NaN if it was not tested.
        fragile: Whether 0 is outside, but missing verdicts could explain it: it is not if the
            winner's are all wrong, and the loser's like its judged ones.
    """

    low: float
    high: float
    p_value: float = math.nan
    fragile: bool = False

    @property
    def sign(self) -> int:
        """1 if it lies above 0, -1 below, 0 if neither."""
        return (self.low > 0) - (self.high < 0)


UNKNOWN = Interval(math.nan, math.nan)


@dataclass(frozen=True)
class Difference:
    """A metric of two models, in percent, on the problems where both have it.

    Attributes:
        group: The group's label, '' for the headline.
        metric: The metric; of accuracy it has n if n is the same.
        first: The first model's metric.
        second: The second model's metric.
        difference: The second metric minus the first, in points.
        these: On these problems; unknown for metrics that are not computed from n and c.
        like_these: For problems like these.
        tests: How many differences were tested together; 0 if it was not tested.
        units: Problems, or questions with all their versions, where both are defined.
        questions: Questions among these: versions of one are one.
        missing: Verdicts that the first and the second model lack of the problems that both were
            asked.
        level: Level of the intervals.
    """

    group: str
    metric: Metric
    first: float
    second: float
    difference: float
    these: Interval
    like_these: Interval
    tests: int
    units: int
    questions: int
    missing: tuple[int, int] = (0, 0)
    level: float = LEVEL

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
    def headline(self) -> Interval:
        """The line on these problems, or for problems like these if that is unknown."""
        return self.like_these if math.isnan(self.these.low) else self.these

    @property
    def fragile(self) -> bool:
        """Whether missing verdicts could explain what the headline says."""
        return self.headline.fragile

    @property
    def claim(self) -> str:
        """Whether the second model is ``better`` or ``worse``; '' if nothing is claimed.

        It is claimed on these problems, or if that line is unknown, for problems like these.
        """
        return self.claim_like_these if math.isnan(self.these.low) else self._word(self.these)

    @property
    def claim_like_these(self) -> str:
        """The same for problems like these; '' too where there are too few to speak of others."""
        return '' if self.few else self._word(self.like_these)

    @property
    def few(self) -> bool:
        """Whether these are too few questions to speak of others."""
        return self.questions < self.fewest

    @property
    def fewest(self) -> int:
        """The questions that a test for problems like these needs."""
        near = min(self.first, self.second) < NEAR or max(self.first, self.second) > 100 - NEAR
        return FEW_NEAR_BOUNDS if near else FEW

    @property
    def few_told(self) -> str:
        """That these are too few questions, and how many are needed."""
        least = min(self.first, self.second)
        end = f'below {NEAR:g}' if least < NEAR else f'above {100 - NEAR:g}'
        why = f', since {self.heading} of one model is {end} %' if self.fewest > FEW else ''
        return (
            f'A test for problems like these needs {self.fewest} questions{why}; you have '
            f'{self.questions}'
        )

    def _word(self, line: Interval) -> str:
        if not self.tests or line.fragile or not line.sign:
            return ''
        return 'better' if line.sign * self.better > 0 else 'worse'

    @property
    def better(self) -> int:
        """1 if more of the metric is better, -1 if less is."""
        return -1 if self.metric.lower_is_better else 1

    def turned(self) -> Difference:
        """Return the difference of the first model from the second."""
        these, like_these = (
            one._replace(low=-one.high, high=-one.low) for one in (self.these, self.like_these)
        )
        return replace(
            self,
            first=self.second,
            second=self.first,
            difference=-self.difference,
            these=these,
            like_these=like_these,
            missing=self.missing[::-1],
        )

    def untested(self, *, withheld: bool = False) -> Difference:
        """Return the difference without claims; ``withheld`` without a line on these problems."""
        these, like_these = (
            one._replace(p_value=math.nan, fragile=False) for one in (self.these, self.like_these)
        )
        return replace(self, these=UNKNOWN if withheld else these, like_these=like_these, tests=0)


class Asked(NamedTuple):
    """A difference to compute: of two models of some shared problems, in a group's metric."""

    shared: Aligned
    group: str
    metric: Metric
    pair: Pair = (0, 1)

    @property
    def estimated(self) -> bool:
        """Whether the metric is computed from n and c of each problem."""
        family = self.metric.family
        plain = family.over is Over.PROBLEMS and self.metric.side is Side.PLAIN
        return bool(family.estimator) and plain

    def missing(self) -> tuple[int, int]:
        """Return how many verdicts each model lacks of the problems that both were asked."""
        planned, _, decided, _ = self.counts()
        first, second = (planned - decided).sum(axis=1).tolist()
        return first, second

    def counts(self) -> list[NDArray[np.int64]]:
        """Return planned, judged, decided and right samples of both, each of shape (2, P).

        They are 0 for a problem that one was not asked, or that isn't in the group.
        """
        planned, judged, right = self.shared.counts
        inside = self.shared.asked(self.group, self.metric, *self.pair)
        of = (planned, judged, self.shared.decided[1], right)
        return [np.where(inside, one[list(self.pair)], 0) for one in of]


def differences(
    asked: Sequence[Asked], level: float = LEVEL, *, tested: bool = True
) -> list[Difference]:
    """Return differences that are asked for together.

    Args:
        asked: What to compute; metrics of several data sets may be among it.
        level: The level of the family's claims, or of each interval.
        tested: Whether they are one family, and have p-values; else each has its plain interval.
    """
    if not asked:
        return []
    columns = [_column(one) for one in asked]
    family = _family(asked, columns, level, tested)
    these, like_these = map(_in_points, (family.these, family.like_these))
    number = int((~np.isnan(family.estimate)).sum()) if tested else 0
    signs = [one.sign or other.sign for one, other in zip(these, like_these, strict=True)]
    worst = list(map(_if_missing_are_wrong, asked, columns, signs)) if tested else columns
    changed = [place for place, of in enumerate(worst) if of is not columns[place]]
    if changed:
        against = _family(asked, worst, level, tested)
        of_these, of_others = map(_in_points, (against.these, against.like_these))
        for place in changed:
            these[place] = _doubted(these[place], of_these[place])
            like_these[place] = _doubted(like_these[place], of_others[place])
    found = []
    for place, (one, (_, weight, sides)) in enumerate(zip(asked, columns, strict=True)):
        points = 100 * float(family.estimate[place])
        difference = Difference(
            one.group,
            one.metric,
            *sides,
            0.0 if abs(points) < ROUNDING else points,
            these[place],
            like_these[place],
            number,
            int((weight > 0).sum()),
            int(family.questions[place]),
            one.missing(),
            level,
        )
        found.append(difference if tested else difference.untested())
    return found


def _family(
    asked: Sequence[Asked], columns: Sequence[Column], level: float, tested: bool
) -> Family:
    """Return both lines of differences, of which each has its problems in a list of all."""
    data_sets = {id(one.shared): one.shared for one in asked}
    starts, clusters = _in_one_list([*data_sets.values()])
    start = dict(zip(data_sets, starts, strict=True))
    values, variances = np.full((2, len(clusters), len(asked)), np.nan)
    weights = np.zeros((len(clusters), len(asked)))
    for place, (one, (steps, weight, _)) in enumerate(zip(asked, columns, strict=True)):
        rows = slice(begin := start[id(one.shared)], begin + len(weight))
        values[rows, place], variances[rows, place] = steps.values[:, 0], steps.variances[:, 0]
        weights[rows, place] = weight
    return two_lines(Steps(values, variances), clusters, weights, level=level, corrected=tested)


def _if_missing_are_wrong(one: Asked, column: Column, sign: int) -> Column:
    """Return a column if the winner's missing verdicts are all wrong; the same if none can be."""
    if not (sign and one.estimated and any(one.missing())):
        return column
    steps = _steps_against(one, int(sign > 0))
    return steps, np.where(np.isnan(steps.values[:, 0]), 0.0, 1.0), column[2]


def _doubted(line: Interval, worst: Interval) -> Interval:
    return line._replace(fragile=line.sign not in (0, worst.sign))


def _in_one_list(data_sets: Sequence[Aligned]) -> tuple[list[int], NDArray[np.int64]]:
    """Return where the problems of each data set begin in a list of all, and all clusters."""
    ends = np.cumsum([len(one.problems) for one in data_sets])
    starts = [0, *ends.tolist()][:-1]
    clusters = [one.clusters + start for one, start in zip(data_sets, starts, strict=True)]
    return starts, np.concatenate(clusters)


def _column(one: Asked) -> Column:
    """Return the steps of a difference, their weights, and the metric of both in percent.

    The steps are differences of the values that the metric averages, so that they add up to the
    difference of the metrics that tables show. For ratios of sums they are residuals: with R the
    ratio of both models together, a problem's sum less R times its count. Swapping its responses
    between the models keeps R and changes the sign of their difference alone.
    """
    values, weights = one.shared.values(one.group, one.metric, *one.pair)
    totals = (values * weights).sum(axis=1)
    sizes = weights.sum(axis=1)
    sides = 100 * ratio(totals, sizes)
    pooled = ratio(totals.sum(), sizes.sum())
    residuals = weights * (values - pooled)
    scale = 2 * ratio(sizes[0] * sizes[1], sizes.sum() ** 2) * weights.sum(axis=0)
    steps = ratio(residuals[1] - residuals[0], scale)
    variances = np.full_like(steps, np.nan)
    inside = scale > 0
    if one.estimated:
        planned, judged, _, right = one.counts()
        variances = paired_steps(one.metric.estimator(), judged, right, planned=planned)[1][:, 0]
    first, second = map(float, sides)
    return Steps(steps[:, None], variances[:, None]), np.where(inside, scale, 0.0), (first, second)


def _in_points(line: Line) -> list[Interval]:
    return [
        Interval(100 * low, 100 * high, p_value)
        for p_value, low, high in zip(*(of.tolist() for of in line), strict=True)
    ]


def _steps_against(one: Asked, winner: int) -> Steps:
    """Return the steps of a difference if the winner's missing verdicts are all wrong."""
    planned, _, decided, right = one.counts()
    known = against_claim(planned, decided, winner)
    return paired_steps(one.metric.estimator(), known, right, planned=planned)


def _line_against(one: Asked, winner: int, level: float, tests: int = 1) -> Interval:
    """Return the line on these problems in that case."""
    steps = _steps_against(one, winner)
    line = on_these_problems(steps, mean_coefficients(steps), level=level, tests=tests)
    return _in_points(line)[0]


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


@dataclass(frozen=True)
class Comparison:
    """Two results on one data set, A and B.

    Attributes:
        a: The result of A.
        b: The result of B.
        shared: Both on the problems that they answered.
        primary: The difference of the primary metric, B minus A; None if they have none.
        metrics: The differences of all metrics that both have, the primary one among them.
        groups: The difference of the primary metric in each group.
        changes: Changes of the problems, the greatest first.
        incomparable: Why the metrics measure different things; then nothing is claimed.
        withheld: Why nothing is said on these problems: samples are copies; '' if they are not.
        cautions: What is wrong with each result by itself.
        settings: The settings in which they differ.
        level: Level of the claims and intervals.
        k: The k of G-Pass@k at τ = 1 of each problem; None without G-Pass@k.
    """

    a: ModelResult
    b: ModelResult
    shared: Aligned
    primary: Difference | None
    metrics: Sequence[Difference]
    groups: Sequence[Difference]
    changes: Sequence[Change]
    incomparable: Sequence[str]
    withheld: str
    cautions: Sequence[str]
    settings: Sequence[str]
    level: float
    k: int | None

    @property
    def name(self) -> str:
        """The data set's name, or both names."""
        return ' and '.join(dict.fromkeys((self.a.dataset, self.b.dataset)))

    @property
    def needed(self) -> int | None:
        """How many missing verdicts must go against the claim on these problems to take it away.

        None if there is no claim, none is missing, or it holds whatever they are.
        """
        one = self.primary
        if not (one and one.tests and one.these.sign and any(one.missing)):
            return None
        asked = Asked(self.shared, '', one.metric)
        if not asked.estimated:
            return None
        planned, _, decided, right = asked.counts()
        return least_against(
            one.metric.estimator(), planned, decided, right, level=self.level, tests=one.tests
        )

    def as_stable(self, margin: float) -> bool | None:
        """Tell whether B is at most so many points worse on these problems; None if undecided.

        It must hold if B's missing verdicts are all wrong, and A's like its judged ones; that it
        doesn't hold, the other way round.

        Args:
            margin: In points, at least 0.
        """
        one = self.primary
        if one is None or self.incomparable or self.withheld:
            return None
        if math.isnan(one.these.low) and (one.few or any(one.missing)):
            return None
        asked = Asked(self.shared, '', one.metric)
        low, high = (one if one.better > 0 else one.turned()).headline[:2]
        if asked.estimated and any(one.missing):
            worst, best = (_line_against(asked, winner, self.level) for winner in (1, 0))
            low, high = min(low, worst.low), max(high, best.high)
        return True if low > -margin else False if high < -margin else None

    def as_stable_like_these(self, margin: float) -> bool | None:
        """Tell the same for problems like these, of which rare hard kinds may not have been asked.

        None too where there are too few to speak of others.
        """
        one = self.primary
        if one is None or self.incomparable or one.few or not self.as_stable(margin):
            return None
        turned = one if one.better > 0 else one.turned()
        lost = one.first if one.better > 0 else 100 - one.first
        low = low_with_rare_kind(turned.like_these.low / 100, lost / 100, one.questions, self.level)
        return True if 100 * float(low) > -margin else None


def compare_results(
    a: ModelResult | str | Path,
    b: ModelResult | str | Path,
    *,
    primary: Metric | str | None = None,
    level: float = LEVEL,
    unfinished: Mapping[Path, str] | None = None,
) -> Comparison:
    """Compare two results on the problems that both answered.

    Args:
        a: A result, or its path: of ``gpassk score -o``, or in a run of OpenCompass. Its trials lie
            beside it.
        b: The result to compare with it; differences are B minus A.
        primary: The metric by which B is compared first, such as ``average@16``; by default
            G-Pass@k at τ = 1 and the greatest k of both.
        level: Level of the claims and intervals, from 0.5 to 0.9999.
        unfinished: The states of tasks that are not finished, by the path of the result.

    Raises:
        ValueError: If a path holds no result or several, they have no problem in common, or not
            both have the metric.
    """
    if not 0.5 <= level <= HIGHEST_LEVEL:
        raise ValueError(f'the level is {level!r}; give one from 0.5 to {HIGHEST_LEVEL}')
    a, b = (one if isinstance(one, ModelResult) else _only_result(Path(one)) for one in (a, b))
    tables = {'A': a.table(), 'B': b.table()}
    of_both = common_protocols([a.result.protocol, b.result.protocol])
    name = ' and '.join(dict.fromkeys((a.dataset, b.dataset)))
    try:
        shared = aligned(tables, dict(zip('AB', of_both, strict=True)))
        if not shared.shared(0, 1).size:
            told = ': '.join(shared.left_out[0])[:200]
            raise ValueError(f'they have no problem in common, such as {told}')
        chosen = primary_metric(
            shared, parse_metric(primary) if isinstance(primary, str) else primary
        )
    except ValueError as error:
        raise ValueError(f'{name}: {error}') from error
    ks = [max(one.ks, default=None) for one in of_both]
    k = None if None in ks else ks[0]
    reasons = incomparable(a, b, (tables['A'], tables['B']))
    copies = {} if reasons else copied_samples({'A': a.result, 'B': b.result}, tables)
    withheld = '; '.join(_of_whom(whom, why) for whom, why in copies.items())
    metrics = differences(every_metric(shared), level, tested=False)
    groups = differences(
        [
            Asked(shared, group, chosen)
            for group in shared.parts
            if group and chosen and shared.has(group, chosen)
        ],
        level,
        tested=False,
    )
    found = None
    if chosen:
        (found,) = differences([Asked(shared, '', chosen)], level)
        if reasons or withheld:
            found = found.untested(withheld=bool(withheld))
        metrics = [found if one.metric == chosen else one for one in metrics]
    if withheld:
        metrics, groups = ([one.untested(withheld=True) for one in of] for of in (metrics, groups))
    return Comparison(
        a,
        b,
        shared,
        found,
        metrics,
        groups,
        problem_changes(shared, k),
        reasons,
        withheld,
        cautions(a, b, unfinished or {}),
        sides_differ(a, b),
        level,
        k,
    )


def _of_whom(models: frozenset[str], why: str) -> str:
    return why if len(models) > 1 else f'{min(models)}: {why}'


def _only_result(path: Path) -> ModelResult:
    found = results_at(path, lambda told: None)
    if len(found) != 1:
        names = ', '.join(one.name for one in found)
        raise ValueError(f'{path} holds {len(found)} results ({names}); give the path of one')
    return found[0]


def every_metric(shared: Aligned, pair: Pair = (0, 1)) -> list[Asked]:
    """Return the differences of a pair of models in all headline metrics, to compute."""
    return [
        Asked(shared, '', metric, pair) for block in shared.parts[''] for metric in block.metrics
    ]


def mean_difference(compared: Sequence[Comparison], level: float = LEVEL) -> Difference | None:
    """Return the unweighted mean difference of several data sets, as one test.

    None if there is only one, the primary metrics differ, or nothing is claimed of one of them.
    """
    found = [one.primary for one in compared]
    tested = [one for one in found if one and one.tests and not math.isnan(one.difference)]
    keys = {replace(one.metric, n=None) for one in tested}
    if len(tested) < max(len(compared), 2) or len(keys) > 1:
        return None
    asked = [Asked(one.shared, '', of.metric) for one, of in zip(compared, tested, strict=True)]
    columns = list(map(_column, asked))
    family = _mean(asked, columns, level)
    these, like_these = (_in_points(line)[0] for line in (family.these, family.like_these))
    sign = these.sign or like_these.sign
    worst = [_if_missing_are_wrong(*of, sign) for of in zip(asked, columns, strict=True)]
    if any(new is not old for new, old in zip(worst, columns, strict=True)):
        against = _mean(asked, worst, level)
        these = _doubted(these, _in_points(against.these)[0])
        like_these = _doubted(like_these, _in_points(against.like_these)[0])
    first, second = (
        float(np.mean([getattr(one, of) for one in tested])) for of in ('first', 'second')
    )
    missing = np.sum([one.missing for one in tested], axis=0).tolist()
    return Difference(
        '',
        tested[0].metric
        if len({one.metric for one in tested}) == 1
        else tested[0].metric.of_n(None),
        first,
        second,
        100 * float(family.estimate[0]),
        these,
        like_these,
        1,
        sum(one.units for one in tested),
        int(family.questions[0]),
        (missing[0], missing[1]),
        level,
    )


def _mean(asked: Sequence[Asked], columns: Sequence[Column], level: float) -> Family:
    """Return both lines of the unweighted mean of one difference of each data set."""
    steps, weights = averaged([of[0] for of in columns], [of[1] for of in columns])
    _, clusters = _in_one_list([one.shared for one in asked])
    return two_lines(steps, clusters, weights, level=level)


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
    # Metrics of one sample have no k.
    return [
        replace(first, n=one.n, k=ks if one.n > 1 else (), taus=taus, sound=sound)
        for one in protocols
    ]


@dataclass(frozen=True)
class Check:
    """A metric that the user named, on one data set: is B worse?

    Attributes:
        data_set: The data set's name.
        difference: The metric of both models; all checks are one family.
        unknown: Why it can't be told; '' if it can.
    """

    data_set: str
    difference: Difference
    unknown: str = ''

    @property
    def worse(self) -> bool:
        """Whether the second model is worse."""
        return not self.unknown and self.difference.claim == 'worse'


def check_metrics(
    compared: Sequence[Comparison], names: Sequence[str], level: float = LEVEL
) -> list[Check]:
    """Check whether B is worse in some metrics, which are one family on all data sets.

    Args:
        compared: The comparisons.
        names: Metrics, such as ``mG-Pass@16``, ``average@16`` or ``en/G-Pass@16_1.0``.
            ``accuracy`` and ``average@n`` stand for any n. Each is checked on every data set that
            has it.
        level: Level of the family.

    Raises:
        ValueError: If no data set has a metric, it is never ranked, or it is undefined.
    """
    asked: dict[tuple[int, str], Asked] = {}
    for name in names:
        found = {
            (place, in_group(group, metric.key)): Asked(one.shared, group, metric)
            for place, one in enumerate(compared)
            for group, blocks in one.shared.parts.items()
            for metric in (metric for block in blocks for metric in block.metrics)
            if is_meant(name, group, metric)
        }
        if not found:
            raise ValueError(f'--fail-if-worse {name}: not both have it; {_known(compared)}')
        asked |= found
    for (_, key), one in asked.items():
        if not one.metric.family.ranked:
            raise ValueError(
                f'--fail-if-worse {key}: it is never ranked, since neither more nor less of it is '
                'better; take another metric'
            )
    checks = []
    found_all = differences([*asked.values()], level)
    for ((place, key), one), found_one in zip(asked.items(), found_all, strict=True):
        of = compared[place]
        why = '; '.join(of.incomparable) or of.withheld
        if math.isnan(found_one.difference) and not why:
            raise ValueError(
                f'--fail-if-worse {key}: it is undefined on {of.name}, since no problem has '
                'enough judged responses of both models'
            )
        if not why and math.isnan(found_one.these.low) and found_one.few:
            why = found_one.few_told
        if not why and not found_one.claim and _could_be_worse(one, found_one):
            why = f'by {sum(found_one.missing)} missing verdicts it may be worse'
        checks.append(Check(of.name, found_one.untested() if why else found_one, why))
    return checks


def _could_be_worse(one: Asked, found: Difference) -> bool:
    """Tell whether the second model is worse if its missing verdicts are all wrong."""
    if not (one.estimated and any(found.missing)):
        return False
    return found.fragile or _line_against(one, 1, found.level, found.tests).sign < 0


def is_meant(name: str, group: str, metric: Metric) -> bool:
    """Tell whether a metric as the user wrote it names this metric of a group."""
    of_group, _, key = name.rpartition('/') if group else ('', '', name)
    if of_group != group:
        return False
    try:
        meant = parse_metric(key)
    except ValueError:
        return False
    return meant in (metric, metric.of_n(None))


def _known(compared: Sequence[Comparison]) -> str:
    parts = [one.shared.parts for one in compared]
    metrics = [metric for of in parts for block in of[''] for metric in block.metrics]
    names = dict.fromkeys(one.heading for one in metrics if one.family.ranked)
    groups = dict.fromkeys(group for of in parts for group in of if group)
    told = f', and GROUP/NAME for a group: {", ".join(groups)}' if groups else ''
    return f'choose from {", ".join(names)}{told}'
