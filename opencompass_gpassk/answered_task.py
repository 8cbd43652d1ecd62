"""An evaluation task for the evaluators: a test set, its responses, and the folder for files."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from datasets import Dataset
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.utils import get_logger

from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.formats.stored_files import TRIALS_ENDING
from opencompass_gpassk.inference.sample_requests import check_test_range, identify
from opencompass_gpassk.judging.pipeline import Verdicts, judge_responses
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.judging.verdict_store import VerdictStore
from opencompass_gpassk.reasoneval.settings import ReasoningSettings
from opencompass_gpassk.responses import Response
from opencompass_gpassk.results.make_result import make_result, make_table, store
from opencompass_gpassk.results.metric_intervals import IntervalSettings
from opencompass_gpassk.results.protocol import DEFAULT_GROUPS, Protocol
from opencompass_gpassk.results.read import read_result
from opencompass_gpassk.results.result import Evaluation, Result
from opencompass_gpassk.runs import postprocessors
from opencompass_gpassk.runs.config import N_OF_NAME, config_hash
from opencompass_gpassk.runs.predictions import (
    PredictionFiles,
    align,
    model_name,
    prediction_folder,
    read_predictions,
    retry_note,
    run_folder,
)
from opencompass_gpassk.runs.running_task import running_task
from opencompass_gpassk.trials import Problem

if TYPE_CHECKING:
    from opencompass_gpassk.reasoneval.score_responses import ResponseScores

TEMPLATES = ('prompt_template', 'ice_template')  # fields of infer_cfg


def has_our_columns(test_set: Any) -> bool:
    """Tell whether a test set has columns for version and prompts, as our data sets have."""
    return {'problem_id', 'data_version', 'prompt'} <= set(test_set.column_names)


def problems_of(
    test_set: Any,
    identities: Sequence[tuple[str, int]],
    golds: Sequence[Any],
    groups: Sequence[Sequence[str]],
    cluster: str = 'cluster',
) -> list[Problem]:
    """Return each problem of a test set once, with the columns named in ``groups``.

    Versions of one question share a value of the column ``cluster``, if there is one.
    """
    ours = has_our_columns(test_set)  # in other data sets `version` may mean anything
    fields = [name for group in groups for name in group if name in test_set.column_names]
    problems: dict[str, Problem] = {}
    for (problem_id, _), gold, row in zip(identities, golds, test_set, strict=True):
        if problem_id not in problems:
            problems[problem_id] = Problem(
                problem_id=problem_id,
                question=str(row.get('question') or row.get('problem') or ''),
                gold='' if gold is None else str(gold),
                groups={name: str(row[name]) for name in fields if row[name] not in (None, '')},
                cluster=str(row.get(cluster) or ''),
                version=str(row.get('version') or '') if ours else '',
                language=str(row.get('language') or ''),
            )
    return list(problems.values())


def with_prompts(problems: Sequence[Problem], responses: Sequence[Response]) -> list[Problem]:
    """Return the problems; those without a question get the prompt that was answered."""
    lacking = {problem.problem_id for problem in problems if not problem.question}
    prompts: dict[str, str] = {}
    for one in responses if lacking else ():
        if one.identity and one.identity[0] in lacking:
            prompts.setdefault(one.identity[0], one.prompt)
    return [
        problem
        if problem.question
        else dataclasses.replace(problem, question=prompts.get(problem.problem_id, ''))
        for problem in problems
    ]


def constant(test_set: Any, column: str, default: str) -> str:
    """Return the value that all rows of a test set share, or else the default."""
    values = set(test_set[column]) if column in test_set.column_names else set()
    return str(values.pop()) if len(values) == 1 else default


def version_of(test_set: Any, problems: Sequence[Problem]) -> str:
    """Return a test set's own version, or a hash of its questions and gold answers."""
    content = text_hash([text for problem in problems for text in (problem.question, problem.gold)])
    return constant(test_set, 'data_version', content)


def prompt_hash(test_set: Any, config: Mapping[str, Any]) -> str:
    """Return a hash of the prompts that depends neither on the model nor on missing responses.

    Our own data sets have a column of prompts. For others it hashes the data set's prompt template
    and the columns that fill it, before a model's template is applied.

    Args:
        test_set: The rows.
        config: The data set's config.
    """
    if has_our_columns(test_set):
        return text_hash(list(dict.fromkeys(test_set['prompt'])))
    asked = config.get('reader_cfg', {}).get('input_columns') or ['question', 'problem']
    columns = [asked] if isinstance(asked, str) else asked
    rows = zip(*(test_set[name] for name in columns if name in test_set.column_names), strict=True)
    distinct = list(dict.fromkeys(json.dumps(row, default=str) for row in rows))
    if not distinct:
        return 'unknown'
    infer_cfg = config.get('infer_cfg', {})
    templates = {name: infer_cfg[name] for name in TEMPLATES if name in infer_cfg}
    return text_hash([config_hash(templates), *distinct])


