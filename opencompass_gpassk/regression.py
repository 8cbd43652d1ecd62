"""Has a model become worse? A test of figures that were named before, for continuous training."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from opencompass_gpassk.comparison import Difference
from opencompass_gpassk.metrics.paired import holm

__all__ = ['Check', 'check_metrics']

RUNS = re.compile(r' \(\d+ runs average\)$')


@dataclass(frozen=True)
class Check:
    """A figure that was asked about, on one data set.

    Attributes:
        data_set: Its name.
        difference: The figure of both models.
        p_value: By Holm's correction over all checks.
        worse: The second model is worse, and that is significant.
        unknowable: Why no data could have shown that it is worse, '' where some could.
    """

    data_set: str
    difference: Difference
    p_value: float
    worse: bool
    unknowable: str = ''


def check_metrics(
    compared: Mapping[str, Sequence[Difference]], metrics: Sequence[str], level: float
) -> list[Check]:
    """Tell which of some figures are significantly worse in the second model.

    A figure is worse if it has fallen, or risen where less is better, and its two-sided p-value of
    the paired sign-flip test is below 1 - ``level`` after Holm's correction over the figures that
    are asked about, on all data sets. So if nothing has changed, the chance that any of them is
    said to be worse is at most half of that. Figures that nobody asked about cost no power.

    A test of few clusters of problems, or of few flips, can't be significant, whatever the data
    are: such a check is marked as unknowable.

    Args:
        compared: Data set → differences.
        metrics: Keys of a result, such as ``mG-Pass@16`` or ``en/G-Pass@16_1.0``; ``accuracy`` is
            that of any number of runs. Each is checked on every data set that has it.
        level: The confidence.

    Raises:
        ValueError: If a figure is on no data set, or is undefined.
    """
    asked: dict[tuple[str, str], Difference] = {}
    for metric in metrics:
        found = {
            (data_set, one.key): one
            for data_set, differences in compared.items()
            for one in differences
            if metric in (one.key, RUNS.sub('', one.key))
        }
        if not found:
            raise ValueError(f'--fail-if-worse {metric} is no figure of both; {_known(compared)}')
        asked |= found
    for (data_set, key), one in asked.items():
        if math.isnan(one.p_value):
            raise ValueError(
                f'--fail-if-worse {key}: it is undefined on {data_set}, where no problem has '
                'enough judged responses of both'
            )
    adjusted = holm([one.p_value for one in asked.values()])
    return [
        Check(
            data_set,
            one,
            float(p),
            bool(one.gain < 0 and p < 1 - level - 1e-12),
            _unknowable(one, len(asked), level),
        )
        for ((data_set, _), one), p in zip(asked.items(), adjusted, strict=True)
    ]


def _unknowable(one: Difference, tests: int, level: float) -> str:
    least = one.least_p * tests
    if least < 1 - level - 1e-12:
        return ''
    return (
        f'{one.clusters} clusters of problems and {tests} figures checked make the p-value (Holm) '
        f'{min(least, 1.0):.2g} at least, which is not below {1 - level:.2g}; take more problems, '
        'fewer figures, more --resamples or a lower --level'
    )


def _known(compared: Mapping[str, Sequence[Difference]]) -> str:
    whole = [one for differences in compared.values() for one in differences]
    names = dict.fromkeys(one.name for one in whole)
    groups = dict.fromkeys(one.group for one in whole if one.group)
    told = f', and the same of a group, as in GROUP/NAME: {", ".join(groups)}' if groups else ''
    return f'there are {", ".join(names)}{told}'
