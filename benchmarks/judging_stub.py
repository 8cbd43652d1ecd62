"""The judges of a benchmark of judging: a stub behind HTTP, or one that takes no time."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from judging_trials import Candidate, is_right

from opencompass_gpassk.inference.http_client import Receive
from opencompass_gpassk.inference.server_replies import Reply
from opencompass_gpassk.judging.judge import Ledger

SERVER = Path(__file__).parent.parent / 'tests/kit/judge_server.py'
LATENCY, AT_ONCE = 0.05, 64


class InstantJudge:
    """A judge in this process that takes no time."""

    model = 'instant'
    settings: Mapping[str, Any] = {}

    def ask(
        self,
        jobs: Iterable[tuple[Hashable, str]],
        receive: Receive,
        ledger: Ledger,
    ) -> None:
        """Compare texts, as the stub does."""
        for triple, _ in jobs:
            ledger.calls += 1
            said = 'yes' if is_right(Candidate(*triple)) else 'no'  # type: ignore[misc]
            receive(triple, Reply(f'\\boxed{{{said}}}', False, 500, 8))

    def stop(self) -> None:
        """Nothing is waited for."""


@contextmanager
def stub() -> Iterator[str]:
    """Serve a judge, and yield its URL."""
    command = [sys.executable, str(SERVER), '--latency', str(LATENCY), '--at-once', str(AT_ONCE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield next(iter(process.stdout or ())).strip()
        finally:
            process.terminate()


def counts(url: str) -> tuple[int, float]:
    """Return the calls that a stub got, and the seconds that it computed."""
    if not url:
        return 0, 0.0
    with urllib.request.urlopen(url.replace('/v1', '/count')) as response:
        found = json.load(response)
    return found['calls'], found['cpu_seconds']
