"""A job on a real Slurm of two nodes: one shard cancelled, and resumed with fewer workers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from opencompass_here import job_here
from slurm_cluster import slurm, why_not

import opencompass_gpassk.commands.run
from opencompass_gpassk.commands.main import main
from opencompass_gpassk.trials import Verdict, read_trials

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
N, PROBLEMS = 8, 6
SECONDS = 200
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(why_not() is not None, reason=f'NO SLURM TESTED: {why_not()}'),
]


@pytest.fixture(scope='module')
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The variables by which commands find the Slurm of these tests."""
    with ExitStack() as stack:
        try:
            variables = stack.enter_context(slurm(tmp_path_factory.mktemp('slurm')))
        except RuntimeError as error:
            pytest.skip(f'NO SLURM TESTED: {error}')
        yield variables


def command(folder: Path, variables: dict[str, str], *words: str) -> subprocess.Popen[str]:
    """Start one of the environment's programs in a folder."""
    kept = {name: value for name, value in os.environ.items() if 'GPASSK_' not in name}
    return subprocess.Popen(
        [BIN / words[0], *words[1:]],
        cwd=folder,
        env={**kept, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def responses(folder: Path) -> dict[tuple[str, int], str]:
    """Return problem and replica → text; each is there once."""
    found: list[tuple[tuple[str, int], str]] = []
    for path in folder.glob('2*/predictions/*/*.json'):
        rows: dict[str, Any] = json.loads(path.read_text())
        found += [((r['problem_id'], r['replica']), r['prediction']) for r in rows.values()]
    assert max(Counter(key for key, _ in found).values()) == 1
    return dict(found)


def verdicts(folder: Path) -> dict[tuple[str, int], Verdict]:
    """Return problem and replica → verdict, of the only result."""
    (path,) = folder.glob('2*/results/*/*.trials.jsonl.gz')
    return {(one.problem_id, one.replica): one.verdict for one in read_trials(path)[0].trials}


def until(done: Callable[[], Any], process: subprocess.Popen[str]) -> Any:
    """Return what a look finds as soon as it finds something."""
    end = time.monotonic() + SECONDS
    while not (found := done()):
        assert process.poll() is None and time.monotonic() < end, process.communicate()[0]
        time.sleep(0.1)
    return found


def test_a_cancelled_shard_stays_cancelled_until_the_job_is_resumed(
    tmp_path: Path, cluster: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three workers, one shard cancelled, two workers: as on one machine."""
    # Small batches, so that there are three shards, and time to cancel one.
    Path(tmp_path, 'small.py').write_text(
        'from mmengine.config import read_base\n'
        'with read_base():\n'
        '    from opencompass_gpassk.configs.models.demo import models\n'
        "models[0]['batch_size'] = 1\n"
    )
    job = ['gpassk', 'run', '--model', 'small.py', '--data', 'sample']
    job += [f'--limit={PROBLEMS // 2}', '-n', f'{N}']  # questions, in two languages each
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as here:
        here.setattr(opencompass_gpassk.commands.run, '_opencompass', job_here)
        assert main([*job[1:], '--work-dir', 'local']) == 0
    job += ['--work-dir', 'run', '--slurm', 'debug', '--workers']
    run = tmp_path / 'run'
    first = command(tmp_path, cluster, *job, '3')

    def queue() -> dict[str, str]:
        told = subprocess.run(
            ['squeue', '-h', '-t', 'R', '-o', '%i %j'],
            env={**os.environ, **cluster},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        return {name: number for number, _, name in (x.partition(' ') for x in told.splitlines())}

    def with_responses() -> list[str]:
        begun = run.glob('2*/predictions/*/tmp_*.jsonl')
        shards = [path.stem.removeprefix('tmp_') for path in begun if path.stat().st_size]
        jobs = queue().items()
        return [number for name, number in jobs for shard in shards if f'/{shard}]' in name]

    number, *_ = until(with_responses, first)
    assert re.match(r'\d-OpenIC', next(name for name, one in queue().items() if one == number))
    subprocess.run(['scancel', number], env={**os.environ, **cluster}, check=True)
    told, _ = first.communicate(timeout=SECONDS)
    assert first.returncode == 1, told
    state, _ = command(tmp_path, cluster, 'gpassk', 'status', 'run').communicate(timeout=SECONDS)
    print(told, state, sep='\n')
    assert re.search(r'_\d: [1-9]\d* responses? saved; cancelled with scancel \(logs/infer/', state)
    assert len(responses(run)) < N * PROBLEMS
    second = command(tmp_path, cluster, *job, '2', '--resume')
    told, _ = second.communicate(timeout=SECONDS)
    print(told)
    assert second.returncode == 0, told
    drawn = responses(run)
    assert len(drawn) == N * PROBLEMS
    alone = responses(tmp_path / 'local')
    assert drawn.keys() == alone.keys()
    equal = [key for key in drawn if drawn[key] == alone[key]]
    assert equal
    here, there = verdicts(tmp_path / 'local'), verdicts(run)
    assert [here[key] for key in equal] == [there[key] for key in equal]


def test_opencompass_itself_submits_a_config(tmp_path: Path, cluster: dict[str, str]) -> None:
    """The main job, whose runners the command replaces."""
    settings = {'GPASSK_LIMIT': '4', 'GPASSK_N': '4', 'GPASSK_K': '2'}
    job = ['opencompass', str(ROOT / 'configs/eval_livemath.py'), '--slurm', '-p', 'debug']
    job += ['--retry', '0', '--max-num-workers', '1', '-w', 'main']
    process = command(tmp_path, {**cluster, **settings}, *job)
    told, _ = process.communicate(timeout=SECONDS)
    print(told)
    state = command(tmp_path, cluster, 'gpassk', 'status', 'main')
    print(state.communicate(timeout=SECONDS)[0])
    assert process.returncode == state.returncode == 0
    files = list((tmp_path / 'main').glob('2*/predictions/*/*.json'))
    assert sum(len(json.loads(path.read_text())) for path in files) == 8 * (1 + 4)
