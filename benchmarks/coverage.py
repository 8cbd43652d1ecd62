"""Measure how often nominal 95 % intervals contain the true value, in simulated runs.

    python benchmarks/coverage.py [--part cells rare others]

Cells: a simulated run draws each problem's rate from a Beta distribution with a given true mean of
the metric, then draws the number of right samples from the rate. The distribution is U-shaped
(α + β = 0.3: nearly all problems are solved always or never, as by real models) or has one peak
(α + β = 8). In the rows of pairs, 119 problems are asked in two languages, and a pair is a cluster.
Four of five pairs share their rate; in the others the rates are independent.

Each cell is the share of runs, in percent, whose interval contains the true value. Cells outside
93 to 97 % are marked.

Rare: most problems are alike, and a few are hard, or easy: 2, 5 or 10 % of the population. A strong
model solves 95 % of the problems nearly always, and the rest hardly ever. The mark is 92 % in each
cell if the metric is from 10 to 90 %, and 90 % for other metrics.

Others: intervals for fixed problems, of differences of ratios and of shares in clusters of trials
that are alike, of which about 95 % hold the truth.

Intervals of differences, tests and ranks are measured by ``claims.py``.
"""

from __future__ import annotations

import argparse
import dataclasses
import math
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import binom

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.difference import Steps, two_lines
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.fixed_problems import fixed_problems_intervals
from opencompass_gpassk.metrics.rate_distribution import Rates
from opencompass_gpassk.metrics.share_intervals import effective_size, wilson
from opencompass_gpassk.metrics.version_metrics import ratio
from opencompass_gpassk.results.metric import parse_metric

METRICS = ('accuracy', 'G-Pass@16_0.5', 'G-Pass@16_1.0', 'mG-Pass@16')
SHAPES = {'U': 0.3, 'peak': 8.0}
PROBLEMS = (45, 119, 500)
SAMPLES = (16, 48)
TRUTHS = (0.003, 0.02, 0.1, 0.3, 0.6)
PAIRS = 119
SHARED = 0.8
ROUNDING = 1e-12
LEAST, MOST = 93.0, 97.0


@dataclass(frozen=True)
class Cell:
    """One setting: of P problems, or pairs of problems, n samples each."""

    shape: str
    problems: int
    pairs: bool
    n: int
    metric: str
    truth: float


def with_metric(estimator: Estimator, metric: float, strength: float) -> Rates:
    """Return the Beta distribution of α + β = strength of which a metric has a given mean.

    Raises:
        ValueError: If there is none.
    """

    def made(place: float) -> Rates:
        mean = expit(place)
        return Rates.of(mean * strength, (1 - mean) * strength)

    return made(brentq(lambda at: made(at).mean_of(estimator) - metric, -20, 20, xtol=1e-13))


def simulated(cell: Cell, simulations: int, seed: int) -> NDArray[np.float64]:
    """Return the metric of each problem in each run, shape (P or 2P, simulations)."""
    name = f'{cell.shape} {cell.problems} {cell.pairs} {cell.n} {cell.metric} {cell.truth}'
    rng = np.random.default_rng([*name.encode(), seed])
    estimator = parse_metric(cell.metric).estimator()
    rates = with_metric(estimator, cell.truth, SHAPES[cell.shape])
    size = (cell.problems, simulations)
    rate = rng.beta(rates.alpha[0], rates.beta[0], size)
    if cell.pairs:
        other = rng.beta(rates.alpha[0], rates.beta[0], size)
        rate = np.concatenate([rate, np.where(rng.random(size) < SHARED, rate, other)])
    of_count = estimator(cell.n, np.arange(cell.n + 1))
    return of_count[rng.binomial(cell.n, rate)]


def measured(cell: Cell, simulations: int, resamples: int) -> dict[str, object]:
    """Return a cell with the coverage and the mean width of each method, in percent."""
    values, truth = simulated(cell, simulations, 0), cell.truth
    clusters = np.tile(np.arange(cell.problems), 2) if cell.pairs else None
    row: dict[str, object] = dataclasses.asdict(cell)
    found = bootstrap_means(values, clusters, resamples=resamples)
    covered = float(((found.low <= truth + ROUNDING) & (truth - ROUNDING <= found.high)).mean())
    row['covered'] = 100 * covered
    row['width'] = 100 * float((found.high - found.low).mean())
    return row


class Kind(NamedTuple):
    """Rates of most problems and of a few, each evenly distributed from one end to the other."""

    most: tuple[float, float]
    few: tuple[float, float]


KINDS = {
    'nearly always, few never': Kind((0.97, 1.0), (0.0, 0.1)),
    'nearly always, few at times': Kind((0.97, 1.0), (0.0, 0.6)),
    'always, few never': Kind((1.0, 1.0), (0.0, 0.1)),
    'mostly, few never': Kind((0.7, 0.9), (0.0, 0.05)),
    'half, few never': Kind((0.4, 0.6), (0.0, 0.02)),
    'half, few always': Kind((0.4, 0.6), (0.98, 1.0)),
    'seldom, few always': Kind((0.1, 0.3), (0.95, 1.0)),
    'nearly never, few always': Kind((0.0, 0.03), (0.9, 1.0)),
}
FEW = (0.02, 0.05, 0.1)
ASKED = ((12, True), (24, False), (45, False), (119, False), (500, False))
RARE_METRICS = ('accuracy', 'G-Pass@8_1.0', 'mG-Pass@8')
RARE_RESAMPLES = 2000


