"""Simulate how often claims about models are false, and intervals of differences too short.

    python benchmarks/claims.py [--part leaderboards pairs looks differences verdicts]

Leaderboards: who is better, and who is the most stable? Models answer 119 problems. A problem's
rate of right responses is that of its difficulty, the model's skill and chance (logit; the models
find different problems hard). In half of the rows all skills are equal, so that each claim is
false; in the others the first model is better than the rest and the last one worse. Models have 16
samples of each problem, or every second one has 48. Verdicts are missing at random, or more often
for hard problems; what the responses were is known here. The metric is G-Pass@8_1.0, the one most
sensitive to a wrong verdict.

A claim is false if the ranks say of more models than there are that they are better or worse; or
if a model is called the most stable that isn't alone the best. Power is the share of leaderboards
whose best model is called the most stable, and the share of the pairs that differ about which it is
known.

Pairs: two models with equal metrics in the population, and then a second one that is better by
SKILL (logit). Problems are alone or in clusters of four versions; the rates of both models have one
shape, or the second solves nearly always or never; verdicts are missing at random, or only of wrong
answers, or only of the first model's right ones, which biases the metric itself. A row shows how
often one is called better by the primary metric, how often any other metric is, power, how often
the interval of the primary metric contains the truth, and how often "at most 3 points less stable"
is said of a model that is 3 points less stable.

A row of equal models misses if the lower 99 % limit of its share of false claims, by Wilson, is
above 5 %.

The part on looks compares two models with 16 samples of each problem, with 32 and with 48, and
stops at the first claim that one is better. In one row only the problems that the second model
solved less often are extended.

Differences: how often does the 95 % interval of ``gpassk compare`` contain the difference in the
population of problems? Rates are as above, placed so that the models' metrics have given means. A
cell is a pair of models, a number of problems (as they are, or each in two languages, of which four
of five have the same rates), numbers of samples, and a metric. The table has the least and the mean
coverage of some cells, and their intervals' mean width. The mark is 92 % in each cell if metrics
are at least 2 %.

Verdicts: 1 % of right answers are called wrong, 0.5 % of wrong ones right, or half of the right
answers to 5 % of the problems, and 30 % of the wrong ones to another 5 %. Some verdicts are
labelled. How often does the range of ``judge_error`` contain G-Pass@8_1.0 under true verdicts?
There is one run for five leaderboards.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import binom

from opencompass_gpassk.compare.differences import FEWEST
from opencompass_gpassk.compare.shared_problems import DRAWS
from opencompass_gpassk.judging.audit_sample import AuditTrial, draw_sample, judge_audit
from opencompass_gpassk.metrics.clusters import ClusterSums
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.gpassk import g_pass_at_k
from opencompass_gpassk.metrics.judge_error import LabelledOutcomes
from opencompass_gpassk.metrics.look_levels import look_levels
from opencompass_gpassk.metrics.missing import expected, right_among_missing
from opencompass_gpassk.metrics.paired import ranks_of, sign_flip_test, step_down
from opencompass_gpassk.metrics.share_intervals import bounded_mean_interval, wilson
from opencompass_gpassk.results.metric import parse_metric
from opencompass_gpassk.results.true_verdicts import TrueVerdicts, truth_range
from opencompass_gpassk.trials import Problem, Trial, TrialTable, Verdict

PROBLEMS, K, LEVEL = 119, 8, 0.95
FEW, MANY = 16, 48
SKILL = 0.8
FLIPS = 999
STRICTEST = Estimator('G-Pass', K, 1.0)
MISSING = {'none': (0.0, 0.0), '3 % at random': (0.03, 0.0), '3 %, hard ones more': (0.0, 0.06)}
HEADINGS = (
    *('models', 'skills', 'samples', 'missing verdicts', 'false rank, %', 'false best, %'),
    *('best found, %', 'pairs found, %'),
)
LOOKS = look_levels([16, 32, 48], LEVEL)
LOOK_FLIPS = 9_999  # the first level is below 1/1000
# Pair of models → standard deviation of what they find different, skill of the second.
PAIRS = {
    'the same': (0.0, 0.0),
    'equally good': (0.5, 0.0),
    'equally good, chosen problems extended': (0.5, 0.0),
    'second better': (0.5, 0.3),
}
LOOK_HEADINGS = (
    *('models', 'one look at n = 48, %', 'each look at 5 %, %', 'each look at its level, %'),
    'samples of the last, mean',
)
Integers = NDArray[np.int64]


class Case(NamedTuple):
    """One kind of leaderboard.

    Attributes:
        models: Number of models.
        unequal: Whether their skills differ.
        mixed: Whether every second model has more samples.
        missing: Kind of missing verdicts.
    """

    models: int
    unequal: bool
    mixed: bool
    missing: str


class Outcome(NamedTuple):
    """What was claimed of one leaderboard.

    Attributes:
        false: Whether a rank contradicts the truth.
        false_best: Whether a model is called the most stable that isn't alone the best.
        best: Whether the best model is called the most stable; NaN where there is none.
        pairs: Share of the pairs that differ of which the better one is known; NaN without any.
    """

    false: bool
    false_best: bool
    best: float
    pairs: float


def simulated(case: Case, seed: int) -> Outcome:
    """Draw a leaderboard, rank its models, and compare with the truth."""
    rng = np.random.default_rng([*b'claims', seed])
    skill = np.zeros(case.models)
    if case.unequal:
        skill[0], skill[-1] = SKILL, -SKILL
    difficulty = rng.normal(0.5, 2.5, PROBLEMS)
    rate = expit(difficulty + skill[:, None] + rng.normal(0, 0.5, (case.models, PROBLEMS)))
    n = np.full((case.models, PROBLEMS), FEW)
    n[1::2] = MANY if case.mixed else FEW
    anywhere, where_hard = MISSING[case.missing]
    missing = rng.binomial(n, anywhere + where_hard * (1 - rate))
    right = rng.binomial(n - missing, rate)
    (values,) = filled(n, right, missing, [STRICTEST])
    pairs = list(combinations(range(case.models), 2))
    steps = np.stack([paired(values, n, right, missing, *pair) for pair in pairs], axis=1)
    fewer = [drawn_down(n[[i, j]], right[[i, j]], missing[[i, j]], [STRICTEST]) for i, j in pairs]
    drawn = None
    if case.mixed:
        drawn = np.stack(
            [
                np.repeat(steps[None, :, i], DRAWS, axis=0) if of is None else of[:, :, 0]
                for i, of in enumerate(fewer)
            ],
            axis=-1,
        )
    certain = step_down(steps, flips=FLIPS, drawn=drawn) <= 1 - LEVEL
    certain &= (steps != 0).sum(axis=0) >= FEWEST
    if drawn is not None:
        certain &= (drawn != 0).sum(axis=1).mean(axis=0) >= FEWEST
    ranks = ranks_of(case.models, pairs, np.where(certain, steps.sum(axis=0), 0.0))
    better = (skill[None, :] > skill[:, None]).sum(axis=1)
    worse = (skill[None, :] < skill[:, None]).sum(axis=1)
    known_better, known_worse = ranks[:, 0] - 1, case.models - ranks[:, 1]
    stable = (ranks == 1).all(axis=1)
    alone = (skill == skill.max()) & (worse == case.models - 1)
    return Outcome(
        bool((known_better > better).any() or (known_worse > worse).any()),
        bool((stable & ~alone).any()),
        float(stable[0]) if case.unequal else np.nan,
        float(known_worse.sum() / worse.sum()) if case.unequal else np.nan,
    )


def filled(
    n: Integers, right: Integers, missing: Integers, estimators: Sequence[Estimator]
) -> NDArray[np.float64]:
    """Return metrics' values, as expected over the missing verdicts, shape (metrics, models, P)."""
    chances = [
        right_among_missing(lost, of_n - lost, of_c)
        for of_n, of_c, lost in zip(n, right, missing, strict=True)
    ]
    return np.stack(
        [
            [expected(estimator, *of) for of in zip(n, right, chances, strict=True)]
            for estimator in estimators
        ]
    )


