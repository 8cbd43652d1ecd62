"""Results as tables like the paper's: a row a model, the greedy figure beside the sampled ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from opencompass_gpassk.report.benchmarks import Benchmark, Entry, Results, join_benchmarks
from opencompass_gpassk.report.notes import benchmark_notes, threshold_notes
from opencompass_gpassk.text import escape_markdown, one_line

__all__ = [
    'CROSSED',
    'Cell',
    'Table',
    'benchmark_tables',
    'group_order',
    'kind_of',
    'to_markdown',
    'to_text',
]

CROSSED = 'split and language'
DIFFICULTIES = ('easy', 'medium', 'hard')

Cell = str | int | float | None
Reader = Callable[[Entry, int | None, str], Cell]


@dataclass(frozen=True)
class Table:
    """A table that is ready to be shown.

    Attributes:
        title: What is measured.
        columns: The headings.
        rows: A cell a column. Figures are floats, in percent: NaN is undefined, None not measured.
        notes: What must be known to read the figures.
        breakdown: What its rows break the problems down by, '' where they don't.
        decimals: How many of each figure are shown.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    notes: Sequence[str] = field(default=())
    breakdown: str = ''
    decimals: int = 1


def benchmark_tables(results: Results) -> list[Table]:
    """Return the tables of every benchmark: one for each k, then those of its groups.

    Args:
        results: Model → data set → result, as stored in the result JSON. Greedy and sampled
            results are joined by the benchmark they name; results of other evaluators are left out.
    """
    return [table for benchmark in join_benchmarks(results) for table in _tables(benchmark)]


def to_text(table: Table) -> str:
    """Return a table for the terminal, its notes below."""
    from tabulate import tabulate

    body = tabulate(
        [[_show(cell, table.decimals) for cell in row] for row in table.rows],
        headers=list(table.columns),
        colalign=[_alignment(column) for column in zip(*table.rows, strict=True)] or None,
        disable_numparse=True,
    )
    notes = ''.join(f'  * {one_line(note)}\n' for note in table.notes)
    return f'{one_line(table.title)}\n{body}\n{notes}'


def to_markdown(table: Table) -> str:
    """Return a table in GitHub's Markdown. Names and notes can't break out of their place."""
    rule = [
        '---:' if side == 'right' else '---'
        for side in map(_alignment, zip(*table.rows, strict=True))
    ] or ['---'] * len(table.columns)
    rows = [[escape_markdown(_show(cell, table.decimals)) for cell in row] for row in table.rows]
    lines = [[escape_markdown(column) for column in table.columns], rule, *rows]
    body = '\n'.join(f'| {" | ".join(line)} |' for line in lines)
    notes = ''.join(f'- {escape_markdown(note)}\n' for note in table.notes)
    return f'### {escape_markdown(table.title)}\n\n{body}\n' + (f'\n{notes}' if notes else '')


def _tables(benchmark: Benchmark) -> Iterable[Table]:
    title = f'{benchmark.name}: {_problems(benchmark)}'
    general = benchmark_notes(benchmark)
    if not benchmark.ks:
        yield _model_table(benchmark, title, benchmark.entries, None, general)
    for index, k in enumerate(benchmark.ks):
        # Who was decoded greedily alone has a row in the first table.
        entries = [e for e in benchmark.entries if k in e.ks or (not index and not e.ks)]
        notes = [*threshold_notes(benchmark, k), *(general if not index else [])]
        yield _model_table(benchmark, f'{title}, k = {k}', entries, k, notes)
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


def _readers(
    benchmark: Benchmark, entries: Sequence[Entry], k: int | str | None
) -> dict[str, Reader]:
    """Return heading → how its cell is read; ``k`` is how the headings call it, None for none."""
    ns = {entry.n for entry in entries if entry.n}
    readers: dict[str, Reader] = {}
    if len(ns) > 1:
        readers['n'] = lambda entry, k, group: entry.n or None
    if any(entry.greedy is not None for entry in entries):
        readers['Greedy'] = lambda entry, k, group: entry.greedy_accuracy(group)
    if ns:
        name = ns.pop() if len(ns) == 1 else 'n'
        readers[f'average@{name}'] = lambda entry, k, group: entry.average(group)
    if k is not None:
        # At τ = 0, G-Pass@k is pass@k, which has its column already.
        strict = [f'G-Pass@{{k}}_{tau}' for tau in benchmark.taus if tau > 0]
        for name in ('pass@{k}', *strict, 'mG-Pass@{k}'):
            readers[name.format(k=k)] = _figure(name)
    return readers


def _figure(name: str) -> Reader:
    return lambda entry, k, group: entry.figure(name.format(k=k), group)


def _model_table(
    benchmark: Benchmark, title: str, entries: Sequence[Entry], k: int | None, notes: Sequence[str]
) -> Table:
    readers = _readers(benchmark, entries, k)
    rows: list[list[Cell]] = [
        [benchmark.label(entry), *(read(entry, k, '') for read in readers.values())]
        for entry in entries
    ]
    return Table(title, ['model', *readers], rows, notes)


def _group_tables(benchmark: Benchmark, title: str) -> Iterable[Table]:
    kinds: dict[str, dict[str, None]] = {}
    for entry in benchmark.entries:
        for label, fields in entry.groups.items():
            kinds.setdefault(kind_of(fields), {}).setdefault(label)
    readers = _readers(benchmark, benchmark.entries, 'k' if benchmark.ks else None)
    heading = ['group', 'problems', 'model', *(['k'] if benchmark.ks else []), *readers]
    for kind, labels in kinds.items():
        rows: list[list[Cell]] = [
            [
                label,
                entry.groups[label].get('problems'),
                benchmark.label(entry),
                *([k] if benchmark.ks else []),
                *(read(entry, k, label) for read in readers.values()),
            ]
            for label in (labels if kind == CROSSED else sorted(labels, key=group_order))
            for entry in benchmark.entries
            if label in entry.groups
            for k in entry.ks or (None,)
        ]
        yield Table(f'{title}, by {kind}', heading, rows, breakdown=kind)


def group_order(label: str) -> tuple[int, str]:
    """Return where a group stands among others: levels from easy to hard, else by name."""
    return DIFFICULTIES.index(label) if label in DIFFICULTIES else -1, label


def kind_of(fields: Mapping[str, object]) -> str:
    """Return what a group's fields break problems down by."""
    names = [name for name in fields if name != 'problems']
    # Splits and languages cross: one table shows them together and apart.
    return CROSSED if set(names) <= {'split', 'language'} else ' and '.join(names)


def _show(cell: Cell, decimals: int) -> str:
    if cell is None:
        return '-'
    if isinstance(cell, float):
        # Nothing is -0.0.
        return '–' if math.isnan(cell) else f'{round(cell, decimals) + 0.0:.{decimals}f}'
    return one_line(str(cell))


def _alignment(column: Sequence[Cell]) -> str:
    return 'left' if any(isinstance(cell, str) for cell in column) else 'right'
