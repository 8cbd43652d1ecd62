"""Tables of benchmarks like the paper's: one row per model, greedy beside sampled metrics."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opencompass_gpassk.compare.claims import leaderboard_claim
from opencompass_gpassk.compare.leaderboard import Leaderboard
from opencompass_gpassk.report.board import AVERAGE, GREEDY, Benchmark, Board
from opencompass_gpassk.report.cells import Mark
from opencompass_gpassk.report.notes import (
    benchmark_notes,
    sensitivity_notes,
    threshold_notes,
)
from opencompass_gpassk.report.tables.column import (
    Column,
    cells,
    group_tables,
    headings,
)
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.metric import (
    ACCURACY,
    FAMILIES,
    G_PASS,
    PASS,
    STABILITY_GAP,
    Metric,
    Side,
)
from opencompass_gpassk.results.result import Entry

TRUE = ['model', 'metric', 'recorded', 'estimate', '95 %: verdicts', '95 %: and sampling']
TRUE_LEGEND = [
    'estimate: under true verdicts, by labels; verdicts: range of these samples; and sampling: of '
    'such problems'
]
LEGEND = [
    'pass: some of k samples right; G-Pass_τ: a share τ of k; G-Pass_1.0: all, also called '
    'pass^k (docs/metrics.md)'
]


def benchmark_tables(board: Board) -> list[Table]:
    """Return the tables of every benchmark: one for each k, then those of its groups.

    If the trials are there, a sentence says who is the most stable, and the best of the primary
    metric are marked; if not, a note says why.
    """
    return [
        table
        for one, ranked in zip(board.benchmarks, board.leaderboards, strict=True)
        for table in _tables(one, ranked)
    ]


def _tables(benchmark: Benchmark, ranked: Leaderboard) -> Iterable[Table]:
    title = f'{benchmark.name}: {_problems(benchmark)}'
    general = benchmark_notes(benchmark)
    for index, k in enumerate(benchmark.ks or [None]):
        # A model with greedy results only has a row in the first table.
        entries = [e for e in benchmark.entries if k in e.ks or (not index and not e.ks)]
        columns = _columns(benchmark, entries, k)
        marks = _marks(benchmark, ranked, entries, columns, k)
        main = k == benchmark.main_k
        single = main and 1 in (len(entries), len(ranked.rows))
        claims = leaderboard_claim(benchmark.entries, ranked) if marks or single else []
        yield Table(
            title if k is None else f'{title}, k = {k}{_left_out(benchmark, entries, k)}',
            ['model', *headings(columns)],
            [[entry.label, *cells(columns, entry, k)] for entry in entries],
            [] if k is None else LEGEND,
            [
                *([] if k is None else threshold_notes(benchmark, k)),
                *(sensitivity_notes(benchmark) if main else []),
            ],
            headline=[column.heading for column in columns if column.headline],
            detail=[
                one.heading
                for one in columns
                if one.metric and not one.headline and one.metric.family is not PASS
            ],
            marks=marks,
            claims=claims,
            warnings=[*general, *ranked.notes] if main else [],
            main=main,
        )
    yield from _true_verdicts(benchmark)
    columns = _columns(benchmark, benchmark.entries, 'k' if benchmark.ks else None)
    yield from group_tables(f'{title},', benchmark.entries, columns)


def _marks(
    benchmark: Benchmark,
    ranked: Leaderboard,
    entries: Sequence[Entry],
    columns: Sequence[Column],
    k: int | None,
) -> dict[tuple[int, int], Mark]:
    """Return (row, column) → mark of the models that may be the first in the primary metric."""
    primary = ranked.metric
    if primary is None or primary.k not in (None, k):
        return {}
    of_greedy = not any(entry.sampled for entry in benchmark.entries)
    named = GREEDY if of_greedy else primary.of_n(None)
    asked = [i for i, one in enumerate(columns, start=1) if one.metric and one.at(k) == named]
    first = {
        row: float(columns[asked[0] - 1].cells(entry, k)[0] or 0)
        for row, entry in enumerate(entries)
        if asked and (rank := ranked.rank(benchmark.entries.index(entry))) and rank[0] == 1
    }
    best = max(first.values(), default=0)
    return {
        (row, asked[0]): Mark.BEST if value == best else Mark.NEAR for row, value in first.items()
    }


def _left_out(benchmark: Benchmark, entries: Sequence[Entry], k: int) -> str:
    """Return how few problems the metrics at k are means of; '' if they are of all."""
    left = max((entry.left_out(k) for entry in entries), default=0)
    if not left:
        return ''
    problems = max(benchmark.problems, default=left)
    return f' (only {problems - left} of the problems have {k} responses and a verdict)'


def _problems(benchmark: Benchmark) -> str:
    ns = sorted({entry.n for entry in benchmark.entries if entry.n > 1})
    return benchmark.size + (f', n = {" or ".join(map(str, ns))}' if ns else '')


def _columns(benchmark: Benchmark, entries: Sequence[Entry], k: int | str | None) -> list[Column]:
    """Return the columns of a table; ``k`` is how the headings call it, None for none."""
    ns = {entry.n for entry in entries if entry.n}
    columns = [Column('n', None)] if len(ns) > 1 else []
    if any(entry.greedy is not None for entry in entries):
        columns.append(Column('Greedy', GREEDY, headline=True))
    if ns:
        n = ns.pop() if len(ns) == 1 else 'n'
        columns.append(Column(f'average@{n}', AVERAGE, headline=True))
    if k is not None:
        # At τ = 0, G-Pass@k is pass@k, which has its column already.
        taus = [tau for tau in benchmark.taus if tau > 0]
        for family in (one for one in FAMILIES if one.tabulated):
            for tau in taus if family.has('tau') else [None]:
                # Headings may call k by its letter.
                metric = family(k=k if family.has('k') else None, tau=tau)  # type: ignore[arg-type]
                last = tau in (None, max(taus, default=None))
                headline = last and family not in (PASS, STABILITY_GAP)
                columns.append(Column(metric.heading, metric, headline))
    return columns


def true_verdict_tables(board: Board) -> list[Table]:
    """Return the tables of metrics under true verdicts, of benchmarks with audited results."""
    return [table for benchmark in board.benchmarks for table in _true_verdicts(benchmark)]


def _true_verdicts(benchmark: Benchmark) -> Iterable[Table]:
    """Yield the table of a benchmark's audited results: headline metrics at the greatest k."""
    rows: list[list[Cell]] = []
    for entry in benchmark.entries:
        for metric in entry.result.measured() if entry.true_metrics else ():
            found = entry.true_metrics.get(metric.key)
            if found and _tabulated(metric, entry):
                ranges = map(_range, (found.range, found.with_sampling))
                recorded = entry.metric(metric)
                rows.append([entry.label, metric.heading, recorded, found.estimate, *ranges])
    if rows:
        title = f'{benchmark.name}: metrics under true verdicts, {benchmark.size}'
        yield Table(title, TRUE, rows, TRUE_LEGEND)


def _tabulated(metric: Metric, entry: Entry) -> bool:
    strict = metric.family is not G_PASS or metric.tau == 1.0
    shown = metric.family is ACCURACY or (metric.family.in_summary and strict)
    return shown and metric.side is Side.PLAIN and metric.k in (None, max(entry.ks, default=None))


def _range(ends: list[float] | None) -> str:
    return f'{ends[0]:.1f} … {ends[1]:.1f}' if ends else '–'
