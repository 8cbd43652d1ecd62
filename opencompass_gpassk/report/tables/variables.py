"""Tables of questions with random variables, as Table 1 of arXiv 2501.11790."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from opencompass_gpassk.report.board import Board, breakdowns
from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.metric import (
    ACCURACY,
    BETWEEN_SAMPLES,
    BETWEEN_VERSIONS,
    CR,
    CR_BY_CHANCE,
    DROP,
    GROUP_ACCURACY,
    OOR,
    OOR_BY_CHANCE,
    OOR_LESS_CHANCE,
    POOLED_G_PASS,
    SP_ACCURACY,
    UNDERSTANDING_SCORE,
    Metric,
    Over,
)
from opencompass_gpassk.results.result import Entry, resting_on

# Of use to who asks for them, in the result's JSON.
IN_JSON = (CR_BY_CHANCE, OOR_LESS_CHANCE, POOLED_G_PASS, BETWEEN_VERSIONS, BETWEEN_SAMPLES)
HEADLINE = (UNDERSTANDING_SCORE, SP_ACCURACY, GROUP_ACCURACY, CR, OOR, OOR_BY_CHANCE)
LEGEND = (
    'asked: questions, in brackets those with a right original; SP: of originals, RV: of versions '
    '(docs/metrics.md)',
)


def variable_tables(board: Board) -> list[Table]:
    """Return the leaderboard, the tables of understanding, and the breakdowns by group.

    There are no tables if no questions have versions.
    """
    found = board.in_versions
    if not found:
        return []
    by_questions: dict[tuple[str, int], list[Entry]] = {}  # those with the same share columns
    for one in found:
        by_questions.setdefault((one.benchmark, _versions(one)), []).append(one)
    apart = [
        table
        for (benchmark, m), measured in by_questions.items()
        for table in (_stability(benchmark, measured), *_breakdowns(benchmark, m, measured))
    ]
    return [_leaderboard(by_questions), *apart]


def _leaderboard(by_questions: Mapping[tuple[str, int], Sequence[Entry]]) -> Table:
    """Return the headline of each model, best first, on each benchmark and on both sources."""
    found = [one for measured in by_questions.values() for one in measured]
    sizes = {m for _, m in by_questions}
    rows: list[list[Cell]] = []
    for (benchmark, m), measured in by_questions.items():
        name = benchmark if len(sizes) == 1 else f'{benchmark}, {m} versions'
        rows += _ranked(
            ((name, one.label, one.panel[1], _asked([one])), _headline(one)) for one in measured
        )
    # Two benchmarks surely have different questions only if they are of two sources.
    sources = sorted(name.partition(',')[0] for name, _ in by_questions)
    if sources == ['RV-LEETCODE', 'RV-MATH'] and len(sizes) == 1:
        of_model: dict[tuple[str, str], list[Entry]] = {}
        for one in found:
            of_model.setdefault((one.label, one.panel[1]), []).append(one)
        rows += _ranked(
            (('overall', *names, _asked(measured)), _overall(measured))
            for names, measured in of_model.items()
            if len(measured) == 2
        )
    size = min(sizes) if len(sizes) == 1 else 'm'
    columns = ['benchmark', 'model', 'responses', 'asked', *_columns(size)]
    title = 'Questions with random variables'
    return Table(title, columns, rows, LEGEND, warnings=list(_missing(found)), main=True)


def _versions(one: Entry) -> int:
    """Return the number of versions of a question, m."""
    return one.result.versions.per_group


def _metrics(one: Entry) -> list[Metric]:
    """Return understanding, SP and RV accuracy, GA, CR, OOR and OOR by chance."""
    return [
        *(UNDERSTANDING_SCORE(), SP_ACCURACY(), ACCURACY(), GROUP_ACCURACY(m=_versions(one))),
        *(CR(), OOR(), OOR_BY_CHANCE()),
    ]


def _headline(one: Entry, group: str = '') -> list[float | None]:
    return [one.metric(metric, group) for metric in _metrics(one)]


def _asked(measured: Sequence[Entry], group: str = '') -> str | None:
    """Return how many questions there are and, in brackets, how many with a right original."""
    asked, right = (
        _sum([one.questions(metric, group) for one in measured])
        for metric in (ACCURACY(), UNDERSTANDING_SCORE())
    )
    return None if asked is None else f'{asked} ({right})'


def _sum(numbers: Sequence[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return sum(known) if len(known) == len(numbers) else None


def _unsolved(one: Entry, group: str) -> float:
    """Return how many questions of a group are unsolved; NaN if none has versions."""
    return number(one.result.versions.unsolved.get(group))


def _defined(one: Entry) -> list[float]:
    """Return the number of questions behind each metric of :func:`_headline`.

    Behind understanding it is the mean number of questions whose original is right.
    """
    known = one.result.versions
    left = known.excluded
    metrics = (SP_ACCURACY(), None, GROUP_ACCURACY(m=_versions(one)), CR(), OOR(), OOR())
    whole = [known.groups - (left.get(f.key, 0) if f else 0) for f in metrics]
    right = whole[0] * number(one.metric(SP_ACCURACY())) / 100 if whole[0] else 0
    return [right, *whole]


def _columns(m: int | str) -> list[str]:
    return ['understanding', 'SP', 'RV', f'GA@{m}', 'CR', 'OOR', 'chance']


def _overall(measured: Sequence[Entry]) -> list[float | None]:
    """Return the mean of each headline metric over all questions of two sources."""
    columns = zip(*map(_headline, measured), strict=True)
    sizes = zip(*map(_defined, measured), strict=True)
    asked = zip(*([one.questions(f) for f in _metrics(one)] for one in measured), strict=True)
    return [
        resting_on(
            sum(n * number(value) for n, value in zip(size, column, strict=True) if n) / sum(size)
            if sum(size)
            else math.nan,
            _sum(questions),
        )
        for size, column, questions in zip(sizes, columns, asked, strict=True)
    ]


def _ranked(
    rows: Iterable[tuple[Sequence[Cell], Sequence[float | None]]],
) -> Iterable[list[Cell]]:
    """Yield rows, names and headline, by their accuracy on versions, the best first."""
    for names, metrics in sorted(rows, key=lambda row: -np.nan_to_num(number(row[1][2]), nan=-1)):
        yield [*names, *metrics]


def _missing(found: Iterable[Entry]) -> Iterable[str]:
    """Yield a note for each result in which some questions lack their original or a version."""
    for one in found:
        known = one.result.versions
        lacking = known.groups - known.originals + known.incomplete
        if lacking:
            yield (
                f'{one.label}, {one.panel[1]}, {one.benchmark}: {lacking} of '
                f'{known.groups + known.incomplete} questions lack their original or a '
                'version; metrics that need these leave such questions out'
            )


def _stability(benchmark: str, measured: Sequence[Entry]) -> Table:
    """Return drop, understanding, and G-Pass over versions."""
    metrics = [
        metric
        for metric in dict.fromkeys(metric for one in measured for metric in one.result.measured())
        if metric.family.over in (Over.QUESTIONS, Over.RIGHT_ORIGINALS)
        and metric.family not in (*HEADLINE, *IN_JSON)
    ]
    rows = [[one.label, one.panel[1], _asked([one]), *map(one.metric, metrics)] for one in measured]
    legend = ['complete, partial, collapsed: of questions with a right original (docs/metrics.md)']
    title = f'{benchmark}: understanding'
    headings = [one.key for one in metrics]
    columns = ['model', 'responses', 'asked', *headings]
    return Table(title, columns, rows, legend)


def _breakdowns(benchmark: str, m: int, measured: Sequence[Entry]) -> Iterable[Table]:
    columns = ['group', 'model', 'responses', 'asked', *_columns(m), 'drop', 'unsolved']
    legend = [
        'unsolved: how questions without any right answer to a version are distributed over the '
        'groups'
    ]
    for kind, shown in breakdowns(measured).items():
        if kind == 'version':  # the originals, which have columns
            continue
        rows: list[list[Cell]] = []
        for label, one in shown:
            unsolved = [_unsolved(one, group) for group, other in shown if other is one]
            share = 100 * _unsolved(one, label) / sum(unsolved) if sum(unsolved) else math.nan
            metrics = (*_headline(one, label), one.metric(DROP(), label))
            rows.append([label, one.label, one.panel[1], _asked([one], label), *metrics, share])
        yield Table(f'{benchmark}: versions by {kind}', columns, rows, legend)
