"""From the trial table to the figures of a result file: one dictionary a model and data set.

:class:`Measured` holds the values that each figure averages, for any of a table's problems. Figures
are percentages, undefined ones NaN. Their keys depend on the data set and its settings alone, since
OpenCompass's summarizer asks that of all models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.metrics.gpassk import g_pass_at_k, mg_pass_at_k, pass_at_k
from opencompass_gpassk.metrics.majority_vote import majority_vote
from opencompass_gpassk.results.columns import Columns
from opencompass_gpassk.results.groups import group_members, headline_problems, parts_of
from opencompass_gpassk.results.protocol import MAJORITY_VOTE, Protocol, accuracy_key
from opencompass_gpassk.results.soundness import (
    ReasoningColumns,
    scored_trials,
    sound_rows,
    sound_trials,
)
from opencompass_gpassk.results.versions import find_groups
from opencompass_gpassk.trials import TrialTable

__all__ = [
    'NOBODY',
    'Measured',
    'figures',
    'headline_figures',
    'headline_trials',
    'problem_clusters',
    'problem_figures',
    'reasoning_columns',
    'reasoning_figures',
    'signature_line',
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
        of_trials = (table.problem_index, table.answer_class, table.correct, table.judged)
        rows[MAJORITY_VOTE] = majority_vote(*of_trials, len(n))
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


NOBODY = 'none'  # judged: in the signature of a result without verdicts


def figures(table: TrialTable, protocol: Protocol) -> dict[str, object]:
    """Return the figures of a table, in percent: overall, of each group, and how they came about.

    Means are over problems; a problem whose figure is undefined is left out and counted in
    ``counts['excluded']``. Where questions have versions with other numbers, the figures are over
    these, with those of :mod:`opencompass_gpassk.results.versions` besides; the originals are a
    group. Shares are of all trials (coverage), of those not lost (no answer) and of those whose end
    is known (truncated).
    """
    measured = Measured(table, protocol)
    versions = measured.versions
    parts = parts_of(table.problems, protocol.groups)
    headline = parts[''].members
    result: dict[str, object] = {}
    for label, part in parts.items():
        means = measured.means(part.members, versions=part.versions)
        result |= {f'{label}/{name}' if label else name: value for name, value in means.items()}
    counts = _counts(table) | {'problems': len(headline)}
    if versions:
        result['versions'] = {
            'per_group': versions.size,
            'groups': len(versions.members),
            'incomplete': versions.incomplete,
            'originals': int((versions.originals >= 0).sum()),
            'excluded': versions.excluded(table, protocol),
            'complete': protocol.complete,
            'collapsed': protocol.collapsed,
        }
    judged, present = counts['correct'] + counts['incorrect'], counts['trials'] - counts['lost']
    result['coverage'] = _share(judged, counts['trials'])
    result['no answer'] = _share(counts['no_answer'], present)
    result['truncated'] = _truncated(table)
    result['counts'] = counts | {
        'excluded': {
            str(k): int(np.isnan(measured.rows[f'pass@{k}'][headline]).sum()) for k in protocol.ks
        }
    }
    groups = {label: (part.fields, part.members) for label, part in parts.items() if label}
    result['groups'] = _group_rows(groups)
    return result


def reasoning_figures(table: TrialTable, groupings: Sequence[tuple[str, ...]]) -> dict[str, object]:
    """Return the figures of a table whose reasoning is scored and whose answers nobody judged.

    Args:
        table: The trials.
        groupings: Breakdowns; each is a tuple of the problems' group fields.
    """
    measured = reasoning_columns(table, None)
    groups = group_members(table.problems, groupings)
    result: dict[str, object] = dict(measured.percentages())
    for label, (_, members) in groups.items():
        of_group = measured.among(trials_of(table, members))
        result |= {f'{label}/{name}': value for name, value in of_group.percentages().items()}
    names = ('problems', 'trials', 'lost', 'truncated')
    counts = {name: count for name, count in _counts(table).items() if name in names}
    result['truncated'] = _truncated(table)
    return result | {'counts': counts, 'groups': _group_rows(groups)}


def _counts(table: TrialTable) -> dict[str, int]:
    flags = {name: int(table.flag(name).sum()) for name in ('lost', 'no_answer', 'truncated')}
    return {
        'problems': len(table.problems),
        'trials': len(table),
        'correct': int(table.correct.sum()),
        'incorrect': int((table.judged & ~table.correct).sum()),
        'unjudged': int((~table.judged).sum()),
        **flags,
    }


def _share(count: int, of: int) -> float:
    return 100.0 * count / of if of else math.nan


def _truncated(table: TrialTable) -> float:
    """Return the share of cut off trials among those whose end is known, in percent."""
    ends_known = sum(trial.truncated is not None for trial in table.trials)
    return _share(int(table.flag('truncated').sum()), ends_known)


def _group_rows(groups: Mapping[str, tuple[dict[str, str], list[int]]]) -> dict[str, object]:
    return {
        label: {**fields, 'problems': len(members)} for label, (fields, members) in groups.items()
    }


def signature_line(signature: Mapping[str, object]) -> str:
    """Return a signature as one line, such as ``package:0.1.0|data:sample:1|n:16|k:4,8``."""
    parts = []
    for key, value in signature.items():
        if isinstance(value, Mapping):
            value = ','.join(f'{name}={item}' for name, item in value.items())
        elif isinstance(value, (list, tuple)):
            value = ','.join(map(str, value))
        parts.append(f'{key}:{value}')
    return '|'.join(parts)
