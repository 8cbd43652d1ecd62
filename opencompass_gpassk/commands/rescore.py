"""``gpassk rescore``: make the results of a run again from its files, without inference.

The run may be someone else's. A new result follows from the predictions, the old result and its
trials; the run's config only orders the table.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from mmengine.config import ConfigDict
from opencompass.utils import get_logger

from opencompass_gpassk.answered_task import AnsweredTask
from opencompass_gpassk.commands import (
    add_command,
    add_numbers,
    add_run_argument,
    add_undecided_argument,
    note,
)
from opencompass_gpassk.formats.hashing import text_hash
from opencompass_gpassk.formats.stored_files import require_no_links, written_whole
from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.judging.pipeline import Verdicts
from opencompass_gpassk.judging.settings import MODES, JudgeSettings, read_settings, recorded_judge
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.judging.verdict_store import VerdictStore, stored_audit
from opencompass_gpassk.reasoneval.settings import ReasoningSettings, recorded_reasoning
from opencompass_gpassk.report.summarizer import GPassKSummarizer
from opencompass_gpassk.results.metric_intervals import stored_intervals
from opencompass_gpassk.results.read import ModelResult, chosen, find_results
from opencompass_gpassk.results.result import Evaluation, Reasoning, Result
from opencompass_gpassk.runs import postprocessors
from opencompass_gpassk.runs.config import evaluator_of, find_run, read_run_config, require_inside
from opencompass_gpassk.runs.predictions import align, read_predictions
from opencompass_gpassk.runs.task_progress import progress_file
from opencompass_gpassk.trials import TrialTable

DESCRIPTION = """\
Make the results of a run of OpenCompass again from its responses, after the judge, the thresholds,
the rules or a person's verdicts have changed. (OpenCompass's -r keeps all existing results.) What
you don't name stays as in the result. Stored verdicts are not asked for again. The summary is
printed and written again.

The run may be someone else's: nothing in it is executed, and it can't choose where a judge is.
Missing verdicts are asked of the judge in OC_JUDGE_MODEL and OC_JUDGE_API_BASE, or --judge FILE.
Verdicts of another evaluator of OpenCompass are kept, for other k and thresholds.
"""

ANEW = 'delete it, and make it with opencompass CONFIG -r'


def add_parser(subparsers: Any, told: str) -> None:
    """Add the command to the command line."""
    parser = add_command(subparsers, 'rescore', told, DESCRIPTION, run)
    add_run_argument(parser)
    parser.add_argument(
        '--judge',
        metavar='JUDGE',
        help='rule, llm, cascade, or a JSON file of settings (default: the judge of the existing '
        'result)',
    )
    add_undecided_argument(parser)
    add_numbers(parser, '-k', int, 'k of G-Pass@k, after RUN')
    add_numbers(parser, '--tau', float, 'thresholds')
    parser.add_argument(
        '--min-coverage',
        type=float,
        metavar='SHARE',
        help='end with an error if the judge cannot be reached and less than this share of the '
        'responses is judged (default: as in the result)',
    )
    parser.add_argument('--model', nargs='+', default=[], help='abbrs of the models to rescore')
    parser.add_argument('--dataset', nargs='+', default=[], help='abbrs of the data sets')


def run(args: argparse.Namespace) -> int:
    """Rescore, then summarize."""
    judge: Any = args.judge
    if args.undecided and judge is None:
        raise ValueError('--undecided is for verdicts by rule; give --judge rule too')
    if args.min_coverage is not None and not 0 <= args.min_coverage <= 1:
        raise ValueError(f'--min-coverage is {args.min_coverage}; give a share from 0 to 1')
    if judge is not None:
        settings = read_settings(judge, args.undecided)  # before any work
        if judge not in MODES or settings.rules != 'rule':
            judge = settings.as_dict()
    changes = Changes(judge, args.tau, args.k, args.min_coverage)
    return rescore_run(args.run_folder, changes, models=args.model, datasets=args.dataset)


@dataclass(frozen=True)
class Changes:
    """What a rescoring changes; None keeps what the existing result says.

    Attributes:
        judge: A mode, or settings of a judge.
        taus: The thresholds.
        k: The k.
        min_coverage: As in :class:`~opencompass_gpassk.evaluator.GPassKEvaluator`.
        reasoning: The settings of the scorer of steps. Without a threshold here, the result's is
            kept if it is of this scorer.
    """

    judge: str | Mapping[str, Any] | None = None
    taus: Sequence[float] | None = None
    k: Sequence[int] | None = None
    min_coverage: float | None = None
    reasoning: Mapping[str, Any] | None = None

    @property
    def of_verdicts(self) -> list[str]:
        """The names of those changes that are about verdicts or metrics of verdicts."""
        given = {'judge': self.judge, 'k': self.k, 'taus': self.taus}
        return [name for name, value in given.items() if value is not None]

    def judge_of(self, result: Result) -> Mapping[str, Any] | str | None:
        """Return the judge to use; None keeps the verdicts, if an evaluator of OpenCompass gave
        them."""
        known, signature = result.judging.settings, result.signature.judge
        if self.judge is None:
            if result.judging.mode not in MODES:
                return None
            return recorded_judge({'mode': result.judging.mode, **known}, signature)
        if not isinstance(self.judge, str) or self.judge == 'rule':
            return self.judge
        model = os.environ.get('OC_JUDGE_MODEL')
        other = known.get('mode') == 'rule' or (model and model != known.get('model'))
        return {**({} if other else recorded_judge(known, signature)), 'mode': self.judge}

    def reasoning_of(self, before: Reasoning) -> ReasoningSettings | None:
        """Return the scorer of steps to use, given a result's ``reasoning``."""
        if self.reasoning is None and not before.scorer:
            return None
        given = self.reasoning or recorded_reasoning(before.settings)
        settings, threshold = ReasoningSettings.of(given), before.threshold
        same = before.scorer == settings.scorer and threshold != settings.sound_threshold
        return (
            replace(settings, threshold=threshold)
            if same and 'threshold' not in given
            else settings
        )


