"""Questions of the user's own, in Python: listed, generated, asked, and never run unasked."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from opencompass_here import TASKS_HERE, opencompass

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.commands.run.job import JobSettings, dataset_configs
from opencompass_gpassk.datasets import RVBench

HEAD = 'from opencompass_gpassk.rv.question import distinct, one_of, question, require, span\n'
TAPS = '''
@question('plumbing', level='easy')
def two_taps(first=span(2, 9), second=span(2, 9)):
    """One tap fills a tank in <first> hours, another in <second> hours.
    How many tanks do both fill in <first * second> hours?
    """
    require(first < second)
    return first + second
'''
BENCHES = '''
@question('parks', level='hard')
def benches(trees=span(10, 40), gap=one_of(2, 3, 5)):
    """Between $<trees>$ trees in a row stand $<gap>$ benches each. How many benches are there?

    一排有 $<trees>$ 棵树，每两棵之间放 $<gap>$ 张长椅。一共有多少张长椅？
    """
    return (trees - 1) * gap
'''


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with two questions, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'mine.py').write_text(HEAD + TAPS + BENCHES, 'utf-8')
    return Path('mine.py')


def test_own_questions_are_listed_shown_and_generated(
    mine: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of any subject and level, in English alone or in both languages; ours are not among them."""
    assert main(['rv', 'list', '--from', str(mine)]) == 0
    listed = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert listed == [['TwoTaps', 'plumbing', 'easy'], ['Benches', 'parks', 'hard']]
    for name, languages in (('TwoTaps', 1), ('Benches', 2)):
        assert main(['rv', 'show', '--from', str(mine), name, '--versions', '0']) == 0
        shown = capsys.readouterr().out
        code, _, original = shown.partition('Original (')
        assert '@question(' in code
        assert len(original.splitlines()) == 3 + languages  # with variables, answer, empty line
    assert main(['rv', 'generate', '--from', str(mine), '--per-group', '3']) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row['group'] for row in rows] == ['TwoTaps'] * 4 + ['Benches'] * 4
    for row in rows[:4]:
        first, second = row['variables'].values()
        assert row['answer'] == str(first + second)
        assert (
            f'another in {second} hours. How many tanks do both fill in {first * second}'
            in (row['question'])
        )
    assert main(['rv', 'generate', '--from', str(mine), '--language', 'both']) == 1
    assert 'mine.py, line 3: question TwoTaps has no Chinese statement' in capsys.readouterr().err


def test_own_questions_are_a_data_set(mine: Path) -> None:
    """In a config and for `gpassk run --data`, under the file's name; a changed file is another."""
    found = RVBench.load(path=str(mine), per_group=2, seed=7)
    assert found['problem_id'][:3] == ['TwoTaps/original', 'TwoTaps/1', 'TwoTaps/2']
    assert set(found['benchmark']) == {'mine'}
    assert RVBench.load(path=str(mine), names=['Benches'])['subject'] == ['parks'] * 6
    with pytest.raises(ValueError, match='per_group is 1; a group has at least 2 versions'):
        RVBench.load(path=str(mine), per_group=1)
    job = JobSettings(n=4, k=[2], greedy=True)
    greedy, sampled = dataset_configs(str(mine), job)
    assert (greedy['n'], sampled['n']) == (1, 4)
    kept = ('path', 'per_group', 'seed', 'languages')
    assert (
        RVBench.load(**{name: sampled[name] for name in kept})['question']
        == (RVBench.load(path=str(mine))['question'])
    )
    mine.write_text(HEAD + BENCHES, 'utf-8')
    assert dataset_configs(str(mine), job)[1]['abbr'] != sampled['abbr']


def question_with(parameters: str, answer: str = 'x', statement: str = 'What is <x>?') -> str:
    """Return the text of a question."""
    head = f'@question("a", 1)\ndef sums({parameters}):\n'
    return f'{head}    """{statement}"""\n    return {answer}\n'


@pytest.mark.parametrize(
    ('text', 'messages'),
    [
        (question_with('x=3'), ['line 2: question Sums: parameter x = 3', 'x=span(2, 9)']),
        (question_with('x'), ['line 2: question Sums: parameter x is not drawn', 'x=span(2, 9)']),
        (
            question_with('x=span(9, 2)'),
            ['line 2: question Sums: parameter x: there is no number from 9 to 2', 'the smaller'],
        ),
        (
            question_with('x=span(5, 9), y=span("x", 4)'),
            ['question Sums: parameter y: there is no number from', 'y=span(2, 9)'],
        ),
        (question_with('x=one_of()'), ['question Sums: parameter x', 'x=span(2, 9)']),
        (
            question_with('x=distinct(1, 2), y=x, z=x').replace('=x', '=distinct(1, 2)'),
            ['parameter x, y, z: 3 different values are drawn from 2'],
        ),
        (question_with('x=span("z", 9)'), ["parameter x: name 'z' is not defined"]),
        (question_with('x=span(1, 9)', 'y'), ["question Sums: NameError: name 'y'"]),
        (question_with('x=span(1, 9)', 'x / 2'), ['question Sums: TypeError', 'answers are exact']),
        (question_with('x=span(1, 9)', statement='<y>?'), ["question Sums: NameError: name 'y'"]),
        (question_with('x=span(1, 9)', statement=''), ['question Sums: it needs a docstring']),
        (
            question_with('x=span(1, 9)', statement='One.\n\nAnother paragraph.'),
            ['the English statement in one paragraph'],
        ),
        (question_with('x=span(1, 9)') * 2, ['line 6: question Sums: there are two']),
        ('x = 1 / 0\n', ['mine.py, line 2: ZeroDivisionError']),
        ('x = (\n', ['mine.py, line 2: SyntaxError']),
        ('x = 1\n', ['mine.py: it has no question', 'docs/rvbench.md']),
    ],
)
def test_an_error_names_the_question_and_what_to_write(
    mine: Path, capsys: pytest.CaptureFixture[str], text: str, messages: list[str]
) -> None:
    """With file and line, and the parameter if it is one."""
    mine.write_text(HEAD + text, 'utf-8')
    assert main(['rv', 'generate', '--from', str(mine)]) == 1
    told = capsys.readouterr().err
    assert 'mine.py' in told
    for message in messages:
        assert message in told


@pytest.mark.slow
def test_own_questions_are_asked_by_opencompass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the docs show: a file, a config, and a result with the metrics of versions."""
    monkeypatch.chdir(tmp_path)
    page = Path(__file__).parents[1].joinpath('docs/rvbench.md').read_text('utf-8')
    config, _, questions = re.findall(r'```python\n(.*?)```', page, re.DOTALL)
    (update,) = re.findall(r"mine\.update\(abbr='mine-greedy-n1', path='my_questions\.py'\)", page)
    config = re.sub(r'mine\.update\(.*\)', update, config)
    Path('my_questions.py').write_text(questions, 'utf-8')
    Path('mine.py').write_text(config, 'utf-8')
    screen = opencompass(tmp_path, 'mine.py', TASKS_HERE)
    (path,) = Path('outputs/mine').glob('*/results/*/mine-greedy-n1.json')
    result = json.loads(path.read_text())
    assert (result['benchmark'], result['counts']['trials']) == ('my_questions', 12)
    assert result['versions'] | {'per_group': 5, 'groups': 2, 'originals': 2} == result['versions']
    assert result['groups'].keys() == {'work', 'parks', 'original'}
    assert 'understanding' in screen
