"""``gpassk reasoneval``: files of solutions, interruptions, bad rows, what is loaded when."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_reward_model
from judge_server import JudgeServer
from tiny_reasoneval import Published, publish

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.reasoneval.classifier import StepScorer

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


def settings_file(file: Path, settings: dict[str, Any]) -> list[str]:
    """The option that names a file of settings, written beside another file."""
    written = file.with_name('settings.json')
    written.write_text(json.dumps(settings))
    return ['--settings', str(written)]


def score(published: Published, file: Path, *options: str, **settings: Any) -> list[dict[str, Any]]:
    """Score a file into another and read it."""
    output = file.with_name('scored.jsonl')
    argv = ['reasoneval', 'score', str(file), '--model', str(published.folder)]
    code = main([*argv, '-o', str(output), *options, *settings_file(file, settings)])
    rows = read(output)
    assert code == int(not any(row['scores'] for row in rows))
    return rows


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
    assert not list(file.parent.glob('*.part*'))


def test_an_interrupted_run_goes_on_where_it_stopped(
    published: Published, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was scored is not scored again, and nothing of it is left beside the result."""
    whole = score(published, file)
    passed: list[int] = []
    interrupted = True
    read = StepScorer.read

    def counted(self: StepScorer, input_ids: Any, reads: Any) -> Any:
        passed.append(len(input_ids))
        if interrupted and len(passed) == 2:
            raise KeyboardInterrupt
        return read(self, input_ids, reads)

    monkeypatch.setattr(StepScorer, 'read', counted)
    with pytest.raises(KeyboardInterrupt):
        score(published, file, options={'batch_size': 1})
    assert list(file.parent.glob('*.part.sqlite'))
    passed.clear()
    interrupted = False
    again = score(published, file, options={'batch_size': 1})
    assert sum(passed) == 2  # of three that can be scored
    for one, other in zip(whole, again, strict=True):
        assert one.keys() == other.keys()
        if one['scores']:
            np.testing.assert_allclose(one['scores'], other['scores'], atol=1e-6)
    assert not list(file.parent.glob('*.part*'))


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
    with pytest.raises(SystemExit):
        main([*argv, '--judge', 'llm', '--model', 'x'])
    assert main(argv) == 1
    assert 'give --model, --reward-model or --judge' in capsys.readouterr().err