AGAIN = 'resume with opencompass CONFIG -r'
CLUSTER = 'cluster'
Groups = Sequence[str | Sequence[str]]


@dataclass(frozen=True)
class TaskSettings:
    """Settings for reading a task.

    Args:
        groups: Breakdowns, each a column of the data set or several; None for the default ones.
        min_coverage: Share of the expected responses that must be there, in [0, 1].
        benchmark: The benchmark's name, by which results are joined; None for the data set's own.
        cluster: Column of the data set; rows that share a value are versions of one question.

    Raises:
        ValueError: If ``min_coverage`` is outside [0, 1].
    """

    groups: Groups | None = None
    min_coverage: float = 1.0
    benchmark: str | None = None
    cluster: str = CLUSTER

    def __post_init__(self) -> None:
        if not 0 <= self.min_coverage <= 1:
            raise ValueError(f'min_coverage is {self.min_coverage}; give a share from 0 to 1')


@dataclass(frozen=True)
class AnsweredTask:
    """The responses of one model to the problems of a data set.

    Attributes:
        name: The data set's abbr.
        folder: The evaluation's folder for files; None if OpenCompass named none.
        problems: Each problem once; if it has no question, the prompt is its question.
        golds: The gold answer of each response; None if there is none.
        responses: R responses; some may be lost.
        evaluation: How the responses were read: ``min_coverage``, the share of the expected ones
            that must be there, in [0, 1]; ``postprocessors`` by name.
        about: Arguments of make_result: benchmark, data version and hash of the prompts.
        again: How a user runs the task again, for messages.
    """

    name: str
    folder: Path | None
    problems: list[Problem]
    golds: list[Any]
    responses: list[Response]
    evaluation: Evaluation
    about: dict[str, Any]
    again: str = AGAIN

    @property
    def run(self) -> Path | None:
        """The run's folder, None if OpenCompass named no folder for files."""
        return run_folder(self.folder) if self.folder else None

    @property
    def notes(self) -> list[str]:
        """A note on how to draw lost responses again, if there are any."""
        if self.folder is None:
            return []
        model = model_name(prediction_folder(self.folder))
        note = retry_note(self.responses, model, self.name)
        return [note] if note else []

    def judge(self, settings: JudgeSettings) -> Verdicts:
        """Judge the responses that are not lost."""
        for gold in self.golds:
            if not isinstance(gold, (str, int, float)):
                raise ValueError(
                    f'judge compares with one gold answer per problem, but the gold answer is '
                    f"{gold!r}; give the config of the data set's own evaluator as judge"
                )
        return judge_responses(
            self.problems,
            self.responses,
            settings,
            VerdictStore.default_path(self.run),
            min_coverage=self.evaluation.min_coverage,
            again=self.again,
            after='gpassk rescore RUN',
            report=get_logger().info,
        )

    def score_reasoning(self, settings: ReasoningSettings) -> ResponseScores:
        """Score the steps of the responses."""
        from opencompass_gpassk.reasoneval.score_responses import score_responses
        from opencompass_gpassk.reasoneval.score_store import ScoreStore

        return score_responses(
            self.problems,
            self.responses,
            settings,
            ScoreStore.default_path(self.run),
            min_coverage=self.evaluation.min_coverage,
            again=self.again,
            report=get_logger().info,
        )

    def result(
        self,
        protocol: Protocol,
        verdicts: Verdicts,
        reasoning: ResponseScores | None,
        intervals: IntervalSettings | None,
    ) -> Result:
        """Return the result, after writing its trials and steps beside it and logging its warnings.

        Args:
            protocol: The protocol of the measurement.
            verdicts: The verdicts on the responses.
            reasoning: The scores of their reasoning, if it was scored.
            intervals: Settings of the confidence intervals; None for no intervals.
        """
        table = make_table(
            self.problems,
            self.responses,
            verdicts.judgements,
            reasoning.scored if reasoning else None,
            progress=True,
        )
        result = make_result(
            table,
            protocol,
            self.responses,
            **self.about,
            judge=verdicts.signature,
            judging=verdicts.description,
            audit=verdicts.audit,
            scorer=reasoning.signature if reasoning else '',
            reasoning=reasoning.describe() if reasoning else None,
            intervals=intervals,
            notes=[*verdicts.notes, *self.notes, *(reasoning.notes if reasoning else ())],
        ).but(evaluation=self.evaluation)
        for warning in result.warnings:
            get_logger().warning(f'{self.name}: {warning}')
        if self.folder:
            if looks := earlier_looks(self.folder, result.n):
                result = result.but(looks=looks)
            trials = self.folder.with_name(f'{self.folder.name}{TRIALS_ENDING}')
            result = store(trials, table, result)
            steps = self.folder.with_name(f'{self.folder.name}.steps.jsonl.gz')
            if reasoning:
                from opencompass_gpassk.reasoneval.score_responses import write_steps

                write_steps(steps, table.trials, reasoning)
                result = result.but(steps_file=steps.name)
            else:
                steps.unlink(missing_ok=True)  # left from an earlier result
        return result