def rare(
    kind: Kind, few: float, asked: tuple[int, bool], n: int, metric: str, simulations: int
) -> tuple[float, float, float]:
    """Return the true metric, the share of runs whose interval holds it, and the mean width."""
    problems, pairs = asked
    rng = np.random.default_rng([*f'{kind} {few} {asked} {n} {metric}'.encode()])
    size = (problems, simulations)
    estimator = parse_metric(metric).estimator()

    def rates() -> NDArray[np.float64]:
        return np.where(
            rng.random(size) < few, rng.uniform(*kind.few, size), rng.uniform(*kind.most, size)
        )

    def true(low: float, high: float) -> float:
        right = np.arange(estimator.k + 1)
        rate = low + (high - low) * (np.arange(2000) + 0.5) / 2000
        chances = binom.pmf(right[:, None], estimator.k, rate)
        return float((estimator(estimator.k, right) @ chances).mean())

    rate = rates()
    if pairs:
        rate = np.concatenate([rate, np.where(rng.random(size) < SHARED, rate, rates())])
    truth = few * true(*kind.few) + (1 - few) * true(*kind.most)
    values = estimator(n, np.arange(n + 1))[rng.binomial(n, rate)]
    clusters = np.tile(np.arange(problems), 2) if pairs else None
    found = bootstrap_means(values, clusters, resamples=RARE_RESAMPLES)
    held = (found.low <= truth + ROUNDING) & (truth - ROUNDING <= found.high)
    return truth, float(held.mean()), float((found.high - found.low).mean())


def rare_kinds(pool: ProcessPoolExecutor, simulations: int) -> str:
    """Return a table of the least and the mean coverage, and the cells that miss their mark."""
    asked = [f'{size} pairs' if pairs else f'{size} problems' for size, pairs in ASKED]
    lines = [
        f'{simulations} runs a cell: least / mean coverage, % (mean width, points)\n',
        '| problems are solved | ' + ' | '.join(asked) + ' |',
        '|---|' + '---|' * len(asked),
    ]
    missed, cells = [], 0
    for name, kind in KINDS.items():
        texts = []
        for of in ASKED:
            settings = list(product([kind], FEW, [of], SAMPLES, RARE_METRICS, [simulations]))
            found = 100 * np.array(list(pool.map(rare, *zip(*settings, strict=True))))
            texts.append(
                f'{found[:, 1].min():.1f} / {found[:, 1].mean():.1f} ({found[:, 2].mean():.1f})'
            )
            cells += len(found)
            missed += [
                f'{share:.1f} at {truth:.1f}: {name} {setting[1:5]}'
                for (truth, share, _), setting in zip(found, settings, strict=True)
                if share < (92 if 10 <= truth <= 90 else 90)
            ]
        lines.append(f'| {name} | ' + ' | '.join(texts) + ' |')
    return '\n'.join([*lines, f'\n{len(missed)} of {cells} cells miss their mark', *missed])


def fixed_problems(metric: str, n: int, simulations: int, rng: np.random.Generator) -> float:
    """Return the share of runs on the same 100 problems whose interval holds their true mean."""
    estimator, rate = parse_metric(metric).estimator(), rng.beta(0.7, 0.7, 100)
    of_count = estimator(n, np.arange(n + 1))  # whose expectation is the true value
    truth = (of_count @ binom.pmf(np.arange(n + 1)[:, None], n, rate)).mean()
    counts, problems = np.full(100, n), [range(100)]
    held = 0
    for _ in range(simulations):
        found = fixed_problems_intervals(estimator, counts, rng.binomial(n, rate), problems)[0]
        held += found.low <= truth <= found.high
    return held / simulations


def ratios(share: float, strength: float, simulations: int, rng: np.random.Generator) -> float:
    """Return the share of runs of 40 clusters whose interval holds the difference of two ratios."""
    shape, found = (40, simulations), []
    for true in (share, share / 2):
        counts = rng.binomial(16, rng.beta(1, 1, shape))
        hits = rng.binomial(counts, rng.beta(strength * true, strength * (1 - true), shape))
        found.append((hits, counts))
    hits, counts = np.array(found, float).transpose(1, 0, 2, 3)
    sizes = counts.sum(axis=1)
    residuals = hits - counts * ratio(hits.sum(axis=(0, 1)), sizes.sum(axis=0))
    scale = 2 * sizes.prod(axis=0) / sizes.sum(axis=0) ** 2 * counts.sum(axis=0)
    values = ratio(residuals[1] - residuals[0], scale)
    steps = Steps(values, np.full(shape, np.nan))
    line = two_lines(steps, weights=scale, corrected=False, flips=999).like_these
    return float(((line.low <= -share / 2) & (-share / 2 <= line.high)).mean())


