"""What the ``details`` of an evaluator's result say of each response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from opencompass_gpassk.judging.evaluators.replies import Reading, is_letter_detail, read_letter
from opencompass_gpassk.trials import Verdict

__all__ = ['CORRECTNESS_FIELDS', 'details_of', 'reordered', 'verdict_of_detail']

CORRECTNESS_FIELDS = ('correct', 'is_correct', 'cascade_correct')
NESTED_FIELDS = ('rule_evaluation', 'llm_evaluation')  # of CascadeEvaluator
REPEATED_FIELDS = {  # what details repeat of what was asked
    'predictions': ('pred',),
    'references': ('answer', 'gold', 'ref', 'reference'),
}


def details_of(result: Any) -> list[Any]:
    """Return the entries of a result's details; those keyed '0', '1', …, '10' by number."""
    details = result.get('details') if isinstance(result, Mapping) else None
    if isinstance(details, Mapping):
        entries = {key: value for key, value in details.items() if isinstance(value, Mapping)}
        numbered = all(str(key).isdecimal() for key in entries)
        return [entries[key] for key in (sorted(entries, key=int) if numbered else entries)]
    return list(details) if isinstance(details, Sequence) else []


def reordered(details: Sequence[Any], wanted: Mapping[str, Any], rows: Sequence[int]) -> bool:
    """Tell whether details repeat what was asked in another order than it was asked in."""
    for column, names in REPEATED_FIELDS.items():
        if wanted.get(column) is None:
            continue
        asked = [str(wanted[column][row]) for row in rows]
        for name in names:
            told = [str(d.get(name)) if isinstance(d, Mapping) else '' for d in details]
            if told != asked and sorted(told) == sorted(asked):
                return True
    return False


def verdict_of_detail(detail: Any, reading: Reading | None = None) -> Reading | None:
    """Read one entry of an evaluator's ``details``; None if it holds no verdict.

    What an LLM judge replied comes before what the evaluator made of it: a reply outside its menu
    leaves the trial unjudged, where the evaluator calls it wrong. Of a cascade a rule that found
    the response right comes before both. Where no reply is known, the evaluator's flag counts,
    and so does its mistake about a reply that it couldn't read.

    Args:
        detail: The entry. In one of a judge who was asked for A or B without a flag, ``prediction``
            is the reply.
        reading: What the LLM judge replied, read from its own file; None if that isn't known.
    """
    if not isinstance(detail, Mapping):
        return None
    nested = [detail[name] for name in NESTED_FIELDS if detail.get(name) is not None]
    if len(nested) == len(NESTED_FIELDS):
        by_rule, by_llm = verdict_of_detail(nested[0]), verdict_of_detail(nested[1], reading)
        if by_rule and by_llm:
            return by_rule if by_rule[0] is Verdict.CORRECT else by_llm
    if reading:
        return reading
    for name in CORRECTNESS_FIELDS:
        if detail.get(name) is not None:
            return _flag(detail[name])
    if nested:  # no response of the replica reached the cascade's LLM
        return verdict_of_detail(nested[0])
    return read_letter(detail['prediction']) if is_letter_detail(detail) else None


def _flag(value: Any) -> Reading | None:
    if isinstance(value, str):
        value = {'true': True, 'false': False}.get(value.strip().lower())
    if value is None or value not in (0, 1):
        return None
    return (Verdict.CORRECT if value else Verdict.INCORRECT), ''
