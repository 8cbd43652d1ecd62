"""Saved progress, what is set aside of it, and the prediction file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.inference.progress_files import Progress, write_predictions
from opencompass_gpassk.inference.trial_requests import Request

TEXTS = ('a\u2028b', 'c\u0085d\x1ce\x0bf', '\ud800 alone', '\u4e2d\u6587', 'g\nh\r\ni', '')


def requests(key: str = 'k') -> list[Request]:
    """Return a request a text; ``key`` stands for prompts and settings."""
    return [Request(i, f'p{i}', 0, 'entry', 'prompt', 'gold', 1, key) for i in range(len(TEXTS))]


def record(text: str) -> dict[str, Any]:
    """Return a record."""
    return {'prediction': text, 'origin_prompt': 'q'}


def begin(progress: Progress, wanted: list[Request]) -> dict[int, str]:
    """Start a run as the inferencer does; return the responses it finds."""
    restored = progress.restore(wanted)
    progress.start(wanted, restored)
    return {index: found['prediction'] for index, found in restored.records.items()}


def saved(folder: Path, wanted: list[Request]) -> Progress:
    """Save a response to each request."""
    progress = Progress(folder / 'tmp_x.jsonl', 'model#1')
    begin(progress, wanted)
    progress.append([(one, record(text)) for one, text in zip(wanted, TEXTS, strict=True)])
    return progress


def test_any_text_survives(tmp_path: Path) -> None:
    """One line a response, whatever it holds."""
    progress = saved(tmp_path, requests())
    assert progress.path.read_bytes().isascii()
    assert progress.path.read_bytes().count(b'\n') == len(TEXTS)
    restored = progress.restore(requests())
    assert [restored.records[i]['prediction'] for i in range(len(TEXTS))] == list(TEXTS)
    assert (restored.unused, restored.moved) == ([], 0)


def test_torn_last_line_is_dropped_alone(tmp_path: Path) -> None:
    """Wherever a kill cuts the last line, the others are kept."""
    progress = saved(tmp_path, requests())
    whole = progress.path.read_bytes()
    last = whole.rstrip(b'\n').rfind(b'\n') + 1
    for end in range(last + 1, len(whole) - 1):
        progress.path.write_bytes(whole[:end])
        restored = progress.restore(requests())
        assert (sorted(restored.records), restored.unused) == ([0, 1, 2, 3, 4], [])


def test_rewritten_file_can_be_appended_to(tmp_path: Path) -> None:
    """After a torn line the next one must not stick to it."""
    progress = saved(tmp_path, requests())
    progress.path.write_bytes(progress.path.read_bytes()[:-9])
    begin(progress, requests())
    progress.append([(requests()[5], record('new'))])
    restored = progress.restore(requests())
    assert (len(restored.records), restored.unused) == (6, [])
    assert restored.records[5]['prediction'] == 'new'


@pytest.mark.parametrize(
    'line', ['[]', '3', '{"index": 0}', '{"index": 0, "key": "k", "record": 1}', '\x00\xff']
)
def test_foreign_lines_are_dropped(line: str, tmp_path: Path) -> None:
    """Nothing that stands in the file can stop a run."""
    progress = saved(tmp_path, requests())
    with progress.path.open('ab') as file:
        file.write(line.encode('latin-1') + b'\n')
    restored = progress.restore(requests())
    assert (len(restored.records), restored.unused) == (6, [])


def test_responses_of_other_settings_are_set_aside_and_found_again(tmp_path: Path) -> None:
    """A start with a changed setting must not cost what was saved, nor be given it."""
    progress = saved(tmp_path, requests())
    whole = progress.path.read_bytes()
    assert progress.restore(requests('other')).moved == len(TEXTS)
    assert begin(progress, requests('other')) == {}
    assert progress.path.read_bytes() == b''
    assert progress.unused_path == tmp_path / 'unused_x.jsonl'
    assert progress.unused_path.read_bytes() == whole
    progress.append([(requests('other')[2], record('another'))])
    assert progress.restore(requests('other')).moved == 0  # said once
    assert begin(progress, requests()) == dict(enumerate(TEXTS))
    assert progress.path.read_bytes() == whole
    assert begin(progress, requests('other')) == {2: 'another'}
    assert begin(progress, requests()) == dict(enumerate(TEXTS))


def test_nothing_stays_aside_that_is_in_use(tmp_path: Path) -> None:
    """The file goes with its last line."""
    progress = saved(tmp_path, requests())
    begin(progress, requests('other'))
    begin(progress, requests())
    assert [path.name for path in tmp_path.iterdir()] == ['tmp_x.jsonl']


def test_lost_requests_of_other_settings_are_not_kept(tmp_path: Path) -> None:
    """There is nothing to find again."""
    progress = saved(tmp_path, requests())
    progress.append([(requests('third')[0], {**record(''), 'lost': 'HTTP 500'})])
    assert progress.restore(requests()).moved == 0
    assert progress.restore(requests('third')).records[0]['lost'] == 'HTTP 500'


@pytest.mark.parametrize('writes', [0, 1, 2])
def test_kill_between_the_files_loses_and_doubles_nothing(
    writes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lines change places in several writes; a kill may come before any of them."""
    progress = saved(tmp_path, requests())
    begin(progress, requests('other'))
    progress.append([(requests('other')[1], record('another'))])
    replace, done = Path.replace, []

    def dying(path: Path, target: Path) -> Path:
        if len(done) == writes:
            raise KeyboardInterrupt
        done.append(target)
        return replace(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, 'replace', dying)
        with pytest.raises(KeyboardInterrupt):
            begin(progress, requests())
    assert begin(progress, requests()) == dict(enumerate(TEXTS))
    assert progress.unused_path.read_bytes().count(b'\n') == 1
    assert begin(progress, requests('other')) == {1: 'another'}


def test_prediction_file_is_whole_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenCompass takes its presence as done, so a kill while writing must not leave it."""

    def dying(fd: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr('os.fsync', dying)
        with pytest.raises(KeyboardInterrupt):
            write_predictions(tmp_path / 'x.json', requests()[:1], {0: record('a')}, 'model#1')
    assert not list(tmp_path.iterdir())
    records = {i: record(str(i)) for i in (1, 2, 0)}
    write_predictions(tmp_path / 'x.json', requests()[:3], records, 'model#1')
    assert list(json.loads((tmp_path / 'x.json').read_text())) == ['0', '1', '2']
