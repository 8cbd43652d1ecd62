"""Every question with random variables: its text, its answer, its size, its versions."""

from __future__ import annotations

import dataclasses
import os
import re
from itertools import combinations

import pytest
import rv_checks
from compared_answers import compare
from rv_examination import draws, size_faults, wrong_answers

from opencompass_gpassk.answers.relation import Relation
from opencompass_gpassk.rv.question import questions
from opencompass_gpassk.rv.seeded_versions import versions
from opencompass_gpassk.rv.wording import latex

DRAWS = int(os.environ.get('GPASSK_RV_DRAWS', '40'))  # of each question, checked independently
SIZE_DRAWS = 200
QUESTIONS = questions()
CHECKS = rv_checks.load()
# A question that cannot draw five distinct versions ends the collection of this module.
VERSIONS = {question: versions(question, 5) for question in QUESTIONS}

each_question = pytest.mark.parametrize('question', QUESTIONS, ids=lambda q: q.__name__)


def unsolvable(question, version):
    """Return the same version of a class that cannot be solved, for checks to be independent."""

    def refuse(self):
        raise RuntimeError('a check must not use solve()')

    barred = type(question.__name__, (question,), {'solve': refuse})
    return barred(**{f.name: getattr(version, f.name) for f in dataclasses.fields(version)})


@each_question
def test_answers_pass_the_independent_check(question):
    """The original and many draws agree with a check that doesn't use solve()."""
    for version in [question(), *VERSIONS[question], *draws(question, DRAWS, 'checks')]:
        assert CHECKS[question.__name__](unsolvable(question, version), version.solve()), version


@each_question
def test_wrong_answers_fail_the_check(question):
    """A check that lets a perturbed answer pass would prove nothing."""
    for version in [question(), *VERSIONS[question][:2]]:
        for wrong in wrong_answers(version.solve()):
            try:
                passed = CHECKS[question.__name__](unsolvable(question, version), wrong)
            except (ValueError, TypeError, ArithmeticError, LookupError):
                passed = False
            assert not passed, (version, wrong)


@each_question
def test_versions_are_about_as_hard_as_the_original(question):
    """The digits of variables and answers stay within a factor of the original's."""
    assert question().holds()
    assert not size_faults(question, SIZE_DRAWS)


@each_question
def test_every_variable_shows_in_the_text(question):
    """A variable that changes the answer but not the text would make two golds of one question."""
    for field in dataclasses.fields(question):
        texts = {
            dataclasses.replace(question(), **{field.name: getattr(version, field.name)}).render()
            for version in draws(question, 30, 'texts')
        }
        assert len(texts) > 1, f'{field.name} is a constant or stands nowhere in the text'


@each_question
def test_texts_are_clean(question):
    """Formulas are closed, and no number stands as 1x, + -3 or x^1."""
    for version in draws(question, 30, 'wording'):
        text = version.render()
        assert text.count('$') % 2 == 0, text
        assert text == ' '.join(text.split())
        for formula in text.split('$')[1::2]:
            assert not re.search(r'\b1[a-z]\b|[+-] -\d|\^1\b|\^\{1\}', formula), text


@each_question
def test_golds_are_told_apart(question):
    """The answer checker takes each gold answer for itself and for no other version's."""
    golds = [latex(version.solve()) for version in [question(), *VERSIONS[question]]]
    for gold in golds:
        assert compare(gold, gold)[0] is Relation.SAME
    for one, other in combinations(golds, 2):
        if one != other:
            assert compare(one, other)[0] is Relation.DIFFERENT, (one, other)


@each_question
def test_versions_ask_for_different_answers(question):
    """Five versions with one answer could be passed by heart."""
    golds = {latex(version.solve()) for version in [question(), *VERSIONS[question]]}
    assert len(golds) >= 3
