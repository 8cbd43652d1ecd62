"""The real ``opencompass`` command and the demonstration model: sharded, killed and resumed.

Answers are judged in a cascade, by rule and by a judge over HTTP. Most of a job's time goes into
starting its processes, so one job ends undisturbed, of which two workers share inference and
evaluation. Slow tests kill and resume one of a single worker, which comes to the same responses
and counts, and start one whose model can't be loaded.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from judge_server import JudgeServer
from opencompass_here import TASKS_HERE, opencompass

from opencompass_gpassk.judging.verdict_store import VerdictStore
from opencompass_gpassk.runs.running_task import UNREAD

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
MODEL = 'gpassk-demo'
SAMPLED, GREEDY = 'sample-en-n4', 'sample-en-greedy-n1'
PROBLEMS, N = 24, 4
SECONDS = 240
LOOKS = 5000
KEY = 'sk-never-to-be-written'
SETTINGS = {
    'GPASSK_N': f'{N}',
    'GPASSK_K': '2,4',
    'GPASSK_LANGUAGES': 'en',
    'GPASSK_JUDGE': 'cascade',
}

# Small batches, so that there is a middle of inference to be killed in.
CONFIG = """
from mmengine.config import read_base

with read_base():
    from {configs}.datasets.livemathbench.livemathbench_gpassk_gen import (
        livemathbench_gpassk_datasets,
    )
    from {configs}.datasets.livemathbench.livemathbench_gpassk_greedy_gen import (
        livemathbench_gpassk_greedy_datasets,
    )
    from {configs}.models.demo import models
    from {configs}.summarizers.gpassk import summarizer

datasets = [*livemathbench_gpassk_greedy_datasets, *livemathbench_gpassk_datasets]
models[0]['batch_size'] = 8
{more}
work_dir = 'outputs'
"""
SAMPLED_ALONE = 'datasets = livemathbench_gpassk_datasets'
# A model that can't be loaded, alone.
BROKEN = """
datasets = datasets[:1]
models = [dict(models[0], abbr='broken', path='/no/such/checkpoint')]
"""


@pytest.fixture(scope='module', autouse=True)
def judge() -> Iterator[JudgeServer]:
    """The judge of all jobs, which takes one key only."""
    with pytest.MonkeyPatch.context() as environment, JudgeServer(key=KEY) as server:
        environment.setenv('OC_JUDGE_MODEL', 'stub')
        environment.setenv('OC_JUDGE_API_BASE', server.url)
        environment.setenv('OC_JUDGE_API_KEY', KEY)
        yield server


def write_config(folder: Path, more: str = '') -> None:
    """Write a job's config beside a link to the configs, as `read_base` wants them."""
    (folder / 'configs').symlink_to(ROOT / 'configs')
    (folder / 'job.py').write_text(CONFIG.format(configs='.configs', more=more))


