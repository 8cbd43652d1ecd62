"""Tasks as jobs of Slurm: each has a name of its own, and a cancelled one stays cancelled."""

from __future__ import annotations

import random
import re
import shlex
import subprocess
import time
from pathlib import Path
from typing import Any

from opencompass.registry import RUNNERS, TASKS
from opencompass.runners import SlurmRunner
from opencompass.utils import get_logger

# What Slurm writes into the log of a job that a person cancelled; a time limit is "DUE TO" that.
CANCELLED = re.compile(r'\*\*\* (JOB|STEP) \S+ ON \S+ CANCELLED AT \S+ \*\*\*')
LONGEST_NAME = 200


@RUNNERS.register_module()
class GPassKSlurmRunner(SlurmRunner):
    """OpenCompass's runner for Slurm, whose jobs all begin with ``OpenICLInfer`` in ``squeue``.

    A job that crashed is submitted again, as by OpenCompass; one that was cancelled is not.
    """

    def _launch(self, cfg: Any, random_sleep: bool = True) -> tuple[str, int]:
        """Run a task as a job, and wait for its end; return its name and exit code."""
        task = TASKS.build({'cfg': cfg, 'type': self.task_cfg['type']})
        log = Path(task.get_log_path(file_extension='out'))
        log.parent.mkdir(parents=True, exist_ok=True)
        parameters = log.with_suffix('.params.py')
        cfg.dump(str(parameters))
        options = {'-p': self.partition, '--quotatype': self.quotatype, '--qos': self.qos}
        gpus = [f'--gres=gpu:{task.num_gpus}'] if task.num_gpus else []
        asked = [part for name, value in options.items() if value for part in (name, value)]
        srun = ['srun', *asked, *gpus, *self.extra_command, '-N1', '-u', '-J', job_name(task.name)]
        # OpenCompass fills the place of the command in.
        template = shlex.join(srun).replace('{', '{{').replace('}', '}}') + ' {task_cmd}'
        code = 1
        try:
            for _ in range(1 + self.retry):
                if random_sleep:  # many jobs at once are hard on a cluster
                    time.sleep(random.uniform(0, 10))
                command = task.get_command(cfg_path=str(parameters), template=template)
                with log.open('w', encoding='utf-8') as file:
                    code = subprocess.run(command, shell=True, stdout=file, stderr=file).returncode
                if not self._job_failed(code, task.get_output_paths()):
                    break
                if code and CANCELLED.search(log.read_text('utf-8', 'replace')):
                    get_logger().warning(f'task {task.name} was cancelled; see\n{log}')
                    return task.name, code
        finally:
            parameters.unlink()
        if code:
            get_logger().error(f'task {task.name} failed; see\n{log}')
        return task.name, code


def job_name(task: str) -> str:
    """Return the name of a job: what tells it apart comes first, since squeue shows 8 characters.

    >>> job_name('OpenICLInfer[qwen/livemath_n48_3]')
    '3-infer-livemath_n48-qwen'
    >>> job_name('OpenICLEval[qwen/livemath_n48]')
    'eval-livemath_n48-qwen'
    """
    stage = 'eval' if 'Eval' in task.partition('[')[0] else 'infer'
    model, _, dataset = task.partition('[')[2].partition(']')[0].partition(',')[0].partition('/')
    shard = re.fullmatch(r'(.*)_(\d+)', dataset) if stage == 'infer' else None
    name = f'{shard[2]}-{stage}-{shard[1]}' if shard else f'{stage}-{dataset}'
    return re.sub(r'[^\w.+-]+', '-', f'{name}-{model}')[:LONGEST_NAME]
