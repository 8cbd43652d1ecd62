"""Building an evaluator of OpenCompass as judge, once for each replica of a repeated data set."""

from __future__ import annotations

import copy
import dataclasses
import logging
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from datasets import Dataset
from opencompass.datasets.livemathbench import LiveMathBenchEvaluator
from opencompass.evaluator import GenericLLMEvaluator
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.registry import ICL_EVALUATORS

from opencompass_gpassk.hashing import text_hash
from opencompass_gpassk.judging.configs import config_hash, judge_name
from opencompass_gpassk.judging.evaluators.replica import judge_replica
from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.predictions import Response
from opencompass_gpassk.trials import Verdict

__all__ = ['ReplicaJudge', 'with_answers']


class ReplicaJudge:
    """An evaluator of OpenCompass that judges a test set replica by replica.

    Args:
        config: The evaluator's config.
        folder: Where the evaluators' files go, None for nowhere. An evaluator takes what it finds
            in its folder for done, so each replica has one of its own, and so has each config and
            each set of responses.
        logger: Is told of the progress.

    Attributes:
        name: The evaluator's class.
        signature: The name with a hash of the config, which tells judges apart.
        notes: What a reader of the result has to know of the verdicts.
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
        """Judge the responses that are not lost, each to its row of the test set.

        Returns:
            Their judgements in their order, without the answers.

        Raises:
            JudgeError: If the evaluator fails, or judges nothing.
            ValueError: If it tells of no single row whether it is right.
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
            evaluator.dataset_cfg = None  # else it loads the whole data set: not the rows at hand
        if isinstance(evaluator, LiveMathBenchEvaluator):
            # Else all objects share one dictionary, and one replica's file gets another's replies.
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
            f'; to ask it again, delete the folder {self.folder}, where it finds its replies, and '
            f'{self.folder.name}.json beside it if that is there, and resume with -r'
        )

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def with_answers(judgements: Sequence[Judgement], answers: Sequence[str | None]) -> list[Judgement]:
    """Return judgements with the answers that they were given to."""
    return [
        dataclasses.replace(judgement, answer=answer)
        for judgement, answer in zip(judgements, answers, strict=True)
    ]


def _columns(
    test_set: Dataset, golds: Sequence[Any], responses: Sequence[Response], rows: Sequence[int]
) -> dict[str, Any]:
    """Return what an evaluator's ``score`` may ask for of these rows."""
    asked = [golds[row] for row in rows]
    part = test_set.select(rows)
    if 'obj_gold' not in part.column_names:  # the name that prompts of LLM judges give them
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
