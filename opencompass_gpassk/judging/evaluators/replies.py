"""What LLM judges of OpenCompass replied, word for word, and which verdict that is.

OpenCompass counts a reply that it can't read as wrong. The reply itself stands in a file of the
judge's output folder; a verdict is one of a fixed menu, and anything else leaves a trial unjudged.
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

__all__ = ['Reading', 'is_letter_detail', 'read_box', 'read_letter', 'readings', 'unread_judge']

LETTERS = {'A', 'B', 'CORRECT', 'INCORRECT'}


def read_letter(reply: str) -> Reading:
    """Read a reply that, after its thoughts, is A or B (or CORRECT, INCORRECT) and nothing else."""
    said = read_letters(spoken(reply))
    if said and said[0] is not Verdict.UNJUDGED:
        return said
    return Verdict.UNJUDGED, 'the judge replied neither A nor B'


def read_box(reply: Any) -> Reading:
    r"""Read a reply whose last ``\boxed{}`` holds yes or no."""
    said = read_verdict(reply, MENUS['boxed']) if isinstance(reply, str) else None
    return said or (Verdict.UNJUDGED, 'the judge boxed neither yes nor no')


def is_letter_detail(detail: Any) -> bool:
    """Tell whether a detail is that of a judge who was asked for A or B."""
    if not isinstance(detail, Mapping):
        return False
    if 'is_correct' in detail:  # a postprocessor made a letter of the reply
        return detail.get('llm_judge', detail.get('prediction')) in LETTERS
    return (
        'correct' not in detail and 'gold' in detail and isinstance(detail.get('prediction'), str)
    )


def readings(evaluator: Any, details: Sequence[Any]) -> list[Reading | None]:
    """Return what an evaluator's judge replied to each row of its details.

    Args:
        evaluator: An evaluator that has scored.
        details: The entries of its details, one a row, in their order.

    Returns:
        None for a row whose reply isn't known, or that no judge was asked about.
    """
    nothing: list[Reading | None] = [None] * len(details)
    if isinstance(evaluator, CascadeEvaluator):
        asked = [i for i, detail in enumerate(details) if 'llm_evaluation' in detail]
        path = f'{evaluator._out_dir}_llm_judge_replica{evaluator.dataset_replica_idx}.json'
        evaluator.llm_evaluator.output_path = path  # unset where it found its replies there
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
    """Tell whether an LLM's replies count as OpenCompass read them, which is wrong if it can't."""
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
