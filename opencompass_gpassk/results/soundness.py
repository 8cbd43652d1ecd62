"""What scores of the reasoning add to a table's figures (ReasonEval, arXiv 2404.05692).

Means of validity and redundancy, the false-positive rate, and what sound reasoning leaves of the
accuracy and of G-Pass@k. A response whose reasoning nobody scored is neither sound nor unsound.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.trials import Trial, TrialTable, Verdict

__all__ = [
    'DROP_TO_SOUND',
    'FALSE_POSITIVES',
    'REDUNDANCY',
    'SCORED',
    'SOUND',
    'VALIDITY',
    'ReasoningColumns',
    'box',
    'scored_trials',
    'sound_rows',
    'sound_trials',
    'surely_sound_trials',
]

VALIDITY, REDUNDANCY = 'validity', 'redundancy'
SCORED, FALSE_POSITIVES = 'scored', 'false-positive rate'
SOUND, DROP_TO_SOUND = 'sound ', 'drop to sound '  # before the name of a figure
WHISKER = 1.5  # times the interquartile range, Tukey's

Row = NDArray[np.float64]
Mask = NDArray[np.bool_]


def scored_trials(table: TrialTable) -> TrialTable:
    """Return the table in which a trial is unjudged unless its reasoning has scores, too.

    Of right answers and of wrong ones alike: were the wrong ones to stay, missing scores would
    make any model less sound.
    """
    return _with_verdicts(
        table, lambda trial: trial.verdict if _validity(trial) >= 0 else Verdict.UNJUDGED
    )


def sound_trials(table: TrialTable, threshold: float) -> TrialTable:
    """Return the table of :func:`scored_trials` in which only sound ones are right.

    Args:
        table: The trials.
        threshold: Least validity of sound reasoning, in [0, 1].
    """

    def verdict(trial: Trial) -> Verdict:
        invalid = trial.verdict is Verdict.CORRECT and _validity(trial) < threshold
        return Verdict.INCORRECT if invalid else trial.verdict

    return _with_verdicts(scored_trials(table), verdict)


def surely_sound_trials(table: TrialTable, threshold: float) -> TrialTable:
    """Return the table with all that is known of soundness, for bounds.

    A trial is not sound if its answer is wrong or its reasoning invalid, whatever is unknown
    besides; sound if both are known to be good; and else unjudged.

    Args:
        table: The trials.
        threshold: Least validity of sound reasoning, in [0, 1].
    """

    def verdict(trial: Trial) -> Verdict:
        validity = _validity(trial)
        if trial.verdict is Verdict.INCORRECT or validity < threshold:
            return Verdict.INCORRECT
        return trial.verdict if validity >= threshold else Verdict.UNJUDGED

    return _with_verdicts(table, verdict)


def _validity(trial: Trial) -> float:
    return trial.values.get(VALIDITY, math.nan)


def _with_verdicts(table: TrialTable, verdict: Callable[[Trial], Verdict]) -> TrialTable:
    return TrialTable(
        table.problems, [replace(trial, verdict=verdict(trial)) for trial in table.trials]
    )


def sound_rows(plain: Mapping[str, Row], sound: Mapping[str, Row]) -> dict[str, Row]:
    """Return each figure of the sound trials, and what it is less than the plain one.

    Args:
        plain: Figures of :func:`scored_trials`: name to shape (P,).
        sound: Those of :func:`sound_trials`, the same trials.

    Returns:
        ``sound G-Pass@4_1.0`` and ``drop to sound G-Pass@4_1.0``, … to shape (P,).
    """
    drops = {f'{DROP_TO_SOUND}{name}': plain[name] - values for name, values in sound.items()}
    return {f'{SOUND}{name}': values for name, values in sound.items()} | drops


@dataclass(frozen=True)
class ReasoningColumns:
    """What is known of the reasoning of T trials.

    Attributes:
        validity: Shape (T,), in [0, 1]; NaN without scores.
        redundancy: Shape (T,), in [0, 1]; NaN without scores, or from a scorer that tells none.
        steps: Shape (T,), steps of each solution; NaN where it wasn't split.
        tokens: Shape (T,), tokens of each solution; NaN where nobody counted.
        right: Shape (T,): the answer is right.
        wrong: Shape (T,): the answer is wrong.
        present: Shape (T,): there is a response.
        unscored: Why there are no scores, '' where there are.
    """

    validity: Row
    redundancy: Row
    steps: Row
    tokens: Row
    right: Mask
    wrong: Mask
    present: Mask
    unscored: Sequence[str]

    @classmethod
    def of(cls, table: TrialTable) -> ReasoningColumns:
        """Return the columns of a table."""
        return cls(
            validity=table.values(VALIDITY),
            redundancy=table.values(REDUNDANCY),
            steps=table.values('steps'),
            tokens=table.values('tokens'),
            right=table.correct,
            wrong=table.judged & ~table.correct,
            present=~table.flag('lost'),
            unscored=[trial.unscored for trial in table.trials],
        )

    def columns(self, threshold: float | None) -> dict[str, Row]:
        """Return what the figures are means of: name to shape (T,), in [0, 1].

        A trial that a figure isn't about is NaN in it: one without scores, or with a wrong answer
        where right ones are meant.

        Args:
            threshold: Of validity; None where answers aren't judged, so that nothing is told of
                right and wrong ones.
        """
        parts = self._parts(judged=threshold is not None)
        found = {
            name if part == 'all' else f'{name} ({part})': np.where(chosen, values, np.nan)
            for name, values in ((VALIDITY, self.validity), (REDUNDANCY, self.redundancy))
            for part, chosen in parts.items()
        }
        scored = ~np.isnan(self.validity)
        if threshold is not None:
            invalid = self.validity < threshold
            found[FALSE_POSITIVES] = np.where(self.right & scored, invalid, np.nan)
        found[SCORED] = np.where(self.present, scored, np.nan)
        return found

    def summary(self, threshold: float | None) -> dict[str, Any]:
        """Return what stands in a result's ``reasoning``, beside who scored.

        Args:
            threshold: As for :meth:`columns`.

        Returns:
            ``refusals``, reason to count; ``lengths``, mean steps and tokens of a scored
            solution; ``boxes``, the statistics of box plots; and ``sound``, of how many right
            answers the reasoning is sound, unsound or unknown, where answers are judged.
        """
        parts = self._parts(judged=threshold is not None)
        refusals = Counter(reason for reason in self.unscored if reason)
        scored = ~np.isnan(self.validity)
        found: dict[str, Any] = {
            'refusals': dict(refusals.most_common()),
            'lengths': {
                name: {part: _mean(values[chosen & scored]) for part, chosen in parts.items()}
                for name, values in (('steps', self.steps), ('tokens', self.tokens))
            },
            'boxes': {
                name: {part: box(values[chosen]) for part, chosen in parts.items()}
                for name, values in ((VALIDITY, self.validity), (REDUNDANCY, self.redundancy))
            },
        }
        if threshold is not None:
            validity = self.validity[self.right]
            found['sound'] = {
                'right': len(validity),
                'sound': int((validity >= threshold).sum()),
                'unsound': int((validity < threshold).sum()),
                'unknown': int(np.isnan(validity).sum()),
            }
        return found

    def _parts(self, *, judged: bool) -> dict[str, Mask]:
        return {
            'all': self.present,
            **({'right': self.right, 'wrong': self.wrong} if judged else {}),
        }


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
