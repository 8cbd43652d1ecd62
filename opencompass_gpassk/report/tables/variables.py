"""Tables of questions with random variables (Table 1 of arXiv 2501.11790) and of contamination.

The table of contamination shows signs that a model has seen a benchmark. None of them is a proof.
arXiv 2412.13147 (4.4.5) relates contamination to a steeper fall of G-Pass@k_τ over τ; arXiv
2501.11790 to a drop in accuracy from original problems to versions with other numbers.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from opencompass_gpassk.report.tables.table import Cell, Table, group_order
from opencompass_gpassk.results.figures import (
    ACCURACY,
    CR,
    DROP,
    G_PASS,
    GROUP_ACCURACY,
    OOR,
    OOR_BY_CHANCE,
    SP_ACCURACY,
    UNDERSTANDING_SCORE,
    Figure,
    Over,
)
from opencompass_gpassk.results.join_results import (
    Entry,
    Result,
    Results,
    figures_of,
    has_verdicts,
    join_benchmarks,
    read_figure,
    same_data,
    way_of_decoding,
)

HEADLINE = (UNDERSTANDING_SCORE, SP_ACCURACY, GROUP_ACCURACY, CR, OOR, OOR_BY_CHANCE)
SOURCE = re.compile('MATH|LEETCODE', re.IGNORECASE)
READING = (
    'understanding: among questions with a right original, complete plus half of partial (Eq. 5); '
    'SP: accuracy on the original problems; RV: on their versions with other numbers; GA: all '
    'versions right; CR: the original and most versions right; OOR: the original right, but few or '
    'no versions; chance: what OOR is without memory, if the original is like one of its versions. '
    'Higher is better, except for OOR and chance'
)


@dataclass(frozen=True)
class VariableResult:
    """The result of one model on one data set of questions in versions.

    Attributes:
        model: The model's name; with the data set's name if the model's alone is ambiguous.
        responses: ``greedy``, or the number of samples, such as ``n = 16``.
        dataset: The data set's abbr.
        result: The result, as stored in the result JSON.
    """

    model: str
    responses: str
    dataset: str
    result: Result

    @property
    def versions(self) -> int:
        """Number of versions of a question, m."""
        return int(self.result['versions']['per_group'])

    @property
    def panel(self) -> str:
        """Heading of the results that a figure shows together."""
        return f'{self.result["benchmark"]}, {self.responses}'

    @property
    def questions(self) -> tuple[str, int]:
        """Benchmark and m; results with the same ones share columns."""
        return str(self.result['benchmark']), self.versions

    def figure(self, figure: Figure, group: str = '') -> float | None:
        """Return a figure in percent; NaN if it is undefined, None if it wasn't measured."""
        return read_figure(self.result, figure, group)

    def headline(self, group: str = '') -> list[Cell]:
        """Return understanding, SP and RV accuracy, GA, CR, OOR and OOR by chance."""
        figures = (
            *(UNDERSTANDING_SCORE(), SP_ACCURACY(), ACCURACY(), GROUP_ACCURACY(m=self.versions)),
            *(CR(), OOR(), OOR_BY_CHANCE()),
        )
        return [self.figure(one, group) for one in figures]

    def unsolved(self, group: str) -> float:
        """Return how many versions of a group are unsolved, times a constant; NaN if unknown."""
        problems = (self.result.get('groups') or {}).get(group, {}).get('problems')
        solved = _number(self.figure(ACCURACY(), group))
        return (100 - solved) * _number(problems)

    def defined(self) -> list[float]:
        """Return the number of questions behind each figure of :meth:`headline`.

        Behind understanding it is the mean number of questions whose original is right.
        """
        known = self.result['versions']
        left = known['excluded']
        figures = (SP_ACCURACY(), None, GROUP_ACCURACY(m=self.versions), CR(), OOR(), OOR())
        whole = [known['groups'] - (left.get(one.key, 0) if one else 0) for one in figures]
        right = whole[0] * _number(self.figure(SP_ACCURACY())) / 100 if whole[0] else 0
        return [right, *whole]


