"""Columns of metrics, and the tables that are made of them: all problems, and groups of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from opencompass_gpassk.report.board import AVERAGE, GREEDY, breakdowns
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.metric import Metric, Side
from opencompass_gpassk.results.result import Entry


@dataclass(frozen=True)
class Column:
    """A metric of entries: one column, or three with the sound metric and the drop to it.

    Attributes:
        heading: The metric's heading.
        metric: The metric, shown at each k; :data:`GREEDY` is of the greedy result, others of the
            samples. None for the number of samples.
        headline: Whether the terminal shows its intervals.
        sides: Which sides of the metric are shown.
    """

    heading: str
    metric: Metric | None
    headline: bool = False
    sides: tuple[Side, ...] = (Side.PLAIN,)

    @property
    def headings(self) -> list[str]:
        """The headings of the columns."""
        return [self.heading, 'sound', 'drop'][: len(self.sides)]

    def cells(self, entry: Entry, k: int | None, group: str = '') -> list[Cell]:
        """Return the metric of an entry on each side; None if it was not measured."""
        if self.metric is None:
            return [entry.n or None]
        asked = [self.at(k).on(side) for side in self.sides]
        if self.metric != GREEDY:
            return [entry.metric(one, group) for one in asked]
        return [entry.greedy.metric(one, group) if entry.greedy else None for one in asked]

    def at(self, k: int | None) -> Metric:
        """Return the metric at k."""
        metric = self.metric or AVERAGE
        return replace(metric, k=k) if metric.family.has('k') else metric


def sound_column(heading: str, metric: Metric) -> Column:
    """Return a metric plain, sound, and the drop from one to the other."""
    return Column(heading, metric, sides=tuple(Side))


def headings(columns: Iterable[Column]) -> list[str]:
    """Return the headings of columns."""
    return [heading for column in columns for heading in column.headings]


def cells(columns: Iterable[Column], entry: Entry, k: int | None, group: str = '') -> list[Cell]:
    """Return the metrics of a row."""
    return [cell for column in columns for cell in column.cells(entry, k, group)]


def group_sizes(rows: Sequence[tuple[str, Entry]]) -> tuple[list[str], list[list[int | None]]]:
    """Return the headings of the sizes of groups, and the sizes in each row.

    They are the problems and, if these are fewer in any row, the independent questions.

    Args:
        rows: Label of the group ('' for all problems) and entry of each row.
    """
    problems = [
        entry.groups[label].problems if label else entry.result.counts.problems
        for label, entry in rows
    ]
    questions = [entry.questions(AVERAGE, label) for label, entry in rows]
    both = list(zip(problems, questions, strict=True))
    if all(asked in (None, number) for number, asked in both):
        return ['problems'], [[number] for number in problems]
    return ['problems', 'questions'], list(map(list, both))


def group_tables(
    title: str, entries: Sequence[Entry], columns: Sequence[Column]
) -> Iterable[Table]:
    """Yield a table for each kind of groups: a row for each group, entry and k.

    Args:
        title: The beginning of the titles.
        entries: The entries.
        columns: The columns.
    """
    at_ks = any(column.metric and column.metric.k for column in columns)
    for kind, shown in breakdowns(entries).items():
        sizes, counts = group_sizes(shown)
        about = ['group', *sizes, 'model', *(['k'] if at_ks else [])]
        rows: list[list[Cell]] = [
            [
                *(label, *size, entry.label),
                *([k] if at_ks else []),
                *cells(columns, entry, k, label),
            ]
            for (label, entry), size in zip(shown, counts, strict=True)
            for k in (entry.ks if at_ks else ()) or (None,)
        ]
        yield Table(f'{title} by {kind}', [*about, *headings(columns)], rows)
