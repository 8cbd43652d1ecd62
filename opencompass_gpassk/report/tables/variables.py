"""Tables of questions with random variables, as Table 1 of arXiv 2501.11790."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from opencompass_gpassk.report.board import Board, breakdowns
from opencompass_gpassk.report.cells import number
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.figures import (
    ACCURACY,
    CR,
    DROP,
    GROUP_ACCURACY,
    OOR,
    OOR_BY_CHANCE,
    SP_ACCURACY,
    UNDERSTANDING_SCORE,
    Over,
)
from opencompass_gpassk.results.stored_result import Entry, figures_of

HEADLINE = (UNDERSTANDING_SCORE, SP_ACCURACY, GROUP_ACCURACY, CR, OOR, OOR_BY_CHANCE)
READING = (
    'understanding: among questions with a right original, complete plus half of partial (Eq. 5); '
    'SP: accuracy on the original problems; RV: on their versions with other numbers; GA: all '
    'versions right; CR: the original and most versions right; OOR: the original right, but few or '
    'no versions; chance: what OOR is without memory, if the original is like one of its versions. '
    'Higher is better, except for OOR and chance'
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
        rows += _ranked(((name, one.label, one.panel[1]), _headline(one)) for one in measured)
    notes = [READING]
    # Two benchmarks surely have different questions only if they are of two sources.
    sources = sorted(name.partition(',')[0] for name, _ in by_questions)
    if sources == ['RV-LEETCODE', 'RV-MATH'] and len(sizes) == 1:
        of_model: dict[tuple[str, str], list[Entry]] = {}
        for one in found:
            of_model.setdefault((one.label, one.panel[1]), []).append(one)
        rows += _ranked(
            (('overall', *names), _overall(measured))
            for names, measured in of_model.items()
            if len(measured) == 2
        )
        notes.append('overall: mean over the questions of both sources')
    size = min(sizes) if len(sizes) == 1 else 'm'
    columns = ['benchmark', 'model', 'responses', *_columns(size)]
    title = 'Questions with random variables'
    return Table(title, columns, rows, notes, warnings=list(_missing(found)), main=True)


def _versions(one: Entry) -> int:
    """Return the number of versions of a question, m."""
    return int(one.result['versions']['per_group'])


def _headline(one: Entry, group: str = '') -> list[float | None]:
    """Return understanding, SP and RV accuracy, GA, CR, OOR and OOR by chance."""
    figures = (
        *(UNDERSTANDING_SCORE(), SP_ACCURACY(), ACCURACY(), GROUP_ACCURACY(m=_versions(one))),
        *(CR(), OOR(), OOR_BY_CHANCE()),
    )
    return [one.figure(figure, group) for figure in figures]


def _unsolved(one: Entry, group: str) -> float:
    """Return how many questions of a group are unsolved; NaN in results of earlier versions."""
    return number((one.result['versions'].get('unsolved') or {}).get(group))


def _defined(one: Entry) -> list[float]:
    """Return the number of questions behind each figure of :func:`_headline`.

    Behind understanding it is the mean number of questions whose original is right.
    """
    known = one.result['versions']
    left = known['excluded']
    figures = (SP_ACCURACY(), None, GROUP_ACCURACY(m=_versions(one)), CR(), OOR(), OOR())
    whole = [known['groups'] - (left.get(f.key, 0) if f else 0) for f in figures]
    right = whole[0] * number(one.figure(SP_ACCURACY())) / 100 if whole[0] else 0
    return [right, *whole]


def _columns(m: int | str) -> list[str]:
    return ['understanding', 'SP', 'RV', f'GA@{m}', 'CR', 'OOR', 'chance']


def _overall(measured: Sequence[Entry]) -> list[float | None]:
    """Return the mean of each headline figure over all questions of two sources."""
    columns = zip(*map(_headline, measured), strict=True)
    sizes = zip(*map(_defined, measured), strict=True)
    return [
        sum(n * number(value) for n, value in zip(size, column, strict=True) if n) / sum(size)
        if sum(size)
        else math.nan
        for size, column in zip(sizes, columns, strict=True)
    ]


def _ranked(
    rows: Iterable[tuple[Sequence[str], Sequence[float | None]]],
) -> Iterable[list[Cell]]:
    """Yield rows, names and headline, by their accuracy on versions, the best first."""
    for names, figures in sorted(rows, key=lambda row: -np.nan_to_num(number(row[1][2]), nan=-1)):
        yield [*names, *figures]


def _missing(found: Iterable[Entry]) -> Iterable[str]:
    """Yield a note for each result in which some questions lack their original or a version."""
    for one in found:
        known = one.result['versions']
        lacking = known['groups'] - known['originals'] + known['incomplete']
        if lacking:
            yield (
                f'{one.label}, {one.panel[1]}, {one.benchmark}: {lacking} of '
                f'{known["groups"] + known["incomplete"]} questions lack their original or a '
                'version; figures that need these leave such questions out'
            )


def _stability(benchmark: str, measured: Sequence[Entry]) -> Table:
    """Return drop, understanding, G-Pass over versions and the variances."""
    figures = [
        figure
        for figure in dict.fromkeys(figure for one in measured for figure in figures_of(one.result))
        if figure.family.over in (Over.QUESTIONS, Over.RIGHT_ORIGINALS)
        and figure.family not in HEADLINE
    ]
    rows = [[one.label, one.panel[1], *map(one.figure, figures)] for one in measured]
    notes = [
        'complete, partial, collapsed understanding: among the questions whose original is right, '
        'the share with most, some, or few or no versions right; understanding below 60 is '
        'inconsistent (arXiv 2501.11790)',
        'G-Pass over versions: chance that at least a share τ is right, one response per version',
        'variances, times 100: between versions due to their numbers, between samples due to '
        'chance; unbiased estimates, so the first may be below 0',
    ]
    title = f'{benchmark}: understanding'
    headings = [one.key for one in figures]
    return Table(title, ['model', 'responses', *headings], rows, notes, 'version')


def _breakdowns(benchmark: str, m: int, measured: Sequence[Entry]) -> Iterable[Table]:
    columns = ['group', 'model', 'responses', *_columns(m), 'drop', 'unsolved']
    notes = [
        'unsolved: how the questions without a right answer to any version, in any sample, are '
        'distributed over the groups (Table 7 of arXiv 2501.11790)'
    ]
    for kind, shown in breakdowns(measured).items():
        if kind == 'version':  # the originals, which have columns
            continue
        rows: list[list[Cell]] = []
        for label, one in shown:
            unsolved = [_unsolved(one, group) for group, other in shown if other is one]
            share = 100 * _unsolved(one, label) / sum(unsolved) if sum(unsolved) else math.nan
            figures = (*_headline(one, label), one.figure(DROP(), label))
            rows.append([label, one.label, one.panel[1], *figures, share])
        yield Table(f'{benchmark}: versions by {kind}', columns, rows, notes, breakdown=kind)
