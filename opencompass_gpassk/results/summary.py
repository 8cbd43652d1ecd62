"""Metrics with intervals from counts alone, for a notebook: :func:`summarize`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from opencompass_gpassk.formats.jsonlines import without_nan
from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.clusters import LEAST_CLUSTERS
from opencompass_gpassk.metrics.estimators import problem_counts
from opencompass_gpassk.results.metric import Metric, result_metrics
from opencompass_gpassk.results.metric_intervals import ESTIMAND, IntervalSettings
from opencompass_gpassk.results.protocol import DEFAULT_TAUS, Protocol

__all__ = ['Estimated', 'Summary', 'summarize']


@dataclass(frozen=True)
class Estimated:
    """A metric and its confidence interval, in [0, 1].

    Attributes:
        value: The mean over the problems; NaN if no problem has enough samples.
        low: Lower end of the interval; NaN if there are fewer than five clusters.
        high: Upper end of the interval; NaN like the lower end.
        problems: Problems with enough samples; the mean is over these.
    """

    value: float
    low: float
    high: float
    problems: int


@dataclass(frozen=True, repr=False)
class Summary(Mapping[str, Estimated]):
    """What :func:`summarize` returns: a mapping from the name of a metric to its estimate.

    ``pandas.DataFrame.from_dict(summary.to_dict()['metrics'], orient='index')`` is a table of it.

    Attributes:
        metrics: Name, such as ``G-Pass@8_1.0``, to value and interval.
        problems: Number of problems.
        clusters: Number of clusters, which the intervals resample.
        confidence: The chance with which an interval covers the truth.
    """

    metrics: dict[str, Estimated]
    problems: int
    clusters: int
    confidence: float

    def __getitem__(self, name: str) -> Estimated:
        return self.metrics[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.metrics)

    def __len__(self) -> int:
        return len(self.metrics)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries and numbers that JSON can hold: None is undefined."""
        found: dict[str, Any] = without_nan(asdict(self))
        return found

    def __repr__(self) -> str:
        width = max(map(len, self.metrics))
        header = (
            f'{self.problems} problems in {self.clusters} clusters; {100 * self.confidence:g} % '
            f'intervals for {ESTIMAND}'
        )
        lines = [header, f'{"":{width}}   value     low    high  problems']
        lines += [
            f'{name:{width}}  {_told(one.value)}  {_told(one.low)}  {_told(one.high)}  '
            f'{one.problems:8}'
            for name, one in self.metrics.items()
            if one.problems
        ]
        if undefined := sum(not one.problems for one in self.metrics.values()):
            lines.append(f'{undefined} more metrics are undefined: no problem has k samples')
        if any(math.isnan(one.low) for one in self.metrics.values() if one.problems):
            lines.append(f'–: fewer than {LEAST_CLUSTERS} clusters, too few for an interval')
        return '\n'.join(lines)


def summarize(
    n: ArrayLike,
    c: ArrayLike,
    k: int | Sequence[int] = (4, 8, 16),
    taus: float | Sequence[float] = DEFAULT_TAUS,
    clusters: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Summary:
    """Return average@n, pass@k, G-Pass@k_τ, mG-Pass@k and stability gap@k, with intervals.

    Each metric is a mean over the problems that have the k samples it needs. Intervals are for a
    population of problems like these: a BCa bootstrap over clusters with a fixed seed, or Wilson's
    interval where fewer than about 20 clusters deviate from the others.

    Args:
        n: Judged samples of each problem, integers of shape (P,), or one number for all.
        c: Right ones among them, integers of shape (P,). From labels of shape (P, n), 1 for a right
            sample, they are ``labels.sum(axis=1)``.
        k: Samples drawn, one number or several.
        taus: The thresholds τ of G-Pass@k, each in [0, 1].
        clusters: Shape (P,), the same value for problems that are versions or translations of one
            question, such as ``['q1', 'q1', 'q2']``. By default each problem is a cluster.
        confidence: Of the intervals, between 0 and 1.

    Returns:
        The estimates by name: ``average@8`` (``average@n`` where n differs, ``accuracy`` where n is
        1), ``pass@4``, ``G-Pass@4_0.5``, ``mG-Pass@4``, ``stability gap@4``.

    Raises:
        ValueError: If there is no problem, a count is negative or isn't an integer, c > n, k < 1,
            a τ is outside [0, 1], clusters are not as many as problems or not known for all, or
            confidence is not between 0 and 1.

    >>> found = summarize(n=8, c=[8, 8, 8, 6, 8, 0, 2, 8], k=4, taus=[0.5, 1.0])
    >>> round(found['G-Pass@4_1.0'].value, 3)
    0.652
    >>> list(found)
    ['average@8', 'pass@4', 'G-Pass@4_0.5', 'G-Pass@4_1.0', 'mG-Pass@4', 'stability gap@4']
    """
    if np.ndim(c) != 1 or np.shape(n) not in ((), np.shape(c)) or not np.size(c):
        raise ValueError(
            f'n has shape {np.shape(n)} and c {np.shape(c)}; give one count of each a problem, '
            'such as c = labels.sum(axis=1)'
        )
    if not 0 < confidence < 1:
        raise ValueError(f'confidence is {confidence}; it is a chance between 0 and 1')
    samples, right = problem_counts(n, c)
    metrics = _metrics(np.atleast_1d(k), np.atleast_1d(taus), samples)
    values = np.stack([one.estimator()(samples, right) for one in metrics], axis=1)
    groups = _clusters(clusters, len(samples))
    bounds = np.zeros(len(metrics)), [one.most for one in metrics]
    settings = asdict(IntervalSettings(level=confidence))
    found = bootstrap_means(values, groups, bounds=bounds, **settings)
    return Summary(
        {
            one.heading: Estimated(
                float(found.estimate[i]),
                float(found.low[i]),
                float(found.high[i]),
                int((~np.isnan(values[:, i])).sum()),
            )
            for i, one in enumerate(metrics)
        },
        len(samples),
        len(np.unique(groups)),
        confidence,
    )


def _metrics(k: NDArray[Any], taus: NDArray[Any], samples: NDArray[np.int64]) -> list[Metric]:
    """Return the metrics that n and c give; average@n names n where it is the same for all."""
    if k.dtype.kind not in 'iu' or (k < 1).any():
        raise ValueError(f'k is {k.tolist()}; give whole numbers from 1')
    ks = tuple(k.tolist())
    protocol = Protocol(max(2, int(samples.max()), *ks), ks, tuple(map(float, taus)))
    equal = int(samples[0]) if (samples == samples[0]).all() else None
    return [
        one.of_n(equal) if one.n else one
        for one in result_metrics(protocol)
        if one.family.estimator
    ]


def _clusters(given: ArrayLike | None, problems: int) -> NDArray[np.int64]:
    """Return a number for each problem, the same for those of one cluster."""
    if given is None:
        return np.arange(problems)
    names = np.asarray(given, dtype=object)
    if names.shape != (problems,):
        raise ValueError(f'clusters has shape {names.shape} for {problems} problems; give one each')
    unknown = [i for i, name in enumerate(names) if name is None or name != name]
    if unknown:
        raise ValueError(
            f'clusters is {names[unknown[0]]} for problem {unknown[0]}; name a cluster for each, '
            'its own where it shares none'
        )
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.int64)


def _told(value: float) -> str:
    return '     –' if math.isnan(value) else f'{value:6.4f}'
