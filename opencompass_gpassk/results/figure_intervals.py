"""How sure the figures of a result are: a confidence interval for each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from opencompass_gpassk.metrics.bootstrap_intervals import METHODS, bootstrap_means
from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.fixed_problems import fixed_problems_intervals
from opencompass_gpassk.metrics.rates import Rates
from opencompass_gpassk.results.columns import Columns
from opencompass_gpassk.results.figures import Measured, reasoning_columns, trials_of
from opencompass_gpassk.results.groups import group_members, parts_of
from opencompass_gpassk.results.protocol import Protocol, accuracy_key
from opencompass_gpassk.results.soundness import SOUND, sound_trials
from opencompass_gpassk.trials import TrialTable

__all__ = ['ESTIMAND', 'FIXED', 'IntervalSettings', 'figure_intervals', 'reasoning_intervals']

ESTIMAND = 'a population of problems like these, each sampled anew'
FIXED = 'these very problems, each sampled anew'
DIFFERENCES = ('drop to sound ', 'SP-RV drop')  # how the names of differences begin
VARIANCES = 'variance '  # how their names begin; unbiased ones may be negative
FEWEST, MOST = 100, 1_000_000  # resamples
PER_TAIL = 5  # resamples beyond an interval's ends, at least


@dataclass(frozen=True)
class IntervalSettings:
    """How intervals are made.

    Args:
        method: ``bca`` or ``percentile``, of the bootstrap over clusters of problems.
        resamples: Of the bootstrap, from 100 to 1,000,000, and at least 5/(1 - level).
        seed: Of the resamples.
        level: The chance with which an interval covers the truth, between 0 and 1.

    Raises:
        ValueError: If a setting is out of its range.
    """

    method: str = 'bca'
    resamples: int = 10_000
    seed: int = 0
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(
                f'method of intervals is {self.method!r}; use {" or ".join(METHODS)}, or '
                'intervals=None for none'
            )
        if not isinstance(self.resamples, int) or not FEWEST <= self.resamples <= MOST:
            raise ValueError(
                f'resamples of intervals is {self.resamples!r}; take {FEWEST} to {MOST}'
            )
        if not 0 < self.level < 1:
            raise ValueError(f'level of intervals is {self.level!r}; it is a chance, such as 0.95')
        if self.resamples + 1 < PER_TAIL / (1 - self.level) - 1e-6:
            raise ValueError(
                f'resamples of intervals is {self.resamples}, too few for a level of '
                f'{self.level:g}; take {math.ceil(PER_TAIL / (1 - self.level))}, or a lower level'
            )

    @classmethod
    def of(cls, given: str | Mapping[str, Any] | None) -> IntervalSettings | None:
        """Return settings from a config's: a method, a dictionary of the arguments, or None.

        Raises:
            ValueError: As the class does, or if a name is unknown.
        """
        if given is None:
            return None
        if isinstance(given, str):
            return cls(method=given)
        if not isinstance(given, Mapping):
            raise ValueError(f'intervals is {given!r}; give a method such as {METHODS[0]!r}')
        known = [one.name for one in fields(cls)]
        if unknown := set(given).difference(known):
            raise ValueError(
                f'intervals has {", ".join(sorted(map(str, unknown)))}, which is unknown; there '
                f'are {", ".join(known)}'
            )
        return cls(**given)


def figure_intervals(
    table: TrialTable, protocol: Protocol, settings: IntervalSettings
) -> dict[str, Any]:
    """Return an interval of each figure of :func:`~opencompass_gpassk.results.figures.figures`.

    They are for a population of problems: problems that are versions of one another are drawn
    together, and what few samples leave unsure is in them.

    Args:
        table: The trials.
        protocol: What was measured.
        settings: How intervals are made.

    Returns:
        ``intervals``, name to [low, high] in percent; ``intervals_fixed``, the same of figures of
        how many samples of a problem are right, for these very problems; and ``uncertainty``,
        which tells what both are of and how they came about. Figures of fewer than two clusters
        have no interval for a population.
    """
    measured = Measured(table, protocol)
    parts = parts_of(table.problems, protocol.groups)
    found = _intervals(
        {
            label: measured.columns(part.members, versions=part.versions)
            for label, part in parts.items()
        },
        settings,
    )
    members = {label: part.members for label, part in parts.items()}
    found['intervals_fixed'] = _fixed_intervals(table, protocol, members, settings.level)
    found['uncertainty']['of_fixed'] = FIXED
    return found


def _fixed_intervals(
    table: TrialTable, protocol: Protocol, members: Mapping[str, Sequence[int]], level: float
) -> dict[str, list[float]]:
    """Return the intervals for these problems, without those of undefined figures."""
    estimators = {accuracy_key(protocol.n): Estimator('accuracy')}
    for k in protocol.ks:
        estimators[f'pass@{k}'] = Estimator('G-Pass', k)
        for tau in map(float, protocol.taus):
            estimators[f'G-Pass@{k}_{tau}'] = Estimator('G-Pass', k, tau)
        estimators[f'mG-Pass@{k}'] = Estimator('mG-Pass', k)
    tables = {'': table}
    if protocol.sound is not None:
        tables[SOUND] = sound_trials(table, protocol.sound)
    found: dict[str, list[float]] = {}
    for prefix, of in tables.items():
        n, c = of.counts()
        if not n.any():
            continue
        rates = Rates.fitted(n, c)
        for name, estimator in estimators.items():
            made = fixed_problems_intervals(
                estimator, n, c, list(members.values()), rates=rates, level=level
            )
            for label, one in zip(members, made, strict=True):
                if not math.isnan(one.low):
                    key = f'{label}/{prefix}{name}' if label else f'{prefix}{name}'
                    found[key] = [100 * one.low, 100 * one.high]
    return found


def reasoning_intervals(
    table: TrialTable, groupings: Sequence[tuple[str, ...]], settings: IntervalSettings
) -> dict[str, Any]:
    """Return the same of :func:`~opencompass_gpassk.results.figures.reasoning_figures`.

    Args:
        table: The trials.
        groupings: Breakdowns; each is a tuple of the problems' group fields.
        settings: How intervals are made.
    """
    columns = reasoning_columns(table, None)
    parts = {'': [columns]}
    for label, (_, members) in group_members(table.problems, groupings).items():
        parts[label] = [columns.among(trials_of(table, members))]
    return _intervals(parts, settings)


def _intervals(
    parts: Mapping[str, Sequence[Columns]], settings: IntervalSettings
) -> dict[str, Any]:
    found: dict[str, list[float]] = {}
    methods: dict[str, list[str]] = {}
    for label, blocks in parts.items():
        for block in blocks:
            names = list(block.values)
            if not names:
                continue
            least = [-1.0 if name.startswith((*DIFFERENCES, VARIANCES)) else 0.0 for name in names]
            values = np.stack([block.values[name] for name in names], axis=1).astype(float)
            made = bootstrap_means(
                np.clip(values, least, 1.0),  # rounding may leave a share a hair outside
                block.clusters,
                weights=block.weights,
                bounds=(least, 1.0),
                **asdict(settings),
            )
            for name, low, high, method in zip(
                names, made.low, made.high, made.method, strict=True
            ):
                if not np.isnan(low):
                    key = f'{label}/{name}' if label else name
                    found[key] = [100 * float(low), 100 * float(high)]
                    methods.setdefault(method, []).append(key)
    others = {method: keys for method, keys in methods.items() if method != settings.method}
    return {
        'intervals': found,
        'uncertainty': {**asdict(settings), 'of': ESTIMAND, 'other_methods': others},
    }
