"""Logs of inspect_ai: both formats, several layouts, damaged and hostile ones."""

from __future__ import annotations

import copy
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from backports.zstd import zipfile as zstd
from tool_logs import LOGS, check_counts, scored

from opencompass_gpassk.formats.stored_files import RESULT_BYTES
from opencompass_gpassk.samples.sample_files import read_samples

JSON = LOGS / 'inspect/arithmetic.json'
LOG = json.loads(JSON.read_text('utf-8'))


def log(*samples: Any) -> dict[str, Any]:
    """The real log with other samples."""
    return {**LOG, 'samples': list(samples)}


def changed(**fields: Any) -> dict[str, Any]:
    """The first sample of the real log with some fields changed."""
    return {**copy.deepcopy(LOG['samples'][0]), **fields}


def packed(path: Path, members: dict[str, Any], kind: int = zipfile.ZIP_DEFLATED) -> str:
    """A zip file; members are values or texts."""
    with zipfile.ZipFile(path, 'w', kind) as file:
        for name, value in members.items():
            file.writestr(name, value if isinstance(value, str) else json.dumps(value))
    return str(path)


@pytest.mark.parametrize('form', ['json', 'eval'])
def test_a_real_log_is_scored(form: str, tmp_path: Path) -> None:
    """A log gives the counts that its own texts give, its tokens, and its verdicts."""
    result, trials = scored(tmp_path, JSON.with_suffix(f'.{form}'))
    samples = LOG['samples']
    check_counts(
        result,
        trials,
        [
            (str(one['id']), one['output']['choices'][0]['message']['content'], one['target'])
            for one in samples
        ],
    )
    assert result['model'] == 'mockllm/model'
    lengths = [one['output']['usage']['output_tokens'] for one in samples]
    assert sorted(t.num_tokens for t in trials) == sorted(lengths)
    assert [t.problem_id for t in trials if t.truncated] == ['4']
    theirs = [one['scores']['match']['value'] == 'C' for one in samples]
    assert sum(t.other_verdict.value == 'correct' for t in trials) == sum(theirs)
    assert {t.other_source for t in trials} == {'inspect: match'}


def test_a_folder_of_logs_is_joined(tmp_path: Path) -> None:
    """Logs are found by their names; two of one model and task are joined."""
    for hour in (10, 11):
        samples = [{**one, 'uuid': f'{hour} {one["uuid"]}'} for one in LOG['samples']]
        name = f'2026-01-01T{hour}-00-00_arithmetic_x.json'
        (tmp_path / name).write_text(json.dumps(log(*samples)))
    (tmp_path / 'notes.json').write_text('{}')
    result, _ = scored(tmp_path, tmp_path)
    assert [row['n'] for row in result['details']] == [8] * 5


@pytest.mark.parametrize(
    ('fields', 'text', 'truncated', 'verdict'),
    [
        ({}, r'The answer is \boxed{42}.', False, 'correct'),
        ({'scores': None}, r'The answer is \boxed{42}.', False, None),
        ({'scores': {'judge': {'value': 0.5}}}, r'The answer is \boxed{42}.', False, None),
        ({'scores': {'judge': {'value': {'a': 1}}}}, r'The answer is \boxed{42}.', False, None),
        (
            {'scores': None, 'score': {'value': 'I'}},
            r'The answer is \boxed{42}.',
            False,
            'incorrect',
        ),
        ({'target': ['42']}, r'The answer is \boxed{42}.', False, 'correct'),
        ({'output': {'choices': []}}, '', None, None),
        ({'output': None}, r'The answer is \boxed{42}.', None, 'correct'),
        ({'output': None, 'messages': []}, '', None, None),
        ({'error': {'message': 'x'}}, '', False, None),
        ({'limit': {'type': 'token'}}, r'The answer is \boxed{42}.', True, 'correct'),
        (
            {
                'output': {
                    'choices': [
                        {
                            'message': {
                                'content': [
                                    {'type': 'reasoning', 'reasoning': '43?'},
                                    {'type': 'text', 'text': '42'},
                                ]
                            },
                            'stop_reason': 'length',
                        }
                    ]
                }
            },
            '42',
            True,
            'correct',
        ),
        (
            {'input': [{'role': 'system', 'content': 's'}, {'role': 'user', 'content': 'q'}]},
            r'The answer is \boxed{42}.',
            False,
            'correct',
        ),
    ],
)
def test_layouts(
    fields: dict[str, Any], text: str, truncated: bool | None, verdict: str | None, tmp_path: Path
) -> None:
    """Old layouts, failed samples and content of several parts are read."""
    path = tmp_path / 'a.json'
    path.write_text(json.dumps(log(changed(**fields))))
    response, *missing = read_samples(str(path)).responses
    assert [one.lost for one in missing] == ['not in the log'] * 3
    assert (response.text, response.truncated) == (text, truncated)
    assert bool(response.lost) == (not text)
    assert (response.other_verdict and response.other_verdict.value) == verdict


