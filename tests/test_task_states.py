"""What became of a run's tasks is read from the files that they left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from made_runs import MadeRun

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.runs import task_states as task_states_module
from opencompass_gpassk.runs.config import find_run, planned_run, read_run_config
from opencompass_gpassk.runs.slurm_queue import WORKS
from opencompass_gpassk.runs.task_states import BY_SCANCEL, State, task_states


def states(run: MadeRun) -> dict[str, tuple[str, str, str, str]]:
    """Return ``model/dataset`` → (state, stage, reason, log)."""
    planned = planned_run(run.folder, read_run_config(run.folder))
    return {
        s.name: (s.state.value, s.stage, s.reason, s.log.rpartition('/')[2])
        for s in task_states(planned)
    }


def test_tasks_that_share_a_log_share_its_exception(tmp_path: Path) -> None:
    """What one task should have done after it died is named with what it died of."""
    run = MadeRun(tmp_path, ['m', 'other'], ['a', 'b', 'c', 'd'])
    run.infer_log('m', 'a', ['a', 'b', 'c'], 'torch.OutOfMemoryError: 20 GiB')
    run.infer_log('m', 'd', ['d'])
    run.predictions('m', 'a', 'd')
    run.result('m', 'a', {'accuracy': 1.0})
    run.result('m', 'd', {'accuracy': 1.0})
    for name in ('b', 'c'):
        run.eval_log('m', name, 'FileNotFoundError: Prediction files not found')
    died = ('failed', 'inference', 'OutOfMemoryError: 20 GiB', 'a.out')
    assert states(run) == {
        'm/a': ('finished', '', '', ''),
        'm/b': died,
        'm/c': died,
        'm/d': ('finished', '', '', ''),
        **{f'other/{name}': ('not started', '', '', '') for name in 'abcd'},
    }


def test_a_failed_evaluation_is_told_from_its_own_log(tmp_path: Path) -> None:
    """Once a data set is inferred, what befell its log's other data sets is not its reason."""
    run = MadeRun(tmp_path, ['m'], ['a', 'b'])
    run.infer_log('m', 'a', ['a', 'b'], 'ValueError: of b')
    run.predictions('m', 'a')
    run.eval_log('m', 'a', 'KeyError: of the evaluation')
    assert states(run) == {
        'm/a': ('failed', 'evaluation', 'KeyError: of the evaluation', 'a.out'),
        'm/b': ('failed', 'inference', 'ValueError: of b', 'a.out'),
    }


def test_without_an_infer_log_the_evaluation_tells(tmp_path: Path) -> None:
    """Where inference left no log, as under --debug, the evaluation's exception is given."""
    run = MadeRun(tmp_path, ['m'], ['a'])
    run.eval_log('m', 'a', 'FileNotFoundError: Prediction files not found')
    assert states(run)['m/a'][:2] == ('failed', 'evaluation')


def test_shards_belong_to_their_data_set(tmp_path: Path) -> None:
    """The task that contained a missing shard tells why; b_1 is a data set of its own."""
    run = MadeRun(tmp_path, ['m'], ['a', 'b', 'b_1'])
    run.infer_log('m', 'a_0', ['a_0', 'b'])
    run.infer_log('m', 'a_1', ['a_1', 'b_1'], 'RuntimeError: in shard 1')
    run.predictions('m', 'a_0', 'b')
    run.result('m', 'b', {'accuracy': 1.0})
    assert states(run) == {
        'm/a': ('failed', 'inference', 'RuntimeError: in shard 1', 'a_1.out'),
        'm/b': ('finished', '', '', ''),
        'm/b_1': ('failed', 'inference', 'RuntimeError: in shard 1', 'a_1.out'),
    }


