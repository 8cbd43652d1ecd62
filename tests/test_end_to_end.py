"""The real ``opencompass`` command and the demonstration model: whole, killed, resumed, sharded.

Answers are judged in a cascade, by rule and by a judge over HTTP.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from judge_server import JudgeServer

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
MODEL = 'gpassk-demo'
SAMPLED, GREEDY = 'sample-n4', 'sample-greedy-n1'
ROWS = 48 * 4
SECONDS = 240
KEY = 'sk-never-to-be-written'

# Small batches, so that there is a middle of inference to be killed in.
CONFIG = """
from mmengine.config import read_base

with read_base():
    from {configs}.datasets.livemathbench.livemathbench_gpassk_gen import livemathbench_datasets
    from {configs}.datasets.livemathbench.livemathbench_gpassk_greedy_gen import (
        livemathbench_greedy_datasets,
    )
    from {configs}.models.demo import models
    from {configs}.summarizers.gpassk import summarizer

datasets = [{datasets}]
models[0]['batch_size'] = 8
{more}
work_dir = 'outputs'
"""
BROKEN = "models.append(dict(models[0], abbr='broken', path='/no/such/checkpoint'))"


@pytest.fixture(scope='module', autouse=True)
def judge() -> Iterator[JudgeServer]:
    """The judge of all jobs, which takes one key only."""
    with pytest.MonkeyPatch.context() as environment, JudgeServer(key=KEY) as server:
        environment.setenv('OC_JUDGE_MODEL', 'stub')
        environment.setenv('OC_JUDGE_API_BASE', server.url)
        environment.setenv('OC_JUDGE_API_KEY', KEY)
        yield server


def write_config(folder: Path, datasets: str, more: str = '') -> None:
    """Write a job's config beside a link to the configs, as `read_base` wants them."""
    (folder / 'configs').symlink_to(ROOT / 'configs')
    text = CONFIG.format(configs='.configs', datasets=datasets, more=more)
    (folder / 'job.py').write_text(text)


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start ``opencompass job.py`` in a process group of its own, as a shell does."""
    settings = {name: value for name, value in os.environ.items() if 'GPASSK_' not in name}
    with (folder / 'screen.log').open('ab') as screen:
        return subprocess.Popen(
            [BIN / 'opencompass', 'job.py', *arguments],
            cwd=folder,
            env={**settings, 'GPASSK_N': '4', 'GPASSK_K': '2,4', 'GPASSK_JUDGE': 'cascade'},
            stdout=screen,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def finish(folder: Path, *arguments: str) -> str:
    """Run to the end and return what was on the screen."""
    assert start(folder, *arguments).wait(SECONDS) == 0
    return (folder / 'screen.log').read_text()


def kill_when(job: subprocess.Popen[bytes], reached: Callable[[], bool]) -> None:
    """Kill a job and its tasks at once when it has come to a point."""
    end = time.monotonic() + SECONDS
    while not reached():
        assert job.poll() is None, 'the job ended before it could be killed'
        assert time.monotonic() < end
        time.sleep(0.05)
    os.killpg(job.pid, signal.SIGKILL)
    job.wait()


def run_folder(folder: Path) -> Path:
    (found,) = (folder / 'outputs').glob('2*')
    return found


def predictions(run: Path, name: str = SAMPLED) -> dict[tuple[str, int], str]:
    """The responses of a run by problem and replica, of one file or its shards."""
    files = sorted((run / 'predictions' / MODEL).glob(f'{name}*.json'))
    records = [record for file in files for record in json.loads(file.read_text()).values()]
    found = {(r['problem_id'], r['replica']): r['prediction'] for r in records}
    assert len(found) == len(records)
    return found


def result(run: Path, name: str = SAMPLED) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / 'results' / MODEL / f'{name}.json').read_text())
    return found


@pytest.fixture(scope='module')
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A job that ran to its end: the demonstration model, and one that can't be loaded."""
    folder = tmp_path_factory.mktemp('whole')
    both = '*livemathbench_greedy_datasets, *livemathbench_datasets'
    write_config(folder, both, BROKEN)
    return folder, finish(folder)


def test_the_tables_hold_greedy_and_sampled_columns(whole: tuple[Path, str]) -> None:
    """One unchanged, greedy model config gives both."""
    folder, screen = whole
    figures = result(run_folder(folder))
    greedy = result(run_folder(folder), GREEDY)
    row = next(line.split() for line in screen.splitlines() if line.split()[:1] == [MODEL])
    assert row[1:4] == [
        f'{value:.1f}'
        for value in (greedy['accuracy'], figures['accuracy (4 runs average)'], figures['pass@2'])
    ]
    assert figures['pass@4'] > figures['G-Pass@4_0.5'] > figures['G-Pass@4_1.0'] > 0
    assert greedy['signature']['sampling'] == {'greedy': True}
    assert figures['signature']['sampling']['temperature'] == 1.0
    assert 'written for this package, not LiveMathBench' in screen


