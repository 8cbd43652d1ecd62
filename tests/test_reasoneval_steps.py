"""From responses to steps."""

from __future__ import annotations

import json
import re
from pathlib import Path

from every_case import every, named
from hypothesis import given, settings
from hypothesis import strategies as st
from long_texts import BAIT, is_linear
from real_data import DATA, needs_data

from opencompass_gpassk.answers.speech import spoken
from opencompass_gpassk.reasoneval.steps import split_steps
from opencompass_gpassk.reasoneval.uncut_spans import Protected

CASES = json.loads((Path(__file__).parent / 'cases/reasoneval_steps.json').read_text('utf-8'))
PIECES = (
    'a', 'Bc', '5', '.', '. ', '。', ':', '\n', '\n\n', ' ', '1. ', '2. ', '\n1. ', '\n2. ',
    '\nStep 1: ', '\nStep 2: ', '第一步：', '\n第二步：', '$', '$$', '\\(', '\\)', '\\[', '\\]',
    '\\begin{a}', '\\end{a}', '`', '\n```\n', '\n## ', '**', '\n---\n', '<think>', '</think>',
    '\u2028', '\r\n', '\ud800',
)  # fmt: skip
FORMULAS = ('$$x. Y\n\n1. z\n2. Z$$', '\\(x. Y\n\n1. z\\)', '\\[x\n\n\\]')
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map(''.join)


def visible(text: str) -> str:
    return ''.join(text.split())


@every(CASES, named)
def test_cases(case):
    """Each response is split as its case says."""
    settings = {key: case[key] for key in ('delimiter', 'thinking') if key in case}
    assert split_steps(case['response'], **settings) == case['steps']


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_nothing_is_lost(text):
    """The steps hold all that is said, in order, but for white space and rules."""
    steps = split_steps(text)
    assert all(step and step == step.strip() for step in steps)
    said = spoken(text)
    if '---' in said or '***' in said:
        said, steps = re.sub(r'[-*]', '', said), [re.sub(r'[-*]', '', step) for step in steps]
    assert visible(''.join(steps)) == visible(said)


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.sampled_from(['\n', '\n\n', '. ', 'a', '$', '第一步：']))
def test_a_delimiter_loses_only_itself(text, delimiter):
    """Steps by a delimiter hold all else, and none of it outside what must not be cut."""
    said = spoken(text)
    steps = split_steps(text, delimiter=delimiter)
    if not Protected(said).spans:
        assert steps == [part.strip() for part in said.split(delimiter) if part.strip()]
    else:
        gone = ''.join(delimiter.split())
        assert visible(''.join(steps)).replace(gone, '') == visible(said).replace(gone, '')


@settings(max_examples=200, deadline=None)
@given(TEXTS, st.sampled_from(FORMULAS), TEXTS)
def test_formulas_are_whole(before, formula, after):
    """A formula in brackets, between plain texts, is in one step as a whole."""
    before, after = (re.sub(r'[\\$`<\ud800]|begin|end|think', '', one) for one in (before, after))
    assert any(formula in step for step in split_steps(f'{before} {formula} {after}'))


@every(BAIT, ascii)
def test_the_work_grows_no_faster_than_the_response(bait):
    """Whatever it repeats."""
    assert is_linear(split_steps, bait)


@needs_data
def test_real_responses_are_kept_whole():
    """Of 800 responses of a real model nothing is lost, and no display formula is divided."""
    path = Path(str(DATA)) / 'samples/qwen25math_math_100x8.jsonl'
    rows = [json.loads(line) for line in path.read_text('utf-8').split('\n') if line]
    for response in (response for row in rows for response in row['samples']):
        steps = split_steps(response)
        assert len(steps) > 1
        assert visible(''.join(steps)) == visible(response)
        if response.count('\\[') == response.count('\\]'):
            assert all(step.count('\\[') == step.count('\\]') for step in steps)


@needs_data
def test_most_steps_are_those_people_marked():
    """Steps equal those of the authors of MR-MATH, less the repeated answer, in 150 of 159."""
    path = Path(str(DATA)) / 'reasoneval/mr-math_invalid_errors.json'
    rows = [json.loads(line) for line in path.read_text('utf-8').split('\n') if line]

    def bare(steps):
        texts = [re.sub(r'(####.*|Theansweris:.*)$', '', visible(step)) for step in steps]
        return [text for text in texts if text]

    equal = [
        bare(split_steps(row['model_output']))
        == bare(''.join(lines) for lines in row['model_output_step_format'])
        for row in rows
    ]
    assert (sum(equal), len(equal)) == (150, 159)