def test_what_a_judge_left_open_is_asked_for_again(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it said is kept beside the output until nothing may pass; none at all is a failure."""
    output = file.with_name('scored.jsonl')
    argv = ['reasoneval', 'score', str(file), '-o', str(output), '--judge', 'llm']
    replies: dict[str, str] = {}

    def say(prompt: str) -> str:
        return next((said for part, said in replies.items() if part in prompt), 'Hm.')

    with JudgeServer(say) as server:
        monkeypatch.setenv('OC_JUDGE_MODEL', 'judge')
        monkeypatch.setenv('OC_JUDGE_API_BASE', server.url)
        assert main(argv) == 1
        assert '4 of them may get scores if the command is started again; the' in (
            capsys.readouterr().err
        )
        replies['2 + 1'] = '\\boxed{none}'
        assert main(argv) == 0
        assert [row['validity'] for row in read(output)] == [None, None, 1.0, None, None]
        assert list(file.parent.glob('*.part.sqlite'))
        before = server.calls
        replies['?'] = replies['q'] = '\\boxed{none}'
        assert main(argv) == 0
    assert server.calls - before == 4  # two solutions of which nothing was said before
    assert [row['validity'] for row in read(output)] == [1.0, 1.0, 1.0, None, 1.0]
    assert not list(file.parent.glob('*.part*'))


def test_a_process_reward_model_scores_validity_alone(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its redundancy is null, and the filter takes what is valid and says so once."""
    model = tiny_reward_model.publish(tmp_path / 'reward')
    output = file.with_name('scored.jsonl')
    argv = ['reasoneval', 'score', str(file), '--reward-model', str(model.folder)]
    assert main([*argv, '-o', str(output), *settings_file(file, {'validity_by': 'mean'})]) == 0
    row, *_, refused, surrogate = read(output)
    expected = model.plain(row['question'], row['steps'])
    np.testing.assert_allclose(row['scores'], expected, atol=1e-4)
    assert row['step_validity'] == row['scores']
    assert row['validity'] == pytest.approx(expected.mean(), abs=1e-4)
    assert row['redundancy'] is row['step_redundancy'] is None
    assert row['tokens'] and refused['validity'] is None and len(surrogate['scores']) == 3
    capsys.readouterr()
    assert main(['reasoneval', 'filter', str(output), '--min-validity', '0']) == 0
    told = capsys.readouterr()
    assert told.out.count('\n') == 4
    assert told.err.count('by validity alone') == 1 and '4 of 5 rows have no redundancy' in told.err
    assert main([*argv, *settings_file(file, {'options': {'step_tag': 'нет'}})]) == 1
    assert "step_tag of ProcessRewardScorer: 'нет'" in capsys.readouterr().err


def test_options_reach_the_model_and_the_splitter(published: Published, file: Path) -> None:
    """Lengths, windows, delimiters and thoughts; a second scoring leaves nothing of the first."""
    file.write_text(
        json.dumps({'question': 'q', 'solution': '<think>so|x</think>' + 'one|' * 20 + 'two'})
    )
    assert len(score(published, file, delimiter='|')[0]['steps']) == 21
    assert len(score(published, file, delimiter='|', thinking='keep')[0]['steps']) == 23
    short = {'max_tokens': 40}
    assert 'more tokens' in score(published, file, delimiter='|', options=short)[0]['refusal']
    file.write_text(file.with_name('scored.jsonl').read_text())
    means = {'validity_by': 'mean', 'redundancy_by': 'mean'}
    short['long'] = 'window'
    windowed = score(published, file, delimiter='|', options=short, **means)[0]
    assert 'refusal' not in windowed
    for name in ('validity', 'redundancy'):
        assert windowed[name] == pytest.approx(np.mean(windowed[f'step_{name}']))


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'options': {'max_tokens': 5000000}}, 'is more than the 2048 positions'),
        ({'validity_by': 'median'}, "settings.json: validity_by of reasoning is 'median'"),
        ({'options': {'step_tag': 'x'}}, "for StepScorer has no setting 'step_tag'"),
        ({'dtype': 'float16'}, "settings.json: reasoning has no setting 'dtype'"),
    ],
)
def test_misuse_is_named(
    published: Published,
    file: Path,
    settings: dict[str, Any],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The setting, its value and what to give."""
    argv = ['reasoneval', 'score', str(file), '--model', str(published.folder)]
    assert main([*argv, *settings_file(file, settings)]) == 1
    assert message in capsys.readouterr().err


def test_what_is_no_file_is_written_to_and_never_replaced(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pipe stays a pipe, and a link names the file that it named."""
    scored = tmp_path / 'scored.jsonl'
    scored.write_text('{"validity": 1.0, "redundancy": 0.0}\n')
    target, link, pipe = tmp_path / 'target', tmp_path / 'link', tmp_path / 'pipe'
    target.write_text('old')
    link.symlink_to(target)
    os.mkfifo(pipe)
    argv = ['reasoneval', 'filter', str(scored), '-o']
    assert main([*argv, str(link)]) == 0
    assert link.is_symlink()
    assert read(target) == [{'validity': 1.0, 'redundancy': 0.0}]
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    got: list[str] = []
    reader.start()
    assert main([*argv, str(pipe)]) == 0
    reader.join(10)
    assert got == [scored.read_text()]
    assert pipe.is_fifo()
    scored.write_text('')
    assert main([*argv, str(target)]) == 1
    assert 'there is no row in it' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('row', 'message'),
    [
        ('{"question": "q"}', 'solution is missing; give a text'),
        ('{"problem": "q", "solution": "s"}', 'question is missing'),
        ('{"question": 1, "solution": "s"}', 'question is 1: should be'),
        ('{"question": "q", "steps": ["a", 2]}', 'steps.1 is 2: should be'),
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


@pytest.mark.parametrize(
    ('solutions', 'error'),
    [
        (['Step 1: ... Step 2: ...'], True),
        (['One\n\ntwo', 'One\ntwo'], True),
        (['One\n\ntwo', 'One, two'], False),
        (['It is 2'], False),
    ],
)
def test_steps_that_the_model_would_not_find(
    solutions: list[str], error: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The demonstration's steps end in a comma: other solutions are told of, unless one is set."""
    file = tmp_path / 'solutions.jsonl'
    rows = [{'question': '1 + 1?', 'solution': one} for one in solutions]
    file.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    argv = ['reasoneval', 'score', str(file), '--model', 'demo']
    assert main(argv) == int(error)
    assert ("splits steps at ', '" in capsys.readouterr().err) == error
    assert main([*argv, *settings_file(file, {'delimiter': '\n'})]) == 0


def test_good_solutions_are_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On a limit is good; the shares are told; nothing is changed in a row."""
    rows = [
        {'id': 1, 'validity': 0.5, 'redundancy': 0.15, 'extra': 'ünï\u2028'},
        {'id': 2, 'validity': 0.49, 'redundancy': 0.0},
        {'id': 3, 'validity': 1.0, 'redundancy': 0.16},
        {'id': 4, 'validity': None, 'redundancy': None, 'refusal': 'it has no steps'},
    ]
    (tmp_path / 'scored.jsonl').write_text(''.join(json.dumps(row) + '\n' for row in rows))
    output = tmp_path / 'kept.jsonl'
    argv = ['reasoneval', 'filter', str(tmp_path / 'scored.jsonl')]
    assert main([*argv, '-o', str(output)]) == 0
    assert read(output) == rows[:1]
    told = capsys.readouterr().err
    for line in ('kept: 1 of 4 (25.0 %)', 'below validity 0.5: 1', 'without scores: 1'):
        assert line in told
    assert 'no row has a verdict' in told and 'by verdict: 0 of 4' in told
    file, wrong = tmp_path / 'judged.jsonl', json.dumps({'verdict': 'incorrect', 'validity': 1})
    file.write_text(f'{wrong}\n{json.dumps(rows[0])}\n')
    assert main(['reasoneval', 'filter', str(file)]) == 0
    told = capsys.readouterr().err
    assert 'by verdict: 1 of 2' in told and 'no row has' not in told
    assert main([*argv, '--min-validity', '0', '--max-redundancy', '1']) == 0
    assert capsys.readouterr().out.count('\n') == 3
    assert main([*argv, '--min-validity', '1.5']) == 1
    assert 'min_validity is 1.5' in capsys.readouterr().err


@pytest.mark.parametrize('value', ['high', True])
def test_rows_without_scores_are_named(
    tmp_path: Path, value: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to do about it."""
    file = tmp_path / 'scored.jsonl'
    file.write_text(json.dumps({'validity': value, 'redundancy': 0.1}) + '\n')
    assert main(['reasoneval', 'filter', str(file)]) == 1
    assert 'scored.jsonl, line 1: ' in capsys.readouterr().err


def test_training_takes_its_arguments_and_loads_nothing_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Help comes without torch; a run that can't be is an error without a traceback."""
    code = (
        'import sys\n'
        'from opencompass_gpassk.commands.main import main\n'
        'try:\n'
        "    main(['reasoneval', 'train', '--help'])\n"
        'except SystemExit:\n'
        "    print({'torch', 'transformers', 'opencompass'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, timeout=60)
    assert 'learning_rate' in done.stdout and done.stdout.endswith('set()\n')
    missing = str(tmp_path / 'none.jsonl')
    assert main(['reasoneval', 'train', missing, '--backbone', 'x', '-o', str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert told.startswith('gpassk reasoneval: ') and missing in told
