"""From responses to their final answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from compared_answers import compare
from every_case import every, named
from hypothesis import given, settings
from hypothesis import strategies as st
from long_texts import BAIT, is_linear

from opencompass_gpassk.answers.check import is_settled
from opencompass_gpassk.answers.reader import READ, boxed, read_answer

CASES = json.loads((Path(__file__).parent / 'cases/answers_reader.json').read_text('utf-8'))

settings.register_profile('busy machine', deadline=None)
settings.load_profile('busy machine')


@every(CASES, named)
def test_answer_of_a_response(case: dict[str, str]) -> None:
    """Each way to write a final answer is read as the case says."""
    assert read_answer(case['response']) == case['answer']


def test_cases_differ() -> None:
    """No two cases share a name or a response."""
    assert len({case['id'] for case in CASES}) == len(CASES)
    assert len({case['response'] for case in CASES}) == len(CASES)


@every(BAIT, ascii)
def test_the_work_grows_no_faster_than_the_response(bait: str) -> None:
    """Whatever it repeats, and if it ends in braces that close what was opened."""
    assert is_linear(read_answer, bait)
    assert is_linear(read_answer, bait, '}')


@pytest.mark.parametrize(
    'sentence', ['It is not \\boxed{7}.\n', '\\boxed{7} + 1\n', '\\boxed{7} is wrong.\n']
)
def test_many_boxes_that_are_taken_back(sentence: str) -> None:
    """The reader goes back over a few of them, and gives up."""
    assert read_answer('So \\boxed{5}. ' + sentence * 3000) is None
    assert is_linear(read_answer, sentence)


def test_the_end_of_a_response_is_read() -> None:
    """What stands before the last 20,000 characters is not; thoughts don't count."""
    assert read_answer('\\boxed{1}' + 'x' * READ) is None
    assert read_answer('x' * READ + '\\boxed{1}') == '1'
    assert read_answer('\\boxed{1}<think>' + 'x' * READ) == '1'


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
    assert boxed(f'{before}\\boxed{{{content}}}') == content


@given(st.lists(st.sampled_from(BAIT), max_size=12).map(''.join))
def test_any_text_is_read(response: str) -> None:
    """No text raises; an answer is never blank; the answer of a thinking block is never taken."""
    answer = read_answer(response)
    assert answer is None or answer.strip()
    assert '<' in response or read_answer(f'<think>{response}') is None
    assert read_answer('<think>\\boxed{13}') is None


FORMATS = json.loads((Path(__file__).parent / 'cases/answers_formats.json').read_text('utf-8'))
ALLOWED = {'not same': {'different', 'unknown'}, 'not different': {'same', 'unknown'}}


@every(FORMATS, named)
def test_formats_of_responses(case: dict[str, str]) -> None:
    """A final answer is read and compared wherever models and data sets write it."""
    question = case.get('question', '')
    answer = read_answer(case['response'], question) or ''
    verdict = compare(case['gold'], answer, question)[0].value
    assert verdict in ALLOWED.get(case['expected'], {case['expected']}), answer


@pytest.mark.parametrize(
    ('response', 'question', 'answer'),
    [
        ('First I look at it. Then adding zero leaves 12', '', None),
        ('x = 1\ny = 2', '', None),
        ('The sum is **12', '', None),
        ('{"steps": 12', '', None),
        ('So \\boxed{12}. To check, I add 5 and', '', '12'),
        ('The answer is 12. To check, I add 5 and', '', '12'),
        ('So \\boxed{12', '', None),
        ('<answer>12', '', None),
        ('The answer is 12', '', None),
    ],
)
def test_what_a_response_breaks_off_with_is_no_answer(
    response: str, question: str, answer: str | None
) -> None:
    """What it announced or boxed before stands."""
    assert read_answer(response, question, cut_off=True) == answer


@pytest.mark.parametrize(
    ('gold', 'response', 'settled'),
    [
        ('72', 'I tried 70 and 71, but it goes on.', True),
        ('72', 'It may be 71 or 72, I guess.', False),
        ('\\frac{1}{2}', 'The chances are 3 to 6.', False),
        ('25', 'A quarter of the class.', False),
        ('x+1', 'I tried 70 and 71.', False),
    ],
)
def test_settled_without_an_answer(gold: str, response: str, settled: bool) -> None:
    """What has no recognised answer is settled if the gold answer's value stands nowhere."""
    assert is_settled(gold, response) is settled