def rescore_run(
    path: Path, changes: Changes, *, models: Collection[str] = (), datasets: Collection[str] = ()
) -> int:
    """Rescore a run or the newest in a work dir, then summarize it.

    A new result replaces the old one. If it can't be made, the old one stays.

    Returns:
        The command's exit code: 1 if a result could not be made.

    Raises:
        ValueError: If there is no run, or it has no result of these models and data sets.
    """
    run = find_run(path).absolute()
    sources = find_results([run])
    every = [*sources.results, *sources.alone]
    if not every:
        raise ValueError(
            f'{run}: it has no result of this package; opencompass CONFIG -r makes results, and '
            'gpassk score RUN scores the responses to other data sets'
        )
    made = failed = 0
    for one in chosen(every, models, datasets):
        name = f'{one.model}/{one.dataset}'
        try:
            after = _rescored(run, one, changes)
        except Exception as error:  # the files of a run may hold anything
            told = isinstance(error, (ValueError, JudgeError))
            note(f'{name}: not rescored: {"" if told else f"{type(error).__name__}: "}{error}')
            failed += 1
        else:
            note(f'{name}: {_change(one.result, after)}')
            made += 1
    if made:
        _summarize(run, sources.results)
    return 1 if failed else 0


def _rescored(run: Path, one: ModelResult, changes: Changes) -> Result:
    """Make a result again, write it in place of the old one, and return it."""
    result = one.result
    # Without a readable result only the first line of its trials is there.
    if not result.metrics or one.trials is None or not one.trials.is_file():
        raise ValueError(f'{one.path}: the result or its trials can not be read; {ANEW}')
    table, protocol, judged = one.table(), result.protocol, result.judged
    if why := one.contradiction(table):
        raise ValueError(f'{why}; {ANEW}')
    require_inside(run, one.path)
    require_no_links(run / 'summary')
    reasoning = changes.reasoning_of(result.reasoning)
    protocol = replace(
        protocol,
        k=tuple(changes.k or protocol.k) if protocol.n > 1 else (),
        taus=tuple(changes.taus or protocol.taus),
        sound=reasoning.sound_threshold if reasoning and judged else None,
    )
    if not judged and changes.of_verdicts:
        idle = ', '.join(changes.of_verdicts)
        note(f'{one.name}: its answers are not judged; {idle} has no effect')
    judge = changes.judge_of(result) if judged else None
    evaluation = result.evaluation
    if changes.min_coverage is not None:
        evaluation = evaluation.model_copy(update={'min_coverage': changes.min_coverage})
    if judged and not postprocessors.known(evaluation.postprocessors):
        names = ', '.join(str(each.get('type')) for each in evaluation.postprocessors.values())
        if changes.judge is None:
            judge = None
            told = 'the verdicts are kept; to judge the responses without it, name a --judge'
        else:
            evaluation = evaluation.model_copy(update={'postprocessors': {}})
            told = 'the whole responses are judged'
        note(f'{one.name}: {names} is not applied to the responses of a run folder; {told}')
    task = _task(run, one, table, evaluation)
    with progress_file(task.folder, 'evaluation'):
        scored = task.score_reasoning(reasoning) if reasoning else None
        verdicts = _kept(one, table, task) if judge is None else task.judge(JudgeSettings.of(judge))
        new = task.result(protocol, verdicts, scored, stored_intervals(result))
    if rescored := {*result.rescored, *(changes.of_verdicts if judged else ())}:
        new = new.but(rescored=sorted(rescored))
    stored = new.as_json()
    if not result.details:
        del stored['details']
    with written_whole(one.path) as part:
        part.write_text(json.dumps(stored, ensure_ascii=False, indent=4), 'utf-8')
    return new


