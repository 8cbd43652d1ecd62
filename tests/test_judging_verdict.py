"""Verdicts are read from a fixed menu; whatever is not on it is no verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from every_case import every, named
from long_texts import BAIT, is_linear

from opencompass_gpassk.answers.speech import spoken
from opencompass_gpassk.judging.verdict import MENUS, read_verdict
from opencompass_gpassk.trials import Verdict

CASES = json.loads((Path(__file__).parent / 'cases/judge_replies.json').read_text('utf-8'))


@every(CASES, named)
def test_a_reply_is_read_by_its_menu(case: dict[str, str | None]) -> None:
    """Correct, incorrect, invalid or nothing."""
    found = read_verdict(str(case['reply']), MENUS[str(case['menu'])])
    expected = case['verdict']
    if expected == 'invalid':
        assert found is not None
        assert found[0] is Verdict.UNJUDGED
        assert found[1].startswith('invalid: ')
    elif expected is None:
        assert found is None
    else:
        assert found == (Verdict[expected.upper()], '')


@pytest.mark.parametrize('name', MENUS)
@every(BAIT, ascii)
def test_the_work_grows_no_faster_than_the_reply(bait: str, name: str) -> None:
    """Whatever it repeats, however it ends."""
    for end in ('', 'x'):
        assert is_linear(lambda text, end=end: read_verdict(text + end, MENUS[name]), bait)
    assert is_linear(lambda text: read_verdict(text, MENUS[name]), bait, '}')


@pytest.mark.parametrize(
    ('reply', 'expected'),
    [
        ('◁think▷ no ◁/think▷yes', 'yes'),
        ('plan◁/think▷yes', 'yes'),
        ('◁think▷ never closed', ''),
        ('<|channel|>analysis<|message|>no<|end|><|start|>assistant', ''),
        (
            '<|channel|>analysis<|message|>no<|end|><|start|>assistant'
            '<|channel|>final<|message|>yes<|return|>',
            'yes',
        ),
    ],
)
def test_thoughts_are_left_out_in_every_notation(reply: str, expected: str) -> None:
    """Those of models that mark them by other means than tags."""
    assert spoken(reply) == expected
