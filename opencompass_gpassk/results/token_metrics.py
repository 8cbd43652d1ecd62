"""The tokens of a result: mean lengths, and what a problem solved every time costs.

They are no percentages, so they stand in the field ``tokens`` of a result, apart from its metrics.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.token_cost import tokens_per_solved
from opencompass_gpassk.metrics.version_metrics import ratio
from opencompass_gpassk.results.metric import G_PASS
from opencompass_gpassk.results.metric_values import MetricValues
from opencompass_gpassk.results.result import Entry, Few
from opencompass_gpassk.trials import TrialTable

LEAST_KNOWN = 95.0  # percent of the responses
MOST = 1e9  # tokens of a response; other numbers, and those below 0, are no counts
MEAN, RIGHT, WRONG = 'tokens', 'tokens (right)', 'tokens (wrong)'
PER_SOLVED = 'tokens per problem solved every time@{k}'
# Key, which is also the heading → meaning. All are NaN if fewer than 95 % of counts are known.
TOKENS = {
    MEAN: 'mean tokens of a response, as a mean over problems',
    RIGHT: 'mean tokens of a right response',
    WRONG: 'mean tokens of a wrong response',
    PER_SOLVED: 'mean tokens of a response divided by the share G-Pass@{k}_1.0, on the same '
    'problems; undefined if none is solved every time',
}


def token_metrics(values: MetricValues, level: float | None = None) -> dict[str, Any]:
    """Return the field ``tokens`` of a result, for the problems of the headline.

    Args:
        values: The values that the result's metrics average.
        level: The coverage of the intervals; None for no intervals.

    Returns:
        ``known``: the responses whose tokens are known, in percent of all, lost ones included;
        ``metrics``: key → tokens, NaN where undefined; ``intervals``: key → [low, high] for a
        population of such problems, None for an open end. A low end without a metric says that no
        problem is solved every time. ``cut_off``: [fewest, most] tokens of a response that was cut
        off; this shows the limit, whoever set it.
    """
    table, trials, members = values.table, values.trials, values.parts[''].members
    among = np.isin(table.problem_index, members)
    tokens = np.where(among, _counts(table), np.nan)
    known = ~np.isnan(tokens)
    share = 100.0 * float(ratio(known.sum(), among.sum()))
    if not share >= LEAST_KNOWN:
        known[:] = False
    totals = np.bincount(table.problem_index[known], tokens[known], len(table.problems))
    of_problem = ratio(totals, table.count(known))
    metrics = {MEAN: _mean(of_problem[~np.isnan(of_problem)])}
    intervals: dict[str, list[float | None]] = {}
    if values.protocol.judged:
        metrics[RIGHT] = _mean(tokens[known & trials.correct])
        metrics[WRONG] = _mean(tokens[known & trials.judged & ~trials.correct])
    for k in values.protocol.ks if values.protocol.judged else ():
        solved = trials.expected(G_PASS(k=k, tau=1.0).estimator())
        cost = tokens_per_solved(
            of_problem[members], solved[members], values.clusters[members], level or 0.95
        )
        metrics[key := PER_SOLVED.format(k=k)] = cost.value
        if not math.isnan(cost.low):
            intervals[key] = [cost.low, None if math.isinf(cost.high) else cost.high]
    found = {'known': share, 'metrics': metrics, **({'intervals': intervals} if level else {})}
    cut_off = [
        one.num_tokens
        for one, counts in zip(table.trials, among, strict=True)
        if counts and one.truncated and one.num_tokens
    ]
    return {**found, **({'cut_off': [min(cut_off), max(cut_off)]} if cut_off else {})}


def cost_text(entry: Entry, k: int) -> str:
    """Return the tokens per problem solved every time with their interval; '' if unknown.

    Of a model that solves no problem every time the lower end is told. Without an interval it says
    whether that is since there are too few questions.
    """
    key = PER_SOLVED.format(k=k)
    tokens = entry.result.tokens
    cost = tokens.metrics.get(key, math.nan)
    low, high = tokens.intervals.get(key, (None, None))
    if math.isnan(cost):
        return '' if low is None else f'none solved, above {low:,.0f}'
    if low is None:
        few = isinstance(entry.metric(G_PASS(k=k, tau=1.0)), Few)
        return f'{cost:,.0f}{" (too few)" * few}'
    return f'{cost:,.0f} [{low:,.0f}, {"…" if high is None else f"{high:,.0f}"}]'


def _counts(table: TrialTable) -> NDArray[np.float64]:
    """Return the tokens of every response, shape (T,); NaN if unknown."""
    given = (one.num_tokens for one in table.trials)
    counts = np.array([math.nan if one is None else one for one in given], float)
    return np.where((counts >= 0) & (counts <= MOST), counts, np.nan)


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if values.size else math.nan
