"""Tables of sound G-Pass@k (right answers with valid reasoning) beside plain G-Pass@k."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from opencompass_gpassk.report.board import AVERAGE, GREEDY, Benchmark, Board
from opencompass_gpassk.report.notes import threshold_notes
from opencompass_gpassk.report.tables.column import (
    Column,
    cells,
    group_tables,
    headings,
    sound_column,
)
from opencompass_gpassk.report.tables.reasoning import mixture_notes, threshold_name, unknown_notes
from opencompass_gpassk.report.tables.table import Table
from opencompass_gpassk.results.metric import FAMILIES, PASS
from opencompass_gpassk.results.result import Entry


def sound_tables(board: Board) -> list[Table]:
    """Return the tables of sound metrics of every benchmark: by k, by τ and by group.

    There are no tables if no result has both verdicts and scores of reasoning.
    """
    judged = [one for one in board.scored if one.result.judged]
    tables: list[Table] = []
    for benchmark in board.benchmarks:
        entries = [one for one in benchmark.entries if any(r.reasoning.scorer for r in one.results)]
        if entries:
            of_it = [one for one in judged if one.benchmark == benchmark.name]
            tables += _tables(replace(benchmark, entries=entries), of_it)
    return tables


def _tables(benchmark: Benchmark, found: Sequence[Entry]) -> Iterable[Table]:
    """Yield the tables of one benchmark.

    Args:
        benchmark: The benchmark, with the entries whose reasoning was scored.
        found: The scored results, each by itself.
    """
    name = benchmark.name
    ks = sorted({k for entry in benchmark.entries if entry.reasoning.scorer for k in entry.ks})
    for index, k in enumerate(ks or [None]):
        # A model with greedy results only has a row in the first table.
        rated = benchmark.entries
        entries = [e for e in rated if k is None or k in e.ks or (not index and not e.ks)]
        columns = _columns(benchmark, entries, k)
        yield Table(
            f'{name}: sound {f"G-Pass@{k}" if k else "accuracy"}, {benchmark.size}',
            ['model', *headings(columns)],
            [[entry.label, *cells(columns, entry, k)] for entry in entries],
            ['sound: right, and its reasoning valid; drop: plain minus sound (docs/reasoneval.md)'],
            [
                *(threshold_notes(benchmark, k) if k else []),
                f'reasoning is valid with a validity of at least {threshold_name(found)}',
            ],
            warnings=[*unknown_notes(found), *mixture_notes(found)],
            main=k == max(ks, default=None),
        )
    if ks:
        yield _every_threshold(benchmark)
    columns = _columns(benchmark, benchmark.entries, 'k' if ks else None)
    yield from group_tables(f'{name}: sound metrics', benchmark.entries, columns)


def _columns(benchmark: Benchmark, entries: Sequence[Entry], k: int | str | None) -> list[Column]:
    """Return the columns of a table; ``k`` is how the headings call it, None for none."""
    columns = []
    if any(entry.greedy and entry.greedy.reasoning.scorer for entry in entries):
        columns.append(sound_column('Greedy', GREEDY))
    if ns := {entry.n for entry in entries if entry.sampled and entry.reasoning.scorer}:
        columns.append(sound_column(f'average@{ns.pop() if len(ns) == 1 else "n"}', AVERAGE))
    return columns if k is None else columns + _at(benchmark, k)


def _at(benchmark: Benchmark, k: int | str, *, every: bool = False) -> list[Column]:
    """Return the columns at k: the strictest G-Pass@k and mG-Pass@k, or those of every τ and k.

    Args:
        benchmark: The benchmark.
        k: How headings call k.
        every: Whether to add every τ, and pass@k.
    """
    taus = [tau for tau in benchmark.taus if tau > 0]
    metrics = [
        family(k=k, tau=tau)  # type: ignore[arg-type]  # headings may call k by its letter
        for family in FAMILIES
        if family.tabulated and family.sides and (every or family is not PASS)
        for tau in ((taus if every else taus[-1:]) if family.has('tau') else [None])
    ]
    return [sound_column(one.heading, one) for one in metrics]


def _every_threshold(benchmark: Benchmark) -> Table:
    """Return a table with a row for each model and metric, at all k and τ."""
    return Table(
        f'{benchmark.name}: sound G-Pass@k at every τ',
        ['model', 'metric', 'plain', 'sound', 'drop'],
        [
            [entry.label, column.heading, *column.cells(entry, k)]
            for entry in benchmark.entries
            if entry.reasoning.scorer
            for k in entry.ks
            for column in _at(benchmark, k, every=True)
        ],
    )
