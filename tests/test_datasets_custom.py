"""Problems from a user's own file, and the first N problems of any data set."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.commands.main import main
from opencompass_gpassk.datasets import AIME, CustomProblems, LiveMathBench, RVBench
from opencompass_gpassk.inference.sample_requests import identify
from opencompass_gpassk.samples.sample_files import read_samples

READER = {'input_columns': ['prompt'], 'output_column': 'answer'}
ROWS: list[dict[str, Any]] = [
    {'question': 'What is 2 + 3?', 'answer': 5},
    {'question': '1 加 1 等于多少？', 'answer': '2', 'id': 'zwei', 'language': 'zh'},
    {'question': 'What is 4 + 4?', 'answer': '8', 'subject': 'sums', 'cluster': 'eights'},
]


def write(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text(''.join(json.dumps(row) + '\n' for row in rows), encoding='utf-8')
    return str(path)


def test_rows_become_problems_under_the_files_name(tmp_path: Path) -> None:
    """What a row lacks is filled in; a Chinese question gets a Chinese prompt."""
    loaded = CustomProblems.load(path=write(tmp_path / 'contest.jsonl', *ROWS))
    assert set(loaded['benchmark']) == {'contest'}
    assert loaded['problem_id'] == ['1', 'zwei', '3']
    assert loaded['answer'] == ['5', '2', '8']
    assert loaded['language'] == ['en', 'zh', 'en']
    assert loaded['cluster'] == ['1', 'zwei', 'eights']
    assert loaded['subject'] == ['', '', 'sums']
    assert ['boxed' in prompt for prompt in loaded['prompt']] == [True] * 3
    assert ['答案' in prompt for prompt in loaded['prompt']] == [False, True, False]
    assert set(
        CustomProblems.load(path=str(tmp_path / 'contest.jsonl'), name='x')['benchmark']
    ) == {'x'}


def test_formats_and_columns(tmp_path: Path) -> None:
    """The same problems as CSV with other headings and as JSON have the same data version."""
    plain = [{'question': row['question'], 'answer': str(row['answer'])} for row in ROWS]
    (tmp_path / 'a.json').write_text(json.dumps(plain))
    with (tmp_path / 'a.csv').open('w', newline='') as file:
        writer = csv.writer(file)
        writer.writerows(
            [['Aufgabe', 'Lösung', 'groups'], *((*row.values(), 'x') for row in plain)]
        )
    columns = {'question': 'Aufgabe', 'answer': 'Lösung', 'split': 'groups'}
    mapped = CustomProblems.load(path=str(tmp_path / 'a.csv'), columns=columns)
    same = CustomProblems.load(path=str(tmp_path / 'a.json'))
    for name in ('question', 'answer', 'data_version', 'prompt'):
        assert mapped[name] == same[name]
    assert mapped['split'] == ['x'] * 3
    other = CustomProblems.load(path=write(tmp_path / 'a.jsonl', *plain[:2]))
    assert other['data_version'][0] != same['data_version'][0]


def test_versions_of_questions_are_kept_together(tmp_path: Path) -> None:
    """Rows of `gpassk rv generate` are the problems that RV-Bench has, in both languages."""
    path = tmp_path / 'seven.jsonl'
    command = ['rv', 'generate', '--source', 'math', '--seed', '7', '--language', 'both']
    assert main([*command, '-o', str(path)]) == 0
    loaded = CustomProblems.load(path=str(path))
    ours = RVBench.load(source='math', seed=7, languages=['cn', 'en'])
    same = ('question', 'answer', 'language', 'cluster', 'version', 'split', 'level', 'subject')
    assert sorted(zip(*(loaded[name] for name in ('problem_id', *same)), strict=True)) == sorted(
        zip(*(ours[name] for name in ('problem_id', *same)), strict=True)
    )
    with path.open('a') as file:
        file.write(json.dumps(ROWS[0]) + '\n')
    with pytest.raises(ValueError, match='has no group and version, but others have'):
        CustomProblems.load(path=str(path))


def versions(path: Path, *fields: dict[str, Any]) -> str:
    """Write problems with these fields, the first two in Chinese, with samples."""
    texts = ['一', '二', 'one', 'two', 'three'][: len(fields)]
    rows = [{'question': text, 'answer': '1', 'samples': ['1']} for text in texts]
    return write(path, *({**row, **more} for row, more in zip(rows, fields, strict=True)))


@pytest.mark.parametrize('version', [1, 'original'])
def test_a_version_that_occurs_twice_is_told_before_any_work(tmp_path: Path, version: Any) -> None:
    """Even if the problems have ids of their own."""
    fields = [{'id': i, 'group': 'a', 'version': version, 'language': 'en'} for i in range(2)]
    path = versions(tmp_path / 'a.jsonl', *fields)
    for read in (read_samples, CustomProblems.load):
        with pytest.raises(ValueError, match=f"line 2: .*question 'a' has version '{version}' twi"):
            read(path)


def test_groups_of_a_breakdown_make_no_versions(tmp_path: Path) -> None:
    """An object groups may hold fields of any name."""
    fields = {'groups': {'group': 'a', 'version': '2'}}
    path = versions(tmp_path / 'a.jsonl', fields, fields)
    assert CustomProblems.load(path=path)['version'] == ['', '']
    assert [problem.version for problem in read_samples(path).problems] == ['', '']


def test_a_prompt_of_ones_own(tmp_path: Path) -> None:
    """Braces of LaTeX in it stay; a text without a place for the question is refused."""
    path = write(tmp_path / 'a.jsonl', ROWS[0])
    loaded = CustomProblems.load(path=path, prompt=r'Q: {question} A in \boxed{}, {0.real}:')
    assert loaded['prompt'] == [r'Q: What is 2 + 3? A in \boxed{}, {0.real}:']
    with pytest.raises(ValueError, match=r'give a template that contains \{question\}'):
        CustomProblems.load(path=path, prompt='Answer: ')


@pytest.mark.parametrize(
    ('row', 'message'),
    [
        (
            {'problem': 'x', 'answer': '1'},
            '.* are problem, answer; .*--columns question=problem',
        ),
        (
            {'question': 'x', 'target': '1'},
            '.* question, target; .*--columns answer=target',
        ),
        (
            {'Question': 'x', 'Gold': '1'},
            '.*--columns question=Question answer=Gold',
        ),
        ({'q': 'x', 'a': '1'}, 'field question and answer .*--columns question=q answer=a,'),
        ({'question': 'x', 'answer': ['1', '2']}, 'field answer .*not a text'),
        ({'question': 'x', 'answer': '1', 'id': 'zwei'}, "field id: 'zwei' .*line 2"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    """File, line, field, and the fields that were found."""
    with pytest.raises(ValueError, match=rf'a\.jsonl, line 4: {message}'):
        CustomProblems.load(path=write(tmp_path / 'a.jsonl', *ROWS, row))


@pytest.mark.parametrize('content', ['[' * 100_000, '{"question": NaN}', '"' + 'x' * 10**6, ''])
@pytest.mark.parametrize('name', ['a.jsonl', 'a.json', 'a.csv'])
def test_a_hostile_file_is_an_error(tmp_path: Path, name: str, content: str) -> None:
    """Whatever is in it, the error names it, in a few words."""
    (tmp_path / name).write_text(content)
    with pytest.raises(ValueError, match='a') as raised:
        CustomProblems.load(path=str(tmp_path / name))
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize(
    ('name', 'settings', 'message'),
    [
        ('a.jsonl', {'path': None}, 'GPASSK_DATA'),
        ('a.jsonl', {'path': '/no/such.jsonl'}, 'there is no such file'),
        ('a.jsonl', {'columns': {'frage': 'x'}}, "columns has 'frage'"),
        ('sample.jsonl', {}, 'name of a benchmark of this package'),
        ('a.jsonl', {'name': 'AIME2024'}, 'name of a benchmark of this package'),
    ],
)
def test_wrong_settings_are_told(
    tmp_path: Path, name: str, settings: dict[str, Any], message: str
) -> None:
    """Results never stand under another benchmark's name."""
    path = write(tmp_path / name, *ROWS)
    with pytest.raises(ValueError, match=message):
        CustomProblems.load(**{'path': path, **settings})


