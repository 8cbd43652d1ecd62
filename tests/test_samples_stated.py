"""What a log says of itself: what it planned and lacks, and how its responses were drawn."""

from __future__ import annotations

import copy
import json
import math
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tool_logs import LOGS

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.samples.sample_files import read_samples

LOG = json.loads(
    (LOGS / 'inspect/arithmetic.json').read_text('utf-8')
)  # five problems, four epochs
LM_EVAL = next((LOGS / 'lm_eval').rglob('samples_*.jsonl'))
Change = Callable[[dict[str, Any]], object]


def inspect_log(path: Path, *changes: Change) -> str:
    """The log with changes, in a file."""
    log = copy.deepcopy(LOG)
    for change in changes:
        change(log)
    path.write_text(json.dumps(log))
    return str(path)


def scored(folder: Path, *argv: str) -> dict[str, Any]:
    """The result of ``gpassk score``."""
    assert main(['score', *argv, '-k', '2', '-o', str(folder / 'r.json')]) == 0
    found: dict[str, Any] = json.loads((folder / 'r.json').read_text('utf-8'))
    return found


def without_keys(log: dict[str, Any]) -> None:
    """As in logs before 0.3.70."""
    for sample in log['samples']:
        del sample['uuid']


def only(count: int) -> Change:
    """Only the first samples to the first two problems."""
    return lambda log: log.update(samples=[s for s in log['samples'] if s['id'] in (1, 2)][:count])


def cancelled(log: dict[str, Any]) -> None:
    """As when somebody stopped the evaluation, which has no results then."""
    log.update(status='cancelled', results=None)


def test_what_the_header_plans_and_the_log_lacks_is_missing(tmp_path: Path) -> None:
    """Samples of a problem, and whole problems, count as lost requests do."""
    result = scored(tmp_path, inspect_log(tmp_path / 'a.json', only(6), cancelled))
    assert result['counts']['problems'] == 5
    assert (result['counts']['trials'], result['counts']['lost']) == (20, 14)
    assert result['signature']['n'] == 4
    told = ' '.join(result['warnings'])
    assert '2 samples lost: not in the log' in told
    assert '12 samples lost: none to its problem is in the log' in told
    assert 'the log says status cancelled' in told


def test_a_dropped_member_is_missing(tmp_path: Path) -> None:
    """One flipped bit in the name of a zip file's member does not pass in silence."""
    path = tmp_path / 'a.eval'
    data = (LOGS / 'inspect/arithmetic.eval').read_bytes()
    path.write_bytes(data.replace(b'samples/2_epoch_3', b'sampmes/2_epoch_3'))
    result = scored(tmp_path, str(path))
    assert '1 sample lost: not in the log' in result['warnings']
    assert (result['counts']['trials'], result['counts']['lost']) == (20, 1)


def test_errors_and_limits_are_counted(tmp_path: Path) -> None:
    """A sample with an error has no response; one that a limit ended was cut off."""

    def change(log: dict[str, Any]) -> None:
        log['samples'][0]['error'] = {'message': 'CUDA', 'traceback': ''}
        log['samples'][1]['limit'] = {'type': 'token', 'limit': 9}
        log['invalidated'] = True

    result = scored(tmp_path, inspect_log(tmp_path / 'a.json', change))
    told = ' '.join(result['warnings'])
    assert '1 sample lost: the log says that it ended in an error' in told
    assert '1 row ended by a limit (token)' in told
    assert 'invalidated' in told
    assert (result['counts']['lost'], result['counts']['truncated']) == (1, 2)


@pytest.mark.parametrize('keys', [True, False])
def test_a_cancelled_log_and_its_retry_are_one(keys: bool, tmp_path: Path) -> None:
    """What was drawn before counts once; what was lost is made up."""
    change = () if keys else (without_keys,)

    def failed(log: dict[str, Any]) -> None:
        log['samples'][3].update(error={'message': 'x'}, uuid='another')
        if not keys:
            del log['samples'][3]['uuid']

    whole = inspect_log(tmp_path / 'b.json', *change)
    ended = inspect_log(tmp_path / 'a.json', only(7), cancelled, *change, failed)
    alone = scored(tmp_path, whole)
    both = scored(tmp_path, ended, whole)
    again = scored(tmp_path, whole, ended)
    for key in ('metrics', 'counts', 'details'):
        assert both[key] == alone[key] == again[key]
    repeated = [one for one in both['warnings'] if 'repeat those of another file' in one]
    assert len(repeated) == (0 if keys else 1)


def test_logs_that_were_drawn_in_other_ways_are_not_joined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The fields are named; --join-anyway names them in the result."""

    def warmer(log: dict[str, Any]) -> None:
        log['plan']['config'] = {'temperature': 0.3, 'seed': 7}
        for number, sample in enumerate(log['samples']):
            sample['uuid'] = f'other {number}'

    def cooler(log: dict[str, Any]) -> None:
        log['plan']['config'] = {'temperature': 0.9}

    files = [
        inspect_log(tmp_path / f'{name}.json', change)
        for name, change in (('a', cooler), ('b', warmer))
    ]
    assert main(['score', *files, '-k', '2']) == 1
    told = capsys.readouterr().err
    assert 'the logs differ in temperature (0.9 in' in told
    assert 'seed' not in told
    result = scored(tmp_path, *files, '--join-anyway')
    assert result['signature']['n'] == 8
    assert 'joined by --join-anyway, though the logs differ in temperature' in result['warnings'][0]


def test_two_models_under_one_name_are_not_joined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """--model names a result; it does not make one model of two."""
    first_log = inspect_log(tmp_path / 'a.json')
    second = inspect_log(tmp_path / 'b.json', lambda log: log['eval'].update(model='m/other'))
    folders = [tmp_path / name for name in ('org__one', 'org__two')]
    for folder in folders:
        shutil.copytree(LM_EVAL.parent, folder)
    for pair in ((first_log, second), folders):
        assert main(['score', *map(str, pair), '--model', 'mine']) == 1
        assert 'the logs differ in model' in capsys.readouterr().err


def test_files_without_a_model_are_joined_by_its_name_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files of five temperatures are not one model with five times as many samples."""
    row = {'question': 'q', 'answer': '1', 'samples': ['1', '2']}
    for number in range(2):
        (tmp_path / f't{number}.jsonl').write_text(
            json.dumps(row | {'samples': [f'\\boxed{{{number}}}', '2']})
        )
    files = [str(tmp_path / f't{number}.jsonl') for number in range(2)]
    assert main(['score', *files, '-k', '2']) == 1
    assert '--model NAME' in capsys.readouterr().err
    assert scored(tmp_path, *files, '--model', 'm')['signature']['n'] == 4


