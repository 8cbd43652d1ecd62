"""Outputs of NeMo-Skills, written in its documented layout."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.samples.sample_files import LogReader, read_samples
from opencompass_gpassk.trials import read_trials

# Of each problem, the answers under four seeds.
ANSWERS = {'42': ['42'] * 4, '1/2': ['0.5', '1/2', '1/2', '2'], '19': ['17', '19', None, '18']}
RIGHT, THEIRS = [4, 3, 1], [4, 2, 1]  # the tool's comparison in this log is by text


def outputs(folder: Path, **changed: Any) -> Path:
    """A folder of four seeds, and the greedy output beside them."""
    folder.mkdir(parents=True)
    for seed in range(4):
        rows = [
            {
                'problem': f'Problem {number}?',
                'expected_answer': gold,
                'generation': f'So \\boxed{{{answers[seed]}}}' if answers[seed] else 'I try',
                'predicted_answer': answers[seed],
                'num_generated_tokens': 10 + seed,
                'finish_reason': 'length' if seed == 3 else 'stop',
                'symbolic_correct': answers[seed] == gold,
            }
            for number, (gold, answers) in enumerate(ANSWERS.items())
        ]
        text = ''.join(json.dumps({**row, **changed}) + '\n' for row in rows)
        (folder / f'output-rs{seed}.jsonl').write_text(text)
    (folder / 'output.jsonl').write_text(text)
    return folder


def scored(tmp_path: Path, *sources: str) -> dict[str, Any]:
    output = tmp_path / 'r.json'
    assert main(['score', *sources, '-k', '2', '--model', 'm', '-o', str(output)]) == 0
    result: dict[str, Any] = json.loads(output.read_text('utf-8'))
    return result


def test_a_folder_of_seeds_is_one_measurement(tmp_path: Path) -> None:
    """Joined by row; the greedy output is no sample."""
    folder = outputs(tmp_path / 'aime24')
    result = scored(tmp_path, str(folder))
    assert result['benchmark'] == 'aime24'
    assert [(row['n'], row['c']) for row in result['details']] == [(4, c) for c in RIGHT]
    trials = read_trials(tmp_path / 'r.trials.jsonl.gz')[0].trials
    assert [one.num_tokens for one in trials] == [10, 11, 12, 13] * 3
    assert [one.truncated for one in trials] == [False, False, False, True] * 3
    assert {one.other_source for one in trials} == {'nemo-skills: symbolic_correct'}
    files = [str(folder / f'output-rs{seed}.jsonl') for seed in (3, 1, 0, 2, 0)]
    assert [row['c'] for row in scored(tmp_path, *files)['details']] == RIGHT


def test_its_verdicts_may_count(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """--judge theirs; audit says what they change."""
    folder = str(outputs(tmp_path / 'aime24'))
    result = scored(tmp_path, folder, '--judge', 'theirs')
    assert [row['c'] for row in result['details']] == THEIRS
    assert result['signature']['judge'] == 'theirs:nemo-skills: symbolic_correct'
    assert result['counts']['unjudged'] == 0
    ruled = scored(tmp_path, folder)
    capsys.readouterr()
    assert main(['audit', str(tmp_path / 'r.json'), 'theirs', 'rule']) == 0
    told = capsys.readouterr().out
    table = told[told.index('Metrics under the verdicts of the other tool') :].splitlines()
    rows = [line.split() for line in table if line.startswith('m ')]
    assert [row[3] for row in rows] == ['recorded', 'theirs']
    metrics = [f'{one[key]:.1f}' for one in (ruled, result) for key in ('accuracy', 'G-Pass@2_1.0')]
    assert [row[i] for row in rows for i in (5, 7)] == metrics


def test_predicted_answers_stand_for_texts_that_are_not_there(tmp_path: Path) -> None:
    """As in files from which generations were removed."""
    folder = outputs(tmp_path / 'aime24')
    for path in folder.glob('*.jsonl'):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        for row in rows:
            del row['generation']
        path.write_text(''.join(json.dumps(row) + '\n' for row in rows))
    assert [row['c'] for row in scored(tmp_path, str(folder))['details']] == RIGHT


def test_two_files_of_one_seed_are_a_conflict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Such as those of two models; both are named."""
    first = outputs(tmp_path / 'a/aime24') / 'output-rs0.jsonl'
    second = outputs(tmp_path / 'b/aime24', generation='other') / 'output-rs0.jsonl'
    assert main(['score', str(first), str(second)]) == 1
    assert 'do not say which model they are of' in capsys.readouterr().err
    assert main(['score', str(first), str(second), '--model', 'm']) == 1
    told = capsys.readouterr().err
    assert f'{first}#1/0 and {second}#1/0 have the same key' in told


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'generation': 7}, 'int is not a text'),
        ({'expected_answer': None}, 'field expected_answer'),
        ({'problem': ['x']}, 'field problem'),
        ({'num_generated_tokens': -1}, 'tokens is -1'),
    ],
)
def test_other_layouts_name_the_field(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    """File, line and field."""
    path = outputs(tmp_path / 'a', **change) / 'output-rs0.jsonl'
    with pytest.raises(ValueError, match=rf'output-rs0\.jsonl, line 1: .*{message}'):
        read_samples(str(path))


def test_a_verdict_that_is_none(tmp_path: Path) -> None:
    """Unjudged by the tool is not wrong; without any, theirs is refused."""
    folder = outputs(tmp_path / 'a', symbolic_correct=None)
    assert not any(
        r.other_verdict for r in LogReader(str(folder / 'output-rs0.jsonl')).read().responses
    )
    assert main(['score', str(folder), '--judge', 'theirs']) == 1
