"""The trials of a table under one assignment of verdicts: as recorded, settled, or sound.

Figures are computed from it. Other assignments answer what-if questions. What if all unjudged
responses were wrong, or right? What if a right answer counted only with valid reasoning?
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.results.versions import VersionCounts, VersionGroups, find_groups
from opencompass_gpassk.trials import TrialTable

__all__ = ['REDUNDANCY', 'VALIDITY', 'JudgedTrials']

VALIDITY, REDUNDANCY = 'validity', 'redundancy'

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class JudgedTrials:
    """T trials of P problems, each right, wrong or unjudged.

    Attributes:
        table: The trials and their problems.
        judged: Shape (T,): whether the trial is right or wrong, so not unjudged.
        correct: Shape (T,): whether the trial is right.
        validity: Shape (T,): validity of the reasoning, in [0, 1]; NaN without a score.
        redundancy: Shape (T,): redundancy of the reasoning, in [0, 1]; NaN without a score.
        groups: The groups of versions among the problems; None if there are none.
    """

    table: TrialTable
    judged: Mask
    correct: Mask
    validity: NDArray[np.float64]
    redundancy: NDArray[np.float64]
    groups: VersionGroups | None

    @classmethod
    def recorded(cls, table: TrialTable) -> JudgedTrials:
        """Return the trials with the verdicts that the table records."""
        return cls(
            table,
            table.judged,
            table.correct,
            table.values(VALIDITY),
            table.values(REDUNDANCY),
            find_groups(table.problems),
        )

    def settled(self, *, correct: bool) -> JudgedTrials:
        """Return the trials with every unjudged one counted as right, or as wrong."""
        return self._with(np.ones_like(self.judged), self.correct | (~self.judged & correct))

    def decided(self) -> JudgedTrials:
        """Return the trials in which those that only count as wrong by request are unjudged."""
        return self._with(self.judged & self.table.decided, self.correct)

    def scored(self) -> JudgedTrials:
        """Return the trials in which those without reasoning scores are unjudged.

        This holds for right and for wrong answers: if only wrong answers without scores stayed,
        missing scores would make a model look less sound.
        """
        scored = ~np.isnan(self.validity)
        return self._with(self.judged & scored, self.correct & scored)

    def sound(self, threshold: float) -> JudgedTrials:
        """Return the trials of :meth:`scored`; a right one is wrong if its reasoning is invalid.

        Args:
            threshold: Least validity of sound reasoning, in [0, 1].
        """
        scored = self.scored()
        return self._with(scored.judged, scored.correct & (self.validity >= threshold))

    def surely_sound(self, threshold: float) -> JudgedTrials:
        """Return the trials judged sound or not as far as is known, for bounds.

        A trial is wrong if its answer is wrong or its reasoning invalid, even if the other is
        unknown. It is right if both are known to be right. Otherwise it is unjudged.

        Args:
            threshold: Least validity of sound reasoning, in [0, 1].
        """
        wrong = (self.judged & ~self.correct) | (self.validity < threshold)
        right = self.correct & (self.validity >= threshold)
        return self._with(wrong | right, right)

    def _with(self, judged: Mask, correct: Mask) -> JudgedTrials:
        return dataclasses.replace(self, judged=judged, correct=correct)

    @cached_property
    def n(self) -> NDArray[np.int64]:
        """Shape (P,): judged trials of each problem."""
        return self._count(self.judged)

    @cached_property
    def c(self) -> NDArray[np.int64]:
        """Shape (P,): right trials of each problem."""
        return self._count(self.correct)

    @cached_property
    def versions(self) -> VersionCounts:
        """Counts of each group's versions and original; an error if there are no groups."""
        if self.groups is None:
            raise ValueError('no question has two versions')
        return self.groups.counts(self.n, self.c)

    def _count(self, chosen: Mask) -> NDArray[np.int64]:
        index = self.table.problem_index[chosen]
        return np.bincount(index, minlength=len(self.table.problems)).astype(np.int64)
