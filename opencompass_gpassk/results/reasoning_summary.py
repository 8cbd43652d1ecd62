"""What a result tells of the reasoning besides its figures: refusals, lengths, box plots."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.results.judged_trials import REDUNDANCY, VALIDITY, JudgedTrials

__all__ = ['box', 'reasoning_summary']

WHISKER = 1.5  # times the interquartile range, Tukey's

Row = NDArray[np.float64]


def reasoning_summary(
    trials: JudgedTrials, among: NDArray[np.bool_], threshold: float | None
) -> dict[str, Any]:
    """Return what stands in a result's ``reasoning``, beside who scored.

    Args:
        trials: The trials.
        among: Shape (T,): which of them count.
        threshold: Least validity of sound reasoning; None where answers aren't judged.

    Returns:
        ``refusals``, reason to count; ``lengths``, mean steps and tokens of a scored solution;
        ``boxes``, the statistics of box plots; and where answers are judged ``sound``: of how many
        right answers the reasoning is sound, unsound or unknown.
    """
    table = trials.table
    parts = {'all': among & ~table.flag('lost')}
    if threshold is not None:
        parts['right'] = among & trials.correct
        parts['wrong'] = among & trials.judged & ~trials.correct
    refusals = Counter(
        trial.unscored
        for trial, counts in zip(table.trials, among, strict=True)
        if counts and trial.unscored
    )
    scored = ~np.isnan(trials.validity)
    found: dict[str, Any] = {
        'refusals': dict(refusals.most_common()),
        'lengths': {
            name: {part: _mean(table.values(name)[of & scored]) for part, of in parts.items()}
            for name in ('steps', 'tokens')
        },
        'boxes': {
            name: {part: box(values[of]) for part, of in parts.items()}
            for name, values in ((VALIDITY, trials.validity), (REDUNDANCY, trials.redundancy))
        },
    }
    if threshold is not None:
        validity = trials.validity[parts['right']]
        found['sound'] = {
            'right': len(validity),
            'sound': int((validity >= threshold).sum()),
            'unsound': int((validity < threshold).sum()),
            'unknown': int(np.isnan(validity).sum()),
        }
    return found


def box(values: Row) -> dict[str, float] | None:
    """Return the statistics of a box plot, named as ``matplotlib.axes.Axes.bxp`` takes them.

    Args:
        values: Any number of them; those that are NaN are left out.

    Returns:
        Quartiles ``q1, med, q3``, ``mean``, count ``n``, and the outermost values within 1.5
        interquartile ranges of the box, ``whislo`` and ``whishi``; None if there is no value.
    """
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    q1, med, q3 = (float(value) for value in np.percentile(known, (25, 50, 75)))
    reach = WHISKER * (q3 - q1)
    inside = known[(known >= q1 - reach) & (known <= q3 + reach)]
    return {
        'q1': q1,
        'med': med,
        'q3': q3,
        # Interpolated quartiles may have no value between them and the end of their whisker.
        'whislo': min(float(inside.min()), q1) if inside.size else q1,
        'whishi': max(float(inside.max()), q3) if inside.size else q3,
        'mean': float(known.mean()),
        'n': int(known.size),
    }


def _mean(values: Row) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan
