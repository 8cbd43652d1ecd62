"""What a command writes never replaces what it reads, and goes through no link that was planted."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest
from sent_run import SentRun

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.formats.stored_files import appended, written_whole
from opencompass_gpassk.inference.progress_files import Progress
from opencompass_gpassk.runs.running_job import LOG
from opencompass_gpassk.runs.task_states import tell_end


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files of all kinds that commands read: samples, a result with its trials, and others."""
    monkeypatch.chdir(tmp_path)
    row = {'question': '1 + 1 = ?', 'answer': '2', 'samples': [r'\boxed{2}', r'\boxed{3}']}
    Path('samples.jsonl').write_text(json.dumps(row) + '\n')
    assert main(['score', 'samples.jsonl', '-o', 'z.json']) == 0
    Path('logs').mkdir()
    Path('y.trials.jsonl.gz').write_text(json.dumps(row) + '\n')
    log = {'doc_id': 0, 'doc': row, 'target': '2', 'resps': [row['samples']]}  # as of lm-eval
    Path('logs/samples_a.jsonl').write_text(json.dumps(log) + '\n')
    Path('scored.jsonl').write_text('{"validity": 1.0, "redundancy": 0.0}\n')
    Path('mine.py').write_text("models = [dict(abbr='a', type='b', path='c')]\n")
    Path('link.json').symlink_to('samples.jsonl')
    Path('hard.json').hardlink_to('samples.jsonl')
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    """Return the bytes of all files."""
    return {str(one): one.read_bytes() for one in folder.rglob('*') if one.is_file()}


@pytest.mark.parametrize(
    'command',
    [
        'score samples.jsonl -o samples.jsonl',
        'score samples.jsonl -o .',
        'score samples.jsonl -o planted.json',
        'score samples.jsonl -o ../{here}/samples.jsonl',
        'score samples.jsonl -o link.json',
        'score samples.jsonl -o hard.json',
        'score link.json -o samples.jsonl',
        'score y.trials.jsonl.gz --format rows -o y.json',
        'score logs -o logs/samples_a.jsonl',
        'report z.json -o z.json',
        'report z.json -o z.trials.jsonl.gz',
        'report z.trials.jsonl.gz -o z.json',
        'report . -o z.json',
        'report z.json -o samples.jsonl',
        'compare z.json z.json --json samples.jsonl',
        'score y.trials.jsonl.gz --format rows -o samples.jsonl',
        'report run -o run/predictions/demo/sample-n2.json',
        'compare z.json z.json --json z.json',
        'compare z.json . --json z.trials.jsonl.gz',
        'audit z.json -o samples',
        'audit z.json recorded judge:samples.jsonl --draw samples.jsonl',
        'rv generate --from mine.py -o mine.py',
        'reasoneval filter scored.jsonl -o scored.jsonl',
        'reasoneval meta --data . --scores scored.jsonl -o scored.jsonl',
        'reasoneval score samples.jsonl --model demo -o samples.jsonl',
        'reasoneval train scored.jsonl --backbone run -o run',
        'reasoneval train scored.jsonl --backbone run -o .',
        'run --model mine.py --data samples.jsonl --unsampled --work-dir mine --dry-run',
    ],
)
def test_an_output_replaces_no_input(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever its spelling, itself or by a file that is named after it."""
    SentRun(folder / 'run')
    Path('planted.trials.jsonl.gz').symlink_to('mine.py')
    before = contents(folder)
    assert main(command.format(here=folder.name).split()) in (1, 2)
    told = capsys.readouterr().err
    assert 'name ' in told or 'choose another' in told
    assert contents(folder) == before


def test_a_page_may_be_written_again_beside_the_results() -> None:
    """It is no input, nor is a result that is scored anew."""
    for command in ('report . -o report.html', 'score samples.jsonl -o z.json') * 2:
        assert main(command.split()) == 0


def test_the_standard_input_is_an_input(folder: Path) -> None:
    """It may be the file that -o names."""
    before, kept = contents(folder), os.dup(0)
    with Path('samples.jsonl').open('rb') as file:
        os.dup2(file.fileno(), 0)
    try:
        assert main(['score', '-', '-o', 'samples.jsonl']) == 1
    finally:
        os.dup2(kept, 0)
        os.close(kept)
    assert contents(folder) == before


def test_a_link_that_the_user_names_is_followed() -> None:
    """As the shell does; what lies beside a result lies beside the file itself."""
    for command in ('score samples.jsonl -o', 'report z.json -o', 'compare z.json z.json --json'):
        Path('target.json').write_text('')
        Path('named.json').unlink(missing_ok=True)
        Path('named.json').symlink_to('target.json')
        assert main([*command.split(), 'named.json']) == 0
        assert Path('named.json').is_symlink()
        assert Path('target.json').stat().st_size > 100
    assert Path('target.trials.jsonl.gz').is_file()


@pytest.mark.parametrize('kind', ['link', 'pipe'])
def test_nothing_is_added_to_what_was_planted(kind: str, tmp_path: Path) -> None:
    """Neither to saved responses nor to logs; OpenCompass's own logs stop a run from going on."""
    Path('keep.txt').write_text('keep')
    work_dir, run = tmp_path / 'work', SentRun(tmp_path / 'work/20260101_000000').folder
    for path in (run / 'predictions/demo/tmp_d.jsonl', run / 'logs/infer/demo/d.out'):
        path.parent.mkdir(parents=True, exist_ok=True)
        if kind == 'link':
            path.symlink_to(tmp_path / 'keep.txt')
        else:
            os.mkfifo(path)
    with pytest.raises(ValueError, match='no regular file'):
        Progress(run / 'predictions/demo/d.json', [], 'm').restore()
    with pytest.raises(ValueError, match='no regular file'):
        tell_end(run / 'logs/infer/demo/d.out', 'ended')
    job = ['run', '--model', 'demo', '--data', 'samples.jsonl', '--work-dir', str(work_dir)]
    if kind == 'link':
        assert main([*job, '--resume']) == 1
        (work_dir / LOG).symlink_to(tmp_path / 'keep.txt')
        assert main(job) == 1
    assert Path('keep.txt').read_text() == 'keep'
    assert not Path('work.py').exists()


def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    """The error of the system names none."""
    whole, log, before = tmp_path / 'a', tmp_path / 'b', resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(OSError, match='large') as of_whole, written_whole(whole) as part:
            part.write_bytes(b'0' * 1000)
        with pytest.raises(OSError, match='large') as of_log, appended(log) as file:
            file.write(b'0' * 1000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (of_whole.value.filename, of_log.value.filename) == (str(whole), str(log))


def test_a_full_device_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """One that the user named, in place of a file."""
    assert main(['report', 'z.json', '-o', '/dev/full']) == 1
    assert '/dev/full: No space left' in capsys.readouterr().err
