"""Verdicts taken from OpenCompass-like evaluators with details of every kind."""

from __future__ import annotations

from typing import Any

import pytest
from opencompass.datasets.circular import CircularEvaluator
from opencompass.openicl.icl_evaluator import CircularEvaluator as RotationEvaluator

from opencompass_gpassk.judging.evaluators import judge_replica
from opencompass_gpassk.judging.judge import JudgeError
from opencompass_gpassk.trials import Verdict

RIGHT, WRONG, OPEN = Verdict.CORRECT, Verdict.INCORRECT, Verdict.UNJUDGED


class Stub:
    """An evaluator that scores by equality and reports in a given way."""

    def __init__(self, report: str) -> None:
        self.report = report

    def pred_postprocess(self, predictions: list[str]) -> list[str]:
        """Leave predictions alone."""
        return predictions

    def score(self, predictions: list[str], references: list[str]) -> dict[str, Any]:
        """Report in the stub's way."""
        right = [p == r for p, r in zip(predictions, references, strict=True)]
        accuracy = 100 * sum(right) / len(right)
        if self.report == 'list':
            return {'accuracy': accuracy, 'details': [{'correct': r} for r in right]}
        if self.report == 'dict':
            details: dict[str, Any] = {str(i): {'correct': r} for i, r in enumerate(right)}
            return {'accuracy': accuracy, 'details': {'type': 'GEN', **details}}
        if self.report == 'drops a row':
            kept = [{'correct': x} for x, r in zip(right, references, strict=True) if r != 'drop']
            return {'accuracy': accuracy, 'details': kept}
        if self.report == 'accuracy alone':
            return {'accuracy': accuracy}
        if self.report == 'a share by another name':
            return {'Weighted Accuracy': accuracy, 'small-pass@1': accuracy / 100, 'score': 3}
        if self.report == 'marks':
            return {'score': accuracy / 100}
        if self.report == 'shares that differ':
            return {'em': accuracy, 'strict-em': 0, 'loose em': accuracy}
        if self.report == 'keys of another order':
            numbered = {str(i): {'correct': r} for i, r in enumerate(right)}
            return {'details': dict(sorted(numbered.items(), reverse=True))}
        if self.report == 'rows of another order':
            rows = [
                {'pred': p, 'answer': r, 'correct': p == r}
                for p, r in zip(predictions, references, strict=True)
            ]
            return {'details': sorted(rows, key=lambda row: row['correct'])}
        if self.report == 'fails on one' and '2' in predictions:
            raise OSError('no 2')
        if self.report == 'fails':
            raise OSError('the judge is down')
        if self.report == 'fails on one':
            return {'accuracy': accuracy}
        return {'bleu': 12.5}


COLUMNS = {'predictions': ['1', '2', '3', '5'], 'references': ['1', 'drop', '3', '4']}


@pytest.mark.parametrize(
    'report',
    [
        *('list', 'dict', 'accuracy alone', 'keys of another order', 'rows of another order'),
        'a share by another name',
    ],
)
def test_every_kind_of_report_gives_the_same_verdicts(report: str) -> None:
    """Missing details and other orders don't shift a verdict to another row."""
    judged = judge_replica(lambda row: Stub(report), COLUMNS, 4)
    assert [verdict for verdict, _ in judged] == [RIGHT, WRONG, RIGHT, WRONG]


@pytest.mark.parametrize(
    ('report', 'reason'), [('drops a row', 'left the response out'), ('fails on one', 'no 2')]
)
def test_a_row_that_is_not_judged_is_unjudged(report: str, reason: str) -> None:
    """It shifts no other row and isn't counted as wrong; the log tells why rows are asked for."""
    told: list[str] = []
    judged = judge_replica(lambda row: Stub(report), COLUMNS, 4, report=told.append)
    assert [verdict for verdict, _ in judged] == [RIGHT, OPEN, RIGHT, WRONG]
    assert reason in judged[1][1]
    assert 'Stub is asked one response at a time' in told[0]


def test_an_evaluator_that_fails_on_everything_is_named_before_all_rows_were_tried() -> None:
    """A judge that is down is an error, not a result without verdicts."""
    asked: list[int | None] = []

    def make(row: int | None) -> Stub:
        asked.append(row)
        return Stub('fails')

    columns = {'predictions': ['1'] * 50, 'references': ['1'] * 50}
    with pytest.raises(JudgeError, match=r'Stub fails on every response.*the judge is down'):
        judge_replica(make, columns, 50)
    assert len(asked) < 10


def test_rotations_of_options_are_judged_one_by_one() -> None:
    """OpenCompass's evaluator fails on single rows that are not in the original order."""
    judged = judge_replica(lambda row: CircularEvaluator(), COLUMNS, 4)
    assert [verdict for verdict, _ in judged] == [RIGHT, WRONG, RIGHT, WRONG]
    golds = [f'7--{gold}--BCDA' for gold in COLUMNS['references']]
    rotated = {**COLUMNS, 'references': golds}
    assert judge_replica(lambda row: RotationEvaluator(), rotated, 4) == judged


def cascade(rule: bool, reply: str) -> dict[str, Any]:
    """A detail of CascadeEvaluator, which takes a judge that said nothing for a no."""
    return {
        'rule_evaluation': {'correct': rule, 'pred': '1', 'answer': '1'},
        'llm_evaluation': {'prediction': reply, 'gold': '1', 'llm_correct': reply == 'A'},
        'cascade_correct': rule or reply == 'A',
    }


class Told:
    """An evaluator with given details of its one row."""

    def __init__(self, detail: Any) -> None:
        self.detail = detail

    def score(self) -> dict[str, Any]:
        """Tell them."""
        return {'details': [self.detail]}


@pytest.mark.parametrize(
    ('detail', 'verdict'),
    [
        ({'correct': True}, RIGHT),
        ({'correct': 0.0}, WRONG),
        ({'correct': 'False'}, WRONG),
        ({'is_correct': 1}, RIGHT),
        ({'acc': 0.0, 'failed': 1.0}, WRONG),
        ({'correctness': True}, RIGHT),
        ({'rule_evaluation': {'correct': True}}, RIGHT),
        (cascade(True, 'B'), RIGHT),
        (cascade(False, 'A'), RIGHT),
        (cascade(False, 'B'), WRONG),
        (cascade(False, ''), OPEN),
        (cascade(True, ''), RIGHT),
        ({'prediction': 'A', 'gold': '1'}, RIGHT),
        ({'prediction': ' b.\n', 'gold': '1'}, WRONG),
        ({'prediction': ' incorrect.', 'gold': '1'}, WRONG),
        ({'prediction': '<think>A or B?</think>\n\nB', 'gold': '1'}, WRONG),
        ({'prediction': 'The Answer is wrong', 'gold': '1'}, OPEN),
        ({'prediction': 'AB', 'gold': '1'}, OPEN),
        ({'prediction': '', 'gold': '1'}, OPEN),
        ({'llm_judge': 'B', 'gold': '1', 'is_correct': False}, WRONG),
    ],
)
def test_flags_and_letters_are_read(detail: dict, verdict: Verdict) -> None:
    """The prose of a judge is not."""
    assert judge_replica(lambda row: Told(detail), {}, 1)[0][0] is verdict


@pytest.mark.parametrize('detail', [{}, {'correct': 0.7}, {'pred': 'x'}, 'A', None])
def test_other_details_are_no_verdict(detail: Any) -> None:
    """Nothing is guessed from them."""
    with pytest.raises(ValueError, match='Told does not say whether a single response is right'):
        judge_replica(lambda row: Told(detail), {}, 1)
