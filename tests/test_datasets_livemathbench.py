"""LiveMathBench and sample: columns, selections, counts, and what is said when data are missing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from opencompass.datasets.livemathbench import prompts
from opencompass.registry import LOAD_DATASET
from real_data import DATA, needs_data

from opencompass_gpassk.datasets import AIME, MATH500L5, GPassKDataset, LiveMathBench

COLUMNS = {
    *('problem_id', 'question', 'answer', 'prompt', 'split', 'language', 'level', 'subject'),
    *('question_type', 'cluster', 'version', 'benchmark', 'data_version'),
}
OFFLINE = {'hub': None, 'modelscope': None, 'download': False}


def write_all(folder: Path, counts: dict[str, int], languages: tuple[str, ...]) -> None:
    """Made-up problems in LiveMathBench's layout."""
    folder.mkdir(parents=True, exist_ok=True)
    for split, count in counts.items():
        for language in languages:
            made = [
                {'question': f'{split} {language} {i}', 'answer': f'${i}$', 'question_type': '解答'}
                for i in range(count)
            ]
            lines = [json.dumps(row, ensure_ascii=False) for row in made]
            (folder / f'{split}_{language}.jsonl').write_text('\n'.join(lines), 'utf-8')


FULL = {'AMC': 46, 'CCEE': 44, 'CNMO': 18, 'WLPMC': 11}


def test_sample_has_all_columns_and_its_own_name() -> None:
    """48 problems, half in each language, and nothing that says LiveMathBench."""
    rows = LiveMathBench.load()
    assert len(rows) == 48
    assert set(rows.column_names) == COLUMNS
    assert set(rows['benchmark']) == {'sample'}
    assert rows['data_version'][0].startswith('1:')
    assert sorted(rows['language']) == ['cn'] * 24 + ['en'] * 24
    assert all(isinstance(value, str) for row in rows for value in row.values())
    assert 'LiveMathBench' not in json.dumps(rows.to_list())


def test_translations_share_a_cluster() -> None:
    """Each cluster holds the Chinese and the English text of one problem."""
    clusters: dict[str, list[str]] = {}
    for row in LiveMathBench.load():
        clusters.setdefault(row['cluster'], []).append(f'{row["language"]} {row["answer"]}')
    assert len(clusters) == 24
    for members in clusters.values():
        (cn, cn_answer), (en, en_answer) = sorted(member.split(' ', 1) for member in members)
        assert (cn, en, cn_answer) == ('cn', 'en', en_answer)


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'k': [4, 8], 'n': 4}, r'k is \[4, 8\], n is 4'),
        ({'k': 0}, 'k is 0'),
        ({'n': 0}, 'n is 0'),
        ({'n': '16'}, "n is '16'"),
        ({'k': []}, r'k is \[\]'),
    ],
)
def test_k_and_n_are_checked(settings: dict[str, Any], message: str) -> None:
    """Settings that make no sense are named before anything is sampled."""
    with pytest.raises(ValueError, match=message):
        LiveMathBench(reader_cfg={}, **settings)


@pytest.mark.parametrize(
    ('settings', 'message'),
    [
        ({'version': '2024'}, "version is '2024'"),
        ({'path': '/data'}, "version 'sample' comes with this package"),
        ({'splits': ['AMC', 'IMO']}, "splits is .*'IMO'"),
        ({'splits': 'AMC'}, "splits is 'AMC'"),
        ({'languages': []}, r'languages is \[\]'),
        ({'version': '202505', 'languages': ['cn']}, 'of version 202505: en'),
        ({'prompt': 'best'}, "prompt is 'best'"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], message: str) -> None:
    """The message holds field, value and remedy."""
    with pytest.raises(ValueError, match=message):
        LiveMathBench.load(**settings)


def test_a_missing_language_is_an_error_that_names_the_way_out(tmp_path: Path) -> None:
    """An incomplete benchmark isn't loaded silently."""
    write_all(tmp_path, FULL, ('en',))
    with pytest.raises(ValueError, match=r"AMC_cn\.jsonl.*not found.*languages=\['en'\]"):
        LiveMathBench.load(version='202412', path=str(tmp_path))
    rows = LiveMathBench.load(version='202412', path=str(tmp_path), languages=['en'])
    assert len(rows) == 119
    assert set(rows['question_type']) == {'解答'}


def test_a_selection_is_named_in_the_benchmark(tmp_path: Path) -> None:
    """A part doesn't pass for the whole, where results are joined by the name."""
    write_all(tmp_path, FULL, ('en', 'cn'))

    def name(**selection: Any) -> str:
        rows = LiveMathBench.load(version='202412', path=str(tmp_path), **selection)
        return str(rows['benchmark'][0])

    assert name() == name(languages=['en', 'cn']) == 'LiveMathBench-202412'
    assert name(languages=['en']) == 'LiveMathBench-202412-en'
    assert name(splits=['AMC'], languages=['cn']) == 'LiveMathBench-202412-AMC-cn'


def test_a_wrong_count_is_an_error(tmp_path: Path) -> None:
    """It says which part, how many, and where the file ends."""
    write_all(tmp_path, {**FULL, 'CNMO': 17}, ('en',))
    settings = {'version': '202412', 'path': str(tmp_path), 'languages': ['en']}
    with pytest.raises(
        ValueError, match=r'CNMO_en has 17 problems instead of 18.*line 17.*complete'
    ):
        LiveMathBench.load(**settings)


def test_versions_whose_size_is_not_published_are_not_counted(tmp_path: Path) -> None:
    """202505 has English problems in one file, of any number."""
    write_all(tmp_path / '202505', {'all': 7, 'hard': 3}, ('en',))
    rows = LiveMathBench.load(version='202505', path=str(tmp_path))
    assert (len(rows), rows['benchmark'][0]) == (7, 'LiveMathBench-202505')
    assert len(LiveMathBench.load(version='202505-hard', path=str(tmp_path))) == 3


def test_prompts_in_both_languages_with_and_without_reasoning() -> None:
    """The question, then how to answer, in the question's language."""

    def prompt(language: str, **settings: Any) -> str:
        rows: Dataset = LiveMathBench.load(languages=[language], splits=['AMC'], **settings)
        assert rows[0]['question'] in rows[0]['prompt']
        return str(rows[0]['prompt'])

    texts = [prompt(language, cot=cot) for language in ('cn', 'en') for cot in (True, False)]
    assert len(set(texts)) == 4
    assert all('\\boxed{}' in text for text in texts)
    assert ['step' in text for text in texts] == [False, False, True, False]
    question = LiveMathBench.load(languages=['en'], splits=['AMC'])[0]['question']
    theirs = prompt('en', prompt='opencompass')
    assert theirs == prompts.PROMPT_EN.format(question=question)
    assert 'step by step' not in prompt('en', prompt='opencompass', cot=False)
    assert prompt('cn', prompt='opencompass') != prompt('cn', prompt='opencompass', cot=False)


def test_names_are_ours_in_opencompass() -> None:
    """OpenCompass's registry overwrites silently: each name leads to our class."""
    for kind in (LiveMathBench, MATH500L5, AIME):
        assert LOAD_DATASET.get(kind.__name__) is kind
        assert issubclass(kind, GPassKDataset)


@needs_data
def test_real_files_have_the_published_counts() -> None:
    """202412 English: 46 + 44 + 18 + 11, and 21 hard ones."""
    settings = {'path': DATA, 'languages': ['en']}
    rows = LiveMathBench.load(version='202412', **settings)
    assert {split: rows['split'].count(split) for split in FULL} == FULL
    assert len(LiveMathBench.load(version='202412-hard', **settings)) == 21
