"""``gpassk rv`` lists, shows and writes questions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.rv.generation import versions
from opencompass_gpassk.rv.question import question_named


def test_questions_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """A line each, with source, subject and level."""
    assert main(['rv', 'list', '--source', 'math']) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 115
    assert 'LampsInStep math number theory 2' in [' '.join(line.split()) for line in lines]


def test_a_question_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """The original and three versions in both languages, with variables and answers."""
    assert main(['rv', 'show', 'LampsInStep']) == 0
    text = capsys.readouterr().out
    assert text.count('\n=> ') == 4
    assert 'def lamps_in_step(first=span(10, 30)' in text
    assert 'Original (first = 16, second = 22, minutes = 11)' in text
    assert 'Version 3 (' in text
    third = versions(question_named('LampsInStep'), 3)[3]
    assert f'\n{third.text("en")}\n{third.text("cn")}\n=> {third.answer}\n' in text


@pytest.mark.parametrize(
    ('argv', 'message'),
    [
        (['--per-group', '1'], '--per-group is 1; a question has at least 2 versions'),
        (['--per-group', '99', '--name', 'CandlesOnAWreath'], 'ask for'),
        (['-o', '.'], '. is a folder; name the file'),
        (['--name', 'Xyzzy'], 'see gpassk rv list'),
        (['--name', 'LampInStep'], 'do you mean LampsInStep'),
    ],
)
def test_what_cannot_be_written_is_named(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what to ask for instead."""
    assert main(['rv', 'generate', *argv]) == 1
    assert message in capsys.readouterr().err


def test_rows_are_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """To a file, or to standard output."""
    file = tmp_path / 'rv.jsonl'
    asked = ['rv', 'generate', '--per-group', '2', '--name', 'LampsInStep', 'PercentOfTens']
    assert main([*asked, '-o', str(file)]) == 0
    assert '4 versions, 2 originals' in capsys.readouterr().err
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert rows[0] == {
        'question': rows[0]['question'],
        'answer': '3',
        'group': 'LampsInStep',
        'version': 'original',
        'source': 'math',
        'subject': 'number theory',
        'level': '2',
        'language': 'en',
        'variables': {'first': 16, 'second': 22, 'minutes': 11},
        'original': True,
    }
    assert main(asked) == 0
    assert capsys.readouterr().out == file.read_text()
    assert [path.name for path in tmp_path.iterdir()] == ['rv.jsonl']
