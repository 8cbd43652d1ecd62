"""Tables of reasoning: validity, redundancy and false positives (ReasonEval, arXiv 2404.05692)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from opencompass_gpassk.report.notes import benchmark_notes
from opencompass_gpassk.report.tables.table import Cell, Table, group_order, kind_of
from opencompass_gpassk.results.figures import FALSE_POSITIVES, REASONING, SCORED, Figure
from opencompass_gpassk.results.join_results import (
    Benchmark,
    Entry,
    Result,
    Results,
    has_verdicts,
    is_ours,
    read_figure,
    way_of_decoding,
)
from opencompass_gpassk.results.judged_trials import REDUNDANCY, VALIDITY

SHOWN_REFUSALS = 3
OF_STEPS = {'min': 'the least', 'max': 'the greatest'}


def reasoning_notes(found: Sequence[ReasoningResult]) -> list[str]:
    """Return the notes of the table of reasoning.

    Args:
        found: Results with scores of reasoning, at least one.
    """
    notes = [f'scored by {" and ".join(_distinct(found, "scorer"))}']
    least, greatest = (
        ' or '.join(OF_STEPS.get(how, f'the {how}') for how in _distinct(found, by))
        for by in ('validity_by', 'redundancy_by')
    )
    notes.append(
        f'validity: chance that a step is right; of a solution: {least} of its steps; '
        f'redundancy: chance that a step is right but useless; of a solution: {greatest}'
    )
    if judged := [one for one in found if one.judged]:
        notes.append(
            'FPR, false-positive rate: share of the right answers whose validity is below '
            f'{threshold_name(judged)}'
        )
    notes.append(
        'scored: share of the responses with scores; the other figures are means over these; '
        'steps and tokens are mean counts'
    )
    if silent := _distinct([one for one in found if _silent_on_redundancy(one)], 'scorer'):
        notes.append(f'{" and ".join(silent)}: gives no redundancy, as process reward models do')
    return notes


def mixture_notes(found: Iterable[ReasoningResult]) -> list[str]:
    """Return a warning if results were scored by different scorers or under different settings."""
    scored = dict.fromkeys(str(one.result['signature'].get('reasoning')) for one in found)
    if len(scored) < 2:
        return []
    return [
        'reasoning is scored by different scorers or settings: '
        f"{' and '.join(scored)}; don't compare these"
    ]


def threshold_name(found: Iterable[ReasoningResult]) -> str:
    """Return the threshold of validity; if there are several, each with its results."""
    of: dict[str, list[str]] = {}
    for one in found:
        of.setdefault(str(one.threshold), []).append(one.name)
    if len(of) == 1:
        return next(iter(of))
    return ' or '.join(f'{threshold} ({"; ".join(names)})' for threshold, names in of.items())


def unknown_notes(found: Iterable[ReasoningResult]) -> Iterable[str]:
    """Yield a note on right responses without scores, which may be sound or not."""
    for one in found:
        sound = one.reasoning.get('sound') or {}
        if unknown := sound.get('unknown'):
            yield (
                f'{one.name}: {unknown} of {sound.get("right")} right responses have no scores, so '
                'it is unknown whether they are sound: sound figures and drops are expected '
                'values over these'
            )


def _distinct(found: Iterable[ReasoningResult], name: str) -> list[str]:
    return list(dict.fromkeys(str(one.reasoning.get(name)) for one in found))


def _silent_on_redundancy(one: ReasoningResult) -> bool:
    validity, redundancy = (one.figure(REASONING[quantity, '']()) for quantity in QUANTITIES)
    known = validity is not None and not math.isnan(validity)
    return known and (redundancy is None or math.isnan(redundancy))


def _refusals(found: Iterable[ReasoningResult]) -> Iterable[str]:
    for one in found:
        refusals: Mapping[str, int] = one.reasoning.get('refusals') or {}
        often = sorted(refusals.items(), key=lambda item: -item[1])
        told = [f'{reason} ({count})' for reason, count in often[:SHOWN_REFUSALS]]
        if rest := sum(count for _, count in often[SHOWN_REFUSALS:]):
            told.append(f'other reasons ({rest})')
        if told:
            yield f'{one.name}: {sum(refusals.values())} without scores: {"; ".join(told)}'


def _notes_of_unjudged(found: Sequence[ReasoningResult]) -> Iterable[str]:
    """Yield the notes of results without verdicts, which have no table of their benchmark."""
    by_benchmark: dict[str, list[Entry]] = {}
    for one in found:
        if not one.judged:
            entry = Entry(f'{one.model}, {one.responses}', one.dataset, one.result)
            by_benchmark.setdefault(one.benchmark, []).append(entry)
    for name, entries in by_benchmark.items():
        for note in benchmark_notes(Benchmark(name, entries)):
            yield f'{name}: {note}'


QUANTITIES = (VALIDITY, REDUNDANCY)
PARTS = ('all', 'right', 'wrong')
# Heading → figure. In the terminal a heading with a line break takes two lines.
COLUMNS = {
    'scored': SCORED(),
    **{
        f'{quantity}\n{of}' if of else quantity: family()
        for (quantity, of), family in REASONING.items()
    },
    'FPR': FALSE_POSITIVES(),
}
QUARTILES = ('q1', 'med', 'q3')


@dataclass(frozen=True)
class ReasoningResult:
    """A result with scores of reasoning.

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
    def benchmark(self) -> str:
        """The benchmark's name."""
        return str(self.result['benchmark'])

    @property
    def panel(self) -> tuple[str, str]:
        """Benchmark and decoding; results are compared if these are the same."""
        return self.benchmark, self.responses

    @property
    def reasoning(self) -> Mapping[str, Any]:
        """The field ``reasoning`` of the result."""
        reasoning: Mapping[str, Any] = self.result['reasoning']
        return reasoning

    @property
    def judged(self) -> bool:
        """Whether the responses have verdicts."""
        return has_verdicts(self.result)

    @property
    def threshold(self) -> float:
        """The least validity of sound reasoning; NaN if there is none."""
        value = self.reasoning.get('threshold')
        return math.nan if value is None else float(value)

    @property
    def name(self) -> str:
        """The result's name in notes."""
        return f'{self.model}, {self.responses}, {self.benchmark}'

    def figure(self, figure: Figure, group: str = '') -> float | None:
        """Return a figure in percent; NaN if it is undefined, None if it wasn't measured."""
        return read_figure(self.result, figure, group)

    def length(self, unit: str, which: str = 'all') -> float | None:
        """Return the mean number of ``steps`` or ``tokens`` of a solution; None if unknown."""
        value = ((self.reasoning.get('lengths') or {}).get(unit) or {}).get(which)
        return None if value is None else float(value)


