"""Judging that is killed again and again comes to the same end, and pays for nothing twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from judge_server import JudgeServer

from opencompass_gpassk.judging.prompt import Prompt
from opencompass_gpassk.judging.verdict_store import VerdictStore
from opencompass_gpassk.trials import read_trials

PROBLEMS, N, KILLS = 30, 8, 3


def write_samples(path: Path) -> None:
    """Problems with answers that only a judge can tell apart."""
    rows = [
        {
            'id': str(i),
            'question': f'What is {i} + 0?',
            'answer': f'the number {i}',
            'samples': [f'\\boxed{{the number {i + (r if r > i % 5 else 0)}}}' for r in range(N)],
        }
        for i in range(PROBLEMS)
    ]
    path.write_text(''.join(json.dumps(row) + '\n' for row in rows))


def start(samples: Path, judge: Path, folder: Path) -> subprocess.Popen[str]:
    """Start ``gpassk score`` with a judge."""
    command = [sys.executable, '-m', 'opencompass_gpassk.commands.main', 'score', str(samples)]
    settings = ['--judge', str(judge), '-k', '2', '-o', str(folder / 'result.json')]
    return subprocess.Popen(
        [*command, *settings], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def stored(folder: Path) -> list[str]:
    """The prompts whose verdicts are in the store."""
    prompt = Prompt.load('default', 'en')
    with VerdictStore(folder / 'verdicts.sqlite') as store:
        return [prompt.fill(record.triple) for record in store.records()]


@pytest.mark.slow
def test_kills_change_no_verdict_and_cost_nothing_twice(tmp_path: Path) -> None:
    """The server counts one call a triple, and more for those alone that were in flight."""
    samples, settings = tmp_path / 'samples.jsonl', tmp_path / 'judge.json'
    write_samples(samples)
    at_once = 4
    with JudgeServer(latency=0.01) as quiet, JudgeServer(latency=0.02, at_once=at_once) as server:
        for name, one in (('quiet', quiet), ('killed', server)):
            asked = {'mode': 'llm', 'model': 'judge', 'api_base': one.url}
            (tmp_path / name).mkdir()
            settings.with_name(f'{name}.json').write_text(
                json.dumps({**asked, 'max_concurrency': at_once})
            )
        whole = start(samples, tmp_path / 'quiet.json', tmp_path / 'quiet')
        assert whole.wait(60) == 0, whole.stdout and whole.stdout.read()
        distinct = quiet.calls
        assert len(stored(tmp_path / 'quiet')) == distinct
        paid: dict[str, int] = {}  # prompts whose verdict is stored: how often they were judged
        for kill in range(KILLS):
            before = server.calls
            job = start(samples, tmp_path / 'killed.json', tmp_path / 'killed')
            while server.calls < before + distinct // (KILLS + 2):
                assert job.poll() is None, job.stdout and job.stdout.read()
                time.sleep(0.005)
            os.kill(job.pid, signal.SIGKILL)
            job.wait()
            prompts = stored(tmp_path / 'killed')
            assert 0 <= server.calls - len(prompts) <= at_once * (kill + 1)
            paid = {prompt: server.judged[prompt] for prompt in prompts} | paid
        last = start(samples, tmp_path / 'killed.json', tmp_path / 'killed')
        assert last.wait(60) == 0
        assert len(stored(tmp_path / 'killed')) == distinct
        assert {prompt: server.judged[prompt] for prompt in paid} == paid
        assert server.calls <= distinct + at_once * KILLS
    results = [tmp_path / name / 'result.json' for name in ('quiet', 'killed')]
    tables = [read_trials(path.with_suffix('.trials.jsonl.gz'))[0] for path in results]
    assert tables[0].trials == tables[1].trials
