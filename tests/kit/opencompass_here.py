"""OpenCompass's command in the process of the tests, which need not import OpenCompass again."""

from __future__ import annotations

import argparse
import io
import os
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from opencompass.cli.main import main

# Its tasks run here too. Without it they are processes, as users have them.
TASKS_HERE = '--debug'


def opencompass(folder: Path, *arguments: str, settings: Mapping[str, str] | None = None) -> str:
    """Run ``opencompass`` in a folder, with these settings of the package alone; return its output.

    A new process takes ten seconds before it does anything. Where the claim is about the command
    or its processes, a test starts them; elsewhere it calls this.
    """
    with pytest.MonkeyPatch.context() as here, redirect_stdout(io.StringIO()) as screen:
        for name in [name for name in os.environ if name.startswith('GPASSK_')]:
            here.delenv(name)
        for name, value in (settings or {}).items():
            here.setenv(name, value)
        here.chdir(folder)
        here.setattr('sys.argv', ['opencompass', *arguments])
        main()
    return screen.getvalue()


def job_here(path: Path, work_dir: Path, args: argparse.Namespace) -> int:
    """Run a job of ``gpassk run`` in this process, in place of its function ``_opencompass``."""
    opencompass(Path(), str(path), TASKS_HERE, *args.opencompass)
    return 0