def paired(
    values: NDArray[np.float64],
    n: Integers,
    right: Integers,
    missing: Integers,
    first: int,
    second: int,
) -> NDArray[np.float64]:
    """Return the differences of two models; 0 where verdicts are missing and shares are equal."""
    known = n - missing
    alike = (missing[first] + missing[second] > 0) & (
        right[first] * known[second] == right[second] * known[first]
    )
    return np.where(alike, 0.0, np.nan_to_num(values[second] - values[first]))


def drawn_down(
    n: Integers, right: Integers, missing: Integers, estimators: Sequence[Estimator]
) -> NDArray[np.float64] | None:
    """Return differences of two models with equally many samples, as ``compare`` draws them.

    Returns:
        Shape (DRAWS, P, metrics); None if both have equally many.
    """
    least = n.min(axis=0)
    if (n == least).all():
        return None
    rng = np.random.default_rng(0)
    known, shape = n - missing, (DRAWS, n.shape[1])
    drawn = []
    for of_known, of_right in zip(known, right, strict=True):
        judged = np.minimum(of_known, least)
        found = rng.hypergeometric(of_right, of_known - of_right, judged, shape)
        share = (of_right + 0.5) / (of_known + 1)
        drawn.append(found + rng.binomial(least - judged, share, shape))
    tables = [one(least[0], np.arange(least[0] + 1)) for one in estimators]
    return np.stack([table[drawn[1]] - table[drawn[0]] for table in tables], axis=-1)


