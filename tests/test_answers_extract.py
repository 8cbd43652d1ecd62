"""From responses to their final answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from long_texts import BAIT, is_linear

from opencompass_gpassk.answers.check import stated_value
from opencompass_gpassk.answers.extract import extract_answer, last_statement

CASES = json.loads((Path(__file__).parent / 'cases/answers_extract.json').read_text('utf-8'))

settings.register_profile('busy machine', deadline=None)
settings.load_profile('busy machine')


@pytest.mark.parametrize('case', CASES, ids=[case['id'] for case in CASES])
def test_answer_of_a_response(case: dict[str, str]) -> None:
    """Each way to write a final answer is read as the case says."""
    assert extract_answer(case['response']) == case['answer']


def test_cases_differ() -> None:
    """No two cases share a name or a response."""
    assert len({case['id'] for case in CASES}) == len(CASES)
    assert len({case['response'] for case in CASES}) == len(CASES)


@pytest.mark.parametrize('bait', BAIT, ids=ascii)
@pytest.mark.parametrize('read', [extract_answer, last_statement])
def test_the_work_grows_no_faster_than_the_response(
    read: Callable[[str], str | None], bait: str
) -> None:
    """Whatever it repeats, and if it ends in braces that close what was opened."""
    assert is_linear(read, bait)
    assert is_linear(read, bait, '}')


BALANCED = st.recursive(
    st.text('abc123+-\\frac ,', min_size=1, max_size=6).filter(lambda text: text.strip('\\ ')),
    lambda inner: st.lists(inner, min_size=1, max_size=3).map(
        lambda i: '\\x{' + '}{'.join(i) + '}'
    ),
    max_leaves=6,
).map(lambda text: text.replace('\\', '\\x').strip())


@given(BALANCED, st.text('ab ${\n', max_size=10))
def test_content_of_a_box_comes_back_whole(content: str, before: str) -> None:
    """Whatever is balanced comes out of a box as it went in, even behind braces left open."""
    assert extract_answer(f'{before}\\boxed{{{content}}}') == content


@given(st.lists(st.sampled_from(BAIT), max_size=12).map(''.join))
def test_any_text_is_read(response: str) -> None:
    """No text raises; an answer is never blank; the answer of a thinking block is never taken."""
    answer = extract_answer(response)
    assert answer is None or answer.strip()
    assert extract_answer(f'<think>{response}') in (None, answer)
    assert extract_answer('<think>\\boxed{13}') is None


@pytest.mark.parametrize(
    ('sentence', 'value'),
    [
        ('The largest n is 34.', '34'),
        ('一共有 **858颗** 糖果。', '858颗'),
        ('The rope is 5 m long.', '5 m'),
        ('There are 12 people.', '12'),
        ('So $x$ is $\\frac{1}{2}$', '\\frac{1}{2}'),
        ('3 + 10 = 13', '13'),
        ('Some text. The sum is 4.', '4'),
        ('It is not 34.', None),
        ('n is at least 34', None),
        ('It has more than 5 sides', None),
        ('5 dozen', None),
        ('minus 5', None),
        ('至少3个', None),
        ('between 3 and 5', None),
        ('3 and 5', None),
        ('x^5', None),
        ('no number', None),
        ('', None),
    ],
)
def test_value_of_a_sentence(sentence: str, value: str | None) -> None:
    """A sentence states a value if it holds one alone, without a negation or a bound."""
    assert stated_value(sentence) == value
