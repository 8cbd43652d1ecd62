"""Figures with intervals from counts alone, for a notebook: :func:`summarize`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.estimators import problem_counts
from opencompass_gpassk.results.figure_intervals import ESTIMAND
from opencompass_gpassk.results.figures import result_figures
from opencompass_gpassk.results.protocol import DEFAULT_TAUS, Protocol

__all__ = ['Estimated', 'Summary', 'summarize']


@dataclass(frozen=True)
class Estimated:
    """A figure and its confidence interval, in [0, 1].

    Attributes:
        value: The mean over the problems; NaN where no problem has enough samples.
        low: Lower end of the interval; NaN where there are fewer than two clusters.
        high: Upper end.
        problems: Problems with enough samples, which the mean is over.
    """

    value: float
    low: float
    high: float
    problems: int


@dataclass(frozen=True, repr=False)
class Summary:
    """What :func:`summarize` returns; ``summary['G-Pass@8_1.0']`` is one figure.

    Attributes:
        figures: Name of a figure to its value and interval.
        problems: How many problems there are.
        confidence: The chance with which an interval covers the truth.
    """

    figures: dict[str, Estimated]
    problems: int
    confidence: float

    def __getitem__(self, name: str) -> Estimated:
        return self.figures[name]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain dictionaries and numbers."""
        return asdict(self)

    def __repr__(self) -> str:
        width = max(map(len, self.figures))
        lines = [
            f'{self.problems} problems; {100 * self.confidence:g} % intervals for {ESTIMAND}',
            f'{"":{width}}   value     low    high  problems',
        ]
        lines += [
            f'{name:{width}}  {_told(one.value)}  {_told(one.low)}  {_told(one.high)}  '
            f'{one.problems:8}'
            for name, one in self.figures.items()
            if one.problems
        ]
        undefined = [name for name, one in self.figures.items() if not one.problems]
        if undefined:
            lines.append(f'undefined, since no problem has enough samples: {", ".join(undefined)}')
        return '\n'.join(lines)


def summarize(
    n: ArrayLike,
    c: ArrayLike,
    k: int | Sequence[int] = (4, 8, 16),
    taus: Sequence[float] = DEFAULT_TAUS,
    clusters: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Summary:
    """Return average@n, pass@k, G-Pass@k_τ and mG-Pass@k of P problems, with intervals.

    Intervals are for a population of problems like these (BCa bootstrap over clusters; Wilson's
    where too few problems differ), as in a result of the evaluator.

    Args:
        n: Judged samples of each problem, integers of shape (P,), or one number for all.
        c: Right ones among them, shape (P,).
        k: Samples drawn, one number or several. A problem with fewer samples is left out.
        taus: The thresholds τ of G-Pass@k, each in [0, 1].
        clusters: Shape (P,), what problems share that are versions or translations of one
            question; by default each problem is a cluster of its own.
        confidence: Of the intervals, between 0 and 1.

    Raises:
        ValueError: If there is no problem, a count is negative or isn't an integer, c > n, k < 1,
            a τ is outside [0, 1], clusters are not as many as problems, or confidence is not
            between 0 and 1.

    >>> found = summarize(n=8, c=[8, 8, 8, 6, 8, 0, 2, 8], k=4, taus=[0.5, 1.0])
    >>> found['G-Pass@4_1.0']  # doctest: +ELLIPSIS
    Estimated(value=0.651..., low=..., high=..., problems=8)
    >>> round(found['average@8'].value, 3)
    0.75
    """
    samples, right = problem_counts(n, c)
    if not len(samples):
        raise ValueError('n and c are empty; give the counts of one problem at least')
    ks = (k,) if isinstance(k, int) else tuple(k)
    most = int(samples.max())
    if any(one < 1 for one in ks):
        raise ValueError(f'k is {min(ks)}; draw at least 1 sample')
    protocol = Protocol(max(most, 2, *ks), ks, tuple(float(tau) for tau in taus))
    figures = [one for one in result_figures(protocol) if one.family.estimator]
    values = np.stack([one.estimator()(samples, right) for one in figures], axis=1)
    groups = np.arange(len(samples)) if clusters is None else np.asarray(clusters)
    if groups.shape != samples.shape:
        raise ValueError(
            f'clusters has shape {groups.shape} for {len(samples)} problems; give one a problem'
        )
    found = bootstrap_means(values, groups, bounds=(0.0, 1.0), level=confidence)
    equal = most if (samples == most).all() else None
    return Summary(
        {
            (one.of_n(equal) if one.n else one).heading: Estimated(
                float(found.estimate[i]),
                float(found.low[i]),
                float(found.high[i]),
                int((~np.isnan(values[:, i])).sum()),
            )
            for i, one in enumerate(figures)
        },
        len(samples),
        confidence,
    )


def _told(value: float) -> str:
    return '     –' if math.isnan(value) else f'{value:6.4f}'