def row(case: Case, found: Sequence[Outcome]) -> list[str]:
    """Return a row of the table; a share that is too high is marked."""
    told = [
        told_share([one.false for one in found]),
        told_share([one.false_best for one in found]),
    ]
    powers = ['–', '–']
    if case.unequal:
        powers = [f'{100 * np.mean([one[i] for one in found]):.0f}' for i in (2, 3)]
    skills = 'first better, last worse' if case.unequal else 'equal'
    samples = f'{FEW} and {MANY}' if case.mixed else str(FEW)
    return [str(case.models), skills, samples, case.missing, *told, *powers]


def told_share(claims: ArrayLike) -> str:
    """Return the share of false claims in percent, marked if it is surely above 5 %."""
    found = np.asarray(claims, bool)
    low, _ = wilson(found.sum(), len(found), 0.98)
    return f'{100 * found.mean():.1f}' + ' MISSED' * bool(low > 1 - LEVEL)


def looked(pair: str, seed: int) -> NDArray[np.float64]:
    """Draw two models' samples, and return the p-value at each look."""
    rng = np.random.default_rng([*b'looks', seed])
    apart, skill = PAIRS[pair]
    difficulty = rng.normal(0.5, 2.5, PROBLEMS)
    rate = expit(difficulty + [[0], [skill]] + apart * rng.normal(0, 1, (2, PROBLEMS)))
    steps = np.diff([0, *LOOKS])
    right = rng.binomial(steps[:, None, None], rate, (len(steps), 2, PROBLEMS)).cumsum(axis=0)
    n = np.array([*LOOKS])[:, None, None]
    values = np.asarray(g_pass_at_k(np.broadcast_to(n, right.shape), right, K, 1.0))
    gains = values[:, 1] - values[:, 0]
    if 'chosen' in pair:
        gains = np.where(right[0, 1] < right[0, 0], gains, gains[0])
    return sign_flip_test(ClusterSums.of(gains.T), flips=LOOK_FLIPS).p_value


def looks_row(pair: str, p_values: NDArray[np.float64]) -> list[str]:
    """Return the shares of comparisons, shape (runs, looks), in which a model is called better."""
    alone = p_values[:, -1] < 1 - LEVEL
    nominal = (p_values < 1 - LEVEL).any(axis=1)
    claimed = p_values < [*LOOKS.values()]
    shares = [f'{100 * np.mean(one):.1f}' for one in (alone, nominal, claimed.any(axis=1))]
    claimed[:, -1] = True  # there nobody goes on
    return [pair, *shares, f'{np.array([*LOOKS])[claimed.argmax(axis=1)].mean():.1f}']