def alike(truth: float, simulations: int, rng: np.random.Generator) -> float:
    """Return the share of runs of 40 problems, of 8 equal trials each, that Wilson's holds."""
    clusters, held = np.repeat(np.arange(40), 8), 0
    for _ in range(simulations):
        hits = np.repeat(rng.random(40) < truth, 8)
        size = effective_size(hits, clusters=clusters)
        low, high = wilson(hits.mean() * size, size)
        held += bool(low <= truth <= high)
    return held / simulations


OTHERS: dict[str, Callable[[int, np.random.Generator], float]] = {
    **{
        f'fixed problems: {metric}, n {n}': partial(fixed_problems, metric, n)
        for metric, n in (('accuracy', 16), ('mG-Pass@4', 16), ('G-Pass@4_1.0', 6))
    },
    **{
        f'differences of ratios: {share:g}, α + β = {strength:g}': partial(ratios, share, strength)
        for share, strength in product((0.03, 0.1, 0.3), (0.6, 4))
    },
    **{f'trials that are alike: {share:g}': partial(alike, share) for share in (0.5, 0.85)},
}


def other_methods(simulations: int) -> str:
    """Return a table of the methods without cells."""
    lines = ['| method | % |', '|---|---:|']
    for name, share in OTHERS.items():
        found = share(simulations, np.random.default_rng([*name.encode(), 0]))
        lines.append(f'| {name} | {100 * found:.1f} |')
    return '\n'.join(lines)


def marked(coverage: float) -> str:
    """Return a coverage with its mark, if it is out of range."""
    mark = '▼' if coverage < LEAST else '▲' if coverage > MOST else ''
    return f'{coverage:.1f}{mark}'


def markdown(rows: list[dict[str, object]]) -> str:
    """Return a table with a row for each setting and a column for each true value."""
    heads = [f'{100 * truth:g} %' for truth in TRUTHS]
    lines = [
        '| rates | problems | n | metric | ' + ' | '.join(heads) + ' |',
        '|---|---|---|---|' + '---:|' * len(heads),
    ]
    settings: dict[tuple[object, ...], dict[object, str]] = {}
    for row in rows:
        setting = tuple(row[name] for name in ('shape', 'problems', 'pairs', 'n', 'metric'))
        settings.setdefault(setting, {})[row['truth']] = (
            f'{marked(float(str(row["covered"])))} ({float(str(row["width"])):.1f})'
        )
    for (shape, problems, pairs, n, metric), found in settings.items():
        texts = [found.get(truth, '') for truth in TRUTHS]
        asked = f'{problems} pairs' if pairs else problems
        lines.append(f'| {shape} | {asked} | {n} | {metric} | ' + ' | '.join(texts) + ' |')
    return '\n'.join(lines)


def summary(rows: list[dict[str, object]]) -> str:
    """Return how many cells of each true value are in range."""
    lines = ['| true value | below 93 % | 93-97 % | above 97 % | least | greatest |']
    lines.append('|---|---:|---:|---:|---:|---:|')
    for truth in TRUTHS:
        shares = np.array([float(str(row['covered'])) for row in rows if row['truth'] == truth])
        below, above = int((shares < LEAST).sum()), int((shares > MOST).sum())
        lines.append(
            f'| {100 * truth:g} % | {below} | {len(shares) - below - above} | {above} | '
            f'{shares.min():.1f} | {shares.max():.1f} |'
        )
    return '\n'.join(lines)


def all_cells() -> list[Cell]:
    """Return the settings: problems, and pairs of problems."""
    cells = [
        Cell(shape, problems, False, n, metric, truth)
        for shape, problems, n, metric, truth in product(SHAPES, PROBLEMS, SAMPLES, METRICS, TRUTHS)
    ]
    cells += [
        Cell('U', PAIRS, True, n, metric, truth)
        for n, metric, truth in product(SAMPLES, METRICS, TRUTHS)
    ]
    return cells


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--simulations', type=int, default=2000)
    parser.add_argument('--resamples', type=int, default=4000)
    parts = ('cells', 'rare', 'others')
    parser.add_argument('--part', nargs='+', choices=parts, default=parts, help='what to simulate')
    args = parser.parse_args()
    start = time.perf_counter()
    with ProcessPoolExecutor() as pool:
        if 'cells' in args.part:
            cells = all_cells()
            jobs = (cells, [args.simulations] * len(cells), [args.resamples] * len(cells))
            rows = list(pool.map(measured, *jobs))
            error = 100 * math.sqrt(0.95 * 0.05 / args.simulations)
            print(
                f'Coverage in percent, and the mean width in points; ▼ below {LEAST:g}, ▲ above '
                f'{MOST:g}; {args.simulations} runs a cell (a Monte Carlo error of {error:.2f} at '
                f'95), {args.resamples} resamples.\n\n{summary(rows)}\n\n{markdown(rows)}\n'
            )
        if 'rare' in args.part:
            print(rare_kinds(pool, args.simulations))
        if 'others' in args.part:
            print(other_methods(args.simulations))
    print(f'{time.perf_counter() - start:.0f} s')


if __name__ == '__main__':
    main()
