"""What this package's evaluators share: the responses to a test set, and what it says of itself."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from datasets import Dataset
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.utils import get_logger

from opencompass_gpassk.inference.requests import identify
from opencompass_gpassk.reasoneval.settings import ReasoningSettings
from opencompass_gpassk.results.figure_intervals import IntervalSettings
from opencompass_gpassk.results.make_result import (
    store,
)
from opencompass_gpassk.results.protocol import DEFAULT_GROUPS
from opencompass_gpassk.results.testset import (
    constant,
    has_our_columns,
    problems_of,
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
from opencompass_gpassk.trials import Problem, TrialTable

if TYPE_CHECKING:
    from opencompass_gpassk.reasoneval.score_responses import ResponseScores

__all__ = ['AGAIN', 'CLUSTER', 'AnsweredSet', 'ResponseEvaluator']

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
            settings of :class:`~opencompass_gpassk.results.figure_intervals.IntervalSettings`.
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