class Null(NamedTuple):
    """Two models with equal metrics.

    Attributes:
        problems: Number of problems.
        samples: Of the first and of the second model.
        shape: Whether both have rates of one shape, or the second solves nearly always or never,
            or both solve all problems at times.
        clusters: Problems in a cluster.
        missing: Which verdicts are missing.
    """

    problems: int
    samples: tuple[int, int]
    shape: str
    clusters: int
    missing: str


PEAK = 'of one peak'  # metrics of nearly 0, which 8 samples show as 0, and 48 don't
LOST = ('none', '2 % at random', '10 % at random', '10 % of wrong ones', "10 % of first's right")
NULLS = [
    *(Null(p, (16, 16), 'one', 1, 'none') for p in (24, 45, 119, 500)),
    *(Null(p, n, PEAK, 1, 'none') for p in (48, 119) for n in ((16, 48), (8, 48))),
    *(Null(p, n, 'one', 1, 'none') for p in (45, 119) for n in ((16, 48), (8, 48), (48, 16))),
    *(Null(119, (16, 16), 'one', 1, missing) for missing in LOST[1:]),
    *(Null(119, (16, 48), 'one', 1, missing) for missing in LOST[1:3]),
    *(Null(120, n, 'one', 4, 'none') for n in ((16, 16), (16, 48))),
    *(Null(p, n, 'other', 1, 'none') for p in (45, 119) for n in ((16, 16), (16, 48))),
]
OTHERS = ('accuracy', 'pass@8', 'G-Pass@8_0.25', 'G-Pass@8_0.5', 'G-Pass@8_0.75', 'mG-Pass@8')
MARGIN = 0.03
NULL_HEADINGS = (
    *('problems', 'samples', 'rates', 'in clusters of', 'missing', 'false: primary, %'),
    *('false: any other, %', 'found, %', 'covered, %', 'false "as stable", %'),
)


