"""Tables of sound G-Pass@k (right answers with valid reasoning) beside plain G-Pass@k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from opencompass_gpassk.report.notes import threshold_notes
from opencompass_gpassk.report.tables.best import AVERAGE, GREEDY, Best, Trials, best_entries
from opencompass_gpassk.report.tables.reasoning import (
    ReasoningResult,
    mixture_notes,
    reasoning_results,
    threshold_name,
    unknown_notes,
)
from opencompass_gpassk.report.tables.table import Cell, Table, group_order, kind_of
from opencompass_gpassk.results.figures import FAMILIES, PASS, Figure, Side
from opencompass_gpassk.results.join_results import (
    Benchmark,
    Entry,
    Result,
    Results,
    join_benchmarks,
    read_figure,
)


@dataclass(frozen=True)
class _Columns:
    """Three columns: a figure plain, sound, and the drop from one to the other.

    Attributes:
        heading: The figure's heading.
        figure: The plain figure; :data:`GREEDY` is from the greedy result, others from samples.
    """

    heading: str
    figure: Figure

    @property
    def sound(self) -> Figure:
        """The sound figure, as :func:`best_entries` takes it."""
        return self.figure.on(Side.SOUND)

    def cells(self, entry: Entry, group: str = '') -> list[Cell]:
        """Return the plain figure, the sound one, and the drop; None if not measured."""
        result = entry.greedy if self.figure == GREEDY else entry.result
        if not result:
            return [None, None, None]
        return [read_figure(result, self.figure.on(side), group) for side in Side]


@dataclass(frozen=True)
class _Scored:
    """The entries of a benchmark whose reasoning was scored, and their results."""

    benchmark: Benchmark
    entries: Sequence[Entry]
    results: Sequence[ReasoningResult]

    @property
    def ks(self) -> list[int]:
        """The k of sampled results with scores, ascending."""
        return sorted({k for entry in self.entries if _has(entry.result) for k in entry.ks})


def sound_tables(results: Results, trials: Trials | None = None) -> list[Table]:
    """Return the tables of sound figures of every benchmark: by k, by τ and by group.

    Args:
        results: Model → data set → result, as stored in the result JSON. There are no tables if no
            result has both verdicts and scores of reasoning.
        trials: Trials of the results. If all are there, the best sound figures are marked; if not,
            a note says why. None for no marks and no note.
    """
    found = [one for one in reasoning_results(results) if one.judged]
    tables: list[Table] = []
    for benchmark in join_benchmarks(results):
        entries = [entry for entry in benchmark.entries if any(map(_has, entry.results))]
        if entries:
            of_it = [one for one in found if one.benchmark == benchmark.name]
            tables += _tables(_Scored(benchmark, entries, of_it), trials)
    return tables


def _has(result: Result | None) -> bool:
    return bool(result and result.get('reasoning'))


def _tables(scored: _Scored, trials: Trials | None) -> Iterable[Table]:
    name = scored.benchmark.name
    groups = {label: fields for e in scored.entries for label, fields in e.groups.items()}
    compared: dict[int | None, Best] = {}
    for index, k in enumerate(scored.ks or [None]):
        # A model with greedy results only has a row in the first table.
        entries = [e for e in scored.entries if k is None or k in e.ks or (not index and not e.ks)]
        figures = [*_accuracies(entries), *(_at(scored.benchmark, k) if k else [])]
        names = [one.sound for one in figures]
        found = Best() if trials is None else best_entries(entries, k, trials, names, groups)
        compared[k] = found
        rows: list[list[Cell]] = [
            [scored.benchmark.label(entry), *_cells(figures, entry)] for entry in entries
        ]
        yield Table(
            f'{name}: sound G-Pass@{k}' if k else f'{name}: sound accuracy',
            ['model', *_headings(figures)],
            rows,
            [*(threshold_notes(scored.benchmark, k) if k else []), *_notes(scored)],
            marks={
                (row, 2 + 3 * place): mark
                for row, entry in enumerate(entries)
                for place, called in enumerate(names)
                if (mark := found.of(entry, called))
            },
            warnings=[
                *found.notes,
                *unknown_notes(scored.results),
                *mixture_notes(scored.results),
            ],
            main=k == max(scored.ks, default=None),
        )
    if scored.ks:
        yield _every_threshold(scored)
    yield from _breakdowns(scored, compared)


def _notes(scored: _Scored) -> list[str]:
    return [
        'sound: a response counts only if its answer is right and its reasoning has a validity of '
        f'at least {threshold_name(scored.results)}; drop: the plain figure minus the sound one, '
        'both over the responses with scores',
    ]


def _accuracies(entries: Sequence[Entry]) -> list[_Columns]:
    """Return the columns of accuracies with sound figures in any entry."""
    ns = {entry.n for entry in entries if _has(entry.result)}
    name = ns.pop() if len(ns) == 1 else 'n'
    return [
        *([_Columns('Greedy', GREEDY)] if any(_has(entry.greedy) for entry in entries) else []),
        *(
            [_Columns(f'average@{name}', AVERAGE)]
            if any(_has(entry.result) for entry in entries)
            else []
        ),
    ]


def _at(
    benchmark: Benchmark, k: int | None, *, called: str = '', every: bool = False
) -> list[_Columns]:
    """Return the columns at k: the strictest G-Pass@k and mG-Pass@k, or those of every τ.

    Args:
        benchmark: The benchmark.
        k: The k, None if an entry has none.
        called: The text for k in headings, by default the number.
        every: Whether to add every τ, and pass@k.
    """
    taus = [tau for tau in benchmark.taus if tau > 0]
    figures = [
        family(k=k, tau=tau)
        for family in FAMILIES
        if family.tabulated and family.sides and (every or family is not PASS)
        for tau in ((taus if every else taus[-1:]) if family.has('tau') else [None])
    ]
    named = [replace(one, k=called or k) for one in figures]  # type: ignore[arg-type]  # a heading may call it k
    return [_Columns(name.heading, one) for name, one in zip(named, figures, strict=True)]


def _headings(figures: Sequence[_Columns]) -> list[str]:
    return [column for one in figures for column in (one.heading, 'sound', 'drop')]


def _cells(figures: Sequence[_Columns], entry: Entry, group: str = '') -> list[Cell]:
    return [cell for one in figures for cell in one.cells(entry, group)]


def _every_threshold(scored: _Scored) -> Table:
    """Return a table with a row for each model and figure, at all k and τ."""
    rows: list[list[Cell]] = [
        [scored.benchmark.label(entry), one.heading, *one.cells(entry)]
        for entry in scored.entries
        if _has(entry.result)
        for k in entry.ks
        for one in _at(scored.benchmark, k, every=True)
    ]
    title = f'{scored.benchmark.name}: sound G-Pass@k at every τ'
    columns = ['model', 'figure', 'plain', 'sound', 'drop']
    return Table(title, columns, rows, breakdown='τ (sound G-Pass@k)')


def _breakdowns(scored: _Scored, compared: Mapping[int | None, Best]) -> Iterable[Table]:
    kinds: dict[str, dict[str, None]] = {}
    for entry in scored.entries:
        for label, fields in entry.groups.items():
            kinds.setdefault(kind_of(fields), {}).setdefault(label)

    def figures(k: int | None) -> list[_Columns]:
        at_k = _at(scored.benchmark, k, called='k') if scored.ks else []
        return [*_accuracies(scored.entries), *at_k]

    columns = ['group', 'problems', 'model', *(['k'] if scored.ks else [])]
    first = len(columns) + 1  # column of the first sound figure
    columns += _headings(figures(None))
    least = next(iter(compared))  # models with greedy results only are compared there
    for kind, labels in kinds.items():
        shown = [
            (entry, label, k)
            for label in sorted(labels, key=group_order)
            for entry in scored.entries
            if label in entry.groups
            for k in entry.ks or (None,)
        ]
        rows: list[list[Cell]] = [
            [
                label,
                entry.groups[label].get('problems'),
                scored.benchmark.label(entry),
                *([k] if scored.ks else []),
                *_cells(figures(k), entry, label),
            ]
            for entry, label, k in shown
        ]
        marks = {
            (row, first + 3 * place): mark
            for row, (entry, label, k) in enumerate(shown)
            for place, one in enumerate(figures(k))
            if (mark := compared.get(k or least, Best()).of(entry, one.sound, label))
        }
        title = f'{scored.benchmark.name}: sound figures by {kind}'
        yield Table(title, columns, rows, breakdown=f'{kind} (sound)', marks=marks)
