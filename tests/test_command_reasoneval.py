"""``gpassk reasoneval score`` and ``filter``: files of solutions, interruptions, bad rows."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judge_server import JudgeServer
from tiny_reasoneval import Published, publish

from opencompass_gpassk.cli import main
from opencompass_gpassk.reasoneval.passes import Passes

ROWS: list[dict[str, Any]] = [
    {'id': 'a', 'question': '1 + 1 = ?', 'solution': 'Step 1: Add.\nStep 2: It is 2.'},
    {'id': 'b', 'question': '1 + 1 = ?', 'steps': ['Step 1: Add.', 'Step 2: It is 2.']},
    {'id': 'c', 'question': '2 + 1 = ?', 'steps': ['It is 3.']},
    {'id': 'd', 'question': '', 'solution': ' \u2028 '},
    {'id': 'e', 'question': 'q', 'steps': ['first \ud800', 'second <s> <|pad|>', 'third']},
]


@pytest.fixture(scope='module')
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    """A tiny checkpoint in the layout of the published 34B model."""
    return publish(tmp_path_factory.mktemp('reasoneval') / 'checkpoint', '34b')


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The solutions."""
    path = tmp_path / 'solutions.jsonl'
    path.write_text(''.join(json.dumps(row) + '\n' for row in ROWS))
    return path


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file, whose lines end at \\n alone."""
    return [json.loads(line) for line in path.read_text('utf-8').split('\n') if line]


def score(published: Published, file: Path, *options: str) -> list[dict[str, Any]]:
    """Score a file into another and read it."""
    output = file.with_name('scored.jsonl')
    argv = ['reasoneval', 'score', str(file), '--model', str(published.folder)]
    assert main([*argv, '-o', str(output), *options]) == 0
    return read(output)


def test_solutions_come_back_with_their_scores(
    published: Published, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Split or in steps already, as a plain pass scores them; what can't be scored says why."""
    rows = score(published, file)
    assert [row['id'] for row in rows] == list('abcde')
    assert rows[0]['steps'] == rows[1]['steps'] == ROWS[1]['steps']
    for row in (rows[0], rows[2]):
        expected = published.plain(row['question'], row['steps'], 'last')
        np.testing.assert_allclose(row['scores'], expected, atol=1e-4)
        valid = expected[:, 1] + expected[:, 2]
        assert row['validity'] == pytest.approx(valid.min(), abs=1e-4)
        assert row['redundancy'] == pytest.approx(expected[:, 1].max(), abs=1e-4)
    assert rows[0]['scores'] == rows[1]['scores']
    assert (rows[3]['scores'], rows[3]['validity']) == (None, None)
    assert 'no steps' in rows[3]['refusal']
    assert len(rows[4]['scores']) == 3
    assert '1 of 5 solutions have no scores: it has no steps' in capsys.readouterr().err
    assert not list(file.parent.glob('*.part'))


def test_solutions_may_be_judged_by_their_mean(published: Published, file: Path) -> None:
    """As the paper's Table 7 does, among others."""
    row = score(published, file, '--validity-by', 'mean')[0]
    assert row['validity'] == pytest.approx(sum(row['step_validity']) / 2)


