"""OpenCompass's evaluator interface: predictions in, trial table and result JSON out."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from datasets import Dataset
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.registry import ICL_EVALUATORS
from opencompass.utils import get_logger

from opencompass_gpassk.alignment import align, read_handed_over
from opencompass_gpassk.datasets.identity import identify
from opencompass_gpassk.judging.evaluators import judge_replica
from opencompass_gpassk.judging.rules import judge_by_rule
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.predictions import PredictionFiles, Response
from opencompass_gpassk.results import DEFAULT_GROUPS, DEFAULT_TAUS, Protocol
from opencompass_gpassk.scoring import make_result, make_table, store, text_hash
from opencompass_gpassk.trials import Problem

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
        groups: Breakdowns, each a list of columns of the data set.
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
        groups: Sequence[Sequence[str]] = DEFAULT_GROUPS,
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
        self.groups = tuple(tuple(group) for group in groups)
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
            The result, as it is stored in the result JSON.

        Raises:
            IncompletePredictionsError: If fewer responses than ``min_coverage`` asks are there.
        """
        ks = (k,) if isinstance(k, int) else tuple(k)
        protocol = Protocol(n=n, k=ks, taus=self.taus, groups=self.groups)
        identities = identify(original_dataset)
        references = [str(gold) for gold in score_kwargs['references']]
        responses = self._responses(identities, references, score_kwargs['predictions'])
        present = [i for i, response in enumerate(responses) if not response.lost]
        self.logger.info(f'Judging {len(present)} responses')
        judgements = self._judge(original_dataset, references, identities, responses, present)
        table = make_table(
            self._problems(original_dataset, identities, references),
            responses,
            judgements,
            source='rule' if self.judge == 'rule' else self._judge_name(),
            progress=True,
        )
        result = make_result(
            table,
            protocol,
            responses,
            benchmark=self.benchmark or _constant(original_dataset, 'benchmark', self._abbr()),
            data_version=_constant(original_dataset, 'data_version', 'unknown'),
            judge=self._judge_name(),
            prompt=_prompt_hash(original_dataset),
        )
        for warning in result['warnings']:
            self.logger.warning(f'{self._abbr()}: {warning}')
        if hasattr(self, '_out_dir'):
            store(Path(f'{self._out_dir}.trials.jsonl.gz'), table, result)
        return result

    def _responses(
        self, identities: list[Identity], references: list[str], predictions: list[str]
    ) -> list[Response]:
        texts = self.pred_postprocess(predictions)
        if hasattr(self, '_out_dir'):
            out_dir = Path(self._out_dir)
            folder = out_dir.parent.parent.with_name('predictions') / out_dir.parent.name
            files = read_handed_over(folder, out_dir.name, texts)
        else:
            rows = [Response(text, f'#{index}') for index, text in enumerate(texts)]
            files = PredictionFiles(rows, len(rows), [], [])
        return align(
            identities,
            references,
            files,
            name=self._abbr(),
            min_coverage=self.min_coverage,
            report=self.logger.warning,
        )

    def _judge(
        self,
        test_set: Dataset,
        references: list[str],
        identities: list[Identity],
        responses: list[Response],
        present: list[int],
    ) -> list[Judgement]:
        if self.judge == 'rule':
            golds = [references[i] for i in present]
            return judge_by_rule(golds, [responses[i].text for i in present], progress=True)
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
                'references': [references[i] for i in rows],
                'test_set': test_set.select(rows),
                'origin_prompt': [responses[i].record.get('origin_prompt') for i in rows],
            }
            judged = judge_replica(partial(self._make_judge, replica), columns, len(rows))
            verdicts.update(zip(rows, judged, strict=True))
        return [verdicts[i] for i in present]

    def _make_judge(self, replica: int, row: int | None = None) -> BaseEvaluator:
        evaluator = ICL_EVALUATORS.build(copy.deepcopy(self.judge))
        evaluator._dataset_replica_idx = replica
        if hasattr(self, '_out_dir'):
            folder = f'replica_{replica}' if row is None else f'replica_{replica}_row_{row}'
            evaluator._out_dir = str(Path(self._out_dir) / folder)
        return evaluator

    def _judge_name(self) -> str:
        if isinstance(self.judge, str):
            return self.judge
        kind = self.judge['type']
        return kind.rsplit('.', 1)[-1] if isinstance(kind, str) else kind.__name__

    def _abbr(self) -> str:
        return Path(self._out_dir).name if hasattr(self, '_out_dir') else 'data set'

    def _problems(
        self, test_set: Dataset, identities: list[Identity], references: list[str]
    ) -> list[Problem]:
        names = [
            name
            for name in dict.fromkeys(name for group in self.groups for name in group)
            if name in test_set.column_names
        ]
        problems: dict[str, Problem] = {}
        for (problem_id, _), gold, row in zip(identities, references, test_set, strict=True):
            if problem_id not in problems:
                problems[problem_id] = Problem(
                    problem_id=problem_id,
                    question=str(row.get('question') or row.get('problem') or ''),
                    gold=gold,
                    groups={name: str(row[name]) for name in names if row[name] not in (None, '')},
                    cluster=str(row.get('cluster') or ''),
                )
        return list(problems.values())


def _constant(test_set: Dataset, column: str, default: str) -> str:
    values = set(test_set[column]) if column in test_set.column_names else set()
    return str(values.pop()) if len(values) == 1 else default


def _prompt_hash(test_set: Dataset) -> str:
    for column in ('prompt', 'question', 'problem'):
        if column in test_set.column_names:
            return text_hash(list(dict.fromkeys(map(str, test_set[column]))))
    return 'unknown'
