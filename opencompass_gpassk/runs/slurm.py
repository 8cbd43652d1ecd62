"""Tasks of a run as jobs of Slurm: names that tell them apart, and cancelled ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from opencompass.registry import TASKS
from opencompass.runners import SlurmRunner

from opencompass_gpassk.runs.predictions import INCOMPLETE
from opencompass_gpassk.runs.slurm_queue import was_cancelled
from opencompass_gpassk.runs.task_states import BY_SCANCEL, read_log, tell_end


class GPassKSlurmRunner(SlurmRunner):
    """OpenCompass's runner, which submits no task again that was cancelled or lacks responses.

    A crashed one is submitted again, as OpenCompass does. Names of jobs begin with the task's
    number, since ``squeue`` shows eight characters.
    """

    def launch(self, tasks: list[dict[str, Any]]) -> list[tuple[str, int]]:
        """Run tasks; return the name and exit code of each."""
        self._numbers = {str(cfg['datasets']): i for i, cfg in enumerate(tasks, 1)}
        status: list[tuple[str, int]] = super().launch(tasks)
        return status

    def _launch(self, cfg: Mapping[str, Any], random_sleep: bool = True) -> tuple[str, int]:
        kind = TASKS.get(self.task_cfg['type'])
        usual = kind.name_prefix
        # A task makes its name of this, and no argument reaches it.
        kind.name_prefix = f'{self._numbers.get(str(cfg["datasets"]), 0)}-{usual}'
        self._task = kind(cfg)
        try:
            ended: tuple[str, int] = super()._launch(cfg, random_sleep)
        finally:
            kind.name_prefix = usual
        return ended

    def _job_failed(self, return_code: int, output_paths: list[str]) -> bool:
        failed: bool = super()._job_failed(return_code, output_paths)
        log = Path(self._task.get_log_path(file_extension='out'))
        # The name is cut as OpenCompass does. A job's own log doesn't always tell of scancel.
        if failed and was_cancelled(self._task.name[:512]):
            tell_end(log, BY_SCANCEL)
            return False
        # An evaluation lacks the responses of a dead shard however often it is tried.
        return failed and not (log.is_file() and INCOMPLETE in read_log(log))
