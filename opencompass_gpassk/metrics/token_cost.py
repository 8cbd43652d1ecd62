"""What a problem that is solved every time costs in tokens: a ratio of two means, with an interval.

T = m / G, with m the mean tokens of a response and G the share of problems solved every time. A
model that solves half of its problems spends the tokens of two problems for each that it solves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.clusters import ClusterSums

TINY = 1e-11  # a share that is shown as 0


class Cost(NamedTuple):
    """Tokens per problem solved every time, and its interval.

    Attributes:
        value: m / G; NaN if nothing is solved.
        low: Lower end; NaN without an interval.
        high: Upper end; infinite if G may be 0.
    """

    value: float
    low: float
    high: float


def tokens_per_solved(
    tokens: ArrayLike, solved: ArrayLike, clusters: ArrayLike | None = None, level: float = 0.95
) -> Cost:
    """Return the tokens that a model spends for each problem that it solves every time.

    The interval is that of log m - log G over clusters, for a population of such problems. The ends
    of log m are Student's; those of G are Wilson's, as
    :func:`~opencompass_gpassk.metrics.bootstrap_intervals.bootstrap_means` makes them if few
    problems are solved. Their distances are combined with the correlation of both means (Zou,
    Psychological Methods 12 (2007), 399-413). The standard error of the log-ratio alone is far too
    short where few problems are solved. If none is, the lower end is m / (upper end of G).

    Args:
        tokens: Shape (P,), mean tokens of a response to each problem, at least 0; NaN where
            unknown.
        solved: Shape (P,), G-Pass@k at τ = 1 of each problem, in [0, 1]; NaN where undefined.
        clusters: Shape (P,), equal labels are one cluster; by default each problem is one.
        level: The interval's coverage.

    Returns:
        NaN if no problem has both numbers, or no token was needed; without an interval if fewer
        than five clusters have both.

    >>> tokens_per_solved([100, 200, 300, 200], [1, 1, 0, 0]).value
    400.0
    """
    both = np.column_stack([np.asarray(tokens, float), np.asarray(solved, float)])
    both[np.isnan(both).any(axis=1)] = np.nan
    sums = ClusterSums.of(both, clusters)
    mean, share = sums.means.tolist()
    ends = bootstrap_means(both[:, 1:], clusters, level=level, fewest=math.inf)
    low, high = float(ends.low[0]), float(ends.high[0])
    if not mean > 0:
        return Cost(math.nan, math.nan, math.nan)
    value = mean / share if share > TINY else math.nan
    if math.isnan(low + value):
        return Cost(value, mean / high, high if math.isnan(high) else math.inf)
    clustered = int(sums.defined[0])
    # The influence of each cluster on log m, and on log G.
    of_tokens, of_share = (sums.deviations(sums.means) / sums.totals.sum(axis=0)).T
    squares = (of_tokens @ of_tokens) * (of_share @ of_share)
    correlation = of_tokens @ of_share / math.sqrt(squares) if squares > 0 else 0.0
    error = math.sqrt(of_tokens @ of_tokens * clustered / (clustered - 1))
    reach = float(stdtrit(clustered - 1, (1 + level) / 2)) * error
    below, above = (
        math.sqrt(max(reach**2 + end**2 - 2 * correlation * reach * end, 0.0))
        for end in (math.log(high / share), math.log(share / max(low, TINY)))
    )
    return Cost(
        value, value * math.exp(-below), value * math.exp(above) if low > TINY else math.inf
    )
