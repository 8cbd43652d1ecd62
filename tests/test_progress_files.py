"""Saved responses: what is found of them, where they go, and the prediction file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.inference.progress_files import Progress
from opencompass_gpassk.inference.sample_requests import Request

TEXTS = ('a\u2028b', 'c\u0085d\x1ce\x0bf', '\ud800 alone', '\u4e2d\u6587', 'g\nh\r\ni', '')


def requests(key: str = 'k', rows: range = range(len(TEXTS))) -> list[Request]:
    """Return a request a text; ``key`` stands for prompts and settings."""
    return [
        Request(i, f'p{row}', 0, 'entry', 'prompt', 'gold', 1, f'{key}{row}')
        for i, row in enumerate(rows)
    ]


def record(text: str, row: int = 0) -> dict[str, Any]:
    """Return a record."""
    return {'prediction': text, 'origin_prompt': 'q', 'problem_id': f'p{row}', 'replica': 0}


def begun(
    folder: Path, wanted: list[Request], name: str = 'x-n6', model: str = 'model#1', **more: Any
) -> Progress:
    """Begin or resume an inference."""
    progress = Progress(folder / f'{name}.json', wanted, model, **more)
    progress.restore()
    return progress


def saved(folder: Path, wanted: list[Request], **named: Any) -> Progress:
    """Save a response to each request."""
    progress = begun(folder, wanted, **named)
    progress.save([(one, record(TEXTS[int(one.problem_id[1:])])) for one in wanted])
    return progress


def texts(path: Path) -> list[str]:
    """Return the responses in a prediction file."""
    return [one['prediction'] for one in json.loads(path.read_text('ascii')).values()]


def names(folder: Path) -> set[str]:
    """Return the names of all files."""
    return {path.name for path in folder.iterdir()}


def test_any_text_survives(tmp_path: Path) -> None:
    """One line a response, whatever it holds; then one file, whole, in the order of the rows."""
    progress = saved(tmp_path, requests())
    assert progress.path.read_bytes().count(b'\n') == len(TEXTS)
    progress = begun(tmp_path, requests())
    assert len(progress.places) == len(TEXTS) and not progress.reused
    progress.finish({}, ['x-n6.json'])
    assert texts(tmp_path / 'x-n6.json') == list(TEXTS)
    (first, *_) = json.loads((tmp_path / 'x-n6.json').read_text('ascii')).values()
    assert (first['key'], first['model']) == ('k0', 'model#1')
    assert names(tmp_path) == {'x-n6.json'}


def test_torn_last_line_is_dropped_alone(tmp_path: Path) -> None:
    """Wherever a kill cuts the last line, the others are kept, and the next one is a line."""
    path = saved(tmp_path, requests()).path
    whole = path.read_bytes()
    last = whole.rstrip(b'\n').rfind(b'\n') + 1
    for end in range(last + 1, len(whole) - 1):
        path.write_bytes(whole[:end])
        progress = begun(tmp_path, requests())
        assert sorted(progress.places) == [0, 1, 2, 3, 4]
    progress.save([(requests()[5], record('new'))])
    begun(tmp_path, requests()).finish({}, [])
    assert texts(tmp_path / 'x-n6.json') == [*TEXTS[:5], 'new']


@pytest.mark.parametrize(
    'line', ['[]', '3', '{"index": 0}', '{"index": 0, "key": "k", "record": 1}', '\x00\xff']
)
def test_foreign_lines_are_dropped(line: str, tmp_path: Path) -> None:
    """Nothing that stands in the file can stop a run."""
    path = saved(tmp_path, requests()).path
    with path.open('ab') as file:
        file.write(line.encode('latin-1') + b'\n')
    progress = begun(tmp_path, requests())
    assert (len(progress.places), progress.other_settings) == (6, 0)


def test_responses_of_other_settings_are_set_aside_and_found_again(tmp_path: Path) -> None:
    """A start with a changed setting must not cost what was saved, nor be given it."""
    saved(tmp_path, requests())
    other = begun(tmp_path, requests('other'))
    assert (len(other.places), other.other_settings) == (0, 6)
    other.save([(one, record('another')) for one in requests('other')])
    other.finish({}, ['x-n6.json'])
    assert names(tmp_path) == {'x-n6.json', 'unused_x-n6.jsonl'}
    (tmp_path / 'x-n6.json').rename(tmp_path / 'unused_x-n6.json')
    again = begun(tmp_path, requests())
    assert len(again.reused) == 6
    again.finish({}, ['x-n6.json'])
    assert texts(tmp_path / 'x-n6.json') == list(TEXTS)
    assert names(tmp_path) == {'x-n6.json', 'unused_x-n6.json'}


@pytest.mark.parametrize('name', ['x-n6_1', 'x-n2', 'x-n2_0', 'x-abcdef-n6', 'x-first2-n6', 'x'])
@pytest.mark.parametrize('finished', [True, False])
def test_responses_are_found_under_the_other_names_of_a_data_set(
    name: str, finished: bool, tmp_path: Path
) -> None:
    """Another n, another shard, another content of the user's file; finished or not."""
    drawn = saved(tmp_path, requests(rows=range(2, 5)), name=name)
    if finished:
        drawn.finish({}, [])
    progress = begun(tmp_path, requests())
    assert progress.reused == {2, 3, 4}
    assert begun(tmp_path, requests()).reused == {2, 3, 4}  # of a second start, too


