"""The demonstration's step classifier: the labels it learned from, and what its checkpoint does."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from test_demo import ANSWERS, SAMPLE_QUESTIONS, value

from opencompass_gpassk.metrics.reasoning import solution_validity, validity
from opencompass_gpassk.reasoneval.classifier import StepScorer
from opencompass_gpassk.reasoneval.mr_math import ErrorKind
from opencompass_gpassk.reasoneval.solutions import Solution
from opencompass_gpassk.reasoneval.steps import split_steps
from opencompass_gpassk.reasoneval.training_data import LabelledSteps, read_step_labels
from tools.demo import step_labels
from tools.demo.families import FAMILIES
from tools.demo.step_detection import detect_errors
from tools.demo.step_labels import DELIMITER, labelled_steps
from tools.demo.train_steps import STEP_CLASSIFIER, train_steps

LABELLED = list(labelled_steps('test', 3000))


def equal_sides(step: str) -> bool | None:
    """Whether the sides that are plain sums are equal; None where fewer than two are."""
    (formula, *_) = re.findall(r'\$([^$]*)\$', step)
    values = []
    for side in formula.split('='):
        try:
            values.append(value(side))
        except (SyntaxError, ZeroDivisionError):
            continue
    return max(values) - min(values) < 1e-9 if len(values) > 1 else None


def right_answer(solution: LabelledSteps) -> int | None:
    """Worked out from the question in another way; None for a question of no family."""
    for name, family in FAMILIES.items():
        if numbers := family.numbers_in(solution.question):
            return ANSWERS[name](*numbers)
    return None


def stated(solution: LabelledSteps) -> int:
    """The answer in the last step."""
    (found,) = re.findall(r'\\boxed\{(-?\d+)\}', solution.steps[-1])
    return int(found)


def test_steps_are_those_that_a_response_is_split_into() -> None:
    """At the delimiter; the answer stands in the last step, in the question's language."""
    for solution in LABELLED:
        steps = split_steps(DELIMITER.join(solution.steps), delimiter=DELIMITER)
        assert tuple(steps) == solution.steps
        assert sum('boxed' in step for step in steps) == 1
    endings = {re.sub(r'-?\d+', '#', each.steps[-1].rpartition('$. ')[2]) for each in LABELLED}
    assert 'The answer is $\\boxed{#}$.' in endings


def test_no_false_equation_is_called_right() -> None:
    """All but wrong steps are true, as far as numbers say; wrong ones are mostly not."""
    truths: dict[int | None, list[bool | None]] = {-1: [], 0: [], 1: [], None: []}
    for solution in LABELLED:
        for step, label in zip(solution.steps, solution.labels, strict=True):
            truths[label].append(equal_sides(step))
    for label in (0, 1, None):
        assert False not in truths[label]
        assert truths[label].count(True) > 50
    assert truths[-1].count(False) > 1000
    assert truths[-1].count(True) > 500  # true, but of another question, or with a wrong answer


def test_a_wrong_answer_is_wrong_and_right_steps_lead_to_the_right_one() -> None:
    """Judged by answers that are worked out in another way."""
    right = wrong = unknown = 0
    for solution in LABELLED:
        answer = right_answer(solution)
        if answer is None:
            unknown += 1
        elif stated(solution) == answer:
            right += 1
        else:
            wrong += 1
            assert solution.labels[-1] == -1
        if set(solution.labels) <= {0, 1}:
            assert answer in (None, stated(solution))
    assert min(right, wrong) > 700
    assert unknown < 900


@pytest.mark.slow
def test_held_out_and_evaluated_problems_are_not_trained_on() -> None:
    """Nor does any question stand in `sample`."""
    held_out = {each.question for each in labelled_steps('test', 1000, held_out=True)}
    trained = [each for each in LABELLED if right_answer(each) is not None]
    assert not held_out & {each.question for each in trained}
    asked = [re.sub(r'\s', '', question) for question in SAMPLE_QUESTIONS]
    for solution in LABELLED:
        question = re.sub(r'\s', '', solution.question)
        assert not any(text in question for text in asked)


def test_the_command_writes_a_file_of_prm800k(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which the trainer reads back as it was."""
    file = tmp_path / 'labels.jsonl'
    command = ['step_labels', str(file), '--count', '40', '--stream', 'test']
    monkeypatch.setattr(sys, 'argv', command)
    step_labels.main()
    assert read_step_labels(file) == LABELLED[:40]


@pytest.fixture(scope='module')
def scorer() -> StepScorer:
    """The shipped classifier; loading refuses missing and unexpected weights."""
    torch.set_num_threads(1)
    return StepScorer.load(STEP_CLASSIFIER)


def test_wrong_idle_and_good_steps_are_told_apart(scorer: StepScorer) -> None:
    """On problems whose numbers were never trained on."""
    found = detect_errors(scorer, list(labelled_steps('test', 300, held_out=True)))
    invalid, redundant = found[ErrorKind.INVALID], found[ErrorKind.REDUNDANT]
    assert invalid.unscored == redundant.unscored == 0
    assert (invalid.macro_f1 > F1[0], invalid.auc > AUC[0]) == (True, True), invalid
    assert (redundant.macro_f1 > F1[1], redundant.auc > AUC[1]) == (True, True), redundant


F1, AUC = (0.84, 0.85), (0.92, 0.97)  # of wrong steps, of idle ones


def test_responses_of_the_demonstration_model_are_told_apart(scorer: StepScorer) -> None:
    """Greedy ones to held-out problems: those that are right are more valid than the others."""
    from sklearn.metrics import roc_auc_score  # type: ignore[import-untyped]

    from tools.demo.corpus import problems
    from tools.demo.evaluate import is_right, load, respond

    drawn = [each for each in problems('test', 100, held_out=True) if each.family in FAMILIES]
    responses = respond(*load(), [each.question for each in drawn])
    right = [is_right(r, problem.answer) for r, problem in zip(responses, drawn, strict=True)]
    steps = [split_steps(response, delimiter=DELIMITER) for response in responses]
    solutions = [Solution(p.question, s) for p, s in zip(drawn, steps, strict=True)]
    scores = scorer.score(solutions)
    valid = np.array([solution_validity(validity(score.probabilities)) for score in scores])
    assert roc_auc_score(right, valid) > 0.5


@pytest.mark.slow
def test_training_writes_what_is_shipped(tmp_path: Path) -> None:
    """A little of it gives the same files and configuration, and weights of the same shapes."""
    trained = train_steps(tmp_path, 0.004)
    assert (trained.solutions, trained.updates) == (14, 1)
    names = {path.name for path in STEP_CLASSIFIER.iterdir()} - {'README.md'}
    assert {path.name for path in tmp_path.iterdir()} == names
    for name in names - {'model.safetensors'}:
        assert (tmp_path / name).read_bytes() == (STEP_CLASSIFIER / name).read_bytes(), name
    new, shipped = (StepScorer.load(folder).model for folder in (tmp_path, STEP_CLASSIFIER))
    pairs = zip(new.named_parameters(), shipped.named_parameters(), strict=True)
    assert all(a[0] == b[0] and a[1].shape == b[1].shape for a, b in pairs)
