"""Sets, families and lists against brute force, and what a question settles."""

from __future__ import annotations

from fractions import Fraction

import pytest
from compared_answers import compare
from hypothesis import given, settings
from hypothesis import strategies as st

from opencompass_gpassk.answers.sameness import Relation

settings.register_profile('busy machine', deadline=None)
settings.load_profile('busy machine')

Interval = tuple[int, int, str]
INTERVALS = st.tuples(
    st.integers(-4, 4), st.integers(1, 4), st.sampled_from(['()', '(]', '[)', '[]'])
).map(lambda t: (t[0], t[0] + t[1], t[2]))
UNIONS = st.lists(INTERVALS, min_size=1, max_size=3)
POINTS = [Fraction(n, 2) for n in range(-12, 20)]  # at and between all bounds


def held(union: list[Interval]) -> list[bool]:
    """Tell of each point whether one of the intervals holds it."""
    return [
        any(
            low < x < high or (x == low and at[0] == '[') or (x == high and at[1] == ']')
            for low, high, at in union
        )
        for x in POINTS
    ]


def as_brackets(union: list[Interval]) -> str:
    """Write a union of intervals with brackets."""
    return ' \\cup '.join(f'{at[0]}{low}, {high}{at[1]}' for low, high, at in union)


def as_conditions(union: list[Interval]) -> str:
    """Write a union of intervals as inequalities of one variable."""
    less = {'(': '<', '[': '\\le', ')': '<', ']': '\\le'}
    return ' \\text{ or } '.join(
        f'{low} {less[at[0]]} t {less[at[1]]} {high}' for low, high, at in union
    )


@settings(max_examples=150)
@given(UNIONS, UNIONS)
def test_sets_are_the_same_if_they_hold_the_same_points(
    gold: list[Interval], answer: list[Interval]
) -> None:
    """However they are written, and in whatever pieces."""
    same = held(gold) == held(answer)
    texts = [as_conditions(answer), f'\\{{t \\mid {as_conditions(answer)}\\}}']
    if len(answer) > 1 or answer[0][2] in ('(]', '[)'):  # (1, 2) alone may be a pair
        texts.append(as_brackets(answer))
    for text in texts:
        expected = Relation.SAME if same else Relation.DIFFERENT
        assert compare(as_conditions(gold), text)[0] is expected, text


@settings(max_examples=100)
@given(UNIONS, st.integers(-5, 8))
def test_a_point_is_removed(union: list[Interval], point: int) -> None:
    """It makes a difference if it was in the set, and none if it wasn't."""
    gold, first = as_conditions(union), as_conditions(union[:1])
    pairs = [
        (union, gold, f'\\{{t \\mid {gold}\\}} \\setminus \\{{{point}\\}}'),
        (union[:1], first, f'\\{{x \\mid {first.replace(" t ", " x ")}, x \\ne {point}\\}}'),
    ]
    for intervals, text, without in pairs:
        inside = held(intervals)[POINTS.index(Fraction(point))]
        expected = Relation.DIFFERENT if inside else Relation.SAME
        assert compare(text, without)[0] is expected, without


@settings(max_examples=150)
@given(st.integers(1, 4), st.integers(-4, 4), st.integers(1, 4), st.integers(-4, 4))
def test_families_are_the_same_if_their_values_are(a: int, b: int, c: int, d: int) -> None:
    """aπk + bπ and cπn + dπ, whatever the letters; a family from another start is unknown."""
    values = [{step * k + start for k in range(-60, 61)} for step, start in ((a, b), (c, d))]
    same = all(
        values[0] >= {v for v in values[1] if abs(v) < 20} for values in (values, values[::-1])
    )
    gold = f'x = {a}k\\pi + {b}\\pi, k \\in \\mathbb{{Z}}'.replace('+ -', '- ')
    answer = f'{c}n\\pi + {d}\\pi \\text{{ for any integer }} n'.replace('+ -', '- ')
    relation = compare(gold, answer)[0]
    assert (relation is Relation.SAME) <= same
    assert (relation is Relation.DIFFERENT) <= (not same)
    if (a, b) == (c, d):
        assert relation is Relation.SAME


QUESTIONS = [
    ('5', 'm+n=5', 'Find $m + n$.', 'same'),
    ('5', 'm+n=6', 'Find $m + n$.', 'different'),
    ('5', 'm=5', 'Find $m + n$.', 'unknown'),
    ('5', 'x=5', 'What is the value of $x$?', 'same'),
    ('5', 'x=5', 'If $x + 2y = 15$, what is the value of $y$?', 'unknown'),
    ('5', 'x=5', 'How many of the $7$ doors are open?', 'same'),
    ('5', 'x=5', '已知 $x + y = 7$，求 $y$ 的值', 'unknown'),
]


@pytest.mark.parametrize(('gold', 'answer', 'question', 'expected'), QUESTIONS)
def test_question_settles(gold: str, answer: str, question: str, expected: str) -> None:
    """A question tells which variable or expression it asks for."""
    assert compare(gold, answer, question)[0].value == expected


@pytest.mark.parametrize(('gold', 'answer'), sorted({pair[:2] for pair in QUESTIONS}))
def test_rules_abstain_without_the_question(gold: str, answer: str) -> None:
    """What a question settles as the same is not the same without it, names of one value aside."""
    relation = compare(gold, answer)[0]
    assert relation is not Relation.SAME or answer in ('m=5', 'x=5')
