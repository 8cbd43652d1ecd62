"""Verdicts by any evaluator of OpenCompass, which thereby gains G-Pass@k.

Each replica is scored separately, by an evaluator object and in an output folder of its own, since
evaluators keep state in both. The verdict of a trial is read from the evaluator's ``details``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.trials import Verdict

__all__ = ['judge_replica', 'verdict_of_detail']

CORRECTNESS_FIELDS = ('correct', 'is_correct', 'cascade_correct')
NESTED_FIELDS = ('rule_evaluation',)  # CascadeEvaluator, where no sample reached its LLM
ANSWER_FIELDS = ('pred', 'prediction', 'answer_parsed')
METRICS = ('accuracy', 'score', 'exact_match')
JUDGE_LETTERS = {
    'A': Verdict.CORRECT,
    'CORRECT': Verdict.CORRECT,
    'B': Verdict.INCORRECT,
    'INCORRECT': Verdict.INCORRECT,
}


def judge_replica(
    make_evaluator: Callable[[int | None], Any], columns: Mapping[str, Any], size: int
) -> list[Judgement]:
    """Judge the trials of one replica.

    Args:
        make_evaluator: Returns a fresh evaluator of OpenCompass for one row, or all with None. Each
            needs an output folder of its own: what an evaluator finds there, it takes for done.
        columns: What its ``score`` may ask for, each of ``size`` rows.
        size: Rows of the replica.

    Returns:
        One judgement a row. Where details hold no correctness or fewer rows than were asked (some
        evaluators drop rows), the evaluator is asked one row at a time.

    Raises:
        ValueError: If the evaluator tells of no single row whether it is right, or asks for a
            column there isn't.
    """
    verdicts = _verdicts(_score(make_evaluator(None), columns, range(size)), size)
    if verdicts is None:
        verdicts = []
        for row in range(size):
            evaluator = make_evaluator(row)
            result = _score(evaluator, columns, [row])
            single = _verdicts(result, 1) or _verdict_of_metric(result)
            if single is None:
                raise ValueError(
                    f'judge: {type(evaluator).__name__} does not say whether a single response is '
                    f'right: its result has the keys {sorted(result)}; use an evaluator whose '
                    f'details hold one of {", ".join(CORRECTNESS_FIELDS)}'
                )
            verdicts += single
    answers = columns['predictions']
    return [
        Judgement(verdict, answers[row], reason) for row, (verdict, reason) in enumerate(verdicts)
    ]


def verdict_of_detail(detail: Any) -> tuple[Verdict, str] | None:
    """Read one entry of an evaluator's ``details``; None if it holds no verdict.

    A reply of an LLM judge counts only if it is a letter of the menu and nothing else; other
    replies leave the trial unjudged.
    """
    if not isinstance(detail, Mapping):
        return None
    for name in CORRECTNESS_FIELDS:
        if detail.get(name) is not None:
            return _verdict(detail[name])
    for name in NESTED_FIELDS:
        if isinstance(detail.get(name), Mapping):
            return verdict_of_detail(detail[name])
    if 'gold' in detail and isinstance(detail.get('prediction'), str):
        letter = detail['prediction'].strip().strip('.').upper()
        if letter in JUDGE_LETTERS:
            return JUDGE_LETTERS[letter], ''
        return Verdict.UNJUDGED, 'the judge replied neither A nor B'
    return None


def _verdict(value: Any) -> tuple[Verdict, str] | None:
    if isinstance(value, str):
        value = {'true': True, 'false': False}.get(value.strip().lower())
    if value is None or value not in (0, 1):
        return None
    return (Verdict.CORRECT if value else Verdict.INCORRECT), ''


def _verdicts(result: Mapping[str, Any], size: int) -> list[tuple[Verdict, str]] | None:
    details = result.get('details')
    if isinstance(details, Mapping):
        details = [value for value in details.values() if isinstance(value, Mapping)]
    if not isinstance(details, Sequence) or len(details) != size:
        return None
    verdicts = [verdict_of_detail(detail) for detail in details]
    known = [verdict for verdict in verdicts if verdict is not None]
    return known if len(known) == size else None


def _verdict_of_metric(result: Mapping[str, Any]) -> list[tuple[Verdict, str]] | None:
    for name in METRICS:
        if result.get(name) in (0, 100):
            return [(Verdict.CORRECT if result[name] else Verdict.INCORRECT, '')]
    return None


def _score(evaluator: Any, columns: Mapping[str, Any], rows: Sequence[int]) -> Mapping[str, Any]:
    wanted = {}
    for name, parameter in inspect.signature(evaluator.score).parameters.items():
        if name in columns:
            wanted[name] = _select(columns[name], rows)
        elif parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            raise ValueError(
                f'judge: {type(evaluator).__name__}.score asks for {name!r}; there are '
                f'{", ".join(sorted(columns))}'
            )
    if 'predictions' in wanted:
        wanted['predictions'] = evaluator.pred_postprocess(wanted['predictions'])
    return evaluator.score(**wanted)


def _select(column: Any, rows: Sequence[int]) -> Any:
    select = getattr(column, 'select', None)
    return select(rows) if select else [column[row] for row in rows]
