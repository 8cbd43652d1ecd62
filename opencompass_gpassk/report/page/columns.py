"""The columns of the leaderboard: under which key a result keeps a figure, and what it means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

from opencompass_gpassk.formats.display import one_line
from opencompass_gpassk.report.cells import BRACKETS, interval_notes
from opencompass_gpassk.results.join_results import (
    Benchmark,
    Entry,
    Estimate,
    Result,
    is_greedy,
    metric_keys,
    read_figure,
    sample_count,
)
from opencompass_gpassk.results.protocol import MAJORITY_VOTE, accuracy_key
from opencompass_gpassk.results.soundness import FALSE_POSITIVES, REDUNDANCY, SOUND, VALIDITY
from opencompass_gpassk.results.versions import DROP, SP_ACCURACY, UNDERSTANDING_SCORE

__all__ = [
    'AVERAGE',
    'GREEDY',
    'Column',
    'column_notes',
    'entry_figures',
    'entry_intervals',
    'shown_columns',
]

GREEDY, AVERAGE = 'greedy', 'average@n'


@dataclass(frozen=True)
class Column:
    """One figure of the leaderboard.

    Attributes:
        key: Of :func:`entry_figures`; ``{k}`` and ``{tau}`` stand for what the reader chooses.
        heading: What stands above it, with the same places; the key by default.
        about: What it means.
        lower: The lower, the better.
    """

    key: str
    about: str
    heading: str = ''
    lower: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the column for JSON."""
        heading = self.heading or self.key
        return {'key': self.key, 'heading': heading, 'about': self.about, 'lower': self.lower}


COLUMNS = (
    Column(GREEDY, 'share of the problems that the greedy response solves'),
    Column(AVERAGE, 'mean share of right responses among the n samples of a problem'),
    Column(MAJORITY_VOTE, 'share of the problems that the most frequent answer solves'),
    Column('pass@{k}', 'chance that at least one of {k} samples is right'),
    Column(
        'G-Pass@{k}_{tau}',
        'chance that at least a share τ = {tau} of {k} samples is right, one at the least',
    ),
    Column('mG-Pass@{k}', 'mean of G-Pass@{k} over the thresholds τ from 0.5 to 1'),
    Column(f'{SOUND}{AVERAGE}', 'as average@n, but the reasoning must be valid, too'),
    Column(f'{SOUND}G-Pass@{{k}}_{{tau}}', 'as G-Pass@{k}, but the reasoning must be valid, too'),
    Column(f'{SOUND}mG-Pass@{{k}}', 'as mG-Pass@{k}, but the reasoning must be valid, too'),
    Column(VALIDITY, 'mean validity of the responses’ reasoning'),
    Column(REDUNDANCY, 'mean redundancy of the responses’ reasoning', lower=True),
    Column(FALSE_POSITIVES, 'share of right responses whose reasoning is not valid', lower=True),
    Column(SP_ACCURACY, 'accuracy on the original questions', 'original accuracy'),
    Column(DROP, 'accuracy on the originals less that on versions with other numbers', lower=True),
    Column('GA@{m}', 'share of the questions of which all {m} versions are right'),
    Column('CR', 'share of the questions of which the original and most versions are right'),
    Column(
        'OOR',
        'share of the questions of which the original is right, but hardly a version',
        lower=True,
    ),
    Column(UNDERSTANDING_SCORE, 'one figure for how far originals and versions go together'),
)


def entry_figures(entry: Entry, group: str = '') -> dict[str, float | None]:
    """Return the figures of an entry, in percent: name to value, NaN where undefined.

    Names are those of the result, but for the accuracy, which is ``average@n`` or ``greedy``.
    """
    figures = dict(_figures(entry.result or entry.greedy or {}, group))
    if entry.greedy is not None:
        figures[GREEDY] = entry.greedy_accuracy(group)
    return {name: value for name, value in figures.items() if value is not None}


def entry_intervals(entry: Entry, group: str = '') -> dict[str, list[Any]]:
    """Return the intervals of an entry's figures: name to [low, high, method], in percent.

    Results that were made before there were intervals have none.
    """
    return {
        name: [*value.interval, one_line(value.method)]
        for name, value in entry_figures(entry, group).items()
        if isinstance(value, Estimate)
    }


def column_notes(benchmark: Benchmark) -> list[str]:
    """Return what the intervals of a benchmark's figures are."""
    columns: dict[str, list[float | None]] = {}
    for entry in benchmark.entries:
        for name, value in entry_figures(entry).items():
            columns.setdefault(name, []).append(value)
    return interval_notes(columns, BRACKETS)


def shown_columns(benchmark: Benchmark) -> list[dict[str, Any]]:
    """Return the columns that some entry of a benchmark has a figure for, in their order."""
    names = {name for entry in benchmark.entries for name in entry_figures(entry)}
    sizes = {
        str(versions['per_group'])
        for entry in benchmark.entries
        for result in entry.results
        if (versions := result.get('versions'))
    }
    ks, taus = map(str, benchmark.ks), map(str, benchmark.taus)
    places = list(product(list(ks) or [''], list(taus) or [''], sizes or ['']))
    columns = []
    for column in COLUMNS:
        if any(column.key.format(k=k, tau=tau, m=m) in names for k, tau, m in places):
            columns.append(column.as_dict())
    return columns


def _figures(result: Result, group: str) -> Iterable[tuple[str, float | None]]:
    for name, key in _keys(result, group):
        yield name, read_figure(result, key, group)


def _keys(result: Result, group: str) -> Iterable[tuple[str, str]]:
    """Yield name → key of what a result holds of a group."""
    if not result:
        return
    of_group = (result.get('groups') or {}).get(group) or {}
    accuracy, plain = accuracy_key(sample_count(result)), GREEDY if is_greedy(result) else AVERAGE
    for *_, key in metric_keys(result, whole=not group, originals='version' in of_group):
        yield key.removesuffix(accuracy) + plain if key.endswith(accuracy) else key, key
