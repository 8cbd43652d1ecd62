"""OpenCompass's evaluator interface: predictions in, trial table and result JSON out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from datasets import Dataset
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.registry import ICL_EVALUATORS
from opencompass.utils import get_logger

from opencompass_gpassk.alignment import (
    align,
    prediction_folder,
    read_handed_over,
    retry_note,
    run_folder,
)
from opencompass_gpassk.datasets.identity import identify
from opencompass_gpassk.judging.configs import check_gpus
from opencompass_gpassk.judging.evaluators.replicas import ReplicaJudge, with_answers
from opencompass_gpassk.judging.responses import Verdicts, judge_responses
from opencompass_gpassk.judging.rules import final_answer
from opencompass_gpassk.judging.settings import MODES, JudgeSettings
from opencompass_gpassk.judging.store import store_path
from opencompass_gpassk.postprocessing import answer_test
from opencompass_gpassk.predictions import PredictionFiles, Response, model_name
from opencompass_gpassk.results import DEFAULT_GROUPS, DEFAULT_TAUS, Protocol, figures
from opencompass_gpassk.running import running_task
from opencompass_gpassk.scoring import make_result, make_table, store
from opencompass_gpassk.testsets import (
    constant,
    has_our_columns,
    problems_of,
    prompt_hash,
    version_of,
    with_prompts,
)
from opencompass_gpassk.trials import Problem, TrialTable

__all__ = ['GPassKEvaluator']

AGAIN = 'resume with opencompass CONFIG -r'


@ICL_EVALUATORS.register_module()
class GPassKEvaluator(BaseEvaluator):
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
            :data:`opencompass_gpassk.results.DEFAULT_GROUPS` that the data set has.
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
    ) -> None:
        super().__init__(pred_postprocessor)
        if not (judge in MODES or isinstance(judge, dict)):
            raise ValueError(
                f'judge is {judge!r}; use {", ".join(map(repr, MODES))}, settings such as '
                "dict(model='…', api_base='…'), or the config of an OpenCompass evaluator such as "
                'dict(type=MATHVerifyEvaluator)'
            )
        if not 0 <= min_coverage <= 1:
            raise ValueError(f'min_coverage is {min_coverage}; it is a share from 0 to 1')
        of_opencompass = isinstance(judge, dict) and 'type' in judge
        self.judge_config = judge if isinstance(judge, dict) and of_opencompass else None
        self.judge_settings = JudgeSettings.of('rule' if of_opencompass else judge)
        self.taus = tuple(float(tau) for tau in taus)
        self.groups = groups
        self.complete = complete
        self.collapsed = collapsed
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
        protocol = Protocol(n, ks, self.taus, groups, self.complete, self.collapsed)
        identities = identify(original_dataset)
        golds = score_kwargs['references'] or [None] * len(identities)
        files = self._read(score_kwargs['predictions'])
        responses = align(
            identities,
            golds,
            files,
            name=self._abbr(),
            min_coverage=self.min_coverage,
            exact_golds=has_our_columns(original_dataset),
            report=self.logger.warning,
        )
        self.logger.info(f'Judging {sum(not response.lost for response in responses)} responses')
        known = problems_of(original_dataset, identities, golds, groups)
        figures(TrialTable(known, []), protocol)  # what is wrong with it is an error before judging
        problems = with_prompts(known, responses)
        verdicts = self._judge(original_dataset, problems, golds, responses)
        table = make_table(problems, responses, verdicts.judgements, progress=True)
        result = make_result(
            table,
            protocol,
            responses,
            benchmark=self.benchmark or constant(original_dataset, 'benchmark', self._abbr()),
            data_version=version_of(original_dataset, known),
            judge=verdicts.signature,
            judging=verdicts.description,
            prompt=prompt_hash(original_dataset, self._config('dataset_cfg')),
            notes=[*verdicts.notes, *self._retry_notes(responses)],
        )
        for warning in result['warnings']:
            self.logger.warning(f'{self._abbr()}: {warning}')
        if folder := self._folder():
            store(folder.with_name(f'{folder.name}.trials.jsonl.gz'), table, result)
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

    def _judge(
        self,
        test_set: Dataset,
        problems: Sequence[Problem],
        golds: Sequence[Any],
        responses: Sequence[Response],
    ) -> Verdicts:
        """Judge the responses that are not lost."""
        if self.judge_config is not None:
            return self._judge_replicas(self.judge_config, test_set, golds, responses)
        for gold in golds:
            _require_text(gold)
        folder = self._folder()
        return judge_responses(
            problems,
            responses,
            self.judge_settings,
            store_path(run_folder(folder) if folder else None),
            min_coverage=self.min_coverage,
            again=getattr(running_task(), 'again', AGAIN),
            after='gpassk rescore RUN',
            report=self.logger.info,
        )

    def _judge_replicas(
        self,
        config: dict[str, Any],
        test_set: Dataset,
        golds: Sequence[Any],
        responses: Sequence[Response],
    ) -> Verdicts:
        check_gpus(config)
        judge = ReplicaJudge(config, self._folder(), self.logger)
        judged = judge.judge(test_set, golds, responses)
        answers = [
            final_answer(one.text, processed=one.is_answer) for one in responses if not one.lost
        ]
        return Verdicts(
            with_answers(judged, answers), judge.signature, {'mode': 'evaluator'}, judge.notes
        )

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


def _require_text(gold: Any) -> None:
    if not isinstance(gold, (str, int, float)):
        raise ValueError(
            'judge compares with one gold answer a problem, but there is '
            f"{gold!r}; give the config of the data set's own evaluator as judge"
        )
