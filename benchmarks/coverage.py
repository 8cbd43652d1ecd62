"""How often do nominal 95 % intervals hold the true value? Simulated runs, of which it is known.

    python benchmarks/coverage.py --processes 2 --markdown coverage.md --json coverage.json

A simulated run draws each problem's rate from a Beta distribution under which the metric's true
mean is the given one, and from the rate the number of right samples. The distribution is U-shaped
(α + β = 0.3: nearly all problems are solved always or never, as by real models) or has one peak
(α + β = 8). In the rows of pairs, 119 problems were asked in two languages: four of five pairs
share their rate, in the others the rates are independent, and a pair is a cluster.

Each cell is the share of the runs, in percent, whose interval holds the true value, by
``bootstrap_means`` as it is by default (BCa, Wilson's interval where few clusters deviate), by BCa
alone and by percentiles alone. What is outside 93 to 97 % is marked.

Differences are of two models of one true figure on the same problems, so that the truth is 0: one
model in two runs of one n, or of other n, each problem of one rate in both; and two models whose
rates are independent, U-shaped and of a high peak (α + β = 20), with one n.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.rates import Rates
from opencompass_gpassk.results.figures import parse_figure

METRICS = ('accuracy', 'G-Pass@16_0.5', 'G-Pass@16_1.0', 'mG-Pass@16')
SHAPES = {'U': 0.3, 'peak': 8.0}
PROBLEMS = (45, 119, 500)
SAMPLES = (16, 48)
TRUTHS = (0.003, 0.02, 0.1, 0.3, 0.6)
PAIRS = 119
SHARED = 0.8
ROUNDING = 1e-12
DIFFERENCES = {  # name → shapes of the two models, None if they are one; n of both
    'one model, n 48': ((0.3, None), (48, 48)),
    'one model, n 48, peak': ((8.0, None), (48, 48)),
    'one model, n 48 and 16': ((0.3, None), (48, 16)),
    'one model, n 48 and 16, peak': ((8.0, None), (48, 16)),
    'two models, n 48': ((0.3, 20.0), (48, 48)),
}
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


def simulated_differences(cell: Cell, simulations: int, seed: int) -> NDArray[np.float64]:
    """Return the differences of two models' metric in each run, shape (P, simulations)."""
    name = f'{cell.shape} {cell.problems} {cell.metric} {cell.truth}'
    rng = np.random.default_rng([*name.encode(), seed])
    estimator = parse_figure(cell.metric).estimator()
    shapes, samples = DIFFERENCES[cell.shape]
    values: list[NDArray[np.float64]] = []
    rate = np.empty(0)
    for shape, n in zip(shapes, samples, strict=True):
        if shape is not None:
            rates = with_figure(estimator, cell.truth, shape)
            rate = rng.beta(rates.alpha[0], rates.beta[0], (cell.problems, simulations))
        values.append(estimator(n, np.arange(n + 1))[rng.binomial(n, rate)])
    return values[1] - values[0]


def measured(cell: Cell, simulations: int, resamples: int) -> dict[str, object]:
    """Return a cell with the coverage and the mean width of each method, in percent."""
    paired = cell.shape in DIFFERENCES
    values = (simulated_differences if paired else simulated)(cell, simulations, 0)
    bounds, truth = ((-1.0, 1.0), 0.0) if paired else ((0.0, 1.0), cell.truth)
    clusters = np.tile(np.arange(cell.problems), 2) if cell.pairs else None
    row: dict[str, object] = dataclasses.asdict(cell)
    for name, method, fewest in (
        ('default', 'bca', None),
        ('bca', 'bca', 0.0),
        ('percentile', 'percentile', 0.0),
    ):
        settings = {} if fewest is None else {'fewest': fewest}
        found = bootstrap_means(
            values, clusters, bounds=bounds, method=method, resamples=resamples, **settings
        )
        # Without a bootstrap that collapses to a point there is Wilson's interval for it.
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


def marked(coverage: float) -> str:
    """Return a coverage with its mark, if it is out of range."""
    mark = '▼' if coverage < LEAST else '▲' if coverage > MOST else ''
    return f'{coverage:.1f}{mark}'


def cell_text(row: dict[str, object], methods: tuple[str, ...]) -> str:
    """Return a row's coverages by the methods, then the width by the first."""
    shares = ' / '.join(marked(float(str(row[method]))) for method in methods)
    return f'{shares} ({float(str(row[f"{methods[0]} width"])):.1f})'


def markdown(rows: list[dict[str, object]], methods: tuple[str, ...]) -> str:
    """Return a table with a line a setting and a column a true value."""
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
    """Return the settings: one model's, pairs of problems, differences."""
    cells = [
        Cell(shape, problems, False, n, metric, truth)
        for shape, problems, n, metric, truth in product(SHAPES, PROBLEMS, SAMPLES, METRICS, TRUTHS)
    ]
    cells += [
        Cell('U', PAIRS, True, n, metric, truth)
        for n, metric, truth in product(SAMPLES, METRICS, TRUTHS)
    ]
    return cells + [
        Cell(name, problems, False, min(DIFFERENCES[name][1]), metric, truth)
        for name, problems, metric, truth in product(DIFFERENCES, PROBLEMS, METRICS, TRUTHS)
    ]


def main() -> None:
    """Measure all cells and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--simulations', type=int, default=2000)
    parser.add_argument('--resamples', type=int, default=4000)
    parser.add_argument('--processes', type=int, default=1)
    parser.add_argument('--differences', action='store_true', help='measure these alone')
    parser.add_argument('--markdown', type=Path)
    parser.add_argument('--json', type=Path)
    args = parser.parse_args()
    cells, start = all_cells(), time.perf_counter()
    if args.differences:
        cells = [cell for cell in cells if cell.shape in DIFFERENCES]
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
