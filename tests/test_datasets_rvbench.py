"""RV-Bench as OpenCompass loads it: originals and versions, prompts, names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from opencompass_gpassk.datasets import RVBench
from opencompass_gpassk.datasets.prompts import make_prompt
from opencompass_gpassk.datasets.rv_files import write_line
from opencompass_gpassk.rv.generation import generate

NAMES = ['LampsInStep', 'PercentOfTens']
READER = {'input_columns': ['prompt'], 'output_column': 'answer'}


def rows(**settings: Any) -> list[dict[str, Any]]:
    """The rows of a data set."""
    return list(RVBench(reader_cfg=dict(READER), abbr='rv', **settings).dataset)


def test_a_group_is_an_original_and_its_versions() -> None:
    """Each is a problem of its own, and a sample of it says which."""
    found = rows(names=NAMES, n=2, k=2)
    assert len(found) == 2 * 2 * 6
    assert [row['problem_id'] for row in found[:6]] == [
        f'LampsInStep/{version}' for version in ('original', *'12345')
    ]
    assert {row['cluster'] for row in found} == set(NAMES)
    assert [row['replica'] for row in found] == [0] * 12 + [1] * 12
    assert found[0]['benchmark'] == 'RV-MATH, 2 of 115 questions'
    assert found[0]['subject'] == 'number theory'
    assert found[0]['level'] == '2'
    assert found[0]['question'] in found[0]['prompt']


@pytest.mark.parametrize('source', ['math', 'leetcode'])
def test_each_question_has_its_original_and_five_versions(source: str) -> None:
    """Under the source's name."""
    found = rows(source=source)
    assert len(found) == 690
    assert {row['benchmark'] for row in found} == {f'RV-{source.upper()}'}


@pytest.mark.parametrize('spelled', ['cn', 'zh'])
def test_a_question_in_two_languages_is_one_cluster(tmp_path: Path, spelled: str) -> None:
    """Its problems are apart, generated or of a file, whatever the file calls Chinese."""
    made = rows(names=NAMES, languages=['cn', 'en'])
    file = tmp_path / 'both.jsonl'
    lines = [write_line(row) for row in generate(names=NAMES, languages=['cn', 'en'])]
    file.write_text(''.join(lines).replace('"cn"', f'"{spelled}"'))
    for found in (made, rows(path=str(file))):
        assert len({row['problem_id'] for row in found}) == 24
        assert {row['cluster'] for row in found} == set(NAMES)
        assert len({row['language'] for row in found}) == 2


def test_seed_and_size_change_the_data_version() -> None:
    """Results of other versions are not compared unawares."""
    made = [{}, {'seed': 7}, {'per_group': 3}]
    assert len({rows(names=NAMES, **one)[0]['data_version'] for one in made}) == 3
    assert len(rows(names=NAMES, per_group=3)) == 8


def test_a_file_takes_the_place_of_the_generator(tmp_path: Path) -> None:
    """Under its own name."""
    file = tmp_path / 'official.jsonl'
    file.write_text(''.join(map(write_line, generate('all', 2, names=['SecondsToAPower', *NAMES]))))
    found = rows(path=str(file), prompt='4-shot')
    assert len(found) == 9
    assert {row['benchmark'] for row in found} == {'official'}
    assert [row['split'] for row in found[::3]] == ['leetcode', 'math', 'math']
    assert {row['cluster'] for row in rows(path=str(file), names=NAMES[:1])} == {'LampsInStep'}
    with pytest.raises(ValueError, match=r"names holds 'Xyzzy', but .*official\.jsonl has no"):
        rows(path=str(file), names=['Xyzzy'])
    # Each source has its own examples.
    assert len({row['prompt'].partition(row['question'])[0] for row in found}) == 2


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'source': 'aime'}, "source is 'aime'; use one of math, leetcode, all"),
        ({'per_group': 1}, 'per_group is 1'),
        ({'per_group': '5'}, "per_group is '5'"),
        ({'names': 'LampsInStep'}, 'give a list of names'),
        ({'path': '/nope.json'}, '/nope.json: there is no such file'),
        ({'originals': 'x.json'}, 'path does not'),
        ({'prompt': '5-shot'}, "prompt is '5-shot'"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, Any], message: str) -> None:
    """Naming the setting and its choices."""
    with pytest.raises(ValueError, match=message):
        rows(**settings)


@pytest.mark.parametrize('examples', ['math', 'leetcode'])
def test_four_worked_examples_stand_before_the_question(examples: str) -> None:
    """Each with a problem, a solution and a final answer; the question is left open."""
    prompt = make_prompt('How many?', 'en', preset='4-shot', examples=examples)
    assert prompt.count('Problem:\n') == prompt.count('Solution:') == 5
    assert prompt.count('The final answer is $') == 4
    assert prompt.endswith('Problem:\nHow many?\n\nSolution:')


def test_a_source_that_a_file_does_not_name_is_the_settings(tmp_path: Path) -> None:
    """It chooses the worked examples."""
    file = tmp_path / 'bare.jsonl'
    file.write_text('{"group": "a", "question": "1?", "answer": 1}\n' * 2)
    prompts = {
        source: rows(path=str(file), source=source, prompt='4-shot')[0]['prompt']
        for source in ('math', 'leetcode')
    }
    assert prompts['math'] != prompts['leetcode']


def test_examples_in_english_stand_before_no_chinese_question() -> None:
    """The error says so."""
    with pytest.raises(ValueError, match="in English, but a question in 'cn'"):
        make_prompt('几个？', 'cn', preset='4-shot')
