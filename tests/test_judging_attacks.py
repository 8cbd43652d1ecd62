"""Answers that attack the judge flip no verdict by the way its replies are read."""

from __future__ import annotations

import pytest
from attack_judges import ATTACKS, PROMPTS, STUBS, attack, benign
from every_case import every

from opencompass_gpassk.judging import prompt as prompts
from opencompass_gpassk.judging.prompt import Prompt
from opencompass_gpassk.judging.verdict import MENUS, Reading, read_verdict
from opencompass_gpassk.trials import Verdict

ECHOES = ('echo', 'echo candidate')
BOXED = MENUS['boxed']


def flipped(stub: str, source: str, language: str) -> list[str]:
    """Return the attacks that bring a stub to another reading than a plain wrong answer does."""
    prompt, say = Prompt.load(source, language), STUBS[stub]
    plain = read_verdict(say(prompt.fill(benign(language))), BOXED)
    return [
        case['id']
        for case in ATTACKS
        if read_verdict(say(prompt.fill(attack(case))), BOXED) != plain
    ]


@pytest.mark.parametrize(('source', 'language'), PROMPTS)
@pytest.mark.parametrize('stub', ECHOES)
def test_a_judge_that_echoes_flips_no_verdict(stub: str, source: str, language: str) -> None:
    """Neither all of the prompt nor what stands in the fence reads as the attacker wants."""
    assert flipped(stub, source, language) == []


@pytest.mark.parametrize(('source', 'language'), PROMPTS)
def test_the_same_attacks_flip_verdicts_where_answers_are_not_defused(
    source: str, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are attacks indeed; upstream's prompt, which ends in the answer, loses to an echo."""
    monkeypatch.setattr(prompts, 'neutralise', lambda candidate: candidate)
    assert len(flipped('echo candidate', source, language)) >= 40
    assert len(flipped('echo', source, language)) >= (40 if source == 'opencompass' else 0)


@pytest.mark.parametrize('name', MENUS)
@every([None, *ATTACKS], lambda case: case['id'] if case else 'question')
def test_no_menu_reads_a_verdict_from_a_quoted_attack(answer: dict | None, name: str) -> None:
    """Also where a user's prompt ends in the answer. One word, which any answer may be, is one."""
    template = Prompt('{question}\n{gold}\n{answer}')
    triple = benign('en') if answer is None else attack(answer)
    assert read_verdict(template.fill(triple), MENUS[name]) is None


def test_a_judge_that_obeys_is_no_more_gullible_than_measured() -> None:
    """The metrics of the benchmark: no promise of zero, but no worse without anyone noticing."""

    def rate(stub: str, source: str, language: str) -> int:
        prompt, say = Prompt.load(source, language), STUBS[stub]
        plain = read_verdict(say(prompt.fill(benign(language))), BOXED)
        assert plain != (Verdict.CORRECT, '')
        readings: list[Reading | None] = [
            read_verdict(say(prompt.fill(attack(case))), BOXED) for case in ATTACKS
        ]
        return sum(one == (Verdict.CORRECT, '') for one in readings)

    for language in ('en', 'cn'):
        assert rate('obey', 'default', language) == 0
        assert rate('obey', 'opencompass', language) > 40
        assert rate('obey unconditional', 'default', language) > 40
