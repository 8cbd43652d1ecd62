"""How much of a metric's variance comes from sampling, and how much from the choice of problems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from opencompass_gpassk.metrics.fixed_problems import within_problem_variance
from opencompass_gpassk.metrics.sample_size import Variance, design_effect, pilot_rates
from opencompass_gpassk.results.groups import headline_problems
from opencompass_gpassk.results.metric import ACCURACY, G_PASS
from opencompass_gpassk.results.metric_values import problem_clusters
from opencompass_gpassk.trials import TrialTable

NEGLIGIBLE = 0.1  # share of the variance from sampling; more samples hardly help then
LEAST = 2  # judged samples of some problem, which tell rates from chance


def sampling_shares(table: TrialTable, ks: Sequence[int]) -> dict[str, float]:
    """Return how much of the variance of the main metrics comes from sampling, in percent, by key.

    The rest comes from the choice of problems. Metrics that don't vary are left out.

    Args:
        table: The trials.
        ks: The k of G-Pass@k at τ = 1; the accuracy is added.
    """
    headline = np.array(headline_problems(table.problems), dtype=np.int64)
    n, c, clusters = (of[headline] for of in (*table.counts(), problem_clusters(table)))
    if n.max(initial=0) < LEAST:
        return {}
    rates = pilot_rates(n, c)
    shares = {}
    for metric in (ACCURACY(), *(G_PASS(k=k, tau=1.0) for k in ks)):
        estimator = metric.estimator()
        values = estimator(n, c)
        seen = ~np.isnan(values)
        if len({*values[seen].tolist()}) > 1:  # else the prior alone would speak
            design = 1.0
            if len(np.unique(clusters)) < len(n):
                within = float(within_problem_variance(estimator, n[seen], c[seen]).mean())
                design = design_effect(estimator, n, c, clusters, within)
            found = Variance(estimator, rates, design)
            shares[metric.key] = 100 * found.within_share(int(n.max()))
    return shares
