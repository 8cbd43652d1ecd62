"""Verdicts by any evaluator of OpenCompass, which thereby gains G-Pass@k.

Each replica is scored separately, by an evaluator object and in an output folder of its own, since
evaluators keep state in both. The verdict of a trial is what the evaluator's LLM replied, where the
reply can be found, else what the evaluator's ``details`` say.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from opencompass_gpassk.judging.evaluators.details import (
    CORRECTNESS_FIELDS,
    details_of,
    reordered,
    verdict_of_detail,
)
from opencompass_gpassk.judging.evaluators.replies import readings, unread_judge
from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.trials import Verdict

__all__ = ['judge_replica']

METRICS = ('accuracy', 'score', 'exact_match')
FAILED = 'the evaluator failed:'
UNREAD = (
    'the replies of the LLM behind {} are read by its own postprocessor, which may count one that '
    'it cannot read as wrong'
)
PATIENCE = 3  # rows; an evaluator that fails on the first ones fails on all


def judge_replica(
    make_evaluator: Callable[[int | None], Any],
    columns: Mapping[str, Any],
    size: int,
    *,
    report: Callable[[str], None] = lambda message: None,
    note: Callable[[str], None] = lambda message: None,
) -> list[Judgement]:
    """Judge the trials of one replica.

    Args:
        make_evaluator: Returns a fresh evaluator of OpenCompass for one row, or all with None. Each
            needs an output folder of its own: what an evaluator finds there, it takes for done.
        columns: What its ``score`` may ask for, each of ``size`` rows.
        size: Rows of the replica.
        report: Is told why the evaluator had to be asked one row at a time.
        note: Is told what a reader of the result has to know of the verdicts.

    Returns:
        One judgement a row, without its answer. Where the evaluator fails, or its details hold no
        correctness, fewer rows than were asked (some drop rows) or rows in another order, it is
        asked one row at a time; a row that it fails on is unjudged.

    Raises:
        JudgeError: If the evaluator fails on every row.
        ValueError: If it tells of no single row whether it is right, or asks for a column there
            isn't.
    """
    evaluator = make_evaluator(None)
    name = type(evaluator).__name__
    wanted = _wanted(evaluator, columns)
    details: list[Any] = []
    try:
        details = details_of(_score(evaluator, wanted, range(size)))
        judgements = _judgements(evaluator, details, wanted, range(size))
        fault = 'its details do not hold a verdict of every response in the order of the responses'
    except Exception as error:
        judgements, fault = None, f'it failed: {error!r}'
    if judgements is not None:
        if unread_judge(evaluator, details):
            note(UNREAD.format(name))
        return judgements
    report(f'judge: {name} is asked one response at a time, since {fault}')
    dropped = 0 < len(details) < size
    ask = partial(_judge_row, make_evaluator, wanted, drops_rows=dropped, note=note)
    judgements = []
    for row in range(size):
        judgements.append(ask(row))
        if row + 1 == min(PATIENCE, size) and all(j.reason.startswith(FAILED) for j in judgements):
            raise JudgeError(f'judge: {name} fails on every response: {judgements[0].reason}')
    return judgements


def _judge_row(
    make_evaluator: Callable[[int | None], Any],
    wanted: Mapping[str, Any],
    row: int,
    *,
    drops_rows: bool,
    note: Callable[[str], None],
) -> Judgement:
    evaluator = make_evaluator(row)
    try:
        result = _score(evaluator, wanted, [row])
    except Exception as error:
        return Judgement(Verdict.UNJUDGED, reason=f'{FAILED} {error!r}')
    details = details_of(result)
    if drops_rows and not details:
        return Judgement(Verdict.UNJUDGED, reason='the evaluator left the response out')
    judgements = _judgements(evaluator, details, wanted, [row]) or _judgement_of_metric(result)
    if unread_judge(evaluator, details):
        note(UNREAD.format(type(evaluator).__name__))
    if not judgements:
        keys = ', '.join(map(str, result)) if isinstance(result, Mapping) else result
        raise ValueError(
            f'judge: {type(evaluator).__name__} does not say whether a single response is right: '
            f'its result has the keys {keys}; use an evaluator whose details hold one of '
            f'{", ".join(CORRECTNESS_FIELDS)}'
        )
    return judgements[0]


def _judgements(
    evaluator: Any, details: Sequence[Any], wanted: Mapping[str, Any], rows: Sequence[int]
) -> list[Judgement] | None:
    if len(details) != len(rows) or reordered(details, wanted, rows):
        return None
    replies = readings(evaluator, details)
    verdicts = [verdict_of_detail(*pair) for pair in zip(details, replies, strict=True)]
    judgements = [Judgement(one[0], reason=one[1]) for one in verdicts if one is not None]
    return judgements if len(judgements) == len(rows) else None


def _judgement_of_metric(result: Any) -> list[Judgement] | None:
    for name in METRICS:
        if isinstance(result, Mapping) and result.get(name) in (0, 100):
            return [Judgement(Verdict.CORRECT if result[name] else Verdict.INCORRECT)]
    return None


def _wanted(evaluator: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    wanted = {}
    for name, parameter in inspect.signature(evaluator.score).parameters.items():
        if name in columns:
            wanted[name] = columns[name]
        elif parameter.default is parameter.empty and parameter.kind not in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            raise ValueError(
                f'judge: {type(evaluator).__name__}.score asks for {name!r}; there are '
                f'{", ".join(sorted(columns))}'
            )
    return wanted


def _score(evaluator: Any, wanted: Mapping[str, Any], rows: Sequence[int]) -> Any:
    asked = {name: _select(column, rows) for name, column in wanted.items()}
    if 'predictions' in asked:
        asked['predictions'] = evaluator.pred_postprocess(asked['predictions'])
    return evaluator.score(**asked)


def _select(column: Any, rows: Sequence[int]) -> Any:
    if column is None:
        return None
    select = getattr(column, 'select', None)
    return select(rows) if select else [column[row] for row in rows]
