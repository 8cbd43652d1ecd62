"""From the trial table to the figures of a result file: one dictionary a model and data set.

Figures are percentages, undefined ones NaN. Their keys depend on the data set and its settings
alone, since OpenCompass's summarizer asks that of all models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from opencompass_gpassk.columns import Columns
from opencompass_gpassk.groupings import group_members, headline_problems
from opencompass_gpassk.metrics.gpassk import g_pass_at_k, mg_pass_at_k, pass_at_k
from opencompass_gpassk.soundness import ReasoningColumns, sound_rows
from opencompass_gpassk.trials import TrialTable
from opencompass_gpassk.version_groups import ORIGINAL, find_groups

__all__ = [
    'DEFAULT_GROUPS',
    'DEFAULT_TAUS',
    'MAJORITY_VOTE',
    'NOBODY',
    'Protocol',
    'accuracy_key',
    'figures',
    'headline_figures',
    'problem_figures',
    'reasoning_figures',
    'signature_line',
]

MAJORITY_VOTE = 'majority vote'
NOBODY = 'none'  # judged: in the signature of a result without verdicts
DEFAULT_TAUS = (0.0, 0.25, 0.5, 0.75, 1.0)
DEFAULT_GROUPS = (('split', 'language'), ('split',), ('language',), ('level',), ('subject',))


@dataclass(frozen=True)
class Protocol:
    """What is measured.

    Args:
        n: Samples of each problem, at least 1.
        k: The k of pass@k and G-Pass@k, each from 1 to n; ignored where n is 1.
        taus: The thresholds τ of G-Pass@k, each in [0, 1].
        groups: Breakdowns; each is a tuple of the problems' group fields.
        complete: Share of a question's versions that must be right for complete understanding.
        collapsed: Share at which understanding has collapsed, if no more are right.
        sound: Least validity of the reasoning behind a right answer, in [0, 1], for what
            :mod:`~opencompass_gpassk.soundness` adds; None where no reasoning is scored.

    Raises:
        ValueError: If a setting is out of its range.
    """

    n: int
    k: tuple[int, ...] = ()
    taus: tuple[float, ...] = DEFAULT_TAUS
    groups: tuple[tuple[str, ...], ...] = field(default=DEFAULT_GROUPS)
    complete: float = 0.8
    collapsed: float = 0.2
    sound: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.n, int) or self.n < 1:
            raise ValueError(f'n is {self.n!r}; a problem needs at least 1 sample')
        for k in self.k:
            if not isinstance(k, int) or not 1 <= k <= self.n:
                raise ValueError(f'k is {k!r} and n is {self.n}; choose each k from 1 to n')
        for tau in self.taus:
            if not 0 <= tau <= 1:
                raise ValueError(f'taus holds {tau}; a threshold τ is a share from 0 to 1')
        if not 0 <= self.collapsed < self.complete <= 1:
            raise ValueError(
                f'collapsed is {self.collapsed}, complete is {self.complete}; they are shares from '
                '0 to 1, and complete is the greater'
            )
        if self.sound is not None and not 0 <= self.sound <= 1:
            raise ValueError(
                f'sound is {self.sound}; a threshold of validity is a share from 0 to 1'
            )

    @property
    def ks(self) -> tuple[int, ...]:
        """The k that are reported, ascending; none where nothing is repeated."""
        return tuple(sorted(set(self.k))) if self.n > 1 else ()


def accuracy_key(n: int) -> str:
    """Return the name OpenCompass gives to the accuracy over n replicas."""
    return 'accuracy' if n == 1 else f'accuracy ({n} runs average)'


def problem_figures(table: TrialTable, protocol: Protocol) -> dict[str, NDArray[np.float64]]:
    """Return every metric of each of the P problems: name to shape (P,), in [0, 1] or NaN.

    Where reasoning is scored, ``sound …`` and ``drop to sound …`` stand beside them.
    """
    rows = _rows(table, protocol)
    if protocol.sound is not None:
        # Which answer leads has nothing to do with how it was found.
        sound = _rows(table.sound(protocol.sound), protocol)
        sound.pop(MAJORITY_VOTE, None)
        rows |= sound_rows(rows, sound)
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


def figures(table: TrialTable, protocol: Protocol) -> dict[str, object]:
    """Return the figures of a table, in percent: overall, of each group, and how they came about.

    Means are over problems; a problem whose figure is undefined is left out and counted in
    ``counts['excluded']``. Where questions have versions with other numbers, the figures are over
    these, with those of :mod:`opencompass_gpassk.version_groups` besides; the originals are a
    group. Shares are of all trials (coverage), of those not lost (no answer) and of those whose end
    is known (truncated).
    """
    measured = _Measured(table, protocol)
    versions = measured.versions
    headline = headline_problems(table.problems)
    groups = group_members(table.problems, protocol.groups, headline)
    result: dict[str, object] = dict(measured.means(headline))
    for label, (_, members) in groups.items():
        result |= {f'{label}/{name}': value for name, value in measured.means(members).items()}
    if len(headline) < len(table.problems):
        originals = [i for i, one in enumerate(table.problems) if one.version == ORIGINAL]
        groups[ORIGINAL] = ({'version': ORIGINAL}, originals)
        of_originals = measured.means(originals, versions=False)
        result |= {f'{ORIGINAL}/{name}': value for name, value in of_originals.items()}
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
    result['groups'] = _group_rows(groups)
    return result


def reasoning_figures(table: TrialTable, groupings: Sequence[tuple[str, ...]]) -> dict[str, object]:
    """Return the figures of a table whose reasoning is scored and whose answers nobody judged.

    Args:
        table: The trials.
        groupings: Breakdowns; each is a tuple of the problems' group fields.
    """
    measured = Columns(ReasoningColumns.of(table).columns(None), table.problem_index)
    groups = group_members(table.problems, groupings)
    result: dict[str, object] = dict(measured.percentages())
    for label, (_, members) in groups.items():
        of_group = measured.among(np.flatnonzero(np.isin(table.problem_index, members)))
        result |= {f'{label}/{name}': value for name, value in of_group.percentages().items()}
    names = ('problems', 'trials', 'lost', 'truncated')
    counts = {name: count for name, count in _counts(table).items() if name in names}
    result['truncated'] = _truncated(table)
    return result | {'counts': counts, 'groups': _group_rows(groups)}


def headline_figures(table: TrialTable, protocol: Protocol) -> dict[str, float]:
    """Return the figures of a table, in percent, without those of its groups."""
    return _Measured(table, protocol).means(headline_problems(table.problems))


class _Measured:
    """What the figures of a table are means of, for any of its problems."""

    def __init__(self, table: TrialTable, protocol: Protocol) -> None:
        self.table = table
        self.protocol = protocol
        self.rows = problem_figures(table, protocol)
        self.versions = find_groups(table.problems)
        clusters = [problem.cluster or problem.problem_id for problem in table.problems]
        self.clusters = np.unique(clusters, return_inverse=True)[1].reshape(-1)
        reasoning = None if protocol.sound is None else ReasoningColumns.of(table)
        self.of_trials = reasoning.columns(protocol.sound) if reasoning else {}

    def columns(self, members: Sequence[int], *, versions: bool = True) -> list[Columns]:
        """Return the figures over these problems, over the groups of their versions, and trials."""
        found = [Columns(self.rows, self.clusters).among(members)]
        if versions and self.versions:
            groups = self.versions.within(members)
            rows = groups.rows(self.table, self.protocol)
            found.append(Columns(rows, np.arange(len(groups.members))))
        if self.of_trials:
            problem = self.table.problem_index
            of_trials = Columns(self.of_trials, self.clusters[problem])
            found.append(of_trials.among(np.flatnonzero(np.isin(problem, members))))
        return found

    def means(self, members: Sequence[int], *, versions: bool = True) -> dict[str, float]:
        """Return the figures of these problems, in percent."""
        found: dict[str, float] = {}
        for columns in self.columns(members, versions=versions):
            found |= columns.percentages()
        if versions and self.versions:
            shares = self.versions.within(members).understanding(self.table, self.protocol)
            found |= {name: 100 * share for name, share in shares.items()}
        return found


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
