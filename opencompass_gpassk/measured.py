"""What the figures of a trial table are means of, for any of its problems."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.columns import Columns
from opencompass_gpassk.groupings import headline_problems
from opencompass_gpassk.metrics.gpassk import g_pass_at_k, mg_pass_at_k, pass_at_k
from opencompass_gpassk.protocol import MAJORITY_VOTE, Protocol, accuracy_key
from opencompass_gpassk.soundness import (
    ReasoningColumns,
    scored_trials,
    sound_rows,
    sound_trials,
)
from opencompass_gpassk.trials import TrialTable
from opencompass_gpassk.version_groups import find_groups

__all__ = [
    'Measured',
    'headline_figures',
    'headline_trials',
    'problem_clusters',
    'problem_figures',
    'reasoning_columns',
    'trials_of',
]


def problem_clusters(table: TrialTable) -> NDArray[np.int64]:
    """Return which cluster each problem is of, shape (P,): versions of a question share one."""
    # A cluster may be called as a problem is that belongs to none.
    names = [
        f'cluster {one.cluster}' if one.cluster else f'problem {one.problem_id}'
        for one in table.problems
    ]
    return np.unique(names, return_inverse=True)[1].reshape(-1).astype(np.int64)


def reasoning_columns(table: TrialTable, threshold: float | None) -> Columns:
    """Return what the figures of reasoning are means of, a row a trial.

    Args:
        table: The trials.
        threshold: Of validity; None where answers aren't judged.
    """
    values = ReasoningColumns.of(table).columns(threshold)
    return Columns(values, problem_clusters(table)[table.problem_index])


def trials_of(table: TrialTable, members: Sequence[int]) -> NDArray[np.int64]:
    """Return the indices of the trials of some of the problems."""
    return np.flatnonzero(np.isin(table.problem_index, members))


def headline_trials(table: TrialTable) -> TrialTable:
    """Return the table of the problems alone that the headline figures are over."""
    problems = [table.problems[index] for index in headline_problems(table.problems)]
    names = {problem.problem_id for problem in problems}
    return TrialTable(problems, [one for one in table.trials if one.problem_id in names])


def problem_figures(table: TrialTable, protocol: Protocol) -> dict[str, NDArray[np.float64]]:
    """Return every metric of each of the P problems: name to shape (P,), in [0, 1] or NaN.

    Where reasoning is scored, ``sound …`` and ``drop to sound …`` stand beside them; these are over
    the trials with scores, the drop's plain figure too.
    """
    rows = _rows(table, protocol)
    if protocol.sound is not None:
        # Which answer leads has nothing to do with how it was found.
        sound = _rows(sound_trials(table, protocol.sound), protocol)
        sound.pop(MAJORITY_VOTE, None)
        rows |= sound_rows(_rows(scored_trials(table), protocol), sound)
    return rows


def _rows(table: TrialTable, protocol: Protocol) -> dict[str, NDArray[np.float64]]:
    n, c = table.counts()
    rows: dict[str, NDArray[np.float64]] = {accuracy_key(protocol.n): table.accuracy()}
    if protocol.n > 1:
        rows[MAJORITY_VOTE] = table.majority_vote()
    for k in protocol.ks:
        rows[f'pass@{k}'] = np.asarray(pass_at_k(n, c, k))
        for tau in protocol.taus:
            rows[f'G-Pass@{k}_{float(tau)}'] = np.asarray(g_pass_at_k(n, c, k, tau))
        rows[f'mG-Pass@{k}'] = np.asarray(mg_pass_at_k(n, c, k))
    return rows


def headline_figures(table: TrialTable, protocol: Protocol) -> dict[str, float]:
    """Return the figures of a table, in percent, without those of its groups."""
    return Measured(table, protocol).means(headline_problems(table.problems))


class Measured:
    """What the figures of a table are means of, for any of its problems."""

    def __init__(self, table: TrialTable, protocol: Protocol) -> None:
        self.table = table
        self.protocol = protocol
        self.rows = problem_figures(table, protocol)
        self.versions = find_groups(table.problems)
        self.clusters = problem_clusters(table)
        self.of_trials = (
            None if protocol.sound is None else reasoning_columns(table, protocol.sound)
        )

    def columns(self, members: Sequence[int], *, versions: bool = True) -> list[Columns]:
        """Return the figures over these problems, over the groups of their versions, and trials."""
        found = [Columns(self.rows, self.clusters).among(members)]
        if versions and self.versions:
            groups = self.versions.within(members)
            rows = groups.rows(self.table, self.protocol)
            found.append(Columns(rows, np.arange(len(groups.members))))
            found.append(groups.understanding(self.table, self.protocol))
        if self.of_trials:
            found.append(self.of_trials.among(trials_of(self.table, members)))
        return found

    def means(self, members: Sequence[int], *, versions: bool = True) -> dict[str, float]:
        """Return the figures of these problems, in percent."""
        found: dict[str, float] = {}
        for columns in self.columns(members, versions=versions):
            found |= columns.percentages()
        return found
