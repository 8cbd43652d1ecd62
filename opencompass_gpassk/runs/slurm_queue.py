"""What Slurm's queue tells of tasks that have written nothing yet."""

from __future__ import annotations

import re
import subprocess
import time
from functools import lru_cache

SECONDS = 5  # that squeue may take
OFTEN = 15  # seconds between two questions
JOB = re.compile(r'^([A-Z_]+) [^[]*\[(.*)$')
WAITS, WORKS = 'queued by Slurm', 'running by Slurm, nothing counted yet'


def in_queue() -> dict[str, str]:
    """Return ``model/part`` → what its Slurm job does; a part is a data set or a shard.

    Without Slurm, or if it doesn't answer in time, there is none.
    """
    return _asked(int(time.monotonic() // OFTEN))


@lru_cache(maxsize=1)
def _asked(_when: int) -> dict[str, str]:
    try:
        told = subprocess.run(
            ['squeue', '--me', '-h', '-o', '%T %j'],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=True,
        ).stdout.decode('utf-8', 'replace')
    except (OSError, subprocess.SubprocessError):
        return {}
    found = [match for line in told.split('\n') if (match := JOB.match(line))]
    return {
        name: WAITS if match[1] == 'PENDING' else WORKS
        for match in found
        for name in match[2].rstrip().removesuffix(']').split(',')
    }
