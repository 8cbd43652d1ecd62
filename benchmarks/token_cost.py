"""Measure how often the interval of tokens per problem solved every time contains the true value.

    python benchmarks/token_cost.py

A simulated run draws each problem's rate from a Beta distribution whose G-Pass@8_1.0 is known. The
tokens of a response are log-normal: their median rises e^1.5-fold from problems that are always
solved to those that never are, and differs between problems and responses. Rates are U-shaped
(α + β = 0.3) or have one peak (α + β = 8). In the column of pairs two problems share rate and
length, and are a cluster. Each cell is the share of 1,000 runs, in percent, whose interval contains
the true value, for our interval and for that of the standard error of the log-ratio alone; where
nothing is solved, the latter has the ends of the former.
"""

from __future__ import annotations

import math
import time

import numpy as np
from scipy.optimize import brentq
from scipy.special import stdtrit
from scipy.stats import betabinom

from opencompass_gpassk.metrics.gpassk import g_pass_at_k
from opencompass_gpassk.metrics.token_cost import Cost, tokens_per_solved

N, K, RUNS = 16, 8, 1000
RISE, BETWEEN, WITHIN = 1.5, 0.6, 0.5  # of the logarithm of tokens
SIZES = {'24': (24, 1), '45': (45, 1), '45 pairs': (45, 2), '119': (119, 1), '500': (500, 1)}


def rates(strength: float, truth: float) -> tuple[float, float]:
    """Return α and β with a given G-Pass@8_1.0."""

    def excess(mean: float) -> float:
        right = np.arange(N + 1)
        chances = betabinom.pmf(right, N, mean * strength, (1 - mean) * strength)
        return float(chances @ g_pass_at_k(N, right, K, 1.0)) - truth

    mean = brentq(excess, 1e-4, 1 - 1e-4)
    return mean * strength, (1 - mean) * strength


def log_ratio_alone(tokens: np.ndarray, solved: np.ndarray, clusters: np.ndarray) -> Cost | None:
    """Return the interval of Student's quantile and the standard error of log(m / G)."""
    if not solved.any():
        return None
    ratio = tokens.mean() / solved.mean()
    residuals = tokens / tokens.mean() - solved / solved.mean()
    sums = np.bincount(clusters, residuals) / len(tokens)
    size = len(sums)
    half = stdtrit(size - 1, 0.975) * math.sqrt(sums @ sums * size / (size - 1))
    return Cost(ratio, ratio * math.exp(-half), ratio * math.exp(half))


def main() -> None:
    """Print a table."""
    start, rng = time.time(), np.random.default_rng(0)
    print('rates, G-Pass@8_1.0 | ' + ' | '.join(SIZES))
    for name, strength in (('U', 0.3), ('peak', 8.0)):
        for truth in (0.02, 0.1, 0.3, 0.6, 0.9):
            a, b = rates(strength, truth)
            drawn = rng.beta(a, b, 2_000_000)
            true = np.exp(RISE * (1 - drawn)).mean() * math.exp(BETWEEN**2 / 2) / truth
            cells = []
            for clusters, of_each in SIZES.values():
                held = np.zeros(2)
                for _ in range(RUNS):
                    rate = np.repeat(rng.beta(a, b, clusters), of_each)
                    label = np.repeat(np.arange(clusters), of_each)
                    log = RISE * (1 - rate) + np.repeat(rng.normal(0, BETWEEN, clusters), of_each)
                    noise = rng.normal(-(WITHIN**2) / 2, WITHIN, (len(rate), N))
                    tokens = np.exp(log[:, None] + noise).mean(axis=1)
                    solved = np.asarray(g_pass_at_k(N, rng.binomial(N, rate), K, 1.0))
                    ours = tokens_per_solved(tokens, solved, label)
                    other = log_ratio_alone(tokens, solved, label) or ours
                    held += [one.low <= true <= one.high for one in (ours, other)]
                cells.append(' / '.join(f'{100 * share:.1f}' for share in held / RUNS))
            print(f'{name}, {truth:.0%} | ' + ' | '.join(cells), flush=True)
    print(f'{time.time() - start:.0f} s')


if __name__ == '__main__':
    main()