def test_lost_responses_and_those_of_another_model_or_data_set_are_never_taken(
    tmp_path: Path,
) -> None:
    """They are asked for."""
    drawn = begun(tmp_path, requests(), name='x-n2')
    lost = {i: {**record(''), 'lost': 'HTTP 500'} for i in range(6)}
    drawn.save([(one, lost[one.index]) for one in requests()])
    drawn.finish(lost, [])
    saved(tmp_path, requests(), name='x-n3', model='model#2').finish({}, [])
    saved(tmp_path, requests(), name='xy-n6')
    saved(tmp_path, requests(), name='x-greedy-n1')
    assert not begun(tmp_path, requests()).places
    assert begun(tmp_path, requests(), name='x-n2').failed_before == set(range(6))


def test_saved_responses_go_when_all_shards_are_finished(tmp_path: Path) -> None:
    """Three shards become two: each saved response counts once, and none is called unused."""
    for shard in range(3):
        rows = range(2 * shard, 2 * shard + 2)
        saved(tmp_path, requests(rows=rows), name=f'x_{shard}')
    parts = ['x_0.json', 'x_1.json']
    for shard in range(2):
        rows = range(3 * shard, 3 * shard + 3)
        progress = begun(tmp_path, requests(rows=rows), name=f'x_{shard}')
        assert len(progress.places) == 3 and progress.other_settings == 0
        progress.finish({}, parts)
    assert names(tmp_path) == set(parts)
    assert [*texts(tmp_path / 'x_0.json'), *texts(tmp_path / 'x_1.json')] == list(TEXTS)


def test_saved_responses_stay_while_others_are_lost(tmp_path: Path) -> None:
    """Who deletes the prediction file asks again for the lost ones alone."""
    progress = saved(tmp_path, requests(rows=range(5)))
    progress = begun(tmp_path, requests())
    progress.finish({5: {**record(''), 'lost': 'HTTP 500'}}, ['x-n6.json'])
    (tmp_path / 'x-n6.json').unlink()
    assert sorted(begun(tmp_path, requests()).places) == [0, 1, 2, 3, 4]


def test_prediction_file_is_whole_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OpenCompass takes its presence as done, so a kill while writing must not leave it."""
    progress = saved(tmp_path, requests())

    def dying(fd: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr('os.fsync', dying)
        with pytest.raises(KeyboardInterrupt):
            progress.finish({}, ['x-n6.json'])
    assert names(tmp_path) == {'tmp_x-n6.jsonl'}


def test_one_process_saves_to_a_file(tmp_path: Path) -> None:
    """A process may outlive its job; what a resumed one would write beside it is refused."""
    first, second = (Progress(tmp_path / 'x-n6.json', requests(), 'model#1') for _ in range(2))
    first.hold()
    with pytest.raises(ValueError, match=r'tmp_x-n6\.jsonl: another process'):
        second.hold()
    with first.held:
        pass
    second.hold()
