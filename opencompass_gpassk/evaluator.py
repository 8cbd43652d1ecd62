"""OpenCompass's evaluator interface: predictions in, trial table and result JSON out."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from datasets import Dataset
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.registry import ICL_EVALUATORS
from opencompass.utils import get_logger

from opencompass_gpassk.inference.requests import identify
from opencompass_gpassk.judging.evaluators import ReplicaJudge, with_answers
from opencompass_gpassk.judging.pipeline import Verdicts, judge_responses
from opencompass_gpassk.judging.rules import final_answer
from opencompass_gpassk.judging.settings import MODES, JudgeSettings, check_gpus
from opencompass_gpassk.judging.store import store_path
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.reasoneval.scorers import forget_scorer
from opencompass_gpassk.reasoneval.settings import ReasoningSettings
from opencompass_gpassk.results.figures import NOBODY, figures
from opencompass_gpassk.results.intervals import IntervalSettings
from opencompass_gpassk.results.make_result import (
    make_reasoning_result,
    make_result,
    make_table,
    store,
)
from opencompass_gpassk.results.protocol import DEFAULT_GROUPS, DEFAULT_TAUS, Protocol
from opencompass_gpassk.results.testset import (
    constant,
    has_our_columns,
    problems_of,
    prompt_hash,
    version_of,
    with_prompts,
)
from opencompass_gpassk.runs.predictions import (
    PredictionFiles,
    Response,
    align,
    model_name,
    prediction_folder,
    read_handed_over,
    retry_note,
    run_folder,
)
from opencompass_gpassk.runs.running_task import answer_test, running_task
from opencompass_gpassk.trials import Problem, TrialTable, Verdict

if TYPE_CHECKING:
    from opencompass_gpassk.reasoneval.score_responses import ResponseScores

__all__ = [
    'AGAIN',
    'CLUSTER',
    'AnsweredSet',
    'GPassKEvaluator',
    'ReasonEvalEvaluator',
    'ResponseEvaluator',
]

AGAIN = 'resume with opencompass CONFIG -r'
CLUSTER = 'cluster'
Groups = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class AnsweredSet:
    """The rows of a test set, and the responses to them.

    Attributes:
        rows: R rows, each problem repeated n times.
        problems: Each problem once.
        golds: The gold answer of each row; None where there is none.
        responses: To each row, in their order.
        groups: What breakdowns are made by.
    """

    rows: Dataset
    problems: list[Problem]
    golds: list[Any]
    responses: list[Response]
    groups: Groups


class ResponseEvaluator(BaseEvaluator):
    """An evaluator of all responses to a test set at once.

    Args:
        reasoning: Who scores the steps of the responses, None for nobody.
        groups: Breakdowns, each a column of the data set or a list of columns; by default those of
            :data:`opencompass_gpassk.results.protocol.DEFAULT_GROUPS` that the data set has.
        min_coverage: Share of the expected responses that must be there, in [0, 1].
        benchmark: Name that results are joined by; the data set's own by default.
        intervals: How confidence intervals are made, None for none: ``bca``, ``percentile`` or
            settings of :class:`~opencompass_gpassk.results.intervals.IntervalSettings`.
        cluster: Column of the data set; rows that share a value are versions of one question.
        pred_postprocessor: As in any OpenCompass evaluator.

    Raises:
        ValueError: If a setting is out of its range.
    """

    def __init__(
        self,
        reasoning: str | Mapping[str, Any] | None,
        groups: Sequence[str | Sequence[str]] | None,
        min_coverage: float,
        benchmark: str | None,
        intervals: str | Mapping[str, Any] | None,
        cluster: str,
        pred_postprocessor: dict[str, Any] | None,
    ) -> None:
        super().__init__(pred_postprocessor)
        if not 0 <= min_coverage <= 1:
            raise ValueError(f'min_coverage is {min_coverage}; it is a share from 0 to 1')
        self.reasoning = None if reasoning is None else ReasoningSettings.of(reasoning)
        self.intervals = IntervalSettings.of(intervals)
        self.cluster = cluster
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

    @abstractmethod
    def evaluate(
        self, k: int | list[int], n: int, original_dataset: Dataset, **score_kwargs: Any
    ) -> dict[str, Any]:
        """Score all replicas at once."""

    def _answered(self, rows: Dataset, score_kwargs: Mapping[str, Any]) -> AnsweredSet:
        """Return a test set with the responses to its rows."""
        groups = self._groups(rows.column_names)
        identities = identify(rows)
        golds = score_kwargs['references'] or [None] * len(identities)
        responses = align(
            identities,
            golds,
            self._read(score_kwargs['predictions']),
            name=self._abbr(),
            min_coverage=self.min_coverage,
            exact_golds=has_our_columns(rows),
            report=self.logger.warning,
        )
        problems = problems_of(rows, identities, golds, groups, cluster=self._cluster(rows))
        return AnsweredSet(rows, problems, list(golds), responses, groups)

    def _score_reasoning(
        self, problems: Sequence[Problem], responses: Sequence[Response]
    ) -> ResponseScores | None:
        """Score the steps of the responses, if somebody is to."""
        if self.reasoning is None:
            return None
        from opencompass_gpassk.reasoneval.score_responses import score_responses
        from opencompass_gpassk.reasoneval.score_store import score_store_path

        folder = self._folder()
        return score_responses(
            problems,
            responses,
            self.reasoning,
            score_store_path(run_folder(folder) if folder else None),
            min_coverage=self.min_coverage,
            again=getattr(running_task(), 'again', AGAIN),
            report=self.logger.info,
        )

    def _groups(self, columns: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        if self.groups is None:
            return DEFAULT_GROUPS
        groups = tuple((g,) if isinstance(g, str) else tuple(g) for g in self.groups)
        if unknown := {name for group in groups for name in group}.difference(columns):
            raise ValueError(
                f'groups of {type(self).__name__} names {", ".join(sorted(unknown))}; the columns '
                f'of {self._abbr()} are {", ".join(columns)}'
            )
        return groups

    def _cluster(self, rows: Dataset) -> str:
        """Return the column that names clusters; there need not be one unless it was asked for."""
        if self.cluster != CLUSTER and self.cluster not in rows.column_names:
            raise ValueError(
                f'cluster of {type(self).__name__} is {self.cluster!r}; the columns of '
                f'{self._abbr()} are {", ".join(rows.column_names)}'
            )
        return self.cluster

    def _read(self, predictions: list[Any]) -> PredictionFiles:
        texts = self.pred_postprocess(predictions)
        is_answer = answer_test(
            self._config('eval_cfg'), self._config('model_cfg'), self.pred_postprocessor
        )
        if folder := self._folder():
            return read_handed_over(prediction_folder(folder), folder.name, texts, is_answer)
        rows = [
            Response(text, f'#{index}', is_answer=is_answer(raw, text))
            for index, (raw, text) in enumerate(zip(predictions, texts, strict=True))
        ]
        return PredictionFiles(rows, len(rows), [], [])

    def _retry_notes(self, responses: Sequence[Response]) -> list[str]:
        folder = self._folder()
        if folder is None:
            return []
        model = model_name(prediction_folder(folder))
        return [note for note in [retry_note(responses, model, self._abbr())] if note]

    def _config(self, name: str) -> Mapping[str, Any]:
        """Return a config of the task that this is part of; OpenCompass doesn't hand it over."""
        return getattr(running_task(), name, None) or {}

    def _abbr(self) -> str:
        folder = self._folder()
        return folder.name if folder else 'data set'

    def _folder(self) -> Path | None:
        """Return where the files of this evaluation go, None if OpenCompass named no place."""
        return Path(self._out_dir) if hasattr(self, '_out_dir') else None

    def _stored(
        self, table: TrialTable, result: dict[str, Any], reasoning: ResponseScores | None
    ) -> dict[str, Any]:
        """Return a result whose warnings are told and whose trials and steps have their files."""
        for warning in result['warnings']:
            self.logger.warning(f'{self._abbr()}: {warning}')
        if folder := self._folder():
            store(folder.with_name(f'{folder.name}.trials.jsonl.gz'), table, result)
            steps = folder.with_name(f'{folder.name}.steps.jsonl.gz')
            if reasoning:
                from opencompass_gpassk.reasoneval.score_responses import write_steps

                write_steps(steps, table.trials, reasoning)
                result['steps_file'] = steps.name
            else:
                steps.unlink(missing_ok=True)  # that of a result before
        return result

    def _benchmark(self, rows: Dataset) -> str:
        return self.benchmark or constant(rows, 'benchmark', self._abbr())


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
            :class:`~opencompass_gpassk.results.intervals.IntervalSettings`. They are for a
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
            :class:`~opencompass_gpassk.results.intervals.IntervalSettings`. They are for a
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
