"""Reviews of EvalScope, with their predictions; older layouts, damaged and hostile files."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tool_logs import LOGS, check_counts, scored

from opencompass_gpassk.samples.sample_files import read_samples

NAME = 'gsm8k_default.jsonl'
MADE = LOGS / 'evalscope'


def lines(kind: str) -> list[dict[str, Any]]:
    """The lines of the real reviews or predictions."""
    text = (MADE / kind / 'mock' / NAME).read_text('utf-8')
    return [json.loads(line) for line in text.splitlines()]


REVIEWS = lines('reviews')


def written(folder: Path, *rows: Any, kind: str = 'reviews') -> str:
    """A file of reviews or predictions, in its place."""
    path = folder / kind / 'mock' / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    text = ''.join((row if isinstance(row, str) else json.dumps(row)) + '\n' for row in rows)
    path.write_bytes(text.encode('utf-8', 'surrogateescape'))
    return str(path)


def changed(**fields: Any) -> dict[str, Any]:
    """The first review with some fields changed."""
    return {**copy.deepcopy(REVIEWS[0]), **fields}


def with_score(**fields: Any) -> dict[str, Any]:
    """The first review with some fields of its score changed."""
    row = changed()
    row['sample_score']['score'] |= fields
    return row


@pytest.mark.parametrize('named', ['', 'reviews', 'reviews/mock', f'reviews/mock/{NAME}'])
def test_a_real_log_is_scored(named: str, tmp_path: Path) -> None:
    """The work dir, its reviews and the file give the counts that the texts themselves give."""
    form = [] if named else ['--format', 'evalscope']  # its predictions look like a run's
    result, trials = scored(tmp_path, MADE / named, *form)
    counted = [
        (
            str(one['sample_score']['group_id']),
            one['sample_score']['score']['prediction'],
            one['target'][0],
        )
        for one in REVIEWS
    ]
    check_counts(result, trials, counted)
    assert (result['model'], result['benchmark']) == ('mock', 'gsm8k_default')
    outputs = [one['model_output'] for one in lines('predictions')]
    tokens = [one['usage']['output_tokens'] for one in outputs]
    assert [t.num_tokens for t in trials] == tokens
    assert [bool(t.truncated) for t in trials] == [
        one['choices'][0]['stop_reason'] == 'max_tokens' for one in outputs
    ]
    theirs = [one['sample_score']['score']['value']['accuracy'] == 1 for one in REVIEWS]
    assert [t.other_verdict.value == 'correct' for t in trials] == theirs
    assert {t.other_source for t in trials} == {'evalscope: accuracy'}


def test_an_older_layout(tmp_path: Path) -> None:
    """The target is a text, the prompt stands in input, and neither index nor messages exist."""
    rows = []
    for new in REVIEWS:
        old = {'index': new['index'], 'target': new['target'][0], 'input': 'Q: ' + new['target'][0]}
        score = {**new['sample_score']['score'], 'main_score_name': None}
        rows.append(old | {'sample_score': {'score': score, 'sample_id': new['index']}})
    found = read_samples(written(tmp_path, *rows))
    assert (len(found.problems), found.n) == (5, 4)
    assert found.problems[0].question == 'Q: 42'
    assert {r.num_tokens for r in found.responses} == {None}
    assert {r.other_source for r in found.responses} == {'evalscope: accuracy'}


@pytest.mark.parametrize(
    ('row', 'verdict'),
    [
        (with_score(value={'accuracy': 0.0}), 'incorrect'),
        (with_score(value={'accuracy': 0.5}), None),
        (with_score(value={'accuracy': None}), None),
        (with_score(value=None), None),
        (with_score(value={}), None),
        (with_score(value={'a': 0, 'b': 1}, main_score_name='b'), 'correct'),
        (with_score(value={'a': 0, 'b': 1}, main_score_name=None), 'incorrect'),
        (with_score(value={'a': 0, 'b': 1}, main_score_name=['b']), 'incorrect'),
    ],
)
def test_the_main_score_is_the_verdict(
    row: dict[str, Any], verdict: str | None, tmp_path: Path
) -> None:
    """1 is correct and 0 incorrect; null, a share or nothing is no verdict."""
    (response,) = read_samples(written(tmp_path, row)).responses
    assert (response.other_verdict and response.other_verdict.value) == verdict


def test_predictions_are_joined_by_index(tmp_path: Path) -> None:
    """Their order does not matter; a review without one has unknown tokens."""
    predictions = lines('predictions')
    written(tmp_path, *predictions[:0:-1], kind='predictions')
    found = read_samples(written(tmp_path, *REVIEWS)).responses
    tokens = [one['model_output']['usage']['output_tokens'] for one in predictions]
    assert [r.num_tokens for r in found] == [None, *tokens[1:]]


@pytest.mark.parametrize(
    ('row', 'message'),
    [
        ('[' * 100_000, 'not JSON'),
        ('\udc80', 'not UTF-8'),
        ('[]', 'a row is an object'),
        (changed(target=None), 'field target: the gold answer is missing'),
        (changed(target=['1', '2']), 'field id: .* already used'),
        (changed(sample_score=None), 'field sample_score is NoneType'),
        (changed(sample_score={}), 'field score is missing'),
        (changed(messages=None), 'field input is missing'),
        (changed(messages='a'), 'field messages is str'),
        (changed(messages=[{'role': 'user'}]), 'field content is missing'),
        (changed(messages=[{'role': 'user', 'content': [1]}]), r'field type is missing'),
        (changed(messages=[None]), 'field input is missing'),
        (
            changed(messages=[], input='q', sample_score={'score': {}}),
            'field prediction is missing',
        ),
        (changed(sample_score={**REVIEWS[0]['sample_score'], 'group_id': []}), 'field group_id'),
    ],
)
def test_faults_of_reviews(row: Any, message: str, tmp_path: Path) -> None:
    """A malformed review is an error that names file, line and field."""
    path = written(tmp_path, REVIEWS[0], row)
    with pytest.raises(ValueError, match=rf'{NAME}, line 2: {message}'):
        read_samples(path)
    assert len(read_samples(path, skip_bad=True).responses) == 1


@pytest.mark.parametrize(
    ('line', 'message'),
    [
        ('{"index"', 'line 2: not JSON'),
        ('{"model_output": {}}', 'line 2: field index is missing'),
        ('{"model_output": {}, "index": "1"}', 'line 2: field index is str'),
    ],
)
def test_damaged_predictions_are_told(line: str, message: str, tmp_path: Path) -> None:
    """The error names their file and line."""
    written(tmp_path, lines('predictions')[0], line, kind='predictions')
    with pytest.raises(ValueError, match=f'predictions/mock/{NAME}, {message}'):
        read_samples(written(tmp_path, *REVIEWS))


def test_predictions_alone_are_told(tmp_path: Path) -> None:
    """Predictions hold no gold answer; the message says what to name."""
    path = shutil.copy(MADE / 'predictions/mock' / NAME, tmp_path)
    with pytest.raises(ValueError, match='a prediction file of EvalScope; name its folder reviews'):
        read_samples(str(path))