def variable_results(results: Results) -> list[VariableResult]:
    """Return the results of questions in versions, in the order of models and data sets.

    If a model has several results on one benchmark, as with two seeds, the data set's name is added
    to the model's, without its source, so that results of both sources share one row.
    """
    found = [
        VariableResult(model, way_of_decoding(result), dataset, result)
        for model, by_dataset in results.items()
        for dataset, result in by_dataset.items()
        if has_verdicts(result) and result.get('versions')
    ]
    places = Counter((one.model, one.responses, one.result['benchmark']) for one in found)
    ambiguous = {(model, responses) for (model, responses, _), n in places.items() if n > 1}
    return [
        replace(one, model=f'{one.model} ({SOURCE.sub("…", one.dataset)})')
        if (one.model, one.responses) in ambiguous
        else one
        for one in found
    ]


def variable_tables(results: Results) -> list[Table]:
    """Return the leaderboard, the tables of understanding, and the breakdowns by group.

    Args:
        results: Model → data set → result, as stored in the result JSON. There are no tables if
            no questions have versions.
    """
    found = variable_results(results)
    if not found:
        return []
    by_questions: dict[tuple[str, int], list[VariableResult]] = {}
    for one in found:
        by_questions.setdefault(one.questions, []).append(one)
    apart = [
        table
        for (benchmark, m), measured in by_questions.items()
        for table in (_stability(benchmark, measured), *_breakdowns(benchmark, m, measured))
    ]
    return [_leaderboard(by_questions), *apart]


def _leaderboard(by_questions: Mapping[tuple[str, int], Sequence[VariableResult]]) -> Table:
    """Return the headline of each model, best first, on each benchmark and on both sources."""
    found = [one for measured in by_questions.values() for one in measured]
    sizes = {m for _, m in by_questions}
    rows: list[list[Cell]] = []
    for (benchmark, m), measured in by_questions.items():
        name = benchmark if len(sizes) == 1 else f'{benchmark}, {m} versions'
        rows += _ranked([name, one.model, one.responses, *one.headline()] for one in measured)
    notes = [READING]
    # Two benchmarks surely have different questions only if they are of two sources.
    sources = sorted(name.partition(',')[0] for name, _ in by_questions)
    if sources == ['RV-LEETCODE', 'RV-MATH'] and len(sizes) == 1:
        of_model: dict[tuple[str, str], list[VariableResult]] = {}
        for one in found:
            of_model.setdefault((one.model, one.responses), []).append(one)
        rows += _ranked(
            ['overall', *names, *_overall(measured)]
            for names, measured in of_model.items()
            if len(measured) == 2
        )
        notes.append('overall: mean over the questions of both sources')
    size = min(sizes) if len(sizes) == 1 else 'm'
    columns = ['benchmark', 'model', 'responses', *_columns(size)]
    title = 'Questions with random variables'
    return Table(title, columns, rows, notes, warnings=list(_missing(found)), main=True)


def _columns(m: int | str) -> list[str]:
    return ['understanding', 'SP', 'RV', f'GA@{m}', 'CR', 'OOR', 'chance']


def _overall(measured: Sequence[VariableResult]) -> list[Cell]:
    """Return the mean of each headline figure over all questions of two sources."""
    columns = zip(*(one.headline() for one in measured), strict=True)
    sizes = zip(*(one.defined() for one in measured), strict=True)
    return [
        sum(n * _number(value) for n, value in zip(size, column, strict=True) if n) / sum(size)
        if sum(size)
        else math.nan
        for size, column in zip(sizes, columns, strict=True)
    ]


def _ranked(rows: Iterable[list[Cell]]) -> list[list[Cell]]:
    """Return rows by their accuracy on versions, the best first."""
    return sorted(rows, key=lambda row: -np.nan_to_num(_number(row[-5]), nan=-1))


def _missing(found: Iterable[VariableResult]) -> Iterable[str]:
    """Yield a note for each result in which some questions lack their original or a version."""
    for one in found:
        known = one.result['versions']
        lacking = known['groups'] - known['originals'] + known['incomplete']
        if lacking:
            yield (
                f'{one.model}, {one.responses}, {one.result["benchmark"]}: {lacking} of '
                f'{known["groups"] + known["incomplete"]} questions lack their original or a '
                'version; figures that need these leave such questions out'
            )


