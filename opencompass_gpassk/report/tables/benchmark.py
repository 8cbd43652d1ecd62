"""Tables of benchmarks like the paper's: one row per model, greedy beside sampled figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from opencompass_gpassk.compare.claims import leaderboard_claim
from opencompass_gpassk.report.cells import Mark
from opencompass_gpassk.report.notes import benchmark_notes, sensitivity_notes, threshold_notes
from opencompass_gpassk.report.tables.best import AVERAGE, GREEDY, Best, Trials, best_entries
from opencompass_gpassk.report.tables.table import CROSSED, Cell, Table, group_order, kind_of
from opencompass_gpassk.results.figures import ACCURACY, FAMILIES, LOSS, PASS, Figure, Side
from opencompass_gpassk.results.join_results import (
    Benchmark,
    Entry,
    Results,
    figures_of,
    join_benchmarks,
)

TRUE = ['model', 'figure', 'recorded', 'estimate', '95 %: verdicts', '95 %: and sampling']
TRUE_NOTES = [
    "estimate: under true verdicts, according to people's labels on some of them (gpassk audit)",
    'verdicts: range of the figure of these samples; and sampling: of a population of problems',
]


@dataclass(frozen=True)
class _Column:
    """A column of figures.

    Attributes:
        heading: The column's heading.
        figure: The figure, shown at each k; None for the number of samples.
        headline: Whether the terminal shows its intervals.
    """

    heading: str
    figure: Figure | None
    headline: bool = False

    def read(self, entry: Entry, k: int | None, group: str = '') -> Cell:
        """Return the figure of an entry."""
        if self.figure is None:
            return entry.n or None
        if self.figure == GREEDY:
            return entry.greedy_accuracy(group)
        if self.figure == AVERAGE:
            return entry.average(group)
        return entry.figure(self.at(k), group)

    def mark(self, best: Best, entry: Entry, k: int | None, group: str = '') -> Mark | None:
        """Return the mark of an entry's figure."""
        return best.of(entry, self.at(k), group) if self.figure else None

    def at(self, k: int | None) -> Figure:
        """Return the figure at k."""
        figure = self.figure or AVERAGE
        return replace(figure, k=k) if figure.family.has('k') else figure


def benchmark_tables(results: Results, trials: Trials | None = None) -> list[Table]:
    """Return the tables of every benchmark: one for each k, then those of its groups.

    Args:
        results: Model → data set → result, as stored in the result JSON. Greedy and sampled
            results are joined by their benchmark; results of other evaluators are left out.
        trials: Trials of the results. If all are there, the best figures of each column are
            marked; if not, a note says why. None for no marks and no note.
    """
    return [table for benchmark in join_benchmarks(results) for table in _tables(benchmark, trials)]


def _tables(benchmark: Benchmark, trials: Trials | None) -> Iterable[Table]:
    title = f'{benchmark.name}: {_problems(benchmark)}'
    general = benchmark_notes(benchmark)
    groups = {label: fields for e in benchmark.entries for label, fields in e.groups.items()}
    compared: dict[int | None, Best] = {}
    for index, k in enumerate(benchmark.ks or [None]):
        # A model with greedy results only has a row in the first table.
        entries = [e for e in benchmark.entries if k in e.ks or (not index and not e.ks)]
        columns = _columns(benchmark, entries, k)
        asked = [column.at(k) for column in columns if column.figure]
        found = Best() if trials is None else best_entries(entries, k, trials, asked, groups)
        compared[k] = found
        ranks = [found.ranks.get((entry.model, entry.dataset)) for entry in entries]
        claim = leaderboard_claim(benchmark, entries, ranks, k) if k else ''
        yield Table(
            title if k is None else f'{title}, k = {k}{_left_out(benchmark, entries, k)}',
            ['model', *(column.heading for column in columns)],
            [
                [benchmark.label(entry), *(column.read(entry, k) for column in columns)]
                for entry in entries
            ],
            [] if k is None else threshold_notes(benchmark, k),
            headline=[column.heading for column in columns if column.headline],
            marks={
                (row, place): mark
                for row, entry in enumerate(entries)
                for place, column in enumerate(columns, start=1)
                if (mark := column.mark(found, entry, k))
            },
            claims=[claim] if claim else [],
            warnings=[*([] if index else general), *found.notes],
            remarks=[] if index else sensitivity_notes(benchmark),
            main=k == max(benchmark.ks, default=None),
        )
    yield from _true_verdicts(benchmark)
    yield from _group_tables(benchmark, title, compared)


def _left_out(benchmark: Benchmark, entries: Sequence[Entry], k: int) -> str:
    """Return how few problems the figures at k are means of; '' if they are of all."""
    left = max((entry.left_out(k) for entry in entries), default=0)
    if not left:
        return ''
    problems = max(benchmark.problems, default=left)
    return f' (only {problems - left} of the problems have {k} responses and a verdict)'


