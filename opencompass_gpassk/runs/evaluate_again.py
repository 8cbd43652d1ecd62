"""Evaluate data sets of a run again, as OpenCompass does; its ``-r`` keeps every result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mmengine.config import ConfigDict
from opencompass.registry import PARTITIONERS, RUNNERS
from opencompass.utils import get_infer_output_path

from opencompass_gpassk.formats.stored_files import TRIALS_ENDING

ASIDE = '.earlier'
BESIDE = ('.json', TRIALS_ENDING, '.steps.jsonl.gz')  # files of a result


def evaluates(config: Mapping[str, Any]) -> bool:
    """Tell whether OpenCompass was started to evaluate; it sets the folder only then."""
    evaluation = config.get('eval') or {}
    return bool((evaluation.get('partitioner') or {}).get('out_dir'))


def evaluate_again(config: ConfigDict, stale: Sequence[tuple[Any, Any]]) -> None:
    """Make results again as OpenCompass does; where none is made, the earlier one stays.

    Args:
        config: The run's config, with the section ``eval``.
        stale: Configs of model and data set.
    """
    files = [
        Path(get_infer_output_path(model, dataset, str(Path(config['work_dir'], 'results'))))
        for model, dataset in stale
    ]
    moved = [
        (result, path)
        for result in files
        for path in (result.with_name(f'{result.stem}{end}') for end in BESIDE)
        if path.is_file()
    ]
    for _, path in moved:
        path.replace(path.with_name(path.name + ASIDE))
    try:
        pairs = [{'models': [model], 'datasets': [dataset]} for model, dataset in stale]
        part = ConfigDict({**config, 'model_dataset_combinations': pairs})
        tasks = PARTITIONERS.build(config['eval']['partitioner'])(part)
        RUNNERS.build(config['eval']['runner'])(tasks)
    finally:
        made = {path for path in files if path.is_file()}
        for result, path in moved:
            aside = path.with_name(path.name + ASIDE)
            if result in made:
                aside.unlink()
            else:
                aside.replace(path)
