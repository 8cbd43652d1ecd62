"""Columns of figures, and the tables that are made of them: all problems, and groups of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from opencompass_gpassk.report.board import breakdowns
from opencompass_gpassk.report.cells import Mark
from opencompass_gpassk.report.tables.best import AVERAGE, GREEDY, Best
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.figures import Figure, Side
from opencompass_gpassk.results.stored_result import Entry, read_figure

Row = tuple[Entry, int | None, str]  # an entry, its k, and the label of a group or ''
Compared = Mapping[int | None, Best]  # k → marks


@dataclass(frozen=True)
class Column:
    """A figure of entries: one column, or three with the sound figure and the drop to it.

    Attributes:
        heading: The figure's heading.
        figure: The figure, shown at each k; :data:`GREEDY` is of the greedy result, others of the
            samples. None for the number of samples.
        headline: Whether the terminal shows its intervals.
        sides: Which sides of the figure are shown.
    """

    heading: str
    figure: Figure | None
    headline: bool = False
    sides: tuple[Side, ...] = (Side.PLAIN,)

    @property
    def headings(self) -> list[str]:
        """The headings of the columns."""
        return [self.heading, 'sound', 'drop'][: len(self.sides)]

    def cells(self, entry: Entry, k: int | None, group: str = '') -> list[Cell]:
        """Return the figure of an entry on each side; None if it was not measured."""
        if self.figure is None:
            return [entry.n or None]
        result = entry.greedy if self.figure == GREEDY else entry.result
        figure = self._at(k)
        return [read_figure(result or {}, figure.on(side), group) for side in self.sides]

    def compared(self, k: int | None) -> Figure:
        """Return the figure at k whose best entries are marked: the sound one if it is shown."""
        return self._at(k).on(Side.SOUND if Side.SOUND in self.sides else Side.PLAIN)

    def _at(self, k: int | None) -> Figure:
        figure = self.figure or AVERAGE
        return replace(figure, k=k) if figure.family.has('k') else figure


def sound_column(heading: str, figure: Figure) -> Column:
    """Return a figure plain, sound, and the drop from one to the other."""
    return Column(heading, figure, sides=tuple(Side))


def headings(columns: Iterable[Column]) -> list[str]:
    """Return the headings of columns."""
    return [heading for column in columns for heading in column.headings]


def cells(columns: Iterable[Column], row: Row) -> list[Cell]:
    """Return the figures of a row."""
    return [cell for column in columns for cell in column.cells(*row)]


def marks(
    columns: Sequence[Column], rows: Sequence[Row], compared: Compared, first: int
) -> dict[tuple[int, int], Mark]:
    """Return (row, column) → mark of the best figures.

    Args:
        columns: The columns.
        rows: The rows.
        compared: The marks at each k; entries without a k are compared at the first.
        first: The place of the first of the columns.
    """
    least = next(iter(compared))
    found = {}
    for index, (entry, k, label) in enumerate(rows):
        place = first
        best = compared.get(least if k is None else k, Best())
        for column in columns:
            asked = place + column.sides.index(Side.SOUND) if Side.SOUND in column.sides else place
            if column.figure and (mark := best.of(entry, column.compared(k), label)):
                found[index, asked] = mark
            place += len(column.sides)
    return found


def group_tables(
    title: str, entries: Sequence[Entry], columns: Sequence[Column], compared: Compared, what: str
) -> Iterable[Table]:
    """Yield a table for each kind of groups: a row for each group, entry and k.

    Args:
        title: The beginning of the titles.
        entries: The entries.
        columns: The columns.
        compared: The marks at each k, or at None if there is no k.
        what: What names the kinds of these tables beside those of others, '' for nothing.
    """
    at_ks = None not in compared
    about = ['group', 'problems', 'model', *(['k'] if at_ks else [])]
    for kind, shown in breakdowns(entries).items():
        rows: list[Row] = [
            (entry, k, label)
            for label, entry in shown
            for k in (entry.ks if at_ks else ()) or (None,)
        ]
        yield Table(
            f'{title} by {kind}',
            [*about, *headings(columns)],
            [
                [
                    *(label, entry.groups[label].get('problems'), entry.label),
                    *([k] if at_ks else []),
                    *cells(columns, (entry, k, label)),
                ]
                for entry, k, label in rows
            ],
            breakdown=f'{kind} ({what})' if what else kind,
            marks=marks(columns, rows, compared, len(about)),
        )
