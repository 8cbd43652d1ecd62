"""Outputs of NeMo-Skills are rows with other names of columns, one file for each seed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.trials import read_trials

# Of each problem, the answers under four seeds.
ANSWERS = {'42': ['42'] * 4, '1/2': ['0.5', '1/2', '1/2', '2'], '19': ['17', '19', None, '18']}
RIGHT, THEIRS = [4, 3, 1], [4, 2, 1]  # the tool's comparison in this log is by text
NAMES = ['question=problem', 'answer=expected_answer', 'sample=generation']
MORE = ['tokens=num_generated_tokens', 'verdict=symbolic_correct']


def outputs(folder: Path) -> list[str]:
    """The files of four seeds."""
    for seed in range(4):
        rows = [
            {
                'problem': f'Problem {number}?',
                'expected_answer': gold,
                'generation': f'So \\boxed{{{answers[seed]}}}' if answers[seed] else 'I try',
                'num_generated_tokens': 10 + seed,
                'finish_reason': 'length' if seed == 3 else 'stop',
                'symbolic_correct': answers[seed] == gold,
            }
            for number, (gold, answers) in enumerate(ANSWERS.items())
        ]
        text = ''.join(json.dumps(row) + '\n' for row in rows)
        (folder / f'output-rs{seed}.jsonl').write_text(text)
    return [str(folder / f'output-rs{seed}.jsonl') for seed in range(4)]


@pytest.mark.parametrize(('judge', 'right'), [('rule', RIGHT), ('theirs', THEIRS)])
def test_files_of_seeds_are_one_measurement(judge: str, right: list[int], tmp_path: Path) -> None:
    """Joined by question and answer, with tokens, ends and verdicts of the tool."""
    output = tmp_path / 'r.json'
    named = ['--model', 'm', '--dataset', 'aime24', '--columns', *NAMES, *MORE]
    command = ['score', *outputs(tmp_path), *named, '-k', '2', '--judge', judge, '-o', str(output)]
    assert main(command) == 0
    result = json.loads(output.read_text('utf-8'))
    assert [(row['n'], row['c']) for row in result['details']] == [(4, c) for c in right]
    trials = read_trials(tmp_path / 'r.trials.jsonl.gz')[0].trials
    assert [one.num_tokens for one in trials] == [10, 11, 12, 13] * 3
    assert [one.truncated for one in trials] == [False, False, False, True] * 3
    assert {one.other_source for one in trials} == {'rows: verdict'}


def test_a_folder_of_seeds_needs_no_columns(tmp_path: Path) -> None:
    """Rows may be lost, or stand in another order: a problem is known by its text."""
    (tmp_path / 'aime24').mkdir()
    files = outputs(tmp_path / 'aime24')
    rows = Path(files[1]).read_text().splitlines()
    Path(files[1]).write_text('\n'.join(rows[::-1]))
    Path(files[2]).write_text(Path(files[2]).read_text().split('\n', 1)[1])
    output = tmp_path / 'r.json'
    folder = str(tmp_path / 'aime24')
    assert main(['score', folder, '--model', 'm', '-k', '2', '-o', str(output)]) == 0
    result = json.loads(output.read_text('utf-8'))
    assert [(row['n'], row['c']) for row in result['details']] == [(3, 3), (4, 3), (4, 1)]
    assert result['benchmark'] == 'aime24'
    assert '1 of 3 problems have fewer than 4 samples' in result['warnings']
    trials = read_trials(tmp_path / 'r.trials.jsonl.gz')[0].trials
    assert {one.other_source for one in trials} == {'nemo-skills: symbolic_correct'}
