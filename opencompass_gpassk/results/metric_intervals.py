"""Confidence intervals of the metrics of a result."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from opencompass_gpassk.formats.parse_settings import Settings
from opencompass_gpassk.metrics.bootstrap_intervals import bootstrap_means
from opencompass_gpassk.metrics.fixed_problems import fixed_problems_intervals
from opencompass_gpassk.metrics.missing import fill_variance, widened
from opencompass_gpassk.metrics.rate_distribution import Rates
from opencompass_gpassk.results.groups import in_group
from opencompass_gpassk.results.judged_trials import Row
from opencompass_gpassk.results.metric import Metric, Side
from opencompass_gpassk.results.metric_values import Columns, MetricValues
from opencompass_gpassk.results.result import Result

ESTIMAND = 'a population of problems like these, each sampled anew'
FIXED = 'these very problems, each sampled anew'
Fills = dict[Metric, tuple[Row, Row]]
FEWEST, MOST = 100, 1_000_000  # resamples
PER_TAIL = 5  # resamples beyond an interval's ends, at least


@dataclass(frozen=True)
class IntervalSettings(Settings):
    """Settings of confidence intervals.

    Args:
        method: ``bca`` or ``percentile``, a bootstrap over clusters of problems.
        resamples: Bootstrap resamples, from 100 to 1,000,000, and at least 5/(1 - level).
        seed: Random seed of the bootstrap.
        level: Confidence level, between 0 and 1.

    Raises:
        ValueError: If a setting is out of its range.
    """

    name: ClassVar[str] = 'intervals'
    text_sets: ClassVar[str] = 'method'
    example: ClassVar[str] = "dict(method='bca', level=0.95), or None for no intervals"

    method: Literal['bca', 'percentile'] = 'bca'
    resamples: Annotated[int, Field(ge=FEWEST, le=MOST)] = 10_000
    seed: int = 0
    level: Annotated[float, Field(gt=0, lt=1)] = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.resamples + 1 < PER_TAIL / (1 - self.level) - 1e-6:
            raise ValueError(
                f'resamples of intervals is {self.resamples}, too few for a level of '
                f'{self.level:g}; take {math.ceil(PER_TAIL / (1 - self.level))}, or a lower level'
            )


def stored_intervals(result: Result) -> IntervalSettings | None:
    """Return the settings of a result's intervals; None if it has none."""
    if (of := result.uncertainty) is None:
        return None
    names = ('method', 'resamples', 'seed', 'level')
    return IntervalSettings.of({name: getattr(of, name) for name in names})


def metric_intervals(values: MetricValues, settings: IntervalSettings) -> dict[str, Any]:
    """Return a confidence interval of each metric, for the headline and for each group.

    Args:
        values: The values that the metrics average.
        settings: Settings of the intervals.

    Returns:
        ``intervals``: key of the metric → [low, high] in percent, for a population of problems.
        Versions of one question are resampled together, and the uncertainty from few samples is
        included. Metrics of fewer than five clusters have no interval. ``intervals_fixed``: the
        same for these very problems, of metrics computed from n and c of each problem.
        ``uncertainty``: what both intervals estimate, and how they were made.
    """
    found: dict[str, list[float]] = {}
    fills = _fills(values)
    methods: dict[str, list[str]] = {}
    for label, part in values.parts.items():
        for columns in values.of(part):
            for metric, ends, method in _population_intervals(columns, settings):
                key = in_group(label, metric.key)
                found[key] = _allowing_for_missing(fills.get(metric), part.members, ends)
                methods.setdefault(method, []).append(key)
    judged = values.protocol.judged
    fixed = dict(_fixed_intervals(values, fills, settings.level)) if judged else {}
    others = {method: keys for method, keys in methods.items() if method != settings.method}
    return {
        'intervals': found,
        **({'intervals_fixed': fixed} if judged else {}),
        'uncertainty': {
            **asdict(settings),
            'of': ESTIMAND,
            'other_methods': others,
            **({'of_fixed': FIXED} if judged else {}),
        },
    }


def _population_intervals(
    columns: Columns, settings: IntervalSettings
) -> Iterator[tuple[Metric, list[float], str]]:
    """Yield metric, ends in percent and method of each metric that has an interval."""
    least, most = zip(*((metric.least, metric.most) for metric in columns.metrics), strict=True)
    made = bootstrap_means(
        np.clip(columns.values, least, most),  # rounding may leave a share slightly outside
        columns.clusters,
        weights=columns.weights,
        bounds=(least, most),
        **asdict(settings),
    )
    for metric, low, high, method in zip(
        columns.metrics, made.low, made.high, made.method, strict=True
    ):
        if not math.isnan(low):
            yield metric, [100 * float(low), 100 * float(high)], method


def _fixed_intervals(
    values: MetricValues, fills: Fills, level: float
) -> Iterator[tuple[str, list[float]]]:
    """Yield key and ends in percent of each metric that is computed from n and c."""
    labels = list(values.parts)
    members = [values.parts[label].members for label in labels]
    rates: dict[Side, Rates] = {}
    for metric, fill in fills.items():
        trials = values.assignment(metric.side)
        if not trials.known.any():
            continue
        if metric.side not in rates:
            rates[metric.side] = Rates.fitted(trials.known, trials.c)
        made = fixed_problems_intervals(
            metric.estimator(),
            trials.known,
            trials.c,
            members,
            missing=trials.n - trials.known,
            values=fill[0],
            rates=rates[metric.side],
            level=level,
        )
        for label, part, one in zip(labels, members, made, strict=True):
            if not math.isnan(one.low):
                ends = [100 * one.low, 100 * one.high]
                yield in_group(label, metric.key), _allowing_for_missing(fill, part, ends)


def _fills(values: MetricValues) -> Fills:
    """Return the filled values of the problems and what is not known of them, for each metric.

    They are of metrics computed from n and c, and both of shape (P,).
    """
    found: Fills = {}
    for columns in values.columns.values():
        for metric in columns.metrics:
            if metric.family.estimator and metric.side is not Side.DROP:
                trials, estimator = values.assignment(metric.side), metric.estimator()
                unknown = fill_variance(estimator, trials.n, trials.c, trials.chances)
                found[metric] = trials.expected(estimator), unknown
    return found


def _allowing_for_missing(
    fill: tuple[Row, Row] | None, members: list[int], ends: list[float]
) -> list[float]:
    """Return an interval widened by what is not known of missing verdicts, see ``widened``."""
    if fill is None:
        return ends
    filled, unknown = (of[members] for of in fill)
    known = ~np.isnan(filled)
    if not unknown[known].any():
        return ends
    mean = float(filled[known].mean())
    low, high = widened(ends[0] / 100, mean, ends[1] / 100, unknown[known])
    return [100 * low, 100 * high]
