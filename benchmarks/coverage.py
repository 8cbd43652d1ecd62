"""Measure how often nominal 95 % intervals contain the true value, in simulated runs.

    python benchmarks/coverage.py --processes 2 --markdown coverage.md --json coverage.json

A simulated run draws each problem's rate from a Beta distribution with a given true mean of the
metric, then draws the number of right samples from the rate. The distribution is U-shaped
(α + β = 0.3: nearly all problems are solved always or never, as by real models) or has one peak
(α + β = 8). In the rows of pairs, 119 problems are asked in two languages, and a pair is a cluster.
Four of five pairs share their rate; in the others the rates are independent.

Each cell is the share of runs, in percent, whose interval contains the true value: by the default
of ``bootstrap_means`` (BCa, or Wilson's interval if few clusters deviate), by BCa alone, and by
percentiles alone. Cells outside 93 to 97 % are marked.

Intervals of differences are measured by ``claims.py``.

``--others`` measures the methods that have no cells: intervals for fixed problems, of differences
of ratios and of shares in clusters of trials that are alike, of which about 95 % hold the truth;
and sign-flip tests and rank intervals, of which 5 % at most are wrong where nothing differs.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import binom

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.clusters import ClusterSums
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.fixed_problems import fixed_problems_intervals
from opencompass_gpassk.metrics.paired import rank_intervals, ratio_differences, sign_flip_test
from opencompass_gpassk.metrics.rate_distribution import Rates
from opencompass_gpassk.metrics.share_intervals import effective_size, wilson
from opencompass_gpassk.results.figures import parse_figure

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


def with_figure(estimator: Estimator, figure: float, strength: float) -> Rates:
    """Return the Beta distribution of α + β = strength of which a metric has a given mean.

    Raises:
        ValueError: If there is none.
    """

    def made(place: float) -> Rates:
        mean = expit(place)
        return Rates.of(mean * strength, (1 - mean) * strength)

    return made(brentq(lambda at: made(at).mean_of(estimator) - figure, -20, 20, xtol=1e-13))


def simulated(cell: Cell, simulations: int, seed: int) -> NDArray[np.float64]:
    """Return the metric of each problem in each run, shape (P or 2P, simulations)."""
    name = f'{cell.shape} {cell.problems} {cell.pairs} {cell.n} {cell.metric} {cell.truth}'
    rng = np.random.default_rng([*name.encode(), seed])
    estimator = parse_figure(cell.metric).estimator()
    rates = with_figure(estimator, cell.truth, SHAPES[cell.shape])
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
    for name, method, fewest in (
        ('default', 'bca', None),
        ('bca', 'bca', 0.0),
        ('percentile', 'percentile', 0.0),
    ):
        settings = {} if fewest is None else {'fewest': fewest}
        found = bootstrap_means(values, clusters, method=method, resamples=resamples, **settings)
        # If the bootstrap collapses to a point, Wilson's interval is used.
        low, high = found.low, found.high
        if fewest is not None:
            point = np.array([one == 'wilson' for one in found.method])
            low, high = (np.where(point, found.estimate, end) for end in (low, high))
        else:
            row['wilson'] = 100 * float(np.mean([one == 'wilson' for one in found.method]))
        covered = float(((low <= truth + ROUNDING) & (truth - ROUNDING <= high)).mean())
        row[name] = 100 * covered
        row[f'{name} error'] = 100 * math.sqrt(max(covered * (1 - covered), 1e-9) / simulations)
        row[f'{name} width'] = 100 * float((high - low).mean())
    return row


def fixed_problems(metric: str, n: int, simulations: int, rng: np.random.Generator) -> float:
    """Return the share of runs on the same 100 problems whose interval holds their true mean."""
    estimator, rate = parse_figure(metric).estimator(), rng.beta(0.7, 0.7, 100)
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
    shape, sums = (40, simulations), []
    for true in (share, share / 2):
        counts = rng.binomial(16, rng.beta(1, 1, shape))
        hits = rng.binomial(counts, rng.beta(strength * true, strength * (1 - true), shape))
        sums.append(ClusterSums(hits.astype(float), counts.astype(float)))
    found = ratio_differences(*sums)
    return float(((found.low <= -share / 2) & (-share / 2 <= found.high)).mean())


def alike(truth: float, simulations: int, rng: np.random.Generator) -> float:
    """Return the share of runs of 40 problems, of 8 equal trials each, that Wilson's holds."""
    clusters, held = np.repeat(np.arange(40), 8), 0
    for _ in range(simulations):
        hits = np.repeat(rng.random(40) < truth, 8)
        size = effective_size(hits, clusters=clusters)
        low, high = wilson(hits.mean() * size, size)
        held += bool(low <= truth <= high)
    return held / simulations


