"""From the trial table to the figures of a result file: one dictionary a model and data set.

Figures are percentages, undefined ones NaN. Their keys depend on the data set and its settings
alone, since OpenCompass's summarizer asks that of all models.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from opencompass_gpassk.groupings import group_members, parts_of
from opencompass_gpassk.measured import Measured, reasoning_columns, trials_of
from opencompass_gpassk.protocol import Protocol
from opencompass_gpassk.trials import TrialTable

__all__ = [
    'NOBODY',
    'figures',
    'reasoning_figures',
    'signature_line',
]

NOBODY = 'none'  # judged: in the signature of a result without verdicts


def figures(table: TrialTable, protocol: Protocol) -> dict[str, object]:
    """Return the figures of a table, in percent: overall, of each group, and how they came about.

    Means are over problems; a problem whose figure is undefined is left out and counted in
    ``counts['excluded']``. Where questions have versions with other numbers, the figures are over
    these, with those of :mod:`opencompass_gpassk.version_groups` besides; the originals are a
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
