"""Benchmarks as tables like the paper's: a row a model, greedy figures beside sampled ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opencompass_gpassk.report.benchmarks import Benchmark, Entry, Results, join_benchmarks
from opencompass_gpassk.report.best import AVERAGE, GREEDY, Best, Trials, best_entries
from opencompass_gpassk.report.notes import benchmark_notes, threshold_notes
from opencompass_gpassk.report.tables import CROSSED, Cell, Table, group_order, kind_of

__all__ = ['benchmark_tables']

SAMPLES = 'n'


@dataclass(frozen=True)
class _Column:
    """A column of figures.

    Attributes:
        heading: What stands above it.
        name: The figure's, in which ``{k}`` stands for k; or :data:`SAMPLES`, ``GREEDY``,
            ``AVERAGE``.
        headline: The terminal shows its intervals.
    """

    heading: str
    name: str
    headline: bool = False

    def read(self, entry: Entry, k: int | None, group: str = '') -> Cell:
        """Return the figure of an entry."""
        if self.name == SAMPLES:
            return entry.n or None
        if self.name == GREEDY:
            return entry.greedy_accuracy(group)
        if self.name == AVERAGE:
            return entry.average(group)
        return entry.figure(self.name.format(k=k), group)


def benchmark_tables(results: Results, trials: Trials | None = None) -> list[Table]:
    """Return the tables of every benchmark: one for each k, then those of its groups.

    Args:
        results: Model → data set → result, as stored in the result JSON. Greedy and sampled
            results are joined by the benchmark they name; results of other evaluators are left out.
        trials: Of the results: where they are there, the best figures of each column are marked.
            With None, nothing is marked, nor is it said why.
    """
    return [table for benchmark in join_benchmarks(results) for table in _tables(benchmark, trials)]


def _tables(benchmark: Benchmark, trials: Trials | None) -> Iterable[Table]:
    title = f'{benchmark.name}: {_problems(benchmark)}'
    general = benchmark_notes(benchmark)
    if not benchmark.ks:
        yield _model_table(benchmark, title, benchmark.entries, None, general, trials)
    for index, k in enumerate(benchmark.ks):
        # Who was decoded greedily alone has a row in the first table.
        entries = [e for e in benchmark.entries if k in e.ks or (not index and not e.ks)]
        notes = [*threshold_notes(benchmark, k), *(general if not index else [])]
        yield _model_table(benchmark, f'{title}, k = {k}', entries, k, notes, trials)
    yield from _group_tables(benchmark, title)


def _problems(benchmark: Benchmark) -> str:
    counts = ' or '.join(map(str, benchmark.problems)) or '?'
    ns = sorted({entry.n for entry in benchmark.entries if entry.n > 1})
    what = (
        'versions'
        if any(r.get('versions') for e in benchmark.entries for r in e.results)
        else 'problems'
    )
    return f'{counts} {what}' + (f', n = {" or ".join(map(str, ns))}' if ns else '')


def _columns(benchmark: Benchmark, entries: Sequence[Entry], k: int | str | None) -> list[_Column]:
    """Return the columns of a table; ``k`` is how the headings call it, None for none."""
    ns = {entry.n for entry in entries if entry.n}
    columns = [_Column('n', SAMPLES)] if len(ns) > 1 else []
    if any(entry.greedy is not None for entry in entries):
        columns.append(_Column('Greedy', GREEDY, headline=True))
    if ns:
        n = ns.pop() if len(ns) == 1 else 'n'
        columns.append(_Column(f'average@{n}', AVERAGE, headline=True))
    if k is not None:
        # At τ = 0, G-Pass@k is pass@k, which has its column already.
        taus = [tau for tau in benchmark.taus if tau > 0]
        strict = {f'G-Pass@{{k}}_{tau}': tau == max(taus) for tau in taus}
        names = {'pass@{k}': False, **strict, 'mG-Pass@{k}': True}
        columns += [_Column(name.format(k=k), name, told) for name, told in names.items()]
    return columns


def _model_table(
    benchmark: Benchmark,
    title: str,
    entries: Sequence[Entry],
    k: int | None,
    notes: Sequence[str],
    trials: Trials | None,
) -> Table:
    columns = _columns(benchmark, entries, k)
    rows: list[list[Cell]] = [
        [benchmark.label(entry), *(column.read(entry, k) for column in columns)]
        for entry in entries
    ]
    names = [column.name.format(k=k) for column in columns]
    found = Best() if trials is None else best_entries(entries, k, trials, names)
    marked = {
        (row, number)
        for number, name in enumerate(names, start=1)
        for row in found.entries.get(name, ())
    }
    return Table(
        title,
        ['model', *(column.heading for column in columns)],
        rows,
        [*found.notes, *notes],
        headline=[column.heading for column in columns if column.headline],
        best=marked,
    )


def _group_tables(benchmark: Benchmark, title: str) -> Iterable[Table]:
    kinds: dict[str, dict[str, None]] = {}
    for entry in benchmark.entries:
        for label, fields in entry.groups.items():
            kinds.setdefault(kind_of(fields), {}).setdefault(label)
    columns = _columns(benchmark, benchmark.entries, 'k' if benchmark.ks else None)
    heading = ['group', 'problems', 'model', *(['k'] if benchmark.ks else [])]
    heading += [column.heading for column in columns]
    for kind, labels in kinds.items():
        rows: list[list[Cell]] = [
            [
                label,
                entry.groups[label].get('problems'),
                benchmark.label(entry),
                *([k] if benchmark.ks else []),
                *(column.read(entry, k, label) for column in columns),
            ]
            for label in (labels if kind == CROSSED else sorted(labels, key=group_order))
            for entry in benchmark.entries
            if label in entry.groups
            for k in entry.ks or (None,)
        ]
        yield Table(f'{title}, by {kind}', heading, rows, breakdown=kind)
