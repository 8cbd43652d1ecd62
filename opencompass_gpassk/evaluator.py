"""OpenCompass's evaluator interface: reads predictions, writes trial table and result JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from datasets import Dataset
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.registry import ICL_EVALUATORS
from opencompass.utils import get_logger

from opencompass_gpassk.answered_task import CLUSTER, TaskSettings, read_task
from opencompass_gpassk.judging.evaluators import judge_by_replica
from opencompass_gpassk.judging.pipeline import Verdicts
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.metrics.understanding import understanding_limits
from opencompass_gpassk.reasoneval.scorers import forget_scorer
from opencompass_gpassk.reasoneval.settings import ReasoningSettings
from opencompass_gpassk.results.groups import find_groups
from opencompass_gpassk.results.metric_intervals import IntervalSettings
from opencompass_gpassk.results.protocol import DEFAULT_TAUS, NOBODY, Protocol
from opencompass_gpassk.runs.task_progress import progress_file
from opencompass_gpassk.trials import Verdict

__all__ = ['GPassKEvaluator', 'ReasonEvalEvaluator']


@ICL_EVALUATORS.register_module()
class GPassKEvaluator(BaseEvaluator):
    """G-Pass@k of a data set with repeated problems (arXiv 2412.13147).

    ``n`` and ``k`` are set in the data set's config, where OpenCompass checks them before
    inference.

    Args:
        judge: ``'rule'`` compares final answers with the gold answer by rules; ``'llm'`` asks the
            judge in the environment variables OC_JUDGE_*; ``'cascade'`` asks it about answers that
            the rules don't confirm. A dictionary of
            :class:`~opencompass_gpassk.judging.settings.JudgeSettings` sets more. A dictionary with
            a ``type`` is the config of another OpenCompass evaluator, which scores each replica.
        taus: The thresholds τ of G-Pass@k.
        groups: Breakdowns, each a column of the data set or a list of columns; by default those of
            :data:`opencompass_gpassk.results.protocol.DEFAULT_GROUPS` that the data set has.
        complete: For questions in versions (RV-Bench): least share of right versions for complete
            understanding, and for CR.
        collapsed: Greatest share of right versions for collapsed understanding, and for OOR.
        min_coverage: Least share, in [0, 1], of the expected responses that have a record in the
            prediction files. It is also the least share of these for which judging did not fail
            because the judge could not be reached or was overloaded. Below it the evaluation ends
            with an error, since ``-r`` would never replace a result. Recorded losses and refusals
            of the judge are no such failures: the result's ``coverage`` is the share of judged
            responses, and a warning says how to try the others again.
        benchmark: The benchmark's name, by which results are joined; by default the data set's own.
        pred_postprocessor: As in any OpenCompass evaluator.
        reasoning: The scorer of the responses' steps, which adds validity, redundancy and the
            metrics of sound reasoning: a model such as ``'GAIR/ReasonEval-7B'``, or settings of
            :class:`~opencompass_gpassk.reasoneval.settings.ReasoningSettings`. Set its GPUs with
            ``eval_cfg=dict(num_gpus=…)``.
        intervals: Confidence intervals of the metrics, for a population of problems like these:
            ``'bca'``, ``'percentile'``, settings of
            :class:`~opencompass_gpassk.results.metric_intervals.IntervalSettings`, or None for no
            intervals.
        cluster: Column of the data set; rows that share a value are versions of one question, such
            as translations, and are not independent of one another.

    Raises:
        ValueError: If a setting is out of its range.
    """

    def __init__(
        self,
        judge: str | dict[str, Any] = 'rule',
        taus: Sequence[float] = DEFAULT_TAUS,
        groups: Sequence[str | Sequence[str]] | None = None,
        complete: float = 0.8,
        collapsed: float = 0.2,
        min_coverage: float = 1.0,
        benchmark: str | None = None,
        pred_postprocessor: dict[str, Any] | None = None,
        reasoning: str | Mapping[str, Any] | None = None,
        intervals: str | Mapping[str, Any] | None = 'bca',
        cluster: str = CLUSTER,
    ) -> None:
        super().__init__(pred_postprocessor)
        self.task_settings = TaskSettings(groups, min_coverage, benchmark, cluster)
        self.reasoning = None if reasoning is None else ReasoningSettings.of(reasoning)
        self.intervals = None if intervals is None else IntervalSettings.of(intervals)
        of_opencompass = isinstance(judge, dict) and 'type' in judge
        self.judge_config = judge if isinstance(judge, dict) and of_opencompass else None
        self.judge_settings = JudgeSettings.of('rule' if of_opencompass else judge)
        sound = self.reasoning.sound_threshold if self.reasoning else None
        taus = tuple(float(tau) for tau in taus)
        # n, k and the groups are known when a task is read.
        self.protocol = Protocol(1, taus=taus, complete=complete, collapsed=collapsed, sound=sound)

    def score(
        self,
        predictions: list[str],
        references: list[str],
        test_set: Dataset,
        origin_prompt: list[Any] | None = None,
    ) -> dict[str, Any]:
        """Score one response per problem: :meth:`evaluate` with n = 1.

        OpenCompass reads from this signature which arguments to pass to :meth:`evaluate`.
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
            **score_kwargs: The arguments of :meth:`score`, one entry per row.

        Returns:
            The result for the result JSON. Undefined metrics are NaN, not missing, since
            OpenCompass's summarizer reads the same keys for all models.

        Raises:
            IncompletePredictionsError: If fewer responses are there than ``min_coverage`` demands.
            JudgeError: If the judge fails, or judges nothing.
            ValueError: If settings, test set and predictions don't match; it names the mismatch.
        """
        task, groups = read_task(self, self.task_settings, original_dataset, score_kwargs)
        ks = (k,) if isinstance(k, int) else tuple(k)
        protocol = replace(self.protocol, n=n, k=ks, groups=groups)
        if versions := find_groups(task.problems):
            understanding_limits(versions.size, protocol.complete, protocol.collapsed)
        with progress_file(task.folder, 'evaluation'):
            # Scores first, since they are stored; verdicts of OpenCompass's evaluators are not.
            reasoning = task.score_reasoning(self.reasoning) if self.reasoning else None
            present = sum(not response.lost for response in task.responses)
            get_logger().info(f'Judging {present} responses')
            if self.judge_config is None:
                verdicts = task.judge(self.judge_settings)
            else:
                forget_scorer()  # the judge may need its memory
                verdicts = judge_by_replica(
                    self.judge_config, original_dataset, task.golds, task.responses, task.folder
                )
            return task.result(protocol, verdicts, reasoning, self.intervals).as_json()


@ICL_EVALUATORS.register_module()
class ReasonEvalEvaluator(BaseEvaluator):
    """Validity and redundancy of the reasoning steps of responses (arXiv 2404.05692).

    It is for data sets whose answers are judged by another evaluator or not at all. If answers are
    judged, use ``GPassKEvaluator(reasoning=…)``, which also measures how often right answers have
    invalid reasoning.

    Args:
        reasoning: The scorer: a model such as ``'GAIR/ReasonEval-7B'``, or settings of
            :class:`~opencompass_gpassk.reasoneval.settings.ReasoningSettings`. Set its GPUs with
            ``eval_cfg=dict(num_gpus=…)``.
        groups: As in :class:`GPassKEvaluator`.
        min_coverage: As in :class:`GPassKEvaluator`.
        benchmark: As in :class:`GPassKEvaluator`.
        pred_postprocessor: As in any OpenCompass evaluator; steps are taken from the response
            before postprocessing.
        intervals: As in :class:`GPassKEvaluator`.
        cluster: As in :class:`GPassKEvaluator`.

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
        super().__init__(pred_postprocessor)
        self.task_settings = TaskSettings(groups, min_coverage, benchmark, cluster)
        self.reasoning = ReasoningSettings.of(reasoning)
        self.intervals = None if intervals is None else IntervalSettings.of(intervals)

    score = GPassKEvaluator.score

    def evaluate(
        self, k: int | list[int], n: int, original_dataset: Dataset, **score_kwargs: Any
    ) -> dict[str, Any]:
        """Score the reasoning of all replicas, like :meth:`GPassKEvaluator.evaluate`, but unjudged.

        ``k`` has no effect.
        """
        task, groups = read_task(self, self.task_settings, original_dataset, score_kwargs)
        with progress_file(task.folder, 'evaluation'):
            reasoning = task.score_reasoning(self.reasoning)
            unjudged = Judgement(Verdict.UNJUDGED, None, 'answers are not judged', NOBODY)
            verdicts = Verdicts([unjudged] * len(reasoning.scored), NOBODY)
            protocol = Protocol(n, groups=groups, judged=False)
            return task.result(protocol, verdicts, reasoning, self.intervals).as_json()