def test_the_first_problems_are_sampled_n_times(tmp_path: Path) -> None:
    """Not the first rows: `limit` counts problems; the benchmark's name says so."""
    path = write(tmp_path / 'mine.jsonl', *ROWS)
    test = CustomProblems(READER, path=path, n=3, k=2, limit=2, abbr='x').test
    expected = [(problem, replica) for replica in range(3) for problem in ('1', 'zwei')]
    assert identify(test) == expected
    assert set(test['benchmark']) == {'mine-first2'}
    whole = CustomProblems(READER, path=path, n=3, k=2, limit=7, abbr='x').test
    assert len(whole) == 9
    assert set(whole['benchmark']) == {'mine'}
    with pytest.raises(ValueError, match=r'test_range is .* set limit'):
        CustomProblems({**READER, 'test_range': '[3:]'}, path=path, n=3, abbr='x')


def test_every_data_set_has_a_limit() -> None:
    """It counts questions, each with its translations and versions; below one it is refused."""
    for kind, problems in ((LiveMathBench, 2), (RVBench, 6)):
        rows = kind(READER, n=2, k=1, limit=3).test
        assert len(rows) == 2 * 3 * problems
        assert len(set(rows['cluster'])) == 3
        assert len(set(zip(rows['problem_id'], rows['replica'], strict=True))) == len(rows)
    for limit in (0, -1, '3'):
        with pytest.raises(ValueError, match='limit is'):
            AIME(READER, limit=limit)  # type: ignore[arg-type]