def reasoning_results(results: Results) -> list[ReasoningResult]:
    """Return the results with scores of reasoning, sorted by benchmark and decoding.

    Args:
        results: Model → data set → result, as stored in the result JSON.
    """
    found = [
        ReasoningResult(model, way_of_decoding(result), dataset, result)
        for model, by_dataset in results.items()
        for dataset, result in by_dataset.items()
        if is_ours(result) and result.get('reasoning')
    ]
    places = Counter((one.model, one.panel) for one in found)
    named = [
        replace(one, model=f'{one.model} ({one.dataset})')
        if places[one.model, one.panel] > 1
        else one
        for one in found
    ]
    benchmarks = list(dict.fromkeys(one.benchmark for one in named))
    panels = list(dict.fromkeys(one.panel for one in named))
    return sorted(named, key=lambda one: (benchmarks.index(one.benchmark), panels.index(one.panel)))


def reasoning_tables(results: Results) -> list[Table]:
    """Return the tables of reasoning, of single solutions, and of groups.

    Args:
        results: Model → data set → result, as stored in the result JSON. There are no tables if
            no reasoning was scored.
    """
    found = reasoning_results(results)
    if not found:
        return []
    rows: list[list[Cell]] = [
        [
            *(one.benchmark, one.model, one.responses),
            *map(one.figure, COLUMNS.values()),
            *(one.length('steps'), one.length('tokens')),
        ]
        for one in found
    ]
    columns = ['benchmark', 'model', 'responses', *COLUMNS, 'steps', 'tokens']
    warnings = [*mixture_notes(found), *_refusals(found), *_notes_of_unjudged(found)]
    table = Table('Reasoning', columns, rows, reasoning_notes(found), warnings=warnings, main=True)
    return [table, _solutions(found), *_breakdowns(found)]


def box_of(one: ReasoningResult, quantity: str, which: str) -> Mapping[str, float] | None:
    """Return the statistics of a box plot, as ``Axes.bxp`` takes them, in [0, 1].

    Args:
        one: The result.
        quantity: ``validity`` or ``redundancy``.
        which: ``all``, ``right`` or ``wrong`` responses.

    Returns:
        ``med``, ``q1``, ``q3``, ``whislo``, ``whishi``, ``mean`` and the number of solutions
        ``n``; None if no solution has a value.
    """
    box = ((one.reasoning.get('boxes') or {}).get(quantity) or {}).get(which)
    return box or None


def _solutions(found: Sequence[ReasoningResult]) -> Table:
    """Return the table of quartiles and lengths, a row each for all, right and wrong responses."""
    rows: list[list[Cell]] = []
    for one in found:
        for which in PARTS:
            boxes = [box_of(one, quantity, which) for quantity in QUANTITIES]
            lengths = [one.length('steps', which), one.length('tokens', which)]
            if any(boxes) or any(length is not None for length in lengths):
                quartiles = [100 * box[q] if box else None for box in boxes for q in QUARTILES]
                count = max(int(box['n']) if box else 0 for box in boxes)
                rows.append([*one.panel, one.model, which, count, *quartiles, *lengths])
    columns = ['benchmark', 'responses', 'model', 'answers', 'solutions']
    columns += [
        f'{quantity}\n{of}'
        for quantity in QUANTITIES
        for of in ('1st quartile', 'median', '3rd quartile')
    ]
    notes = ['solutions: those with scores; quartiles are of single solutions, in percent']
    return Table(
        'Reasoning of single solutions',
        [*columns, 'steps', 'tokens'],
        rows,
        notes,
        'answer (reasoning)',
    )


def _breakdowns(found: Sequence[ReasoningResult]) -> Iterable[Table]:
    """Yield a table for each benchmark and kind of groups."""
    kinds: dict[tuple[str, str], dict[str, None]] = {}
    for one in found:
        for label, fields in (one.result.get('groups') or {}).items():
            kinds.setdefault((one.benchmark, kind_of(fields)), {}).setdefault(label)
    for (benchmark, kind), labels in kinds.items():
        rows: list[list[Cell]] = [
            [label, one.model, one.responses, *(one.figure(k, label) for k in COLUMNS.values())]
            for label in sorted(labels, key=group_order)
            for one in found
            if one.benchmark == benchmark and label in (one.result.get('groups') or {})
        ]
        columns = ['group', 'model', 'responses', *COLUMNS]
        yield Table(
            f'{benchmark}: reasoning by {kind}', columns, rows, breakdown=f'{kind} (reasoning)'
        )