def _problems(benchmark: Benchmark) -> str:
    counts = ' or '.join(map(str, benchmark.problems)) or '?'
    ns = sorted({entry.n for entry in benchmark.entries if entry.n > 1})
    what = (
        'version'
        if any(r.get('versions') for e in benchmark.entries for r in e.results)
        else 'problem'
    )
    what += 's' * (counts != '1')
    return f'{counts} {what}' + (f', n = {" or ".join(map(str, ns))}' if ns else '')


def _columns(benchmark: Benchmark, entries: Sequence[Entry], k: int | str | None) -> list[_Column]:
    """Return the columns of a table; ``k`` is how the headings call it, None for none."""
    ns = {entry.n for entry in entries if entry.n}
    columns = [_Column('n', None)] if len(ns) > 1 else []
    if any(entry.greedy is not None for entry in entries):
        columns.append(_Column('Greedy', GREEDY, headline=True))
    if ns:
        n = ns.pop() if len(ns) == 1 else 'n'
        columns.append(_Column(f'average@{n}', AVERAGE, headline=True))
    if k is not None:
        # At τ = 0, G-Pass@k is pass@k, which has its column already.
        taus = [tau for tau in benchmark.taus if tau > 0]
        for family in (one for one in FAMILIES if one.tabulated):
            for tau in taus if family.has('tau') else [None]:
                # Headings may call k by its letter.
                figure = family(k=k if family.has('k') else None, tau=tau)  # type: ignore[arg-type]
                last = tau in (None, max(taus, default=None))
                headline = last and family not in (PASS, LOSS)
                columns.append(_Column(figure.heading, figure, headline))
    return columns


def _group_tables(
    benchmark: Benchmark, title: str, compared: Mapping[int | None, Best]
) -> Iterable[Table]:
    kinds: dict[str, dict[str, None]] = {}
    for entry in benchmark.entries:
        for label, fields in entry.groups.items():
            kinds.setdefault(kind_of(fields), {}).setdefault(label)
    columns = _columns(benchmark, benchmark.entries, 'k' if benchmark.ks else None)
    least = next(iter(compared))  # models with greedy results only are compared there
    heading = ['group', 'problems', 'model', *(['k'] if benchmark.ks else [])]
    heading += [column.heading for column in columns]
    for kind, labels in kinds.items():
        shown = [
            (entry, label, k)
            for label in (labels if kind == CROSSED else sorted(labels, key=group_order))
            for entry in benchmark.entries
            if label in entry.groups
            for k in entry.ks or (None,)
        ]
        rows: list[list[Cell]] = [
            [
                label,
                entry.groups[label].get('problems'),
                benchmark.label(entry),
                *([k] if benchmark.ks else []),
                *(column.read(entry, k, label) for column in columns),
            ]
            for entry, label, k in shown
        ]
        first = len(heading) - len(columns)
        marks = {
            (row, first + place): mark
            for row, (entry, label, k) in enumerate(shown)
            for place, column in enumerate(columns)
            if (mark := column.mark(compared[k or least], entry, k, label))
        }
        yield Table(f'{title}, by {kind}', heading, rows, breakdown=kind, marks=marks)


def true_verdict_tables(results: Results) -> list[Table]:
    """Return the tables of figures under true verdicts, of benchmarks with audited results."""
    return [table for benchmark in join_benchmarks(results) for table in _true_verdicts(benchmark)]


def _true_verdicts(benchmark: Benchmark) -> Iterable[Table]:
    """Yield the table of a benchmark's audited results: headline figures at the greatest k."""
    rows: list[list[Cell]] = []
    for entry in benchmark.entries:
        for figure in figures_of(entry.result) if entry.true_figures else ():
            found = entry.true_figures.get(figure.key)
            if found and _tabulated(figure, entry):
                ranges = (_range(found.get(name)) for name in ('range', 'with_sampling'))
                recorded = entry.figure(figure)
                name = benchmark.label(entry)
                rows.append([name, figure.heading, recorded, found['estimate'], *ranges])
    if rows:
        yield Table(f'{benchmark.name}: figures under true verdicts', TRUE, rows, TRUE_NOTES)


def _tabulated(figure: Figure, entry: Entry) -> bool:
    shown = figure.family is ACCURACY or (figure.family.tabulated and figure.tau != 0)
    return shown and figure.side is Side.PLAIN and figure.k in (None, max(entry.ks, default=None))


def _range(ends: Any) -> str:
    return f'{ends[0]:.1f} … {ends[1]:.1f}' if ends and None not in ends else '–'
