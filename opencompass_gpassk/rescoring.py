"""Results of a finished run once more, from its responses: OpenCompass's ``-r`` keeps old ones."""

from __future__ import annotations

import os
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

from opencompass_gpassk.judging.judge import JudgeError

__all__ = ['Changes', 'rescore', 'summarize_again']


@dataclass(frozen=True)
class Changes:
    """What a rescoring changes of a run's config.

    Attributes:
        judge: As in :class:`~opencompass_gpassk.evaluator.GPassKEvaluator`; None leaves it.
        taus: The thresholds; None leaves them.
        k: The k; None leaves them.
        datasets: Configs of data sets that stand in for those of the same abbr.
    """

    judge: str | Mapping[str, Any] | None = None
    taus: Sequence[float] | None = None
    k: Sequence[int] | None = None
    datasets: Sequence[Mapping[str, Any]] = ()

    def of(self, dataset: Mapping[str, Any]) -> ConfigDict:
        """Return the config of a data set with the changes made."""
        abbr = dataset_abbr_from_cfg(dataset)
        others = {dataset_abbr_from_cfg(other): other for other in self.datasets}
        changed = ConfigDict(others.get(abbr, dataset))
        evaluator = changed['eval_cfg']['evaluator']
        if self.judge is not None:
            evaluator['judge'] = self.judge
        if self.taus is not None:
            evaluator['taus'] = list(self.taus)
        if self.k is not None and changed.get('n', 1) > 1:
            changed['k'] = list(self.k)
        return changed


class RescoreTask(OpenICLEvalTask):
    """An evaluation that replaces the result there is, when it has made the new one."""

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
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f'{path.name}.{os.getpid()}.part')
        mmengine.dump(result, str(part), file_format='json', ensure_ascii=False, indent=4)
        part.replace(path)


def rescore(
    run: Path,
    config: Mapping[str, Any],
    changes: Changes,
    *,
    models: Collection[str] = (),
    datasets: Collection[str] = (),
    report: Callable[[str], None] = print,
) -> tuple[int, int]:
    """Evaluate the data sets of a run that are ours again.

    A result is replaced when the new one is made; one that can't be made leaves the old one.

    Args:
        run: The timestamp folder.
        config: The run's config.
        changes: What is to be different.
        models: Abbrs of the models to take, all if empty.
        datasets: Abbrs of the data sets to take, all if empty.
        report: Is told of each data set.

    Returns:
        How many results were made, and how many could not be.
    """
    made = failed = 0
    for model, dataset in _pairs(config):
        name = f'{model_abbr_from_cfg(model)}/{dataset_abbr_from_cfg(dataset)}'
        if models and model_abbr_from_cfg(model) not in models:
            continue
        if datasets and dataset_abbr_from_cfg(dataset) not in datasets:
            continue
        if not _is_ours(dataset):
            report(f'{name}: left as it is, since GPassKEvaluator is not its evaluator')
            continue
        task = ConfigDict(
            models=[model],
            datasets=[[changes.of(dataset)]],
            work_dir=str(run),
            eval=config.get('eval') or {},
        )
        try:
            RescoreTask(task).run()
        except (ValueError, OSError, JudgeError) as error:
            report(f'{name}: not rescored: {error}')
            failed += 1
        else:
            report(f'{name}: rescored')
            made += 1
    return made, failed


def summarize_again(run: Path, config: Mapping[str, Any]) -> None:
    """Print and write the run's summary as its config says, under the present time."""
    summarizer = dict(config.get('summarizer') or {})
    summarizer.setdefault('type', 'opencompass_gpassk.summarizer.GPassKSummarizer')
    whole = ConfigDict({**config, 'work_dir': str(run)})
    build_from_cfg({**summarizer, 'config': whole}).summarize(
        time_str=datetime.now().strftime('%Y%m%d_%H%M%S')
    )


def _pairs(config: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    combinations = config.get('model_dataset_combinations') or [config]
    return [(m, d) for one in combinations for m in one['models'] for d in one['datasets']]


def _is_ours(dataset: Mapping[str, Any]) -> bool:
    kind = ((dataset.get('eval_cfg') or {}).get('evaluator') or {}).get('type', '')
    name = kind if isinstance(kind, str) else kind.__name__
    return name.rpartition('.')[2] == 'GPassKEvaluator'