def test_an_interrupted_run_goes_on_where_it_stopped(
    published: Published, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was scored is not scored again, and a torn line costs that line alone."""
    whole = score(published, file)
    passed: list[int] = []
    run = Passes.run

    def once(self: Passes, passages: Any) -> Any:
        passed.append(len(passages))
        if len(passed) == 2:
            raise KeyboardInterrupt
        return run(self, passages)

    monkeypatch.setattr(Passes, 'run', once)
    with pytest.raises(KeyboardInterrupt):
        score(published, file, '--batch-size', '1')
    part = file.with_name('scored.jsonl.part')
    kept = part.read_text()
    part.write_text(kept + '{"settings": "torn')
    passed.clear()
    monkeypatch.setattr(Passes, 'run', lambda self, p: (passed.append(len(p)), run(self, p))[1])
    again = score(published, file, '--batch-size', '1')
    assert sum(passed) == 2  # of three that can be scored
    for one, other in zip(whole, again, strict=True):
        assert one.keys() == other.keys()
        if one['scores']:
            np.testing.assert_allclose(one['scores'], other['scores'], atol=1e-6)
    assert not part.exists()


def test_a_judge_may_be_asked_instead(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It names the first wrong step and the redundant ones; nobody or two to ask is misuse."""

    def second_is_wrong(prompt: str) -> str:
        return '\\boxed{2}' if '[Step 2]' in prompt and 'Add.' in prompt else '\\boxed{none}'

    output = file.with_name('scored.jsonl')
    argv = ['reasoneval', 'score', str(file), '-o', str(output)]
    with JudgeServer(second_is_wrong) as server:
        monkeypatch.setenv('OC_JUDGE_MODEL', 'judge')
        monkeypatch.setenv('OC_JUDGE_API_BASE', server.url)
        assert main([*argv, '--judge', 'llm']) == 0
    rows = read(output)
    assert rows[0]['step_validity'] == [1.0, 0.0]
    assert [row['validity'] for row in rows] == [0.0, 0.0, 1.0, None, 1.0]
    for wrong in ([], ['--judge', 'llm', '--model', 'x']):
        with pytest.raises(SystemExit):
            main([*argv, *wrong])
    assert 'one of the arguments --model --judge is required' in capsys.readouterr().err


def test_other_settings_are_other_scores(published: Published, file: Path) -> None:
    """What another position gave is not taken."""
    output = file.with_name('scored.jsonl')
    last = score(published, file, '--position', 'last')
    part = output.with_name('scored.jsonl.part')
    part.write_text(
        json.dumps({'settings': 'other', 'solution': 'x', 'scores': [[1, 0, 0]]}) + '\nnonsense\n'
    )
    published_way = score(published, file, '--position', 'published')
    assert last[2]['scores'] != published_way[2]['scores']


@pytest.mark.parametrize(
    ('row', 'message'),
    [
        ('{"question": "q"}', 'field solution: a text is needed'),
        ('{"question": 1, "solution": "s"}', 'field question: int is not a text'),
        ('{"steps": ["a", 2]}', 'field steps: a list of texts'),
        ('[1]', 'a row is an object'),
    ],
)
def test_bad_rows_are_named(
    published: Published,
    file: Path,
    row: str,
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With file, line and field; they can be left out."""
    with file.open('a') as lines:
        lines.write(row + '\n')
    assert main(['reasoneval', 'score', str(file), '--model', str(published.folder)]) == 1
    told = capsys.readouterr().err
    assert 'solutions.jsonl, line 6: ' in told
    assert message in told
    assert len(score(published, file, '--skip-bad')) == 5


def test_good_solutions_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a limit is good; the shares are told; nothing is changed in a row."""
    rows = [
        {'id': 1, 'validity': 0.5, 'redundancy': 0.15, 'extra': 'ünï\u2028'},
        {'id': 2, 'validity': 0.49, 'redundancy': 0.0},
        {'id': 3, 'validity': 1.0, 'redundancy': 0.16},
        {'id': 4, 'validity': None, 'redundancy': None, 'refusal': 'it has no steps'},
    ]
    (tmp_path / 'scored.jsonl').write_text(''.join(json.dumps(row) + '\n' for row in rows))
    output = tmp_path / 'new' / 'kept.jsonl'
    argv = ['reasoneval', 'filter', str(tmp_path / 'scored.jsonl')]
    assert main([*argv, '-o', str(output)]) == 0
    assert read(output) == rows[:1]
    told = capsys.readouterr().err
    for line in ('kept: 1 of 4 (25.0 %)', 'below validity 0.5: 1', 'without scores: 1'):
        assert line in told
    assert main([*argv, '--min-validity', '0', '--max-redundancy', '1']) == 0
    assert capsys.readouterr().out.count('\n') == 3
    assert main([*argv, '--min-validity', '1.5']) == 1
    assert 'min_validity is 1.5' in capsys.readouterr().err


@pytest.mark.parametrize('value', [None, 'high', True, math.nan])
def test_rows_without_scores_are_named(
    tmp_path: Path, value: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to do about it."""
    file = tmp_path / 'scored.jsonl'
    file.write_text(json.dumps({'validity': value, 'redundancy': 0.1}) + '\n')
    assert main(['reasoneval', 'filter', str(file)]) == 1
    assert 'scored.jsonl, line 1: ' in capsys.readouterr().err
