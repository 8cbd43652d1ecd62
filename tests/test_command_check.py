"""``gpassk check`` as it is run: files, standard input, labels, rows that make no sense."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.answers.check import REASONS
from opencompass_gpassk.commands.main import main
from opencompass_gpassk.judging.judge import Candidate
from opencompass_gpassk.judging.pipeline import Pipeline
from opencompass_gpassk.judging.rules import final_answer
from opencompass_gpassk.judging.settings import JudgeSettings
from opencompass_gpassk.trials import UNRECOGNISED

GPASSK = [sys.executable, '-m', 'opencompass_gpassk.commands.main']
ROWS: list[dict[str, Any]] = [
    {'gold': '\\frac{1}{2}', 'prediction': 'So the answer is \\boxed{0.5}.', 'label': True},
    {'gold': '12', 'prediction': '答案是 13。', 'label': False},
    {'gold': '12', 'prediction': '12 cm', 'label': False},
    {'gold': '12', 'prediction': '13', 'label': True},
    {'gold': '5 cm', 'prediction': '5 s', 'label': False},
]
SUMMARY = {'n': 5, 'agree': 2, 'false_positives': 1, 'false_negatives': 1, 'unknown': 1}


def lines(rows: list[dict[str, Any]]) -> str:
    """Return rows as JSON lines."""
    return ''.join(json.dumps(row) + '\n' for row in rows)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file of five labelled rows."""
    path = tmp_path / 'pairs.jsonl'
    path.write_text(lines(ROWS))
    return path


