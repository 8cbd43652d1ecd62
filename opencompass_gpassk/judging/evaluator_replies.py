"""The replies of OpenCompass's LLM judges, word for word, and the verdicts in them.

OpenCompass counts a reply that it can't read as incorrect. The replies are in a file in the judge's
output folder. Here a reply outside a fixed menu of verdicts leaves its trial unjudged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opencompass.datasets.livemathbench import LiveMathBenchEvaluator
from opencompass.evaluator import CascadeEvaluator, GenericLLMEvaluator

from opencompass_gpassk.answers.extract import spoken
from opencompass_gpassk.judging.verdict import MENUS, Reading, read_letters, read_verdict
from opencompass_gpassk.trials import Verdict

__all__ = [
    'CORRECTNESS_FIELDS',
    'Reading',
    'details_of',
    'is_letter_detail',
    'read_box',
    'read_letter',
    'readings',
    'reordered',
    'unread_judge',
    'verdict_of_detail',
]

LETTERS = {'A', 'B', 'CORRECT', 'INCORRECT'}


def read_letter(reply: str) -> Reading:
    """Read a reply that is only A or B (or CORRECT, INCORRECT) after its thoughts."""
    said = read_letters(spoken(reply))
    if said and said[0] is not Verdict.UNJUDGED:
        return said
    return Verdict.UNJUDGED, 'the judge replied neither A nor B'


def read_box(reply: Any) -> Reading:
    r"""Read a reply whose last ``\boxed{}`` holds yes or no."""
    said = read_verdict(reply, MENUS['boxed']) if isinstance(reply, str) else None
    return said or (Verdict.UNJUDGED, 'the judge boxed neither yes nor no')


def is_letter_detail(detail: Any) -> bool:
    """Tell whether a detail comes from a judge that was asked for A or B."""
    if not isinstance(detail, Mapping):
        return False
    if 'is_correct' in detail:  # a postprocessor turned the reply into a letter
        return detail.get('llm_judge', detail.get('prediction')) in LETTERS
    return (
        'correct' not in detail and 'gold' in detail and isinstance(detail.get('prediction'), str)
    )


def readings(evaluator: Any, details: Sequence[Any]) -> list[Reading | None]:
    """Return the verdict in the judge's reply to each row of an evaluator's details.

    Args:
        evaluator: An evaluator that has scored.
        details: The entries of its details, one per row, in order.

    Returns:
        One reading per row; None if the reply isn't known or no judge was asked.
    """
    nothing: list[Reading | None] = [None] * len(details)
    if isinstance(evaluator, CascadeEvaluator):
        asked = [i for i, detail in enumerate(details) if 'llm_evaluation' in detail]
        path = f'{evaluator._out_dir}_llm_judge_replica{evaluator.dataset_replica_idx}.json'
        evaluator.llm_evaluator.output_path = path  # it is unset if the replies were there before
        found = readings(evaluator.llm_evaluator, [details[i]['llm_evaluation'] for i in asked])
        known = dict(zip(asked, found, strict=True))
        return [known.get(i) for i in range(len(details))]
    if isinstance(evaluator, LiveMathBenchEvaluator):
        if not evaluator.judge_models:
            return nothing
        records = _records(Path(evaluator.output_dir) / 'tmp_judge.json', len(details))
        return [read_box(record.get('response')) for record in records or []] or nothing
    if isinstance(evaluator, GenericLLMEvaluator) and all(map(is_letter_detail, details)):
        records = _records(Path(evaluator.output_path), len(details))
        if records:
            evaluator.judge_pred_postprocessor = evaluator.judge_cfg.get('pred_postprocessor')
            evaluator._judge_postprocess(dict(enumerate(records)))
            return [read_letter(str(record.get('prediction'))) for record in records]
    return nothing


def unread_judge(evaluator: Any, details: Sequence[Any]) -> bool:
    """Tell whether OpenCompass alone read an LLM's replies: unreadable ones count as incorrect."""
    if isinstance(evaluator, CascadeEvaluator):
        asked = [detail['llm_evaluation'] for detail in details if 'llm_evaluation' in detail]
        return bool(asked) and unread_judge(evaluator.llm_evaluator, asked)
    by_llm = isinstance(evaluator, GenericLLMEvaluator)
    return by_llm and not (details and all(map(is_letter_detail, details)))


def _records(path: Path, size: int) -> list[dict[str, Any]] | None:
    """Return the records of a judge's file, keyed '0', '1', …; None if it holds others."""
    try:
        records = json.loads(path.read_text('utf-8', errors='surrogatepass'))
        found = [records[str(i)] for i in range(size)]
    except (OSError, ValueError, TypeError, KeyError):
        return None
    return found if all(isinstance(record, dict) for record in found) else None


CORRECTNESS_FIELDS = ('correct', 'is_correct', 'cascade_correct')
NESTED_FIELDS = ('rule_evaluation', 'llm_evaluation')  # of CascadeEvaluator
REPEATED_FIELDS = {  # fields of details that repeat the evaluator's input
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
    """Tell whether details repeat the evaluator's input in another order than it was given."""
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

    The judge's reply has priority over the evaluator's flag: a reply outside the menu leaves the
    trial unjudged, although the evaluator calls it incorrect. In a cascade, a rule that found the
    response correct has priority over both. If no reply is known, the evaluator's flag counts, even
    if the evaluator couldn't read the reply.

    Args:
        detail: The entry. If a judge was asked for A or B and there is no flag, ``prediction`` is
            the reply.
        reading: The verdict in the LLM judge's reply, from its own file; None if not known.
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