@pytest.mark.parametrize('submitted_again', [False, True])
def test_a_dead_shard_is_named_while_others_work(
    submitted_again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its saved responses; unless Slurm has submitted it again."""
    run = MadeRun(tmp_path, ['m'], ['d'])
    for name, parts in (('d_1', ['d_1', 'd_3']), ('d_0', ['d_0', 'd_2'])):
        run.infer_log('m', name, parts)
    cancelled, healthy = (tmp_path / 'logs/infer/m' / f'{name}.out' for name in ('d_1', 'd_0'))
    cancelled.write_text(f'{cancelled.read_text()}\nsrun: error: Terminated\n{BY_SCANCEL}\n')
    os.utime(cancelled, (1, 1))
    os.utime(healthy, (2, 2))
    run.predictions('m', 'd_0')
    (tmp_path / 'predictions/m/tmp_d_1.jsonl').write_text('{}\n' * 22)
    queue = dict.fromkeys(['m/d_2', *(['m/d_1', 'm/d_3'] if submitted_again else [])], WORKS)
    monkeypatch.setattr(task_states_module, 'in_queue', lambda: queue)
    (state,) = task_states(planned_run(tmp_path, read_run_config(tmp_path)))
    assert state.state is State.UNFINISHED
    place = f'{BY_SCANCEL} (logs/infer/m/d_1.out)'
    died = {
        'd_1': f'22 responses saved; {place}',
        'd_2': WORKS,
        'd_3': f'0 responses saved; {place}',
    }
    told = dict.fromkeys(died, WORKS) if submitted_again else died
    assert state.as_dict()['parts'] == state.parts == told
    monkeypatch.setattr(task_states_module, 'in_queue', dict)
    os.utime(cancelled, (3, 3))
    (state,) = task_states(planned_run(tmp_path, read_run_config(tmp_path)))
    assert (state.state, state.reason) == (State.FAILED, BY_SCANCEL)


@pytest.mark.parametrize('left', ['gap', 'progress', 'log'])
def test_a_result_on_part_of_the_predictions_is_unfinished(tmp_path: Path, left: str) -> None:
    """A shard is known to be missing from a gap, from its progress or from its task's log."""
    run = MadeRun(tmp_path, ['m'], ['a'])
    run.predictions('m', 'a_0')
    if left == 'gap':
        run.predictions('m', 'a_2')
    if left == 'progress':
        run.progress('m', 'a_1')
    if left == 'log':
        run.infer_log('m', 'a_1', ['a_1'])
    run.result('m', 'a', {'accuracy': 50.0})
    assert states(run)['m/a'][:3] == (
        'unfinished',
        'inference',
        'a_1 missing; interrupted or still running',
    )


@pytest.mark.parametrize(
    'error',
    [
        "ModuleNotFoundError: No module named 'ray'",
        "ImportError: cannot import name 'APIClient' from 'lmdeploy.serve.openai'",
        'AssertionError: Please install VLLM with `pip install vllm`.',
    ],
)
def test_an_engine_that_the_wrapper_does_not_know_has_a_remedy(tmp_path: Path, error: str) -> None:
    """Newer releases are served, and asked by their URL."""
    run = MadeRun(tmp_path, ['m'], ['a'])
    run.infer_log('m', 'a', ['a'], error)
    state, _, told, _ = states(run)['m/a']
    assert state == 'failed'
    assert error in told
    assert 'URL' in told


@pytest.mark.parametrize(
    ('result', 'reason'),
    [
        ({'error': 'preds and refrs have different length'}, 'preds and refrs have different'),
        ('{"accuracy": 5', 'results/m/a.json: not readable: Expecting'),
        ('[' * 500_000, 'results/m/a.json: not readable: maximum recursion depth'),
        ('[1]', 'results/m/a.json: not readable: it holds no object'),
    ],
    ids=['an error', 'torn', 'deep', 'a list'],
)
def test_a_result_that_is_none_is_a_failure(
    tmp_path: Path, result: dict[str, str] | str, reason: str
) -> None:
    """An evaluator's error and a torn file are failures, though the file is there."""
    run = MadeRun(tmp_path, ['m'], ['a'])
    run.predictions('m', 'a')
    run.result('m', 'a', result)
    state, stage, told, _ = states(run)['m/a']
    assert (state, stage) == ('failed', 'evaluation')
    assert reason in told


def test_the_config_says_what_should_be_there(tmp_path: Path) -> None:
    """Combinations of models and data sets are read from it."""
    more = (
        "model_dataset_combinations = [dict(models=[dict(abbr='m')], datasets=[dict(abbr='a'), "
        "dict(abbr='b')]), dict(models=[dict(abbr='o')], datasets=[dict(abbr='a')])]"
    )
    run = MadeRun(tmp_path, ['m', 'o'], ['a', 'b'], more)
    planned = planned_run(tmp_path, read_run_config(run.folder))
    assert planned.pairs == [('m', 'a'), ('m', 'b'), ('o', 'a')]


def test_names_are_opencompass_names() -> None:
    """Models and data sets without an abbr are called what OpenCompass calls them."""
    from mmengine.config import ConfigDict
    from opencompass.utils import dataset_abbr_from_cfg, model_abbr_from_cfg

    models = [
        ConfigDict(type='opencompass.models.X', path='org/name'),
        [ConfigDict(abbr='a'), ConfigDict(abbr='b')],
    ]
    datasets = [ConfigDict(path='org/data', name='main'), ConfigDict(path='org/data')]
    planned = planned_run(Path(), {'models': models, 'datasets': datasets})
    assert planned.pairs == [
        (model_abbr_from_cfg(m), dataset_abbr_from_cfg(d)) for m in models for d in datasets
    ]


def test_a_work_dir_means_its_newest_run(tmp_path: Path) -> None:
    """Other folders and files in the work dir don't matter; without a run there is an error."""
    with pytest.raises(ValueError, match='there is no run of OpenCompass'):
        find_run(tmp_path)
    for name in ('20260101_000000', '20260102_000000'):
        MadeRun(tmp_path / name, ['m'], ['a'])
    (tmp_path / 'zzz').mkdir()
    assert find_run(tmp_path).name == '20260102_000000'
    assert find_run(tmp_path / '20260101_000000').name == '20260101_000000'


def test_the_command_tells_scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``gpassk status`` exits 1 until all is finished, and names what is not."""
    run = MadeRun(tmp_path / '20260101_000000', ['m'], ['a', 'b'])
    run.infer_log('m', 'a', ['a', 'b'], 'ValueError: \x1b[2Jbad')
    run.predictions('m', 'a')
    run.result('m', 'a', {'accuracy': 1.0})
    assert main(['status', str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert 'm/b  failed in inference: ValueError: �[2Jbad (logs/infer/m/a.out)' in out
    assert '\n1 of 2 finished' in out and f'-w {tmp_path} -r {run.folder.name}' in out
    run.predictions('m', 'b')
    run.result('m', 'b', {'accuracy': 1.0})
    assert main(['status', str(tmp_path), '--json']) == 0
    tasks = json.loads(capsys.readouterr().out)['tasks']
    assert [task['state'] for task in tasks] == ['finished', 'finished']


def test_the_command_names_what_is_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A folder without a run is an error with a remedy, not a traceback."""
    assert main(['status', str(tmp_path)]) == 1
    assert 'name its work dir' in capsys.readouterr().err


def test_the_command_does_not_import_opencompass(tmp_path: Path) -> None:
    """A status is told at once."""
    MadeRun(tmp_path / '20260101_000000', ['m'], ['a'])
    code = (
        'import sys; from opencompass_gpassk.commands.main import main; '
        f'main(["status", {str(tmp_path)!r}]);'
        'assert not {"torch", "opencompass"} & set(sys.modules)'
    )
    subprocess.run([sys.executable, '-c', code], check=True, capture_output=True)