def test_other_prompts_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same documents after other examples, or other settings, were drawn in another way."""
    for name, old, new in (
        ('a', '', ''),
        ('b', '"arg_0": "', '"arg_0": "An example. '),
        ('c', '"temperature": ', '"temperature": 1'),
    ):
        text = LM_EVAL.read_text('utf-8')
        (tmp_path / name).mkdir()
        (tmp_path / name / LM_EVAL.name).write_text(text.replace(old, new) if old else text)
    files = [str(tmp_path / name / LM_EVAL.name) for name in 'abc']
    for other, field in ((files[1], 'prompt'), (files[2], 'generation')):
        assert main(['score', files[0], other, '--model', 'm']) == 1
        assert f'the logs differ in {field}' in capsys.readouterr().err


def test_every_document_of_every_filter_is_read(tmp_path: Path) -> None:
    """Those that only a second filter has too; what repeats is counted."""
    rows = [json.loads(line) for line in LM_EVAL.read_text('utf-8').splitlines()]
    path = tmp_path / 'samples_a.jsonl'
    path.write_text(''.join(json.dumps(row) + '\n' for row in rows[1:]))
    found = read_samples(str(path))
    assert sorted(one.problem_id for one in found.problems) == ['0', '1', '2', '3', '4']
    (told,) = found.stated.warnings
    assert told == '4 rows passed over: the same responses, under another filter'
    twice = {**rows[0], 'resps': [['a'], ['b']]}
    path.write_text(json.dumps(twice))
    assert [one.text for one in read_samples(str(path)).responses] == ['a', 'b']


def test_the_summary_beside_a_log_says_what_was_planned(tmp_path: Path) -> None:
    """Documents that the log lacks are missing."""
    folder = tmp_path / LM_EVAL.parent.name
    shutil.copytree(LM_EVAL.parent, folder)
    summary = next(folder.glob('results_*.json'))
    planned = {'n-samples': {'arithmetic': {'original': 100, 'effective': 5}}}
    summary.write_text(json.dumps(json.loads(summary.read_text('utf-8')) | planned))
    path = folder / LM_EVAL.name
    lines = path.read_text('utf-8').splitlines()
    path.write_text('\n'.join(line for line in lines if json.loads(line)['doc_id'] != 3))
    result = scored(tmp_path, str(path))
    assert (result['counts']['problems'], result['counts']['lost']) == (5, 4)


def test_a_promise_that_nobody_keeps_is_refused(tmp_path: Path) -> None:
    """A header may name any number."""
    path = inspect_log(tmp_path / 'a.json', lambda log: log['eval']['config'].update(epochs=10**8))
    with pytest.raises(ValueError, match=r'a\.json: it says that \d+ more samples were planned'):
        read_samples(path)


def test_an_evaluation_that_broke_off_has_a_journal(tmp_path: Path) -> None:
    """Its header is the journal's; what it planned and did not write is missing."""
    path = tmp_path / 'a.eval'
    with zipfile.ZipFile(path, 'w') as file:
        file.writestr('_journal/start.json', json.dumps({'eval': LOG['eval'], 'plan': LOG['plan']}))
        for sample in LOG['samples'][:8]:
            name = f'samples/{sample["id"]}_epoch_{sample["epoch"]}.json'
            file.writestr(name, json.dumps({**sample, 'scores': {'match': {'value': math.nan}}}))
    result = scored(tmp_path, str(path))
    assert (result['counts']['trials'], result['counts']['lost']) == (20, 12)
    assert 'the log says status started' in result['warnings']


REAL = [  # layouts of earlier versions: problems, n and right responses, counted of the raw files
    ('samples_gsm8k_2024-09-08T05-42-41.351110.jsonl', 3, 4, 8),
    ('samples_gsm8k_2024-06-08T05-42-41.351110.json', 3, 4, 8),
    ('pretrained__m_gsm8k.jsonl', 3, 4, 8),
    ('lighteval_0.3-0.10_layout.parquet', 3, 4, 9),
    ('2025-01-01T00-00-02_longd.json', 10, 4, 27),
    ('listans.jsonl', 6, 2, 6),
]


@pytest.mark.skipif('GPASSK_TEST_DATA' not in os.environ, reason='GPASSK_TEST_DATA is not set')
@pytest.mark.parametrize(('name', 'problems', 'n', 'right'), REAL)
def test_logs_of_earlier_versions(
    name: str, problems: int, n: int, right: int, tmp_path: Path
) -> None:
    """Each gives the counts that its own texts give."""
    result = scored(tmp_path, str(Path(os.environ['GPASSK_TEST_DATA']) / 'logs' / name))
    found = result['counts']['problems'], result['signature']['n'], result['counts']['correct']
    assert found == (problems, n, right)
