"""Measure the bias of metrics when verdicts are missing, under four rules for the missing ones.

    python benchmarks/missing.py --models 20 --markdown benchmarks/missing.md

A simulated model has 400 problems with rates of its own: U-shaped (nearly all problems are solved
always or never), with one peak, or a mix of solved, hopeless and uncertain ones, which no Beta
distribution describes. Each problem is sampled n times. Then verdicts are taken away: at random;
mostly those of wrong samples (a wrong sample has nine times the odds of a right one); or of some
problems (half of the missing verdicts are in a tenth of the problems).

Rules: ``left out``: a problem has as many samples as verdicts, and no metric with fewer than k;
``wrong``: what is missing is wrong; ``binomial``: what is missing of a problem is right with the
chance (c + p)/(j + 1), where j of its samples are judged, c of these are right, and p is the mean
of the model; ``fitted``: the rule of this package.

Each cell is the bias in points: the metric less that of the complete verdicts, averaged over the
simulated models. The last column is the share of problems that leaving out leaves without a metric.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.missing import expected, right_among_missing
from opencompass_gpassk.results.metric import parse_metric

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]
Rule = Callable[[Estimator, int, Integers, Integers], Numbers]

PROBLEMS = 400
K = 8
SAMPLES = (K, 3 * K)
SHARES = (0.05, 0.2)
METRICS = ('accuracy', f'pass@{K}', f'G-Pass@{K}_0.5', f'G-Pass@{K}_1.0', f'mG-Pass@{K}')
ODDS = 9  # of a wrong sample to lose its verdict, beside a right one
FEW = 0.1  # share of the problems that lose half of the missing verdicts


def u_shaped(rng: np.random.Generator) -> Numbers:
    return rng.beta(0.3, 0.3, PROBLEMS)


def peaked(rng: np.random.Generator) -> Numbers:
    return rng.beta(7, 3, PROBLEMS)


def mixed(rng: np.random.Generator) -> Numbers:
    kind = rng.choice(3, PROBLEMS, p=[0.45, 0.25, 0.3])
    high, low = rng.beta(40, 2, PROBLEMS), rng.beta(1, 30, PROBLEMS)
    return np.choose(kind, [high, low, rng.uniform(0.2, 0.8, PROBLEMS)])


def at_random(right: NDArray[np.bool_], rng: np.random.Generator) -> Numbers:
    return np.ones(right.shape)


def mostly_wrong(right: NDArray[np.bool_], rng: np.random.Generator) -> Numbers:
    return np.where(right, 1.0, ODDS)


def of_some(right: NDArray[np.bool_], rng: np.random.Generator) -> Numbers:
    chosen = rng.random(len(right)) < FEW
    return np.broadcast_to(np.where(chosen, 1 / FEW - 1, 1.0)[:, None], right.shape)


RATES = {'U': u_shaped, 'peak': peaked, 'mix': mixed}
MISSING = {'at random': at_random, 'mostly wrong': mostly_wrong, 'of some problems': of_some}


def left_out(estimator: Estimator, n: int, judged: Integers, right: Integers) -> Numbers:
    return estimator(judged, right)


def wrong(estimator: Estimator, n: int, judged: Integers, right: Integers) -> Numbers:
    return estimator(n, right)


def binomial(estimator: Estimator, n: int, judged: Integers, right: Integers) -> Numbers:
    missing = n - judged
    rate = (right + right.sum() / judged.sum()) / (judged + 1)
    number = np.arange(missing.max() + 1)
    return expected(estimator, n, right, binom.pmf(number, missing[:, None], rate[:, None]))


def fitted(estimator: Estimator, n: int, judged: Integers, right: Integers) -> Numbers:
    return expected(estimator, n, right, right_among_missing(n - judged, judged, right))


RULES: dict[str, Rule] = {
    'left out': left_out,
    'wrong': wrong,
    'binomial': binomial,
    'fitted': fitted,
}


def biases(rates: str, missing: str, share: float, n: int, models: int) -> tuple[Numbers, float]:
    """Return the biases in points, shape (metrics, rules), and the share of problems left out."""
    found = np.zeros((len(METRICS), len(RULES)))
    lost = 0.0
    for seed in range(models):
        rng = np.random.default_rng([*f'{rates} {missing} {share} {n}'.encode(), seed])
        right = rng.random((PROBLEMS, n)) < RATES[rates](rng)[:, None]
        weight = MISSING[missing](right, rng)
        gone = rng.random(right.shape) < np.minimum(share * weight / weight.mean(), 1)
        judged, c = (~gone).sum(axis=1), (right & ~gone).sum(axis=1)
        for row, name in enumerate(METRICS):
            estimator = parse_metric(name).estimator()
            truth = estimator(n, right.sum(axis=1)).mean()
            for column, rule in enumerate(RULES.values()):
                values = np.where(judged > 0, rule(estimator, n, judged, c), np.nan)
                found[row, column] += 100 * (np.nanmean(values) - truth) / models
        lost += (judged < K).mean() / models
    return found, lost


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument('--models', type=int, default=100, help='simulated models a row')
    parser.add_argument('--markdown', type=Path, help='write the tables here')
    args = parser.parse_args()
    lines = [
        f'| rates | missing | n | metric | {" | ".join(RULES)} | left out, % |',
        '|---' * (len(RULES) + 5) + '|',
    ]
    means = [f'| missing | n | {" | ".join(RULES)} |', '|---' * (len(RULES) + 2) + '|']
    for missing, share, n in product(MISSING, SHARES, SAMPLES):
        absolute = np.zeros(len(RULES))
        for rates in RATES:
            found, lost = biases(rates, missing, share, n, args.models)
            absolute += np.abs(found).mean(axis=0) / len(RATES)
            for name, row in zip(METRICS, found, strict=True):
                cells = ' | '.join(f'{value:+.2f}' for value in row)
                told = f'{100 * share:g} % {missing} | {n} | {name}'
                lines.append(f'| {rates} | {told} | {cells} | {100 * lost:.0f} |')
                print(lines[-1], flush=True)
        cells = ' | '.join(f'{value:.2f}' for value in absolute)
        means.append(f'| {100 * share:g} % {missing} | {n} | {cells} |')
    lines += ['', 'Mean of the absolute biases over rates and metrics:', '', *means]
    print('\n'.join(lines[-len(means) - 2 :]))
    if args.markdown:
        head = f'# Bias with missing verdicts\n\n{(__doc__ or "").strip()}\n\n'
        args.markdown.write_text(head + '\n'.join(lines) + '\n', encoding='utf-8')


if __name__ == '__main__':
    main()