def read_task(
    evaluator: BaseEvaluator, settings: TaskSettings, rows: Dataset, score_kwargs: Mapping[str, Any]
) -> tuple[AnsweredTask, tuple[tuple[str, ...], ...]]:
    """Return an evaluator's task, with responses matched to the rows, and its groups.

    Args:
        evaluator: The evaluator; it holds the task's folder and the postprocessor.
        settings: The settings for reading the task.
        rows: The test set, each problem repeated n times.
        score_kwargs: ``references``, one per row, and ``predictions``, if there are no files.

    Raises:
        IncompletePredictionsError: If fewer responses are there than ``min_coverage`` demands.
        ValueError: If settings, test set and predictions don't match; it names the mismatch.
    """
    folder = Path(evaluator._out_dir) if hasattr(evaluator, '_out_dir') else None
    name = folder.name if folder else 'data set'
    columns = rows.column_names
    groups = _groups(settings.groups, columns, name)
    # The default column of clusters may be missing; one that the user names must be there.
    if settings.cluster not in (CLUSTER, *columns):
        raise ValueError(
            f'cluster is {settings.cluster!r}; the columns of {name} are {", ".join(columns)}'
        )
    check_test_range(_config('dataset_cfg'))
    identities = identify(rows)
    applied = postprocessors.configured(
        _config('model_cfg'), _config('eval_cfg'), evaluator.pred_postprocessor
    )
    golds = score_kwargs['references'] or [None] * len(identities)
    responses = align(
        identities,
        golds,
        _predictions(evaluator, applied, folder, score_kwargs['predictions']),
        name=name,
        min_coverage=settings.min_coverage,
        exact_golds=has_our_columns(rows),
        report=get_logger().warning,
    )
    problems = problems_of(rows, identities, golds, groups, cluster=settings.cluster)
    task = AnsweredTask(
        name=name,
        folder=folder,
        problems=with_prompts(problems, responses),
        golds=list(golds),
        responses=responses,
        evaluation=Evaluation(
            min_coverage=settings.min_coverage,
            postprocessors=postprocessors.recorded(applied),
        ),
        about={
            'benchmark': settings.benchmark or constant(rows, 'benchmark', name),
            'data_version': version_of(rows, problems),
            'prompt': prompt_hash(rows, _config('dataset_cfg')),
        },
    )
    return task, groups


def _groups(given: Groups | None, columns: Sequence[str], name: str) -> tuple[tuple[str, ...], ...]:
    if given is None:
        return DEFAULT_GROUPS
    groups = tuple((one,) if isinstance(one, str) else tuple(one) for one in given)
    if unknown := {column for group in groups for column in group}.difference(columns):
        raise ValueError(
            f'groups names {", ".join(sorted(unknown))}; the columns of {name} are '
            f'{", ".join(columns)}'
        )
    return groups


def _predictions(
    evaluator: BaseEvaluator,
    applied: postprocessors.Postprocessors,
    folder: Path | None,
    handed_over: Sequence[str],
) -> PredictionFiles:
    """Return the responses as OpenCompass would postprocess them; in a task, of its files.

    They are read as a stream. What OpenCompass hands over counts only where no files are known.
    """
    is_answer = postprocessors.answer_test(applied)
    # Applies pred_role and the postprocessors of model and data set.
    of_task = getattr(running_task(), '_process_predictions', list)

    def process(texts: list[str]) -> Iterator[tuple[Any, bool]]:
        values = evaluator.pred_postprocess(of_task(texts) if folder else texts)
        for raw, value in zip(texts, values, strict=True):
            yield value, is_answer(raw, '' if value is None else str(value))

    if folder:
        return read_predictions(prediction_folder(folder), folder.name, process=process)
    rows = [
        Response(text, f'#{index}', is_answer=answer)
        for index, (text, answer) in enumerate(process(list(handed_over)))
    ]
    return PredictionFiles(rows, [], [])


def earlier_looks(folder: Path, n: int) -> list[int]:
    """Return with which smaller n the run has, or had, a result of the same data set, ascending.

    Args:
        folder: The folder of the result; the others are beside it, under names of another n.
        n: Samples of each problem of the result.
    """
    name = re.compile(re.escape(N_OF_NAME.sub('', folder.name)) + r'([-_]n\d+)?\.json')
    found: set[int] = set()
    for path in folder.parent.iterdir() if folder.parent.is_dir() else ():
        if name.fullmatch(path.name):
            with suppress(OSError, ValueError):  # not a result that can be read
                if isinstance(result := read_result(path), Result):
                    found |= {result.n, *result.looks}
    return sorted(look for look in found if look < n)


def _config(name: str) -> Mapping[str, Any]:
    """Return a config of the running task, which OpenCompass doesn't pass to evaluators."""
    return getattr(running_task(), name, None) or {}
