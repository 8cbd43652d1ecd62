"""What must be known to read figures of reasoning: who scored, how, and what has no score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from opencompass_gpassk.report.benchmarks import Benchmark, Entry
from opencompass_gpassk.report.notes import benchmark_notes
from opencompass_gpassk.soundness import REDUNDANCY, VALIDITY

if TYPE_CHECKING:
    from opencompass_gpassk.report.reasoning import ReasoningResult

__all__ = ['mixture_notes', 'reasoning_notes', 'threshold_name', 'unknown_notes']

SHOWN_REFUSALS = 3
OF_STEPS = {'min': 'the least', 'max': 'the greatest'}


def reasoning_notes(found: Sequence[ReasoningResult]) -> list[str]:
    """Return what holds for the table of reasoning.

    Args:
        found: Results with scores of reasoning, at least one.
    """
    notes = [f'scored by {" and ".join(_distinct(found, "scorer"))}']
    least, greatest = (_of_steps(_distinct(found, by)) for by in ('validity_by', 'redundancy_by'))
    notes.append(
        f'validity: how likely a step is right, and of a solution {least} of its steps; '
        f'redundancy: how likely a step is right, but of no use, and of a solution {greatest}'
    )
    if judged := [one for one in found if one.judged]:
        notes.append(
            'FPR, false-positive rate: share of the right answers whose validity is below '
            f'{threshold_name(judged)}'
        )
    notes.append(
        'scored: share of the responses that have scores; the other figures are means over these, '
        'steps and tokens are counts'
    )
    if silent := _distinct([one for one in found if _silent_on_redundancy(one)], 'scorer'):
        notes.append(
            f'{" and ".join(silent)}: says nothing of redundancy, as process reward models do'
        )
    return [*notes, *mixture_notes(found), *_refusals(found), *_notes_of_unjudged(found)]


def mixture_notes(found: Iterable[ReasoningResult]) -> list[str]:
    """Return a warning where results were scored by several, or under several settings."""
    scored = dict.fromkeys(str(one.result['signature'].get('reasoning')) for one in found)
    if len(scored) < 2:
        return []
    return [
        'reasoning is scored by different scorers or settings: '
        f"{' and '.join(scored)}; don't compare these"
    ]


def threshold_name(found: Iterable[ReasoningResult]) -> str:
    """Return the threshold of validity, or each with whom it is of where there are several."""
    of: dict[str, list[str]] = {}
    for one in found:
        of.setdefault(str(one.threshold), []).append(one.name)
    if len(of) == 1:
        return next(iter(of))
    return ' or '.join(f'{threshold} ({"; ".join(names)})' for threshold, names in of.items())


def unknown_notes(found: Iterable[ReasoningResult]) -> Iterable[str]:
    """Yield how many right responses have no scores, so that nobody knows whether they're sound."""
    for one in found:
        sound = one.reasoning.get('sound') or {}
        if unknown := sound.get('unknown'):
            yield (
                f'{one.name}: {unknown} of {sound.get("right")} right responses have no scores; '
                'nobody knows whether they are sound: sound figures and drops are over the '
                'responses with scores'
            )


def _distinct(found: Iterable[ReasoningResult], name: str) -> list[str]:
    return list(dict.fromkeys(str(one.reasoning.get(name)) for one in found))


def _of_steps(how: Sequence[str]) -> str:
    return ' or '.join(OF_STEPS.get(name, f'the {name}') for name in how)


def _silent_on_redundancy(one: ReasoningResult) -> bool:
    validity, redundancy = one.figure(VALIDITY), one.figure(REDUNDANCY)
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
            yield note if note.startswith(f'{name}:') else f'{name}: {note}'