def _task(run: Path, one: ModelResult, table: TrialTable, evaluation: Evaluation) -> AnsweredTask:
    """Return the problems in a result's trials, with the responses in the predictions."""
    of_problem = {problem.problem_id: problem.gold for problem in table.problems}
    identities = [(trial.problem_id, trial.replica) for trial in table.trials]
    golds = [of_problem[problem_id] for problem_id, _ in identities]
    used = evaluation.postprocessors
    process = postprocessors.process(used if postprocessors.known(used) else {})
    files = read_predictions(run / 'predictions' / one.model, one.dataset, process=process)
    responses = align(
        identities,
        golds,
        files,
        name=one.dataset,
        min_coverage=evaluation.min_coverage,
        exact_golds=False,
        report=get_logger().warning,
    )
    benchmark, signature = one.result.benchmark, one.result.signature
    return AnsweredTask(
        one.dataset,
        one.path.with_name(one.dataset),
        table.problems,
        # The trials hold a gold answer as text; only its record tells a list from a text.
        [
            raw
            if isinstance(raw := response.record.get('gold'), list) and str(raw) == gold
            else gold
            for response, gold in zip(responses, golds, strict=True)
        ],
        responses,
        evaluation,
        {
            'benchmark': benchmark,
            'data_version': signature.data.removeprefix(f'{benchmark}:'),
            'prompt': signature.prompt,
        },
        again='run gpassk rescore with the same options again',
    )


def _kept(one: ModelResult, table: TrialTable, task: AnsweredTask) -> Verdicts:
    """Return the verdicts in the trials, which must be on the responses that there are."""
    for trial, response in zip(table.trials, task.responses, strict=True):
        if trial.text_hash != ('' if response.lost else text_hash([response.raw])):
            raise ValueError(
                f'{response.location or trial.response}: the response has changed since its '
                f'verdict was given; {ANEW}'
            )
    judge = one.result.signature.judge
    return Verdicts(
        [
            Judgement(trial.verdict, trial.answer, trial.reason, trial.source, end=trial.end)
            for trial in table.trials
            if not trial.lost
        ],
        judge,
        one.result.as_json().get('judging', {}),
        one.result.judging.notes,
        stored_audit(VerdictStore.default_path(task.run), judge),
    )


def _summarize(run: Path, results: Sequence[ModelResult]) -> None:
    """Print and write the run's summary, named after the current time.

    The run's config names the rows and columns, if it can be read as data.
    """
    try:
        config = read_run_config(run)
    except ValueError:
        config = {}
    models = config.get('models') or [{'abbr': name} for name in {one.model: 0 for one in results}]
    datasets = config.get('datasets') or [
        {'abbr': name, 'infer_cfg': {'inferencer': {'type': 'GenInferencer'}, 'retriever': {}}}
        for name in {one.dataset: 0 for one in results}
    ]
    # Without the evaluator's class no result is compared with a config, which would import it.
    shown = [
        {**one, 'eval_cfg': {'evaluator': {'min_coverage': evaluator_of(one).get('min_coverage')}}}
        for one in datasets
    ]
    whole = ConfigDict(models=models, datasets=shown, work_dir=str(run))
    given = style if isinstance(style := config.get('summarizer'), Mapping) else {}
    try:
        summarizer = GPassKSummarizer(
            whole, **{name: given[name] for name in ('dataset_abbrs', 'intervals') if name in given}
        )
        summarizer.summarize(time_str=datetime.now().strftime('%Y%m%d_%H%M%S'))
    except Exception as error:  # the config may hold anything
        note(f'{run}: no summary was made: {type(error).__name__}: {error}')


def _change(before: Result, after: Result) -> str:
    """Return who judged, the settings that changed, and the headline metrics before and after."""
    was, now = (_settings(one) for one in (before, after))
    told = [
        f'{name} {now[name]}'
        + (f' instead of {was[name]}' if was.get(name, now[name]) != now[name] else '')
        for name in now
        if name == 'judge' or was.get(name, now[name]) != now[name]
    ]
    metrics = [
        f'{one.heading} {old:.1f} → {new:.1f}'
        for one in after.headline()
        if (old := before.metric(one)) is not None
        and (new := after.metric(one)) is not None
        and f'{old:.1f}' != f'{new:.1f}'
    ]
    added = [one.heading for one in after.headline() if before.metric(one) is None]
    if added:
        metrics.append(f'new: {", ".join(added)}')
    changed = ', '.join(metrics) or 'no headline metric changed'
    return '; '.join(filter(None, ['rescored', ', '.join(told), changed]))


def _settings(result: Result) -> dict[str, str]:
    names = {'judge': 'judge', 'reasoning': 'scorer of steps', 'prompt': 'prompt'}
    found = {
        told: value for name, told in names.items() if (value := getattr(result.signature, name))
    }
    for told, numbers in (('k', result.k), ('τ', result.taus if result.judged else [])):
        if numbers:
            found[told] = ', '.join(f'{number:g}' for number in numbers)
    return found
