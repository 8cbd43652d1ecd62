"""Every question with random variables: its texts, its answer, its size, its versions."""

from __future__ import annotations

import os
import re
from collections import Counter
from itertools import combinations

import pytest
import rv_texts
from compared_answers import compare
from every_case import every
from rv_examination import digits, draws, with_swapped_places, wrong_answers

from opencompass_gpassk.answers.sameness import Relation
from opencompass_gpassk.rv.generation import versions
from opencompass_gpassk.rv.question import questions
from opencompass_gpassk.rv.wording import latex

DRAWS = int(os.environ.get('GPASSK_RV_DRAWS', '40'))  # of each question, read independently
QUESTIONS = questions()
READERS = rv_texts.load()
# Question → how many pairs of places may be exchanged, since the answer is the same then.
SYMMETRIC = {
    'BlocksOfOneColour': 1,
    'BoxesOfTiles': 1,
    'CandlesOnAWreath': 1,
    'ChalkSharedByTwo': 3,  # the colours
    'CheapDiagonals': 1,  # east and north, mirrored in the diagonal
    'CircleRoundRectangle': 1,
    'CubesBetweenViews': 1,  # the views, from the front and from the side
    'DippedTowers': 1,  # the front and the back row
    'DivisibleByJustOne': 1,  # the divisors
    'FencedBed': 1,
    'FerriesAtOnePier': 1,
    'FocalTriangle': 1,
    'FoldCornerToCorner': 1,
    'FourEqualFaces': 3,
    'GreetingsAcrossTeams': 3,
    'HexagonOfTwoLengths': 1,
    'InverseFromMatrix': 2,
    'JuryOfBothGuilds': 1,
    'LampsInStep': 1,
    'LeastSumOfRoots': 1,
    'MealWithOrWithoutDessert': 1,
    'MirroredBox': 1,  # length and width
    'PailsAtTheWell': 1,  # the pails
    'PaintedOnTheTable': 1,
    'PayingWithChange': 1,  # the coins
    'PearsInBoxes': 1,
    'PercentOfTens': 1,
    'PlaceAmongProducts': 1,
    'PlankedFootbridge': 1,
    'PolarPointsApart': 2,
    'QuarticOnALine': 2,
    'RemainderCarried': 1,
    'RootOfFourFactors': 6,
    'ScatterbrainedGuest': 1,  # the guests asked for
    'SkewLinesApart': 1,
    'SpinForBothColours': 1,  # the colours waited for
    'SquaresOnDots': 1,  # rows and columns
    'SumInOtherBase': 3,
    'SumOfCommonDivisors': 1,  # the numbers
    'TangentsInRatio': 1,
    'TermsFromBothEnds': 1,
    'ThreeDistances': 3,
    'ThreeLockedPairs': 3,
    'TiltedEllipse': 1,
    'TimesBeforePlus': 1,
    'TowersSeenFromBothEnds': 1,
    'TrainOnTheMove': 1,
    'TurnedAboutHypotenuse': 1,
    'TwoSocksAlike': 3,  # the colours
}
# The Chinese statements of these name the numbers in another order.
ANOTHER_ORDER: set[str] = {
    'CoprimeSum',
    'CubicTermOfPower',
    'MiddlesOfTriples',
    'PartOfTheWay',
    'PercentOfTens',
    'RemainderByTheProduct',
    'SquareRootsOfOne',
    'StrikesOfTheTownClock',
}

each_question = every(QUESTIONS, lambda question: question.name)


def accepts(question, version, answer) -> bool:
    """Tell whether the reader of the question takes the answer for right."""
    try:
        return bool(READERS[question.function.__name__](version.text(), answer))
    except (ValueError, TypeError, ArithmeticError, LookupError):
        return False


@each_question
def test_answers_pass_an_independent_reader(question):
    """The default rows and many draws agree with a reader that knows the text alone."""
    for version in [*versions(question, 5), *draws(question, DRAWS, 'checks')]:
        assert READERS[question.function.__name__](version.text(), version.answer), version.text()


@each_question
def test_wrong_answers_fail(question):
    """A reader that lets a perturbed answer pass would prove nothing."""
    for version in versions(question, 2):
        for wrong in wrong_answers(version.answer):
            assert not accepts(question, version, wrong), (version.text(), wrong)


@each_question
def test_swapped_numbers_are_noticed(question):
    """A statement whose numbers stand in each other's places asks for another answer."""
    unnoticed = [
        swap
        for swap, wrong in with_swapped_places(question)
        if all(accepts(question, version, version.answer) for version in draws(wrong, 30, 'swaps'))
    ]
    assert len(unnoticed) == SYMMETRIC.get(question.name, 0), unnoticed


@pytest.mark.slow
@each_question
def test_groups_of_five_have_distinct_answers_for_every_seed(question):
    """Versions with one answer could be passed by heart."""
    for seed in range(50):
        golds = [latex(version.answer) for version in versions(question, 5, seed)]
        assert len(set(golds)) == len(golds), seed


@pytest.mark.slow
@each_question
def test_questions_are_wide(question):
    """There are fifty versions; no answer is frequent, and none is much longer than another."""
    assert len(versions(question, 50)) == 51
    drawn = list(draws(question, 1000, 'width'))
    answers = Counter(latex(version.answer) for version in drawn)
    assert max(answers.values()) <= 0.15 * len(drawn) + 34  # three standard errors more
    lengths = [digits(version.answer) for version in drawn]
    assert max(lengths) <= 3 * min(lengths)


@each_question
def test_every_variable_shows_in_the_text(question):
    """A variable that changes the answer but not the text would make two golds of one question."""
    one, *others = draws(question, 30, 'texts')
    for name in question.draws:
        changed = [question.version({**one.variables, name: v.variables[name]}) for v in others]
        assert len({version.text() for version in changed if version}) > 1, name


@each_question
def test_texts_are_clean(question):
    """Formulas are closed, and no number stands as 1x, + -3 or x^1."""
    for version in draws(question, 30, 'wording'):
        for text in (version.text('en'), version.text('cn')):
            assert text.count('$') % 2 == 0, text
            assert text == ' '.join(text.split())
            for formula in text.split('$')[1::2]:
                assert not re.search(r'\b1[a-z]\b|[+-] -\d|\^1\b|\^\{1\}', formula), text


@each_question
def test_translations_hold_the_same_numbers(question):
    """In the same order, but for questions that say so."""
    for version in draws(question, 10, 'translations'):
        english, chinese = (rv_texts.numbers(version.text(one)) for one in ('en', 'cn'))
        if question.name in ANOTHER_ORDER:
            english, chinese = sorted(english), sorted(chinese)
        assert english == chinese, version.text('cn')


@each_question
def test_golds_are_told_apart(question):
    """The answer checker takes each gold answer for itself and for no other version's."""
    golds = [latex(version.answer) for version in versions(question, 5)]
    for gold in golds:
        assert compare(gold, gold)[0] is Relation.SAME
    for one, other in combinations(golds, 2):
        assert compare(one, other)[0] is Relation.DIFFERENT, (one, other)