def pair_rates(
    case: Null, gap: float, skill: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return both models' rates; G-Pass@8_1.0 of the second is ``gap`` lower in the population."""
    if case.shape == PEAK:
        rate = rng.beta(2, 4, case.problems)
        return np.stack([rate, expit(np.log(rate / (1 - rate)) + skill)])
    clusters = case.problems // case.clusters
    spreads = (2.5, 0.5), (2.5, 4.0 if case.shape == 'other' else 0.5)
    shared = np.repeat(rng.normal(0, 1, clusters), case.clusters)
    rates = []
    for (common, own), share, more in zip(spreads, (0.3, 0.3 - gap), (0.0, skill), strict=True):
        at = place('G-Pass@8_1.0', share, float(np.hypot(common, own)))
        alone = np.repeat(rng.normal(0, own, clusters), case.clusters)
        rates.append(expit(at + more + common * shared + alone))
    return np.stack(rates)


def pair_claims(case: Null, gap: float, skill: float, seed: int) -> tuple[bool, bool, bool, bool]:
    """Draw two models; return what is claimed: primary, others, truth covered, as stable."""
    rng = np.random.default_rng([*f'pairs {case}'.encode(), seed])
    rate = pair_rates(case, gap, skill, rng)
    n = np.tile(np.array(case.samples)[:, None], (1, case.problems))
    correct = rng.binomial(n, rate)
    wrong = n - correct
    share = 0.02 if '2 %' in case.missing else 0.0 if case.missing == 'none' else 0.1
    lost_right = rng.binomial(correct, 0.0 if 'wrong' in case.missing else share)
    lost_wrong = rng.binomial(wrong, 0.0 if 'right' in case.missing else share)
    if 'first' in case.missing:
        lost_right[1] = 0
    missing, right = lost_right + lost_wrong, correct - lost_right
    member = np.arange(case.problems) // case.clusters
    estimators = [parse_metric(name).estimator() for name in ('G-Pass@8_1.0', *OTHERS)]
    steps = np.stack(
        [
            paired(values, n, right, missing, 0, 1)
            for values in filled(n, right, missing, estimators)
        ],
        axis=1,
    )
    sums = ClusterSums.of(steps, member)
    drawn = drawn_down(n, right, missing, estimators)
    if drawn is not None:
        drawn = drawn.reshape(DRAWS, -1, case.clusters, len(estimators)).sum(axis=2)
    first, others = (None, None) if drawn is None else (drawn[:, :, :1], drawn[:, :, 1:])
    found = sign_flip_test(sums.columns(slice(0, 1)), level=LEVEL, flips=FLIPS + 1, drawn=first)
    enough = (sums.totals != 0).sum(axis=0) >= FEWEST
    if drawn is not None:
        enough &= (drawn != 0).sum(axis=1).mean(axis=0) >= FEWEST
    adjusted = step_down(sums.totals[:, 1:], flips=FLIPS + 1, drawn=others)
    claimed = enough[1:] & (adjusted <= 1 - LEVEL + 1e-9)
    low, high = interval(sums.columns(slice(0, 1)), first)
    covered = low[0] <= -gap + 1e-9 and high[0] >= -gap - 1e-9
    return (
        bool(enough[0] and found.p_value[0] <= 1 - LEVEL + 1e-9),
        bool(claimed.any()),
        bool(covered),
        bool(low[0] > -MARGIN),
    )


def nulls(pool: ProcessPoolExecutor, runs: int) -> None:
    """Print the table of pairs."""
    print(
        f'\n{runs} runs a row, G-Pass@8_1.0 = 30 % ({PEAK}: 0.7 %); found: with {SKILL} logits more'
    )
    print('| ' + ' | '.join(NULL_HEADINGS) + ' |\n|' + '---|' * len(NULL_HEADINGS), flush=True)
    for case in NULLS:
        gap = 0.0 if case.shape == PEAK else MARGIN
        equal, better, less = (
            np.array(list(pool.map(partial(pair_claims, case, *of), range(many), chunksize=20)))
            for of, many in (((0.0, 0.0), runs), ((0.0, SKILL), runs // 5), ((gap, 0.0), runs))
        )
        # A claim on such verdicts is what the tipping point is for.
        biased = case.missing in LOST[3:]
        shares = [
            f'{100 * equal[:, i].mean():.1f} (biased)' if biased else told_share(equal[:, i])
            for i in (0, 1)
        ]
        if case.shape == 'other':  # other metrics do differ
            shares[1] = '–'
        held = f'{100 * np.concatenate([equal[:, 2], less[:, 2]]).mean():.1f}'
        told = f'{100 * less[:, 3].mean():.1f}' if gap else '–'
        cells = [
            *(str(case.problems), ' and '.join(map(str, case.samples)), case.shape),
            *(str(case.clusters), case.missing, *shares),
            *(f'{100 * better[:, 0].mean():.0f}', held, told),
        ]
        print('| ' + ' | '.join(cells) + ' |', flush=True)


class Pair(NamedTuple):
    """Two models on the same problems.

    Attributes:
        first: The first model's metric in the population, a share.
        second: The second's.
        shared: Standard deviation of the problems' difficulty, which both models share (logit).
        own: Those of what only the first finds difficult, and only the second.
    """

    first: float
    second: float
    shared: float
    own: tuple[float, float]


COMPARED = {
    'one model twice': [Pair(share, share, 2.5, (0, 0)) for share in (0.02, 0.3)],
    'alike': [
        *(Pair(share, share, 2.5, (0.5, 0.5)) for share in (0.003, 0.02, 0.3, 0.95)),
        *(Pair(0.3, second, 2.5, (0.5, 0.5)) for second in (0.33, 0.6)),
        *(Pair(first, second, 2.5, (0.5, 0.5)) for first, second in ((0.02, 0.05), (0.95, 0.98))),
    ],
    'other problems hard': [Pair(0.3, 0.33, 1.0, (2.5, 2.5))],
    'alike, rates of one peak': [
        Pair(first, second, 0.6, (0.3, 0.3))
        for first, second in ((0.3, 0.3), (0.3, 0.6), (0.02, 0.05), (0.95, 0.98))
    ],
    'one solves always or never': [
        Pair(share, share, 0.0, (7.0, 0.7)) for share in (0.003, 0.02, 0.1, 0.3, 0.95)
    ],
}
METRICS = ('accuracy', 'pass@8', 'G-Pass@8_0.5', 'G-Pass@8_1.0', 'mG-Pass@8')
SIZES = (30, 45, 119, 500)
SAMPLES = ((8, 8), (16, 16), (48, 48), (48, 16))
SHARED = 0.8  # of the problems in two languages, those with the same rate in both
RUNS = 1000
MARK, LEAST = 92.0, 0.02  # percent of the runs if metrics are at least this share
NORMAL = np.linspace(-8, 8, 2001)
DENSITY = np.exp(-(NORMAL**2) / 2) / np.exp(-(NORMAL**2) / 2).sum()


@cache
def place(metric: str, share: float, spread: float) -> float:
    """Return the mean logit at which a metric of rates with this spread has a given mean."""
    estimator = parse_metric(metric).estimator()
    right = np.arange(estimator.k + 1)
    of_counts = estimator(estimator.k, right)

    def mean(at: float) -> float:
        rate = expit(at + spread * NORMAL)
        return float(of_counts @ binom.pmf(right[:, None], estimator.k, rate) @ DENSITY)

    return float(brentq(lambda at: mean(at) - share, -40, 40, xtol=1e-10))


def covered(
    pair: Pair, problems: int, languages: int, samples: tuple[int, int], metric: str
) -> tuple[float, float]:
    """Return the share of runs whose interval contains the truth, and the mean width."""
    name = f'differences {pair} {problems} {languages} {samples} {metric}'
    rng = np.random.default_rng([*name.encode()])
    size = problems, RUNS
    models = tuple(zip((pair.first, pair.second), pair.own, strict=True))

    def rates() -> list[NDArray[np.float64]]:
        difficulty = rng.normal(0, pair.shared, size)
        return [
            expit(
                place(metric, share, float(np.hypot(pair.shared, own)))
                + difficulty
                + rng.normal(0, own, size)
            )
            for share, own in models
        ]

    asked = [rates()]
    for _ in range(languages - 1):
        alike = rng.random(size) < SHARED
        asked.append([np.where(alike, *both) for both in zip(asked[0], rates(), strict=True)])
    estimator = parse_metric(metric).estimator()
    first, second = (
        estimator(n, np.arange(n + 1))[rng.binomial(n, np.concatenate(rate))]
        for n, rate in zip(samples, zip(*asked, strict=True), strict=True)
    )
    clusters = np.tile(np.arange(problems), languages)
    low, high = interval(ClusterSums.of(second - first, clusters))
    truth = pair.second - pair.first
    held = (low <= truth + 1e-9) & (high >= truth - 1e-9)
    return float(held.mean()), float((high - low).mean())


def interval(
    sums: ClusterSums, drawn: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the intervals of differences as ``gpassk compare`` makes them."""
    found = sign_flip_test(sums, level=LEVEL, flips=FLIPS + 1, drawn=drawn)
    low, high = found.low.copy(), found.high.copy()
    few = found.differing < FEWEST
    if few.any():
        reach = np.ones(few.sum())
        low[few], high[few] = bounded_mean_interval(sums.columns(few), -reach, reach, LEVEL)
    return np.minimum(low, found.estimate), np.maximum(high, found.estimate)


def differences(pool: ProcessPoolExecutor) -> None:
    """Print the table of differences, and the cells that miss the mark."""
    headings = ('models', 'metrics, %', *(f'{size} problems' for size in SIZES))
    print(f'{RUNS} runs a cell: least coverage / mean coverage, % (mean width, points)')
    print('| ' + ' | '.join(headings) + ' |\n|' + '---|' * len(headings), flush=True)
    missed, cells = [], 0
    for kind, pairs in COMPARED.items():
        for pair in pairs:
            shown = []
            for size in SIZES:
                settings = list(product([pair], [size], (1, 2), SAMPLES, METRICS))
                found = 100 * np.array(list(pool.map(covered, *zip(*settings, strict=True))))
                least, (mean, width) = found[:, 0].min(), found.mean(axis=0)
                shown.append(f'{least:.1f} / {mean:.1f} ({width:.1f})')
                if pair.first >= LEAST:
                    cells += len(found)
                    missed += [
                        (share, settings[i]) for i, share in enumerate(found[:, 0]) if share < MARK
                    ]
            metrics = f'{100 * pair.first:g} and {100 * pair.second:g}'
            print('| ' + ' | '.join([kind, metrics, *shown]) + ' |', flush=True)
    print(f'{len(missed)} of {cells} cells are below {MARK:g} %')
    for share, setting in sorted(missed)[:20]:
        print(f'{share:.1f}', *setting)


class Errors(NamedTuple):
    """Verdicts that are wrong at times.

    Attributes:
        rates: Kind of the problems' rates.
        answers: Whether answers are equal, and then whether equal ones share their error.
        labels: Number of labelled verdicts.
        errors: Whether every answer has the same chance of an error, or those to some problems.
    """

    rates: str
    answers: str
    labels: int
    errors: str = 'anywhere'


CALLED_WRONG, CALLED_RIGHT = 0.01, 0.005  # rates of both errors
OF_PROBLEMS = 'of some problems'
FAULTY, THERE_WRONG, THERE_RIGHT = 0.05, 0.5, 0.3  # share of problems with an error; rates there
TRUTH_DRAWS = 150
RATES = {
    'any': lambda rng: expit(rng.normal(0.5, 2.5, PROBLEMS)),
    'four of five 1': lambda rng: np.where(rng.random(PROBLEMS) < 0.8, 1.0, rng.random(PROBLEMS)),
}
ANSWERS = ('all different', 'equal, each judged', 'equal, judged once')
ERRORS = [
    *(Errors(*of, 200) for of in product(RATES, ANSWERS)),
    *(
        Errors(rates, answers, labels, OF_PROBLEMS)
        for rates, answers, labels in product(RATES, ANSWERS[:2], (50, 200))
    ),
]
VERDICT_HEADINGS = (
    *('errors', 'rates', 'answers', 'labels', 'truth', 'recorded', 'estimate', 'width of range'),
    *('covered, %', 'misses by, points'),
)


def imputed(case: Errors, seed: int) -> list[float]:
    """Plant errors, label some verdicts, and estimate the metric under true verdicts.

    Returns:
        Truth, recorded metric, estimate, and both ends of the range, in percent.
    """
    rng = np.random.default_rng([*b'verdicts', seed])
    rate = RATES[case.rates](rng)
    truth = rng.random((PROBLEMS, FEW)) < rate[:, None]
    answers = np.tile(np.arange(FEW), (PROBLEMS, 1))
    if case.answers != ANSWERS[0]:
        # Some wrong answers are frequent. A fifth of the problems has right answers in two forms
        # that no rule takes for equal.
        wrong = [rng.choice(6, FEW, p=rng.dirichlet([0.5] * 6)) for _ in rate]
        other = (rng.random((PROBLEMS, 1)) < 0.2) & (rng.random(truth.shape) < 0.3)
        answers = np.where(truth, other, 2 + np.array(wrong))
    chance = rng.random(truth.shape)
    if case.answers == ANSWERS[2]:
        chance = np.take_along_axis(chance, answers, axis=1)
    called_wrong, called_right = np.array(CALLED_WRONG), np.array(CALLED_RIGHT)
    if case.errors == OF_PROBLEMS:
        kind = rng.random((PROBLEMS, 1))
        called_wrong = np.where(kind < FAULTY, THERE_WRONG, 0.0)
        called_right = np.where(kind > 1 - FAULTY, THERE_RIGHT, 0.0)
    said = np.where(truth, chance >= called_wrong, chance < called_right)
    problems = [Problem(str(p), str(p), '0') for p in range(PROBLEMS)]
    table = TrialTable(
        problems,
        [
            Trial(
                str(p),
                i,
                verdict(said[p, i]),
                answer=str(answers[p, i]),
                answer_class=int(answers[p, i]),
            )
            for p in range(PROBLEMS)
            for i in range(FEW)
        ],
    )
    every = [AuditTrial('', '', problems[int(t.problem_id)], t) for t in table.trials]
    sample = draw_sample('', every, case.labels, seed)
    audit = judge_audit(
        [
            (one, weight, verdict(truth[int(one.trial.problem_id), one.trial.replica]))
            for one, weight in zip(sample.trials, sample.weights, strict=True)
        ]
    )
    verdicts = TrueVerdicts(table, audit['known'])
    chances = LabelledOutcomes.of(audit['outcomes'], verdicts.outcomes).chances

    def metric(right: NDArray[np.bool_]) -> float:
        counts = right.reshape(PROBLEMS, FEW).sum(axis=1)
        return 100 * float(np.mean(g_pass_at_k(FEW, counts, K, 1.0)))

    drawn = [metric(right) for right in verdicts.draw(chances, TRUTH_DRAWS)]
    return [metric(truth), metric(said), float(np.mean(drawn)), *truth_range(drawn)]


def verdict(right: bool) -> Verdict:
    """Return the verdict on an answer."""
    return Verdict.CORRECT if right else Verdict.INCORRECT


def verdicts_row(case: Errors, found: NDArray[np.float64]) -> list[str]:
    """Return the mean metrics, and how often and how far the truth is outside of the range."""
    truth, recorded, estimate, low, high = found.T
    outside = np.maximum(np.maximum(low - truth, truth - high), 0.0)
    missed = outside > 1e-9
    metrics = [f'{one.mean():.1f}' for one in (truth, recorded, estimate, high - low)]
    covered = 100 * (1 - missed.mean())
    by = f'{outside[missed].mean():.1f}' if missed.any() else '–'
    return [case.errors, case.rates, case.answers, str(case.labels), *metrics, f'{covered:.1f}', by]


def main() -> None:
    """Simulate and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--runs', type=int, default=400, help='leaderboards of a row')
    parser.add_argument('--pairs', type=int, default=2000, help='pairs of equal models of a row')
    parser.add_argument('--models', type=int, nargs='+', default=[2, 5])
    parts = ('leaderboards', 'pairs', 'looks', 'differences', 'verdicts')
    parser.add_argument('--part', nargs='+', choices=parts, default=parts, help='what to simulate')
    args = parser.parse_args()
    start = time.perf_counter()
    print(f'{os.cpu_count()} CPUs, {PROBLEMS} problems')
    with ProcessPoolExecutor() as pool:
        if 'leaderboards' in args.part:
            print(f'\n{args.runs} leaderboards a row')
            print('| ' + ' | '.join(HEADINGS) + ' |\n|' + '---|' * len(HEADINGS))
            for models, missing, mixed, unequal in product(
                args.models, MISSING, (False, True), (False, True)
            ):
                case = Case(models, unequal, mixed, missing)
                found = list(pool.map(partial(simulated, case), range(args.runs), chunksize=10))
                print('| ' + ' | '.join(row(case, found)) + ' |', flush=True)
        if 'pairs' in args.part:
            nulls(pool, args.pairs)
        if 'looks' in args.part:
            runs = 5 * args.runs
            print(f'\n{runs} comparisons a row')
            print('| ' + ' | '.join(LOOK_HEADINGS) + ' |\n|' + '---|' * len(LOOK_HEADINGS))
            for pair in PAIRS:
                p_values = list(pool.map(partial(looked, pair), range(runs), chunksize=10))
                print('| ' + ' | '.join(looks_row(pair, np.array(p_values))) + ' |', flush=True)
        if 'differences' in args.part:
            differences(pool)
        if 'verdicts' in args.part:
            runs = args.runs // 5
            print(f'\n{runs} runs a row')
            print('| ' + ' | '.join(VERDICT_HEADINGS) + ' |\n|' + '---|' * len(VERDICT_HEADINGS))
            for errors in ERRORS:
                drawn = list(pool.map(partial(imputed, errors), range(runs), chunksize=5))
                cells = verdicts_row(errors, np.array(drawn))
                print('| ' + ' | '.join(cells) + ' |', flush=True)
    print(f'{time.perf_counter() - start:.0f} s')


if __name__ == '__main__':
    main()
