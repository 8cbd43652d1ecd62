"""What a result says of its reasoning beside metrics: refusals, lengths, and boxes of box plots."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.results.judged_trials import REDUNDANCY, VALIDITY, JudgedTrials

WHISKER = 1.5  # times the interquartile range, Tukey's

Row = NDArray[np.float64]


def reasoning_summary(
    trials: JudgedTrials, among: NDArray[np.bool_], threshold: float | None
) -> dict[str, Any]:
    """Return the part of a result's ``reasoning`` that is computed from trials.

    Args:
        trials: The trials.
        among: Shape (T,): whether a trial counts.
        threshold: Least validity of sound reasoning; None if answers aren't judged.

    Returns:
        ``refusals``: reason → count; ``lengths``: mean steps and tokens of a scored solution;
        ``boxes``: the statistics of box plots; if answers are judged, ``sound``: how many right
        answers have sound, unsound or unknown reasoning.
    """
    table = trials.table
    parts = {'all': among & ~table.lost}
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
    """Return the statistics of a box plot, with the names of ``matplotlib.axes.Axes.bxp``.

    Args:
        values: Any number of values; NaN is left out.

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
        # Between an interpolated quartile and the end of its whisker there may be no value.
        'whislo': min(float(inside.min()), q1) if inside.size else q1,
        'whishi': max(float(inside.max()), q3) if inside.size else q3,
        'mean': float(known.mean()),
        'n': int(known.size),
    }


def _mean(values: Row) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan
