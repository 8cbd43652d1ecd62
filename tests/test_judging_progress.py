"""What is told while a judge is asked."""

from __future__ import annotations

import re
from typing import Any

import pytest
from judge_server import JudgeServer
from scripted_judge import candidates, right_if

from opencompass_gpassk.formats import progress_bar
from opencompass_gpassk.judging.pipeline import Pipeline
from opencompass_gpassk.judging.settings import JudgeSettings

LINE = re.compile(r'judging: .* (\d+)/40 \[\S+<\S+, .*answer.*?(?:, failures=(\d+), lost=\d+)?\]')


def lines(told: str) -> list[tuple[int, int]]:
    """Return done and failures in each line; all lines tell times and rate too."""
    found = [LINE.fullmatch(line) for line in told.splitlines() if 'judging' in line]
    assert all(found)
    return [(int(line[1]), int(line[2] or 0)) for line in found if line]


def run(server: JudgeServer, **settings: Any) -> None:
    """Judge forty answers, one at a time."""
    how = JudgeSettings(
        mode='llm', model='judge', api_base=server.url, max_concurrency=1, **settings
    )
    Pipeline(how, progress=True).run(candidates(*map(str, range(40))))


def test_a_log_gets_a_line_again_and_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also while no reply comes; it tells done, rate, time left and failures."""
    monkeypatch.setattr(progress_bar, 'LOG_INTERVAL', 0.1)
    slow = iter([0.5])
    with JudgeServer(latency=lambda: next(slow, 0.01), faults={'cut': 0.1}, seed=1) as server:
        run(server)
    told = lines(capsys.readouterr().err)
    assert told[0][0] == told[2][0] == 0  # the first reply takes half a second
    assert told == sorted(told)
    assert told[-1][0] == 40
    assert told[-1][1] > 0


def test_a_quick_judging_ends_with_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """And nothing is told where nobody is asked, or nothing shall be shown."""
    with JudgeServer() as server:
        run(server)
    assert lines(capsys.readouterr().err) == [(40, 0)]
    Pipeline(JudgeSettings(), judge=right_if(), progress=True).run(candidates('7'))
    Pipeline(JudgeSettings(mode='llm'), judge=right_if()).run(candidates('7'))
    assert 'judging' not in capsys.readouterr().err