def _stability(benchmark: str, measured: Sequence[VariableResult]) -> Table:
    """Return drop, understanding, G-Pass over versions and the variances."""
    figures = [
        figure
        for figure in dict.fromkeys(figure for one in measured for figure in figures_of(one.result))
        if figure.family.over in (Over.QUESTIONS, Over.RIGHT_ORIGINALS)
        and figure.family not in HEADLINE
    ]
    rows = [[one.model, one.responses, *map(one.figure, figures)] for one in measured]
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


def _breakdowns(benchmark: str, m: int, measured: Sequence[VariableResult]) -> Iterable[Table]:
    kinds: dict[str, dict[str, None]] = {}
    for one in measured:
        for label, fields in (one.result.get('groups') or {}).items():
            names = [name for name in fields if name not in ('problems', 'version')]
            if names:
                kinds.setdefault(' and '.join(names), {}).setdefault(label)
    columns = ['group', 'model', 'responses', *_columns(m), 'drop', 'unsolved']
    notes = ['unsolved: share of all wrong answers to versions (Table 7 of arXiv 2501.11790)']
    for kind, labels in kinds.items():
        rows: list[list[Cell]] = []
        for label in sorted(labels, key=group_order):
            for one in measured:
                wrong = sum(count for count in map(one.unsolved, labels) if count > 0)
                share = 100 * one.unsolved(label) / wrong if wrong else math.nan
                figures = (*one.headline(label), one.figure(DROP(), label))
                rows.append([label, one.model, one.responses, *figures, share])
        yield Table(f'{benchmark}: versions by {kind}', columns, rows, notes, breakdown=kind)


def _number(value: Cell) -> float:
    return float(value) if isinstance(value, (int, float)) else math.nan


NOTES = (
    'slope: change of G-Pass@k_τ, in points, as τ goes from 0 to 1 (least squares through the '
    'measured τ); it is negative',
    'greedy − G-Pass: accuracy of the greedy answer minus G-Pass@k_1.0, in points',
    'SP − RV: accuracy on original problems minus that on versions with other numbers, in points; '
    '0 is expected where a model has seen neither',
    'a model that memorised answers tends to a steep slope and wide gaps; an unstable one does too',
)


def contamination_table(results: Results) -> Table | None:
    """Return the signs of contamination, a row for each model and benchmark; None without any.

    Args:
        results: Model → data set → result, as stored in the result JSON.
    """
    rows: list[list[Cell]] = []
    for benchmark in join_benchmarks(results):
        for entry in benchmark.entries:
            signs = _signs(entry)
            if any(sign is not None for sign in signs):
                rows.append([benchmark.name, benchmark.label(entry), *signs])
    if not rows:
        return None
    columns = ['benchmark', 'model', 'k', 'slope', 'greedy − G-Pass', 'SP − RV']
    return Table('Signs of contamination', columns, rows, NOTES)


def slope(taus: Sequence[float], values: Sequence[float]) -> float:
    """Return the slope of the line through T points by least squares.

    Args:
        taus: T thresholds.
        values: T figures; undefined ones are left out.

    Returns:
        Change of the figure as τ grows by 1; NaN with fewer than two points.
    """
    x, y = np.asarray(taus, dtype=float), np.asarray(values, dtype=float)
    x, y = x[~np.isnan(y)], y[~np.isnan(y)]
    return float(np.polyfit(x, y, deg=1)[0]) if len(np.unique(x)) > 1 else math.nan


def _comparable(entry: Entry) -> bool:
    return entry.greedy is not None and same_data(entry.greedy, entry.result)


def _signs(entry: Entry) -> list[Cell]:
    """Return k, slope, gap and drop; None if not measured."""
    k = max(entry.ks, default=None)
    steepness = gap = None
    if k is not None:
        figures = [entry.figure(G_PASS(k=k, tau=tau)) for tau in entry.taus]
        steepness = slope(entry.taus, [math.nan if v is None else v for v in figures])
        strictest, greedy = entry.figure(G_PASS(k=k, tau=1.0)), entry.greedy_accuracy()
        if strictest is not None and greedy is not None and _comparable(entry):
            gap = greedy - strictest
    drops = (read_figure(result, DROP()) for result in entry.results)
    return [k, steepness, gap, next((one for one in drops if one is not None), None)]
