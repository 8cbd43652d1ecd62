"""The trials of a table under one assignment of verdicts: as recorded, settled, or sound.

Metrics are computed from it. Other assignments answer what-if questions. What if all open responses
were wrong, or right? What if a right answer counted only with valid reasoning?
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.estimators import Estimator
from opencompass_gpassk.metrics.missing import both, expected, right_among_missing
from opencompass_gpassk.results.groups import VersionCounts, VersionGroups, find_groups
from opencompass_gpassk.trials import TrialTable

VALIDITY, REDUNDANCY = 'validity', 'redundancy'

Mask = NDArray[np.bool_]
Row = NDArray[np.float64]


class Unknown(NamedTuple):
    """Trials of which nobody knows whether they are right, and those that tell how likely it is.

    Attributes:
        trials: Shape (T,): whether it is one of the unknown ones.
        known: Shape (T,): whether it is one of those that are known, and like them.
        right: Shape (T,): whether it is one of the known ones and right.
    """

    trials: Mask
    known: Mask
    right: Mask


@dataclass(frozen=True, eq=False)
class JudgedTrials:
    """T trials of P problems, each right, wrong or missing a verdict.

    Attributes:
        table: The trials and their problems.
        judged: Shape (T,): whether the trial is right or wrong.
        correct: Shape (T,): whether the trial is right.
        validity: Shape (T,): validity of the reasoning, in [0, 1]; NaN without a score.
        redundancy: Shape (T,): redundancy of the reasoning, in [0, 1]; NaN without a score.
        groups: The groups of versions among the problems; None if there are none.
        unknown: The trials without a verdict, in kinds that are not equally likely to be right;
            empty if they are all of one kind.
    """

    table: TrialTable
    judged: Mask
    correct: Mask
    validity: Row
    redundancy: Row
    groups: VersionGroups | None
    unknown: tuple[Unknown, ...] = ()

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
        """Return the trials with every missing verdict counted as right, or as wrong."""
        every = np.ones_like(self.judged)
        return self._with(every, self.correct | (~self.judged & correct))

    def decided(self) -> JudgedTrials:
        """Return the trials without the verdicts that nobody gave: see ``trials.OPEN``."""
        return self._with(self.judged & self.table.decided, self.correct)

    def sound(self, threshold: float) -> JudgedTrials:
        """Return the trials in which a right one is wrong unless its reasoning is valid.

        A trial is wrong if its answer is wrong or its reasoning invalid, even if the other is
        unknown. It is right if both are known to be right. Otherwise it is unknown. Of right
        answers without scores as many are sound as of those with scores.

        Args:
            threshold: Least validity of sound reasoning, in [0, 1].
        """
        scored = ~np.isnan(self.validity)
        invalid = self.validity < threshold
        right = self.correct & scored & ~invalid
        unknown = (
            Unknown(self.correct & ~scored, self.correct & scored, right),
            Unknown(~self.judged & ~invalid, self.judged & scored, right),
        )
        wrong = (self.judged & ~self.correct) | invalid
        return dataclasses.replace(self, judged=wrong | right, correct=right, unknown=unknown)

    def _with(self, judged: Mask, correct: Mask) -> JudgedTrials:
        return dataclasses.replace(self, judged=judged, correct=correct, unknown=())

    @cached_property
    def n(self) -> NDArray[np.int64]:
        """Shape (P,): planned trials of each problem; lost ones are among them."""
        return self.table.count(np.ones_like(self.judged))

    @cached_property
    def known(self) -> NDArray[np.int64]:
        """Shape (P,): trials of each problem that are right or wrong."""
        return self.table.count(self.judged)

    @cached_property
    def c(self) -> NDArray[np.int64]:
        """Shape (P,): right trials of each problem."""
        return self.table.count(self.correct)

    @cached_property
    def chances(self) -> Row:
        """Shape (P, M + 1): the chance of each number of right ones among the missing verdicts.

        NaN for a problem with trials of which none has a verdict.
        """
        found = np.ones((len(self.n), 1))
        for kind in self.unknown or (Unknown(~self.judged, self.judged, self.correct),):
            found = both(found, right_among_missing(*map(self.table.count, kind)))
        found[(self.known == 0) & (self.n > 0)] = np.nan
        return found

    @cached_property
    def right_of_missing(self) -> Row:
        """Shape (P,): the expected number of right ones among the missing verdicts."""
        return self.chances @ np.arange(self.chances.shape[1])

    def expected(self, estimator: Estimator) -> Row:
        """Return the values of problems, shape (P,), as expected over the missing verdicts.

        NaN where fewer than k trials were planned, or none has a verdict.
        """
        return expected(estimator, self.n, self.c, self.chances)

    @cached_property
    def versions(self) -> VersionCounts:
        """Planned trials of each group's versions and original, and how many of them are right.

        The number of right ones is its expectation over the missing verdicts; n is 0 where no trial
        has one.

        Raises:
            ValueError: If there are no groups.
        """
        known = self.known > 0
        right = np.minimum(self.c + self.right_of_missing, self.n)
        return self._groups.counts(np.where(known, self.n, 0), np.where(known, right, 0.0))

    @cached_property
    def judged_versions(self) -> VersionCounts:
        """Trials with a verdict of each group's versions and original, and right ones among them.

        Raises:
            ValueError: If there are no groups.
        """
        return self._groups.counts(self.known, self.c)

    def expected_of_pools(self, estimator: Estimator) -> Row:
        """Return the values of groups, shape (G,), each with its versions' trials in one pool.

        Raises:
            ValueError: If there are no groups.
        """
        members = self._groups.members
        chances = np.ones((len(members), 1))
        for version in members.T:
            chances = both(chances, self.chances[version])
        return expected(
            estimator, self.n[members].sum(axis=1), self.c[members].sum(axis=1), chances
        )

    @property
    def _groups(self) -> VersionGroups:
        if self.groups is None:
            raise ValueError('no question has two versions')
        return self.groups
