"""OpenCompass's evaluator interface: predictions in, trial table and result JSON out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from datasets import Dataset
from opencompass.registry import ICL_EVALUATORS

from opencompass_gpassk.judging.evaluators import ReplicaJudge, with_answers
from opencompass_gpassk.judging.pipeline import Verdicts, judge_responses
from opencompass_gpassk.judging.rules import final_answer
from opencompass_gpassk.judging.settings import MODES, JudgeSettings, check_gpus
from opencompass_gpassk.judging.store import store_path
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.reasoneval.scorers import forget_scorer
from opencompass_gpassk.response_evaluator import AGAIN, CLUSTER, AnsweredSet, ResponseEvaluator
from opencompass_gpassk.results.figures import NOBODY, figures
from opencompass_gpassk.results.make_result import (
    make_reasoning_result,
    make_result,
    make_table,
)
from opencompass_gpassk.results.protocol import DEFAULT_TAUS, Protocol
from opencompass_gpassk.results.testset import (
    prompt_hash,
    version_of,
    with_prompts,
)
from opencompass_gpassk.runs.predictions import (
    run_folder,
)
from opencompass_gpassk.runs.running_task import running_task
from opencompass_gpassk.trials import Problem, TrialTable, Verdict

__all__ = ['GPassKEvaluator', 'ReasonEvalEvaluator']


@ICL_EVALUATORS.register_module()
class GPassKEvaluator(ResponseEvaluator):
    """G-Pass@k of a data set with repeated problems (arXiv 2412.13147).

    ``n`` and ``k`` stand in the data set's config, where OpenCompass checks them before inference.

    Args:
        judge: ``'rule'`` compares final answers with the gold answer; ``'llm'`` asks the judge
            that the environment variables OC_JUDGE_* name, ``'cascade'`` asks it about what the
            rules don't confirm. A dictionary of
            :class:`~opencompass_gpassk.judging.settings.JudgeSettings` sets more; one with a
            ``type``, the config of any other OpenCompass evaluator, lets that one score each
            replica.
        taus: The thresholds τ of G-Pass@k.
        groups: Breakdowns, each a column of the data set or a list of columns; by default those of
            :data:`opencompass_gpassk.results.protocol.DEFAULT_GROUPS` that the data set has.
        complete: Of questions in versions (RV-Bench): the share of the versions that must be right
            for complete understanding, and for CR.
        collapsed: The share at which understanding has collapsed, and which OOR counts.
        min_coverage: Share of the expected responses, in [0, 1], that the prediction files must
            have a record of, and of these the share that must not lack a verdict because the
            judge could not be reached or was overloaded. Below it the inference or the judging
            hasn't ended, and the evaluation ends with an error instead of a result that ``-r``
            would never replace. A record that says that its response was lost counts as there, and
            so does a response that the judge refused: a result is made, its ``coverage`` tells the
            share of the responses that were judged, and a warning says how to try the others again.
        benchmark: Name that results are joined by; the data set's own by default.
        pred_postprocessor: As in any OpenCompass evaluator.
        reasoning: Who scores the steps of the responses, which adds validity, redundancy and the
            figures of sound reasoning: a model such as ``'GAIR/ReasonEval-7B'``, or settings of
            :class:`~opencompass_gpassk.reasoneval.settings.ReasoningSettings`. GPUs for it come
            from ``eval_cfg=dict(num_gpus=…)``.
        intervals: How the confidence interval of each figure is made, None for none: ``'bca'``,
            ``'percentile'`` or settings of
            :class:`~opencompass_gpassk.results.figure_intervals.IntervalSettings`. They are for a
            population of problems like these.
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
        super().__init__(
            reasoning, groups, min_coverage, benchmark, intervals, cluster, pred_postprocessor
        )
        if not (judge in MODES or isinstance(judge, dict)):
            raise ValueError(
                f'judge is {judge!r}; use {", ".join(map(repr, MODES))}, settings such as '
                "dict(model='…', api_base='…'), or the config of an OpenCompass evaluator such as "
                'dict(type=MATHVerifyEvaluator)'
            )
        of_opencompass = isinstance(judge, dict) and 'type' in judge
        self.judge_config = judge if isinstance(judge, dict) and of_opencompass else None
        self.judge_settings = JudgeSettings.of('rule' if of_opencompass else judge)
        self.taus = tuple(float(tau) for tau in taus)
        self.complete = complete
        self.collapsed = collapsed

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
        answered = self._answered(original_dataset, score_kwargs)
        ks = (k,) if isinstance(k, int) else tuple(k)
        sound = self.reasoning.threshold if self.reasoning else None
        protocol = Protocol(n, ks, self.taus, answered.groups, self.complete, self.collapsed, sound)
        known, responses = answered.problems, answered.responses
        figures(TrialTable(known, []), protocol)  # what is wrong with it is an error before judging
        problems = with_prompts(known, responses)
        # Scores first: they are kept, which the verdicts of OpenCompass's evaluators are not.
        reasoning = self._score_reasoning(problems, responses)
        if reasoning and self._judges_here():
            forget_scorer()  # whose memory the judge may need
        verdicts = self._judge(problems, answered)
        table = make_table(
            problems,
            responses,
            verdicts.judgements,
            reasoning.scored if reasoning else None,
            progress=True,
        )
        result = make_result(
            table,
            protocol,
            responses,
            benchmark=self._benchmark(original_dataset),
            data_version=version_of(original_dataset, known),
            judge=verdicts.signature,
            judging=verdicts.description,
            prompt=prompt_hash(original_dataset, self._config('dataset_cfg')),
            reasoning=reasoning,
            intervals=self.intervals,
            notes=[*verdicts.notes, *self._retry_notes(responses)],
        )
        return self._stored(table, result, reasoning)

    def _judges_here(self) -> bool:
        """Tell whether judging loads a model into this process."""
        return self.judge_config is not None or isinstance(self.judge_settings.model, Mapping)

    def _judge(self, problems: Sequence[Problem], answered: AnsweredSet) -> Verdicts:
        """Judge the responses that are not lost."""
        present = sum(not response.lost for response in answered.responses)
        self.logger.info(f'Judging {present} responses')
        if self.judge_config is not None:
            return self._judge_replicas(self.judge_config, answered)
        for gold in answered.golds:
            _require_text(gold)
        folder = self._folder()
        return judge_responses(
            problems,
            answered.responses,
            self.judge_settings,
            store_path(run_folder(folder) if folder else None),
            min_coverage=self.min_coverage,
            again=getattr(running_task(), 'again', AGAIN),
            after='gpassk rescore RUN',
            report=self.logger.info,
        )

    def _judge_replicas(self, config: dict[str, Any], answered: AnsweredSet) -> Verdicts:
        check_gpus(config)
        judge = ReplicaJudge(config, self._folder(), self.logger)
        responses = answered.responses
        judged = judge.judge(answered.rows, answered.golds, responses)
        answers = [
            final_answer(one.text, processed=one.is_answer) for one in responses if not one.lost
        ]
        return Verdicts(
            with_answers(judged, answers), judge.signature, {'mode': 'evaluator'}, judge.notes
        )


def _require_text(gold: Any) -> None:
    if not isinstance(gold, (str, int, float)):
        raise ValueError(
            'judge compares with one gold answer a problem, but there is '
            f"{gold!r}; give the config of the data set's own evaluator as judge"
        )


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
            :data:`opencompass_gpassk.results.protocol.DEFAULT_GROUPS` that the data set has.
        min_coverage: Share of the expected responses, in [0, 1], that the prediction files must
            have a record of; below it the inference hasn't ended, and the evaluation ends with an
            error instead of a result that ``-r`` would never replace.
        benchmark: Name that results are joined by; the data set's own by default.
        pred_postprocessor: As in any OpenCompass evaluator; steps are those of the response before
            it.
        intervals: How the confidence interval of each figure is made, None for none: ``'bca'``,
            ``'percentile'`` or settings of
            :class:`~opencompass_gpassk.results.figure_intervals.IntervalSettings`. They are for a
            population of problems like these.
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
