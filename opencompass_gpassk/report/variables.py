"""Tables of questions with random variables, like Table 1 of arXiv 2501.11790."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opencompass_gpassk.report.benchmarks import (
    Entry,
    Result,
    Results,
    join_benchmarks,
    read_figure,
    sample_count,
)
from opencompass_gpassk.report.tables import Cell, Table
from opencompass_gpassk.results import accuracy_key
from opencompass_gpassk.version_groups import DROP, SP_ACCURACY

__all__ = ['VariableResult', 'variable_results', 'variable_tables']


@dataclass(frozen=True)
class VariableResult:
    """What one model reached on one benchmark of questions in versions.

    Attributes:
        model: The model's name.
        responses: ``greedy``, or how many samples the figures are the average of.
        benchmark: The benchmark's name.
        result: The result, as stored in the result JSON.
    """

    model: str
    responses: str
    benchmark: str
    result: Result

    @property
    def versions(self) -> int:
        """The versions of a question, m."""
        return int(self.result['versions']['per_group'])

    def figure(self, name: str, group: str = '') -> float | None:
        """Return a figure in percent; NaN where it is undefined, None where it wasn't measured."""
        return read_figure(self.result, name, group)

    def accuracy(self, group: str = '') -> float | None:
        """Return the accuracy over the versions, in percent."""
        return self.figure(accuracy_key(sample_count(self.result)), group)

    def headline(self, group: str = '') -> list[Cell]:
        """Return the figures under :func:`_headings`."""
        names = (f'GA@{self.versions}', 'CR', 'OOR')
        return [
            self.figure(SP_ACCURACY, group),
            self.accuracy(group),
            *(self.figure(name, group) for name in names),
        ]


def variable_results(results: Results) -> list[VariableResult]:
    """Return the results of questions in versions, in the order of benchmarks and models."""
    return [
        found
        for benchmark in join_benchmarks(results)
        for entry in benchmark.entries
        for found in _of_entry(benchmark.name, benchmark.label(entry), entry)
    ]


def variable_tables(results: Results) -> list[Table]:
    """Return the leaderboard, what else relates versions, and both broken down by group.

    Args:
        results: Model → data set → result, as stored in the result JSON. There are no tables
            unless questions were asked in versions.
    """
    found = variable_results(results)
    if not found:
        return []
    return [_leaderboard(found), *_stability(found), *_breakdowns(found)]


def _of_entry(benchmark: str, model: str, entry: Entry) -> Iterable[VariableResult]:
    for result, responses in ((entry.greedy, 'greedy'), (entry.result, f'n = {entry.n}')):
        if result and result.get('versions'):
            yield VariableResult(model, responses, benchmark, result)


def _leaderboard(found: Sequence[VariableResult]) -> Table:
    """Return a row a model, best first: SP and RV accuracy, GA, CR and OOR of each benchmark."""
    benchmarks = {one.benchmark: one.versions for one in found}
    columns = ['model', 'responses']
    for name, m in benchmarks.items():
        columns += _headings(_short(name), m)
    several = len(benchmarks) > 1
    m = max(benchmarks.values())
    columns += _headings('overall', m) if several else []
    by_row: dict[tuple[str, str], dict[str, VariableResult]] = {}
    for one in found:
        by_row.setdefault((one.model, one.responses), {})[one.benchmark] = one
    rows: list[list[Cell]] = []
    for (model, responses), measured in by_row.items():
        row: list[Cell] = [model, responses]
        for name in benchmarks:
            row += measured[name].headline() if name in measured else [None] * 5
        whole = list(measured.values()) if len(measured) == len(benchmarks) else []
        rows.append(row + (_overall(whole) if several else []))
    rows.sort(key=_rank)
    notes = [
        'SP: accuracy on the original problems; RV: on their versions with other numbers; GA: all '
        'versions right; CR: the original and most versions right; OOR: the original right, '
        'but hardly a version. Higher is better, but for OOR',
    ]
    if several:
        notes.append('overall: mean over the questions of all benchmarks')
    return Table('Questions with random variables', columns, rows, notes)


def _rank(row: Sequence[Cell]) -> float:
    accuracy = _number(row[-4])
    return math.inf if math.isnan(accuracy) else -accuracy


def _headings(name: str, m: int) -> list[str]:
    return [f'{name}-SP', f'{name}-RV', f'{name} GA@{m}', f'{name} CR', f'{name} OOR']


def _short(benchmark: str) -> str:
    return benchmark.removeprefix('RV-').partition(',')[0]


def _overall(measured: Sequence[VariableResult]) -> list[Cell]:
    """Return the mean of each headline figure over all questions."""
    if not measured:
        return [None] * 5
    sizes = [int(one.result['versions']['groups']) for one in measured]
    total = sum(sizes)
    columns = zip(*(one.headline() for one in measured), strict=True)
    return [
        sum(size * _number(value) for size, value in zip(sizes, column, strict=True)) / total
        if total
        else math.nan
        for column in columns
    ]


def _stability(found: Sequence[VariableResult]) -> Iterable[Table]:
    """Return, for each benchmark, understanding, G-Pass over versions and the variances."""
    for benchmark in dict.fromkeys(one.benchmark for one in found):
        measured = [one for one in found if one.benchmark == benchmark]
        names = [DROP, *(f'{kind} understanding' for kind in ('complete', 'partial', 'collapsed'))]
        names += [
            key
            for key in dict.fromkeys(key for one in measured for key in one.result)
            if key.startswith(('G-Pass over', 'pooled G-Pass@', 'variance between'))
        ]
        rows = [
            [one.model, one.responses, *(one.figure(name) for name in names)] for one in measured
        ]
        notes = [
            'understanding: of the questions whose original is right, the share of which most, '
            'some, or hardly any versions are right',
            'G-Pass over versions: one response to each version, at least the share τ of them '
            'right. Variances are in hundredths, 25 at most: between versions the model is unsure '
            'of the question, between samples of itself',
        ]
        yield Table(
            f'{benchmark}: understanding', ['model', 'responses', *names], rows, notes, 'version'
        )


def _breakdowns(found: Sequence[VariableResult]) -> Iterable[Table]:
    for benchmark in dict.fromkeys(one.benchmark for one in found):
        measured = [one for one in found if one.benchmark == benchmark]
        kinds: dict[str, dict[str, None]] = {}
        for one in measured:
            for label, fields in (one.result.get('groups') or {}).items():
                names = [name for name in fields if name not in ('problems', 'version')]
                if names:
                    kinds.setdefault(' and '.join(names), {}).setdefault(label)
        heading = ['SP', 'RV', f'GA@{measured[0].versions}', 'CR', 'OOR', 'drop']
        for kind, labels in kinds.items():
            rows: list[list[Cell]] = [
                [label, one.model, one.responses, *one.headline(label), one.figure(DROP, label)]
                for label in sorted(labels)
                for one in measured
            ]
            columns = ['group', 'model', 'responses', *heading]
            yield Table(f'{benchmark}: versions by {kind}', columns, rows, breakdown=kind)


def _number(value: Cell) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan
