"""Classes of answers: equivalent ones vote together, whatever was judged of them."""

from __future__ import annotations

import pytest

from opencompass_gpassk.judging.rules import (
    answer_classes,
    final_answer,
    judge_answers,
    reason_counts,
    without_answer,
)
from opencompass_gpassk.judging.verdict import Judgement
from opencompass_gpassk.trials import UNRECOGNISED, Verdict

VERDICTS = {'+': Verdict.CORRECT, '-': Verdict.INCORRECT, '?': Verdict.UNJUDGED}


def judge(text: str) -> list[Judgement]:
    """Judgements such as ``5+ 7- x?``: answer (x: none) and verdict."""
    return [
        Judgement(VERDICTS[mark[-1]], None if mark[:-1] == 'x' else mark[:-1])
        for mark in text.split()
    ]


@pytest.mark.parametrize(
    ('judged', 'classes'),
    [
        ('5+ 5+ 5+ 5- 5- 7- 7- 7- 7-', [0] * 5 + [1] * 4),
        ('5+ 05- 5? 7-', [0, 0, 0, 1]),
        ('5- 5.0+ 7-', [0, 0, 1]),
        ('five+ 5+ 5- 7-', [0, 0, 0, 1]),  # what is right is one class, in all its forms
        ('5- 5? 7-', [0, 0, 1]),
        ('x- x+ 5-', [-1, -1, 0]),
    ],
)
def test_one_answer_is_one_class(judged: str, classes: list[int]) -> None:
    """A judge that wavers splits no answer into a right and a wrong one."""
    judgements = judge(judged)
    assert answer_classes(['p'] * len(judgements), judgements) == classes


def test_exact_matching_asks_for_the_text() -> None:
    """An equal value in other words is wrong, and nothing is unjudged."""
    pairs = [('1/2', answer) for answer in ('1/2', ' 1 / 2 ', '0.5', r'\frac{1}{2}', '', 'half')]
    judged = list(judge_answers(pairs, match='exact'))
    assert [one.verdict is Verdict.CORRECT for one in judged] == [True, True, *[False] * 4]
    assert {one.verdict for one in judged} == {Verdict.CORRECT, Verdict.INCORRECT}
    by_value = judge_answers(pairs[:4])
    assert {one.verdict for one in by_value} == {Verdict.CORRECT}


def test_undecided_answers_may_count_as_wrong() -> None:
    """Those that the rules can't decide; not those that they could not compare."""
    pairs = [('12', '12'), ('12', '13'), ('x', '9^{9^{9^9}}'), ('1/2', 'half of it'), ('', '5')]
    plain = list(judge_answers(pairs))
    strict = list(judge_answers(pairs, undecided='incorrect'))
    assert [VERDICTS[mark] for mark in '+-???'] == [one.verdict for one in plain]
    assert [VERDICTS[mark] for mark in '+-?-?'] == [one.verdict for one in strict]
    assert [one.source for one in strict] == ['rule', 'rule', 'rule', 'undecided', 'rule']
    assert [one.reason for one in strict] == [one.reason for one in plain]
    assert (
        reason_counts(strict)
        == reason_counts(plain)
        == {
            'same: text': 1,
            'different: number': 1,
            'unknown: too large': 1,
            'unknown: words': 1,
            'unknown: gold empty': 1,
        }
    )


@pytest.mark.parametrize(
    ('text', 'processed', 'answer'),
    [
        ('B', True, 'B'),
        ('B', False, 'B'),
        ('I do not know.', True, 'I do not know.'),
        ('I do not know.', False, None),
        ('So \\boxed{3}', True, '3'),
        (' ', True, None),
        ('word ' * 100, True, None),
    ],
)
def test_all_that_a_postprocessor_left_is_the_answer(
    text: str, processed: bool, answer: str | None
) -> None:
    """Unless it is long, or has an answer in it."""
    assert final_answer(text, processed=processed) == answer


@pytest.mark.parametrize(
    ('response', 'reason', 'source'),
    [
        ('<think>\n3 + 4 = 7, so \\boxed{7}.', 'thoughts only', UNRECOGNISED),
        ('<think>\n3 + 4 = 7, so \\boxed{7}.\n</think>\n', 'thoughts only', UNRECOGNISED),
        ('3 + 4 = 7, so \\boxed{7}.</think>', 'thoughts only', UNRECOGNISED),
        ('<|channel|>analysis<|message|>so \\boxed{7}<|end|>', 'thoughts only', UNRECOGNISED),
        ('<think>So it is \\boxed{8}.</think>', 'thoughts only', 'rule'),
        ('<think>\nI wonder: is 7 prime, and what does that help here?', 'thoughts only', 'rule'),
        ('so \\boxed{7}</think><|im_end|>', 'thoughts only', UNRECOGNISED),
        ('<think> </think>\n<|eot_id|>', 'empty', 'rule'),
        ('', 'empty', 'rule'),
    ],
)
def test_thoughts_alone_are_open_if_they_may_hold_the_answer(
    response: str, reason: str, source: str
) -> None:
    """They count as wrong; what is empty, or lacks the right answer, can't be right."""
    assert final_answer(response, processed=False) is None
    found = without_answer('7', response)
    assert (found.verdict, found.reason, found.source) == (Verdict.INCORRECT, reason, source)
