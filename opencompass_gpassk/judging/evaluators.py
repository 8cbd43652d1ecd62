"""Verdicts by any evaluator of OpenCompass, so that G-Pass@k can be computed from them.

Each replica of a repeated data set is scored separately, with its own evaluator object and output
folder, since evaluators keep state in both. A trial's verdict is the one in the reply of the
evaluator's LLM if the reply can be found, else the one in the evaluator's ``details``.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from datasets import Dataset
from opencompass.datasets.livemathbench import LiveMathBenchEvaluator
from opencompass.evaluator import GenericLLMEvaluator
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.registry import ICL_EVALUATORS

from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.judging.evaluator_replies import (
    CORRECTNESS_FIELDS,
    details_of,
    readings,
    reordered,
    unread_judge,
    verdict_of_detail,
)
from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.judging.settings import config_hash, judge_name
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.runs.predictions import Response
from opencompass_gpassk.trials import Verdict

__all__ = ['ReplicaJudge', 'judge_replica', 'with_answers']

METRICS = ('accuracy', 'score', 'exact_match')
FAILED = 'the evaluator failed:'
UNREAD = (
    'the replies of the LLM behind {} are read by its own postprocessor, which may count one that '
    'it cannot read as wrong'
)
PATIENCE = 3  # rows; an evaluator that fails on the first three is taken to fail on all


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
        make_evaluator: Returns a fresh evaluator of OpenCompass for one row, or for all if None.
            Each needs its own output folder: an evaluator takes replies it finds there as its own.
        columns: The columns that its ``score`` may ask for, each with ``size`` rows.
        size: Number of rows of the replica.
        report: Takes a message on why the evaluator had to be asked one row at a time.
        note: Takes a note on the verdicts for readers of the result.

    Returns:
        One judgement per row, without its answer. The evaluator is asked one row at a time if it
        fails, or if its details lack correctness, drop rows or reorder them. A row that it fails on
        is then unjudged.

    Raises:
        JudgeError: If the evaluator fails on every row.
        ValueError: If it gives no verdict on single rows, or asks for a column that doesn't exist.
    """
    evaluator = make_evaluator(None)
    name = type(evaluator).__name__
    wanted = _wanted(evaluator, columns)
    details: list[Any] = []
    try:
        details = details_of(_score(evaluator, wanted, range(size)))
        judgements = _judgements(evaluator, details, wanted, range(size))
        fault = 'its details do not hold a verdict of every response in the order of the responses'
    except Exception as error:  # the user's evaluator may raise anything
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
    except Exception as error:  # the user's evaluator may raise anything
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


class ReplicaJudge:
    """An evaluator of OpenCompass that judges a test set replica by replica.

    Args:
        config: The evaluator's config.
        folder: The folder for the evaluators' files; None for no files. An evaluator takes replies
            that it finds in its folder as its own, so each replica, config and set of responses
            gets a folder of its own.
        logger: Takes messages on the progress.

    Attributes:
        name: The evaluator's class.
        signature: The name with a hash of the config, which distinguishes judges.
        notes: Notes on the verdicts for readers of the result.
    """

    def __init__(
        self, config: Mapping[str, Any], folder: Path | None, logger: logging.Logger
    ) -> None:
        self.config = config
        self.folder = folder
        self.logger = logger
        self.name = judge_name(config)
        self.hash = config_hash(config)
        self.signature = f'{self.name}:{self.hash}'
        self.notes: list[str] = []

    def judge(
        self, test_set: Dataset, golds: Sequence[Any], responses: Sequence[Response]
    ) -> list[Judgement]:
        """Judge the responses that are not lost, each with its row of the test set.

        Returns:
            Their judgements in the same order, without the answers.

        Raises:
            JudgeError: If the evaluator fails, or judges nothing.
            ValueError: If it gives no verdict on single rows.
        """
        verdicts: dict[int, Judgement] = {}
        by_replica: dict[int, list[int]] = {}
        for row, response in enumerate(responses):
            if not response.lost and response.identity:
                by_replica.setdefault(response.identity[1], []).append(row)
        for replica, rows in sorted(by_replica.items()):
            self.logger.info(f'{self.name}: replica {replica + 1} of {len(by_replica)}')
            columns = _columns(test_set, golds, responses, rows)
            judged = judge_replica(
                partial(self._make, replica, _content(columns)),
                columns,
                len(rows),
                report=self.logger.warning,
                note=self._note,
            )
            verdicts.update(zip(rows, judged, strict=True))
        found = [dataclasses.replace(verdicts[row], source=self.name) for row in sorted(verdicts)]
        if found and all(one.verdict is Verdict.UNJUDGED for one in found):
            raise JudgeError(
                f'judge: {self.name} judged none of {len(found)} responses, the first because '
                f'{found[0].reason}{self._retry()}'
            )
        if any(one.verdict is Verdict.UNJUDGED for one in found) and self.folder:
            self._note(f'{self.name} gave no verdict of some responses{self._retry()}')
        return found

    def _make(self, replica: int, content: str, row: int | None = None) -> BaseEvaluator:
        evaluator = ICL_EVALUATORS.build(copy.deepcopy(dict(self.config)))
        evaluator._dataset_replica_idx = replica
        if isinstance(evaluator, GenericLLMEvaluator):
            evaluator.dataset_cfg = None  # else it loads the whole data set, not the given rows
        if isinstance(evaluator, LiveMathBenchEvaluator):
            # Else all objects share one dictionary, and replies get into another replica's file.
            evaluator.judge_output_handler.output_dict = {}
            evaluator.extract_output_handler.output_dict = {}
        if self.folder:
            single = '' if row is None else f'_row_{row}'
            name = f'replica_{replica}_{self.hash}_{content}{single}'
            evaluator._out_dir = str(self.folder / name)
        return evaluator

    def _retry(self) -> str:
        if self.folder is None:
            return ''
        return (
            f'; to ask it again, delete the folder {self.folder}, which holds its replies, and '
            f'{self.folder.name}.json beside it, if it exists, and resume with -r'
        )

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def with_answers(judgements: Sequence[Judgement], answers: Sequence[str | None]) -> list[Judgement]:
    """Return the judgements with their answers filled in."""
    return [
        dataclasses.replace(judgement, answer=answer)
        for judgement, answer in zip(judgements, answers, strict=True)
    ]


def _columns(
    test_set: Dataset, golds: Sequence[Any], responses: Sequence[Response], rows: Sequence[int]
) -> dict[str, Any]:
    """Return the columns that an evaluator's ``score`` may ask for, of these rows."""
    asked = [golds[row] for row in rows]
    part = test_set.select(rows)
    if 'obj_gold' not in part.column_names:  # the name of the gold in prompts of LLM judges
        part = part.add_column('obj_gold', asked)
    records = [responses[row].record for row in rows]
    return {
        **{name: [record.get(name) for record in records] for name in records[0]},
        'predictions': [responses[row].text for row in rows],
        'references': asked,
        'test_set': part,
        'origin_prompt': [record.get('origin_prompt') for record in records],
    }


def _content(columns: Mapping[str, Any]) -> str:
    return text_hash(
        [str(value) for name in ('predictions', 'references') for value in columns[name]]
    )
