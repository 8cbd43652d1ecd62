"""Make the results of a finished run again from its responses; OpenCompass's ``-r`` keeps old ones.

A run folder may be someone else's. Unless the user trusts it, only classes that are known to
:mod:`opencompass_gpassk.commands.rescore.known_classes` are used.
"""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import mmengine
from mmengine.config import ConfigDict
from opencompass.registry import build_from_cfg
from opencompass.tasks import OpenICLEvalTask
from opencompass.utils import (
    dataset_abbr_from_cfg,
    get_infer_output_path,
    model_abbr_from_cfg,
)

from opencompass_gpassk.commands.rescore.known_classes import (
    SUMMARIZER,
    known_dataset,
    known_model,
    known_summarizer,
    recorded_judge,
    recorded_reasoning,
)
from opencompass_gpassk.formats.stored_files import require_no_links, written_whole
from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.judging.settings import MODES, judge_name
from opencompass_gpassk.reasoneval.settings import ReasoningSettings
from opencompass_gpassk.results.read import read_result
from opencompass_gpassk.results.stored_result import headline_figures, read_figure
from opencompass_gpassk.runs.config import find_run, planned, read_run_config, require_inside

JUDGING, SCORING = 'GPassKEvaluator', 'ReasonEvalEvaluator'


@dataclass(frozen=True)
class Changes:
    """The changes that a rescoring makes to a run's config.

    Attributes:
        judge: As in :class:`~opencompass_gpassk.evaluator.GPassKEvaluator`; None keeps the judge of
            the existing result, which an earlier rescoring may have changed.
        taus: The thresholds; None keeps those of the result.
        k: The k; None keeps those of the result.
        min_coverage: As in the evaluator; None keeps that of the config.
        reasoning: The scorer of steps, as in the evaluator; None keeps that of the result. Without
            a threshold here, the result's is kept if it is of this scorer.
        datasets: Configs of data sets that replace those of the same abbr. For these, no setting of
            the existing result is kept.
        trusted: Whether the run is the user's own. Then everything that its config and results name
            is built, and a judge is asked at the address in them.
    """

    judge: str | Mapping[str, Any] | None = None
    taus: Sequence[float] | None = None
    k: Sequence[int] | None = None
    min_coverage: float | None = None
    reasoning: Mapping[str, Any] | None = None
    datasets: Sequence[Mapping[str, Any]] = ()
    trusted: bool = False

    def of(self, dataset: Mapping[str, Any], result: Mapping[str, Any]) -> ConfigDict:
        """Return the config of a data set with the changes, given its existing result.

        Raises:
            ValueError: If config or result need something that only a trusted run may have.
        """
        abbr = dataset_abbr_from_cfg(dataset)
        others = {dataset_abbr_from_cfg(other): other for other in self.datasets}
        own = self.trusted or abbr in others
        given = others.get(abbr, dataset) if own else known_dataset(dataset)
        changed = copy.deepcopy(ConfigDict(given))
        evaluator = changed['eval_cfg']['evaluator']
        known: Mapping[str, Any] = {} if abbr in others else result
        if judge_name(evaluator) == JUDGING:
            judge = self._judge(evaluator.get('judge', 'rule'), result, stands_in=abbr in others)
            if judge is not None:
                evaluator['judge'] = judge
            if taus := self.taus if self.taus is not None else known.get('taus'):
                evaluator['taus'] = list(taus)
        if reasoning := self._reasoning(known.get('reasoning') or {}):
            evaluator['reasoning'] = reasoning
        if self.min_coverage is not None:
            evaluator['min_coverage'] = self.min_coverage
        ks = self.k if self.k is not None else known.get('k')
        if ks and changed.get('n', 1) > 1:
            changed['k'] = list(ks)
        return changed

    def idle(self, dataset: Mapping[str, Any]) -> str:
        """Return the names of the changes without effect on a data set with unjudged answers."""
        if _evaluator_name(dataset) != SCORING:
            return ''
        given = {'judge': self.judge, 'taus': self.taus, 'k': self.k}
        return ', '.join(name for name, value in given.items() if value is not None)

    def _reasoning(self, before: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the scorer of steps to use; None keeps the config's."""
        settings = self._scorer(before)
        if settings is None or 'threshold' in settings:
            return settings
        scorer, threshold = ReasoningSettings.of(settings), before.get('threshold')
        if before.get('scorer') != scorer.scorer or threshold in (None, scorer.sound_threshold):
            return settings
        return {**settings, 'threshold': threshold}

    def _scorer(self, before: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the settings of the scorer to use; None keeps the config's."""
        if self.reasoning is not None:
            return dict(self.reasoning)
        scored = before.get('settings')
        if not scored or not self.trusted:
            return recorded_reasoning(scored) if scored else None
        judge = scored.get('judge')
        if isinstance(judge, Mapping) and not isinstance(judge.get('model'), Mapping):
            return {**scored, 'judge': self._place(judge)}
        return dict(scored)

    def _judge(self, planned: Any, result: Mapping[str, Any], *, stands_in: bool) -> Any:
        """Return the judge to use; None keeps the config's."""
        judging = result.get('judging') or {}
        signature = str((result.get('signature') or {}).get('judge') or '')
        known = judging.get('settings') or (planned if isinstance(planned, Mapping) else {})
        if self.judge is not None:
            if isinstance(self.judge, str) and self.judge != 'rule' and 'type' not in known:
                return {**self._place(known, signature, other=True), 'mode': self.judge}
            return self.judge
        if stands_in or judging.get('mode') not in MODES:
            return None
        if 'settings' in judging:
            return self._place(known, signature)
        return 'rule' if judging['mode'] == 'rule' else None

    def _place(
        self, settings: Mapping[str, Any], signature: str = '', *, other: bool = False
    ) -> dict[str, Any]:
        """Return recorded settings of a judge with its present address.

        Verdicts don't depend on a judge's address.

        Args:
            settings: The recorded settings.
            signature: The judge's signature in the result.
            other: Whether another judge in the environment may replace it.
        """
        model, base = (os.environ.get(f'OC_JUDGE_{name}') for name in ('MODEL', 'API_BASE'))
        same = not model or model == settings.get('model')
        if other and not same:
            return {}
        if not self.trusted:
            return recorded_judge(settings, signature)
        return {**settings, 'api_base': base} if model and same and base else dict(settings)


class RescoreTask(OpenICLEvalTask):
    """An evaluation that replaces the existing result once the new one is made.

    Attributes:
        again: The evaluator's advice if the judge could not be reached.
        rescored: The settings that were chosen for a rescoring, whatever the config says.
    """

    again = 'run gpassk rescore with the same options again'

    def __init__(self, config: ConfigDict, *, details: bool, rescored: list[str]) -> None:
        super().__init__(config)
        self.rescored = rescored
        self.dump_details = details

    def run(self) -> None:
        """Evaluate each data set of the task."""
        for model_cfg, dataset_cfgs in zip(self.model_cfgs, self.dataset_cfgs, strict=True):
            for dataset_cfg in dataset_cfgs:
                self.model_cfg, self.dataset_cfg = model_cfg, dataset_cfg
                self.eval_cfg = dataset_cfg['eval_cfg']
                self.output_column = dataset_cfg['reader_cfg']['output_column']
                self._score()

    def _save_results(self, result: dict[str, Any]) -> None:
        results = Path(self.work_dir, 'results')
        path = Path(get_infer_output_path(self.model_cfg, self.dataset_cfg, str(results)))
        if self.rescored:
            result['rescored'] = self.rescored
        with written_whole(path) as part:
            mmengine.dump(result, str(part), file_format='json', ensure_ascii=False, indent=4)


def rescore(
    run: Path,
    config: Mapping[str, Any],
    changes: Changes,
    *,
    models: Collection[str] = (),
    datasets: Collection[str] = (),
    report: Callable[[str], None] = print,
) -> tuple[int, int]:
    """Evaluate again the data sets of a run that use our evaluators.

    The new result replaces the old one. If it can't be made, the old one stays.

    Args:
        run: The timestamp folder.
        config: The run's config.
        changes: The changes to the config.
        models: Abbrs of the models to rescore, all if empty.
        datasets: Abbrs of the data sets to rescore, all if empty.
        report: Takes a message on each data set.

    Returns:
        Number of results that were made, and of those that could not be made.

    Raises:
        ValueError: If a model or data set isn't in the run.
    """
    made = failed = 0
    _require_known(planned(config), models, datasets)
    for model, dataset in planned(config):
        of, abbr = model_abbr_from_cfg(model), dataset_abbr_from_cfg(dataset)
        name = f'{of}/{abbr}'
        if (models and of not in models) or (datasets and abbr not in datasets):
            continue
        if idle := changes.idle(dataset):
            report(f'{name}: its answers are not judged; {idle} has no effect')
        if not _is_ours(dataset):
            report(f'{name}: not changed, since {JUDGING} is not its evaluator')
            continue
        before = _result(run, model, dataset)
        try:
            task = ConfigDict(
                models=[model if changes.trusted else known_model(model)],
                datasets=[[changes.of(dataset, before)]],
                work_dir=str(run),
            )
            require_inside(run, Path(get_infer_output_path(model, dataset, str(run / 'results'))))
            require_no_links(run / 'summary')
            details = 'details' in before or not before
            chosen = {'judge': changes.judge, 'taus': changes.taus, 'k': changes.k}
            rescored = {name for name, value in chosen.items() if value is not None}
            if not changes.datasets:
                rescored |= set(before.get('rescored') or ())
            RescoreTask(task, details=details, rescored=sorted(rescored)).run()
        except Exception as error:  # data sets, postprocessors and evaluators may raise anything
            kind = (
                '' if isinstance(error, (ValueError, JudgeError)) else f'{type(error).__name__}: '
            )
            report(f'{name}: not rescored: {kind}{error}')
            failed += 1
        else:
            report(f'{name}: {_change(before, _result(run, model, dataset))}')
            made += 1
    return made, failed


def rescore_run(
    path: Path,
    changes: Changes,
    *,
    models: Collection[str] = (),
    datasets: Collection[str] = (),
    report: Callable[[str], None],
) -> int:
    """Rescore a run or the newest in a work dir, then summarize it.

    Returns:
        The command's exit code: 1 if a result could not be made.

    Raises:
        ValueError: If there is no run, or nothing to rescore in it.
    """
    folder = find_run(path).absolute()
    if changes.trusted:
        sys.path.insert(0, str(Path.cwd()))  # as OpenCompass does, for classes beside a config
    config = read_run_config(folder, trusted=changes.trusted)
    made, failed = rescore(folder, config, changes, models=models, datasets=datasets, report=report)
    if not made and not failed:
        raise ValueError(f'{folder}: it contains nothing to rescore')
    if made:
        summarize_again(folder, config, trusted=changes.trusted)
    return 1 if failed else 0


def summarize_again(run: Path, config: Mapping[str, Any], *, trusted: bool = False) -> None:
    """Print and write the run's summary, named after the current time.

    A trusted config chooses the summarizer; from others only safe settings of ours are used.
    """
    if trusted:
        summarizer = {'type': SUMMARIZER, **(config.get('summarizer') or {})}
        whole = ConfigDict({**config, 'work_dir': str(run)})
    else:
        summarizer = known_summarizer(config.get('summarizer'))
        named = {name: config[name] for name in ('models', 'datasets') if name in config}
        whole = ConfigDict({**named, 'work_dir': str(run)})
    build_from_cfg({**summarizer, 'config': whole}).summarize(
        time_str=datetime.now().strftime('%Y%m%d_%H%M%S')
    )


def _require_known(
    pairs: Sequence[tuple[Any, Any]], models: Collection[str], datasets: Collection[str]
) -> None:
    there = (
        ('model', models, {model_abbr_from_cfg(model) for model, _ in pairs}),
        ('data set', datasets, {dataset_abbr_from_cfg(dataset) for _, dataset in pairs}),
    )
    for kind, wanted, known in there:
        if unknown := [name for name in wanted if name not in known]:
            raise ValueError(
                f'{kind} {", ".join(unknown)} is not in the run; choose from '
                f'{", ".join(sorted(known))}'
            )


def _result(run: Path, model: Any, dataset: Any) -> dict[str, Any]:
    """Return the existing result, empty if there is none or it can't be read."""
    path = Path(get_infer_output_path(model, dataset, str(run / 'results')))
    try:
        return read_result(path)
    except (OSError, ValueError):
        return {}


def _change(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return who judged, the settings that changed, and the headline figures before and after."""
    was, now = (_settings(one) for one in (before, after))
    told = [
        f'{name} {now[name]}'
        + (f' instead of {was[name]}' if was.get(name, now[name]) != now[name] else '')
        for name in now
        if name == 'judge' or was.get(name, now[name]) != now[name]
    ]
    figures = [
        f'{one.heading} {old:.1f} → {new:.1f}'
        for one in headline_figures(after)
        if (old := read_figure(before, one)) is not None
        and (new := read_figure(after, one)) is not None
        and f'{old:.1f}' != f'{new:.1f}'
    ]
    unchanged = 'no headline figure changed' if before else ''
    return '; '.join(filter(None, ['rescored', ', '.join(told), ', '.join(figures) or unchanged]))


def _settings(result: Mapping[str, Any]) -> dict[str, str]:
    signature = result.get('signature') or {}
    names = {'judge': 'judge', 'reasoning': 'scorer of steps', 'prompt': 'prompt'}
    found = {told: str(signature[name]) for name, told in names.items() if signature.get(name)}
    for told, numbers in (('k', result.get('k')), ('τ', result.get('taus'))):
        if numbers:
            found[told] = ', '.join(f'{number:g}' for number in numbers)
    return found


def _is_ours(dataset: Mapping[str, Any]) -> bool:
    return _evaluator_name(dataset) in (JUDGING, SCORING)


def _evaluator_name(dataset: Mapping[str, Any]) -> str:
    """Return the class name of a data set's evaluator, '' if it has no valid config."""
    evaluation = dataset.get('eval_cfg')
    evaluator = evaluation.get('evaluator') if isinstance(evaluation, Mapping) else None
    if not isinstance(evaluator, Mapping) or not isinstance(evaluator.get('type'), (str, type)):
        return ''
    return judge_name(evaluator)