def start(folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start ``opencompass job.py`` in a process group of its own, as a shell does."""
    kept = {name: value for name, value in os.environ.items() if 'GPASSK_' not in name}
    with (folder / 'screen.log').open('ab') as screen:
        return subprocess.Popen(
            [BIN / 'opencompass', 'job.py', *arguments],
            cwd=folder,
            env={**kept, **SETTINGS},
            stdout=screen,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def kill_when(job: subprocess.Popen[bytes], reached: Callable[[], bool]) -> None:
    """Kill a job and its tasks at once when it has come to a point."""
    for _ in range(LOOKS):
        if reached():
            break
        assert job.poll() is None, 'the job ended before it could be killed'
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
    """A job of the demonstration model that ran to its end."""
    folder = tmp_path_factory.mktemp('whole')
    write_config(folder)
    assert start(folder, '--max-num-workers', '2').wait(SECONDS) == 0
    return folder, (folder / 'screen.log').read_text()


def test_the_tables_hold_greedy_and_sampled_columns(whole: tuple[Path, str]) -> None:
    """One unchanged, greedy model config gives both."""
    folder, screen = whole
    metrics = result(run_folder(folder))
    greedy = result(run_folder(folder), GREEDY)
    rows = (line.split() for line in screen.splitlines() if line.startswith(f'{MODEL} '))
    row = next(row for row in rows if row[1] != 'solves')
    assert row[1:4] == [
        f'{value:.1f}' for value in (greedy['accuracy'], metrics['accuracy'], metrics['pass@4'])
    ]
    assert metrics['pass@4'] > metrics['G-Pass@4_0.5'] > metrics['G-Pass@4_1.0'] > 0
    assert greedy['signature']['sampling'] == {'greedy': True}
    assert metrics['signature']['sampling']['temperature'] == 1.0


def test_the_counts_are_those_of_the_trials(whole: tuple[Path, str]) -> None:
    """Counted anew from the trials file: four samples of each problem, some right sometimes."""
    run = run_folder(whole[0])
    with gzip.open(run / 'results' / MODEL / f'{SAMPLED}.trials.jsonl.gz', 'rt') as file:
        trials = [json.loads(line) for line in file]
    trials = [trial for trial in trials if 'verdict' in trial]
    details = result(run)['details']
    assert len(trials) == PROBLEMS * N
    assert len(details) == PROBLEMS
    for problem in details:
        verdicts = [t['verdict'] for t in trials if t['problem_id'] == problem['problem_id']]
        assert problem['c'] == verdicts.count('correct')
        assert problem['n'] == len(verdicts) - verdicts.count('unjudged')
    assert sum(0 < problem['c'] < N for problem in details) >= 3


def test_two_evaluations_at_once_share_the_verdicts_of_a_judge(
    whole: tuple[Path, str], judge: JudgeServer
) -> None:
    """None is lost, none is kept twice, no task waits for a lock; nothing is left unjudged.

    The judge was asked about what the rules did not confirm, at most once by each task.
    """
    run = run_folder(whole[0])
    ledgers = [result(run, name)['judging']['ledger'] for name in (SAMPLED, GREEDY)]
    assert judge.calls == sum(ledger['calls'] for ledger in ledgers) > 0
    assert max(judge.judged.values()) <= len(ledgers)
    assert all(ledger['saved']['rule'] for ledger in ledgers)
    assert [result(run, name)['shares']['coverage'] for name in (SAMPLED, GREEDY)] == [100, 100]
    with VerdictStore(run / 'verdicts.sqlite', read_only=True) as store:
        assert len(list(store.records())) == len(judge.judged)
    logs = list(run.glob(f'logs/eval/{MODEL}/*.out'))
    assert len(logs) == 2 and not [log for log in logs if 'locked' in log.read_text()]


def test_no_key_is_written(whole: tuple[Path, str]) -> None:
    """To no config, log, store or result, nor to the screen, though the judge was shown it."""
    written = [path for path in whole[0].rglob('*') if path.is_file()]
    assert len(written) > 10
    assert [path for path in written if KEY.encode() in path.read_bytes()] == []


@pytest.mark.slow
def test_a_model_that_failed_is_named_with_its_exception(tmp_path: Path) -> None:
    """In the summary; ``gpassk status`` says so too and exits with 1, where OpenCompass has 0."""
    write_config(tmp_path, BROKEN)
    assert start(tmp_path).wait(SECONDS) == 0
    screen = (tmp_path / 'screen.log').read_text()
    told = ' '.join(screen[screen.index('Check:') :].split())
    assert '! broken/' in told
    assert '/no/such/checkpoint' in told
    done = subprocess.run(
        [BIN / 'gpassk', 'status', run_folder(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert '/no/such/checkpoint' in done.stdout


def test_shards_differ(whole: tuple[Path, str]) -> None:
    """``--max-num-workers 2`` cuts the rows in two, of which each draws its own."""
    run = run_folder(whole[0])
    shards = [predictions(run, f'{SAMPLED}_{number}') for number in (0, 1)]
    assert [len(shard) for shard in shards] == [PROBLEMS * N // 2] * 2
    first, second = (
        [shard[key] for key in sorted(shard)] for shard in shards
    )  # replicas 0 and 1 of each problem; 2 and 3
    assert first != second


@pytest.mark.slow
def test_a_killed_job_resumes_to_what_shards_come_to(
    whole: tuple[Path, str], tmp_path: Path
) -> None:
    """Killed in the middle of inference by one worker, and resumed: nothing is inferred again."""
    write_config(tmp_path, SAMPLED_ALONE)
    outputs = tmp_path / 'outputs'

    def saved() -> int:
        files = list(outputs.glob(f'2*/predictions/{MODEL}/tmp_{SAMPLED}.jsonl'))
        return files[0].read_bytes().count(b'\n') if files else 0

    kill_when(start(tmp_path), lambda: saved() >= 16)
    kept = saved()
    assert 16 <= kept < PROBLEMS * N
    run = run_folder(tmp_path)
    assert not list(run.glob(f'predictions/{MODEL}/{SAMPLED}*.json'))

    opencompass(tmp_path, 'job.py', '-r', settings=SETTINGS)
    inferred = next(run.glob(f'logs/infer/{MODEL}/*.out')).read_text()
    assert f'{kept} of {PROBLEMS * N} responses are saved' in inferred
    (log,) = run.glob(f'logs/eval/{MODEL}/*.out')
    assert UNREAD in log.read_text()
    assert predictions(run) == predictions(run_folder(whole[0]))
    metrics, expected = result(run), result(run_folder(whole[0]))
    assert metrics['details'] == expected['details']
    assert metrics['counts'] == expected['counts']


@pytest.mark.slow
def test_responses_are_read_by_the_evaluator_that_is_started_alone(
    whole: tuple[Path, str], tmp_path: Path
) -> None:
    """OpenCompass's task hands nothing over, and the result is the same."""
    write_config(tmp_path, SAMPLED_ALONE)
    before = run_folder(whole[0])
    run = tmp_path / 'outputs' / before.name
    shutil.copytree(before / 'predictions', run / 'predictions')
    opencompass(tmp_path, 'job.py', '-r', '--max-num-workers', '2', '-m', 'eval', settings=SETTINGS)
    (log,) = run.glob(f'logs/eval/{MODEL}/*.out')
    assert UNREAD in log.read_text()
    found, expected = result(run), result(before)
    for one in (found, expected):
        one['judging'].pop('ledger')
    assert found == expected


@pytest.mark.slow
def test_the_first_problems_of_a_file_of_ones_own(tmp_path: Path) -> None:
    """From the command line alone: sampled and greedy in one table under the file's name."""
    rows = [{'question': f'If $7x+18={7 * x + 18}$, what is $x$?', 'answer': x} for x in range(6)]
    (tmp_path / 'equations.jsonl').write_text(''.join(json.dumps(row) + '\n' for row in rows))
    job = [
        *('--config-dir', str(ROOT / 'configs'), '--models', 'demo', '--summarizer', 'gpassk'),
        *('--datasets', 'custom_gpassk_gen', 'custom_gpassk_greedy_gen', '-w', 'outputs'),
    ]
    own = {'GPASSK_DATA': 'equations.jsonl', 'GPASSK_LIMIT': '5', 'GPASSK_JUDGE': 'rule'}
    screen = opencompass(tmp_path, *job, TASKS_HERE, settings={**SETTINGS, **own})
    results = run_folder(tmp_path) / 'results' / MODEL
    greedy, sampled = (json.loads(path.read_text()) for path in sorted(results.glob('*.json')))
    assert greedy['benchmark'] == sampled['benchmark'] == 'equations-first5'
    assert (sampled['counts']['trials'], greedy['counts']['trials']) == (5 * N, 5)
    assert 'equations-first5: 5 problems, n = 4, k = 4' in screen
