"""A job of ``gpassk run`` that is running: its log is locked until its last process ends."""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

import psutil

from opencompass_gpassk.formats.stored_files import appended, open_regular
from opencompass_gpassk.runs.config import find_run, run_config

# In the work dir; `opencompass -r` goes on with the entry whose name comes last there.
LOG = '0-opencompass.log'


def lock(log: IO[bytes], work_dir: Path) -> None:
    """Lock the log of a job, for this process and those that inherit the file.

    Raises:
        ValueError: If the job is running; the message names its processes.
    """
    for _ in range(3):  # whoever asks whether the job runs has it for a moment
        if _locked(log, fcntl.LOCK_EX):
            return
        time.sleep(0.05)
    running = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            files = process.open_files() if process.pid != os.getpid() else []
            if any(one.path == log.name for one in files):
                running.append(process.pid)
    end = f'with: kill {" ".join(map(str, sorted(running)))}' if running else 'where it was started'
    raise ValueError(
        f'{work_dir}: this job is still running; follow it with gpassk status --watch {work_dir}, '
        f'or end it {end}'
    )


def require_idle(work_dir: Path) -> None:
    """Raise a ValueError if a job runs in a work dir."""
    if (work_dir / LOG).is_file():
        with appended(work_dir / LOG) as log:
            lock(log, work_dir)


def is_running(work_dir: Path) -> bool:
    """Tell whether a job runs in a work dir; False where it can't be known."""
    with suppress(OSError, ValueError), open_regular(work_dir / LOG) as log:
        return not _locked(log, fcntl.LOCK_SH)
    return False


def begun_run(work_dir: Path) -> Path:
    """Return the newest run of a work dir, or the timestamp folder itself.

    Raises:
        ValueError: If there is none, or a job runs whose OpenCompass has not begun its run.
    """
    work_dir = work_dir.absolute()
    run = find_run(work_dir)
    job = work_dir.with_name(f'{work_dir.name}.py')  # written when the job was started
    earlier = job.is_file() and run_config(run).stat().st_mtime < job.stat().st_mtime
    if earlier and is_running(work_dir):
        raise ValueError(f'{work_dir}: OpenCompass has not begun its run')
    return run


def _locked(log: IO[bytes], kind: int) -> bool:
    """Lock a file; return whether that worked, or can't be done in this file system."""
    try:
        fcntl.flock(log, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
