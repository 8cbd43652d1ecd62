"""OpenCompass's evaluator interface: predictions in, trial table and result JSON out."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from datasets import Dataset
from opencompass.evaluator import GenericLLMEvaluator
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.registry import ICL_EVALUATORS
from opencompass.utils import get_logger

from opencompass_gpassk.alignment import align, prediction_folder, read_handed_over
from opencompass_gpassk.datasets.identity import identify
from opencompass_gpassk.judging.evaluators import JudgeError, judge_replica
from opencompass_gpassk.judging.rules import final_answer, judge_answers
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.predictions import PredictionFiles, Response
from opencompass_gpassk.results import DEFAULT_GROUPS, DEFAULT_TAUS, Protocol
from opencompass_gpassk.scoring import make_result, make_table, store, text_hash
from opencompass_gpassk.testsets import (
    constant,
    is_ours,
    problems_of,
    prompt_hash,
    version_of,
)
from opencompass_gpassk.trials import Verdict

__all__ = ['GPassKEvaluator']

Identity = tuple[str, int]


@ICL_EVALUATORS.register_module()
class GPassKEvaluator(BaseEvaluator):
    """G-Pass@k of a data set with repeated problems (arXiv 2412.13147).

    ``n`` and ``k`` stand in the data set's config, where OpenCompass checks them before inference.

    Args:
        judge: ``'rule'`` compares final answers with the gold answer; a config of any other
            OpenCompass evaluator lets that one score each replica.
        taus: The thresholds τ of G-Pass@k.
        groups: Breakdowns, each a column of the data set or a list of columns; by default those of
            :data:`opencompass_gpassk.results.DEFAULT_GROUPS` that the data set has.
        min_coverage: Share of the expected responses, in [0, 1], that must be there. Below it the
            evaluation ends with an error instead of a result that ``-r`` would never replace.
        benchmark: Name that results are joined by; the data set's own by default.
        pred_postprocessor: As in any OpenCompass evaluator.

    Raises:
        ValueError: If a setting is out of its range.
    """

    def __init__(
        self,
        judge: str | dict[str, Any] = 'rule',
        taus: Sequence[float] = DEFAULT_TAUS,
        groups: Sequence[str | Sequence[str]] | None = None,
        min_coverage: float = 1.0,
        benchmark: str | None = None,
        pred_postprocessor: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(pred_postprocessor)
        if not (judge == 'rule' or (isinstance(judge, dict) and 'type' in judge)):
            raise ValueError(
                f"judge is {judge!r}; use 'rule' or the config of an OpenCompass evaluator "
                'such as dict(type=MATHVerifyEvaluator)'
            )
        if not 0 <= min_coverage <= 1:
            raise ValueError(f'min_coverage is {min_coverage}; it is a share from 0 to 1')
        self.judge = judge
        self.taus = tuple(float(tau) for tau in taus)
        self.groups = groups
        self.min_coverage = min_coverage
        self.benchmark = benchmark
        self.logger = get_logger()

    def score(
        self,
        predictions: list[str],
        references: list[str],
        test_set: Dataset,
        origin_prompt: list[Any] | None = None,
    ) -> dict[str, Any]:
        """Score one response a problem: :meth:`evaluate` with n = 1.

        OpenCompass reads from this signature what :meth:`evaluate` is handed.
        """
        return self.evaluate(
            1, 1, test_set, predictions=predictions, references=references, test_set=test_set
        )

    def evaluate(
        self, k: int | list[int], n: int, original_dataset: Dataset, **score_kwargs: Any
    ) -> dict[str, Any]:
        """Score all replicas at once.

        Args:
            k: The k of pass@k and G-Pass@k, from the data set's config.
            n: Samples of each problem, from the data set's config.
            original_dataset: The test set, each problem repeated n times.
            **score_kwargs: What the signature of :meth:`score` names, a row each.

        Returns:
            The result, as it is stored in the result JSON. An undefined figure is NaN, which
            OpenCompass writes as Python does: its summarizer asks the same numbers of all models.

        Raises:
            IncompletePredictionsError: If fewer responses than ``min_coverage`` asks are there.
            JudgeError: If an evaluator as judge fails, or judges nothing.
            ValueError: If settings, test set and predictions don't fit, naming what does not.
        """
        ks = (k,) if isinstance(k, int) else tuple(k)
        groups = self._groups(original_dataset.column_names)
        protocol = Protocol(n=n, k=ks, taus=self.taus, groups=groups)
        identities = identify(original_dataset)
        golds = score_kwargs['references'] or [None] * len(identities)
        files = self._read(score_kwargs['predictions'])
        responses = align(
            identities,
            golds,
            files,
            name=self._abbr(),
            min_coverage=self.min_coverage,
            exact_golds=is_ours(original_dataset),
            report=self.logger.warning,
        )
        present = [i for i, response in enumerate(responses) if not response.lost]
        self.logger.info(f'Judging {len(present)} responses')
        problems = problems_of(original_dataset, identities, golds, groups)
        table = make_table(
            problems,
            responses,
            self._judge(original_dataset, golds, identities, responses, present),
            source=self._judge_name(),
            progress=True,
        )
        result = make_result(
            table,
            protocol,
            responses,
            benchmark=self.benchmark or constant(original_dataset, 'benchmark', self._abbr()),
            data_version=version_of(original_dataset, problems),
            judge=self._judge_name(),
            prompt=prompt_hash(original_dataset, responses),
        )
        for warning in result['warnings']:
            self.logger.warning(f'{self._abbr()}: {warning}')
        if hasattr(self, '_out_dir'):
            store(Path(f'{self._out_dir}.trials.jsonl.gz'), table, result)
        return result

    def _groups(self, columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        if self.groups is None:
            return DEFAULT_GROUPS
        groups = tuple((g,) if isinstance(g, str) else tuple(g) for g in self.groups)
        if unknown := {name for group in groups for name in group}.difference(columns):
            raise ValueError(
                f'groups of GPassKEvaluator names {", ".join(sorted(unknown))}; the columns of '
                f'{self._abbr()} are {", ".join(columns)}'
            )
        return groups

    def _read(self, predictions: list[Any]) -> PredictionFiles:
        texts = self.pred_postprocess(predictions)
        if hasattr(self, '_out_dir'):
            out_dir = Path(self._out_dir)
            return read_handed_over(prediction_folder(out_dir), out_dir.name, texts)
        rows = [Response(text, f'#{index}') for index, text in enumerate(texts)]
        return PredictionFiles(rows, len(rows), [], [])

    def _judge(
        self,
        test_set: Dataset,
        golds: Sequence[Any],
        identities: list[Identity],
        responses: list[Response],
        present: list[int],
    ) -> list[Judgement]:
        processed = any(responses[i].text != responses[i].raw for i in present)
        answers = [final_answer(responses[i].text, processed=processed) for i in present]
        if self.judge == 'rule':
            return judge_answers([_one_text(golds[i]) for i in present], answers, progress=True)
        verdicts: dict[int, Judgement] = {}
        replicas = sorted({identities[i][1] for i in present})
        for replica in replicas:
            rows = [i for i in present if identities[i][1] == replica]
            self.logger.info(f'{self._judge_name()}: replica {replica + 1} of {len(replicas)}')
            columns = {
                **{
                    name: [responses[i].record.get(name) for i in rows]
                    for name in responses[rows[0]].record
                },
                'predictions': [responses[i].text for i in rows],
                'references': [golds[i] for i in rows],
                'test_set': _with_golds(test_set.select(rows), [golds[i] for i in rows]),
                'origin_prompt': [responses[i].record.get('origin_prompt') for i in rows],
            }
            make = partial(self._make_judge, f'replica_{replica}_{_content(columns)}', replica)
            judged = judge_replica(make, columns, len(rows), report=self.logger.warning)
            verdicts.update(zip(rows, judged, strict=True))
        if verdicts and all(one.verdict is Verdict.UNJUDGED for one in verdicts.values()):
            raise JudgeError(
                f'judge: {self._judge_name()} judged none of {len(verdicts)} responses, the first '
                f'because {verdicts[present[0]].reason}'
            )
        return [
            dataclasses.replace(verdicts[i], answer=answer)
            for i, answer in zip(present, answers, strict=True)
        ]

    def _make_judge(self, folder: str, replica: int, row: int | None = None) -> BaseEvaluator:
        evaluator = ICL_EVALUATORS.build(copy.deepcopy(self.judge))
        evaluator._dataset_replica_idx = replica
        if isinstance(evaluator, GenericLLMEvaluator):
            evaluator.dataset_cfg = None  # else it loads the whole data set: not the rows at hand
        if hasattr(self, '_out_dir'):
            folder = folder if row is None else f'{folder}_row_{row}'
            evaluator._out_dir = str(Path(self._out_dir) / folder)
        return evaluator

    def _judge_name(self) -> str:
        if isinstance(self.judge, str):
            return self.judge
        kind = self.judge['type']
        return kind.rsplit('.', 1)[-1] if isinstance(kind, str) else kind.__name__

    def _abbr(self) -> str:
        return Path(self._out_dir).name if hasattr(self, '_out_dir') else 'data set'


def _one_text(gold: Any) -> str:
    if not isinstance(gold, (str, int, float)):
        raise ValueError(
            f"judge is 'rule', which compares with one gold answer a problem, but there is "
            f"{gold!r}; give the config of the data set's own evaluator as judge"
        )
    return str(gold)


def _with_golds(test_set: Dataset, golds: list[Any]) -> Dataset:
    # The name that prompts of GenericLLMEvaluator give them.
    return (
        test_set if 'obj_gold' in test_set.column_names else test_set.add_column('obj_gold', golds)
    )


def _content(columns: Mapping[str, Any]) -> str:
    # An evaluator takes what it finds in its folder for done: other responses, another folder.
    return text_hash(
        [str(value) for name in ('predictions', 'references') for value in columns[name]]
    )