def test_verdicts_and_summary(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each row gets a line with its verdict; the last line on standard error counts the labels."""
    assert main(['check', str(file)]) == 0
    out, err = capsys.readouterr()
    found = [json.loads(line) for line in out.splitlines()]
    verdicts = [row['verdict'] for row in found]
    assert verdicts == ['same', 'different', 'same', 'different', 'unknown']
    assert [row['row'] for row in found] == [1, 2, 3, 4, 5]
    assert found[0] == {
        'row': 1,
        'verdict': 'same',
        'gold': '\\frac{1}{2}',
        'answer': '0.5',
        'label': True,
    }
    assert found[4]['reason'] == 'number'
    assert json.loads(err.splitlines()[-1]) == SUMMARY


@pytest.mark.parametrize('packed', [False, True], ids=['plain', 'gzip'])
def test_standard_input(packed: bool) -> None:
    """Rows are read from standard input, gzipped or not; a verdict is printed where it is piped."""
    text = lines(ROWS[:2]).encode()
    done = subprocess.run(
        [*GPASSK, 'check', '-'], input=gzip.compress(text) if packed else text, capture_output=True
    )
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 2
    assert json.loads(done.stderr) == {**dict.fromkeys(SUMMARY, 0), 'n': 2, 'agree': 2}


@pytest.mark.parametrize(
    ('line', 'message'),
    [
        ('{"gold": "1"}', 'field prediction is missing; give prediction as a text'),
        ('{"prediction": "1"}', 'field gold is missing; give gold as a text'),
        ('{"gold": null, "prediction": "1"}', 'field gold is null; give gold as a text'),
        (
            '{"gold": ["1", "2"], "prediction": "1"}',
            'field gold is ["1", "2"]; give gold as a text',
        ),
        ('{"gold": true, "prediction": "1"}', 'field gold is true; give gold as a text'),
        ('{"gold": 1e400, "prediction": "1"}', 'not JSON: 1e400 is too large for a number'),
        ('{"gold": "1", "prediction": "1", "label": "no"}', 'field label is "no"; give true or'),
        ('[1, 2]', 'a row is an object {…}, not a list'),
        ('{"gold": "1", "predic', 'not JSON: Unterminated string'),
    ],
)
def test_bad_row(
    line: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row that makes no sense is named by file, line and field, with what to do."""
    path = tmp_path / 'pairs.jsonl'
    path.write_text(f'{{"gold": "1", "prediction": "1"}}\n\n{line}\n')
    assert main(['check', str(path)]) == 1
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith(f'gpassk check: {path}, line 3: {message}')


def test_empty_and_missing_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file without rows and one that isn't there are errors that name it."""
    path = tmp_path / 'pairs.jsonl'
    assert main(['check', str(path)]) == 1
    assert str(path) in capsys.readouterr().err
    path.write_text('\n')
    assert main(['check', str(path)]) == 1
    assert 'it has no rows' in capsys.readouterr().err


def test_reader_that_leaves(tmp_path: Path) -> None:
    """When the reader of the output leaves early, as head does, the command ends without a word."""
    path = tmp_path / 'pairs.jsonl'
    path.write_text(lines(ROWS[:1] * 5000))
    process = subprocess.Popen(
        [*GPASSK, 'check', str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout
    assert process.stderr
    assert json.loads(process.stdout.readline())['verdict'] == 'same'
    process.stdout.close()
    assert process.stderr.read() == b''
    assert process.wait() == 1


def test_a_response_is_read_as_in_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of each form of response check and score say the same, also where they find no answer."""
    cases = json.loads((Path(__file__).parent / 'cases/answers_formats.json').read_text('utf-8'))
    rows = [
        {'gold': one['gold'], 'prediction': one['response'], 'question': one.get('question', '')}
        for one in cases
    ]
    told = (
        'I sorted the objects by colour before I did anything else with them.\n\n'
        'The red ones and the blue ones are {} together. That is more than anybody in '
        'the room had expected when the day began, and I stop here.'
    )
    texts = [told.format(72), told.format(9), 'So we get 72 in total', "I'm sorry, I can't.", '']
    for text in texts:
        rows.append({'gold': '72', 'prediction': text, 'question': 'How many are there?'})
    path = tmp_path / 'rows.jsonl'
    path.write_text(lines(rows))
    assert main(['check', str(path), '--explain']) == 0
    checked = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    judged = Pipeline(JudgeSettings(mode='rule')).run(
        [
            Candidate(
                row['question'],
                row['gold'],
                final_answer(row['prediction'], processed=False, question=row['question']),
                row['prediction'],
            )
            for row in rows
        ]
    )
    verdicts = {'same': 'correct', 'different': 'incorrect', 'unknown': 'unjudged'}
    for row, one in zip(checked, judged.judgements, strict=True):
        verdict = 'unjudged' if one.source == UNRECOGNISED else one.verdict.value
        assert (verdicts[row['verdict']], row['reason']) == (verdict, one.reason), row
    assert {'no answer', 'value absent', 'refused', 'empty'} <= {row['reason'] for row in checked}


def test_reasons_are_explained(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each row has its reason, and they are counted."""
    assert main(['check', str(file), '--explain']) == 0
    out, err = capsys.readouterr()
    found = [json.loads(line) for line in out.splitlines()]
    told = [f'{row["verdict"]}: {row["reason"]}' for row in found]
    assert told[:2] == ['same: number', 'different: number']
    reasons, summary = (json.loads(line) for line in err.splitlines())
    assert reasons == {'reasons': dict(Counter(told))}
    assert summary == SUMMARY


def test_texts_may_be_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With exact an equal value in other words is different; the option goes before the setting."""
    path = tmp_path / 'pairs.jsonl'
    answers = ['\\boxed{x + 1}', '\\boxed{1+x}']
    path.write_text(lines([{'gold': 'x+1', 'prediction': answer} for answer in answers]))
    for match, named, expected in (
        ('exact', '', ['same', 'different']),
        ('value', 'exact', ['same', 'same']),
        ('', 'exact', ['same', 'different']),
    ):
        monkeypatch.setenv('GPASSK_MATCH', named)
        assert main(['check', str(path), *(['--match', match] if match else [])]) == 0
        out = capsys.readouterr().out
        assert [json.loads(line)['verdict'] for line in out.splitlines()] == expected


def test_rows_may_hold_their_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is a text, or not there."""
    path = tmp_path / 'pairs.jsonl'
    row = {'gold': '1', 'prediction': '1'}
    path.write_text(lines([{**row, 'question': 'How many?'}, {**row, 'question': None}, row]))
    assert main(['check', str(path)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    path.write_text(lines([{**row, 'question': 5}]))
    assert main(['check', str(path)]) == 1
    assert 'line 1: field question is 5; give a text' in capsys.readouterr().err


def test_rows_are_written_as_they_are_decided() -> None:
    """Before the next row is there; one that makes no sense costs no earlier row."""
    process = subprocess.Popen(
        [*GPASSK, 'check', '-'],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    process.stdin.write(lines(ROWS[:1]))
    process.stdin.flush()
    assert json.loads(process.stdout.readline())['verdict'] == 'same'
    out, err = process.communicate(lines(ROWS[1:2]) + '{"gold": 1}\n' + lines(ROWS[2:]))
    assert [json.loads(line)['row'] for line in out.splitlines()] == [2]
    assert 'standard input, line 3: field prediction is missing' in err
    assert process.returncode == 1


def test_the_documented_example_is_what_the_command_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And every reason is explained there."""
    page = (Path(__file__).parent.parent / 'docs/checking.md').read_text('utf-8')
    given = page.split('```json\n')[1].split('```')[0]
    shown = page.split('--explain\n')[1].split('```')[0]
    path = tmp_path / 'pairs.jsonl'
    path.write_text(given)
    assert main(['check', str(path), '--explain']) == 0
    assert ''.join(capsys.readouterr()) == shown
    table = page.split('## Reasons')[1].split('##')[0]
    assert all(f'`{reason}`' in table for reason in REASONS)