@pytest.mark.parametrize(
    ('sample', 'message'),
    [
        (None, 'record 0: a row is an object'),
        ({}, 'record 0: field input is missing'),
        (changed(input=[]), 'field input: no message in it has the role user'),
        (changed(input=[{'role': 'user'}]), 'field content is missing'),
        (changed(target=['1', {}]), 'field target is .*not a text'),
        (changed(target=None), 'field target: the gold answer is missing'),
        (changed(id=[1]), 'field id is list'),
        (changed(output=[1]), 'field output is list'),
        (changed(output={'choices': [None]}), r'field choices\[0\].message is missing'),
        (changed(output={'choices': [{'message': {'content': 1}}]}), 'field content is int'),
        (changed(output={'choices': {'a': 1}}), r'field choices\[0\] is missing'),
        (
            changed(output={**LOG['samples'][0]['output'], 'usage': {'output_tokens': -1}}),
            r'samples\[0\].tokens is -1',
        ),
    ],
)
def test_faults_of_samples(sample: Any, message: str, tmp_path: Path) -> None:
    """A malformed sample is an error that names file, record and field."""
    path = tmp_path / 'a.json'
    path.write_text(json.dumps(log(sample)))
    with pytest.raises(ValueError, match=rf'a\.json, {message}|a\.json, record 0.*{message}'):
        read_samples(str(path))


def test_a_log_without_samples_is_told(tmp_path: Path) -> None:
    """A header alone, or a list of none, is not a log with responses."""
    path = tmp_path / 'a.json'
    path.write_text(json.dumps({**LOG, 'samples': None}))
    with pytest.raises(ValueError, match=r'a\.json, .*a log of inspect without samples'):
        read_samples(str(path))
    path.write_text(json.dumps(log()))
    with pytest.raises(ValueError, match='there is no usable row'):
        read_samples(str(path))
    header = {key: value for key, value in LOG.items() if key != 'samples'}
    with pytest.raises(ValueError, match='there is no usable row'):
        read_samples(packed(tmp_path / 'a.eval', {'header.json': header}))


def test_a_large_json_file_is_told(tmp_path: Path) -> None:
    """It would not fit into memory; the message names the format that is read bit by bit."""
    path = tmp_path / 'a.json'
    path.write_text('{' + ' ' * RESULT_BYTES)
    with pytest.raises(ValueError, match=r'a\.json: .*larger than .* inspect log convert'):
        read_samples(str(path))


@pytest.mark.parametrize(
    ('members', 'message'),
    [
        ({'header.json': LOG, 'samples/1.json': ' ' * (RESULT_BYTES + 1)}, '1.json: it is larger'),
        ({'header.json': ' ' * (RESULT_BYTES + 1), 'samples/1.json': {}}, 'it is larger'),
        ({'header.json': '[' * 100_000, 'samples/1.json': {}}, 'not JSON'),
        ({'header.json': LOG, 'samples/1.json': '[' * 100_000}, '1.json: not JSON'),
        ({'header.json': LOG, 'samples/1.json': '\udc80'}, '1.json: not'),
        ({'header.json': {'eval': {}}, 'samples/1.json': {}}, 'field eval.model is missing'),
        ({'header.json': {'eval': []}, 'samples/1.json': {}}, 'field eval.model is missing'),
        ({'samples/1.json': {}}, 'no header.json'),
        ({'a.txt': 'a'}, 'no header.json, so it is no log'),
        ({}, 'not|no'),
    ],
)
def test_hostile_zip_files(members: dict[str, Any], message: str, tmp_path: Path) -> None:
    """Members that unpack to much, nest deeply, or are none are an error that names the file."""
    path = tmp_path / 'a.eval'
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as file:
        for name, value in members.items():
            text = value if isinstance(value, str) else json.dumps(value)
            file.writestr(name, text.encode('utf-8', 'surrogateescape'))
    with pytest.raises(ValueError, match=rf'a\.eval.*({message})'):
        read_samples(str(path))


def test_a_zip_file_that_lies(tmp_path: Path) -> None:
    """A member that says it is small is unpacked no further than it says; a cut file is told."""
    members = {'header.json': LOG, 'samples/1.json': ' ' * (1 << 26)}
    path = Path(packed(tmp_path / 'a.eval', members))
    data = path.read_bytes()
    true = (1 << 26).to_bytes(4, 'little')
    path.write_bytes(data.replace(true, (100).to_bytes(4, 'little')))
    with pytest.raises(ValueError, match=r'a\.eval, samples/1\.json: (damaged|not JSON)'):
        read_samples(str(path))
    path.write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=r'a\.eval: not a zip file'):
        read_samples(str(path))


def test_a_bomb_of_zstd(tmp_path: Path) -> None:
    """A small member that unpacks to gigabytes is unpacked no further than it says."""
    path = tmp_path / 'a.eval'
    with zstd.ZipFile(path, 'w', zstd.ZIP_ZSTANDARD) as file:
        file.writestr('header.json', json.dumps(LOG))
        file.writestr('samples/1.json', ' ' * (1 << 26))
    path.write_bytes(path.read_bytes().replace((1 << 26).to_bytes(4, 'little'), b'\x64\0\0\0'))
    with pytest.raises(ValueError, match=r'a\.eval, samples/1\.json: (damaged|not JSON)'):
        read_samples(str(path))
