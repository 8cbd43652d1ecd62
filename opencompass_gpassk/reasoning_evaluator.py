"""OpenCompass's evaluator interface for reasoning alone: no answer is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from datasets import Dataset
from opencompass.registry import ICL_EVALUATORS

from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.response_evaluator import CLUSTER, ResponseEvaluator
from opencompass_gpassk.results import NOBODY
from opencompass_gpassk.scoring import make_reasoning_result, make_table
from opencompass_gpassk.testsets import prompt_hash, version_of, with_prompts
from opencompass_gpassk.trials import Verdict

__all__ = ['ReasonEvalEvaluator']


@ICL_EVALUATORS.register_module()
class ReasonEvalEvaluator(ResponseEvaluator):
    """Validity and redundancy of the reasoning steps of responses (arXiv 2404.05692).

    For data sets whose answers another evaluator judges, or nobody can. Where answers are judged,
    ``GPassKEvaluator(reasoning=…)`` tells besides how often a right answer stands on wrong
    reasoning.

    Args:
        reasoning: Who scores: a model such as ``'GAIR/ReasonEval-7B'``, or settings of
            :class:`~opencompass_gpassk.reasoneval.settings.ReasoningSettings`. GPUs for it come
            from ``eval_cfg=dict(num_gpus=…)``.
        groups: Breakdowns, each a column of the data set or a list of columns; by default those of
            :data:`opencompass_gpassk.protocol.DEFAULT_GROUPS` that the data set has.
        min_coverage: Share of the expected responses, in [0, 1], that the prediction files must
            have a record of; below it the inference hasn't ended, and the evaluation ends with an
            error instead of a result that ``-r`` would never replace.
        benchmark: Name that results are joined by; the data set's own by default.
        pred_postprocessor: As in any OpenCompass evaluator; steps are those of the response before
            it.
        intervals: How the confidence interval of each figure is made, None for none: ``'bca'``,
            ``'percentile'`` or settings of
            :class:`~opencompass_gpassk.uncertainty.IntervalSettings`. They are for a population of
            problems like these.
        cluster: Column of the data set; rows that share a value are versions of one question, such
            as translations, and are not independent of one another.

    Raises:
        ValueError: If a setting is out of its range.
    """

    def __init__(
        self,
        reasoning: str | Mapping[str, Any],
        groups: Sequence[str | Sequence[str]] | None = None,
        min_coverage: float = 1.0,
        benchmark: str | None = None,
        pred_postprocessor: dict[str, Any] | None = None,
        intervals: str | Mapping[str, Any] | None = 'bca',
        cluster: str = CLUSTER,
    ) -> None:
        super().__init__(
            reasoning, groups, min_coverage, benchmark, intervals, cluster, pred_postprocessor
        )

    def evaluate(
        self, k: int | list[int], n: int, original_dataset: Dataset, **score_kwargs: Any
    ) -> dict[str, Any]:
        """Score the reasoning of all replicas.

        Args:
            k: Without effect.
            n: Samples of each problem, from the data set's config.
            original_dataset: The test set, each problem repeated n times.
            **score_kwargs: What the signature of :meth:`score` names, a row each.

        Returns:
            The result, as it is stored in the result JSON; undefined figures are NaN.

        Raises:
            IncompletePredictionsError: If fewer responses than ``min_coverage`` asks are there.
            JudgeError: If a judge as scorer can't be asked.
            ValueError: If settings, test set and predictions don't fit, naming what does not.
        """
        answered = self._answered(original_dataset, score_kwargs)
        responses = answered.responses
        problems = with_prompts(answered.problems, responses)
        reasoning = self._score_reasoning(problems, responses)
        if reasoning is None:
            raise ValueError('reasoning of ReasonEvalEvaluator is None; name who is to score')
        unjudged = Judgement(Verdict.UNJUDGED, None, 'nobody was to judge', NOBODY)
        table = make_table(
            problems, responses, [unjudged] * len(reasoning.scored), reasoning.scored
        )
        result = make_reasoning_result(
            table,
            answered.groups,
            responses,
            reasoning,
            n=n,
            benchmark=self._benchmark(original_dataset),
            data_version=version_of(original_dataset, answered.problems),
            prompt=prompt_hash(original_dataset, self._config('dataset_cfg')),
            intervals=self.intervals,
            notes=self._retry_notes(responses),
        )
        return self._stored(table, result, reasoning)
