"""Planning a difference: how precisely n samples of each of P problems would tell it.

One or two results are pilots: their counts say how much a difference varies within and between
problems (see ``metrics/difference_plan.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.compare.comparison import primary_metric
from opencompass_gpassk.compare.shared_problems import Aligned, aligned
from opencompass_gpassk.metrics.difference_plan import (
    DifferencePlan,
    Margins,
    margin_ranges,
    plan_difference,
    worthwhile_samples,
)
from opencompass_gpassk.results.metric import Metric
from opencompass_gpassk.results.read import ModelResult

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Outlook:
    """What one or two pilots say of the margin of error of a difference in a metric.

    Attributes:
        metric: The metric.
        n: Shape (1, P) or (2, P), samples with a verdict.
        c: The same shape, right ones among them.
        clusters: Shape (P,), equal numbers are versions of one question.
        left_out: Problems of which a pilot has fewer than k samples with a verdict.
        drawn: The pilots' samples of a problem, at most.
        tokens: Mean tokens of a sample, prompt and response; None if unknown.
    """

    metric: Metric
    n: Integers
    c: Integers
    clusters: Integers
    left_out: int
    drawn: int
    tokens: float | None

    @property
    def problems(self) -> int:
        """Number of problems, P."""
        return self.n.shape[1]

    @cached_property
    def plan(self) -> DifferencePlan:
        """What the pilots say.

        Raises:
            ValueError: If fewer than two questions have k samples.
        """
        return plan_difference(self.metric.estimator(), self.n, self.c, self.clusters)

    @property
    def worthwhile(self) -> int:
        """The n whose doubling narrows the second line by less than 10 % or half a point."""
        return worthwhile_samples(
            lambda n: self.plan.margins(self.problems, n).like_these, self.plan.estimator.k
        )

    def ranges(self, sizes: Sequence[tuple[int, int]]) -> list[tuple[Margins, Margins]]:
        """Return the 5 % and the 95 % quantile of the margins, from resampled pilots.

        Args:
            sizes: The (problems, n) to plan for.
        """
        return margin_ranges(self.metric.estimator(), self.n, self.c, sizes, self.clusters)

    def cost(self, problems: int, n: int) -> tuple[int, float | None]:
        """Return the samples that n of each of so many problems lack, of both models, and tokens.

        Args:
            problems: Number of problems; those of the pilots are among them.
            n: Samples of each problem.
        """
        there = min(problems, self.problems) * min(n, self.drawn) * len(self.n)
        samples = max(2 * problems * n - there, 0)
        return samples, None if self.tokens is None else samples * self.tokens


def outlook(pilots: Sequence[ModelResult], metric: Metric | None = None) -> Outlook:
    """Return what one or two results say of a difference.

    Args:
        pilots: One result, or two of the same problems.
        metric: The metric; by default G-Pass@k at τ = 1 and the greatest k of the first.

    Raises:
        ValueError: If the results don't have the metric, or it is not computed from right samples.
    """
    tables = [one.table() for one in pilots]
    names = list(map(str, range(len(pilots))))
    shared: Aligned = aligned(
        dict(zip(names, tables, strict=True)),
        dict(zip(names, (one.result.protocol for one in pilots), strict=True)),
    )
    chosen = metric or primary_metric(shared)
    told = ' and '.join(one.name for one in pilots)
    if chosen is None or chosen.family.estimator is None:
        raise ValueError(
            f'{told}: there is no metric that right samples tell; give --metric, such as '
            '"G-Pass@8_1.0", and pilots with several samples of each problem'
        )
    _, known, right = shared.counts
    (of_problems, *_) = shared.parts['']
    asked = shared.asked('', of_problems.metrics[0], 0, len(pilots) - 1)
    there = asked & (known >= chosen.estimator().k).all(axis=0)
    trials = [trial for table in tables for trial in table.trials]
    lengths = [
        one.num_tokens + (one.prompt_tokens or 0) for one in trials if one.num_tokens is not None
    ]
    found = Outlook(
        chosen,
        known[:, there],
        right[:, there],
        shared.clusters[there],
        int(asked.sum() - there.sum()),
        min(one.result.n for one in pilots),
        sum(lengths) / len(lengths) if lengths else None,
    )
    try:
        _ = found.plan
        if len(np.unique(chosen.estimator()(found.n, found.c))) == 1:
            raise ValueError(
                f'{chosen.heading} is the same on all problems, which says nothing of how it '
                'varies; take a pilot with more problems, or another --metric, such as accuracy'
            )
    except ValueError as error:
        raise ValueError(f'{told}: {error}') from error
    return found