def test_the_counts_are_those_of_the_trials(whole: tuple[Path, str]) -> None:
    """Counted anew from the trials file: 48 problems, four samples each, some right sometimes."""
    run = run_folder(whole[0])
    with gzip.open(run / 'results' / MODEL / f'{SAMPLED}.trials.jsonl.gz', 'rt') as file:
        trials = [json.loads(line) for line in file]
    trials = [trial for trial in trials if 'verdict' in trial]
    details = result(run)['details']
    assert len(trials) == ROWS
    assert len(details) == 48
    for problem in details:
        verdicts = [t['verdict'] for t in trials if t['problem_id'] == problem['problem_id']]
        assert problem['c'] == verdicts.count('correct')
        assert problem['n'] == len(verdicts) - verdicts.count('unjudged')
    assert sum(0 < problem['c'] < 4 for problem in details) >= 3


def test_the_judge_was_asked_once_about_what_the_rules_did_not_confirm(
    whole: tuple[Path, str], judge: JudgeServer
) -> None:
    """Over both data sets, which share the run's store; nothing is left unjudged."""
    run = run_folder(whole[0])
    ledgers = [result(run, name)['judging']['ledger'] for name in (SAMPLED, GREEDY)]
    assert judge.calls == sum(ledger['calls'] for ledger in ledgers) == len(judge.judged)
    assert all(ledger['saved']['rule'] for ledger in ledgers)
    assert result(run)['coverage'] == 100
    assert (run / 'verdicts.sqlite').exists()


def test_no_key_is_written(whole: tuple[Path, str]) -> None:
    """To no config, log, store or result, nor to the screen, though the judge was shown it."""
    written = [path for path in whole[0].rglob('*') if path.is_file()]
    assert len(written) > 10
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []


def test_a_model_that_failed_is_named_with_its_exception(whole: tuple[Path, str]) -> None:
    """In the summary; ``gpassk status`` says so too and exits with 1, where OpenCompass has 0."""
    folder, screen = whole
    assert any('broken' in line and '/no/such/checkpoint' in line for line in screen.splitlines())
    done = subprocess.run(
        [BIN / 'gpassk', 'status', run_folder(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert '/no/such/checkpoint' in done.stdout


def test_a_killed_job_resumes_to_the_same_counts(whole: tuple[Path, str], tmp_path: Path) -> None:
    """Killed in the middle of inference and, resumed, in the evaluation; resumed again."""
    write_config(tmp_path, '*livemathbench_datasets')
    outputs = tmp_path / 'outputs'

    def saved() -> int:
        files = list(outputs.glob(f'2*/predictions/{MODEL}/tmp_{SAMPLED}.jsonl'))
        return files[0].read_bytes().count(b'\n') if files else 0

    kill_when(start(tmp_path), lambda: saved() >= 16)
    kept = saved()
    assert 16 <= kept < ROWS
    run = run_folder(tmp_path)
    assert not list(run.glob(f'predictions/{MODEL}/{SAMPLED}*.json'))

    job = start(tmp_path, '-r')
    kill_when(job, lambda: bool(list(run.glob(f'logs/eval/{MODEL}/{SAMPLED}.out'))))
    assert predictions(run) == predictions(run_folder(whole[0]))
    assert not (run / 'results').exists() or not list(run.glob('results/*/*.json'))
    log = next(run.glob(f'logs/infer/{MODEL}/*.out')).read_text()
    assert f'{kept} of {ROWS} responses are saved' in log

    finish(tmp_path, '-r')
    figures, expected = result(run), result(run_folder(whole[0]))
    assert figures['details'] == expected['details']
    assert figures['counts'] == expected['counts']


def test_shards_differ_and_a_run_can_be_repeated(whole: tuple[Path, str], tmp_path: Path) -> None:
    """``--max-num-workers 2`` cuts the rows in two: each half draws its own, and the same again."""
    write_config(tmp_path, '*livemathbench_datasets')
    finish(tmp_path, '--max-num-workers', '2')
    run = run_folder(tmp_path)
    shards = [predictions(run, f'{SAMPLED}_{number}') for number in (0, 1)]
    assert [len(shard) for shard in shards] == [ROWS // 2] * 2
    first, second = (
        [shard[key] for key in sorted(shard)] for shard in shards
    )  # replicas 0 and 1 of each problem; 2 and 3
    assert first != second
    assert shards[0] | shards[1] == predictions(run_folder(whole[0]))
    assert result(run)['details'] == result(run_folder(whole[0]))['details']
