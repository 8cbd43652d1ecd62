"""Tables of figures under true verdicts, as far as an audit tells these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.figures import ACCURACY, Figure, Side
from opencompass_gpassk.results.join_results import (
    Benchmark,
    Entry,
    figures_of,
    read_figure,
    stored_protocol,
)
from opencompass_gpassk.results.judge_error import ERRORS, most_sensitive

__all__ = ['sensitivity_note', 'true_figure', 'true_verdict_tables']

COLUMNS = ['model', 'figure', 'recorded', 'estimate', '95 %: verdicts', '95 %: and sampling']
NOTES = [
    "estimate: under true verdicts, according to people's labels on some of them (gpassk audit)",
    'verdicts: range of the figure of these samples; and sampling: of a population of problems',
]


def true_figure(entry: Entry, key: str) -> Mapping[str, Any] | None:
    """Return what an entry's result holds of a figure under true verdicts.

    Args:
        entry: The entry.
        key: The figure's key, with its group.
    """
    return (_judge_error(entry).get('figures') or {}).get(key)


def true_verdict_tables(benchmark: Benchmark) -> Iterable[Table]:
    """Yield the table of a benchmark's audited results: headline figures at the greatest k."""
    rows: list[list[Cell]] = []
    for entry in benchmark.entries:
        for figure in figures_of(entry.result) if entry.result else ():
            found = true_figure(entry, figure.key)
            if found and _shown(figure, entry):
                ranges = (_range(found.get(name)) for name in ('range', 'with_sampling'))
                recorded = float(read_figure(entry.result or {}, figure) or 0)
                name = benchmark.label(entry)
                rows.append([name, figure.heading, recorded, found['estimate'], *ranges])
    if rows:
        yield Table(f'{benchmark.name}: figures under true verdicts', COLUMNS, rows, NOTES)


def sensitivity_note(benchmark: Benchmark) -> list[str]:
    """Return what wrong verdicts would change at most, for results without an audit."""
    most: dict[str, dict[str, float]] = {}  # of errors and their rates
    headings = set()
    for entry in benchmark.entries:
        told = _judge_error(entry)
        if entry.result is None or 'sensitivity' not in told or told.get('figures'):
            continue
        figure = most_sensitive(stored_protocol(entry.result))
        recorded = read_figure(entry.result, figure)
        for error in ERRORS:
            for rate, value in told['sensitivity']['rates'][error].items():
                if recorded is not None and value is not None and figure.key in entry.result:
                    change = abs(value - recorded)
                    of_error = most.setdefault(error, {})
                    of_error[rate] = max(change, of_error.get(rate, 0.0))
                    headings.add(figure.heading)
    told_rates = [
        f'{" and ".join(f"{rate} %" for rate in rates)} of {error}: up to '
        f'{" and ".join(f"{change:.1f}" for change in rates.values())} points'
        for error, rates in most.items()
    ]
    return (
        [
            f'what independent errors of verdicts would do to {", ".join(sorted(headings))}: '
            f'{"; ".join(told_rates)} (gpassk audit measures them)'
        ]
        if most
        else []
    )


def _judge_error(entry: Entry) -> Mapping[str, Any]:
    return (entry.result or {}).get('judge_error') or {}


def _shown(figure: Figure, entry: Entry) -> bool:
    shown = figure.family is ACCURACY or figure.family.tabulated
    return shown and figure.side is Side.PLAIN and figure.k in (None, max(entry.ks, default=None))


def _range(ends: Any) -> str:
    return f'{ends[0]:.1f} … {ends[1]:.1f}' if ends and None not in ends else '–'
