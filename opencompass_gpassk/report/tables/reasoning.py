"""Tables of reasoning: validity, redundancy and false positives (ReasonEval, arXiv 2404.05692)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from opencompass_gpassk.report.board import Board, breakdowns
from opencompass_gpassk.report.notes import benchmark_notes
from opencompass_gpassk.report.tables.table import Cell, Table
from opencompass_gpassk.results.judged_trials import REDUNDANCY, VALIDITY
from opencompass_gpassk.results.metric import FALSE_POSITIVES, REASONING, SCORED
from opencompass_gpassk.results.result import Box, Entry

SHOWN_REFUSALS = 3
OF_STEPS = {'min': 'the least', 'max': 'the greatest'}


def reasoning_legend(found: Sequence[Entry]) -> list[str]:
    """Return the legend of the table of reasoning: how scores of steps are combined."""
    least, greatest = (
        ' or '.join(OF_STEPS.get(how, f'the {how}') for how in _distinct(found, by))
        for by in ('validity_by', 'redundancy_by')
    )
    return [
        f'validity: {least} chance of a step to be right; redundancy: {greatest} to be useless '
        '(docs/reasoneval.md)'
    ]


def reasoning_notes(found: Sequence[Entry]) -> list[str]:
    """Return the notes of the table of reasoning.

    Args:
        found: Results with scores of reasoning, at least one.
    """
    notes = [f'scored by {" and ".join(_distinct(found, "scorer"))}']
    if judged := [one for one in found if one.result.judged]:
        notes.append(f'FPR: right answers whose validity is below {threshold_name(judged)}')
    if silent := _distinct([one for one in found if _silent_on_redundancy(one)], 'scorer'):
        notes.append(f'{" and ".join(silent)}: gives no redundancy, as process reward models do')
    return notes


def mixture_notes(found: Iterable[Entry]) -> list[str]:
    """Return a warning if results were scored by different scorers or under different settings."""
    scored = dict.fromkeys(one.result.signature.reasoning for one in found)
    if len(scored) < 2:
        return []
    return [
        'reasoning is scored by different scorers or settings: '
        f"{' and '.join(scored)}; don't compare these"
    ]


def threshold_name(found: Iterable[Entry]) -> str:
    """Return the threshold of validity; if there are several, each with its results."""
    of: dict[str, list[str]] = {}
    for one in found:
        of.setdefault(str(threshold_of(one)), []).append(_name(one))
    if len(of) == 1:
        return next(iter(of))
    return ' or '.join(f'{threshold} ({"; ".join(names)})' for threshold, names in of.items())


def unknown_notes(found: Iterable[Entry]) -> Iterable[str]:
    """Yield a note on right responses without scores, which may be sound or not."""
    for one in found:
        sound = one.reasoning.sound
        if unknown := sound.get('unknown'):
            yield (
                f'{_name(one)}: {unknown} of {sound.get("right")} right responses have no scores, '
                'so it is unknown whether they are sound: sound metrics and drops are expected '
                'values over these'
            )


def _distinct(found: Iterable[Entry], name: str) -> list[str]:
    return list(dict.fromkeys(getattr(one.reasoning, name) for one in found))


def _silent_on_redundancy(one: Entry) -> bool:
    validity, redundancy = (one.metric(REASONING[quantity, '']()) for quantity in QUANTITIES)
    known = validity is not None and not math.isnan(validity)
    return known and (redundancy is None or math.isnan(redundancy))


def _refusals(found: Iterable[Entry]) -> Iterable[str]:
    for one in found:
        refusals = one.reasoning.refusals
        often = sorted(refusals.items(), key=lambda item: -item[1])
        told = [f'{reason} ({count})' for reason, count in often[:SHOWN_REFUSALS]]
        if rest := sum(count for _, count in often[SHOWN_REFUSALS:]):
            told.append(f'other reasons ({rest})')
        if told:
            yield f'{_name(one)}: {sum(refusals.values())} without scores: {"; ".join(told)}'


def _notes_of_unjudged(board: Board) -> Iterable[str]:
    """Yield the notes of results without verdicts, which have no table of their benchmark."""
    for benchmark in board.unjudged:
        for note in benchmark_notes(benchmark):
            yield f'{benchmark.name}: {note}'


QUANTITIES = (VALIDITY, REDUNDANCY)
PARTS = ('all', 'right', 'wrong')
# Heading → metric. In the terminal a heading with a line break takes two lines.
COLUMNS = {
    'scored': SCORED(),
    **{
        f'{quantity}\n{of}' if of else quantity: family()
        for (quantity, of), family in REASONING.items()
    },
    'FPR': FALSE_POSITIVES(),
}
QUARTILES = ('q1', 'med', 'q3')


def threshold_of(one: Entry) -> float:
    """Return the least validity of sound reasoning; NaN if there is none."""
    value = one.reasoning.threshold
    return math.nan if value is None else value


def length_of(one: Entry, unit: str, which: str = 'all') -> float | None:
    """Return the mean number of ``steps`` or ``tokens`` of a solution; None if unknown."""
    return one.reasoning.lengths.get(unit, {}).get(which)


def _name(one: Entry) -> str:
    benchmark, decoding = one.panel
    return f'{one.label}, {decoding}, {benchmark}'


def reasoning_tables(board: Board) -> list[Table]:
    """Return the tables of reasoning, of single solutions, and of groups; none without scores."""
    found = board.scored
    if not found:
        return []
    rows: list[list[Cell]] = [
        [
            *(one.benchmark, one.label, one.panel[1], one.questions(SCORED())),
            *map(one.metric, COLUMNS.values()),
            *(length_of(one, 'steps'), length_of(one, 'tokens')),
        ]
        for one in found
    ]
    columns = ['benchmark', 'model', 'responses', 'questions', *COLUMNS, 'steps', 'tokens']
    warnings = [*mixture_notes(found), *_refusals(found), *_notes_of_unjudged(board)]
    legend, notes = reasoning_legend(found), reasoning_notes(found)
    table = Table('Reasoning', columns, rows, legend, notes, warnings=warnings, main=True)
    return [table, _solutions(found), *_breakdowns(found)]


def box_of(one: Entry, quantity: str, which: str) -> Box | None:
    """Return the statistics of a box plot, as ``Axes.bxp`` takes them, in [0, 1].

    Args:
        one: The result.
        quantity: ``validity`` or ``redundancy``.
        which: ``all``, ``right`` or ``wrong`` responses.

    Returns:
        ``med``, ``q1``, ``q3``, ``whislo``, ``whishi``, ``mean`` and the number of solutions
        ``n``; None if no solution has a value.
    """
    return one.reasoning.boxes.get(quantity, {}).get(which)


def _solutions(found: Sequence[Entry]) -> Table:
    """Return the table of quartiles and lengths, a row each for all, right and wrong responses."""
    rows: list[list[Cell]] = []
    for one in found:
        for which in PARTS:
            boxes = [box_of(one, quantity, which) for quantity in QUANTITIES]
            lengths = [length_of(one, 'steps', which), length_of(one, 'tokens', which)]
            if any(boxes) or any(length is not None for length in lengths):
                quartiles = [
                    100 * getattr(box, q) if box else None for box in boxes for q in QUARTILES
                ]
                count = max(box.n if box else 0 for box in boxes)
                rows.append([*one.panel, one.label, which, count, *quartiles, *lengths])
    columns = ['benchmark', 'responses', 'model', 'answers', 'solutions']
    columns += [
        f'{quantity}\n{of}'
        for quantity in QUANTITIES
        for of in ('1st quartile', 'median', '3rd quartile')
    ]
    legend = ['solutions: those with scores; quartiles are of single solutions, in percent']
    return Table(
        'Reasoning of single solutions',
        [*columns, 'steps', 'tokens'],
        rows,
        legend,
    )


def _breakdowns(found: Sequence[Entry]) -> Iterable[Table]:
    """Yield a table for each benchmark and kind of groups."""
    for benchmark in dict.fromkeys(one.benchmark for one in found):
        of_it = [one for one in found if one.benchmark == benchmark]
        for kind, shown in breakdowns(of_it).items():
            rows: list[list[Cell]] = [
                [
                    *(label, one.label, one.panel[1], one.questions(SCORED(), label)),
                    *(one.metric(metric, label) for metric in COLUMNS.values()),
                ]
                for label, one in shown
            ]
            columns = ['group', 'model', 'responses', 'questions', *COLUMNS]
            title = f'{benchmark}: reasoning by {kind}'
            yield Table(title, columns, rows)
