"""What Slurm's queue tells of tasks that have written nothing yet, and of jobs that ended."""

from __future__ import annotations

import re
import subprocess
import time
from functools import lru_cache

SECONDS = 5  # that squeue may take
OFTEN = 15  # seconds between two questions
ENDING = 60  # seconds that a job may still be ending after its command has
JOB = re.compile(r'^([A-Z_]+) [^[]*\[(.*)$')
WAITS, WORKS = 'queued by Slurm', 'running by Slurm, nothing counted yet'


def in_queue() -> dict[str, str]:
    """Return ``model/part`` → what its Slurm job does; a part is a data set or a shard.

    Without Slurm, or if it doesn't answer in time, there is none.
    """
    return _asked(int(time.monotonic() // OFTEN))


def was_cancelled(name: str) -> bool:
    """Return whether ``scancel`` ended the newest job of a name, as Slurm knows for minutes."""
    for _ in range(ENDING):
        told = (line.split(' ', 2) for line in _squeue('-t', 'all', '-o', '%i %T %j'))
        states = {int(one[0]): one[1] for one in told if one[2:] == [name] and one[0].isdigit()}
        state = states[max(states)] if states else ''
        if state not in ('RUNNING', 'COMPLETING'):
            break
        time.sleep(1)
    return state == 'CANCELLED'


def _squeue(*options: str) -> list[str]:
    """Return the lines of ``squeue`` about the user's jobs; none if it doesn't answer in time."""
    try:
        told = subprocess.run(
            ['squeue', '--me', '-h', *options],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=True,
        ).stdout.decode('utf-8', 'replace')
    except (OSError, subprocess.SubprocessError):
        return []
    return told.splitlines()


@lru_cache(maxsize=1)
def _asked(_when: int) -> dict[str, str]:
    found = [match for line in _squeue('-o', '%T %j') if (match := JOB.match(line))]
    return {
        name: WAITS if match[1] == 'PENDING' else WORKS
        for match in found
        for name in match[2].rstrip().removesuffix(']').split(',')
    }