def sign_flips(problems: int, simulations: int, rng: np.random.Generator) -> float:
    """Return the share of comparisons of a model with itself whose p-value is at most 0.05."""
    rate = rng.beta(0.6, 0.8, (problems, simulations))
    counts = rng.binomial(16, rate, (2, problems, simulations)) / 16
    return float((sign_flip_test(counts[0] - counts[1], flips=2000) <= 0.05).mean())


def ranks(models: int, simulations: int, rng: np.random.Generator) -> float:
    """Return the share of leaderboards of equal models that exclude one from any rank."""
    wrong = 0
    for _ in range(simulations):
        values = rng.binomial(16, rng.beta(0.4, 0.5, 60), (models, 60)) / 16
        wrong += bool((rank_intervals(values, flips=400) != [1, models]).any())
    return wrong / simulations


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
    **{f'p-values up to 0.05: {size} problems': partial(sign_flips, size) for size in (10, 60)},
    **{f'wrong ranks: {models} models': partial(ranks, models) for models in (2, 6)},
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


def cell_text(row: dict[str, object], methods: tuple[str, ...]) -> str:
    """Return a row's coverages by the methods, then the width by the first."""
    shares = ' / '.join(marked(float(str(row[method]))) for method in methods)
    return f'{shares} ({float(str(row[f"{methods[0]} width"])):.1f})'


def markdown(rows: list[dict[str, object]], methods: tuple[str, ...]) -> str:
    """Return a table with a row for each setting and a column for each true value."""
    heads = [f'{100 * truth:g} %' for truth in TRUTHS]
    lines = [
        '| rates | problems | n | metric | ' + ' | '.join(heads) + ' |',
        '|---|---|---|---|' + '---:|' * len(heads),
    ]
    settings: dict[tuple[object, ...], dict[object, str]] = {}
    for row in rows:
        setting = tuple(row[name] for name in ('shape', 'problems', 'pairs', 'n', 'metric'))
        settings.setdefault(setting, {})[row['truth']] = cell_text(row, methods)
    for (shape, problems, pairs, n, metric), found in settings.items():
        texts = [found.get(truth, '') for truth in TRUTHS]
        asked = f'{problems} pairs' if pairs else problems
        lines.append(f'| {shape} | {asked} | {n} | {metric} | ' + ' | '.join(texts) + ' |')
    return '\n'.join(lines)


def summary(rows: list[dict[str, object]]) -> str:
    """Return how many cells of each true value each method has in range."""
    lines = ['| true value | method | below 93 % | 93-97 % | above 97 % | least | greatest |']
    lines.append('|---|---|---:|---:|---:|---:|---:|')
    for truth, method in product(TRUTHS, ('default', 'bca', 'percentile')):
        shares = np.array([float(str(row[method])) for row in rows if row['truth'] == truth])
        if len(shares):
            below, above = int((shares < LEAST).sum()), int((shares > MOST).sum())
            lines.append(
                f'| {100 * truth:g} % | {method} | {below} | {len(shares) - below - above} | '
                f'{above} | {shares.min():.1f} | {shares.max():.1f} |'
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
    """Measure all cells and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--simulations', type=int, default=2000)
    parser.add_argument('--resamples', type=int, default=4000)
    parser.add_argument('--processes', type=int, default=1)
    parser.add_argument('--others', action='store_true', help='measure the other methods alone')
    parser.add_argument('--markdown', type=Path)
    parser.add_argument('--json', type=Path)
    args = parser.parse_args()
    if args.others:
        print(other_methods(args.simulations))
        return
    cells, start = all_cells(), time.perf_counter()
    jobs = (cells, [args.simulations] * len(cells), [args.resamples] * len(cells))
    if args.processes == 1:
        rows = list(map(measured, *jobs))
    else:
        with ProcessPoolExecutor(args.processes) as pool:
            rows = list(pool.map(measured, *jobs))
    error = 100 * math.sqrt(0.95 * 0.05 / args.simulations)
    text = (
        f'Coverage in percent, and the mean width in points; ▼ below {LEAST:g}, ▲ above {MOST:g}; '
        f'{args.simulations} runs a cell (a Monte Carlo error of {error:.2f} at 95), '
        f'{args.resamples} resamples.\n\n{summary(rows)}\n\n{markdown(rows, ("default",))}\n\n'
        'The same by default / BCa alone / percentiles alone:\n\n'
        f'{markdown(rows, ("default", "bca", "percentile"))}\n'
    )
    if args.markdown:
        args.markdown.write_text(text, 'utf-8')
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + '\n', 'utf-8')
    print(text if not args.markdown else summary(rows))
    print(f'{len(rows)} cells in {time.perf_counter() - start:.0f} s')


if __name__ == '__main__':
    main()
